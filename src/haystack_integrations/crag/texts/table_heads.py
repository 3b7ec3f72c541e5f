"""Which table a passage goes on with: a row says little without the names of its columns and what the table is of."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

_DIVIDER: Final = re.compile(r"[ \t]*+\|?(?:[ \t]*+:?-++:?[ \t]*+\|)++(?:[ \t]*+:?-++:?)?[ \t]*+")
_CLOSED: Final = re.compile(r"\n[ \t]*```")  # behind the first line of a block of code
# As programs draw tables in plain text (psql, mysql, Org, reStructuredText): such a line may stand below each row.
_DRAWN: Final = re.compile(r"[ \t]*[+|]?(?:[-=]+\+)+[-=]*[+|]?[ \t]*")
_BLANKS: Final = re.compile(r"[ \t]{2,}")
_DASHES: Final = re.compile(r"([-=])\1{3,}")  # so wide that the columns stand below each other
_MARKS: Final = re.compile(r"(#{1,6})[ \t]+\S")
_LONGEST: Final = 500  # characters of the names of columns and the line below them
_LONGEST_CAPTION: Final = 200
_AROUND: Final = len("|  | --- ")  # of each column of a head as converters write it

LONGEST_NAMES: Final = 400
"""Characters of the names of columns, together, that stand above a table on each page of a PDF."""

LONGEST_CELL: Final = 200
"""Characters of a cell that a converter writes into each of the rows that it reaches over."""


class TableHeads:
    """Follows the tables of a text, Markdown's or drawn ones, that is read passage by passage, in order."""

    def __init__(self) -> None:
        """Begin a text."""
        self._caption = self._head = self._last = ""

    def over(self, passage: str) -> str:
        """
        Read the next passage.

        :param passage: The text that follows on what was read before.
        :returns: Of the table that it begins with, or goes on with, the line above it and the names of its columns, as
            far as the passage has them not itself; empty elsewhere, and behind half a row.
        """
        lines = passage.splitlines(keepends=True)
        above = self._above(lines) if self._last.endswith("\n") and lines and _is_row(lines[0]) else ""
        for line in lines:
            if _is_divider(line, self._last) or (not self._head and _is_drawn(line, self._last)):
                self._head = _squeezed(self._last) + _squeezed(line)
            elif line.strip() and not _is_row(line):
                is_caption = not self._last.strip() and len(line) <= _LONGEST_CAPTION and not line.startswith("#")
                self._caption = line.strip() + "\n\n" if is_caption else ""
            elif not line.strip() and _is_row(self._last):
                self._caption = ""  # it was of the table that ends here
            if not _is_row(line):
                self._head = ""
            self._last = line
        return above

    def _above(self, lines: Sequence[str]) -> str:
        """Tell what stands above the first line, which may be a row."""
        if self._head:
            head = self._head
        elif _is_divider(lines[0], self._last) or _is_drawn(lines[0], self._last):
            head = _squeezed(self._last)
        else:
            return self._caption if len(lines) > 1 and _is_divider(lines[1], lines[0]) else ""
        return self._caption + head if len(head) <= _LONGEST else ""


def can_stand_above(names: Sequence[str]) -> bool:
    """
    Tell whether `TableHeads` puts the names of columns above each passage of a table, as converters write them.

    :param names: The names.
    :returns: Whether they are short enough, and not too many.
    """
    return sum(len(name) + name.count("|") + _AROUND for name in names) + len("|\n|\n") <= _LONGEST


def heads_of_rows(parts: Sequence[str]) -> dict[int, int]:
    """
    Tell which rows of Markdown tables stand under which head.

    :param parts: A text's sentences, in order; a line of a table is one.
    :returns: For the number of each row that of its head, unless that is very long.
    """
    found, head = dict[int, int](), None
    for number, part in enumerate(parts):
        if number and _is_divider(part, parts[number - 1]):
            found.pop(number - 1, None)
            head = number - 1 if len(parts[number - 1]) <= _LONGEST else None
        elif not part.startswith("|"):
            head = None
        elif head is not None:
            found[number] = head
    return found


def standing_under(parts: Sequence[str], heads: Mapping[int, int]) -> dict[int, Sequence[int]]:
    """
    Tell what the sentences of a text stand under.

    :param parts: A text's sentences, in order; a heading of Markdown is one.
    :param heads: For the number of each row of a table that of its head.
    :returns: For the number of each sentence those of the headings above it, the outermost first, and of its head. A
        heading stands under nothing, and in code there is none.
    """
    found, open_, is_code = dict[int, Sequence[int]](), list[tuple[int, int]](), False
    for number, part in enumerate(parts):
        is_code ^= part.startswith("```") and _CLOSED.search(part) is None  # a block is one part, where it is whole
        if not is_code and (marks := _MARKS.match(part)):
            level = marks.end(1)
            open_ = [*((other, place) for other, place in open_ if other < level), (level, number)]
        elif open_ or number in heads:
            found[number] = [*(place for _, place in open_), *([heads[number]] if number in heads else [])]
    return found


def as_one_row(heads: Sequence[Sequence[str]]) -> list[str]:
    """
    Make one row of names of several: where a year stands over its quarters, both name a column.

    :param heads: Rows of the same length.
    :returns: The name of each column, what is the same in several rows once.
    """
    return [" ".join(dict.fromkeys(filter(None, said))) for said in zip(*heads, strict=True)]


def _is_divider(line: str, above: str) -> bool:
    return "|" in above and _DIVIDER.fullmatch(line.rstrip("\r\n")) is not None


def _is_drawn(line: str, above: str) -> bool:
    return "|" in above and _DRAWN.fullmatch(line.rstrip("\r\n")) is not None


def _is_row(line: str) -> bool:
    return "|" in line or _is_drawn(line, "|")


def _squeezed(line: str) -> str:
    return _DASHES.sub(r"\1\1\1", _BLANKS.sub(" ", line)).rstrip() + "\n"
