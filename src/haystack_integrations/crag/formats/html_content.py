"""Write an HTML page so that Trafilatura, which looks for the article of a news page, keeps all of a manual."""

import re
from typing import Final

from lxml.html import HtmlElement, builder, tostring
from trafilatura import load_html

from haystack_integrations.crag.formats.html_charset import in_utf8
from haystack_integrations.crag.formats.html_code import WRAPPED, as_code, as_listings
from haystack_integrations.crag.formats.html_formulas import with_formulas
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
from haystack_integrations.crag.formats.html_parts import HEADINGS, is_in
from haystack_integrations.crag.formats.html_references import without_no_text
from haystack_integrations.crag.formats.html_tables import (
    with_captions,
    with_cells,
    with_heads,
    without_tables_in_lists,
)
from haystack_integrations.crag.formats.html_tabs import with_tabs

# What an id or a class says of furniture. Of all other words none is looked at: an id is most often a heading's words,
# and a section on "Authoritative servers" would be an author's box, one on "Shared memory" buttons to share by.
_FURNITURE: Final = re.compile(
    r"(?i)nav|menu|bar\b|foot|related|crumb|banner|cookie|consent|social|share-|button|hidden|noprint|\btoc|(?<!ui-)widget|prev-next"
)
_NOTE: Final = re.compile(
    r"(?i)(?:^|[\s-])(?:note|tip|hint|warning|caution|danger|important|admonition|callout|alert)(?:$|[\s-])"
)
_WORD: Final = re.compile(r"\w+")
_NAMED: Final = ("section", "div", "p", "span", "li", "dl", "dt", "dd", "ul", "ol")
_CHROME: Final = ("div", "ul", "ol")
_TEXTS: Final = ("p", "li", "dt", "dd", "td", "th", "caption", *HEADINGS)
_UNSEEN: Final = re.compile(r"(?i)hidden|noprint")
_SECTION: Final = re.compile(r"\bsect|-extent\b")
# Left out as decoration, with all that is in them; a date is a word of its sentence.
_KEPT: Final = {
    **dict.fromkeys(("aside", "details", "fieldset", "figure"), "div"),
    **dict.fromkeys(("address", "figcaption", "legend", "summary"), "p"),
    "menu": "ul",
    "time": "span",
}
_OPENS: Final = re.compile(r"(?i)accordion|collapse|expand|toggle")  # of a button: the heading of what it opens
_ENTITY: Final = re.compile(rb"&amp;(?=#?\w+;)")  # shown as such: Trafilatura reads it twice, and "&lt;" were "<"
_ENDING: Final = re.compile(r"[^\W\d_]{2,}|[^\w\s]?")  # of "1st"; a sign such as that of a trade mark
_BEGINNING: Final = 50  # in which Trafilatura looks for a sign that it is a page
_MOST_MAIN: Final = 10  # parts of a page; more are no page's


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
        _without_names,
        as_code,
        with_cells_in_line,
        without_anchors,
        with_paragraphs,
        without_links,
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
    """Make paragraphs of headings of boxes and items ("Note", "Warning"): what follows the box is not part of it."""
    for one in list(body.iter(*HEADINGS)):
        if any(_NOTE.search(place.get("class", "")) for place in one.iterancestors("div", "aside", "blockquote")):
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
    for one in [label for label in body.iter("label") if is_in(label, *_TEXTS)]:
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


def _without_names(body: HtmlElement) -> None:
    """Leave of ids and classes those of furniture; what has the content in it (`class="has-sidebar"`) is none."""
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


def _is_said(one: HtmlElement, name: str) -> bool:
    """Tell whether these are words of a text: what to choose in which menu (`guimenu`), and which button to press."""
    is_words = one.tag == "span" and one.find(".//a") is None and _UNSEEN.search(one.get(name, "")) is None
    return is_words and is_in(one, *_TEXTS)
