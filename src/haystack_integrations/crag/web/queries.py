"""The only text that leaves: a query on one line, less what must not be told."""

import re
from collections.abc import Sequence
from re import Pattern

from haystack_integrations.crag.errors import ConfigurationError


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


def outgoing(query: str, cut: Sequence[Pattern[str]]) -> str:
    """
    Make the query that is sent.

    :param query: The query as it came.
    :param cut: What is cut from it.
    :returns: What is left, on one line; empty when nothing is.
    """
    for pattern in cut:
        query = pattern.sub(" ", query)
    return " ".join(query.split())
