"""Write an HTML page so that Trafilatura, which looks for the article of a news page, keeps all of a manual."""

import re
from typing import Final

from lxml.html import HtmlElement, builder, tostring
from trafilatura import load_html

from haystack_integrations.crag.formats.html_charset import in_utf8
from haystack_integrations.crag.formats.html_code import WRAPPED, as_code, as_listings
from haystack_integrations.crag.formats.html_formulas import with_formulas
from haystack_integrations.crag.formats.html_furniture import without_names
from haystack_integrations.crag.formats.html_hidden import without_hidden
from haystack_integrations.crag.formats.html_links import without_anchors, without_links
from haystack_integrations.crag.formats.html_lists import with_lists, with_numbers, with_terms
from haystack_integrations.crag.formats.html_marks import END, with_open_formulas_marked, with_words_marked
from haystack_integrations.crag.formats.html_paragraphs import (
    with_cells_in_line,
    with_paragraphs,
    with_unknown,
    without_layout,
)
from haystack_integrations.crag.formats.html_parts import HEADINGS, TEXTS, is_in
from haystack_integrations.crag.formats.html_references import without_no_text
from haystack_integrations.crag.formats.html_tables import (
    with_captions,
    with_cells,
    with_heads,
    without_tables_in_lists,
)
from haystack_integrations.crag.formats.html_tabs import with_tabs

_NOTE: Final = re.compile(
    r"(?i)(?:^|[\s-])(?:note|tip|hint|warning|caution|danger|important|admonition|callout|alert)(?:$|[\s-])"
)
_WORD: Final = re.compile(r"\w+")
_OPENS: Final = re.compile(r"(?i)accordion|collapse|expand|toggle")  # of a button: the heading of what it opens
_ENTITY: Final = re.compile(rb"&amp;(?=#?\w+;)")  # shown as such: Trafilatura reads it twice, and "&lt;" were "<"
_ENDING: Final = re.compile(r"[^\W\d_]{2,}|[^\w\s]?")  # of "1st"; a sign such as that of a trade mark
_BEGINNING: Final = 50  # in which Trafilatura looks for a sign that it is a page


def with_content_marked(page: bytes) -> bytes:
    """
    Mark what is content.

    The whole body is the article: where Trafilatura finds none, it leaves out all headings. One of them stands over all
    others, and none in a box. What is preformatted is code, a table's caption stands before it, a table of links is no
    menu, and a term is in one item with what is said of it.

    :param page: An HTML page.
    :returns: The page in UTF-8; the same if there is no body.
    """
    if b"html" not in page[:_BEGINNING].lower():  # else a part of a page, as an editor or a mail saves it, were none
        page = b"<!doctype html>\n" + page
    # Byte by byte: if it is not UTF-8 now, Trafilatura guesses what it is.
    tree = load_html(without_no_text(in_utf8(page).decode("latin-1").replace("\0", "")).encode("latin-1"))
    if tree is None:
        return page
    if tree.tag != "html":
        tree = builder.HTML(builder.BODY(tree))
    body = tree.find("body")
    if body is None:
        return page
    _with_page_heading(body, " ".join(str(tree.findtext("head/title") or "").split()))
    for change in (
        as_listings,
        without_layout,
        with_lists,
        with_tabs,
        without_hidden,
        _with_boxes,
        _without_buttons,
        _without_notes,
        _on_one_line,
        with_formulas,
        with_unknown,
        _with_words,
        with_numbers,
        without_names,
        as_code,
        with_cells_in_line,
        without_anchors,
        with_paragraphs,
        without_links,
        _without_headings_of_items,
        with_captions,
        with_cells,
        with_heads,
        without_tables_in_lists,
        with_terms,
        with_words_marked,
        with_open_formulas_marked,
    ):
        change(body)
    article = builder.E.main(*body, itemprop="articleBody")
    article.append(builder.P(END))
    article.text, body.text = body.text, None
    body.append(article)
    return _ENTITY.sub(rb"&amp;amp;", tostring(tree, encoding="utf-8"))


