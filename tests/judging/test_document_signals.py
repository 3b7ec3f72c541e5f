"""One document's signals, worked out by hand for small texts."""

import gc
import weakref
from math import log, log1p

import pytest
from judging_texts import asking, known, measured

from haystack_integrations.crag.encoding.encoders import load_encoder
from haystack_integrations.crag.judging.asking import KINDS
from haystack_integrations.crag.judging.evidence import Features, examine
from haystack_integrations.crag.judging.reading import MOST_READINGS, Reader, Reading

QUESTION = "Which river flows through Vienna?"
RIVER, FLOW, VIENNA = log(1 + 500.5 / 500.5), log(1 + 800.5 / 200.5), log(1 + 990.5 / 10.5)
TOTAL = RIVER + FLOW + VIENNA
CORPUS = known(1_000, river=500, flow=200, vienna=10)


def signals(content: str, title: str = "", query: str = QUESTION) -> Features:
    """Of a single document."""
    return measured(query, (title, content), frequencies=CORPUS).documents[0]


def test_rare_words_count_more_than_frequent_ones() -> None:
    """Coverage is a share of the question's weight, by the text, and by title or text."""
    found = signals("The rivers of Austria flow east.", "Vienna basin")
    assert found["covered"] == pytest.approx(1.0)
    assert found["covered_text"] == pytest.approx((RIVER + FLOW) / TOTAL)
    assert found["title_covered"] == pytest.approx(VIENNA / TOTAL)
    missing = signals("The rivers of Austria flow east.")
    assert missing["covered"] == pytest.approx((RIVER + FLOW) / TOTAL)
    assert missing["covered_share"] == pytest.approx(2 / 3)
    assert missing["missing_terms"] == 1.0
    assert missing["missing_most"] == missing["missing_sum"] == pytest.approx(VIENNA / log(1 + 1000.5 / 0.5))


def test_bm25_saturates_and_counts_the_title_once() -> None:
    """As BM25 does, on a scale of 0 to 1."""
    once, often = signals("Vienna is old."), signals("Vienna, Vienna, Vienna is old.")
    assert 0 < once["bm25"] < often["bm25"] < VIENNA / TOTAL
    usual = 1.2 * (0.25 + 0.75 * 2 / 100)
    assert once["bm25"] == pytest.approx(VIENNA / TOTAL / (1 + usual))
    titled = signals("Vienna is old.", "Vienna")
    assert titled["bm25"] == pytest.approx(VIENNA / TOTAL * 2 / (2 + usual))


def test_damped_bm25_is_a_sum_and_says_the_same_in_every_corpus() -> None:
    """Its terms weigh by how few of these documents have them: here one has Vienna, and none has the other two."""
    found = signals("Vienna is old.")
    usual = 1.2 * (0.25 + 0.75 * 2 / 100)
    assert found["bm25_damped"] == pytest.approx(log(2 + 1 / 2) * 2.2 / (1 + usual) / 8)
    elsewhere = measured(QUESTION, ("", "Vienna is old."), frequencies=known(10, river=9, flow=1, vienna=10))
    assert elsewhere.documents[0]["bm25_damped"] == found["bm25_damped"]
    assert elsewhere.documents[0]["bm25_sum"] != found["bm25_sum"]


def test_a_title_is_named_when_the_question_has_all_of_it() -> None:
    """A final bracket is no part of the name."""
    named = signals("It is large.", "Vienna (Austria)")
    assert (named["title_named"], named["title_named_exactly"]) == (1.0, 1.0)
    assert named["title_named_weight"] == pytest.approx(VIENNA / TOTAL)
    assert (named["title_share"], named["title_extra"], named["title_none"]) == (0.5, 1.0, 0.0)
    apart = signals("It is large.", "Vienna River")
    assert (apart["title_named"], apart["title_named_exactly"]) == (1.0, 0.0)
    assert signals("It is large.", "Vienna Woods")["title_named"] == 0.0
    assert signals("It is large.")["title_none"] == 1.0


