"""EvidenceJoiner: fusion, duplicates, and what each retriever said."""

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from haystack import Document, Pipeline
from hypothesis import given
from hypothesis import strategies as st
from makers import graded

from haystack_integrations.crag.budget import Usage
from haystack_integrations.crag.components.evidence_joiner import EvidenceJoiner
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.fusion import FUSIONS
from haystack_integrations.crag.grades import annotate, grade_of, question_id
from haystack_integrations.crag.state import CragState


def doc(name: str, score: float | None = 1.0, **values: Any) -> Document:
    """A document named by its id."""
    return Document(id=name, content=values.pop("content", f"text of {name}"), score=score, **values)


def ids(documents: list[Document]) -> list[str]:
    """Their ids in order."""
    return [document.id for document in documents]


def test_reciprocal_rank_fusion_sums_weighted_ranks() -> None:
    """weight / (k + rank) over all lists: two retrievers that agree overtake one."""
    joiner = EvidenceJoiner({"bm25": 1.0, "dense": 0.1}, rrf_k=10)
    documents = joiner.run(bm25=[doc("a"), doc("b")], dense=[doc("c"), doc("b")])["documents"]
    assert ids(documents) == ["b", "a", "c"]
    assert documents[0].score == pytest.approx(1 / 12 + 0.1 / 12)


def test_a_pipeline_that_was_saved_and_loaded_puts_equal_documents_in_the_same_order() -> None:
    """Haystack sorts what it saves, so that the order in which weights were given is lost."""
    pipeline = Pipeline()
    pipeline.add_component("joiner", EvidenceJoiner(weights={"dense": 1.0, "bm25": 1.0}))
    loaded = Pipeline.loads(pipeline.dumps())
    lists = {"dense": [doc("d")], "bm25": [doc("b")]}
    found = [each.run({"joiner": lists})["joiner"]["documents"] for each in (pipeline, loaded)]
    assert ids(found[0]) == ids(found[1]) == ["b", "d"]


def test_score_fusion_scales_each_list() -> None:
    """BM25's 20 and a cosine of 0.8 are made comparable within their lists."""
    joiner = EvidenceJoiner({"bm25": 1.0, "dense": 1.0}, fusion="score")
    documents = joiner.run(bm25=[doc("a", 20.0), doc("b", 10.0)], dense=[doc("b", 0.8), doc("a", 0.7)])["documents"]
    assert [document.score for document in documents] == [1.0, 1.0]


@pytest.mark.parametrize("score", [None, float("nan"), float("inf")])
def test_a_score_that_is_no_number_puts_no_document_first(score: float | None) -> None:
    """And spoils none of the others."""
    joiner = EvidenceJoiner({"bm25": 1.0}, fusion="score")
    found = joiner.run(bm25=[doc("odd", score), doc("best", 20.0), doc("good", 15.0), doc("last", 10.0)])["documents"]
    assert [document.content for document in found][:2] == ["text of best", "text of good"]
    assert [document.score for document in found] == [1.0, 0.5, 0.0, 0.0]


@pytest.mark.parametrize("fusion", ["rrf", "score"])
@pytest.mark.parametrize("score", [np.float32(0.5), np.float64(0.5), float("nan"), float("-inf"), "0.5", True])
def test_what_is_written_down_of_a_retrievers_score_is_plain_json(fusion: Any, score: Any) -> None:
    """Whatever a store computes with; a score that is no number is none, and stops nothing."""
    joiner = EvidenceJoiner({"dense": 1.0}, fusion=fusion, similarity={"dense": "cosine"})
    said = joiner.run(dense=[doc("a", score)])["documents"][0].meta["crag"]["retrievers"]["dense"]
    is_number = isinstance(score, np.floating)
    assert said == ({"score": 0.5, "rank": 1, "similarity": 0.5} if is_number else {"score": None, "rank": 1})
    assert json.loads(json.dumps(said, allow_nan=False)) == said


def test_each_retrievers_own_score_and_rank_are_kept() -> None:
    """And the cosine is read out of Elasticsearch's (1 + cosine) / 2."""
    joiner = EvidenceJoiner({"bm25": 1.0, "dense": 1.0}, similarity={"dense": "half_cosine"})
    document = joiner.run(bm25=[doc("a", 7.5)], dense=[doc("x", 0.99), doc("a", 0.9)])["documents"][0]
    assert document.meta["crag"]["retrievers"] == {
        "bm25": {"score": 7.5, "rank": 1},
        "dense": {"score": 0.9, "rank": 2, "similarity": 0.8},
    }


