"""What may be told of documents and models in spans and logs."""

from typing import Any

import pytest

from haystack_integrations.crag.observing.telemetry import names_of, traced_id


@pytest.mark.parametrize("given", [7, "7", "a path/with words.pdf", "half of a letter: \ud800", "ab" * 33])
def test_an_id_that_is_no_hash_is_told_as_a_short_one(given: Any) -> None:
    """Also a number, which many count their documents by; the same for the same id."""
    kind, _, digits = traced_id(given).partition(":")
    assert (kind, len(digits)) == ("sha256", 12)
    assert traced_id(given) == traced_id(str(given))


@pytest.mark.parametrize(
    ("said", "is_name"),
    [
        ("gpt-4.1-mini", True),
        ("m" * 128, True),
        ("m" * 129, False),
        ("", False),
        ("a sentence", False),
        ("two\nlines", False),
        (None, False),
        (["stop"], False),
    ],
)
def test_a_name_of_a_server_is_told_only_where_it_looks_like_one(said: object, is_name: bool) -> None:
    """A server may write anything in its place, also what it was sent."""
    assert names_of(said) == ([said] if is_name else [])
