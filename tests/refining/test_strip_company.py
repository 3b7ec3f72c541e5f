"""What the company of a strip says: neighbours, documents, the run."""

import tracemalloc

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from haystack_integrations.crag.refining.company import COMPANY, company


def told(probabilities: list[float], documents: list[int]) -> dict[str, NDArray[np.float64]]:
    """Its columns by name."""
    return dict(zip(COMPANY, company(np.array(probabilities), documents).T, strict=True))


def test_neighbours_are_strips_of_the_same_document() -> None:
    """The last strip of one document and the first of the next are none."""
    found = told([0.5, 0.9, 0.2], [0, 0, 3])
    own, none = found["own"], found["before"].min()
    assert found["before"].tolist() == [none, own[0], none]
    assert found["behind"].tolist() == [own[1], none, none]
    assert found["beside"].tolist() == [own[1], own[0], none]
    assert none < own.min()


def test_strips_are_compared_with_the_best_that_is_not_themselves() -> None:
    """In the run, and in the other documents."""
    found = told([0.5, 0.9, 0.2, 0.6], [0, 0, 1, 1])
    own = found["own"]
    assert found["best"].tolist() == [own[1]] * 4
    assert found["runner_up"].tolist() == [own[1], own[3], own[1], own[1]]
    assert found["third"].tolist() == [own[0]] * 4
    assert found["others_best"].tolist() == [own[3], own[3], own[1], own[1]]
    assert found["document_best"].tolist() == [own[1], own[1], own[3], own[3]]
    assert (found["rank"].tolist(), found["document_rank"].tolist()) == ([1 / 3, 1, 1 / 4, 1 / 2], [1 / 2, 1, 1 / 2, 1])


def test_many_likely_strips_say_that_their_document_has_evidence() -> None:
    """Also where none of them is sure, and whatever the other documents have."""
    many, one = told([0.5, 0.5, 0.5, 0.1], [0, 0, 0, 1]), told([0.5, 0.1, 0.1, 0.1], [0, 0, 0, 1])
    assert many["document_any"][0] > one["document_any"][0]
    assert many["document_any"][3] == one["document_any"][3]
    assert many["share"][0] < one["share"][0]
    assert many["expected"][0] > one["expected"][0]


@given(st.lists(st.tuples(st.floats(0, 1), st.integers(0, 3)), max_size=12))
def test_it_is_finite_for_any_probabilities(strips: list[tuple[float, int]]) -> None:
    """Also 0 and 1, of one strip, and of none."""
    ordered = sorted(strips, key=lambda each: each[1])
    found = company(np.array([one for one, _ in ordered]), [number for _, number in ordered])
    assert found.shape == (len(strips), len(COMPANY))
    assert np.isfinite(found).all()


def test_the_strips_of_many_long_documents_take_room_by_their_number_and_not_by_its_square() -> None:
    """Twenty whole manuals have 30,000: each against each took 1.6 GB and most of the time."""
    rounded = np.random.default_rng(1).random(10_000).round(3)  # with many ties
    tracemalloc.start()
    try:
        company(rounded, [place // 500 for place in range(len(rounded))])
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 20_000_000
