"""OpenAI-compatible chat: the newest message is the question, and only the answer is streamed."""

import json
import time
from typing import Any

import pytest
from metasearch import Metasearch
from openai import AuthenticationError, NotFoundError, OpenAI, UnprocessableEntityError
from scripted_model import ScriptedModel, documents_in, judging
from serving.conftest import KEY, QUESTION

from haystack_integrations.crag.serving.choice import query_pipelines

GRADE_TEXT = "grades"
SAID = "The answer is in [1].\n\n[1] emma.md"  # the model's answer, and what its citation means


def chat(question: Any, model: str = "corrective_rag", **more: Any) -> dict[str, Any]:
    return {"model": model, "messages": [{"role": "user", "content": question}], **more}


def streamed(client: Any, body: dict[str, Any]) -> tuple[list[str], list[Any]]:
    """The parts of the answer and the reasons to finish of a stream."""
    with client.stream("POST", "/v1/chat/completions", json={**body, "stream": True}) as response:
        assert response.status_code == 200
        lines = [line.removeprefix("data: ") for line in response.iter_lines() if line]
    assert lines[-1] == "[DONE]"
    chunks = [json.loads(line) for line in lines[:-1]]
    parts = [chunk["choices"][0]["delta"]["content"] or "" for chunk in chunks]
    return parts, [chunk["choices"][0]["finish_reason"] for chunk in chunks]


def test_a_chat_is_answered_with_evidence_and_record_beside_the_answer(answering: Any) -> None:
    with answering.client() as client:
        completion = client.post("/v1/chat/completions", json=chat(QUESTION)).json()
    assert completion["choices"][0]["message"]["content"] == SAID
    assert completion["evidence"][0]["label"] == "emma.md"
    assert completion["crag"]["verdict"] == "correct"


