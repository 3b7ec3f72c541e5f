"""StripRefiner: what is kept is a piece of its document, in order, within the budget, and never nothing."""

import asyncio
import json
import threading
from dataclasses import replace
from typing import Any

import pytest
from haystack import Document, Pipeline
from haystack.dataclasses import SparseEmbedding
from hypothesis import given
from hypothesis import strategies as st
from makers import scripted, texts
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from haystack_integrations.crag.components.strip_refiner import StripRefiner
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.refining import refinement as strip_refinement
from haystack_integrations.crag.refining.model import load_strip_model
from haystack_integrations.crag.refining.strips import decompose, lexical_scores
from haystack_integrations.crag.texts.text import count_tokens

QUESTION = "When did the iron tower open?"
PAGE = "Paris has many sights. The iron tower did open in 1889.  It is high. Bread is baked daily. The tower is iron."
OTHER = "Bees collect nectar. They make honey."


class ScriptedRanker:
    """Scores what it is given by a list, returns as many as that has, and the first of them twice, and one unknown."""

    def __init__(self, scores: list[float | None]) -> None:
        self.scores = scores

    def run(self, query: str, documents: list[Document]) -> dict[str, list[Document]]:
        """Score."""
        scored = [replace(d, score=score) for d, score in zip(documents, self.scores, strict=False)]
        return {"documents": [*scored, *scored[:1], Document(content="invented", score=99.0)]}


PIECES = ["The iron tower opened.", "Iron.", "Bread is baked.", "\n\n", "- a tower", "\u5854\u3002", " "]
PIECES += ["\n# Iron\n", "\nThe tower has:\n", "\n- iron:\n", "\n  - tower\n", "\n| iron | tower |\n", "\n|---|---|\n"]
NUMBERS = st.lists(st.integers(-2, 40), max_size=12)
OFFLINE: list[dict[str, Any]] = [
    {"scorer": "lexical"},
    {"scorer": "embedding"},
    {"scorer": "calibrated"},
    {"scorer": "calibrated", "evidence_share": 0.9},
]
SCORERS = st.sampled_from(OFFLINE) | st.one_of(
    NUMBERS.map(lambda keep: {"scorer": "llm", "chat_generator": scripted(json.dumps({"keep": keep}))}),
    st.text(max_size=20).map(lambda text: {"scorer": "llm", "chat_generator": scripted(text)}),
    st.lists(st.sampled_from([None, -3.0, 0.2, 0.7, 9.0, float("nan")]), max_size=40).map(
        lambda scores: {"scorer": "ranker", "ranker": ScriptedRanker(scores)}
    ),
)
CONTENTS = st.lists(st.lists(st.sampled_from(PIECES), max_size=8).map(" ".join), min_size=1, max_size=4)


def refine(*contents: str | None, query: str = QUESTION, **settings: Any) -> dict[str, Any]:
    """Refine texts by a fresh refiner."""
    documents = [Document(id=str(number), content=content) for number, content in enumerate(contents)]
    return StripRefiner(**settings).run(query=query, documents=documents)


def test_the_sentence_that_words_the_question_is_kept() -> None:
    """And its offsets lead back to it."""
    document = refine(PAGE)["documents"][0]
    assert document.content == "The iron tower did open in 1889."
    note = document.meta["crag"]
    assert (note["strips_in"], note["strips_kept"]) == (5, 1)
    strip = note["strips"][0]
    assert PAGE[strip["start"] : strip["end"]] == document.content
    assert 0.5 < strip["score"] <= 1


def test_a_document_without_a_kept_strip_is_dropped_and_says_so() -> None:
    """Whole, on a socket of its own."""
    result = refine(PAGE, OTHER)
    assert [document.id for document in result["documents"]] == ["0"]
    (dropped,) = result["dropped"]
    assert dropped.content == OTHER
    assert dropped.meta["crag"] == {"strips": [], "strips_in": 2, "strips_kept": 0}


def test_where_no_strip_passes_the_best_one_is_kept_and_marked() -> None:
    """The result is never empty for documents with text."""
    result = refine(OTHER, "It rains on towers.", query="quantum iron tower physics exam")
    assert texts(result) == ["It rains on towers."]
    assert result["documents"][0].meta["crag"]["strips_fallback"] is True
    assert [document.id for document in result["dropped"]] == ["0"]
    assert "strips_fallback" not in refine(PAGE)["documents"][0].meta["crag"]


