"""
A text that stands twice in a list says nothing twice: the verdict is that of the list with each text once. And a text
on something else says nothing of the only one that speaks of the question.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from haystack import Document
from haystack.document_stores.in_memory import InMemoryDocumentStore
from hypothesis import given
from hypothesis import strategies as st
from judging_texts import QUESTION_OF_REFUNDS, REFUNDS, asking, measured

from haystack_integrations.crag.components.heuristic_grader import HeuristicGrader
from haystack_integrations.crag.judging import copies
from haystack_integrations.crag.judging.asking import Asked, ask
from haystack_integrations.crag.judging.calibration import load_calibration
from haystack_integrations.crag.judging.company import Measured, measure
from haystack_integrations.crag.judging.copies import measure_once, originals
from haystack_integrations.crag.judging.evidence import examine
from haystack_integrations.crag.judging.grading import retrieved_frequencies
from haystack_integrations.crag.judging.judge import judge
from haystack_integrations.crag.judging.reading import Reading, shared_reader

BEST = REFUNDS[0]
VERSIONS = {
    "the same": BEST,
    "in capitals": BEST.upper(),
    "a word": BEST.replace("buyer", "customer"),
    "a line more": f"Last changed on Monday by Ann. {BEST}",
    "a sentence less": BEST.rpartition(" Nothing")[0],
}
OLD = (
    "Fees of 2019. The yearly fee for members is paid in March, by card or in cash, and covers the pool and the courts."
)
ALONE = "The Amazon is the largest river by discharge of water in the world."
FOREIGN = ("Emma is a novel by Jane Austen.", "The Eiffel Tower stands in Paris.", "")


def judged(*contents: str, store: Any = None, query: str = QUESTION_OF_REFUNDS) -> dict[str, Any]:
    """What HeuristicGrader says of texts."""
    documents = [Document(id=str(number), content=content) for number, content in enumerate(contents)]
    return HeuristicGrader(document_store=store).run(query=query, documents=documents)


def repeated(query: str, contents: Sequence[str], *, overlaps: bool = False) -> list[int]:
    """Which texts repeat which."""
    asked, readings = asking(query), shared_reader().read([("", content) for content in contents])
    return originals(readings, [examine(asked, reading).found for reading in readings], overlaps=overlaps)


@pytest.mark.parametrize("at", [1, len(REFUNDS)], ids=["behind it", "last"])
@pytest.mark.parametrize("version", VERSIONS.values(), ids=VERSIONS)
def test_a_second_version_of_the_best_page_changes_no_verdict(version: str, at: int, in_memory_store: Any) -> None:
    """It took away what made the page stand out: up to a third of the verdicts fell. With a store and without."""
    in_memory_store.write_documents([Document(content=text) for text in REFUNDS])
    for store in (None, in_memory_store):
        once = judged(*REFUNDS, store=store)
        twice = judged(*REFUNDS[:at], version, *REFUNDS[at:], store=store)
        assert once["report"]["verdict"]["verdict"] == "correct"
        assert twice["report"]["verdict"] == once["report"]["verdict"]
        assert twice["scores"][0] == once["scores"][0]


@given(order=st.lists(st.sampled_from(range(len(REFUNDS))), min_size=1, max_size=8).map(lambda n: [*range(4), *n]))
def test_however_often_a_page_is_repeated_it_counts_once(order: list[int]) -> None:
    """Each copy has the grade of what it repeats."""
    once, often = judged(*REFUNDS), judged(*(REFUNDS[number] for number in order))
    assert often["report"]["verdict"] == once["report"]["verdict"]
    assert often["scores"] == [once["scores"][number] for number in order]


def test_a_version_without_the_answer_is_graded_by_what_it_says_itself() -> None:
    """Measured in the place of what it repeats."""
    without = BEST.replace(" A refund is paid within 30 days of the return.", "")
    scores = judged(*REFUNDS, without)["scores"]
    assert repeated(QUESTION_OF_REFUNDS, [BEST, without]) == [0, 0]
    assert scores[-1] < scores[0]


def test_a_page_of_another_year_is_no_copy_where_the_year_is_asked_for() -> None:
    """They differ in the one word that matters; where it is not asked for they say the same."""
    pages = [OLD, OLD.replace("2019", "2020")]
    assert repeated("When was the fee of 2020 paid?", pages) == [1, 1]
    assert repeated("Were the fees of 2019 and 2020 the same?", pages) == [0, 1]
    assert repeated("When is the fee paid?", pages) == [0, 0]


def test_parts_that_overlap_and_short_texts_alike_are_no_copies() -> None:
    """Half of the words of another text, or a sentence with another number, are something else."""
    one, two, three = (f"The {n} line names the {n} colour of the {n} room." for n in ("first", "second", "third"))
    assert repeated("Which colour?", [f"{one} {two} Red.", f"{two} {three} Blue."]) == [0, 1]
    assert repeated("How long?", ["It takes 30 days.", "It takes 60 days.", "", ""]) == [0, 1, 2, 3]


@given(cut=st.integers(1, 59), step=st.integers(1, 59), is_later_first=st.booleans())
def test_chunks_that_overlap_by_a_quarter_count_once(cut: int, step: int, *, is_later_first: bool) -> None:
    """Whichever was retrieved first; those that share less, or nothing, are two texts."""
    words = [f"word{number}" for number in range(120)]
    chunks = [" ".join(words[cut : cut + 60]), " ".join(words[cut + step : cut + step + 60])]
    shared, length = 60 - step, min(60, 120 - cut - step)
    found = repeated("Which colour?", chunks[::-1] if is_later_first else chunks, overlaps=True)
    if shared - 2 >= length / 4:  # a word at either end may be cut, so neither counts
        assert found == [0, 0]
    if shared < length / 4:
        assert found == [0, 1]


def test_the_next_chunk_of_a_text_takes_nothing_from_a_verdict(in_memory_store: Any) -> None:
    """Neither of two chunks that say the same stood out: one verdict in ten fell."""
    sentence = "Each return is checked by two clerks who write down what is missing and what is broken."
    chunk, following = f"{BEST} {sentence}", f"{sentence} Boxes are folded and kept for the next parcel."
    in_memory_store.write_documents([Document(content=text) for text in (*REFUNDS, chunk, following)])
    once = judged(chunk, *REFUNDS[1:], store=in_memory_store)
    both = judged(chunk, following, *REFUNDS[1:], store=in_memory_store)
    assert both["report"]["verdict"] == once["report"]["verdict"]
    assert repeated(QUESTION_OF_REFUNDS, [chunk, following], overlaps=True) == [0, 0]
    rest = f"Refunds go to accounts. {sentence}"
    assert repeated("Are boxes of refunds kept?", [rest, following], overlaps=True) == [0, 1]  # each says its part


def test_what_is_fitted_on_is_the_list_as_it_was_retrieved() -> None:
    """Only the judgement counts each text once, so that calibrations do not depend on a copy here and there."""
    texts = [("", text) for text in (*REFUNDS, BEST)]
    plain = measured(QUESTION_OF_REFUNDS, *texts)
    once = measure_once(asking(QUESTION_OF_REFUNDS), shared_reader().read(texts))
    assert (list(plain.distinct), list(once.distinct)) == ([0, 1, 2, 3, 4], [0, 1, 2, 3])
    assert once.together == measured(QUESTION_OF_REFUNDS, *texts[:-1]).together
    assert (
        plain.documents[0]["covered_gap"] == 0 < once.documents[0]["covered_gap"] == once.documents[-1]["covered_gap"]
    )


@pytest.mark.parametrize("query", ["Where does the Amazon begin?", "What is the largest river in the world?"])
@given(others=st.lists(st.sampled_from([ALONE, *FOREIGN]), max_size=6), at=st.integers(0, 6))
def test_the_only_page_that_speaks_of_a_question_is_judged_as_if_it_were_alone(
    query: str, others: list[str], at: int
) -> None:
    """Beside pages on anything else it stood out as only an answer does: nearly each was called correct."""
    store, place = InMemoryDocumentStore(), min(at, len(others))
    store.write_documents([Document(content=text) for text in (ALONE, *FOREIGN)])
    alone = judged(ALONE, store=store, query=query)
    among = judged(*others[:place], ALONE, *others[place:], store=store, query=query)
    assert among["report"]["verdict"] == alone["report"]["verdict"]
    assert among["scores"][place] == alone["scores"][0]


def test_a_page_on_something_else_is_graded_among_the_others() -> None:
    """It does not become the only page of its list, and is off topic."""
    scores = judged(FOREIGN[0], ALONE, query="What is the largest river in the world?")["scores"]
    assert scores[0] < 0.1
    assert scores[1] > 0.5


def test_a_calibration_of_labelled_lists_judges_them_as_they_are() -> None:
    """It has met lists in which a single page speaks of the question, and knows what that means there."""
    reader, query = shared_reader(), "Where does the Amazon begin?"
    texts = [("", ALONE), ("", FOREIGN[0]), ("", FOREIGN[1])]
    frequencies, shipped = retrieved_frequencies(reader.read(texts)), load_calibration(None)
    fitted = replace(shipped, is_calibrated=True)
    apart, whole = (judge(query, texts, known, reader, frequencies) for known in (shipped, fitted))
    assert whole.signals == measure_once(ask(query, frequencies, reader.encoder), reader.read(texts)).documents
    assert apart.signals[0]["bm25_gap"] < whole.signals[0]["bm25_gap"]
    assert apart.signals[1:] == whole.signals[1:]


def test_hundreds_of_copies_are_not_measured_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each was, beside all others of its list: the cube of their number, nine seconds for 300."""
    lists = list[int]()

    def counted(asked: Asked, readings: Sequence[Reading]) -> Measured:
        lists.append(len(readings))
        return measure(asked, readings)

    monkeypatch.setattr(copies, "measure", counted)
    monkeypatch.setattr(copies, "measure_each", lambda *given: counted(*given).documents)
    others = [f"{name} is a town by the river." for name in ("Wien", "Bonn", "Rome", "Oslo", "Bern")]
    texts = [*others, *(f"{BEST} Seen by visitor {number}." for number in range(1_000))]
    found = measure_once(asking(QUESTION_OF_REFUNDS), shared_reader().read([("", text) for text in texts]))
    assert len(found.documents) == len(texts)
    assert len(texts) < sum(lists) < 3_000
    assert found.documents[-1]["covered"] == found.documents[len(others)]["covered"] > 0


def test_a_long_list_is_compared_as_a_short_one_is() -> None:
    """Most texts are told apart by a few of their words; a copy that lacks a tenth of them is still found in it."""
    words = [f"word{number}" for number in range(100)]
    others = [" ".join(f"{word}of{number}" for word in words) for number in range(60)]
    less, least = " ".join([*words[:80], *words[90:]]), " ".join([*words[:80], *words[91:], "new1", "new2"])
    found = repeated("Which words are these?", [" ".join(words), *others, less, least])
    assert found[61] == 0
    assert found[:61] == list(range(61))
    assert found[62] == 0
    assert repeated("Which words are these?", [less, " ".join([*words[:50], *others[0].split()[:50]])]) == [0, 1]
