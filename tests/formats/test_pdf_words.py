"""Letters of a PDF are written as people type them."""

import pytest

from haystack_integrations.crag.formats.pdf_words import as_typed


@pytest.mark.parametrize(
    ("printed", "typed"),
    [
        ("\ufef3\ufeee\ufee3\ufe8e 30", "\u064a\u0648\u0645\u0627 30"),  # a word, each letter in the form of its place
        ("\ufefb", "\u0644\u0627"),  # two letters printed as one
        ("\ufb2a", "\u05e9\u05c1"),  # with its point
        ("x\u00b2 \u2460 caf\u00e9", "x\u00b2 \u2460 caf\u00e9"),
    ],
)
def test_letters_that_have_a_code_for_each_form_are_plain_ones(printed: str, typed: str) -> None:
    """No one types a letter in the form of its place; other signs stay as they are."""
    assert as_typed(printed) == typed