def test_the_fallback_keeps_to_the_budget_too() -> None:
    """It is cut at a word boundary, and stays a piece of the document with exact offsets."""
    long = "tower " * 200 + "end."
    document = refine(long, max_tokens=20)["documents"][0]
    (strip,) = document.meta["crag"]["strips"]
    assert document.content == long[strip["start"] : strip["end"]]
    assert 10 < count_tokens(document.content) <= 20
    assert document.content.endswith("tower")


def test_documents_without_text_come_back_unchanged() -> None:
    """There is nothing to refine, and nothing to lose."""
    assert texts(refine(None, "  ")) == [None, "  "]
    nothing = refine()
    assert (nothing["documents"], nothing["dropped"], nothing["report"]["strips_in"]) == ([], [], 0)


def test_strips_keep_reading_order_and_the_space_between_neighbours() -> None:
    """Neighbours are joined as they were, others by a line break."""
    text = "Paris. The iron tower did open in 1889.  The tower is iron. Bread. Iron is dark."
    result = refine(text, threshold=None, top_n=3)
    assert texts(result) == ["The iron tower did open in 1889.  The tower is iron.\nIron is dark."]
    assert texts(refine(PAGE, threshold=None)) == [PAGE]


def test_documents_keep_their_order_and_the_rest_of_themselves() -> None:
    """Ids, scores and metadata stay; the vectors of the whole text, also sparse ones, would be none of the rest."""
    sparse = SparseEmbedding(indices=[1], values=[1.0])
    documents = [
        Document(id="b", content="The iron tower did open.", score=0.2, meta={"page": 1, "crag": {"score": 0.9}}),
        Document(
            id="a",
            content="When did the iron tower open? In 1889.",
            score=0.9,
            embedding=[1.0],
            sparse_embedding=sparse,
        ),
    ]
    result = StripRefiner(threshold=None).run(query=QUESTION, documents=documents)["documents"]
    assert [(document.id, document.score) for document in result] == [("b", 0.2), ("a", 0.9)]
    assert result[0].meta["page"] == 1
    assert result[0].meta["crag"]["score"] == 0.9
    assert (result[1].embedding, result[1].sparse_embedding) == (None, None)
    assert documents[1].embedding == [1.0]
    assert "strips" not in documents[0].meta["crag"]


def test_top_n_counts_over_all_documents() -> None:
    """Alone, or together with the threshold."""
    both = (PAGE, "The iron tower will open again. Iron tower tickets are open.")
    assert sum(d.meta["crag"]["strips_kept"] for d in refine(*both, threshold=None, top_n=2)["documents"]) == 2
    assert sum(d.meta["crag"]["strips_kept"] for d in refine(*both, top_n=1)["documents"]) == 1
    assert sum(d.meta["crag"]["strips_kept"] for d in refine(PAGE, top_n=5)["documents"]) == 1


def test_the_budget_keeps_the_best_and_lets_a_shorter_one_in() -> None:
    """Not the first ones; and a strip too long for the rest does not end the filling."""
    text = f"Weather. The iron tower did open in 1889. An iron tower did open {'and more ' * 30} there. Tower."
    result = refine(text, threshold=None, max_tokens=14)
    assert texts(result) == ["Weather. The iron tower did open in 1889.\nTower."]


def test_windows_hold_several_sentences_and_passages_all() -> None:
    """The three modes of the paper."""
    text = "One here. Two there. The iron tower did open. Four. Five."
    assert texts(refine(text, granularity="window", window=2)) == ["The iron tower did open. Four."]
    assert texts(refine(text, granularity="passage")) == [text]
    assert refine(text, OTHER, granularity="passage")["dropped"][0].content == OTHER


def test_a_title_need_not_be_repeated() -> None:
    """A sentence of the page on the tower counts for the tower."""
    page = Document(content="Bread is baked. It did open in 1889.", meta={"title": "Iron tower"})
    assert texts(StripRefiner().run(query=QUESTION, documents=[page])) == ["It did open in 1889."]
    scores = {}
    for field in ("title", None):
        document = StripRefiner(threshold=None, title_field=field).run(query=QUESTION, documents=[page])["documents"][0]
        scores[field] = [strip["score"] for strip in document.meta["crag"]["strips"]]
    assert scores["title"][0] > scores[None][0]