def test_the_rest_of_the_question_is_what_its_title_does_not_say() -> None:
    """It has to be in the text."""
    found = signals("Many rivers are there.", "Vienna")
    assert found["rest_terms"] == 2.0
    assert found["rest_covered"] == pytest.approx(RIVER / (RIVER + FLOW))
    assert signals("Nothing.", "The river that flows through Vienna")["rest_covered"] == 1.0


def test_the_best_sentence_has_most_of_the_question() -> None:
    """Alone, under its title, beyond it, with its neighbour, and where it is."""
    found = signals("It is a river. It flows by a town. Rain is likely. It flows to Vienna.", "River Danube")
    assert found["sentence_first"] == pytest.approx(RIVER / TOTAL)
    assert found["sentence"] == pytest.approx((FLOW + VIENNA) / TOTAL)
    assert found["sentence_under_title"] == pytest.approx(1.0)
    assert found["sentence_rest"] == pytest.approx(1.0)
    assert found["sentences_two"] == pytest.approx((FLOW + VIENNA) / TOTAL)
    assert found["sentence_place"] == pytest.approx(3 / 4)
    assert found["sentences"] == pytest.approx(log1p(4) / 4)


def test_pairs_are_neighbours_in_any_order_or_with_one_word_between() -> None:
    """Stop words do not stand between; a pair in the title counts."""
    all_pairs = (RIVER + FLOW) + (FLOW + VIENNA)
    assert signals("The river flows slowly to Vienna.")["pairs"] == pytest.approx(1.0)
    assert signals("A flowing river.")["pairs"] == pytest.approx((RIVER + FLOW) / all_pairs)
    assert signals("It flows slowly and quietly to Vienna.")["pairs"] == 0.0
    assert signals("It is old.", "River flow")["pairs"] == pytest.approx((RIVER + FLOW) / all_pairs)
    one_more = 2 * TOTAL / 3
    assert signals("A flowing river.")["pairs_doubted"] == pytest.approx((RIVER + FLOW) / (all_pairs + one_more))


def test_the_longest_run_is_counted_in_the_questions_order() -> None:
    """As a share of its terms."""
    assert signals("The river flows through Vienna.")["run"] == 1.0
    assert signals("Vienna flows through the river.")["run"] == pytest.approx(1 / 3)
    assert signals("A river flows by old Vienna.")["run"] == pytest.approx(2 / 3)


def test_a_window_needs_the_words_close_together() -> None:
    """Within 10 terms, within 20."""
    far = "The river " + "gold " * 12 + "flows."
    assert signals(far)["window_10"] == pytest.approx(max(RIVER, FLOW) / TOTAL)
    assert signals(far)["window_20"] == pytest.approx((RIVER + FLOW) / TOTAL)


def test_names_and_other_words_are_covered_apart() -> None:
    """And missing numbers are counted."""
    named = signals("Vienna is old.", "Vienna")
    assert (named["names"], named["names_covered"], named["names_all"], named["names_in_title"]) == (1.0, 1.0, 1.0, 1.0)
    assert named["others_covered"] == 0.0
    unnamed = signals("Any river flows.")
    assert (unnamed["names_covered"], unnamed["names_all"], unnamed["others_covered"]) == (0.0, 0.0, 1.0)
    years = signals("It was in 1889.", query="towers of 1889 and 1890")
    assert years["numbers_missing"] == 1.0


@pytest.mark.parametrize(
    ("query", "content", "cue"),
    [
        ("When was the tower opened?", "The tower was opened in 1889.", 1.0),
        ("When was the tower opened?", "The tower was opened by 300 men.", 0.0),
        ("When was the tower opened?", "The tower was opened. " + "Old gold is heavy. " * 15 + "In 1889.", 0.0),
        ("How many men opened the tower?", "The tower was opened by 300 men.", 1.0),
        ("Who opened the tower?", "The tower was opened by Ada Penn and by Max Roe.", 0.4),
        ("Where is the tower?", "The tower is in the north.", 0.0),
        ("Why was the tower opened?", "The tower was opened in 1889.", 0.5),
    ],
)
def test_an_answer_of_the_kind_asked_for_stands_near_the_words(query: str, content: str, cue: float) -> None:
    """A year, a number, names; other kinds of question have no such sign."""
    assert signals(content, query=query)["cue"] == pytest.approx(cue)


