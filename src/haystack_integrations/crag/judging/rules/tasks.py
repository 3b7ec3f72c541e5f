"""
Tasks: who asks how something is done is told by the section that is headed so.

Of 117 questions for what a page of a graphics program's manual is headed ("Flatten Image"), all but three found it, and
57 were `correct`: an image is what the whole manual is about, and to flatten stands nowhere but in that heading.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from haystack_integrations.crag.judging.rules.other_names import names_in
from haystack_integrations.crag.judging.rules.sections import HEADING, LONGEST_HEAD
from haystack_integrations.crag.texts.text import terms, words
from haystack_integrations.crag.texts.wording import asked_terms

_WHO: Final = "(?:i|we|you|one|they)"
_HOW: Final = re.compile(
    r"(?:(?:please )?(?:tell me |show me )?"
    rf"how (?:(?:do|can|could|should|would|must|may|does) {_WHO}|to|is|are|can|do|does)"
    rf"|(?:can|could|may) {_WHO}|is it possible to|(?:i|we) (?:want|need|would like|have) to"
    r"|(?:what is|is there) (?:the|an?)(?: \w+)? way (?:to|of))\b",
    re.IGNORECASE,
)
_NUMBER: Final = re.compile(
    r"(?i)^\W*(?:(?:chapter|section|part|appendix) )?(?:[a-z]?\.?\d+(?:\.\d+)*|[a-z])[.:)]? +(?=\S)"
)
_FEWEST: Final = 2  # one word alone does not tell what is to be done
_PROSE: Final = 8  # words of a section that says something
_PAIRS: Final = (
    ("on", "off"),
    ("in", "out"),
    ("up", "down"),
    ("from", "to"),
    ("before", "after"),
    ("above", "below"),
)
_OPPOSED: Final = (*_PAIRS, *((two, one) for one, two in _PAIRS))
_NOT: Final = frozenset({"not", "no", "never", "without"})


class _Section(NamedTuple):
    """The words of a heading, what stands below it, and all that is above it."""

    head: str
    text: str
    above: str


def tasks(query: str, texts: Sequence[tuple[str, str]]) -> NDArray[np.bool_]:
    """
    Tell which documents have a section that is headed as what a question wants to do.

    ```python
    from haystack_integrations.crag.judging.rules.tasks import tasks

    text = "# Gears\\n\\n## Adjusting the chain\\n\\nLoosen the screw on the left, then pull the wheel back."
    assert tasks("How do I adjust the chain?", [("", text)]).tolist() == [True]
    assert tasks("How do I adjust the brakes?", [("", text)]).tolist() == [False]
    ```

    :param query: The question, without courtesies.
    :param texts: Title and content of each document.
    :returns: For each whether all words of a heading, two at least, are in the question, all its other words in the
        headings above, but for names, which may stand anywhere, and text stands below it.
    """
    query = " ".join(query.split())
    how = _HOW.match(query)
    asked = {*asked_terms(query[how.end() :])} if how else set()
    if how is None or len(asked) < _FEWEST:
        return np.zeros(len(texts), dtype=bool)
    said, names = {*words(query[how.end() :].lower())}, {*terms(" ".join(names_in(query)))}
    found = []
    for title, text in texts:
        # Of what product it is, a document tells anywhere.
        wanted = asked - names.intersection(terms(text)) if names else asked
        found.append(any(_is_asked(one, asked, wanted, said) for one in _sections(title, text)))
    return np.array(found)


def _is_asked(section: _Section, asked: set[str], wanted: set[str], said: set[str]) -> bool:
    head = {*terms(_NUMBER.sub("", section.head))}
    if len(head) < _FEWEST or not head <= asked or not wanted - head <= {*terms(section.above)}:
        return False
    named = {*words(section.head.lower())}
    if not _NOT.isdisjoint(named ^ said) or any(one in named and two in said - named for one, two in _OPPOSED):
        return False
    return len(words(section.text)) >= _PROSE


def _sections(title: str, content: str) -> Iterator[_Section]:
    """Give the sections of a document; of a passage the first line tells under which headings it stands."""
    lines = content.lstrip().split("\n")
    path = [] if HEADING.match(lines[0]) else lines[0].split(" - ")
    heads = [(number, found[1], found[2]) for number, line in enumerate(lines) if (found := HEADING.match(line))]
    above = [title, *path[:-1]]
    if path and len(path[-1]) <= LONGEST_HEAD:
        yield _Section(path[-1], "\n".join(lines[1 : heads[0][0] if heads else None]), " ".join(above))
    open_ = list[tuple[str, str]]()
    for place, (number, marks, words_) in enumerate(heads, 1):
        open_ = [one for one in open_ if len(one[0]) < len(marks)]
        # Only those behind it: from the first on, a page of 10,000 headings took a second and a half.
        ends = (heads[k][0] for k in range(place, len(heads)) if len(heads[k][1]) <= len(marks))
        said = " ".join([*above, *path[-1:], *(words for _, words in open_)])
        yield _Section(words_, "\n".join(lines[number + 1 : next(ends, None)]), said)
        open_.append((marks, words_))
