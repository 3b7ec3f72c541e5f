"""
Finding JSON in what a model wrote: in one pass, never recursive, and never more than is there.

Brackets and quotes are followed through the text, so that a brace, a tag or a fence inside a string is text. Nothing
here knows what the JSON means.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from json_repair import repair_json

_DEEPEST: Final = 16
_LONGEST_MENDED: Final = 200
_A_NUMBER: Final = re.compile(r"-?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?")
_WHOLE_NUMBER: Final = re.compile(rf""":\s*["']?({_A_NUMBER.pattern})["']?\s*(?=[,}}\]])""")
_STRING_OR_POINT: Final = re.compile(r'("(?:[^"\\]|\\.)*+"?)|(?<=[\s:,\[])\.(?=\d)', re.DOTALL)
_MARKS: Final = re.compile(r'\\.|["\[\]{}]|</?think(?:ing)?>', re.DOTALL | re.IGNORECASE)

MAX_MARKS: Final = 16_384
"""More quotes, brackets and backslashes than any reply needs; each costs a microsecond in each pass."""

INVALID: Final = object()
"""No JSON, or JSON that contradicts itself."""


def marks(text: str) -> int:
    """
    Count what the passes over a text stop at.

    :param text: A reply.
    :returns: The number of quotes, brackets and backslashes.
    """
    return sum(text.count(sign) for sign in '"[]{}\\')


def without_thoughts(text: str) -> str:
    """
    Take out what stands in `<think>…</think>` or `<thinking>…</thinking>`, outside of JSON only.

    A tag that is quoted inside a JSON string is text; taking it for a tag would join two entries into one. A `</think>`
    that nothing opened is text as well: a document that is quoted with one would wipe out what stands before.

    :param text: A reply.
    :returns: The rest; nothing after a thought that never ends.
    """
    if "<think" not in text.lower():
        return text
    kept: list[str] = []
    depth, start, quoted, thinking = 0, 0, False, False
    for mark in _MARKS.finditer(text):
        sign = mark.group().lower()
        if thinking:
            if sign.startswith("</"):
                thinking, start = False, mark.end()
        elif depth and sign == '"':
            quoted = not quoted
        elif quoted or sign[0] in '"\\':
            continue
        elif depth == 0 and sign.startswith("<think"):
            kept.append(text[start : mark.start()])
            thinking = True
        elif sign[0] != "<":
            depth = max(0, depth + (sign in "[{") - (sign in "]}"))
    return " ".join([*kept, "" if thinking else text[start:]])


def json_values(text: str, most: int) -> list[tuple[Any, int, int]]:
    """
    Find every outermost JSON object or array, whatever stands around it.

    :param text: A complete reply.
    :param most: Most brackets' pairs looked at.
    :returns: Each value that is strictly JSON, with its start and end in the text.
    """
    found: list[tuple[Any, int, int]] = []
    depth = start = count = 0
    quoted = False
    for mark in _MARKS.finditer(text):
        sign = mark.group()
        if depth and sign == '"':
            quoted = not quoted
        elif quoted or sign[0] in '"\\<':
            continue
        elif sign in "[{":
            start = mark.start() if depth == 0 else start
            depth += 1
            if depth > _DEEPEST:
                break
        elif depth:
            depth -= 1
            if depth == 0:
                value = strict(text[start : mark.end()])
                count += 1
                found += [] if value is INVALID else [(value, start, mark.end())]
                if count >= most:
                    break
    return found


def closed_objects(text: str) -> Iterator[str]:
    """
    Find every object without another one in it that was closed before the text ends.

    :param text: A reply, perhaps cut.
    :returns: Their texts, in order of their ends.
    """
    opened: list[tuple[int, bool]] = []
    quoted = False
    for mark in _MARKS.finditer(text):
        sign = mark.group()
        if opened and sign == '"':
            quoted = not quoted
        elif quoted or sign not in "{}":
            continue
        elif sign == "{":
            opened.append((mark.start(), True))
            if len(opened) > _DEEPEST:
                return
        elif opened:
            start, innermost = opened.pop()
            if opened:
                opened[-1] = (opened[-1][0], False)
            if innermost:
                yield text[start : mark.end()]


def strict(text: str) -> Any:
    """
    Read JSON as the standard has it: no NaN, no infinity, no name twice with different values.

    Only a zero may be missing before the point of a number: `.9` is what the grader's own prompt shows.

    :param text: One object or array.
    :returns: The value, or INVALID.
    """
    written = _STRING_OR_POINT.sub(lambda found: found[1] or "0.", text)
    try:
        return json.loads(written, parse_constant=_refused, object_pairs_hook=_distinct)
    except (ValueError, RecursionError):  # the latter for brackets that nobody closes
        return INVALID


def mended(text: str) -> Any:
    """
    Repair one short, closed object: single quotes, a comma too many, names without quotes.

    Short only, since the repairer's time grows with the square of the length; and closed only, since for cut text it
    makes values up. Of a name that stands there twice it would take the last value, and of `1 of 10` the 1: then
    nothing is read.

    :param text: The text of one object.
    :returns: The value, or INVALID.
    """
    if len(text) > _LONGEST_MENDED:
        return INVALID
    try:
        value = repair_json(text, return_objects=True, skip_json_loads=True)
    except Exception:  # it raises AssertionError and others for some texts; then there is nothing to be read
        return INVALID
    if not isinstance(value, dict):
        return value
    words = re.findall(r"\w+", text)
    twice = any(words.count(name) > 1 for name in value)
    return INVALID if twice or _numbers_of(value) != Counter(map(float, _WHOLE_NUMBER.findall(text))) else value


def _numbers_of(value: dict[str, Any]) -> Counter[float]:
    """Count the numbers of an object: each must stand in the text as a value, all of it."""
    texts = (str(one) for one in value.values() if isinstance(one, int | float | str) and not isinstance(one, bool))
    return Counter(float(text) for text in texts if _A_NUMBER.fullmatch(text))


def _refused(name: str) -> Any:
    raise ValueError(name)


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse an object that gives one name two values: nobody knows which is meant."""
    value = dict(pairs)
    if len(value) < len(pairs) and any(value[name] != other for name, other in pairs):
        raise ValueError
    return value