def test_exactly_one_kind_is_told() -> None:
    """For every document the same."""
    found = signals("Rain.")
    assert [kind for kind in KINDS if found[f"asks_{kind}"]] == ["which"]


def test_meaning_counts_without_common_words() -> None:
    """A sentence about the same is more alike than one about something else."""
    near, far = signals("The stream runs by the Austrian capital."), signals("The judge read out the sentence.")
    for name in ("like_document", "like_most", "like_mean"):
        assert near[name] > far[name] + 0.1
    assert near["covered"] == far["covered"] == 0.0


def test_a_document_is_measured_once_for_all_lists_of_a_question() -> None:
    """What depends on its neighbours is not: every signal is as if the list were the first."""
    texts = [
        ("Emma", "Emma is a novel by Jane Austen."),
        ("", "A novel of 1815."),
        ("Austen", "Jane Austen wrote Emma."),
    ]
    alone = measured("Who wrote the novel Emma?", *texts)
    examine.cache_clear()
    measured("Who wrote the novel Emma?", *texts[:2])
    assert measured("Who wrote the novel Emma?", *texts) == alone
    assert (examine.cache_info().misses, examine.cache_info().hits) == (3, 2)


def test_the_same_question_in_another_corpus_is_another_one() -> None:
    """Its words weigh something else there."""
    assert asking("Who wrote Emma?") is asking("Who wrote Emma?")
    assert asking("Who wrote Emma?", known(emma=500)).weights != asking("Who wrote Emma?", known(emma=2)).weights


def test_a_row_of_a_table_is_read_under_its_head() -> None:
    """The head has one half of the question, a row the other: by words and by meaning, they are one sentence."""
    query = "Which river has Vienna?"
    table = "| City | River |\n|---|---|\n| Ulm | Iller |\n| Vienna | Wien |"
    row, apart = signals(table, query=query), signals(table.replace("|---|---|\n", ""), query=query)
    assert row["sentence"] == pytest.approx(1.0)
    assert apart["sentence"] < row["sentence"]
    assert apart["like_most"] < row["like_most"]


def test_a_sentence_is_read_under_its_headings() -> None:
    """The heading has one half of the question, what stands below it the other; not what stands below another one."""
    query = "Which warranty has the Aero pump?"
    below = signals("# Aero pump\n\n## Notes\n\nThe warranty is two years.", query=query)
    apart = signals("# Aero pump\n\nBlue.\n\n# Notes\n\nThe warranty is two years.", query=query)
    assert below["sentence"] == pytest.approx(1.0)
    assert apart["sentence"] < below["sentence"]


def test_documents_are_kept_by_their_size_not_by_their_number() -> None:
    """Whoever measures one keeps all that was read of it: 512 records of a megabyte were gigabytes for good."""
    asked, encoder = asking("Who wrote the novel Emma?"), load_encoder()
    alive = list[weakref.ref[Reading]]()
    for number in range(40):
        text = f"Emma {number} is a novel by Jane Austen. " * 2_000
        (reading,) = Reader(encoder, most=1).read([("", text)])
        assert examine(asked, reading).found
        alive.append(weakref.ref(reading))
    del reading
    gc.collect()
    kept = [one() for one in alive]
    assert sum(one.size for one in kept if one is not None) <= MOST_READINGS
    assert kept[-1] is not None
    assert kept[0] is None


@pytest.mark.parametrize(("title", "text"), [("", "x" * 1_000_000), ("x" * 1_000_000, "Emma.")])
def test_a_text_of_one_long_word_counts_for_several(title: str, text: str) -> None:
    """It has one sentence and one term, and is kept whole, as what it is known by."""
    (reading,) = Reader(load_encoder()).read([(title, text)])
    assert reading.size > 100