def lead_in(found: list[Document]) -> list[dict[str, float]]:
    """By document, how far each retriever put it before the next."""
    told = [one.meta["crag"]["retrievers"].items() for one in found]
    return [{name: said["lead"] for name, said in each if "lead" in said} for each in told]


def test_the_first_of_all_is_told_how_far_a_retriever_put_it_before_the_next() -> None:
    """Where it is the retriever's first, too; a copy of the first is no next one, and a tie or a distance no lead."""
    joiner = EvidenceJoiner(weights={"bm25": 1.0, "dense": 0.3}, rrf_k=1)
    bm25 = [doc("a", 9.0), replace(doc("copy", 8.9), content=doc("a").content), doc("b", 6.0), doc("c", 1.0)]
    dense = [doc("b", 0.9), doc("a", 0.5)]
    assert lead_in(joiner.run(bm25=bm25, dense=dense)["documents"]) == [{"bm25": 1.5}, {}, {}]
    assert lead_in(joiner.run(bm25=bm25, dense=[doc("a", 0.6), doc("b", 0.5)])["documents"])[0] == {
        "bm25": 1.5,
        "dense": 1.2,
    }
    for scores in ((2.0, 2.0), (0.1, 0.4), (-1.0, -2.0), (2.0, 0.0), (2.0, None), (None, 1.0), (float("nan"), 1.0)):
        listed = [doc(name, score) for name, score in zip("ab", scores, strict=True)]
        assert lead_in(joiner.run(bm25=listed, dense=[])["documents"]) == [{}, {}]
    assert lead_in(joiner.run(bm25=[doc("a", 2.0)], dense=[])["documents"]) == [{}]
    weak = [doc("a", 0.2), doc("b", 0.03)]  # as a ranker scores what is off topic
    assert lead_in(joiner.run(bm25=weak, dense=[])["documents"]) == [{"bm25": 6.667}, {}]


@pytest.mark.parametrize(
    ("kind", "score"), [("cosine", 7.8), ("cosine", -1.1), ("half_cosine", 4.2), ("cosine", float("nan"))]
)
def test_a_score_that_can_be_no_cosine_is_no_similarity(kind: Any, score: float) -> None:
    """Dot products of vectors that are not of length 1, as Haystack's in-memory store gives them by default."""
    joiner = EvidenceJoiner({"dense": 1.0}, similarity={"dense": kind})
    (document,) = joiner.run(dense=[doc("a", score)])["documents"]
    assert "similarity" not in document.meta["crag"]["retrievers"]["dense"]


def test_documents_that_are_equally_similar_are_no_distances() -> None:
    """Scores that grow are; these do not."""
    joiner = EvidenceJoiner({"dense": 1.0}, similarity={"dense": "cosine"})
    found = joiner.run(dense=[doc("a", 0.9), doc("b", 0.9)])["documents"]
    assert [one.meta["crag"]["retrievers"]["dense"]["similarity"] for one in found] == [0.9, 0.9]


def test_a_cosine_that_is_rounded_up_stays_one() -> None:
    """Of vectors of 32 bits."""
    joiner = EvidenceJoiner({"dense": 1.0}, similarity={"dense": "cosine"})
    (document,) = joiner.run(dense=[doc("a", 1.0000001)])["documents"]
    assert document.meta["crag"]["retrievers"]["dense"]["similarity"] == 1.0


def test_the_same_text_under_another_id_is_one_document() -> None:
    """White space and case make no other text."""
    joiner = EvidenceJoiner({"bm25": 1.0, "dense": 1.0})
    copy = doc("b", content="Text  of A")
    documents = joiner.run(bm25=[doc("a", content="text of a")], dense=[copy])["documents"]
    assert ids(documents) == ["a"]
    assert set(documents[0].meta["crag"]["retrievers"]) == {"bm25", "dense"}


