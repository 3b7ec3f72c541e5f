"""One reading of `Retry-After`, for every web search."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from haystack_integrations.crag.retry_after import seconds_to_wait, wait_of


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("Wed, 21 Oct 2015 07:28:30 GMT", 30.0),
        ("Wed, 21 Oct 2015 07:28:30 -0000", 30.0),  # without a zone, whatever that of this machine is
        ("Wed, 21 Oct 2015 07:27:00 GMT", 0.0),
        ("Wed, 21 Oct 2099 07:28:00 GMT", 86_400.0),
        ("Wed, 99 Oct 2015 07:28:00 GMT", None),
        ("Wed, 21 Oct 2015", None),
        ("0", 0.0),
        (" 3 ", 3.0),
        ("-5", None),
        ("1.5", 1.5),
        ("1e300", 86_400.0),
        ("9" * 400, 86_400.0),
        ("nan", None),
        ("inf", None),
        ("²", None),
        ("", None),
        (None, None),
    ],
)
def test_it_is_read_as_seconds_or_a_date_or_not_at_all(text: str | None, seconds: float | None) -> None:
    """No number from outside can make a wait endless."""
    assert seconds_to_wait(text, 1_445_412_480.0) == seconds


def test_a_date_is_counted_from_now() -> None:
    at = format_datetime(datetime.now(UTC) + timedelta(seconds=110))
    assert 100 < (seconds_to_wait(at) or 0) <= 110


@pytest.mark.parametrize("retry", ["Wed, 21 Oct 2015 07:28:30 GMT", "30"])
def test_a_date_counts_from_that_of_the_answer_whatever_the_clock_here_says(retry: str) -> None:
    """A machine whose clock was a day behind stayed away for as long as it may; one that was ahead, not at all."""
    assert wait_of({"Date": "Wed, 21 Oct 2015 07:28:00 GMT", "Retry-After": retry}) == 30.0
    assert wait_of({"Date": "Wed, 21 Oct 2015 07:28:00 GMT"}) is None
