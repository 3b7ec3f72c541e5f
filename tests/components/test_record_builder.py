"""RecordBuilder: one record for the whole run."""

from dataclasses import replace
from typing import Any

import pytest
from haystack import Document
from haystack.dataclasses import ChatMessage, ToolCall
from makers import graded

from haystack_integrations.crag.components.crag_router import CragRouter
from haystack_integrations.crag.components.evidence_prompt_builder import DEFAULT_SYSTEM
from haystack_integrations.crag.components.record_builder import RecordBuilder
from haystack_integrations.crag.deciding.abstention_words import spoken
from haystack_integrations.crag.deciding.records import best
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.grades import without_grade
from haystack_integrations.crag.state import CragState
from haystack_integrations.crag.texts.text import count_tokens
from haystack_integrations.crag.vocabulary import FEWER

QUESTION = "Who wrote Emma?"


def outcome(*passes: list[float]) -> CragState:
    """The final state of a run whose passes brought documents with these scores."""
    router, state = CragRouter(max_iterations=len(passes)), None
    for number, scores in enumerate(passes):
        documents = [graded(f"{number} {i}", score, QUESTION, source=f"{i}.md") for i, score in enumerate(scores)]
        state = router.run(query=QUESTION, documents=documents, state=state, report={"llm_calls": 1, "tokens_in": 50})[
            "state"
        ]
    assert state is not None
    return state


def test_a_state_that_no_router_decided_about_is_refused() -> None:
    """As that of QuestionGuard, connected in the place of the router's."""
    with pytest.raises(ConfigurationError, match="got a state without a decision for outcome, wanted the final one"):
        RecordBuilder().run(outcome=CragState.start(QUESTION))


def test_the_conversation_of_an_agent_is_no_answer() -> None:
    """Its first message, the prompt, became the answer, and the record said that it was written."""
    prompt, answer = ChatMessage.from_user("Answer from [1]."), ChatMessage.from_assistant("Jane Austen [1].")
    state = outcome([0.9])
    with pytest.raises(ConfigurationError, match=r"conversation for replies \(user, assistant\).*connect last_message"):
        RecordBuilder().run(outcome=state, replies=[prompt, answer])
    asked = ChatMessage.from_tool("found", origin=ToolCall("search", {}))
    for replies in ([answer, answer], [answer, asked, answer]):
        assert RecordBuilder().run(outcome=state, replies=replies)["crag"]["answer"]["status"] == "written"


@pytest.mark.parametrize(
    ("text", "finish_reason", "kind"),
    [
        ("", "stop", "no_text"),
        (None, "length", "no_text"),
        (" \n", None, "no_text"),
        ("[1]", "stop", "no_text"),
        ("", "content_filter", "content_filter"),
    ],
)
def test_a_reply_without_a_text_is_no_written_answer(text: str | None, finish_reason: str | None, kind: str) -> None:
    """A chat generator in AnswerGenerator's place hands it on as it came."""
    reply = ChatMessage.from_assistant(text, meta={"finish_reason": finish_reason})
    record = RecordBuilder().run(outcome=outcome([0.9]), replies=[reply])["crag"]
    assert record["answer"]["status"] == "failed"
    assert f"answer_failed:{kind}" in record["coverage"]["reasons"]
    assert record["llm_calls"] == 2


def test_tokens_and_calls_of_grading_and_answer_are_summed() -> None:
    """Two gradings and one answer."""
    usage = {"prompt_tokens": 200, "completion_tokens": 20}
    reply = ChatMessage.from_assistant("Jane Austen.", meta={"usage": usage})
    record = RecordBuilder().run(outcome=outcome([0.5], [0.9]), replies=[reply])["crag"]
    assert record["llm_calls"] == 3
    assert record["tokens"] == {"in": 300, "out": 20}
    assert record["coverage"]["tokens"] == 320


def test_cache_hits_are_grades_of_the_cache_and_none_that_the_run_knew() -> None:
    """A document that comes again in the next pass is `cached`, too: no cache gave its grade."""
    documents = [graded("a text", 0.5, QUESTION)]
    router, state = CragRouter(max_iterations=2), None
    for hits in (1, 0):
        report = {"llm_calls": 0, "cache_hits": hits}
        state = router.run(query=QUESTION, documents=documents, state=state, report=report)["state"]
    assert state is not None
    assert RecordBuilder().run(outcome=state)["crag"]["cache_hits"] == 1


