"""What of a page is hidden, and what is only closed: a reader opens it."""

import re
from typing import Final

from lxml.html import HtmlElement

from haystack_integrations.crag.formats.html_parts import HEADINGS, INLINE

_CLOSED: Final = ".//*[(@id or @role='tabpanel') and (@aria-hidden or @style) and not(@role='dialog')]"
_CLOSING: Final = ("aria-hidden", "style")
_OPENING: Final = ".//*[contains(@style, 'display')]"
_PICTURED: Final = ".//*[@style][math][following-sibling::img]"  # of MediaWiki: a formula, whose picture is shown
_UNSEEN: Final = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden")
# Trafilatura leaves boxes out, in small letters. The title of a page is often hidden beside its logo.
_KEPT: Final = INLINE.union(HEADINGS[1:])
_FEWEST: Final = 2  # one may be what is said to who answers: "Was this page helpful?"


def without_hidden(body: HtmlElement) -> None:
    """
    Leave out what no reader sees.

    Seen is what a tab or button opens, what stands behind each of several questions, what a search in the page finds,
    and one of several alternatives that are all that stands in their place ("Press Command / Ctrl+C."): a script shows
    that of the reader's system.

    :param body: The body of a page, changed in place.
    """
    switches = [one for one in body.iter("span") if len(one) and not _shown(one)]
    for one in [one for switch in switches for one in switch]:
        del one.attrib["hidden"]
        if one.getnext() is not None and one.find(".//p") is None:
            one.tail = " / "
    opened = {name for one in body.iter() for name in str(one.get("aria-controls", "")).split()}
    for one in body.xpath(".//*[@hidden][not(@hidden='until-found' or @role='tabpanel' or .//main)]"):
        before = one.getprevious()
        follows = before is not None and bool(before.xpath("descendant-or-self::*[@aria-expanded]"))
        if one.get("id") not in opened and not follows:
            one.drop_tree()
    # A page that a browser saved has them as they were at that moment: closed.
    for one in body.xpath(_CLOSED):
        if one.get("role") == "tabpanel" or one.get("id") in opened:
            for name in _CLOSING:
                one.attrib.pop(name, None)
    answers = [one for one in body.xpath(_OPENING) if _is_asked(one)]
    for one in [*(answers if len(answers) >= _FEWEST else ()), *body.xpath(_PICTURED)]:
        del one.attrib["style"]
    for one in body.xpath(".//*[@style]"):
        one.set("style", one.get("style").lower())
        if one.tag in _KEPT and _UNSEEN.search(one.get("style")):
            one.drop_tree()


def _is_asked(one: HtmlElement) -> bool:
    """Tell whether an element stands behind a question, as an answer that a click shows or hides."""
    before = one.getprevious()
    return before is not None and isinstance(before.tag, str) and before.text_content().strip().endswith("?")


def _shown(one: HtmlElement) -> bool:
    """Tell whether some of an element is shown."""
    texts = (one.text, *(part.tail for part in one))
    return any(text and text.strip() for text in texts) or any(part.get("hidden") is None for part in one)
