"""strict_rag.yml: every path, threshold and scenario of design 004, on the real pipeline."""

import json
import re
from typing import Any

import pytest
from haystack import Document
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.utils import Secret
from makers import fill, run_by_door, texts
from metasearch import Metasearch
from scripted_model import NAME, Messages, ScriptedModel, documents_in

from haystack_integrations.crag.pipelines import load

BOTH = pytest.mark.parametrize("asynchronous", [False, True], ids=["run", "run_async"])
QUESTION = "What is the GDP of France?"
GDP = "The GDP of France was 2.8 trillion euros. Paris is the capital of France."
CULTURE = "France has a rich culture: cuisine, art, architecture. The GDP is not its subject."
GERMANY = "What France pays for the GDP statistics of Germany is another matter."
STRIP = re.compile(r"^\[?(\d+)\]?[.:)]? (.*)$", re.MULTILINE)


def model(scores: dict[str, float], web: float = 0.9) -> Any:
    """Words of a model: it grades by the text's first words, keeps what names the GDP, rewrites, and answers."""

    def reply(messages: Messages) -> tuple[str, str]:
        text = messages[-1]["content"]
        if documents_in(messages):
            entries = []
            for key, shown in documents_in(messages).items():
                score = next((s for start, s in scores.items() if shown.startswith(start)), web)
                entries.append({"id": key, "score": score, "reason": "scripted"})
            return json.dumps({"evaluations": entries}), "stop"
        if "<strip" in text or "keep" in text.lower():
            return json.dumps({"keep": [int(n) for n, strip in STRIP.findall(text) if "GDP" in strip]}), "stop"
        if "Question: " in text and "passage-" in text:
            return "2.8 trillion euros [1].", "stop"
        return "France GDP trillion euros", "stop"

    return reply


def run(store: Any, scripted: ScriptedModel, *, asynchronous: bool, **parts: Any) -> dict[str, Any]:
    """Run the pipeline by one of the doors, over HTTP for every word of the model."""
    chat = OpenAIChatGenerator(api_key=Secret.from_token("k"), model=NAME, api_base_url=scripted.url, max_retries=0)
    rag = load("strict_rag", store=store, generator=chat, **parts)
    return run_by_door(rag, asynchronous=asynchronous, query=QUESTION)


@BOTH
def test_correct_every_document_is_good_so_all_are_used_as_they_are(
    in_memory_store: Any, scripted_model: ScriptedModel, metasearch: Metasearch, asynchronous: bool
) -> None:
    """Two calls instead of the design's k + 1, and no web."""
    fill(in_memory_store, [Document(content=text) for text in (GDP, CULTURE, GERMANY)])
    scripted_model.reply = model({}, web=0.9)
    result = run(in_memory_store, scripted_model, asynchronous=asynchronous)
    assert result["crag"]["verdict"] == "correct"
    assert set(texts(result)) == {GDP, CULTURE, GERMANY}
    assert scripted_model.calls == result["crag"]["llm_calls"] == 2
    assert metasearch.queries == []


@BOTH
def test_ambiguous_the_relevant_sentences_beside_the_web(
    in_memory_store: Any, scripted_model: ScriptedModel, metasearch: Metasearch, asynchronous: bool
) -> None:
    """Sentences are kept word for word; the query is rewritten for the web; the answer rests on both."""
    fill(in_memory_store, [Document(content=text) for text in (GDP, CULTURE)])
    scripted_model.reply = model({"The GDP": 0.6, "France has": 0.5})
    metasearch.finds(["INSEE: the GDP of France in figures."])
    result = run(in_memory_store, scripted_model, asynchronous=asynchronous)
    assert result["crag"]["trail"][0]["verdict"] == "ambiguous"
    assert result["crag"]["strategy"] == "web_and_refine"
    assert "The GDP of France was 2.8 trillion euros." in texts(result)
    assert not any("Paris is the capital" in text for text in texts(result))
    assert "INSEE: the GDP of France in figures." in texts(result)
    assert metasearch.queries == ["France GDP trillion euros"]
    # A grading, a rewritten query, the sentences of all documents, a second grading, the answer.
    assert scripted_model.calls == result["crag"]["llm_calls"] == 5


