"""Which document speaks of which, and what two of them cover together, in long lists as in short ones."""

from hypothesis import given
from hypothesis import strategies as st
from judging_texts import asking, measured

from haystack_integrations.crag.judging.evidence import examine, weight_of
from haystack_integrations.crag.judging.links import links_of, speaks_of, turned
from haystack_integrations.crag.judging.reading import shared_reader

QUESTION = "Which novel of Jane Austen was written in London?"
WORDS = st.sampled_from(["jane", "austen", "novel", "london", "written", "emma", "the", "york"])
TEXTS = st.lists(st.tuples(st.lists(WORDS, max_size=2), st.lists(WORDS, max_size=6)), min_size=1, max_size=8)


@given(TEXTS)
def test_a_document_speaks_of_another_whose_title_its_text_has(texts: list[tuple[list[str], list[str]]]) -> None:
    """Looked up by the words of titles; each text asked for each title took a second of 1,000 documents."""
    readings = shared_reader().read([(" ".join(title), " ".join(text)) for title, text in texts])
    links, places = links_of(readings), range(len(readings))
    assert links == [{k for k in places if k != n and speaks_of(readings[k], readings[n].name)} for n in places]
    assert turned(links) == [{k for k in places if n in links[k]} for n in places]


@given(TEXTS)
def test_the_best_other_document_is_found_whoever_has_the_same_words(texts: list[tuple[list[str], list[str]]]) -> None:
    """Of documents with the same of the question's terms, two stand for all."""
    told = [(" ".join(title), " ".join(text)) for title, text in texts]
    asked = asking(QUESTION)
    found = [examine(asked, reading).found for reading in shared_reader().read(told)]
    for n, row in enumerate(measured(QUESTION, *told).documents):
        shares = [weight_of(asked, found[n] | found[k]) / asked.total for k in range(len(found)) if k != n]
        assert row["joint"] == max(shares, default=row["covered"])