def test_the_record_names_corrections_and_both_counts_of_documents() -> None:
    """What came in first, what was answered from, what was done between."""
    record = RecordBuilder().run(outcome=outcome([0.5, 0.1], [0.9]))["crag"]
    assert record["strategy"] == "refine"
    assert record["corrected"] is True
    assert (record["documents_before"], record["documents_after"]) == (2, 2)
    kinds = [entry["type"] for entry in record["corrections"]]
    assert kinds == ["keep", "discard", "refine", "keep", "keep"]
    assert record["corrections"][2] == {"type": "refine", "action": "refine", "query": QUESTION}
    assert record["evidence_tokens"] == sum(count_tokens(f"{number} 0") for number in range(2))
    assert [entry["source"] for entry in record["kept"]] == ["0.md", "0.md"]
    assert [entry["reason"] for entry in record["discarded"]] == ["below_filter"]


def test_the_record_counts_what_all_passes_judged() -> None:
    """A document that a refinement carries on is judged in each."""
    coverage = RecordBuilder().run(outcome=outcome([0.5, 0.1], [0.9]))["crag"]["coverage"]
    assert {name: coverage[name] for name in ("documents_in", "graded", "cached", "approved", "failed")} == {
        "documents_in": 4,
        "graded": 4,
        "cached": 0,
        "approved": 0,
        "failed": 0,
    }


@pytest.mark.parametrize(
    ("action", "reason"),
    [
        ("refine", "refined_away"),
        ("web_and_refine", "refined_away"),
        ("web", "replaced_by_web"),
        ("re_retrieve", "not_among_best"),
        ("abstain", "abstained"),
    ],
)
def test_a_document_that_passed_and_is_no_evidence_has_a_reason(action: str, reason: str) -> None:
    """It was good enough in its pass; what followed left it behind."""
    router, first = CragRouter(on_ambiguous=action), graded("first", 0.5, QUESTION)
    result = router.run(query=QUESTION, documents=[first])
    if action != "abstain":
        state = replace(result["state"], kept=(), best=(), web="ok" if "web" in action else "off")
        result = router.run(query=QUESTION, documents=[graded("second", 0.9, QUESTION)], state=state)
    record = RecordBuilder().run(outcome=result["state"])["crag"]
    assert record["discarded"] == [{"id": first.id, "score": 0.5, "reason": reason}]


def test_a_document_without_a_text_is_evidence_of_no_tokens() -> None:
    """A picture, or a passage that a vector store gave without its text."""
    picture = replace(graded("x", 0.9, QUESTION), content=None)
    state = CragRouter().run(query=QUESTION, documents=[picture])["outcome"]
    record = RecordBuilder().run(outcome=state)["crag"]
    assert (record["documents_after"], record["evidence_tokens"]) == (1, 0)


def test_what_nobody_was_asked_about_has_no_grade_in_a_run_that_observes() -> None:
    """It was `failed` with the score 0.5, in a record that counted no failure and was not degraded."""
    asked, unasked = graded("first", 0.9, QUESTION), Document(content="sixth", meta={"source": "6.md"})
    state = CragRouter(mode="observe").run(query=QUESTION, documents=[asked, unasked])["outcome"]
    result = RecordBuilder().run(outcome=state)
    none = {"score": None, "status": None, "grader": None, "reason": "not_graded"}
    assert result["crag"]["kept"][1] == {"id": unasked.id, **none, "source": "6.md"}
    assert (result["crag"]["coverage"]["failed"], result["crag"]["coverage"]["degraded"]) == (0, False)
    first = best(result["documents"], result["crag"], 1)["crag"]
    assert first["discarded"] == [{"id": unasked.id, "score": None, "reason": "top_k", "source": "6.md"}]
    nothing = CragRouter(mode="observe").run(query=QUESTION, documents=[unasked])["outcome"]
    record = RecordBuilder().run(outcome=nothing)["crag"]
    assert (record["kept"][0]["status"], record["coverage"]["reasons"]) == ("failed", ["not_graded"])


