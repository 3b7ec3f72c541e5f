"""An agent with corrective retrieval as its tool, over the wire of an OpenAI-compatible server."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from examples.conftest import ANSWERED, EXAMPLES, UNANSWERED, Folder, credulous
from pytest_httpserver import HTTPServer
from scripted_model import ScriptedModel
from werkzeug import Request, Response


class Calling(ScriptedModel):
    """Calls the first tool it is offered with the user's words, then answers from what the tool gave, or asks again."""

    asks_again = False

    def _complete(self, request: Request) -> Response:
        body = request.get_json()
        response = super()._complete(request)
        if body["messages"][-1]["role"] != "user" and not self.asks_again:
            return response
        name = body["tools"][0]["function"]["name"]
        words = next(message["content"] for message in body["messages"] if message["role"] == "user")
        arguments = json.dumps({"query": words})
        call = {"id": "call-1", "type": "function", "function": {"name": name, "arguments": arguments}}
        completion = json.loads(response.get_data())
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
        completion["choices"] = [{"index": 0, "message": message, "finish_reason": "tool_calls"}]
        return Response(json.dumps(completion), content_type="application/json")


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[Folder]:
    """The example, with a model that calls tools."""
    copied = Path(shutil.copytree(EXAMPLES, tmp_path / "examples"))
    with HTTPServer(host="127.0.0.1", port=0, threaded=True) as server:
        model = Calling(server)
        model.reply = credulous
        yield Folder(copied / "agent", model)
        model.end()


def given_by_the_tool(agent: Folder) -> Any:
    return agent.model.requests[-1]["messages"][-1]["content"]


def test_the_agent_answers_from_judged_passages(agent: Folder) -> None:
    """One search, whose words alone the model chooses; what does not answer is not among what it reads."""
    printed = agent.shell(f'python app.py "{ANSWERED}"').stdout.splitlines()
    assert printed == [
        "A refund is paid within 14 days after the returned goods have arrived at our warehouse.",
        f"Searched: {ANSWERED} -> correct",
    ]
    assert given_by_the_tool(agent).startswith("[refunds.md] refunds\n\nA refund is paid")
    assert "warranty" not in given_by_the_tool(agent)
    assert agent.model.calls == 2
    (tool,) = agent.model.requests[0]["tools"]
    assert list(tool["function"]["parameters"]["properties"]) == ["query"]


def test_the_agent_hears_that_passages_may_not_answer(agent: Folder) -> None:
    """They are all there is, and a model would take whatever its search gives for the answer."""
    printed = agent.shell('python app.py "Does the warranty cover delivery to the account that paid?"').stdout
    assert "-> ambiguous" in printed
    assert given_by_the_tool(agent).startswith("These passages may not answer the question:\n[warranty.md] warranty\n")


def test_the_agent_hears_when_nothing_answers(agent: Folder) -> None:
    """In the words of the abstention, after a second search; no passage is handed over."""
    printed = agent.shell(f'python app.py "{UNANSWERED}"').stdout
    assert f"Searched: {UNANSWERED} | pay bitcoin -> incorrect" in printed
    assert given_by_the_tool(agent).startswith("The handbook does not answer this.")
    assert '"pay", "Bitcoin"' in given_by_the_tool(agent)
    assert "30 days" not in given_by_the_tool(agent)


def test_an_agent_that_asks_again_and_again_ends(agent: Folder) -> None:
    """Haystack lets it take 100 steps, each paid for, and then there is no text to show."""
    agent.model.asks_again = True  # type: ignore[attr-defined]
    printed = agent.shell(f'python app.py "{UNANSWERED}"').stdout.splitlines()
    assert printed[0] == "No answer after 6 steps."
    assert (agent.model.calls, len(printed)) == (6, 7)