def test_the_same_text_under_another_title_is_another_document() -> None:
    """The terms of 2024 and of 2025: merged, the ones that a question named were gone, and the others were cited."""
    joiner = EvidenceJoiner(weights={"bm25": 1.0, "dense": 1.0})
    text = "The fee is 5 euros."
    old, new = (Document(content=text, meta={"title": f"Terms {year}"}) for year in (2024, 2025))
    again = Document(id="copy", content=text.upper(), meta={"title": "terms  2025"})
    documents = joiner.run(bm25=[old, new], dense=[again])["documents"]
    assert [document.id for document in documents] == [new.id, old.id]


def test_documents_without_content_are_not_merged_with_each_other() -> None:
    """Two empty documents are two documents."""
    joiner = EvidenceJoiner({"bm25": 1.0})
    assert len(joiner.run(bm25=[doc("a", content=None), doc("b", content=None)])["documents"]) == 2


def test_a_document_that_one_search_gives_without_its_text_is_the_one_with_it() -> None:
    """As a vector store that holds no texts gives it; whichever search comes first."""
    bare, whole = doc("a", content=None), doc("a")
    for one, other in ((bare, whole), (whole, bare)):
        (found,) = EvidenceJoiner({"bm25": 1.0, "dense": 1.0}).run(bm25=[one], dense=[other])["documents"]
        assert (found.content, set(found.meta["crag"]["retrievers"])) == ("text of a", {"bm25", "dense"})


def test_embeddings_are_dropped() -> None:
    """Copying vectors between components costs more than grading."""
    document = doc("a", embedding=[0.1] * 256)
    assert EvidenceJoiner({"bm25": 1.0}).run(bm25=[document])["documents"][0].embedding is None
    assert document.embedding is not None


def test_the_strategy_in_the_state_replaces_the_weights() -> None:
    """A weight of 0 leaves a list out: this is how another retrieval strategy is chosen."""
    joiner = EvidenceJoiner({"bm25": 1.0, "dense": 0.1})
    state = CragState.start("q", strategy="dense", weights={"bm25": 0.0, "dense": 1.0})
    documents = joiner.run(bm25=[doc("a")], dense=[doc("b")], state=state)["documents"]
    assert ids(documents) == ["b"]


def test_what_a_refinement_kept_comes_first_with_its_grade() -> None:
    """And a new copy of it does not replace the graded one."""
    kept = graded("kept text", 0.8, "q")
    state = CragState.start("q", kept=(kept,))
    again = Document(content="Kept  text", meta={"copy": True})
    documents = EvidenceJoiner({"bm25": 1.0}).run(bm25=[again, doc("new")], state=state)["documents"]
    assert [document.content for document in documents] == ["kept text", "text of new"]
    assert documents[0].meta["crag"]["score"] == 0.8


def test_a_token_budget_cuts_the_list_but_never_the_first() -> None:
    """One long document is better than none."""
    joiner = EvidenceJoiner({"bm25": 1.0}, max_tokens=10)
    long, short = doc("a", content="word " * 50), doc("b", content="word")
    assert ids(joiner.run(bm25=[long, short])["documents"]) == ["a"]


def test_a_document_without_a_text_takes_no_token_of_the_budget() -> None:
    joiner = EvidenceJoiner(weights={"own": 1.0}, max_tokens=9)
    assert len(joiner.run(own=[doc("a", 2.0), Document(id="table", score=1.0)])["documents"]) == 2


def test_a_document_that_does_not_fit_the_token_budget_makes_room_for_those_after_it() -> None:
    """A file that nobody has cut does not push out all short passages behind it."""
    joiner = EvidenceJoiner({"bm25": 1.0}, max_tokens=10)
    found = [doc("a"), doc("b", content="word " * 50), doc("c", content="word"), doc("d", content="word " * 9)]
    assert ids(joiner.run(bm25=found)["documents"]) == ["a", "c"]


def test_what_a_refinement_keeps_can_be_fused_as_a_list_of_its_own() -> None:
    """First on ties, within the token budget, its grades with it; what both lists have moves up."""
    kept = (doc("a", content="first text"), doc("b", content="second text"))
    state = CragState.start("q", kept=kept)
    joiner = EvidenceJoiner({"bm25": 1.0}, rrf_k=60, kept_weight=1.0, max_tokens=8)
    new = [doc("c", content="third text"), doc("b", content="second text")]
    assert ids(joiner.run(bm25=new, state=state)["documents"]) == ["b", "a"]


