"""Finding JSON in a reply: brackets and tags count where they stand outside of strings, and nothing is made up."""

import pytest

from haystack_integrations.crag.replies.json_scan import (
    INVALID,
    closed_objects,
    json_values,
    mended,
    strict,
    without_thoughts,
)

MANY = 100


@pytest.mark.parametrize(
    ("reply", "kept"),
    [
        ('<think>[1.0]</think>{"a": 1}', '{"a": 1}'),
        ('{"a": 1}<THINKING>or {"a": 2}?</thinking>{"b": 3}', '{"a": 1} {"b": 3}'),
        ('[{"a": "<think>"}, {"b": "</think>"}]', '[{"a": "<think>"}, {"b": "</think>"}]'),
        ('{"a": [1], "b": "a \\" <think> b"} <think>so', '{"a": [1], "b": "a \\" <think> b"}'),
        ('] } {"a": 1} <think>x</think> {"b": 2}', '] } {"a": 1}   {"b": 2}'),
        ("9 </think> of 10", "9 </think> of 10"),
        ('She said "<think>no</think>yes', 'She said " yes'),
    ],
)
def test_only_a_thought_outside_of_json_is_taken_out(reply: str, kept: str) -> None:
    """A tag in a string is a document's, and one that nothing opened is text."""
    assert without_thoughts(reply).strip() == kept


@pytest.mark.parametrize(
    ("reply", "values"),
    [
        ('Here: {"a": {"b": [1]}} and [2, 3].', [{"a": {"b": [1]}}, [2, 3]]),
        ('{"a": "} ] {"} [1]', [{"a": "} ] {"}, [1]]),
        ('} ] {"a": "\\"}"}', [{"a": '"}'}]),
        ('He said "well: [1]', [[1]]),
        ("[1] [oops] [2]", [[1], [2]]),
        ('[1] {"a": [2', [[1]]),
    ],
)
def test_every_outermost_value_is_found_where_it_stands(reply: str, values: list[object]) -> None:
    """Whatever stands around it, and whatever its strings hold."""
    found = json_values(reply, MANY)
    assert [value for value, _, _ in found] == values
    assert [strict(reply[start:end]) for _, start, end in found] == values


def test_no_more_values_are_looked_at_than_asked_for() -> None:
    """Those that are no JSON count, too: looking takes the time."""
    assert [value for value, _, _ in json_values("[1] [oops] [2] [3]", 3)] == [[1], [2]]


@pytest.mark.parametrize(
    ("reply", "objects"),
    [
        ('{"list": [{"id": "b"}, {"id": "c"}], "sum": 1}', ['{"id": "b"}', '{"id": "c"}']),
        ('{"list": [{"id": "b"}, {"id": "c', ['{"id": "b"}']),
        ('} {"id": "} {"} {"id', ['{"id": "} {"}']),
        ('{"a": {"b": {"c": 1}}} {"d": 2}', ['{"c": 1}', '{"d": 2}']),
    ],
)
def test_of_a_cut_reply_the_objects_that_were_closed_are_given_without_those_around_them(
    reply: str, objects: list[str]
) -> None:
    """One that holds others is no entry."""
    assert list(closed_objects(reply)) == objects


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1, "a": 1}', {"a": 1}),
        ('{"a": 1, "b": 2, "a": 1}', {"a": 1, "b": 2}),
        ('{"a": 1, "a": 2}', INVALID),
        ('{"a": 2, "a": 1, "a": 2}', INVALID),
        ('{"a": NaN}', INVALID),
        ("[.9, 1.5]", [0.9, 1.5]),
        ('{"a": "see .9"}', {"a": "see .9"}),
        ("[" * 100_000, INVALID),
    ],
)
def test_json_is_read_as_the_standard_has_it(text: str, value: object) -> None:
    """A name may stand twice where both say the same; only the zero before a point may be missing."""
    assert strict(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{'id': 'b', 'score': 0.9,}", {"id": "b", "score": 0.9}),
        ("{id: 'b', score: 1}", {"id": "b", "score": 1}),
        ("{'score': 1 of 10}", INVALID),
        ("{'score': 1, 'score': 0.5,}", INVALID),
        ("{'score': 1," + " " * 100_000 + "}", INVALID),
    ],
)
def test_a_short_object_is_repaired_where_all_its_numbers_are_values(text: str, value: object) -> None:
    """Else a repair would make a score of what is none."""
    assert mended(text) == value