def test_a_chat_tells_what_it_cost_where_clients_look_for_it(answering: Any, model: ScriptedModel) -> None:
    """They add it up, or fail where there is nothing. A follow-up has cost more than its record says."""
    model.reply = judging(lambda _: 1.0, answer="Where does Emma live now?")
    with answering.client() as client:
        first = client.post("/v1/chat/completions", json=chat(QUESTION)).json()
        later = client.post("/v1/chat/completions", json={"model": "corrective_rag", "messages": FOLLOW_UP}).json()
        without = client.post("/v1/chat/completions", json=chat(QUESTION, "corrective_retrieval")).json()["usage"]
    for told in (first, later):
        counted, asked = told["crag"]["tokens"], told["follow_up"] or {"tokens_in": 0, "tokens_out": 0}
        read, written = counted["in"] + asked["tokens_in"], counted["out"] + asked["tokens_out"]
        usage = {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
        assert told["usage"] == usage
    assert later["follow_up"]["tokens_in"] > 0
    assert set(without.values()) == {0}


@pytest.mark.parametrize("name", ["corrective_rag", "corrective_retrieval"])
def test_a_stream_ends_with_its_cost_for_who_asks_for_it(answering: Any, model: ScriptedModel, name: str) -> None:
    """A gateway would estimate a hundredth, by question and answer; who does not ask gets no part without a choice."""
    messages: Any = [{"role": "user", "content": QUESTION}]
    asked = {"model": name, "messages": messages}
    with OpenAI(base_url=f"{answering.url}/v1", api_key=KEY, max_retries=0) as client:
        whole = client.chat.completions.create(**asked).usage
        stream = client.chat.completions.create(**asked, stream=True, stream_options={"include_usage": True})
        *parts, last = list(stream)
        unasked = list(client.chat.completions.create(**asked, stream=True))
    assert (last.choices, last.usage) == ([], whole)
    assert parts[-1].choices[0].finish_reason == "stop"
    assert all(part.choices and part.usage is None for part in (*parts, *unasked))
    model.streams_usage = False
    with answering.client() as client:
        _, reasons = streamed(client, chat(QUESTION, name, stream_options="CANARY"))
    assert reasons[-1] == "stop"


def test_each_completion_has_an_id_of_its_own(answering: Any) -> None:
    with answering.client() as client:
        ids = {client.post("/v1/chat/completions", json=chat(QUESTION)).json()["id"] for _ in range(2)}
    assert len(ids) == 2


def test_openais_own_client_reads_it(answering: Any) -> None:
    """Models, an answer, and a stream."""
    with OpenAI(base_url=f"{answering.url}/v1", api_key=KEY, max_retries=0) as client:
        assert {one.id for one in client.models.list()} == set(query_pipelines())
        messages: Any = [{"role": "user", "content": QUESTION}]
        completion = client.chat.completions.create(model="corrective_rag", messages=messages)
        assert completion.choices[0].message.content == SAID
        chunks = client.chat.completions.create(model="corrective_rag", messages=messages, stream=True)
        assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == SAID


def test_openais_own_client_asks_for_a_single_model(answering: Any) -> None:
    """As many programs do before their first question; of a model that is not served it learns those that are."""
    with OpenAI(base_url=f"{answering.url}/v1", api_key=KEY, max_retries=0) as client:
        assert client.models.retrieve("corrective_rag").id == "corrective_rag"
        with pytest.raises(NotFoundError, match=r"not_found: .*\"accepted\": \[.*\"corrective_rag\"") as unknown:
            client.models.retrieve("CANARY")
    assert "CANARY" not in str(unknown.value)


def test_openais_own_client_shows_what_went_wrong(answering: Any) -> None:
    """It shows `error.message` and nothing else: there stand the code and what would be accepted, and no value."""
    messages: Any = [{"role": "user", "content": QUESTION}]
    with OpenAI(base_url=f"{answering.url}/v1", api_key=KEY, max_retries=0) as client:
        with pytest.raises(NotFoundError, match=r"not_found: .*\"accepted\": \[.*\"corrective_rag\"") as unknown:
            client.chat.completions.create(model="CANARY", messages=messages)
        with pytest.raises(UnprocessableEntityError, match="invalid_request"):
            client.chat.completions.create(model="corrective_rag", messages=[])
    assert "CANARY" not in str(unknown.value)
    assert (unknown.value.code, unknown.value.type) == ("not_found", "invalid_request_error")
    with OpenAI(base_url=f"{answering.url}/v1", api_key="wrong", max_retries=0) as client:
        with pytest.raises(AuthenticationError, match="unauthorized"):
            client.models.list()


def test_openais_own_client_shows_that_its_base_url_lacks_the_version(answering: Any) -> None:
    """It is the first mistake one makes, and the client showed a status without a word."""
    messages: Any = [{"role": "user", "content": QUESTION}]
    with OpenAI(base_url=answering.url, api_key=KEY, max_retries=0) as client:
        with pytest.raises(NotFoundError, match=r"not_found: .*/v1/chat/completions"):
            client.chat.completions.create(model="corrective_rag", messages=messages)
        with pytest.raises(NotFoundError, match=r"not_found: .*/v1/models"):
            client.models.list()


@pytest.mark.parametrize("name", ["corrective_rag", "cascade_rag", "strict_rag", "baseline_rag", "paper_rag"])
def test_only_the_answer_is_streamed_word_by_word(answering: Any, model: ScriptedModel, name: str) -> None:
    """Whatever else asks a model, such as the grader, is not heard."""
    with answering.client() as client:
        parts, reasons = streamed(client, chat(QUESTION, name))
    assert [part for part in parts if part] == ["The ", "answer ", "is ", "in ", "[1].", "\n\n[1] emma.md"]
    assert reasons[-1] == "stop"
    assert not any(GRADE_TEXT in part for part in parts)
    assert [request.get("stream") for request in model.requests if documents_in(request["messages"])] in (
        [None],
        [False],
        [],
    )


def test_a_stream_tells_a_proxy_not_to_keep_it_until_it_is_whole(answering: Any) -> None:
    """nginx and ingresses made of it do otherwise: the words come in one piece at the end."""
    with answering.client() as client:
        streams = (client.post("/v1/chat/completions", json=chat(QUESTION, stream=stream)) for stream in (True, False))
        assert [stream.headers.get("X-Accel-Buffering") for stream in streams] == ["no", None]


@pytest.mark.parametrize("name", ["corrective_rag", "corrective_retrieval"])
def test_a_part_of_a_stream_has_a_delta_and_no_message(answering: Any, name: str) -> None:
    """OpenAI's client for JavaScript copies each part over what it has: a null would take the message's place."""
    with answering.client() as client:
        body = chat(QUESTION, name, stream=True)
        lines = client.post("/v1/chat/completions", json=body).text.split("\n\n")[:-2]
    choices = [choice for line in lines for choice in json.loads(line.removeprefix("data: "))["choices"]]
    assert all("delta" in choice and "message" not in choice for choice in choices)
    assert "".join(choice["delta"]["content"] for choice in choices)


def test_half_a_character_of_a_model_breaks_no_answer(answering: Any, model: ScriptedModel) -> None:
    """Neither by REST nor in a chat; and an emoji that its server cut in two is whole in a stream."""
    model.reply = judging(lambda text: float(text.startswith("Emma")), answer="A smile \ud83d [1].")
    model.words = ["A smile \ud83d", "\ude00 [1]."]
    with answering.client() as client:
        answer = client.post("/corrective_rag/run", json={"question": QUESTION}).json()["result"]["answer"]
        completion = client.post("/v1/chat/completions", json=chat(QUESTION)).json()
        parts, _ = streamed(client, chat(QUESTION))
    cited = "\n\n[1] emma.md"
    assert answer == "A smile \ufffd [1]."
    assert completion["choices"][0]["message"]["content"] == f"{answer}{cited}"
    assert "".join(parts) == f"A smile \U0001f600 [1].{cited}"


def test_a_streamed_answer_asks_for_its_tokens_and_is_not_disturbed_by_them(
    answering: Any, model: ScriptedModel
) -> None:
    """The last part of a client's stream is still the one with the reason to finish."""
    with answering.client() as client:
        _, reasons = streamed(client, chat(QUESTION))
    assert reasons[-1] == "stop"
    assert [request["stream_options"] for request in model.requests if request.get("stream")] == [
        {"include_usage": True}
    ]


def test_a_model_s_server_that_sends_no_stream_is_heard_all_the_same(answering: Any, model: ScriptedModel) -> None:
    """Its answer comes whole: one part for the client, and the reason to finish."""
    model.streams = False
    with answering.client() as client:
        parts, reasons = streamed(client, chat(QUESTION))
    assert [part for part in parts if part] == ["The answer is in [1].", "\n\n[1] emma.md"]
    assert reasons[-1] == "stop"


def test_an_abstention_is_streamed_too(answering: Any, model: ScriptedModel) -> None:
    model.reply = judging(lambda _: 0.0)
    with answering.client() as client:
        parts, _ = streamed(client, chat(QUESTION))
        spoken = client.post("/v1/chat/completions", json=chat(QUESTION)).json()["choices"][0]["message"]["content"]
    assert "Looked for:" in "".join(parts)
    assert "".join(parts) == spoken


def test_a_pipeline_without_a_model_speaks_its_evidence(answering: Any) -> None:
    with answering.client() as client:
        parts, _ = streamed(client, chat("What is Emma?", "corrective_retrieval"))
    assert "".join(parts).startswith("[1] emma.md\nEmma is a novel")


def test_a_chat_says_below_an_answer_what_it_cites(answering: Any, model: ScriptedModel) -> None:
    """Front ends show nothing of a response but its text; what is not cited, or cited and not there, is not named."""
    said = {
        "It was Jane Austen [2, 9].": "\n\n[2] persuasion.md",
        "She wrote both [1][2].": "\n\n[1] emma.md \u00b7 [2] persuasion.md",
        "Jane Austen.": "",
        "The documents do not answer this question. [1]": "",
    }
    with answering.client() as client:
        for answer, named in said.items():
            model.reply = judging(lambda text: float("Austen" in text), answer=answer)
            told = client.post("/v1/chat/completions", json=chat(QUESTION)).json()
            parts, _ = streamed(client, chat(QUESTION))
            assert told["choices"][0]["message"]["content"] == "".join(parts) == f"{answer}{named}"


@pytest.mark.parametrize("fails", [False, True])
def test_the_line_of_what_is_cited_can_be_switched_off(
    serve: Any, configured_model: ScriptedModel, *, fails: bool
) -> None:
    """For a front end that shows the evidence itself, or a program that reads the answer; of a failed one, too."""
    judged = judging(lambda text: float("Austen" in text), answer="It was Jane Austen [1].")

    def reply(messages: Any) -> tuple[str, str]:
        if fails and not documents_in(messages):
            msg = "the scripted model breaks down"
            raise RuntimeError(msg)
        return judged(messages)

    configured_model.reply = reply
    with serve(pipelines="corrective_rag", sources=False).client() as client:
        told = client.post("/v1/chat/completions", json=chat(QUESTION)).json()
        parts, _ = streamed(client, chat(QUESTION))
    assert told["choices"][0]["message"]["content"] == "".join(parts)
    assert "".join(parts).endswith("or the time was up." if fails else "It was Jane Austen [1].")


def test_a_chat_names_the_address_of_a_cited_page_of_the_web(
    serve: Any, configured_model: ScriptedModel, metasearch: Metasearch
) -> None:
    """A front end makes a link of it."""
    metasearch.finds(["The lighthouse was repaired by Ada Lovelace."])
    configured_model.reply = judging(lambda text: float("lighthouse" in text))
    with serve(pipelines="paper_rag").client() as client:
        completion = client.post("/v1/chat/completions", json=chat("Who repaired the lighthouse?", "paper_rag")).json()
    said, (first, *_) = completion["choices"][0]["message"]["content"], completion["evidence"]
    assert first["origin"] == "web"
    assert said.endswith(f"[1] {first['label']} {first['url']}")


def test_passages_that_may_not_answer_are_shown_as_such(answering: Any) -> None:
    """Who chats sees no verdict, and took whatever was found for the answer. In the language of the question."""
    asked = [QUESTION, "Wann wurde Emma von Jane Austen veröffentlicht?"]
    doubts = ["These passages may not answer the question:", "Diese Textstellen beantworten die Frage möglicherweise"]
    with answering.client() as client:
        for question, doubt in zip(asked, doubts, strict=True):
            body = chat(question, "corrective_retrieval")
            told = client.post("/v1/chat/completions", json=body).json()
            parts, _ = streamed(client, body)
            assert told["crag"]["verdict"] != "correct"
            assert told["choices"][0]["message"]["content"] == "".join(parts)
            assert "".join(parts).startswith(doubt)
            assert f"[1] {told['evidence'][0]['source']}" in "".join(parts)


def test_a_model_that_fails_is_said_in_the_answers_place(answering: Any, model: ScriptedModel) -> None:
    """The evidence was found, so this is an answer and no error; also within a stream."""
    judged = model.reply

    def reply(messages: Any) -> tuple[str, str]:
        if not documents_in(messages):
            msg = "the scripted model breaks down"
            raise RuntimeError(msg)
        return judged(messages)

    model.reply = reply
    with answering.client() as client:
        completion = client.post("/v1/chat/completions", json=chat(QUESTION)).json()
        parts, _ = streamed(client, chat(QUESTION))
    assert completion["choices"][0]["message"]["content"].startswith("The answer could not be written")
    assert completion["choices"][0]["message"]["content"].endswith("or the time was up.\n\n[1] emma.md")
    assert completion["evidence"][0]["label"] == "emma.md"
    assert "".join(parts) == completion["choices"][0]["message"]["content"]


@pytest.mark.parametrize(
    ("why", "told"),
    [
        ("length", "length"),
        ("content_filter", "content_filter"),
        ("model_length", "length"),
        ("insufficient_system_resource", "length"),
        ("SAFETY", "content_filter"),
    ],
)
def test_an_answer_that_its_model_did_not_end_says_so(
    answering: Any, model: ScriptedModel, why: str, told: str
) -> None:
    """In the words that OpenAI's clients look at: a stream has no record beside it that would tell."""
    judged = model.reply
    model.reply = lambda messages: judged(messages) if documents_in(messages) else ("A half of an", why)
    with answering.client() as client:
        choice = client.post("/v1/chat/completions", json=chat(QUESTION)).json()["choices"][0]
        parts, reasons = streamed(client, chat(QUESTION))
    assert (choice["message"]["content"], choice["finish_reason"]) == ("A half of an", told)
    assert "".join(parts) == "A half of an"
    assert [reason for reason in reasons if reason] == [told]


def test_a_stream_that_broke_off_between_model_and_server_says_so(answering: Any, model: ScriptedModel) -> None:
    """As behind a proxy that ends what it cannot go on with; OpenAI has no word for that but `length`."""
    model.parts = 2
    with answering.client() as client:
        parts, reasons = streamed(client, chat(QUESTION))
    assert "".join(parts) == "The answer "
    assert [reason for reason in reasons if reason] == ["length"]


def test_a_sentence_in_the_answers_place_is_whole(answering: Any, model: ScriptedModel) -> None:
    """A model that thought until its tokens were spent wrote nothing; what is told instead was not cut off."""
    judged = model.reply
    model.reply = lambda messages: judged(messages) if documents_in(messages) else ("", "length")
    with answering.client() as client:
        choice = client.post("/v1/chat/completions", json=chat(QUESTION)).json()["choices"][0]
        parts, reasons = streamed(client, chat(QUESTION))
    assert choice["message"]["content"] == "".join(parts)
    assert [choice["finish_reason"], *(reason for reason in reasons if reason)] == ["stop", "stop"]


def test_what_is_null_in_a_chat_is_not_said(answering: Any) -> None:
    """As OpenAI's description has it: some clients write null for what they do not ask for."""
    with answering.client() as client:
        answer = client.post("/v1/chat/completions", json=chat(QUESTION, stream=None, temperature=None))
    assert answer.json()["choices"][0]["message"]["content"] == SAID


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("name", ["corrective_rag", "corrective_retrieval"])
@pytest.mark.parametrize("inside", [False, True], ids=["beside", "in extra_body"])
def test_filters_of_a_chat_hold_as_those_of_a_run(
    answering: Any, model: ScriptedModel, name: str, stream: bool, inside: bool
) -> None:
    """
    OpenAI's clients can send fields of their own; left out without a word, a chat would show what they close.

    Who writes the request by hand, and some proxies, send `extra_body` as it is called.
    """
    gardens = {"filters": {"field": "meta.source", "operator": "==", "value": "gardens.md"}}
    for messages in ([{"role": "user", "content": QUESTION}], FOLLOW_UP):
        more = {"extra_body": gardens, "filters": None} if inside else {**gardens, "extra_body": None}
        body = {"model": name, "messages": messages, "temperature": 0.5, "top_k": 1, **more}
        with answering.client() as client:
            if stream:
                parts, _ = streamed(client, body)
                assert "Austen" not in "".join(parts)
            else:
                told = client.post("/v1/chat/completions", json=body).json()
                assert {one["label"] for one in told["evidence"]} <= {"gardens.md"}
    assert not any("by Jane Austen" in json.dumps(request) for request in model.requests)


def test_the_budget_of_a_chat_holds_as_that_of_a_run(answering: Any) -> None:
    """A client that limits what a question may cost is not to pay for more."""
    for budget, passes in (({"iterations": 1}, 1), (None, 2)):
        body = chat("Who repaired the lighthouse in winter?", "corrective_retrieval", budget=budget)
        with answering.client() as client:
            told = client.post("/v1/chat/completions", json=body).json()
        assert told["crag"]["iterations"] == passes


def test_a_chat_keeps_its_question_from_the_web_where_it_says_so(serve: Any, metasearch: Metasearch) -> None:
    """As a run does; without a word of it the web is asked."""
    served = serve(pipelines="heuristic_rag")
    for web, asked in ((False, 0), (None, 1)):
        with served.client() as client:
            body = chat("Who repaired the lighthouse in winter?", "heuristic_rag", web=web)
            assert client.post("/v1/chat/completions", json=body).status_code == 200
        assert len(metasearch.queries) == asked


@pytest.mark.parametrize(
    "more",
    [
        {"filters": "CANARY"},
        {"filters": []},
        {"filters": False},
        {"filters": {"field": "CANARY"}},
        {"web": "CANARY"},
        {"budget": 5},
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_a_restriction_of_a_chat_that_cannot_be_used_is_refused(
    answering: Any, more: dict[str, Any], stream: bool
) -> None:
    """And not left out."""
    with answering.client() as client:
        refused = client.post("/v1/chat/completions", json=chat(QUESTION, "ranked_rag", stream=stream, **more))
    assert (refused.status_code, "CANARY" in refused.text) == (422, False)


def test_the_newest_message_of_the_user_is_the_question(answering: Any, model: ScriptedModel) -> None:
    """Also when it comes in parts; what was said before is shown to nobody but who writes out follow-ups."""
    messages = [
        {"role": "user", "content": "An older question?"},
        {"role": "assistant", "content": "An older answer."},
        {
            "role": "user",
            "content": [{"type": "text", "text": QUESTION}, {"type": "image_url", "image_url": {"url": "x"}}],
        },
    ]
    with answering.client() as client:
        answer = client.post("/v1/chat/completions", json={"model": "corrective_rag", "messages": messages})
    assert answer.status_code == 200
    assert all(QUESTION in json.dumps(request) for request in model.requests)
    assert ["older" in json.dumps(request) for request in model.requests] == [True, False, False]


FOLLOW_UP = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": QUESTION},
    {"role": "assistant", "content": "Jane Austen [1]."},
    {"role": "user", "content": "And in which year?"},
]
WRITTEN_OUT = "In which year was the novel Emma published?"


def writes_out(model: ScriptedModel, question: str = WRITTEN_OUT) -> None:
    """Let the model write out follow-ups; all else as before."""
    judged = model.reply

    def reply(messages: Any) -> tuple[str, str]:
        is_follow_up = "newest message of a conversation" in messages[0]["content"]
        return (question, "stop") if is_follow_up else judged(messages)

    model.reply = reply


@pytest.mark.parametrize("name", ["corrective_rag", "cascade_rag", "baseline_rag"])
def test_a_follow_up_is_asked_as_a_question_of_its_own(answering: Any, model: ScriptedModel, name: str) -> None:
    """One call more; retrieval, grading and answer are about the question, and the completion shows it."""
    writes_out(model)
    with answering.client() as client:
        told = client.post("/v1/chat/completions", json={"model": name, "messages": FOLLOW_UP}).json()
    assert told["choices"][0]["message"]["content"] == SAID
    follow_up = told["follow_up"]
    assert (follow_up["question"], follow_up["source"], follow_up["llm_calls"]) == (WRITTEN_OUT, "model", 1)
    assert told["crag"]["trail"][0]["query"] == WRITTEN_OUT
    assert [WRITTEN_OUT in json.dumps(request) for request in model.requests[:2]] == [False, True]
    assert model.calls == told["crag"]["llm_calls"] + 1


def test_a_streamed_follow_up_streams_the_answer_only(answering: Any, model: ScriptedModel) -> None:
    """Nobody hears the question that was written out; an abstention says what it looked for."""
    writes_out(model)
    with answering.client() as client:
        parts, _ = streamed(client, {"model": "corrective_rag", "messages": FOLLOW_UP})
        model.reply = judging(lambda _: 0.0)
        writes_out(model)
        refused, _ = streamed(client, {"model": "corrective_rag", "messages": FOLLOW_UP})
    assert "".join(parts) == SAID
    assert f'Looked for: "{WRITTEN_OUT}"' in "".join(refused)


@pytest.mark.parametrize(("name", "shown"), [("corrective_rag", True), ("strict_rag", False), ("paper_rag", False)])
def test_earlier_answers_reach_no_question_that_may_go_to_the_web(
    answering: Any, model: ScriptedModel, name: str, shown: bool
) -> None:
    """They are made of documents; what the user said may lead to a query."""
    writes_out(model)
    with answering.client() as client:
        client.post("/v1/chat/completions", json={"model": name, "messages": FOLLOW_UP})
    asked = json.dumps(model.requests[0])
    assert QUESTION in asked
    assert ("Jane Austen [1]." in asked) is shown


def test_a_first_question_costs_no_further_call(answering: Any, model: ScriptedModel) -> None:
    """A completion says that there was no follow-up."""
    with answering.client() as client:
        told = client.post("/v1/chat/completions", json=chat(QUESTION)).json()
    assert told["follow_up"] is None
    assert model.calls == told["crag"]["llm_calls"]


@pytest.mark.parametrize("name", ["corrective_rag", "corrective_retrieval"])
@pytest.mark.parametrize("said", ["Hi!", "Great, thanks a lot \U0001f44d", "What can you do?"])
def test_a_message_that_asks_nothing_costs_nothing(answering: Any, model: ScriptedModel, name: str, said: str) -> None:
    """It was searched for, graded and corrected, and the documents "did not answer" it."""
    earlier = [*FOLLOW_UP[1:3], {"role": "user", "content": said}]
    with answering.client() as client:
        for messages in ([{"role": "user", "content": said}], earlier):
            body = {"model": name, "messages": messages}
            told = client.post("/v1/chat/completions", json=body).json()
            parts, reasons = streamed(client, body)
            assert told["choices"][0]["message"]["content"] == "".join(parts)
            assert "Ask one whenever you like." in parts[0]
            assert (told["evidence"], told["crag"]["llm_calls"], reasons[-1]) == ([], 0, "stop")
            assert set(told["usage"].values()) == {0}
    assert model.calls == 0


@pytest.mark.parametrize(
    ("said", "answer"),
    [("Hallo!", "Ich beantworte Fragen"), ("gracias", "Respondo preguntas"), ("ok, merci", "I answer questions")],
)
def test_small_talk_is_answered_in_its_language(answering: Any, said: str, answer: str) -> None:
    """And in English where it is of several."""
    with answering.client() as client:
        told = client.post("/v1/chat/completions", json=chat(said)).json()
    assert told["choices"][0]["message"]["content"].startswith(answer)


@pytest.mark.parametrize("name", ["corrective_rag", "corrective_retrieval"])
def test_a_question_behind_small_talk_is_a_first_one(answering: Any, model: ScriptedModel, name: str) -> None:
    """It goes on from nothing: no call to write it out, and no word on messages that were not read."""
    with answering.client() as client:
        said: list[dict[str, str]] = []
        for message in ("Hallo!", "thanks", QUESTION):
            said.append({"role": "user", "content": message})
            told = client.post("/v1/chat/completions", json={"model": name, "messages": said}).json()
            said.append({"role": "assistant", "content": told["choices"][0]["message"]["content"]})
    assert told["follow_up"] is None
    assert model.calls == told["crag"]["llm_calls"]
    assert "asked by itself" not in said[-1]["content"]


def task_of_open_webui(wanted: str, answer: str = "Jane Austen [1].") -> str:
    """As it sends tasks to the model of a chat, in our own words."""
    told = f"### Task:\nLook at the chat and do it.\n### Output:\nJSON format: {wanted}\n### Chat History:\n"
    return f"{told}<chat_history>\nUSER: Hi, could you tell me {QUESTION}\nASSISTANT: {answer}\n</chat_history>"


@pytest.mark.parametrize(
    ("wanted", "done"),
    [
        ('{ "title": "your title" }', {"title": QUESTION}),
        ('{ "tags": ["one", "two"] }', {"tags": []}),
        ('{ "follow_ups": ["Question 1?"] }', {"follow_ups": []}),
    ],
)
def test_what_open_webui_asks_behind_an_answer_costs_nothing(
    answering: Any, model: ScriptedModel, wanted: str, done: dict[str, Any]
) -> None:
    """Each chat had an abstention as its title, at three times the cost; a long answer in the task is no question."""
    with answering.client() as client:
        for task in (task_of_open_webui(wanted), task_of_open_webui(wanted, "Long. " * 2_000)):
            told = client.post("/v1/chat/completions", json=chat(task)).json()
            assert json.loads(told["choices"][0]["message"]["content"]) == done
    assert model.calls == 0


@pytest.mark.parametrize("answer", ["Jane Austen [1].", "Long. " * 2_000])
def test_the_title_that_librechat_asks_for_is_the_question(answering: Any, model: ScriptedModel, answer: str) -> None:
    """As plain text, which it shows as it comes; in our own words."""
    asked = (
        f"Provide a short title for the conversation, without marks.\n\nConversation:\nUser: {QUESTION}\nAI: {answer}"
    )
    with answering.client() as client:
        told = client.post("/v1/chat/completions", json=chat(asked)).json()
        mine = client.post("/v1/chat/completions", json=chat(f"Provide a title. {QUESTION}")).json()
    assert told["choices"][0]["message"]["content"] == QUESTION
    assert told["crag"]["llm_calls"] == 0
    assert mine["crag"]["verdict"] == "correct"


def test_a_title_of_a_chat_that_was_cut_within_a_character_has_a_sign_there(answering: Any) -> None:
    """Front ends send the beginning of a chat; no answer can hold a half, and the failure was told as the server's."""
    asked = json.dumps(chat("Provide a short title.\n\nConversation:\nUser: Smile \ud83d"))
    headers = {"content-type": "application/json"}
    with answering.client() as client:
        told = client.post("/v1/chat/completions", content=asked, headers=headers).json()
    assert told["choices"][0]["message"]["content"] == "Smile \ufffd"


def test_any_other_task_is_taken_for_a_question(answering: Any) -> None:
    """Whoever only writes as Open WebUI does gets what everybody gets."""
    with answering.client() as client:
        for task in (task_of_open_webui('{ "poem": "..." }'), f'### Task:\nGive {{ "title": {QUESTION} }}'):
            told = client.post("/v1/chat/completions", json=chat(task)).json()
            assert told["crag"]["verdict"] in ("correct", "ambiguous", "incorrect")


def test_a_message_that_only_begins_with_small_talk_is_a_question(answering: Any, model: ScriptedModel) -> None:
    with answering.client() as client:
        told = client.post("/v1/chat/completions", json=chat(f"Hi, thanks! {QUESTION}")).json()
    assert told["crag"]["verdict"] == "correct"
    assert model.calls == 2


def test_the_seconds_of_a_chats_budget_are_for_its_follow_up_too(answering: Any, model: ScriptedModel) -> None:
    """With a model that hangs a client waited fifteen seconds more than it had said; there is time for a search yet."""
    model.delay = 30.0
    begun = time.monotonic()
    with answering.client() as client:
        body = {"model": "corrective_rag", "messages": FOLLOW_UP, "budget": {"seconds": 4.0, "tokens": 9_000}}
        told = client.post("/v1/chat/completions", json=body).json()
    assert time.monotonic() - begun < 12
    assert (told["follow_up"]["source"], told["follow_up"]["fallback"]) == ("message", "deadline")
    assert told["crag"]["answer"]["status"] == "failed"
    assert told["evidence"]


def test_a_follow_up_that_cannot_be_written_out_is_asked_as_it_stands(answering: Any, model: ScriptedModel) -> None:
    """And the completion says why."""
    writes_out(model, "It was in 1815, so 208 years have gone by since then.")
    with answering.client() as client:
        told = client.post("/v1/chat/completions", json={"model": "corrective_rag", "messages": FOLLOW_UP}).json()
    assert told["follow_up"]["question"] == FOLLOW_UP[-1]["content"]
    assert told["follow_up"]["fallback"] == "unrelated"
    assert "asked by itself" not in told["choices"][0]["message"]["content"]  # it is answered all the same
    assert told["crag"]["trail"][0]["query"] == FOLLOW_UP[-1]["content"]


def test_a_pipeline_without_a_model_asks_the_newest_message(answering: Any, model: ScriptedModel) -> None:
    """It makes no call at all, which is what it is for; an abstention says that it was asked by itself."""
    asked = {"model": "corrective_retrieval", "messages": FOLLOW_UP}
    with answering.client() as client:
        told = client.post("/v1/chat/completions", json=asked).json()
        parts, _ = streamed(client, asked)
        first = client.post("/v1/chat/completions", json={**asked, "messages": FOLLOW_UP[2:]}).json()
    assert (told["follow_up"]["question"], told["follow_up"]["source"]) == (FOLLOW_UP[-1]["content"], "message")
    assert told["crag"]["trail"][0]["query"] == FOLLOW_UP[-1]["content"]
    said = [told["choices"][0]["message"]["content"], "".join(parts), first["choices"][0]["message"]["content"]]
    assert ["This message was asked by itself" in one for one in said] == [True, True, False]
    assert first["follow_up"] is None
    assert model.calls == 0


def test_a_message_asked_by_itself_says_so_beside_passages_that_may_not_answer(answering: Any) -> None:
    """And not beside those that do; in the language of the message."""
    said = {
        "and Emma?": "This message was asked by itself",
        "Wann wurde Emma von Jane Austen veröffentlicht?": "Diese Nachricht wurde für sich allein betrachtet",
        "What is Emma?": None,
    }
    with answering.client() as client:
        for message, sentence in said.items():
            messages = [*FOLLOW_UP[:-1], {"role": "user", "content": message}]
            body = {"model": "corrective_retrieval", "messages": messages}
            told = client.post("/v1/chat/completions", json=body).json()
            last = told["choices"][0]["message"]["content"].split("\n\n")[-1]
            assert told["evidence"]
            assert last.startswith(sentence or f"[{len(told['evidence'])}]")


def test_a_long_chat_needs_room_for_all_that_was_said(serve: Any, configured_model: ScriptedModel) -> None:
    """Front ends send all of it with each message: past the limit of a body, a chat is over, unless that is raised."""
    answer = {"role": "assistant", "content": "A refund is paid within 30 days [1]. " * 40}
    messages = [*([{"role": "user", "content": QUESTION}, answer] * 150), {"role": "user", "content": QUESTION}]
    for settings, status in (({}, 413), ({"body_bytes": 1_000_000}, 200)):
        with serve(pipelines="corrective_rag", **settings).client() as client:
            body = {"model": "corrective_rag", "messages": messages}
            assert client.post("/v1/chat/completions", json=body).status_code == status


def test_follow_ups_can_be_switched_off(serve: Any, configured_model: ScriptedModel) -> None:
    """For clients that write out their questions themselves."""
    app = serve(pipelines="corrective_rag", follow_ups=False)
    with app.client() as client:
        told = client.post("/v1/chat/completions", json={"model": "corrective_rag", "messages": FOLLOW_UP}).json()
    assert told["follow_up"] is None
    assert not any(QUESTION in json.dumps(request) for request in configured_model.requests)


def test_a_blank_message_is_refused_whatever_was_said_before(answering: Any, model: ScriptedModel) -> None:
    """It is not the older question once more."""
    messages = [*FOLLOW_UP[:-1], {"role": "user", "content": " "}]
    with answering.client() as client:
        response = client.post("/v1/chat/completions", json={"model": "corrective_rag", "messages": messages})
    assert response.status_code == 422
    assert model.calls == 0


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"model": "CANARY", "messages": [{"role": "user", "content": "x"}]}, 404, "not_found"),
        ({"model": "corrective_rag", "messages": []}, 422, "invalid_request"),
        (
            {"model": "corrective_rag", "messages": [{"role": "user", "content": "CANARY" * 1000}]},
            422,
            "invalid_request",
        ),
        ({"model": "corrective_rag", "messages": "CANARY"}, 422, "invalid_request"),
        ({"model": "corrective_rag", "messages": [{"role": "user", "content": 7}]}, 422, "invalid_request"),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_a_bad_chat_is_an_error_also_of_a_stream(
    answering: Any, body: Any, status: int, code: str, stream: bool
) -> None:
    with answering.client() as client:
        response = client.post("/v1/chat/completions", json={**body, "stream": stream})
    assert (response.status_code, response.json()["error"]["code"]) == (status, code)
    assert "CANARY" not in response.text
