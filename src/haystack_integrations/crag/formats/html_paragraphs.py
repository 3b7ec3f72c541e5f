"""Paragraphs that are marked as none: on a page that has others, Trafilatura leaves out the text of a `div`."""

import re
from collections.abc import Sequence
from typing import Any, Final

from lxml.html import HtmlElement, builder, defs

from haystack_integrations.crag.formats.escaping import escaped
from haystack_integrations.crag.formats.html_links import has_own_words, leads_on
from haystack_integrations.crag.formats.html_parts import HEADINGS, INLINE, is_in

_WORD: Final = re.compile(r"\w")
_BOXES: Final = ("div", "section", "article", "main", "center", "form", "header")
_BLOCKS: Final = (*_BOXES, "p", "pre", "ul", "ol", "dl", "table", "blockquote", *HEADINGS)
_IS_HEADING: Final = " or ".join(f"self::{name}" for name in HEADINGS)
_SECTIONS: Final = f".//li[section[*[{_IS_HEADING}]] or contains(@class, 'blockList')]"  # of javadoc, new and old
_LAYOUT: Final = f".//*[{_IS_HEADING}][following-sibling::*]"
_SHOWN: Final = frozenset(("output", "blink", "marquee"))  # left out as others are that lxml does not know
_KNOWN: Final = (defs.tags - _SHOWN) | set("dialog frame listing main noframes picture rb rtc template xml xmp".split())
_PARTS: Final = ("caption", "thead", "tbody", "tfoot", "tr", "td")


def without_layout(body: HtmlElement) -> None:
    """
    Make boxes of lists and tables that only place what is in them: as an item or cell, a section had no heading.

    :param body: The body of a page, changed in place.
    """
    for item in body.xpath(_SECTIONS):
        around = item.getparent()
        item.tag, around.tag = "div", "div" if around.tag in ("ul", "ol") else around.tag
    for table in list(body.iter("table")):
        own = [one for one in table.iter(*_PARTS, "th") if next(one.iterancestors("table")) is table]
        if not any(one.tag == "th" for one in own) and any(one.xpath(_LAYOUT) for one in own if one.tag == "td"):
            for one in (table, *own):
                one.tag = "div"


def with_unknown(body: HtmlElement) -> None:
    """
    Keep the words of elements of a page's own, of Word's (`st1:city`), and of names in `<>`: a browser shows them.

    :param body: The body of a page, changed in place.
    """
    for one in body.xpath(".//object[not(@data)]"):
        one.tag = "unknown"
    for one in [one for one in body.iter() if isinstance(one.tag, str) and one.tag not in _KNOWN]:
        if not is_in(one, "svg", "math", "xml"):
            one.tag = "span" if next(one.iter(*_BLOCKS), None) is None else "div"


def with_paragraphs(body: HtmlElement) -> None:
    """
    Make paragraphs of text that stands in a box beside others, or alone; of links alone it is a menu, and stays.

    :param body: The body of a page, changed in place.
    """
    for quoted in [one for one in body.iter("blockquote") if is_in(one, "td", "th")]:
        quoted.tag = "div"  # in a cell it is left out with all that is in it
    for block in list(body.iter(*_BLOCKS)):
        around: Any = block.getparent()
        while around is not None and around.tag in INLINE:
            around.tag, around = "div", around.getparent()
    # Of a cell, what stands behind a paragraph with a part of its own, as a name in bold, were left out.
    cells = [cell for cell in body.iter("td", "th") if any(part.tag in _BLOCKS for part in cell)]
    for box in [body, *body.iter(*_BOXES), *cells]:
        _wrap(box)
    for box in list(body.iter(*_BOXES)):
        if is_in(box, "li", "dd", "td", "th"):
            box.drop_tag()
        elif not box.get("class") and not box.get("id") and box.getparent().tag != "dl":
            box.tag = "section"  # a short `div` with links were a menu, with all other text in it


def _wrap(box: HtmlElement) -> None:
    before, run = None, list[Any]()
    for child in [*box, None]:
        if child is not None and (not isinstance(child.tag, str) or child.tag in INLINE):
            run.append(child)
            continue
        text = box.text if before is None else before.tail
        if _says(text, run):
            paragraph = builder.P(text or "")
            paragraph.extend(run)
            if before is None:
                box.text = None
                box.insert(0, paragraph)
            else:
                before.tail = None
                before.addnext(paragraph)
        before, run = child, []


def _says(text: str | None, run: Sequence[Any]) -> bool:
    """Tell whether a run of text has words besides its links."""
    if any(one.tag == "a" and leads_on(one) for one in run):
        return False
    said = (text, *(one.tail for one in run))
    if any(_WORD.search(one) for one in said if one):
        return True
    return any(has_own_words(one) for one in run if isinstance(one.tag, str) and one.tag != "a")


def with_cells_in_line(body: HtmlElement) -> None:
    """
    Put a space for each end of a line in a cell: of a table in a list, the next cell would be glued to it.

    Elsewhere, a line that as Markdown were a heading is marked as none; the first of a paragraph Trafilatura marks.

    :param body: The body of a page, changed in place.
    """
    for end in body.iter("br"):
        if is_in(end, "td", "th"):
            end.tag, end.tail = "span", f" {end.tail or ''}"
        elif end.tail and escaped(line := end.tail.lstrip()) != line:
            end.tail = escaped(line)
