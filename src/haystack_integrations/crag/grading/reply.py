"""
Reading a grader's reply: keyed, strict, and never inventive.

The order follows what can be trusted. A reply that was cut gives only the entries that were closed before the cut. A
complete reply is read strictly; whatever JSON stands in it counts, and entries that contradict each other count as
missing. Repair comes last, only for a complete reply and only of single closed entries: repairing cut JSON invents
scores. An entry is a member `"KEY": SCORE` of an object, which is asked for, an object of its own, the text
`KEY SCORE`, or a part of one line `KEY SCORE KEY SCORE ...`.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final

from haystack_integrations.crag.grading.line import NUMBER, PAIR, closed_in, in_line, loose_in
from haystack_integrations.crag.inputs import is_number
from haystack_integrations.crag.replies.json_scan import (
    INVALID,
    closed_objects,
    json_values,
    mended,
    strict,
    without_thoughts,
)
from haystack_integrations.crag.replies.model_reply import INTERRUPTED, problem_of
from haystack_integrations.crag.texts.steering import whole

_MOST_VALUES: Final = 64
_ROUNDING: Final = 1e-9
_MOST_MENDED: Final = 2000
_MOST_SCALE: Final = 1_000_000
_FENCE_BEFORE: Final = re.compile(r"```\w{0,10}\s*\Z")
_ENTRY_LISTS: Final = ("grades", "evaluations", "scores", "documents", "results")
_OF_A_PLACE: Final = frozenset({"score", "reason"})


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
    :param problem: Why entries are missing, or None: `empty`, `too_long`, `not_json`, `length`, `interrupted`,
        `content_filter`, `invalid`, `array_length`, `missing`.
    :param repaired: Whether the JSON had to be repaired.
    :param positional: Whether scores were credited by position, in an array of exactly the right length.
    :param unknown: Entries for keys nobody asked about; dropped.
    :param conflicting: Keys with contradicting scores; treated as missing.
    :param off_scale: Whether a score was above the scale: then 1 may be 1 of 10, and only zeros are credited. Likewise
        marks from 0 to 1 on a longer scale.
    :param clean: Whether the model ended by itself and nothing was repaired: such grades may be kept for later runs.
    """

    entries: dict[str, Entry] = field(default_factory=dict)
    problem: str | None = None
    repaired: bool = False
    positional: bool = False
    unknown: int = 0
    conflicting: set[str] = field(default_factory=set)
    off_scale: bool = False
    clean: bool = False


def read_reply(
    text: str | None, keys: Sequence[str], *, finish_reason: str | None, scale: float = 1.0, doubted: bool = False
) -> Reply:
    """
    Read a reply to a grading request.

    :param text: What the model wrote.
    :param keys: Keys of the documents asked about, in the order of the prompt.
    :param finish_reason: The model's own word on why it stopped; anything but `stop` forbids repair.
    :param scale: The score that means fully relevant, 1 or for example 10.
    :param doubted: Whether the model marked these documents by another scale before.
    :returns: The entries that can be trusted, and why others are missing.
    """
    reply = Reply(problem=problem_of(text, finish_reason, salvage=True))
    if (cut := reply.problem) in ("length", INTERRUPTED):
        said = without_thoughts(text or "")
        for piece in islice(closed_objects(said), _MOST_VALUES + 2 * len(keys)):
            _collect(strict(piece), keys, scale, reply, positional=False)
        _collect_pairs(closed_in(said), keys, scale, reply)
        reply.problem = cut
    elif reply.problem is None:
        _read_complete(without_thoughts(text or "").strip(), keys, scale, reply, repair=finish_reason == "stop")
    for key in reply.conflicting:
        reply.entries.pop(key, None)
    if _of_the_unit_scale(reply.entries.values(), scale) or (doubted and _of_any_scale(reply.entries.values(), scale)):
        reply.off_scale, reply.problem = True, reply.problem or "invalid"
    if reply.off_scale:
        reply.entries = {key: entry for key, entry in reply.entries.items() if entry.score == 0}
    reply.clean = finish_reason == "stop" and not reply.repaired
    if len(reply.entries) == len(keys):
        reply.problem = None
    elif reply.problem is None:
        reply.problem = "invalid" if reply.conflicting else "missing"
    return reply


def _of_the_unit_scale(entries: Iterable[Entry], scale: float) -> bool:
    """Tell whether a model marked from 0 to 1 where more was asked for: fractions, and nothing above 1."""
    marks = [entry.score * scale for entry in entries]
    return scale > 1 and max(marks, default=2) <= 1 + _ROUNDING and any(0 < mark < 1 - _ROUNDING for mark in marks)


def _of_any_scale(entries: Iterable[Entry], scale: float) -> bool:
    """Tell whether no mark but 1 says by which scale a model marked: 1 is full marks, or one of ten."""
    marks = {round(entry.score * scale, 9) for entry in entries}
    return 1 in marks and marks <= {0, 1}