@pytest.mark.parametrize(("mode", "scores"), [("off", [None, None]), ("observe", [0.1, None])])
def test_what_nobody_was_asked_about_has_no_grade_where_the_model_has_no_room_for_it(
    mode: str, scores: list[float | None]
) -> None:
    """Half a point in the record would be a grading that failed."""
    documents = [graded("A", 0.9, "q"), graded("B", 0.1, "q"), Document(content="C")]
    documents = [without_grade(one) for one in documents] if mode == "off" else documents
    outcome = CragRouter().run(query="q", documents=documents, mode=mode)["outcome"]
    reply = ChatMessage.from_assistant("It is A [1].", meta={FEWER: {"shown": [1]}})
    dropped = RecordBuilder().run(outcome=outcome, replies=[reply])["crag"]["discarded"]
    assert [(one["score"], one["reason"]) for one in dropped] == [(score, "no_room") for score in scores]


def test_signals_are_of_the_last_pass_that_measured_any() -> None:
    """A correction that had nothing to grade measured none, and the score is still that of the pass before."""
    router, state = CragRouter(aggregate="set", max_iterations=2, on_limit="generate"), None
    documents = [graded("a text", 0.5, QUESTION)]
    for signals in ({"best": 0.5, "rare": 0.0}, {"best": 0.0, "rare": 0.0}):
        report = {"set_score": 0.5, "signals": signals}
        state = router.run(query=QUESTION, documents=documents, state=state, report=report)["state"]
    assert RecordBuilder().run(outcome=state)["crag"]["signals"] == {"best": 0.5, "rare": 0.0}


def test_a_run_is_degraded_by_any_of_its_passes() -> None:
    """Whatever the last one came to."""
    router = CragRouter()
    failed, found = graded("a", 0.5, QUESTION, "failed"), graded("b", 0.9, QUESTION)
    first = router.run(query=QUESTION, documents=[failed, graded("c", 0.4, QUESTION)])["state"]
    last = router.run(query=QUESTION, documents=[found], state=replace(first, kept=()))["state"]
    coverage = RecordBuilder().run(outcome=last)["crag"]["coverage"]
    assert [decision["coverage"]["degraded"] for decision in last.trail] == [True, False]
    assert (coverage["degraded"], coverage["reasons"]) == (True, ["grader_partial"])


@pytest.mark.parametrize(
    ("webs", "told"),
    [
        (["ok", "failed"], "ok"),
        (["ok", "cooldown"], "ok"),
        (["ok", "skipped"], "ok"),
        (["ok", "empty"], "ok"),
        (["failed"], "failed"),
        (["skipped"], "skipped"),
    ],
    ids=str,
)
def test_the_record_tells_the_best_that_became_of_the_web(webs: list[Any], told: str) -> None:
    """In words, too. What failed besides is a reason, and each decision tells of its own search."""
    router = CragRouter(on_incorrect="web", on_limit="abstain", max_iterations=3)
    state = router.run(query=QUESTION, documents=[graded("first", 0.1, QUESTION)])["state"]
    for web in webs:
        documents = [graded("page", 0.1, QUESTION)] if web == "ok" else []
        result = router.run(query=QUESTION, documents=documents, state=replace(state, web=web))
        state = result["state"]
    record = RecordBuilder().run(outcome=state)["crag"]
    assert record["coverage"]["web"] == record["abstention"]["web"] == told
    assert ("The web was searched, too." in result["abstain"]) is (told == "ok")
    assert [decision["coverage"]["web"] for decision in record["trail"]] == ["off", *webs]
    reasons = [reason for reason in record["coverage"]["reasons"] if reason.startswith("web")]
    assert reasons == [f"web_{web}" for web in webs if web in ("failed", "cooldown")]
    assert record["corrected"] is (told == "ok")


def test_a_run_without_correction_says_none() -> None:
    """The fast path."""
    record = RecordBuilder().run(outcome=outcome([0.9]))["crag"]
    assert (record["strategy"], record["corrected"], record["iterations"]) == ("none", False, 1)
    assert record["milliseconds"] >= 0


