"""Questions over REST: every pipeline answers, each takes its own options, and nothing internal comes along."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID, uuid4

import pytest
from haystack import Document
from haystack.document_stores.in_memory import InMemoryDocumentStore
from makers import fill
from scripted_model import ScriptedModel, documents_in, judging
from serving.conftest import BEARER, KEY, QUESTION

from haystack_integrations.crag.pipelines.loader import names, read
from haystack_integrations.crag.serving.choice import query_pipelines

EVIDENCE = {"number", "id", "content", "source", "title", "url", "label", "score", "status", "origin"}


def test_every_query_pipeline_of_the_package_answers(answering: Any, model: ScriptedModel) -> None:
    """`indexing` is none; each answer has the same four entries, and only plain JSON."""
    assert set(query_pipelines()) == set(names()) - {"indexing"}
    with answering.client() as client:
        for name in query_pipelines():
            most = read(name)["components"].get("grader", {}).get("init_parameters", {}).get("scale", 1.0)
            model.reply = judging(lambda _, most=most: most)  # type: ignore[misc]
            response = client.post(f"/{name}/run", json={"question": QUESTION})
            assert response.status_code == 200, (name, response.text)
            result = response.json()["result"]
            assert set(result) == {"answer", "evidence", "crag", "trace_id"}, name
            assert result["crag"]["action"] != "abstain", name
            assert all(set(one) == EVIDENCE for one in result["evidence"]), name
            assert "emma.md" in [one["source"] for one in result["evidence"]], name
            assert (result["answer"] is not None) == ("answers" in read(name)["outputs"]), name
            assert "embedding" not in response.text, name


def test_evidence_is_numbered_as_the_answer_cites_it(answering: Any) -> None:
    with answering.client() as client:
        result = client.post("/corrective_rag/run", json={"question": QUESTION}).json()["result"]
    assert result["answer"] == "The answer is in [1]."
    first = result["evidence"][0]
    assert (first["number"], first["label"], first["origin"]) == (1, "emma.md", "index")
    assert first["score"] == 1.0
    assert first["content"].startswith("Emma is a novel")


@pytest.mark.parametrize("field", ["id", "content", "title", "source", "url"])
def test_half_a_character_of_a_document_costs_no_question_its_answer(serve: Any, field: str) -> None:
    """
    A sign stands in its place, by REST, in a chat and its stream, and for a tool.

    No answer in UTF-8 can hold one. It failed every question that found its document, and broke streams off.
    """
    text = "Emma is a novel by Jane Austen, published in 1815"
    given = {"id": "emma", "content": text, "title": "Emma", "source": "emma.md", "url": "https://example.org/emma"}
    given[field] += " \ud83d"
    store = InMemoryDocumentStore(embedding_similarity_function="cosine", index=uuid4().hex)
    meta = {name: value for name, value in given.items() if name not in ("id", "content")}
    fill(store, [Document(id=given["id"], content=given["content"], meta=meta)])
    asked = {"model": "corrective_retrieval", "messages": [{"role": "user", "content": QUESTION}]}
    call = {"name": "corrective_retrieval", "arguments": {"question": QUESTION}}
    with serve(store).client(headers={**BEARER, "accept": "application/json, text/event-stream"}) as client:
        told = client.post("/corrective_retrieval/run", json={"question": QUESTION}).json()["result"]
        said = client.post("/v1/chat/completions", json=asked).json()
        stream = client.post("/v1/chat/completions", json={**asked, "stream": True})
        tool = client.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}).json()
    sign = given[field].replace("\ud83d", "\ufffd")
    assert told["evidence"][0][field] == said["evidence"][0][field] == sign
    assert told["crag"]["kept"][0]["id"] == told["evidence"][0]["id"]
    assert stream.text.rstrip().endswith("[DONE]")
    assert text in stream.text
    assert not tool["result"].get("isError")


@pytest.mark.parametrize("given", [UUID(int=3), 7])
def test_an_id_that_is_no_text_is_told_as_one(serve: Any, given: Any) -> None:
    """Python keeps no one from it; what a server's answer holds must be JSON."""
    store = InMemoryDocumentStore(embedding_similarity_function="cosine", index=uuid4().hex)
    fill(store, [Document(id=given, content="Emma is a novel by Jane Austen, published in 1815")])
    call = {"name": "corrective_retrieval", "arguments": {"question": QUESTION}}
    with serve(store).client(headers={**BEARER, "accept": "application/json, text/event-stream"}) as client:
        told = client.post("/corrective_retrieval/run", json={"question": QUESTION}).json()["result"]
        tool = client.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}).json()
    assert told["evidence"][0]["id"] == told["evidence"][0]["label"] == str(given)
    assert str(told["crag"]["kept"][0]["id"]) == str(given)
    assert not tool["result"].get("isError")