def test_two_states_of_one_run_become_one() -> None:
    """What one branch spent, what the web was like, and no kept document that the other branch has handed on."""
    base = CragState.start("q", kept=(doc("a"),), iteration=1)
    web = replace(base, web="ok", queries=(*base.queries, {"query": "keywords", "strategy": "web"}))
    web = web.spend(Usage(1, 50, 5))
    refined = replace(base, kept=()).spend(Usage(1, 100, 10))
    joiner = EvidenceJoiner({"refined": 1.0, "web": 1.0})
    result = joiner.run(refined=[doc("a")], web=[doc("w")], state=web, refined_state=refined)
    state = result["state"]
    assert (state.web, state.usage.llm_calls, state.kept, state.iteration) == ("ok", 2, (), 1)
    assert state.usage == Usage(2, 150, 15)
    assert [query["query"] for query in state.queries] == ["q", "keywords"]
    assert ids(result["documents"]) == ["a", "w"]
    assert set(joiner.run(refined=[doc("a")], web=[], state=web)) == {"documents"}


def test_sockets_are_named_after_the_retrievers_in_a_pipeline() -> None:
    """So no list can be credited to another retriever, and YAML says which is which."""
    pipeline = Pipeline()
    pipeline.add_component("fuse", EvidenceJoiner({"bm25": 1.0, "dense": 0.2}, rrf_k=3, top_k=4, max_tokens=99))
    again = Pipeline.loads(pipeline.dumps())
    assert set(again.inputs()["fuse"]) == {
        *("bm25", "dense", "bm25_report", "dense_report"),
        *("state", "refined_state"),
    }
    assert again.to_dict() == pipeline.to_dict()


@pytest.mark.parametrize(
    "settings",
    [
        {"weights": {}},
        {"weights": {"bm25": -1}},
        {"weights": {"bm25": 1, "dense": -1}},
        {"weights": {"bm25": 1}, "fusion": "sum"},
        {"weights": {"bm25": 1}, "top_k": 0},
        {"weights": {"bm25": 1}, "max_tokens": 0},
        {"weights": {"bm25": 1}, "similarity": {"dense": "cosine"}},
        {"weights": {"kept": 1}},
        *({"weights": {taken: 1}} for taken in ("state", "refined_state", "", 1)),
        {"weights": {"dense": 1, "dense_report": 1}},
        {"weights": {"bm25": 1}, "kept_weight": -1},
        *({"weights": {"bm25": bad}} for bad in (math.nan, math.inf, True, "1", None)),
        *({"weights": {"bm25": 1}, "kept_weight": bad} for bad in (math.nan, math.inf, True, "1")),
        {"weights": ["bm25"]},
        *({"weights": {"bm25": 1}, "rrf_k": bad} for bad in (math.nan, math.inf, True, 2.5, None)),
        *({"weights": {"bm25": 1}, "top_k": bad} for bad in (math.nan, math.inf, True, 2.5, None)),
        *({"weights": {"bm25": 1}, "similarity": bad} for bad in ("cosine", {"bm25": "cosinus"}, {"bm25": ["cosine"]})),
        *({"weights": {"bm25": 1}, "max_tokens": bad} for bad in (math.nan, math.inf, True, 2.5)),
    ],
)
def test_unusable_settings_are_refused(settings: dict[str, Any]) -> None:
    """Got and wanted, in one line."""
    with pytest.raises(ConfigurationError):
        EvidenceJoiner(**settings)


names = st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=8)


@given(first=names, second=names, weight=st.floats(0.01, 2), k=st.integers(1, 100), fusion=st.sampled_from([*FUSIONS]))
def test_every_fused_score_is_the_sum_that_its_name_says(
    first: list[str], second: list[str], weight: float, k: int, fusion: Any
) -> None:
    """Written down once more: weight / (k + rank), or weight x the score's place between the list's least and most."""
    lists = {"bm25": (1.0, first, [20.0 - n for n in range(8)]), "dense": (weight, second, [0.9**n for n in range(8)])}
    wanted: dict[str, float] = {}
    for one, found, given_scores in lists.values():
        own = given_scores[: len(found)]
        for place, (name, score) in enumerate(zip(found, own, strict=True)):
            scaled = (score - own[-1]) / (own[0] - own[-1]) if len(own) > 1 else 1.0
            part = 1 / (k + 1 + place) if fusion == "rrf" else scaled
            wanted[name] = wanted.get(name, 0) + one * part
    joiner = EvidenceJoiner({"bm25": 1.0, "dense": weight}, fusion=fusion, rrf_k=k, top_k=99)
    given_lists = {
        name: [doc(one, score) for one, score in zip(found, own, strict=False)]
        for name, (_, found, own) in lists.items()
    }
    documents = joiner.run(**given_lists)["documents"]
    assert {document.id: document.score for document in documents} == pytest.approx(wanted)
    assert [document.score for document in documents] == sorted((one.score for one in documents), reverse=True)