def test_an_earlier_document_wins_between_equal_strips() -> None:
    """The retriever's order is evidence, too."""
    result = refine("The tower did open.", "The tower did open.", threshold=None, top_n=1)
    assert [document.id for document in result["documents"]] == ["0"]


def test_a_question_without_words_speaks_against_no_strip() -> None:
    """All score 1; only the budget limits."""
    assert texts(refine(PAGE, OTHER, query="?")) == [PAGE, OTHER]


def test_sentences_of_chinese_and_japanese_are_strips_and_stay_together() -> None:
    """No space is put between neighbours that had none."""
    text = "\u5854\u5f88\u9ad8\u3002\u5854\u57281889\u5e74\u5f00\u653e\u3002\u9762\u5305\u3002"
    assert texts(refine(text, query="\u5854 1889", threshold=None)) == [text]
    assert refine(text, query="\u5854 1889")["documents"][0].meta["crag"]["strips_in"] == 3


@pytest.mark.parametrize("scorer", ["lexical", "embedding", "calibrated"])
def test_a_german_date_or_paragraph_is_not_parted_from_its_sentence(scorer: str) -> None:
    """What is kept would name another day, or no paragraph."""
    day = "Am 3. Oktober 1990 trat die DDR bei."
    law = "Nach § 3 Abs. 2 Nr. 1 gilt die Frist."
    (found,) = refine(f"Brot ist gut. {day} {law}", query="Wann trat die DDR bei?", scorer=scorer, top_n=1)["documents"]
    assert found.content == day
    (found,) = refine(f"Brot ist gut. {day} {law}", query="Wo steht die Frist?", scorer=scorer, top_n=1)["documents"]
    assert found.content == law


LEASE = "Die Miete beträgt 740 Euro. Der Mieter kann mit einer Frist von drei Monaten kündigen. Hunde sind erlaubt."


@pytest.mark.parametrize("scorer", ["lexical", "embedding", "calibrated"])
@pytest.mark.parametrize(
    ("question", "text", "kept"),
    [
        ("Wie lange ist die Kündigungsfrist?", LEASE, "Der Mieter kann mit einer Frist von drei Monaten kündigen."),
        ("Darf ich in der Wohnung einen Hund halten?", LEASE, "Hunde sind erlaubt."),
        (
            "¿Quién eligió a los vocales?",
            "La sede está en Vigo. El vocal lo elige la junta.",
            "El vocal lo elige la junta.",
        ),
    ],
)
def test_a_sentence_in_other_forms_of_the_words_is_kept_as_it_is_written(
    scorer: Any, question: str, text: str, kept: str
) -> None:
    """In a language with many forms hardly a sentence has the word that was asked for."""
    refined = refine(text, query=question, scorer=scorer, threshold=None, top_n=1)
    assert texts(refined) == [kept]


def test_the_calibrated_scorer_gives_probabilities_and_has_a_line_of_its_own() -> None:
    """A probability above 0.5 is rare: F1 is best at the line that the file names."""
    result = refine(PAGE, OTHER, scorer="calibrated", threshold=None)
    scores = [strip["score"] for document in result["documents"] for strip in document.meta["crag"]["strips"]]
    line = load_strip_model().threshold
    kept_by_line = refine(PAGE, OTHER, scorer="calibrated")["report"]
    assert kept_by_line["strips_kept"] == max(1, sum(score > line for score in scores))
    assert kept_by_line["scorer"] == "calibrated"
    assert texts(refine(PAGE, OTHER, scorer="calibrated", top_n=1)) == ["The iron tower did open in 1889."]


def test_a_share_of_the_evidence_is_kept_in_place_of_a_threshold() -> None:
    """More share, more words; all of it is everything."""
    sizes = [
        refine(PAGE, OTHER, scorer="calibrated", evidence_share=share)["report"]["strips_kept"]
        for share in (0.3, 0.7, 0.95, 1.0)
    ]
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[-1] == 7


def test_a_share_of_the_evidence_is_judged_in_company_and_a_threshold_strip_by_strip() -> None:
    """Each was best so on questions held out."""
    strips, model = decompose([PAGE, OTHER], "sentence", 3), load_strip_model()
    for settings, alone in (({"evidence_share": 1.0}, False), ({"threshold": None}, True)):
        documents = refine(PAGE, OTHER, scorer="calibrated", **settings)["documents"]
        found = [strip["score"] for document in documents for strip in document.meta["crag"]["strips"]]
        assert found == pytest.approx(model.probabilities(QUESTION, strips, ["", ""], alone=alone), abs=1e-3)