@BOTH
def test_incorrect_all_are_discarded_and_only_the_web_is_used(
    in_memory_store: Any, scripted_model: ScriptedModel, metasearch: Metasearch, asynchronous: bool
) -> None:
    """The query is rewritten first."""
    fill(in_memory_store, [Document(content=text) for text in (CULTURE, GERMANY)])
    scripted_model.reply = model({"France has": 0.1, "What France": 0.2})
    metasearch.finds(["INSEE: the GDP of France in figures."])
    result = run(in_memory_store, scripted_model, asynchronous=asynchronous)
    assert result["crag"]["trail"][0]["verdict"] == "incorrect"
    assert texts(result) == ["INSEE: the GDP of France in figures."]
    assert metasearch.queries == ["France GDP trillion euros"]


@BOTH
def test_the_worst_document_decides_and_the_good_ones_are_not_thrown_away(
    in_memory_store: Any, scripted_model: ScriptedModel, metasearch: Metasearch, asynchronous: bool
) -> None:
    """The design discards all chunks when one is bad; its intent is to fall back for that chunk."""
    fill(in_memory_store, [Document(content=text) for text in (GDP, CULTURE)])
    scripted_model.reply = model({"The GDP": 0.95, "France has": 0.1})
    metasearch.finds(["INSEE: the GDP of France in figures."])
    result = run(in_memory_store, scripted_model, asynchronous=asynchronous)
    decision = result["crag"]["trail"][0]
    assert (decision["verdict"], decision["score"]) == ("incorrect", 0.1)
    assert any(text.startswith("The GDP of France was") for text in texts(result))
    assert "INSEE: the GDP of France in figures." in texts(result)
    assert not any("cuisine" in text for text in texts(result))


@BOTH
def test_a_web_that_fails_ends_without_an_answer(
    in_memory_store: Any, scripted_model: ScriptedModel, metasearch: Metasearch, asynchronous: bool
) -> None:
    """The design gives "No web results found" to the model as evidence."""
    fill(in_memory_store, [Document(content=CULTURE)])
    scripted_model.reply = model({"France has": 0.1})
    metasearch.status = 500
    result = run(in_memory_store, scripted_model, asynchronous=asynchronous)
    assert result["documents"] == []
    assert result["crag"]["action"] == "abstain"
    assert result["crag"]["coverage"]["web"] == "failed"


@BOTH
def test_an_ambiguous_retrieval_without_a_web_is_answered_from_its_sentences(
    in_memory_store: Any, scripted_model: ScriptedModel, metasearch: Metasearch, asynchronous: bool
) -> None:
    """What was kept stays kept."""
    fill(in_memory_store, [Document(content=GDP)])
    scripted_model.reply = model({"The GDP": 0.6})
    metasearch.status = 500
    result = run(in_memory_store, scripted_model, asynchronous=asynchronous)
    assert texts(result) == ["The GDP of France was 2.8 trillion euros."]


@BOTH
def test_a_grading_that_fails_is_no_half_mark(
    in_memory_store: Any, scripted_model: ScriptedModel, metasearch: Metasearch, asynchronous: bool
) -> None:
    """The design's 0.5 would send the question to the web; here it ends, and says why."""
    fill(in_memory_store, [Document(content=GDP)])
    scripted_model.reply = lambda messages: ("Sorry.", "stop")
    result = run(in_memory_store, scripted_model, asynchronous=asynchronous)
    assert result["crag"]["verdict"] == "ungraded"
    assert metasearch.queries == []


