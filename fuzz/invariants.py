"""
What must hold for every reply, and how bytes become one. No atheris here: the tests run the kept corpus through it too.

A corpus file is four header bytes and the text of a reply, so that a person can read it and a fuzzer can change it:

    s30.{"evaluations": [{"id": "bkt", "score": 0.9}]}

`s` finish reason, `3` number of keys, `0` scale, `.` how often the text is repeated. All other bytes mean something
too: they are taken modulo the number of choices.
"""

import math
import time
from dataclasses import dataclass
from typing import Any, Final

from haystack_integrations.crag.grading.reply import Reply, read_reply
from haystack_integrations.crag.replies.model_reply import MAX_REPLY_BYTES

KEYS: Final = ("bkt", "dmv", "gqz", "77e210", "00ff00", "c0ffee", "1e1000", "abcdef")
"""Known to the seeds and to the dictionary; `1e1000` looks like a number, as one key in some hundred does."""

FINISHES: Final[dict[str, str | None]] = {
    "s": "stop",
    "l": "length",
    "n": None,
    "c": "content_filter",
    "m": "max_tokens",
    "r": "refusal",
    "t": "tool_calls",
}
SCALES: Final = (1.0, 10.0, 100.0, 0.5)
REPEATS: Final = {".": 1, "x": 3, "k": 64, "K": 1024, "M": MAX_REPLY_BYTES, "T": MAX_REPLY_BYTES + 1}
"""`M` fills the limit for one reply, `T` is just too long for it."""
CUT: Final = frozenset({"length", "max_tokens"})
FILTERED: Final = frozenset({"content_filter", "refusal"})
SLOWEST_SECONDS: Final = 0.25


@dataclass(frozen=True)
class Case:
    """One reply to read, and what was asked."""

    text: str | None
    keys: tuple[str, ...]
    finish_reason: str | None
    scale: float


def case_of(data: bytes) -> Case:
    """Make a case of any bytes; those that are no UTF-8 become lone surrogates, which a reply can hold as well."""
    header, body = data[:4].ljust(4, b"."), data[4:]
    finish = _chosen(header[0], FINISHES)
    count = (header[1] - ord("0")) % (len(KEYS) + 1)
    turn = (header[1] - ord("0")) // (len(KEYS) + 1) % len(KEYS)
    keys = (KEYS[turn:] + KEYS[:turn])[:count]
    scale = SCALES[(header[2] - ord("0")) % len(SCALES)]
    text = body.decode("utf-8", "surrogateescape")
    repeats = _chosen(header[3], REPEATS)
    fills = MAX_REPLY_BYTES // max(1, len(body))
    return Case(text * min(repeats, fills + (repeats > MAX_REPLY_BYTES)) if body else None, keys, finish, scale)


def check(data: bytes, slowest_seconds: float = SLOWEST_SECONDS) -> Reply:
    """
    Read what the bytes stand for, and check all that is promised about any reply.

    :param data: A corpus file, or anything.
    :param slowest_seconds: How long one read may take.
    :returns: The reply, for a test that wants to know more.
    """
    case = case_of(data)
    seconds, reply = _timed(case)
    # Noise of the machine only ever adds: a slow read counts when it is slow three times.
    for _ in range(2):
        if seconds > slowest_seconds:
            seconds = min(seconds, _timed(case)[0])
    assert seconds <= slowest_seconds, f"one read took {seconds:.2f} s"

    asked = set(case.keys)
    assert set(reply.entries) <= asked, "a key that nobody asked about was credited"
    assert reply.conflicting <= asked, "a key that nobody asked about is in conflict"
    assert not reply.conflicting & set(reply.entries), "a contradicted score was credited"
    assert reply.unknown >= 0
    assert (reply.problem is None) == (set(reply.entries) == asked), "a reply is whole, or it says why it is not"
    for entry in reply.entries.values():
        assert type(entry.score) is float
        assert math.isfinite(entry.score)
        assert 0.0 <= entry.score <= 1.0
        assert entry.reason is None or type(entry.reason) is str

    if case.finish_reason != "stop":
        assert not reply.repaired, "only a reply that ended by itself may be repaired"
    if case.finish_reason in CUT:
        assert not reply.positional, "a cut array has no positions"
    if case.finish_reason in FILTERED or not (case.text or "").strip():
        assert not reply.entries, "nothing was said, but something was credited"
    if len((case.text or "").encode("utf-8", "ignore")) > MAX_REPLY_BYTES:
        assert not reply.entries, "more than the limit was parsed"
        assert not reply.repaired, "more than the limit was repaired"
    return reply


def _timed(case: Case) -> tuple[float, Reply]:
    start = time.perf_counter()
    reply = read_reply(case.text, case.keys, finish_reason=case.finish_reason, scale=case.scale)
    return time.perf_counter() - start, reply


def _chosen(byte: int, choices: dict[str, Any]) -> Any:
    """Take a letter at its word, and any other byte modulo the number of choices."""
    letter = chr(byte)
    return choices[letter] if letter in choices else list(choices.values())[byte % len(choices)]
