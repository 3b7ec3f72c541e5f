"""
Reading a grader's reply: keyed, strict, and never inventive.

The order follows what can be trusted. A reply that was cut gives only the entries that were closed before the cut. A
complete reply is read strictly; whatever JSON stands in it counts, and entries that contradict each other count as
missing. Repair comes last, only for a complete reply that ends like one: repairing cut JSON invents scores.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final

from json_repair import repair_json

MAX_REPLY_BYTES: Final = 65_536
_DEEPEST: Final = 16
_MOST_VALUES: Final = 64
_MOST_BRACKETS: Final = 256
_NUMBER: Final = re.compile(r"\d+(?:\.\d+)?")
_THINKING: Final = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL | re.IGNORECASE)
_MARKS: Final = re.compile(r'\\.|["\[\]{}]', re.DOTALL)
_CUT: Final = frozenset({"length", "max_tokens", "incomplete"})
_FILTERED: Final = frozenset({"content_filter", "refusal", "safety"})
_ENTRY_LISTS: Final = ("evaluations", "scores", "documents", "results")


@dataclass(frozen=True)
class Entry:
    """One document's score in [0, 1] and the model's reason, if it gave one."""

    score: float
    reason: str | None = None


@dataclass
class Reply:
    """
    What a reply said.

    :param entries: By document key; only keys that were asked for.
    :param problem: Why entries are missing, or None: `empty`, `too_long`, `not_json`, `length`, `content_filter`,
        `invalid`, `array_length`, `missing`.
    :param repaired: Whether the JSON had to be repaired.
    :param positional: Whether scores were credited by position, in an array of exactly the right length.
    :param unknown: Entries for keys nobody asked about; dropped.
    :param conflicting: Keys with contradicting scores; treated as missing.
    """

    entries: dict[str, Entry] = field(default_factory=dict)
    problem: str | None = None
    repaired: bool = False
    positional: bool = False
    unknown: int = 0
    conflicting: set[str] = field(default_factory=set)


def read_reply(text: str | None, keys: Sequence[str], *, finish_reason: str | None, scale: float = 1.0) -> Reply:
    """
    Read a reply to a grading request.

    :param text: What the model wrote.
    :param keys: Keys of the documents asked about, in the order of the prompt.
    :param finish_reason: The model's own word on why it stopped; anything but `stop` forbids repair.
    :param scale: The score that means fully relevant, 1 or for example 10.
    :returns: The entries that can be trusted, and why others are missing.
    """
    reply = Reply()
    if finish_reason in _FILTERED:
        reply.problem = "content_filter"
    elif not text or not text.strip():
        reply.problem = "empty"
    elif len(text.encode("utf-8", "replace")) > MAX_REPLY_BYTES:
        reply.problem = "too_long"
    elif finish_reason in _CUT:
        for entry in islice(_closed_objects(_THINKING.sub(" ", text)), _MOST_VALUES + 2 * len(keys)):
            _collect(_strict(entry), keys, scale, reply, positional=False)
        reply.problem = "length"
    else:
        _read_complete(_THINKING.sub(" ", text).strip(), keys, scale, reply, repair=finish_reason == "stop")
    for key in reply.conflicting:
        reply.entries.pop(key, None)
    if len(reply.entries) == len(keys):
        reply.problem = None
    elif reply.problem is None:
        reply.problem = "invalid" if reply.conflicting else "missing"
    return reply


def _read_complete(text: str, keys: Sequence[str], scale: float, reply: Reply, *, repair: bool) -> None:
    values = list(_json_values(text))
    for value in values:
        _collect(value, keys, scale, reply, positional=len(values) == 1)
    if values or reply.problem:
        return
    ends_like_json = text.rstrip("` \n").endswith(("}", "]"))
    start = min((at for at in (text.find("{"), text.find("[")) if at >= 0), default=-1)
    shallow = max(text.count("["), text.count("{")) <= _MOST_BRACKETS
    if not repair or start < 0 or not ends_like_json or not shallow:
        reply.problem = "not_json"
        return
    repaired = repair_json(text[start:], return_objects=True, skip_json_loads=True)
    reply.repaired = True
    _collect(repaired, keys, scale, reply, positional=True)


def _json_values(text: str) -> Iterator[Any]:
    """Give every outermost JSON object or array in a text, whatever stands around it; one pass, never recursive."""
    depth = start = count = 0
    quoted = False
    for mark in _MARKS.finditer(text):
        sign = mark.group()
        if depth and sign == '"':
            quoted = not quoted
        elif quoted or sign[0] in '"\\':
            continue
        elif sign in "[{":
            start = mark.start() if depth == 0 else start
            depth += 1
            if depth > _DEEPEST:
                return
        elif depth:
            depth -= 1
            if depth == 0:
                value = _strict(text[start : mark.end()])
                count += 1
                if value is not None:
                    yield value
                if count >= _MOST_VALUES:
                    return


def _closed_objects(text: str) -> Iterator[str]:
    """Give every object without another one in it that was closed before the text ends; braces in strings are text."""
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


def _refuse_constant(name: str) -> Any:
    raise ValueError(name)


def _strict(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except ValueError:
        return None


def _collect(value: Any, keys: Sequence[str], scale: float, reply: Reply, *, positional: bool) -> None:
    """Take over the entries of one JSON value."""
    if isinstance(value, dict):
        name = next((name for name in _ENTRY_LISTS if isinstance(value.get(name), list)), None)
        if name is not None:
            _collect(value[name], keys, scale, reply, positional=positional)
        elif "id" in value:
            _add(value.get("id"), value.get("score"), value.get("reason"), keys, scale, reply)
        else:
            for key, score in value.items():
                _add(key, score, None, keys, scale, reply)
        return
    if not isinstance(value, list):
        reply.problem = reply.problem or "not_json"
        return
    if any(isinstance(entry, dict) and "id" in entry for entry in value):
        for entry in value:
            if isinstance(entry, dict):
                _add(entry.get("id"), entry.get("score"), entry.get("reason"), keys, scale, reply)
        return
    if not positional or len(value) != len(keys):
        reply.problem = "array_length"
        return
    reply.positional = True
    for key, entry in zip(keys, value, strict=True):
        score, reason = (entry.get("score"), entry.get("reason")) if isinstance(entry, dict) else (entry, None)
        _add(key, score, reason, keys, scale, reply)


def _add(key: Any, score: Any, reason: Any, keys: Sequence[str], scale: float, reply: Reply) -> None:
    """Credit one score to one key, if both are exactly what was asked for."""
    if not isinstance(key, str) or key not in keys:
        reply.unknown += 1
        return
    number = _number(score)
    if number is None or not 0.0 <= number <= scale:
        # Never clipped: 95 on a scale of 1 is another scale, not full marks.
        reply.problem = "invalid"
        return
    entry = Entry(number / scale, reason if isinstance(reason, str) else None)
    known = reply.entries.get(key)
    if known is not None and known.score != entry.score:
        reply.conflicting.add(key)
    reply.entries[key] = entry


def _number(value: Any) -> float | None:
    """Accept a number or its plain decimal text; no truth value, no percent, no comma."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value) if abs(value) < float("inf") else None
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        return float(value.strip())
    return None