@given(first=names, second=names, weight=st.floats(0.01, 2))
def test_fusion_loses_no_document_and_repeats_none(first: list[str], second: list[str], weight: float) -> None:
    """For any two lists; and a document at the top of both is at the top."""
    joiner = EvidenceJoiner({"bm25": 1.0, "dense": weight}, top_k=99)
    fused = ids(joiner.run(bm25=[doc(n) for n in first], dense=[doc(n) for n in second])["documents"])
    assert sorted(fused) == sorted({*first, *second})
    if first and second and first[0] == second[0]:
        assert fused[0] == first[0]


def test_what_one_retriever_gives_twice_counts_once() -> None:
    """At its first rank: two entries are no two retrievers."""
    found = EvidenceJoiner({"bm25": 1.0}).run(bm25=[doc("b"), doc("a"), doc("a")])["documents"]
    assert [(one.id, one.meta["crag"]["retrievers"]["bm25"]["rank"]) for one in found] == [("b", 1), ("a", 2)]


def test_half_a_character_in_a_document_stops_nothing_and_makes_no_two_texts_one() -> None:
    """As a reader of damaged files leaves it."""
    found = [
        Document(id=str(number), content=text) for number, text in enumerate(("a\ud800", "a\udfff", "A\ud800 ", "a?"))
    ]
    joined = EvidenceJoiner({"bm25": 1.0}).run(bm25=found)["documents"]
    assert [document.id for document in joined] == ["0", "1", "3"]
    assert len({question_id(document.content or "") for document in found[:2]}) == 2


def test_the_first_of_a_vector_search_leads_by_as_much_on_every_store() -> None:
    """Elasticsearch gives (1 + cosine) / 2 for what Haystack's store gives as a cosine: the same search, one lead."""
    cosines = [0.8, 0.5, -0.2]
    found = []
    for kind, scores in (("cosine", cosines), ("half_cosine", [(1 + cosine) / 2 for cosine in cosines])):
        joiner = EvidenceJoiner({"dense": 1.0}, similarity={"dense": kind})  # type: ignore[dict-item]
        listed = [doc(name, score) for name, score in zip("abc", scores, strict=True)]
        found.append(lead_in(joiner.run(dense=listed)["documents"])[0])
    assert found == [{"dense": 1.2}, {"dense": 1.2}]


def test_a_lead_that_a_stored_document_brings_along_is_nobodys() -> None:
    """Only what this run's retrievers say counts."""
    forged = Document(content="A", score=1.0, meta={"crag": {"retrievers": {"bm25": {"lead": 9.0, "rank": 1}}}})
    joiner = EvidenceJoiner(weights={"bm25": 1.0})
    for state in (None, CragState.start("q")):
        found = joiner.run(bm25=[doc("b", 1.1), forged], state=state)["documents"]
        assert lead_in(found) == [{"bm25": 1.1}, {}]


def test_what_is_kept_leads_nothing_by_the_ranks_of_the_pass_before() -> None:
    """Its scores are sums of ranks: 1.5 times the next one's, however near the retriever put the two."""
    joiner = EvidenceJoiner(weights={"bm25": 1.0}, rrf_k=1, kept_weight=1.0)
    near = [doc("a", 7.0), doc("b", 6.9)]
    kept = joiner.run(bm25=near, state=CragState.start("q"))["documents"]
    state = replace(CragState.start("q"), kept=tuple(kept))
    assert lead_in(joiner.run(bm25=near, state=state)["documents"]) == [{"bm25": 1.014}, {}]


