"""The signals of retrieved documents, and the scores made of them."""

import math
import re
from typing import Any

import numpy as np
import pytest
from haystack import Document

from haystack_integrations.crag.encoding.encoders import load_encoder
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.judging.signals import DOCUMENT_SIGNALS, coherence, kept_similarity, measure
from haystack_integrations.crag.judging.signals import similarities as compare
from haystack_integrations.crag.judging.weighting import (
    PRESETS,
    check_weights,
    document_score,
    reason,
    set_score,
    weighted,
)

QUESTION = "How high is the iron tower of Paris?"
TOWER = "The iron tower of Paris is 330 metres high."


def signals_of(*documents: Document, query: str = QUESTION, min_tokens: int = 100) -> tuple[list[Any], dict[str, Any]]:
    """The signals of some documents and of the set."""
    return measure(query, documents, load_encoder(), title_field="title", min_tokens=min_tokens)


def with_cosine(content: str, **cosines: float) -> Document:
    """A document found by retrievers that kept a cosine."""
    retrievers = {name: {"score": 1.0, "rank": 1, "similarity": value} for name, value in cosines.items()}
    return Document(content=content, meta={"crag": {"retrievers": {"bm25": {"score": 7.0, "rank": 1}, **retrievers}}})


def test_every_signal_is_there_and_in_range_or_not_measured() -> None:
    """Of full, empty, foreign and short documents alike."""
    contents = [TOWER, "", None, "\U0001f916", "\u6771\u4eac\u30bf\u30ef\u30fc", "tower " * 500]
    each, of_set = signals_of(*(Document(content=content, meta={"n": n}) for n, content in enumerate(contents)))
    for signals in each:
        assert set(signals) == set(DOCUMENT_SIGNALS)
        assert all(value is None or 0 <= value <= 1 for value in signals.values())
    numbers = [value for value in of_set.values() if isinstance(value, float)]
    assert all(0 <= value <= 1 for value in numbers)


def test_the_document_that_words_the_question_leads_in_every_lexical_signal() -> None:
    """Against one on the topic and one on nothing like it."""
    contents = ("Rain is likely.", "A tower stands in Paris since the fair. Tickets are sold online.", TOWER)
    each, _ = signals_of(*(Document(content=content) for content in contents))
    for name in ("keyword", "phrase", "sentence", "semantic"):
        other, topic, answer = (signals[name] or 0.0 for signals in each)
        assert answer > topic >= other


@pytest.mark.parametrize(
    ("title", "subject"), [("Tower of Paris", 1.0), ("Rome", 0.0), ("", None), (None, None), ("The of", None)]
)
def test_the_subject_is_a_title_that_the_question_names(title: str | None, subject: float | None) -> None:
    """All of it; no title, or one of no content word, is none that it could name."""
    (each,), _ = signals_of(Document(content=TOWER, meta={"title": title}))
    assert each["subject"] == subject


def test_word_statistics_and_similarities_say_where_they_come_from() -> None:
    """Statistics of five retrieved documents are no statistics of the corpus."""
    _, of_set = signals_of(Document(content=TOWER))
    assert (of_set["statistics"], of_set["similarity"]) == ("retrieved", "static")


def test_a_retrievers_cosine_is_taken_where_all_documents_have_one() -> None:
    """The best of several, within [0, 1]."""
    each, of_set = signals_of(with_cosine(TOWER, dense=0.4, other=0.9), with_cosine("Rain.", dense=-0.3))
    assert [signals["semantic"] for signals in each] == [0.9, 0.0]
    assert of_set["similarity"] == "retriever"


@pytest.mark.parametrize("before", [0, 200, 400])
def test_a_long_document_is_compared_by_the_place_that_covers_most_of_the_question(before: int) -> None:
    """Wherever it stands: its beginning, or all of it, would tell of something else."""
    rain = "Rain is likely. "
    each, _ = signals_of(
        Document(content=f"{rain * before}{TOWER} {rain * (400 - before)}"), Document(content=rain * 400)
    )
    assert each[0]["semantic"] > each[1]["semantic"] + 0.05


def test_cosines_of_two_models_are_never_mixed() -> None:
    """One document without a kept cosine, and all are compared by the static model."""
    each, of_set = signals_of(with_cosine(TOWER, dense=0.99), Document(content="Rain."))
    assert each[0]["semantic"] != 0.99
    assert of_set["similarity"] == "static"


