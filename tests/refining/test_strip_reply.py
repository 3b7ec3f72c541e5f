"""A refiner's reply is numbers of strips that were shown, or nothing."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haystack_integrations.crag.refining.reply import Named, read_numbers


@pytest.mark.parametrize(
    "text",
    [
        '{"keep": [4, 1]}',
        "[4, 1]",
        '```json\n{"keep": [4, 1]}\n```',
        "```json\n[4, 1]\n```",
        "```\n[4, 1]```",
        'Lines 4 and 1 help most:\n{"keep": [4, 1]}\nThe others do not.',
        '{"keep": ["4", "1"], "reason": "they name {the} year"}',
        '{"keep": [4, 1, 4, 1, 1]}',
        '<think>{"keep": [2]} or [3]?</think>{"keep": [4, 1]}',
        '{"keep": [4, 1]} Once more: {"keep": [1, 4]}',
    ],
)
def test_numbers_are_read_from_every_usual_form(text: str) -> None:
    """Each once, in the order given."""
    assert read_numbers(text, 5, finish_reason="stop") == Named((4, 1))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (None, "empty"),
        ("  ", "empty"),
        ("I would keep 1-4.", "not_json"),
        ("Keep [1] and [4].", "not_json"),
        ("Sure! [1, 4]", "not_json"),
        ('{"keep": "1-4"}', "invalid"),
        ('{"keep": ["1-4"]}', "invalid"),
        ('{"keep": [1, "four"]}', "invalid"),
        ('{"keep": [1.5]}', "invalid"),
        ('{"keep": [true]}', "invalid"),
        ('{"keep": [[1]]}', "invalid"),
        ('{"keep": [{"id": 1}]}', "invalid"),
        ('{"keep": null}', "invalid"),
        ('{"keep": ["\u0661"]}', "invalid"),
        ('{"keep": [1]} no, {"keep": [2]}', "invalid"),
        ('{"keep": [1], "keep": [2]}', "not_json"),
        ('{"result": {"keep": [1]}}', "not_json"),
        ('{"keep": [1, 4', "not_json"),
        ("[1, 4", "not_json"),
        ('{"keep": [NaN]}', "not_json"),
        ("[" + "9" * 5000 + "]", "not_json"),
        ('{"keep": [77]}', "unknown_numbers"),
        ('{"keep": [6, -1]}', "unknown_numbers"),
        ('{"keep": [0, 2]}', "counted_from_0"),
        ("x" * 70_000, "too_long"),
        ("[" * 20_000, "too_long"),
        ("[" * 9_000, "not_json"),
    ],
)
def test_an_unusable_reply_gives_no_number(text: str | None, problem: str) -> None:
    """And its problem has a name."""
    named = read_numbers(text, 5, finish_reason="stop")
    assert (named.numbers, named.problem) == ((), problem)


@pytest.mark.parametrize(
    ("reason", "problem"),
    [
        ("length", "length"),
        ("max_tokens", "length"),
        ("content_filter", "content_filter"),
        ("refusal", "content_filter"),
    ],
)
def test_a_reply_that_did_not_end_by_itself_is_not_used(reason: str, problem: str) -> None:
    """Even when what is there looks complete: an array closed by accident, or a filtered one."""
    assert read_numbers('{"keep": [1]}', 5, finish_reason=reason) == Named(problem=problem)


def test_an_empty_list_is_an_answer() -> None:
    """No strip is worth keeping."""
    assert read_numbers('{"keep": []}', 5, finish_reason="stop") == Named()
    assert read_numbers("[]", 5, finish_reason=None) == Named()


def test_numbers_of_no_strip_are_dropped_and_counted() -> None:
    """The others count."""
    assert read_numbers('{"keep": [7, 2, 6, -2, 99999999999999999999]}', 5, finish_reason="stop") == Named((2,), 4)


_NUMBERS = st.lists(st.integers(-2, 12) | st.integers(0, 12).map(str) | st.just(10**20), max_size=6)
_VALUES = st.recursive(st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(), st.lists)
_REPLIES = (_NUMBERS | _VALUES).map(lambda value: json.dumps({"keep": value}))


@given(st.text() | st.lists(_REPLIES, min_size=1, max_size=2).map(" or ".join), st.integers(0, 9), st.data())
def test_whatever_is_written_only_numbers_that_were_shown_come_out(text: str, count: int, data: st.DataObject) -> None:
    """Each once, and never an exception."""
    named = read_numbers(text, count, finish_reason=data.draw(st.sampled_from([None, "stop", "length"]) | st.text()))
    assert set(named.numbers) <= set(range(1, count + 1))
    assert len(set(named.numbers)) == len(named.numbers)
    assert named.problem is None or not named.numbers


@given(_NUMBERS, st.integers(0, 9), st.sampled_from([None, "stop"]))
def test_of_a_whole_list_each_number_comes_out_that_was_shown(entries: list[Any], count: int, reason: Any) -> None:
    """In the order given; the rest is counted, and where nothing else is left, or a 0 shifts all, that is said."""
    named = read_numbers(json.dumps({"keep": entries}), count, finish_reason=reason)
    distinct = list(dict.fromkeys(map(int, entries)))
    shown = tuple(number for number in distinct if 0 < number <= count)
    if 0 in distinct:
        assert named == Named(problem="counted_from_0")
    elif shown or not distinct:
        assert named == Named(shown, len(distinct) - len(shown))
    else:
        assert named == Named((), len(distinct), "unknown_numbers")
