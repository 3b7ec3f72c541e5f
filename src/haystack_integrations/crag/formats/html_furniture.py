"""What of a page is furniture, as menus and feet are: its ids and classes tell."""

import re
from collections.abc import Iterator
from typing import Any, Final

from lxml.etree import iterwalk
from lxml.html import HtmlElement

from haystack_integrations.crag.formats.html_parts import TEXTS, is_in

# What an id or a class says of furniture. Of all other words none is looked at: an id is most often a heading's words,
# and a section on "Authoritative servers" would be an author's box, one on "Shared memory" buttons to share by.
_FURNITURE: Final = re.compile(
    r"(?i)nav|menu|bar\b|foot|related|crumb|banner|cookie|consent|social|share-|button|hidden|noprint|\btoc|prev-next"
    r"|(?<!ui-)(?<!elementor-)widget"  # by which two libraries call each part of a page
)
_NAMED: Final = ("section", "div", "p", "span", "li", "dl", "dt", "dd", "ul", "ol")
_CHROME: Final = ("div", "ul", "ol")
_UNSEEN: Final = re.compile(r"(?i)hidden|noprint")
_SECTION: Final = re.compile(r"\bsect|-extent\b")
# Left out as decoration, with all that is in them; a date is a word of its sentence.
_KEPT: Final = {
    **dict.fromkeys(("aside", "details", "fieldset", "figure"), "div"),
    **dict.fromkeys(("address", "figcaption", "legend", "summary"), "p"),
    "menu": "ul",
    "time": "span",
}
_MOST_MAIN: Final = 10  # parts of a page; more are no page's
_WORD: Final = re.compile(r"\w+")
_FEWEST: Final = 10  # words of a page; one with fewer may be the title of a list of links
_SILENT: Final = ("a", "script", "style", "noscript", "template")
_AT_END: Final = re.compile(r"(?i)foot|cookie|consent")  # of a page of a few words, the longest part


def without_names(body: HtmlElement) -> None:
    """
    Leave of ids and classes those of furniture; what has the content in it (`class="has-sidebar"`) is none.

    :param body: The body of a page, changed in place.
    """
    for around in _holding_most(body):
        for name in ("id", "class"):
            around.attrib.pop(name, None)
    for content in body.xpath(".//main|.//*[@role='main']")[:_MOST_MAIN]:
        for around in (content, *content.iterancestors()):
            for name in ("id", "class"):
                around.attrib.pop(name, None)
    for title in body.xpath(".//p[contains(@class, 'sidebar-title')]"):  # docutils', of a box beside the text
        for one in (title, title.getparent()):
            one.attrib.pop("class", None)
    for one in body.iter(*_NAMED, *_KEPT):
        one.tag = _KEPT.get(one.tag, one.tag)
        is_section = one.tag not in _CHROME or _SECTION.search(one.get("class", "")) is not None
        for name in ("id", "class"):
            if (name == "id" and is_section) or _FURNITURE.search(one.get(name, "")) is None or _is_said(one, name):
                one.attrib.pop(name, None)
            else:  # of a page that older DocBook made, in capitals, which Trafilatura does not know
                one.set(name, one.get(name).lower())


def _holding_most(body: HtmlElement) -> Iterator[HtmlElement]:
    """Walk from what holds four fifths of a page's words to what does in it; those of links are of menus."""
    counts: dict[Any, int] = {}
    for _, one in iterwalk(body, events=("end",)):
        said = len(_WORD.findall(one.text or ""))
        said += sum(counts.get(part, 0) for part in one if part.tag not in _SILENT)
        counts[one] = said + sum(len(_WORD.findall(part.tail or "")) for part in one)
    around: Any = body if counts[body] >= _FEWEST else None
    while around is not None:
        around = next((one for one in around if counts.get(one, 0) * 5 > counts[body] * 4), None)
        if around is None or around.tag not in _NAMED or _AT_END.search(f"{around.get('id')} {around.get('class')}"):
            return
        yield around


def _is_said(one: HtmlElement, name: str) -> bool:
    """Tell whether these are words of a text: what to choose in which menu (`guimenu`), and which button to press."""
    is_words = one.tag == "span" and one.find(".//a") is None and _UNSEEN.search(one.get(name, "")) is None
    return is_words and is_in(one, *TEXTS)
