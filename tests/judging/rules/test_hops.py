"""The second of two hops: a document that the best one names, and that has what it lacks, is kept beside it."""

import numpy as np
import pytest
from haystack import Document
from judging_texts import asking

from haystack_integrations.crag.components.heuristic_grader import HeuristicGrader
from haystack_integrations.crag.grades import grade_of
from haystack_integrations.crag.judging.likely import Likely
from haystack_integrations.crag.judging.reading import shared_reader
from haystack_integrations.crag.judging.rules.hops import with_hops

QUESTION = "In which city does the employer of chemist Mary Ashford have its offices?"
PERSON = ("Mary Ashford", "Mary Ashford was a chemist. Her employer was the Kelburn Institute.")
EMPLOYER = ("Kelburn Institute", "Founded by a baker in 1901, it has offices in the city of Lowmere.")


def likely(*topics: float) -> Likely:
    """What the model says of documents: the first answers half."""
    values = np.array(topics)
    return Likely(values * 0.8, values, values)


def test_a_document_that_the_best_one_names_and_that_adds_a_word_is_as_likely_on_topic_as_not() -> None:
    """Its probability to answer stays."""
    given = likely(0.9, 0.02)
    lifted = with_hops(given, asking(QUESTION), shared_reader().read([PERSON, EMPLOYER]))
    assert lifted.topic.tolist() == [0.9, 0.5]
    assert lifted.answers is given.answers


@pytest.mark.parametrize(
    "other",
    [
        ("Harn Works", EMPLOYER[1]),  # named by nobody
        ("Kelburn Institute", "It was founded by a baker in 1901."),  # adds no word of the question
        ("Mary Ashford", "Her offices were in the city."),  # the same subject
        ("", EMPLOYER[1]),
    ],
)
def test_every_other_document_stays_as_it_is(other: tuple[str, str]) -> None:
    """A link alone is no hop, and neither are words alone."""
    given = likely(0.9, 0.02)
    assert with_hops(given, asking(QUESTION), shared_reader().read([PERSON, other])) is given


def test_a_likelier_document_loses_nothing() -> None:
    """It is raised, never lowered."""
    lifted = with_hops(likely(0.9, 0.7), asking(QUESTION), shared_reader().read([PERSON, EMPLOYER]))
    assert lifted.topic.tolist() == [0.9, 0.7]


def test_behind_a_document_that_is_off_topic_there_is_no_second_hop() -> None:
    """A list without evidence must not pass the filter by what its best document happens to name."""
    lifted = with_hops(likely(0.2, 0.02), asking(QUESTION), shared_reader().read([PERSON, EMPLOYER]))
    assert lifted.topic.tolist() == [0.2, 0.2]


def test_the_grader_keeps_the_second_hop_beside_the_first() -> None:
    """Titles are metadata."""
    others = [("Oak", "An oak is a tree."), ("Elm", "An elm is a tree of the north.")]
    documents = [Document(content=text, meta={"title": title}) for title, text in (PERSON, EMPLOYER, *others)]
    graded = HeuristicGrader().run(query=QUESTION, documents=documents)["documents"]
    scores = [grade.score for document in graded if (grade := grade_of(document)) is not None]
    assert scores[1] >= 0.25 > max(scores[2:])
