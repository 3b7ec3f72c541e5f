"""HTML pages that say nothing of their own: they send a reader on, or list the pages below them."""

import re
from typing import Final

# As browsers read it; what comes again after a while on the same page has no address.
_REFRESH: Final = re.compile(
    rb"(?i)<meta(?=[^>]{0,400}http-equiv\s*=\s*[\"']?refresh)[^>]{0,400}content\s*=\s*[\"']?\s*[\d.]+\s*[;,]\s*[^\s\"'>]"
)
# LibreOffice's help sends whoever has no scripts on from each of its pages. Where a script goes elsewhere, too, as on
# Javadoc's first page, nobody stays.
_NOSCRIPT: Final = re.compile(rb"(?is)<noscript\b.{0,1000}?</noscript")
_GOES: Final = re.compile(rb"\blocation(?:\.(?:replace|assign)\(|(?:\.href)?\s*=[^=])")
_LINK: Final = re.compile(rb"(?i)<(?:a|area)\s[^>]{0,400}href|<i?frame\s")
_MOST_WORDS: Final = 50  # "This page has moved to ..., and you will be there in five seconds."
_MOST_HEADINGS: Final = 3  # more of them may be all that a page is meant to say, as slides do


def leads_away(page: bytes, text: str = "") -> bool:
    """
    Tell whether a page only leads to others.

    :param page: An HTML page.
    :param text: What was read of it, as Markdown, in which lists of nothing but links are left out.
    :returns: True for a redirect with few words besides, and for a page with links that has no text but for its title.
    """
    if len(text.split()) <= _MOST_WORDS and _REFRESH.search(page if _GOES.search(page) else _NOSCRIPT.sub(b"", page)):
        return True
    lines = [line for line in text.splitlines() if line.strip()]
    is_titles = len(lines) <= _MOST_HEADINGS and all(line.startswith("#") for line in lines)
    return is_titles and _LINK.search(page) is not None