def _with_page_heading(body: HtmlElement, title: str) -> None:
    """Give a page one heading over all others, its title: DocBook's and Texinfo's begin lower, others have many."""
    headings = list(body.iter(*HEADINGS))
    count = sum(one.tag == "h1" for one in headings)
    if not title or count == 1:
        return
    if count > 1:
        for one in headings:
            one.tag = HEADINGS[min(HEADINGS.index(one.tag) + 1, 5)]
    own = _WORD.findall(headings[0].text_content().casefold()) if headings else []
    if own and set(own) <= set(_WORD.findall(title.casefold())):
        headings[0].tag = "h1"
    else:
        body.insert(0, builder.H1(title))


def _without_notes(body: HtmlElement) -> None:
    """Make paragraphs of headings of boxes ("Note", "Warning"): what follows the box is not part of it."""
    for one in list(body.iter(*HEADINGS)):
        if any(_NOTE.search(place.get("class", "")) for place in one.iterancestors("div", "aside", "blockquote")):
            one.tag = "p"


def _without_headings_of_items(body: HtmlElement) -> None:
    """Make paragraphs of headings in items: Trafilatura writes an item on one line, and the heading were all of it."""
    for one in [one for one in body.iter(*HEADINGS[1:]) if is_in(one, "li", "dd")]:
        one.tag = "p"


def _on_one_line(body: HtmlElement) -> None:
    """Write a heading or a term on one line, wherever its source breaks it: of Markdown's the next line is no part."""
    for one in body.iter(*HEADINGS, "dt"):
        for line in list(one.iter("br")):
            line.tail = " " + (line.tail or "")
            line.drop_tag()
        for part in one.iter():
            part.text = WRAPPED.sub(" ", part.text or "")
            part.tail = (part.tail or "") if part is one else WRAPPED.sub(" ", part.tail or "")


def _with_boxes(body: HtmlElement) -> None:
    """Write whether a box is checked: of a task done and one to do, and of a cell, nothing else tells."""
    for one in list(body.iter("input")):
        shown = one.get("disabled") is not None or one.getparent().tag == "label"
        if one.get("type", "").lower() == "checkbox" and shown and is_in(one, "li", "td", "th"):
            one.tag, one.text = "span", _box(one.get("checked") is not None)
    for one in [label for label in body.iter("label") if is_in(label, *TEXTS)]:
        one.tag = "span"  # else left out, with its words
    for one in body.xpath(".//ul[contains(@class, 'inline-task-list')]/li"):  # Confluence's
        one.text = _box("checked" in one.get("class", "").split()) + (one.text or "").lstrip()


def _box(is_checked: bool) -> str:
    return "[x] " if is_checked else "[ ] "


def _without_buttons(body: HtmlElement) -> None:
    """Keep the words of a button that opens what stands below it, which is a heading, or of which a sentence speaks."""
    # Of a wiki ("History[edit]" were a heading), and of the list of a page's sections, which is left out.
    for one in body.xpath(".//span[contains(@class, 'editsection')] | .//div[contains(@class, 'onthispage')]"):
        one.drop_tree()
    for one in list(body.iter("button")):
        if is_in(one, *HEADINGS):
            one.drop_tag()
        elif _WORD.search(one.getparent().text or "") and _WORD.search(one.tail or ""):
            one.tag = "span"  # of a sentence on what to press
        elif one.get("aria-expanded") is not None or _OPENS.search(one.get("class", "")):
            one.tag = "p"
    for one in list(body.iter(*HEADINGS)):
        if is_in(one, "summary"):
            one.drop_tag()


def _with_words(body: HtmlElement) -> None:
    """Write signs that are shown by their place or form as text: else `H<sub>2</sub>O` were five words."""
    for one in list(body.iter("sub", "sup")):
        if one.tag == "sup" and not _ENDING.fullmatch(one.text_content().strip()):
            one.text = "^" + (one.text or "")
        one.drop_tag()
    for one in list(body.iter("q")):
        one.text = f"\N{LEFT DOUBLE QUOTATION MARK}{one.text or ''}"
        one.append(end := builder.SPAN("\N{RIGHT DOUBLE QUOTATION MARK}"))
        end.drop_tag()
        one.drop_tag()
    for one in list(body.iter("template", "rt", "rp")):  # of Japanese words, how they are read
        one.drop_tree()
    for one in list(body.iter("ruby", "rb")):
        one.drop_tag()
    for one in body.iter("u"):  # of which Markdown has none: its tags were words of the text
        one.tag = "span"
