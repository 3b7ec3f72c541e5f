"""Lists of a page: items with the numbers that are shown before them, and terms with what is said of them."""

import re
from typing import Any, Final

from lxml.etree import iterwalk
from lxml.html import HtmlElement, builder

from haystack_integrations.crag.formats.html_parts import HEADINGS
from haystack_integrations.crag.formats.numerals import FORMS

# What docutils, Asciidoctor and Pandoc write into a class or style, where others give a `type`.
_STYLE: Final = re.compile(r"(?i)\b(lower|upper)-?(alpha|latin|roman)\b")
_MOST_TERMS: Final = 10  # that one definition is of; an index has terms alone


def with_lists(body: HtmlElement) -> None:
    """
    Put items that stand in no list into one, as they are shown: else they are left out with all they say.

    :param body: The body of a page, changed in place.
    """
    stray = [one for one in body.iter("li", "dt", "dd") if not _is_in_list(one)]
    for one in stray:
        if one.tag != "li" or next(one.iter(*HEADINGS), None) is not None:
            one.tag = "div"  # what stands below a heading is no part of an item that nothing ends
    for one in stray:
        if one.tag == "div" or _is_in_list(one):
            continue
        around, item = builder.UL(), one
        one.addprevious(around)
        while item is not None and item.tag == "li" and not (around.tail or "").strip():
            around.append(item)
            around.tail, item.tail, item = item.tail, None, around.getnext()


def _is_in_list(one: Any) -> bool:
    lists = ("ul", "ol", "menu") if one.tag == "li" else ("dl",)
    return next(one.iterancestors(*lists, "li", "dd", "td", "body")).tag in lists


def with_numbers(body: HtmlElement) -> None:
    """
    Write the numbers of items that a plain count from one does not give: a clause would have another one's number.

    :param body: The body of a page, changed in place.
    """
    for one in body.iter("ol"):
        items, form = list(one.iterchildren("li")), FORMS.get(_form_of(one), str)
        step, number = (1, 1) if one.get("reversed") is None else (-1, len(items))
        number = number_of(one, "start", number)
        if (number, step, form) == (1, 1, str) and not any(item.get("value") for item in items):
            continue
        one.tag = "ul"
        for item in items:
            number = number_of(item, "value", number)
            item.text, number = f"{form(number)}. {(item.text or '').lstrip()}", number + step


def number_of(one: HtmlElement, name: str, other: int = 1) -> int:
    """
    Read an attribute that is a number.

    :param one: An element.
    :param name: The attribute.
    :param other: What it is worth if it is none, or too long.
    :returns: The number.
    """
    said = one.get(name, "")
    return int(said) if re.fullmatch(r"[0-9]{1,4}", said) else other


def with_terms(body: HtmlElement) -> None:
    """
    Put each term of a `dl` in one item with all that is said of it: a passage would end between them.

    :param body: The body of a page, changed in place.
    """
    for one in list(body.iter("dl")):
        one.tag = "ul"
        for group in one.findall("div"):
            group.drop_tag()
        terms: list[HtmlElement] = []
        item: HtmlElement | None = None  # of the terms that were told already
        for part in list(one.iterchildren("dt", "dd")):
            is_term, part.tag = part.tag == "dt", "li"
            if is_term:
                _strip(part)
                terms, item = [*terms[1 - _MOST_TERMS :], part], None
            elif item is not None:
                _append(item, "; ", part)
            elif terms:
                for more in terms[1:]:
                    _append(terms[0], ", ", more)
                _append(terms[0], " " if terms[0].text_content().rstrip().endswith(":") else ": ", part)
                terms, item = [], terms[0]
    for item in body.iter("li"):
        item.text = (item.text or "").lstrip()  # else the sign of an item stands on a line of its own


def _form_of(one: Any) -> str:
    found = _STYLE.search(f"{one.get('class', '')} {one.get('style', '')}")
    if found is None:
        return str(one.get("type", ""))
    form = "i" if found[2].lower() == "roman" else "a"
    return form.upper() if found[1].lower() == "upper" else form


def _strip(one: HtmlElement) -> None:
    """Leave out white space around the words of an element, in whichever parts of it they stand."""
    walk = [(part, event) for event, part in iterwalk(one, events=("start", "end"))]
    places = [(part, "text" if event == "start" else "tail") for part, event in walk[:-1]]
    for strip, ordered in ((str.lstrip, places), (str.rstrip, places[::-1])):
        for part, name in ordered:
            setattr(part, name, strip(getattr(part, name) or ""))
            if getattr(part, name):
                break


def _append(item: HtmlElement, sign: str, more: HtmlElement) -> None:
    """Put an item and a sign behind another one."""
    text = sign + (more.text or "").lstrip()
    if len(item):
        item[-1].tail = (item[-1].tail or "").rstrip() + text
    else:
        item.text = (item.text or "").rstrip() + text
    item.extend(list(more))
    item.tail = more.tail
    more.getparent().remove(more)
