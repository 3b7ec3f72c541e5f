"""How a text is typed: made alike before it is judged, and its words looked up instead of worked out again."""

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from haystack_integrations.crag.texts.languages.stemming import STEMS
from haystack_integrations.crag.texts.remembering import Remembered

TITLE: Final = "TITLE"
NAME: Final = "NAME"
NUMBER: Final = "NUMBER"
YEAR: Final = "YEAR"


# Double quotes: as `text._END`, looked for by their first signs.
_QUOTES: Final = (
    '["\u201c\u201d\u201e`\'](?:(?<=["\u201c\u201d\u201e])'  # one sign
    "|(?<=')'|(?<=`)(?<!``)`(?!`))"  # or two: '' and ``, but not ```
)

# What is left in some stores: where a link leads, HTML's tags (a paragraph ends a line, a word goes on), and words that
# were parted at the ends of lines.
_INLINE: Final = "a|abbr|b|cite|code|em|font|i|img|mark|q|s|small|span|strong|su[bp]|u"
_BLOCK: Final = "article|blockquote|br|center|dd|div|dl|dt|h[1-6]|hr|li|ol|p|pre|section|t(?:able|body|[dhr]|head)|ul"


def _mark(sign: str) -> str:
    """Choose the rarest of a few signs, neither letter nor space: to look for one alone takes a tenth of the time."""
    return next((one for one in sign if not (one.isalnum() or one.isspace())), sign)


# What tokenised corpora do to a text: quotes as `` and '', contractions in two, spaces before punctuation, inside
# brackets and around hyphens. A judgement must not feed on who typed a text. Double quotes say nothing and are typed in
# five ways: they go. Lines stay lines, since lists and paragraphs are sentences of their own.
# Most texts have little of it, and to look for a few signs takes a tenth of the time: each pattern comes with signs, of
# which one must be there for it to match.
_SURFACE: Final = tuple(
    (re.compile(pattern), plain, tuple((_mark(sign), sign) for sign in signs))
    for pattern, plain, signs in (
        (r"\]\((?:https?:|mailto:|[/.\#])[^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?: [^()]*)?\)", "]", ("](",)),
        (rf"(?i)</?(?:{_INLINE})(?:\s[^<>]*)?/?>", "", ("<",)),
        (rf"(?i)</?(?:{_BLOCK})(?:\s[^<>]*)?/?>", "\n", ("<",)),
        ("&(?:nbsp|#160|quot|lt|gt);", " ", ("&nbsp;", "&#160;", "&quot;", "&lt;", "&gt;")),
        ("&(?:apos|#39|rsquo);", "'", ("&apos;", "&#39;", "&rsquo;")),
        ("&amp;", "&", ("&amp;",)),
        (r"(?<=[a-z])[-\u00ad\u2010][ \t\r]*\n[ \t]*(?=[a-z])", "", ("-\n", "-\r", "-\t", "- ", "\u00ad", "\u2010")),
        (r"[\u2018\u2019]", "'", ("\u2018", "\u2019")),
        (_QUOTES, " ", ("``", "''", '"', "\u201c", "\u201d", "\u201e")),
        (r"-(?i:lrb)-", "(", ("-l", "-L")),
        (r"-(?i:rrb)-", ")", ("-r", "-R")),
        (r"\b([cC]an)not\b", r"\1 not", ("annot",)),
        (r"  +", " ", ("  ",)),
        (
            r" (?<=\S )(?=[.,;:!?%)\]]|'(?i:s|re|ve|ll|d|m)\b|[nN]'[tT]\b)",
            "",
            (" .", " ,", " ;", " :", " !", " ?", " %", " )", " ]", " '", " n'", " N'"),
        ),
        (r"([(\[]) ", r"\1", ("( ", "[ ")),
        (r" - (?<=\w - )(?=\w)", "-", (" - ",)),
    )
)


def normalised(text: str) -> str:
    """
    Make surface forms alike, so that tokenised text reads as it was written.

    :param text: Any text.
    :returns: The text without addresses of links, HTML's tags and double quotes, and without spaces before punctuation,
        inside brackets, around hyphens and in contractions.
    """
    for pattern, plain, signs in _SURFACE:
        for mark, sign in signs:
            if mark in text and sign in text:
                text = pattern.sub(plain, text)
                break
    return text


# The title of another section, as DocBook writes it in many languages: `see Section 5.1, "How does one upgrade?"`; also
# with the spaces and quotes of a tokenised corpus.
_REFERENCE: Final = re.compile(
    r"(?<=\d\.\d)(?P<number>[\d.]{0,12}) ?,[ \u00a0\n](?:"
    r"\u201c[^\u201c\u201d]{1,200}\u201d|\u201e[^\u201c-\u201e]{1,200}[\u201c\u201d]|\u00ab[^\u00ab\u00bb]{1,200}\u00bb"
    r"|\"[^\"]{1,200}\"|``(?:(?!``|'')(?s:.)){1,200}'')"
)
_OPENING: Final = ("\u201c", "\u201e", "\u00ab", '"', "``")


def told(text: str) -> str:
    """
    Give what a document says: in one form, and without the titles of other sections, which it only points to.

    ```python
    from haystack_integrations.crag.judging.surface import told

    assert told('See Section 5.1, "How does one upgrade?", for more.') == "See Section 5.1, for more."
    ```

    :param text: The text of a document.
    :returns: The text, as `normalised`.
    """
    return normalised(_REFERENCE.sub(r"\g<number>", text) if any(sign in text for sign in _OPENING) else text)


class WordForm(NamedTuple):
    """
    What a judgement wants to know of a word, whatever text it stands in.

    :param stem: Its stem; empty for a stop word.
    :param plain: Its stem, or the word itself in small letters.
    :param shown: The same, with numbers hidden.
    :param is_large: Whether it begins with a capital.
    """

    stem: str
    plain: str
    shown: str
    is_large: bool


def is_year(word: str) -> bool:
    """
    Tell whether a word looks like a year.

    :param word: A word.
    :returns: Whether it is a number from 1000 to 2999.
    """
    return len(word) == 4 and word.isdigit() and word[0] in "12"  # noqa: PLR2004


def _form(word: str) -> WordForm:
    lowered = word.lower()
    stem = STEMS[lowered]
    shown = plain = stem or lowered
    if word.isdigit():
        shown = YEAR if is_year(word) else NUMBER
    return WordForm(stem, plain, shown, word[0].isupper())


WORD_FORMS: Final[Mapping[str, WordForm]] = Remembered(_form)
"""The forms of words by the word as it is written; it knows every word but the empty one, as `stemming.STEMS` does."""
