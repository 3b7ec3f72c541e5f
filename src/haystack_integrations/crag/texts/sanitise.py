"""Cleaning text from the web: nothing invisible, no markup, no image or link that a reader's client would act on."""

import html
import re
from functools import cache
from itertools import pairwise
from typing import Final
from unicodedata import combining, normalize

# Controls, soft hyphen, zero-width, bidi, invisible operators, fillers, selectors, annotations, half characters.
_CONTROLS: Final = r"\x00-\x08\x0e-\x1f\x7f"
_INVISIBLE: Final = (
    _CONTROLS + r"\x80-\x84\x86-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    r"\u2060-\u206f\u3164\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\ud800-\udfff"
)
# Shorthand's and music's, tags, more selectors, characters that are none: apart, since a class with them is three times
# as slow.
_ASTRAL: Final = r"\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff" + "".join(
    f"\\U{n:04x}fffe\\U{n:04x}ffff" for n in range(1, 17)
)
FORBIDDEN: Final = re.compile(f"[{_INVISIBLE}{_ASTRAL}]+")
"""Characters that no web text keeps: a reader does not see them, a model does."""

_LOW_INVISIBLE: Final = re.compile(f"[{_INVISIBLE}]+")
_HIGH: Final = re.compile(r"[^\x00-\uffff]")
_HIGH_INVISIBLE: Final = re.compile(f"[{_ASTRAL}]+")
_NO_CONTROLS: Final = dict.fromkeys([*range(0x09), *range(0x0E, 0x20), 0x7F])
_LINE_ENDS: Final = ("\r\n", "\r", "\x0b", "\x0c", "\x85", "\u2028", "\u2029")
_BLANK_LINES: Final = re.compile(r"\n(?:[ \t]*+\n){2,}+")

# No pattern below goes back over what it has read, or past the next sign of its own kind: all are linear.
_TAG: Final = re.compile(r"<(?=[A-Za-z/!?])/?([^\s<>/]*+)([^<>]*+)>")
_INLINE: Final = frozenset(
    "a abbr b bdi bdo big cite code del dfn em font i ins kbd mark q s samp small span strike strong sub sup time tt u "
    "var wbr".split()
)
_BLOCK: Final = frozenset(
    "address article aside audio base blockquote body br button canvas center dd details div dl dt embed figcaption "
    "figure footer form frame h1 h2 h3 h4 h5 h6 head header hr html iframe img input label li link main math meta nav "
    "noscript object ol option p picture pre script section select source style summary svg table tbody td textarea "
    "tfoot th thead title tr ul video".split()
)
_MARKDOWN: Final = re.compile(
    r"(?P<image>!?)\[(?P<text>[^\[\]]*+)\]"
    r"\(\s*+(?:<[^<>\n()]*+>|(?=[^()\s]*?[/:.#]|\))(?:[^()\s]|\([^()\s]*+\))*+)(?:\s++[\"'][^()\[\]]*+)?\s*+\)"
)
# What still opens a tag, a link or a definition of one after that is kept as text, parted so that it opens nothing.
_TAG_LEFT: Final = re.compile(r"<(?=[A-Za-z/!?])")
# `int` refuses so many digits, and no character has such a number.
_ENDLESS_ENTITY: Final = re.compile(r"&#(?:\d{9,}+|[xX][0-9a-fA-F]{9,}+);?")
_MOST_MARKS: Final = 30  # the Unicode standard's bound for "stream-safe" text


def sanitize_text(text: str, *, markup: bool = True) -> tuple[str, int]:
    """
    Turn text from the web into plain, visible text in Unicode's normal form C; time grows with its length only.

    Variation selectors and joiners are lost, so some emoji and some words of Persian or Indic scripts
    look different afterwards.

    ```python
    from haystack_integrations.crag.texts.sanitise import sanitize_text

    assert sanitize_text("<b>Emma</b> [novel](https://e.example/n)\u200b &amp; film") == ("Emma novel & film", 1)
    ```

    :param text: Any text.
    :param markup: Whether tags are taken out and entities read, as in a snippet; off for text that was extracted.
    :returns: The clean text, and how many invisible characters were taken out of it.
    """
    seen, removed = _visible(text)
    text = seen
    if markup:
        text = _TAG.sub(_tag_text, text) if "<" in text else text
        text = html.unescape(_ENDLESS_ENTITY.sub("\ufffd", text)) if "&" in text else text
    text = _without_links(text)
    # What was taken out can have brought marks together, and an entity can be an invisible character.
    text, more = _visible(text) if text is not seen else (text, 0)
    text = text if text.isascii() else normalize("NFC", text)
    text = _TAG_LEFT.sub("< ", text).replace("](", "] (").replace("]:", "] :")
    return _BLANK_LINES.sub("\n\n", text).strip(), removed + more


def _visible(text: str) -> tuple[str, int]:
    for end in _LINE_ENDS:
        text = text.replace(end, "\n")
    if text.isascii():
        clean = text.translate(_NO_CONTROLS)
        return clean, len(text) - len(clean)
    clean = _LOW_INVISIBLE.sub("", text)
    if _HIGH.search(clean):
        clean = _HIGH_INVISIBLE.sub("", clean)
    # Bringing marks into order takes the square of their number: 64,000 on one letter, 5 seconds.
    clean = _piled_marks().sub(r"\1", clean)
    return clean, len(text) - len(clean)


def _tag_text(tag: re.Match[str]) -> str:
    """Read a tag: nothing inside a line, the end of a line otherwise. `a <b and c> d` and `List<String>` are none."""
    name, rest = tag[1].lower(), tag[2].strip(" \n\t/")
    if name in _INLINE:
        return tag[0] if len(name) == 1 and rest and "=" not in rest else ""
    return "\n" if name in _BLOCK or "=" in tag[0] or name[:1] in {"", "!", "?"} else tag[0]


@cache
def _piled_marks() -> re.Pattern[str]:
    """Match all marks on one letter beyond as many as any language writes."""
    marks = [code for code in range(0x300, 0x20000) if combining(chr(code))]
    starts = [marks[0], *(code for last, code in pairwise(marks) if code != last + 1)]
    ends = [*(last for last, code in pairwise(marks) if code != last + 1), marks[-1]]
    any_mark = "".join(f"{chr(start)}-{chr(end)}" for start, end in zip(starts, ends, strict=True))
    return re.compile(f"([{any_mark}]{{{_MOST_MARKS}}})[{any_mark}]++")


def _without_links(text: str) -> str:
    """Reduce links, twice because an image is often the text of a link; deeper nesting is parted by the caller."""
    for _ in range(2):
        if "](" not in text:
            return text
        text = _MARKDOWN.sub(lambda link: "" if link["image"] else link["text"], text)
    return text