@pytest.mark.parametrize(
    ("preset", "score", "verdict"),
    [
        ("balanced", 0.75, "correct"),
        ("conservative", 0.75, "ambiguous"),
        ("conservative", 0.35, "incorrect"),
        ("balanced", 0.35, "ambiguous"),
        ("aggressive", 0.65, "correct"),
        ("aggressive", 0.25, "ambiguous"),
    ],
)
def test_the_designs_two_other_settings(
    preset: str,
    score: float,
    verdict: str,
    in_memory_store: Any,
    scripted_model: ScriptedModel,
    metasearch: Metasearch,
) -> None:
    """Conservative 0.8 / 0.4, aggressive 0.6 / 0.2."""
    fill(in_memory_store, [Document(content=GDP)])
    scripted_model.reply = model({"The GDP": score})
    result = run(in_memory_store, scripted_model, asynchronous=False, router={"preset": preset})
    assert result["crag"]["trail"][0]["verdict"] == verdict


@BOTH
def test_scenario_knowledge_cutoff_gap(
    in_memory_store: Any, scripted_model: ScriptedModel, metasearch: Metasearch, asynchronous: bool
) -> None:
    """Outdated evidence is ambiguous, and the web brings what is current."""
    fill(in_memory_store, [Document(content="The GDP of France in an older year was 2.4 trillion euros.")])
    scripted_model.reply = model({"The GDP": 0.5})
    metasearch.finds(["The GDP of France is now 3.0 trillion euros."])
    result = run(in_memory_store, scripted_model, asynchronous=asynchronous)
    assert result["crag"]["trail"][0]["verdict"] == "ambiguous"
    assert "The GDP of France is now 3.0 trillion euros." in texts(result)


@BOTH
def test_scenario_corpus_coverage_gap(
    in_memory_store: Any, scripted_model: ScriptedModel, metasearch: Metasearch, asynchronous: bool
) -> None:
    """The corpus knows only something similar; the web knows the matter itself."""
    fill(in_memory_store, [Document(content=GERMANY)])
    scripted_model.reply = model({"What France": 0.1})
    metasearch.finds(["The GDP of France was 2.8 trillion euros."])
    result = run(in_memory_store, scripted_model, asynchronous=asynchronous)
    assert result["crag"]["web_used"] is True
    assert texts(result) == ["The GDP of France was 2.8 trillion euros."]


async def test_sentences_and_web_are_looked_for_at_the_same_time(
    in_memory_store: Any, scripted_model: ScriptedModel, metasearch: Metasearch
) -> None:
    """Neither is answered before the other has been asked."""
    fill(in_memory_store, [Document(content=GDP)])
    words = model({"The GDP": 0.6})

    def waiting(messages: Messages) -> tuple[str, str]:
        said: tuple[str, str] = words(messages)
        if said[0].startswith('{"keep"'):
            metasearch.allowed.set()
            assert metasearch.begun.wait(5)
        return said

    scripted_model.reply = waiting
    metasearch.finds(["INSEE: the GDP of France in figures."])
    metasearch.allowed.clear()
    chat = OpenAIChatGenerator(
        api_key=Secret.from_token("k"), model=NAME, api_base_url=scripted_model.url, max_retries=0
    )
    rag = load("strict_rag", store=in_memory_store, generator=chat)
    result = await rag.run_async(query=QUESTION)
    await rag.close_async()
    rag.close()
    assert result["crag"]["strategy"] == "web_and_refine"
    assert {"The GDP of France was 2.8 trillion euros.", "INSEE: the GDP of France in figures."} <= set(texts(result))


@BOTH
def test_a_web_that_fails_makes_the_good_rest_no_better(
    in_memory_store: Any, scripted_model: ScriptedModel, metasearch: Metasearch, asynchronous: bool
) -> None:
    """The worst decided; that it is left out corrects nothing, and the record shows where it went."""
    fill(in_memory_store, [Document(content=text) for text in (GDP, CULTURE)])
    scripted_model.reply = model({"The GDP": 0.95, "France has": 0.1})
    metasearch.status = 500
    crag = run(in_memory_store, scripted_model, asynchronous=asynchronous)["crag"]
    assert (crag["verdict"], crag["score"], crag["action"], crag["limit"]) == (
        "incorrect",
        0.1,
        "generate",
        "max_iterations",
    )
    assert (crag["strategy"], crag["corrected"], crag["web_used"]) == ("refine", True, False)
    assert [decision["judged_by"] for decision in crag["trail"]] == ["lower_threshold", "web_failed"]


