"""Marks by which Trafilatura keeps what it would take for a button, or for a page without a text."""

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
