"""
Entries of a reference: who asks what a setting does is told by the text under its name.

Of a passage of several entries the question has one word: asked what it does, 15 of 20 settings of ssh's manuals were
`incorrect`, and asked what the option does, all of them.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from haystack_integrations.crag.texts.languages.function_words import naming

_KIND: Final = (
    r"(?:environment |config(?:uration)? |command[- ]line |error |log )?"
    r"(?:options?|settings?|parameters?|flags?|variable|directive|fields?|property|attribute|keyword|config|command|code|error|switch|key|function|method|rule)"
)
_NAME: Final = r"[`'\"\u201c]?(?P<name>[-.\w$][\w.$:/-]*\w)(?:\(\))?[`'\"\u201d]?"
_WANTED: Final = (
    r"(?:what(?:'s| is| are| does| do| can)?|(?P<values>(?:what|which) values?) (?:can|may|does)|how does"
    r"|when should (?:i|we|you) use"
    r"|how (?:do|can|should) (?:i|we|you) (?:use|set|configure|change|enable|disable|specify))"
)
_ASKED: Final = re.compile(
    rf"(?:{_WANTED} )?(?:the )?(?:(?P<default>default(?: values?)?|defaults?) (?:of|for) (?:the )?"
    rf"|(?:meaning|purpose|effect|function|role|use) of (?:the )?)?"
    rf"(?:(?P<before>\w[\w.-]*) )??(?:(?P<kind>{_KIND}) )?{_NAME}"
    rf"(?: (?P<kind_behind>{_KIND}))?(?: (?:in|of|for) (?:the )?(?P<behind>\w[\w.-]*))?"
    r"(?: (?:do|does|mean|means|meaning|stand for|used for|for|control|work|have|take|accept|be set to))?"
    r"(?: (?:in|of|for) (?:the )?(?P<last>\w[\w.-]*))?\W*",
    re.IGNORECASE,
)
# Two words in one, or signs, or capitals alone; what is none may head a section that does not say what it is.
_CODE: Final = re.compile(
    r"--.+|.*[^\W_]_[^\W_].*|[A-Za-z]+[a-z]+[A-Z]\w*|[a-z]\w*\.\w+|[A-Z]{4,}\d*|[A-Z]{1,5}-?\d{2,5}"
)
_ID: Final = re.compile(r"[A-Z]{1,5}-?\d{2,5}")
_SHORTEST: Final = 3
_MARKS: Final = r"(?P<marks>#{1,6} |[-*+] |\| ?)?(?P<signs>[`*\"]*)(?:-\w, )?"
# Behind a name alone its text stands below it; else it stands behind a cell's end, a gap, or a sign where it is marked.
_ALONE: Final = r"(?:\(\))?[`*\"]*(?: ?[=<\[({].{0,60}| \w+)?[`*\"]*:?\s*$"
_BESIDE: Final = r"(?:\(\))?[`*\"]*(?:(?: *\|| {2,})|(?<=[`*\"])(?: ?\([^)]*\))?(?::| [-\u2013\u2014]) )(?P<text>.*)"
# An id is no word that might begin a sentence: "E05: the target is read-only".
_BEHIND_ID: Final = r"[`*\"]*(?:(?: *\|| {2,})|(?: ?\([^)]*\))?(?::| [-\u2013\u2014]) )(?P<text>.*)"
PROSE: Final = re.compile(r"(?<![A-Za-z])(?:[A-Za-z]{2,}+[\s,-]++){3}[A-Za-z]{2}")
"""Four words in a row: what is said of a name, and no value."""

# As a value: the text may speak of "the default shell" and of what overrides it.
_DEFAULT: Final = re.compile(r"(?i)\bdefaults?(?:\W?:|\s+(?:is|are|values?|to)\b)|\bby\s+default\b|\(the\s+default\)")
_VALUES: Final = re.compile(
    r"(?i)\b(?:values?|(?:must|may|can) be|one of|either|yes|true|on or off|integer|boolean|string)\b"
)
_CHANGE: Final = re.compile(r"(?i)\W*(?:add|fix|remov|chang|deprecat|renam|bump|updat|support)(?:e?[sd]|ed|ing)?\b")


class _Subject(NamedTuple):
    """The name that a question asks about, of what product, and what its text must tell beside."""

    name: str
    products: tuple[str, ...]
    wanted: re.Pattern[str]


def entries(query: str, texts: Sequence[tuple[str, str]]) -> NDArray[np.bool_]:
    """
    Tell which documents have the entry of the name that a question asks about, and no more than it.

    ```python
    from haystack_integrations.crag.judging.rules.entries import entries

    texts = [("", "#### `maxsockets`\\n\\nThe most connections that are used."), ("", "See `maxsockets` for the most.")]
    assert entries("What does maxsockets mean?", texts).tolist() == [False, False]  # a word like others
    assert entries("What does the maxsockets setting do?", texts).tolist() == [True, False]
    ```

    :param query: The question, without courtesies.
    :param texts: Title and content of each document.
    :returns: For each whether the name stands alone above its text, or in front of it in a row or a list. A default
        that is asked for must be in that text; a product, in the title or the first line.
    """
    subject = _subject(" ".join(query.split()))
    return np.array([subject is not None and _explains(subject, title, content) for title, content in texts])


def _subject(query: str) -> _Subject | None:
    if (found := _ASKED.fullmatch(query)) is None:
        # In other languages by their words: "Was bedeutet E05?"
        named = naming(query.strip("?!.\u00bf\u00a1 ").split())
        is_code = len(named) == 1 and named[0] != query and _CODE.fullmatch(named[0])
        return _Subject(named[0], (), PROSE) if is_code else None
    name = found["name"]
    is_named = bool(found["kind"] or found["kind_behind"] or found["default"]) or _CODE.fullmatch(name) is not None
    products = tuple(filter(None, (found["before"], found["behind"], found["last"])))
    wanted = _DEFAULT if found["default"] else _VALUES if found["values"] else PROSE
    return _Subject(name, products, wanted) if is_named and len(name) >= _SHORTEST else None


def _explains(subject: _Subject, title: str, content: str) -> bool:
    first = content.lstrip().partition("\n")[0]
    if not all(is_of(each, f"{title}\n{first}") for each in subject.products):
        return False
    told = [text for text in _told(subject.name, content) if PROSE.search(text) and not _CHANGE.match(text)]
    return any(map(subject.wanted.search, told))


def is_of(product: str, above: str) -> bool:
    """
    Tell whether a document is of a product: one of JavaScript is not of Java.

    :param product: Its name.
    :param above: The title and the first line of the document.
    :returns: Whether it is named there as a word of its own.
    """
    return re.search(rf"(?i)(?<!\w){re.escape(product)}(?!\w)", above) is not None


def _told(name: str, content: str) -> Iterator[str]:
    """Give the texts that stand under a name, or behind it."""
    lines = [line.expandtabs() for line in content.split("\n")]
    flags = "(?i)" if _CODE.fullmatch(name) else ""
    beside = _BEHIND_ID if _ID.fullmatch(name) else _BESIDE
    head = re.compile(rf"{flags}(?P<indent> *){_MARKS}{re.escape(name)}(?:{beside}|{_ALONE})")
    for number, line in enumerate(lines):
        found = head.match(line)
        is_apart = found and (found["marks"] or found["signs"] or not number or not lines[number - 1].strip())
        if found and is_apart:
            below = "" if found["marks"] == "| " else "\n".join(_below(found, lines[number + 1 :]))
            yield f"{found['text'] or ''}\n{below}"


def _below(head: re.Match[str], lines: Sequence[str]) -> Iterator[str]:
    """Give the lines below a heading up to the next one, below any other head those that are deeper in."""
    for line in lines:
        depth = len(line) - len(line.lstrip())
        is_over = line.startswith("#") if (head["marks"] or "").startswith("#") else depth <= len(head["indent"])
        if line.strip() and is_over:
            return
        yield line