def test_a_document_that_a_correction_leaves_nothing_of_is_on_record(
    in_memory_store: Any, scripted_model: ScriptedModel, metasearch: Metasearch
) -> None:
    """It passed the filter, and none of its sentences was kept."""
    fill(in_memory_store, [Document(content=GDP), Document(id="away", content="Paris is the capital of France.")])
    scripted_model.reply = model({"The GDP": 0.6, "Paris": 0.5})
    metasearch.finds(["INSEE: the GDP of France in figures."])
    crag = run(in_memory_store, scripted_model, asynchronous=False)["crag"]
    assert {"id": "away", "score": 0.5, "reason": "refined_away"} in crag["discarded"]
    assert {entry["id"] for entry in crag["kept"]}.isdisjoint(entry["id"] for entry in crag["discarded"])


@BOTH
def test_two_branches_together_keep_to_the_budget(
    in_memory_store: Any, scripted_model: ScriptedModel, metasearch: Metasearch, asynchronous: bool
) -> None:
    """One call is left for query, sentences and what the web brings: that has it, rules and wording do the rest."""
    fill(in_memory_store, [Document(content=GDP)])
    scripted_model.reply = model({"The GDP": 0.6})
    metasearch.finds(["INSEE: the GDP of France in figures."])
    chat = OpenAIChatGenerator(
        api_key=Secret.from_token("k"), model=NAME, api_base_url=scripted_model.url, max_retries=0
    )
    rag = load("strict_rag", store=in_memory_store, generator=chat)
    crag = run_by_door(rag, asynchronous=asynchronous, query=QUESTION, budget={"llm_calls": 2})["crag"]
    # Two gradings; the answer is not counted against the budget.
    assert scripted_model.calls == crag["llm_calls"] == 3
    assert (len(metasearch.queries), crag["coverage"]["web"], crag["coverage"]["failed"]) == (1, "ok", 0)


@BOTH
def test_without_a_web_server_no_model_is_asked_for_a_query_that_nobody_could_search_for(
    in_memory_store: Any, scripted_model: ScriptedModel, monkeypatch: pytest.MonkeyPatch, asynchronous: bool
) -> None:
    """A grading, the sentences, a second grading, the answer: the rewriter's call would be paid for nothing."""
    monkeypatch.delenv("CRAG_SEARXNG_URL", raising=False)
    fill(in_memory_store, [Document(content=text) for text in (GDP, CULTURE)])
    scripted_model.reply = model({"The GDP": 0.6, "France has": 0.5})
    crag = run(in_memory_store, scripted_model, asynchronous=asynchronous)["crag"]
    assert crag["coverage"]["web"] == "skipped"
    assert "France GDP trillion euros" not in crag["queries"]
    # What is refined is known by its document, so it is not graded again.
    assert scripted_model.calls == crag["llm_calls"] == 3


@BOTH
def test_a_web_that_is_left_alone_after_a_failure_gets_no_query_by_a_model_either(
    in_memory_store: Any, scripted_model: ScriptedModel, metasearch: Metasearch, asynchronous: bool
) -> None:
    """The second question finds the provider in its cool-down."""
    fill(in_memory_store, [Document(content=CULTURE)])
    scripted_model.reply = model({"France has": 0.1})
    metasearch.status = 500
    chat = OpenAIChatGenerator(
        api_key=Secret.from_token("k"), model=NAME, api_base_url=scripted_model.url, max_retries=0
    )
    rag = load("strict_rag", store=in_memory_store, generator=chat)
    first = run_by_door(rag, asynchronous=asynchronous, query=QUESTION)["crag"]
    second = run_by_door(rag, asynchronous=asynchronous, query=QUESTION)["crag"]
    assert (first["coverage"]["web"], first["llm_calls"]) == ("failed", 2)
    assert (second["coverage"]["web"], second["llm_calls"]) == ("cooldown", 1)
