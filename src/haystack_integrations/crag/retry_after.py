"""How long a server asks to be left alone: the one reading of its `Retry-After`, for web searches and chat models."""

import time
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import Final

_LONGEST_S: Final = 86_400.0


def seconds_to_wait(header: str | None, now: float | None = None) -> float | None:
    """
    Read a `Retry-After` header: seconds, or a date.

    ```python
    from haystack_integrations.crag.retry_after import seconds_to_wait

    assert seconds_to_wait("120") == 120.0
    assert seconds_to_wait("Wed, 21 Oct 2015 07:28:30 GMT", now=1_445_412_480.0) == 30.0
    assert seconds_to_wait("soon") is None
    ```

    :param header: The header's value, or None for none.
    :param now: The time since the epoch, in seconds; None takes the clock's.
    :returns: Seconds from now, from 0 to a day: no number from outside makes a wait endless. None for anything else.
    """
    text = (header or "").strip()
    number = _number(text)
    if number is not None:
        return min(number, _LONGEST_S) if number >= 0 and (isfinite(number) or text.isdigit()) else None
    at = _moment(text)
    return None if at is None else min(max(0.0, at - (time.time() if now is None else now)), _LONGEST_S)


def wait_of(headers: Mapping[str, object]) -> float | None:
    """
    Read the `Retry-After` of an answer; a date counts from the answer's own `Date`: either clock may be wrong.

    :param headers: Of the answer.
    :returns: As `seconds_to_wait`.
    """
    asked, sent = (str(headers.get(name) or "") for name in ("Retry-After", "Date"))
    return seconds_to_wait(asked, _moment(sent))


def _moment(text: str) -> float | None:
    with suppress(ValueError, OverflowError):
        at = parsedate_to_datetime(text)
        # A date without a zone is one in UTC (RFC 9110).
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
    return None


def _number(text: str) -> float | None:
    with suppress(ValueError):
        return float(text)
    return None
