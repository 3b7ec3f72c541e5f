"""Write the headings of a PDF as Markdown's, as its outline tells them: on its pages they are lines like others."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, Final

from pypdf import PdfReader

from haystack_integrations.crag.formats.escaping import escaped

Outline = Mapping[int, Sequence[tuple[int, str]]]
"""By page, from 0: the levels, from 1, and the words of its headings in order."""
SIGN: Final = "\x02"
"""Stands where a heading of a page begins, if its place is known; no text has it in the end."""

_MOST: Final = 10_000
_MOST_LINES: Final = 1_000  # of a page, of which each is compared with each of its headings
_MOST_OF_A_PAGE: Final = 200
_DEEPEST: Final = 6
_SHORTEST: Final = 3  # letters: a shorter word may be the end of another one
_SIGNS: Final = re.compile(r"[\W_]+")
_NUMBER: Final = re.compile(r"(?:chapter|appendix|part|section)?[\divxlc]{0,8}[a-z]?\d{0,4}")


def outline_of(reader: PdfReader) -> Outline:
    """
    Read the outline.

    :param reader: A PDF file.
    :returns: Its headings; none if it has no outline, or one that cannot be read.
    """
    found: dict[int, list[tuple[int, str]]] = defaultdict(list)
    try:
        for count, (level, one) in enumerate(_entries(reader.outline, 1)):
            page = reader.get_destination_page_number(one)
            if page is not None and count < _MOST:
                found[page].append((min(level, _DEEPEST), " ".join(str(one.title).split())))
    except Exception:  # whatever a damaged file leads its reader to: its text is read nevertheless
        return found
    return found


def with_headings(text: str, outline: Outline) -> str:
    """
    Put `#` before headings, one for each level, and each at the beginning of a paragraph.

    :param text: The text of the pages, with a form feed between two. With signs on a page, headings are sought there.
    :param outline: The headings. One that is not a line of its page, or two, stays as it is.
    :returns: The text; a line that would be a heading, or begin code, has a backslash before it.
    """
    pages = escaped(text).split("\f")
    return "\f".join(_page(page, outline.get(number, ())) for number, page in enumerate(pages)).replace(SIGN, "")


def _page(text: str, headings: Sequence[tuple[int, str]]) -> str:
    lines, begin = text.split("\n"), 0
    if len(lines) > _MOST_LINES:
        return text
    letters, signed = [_letters(line) for line in lines], [SIGN in line for line in lines]
    ways = (True, False) if any(signed) else (False,)
    for level, words in headings[:_MOST_OF_A_PAGE]:
        wanted = _letters(words)
        for is_sign, size, number in product(ways, (1, 2), range(begin, len(lines))):
            if wanted and signed[number] >= is_sign and _is_same("".join(letters[number : number + size]), wanted):
                printed = " ".join(" ".join(lines[number : number + size]).split())
                # What is printed has the number; where its words are glued together, the outline has them apart.
                told = printed if len(printed.split()) >= len(words.split()) else words
                apart = "\n" if number else "\n\n"
                lines[number : number + size] = [f"{apart}{'#' * level} {told}", *[""] * (size - 1)]
                begin = number + size
                break
    return "\n".join(lines)


def _is_same(printed: str, wanted: str) -> bool:
    """Compare letters; either may have a number before them, and a page's number is none."""
    longer, shorter = sorted((printed, wanted), key=len, reverse=True)
    if len(shorter) < _SHORTEST or shorter.isdigit():
        return printed == wanted
    return longer.endswith(shorter) and _NUMBER.fullmatch(longer.removesuffix(shorter)) is not None


def _letters(text: str) -> str:
    return _SIGNS.sub("", text).casefold()


def _entries(outline: Sequence[Any], level: int) -> Iterator[tuple[int, Any]]:
    for one in outline:
        if isinstance(one, list):
            yield from _entries(one, level + 1)
        else:
            yield level, one
