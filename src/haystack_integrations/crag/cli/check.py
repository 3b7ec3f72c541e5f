"""One thing that `crag doctor` looked at, and how it was found."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from haystack_integrations.crag.cli.errors import explain
from haystack_integrations.crag.deadlines import call_within

_SECONDS: Final = 30.0

Status = Literal["ok", "warning", "error", "info"]


@dataclass(frozen=True)
class Check:
    """
    One thing looked at.

    :param name: What.
    :param status: `ok`, `warning`, `error` (something needed is broken) or `info` (optional, and absent).
    :param found: What was found.
    :param fix: What to do about it; empty when nothing is to be done.
    """

    name: str
    status: Status
    found: str
    fix: str = ""


def guarded(name: str, look: Callable[[], Check]) -> Check:
    """
    Turn whatever goes wrong into a check that says so.

    :param name: What is looked at.
    :param look: Looks at it.
    :returns: The check.
    """
    try:
        return look()
    except Exception as error:  # a doctor that dies of what it finds is of no use
        return failure(name, error)


def waited(name: str, look: Callable[[], Check]) -> Check:
    """
    Look at a service no longer than agreed: one that sends a byte now and then holds every client for ever.

    :param name: What is looked at.
    :param look: Looks at it.
    :returns: As `guarded`.
    """
    try:
        return call_within(_SECONDS, lambda: guarded(name, look))
    except TimeoutError:
        found = f"no complete answer within {_SECONDS:.0f} s"
        return Check(name, "error", found, "check its load, its log and any proxy before it")


def failure(name: str, error: Exception) -> Check:
    """
    Tell what went wrong as a check.

    :param name: What was looked at.
    :param error: What was raised.
    :returns: The check, with the way out that the message names.
    """
    found, _, fix = explain(error)[0].partition("; ")
    return Check(name, "error", found, fix)
