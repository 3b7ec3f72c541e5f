"""QuestionGuard: what may enter, and what a run starts with."""

from typing import Any

import pytest
from haystack.dataclasses import ChatMessage

from haystack_integrations.crag.components.query_expander import QueryExpander
from haystack_integrations.crag.components.question_guard import QuestionGuard
from haystack_integrations.crag.errors import ConfigurationError, QuestionError
from haystack_integrations.crag.texts.questions.letters import in_plain_letters


def test_a_good_question_passes_and_starts_a_state() -> None:
    """With strategy, budget and the question as first search query."""
    guard = QuestionGuard(strategy={"name": "bm25", "weights": {"bm25": 1.0}}, budget={"llm_calls": 3, "seconds": 9})
    result = guard.run(query="  Who wrote Emma? ")
    assert result["query"] == "  Who wrote Emma? "
    state = result["state"]
    assert (state.strategy, state.weights, state.iteration) == ("bm25", {"bm25": 1.0}, 0)
    assert state.queries == ({"query": "  Who wrote Emma? ", "strategy": "bm25"},)
    assert (state.budget.llm_calls, state.budget.seconds) == (3, 9)


@pytest.mark.parametrize("web", ["false", 0])
def test_a_web_that_is_neither_on_nor_off_is_refused(web: Any) -> None:
    """Only False keeps a run from the web: anything like it would send the question out all the same."""
    with pytest.raises(ConfigurationError, match="for web, wanted true or false"):
        QuestionGuard().run(query="Who wrote Emma?", web=web)


@pytest.mark.parametrize("question", ["", " \n\t", None])
def test_an_empty_question_is_refused(question: Any) -> None:
    """Elasticsearch would raise, a retriever would find anything."""
    with pytest.raises(QuestionError, match="empty"):
        QuestionGuard().run(query=question)


@pytest.mark.parametrize(
    "question", [ChatMessage.from_user("Who?"), [ChatMessage.from_user("Who?")], ["Who?"], b"Who?"]
)
def test_a_question_that_is_no_text_is_told_from_an_empty_one(question: Any) -> None:
    """As a chat's messages are; what they say stands in no message."""
    with pytest.raises(
        QuestionError, match=f"got a {type(question).__name__} as the question, wanted a text"
    ) as caught:
        QuestionGuard().run(query=question)
    assert "Who" not in str(caught.value)


@pytest.mark.parametrize("top_k", [0, -1, "5", True, 2.5])
def test_a_number_of_documents_below_one_is_refused_before_any_retriever_is_asked(top_k: Any) -> None:
    """Haystack's own ones fail at their places, or find nothing without a word."""
    with pytest.raises(ConfigurationError, match="top_k must be a whole number > 0, but got"):
        QuestionGuard().run(query="Who wrote Emma?", top_k=top_k)


def test_a_question_beyond_the_limit_is_refused_with_both_numbers() -> None:
    """39 kB can end an Elasticsearch with stock settings; the message does not repeat the question."""
    with pytest.raises(QuestionError, match=r"1,000,000 characters.*4,096") as caught:
        QuestionGuard().run(query="x" * 1_000_000)
    assert len(str(caught.value)) < 300
    assert QuestionGuard(max_characters=5).run(query="12345")["query"] == "12345"


@pytest.mark.parametrize("question", ["\ud800", "a\udcff refund", "x" * 10 + "\udfff"])
def test_a_question_with_half_a_character_is_refused(question: str) -> None:
    """As a shell passes bytes that are no UTF-8; no server could be asked, and the message can be printed."""
    place = next(number for number, letter in enumerate(question, 1) if "\ud800" <= letter <= "\udfff")
    with pytest.raises(QuestionError, match=f"half a character at place {place}, .*; send it as UTF-8") as caught:
        QuestionGuard().run(query=question)
    assert str(caught.value).isascii()
    assert QuestionGuard().run(query="Wer schrieb \U0001f9d1?")["query"].endswith("\U0001f9d1?")