@pytest.mark.parametrize("meta", [{}, {"crag": 1}, {"crag": {"retrievers": []}}, {"crag": {"retrievers": {"a": 3}}}])
def test_metadata_of_another_shape_holds_no_cosine(meta: dict[str, Any]) -> None:
    """Nor does it break anything."""
    assert kept_similarity(Document(content="x", meta=meta)) is None


@pytest.mark.parametrize("value", [None, "0.9", float("nan")])
def test_a_rerank_score_that_is_no_number_is_not_measured(value: object) -> None:
    """Only a number counts."""
    each, of_set = signals_of(Document(content=TOWER, meta={"crag": {"rerank": value}}))
    assert each[0]["rerank"] is None
    assert of_set["rerank"] is None


def test_a_rerank_score_in_a_number_of_numpys_is_one() -> None:
    """Cross-encoders give floats of 32 bits."""
    each, _ = signals_of(Document(content=TOWER, meta={"crag": {"rerank": np.float32(0.5)}}))
    assert each[0]["rerank"] == 0.5


def test_the_sets_rerank_score_is_the_mean_of_the_first_three() -> None:
    """As the published formula has it."""
    values = (0.9, 0.6, 0.3, 0.0)
    _, of_set = signals_of(*(Document(content=TOWER, meta={"crag": {"rerank": v}, "v": v}) for v in values))
    assert of_set["rerank"] == pytest.approx(0.6)


@pytest.mark.parametrize("source", ["source", "url", "file_path"])
def test_diversity_is_shared_among_the_documents_of_one_source(source: str) -> None:
    """A document without a source is a source of its own."""
    documents = [
        Document(content="a", meta={source: "guide.pdf"}),
        Document(content="b", meta={source: "guide.pdf"}),
        Document(content="c", meta={"file_path": "other.pdf"}),
        Document(content="d"),
    ]
    each, of_set = signals_of(*documents)
    assert [signals["diversity"] for signals in each] == [0.5, 0.5, 1.0, 1.0]
    assert of_set["diversity"] == 0.75


def test_length_is_enough_or_a_share_of_it() -> None:
    """1.3 tokens for a word; of the set, all tokens against all that are wanted."""
    documents = [Document(content="word " * 100), Document(content="word " * 10)]
    each, of_set = signals_of(*documents, min_tokens=100)
    assert [signals["length"] for signals in each] == [1.0, 0.13]
    assert of_set["length"] == pytest.approx(143 / 200)


def test_agreement_needs_another_document() -> None:
    """Alone, a document agrees with nobody and contradicts nobody."""
    alone, of_set = signals_of(Document(content=TOWER))
    assert alone[0]["agreement"] is None
    assert of_set["agreement"] is None
    both, _ = signals_of(
        Document(content=TOWER), Document(content="The tower of iron in Paris."), Document(content="Rain.")
    )
    assert both[0]["agreement"] > both[2]["agreement"]
    once, twice = (compare(load_encoder(), QUESTION, [TOWER, *["High rain."] * n])[1] for n in (1, 2))
    assert 0 < once[0] == pytest.approx(twice[0])  # a mean, however many there are


def test_coherence_is_a_high_mean_with_little_spread() -> None:
    """mean x (1 - min(variance, 0.3)), and 0 without values."""
    assert coherence([0.8, 0.8]) == pytest.approx(0.8)
    assert coherence([1.0, 0.0]) == pytest.approx(0.5 * (1 - 0.25))
    assert coherence([]) == 0.0


def test_the_question_found_in_parts_is_found_by_the_set() -> None:
    """The set's keyword coverage is that of all documents together."""
    _, of_set = signals_of(Document(content="High iron."), Document(content="Tower, Paris."))
    assert of_set["keyword"] == 1.0


def test_a_text_without_a_known_token_is_similar_to_nothing() -> None:
    """A zero vector has no direction, and gives no nan."""
    to_question, to_others = compare(load_encoder(), QUESTION, ["\U0001f916", TOWER])
    assert to_question[0] == 0.0
    assert to_others[0] == 0.0


