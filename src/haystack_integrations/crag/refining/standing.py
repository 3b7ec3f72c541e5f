"""
What a strip stands under: the head of its table, the line that opens its list, its heading, the question it answers.

A row without its head is numbers, and a heading says nothing without what follows. Judged one by one, one is kept and
the other left out; so what a kept strip says nothing without comes along, as the form of the text tells it. Nothing is
as like a question as the same one on a page of questions and answers, and it does not answer.
"""

import re
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final, Literal

from haystack_integrations.crag.refining.options import RefinerOptions
from haystack_integrations.crag.refining.strips import Strip
from haystack_integrations.crag.texts.questions.open_questions import OPENS, is_question
from haystack_integrations.crag.texts.text import LINE, count_tokens

Kind = Literal["heading", "row", "divider", "item", "code", "text"]

_MOST_BELOW: Final = 20
_DIVIDER: Final = re.compile(r"[|\s:+=*_~^-]+")
_UNDERLINED: Final = re.compile(r"[^\n]+\n[^\S\n]*(?:=+|-+)")
_MOST_OF_ANSWER: Final = 3  # "Yes." says little
_TITLE: Final = re.compile(r"[^\n]{1,200}(?<![.,;!?\u2026\u3002])")
_OF_TEXT: Final = -1


@dataclass(frozen=True)
class Standing:
    """
    How the strips of a run stand to each other, by their numbers.

    :param above: For a row the head of its table; for an item, or what else a colon opens, the line with the colon or
        the title right above the first item.
    :param tables: For the head of a table its rows.
    :param lists: For such a line what it opens.
    :param sections: For a heading the strips up to the next one.
    :param answers: For a question what follows up to the next one, as far as the end of the paragraph, of the next one
        where the question is a paragraph of its own.
    """

    above: dict[int, int] = field(default_factory=dict)
    tables: dict[int, list[int]] = field(default_factory=dict)
    lists: dict[int, list[int]] = field(default_factory=dict)
    sections: dict[int, list[int]] = field(default_factory=dict)
    answers: dict[int, list[int]] = field(default_factory=dict)

    def lines_above(self, number: int) -> Iterator[int]:
        """
        Walk up.

        :param number: A strip.
        :returns: The line that it stands under, the one that this stands under, and so on.
        """
        while (line := self.above.get(number)) is not None:
            yield line
            number = line

    def heads(self) -> dict[int, int]:
        """
        Name the heads of tables.

        :returns: For each row the head of its table.
        """
        return {row: head for head, rows in self.tables.items() for row in rows}

    def missing_below(self, number: int, kept: Collection[int], scores: Mapping[int, float]) -> list[int]:
        """
        Tell what a line says nothing without.

        :param number: A strip that is kept.
        :param kept: All that are.
        :param scores: Scores by strip.
        :returns: Of a list all items, since a part would pass for the whole; of a table its rows where none is kept;
            of a heading the first strip below where none is, of a question the first three. At most 20 of them, the
            best, in reading order.
        """
        rows, section, answer = (below.get(number, []) for below in (self.tables, self.sections, self.answers))
        if any(one in kept for one in (*rows, *section, *answer)):
            return []
        under = rows or section[:1] or self.lists.get(number, []) or answer[:_MOST_OF_ANSWER]
        return sorted(sorted(under, key=lambda one: (-scores.get(one, 0.0), one))[:_MOST_BELOW])


def standing(strips: Sequence[Strip], contents: Sequence[str]) -> Standing:
    """
    Read how strips stand to each other.

    :param strips: Sentences in reading order.
    :param contents: The texts that they were cut from.
    :returns: What stands under what; nothing for prose.
    """
    found = Standing()
    for document, numbers in groupby(range(len(strips)), key=lambda number: strips[number].document):
        reader = _Reader(found, contents[document])
        for number in numbers:
            reader.read(number, strips[number])
    return found


def completed(
    kept: Sequence[int], strips: Sequence[Strip], found: Standing, scores: Mapping[int, float], options: RefinerOptions
) -> list[int]:
    """
    Add to the strips that stay what they say nothing without, as far as the limits go.

    A model that chose has seen all strips, so only what stands above its choice is added.

    :param kept: Numbers of those that stay, whatever is added, in reading order.
    :param strips: All strips of the run.
    :param found: How they stand to each other.
    :param scores: Scores by strip.
    :param options: The refiner's settings.
    :returns: Numbers in reading order.
    """
    best = sorted(kept, key=lambda number: (-scores.get(number, 0.0), number))
    wanted = deque(_lines_above(best, found))
    lines = deque([] if options.scorer == "llm" else best)
    chosen = set(kept)
    room = options.max_tokens - sum(count_tokens(strips[number].text) for number in kept)
    while wanted or lines:
        if not wanted:
            wanted.extend(found.missing_below(lines.popleft(), chosen, scores))
            continue
        number = wanted.popleft()
        size = count_tokens(strips[number].text)
        if number not in chosen and size <= room and (options.top_n is None or len(chosen) < options.top_n):
            chosen.add(number)
            room -= size
            if options.scorer != "llm":
                lines.append(number)
    return sorted(chosen)