def test_refined_evidence_replaces_the_routers() -> None:
    """When something refined it on the way to the answer."""
    refined = [graded("refined", 0.9, QUESTION)]
    result = RecordBuilder().run(outcome=outcome([0.9]), documents=refined)
    assert result["documents"] == refined


def test_an_answer_that_the_model_declined_is_told_from_one_it_wrote() -> None:
    """By the sentence that the default prompt asks for; another prompt's sentence is a setting."""
    said = [ChatMessage.from_assistant("Die Unterlagen beantworten das nicht.")]
    wrote = RecordBuilder().run(outcome=outcome([0.9]), replies=said)["crag"]
    declined = RecordBuilder(abstention="Die Unterlagen beantworten das nicht.").run(
        outcome=outcome([0.9]), replies=said
    )["crag"]
    assert (wrote["answer"]["status"], declined["answer"]["status"]) == ("written", "declined")
    assert (declined["action"], declined["verdict"], declined["llm_calls"]) == ("generate", "correct", 2)
    assert declined["coverage"]["degraded"] is False


def test_a_model_that_declines_in_another_language_than_it_was_asked_to_has_declined() -> None:
    """A short Turkish question is not told to be one, so the prompt asks for English words, and for its language."""
    question, said = "Para iadesi ne zaman ödenir?", "Belgeler bu soruyu yanıtlamıyor."
    assert spoken(question) is None
    replies = [ChatMessage.from_assistant(said)]
    ended = CragRouter().run(query=question, documents=[graded("Page", 0.9, question)])["outcome"]
    assert RecordBuilder().run(outcome=ended, replies=replies)["crag"]["answer"]["status"] == "declined"
    own = RecordBuilder(abstention="Nothing was found.").run(outcome=ended, replies=replies)["crag"]
    assert own["answer"]["status"] == "written"


def test_the_default_prompt_asks_for_the_sentence_that_the_record_knows() -> None:
    """One sentence: in the prompt, in the record, and in an abstention of the router."""
    assert DEFAULT_SYSTEM.endswith(f"nothing else: {RecordBuilder().abstention}")
    assert CragRouter().abstention == RecordBuilder().abstention


def test_what_strips_left_out_after_the_router_is_not_called_evidence() -> None:
    """The record tells of what the answer was written from."""
    documents = [graded(f"passage {n}", 0.9, QUESTION) for n in range(3)]
    ended = CragRouter().run(query=QUESTION, documents=documents)["outcome"]
    record = RecordBuilder().run(outcome=ended, documents=documents[1:2])["crag"]
    assert (record["documents_after"], [entry["id"] for entry in record["kept"]]) == (1, [documents[1].id])
    gone = [(entry["id"], entry["score"], entry["reason"]) for entry in record["discarded"]]
    assert gone == [(documents[n].id, 0.9, "refined_away") for n in (0, 2)]


def test_an_answer_that_its_model_did_not_end_is_told() -> None:
    """It was cut off at its longest, or by a filter, in whatever word for it; what ends by itself is whole."""

    def told(finish_reason: Any) -> list[str]:
        reply = ChatMessage.from_assistant("Jane", meta={"finish_reason": finish_reason})
        coverage = RecordBuilder().run(outcome=outcome([0.9]), replies=[reply])["crag"]["coverage"]
        assert coverage["degraded"] is bool(coverage["reasons"])
        reasons: list[str] = coverage["reasons"]
        return reasons

    assert told("length") == ["answer_cut_off:length"]
    assert told("content_filter") == ["answer_cut_off:content_filter"]
    assert told("max_tokens") == told("incomplete") == ["answer_cut_off:length"]
    assert told("model_length") == told("MAX_TOKENS") == ["answer_cut_off:length"]  # Mistral's and Google's
    assert told("refusal") == told("RECITATION") == ["answer_cut_off:content_filter"]
    # The server's own failures: DeepSeek's, OpenRouter's, SGLang's.
    assert told("insufficient_system_resource") == told("error") == told("abort") == ["answer_cut_off:interrupted"]
    assert told("stop") == told("eos_token") == told(None) == told(["length"]) == []