def test_options_reach_the_pipeline(answering: Any) -> None:
    """Filters, top_k, mode and budget, as its YAML names them."""
    asked = {
        "question": QUESTION,
        "top_k": 2,
        "mode": "observe",
        "budget": {"llm_calls": 3},
        "filters": {"field": "meta.year", "operator": "==", "value": 1815},
    }
    with answering.client() as client:
        result = client.post("/corrective_rag/run", json=asked).json()["result"]
    assert [one["source"] for one in result["evidence"]] == ["emma.md"]
    assert result["crag"]["trail"][0]["mode"] == "observe"


@pytest.mark.parametrize(
    ("sent", "field", "rule"),
    [
        ({}, "question", "missing"),
        ({"question": ""}, "question", "string_too_short"),
        ({"question": "x" * 4097}, "question", "string_too_long"),
        ({"question": ["CANARY"]}, "question", "string_type"),
        ({"question": "x", "top_k": 0}, "top_k", "greater_than_equal"),
        ({"question": "x", "top_k": True}, "top_k", "int_type"),
        ({"question": "x", "budget": {"llm_calls": True}}, "budget.llm_calls", "int_type"),
        ({"question": "x", "mode": "CANARY"}, "mode", "literal_error"),
        ({"question": "x", "budget": {"CANARY": 1}}, "budget", "extra_forbidden"),
        ({"question": "x", "budget": {"seconds": -1}}, "budget.seconds", "greater_than"),
        ({"question": "x", "CANARY": 1}, None, "extra_forbidden"),
        ({"question": "x", "web": False}, None, "extra_forbidden"),  # of other pipelines
    ],
)
def test_a_broken_rule_is_named_and_the_value_is_not(answering: Any, sent: Any, field: Any, rule: str) -> None:
    """422 says which field and which rule; a name that the client made up is a value, too."""
    with answering.client() as client:
        response = client.post("/corrective_rag/run", json=sent)
    assert response.status_code == 422
    body = response.json()
    assert body["error"] == "invalid_request"
    assert (body["detail"][0]["field"], body["detail"][0]["rule"]) == (field, rule)
    assert "CANARY" not in response.text
    if field is None:
        assert body["detail"][0]["accepted"] == ["question", "filters", "top_k", "mode", "budget"]


@pytest.mark.parametrize("web", [0, 1, "no", "CANARY"])
def test_what_is_no_boolean_switches_no_web(answering: Any, web: Any) -> None:
    """A question goes out, or stays, by a plain word alone: the schema says boolean."""
    with answering.client() as client:
        response = client.post("/ranked_rag/run", json={"question": QUESTION, "web": web})
    assert response.status_code == 422
    assert response.json()["detail"] == [{"field": "web", "rule": "bool_type"}]


@pytest.mark.parametrize("call", [{"scores": [True]}, {"items": [{"id": "x", "score": True}]}], ids=["list", "items"])
def test_a_boolean_is_no_similarity_of_an_agents_search(answering: Any, call: dict[str, Any]) -> None:
    """Read as 1.0 it would be the best there is, and a rule would approve without asking the grader."""
    sent = {"question": QUESTION, "tool_history": [{"tool": "vector_search", **call}]}
    with answering.client() as client:
        response = client.post("/agent_rag/run", json=sent)
    assert (response.status_code, response.json()["detail"][0]["rule"]) == (422, "int_type")


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"question": "  \n "}, "invalid_question"),
        (
            {"question": QUESTION, "filters": {"field": "meta.year", "operator": "CANARY", "value": 1}},
            "invalid_filters",
        ),
        ({"question": QUESTION, "filters": {"CANARY": 1}}, "invalid_filters"),
        (
            {"question": QUESTION, "filters": {"field": "meta.year", "operator": ">", "value": "CANARY"}},
            "invalid_filters",
        ),
    ],
)
def test_what_only_the_pipeline_can_tell_is_the_clients_fault_too(answering: Any, asked: Any, code: str) -> None:
    with answering.client() as client:
        response = client.post("/corrective_rag/run", json=asked)
    assert response.status_code == 422
    assert (response.json()["error"], response.json()["trace_id"]) == (code, None)
    assert "CANARY" not in response.text
    # A store's own words would repeat what was sent: what filters look like is told instead.
    told = response.json()["detail"]
    if code == "invalid_filters":
        assert "not in" in told[0]["operators"]
    else:
        assert told == [{"field": "question", "rule": "empty"}]