def _read_complete(text: str, keys: Sequence[str], scale: float, reply: Reply, *, repair: bool) -> None:
    values = json_values(text, _MOST_VALUES)
    for value, start, end in values:
        alone = len(values) == 1 and _is_all(text[:start], text[end:])
        _collect(value, keys, scale, reply, positional=alone)
    if values or reply.problem:
        return
    if not repair:
        reply.problem = "not_json"
        return
    loose = loose_in(text)
    if loose is not None and _is_all(text[: loose.start()], text[loose.end() :]):
        reply.repaired = _collect_pairs(in_line(loose[3]), keys, scale, reply)
        return
    left = _MOST_MENDED
    for piece in islice(closed_objects(text), _MOST_VALUES + 2 * len(keys)):
        value = strict(piece)
        if value is INVALID and left >= len(piece):
            left -= len(piece)
            value = mended(piece)
        # A name that nobody asked for is a sign of a wrong repair: `"score": 0,9` would become a score of 0.
        if isinstance(value, dict) and set(value) <= {"id", *_OF_A_PLACE, *keys}:
            _collect(value, keys, scale, reply, positional=False)
            reply.repaired = True
    reply.repaired |= _collect_pairs(closed_in(text), keys, scale, reply)
    reply.problem = reply.problem or (None if reply.repaired else "not_json")


def _is_all(before: str, after: str) -> bool:
    """Tell whether a value is the whole reply, or the whole of a code block: in prose `[1]` is a citation."""
    fenced = _FENCE_BEFORE.search(before) and after.lstrip().startswith("```")
    return bool(fenced) or not (before + after).strip()


def _collect(value: Any, keys: Sequence[str], scale: float, reply: Reply, *, positional: bool) -> None:
    """Take over the entries of one JSON value."""
    if isinstance(value, dict):
        lists = [value[name] for name in _ENTRY_LISTS if isinstance(value.get(name), list | dict)]
        lines = [value[name] for name in _ENTRY_LISTS if isinstance(value.get(name), str)]
        for line in lines:
            _collect_pairs(in_line(line), keys, scale, reply)
        if lists or lines:
            # Beside another list, such as one of ids, nobody knows that its places are those of the documents.
            alone = sum(isinstance(one, list | dict) for one in value.values()) == 1
            for one in lists:
                _collect(one, keys, scale, reply, positional=positional and alone)
        elif "id" in value:
            _add(value.get("id"), value.get("score"), value.get("reason"), keys, scale, reply)
        else:
            for key, said in value.items():
                entry = said if isinstance(said, dict) else {"score": said}
                _add(key, entry.get("score"), entry.get("reason"), keys, scale, reply)
    elif isinstance(value, list):
        _collect_list(value, keys, scale, reply, positional=positional)
    else:
        reply.problem = reply.problem or "not_json"


def _collect_list(value: list[Any], keys: Sequence[str], scale: float, reply: Reply, *, positional: bool) -> None:
    """Take over the entries of a list: each names its document, or all stand in the documents' places."""
    pairs = [PAIR.fullmatch(entry) if isinstance(entry, str) else None for entry in value]
    value = [_named(entry, keys) for entry in value]
    if any(pairs) or any(isinstance(entry, dict) and "id" in entry for entry in value):
        for entry, pair in zip(value, pairs, strict=True):
            if pair:
                _add(pair[1], pair[2], None, keys, scale, reply)
            elif isinstance(entry, dict):
                _add(entry.get("id"), entry.get("score"), entry.get("reason"), keys, scale, reply)
            else:
                reply.problem = "invalid"
        return
    if not positional or len(value) != len(keys):
        reply.problem = "array_length"
        return
    places = [(e.get("score"), e.get("reason")) if isinstance(e, dict) else (e, None) for e in value]
    told = {name for entry in value if isinstance(entry, dict) for name in entry}
    if not told <= _OF_A_PLACE or any(_number(score) is None for score, _ in places):
        # One place without a number, and nobody knows what the others stand for; nor where an entry names its document
        # by something that is no key.
        reply.problem = "invalid"
        return
    reply.positional = True
    for key, (score, reason) in zip(keys, places, strict=True):
        _add(key, score, reason, keys, scale, reply)


def _named(entry: Any, keys: Sequence[str]) -> Any:
    """Take the key of a document for its `id`, whatever its field is called: `document_id`, `key`, or that key."""
    if not isinstance(entry, dict) or "id" in entry:
        return entry
    if len(entry) == 1 and (key := next(iter(entry))) in keys:
        return {"id": key, "score": entry[key]}
    named = [value for value in entry.values() if isinstance(value, str) and value in keys]
    return {**entry, "id": named[0]} if len(named) == 1 else entry


def _collect_pairs(pairs: Iterable[tuple[str, str]], keys: Sequence[str], scale: float, reply: Reply) -> bool:
    """Take over keys and scores; tells whether there was any."""
    found = list(islice(pairs, _MOST_VALUES + 2 * len(keys)))
    for key, score in found:
        _add(key, score, None, keys, scale, reply)
    return bool(found)


def _add(key: Any, score: Any, reason: Any, keys: Sequence[str], scale: float, reply: Reply) -> None:
    """Credit one score to one key, if both are exactly what was asked for."""
    if not isinstance(key, str) or key not in keys:
        reply.unknown += 1
        return
    number = _number(score)
    if number is None or not 0.0 <= number <= scale:
        # Never clipped: 95 on a scale of 1 is another scale, not full marks.
        reply.problem = "invalid"
        reply.off_scale |= number is not None and number > scale
        return
    entry = Entry(number / scale, whole(reason) if isinstance(reason, str) else None)
    known = reply.entries.get(key)
    if known is not None and known.score != entry.score:
        reply.conflicting.add(key)
    reply.entries[key] = entry


def _number(value: Any) -> float | None:
    """Accept a number or its plain decimal text; no truth value, no percent, no comma, no digits of other scripts."""
    if isinstance(value, str) and NUMBER.fullmatch(value.strip()):
        return float(value.strip())
    if not is_number(value) or not 0 <= value <= _MOST_SCALE:
        return None
    return float(value)