@pytest.mark.parametrize(
    ("settings", "warned"),
    [
        ({"chat_generator": scripted("[]")}, "chat_generator has no effect with scorer='lexical'; choose scorer='llm'"),
        ({"calibration": "mine.json"}, "calibration has no effect with scorer='lexical'; choose scorer='calibrated'"),
        ({"model": "mine"}, "model has no effect with scorer='lexical'; choose scorer='embedding'"),
        (
            {"scorer": "calibrated", "chat_generator": scripted("[]")},
            "chat_generator has no effect with scorer='calibrated'; choose scorer='llm'",
        ),
        (
            {"scorer": "calibrated", "evidence_share": 0.9, "threshold": 0.8},
            "threshold has no effect with evidence_share=0.9; set that to null",
        ),
        (
            {"scorer": "llm", "chat_generator": scripted("[]"), "threshold": 0.8},
            "threshold has no effect with scorer='llm'",
        ),
        ({"window": 5}, "window has no effect with granularity='sentence'; choose granularity='window'"),
        ({"scorer": "llm", "chat_generator": scripted("[]")}, ""),
        ({"scorer": "calibrated", "evidence_share": 0.9, "threshold": None}, ""),
        ({"scorer": "embedding", "model": "mine", "threshold": 0.8, "granularity": "window", "window": 5}, ""),
        ({}, ""),
    ],
)
def test_a_setting_that_is_never_read_is_told(
    settings: dict[str, Any], warned: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Who passes a model and leaves the scorer out gets wording; and three shipped pipelines go by a share."""
    StripRefiner(**settings)
    assert (warned in caplog.text) if warned else (not caplog.text)


def test_a_calibration_that_is_not_there_is_refused_at_warm_up() -> None:
    """And not before: a pipeline can be drawn and checked without it."""
    refiner = StripRefiner(scorer="calibrated", calibration="nowhere.json")
    with pytest.raises(ConfigurationError, match=r"'nowhere\.json' cannot be read"):
        refiner.warm_up()


def test_where_no_strip_passes_documents_can_be_kept_whole() -> None:
    """Marked, with what they are made of."""
    documents = [Document(id="a", content=OTHER, embedding=[1.0]), Document(id="b", content=None)]
    result = StripRefiner(on_empty="keep").run(query="quantum iron tower physics exam", documents=documents)
    assert [(d.id, d.content, d.embedding) for d in result["documents"]] == [("a", OTHER, [1.0]), ("b", None, None)]
    notes = {"strips": [], "strips_in": 2, "strips_kept": 0, "strips_fallback": True}
    assert result["documents"][0].meta["crag"] == notes
    assert (result["dropped"], result["report"]["empty"]) == ([], "keep")


def test_where_no_strip_passes_documents_can_be_dropped_but_never_silently(caplog: pytest.LogCaptureFixture) -> None:
    """They are listed, and log and report say so."""
    result = refine(OTHER, "It rains.", query="quantum iron tower physics exam", on_empty="drop")
    assert result["documents"] == []
    assert [(d.id, d.content, d.meta["crag"]["strips_kept"]) for d in result["dropped"]] == [
        ("0", OTHER, 0),
        ("1", "It rains.", 0),
    ]
    assert result["report"]["empty"] == "drop"
    assert "None of 3 strips was worth keeping" in caplog.text


def test_a_strip_that_is_worth_keeping_but_too_long_is_cut_whatever_on_empty_says() -> None:
    """Dropping it would lose evidence, keeping the whole document would break the budget."""
    for policy in ("keep", "drop"):
        (document,) = refine("tower " * 200 + "end.", max_tokens=20, on_empty=policy)["documents"]
        assert 10 < count_tokens(document.content or "") <= 20
        assert document.meta["crag"]["strips_fallback"] is True


def test_marks_of_an_earlier_refinement_do_not_stay() -> None:
    """They would tell of a content that is gone."""
    once = refine(OTHER, query="quantum tower")["documents"]
    assert once[0].meta["crag"]["strips_fallback"] is True
    again = StripRefiner(threshold=None).run(query=QUESTION, documents=once)["documents"][0]
    assert "strips_fallback" not in again.meta["crag"]


PLANS = "# Plans\n\n| Plan | Price |\n|---|---|\n| Basic | 9 EUR |\n| Pro | 29 EUR |\n\nAll without VAT."
REFUND = "For a refund you need:\n\n- the receipt\n- the box. It must be clean.\n  Dry.\n- a photo\n\nSend it by post."
FAQ = "Q: Is there a lift?\nA: No.\n\nQ: Is there parking?\nA: Yes. 40 spaces behind the house.\n\nQ: Are dogs allowed?"
CHAT = "Visitor: Hello. Does the lamp survive frost? And rain?\nAgent: Only down to 9 degrees.\n\nAgent: Bye."
ASKED = "**Which bread is vegan?**\n\nRye and oat. All of it is.\n\nCakes are not."
FORMS = [
    ("What does the plan Pro cost?", PLANS, "| Plan | Price |\n| Pro | 29 EUR |"),
    ("Which price has which plan?", PLANS, "| Plan | Price |\n| Basic | 9 EUR |\n| Pro | 29 EUR |"),
    ("Which papers are needed for a refund?", REFUND, REFUND.partition("\n\nSend")[0]),
    (
        "What is the notice period?",
        "# Terms\n## Notice period\n\nThree months. Or more.",
        "## Notice period\n\nThree months.",
    ),
    (
        "What of probation?",
        "Notice\n===\n\nOne week.\n\nProbation\n---\n\nSix days. Or less.",
        "Probation\n---\n\nSix days.",
    ),
    (
        "How does the server start?",
        "The server starts so:\n\n```sh\nrun. it\n```\nBye.",
        "The server starts so:\n\n```sh\nrun. it\n```",
    ),
    ("Which carrots?", "- Fruit:\n  - apple\n- Roots:\n  - carrots\n  - beet", "- Roots:\n  - carrots\n  - beet"),
    ("Is there parking?", FAQ, "Q: Is there parking?\nA: Yes. 40 spaces behind the house."),
    ("Does the lamp survive frost?", CHAT, "Does the lamp survive frost?\nAgent: Only down to 9 degrees."),
    ("Which bread is vegan?", ASKED, ASKED.partition("\n\nCakes")[0]),
    (
        "What do I do when the disk is full?",
        "Disk full\n1. Log in.\n2. Call Ann.\n\nBye.",
        "Disk full\n1. Log in.\n2. Call Ann.",
    ),
    ("Who has 1002?", "No\tName\tWho\n1001\tSaw\tAnn\n1002\tAxe\tBen", "No\tName\tWho\n1002\tAxe\tBen"),
]


@pytest.mark.parametrize("scorer", ["lexical", "calibrated"])
@pytest.mark.parametrize(("query", "text", "expected"), FORMS)
def test_a_sentence_brings_along_what_it_says_nothing_without(
    query: str, text: str, expected: str, scorer: str
) -> None:
    """A row its table's head, a heading the first words below, a colon or title its list, a question its answer."""
    (found,) = refine(text, query=query, scorer=scorer, threshold="auto")["documents"]
    assert expected in (found.content or "")


def test_a_row_is_judged_under_the_head_of_its_table() -> None:
    """The head words most of the question, the row what it is asked of: alone it would come last."""
    query = "How much is the Pro plan per month?"
    page = PLANS.replace("Price", "Price per month") + "\n\nThe Basic and the Pro plan keep deleted files for a month."
    (found,) = refine(page, query=query, threshold=None, top_n=2)["documents"]
    assert found.content == "| Plan | Price per month |\n| Pro | 29 EUR |"


def test_what_comes_along_takes_no_place_from_what_is_worth_keeping() -> None:
    """Within both limits; strips of windows stay as they are, and of a model's choice nothing below it is added."""
    query = "Which price has which plan?"
    assert texts(refine(PLANS, query=query, top_n=1)) == ["| Plan | Price |"]
    assert texts(refine(PLANS, query=query, top_n=2)) == ["| Plan | Price |\n| Basic | 9 EUR |"]
    assert texts(refine(PLANS, query=query, max_tokens=15)) == ["| Plan | Price |\n| Basic | 9 EUR |"]
    assert texts(refine(PLANS, query="VAT?", granularity="window", window=1)) == ["All without VAT."]
    for choice, expected in ([2], "| Plan | Price |"), ([5], "| Plan | Price |\n| Pro | 29 EUR |"):
        model = scripted(json.dumps({"keep": choice}))
        result = refine(PLANS, query=query, scorer="llm", chat_generator=model)
        assert texts(result) == [expected]
        assert [strip["score"] for strip in result["documents"][0].meta["crag"]["strips"]][-1] == 1.0


def test_the_first_row_of_a_part_of_a_table_is_no_head() -> None:
    """Indexing cuts long tables; the row that a part begins with belongs to no other."""
    for rows in (
        "| Saw | Ann |\n| Axe | Ben |\n| S3 | Cid |",
        "| S1 | 1 EUR |\n| S2 | 2 EUR |\n| S3 | 3 EUR |",
        "S1\t1\tEUR\nS2\t2\tEUR\nS3\t3\tEUR",
    ):
        assert texts(refine(rows, query="What costs S3?")) == [rows.splitlines()[2]]


def test_a_list_ends_where_a_text_stands_apart_from_it() -> None:
    """The words behind an item go on with it; those of the next paragraph are no part of what the colon opens."""
    for gap, expected in (
        ("\n  ", ["Tools:\n- a saw\n  Handle the axe with care."]),
        ("\n\n", ["Handle the axe with care."]),
    ):
        text = f"Tools:\n- a saw{gap}Handle the axe with care."
        assert texts(refine(text, query="How is the axe handled with care?")) == expected


def test_a_question_brings_along_no_more_than_its_answer() -> None:
    """Three sentences of a long one, none of the next question's, nothing where a kept sentence answers it."""
    question = "Who opened the tower?"
    for text, expected in (
        (f"{question} Ann. Ben. Cid. Dan.", f"{question} Ann. Ben. Cid."),
        (f"{question}\n\nWho closed the lift?\n\nAnn.\n\nBen.", f"{question}\nAnn."),
        (f"{question}\n\n# Lifts\n\nAnn.", question),
        (f"{question} It rained. Ann opened the tower.", f"{question}\nAnn opened the tower."),
    ):
        assert texts(refine(text, query=question)) == [expected]


def test_prose_is_kept_sentence_by_sentence() -> None:
    """Nothing comes along where no form says that it belongs."""
    text = "He said: go. 1. May is free. The iron tower did open in 1889. - Not a list. It has 3 | 4 stairs."
    assert texts(refine(text, query=QUESTION)) == ["The iron tower did open in 1889."]


@given(
    CONTENTS,
    SCORERS,
    st.sampled_from([None, 0.0, 0.5, 1.0]),
    st.sampled_from([None, 1, 3]),
    st.sampled_from([2, 7, 4096]),
)
def test_nothing_is_invented_and_no_limit_is_broken(
    contents: list[str], scorer: dict[str, Any], threshold: float | None, top_n: int | None, max_tokens: int
) -> None:
    """Every strip is a substring at its offsets, strips do not overlap, the budget holds, no document is lost."""
    result = refine(*contents, **scorer, threshold=threshold, top_n=top_n, max_tokens=max_tokens)
    assert sorted(d.id for d in result["documents"] + result["dropped"]) == sorted(map(str, range(len(contents))))
    if not any(content.strip() for content in contents):
        return
    assert result["documents"]
    total = 0
    for document in result["documents"]:
        content, rest, end = contents[int(document.id)], document.content, 0
        for strip in document.meta["crag"]["strips"]:
            assert end <= strip["start"] < strip["end"]
            piece, end = content[strip["start"] : strip["end"]], strip["end"]
            before, rest = rest[: rest.index(piece)], rest[rest.index(piece) + len(piece) :]
            assert not before.strip()
            total += count_tokens(piece)
        assert not rest
    assert total <= max_tokens
    if top_n is not None:
        assert sum(document.meta["crag"]["strips_kept"] for document in result["documents"]) <= top_n


@given(CONTENTS)
def test_scores_are_in_range(contents: list[str]) -> None:
    """For whatever is asked and found."""
    strips = decompose(contents, "sentence", 3)
    scores = lexical_scores(QUESTION, strips, [""] * len(contents))
    assert len(scores) == len(strips)
    assert all(0 <= score <= 1 for score in scores)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"granularity": "page"}, r"granularity must be one of \['sentence', 'window', 'passage'\], but got 'page'"),
        (
            {"scorer": "magic"},
            r"scorer must be one of \['lexical', 'embedding', 'calibrated', 'ranker', 'llm'\], but got 'magic'",
        ),
        ({"on_empty": "pray"}, r"on_empty must be one of \['best', 'keep', 'drop'\], but got 'pray'"),
        ({"threshold": 1.5}, r"threshold must be in \[0, 1\], or null for no threshold, but got 1.5"),
        ({"threshold": float("nan"), "scorer": "ranker"}, "threshold must be in .*, but got nan"),
        ({"scorer": "llm"}, "scorer='llm' needs a chat_generator, but got none"),
        ({"scorer": "llm", "chat_generator": "gpt"}, "chat_generator must be a Haystack chat generator, but got str"),
        ({"scorer": "ranker"}, "scorer='ranker' needs a Haystack ranker as ranker, but got NoneType"),
        (
            {"scorer": "llm", "chat_generator": scripted("[]"), "max_prompt_tokens": 100},
            r"max_prompt_tokens must be at least \d+, since the prompt without strips takes \d+, but got 100",
        ),
        ({"deadline_s": 0}, "deadline_s must be a finite number > 0"),
        ({"calls_beside": -1}, "calls_beside must be a whole number, 0 or more, but got -1"),
        ({"calls_beside": True}, "calls_beside must be a whole number, 0 or more, but got True"),
        ({"threshold": "best"}, "threshold must be in .*, but got 'best'; 'auto' takes what suits the scorer"),
        ({"evidence_share": 0.9}, "evidence_share goes with scorer='calibrated' only, .*, but got 'lexical'"),
        ({"evidence_share": 0.0, "scorer": "calibrated"}, "evidence_share must be above 0 and at most 1, .* got 0.0"),
        ({"evidence_share": True, "scorer": "calibrated"}, "evidence_share must be above 0 and at most 1, .* got True"),
        ({"top_n": True}, "top_n must be a whole number > 0, but got True"),
        ({"top_n": 0}, "top_n must be a whole number > 0, but got 0"),
        ({"window": 0}, "window must be a whole number > 0"),
        ({"max_tokens": 0}, "max_tokens must be a whole number > 0"),
    ],
)
def test_unusable_settings_are_refused(settings: dict[str, Any], message: str) -> None:
    """With what was got and what was wanted."""
    with pytest.raises(ConfigurationError, match=message):
        StripRefiner(**settings)


