"""The key of a grade: it names all that a score depends on, and nothing else."""

from typing import Any

import pytest

from haystack_integrations.crag.caching import grade_key

INGREDIENTS: dict[str, Any] = {
    "grader": "BatchRelevanceGrader",
    "model": "gpt-5-nano",
    "prompt": "Judge.",
    "generation": {"temperature": 0.0, "seed": 1},
    "tenant": "a",
    "question": "Who wrote Emma?",
    "text": "Jane Austen wrote Emma.",
    "mode": "batch",
}


def key(**changed: Any) -> str:
    return grade_key(**{**INGREDIENTS, **changed})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("grader", "Other"),
        ("model", "gpt-5"),
        ("prompt", "Judge!"),
        ("generation", {"temperature": 0.1, "seed": 1}),
        ("generation", {"temperature": 0.0}),
        ("generation", {"temperature": "0.0", "seed": 1}),
        ("generation", {"temperature": 0.0, "seed": 1, "response_format": {"type": "json"}}),
        ("tenant", "b"),
        ("question", "who wrote emma?"),
        ("question", "Who wrote Emma"),
        ("question", "Emma wrote Who?"),
        ("text", "Jane Austen wrote Emma. "),
        ("mode", "single"),
    ],
)
def test_the_key_changes_with_every_ingredient(name: str, value: Any) -> None:
    """So a changed prompt or model needs no invalidation, and letters keep their case."""
    assert key(**{name: value}) != key()


def test_every_ingredient_is_tried() -> None:
    """A new one cannot be forgotten here."""
    assert set(INGREDIENTS) == set(grade_key.__kwdefaults__ or {}) | set(grade_key.__annotations__) - {"return"}


@pytest.mark.parametrize("question", [" Who wrote Emma?", "Who wrote Emma?\n", "\t Who wrote Emma? "])
def test_white_space_around_the_question_does_not_count(question: str) -> None:
    """It changes no meaning."""
    assert key(question=question) == key()


def test_the_unicode_form_of_the_question_does_not_count() -> None:
    """Composed and decomposed letters look the same and are the same."""
    assert key(question="Caf\u00e9?") == key(question="Cafe\u0301?")


def test_the_order_of_settings_does_not_count_and_their_nesting_does() -> None:
    """A dictionary has no order that a model could see."""
    assert key(generation={"seed": 1, "temperature": 0.0}) == key()
    assert key(generation={"a": {"b": 1, "c": 2}}) == key(generation={"a": {"c": 2, "b": 1}})
    assert key(generation={"a": {"b": 1}, "c": 2}) != key(generation={"a": {"b": 1, "c": 2}})
    assert key(generation={"a": [1, 2]}) != key(generation={"a": [2, 1]})


def test_ingredients_do_not_run_into_each_other() -> None:
    """What one ends with is not what the next begins with."""
    assert key(grader="ab", model="c") != key(grader="a", model="bc")
    assert key(tenant='a", "b') != key(tenant="a")


@pytest.mark.parametrize("odd", ["\ud800", "\x00", "", "😀" * 10_000])
def test_odd_text_has_a_key(odd: str) -> None:
    """A broken file is no reason to fail."""
    assert len({key(text=odd), key(question=odd), key()}) == 3
    assert key(text=odd) == key(text=odd)


def test_settings_that_json_does_not_know_have_a_key() -> None:
    """Such as the class of a structured reply, or names of several types."""
    one, other = key(generation={"format": int, 1: {"x"}}), key(generation={"format": str, 1: {"x"}})
    assert one != other
    assert one == key(generation={1: {"x"}, "format": int})


def test_a_key_is_a_hash_that_shows_nothing_and_stays_the_same_from_release_to_release() -> None:
    """A shared cache outlives a process; who changes this on purpose changes the schema version too."""
    assert key() == "7e3dff84aefe07179a888e55808251c64427b3118b2394815a47e4bd23a55c4f"
