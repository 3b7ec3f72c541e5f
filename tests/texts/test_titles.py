"""Whether a text begins with its title decides whether a reader is shown the title once more."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haystack_integrations.crag.texts.titles import LONGEST_TITLE, identified, shows, titled


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Refunds\n\nWithin 30 days.", "Refunds"),
        ("## REFUNDS\nWithin 30 days.", "Refunds"),
        ("Refunds: within 30 days.", "Refunds"),
        ("C++ has templates.", "C++"),
        ("\u9000\u6b3e\u653f\u7b56\u5982\u4e0b\u3002", "\u9000\u6b3e"),
        ("\ud658\ubd88\uc740 30\uc77c \uc774\ub0b4.", "\ud658\ubd88"),
        ("Any text.", ""),
        ("x" * 300, "x" * 250),
    ],
)
def test_a_title_that_a_text_begins_with_is_shown_by_it(text: str, title: str) -> None:
    assert shows(text, title)


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Articles of association are kept by the notary.", "Art"),
        ("2024 was a good year.", "20"),
        ("\u0414\u043e\u043c\u0430 \u0442\u0435\u043f\u043b\u043e.", "\u0414\u043e\u043c"),
        ("Payment within 30 days.", "Refunds"),
    ],
)
def test_a_word_that_only_begins_like_the_title_does_not_show_it(text: str, title: str) -> None:
    assert not shows(text, title)


@given(
    st.text(max_size=300), st.text(alphabet=st.characters(exclude_categories=["Cs", "Cc"]), max_size=LONGEST_TITLE + 50)
)
def test_what_is_titled_shows_its_title(text: str, title: str) -> None:
    """Unless it begins with what marks a heading, which is looked past."""
    if title == title.lstrip("# \t\n"):
        assert shows(titled(text, title), title)


@pytest.mark.parametrize(
    ("title", "source", "text", "named"),
    [
        ("Login fails", "tickets.jsonl#OPS-12", "Since Monday.", "OPS-12 Login fails"),
        ("", "tickets.jsonl#INC0012345", "Since Monday.", "INC0012345"),
        ("OPS-12: Login fails", "tickets.jsonl#OPS-12", "Since Monday.", "OPS-12: Login fails"),
        ("Login fails", "tickets.jsonl#OPS-12", "OPS-12 is open.", "Login fails"),
        ("Login fails", "tickets.jsonl#OPS-1", "Like OPS-12.", "OPS-1 Login fails"),
        ("Login fails", "tickets.jsonl#row-12", "Since Monday.", "Login fails"),
        ("Login fails", "tickets.jsonl#4711", "Since Monday.", "Login fails"),
        ("Login fails", "OPS-12.md", "Since Monday.", "Login fails"),
    ],
)
def test_the_id_of_a_ticket_stands_before_its_title(title: str, source: str, text: str, named: str) -> None:
    """Only where it has the form of a ticket's, and the record does not tell it."""
    assert identified(title, source, text) == named