def test_settings_survive_yaml() -> None:
    """With values that are not the defaults."""
    settings: dict[str, Any] = {
        "granularity": "window",
        "window": 2,
        "threshold": None,
        "top_n": 4,
        "max_tokens": 9,
        "on_empty": "keep",
        "title_field": None,
        "scorer": "calibrated",
        "calibration": "somewhere.json",
        "evidence_share": 0.9,
    }
    pipeline = Pipeline()
    pipeline.add_component("refiner", StripRefiner(**settings))
    loaded = Pipeline.loads(pipeline.dumps()).get_component("refiner")
    assert {name: getattr(loaded, name) for name in settings} == settings


def test_the_span_counts_strips(exporter: InMemorySpanExporter) -> None:
    """In and kept, no content."""
    refine(PAGE)
    (span,) = exporter.get_finished_spans()
    assert span.name == "crag.refine"
    kind = {"openinference.span.kind": "CHAIN"}
    assert dict(span.attributes or {}) == {**kind, "crag.strips.in": 5, "crag.strips.kept": 1}


@pytest.mark.parametrize("part", ["decompose", "select"])
def test_other_requests_of_the_event_loop_go_on_while_strips_are_judged(
    part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the first cut to the last choice: a long page takes tens of milliseconds."""
    other = threading.Event()
    whole, served = getattr(strip_refinement, part), []

    def slow(*inputs: Any) -> Any:
        served.append(other.wait(30))
        return whole(*inputs)

    async def both() -> None:
        refining = asyncio.create_task(StripRefiner().run_async(query=QUESTION, documents=[Document(content=PAGE)]))
        while not (served or refining.done()):
            await asyncio.sleep(0.01)
            other.set()
        await refining

    monkeypatch.setattr(strip_refinement, part, slow)
    asyncio.run(both())
    assert served == [True]


def test_what_a_ranker_writes_into_metadata_stays_its_own() -> None:
    class Marking:
        def run(self, query: str, documents: list[Document]) -> dict[str, list[Document]]:
            for document in documents:
                document.meta["tags"].append("ranked")
            return {"documents": [replace(document, score=0.9) for document in documents]}

    page = Document(content=PAGE, meta={"tags": ["mine"]})
    (refined,) = StripRefiner(scorer="ranker", ranker=Marking()).run(query=QUESTION, documents=[page])["documents"]
    assert page.meta["tags"] == refined.meta["tags"] == ["mine"]
