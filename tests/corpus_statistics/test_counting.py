"""Counting a corpus: by document, in parts, and back again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haystack_integrations.crag.corpus_statistics import CorpusStatistics, TermCounter, collect, counting
from haystack_integrations.crag.texts.text import terms

TEXTS = ["Emma is a novel. A novel!", "Novels by Austen", "The of and", ""]

texts = st.lists(st.text(st.sampled_from("ab .'1é\ud800市"), max_size=12), max_size=6)


def counted(counter: TermCounter) -> tuple[int, dict[str, int]]:
    return counter.documents, dict(counter.frequencies)


def test_a_term_counts_once_per_document_whatever_its_form() -> None:
    """Stop words are no terms; documents without any term count as documents."""
    known = collect(TEXTS).statistics("store")
    assert known.documents == 4
    assert known.frequency(terms("novel novels Emma penguin")) == {"novel": 2, "emma": 1, "penguin": 0}
    assert known.origin == "store"


def test_a_frequency_is_never_above_the_number_of_documents() -> None:
    """Counts and number may have been asked at different times."""
    assert CorpusStatistics(3, {"novel": 5}, "store").frequency(["novel"]) == {"novel": 3}


def test_statistics_do_not_change_when_more_is_counted() -> None:
    """Nor with other terms than were asked for."""
    counter = collect(TEXTS)
    known = counter.statistics("store", ["novel"])
    counter.add("Another novel.")
    assert dict(known.frequencies) == {"novel": 2}
    assert counter.statistics("store").frequency(["novel"]) == {"novel": 3}


@given(texts, texts)
def test_what_is_removed_leaves_no_trace(kept: list[str], gone: list[str]) -> None:
    """In whatever order."""
    counter = collect([*gone, *kept])
    for text in gone:
        counter.remove(text)
    assert counted(counter) == counted(collect(kept))


def test_a_corpus_of_ever_new_terms_does_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Terms seen once are forgotten first."""
    monkeypatch.setattr(counting, "_MOST_TERMS", 50)
    counter = collect(f"novel x{number}" for number in range(500))
    assert len(counter.frequencies) <= 50
    assert counter.frequencies["novel"] == counter.documents == 500
