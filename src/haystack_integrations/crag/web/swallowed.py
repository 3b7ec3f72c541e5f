"""
Failures that a web search catches, logs, and gives nothing for, as Haystack's for Firecrawl does.

It would pass for a search that found nothing; and what it logs is the question.
"""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any


class _Search:
    """One search: what is being handled around it, and what it logged of failures."""

    def __init__(self) -> None:
        self.around = sys.exc_info()[1]
        self.failures: list[BaseException] = []


_running: ContextVar[_Search | None] = ContextVar("crag_web_search", default=None)


class _Listening(logging.Filter):
    """Notes the error behind a line, of which only the kind is left."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Let every line pass."""
        search = _running.get()
        error = record.exc_info[1] if record.exc_info else sys.exc_info()[1]
        if search is not None and error not in (None, search.around) and record.levelno >= logging.WARNING:
            search.failures.append(error)
            record.msg, record.args = f"A web search failed: {type(error).__name__}", ()
            record.exc_info = record.exc_text = record.stack_info = None
        return True


_LISTENING = _Listening()


@contextmanager
def raised(component: Any) -> Iterator[list[Any]]:
    """
    Raise what a search only logged, where it gives nothing.

    :param component: The web search.
    :yields: A list for the answer of its `run`.
    :raises BaseException: The last error that it logged, if there is no document in its answer.
    """
    logger = logging.getLogger(type(component).__module__)
    if _LISTENING not in logger.filters:
        logger.addFilter(_LISTENING)
    search, answers = _Search(), list[Any]()
    token = _running.set(search)
    try:
        yield answers
    finally:
        _running.reset(token)
    if search.failures and not any(isinstance(one, dict) and one.get("documents") for one in answers):
        raise search.failures[-1]