def test_a_question_longer_than_the_pipelines_own_limit_is_told_that_limit(serve: Any) -> None:
    """The server's may be higher than that of a pipeline; the code alone would not say what is wrong."""
    with serve(question_chars=5000).client() as client:
        response = client.post("/corrective_retrieval/run", json={"question": "x" * 4097})
    assert (response.status_code, response.json()["error"]) == (422, "invalid_question")
    assert response.json()["detail"] == [{"field": "question", "rule": "string_too_long", "max_length": 4096}]


def test_an_unknown_limit_of_a_budget_is_told_those_that_there_are(answering: Any) -> None:
    """As an unknown option is: a slip such as `llm_call` is found at once."""
    with answering.client() as client:
        response = client.post("/corrective_rag/run", json={"question": QUESTION, "budget": {"CANARY": 3}})
    names = ["iterations", "llm_calls", "tokens", "seconds"]
    assert response.status_code == 422
    assert response.json()["detail"] == [{"field": "budget", "rule": "extra_forbidden", "accepted": names}]


def test_an_answer_to_thousands_of_broken_rules_tells_the_first_hundred(answering: Any) -> None:
    """A body of 64 KiB was answered by ten times as much."""
    with answering.client() as client:
        response = client.post("/corrective_rag/run", json={"question": QUESTION, **{f"k{n}": 1 for n in range(5_000)}})
    assert response.status_code == 422
    assert len(response.json()["detail"]) == 100
    assert len(response.content) < 20_000


def test_an_abstention_is_an_answer(answering: Any, model: ScriptedModel) -> None:
    model.reply = judging(lambda _: 0.0)
    with answering.client() as client:
        result = client.post("/corrective_rag/run", json={"question": QUESTION}).json()["result"]
    assert result["evidence"] == []
    assert result["crag"]["action"] == "abstain"
    assert "Looked for:" in result["answer"]


def test_without_a_chat_model_the_pipelines_that_need_none_are_served(serve: Any) -> None:
    running = serve(pipelines="")
    with running.client() as client:
        assert [one["id"] for one in client.get("/v1/models").json()["data"]] == [
            "corrective_retrieval",
            "heuristic_rag",
        ]
        assert client.post("/corrective_retrieval/run", json={"question": QUESTION}).status_code == 200
        assert client.post("/corrective_rag/run", json={"question": QUESTION}).status_code == 404


def test_fifty_questions_at_once_get_their_own_answers(answering: Any, model: ScriptedModel) -> None:
    """Each answer holds the number of its question only."""

    def reply(messages: Any) -> tuple[str, str]:
        if documents_in(messages):
            return judging(lambda _: 1.0)(messages)
        return messages[-1]["content"].rpartition("Question: ")[2].partition("\n")[0], "stop"

    model.reply = reply
    model.delay = 0.05

    def ask(number: int) -> tuple[int, str]:
        response = client.post("/corrective_rag/run", json={"question": f"Who wrote Emma, reader {number}?"})
        return number, response.json()["result"]["answer"]

    with answering.client() as client, ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(ask, range(50)))
    assert all(answer == f"Who wrote Emma, reader {number}?" for number, answer in answers)


def test_the_schema_names_each_pipelines_own_options(answering: Any) -> None:
    with answering.client() as client:
        schema = client.get("/openapi.json").json()
    question = schema["components"]["schemas"]["CorrectiveRagQuestion"]
    assert list(question["properties"]) == ["question", "filters", "top_k", "mode", "budget"]
    assert question["additionalProperties"] is False
    assert KEY not in json.dumps(schema)
