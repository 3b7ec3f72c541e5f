"""What a search query may look like, and when two of them are the same. Pure functions."""

import re
from typing import Final
from unicodedata import category, normalize

from haystack_integrations.crag.errors import QuestionError

MAX_QUERY_CHARACTERS: Final = 300
"""Longest query that a model may write, since a longer one is an essay, or a document that was copied; and that a
search engine is sent: some take no more than 400."""

MAX_WEB_WORDS: Final = 9
"""Most words that a search engine is sent."""

_ENDS: Final = " ?!.\u3002\uff1f\uff01\u2026"
_BEFORE: Final = "(`'"
_BEHIND: Final = f"{_ENDS},;)`'"
_JOINERS: Final = "\u200c\u200d"
_PREFIX: Final = re.compile(
    r"(?:[-*+>\u2022\u2013]|\(?(\d{1,2})[.):]|\[(\d{1,2})\])\s+"
    r"|(?:(?:new|next|improved|rewritten|rephrased|standalone|better|final|search|web|sub)[ -]?){0,3}"
    r"(?:quer(?:y|ies)|questions?|keywords?)(?: ?#?\d{1,2})? ?[:\uff1a]\s*",
    re.IGNORECASE,
)
_BOLD: Final = re.compile(r"\*\*([^*]+)\*\*")
_QUOTED: Final = {
    '"': '"',
    "'": "'",
    "\u201c": "\u201d",
    "\u201e": "\u201c\u201d",
    "\u2018": "\u2019",
    "\u00ab": "\u00bb",
    "\u300c": "\u300d",
    "\u300e": "\u300f",
    "`": "`",
}
_MOST_PREFIXES: Final = 4
_OPERATOR: Final = re.compile(
    r"[-+!]\S|(?:(?:all)?in(?:url|title|text|anchor|body)|site|domain|url|host|ip|link|linkfromdomain|related|cache|info"
    r"|filetype|ext|contains|feed|hasfeed|before|after|source|lang|language|loc|location|prefer):",
    re.IGNORECASE,
)
_COMMA: Final = re.compile(r",(?!\d)|(?<!\d),")
_CONNECTIVES: Final = ("AND", "OR", "NOT", "NEAR", "|")


def query_key(text: str) -> str:
    """
    Name a query, so that one that finds the same is the same: case, composed letters, white space and a final mark.

    :param text: A query.
    :returns: The key to compare by.
    """
    key = normalize("NFC", folded(text))  # folding may take composed letters apart
    return key.rstrip(_ENDS) or key


def folded(text: str) -> str:
    """
    Bring equal texts to one form: NFC, case folded, white space collapsed.

    :param text: A query or a term.
    :returns: Its form for comparing; what is sent keeps its case.
    """
    return " ".join(normalize("NFC", text).casefold().split())


def one_line(text: str) -> str:
    """
    Put a text on one line: no control, invisible or unassigned characters, single spaces.

    The joiners of Persian and Indic scripts stay: words are made of them.

    :param text: Any text.
    :returns: The line; may be empty.
    """
    if not text.isprintable():
        text = "".join(_visible(sign) for sign in text)
    return " ".join(text.split())


def check_asked(question: str) -> None:
    """
    Refuse a question that asks nothing: no retriever can search for it, and no grader can judge by it.

    :param question: The user's question.
    :raises QuestionError: For an empty one, and one of signs that nobody can see.
    """
    if not one_line(question):
        why = ": none of its characters can be seen" if question.strip() else ""
        msg = f"the question is empty{why}; ask one with at least one word"
        raise QuestionError(msg, "empty")


def _visible(sign: str) -> str:
    if sign.isspace() or category(sign) == "Cc":
        return " "
    return sign if sign in _JOINERS or not category(sign).startswith("C") else ""


def cleaned(line: str, lines: int = 1, question: str = "") -> str:
    """
    Take from a line that a model wrote what surrounds a query: list marks, `Query:`, quotes, Markdown.

    :param line: One line.
    :param lines: Of how many: a number beyond is none of a list, but a word of the query, as in "5. Mai 1945".
    :param question: What it was written for: a single line begins with what stands there, as in "1. Bundesliga".
    :returns: The query; may be empty.
    """
    text, asked = _BOLD.sub(r"\1", one_line(line)), question.split()
    for _ in range(_MOST_PREFIXES):
        found = _PREFIX.match(text)
        number = 0 if found is None else int(found[1] or found[2] or 0)
        is_word = number > lines or (found is not None and number == lines == 1 and found[0].strip() in asked)
        bare = _unquoted(text if found is None or is_word else text[found.end() :])
        if bare == text:
            break
        text = bare
    return text


def _unquoted(text: str) -> str:
    """Take off one pair of quotes or marks that holds the whole text; a quoted name inside a query stays quoted."""
    for mark in ("__", "*", "_"):
        if len(text) > 2 * len(mark) and text.startswith(mark) and text.endswith(mark):
            return text[len(mark) : -len(mark)].strip()
    inner, marks = text[1:-1], text[:1] + _QUOTED.get(text[:1], "")
    if len(marks) > 1 and len(text) > 1 and text[-1] in marks[1:] and not any(mark in inner for mark in marks):
        return inner.strip()
    return text


def bounded(text: str) -> str:
    """
    Cut a query that is too long to be sent.

    :param text: A query on one line.
    :returns: Whole words as far as they go; of a single word that is too long its beginning.
    """
    if len(text) <= MAX_QUERY_CHARACTERS:
        return text
    return text[: MAX_QUERY_CHARACTERS + 1].rpartition(" ")[0] or text[:MAX_QUERY_CHARACTERS]


def usable(text: str) -> bool:
    """
    Tell whether a text can be sent as a query: words, and not too many of them.

    :param text: A cleaned text.
    :returns: Whether it can.
    """
    return len(text) <= MAX_QUERY_CHARACTERS and any(sign.isalnum() for sign in text)


def without_operators(text: str, question: str) -> str:
    """
    Take from a query what tells a search engine where to look or what to leave out (`site:`, `-word`, `"exact"`), and
    the commas of a list of keywords, though not those within numbers.

    :param text: A query that a model wrote.
    :param question: The question that it was written for; what that has itself is asked for, and stays.
    :returns: The query; may be empty.
    """
    written = question.split()
    # What ends a sentence or stands around a word is none of it: `-Wall` in "What does `-Wall` do, and what -O3?"
    asked = {*written, *(word.lstrip(_BEFORE).rstrip(_BEHIND) for word in written)}
    text = _COMMA.sub(" ", text)
    if '"' not in question:
        text = text.replace('"', " ")
    orders = (word for word in text.split() if _OPERATOR.match(word) or word in _CONNECTIVES)
    unasked = {word for word in orders if word not in asked}
    return " ".join(word for word in text.split() if word not in unasked)
