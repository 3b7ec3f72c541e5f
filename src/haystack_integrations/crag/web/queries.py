"""The only text that leaves: a query on one line, less what must not be told."""

import re
from collections.abc import Sequence
from re import Pattern

from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.expansion.query_text import bounded, one_line
from haystack_integrations.crag.texts.questions.courtesies import bare_question
from haystack_integrations.crag.texts.questions.telling import meant
from haystack_integrations.crag.texts.text import words


def patterns(expressions: Sequence[str] | None) -> list[Pattern[str]]:
    """
    Compile what is cut from queries.

    :param expressions: Regular expressions.
    :returns: The same, compiled.
    :raises ConfigurationError: For one that is not valid; the message names it.
    """
    compiled = []
    for expression in expressions or ():
        try:
            compiled.append(re.compile(expression))
        except (re.error, TypeError) as error:
            msg = f"redact must hold regular expressions, but got {expression!r} ({error}); escape special characters"
            raise ConfigurationError(msg) from error
    return compiled


def outgoing(query: str | None, cut: Sequence[Pattern[str]], question: str | None = None) -> str:
    """
    Make the query that is sent.

    :param query: The query as it came; None or an empty one sends what the question asks, not what it tells besides.
    :param cut: What is cut from it.
    :param question: The question that it was written for, where it is known. A word that stands only in what is cut
        from that is not sent either: an expression knows an address by its form, and a rewriter has taken it apart.
    :returns: What is left, on one line and no longer than search engines take; empty when nothing is.
    :raises ConfigurationError: Where there is neither: the web would never be asked, and the record not told.
    """
    if query is None and question is None:
        msg = "WebFallback got neither a question nor a state; pass query, or connect the router's output web to state"
        raise ConfigurationError(msg)
    question = question or ""
    private = set(words(one_line(question))) - set(words(_without(question, cut)))
    asked = _without(query or meant(bare_question(question))[-1], cut).split()
    return bounded(" ".join(word for word in asked if private.isdisjoint(words(word))))


def _without(text: str, cut: Sequence[Pattern[str]]) -> str:
    """Cut from a text as it came, since an expression may go by its lines, and again as it is sent."""
    for _ in range(2):
        for pattern in cut:
            text = pattern.sub(" ", text)
        text = one_line(text)
    return text
