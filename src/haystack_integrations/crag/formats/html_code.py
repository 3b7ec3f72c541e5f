"""Code of a page as code, on lines as it is shown, and without the numbers of its lines."""

import re
from typing import Any, Final

from lxml.html import HtmlElement, builder

from haystack_integrations.crag.formats.html_parts import HEADINGS, is_in

_NUMBERS: Final = re.compile(r"\blinenos?\b")
_DIGITS: Final = re.compile(r"[\d\s]*")
WRAPPED: Final = re.compile(r"(?<!\s)\s*[\n\r]\s*")
"""Where the source of a page is wrapped."""

_IN_LINE: Final = ("code", "kbd", "samp", "tt", "var")
_BLOCKS: Final = ("p", "div", "pre", "ul", "ol", "dl", "table", "blockquote", *HEADINGS)
_AROUND: Final = ("a", "em", "strong", "b", "i", "span", "u", *_IN_LINE)
_HOLDERS: Final = ("body", "li", "dd", "dt", "td", "th", "blockquote")


def as_listings(body: HtmlElement) -> None:
    """
    Make preformatted text of code that is made of other parts: of Doxygen's lines, of Pygments' tables.

    :param body: The body of a page, changed in place.
    """
    for one in list(body.iter("span", "td", "pre")):
        if _NUMBERS.search(one.get("class", "")):
            one.drop_tree()
    for one in list(body.iter("table")):
        code: Any = list(one.iter("pre"))
        if len(code) == 1 and _DIGITS.fullmatch(one.text_content().replace(code[0].text_content(), "", 1)):
            _replace(one, code[0])
    for one in list(body.iter("div")):
        if "fragment" in one.get("class", "").split() and one.find("div") is not None:
            _replace(one, builder.PRE("\n".join(line.text_content().rstrip() for line in one)))


def as_code(body: HtmlElement) -> None:
    """
    Make code of all that is preformatted, without marks in it: else a comment were a heading.

    So is code in a line: Trafilatura leaves out what stands behind other code in it (`git clone -b` and a name).

    :param body: The body of a page, changed in place.
    """
    for one in [one for one in body.iter("pre") if not is_in(one, "pre")]:  # one in another is of the same code
        for line in list(one.iter("br")):
            line.tail = "\n" + (line.tail or "")
        code = builder.CODE(one.text_content())
        one[:], one.text = [code], None
        if "\n" not in str(code.text) and not is_in(one, "td", "th"):
            one.tag = "p"  # else what follows stands on its line: another command, or the fence of a listing
        else:
            _begin_line(one)
    in_line = [one for one in body.iter(*_IN_LINE) if not is_in(one, "pre", *_IN_LINE)]
    for one in in_line:
        if next(one.iter(*_BLOCKS), None) is None:
            for line in one.iter("br"):
                line.text = " "
            one[:], one.text = [], one.text_content()
            if _is_within_line(one):
                one.text = WRAPPED.sub(" ", one.text)
            elif "\n" in one.text:
                _begin_line(one)


def _begin_line(one: Any) -> None:
    """End the line before a listing, as its source may not: a fence behind blanks, or words, begins no code."""
    before, around = one.getprevious(), one.getparent()
    while before is None and not (around.text or "").strip():
        if around.tag in _HOLDERS:
            return
        before, around = around.getprevious(), around.getparent()
    if before is None:
        around.text = around.text.rstrip() + "\n"
    elif before.tail and before.tail.strip():
        before.tail = before.tail.rstrip() + "\n"
    elif before.tag in _IN_LINE and around.tag in _HOLDERS:
        words = list(around)[: around.index(before) + 1]
        if not any(part.tag in _BLOCKS for part in words):
            around.insert(0, builder.P(around.text or "", *words))
            around.text = None


def _is_within_line(one: Any) -> bool:
    """Tell whether words stand beside an element, or what is of the same words, as a link is; or it is in a cell."""
    before, around = one.getprevious(), one.getparent()
    beside = (around.text if before is None else before.tail, one.tail)
    if around.tag in ("td", "th") or any(text.strip() for text in beside if text):
        return True
    return around.tag in _AROUND and before is one.getnext() is None and _is_within_line(around)


def _replace(one: Any, other: Any) -> None:
    other.tail = one.tail
    one.getparent().replace(one, other)
