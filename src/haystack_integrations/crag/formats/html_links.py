"""Links that are words of a text: to Trafilatura, a short text with many of them is a menu."""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from lxml.html import HtmlElement

from haystack_integrations.crag.formats.html_parts import HEADINGS, is_in

_WORD: Final = re.compile(r"\w")
_LETTER: Final = re.compile(r"[^\W\d_]")
_TEXTS: Final = ("p", "li", "dt", "dd")
_LISTS: Final = ("ul", "ol", "dl")
_BOXES: Final = ("div", "section")
_INTRODUCES: Final = (":", "\N{FULLWIDTH COLON}")
_MOST_ROWS: Final = 2  # of the ways to the chapters and sections around
_WRITTEN_OUT: Final = {"mailto": "@", "tel": r"\d\d", "http": r"://|www\.", "https": r"://|www\."}
_LEADS_ON: Final = re.compile(r"(?i)\b(?:next|prev|previous|up|start|contents|index)\b")


def without_anchors(body: HtmlElement) -> None:
    """
    Make words of what is marked as a link and leads nowhere: places that others lead to, labels of what opens, and what
    is written out to be read: mail addresses, telephone numbers, addresses of pages.

    :param body: The body of a page, changed in place.
    """
    for one in body.iter("a"):
        address = one.get("href", "")
        is_label = one.get("aria-controls") is not None and address.startswith("#")
        is_written_out = re.search(_WRITTEN_OUT.get(address.partition(":")[0].lower(), "(?!)"), one.text_content())
        if is_label or is_written_out or (one.get("href") is None and not any("click" in name for name in one.attrib)):
            _as_words(one)


def without_links(body: HtmlElement) -> None:
    """
    Leave out the signs behind headings, rows of links, and of links that are no menu all but their words.

    Those are the links of tables, of code, of the signs of notes, of texts with words of their own ("See the manual."),
    and of a list that the text before it introduces by a colon. A text that leads to the next page stays a menu.

    :param body: The body of a page, changed in place.
    """
    for one in [table for table in body.iter("table") if _is_menu(table)]:
        one.drop_tree()
    for one in list(body.iter("a")):
        if not _WORD.search(one.text_content()) and _is_permalink(one):  # "¶", "#", "🔗"
            one.drop_tree()
        elif one.find(".//code") is not None or is_in(one, "table", "code") or not _LETTER.search(one.text_content()):
            _as_words(one)
    for text in body.iter(*_TEXTS, *_LISTS):
        if _is_introduced(text) if text.tag in _LISTS else has_own_words(text):
            for link in list(text.iter("a") if text.tag in _LISTS else _links_of(text)):
                _as_words(link)


def _is_permalink(link: HtmlElement) -> bool:
    """Tell whether a link is one to what it stands behind, as Sphinx has them behind captions, too."""
    return is_in(link, *HEADINGS, "dt") or (link.get("href", "").startswith("#") and not is_in(link, "td", "th"))


def _is_menu(table: HtmlElement) -> bool:
    """Tell whether a table is a row or two of links, one of them to the next page or a sign as "<<": Texinfo's way."""
    rows, links = len(list(table.iter("tr"))), list(table.iter("a"))
    has_signs = rows == 1 and not all(_WORD.search(one.text_content()) for one in links)
    if rows > _MOST_ROWS or not (has_signs or any(map(leads_on, links))):
        return False
    return _words_in([table]) == _words_in(links)


def _words_in(some: Iterable[Any]) -> int:
    return sum(len(_WORD.findall(one.text_content())) for one in some)


def _as_words(link: HtmlElement) -> None:
    link.tag = "span"  # to take it out costs time that grows with all that stands beside it
    link.attrib.clear()


def has_own_words(text: HtmlElement) -> bool:
    """
    Tell whether a text has words besides its links, and none of them leads to the page before or after it.

    :param text: An element, such as a paragraph.
    :returns: Whether it is no menu.
    """
    if any(map(leads_on, _links_of(text))):
        return False
    return any(
        _WORD.search(said or "")
        for part in _parts_of(text)
        for said in ("" if part.tag == "a" else part.text, "" if part is text else part.tail)
    )


def _is_introduced(one: HtmlElement) -> bool:
    parent = one.getparent()
    if one.getprevious() is None and parent is not None and parent.tag in _BOXES:
        one = parent
    before = one.getprevious()
    return before is not None and before.tag in ("p", *_BOXES) and before.text_content().rstrip().endswith(_INTRODUCES)


def leads_on(link: HtmlElement) -> bool:
    """
    Tell whether a link is one of those that lead from each page to the next, as Texinfo and DocBook mark them.

    :param link: A link.
    :returns: Whether its mark or key says so.
    """
    return bool(link.get("accesskey")) or _LEADS_ON.search(link.get("rel", "")) is not None


def _links_of(text: HtmlElement) -> Iterator[Any]:
    return (part for part in _parts_of(text) if part.tag == "a")


def _parts_of(text: HtmlElement) -> Iterator[Any]:
    """Walk through a text, and neither through what a link holds nor through other texts in it."""
    left = [text]
    while left:
        part = left.pop()
        yield part
        if part.tag != "a":
            left += [one for one in part if one.tag not in (*_TEXTS, *_LISTS)]