def test_a_run_can_set_mode_and_limits_of_its_own() -> None:
    """Named limits replace those of construction, the others stay."""
    guard = QuestionGuard(budget={"llm_calls": 3, "seconds": 9})
    state = guard.run(query="q", mode="observe", budget={"seconds": 1})["state"]
    assert (state.mode, state.budget.llm_calls, state.budget.seconds) == ("observe", 3, 1)


def test_two_runs_share_nothing() -> None:
    """Each has its own clock."""
    guard = QuestionGuard()
    first, second = guard.run(query="q")["state"], guard.run(query="q")["state"]
    assert first.started < second.started


@pytest.mark.parametrize(
    "settings",
    [
        {"max_characters": 0},
        {"budget": {"euros": 3}},
        {"budget": {"seconds": -1}},
        {"budget": {"llm_calls": True}},
        {"strategy": {"name": "x"}},
    ],
)
def test_unusable_settings_are_refused_at_construction(settings: dict[str, Any]) -> None:
    """Got and wanted."""
    with pytest.raises(ConfigurationError, match=r"but got|choose from"):
        QuestionGuard(**settings)


def test_an_unknown_mode_is_refused() -> None:
    """With the known ones."""
    with pytest.raises(ConfigurationError, match="observe"):
        QuestionGuard().run(query="q", mode="watch")


@pytest.mark.parametrize(
    "budget", [{"seconds": float("nan")}, {"seconds": float("inf")}, {"llm_calls": 1.5}, {"tokens": True}, 5, True]
)
def test_a_budget_that_is_none_is_refused(budget: Any) -> None:
    """When it is set, not by a run that can do nothing."""
    with pytest.raises(ConfigurationError, match=r"wanted|must be"):
        QuestionGuard(budget=budget)
    with pytest.raises(ConfigurationError, match=r"wanted|must be"):
        QuestionGuard().run(query="q", budget=budget)


@pytest.mark.parametrize("weights", [{"bm25": "x"}, {"bm25": -1}, {"bm25": None}, {"bm25": float("nan")}, "bm25", None])
def test_weights_that_no_list_can_be_fused_by_are_refused_when_they_are_set(weights: Any) -> None:
    """At both doors of a strategy, and not in the middle of a run, where fusion would fail or turn the order round."""
    strategy = {"name": "keywords", "weights": weights}
    with pytest.raises(ConfigurationError, match="weights by retriever, finite numbers >= 0, but got"):
        QuestionGuard(strategy=strategy)
    with pytest.raises(
        ConfigurationError, match="weights by retriever, finite numbers >= 0, and may have expand, true or"
    ):
        QueryExpander(strategies=[strategy])
    own = {"name": "the joiner's own", "weights": {}}
    assert QueryExpander(strategies=[{**own, "expand": True}]).strategies
    assert QuestionGuard(strategy=own).run(query="Who?")["state"].weights == {}


@pytest.mark.parametrize("name", [2, True, None, "", " ", "web"])
def test_a_strategy_whose_name_no_record_can_tell_is_refused_when_it_is_set(name: Any) -> None:
    """An abstention failed over a number; no name passed for the first search, and `web` for a query to the web."""
    strategy = {"name": name, "weights": {"bm25": 1.0}}
    for wrong in (lambda: QuestionGuard(strategy=strategy), lambda: QueryExpander(strategies=[strategy])):
        with pytest.raises(ConfigurationError, match=r"name must be a text, other than 'web' .*, got"):
            wrong()


@pytest.mark.parametrize("question", ["\u200b", "\ufeff \u200e", "\x00\x07", "\u2060\n"])
def test_a_question_that_nobody_can_see_is_an_empty_one(question: str) -> None:
    """As a browser's clipboard leaves it: no retriever finds anything for it, and no reader could tell why."""
    with pytest.raises(QuestionError, match="the question is empty: none of its characters can be seen"):
        QuestionGuard().run(query=question)
    assert QuestionGuard().run(query=f"Emma{question}?")["query"] == in_plain_letters(f"Emma{question}?")
