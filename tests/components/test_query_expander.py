"""QueryExpander: other words, other strategies, never the same twice."""

import json
from dataclasses import replace
from typing import Any

import pytest
from haystack import Document
from hypothesis import given
from hypothesis import strategies as st

from haystack_integrations.crag.components.query_expander import QueryExpander
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.state import CragState

STRATEGIES = [
    {"name": "dense", "weights": {"bm25": 0.0, "dense": 1.0}},
    {"name": "expanded", "weights": {"bm25": 1.0, "dense": 0.3}, "expand": True},
]


def after(action: str, state: CragState) -> CragState:
    """The state as a router leaves it for a correction."""
    return replace(state, action=action, trail=(*state.trail, {"action": action}))


def test_synonyms_are_at_most_two_per_term_in_the_order_of_the_question() -> None:
    """Deterministic, so a run can be repeated."""
    expander = QueryExpander(synonyms={"fast": ["quick", "rapid", "swift"], "car": ["automobile"]})
    assert expander.run(query="Is the car fast?")["query"] == "Is the car fast? automobile quick rapid"


def test_phrases_win_over_their_words() -> None:
    """`log in` is one term; its words are not expanded a second time."""
    expander = QueryExpander(synonyms={"log in": ["sign in"], "log": ["record"]})
    assert expander.run(query="How do I log in?")["query"] == "How do I log in? sign in"


def test_a_plural_finds_the_synonyms_of_its_singular() -> None:
    """`cars` is a form of `car`."""
    assert QueryExpander(synonyms={"car": ["automobile"]}).run(query="fast cars")["query"] == "fast cars automobile"


@pytest.mark.parametrize("suffix", [".json", ".yml"])
def test_a_users_mapping_file_may_be_json_or_yaml(suffix: str, tmp_path: Any) -> None:
    """The file replaces the built-in synonyms."""
    path = tmp_path / f"synonyms{suffix}"
    path.write_text(json.dumps({"widget": ["gadget"]}))
    assert QueryExpander(synonyms=str(path)).run(query="broken widget")["query"] == "broken widget gadget"


@pytest.mark.parametrize("content", ["- a\n- b", "car: automobile", "a: [1]", "{"])
def test_an_unusable_mapping_file_is_refused_with_the_form_that_is_wanted(content: str, tmp_path: Any) -> None:
    """At construction, not at the first question."""
    path = tmp_path / "synonyms.yml"
    path.write_text(content)
    with pytest.raises(ConfigurationError, match=r"term: \[synonym"):
        QueryExpander(synonyms=str(path))
    with pytest.raises(ConfigurationError, match="cannot be read"):
        QueryExpander(synonyms=str(tmp_path / "missing.yml"))


def test_a_refinement_learns_words_from_the_kept_evidence() -> None:
    """Words that the evidence shares and the question lacks."""
    kept = tuple(Document(content=f"The turbocharger raises boost pressure {n}.") for n in range(2))
    state = after("refine", CragState.start("engine power", kept=kept))
    query = QueryExpander(synonyms={}).run(state=state)["query"]
    assert query.startswith("engine power ")
    assert {"turbocharger", "boost", "pressure", "raises"} & set(query.split())


def test_re_retrieve_climbs_the_ladder_of_strategies() -> None:
    """First the same words by another strategy, then other words; weights travel in the state."""
    expander = QueryExpander(strategies=STRATEGIES, synonyms={"car": ["automobile"]})
    start = CragState.start("fast car", strategy="bm25", weights={"bm25": 1.0, "dense": 0.0})
    first = expander.run(state=after("re_retrieve", start))
    assert (first["query"], first["state"].strategy) == ("fast car", "dense")
    assert first["state"].weights == {"bm25": 0.0, "dense": 1.0}
    second = expander.run(state=after("re_retrieve", first["state"]))
    assert (second["query"], second["state"].strategy) == ("fast car automobile", "expanded")
    third = expander.run(state=after("re_retrieve", second["state"]))
    assert third["state"].strategy == "expanded"
    assert third["query"] != second["query"]


def test_the_question_itself_is_never_replaced() -> None:
    """Only the search query changes, always starting from the user's words."""
    expander = QueryExpander(synonyms={"car": ["automobile", "vehicle", "motor", "wheels"]})
    state = CragState.start("fast car")
    for _ in range(3):
        state = after("refine", expander.run(state=after("refine", state))["state"])
        assert state.query == "fast car"


def test_the_web_mode_gives_under_ten_keywords() -> None:
    """By rule: content words in order."""
    question = "Could you please tell me " + " ".join(f"topic{n}" for n in range(20)) + "?"
    words = QueryExpander(mode="web").run(query=question)["query"].split()
    assert len(words) < 10
    assert "the" not in words


def test_when_no_other_query_is_left_it_says_so() -> None:
    """An empty list for the judge in place of a repeated query."""
    expander = QueryExpander(synonyms={})
    state, seen = CragState.start("emma"), 0
    while "query" in (result := expander.run(state=after("refine", state))):
        state, seen = result["state"], seen + 1
        assert seen < 10
    assert result["exhausted"] == []


@given(
    question=st.text(st.sampled_from("abc car fast log in the?"), min_size=1, max_size=30).filter(str.strip),
    actions=st.lists(st.sampled_from(["refine", "re_retrieve"]), max_size=8),
)
def test_the_same_query_is_never_sent_twice_with_the_same_strategy(question: str, actions: list[str]) -> None:
    """For any question and any order of corrections."""
    expander = QueryExpander(strategies=STRATEGIES)
    state = CragState.start(question, strategy="bm25")
    for action in actions:
        state = expander.run(state=after(action, state))["state"]
    tried = [(entry["query"].casefold(), entry["strategy"]) for entry in state.queries]
    assert len(tried) == len(set(tried))


@pytest.mark.parametrize(
    "settings",
    [{"mode": "llm2"}, {"max_synonyms_per_term": 0}, {"strategies": [{"name": "x"}]}, {"synonyms": {"a": "b"}}],
)
def test_unusable_settings_are_refused(settings: dict[str, Any]) -> None:
    """At construction."""
    with pytest.raises(ConfigurationError):
        QueryExpander(**settings)


def test_neither_question_nor_state_is_an_error() -> None:
    """With the way out."""
    with pytest.raises(ConfigurationError, match="pass query, or connect"):
        QueryExpander().run()
