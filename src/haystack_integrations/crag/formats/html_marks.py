"""Marks by which Trafilatura keeps what it would take for a button or an empty page, and reads any page in time."""

import re
from typing import Final

from lxml.html import HtmlElement

MARK: Final = "\ue000"
"""A sign of no script, for none to be lost: what reads the Markdown takes it out."""

END: Final = MARK * 12
"""Stands behind all text: where Trafilatura finds only headings, menus and page feet are what it takes."""

_ONE_WORD: Final = re.compile(
    r"(?m)^([^\w\n]*[^\W\d_][\w-]{0,18}+(?<=[^\W\d_]))(?=[^\S\n]*$)"
)  # "Print", "Email", "PDF": to Trafilatura a button
_FORMULAS: Final = (("\\(", "\\)"), ("\\[", "\\]"))


def with_words_marked(body: HtmlElement) -> None:
    """
    Write a mark behind a word that has a line of its own: of some, the whole text around them would be left out.

    :param body: The body of a page, changed in place.
    """
    for one in body.iter():
        for name, said in (("text", one.text), ("tail", one.tail)):
            # Most texts are one line of several words; to write them anew takes longer than all else here.
            if said and (" " not in said.strip() or "\n" in said) and _ONE_WORD.search(said):
                setattr(one, name, _ONE_WORD.sub(rf"\1{MARK}", said))


def with_open_formulas_marked(body: HtmlElement) -> None:
    """
    Write a mark into what begins a formula that nothing ends: for each, Trafilatura looks through all that follows.

    :param body: The body of a page, changed in place.
    """
    for one in body.iter():
        for name, said in (("text", one.text), ("tail", one.tail)):
            if said and "\\" in said:
                text = said
                for begin, end in _FORMULAS:
                    ended, last, rest = text.rpartition(end)
                    text = ended + last + rest.replace(begin, begin[0] + MARK + begin[1])
                setattr(one, name, text)