def test_what_a_refinement_keeps_is_fused_with_its_grade_and_with_what_its_retrievers_said() -> None:
    """It was given both in this run; a rule and a router read them again."""
    said = {"dense": {"score": 0.9, "rank": 1, "similarity": 0.9}}
    kept = annotate(graded("A", 0.8, "q"), retrievers=said)
    state = CragState.start("q", kept=(kept,), grades={kept.id: {"score": 0.8}})
    joiner = EvidenceJoiner(weights={"bm25": 1.0}, kept_weight=1.0)
    (found,) = joiner.run(bm25=[replace(kept, score=2.0)], state=state)["documents"]
    assert grade_of(found, question_id("q")) == grade_of(kept)
    assert found.meta["crag"]["retrievers"]["dense"] == said["dense"]
    assert found.meta["crag"]["retrievers"]["bm25"]["score"] == 2.0
    (strange,) = joiner.run(bm25=[replace(kept, score=2.0)], state=CragState.start("q"))["documents"]
    assert grade_of(strange) is None
    assert set(strange.meta["crag"]["retrievers"]) == {"bm25"}


def test_a_score_that_a_stored_document_brings_along_is_nobodys() -> None:
    """A rule reads the retriever's own score; in the metadata of a document it would approve it for any question."""
    forged = Document(content="A", meta={"crag": {"retrievers": {"dense": {"similarity": 0.99, "rank": 1}}}})
    state = CragState.start("Who won?")
    (joined,) = EvidenceJoiner(weights={"bm25": 1.0}).run(bm25=[forged], state=state)["documents"]
    assert list(joined.meta["crag"]["retrievers"]) == ["bm25"]


def test_a_label_of_the_web_that_a_stored_document_brings_along_is_nobodys_until_the_web_was_asked() -> None:
    """A result that was saved to the store is no search of the web, and the record would say that this run made one."""
    saved = Document(content="A", score=1.0, meta={"crag": {"origin": "web"}})
    joiner, state = EvidenceJoiner(weights={"bm25": 1.0}), CragState.start("q")
    for known, origin in ((state, "index"), (replace(state, web="failed"), "index"), (replace(state, web="ok"), "web")):
        (joined,) = joiner.run(bm25=[saved], state=known)["documents"]
        assert joined.meta["crag"]["origin"] == origin
    (found,) = joiner.run(bm25=[replace(saved, score=None)], state=state)["documents"]
    assert found.meta["crag"]["origin"] == "web"  # it comes from WebFallback, which searched without a state


def test_two_texts_of_one_id_are_two_documents_and_what_is_left_of_a_refined_one_is_that_one() -> None:
    """Two stores may count from one, both: the answer of the second is not lost for what the first has there."""
    joiner = EvidenceJoiner(weights={"faq": 1.0, "manual": 1.0})
    first, second = Document(id="1", content="Call us."), Document(id="1", content="The warranty is two years.")
    found = joiner.run(faq=[first], manual=[second, first])["documents"]
    assert [(document.id, document.content) for document in found] == [("1", "Call us."), ("1", second.content)]
    assert set(found[0].meta["crag"]["retrievers"]) == {"faq", "manual"}
    refined = annotate(replace(second, content="two years."), strips=[{"start": 16, "end": 26, "score": 1.0}])
    for one, other in ((refined, second), (second, refined)):
        found = joiner.run(faq=[one], manual=[other])["documents"]
        assert [document.content for document in found] == [one.content]


def test_a_list_of_a_name_without_a_weight_is_refused_where_no_pipeline_does_it() -> None:
    """Called by hand it was left out, and nothing in the result said so."""
    joiner = EvidenceJoiner(weights={"bm25": 1.0, "dense": 1.0})
    with pytest.raises(ConfigurationError, match=r"EvidenceJoiner got an input 'desne', wanted one of \['bm25', "):
        joiner.run(bm25=[], desne=[Document(content="Paris")])


def test_beside_the_only_score_of_a_list_one_that_is_no_number_says_nothing() -> None:
    """As beside several: it had full marks, and came first."""
    documents = [Document(content="none", score=float("nan")), Document(content="scored", score=2.0)]
    joiner = EvidenceJoiner(weights={"own": 1.0}, fusion="score")
    fused = joiner.run(own=documents)["documents"]
    assert [(document.content, document.score) for document in fused] == [("scored", 1.0), ("none", 0.0)]