def test_surface_form_does_not_move_a_score() -> None:
    """Corpora that were tokenised once (spaces before punctuation, `` for quotes) score as those that were not."""
    text = "The iron tower of Paris (built in 1889) isn't low: it's 330 metres high, guides say, \"with antennas\"."
    spaced = re.sub(r"([.,:()])", r" \1 ", text).replace("n't", " n't").replace("it's", "it 's").replace(' "', " `` ")
    (plain,), _ = signals_of(Document(content=text))
    (tokenised,), _ = signals_of(Document(content=spaced))
    for name in ("keyword", "phrase", "sentence"):
        assert tokenised[name] == plain[name]
    assert document_score("evidence", tokenised) == pytest.approx(document_score("evidence", plain), abs=0.02)


def test_a_signal_that_was_not_measured_leaves_its_weight_to_the_others() -> None:
    """A missing reranker is no bad reranker."""
    weights = {"rerank": 0.4, "keyword": 0.3, "agreement": 0.3}
    assert weighted({"rerank": None, "keyword": 0.8, "agreement": 0.4}, weights) == pytest.approx(0.6)
    assert weighted({"rerank": None}, {"rerank": 1.0}) == 0.0


@pytest.mark.parametrize(("preset", "total"), [("evidence", 1.0), ("coherence", 1.0), ("rerank", 1.0)])
def test_the_weights_of_a_preset_sum_to_one(preset: str, total: float) -> None:
    """And name signals that exist."""
    assert sum(PRESETS[preset].values()) == pytest.approx(total)
    check_weights(preset)
    check_weights(PRESETS[preset])


def test_the_published_weightings_are_exact() -> None:
    """0.30/0.40/0.15/0.15 and 0.4/0.3/0.3, of a document and of a set."""
    signals = {"keyword": 0.5, "semantic": 0.6, "length": 1.0, "diversity": 0.2, "rerank": 0.9, "agreement": 0.7}
    assert document_score("coherence", signals) == pytest.approx(0.3 * 0.5 + 0.4 * 0.6 + 0.15 * 1.0 + 0.15 * 0.2)
    assert document_score("rerank", signals) == pytest.approx(0.4 * 0.9 + 0.3 * 0.5 + 0.3 * 0.7)
    of_set = {"keyword": 0.5, "coherence": 0.55, "length": 1.0, "diversity": 0.2, "rerank": 0.9, "agreement": 0.7}
    assert set_score("coherence", of_set, [0.1]) == pytest.approx(0.3 * 0.5 + 0.4 * 0.55 + 0.15 * 1.0 + 0.15 * 0.2)
    assert set_score("rerank", of_set, [0.1]) == pytest.approx(0.4 * 0.9 + 0.3 * 0.5 + 0.3 * 0.7)
    assert set_score("evidence", of_set, [0.1, 0.8]) == 0.8
    assert set_score({"keyword": 1.0}, of_set, [0.1, 0.2]) == 0.2


def test_a_title_that_the_question_names_is_on_topic_at_least() -> None:
    """In whatever words the text goes on; more evidence still counts for more."""
    weak = {"keyword": 0.2, "phrase": 0.0, "semantic": 0.3, "subject": 1.0}
    assert document_score("evidence", weak) == pytest.approx(0.5)
    assert document_score("evidence", {**weak, "subject": 0.0}) < 0.3
    assert document_score("evidence", {**weak, "phrase": 0.8}) > 0.7
    assert "title named" in reason("evidence", weak)


def test_a_reason_names_what_was_measured() -> None:
    """In the order of the weights."""
    assert reason("rerank", {"rerank": None, "keyword": 0.5, "agreement": 0.25}) == "keyword 0.50, agreement 0.25"


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (
            "best",
            r"must be one of \['evidence', 'coherence', 'rerank'\], or a weight by signal, but got 'best'",
        ),
        ({"keywords": 1.0}, r"unknown signals \['keywords'\]; choose from \['keyword', "),
        ({"keyword": -1.0}, "weights must be finite numbers >= 0, at least one of them above 0"),
        ({"keyword": 1.0, "semantic": -0.5}, "weights must be finite numbers >= 0"),
        ({"keyword": math.inf}, "weights must be finite numbers >= 0"),
        ({"keyword": True}, "weights must be finite numbers >= 0"),
        ({"keyword": 0}, "at least one of them above 0"),
        ({}, "at least one of them above 0"),
    ],
)
def test_weights_that_mean_nothing_are_refused(weights: Any, message: str) -> None:
    """With what was got, what was wanted and the valid names."""
    with pytest.raises(ConfigurationError, match=message):
        check_weights(weights)