def _lines_above(numbers: Iterable[int], found: Standing) -> list[int]:
    """List what strips stand under, each once: where one was met before, so was all above it."""
    lines: dict[int, None] = {}
    for number in numbers:
        for line in found.lines_above(number):
            if line in lines:
                break
            lines[line] = None
    return list(lines)


class _Reader:
    """Goes through the strips of one document in order."""

    def __init__(self, found: Standing, content: str) -> None:
        self._found, self._content = found, content
        self._openers: list[tuple[int, int]] = []  # lines with a colon that may go on, and how far they stand in
        self._heading: int | None = None
        self._table: int | None = None
        self._asked: list[int] = []
        self._last: tuple[int, Kind] = (-1, "heading")
        self._last_text = ""
        self._end = 0

    def read(self, number: int, strip: Strip) -> None:
        """Take in a strip."""
        kind = _kind(strip.text)
        is_apart = self._content.count("\n", self._end, strip.start) > 1
        self._end = strip.end
        if kind == "divider":
            # A row above a line of dashes is a head; else, as in a part of a longer table, it is a row like the others.
            self._table = self._last[0] if self._last[1] == "row" and self._table is None else self._table
            return
        if self._heading is not None and (kind != "heading" or self._last[1] == "heading"):
            self._found.sections.setdefault(self._heading, []).append(number)
        if kind == "row" and self._table is not None and not is_apart:
            self._put(number, self._table, self._found.tables)
        else:
            kind = self._open(number, strip, kind, is_apart=is_apart)
        self._answer(number, strip, kind, is_apart=is_apart)
        self._last, self._last_text = (number, kind), strip.text

    def _answer(self, number: int, strip: Strip, kind: Kind, *, is_apart: bool) -> None:
        """Take in what may be a question, or answer one; several in a row have the same answer."""
        is_answered = any(one in self._found.answers for one in self._asked)
        if kind == "heading" or (is_apart and is_answered):
            self._asked, is_answered = [], False
        if kind != "heading" and is_question(strip.text):
            self._asked = [*([] if is_answered else self._asked), number]
            return
        for question in self._asked:
            self._found.answers.setdefault(question, []).append(number)

    def _open(self, number: int, strip: Strip, kind: Kind, *, is_apart: bool) -> Kind:
        """Take in what is no further row of a table; gives what it is: a text behind an item goes on with that."""
        is_names = kind == "row" and "\t" in strip.text and not any(map(str.isdigit, strip.text))
        self._table = number if is_names else None
        indent = strip.start - self._content.rfind("\n", 0, strip.start) - 1 if kind == "item" else _OF_TEXT
        if kind == "heading":
            self._heading = number
            self._openers.clear()
        elif kind == "item":
            while self._openers and self._openers[-1][1] >= indent:
                self._openers.pop()
            if not self._openers and not is_apart and self._last[1] == "text" and _TITLE.fullmatch(self._last_text):
                self._openers.append((self._last[0], _OF_TEXT))
        elif self._openers and self._last[0] != self._openers[-1][0]:
            if is_apart or self._last[1] != "item":
                self._openers.clear()
            kind = "item" if self._openers and kind == "text" else kind
        if self._openers:
            self._put(number, self._openers[-1][0], self._found.lists)
        if kind in ("item", "text") and strip.text.endswith(OPENS):
            self._openers.append((number, indent))
        return kind

    def _put(self, number: int, line: int, under: dict[int, list[int]]) -> None:
        self._found.above[number] = line
        under.setdefault(line, []).append(number)


def _kind(text: str) -> Kind:
    if text.startswith(("```", "~~~")):
        return "code"
    if _DIVIDER.fullmatch(text):
        return "divider"
    line = LINE.match(text)
    form = line.lastgroup if line else None
    if form == "alone":
        return "heading" if text.startswith("#") else "row"
    if form == "item":
        return "item"
    return "heading" if _UNDERLINED.fullmatch(text) else "text"
