"""A version is the same in every way of writing it, and what is new in it is what its documents call new."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haystack_integrations.crag.texts.notations.versions import other_writings, versions_in, written_versions


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("What is new in v3.12?", ["3.12"]),
        ("Version 3.12, release 3.13, ver. 4 and V5", ["3.12", "3.13", "4", "5"]),
        ("Since PostgreSQL 15 and Tarn 12.0.0", ["15", "12"]),
        ("3.10 is not 3.1", ["3.10", "3.1"]),
        ("12 users pay 3,5 % or 15 % on 2021-04-03 at 10.0.0.1/24", []),
        ("the v-model of v12-alpha3, conversion 3, 4.5.6.7.8", []),
    ],
)
def test_versions_are_known_by_a_word_a_dot_or_a_name(text: str, values: list[str]) -> None:
    """Zeros at their end say nothing; other numbers are none."""
    assert [each.value for each in versions_in(text)] == values


@pytest.mark.parametrize(
    ("question", "text", "pairs"),
    [
        ("What does v3.12 add?", "Tarn 3.12 adds tabs.", {"v3.12": "3.12"}),
        ("What does version 3.12 add?", "Tarn v3.12 adds tabs.", {"version 3.12": "v3.12"}),
        ("What does Tarn 3.12 add?", "Version 3.12 adds tabs.", {}),
        ("What does Tarn 12 add?", "Tarn 12.0 adds tabs.", {"12": "12.0"}),
        ("What does Tarn 12.0 add?", "Tarn 12 adds tabs.", {"12.0": "12"}),
        ("What does release 12 add?", "Tarn 12 adds tabs.", {"release 12": "12"}),
        ("What does v3.1 add?", "Tarn 3.10 adds tabs.", {}),
        ("What does v12 add?", "For 12 users.", {}),
    ],
)
def test_a_version_is_read_as_documents_write_it(question: str, text: str, pairs: dict[str, str]) -> None:
    """Only where none of them has it as it was typed."""
    assert dict(written_versions(question, [text])) == pairs


@pytest.mark.parametrize("asked", ["What is new in", "What's new in", "What changed in", "Release notes for"])
def test_what_is_new_in_a_version_is_read_as_its_documents_tell_it(asked: str) -> None:
    """By the word that those on this version have most often."""
    texts = ["Tarn 3.12 adds tabs and adds a clock.", "Tarn 3.11 removed a menu, removed tabs, removed a clock."]
    assert [read for _, read in written_versions(f"{asked} Tarn 3.12?", texts)] == ["adds"]


def test_what_is_new_stays_where_a_document_says_so_or_no_version_is_asked_for() -> None:
    """A new file is no news of a version either."""
    assert dict(written_versions("What is new in Tarn 3.12?", ["New in Tarn 3.12: it adds tabs."])) == {}
    assert dict(written_versions("What is new in Tarn?", ["Tarn 3.12 adds tabs."])) == {}
    assert dict(written_versions("How do I open a new file in Tarn 3.12?", ["Tarn 3.12 adds tabs."])) == {}


def test_a_search_by_words_has_a_version_in_both_ways() -> None:
    """Of a plain number no version is made."""
    assert other_writings("new v3.12") == ["3.12"]
    assert other_writings("new 3.12") == ["v3.12"]
    assert other_writings("version 12 Apollo 11 for 13 users") == ["v12"]


@given(st.text(alphabet="vV. 0123456789ersionT-"), st.text(alphabet="vV. 0123456789ersionT-"))
def test_any_text_can_be_read(query: str, text: str) -> None:
    """What is read for a version has its value."""
    for typed, read in written_versions(query, [text]):
        values = {each.written.lower(): each.value for each in versions_in(f"{query}\n{text}")}
        assert values[typed] == values[read.lower()]
