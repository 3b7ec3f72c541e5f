"""A text of a hundred thousand sentences is judged in two thousand pieces, and nothing of it is left out."""

from itertools import pairwise

import pytest
from haystack import Document

from haystack_integrations.crag.components import HeuristicGrader, StripRefiner
from haystack_integrations.crag.judging.reading import shared_reader
from haystack_integrations.crag.texts.pieces import MOST_PIECES, joined, pieces
from haystack_integrations.crag.texts.text import sentences

ANSWER = "A refund is paid within 30 days."


def test_an_ordinary_text_is_cut_into_its_sentences() -> None:
    text = "One. Two! " * (MOST_PIECES // 2)
    assert list(pieces(text)) == sentences(text)


@pytest.mark.parametrize("unit", ["\u4e2d\u3002", "- a\n", "A word. "])
@pytest.mark.parametrize("number", [MOST_PIECES + 1, 2 * MOST_PIECES, 20_000])
def test_of_too_many_sentences_neighbours_are_taken_together(unit: str, number: int) -> None:
    text = unit * number
    found = pieces(text)
    assert MOST_PIECES / 2 < len(found) <= MOST_PIECES
    assert not "".join(text[last[1] : first[0]] for last, first in pairwise(found)).strip()
    assert (found[0][0], found[-1][1]) == (0, len(text.rstrip()))


def test_a_text_without_sentences_has_no_pieces() -> None:
    assert (list(pieces(" \n")), list(joined([], 0))) == ([], [])


def test_a_judgement_holds_no_more_vectors_of_a_text_than_it_has_pieces() -> None:
    """A record of ten megabytes, which an upload may have, took gigabytes of the server that judged it."""
    (reading,) = shared_reader().read([("t", "\u4e2d\u3002" * 20_000)])
    assert len(reading.sentence_vectors) <= MOST_PIECES
    shared_reader().forget()


def test_what_stands_at_the_end_of_such_a_text_is_found() -> None:
    """The retrieval gave it for the question, so its judgement reads all of it."""
    long = Document(content="- a\n" * 20_000 + ANSWER)
    query = "When is a refund paid?"
    (score,) = HeuristicGrader().run(query=query, documents=[long])["scores"]
    refined = StripRefiner().run(query=query, documents=[long])
    assert score > 0.5
    assert refined["report"]["strips_in"] <= MOST_PIECES
    assert ANSWER in refined["documents"][0].content
