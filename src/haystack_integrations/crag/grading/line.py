"""
Grades that are no JSON value of their own: a line `KEY SCORE KEY SCORE ...`, texts `KEY SCORE`, parts of a cut object.

They are read wherever a model writes them; see `grading.reply`.

Nothing is guessed: a key has a score where exactly one number stands behind it.
"""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

KEY_LETTERS: Final = "bcdfghjklmnpqrstvwxz"
"""What keys are made of: consonants make no words."""

KEY: Final = f"[{KEY_LETTERS}]{{3,4}}"
"""A key as `plan.new_key` draws it."""

NUMBER: Final = re.compile(r"(?:[0-9]{1,7}(?:\.[0-9]{1,20})?|\.[0-9]{1,20})")
"""A score as it is written, without sign or exponent."""

PAIR: Final = re.compile(rf"({KEY})[ :=]+({NUMBER.pattern})")
"""A key and its score."""

_MOST_LINES: Final = 64
_CLOSED_PAIR: Final = re.compile(rf'(?<!\\)"{PAIR.pattern}"')
_CLOSED_MEMBER: Final = re.compile(rf'(?<!\\)"({KEY})"\s{{0,9}}:\s{{0,9}}({NUMBER.pattern})\s{{0,9}},')
# In a line a pair counts when the line ends behind it, or when something follows that is no second number.
_NEXT: Final = rf"[,;]?\s+(?!{NUMBER.pattern}(?:[\s,;]|\Z))\S"
_IN_LINE: Final = re.compile(rf"(?<!\S){PAIR.pattern}(?={_NEXT}|[,;]?\s*\Z)")
_IN_CUT_LINE: Final = re.compile(rf"(?<!\S){PAIR.pattern}(?={_NEXT})")
_FIRST: Final = re.compile(rf"(?<![\w.])(?:{NUMBER.pattern}(?![\w.])|({KEY})(?!\w))")
_KEY_LAST: Final = re.compile(rf"(?<!\w){KEY}\W*\Z")
_LINE: Final = re.compile(r'"grades"\s*:\s*"([^"\\]*)("?)')
_LOOSE: Final = re.compile(r"""\{\s*(["'])grades\1\s*:\s*(["'])([^"'\\]*)\2\s*,?\s*\}""")


def in_line(line: str, *, cut: bool = False) -> Iterator[tuple[str, str]]:
    """
    Find the keys of a line that have a score.

    :param line: The line.
    :param cut: Whether its end is missing: then its last number may have had more digits.
    :returns: Keys and scores; none of a line that gives the score first, where each would get its neighbour's.
    """
    first = _FIRST.search(line)
    is_turned = first is not None and not first[1] and (cut or _KEY_LAST.search(line))
    if not is_turned:
        yield from ((pair[1], pair[2]) for pair in (_IN_CUT_LINE if cut else _IN_LINE).finditer(line))


def closed_in(text: str) -> Iterator[tuple[str, str]]:
    """
    Find closed members `"KEY": SCORE`, texts `KEY SCORE`, and what was closed of a line, in a reply that was cut.

    :param text: The reply. With a whole object in it such texts may be what somebody says, and none counts.
    :returns: Keys and scores.
    """
    if "}" in text:
        return
    for form in (_CLOSED_MEMBER, _CLOSED_PAIR):
        yield from ((pair[1], pair[2]) for pair in form.finditer(text))
    for line in islice(_LINE.finditer(text), _MOST_LINES):
        yield from in_line(line[1], cut=not line[2])


def loose_in(text: str) -> re.Match[str] | None:
    """
    Find an object of one line that is no JSON for its quotes or a comma too many.

    :param text: A complete reply.
    :returns: The object, its line as the third group; None where there is none.
    """
    return _LOOSE.search(text)
