"""
Documents that tell of several things, each under its heading: that one may be frozen says nothing of the other.

All words of "Can I freeze the plum cake?" are in a collection of recipes, and those of "Who voted against the party?"
in the minutes of a meeting; but no section on the cake speaks of freezing, and only another one of votes.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from haystack_integrations.crag.judging.asking import Asked
from haystack_integrations.crag.texts.languages.irregular import irregular_forms
from haystack_integrations.crag.texts.text import terms

LONGEST_HEAD: Final = 200
HEADING: Final = re.compile(rf" {{0,3}}(#{{1,6}})[ \t]+(\S.{{0,{LONGEST_HEAD}}})")
"""A heading of Markdown: its marks, and its words."""
# "**Phones.** They stay switched off.", "2. Summer party. It takes place in August."
_RUN_IN: Final = re.compile(
    r"(?:[-*+] )?(?:(?:\*\*|__)(?=\S)([^*_\n]{1,80})(?:\*\*|__)"
    r"|\d{1,2}[.)] (?!\d)((?:[\w'-]{1,30} ){0,4}[\w'-]{1,30})[.:](?= ))"
)
_DEEPEST: Final = 7
# Said of what has a time or a place, in other words or none: "Lunch: 12:30".
_SAID_OTHERWISE: Final = frozenset("start begin end open close take place hold happen cost pay last get find".split())


def of_other_sections(asked: Asked, texts: Sequence[tuple[str, str]]) -> NDArray[np.bool_]:
    """
    Tell which documents have the name of a section in one place, and all else that is asked in others.

    :param asked: The question.
    :param texts: Title and content of each document.
    :returns: For each whether a heading is named, no section that has its words has any other word of the question, and
        another section has one. What is in the title, or in all sections, counts as asked of none of them.
    """
    return np.array([_is_apart({*asked.terms}, title, content) for title, content in texts])


def _is_apart(wanted: set[str], title: str, content: str) -> bool:
    # Most documents have no section that is named, and then what they say need not be read.
    sections = [*_sections(content)]
    if not any(head & wanted for head, _ in sections):
        return False
    above = {*terms(title)}
    if not any(head - above and head - above <= wanted for head, _ in sections):
        return False
    texts = [{*terms("\n".join(lines))} for _, lines in sections]
    above = above.union(set.intersection(*texts[1:]))
    names = [head - above for head, _ in sections if head - above and head - above <= wanted]
    rest = wanted.difference(above, _SAID_OTHERWISE, *names)
    forms = rest.union(*(terms(" ".join(irregular_forms(term))) for term in rest))
    told = [said & forms for said in texts if any(name <= said for name in names)]
    return bool(names) and not any(told) and any(said & rest for said in texts)


def _sections(content: str) -> Iterator[tuple[set[str], list[str]]]:
    """Give the words of the head of each section, and its lines below all heads above it; first what is above all."""
    open_: list[tuple[int, str]] = []
    head, lines = set[str](), list[str]()
    for line in content.split("\n"):
        heading, run_in = HEADING.match(line), _RUN_IN.match(line)
        level = len(heading[1]) if heading else _DEEPEST
        # A blank line ends what is told behind such words; a heading, all that is as deep.
        if heading or run_in or (not line.strip() and open_ and open_[-1][0] == _DEEPEST):
            yield head, lines
            open_ = [one for one in open_ if one[0] < level]
            words = heading[2] if heading else (run_in[1] or run_in[2]) if run_in else ""
            open_ += [(level, words)] if words else []
            head, lines = {*filter(str.isalpha, terms(words))}, [said for _, said in open_]
        lines.append(line)
    yield head, lines
