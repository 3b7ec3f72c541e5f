"""HeuristicGrader by a calibration: whose lists, which corpus, which documents, what a span tells."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import orjson
import pytest
from haystack import Document, Pipeline
from haystack.document_stores.in_memory import InMemoryDocumentStore
from judging_texts import calibration, head
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from haystack_integrations.crag.components.heuristic_grader import HeuristicGrader
from haystack_integrations.crag.corpus_statistics import collect, write_statistics
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.grades import annotate
from haystack_integrations.crag.judging.crossing import Crossing
from haystack_integrations.crag.judging.judge import CROSSED
from haystack_integrations.crag.state import CragState

QUESTION = "Which river flows through Vienna?"
VIENNA = Document(id="vienna", content="The river Danube flows through Vienna.", meta={"title": "Danube"})
RAIN = Document(id="rain", content="Rain is likely.")
CORPUS = ["A river.", "Another river.", "A third river flows.", "Rain."]


def write(folder: Path, **changes: Any) -> str:
    """A calibration file."""
    path = folder / "own.json"
    path.write_bytes(orjson.dumps(calibration(**changes).to_dict()))
    return str(path)


def retrieved(document: Document, *retrievers: str) -> Document:
    """A document that a joiner marked with where it came from."""
    return annotate(document, retrievers=dict.fromkeys(retrievers, 1))


def test_a_calibration_of_ones_own_is_told_by_grades_and_report(tmp_path: Path) -> None:
    """Its probabilities are those of its coefficients."""
    result = HeuristicGrader(calibration=write(tmp_path)).run(query=QUESTION, documents=[VIENNA, RAIN])
    assert result["report"]["calibrated"] is result["signals"]["set"]["calibrated"] is True
    assert result["documents"][0].meta["crag"]["grader"] == "HeuristicGrader:calibrated"
    sure, unsure = 1 / (1 + 2.718281828**-2), 1 / (1 + 2.718281828**4)
    assert result["signals"]["documents"]["vienna"]["answers"] == pytest.approx(sure)
    assert result["signals"]["documents"]["rain"]["on_topic"] == pytest.approx(unsure)
    assert result["report"]["verdict"]["verdict"] == "correct"
    assert result["scores"][0] == pytest.approx((sure + 1 / (1 + 2.718281828**-4)) / 2, abs=1e-4)


def test_a_crossing_is_one_more_signal(tmp_path: Path) -> None:
    """Which the heads may read; without one it is not measured."""
    crossing = Crossing(frozenset({"river"}), {"river": {"river TITLE": 4.0}}, 0.25)
    path = write(tmp_path, crossing=crossing, answers=head({CROSSED: 1.0}))
    documents = HeuristicGrader(calibration=path).run(query=QUESTION, documents=[VIENNA, RAIN])["signals"]["documents"]
    assert documents["vienna"][CROSSED] > documents["rain"][CROSSED] == 0.25
    plain = HeuristicGrader().run(query=QUESTION, documents=[VIENNA])["signals"]["documents"]["vienna"]
    assert CROSSED not in plain


def test_lists_of_other_retrievers_are_refused_with_the_way_out(tmp_path: Path) -> None:
    """Their errors are other ones than those it was fitted on."""
    grader = HeuristicGrader(calibration=write(tmp_path, retrievers=("bm25",)))
    with pytest.raises(ConfigurationError) as caught:
        grader.run(query=QUESTION, documents=[retrieved(VIENNA, "bm25"), retrieved(RAIN, "dense")])
    said = str(caught.value)
    assert "lists of ['bm25'], but these documents come from ['bm25', 'dense']" in said
    assert "crag calibrate DIR --lists live" in said


def test_what_a_correction_finds_by_another_retriever_is_judged(tmp_path: Path) -> None:
    """A calibration is made on first lists: that of agent_rag, which corrects by vectors, records `bm25` alone."""
    grader = HeuristicGrader(calibration=write(tmp_path, retrievers=("bm25",)))
    later = replace(CragState.start(QUESTION), iteration=1)
    assert grader.run(query=QUESTION, documents=[retrieved(RAIN, "dense")], state=later)["status"] == "ok"
    with pytest.raises(ConfigurationError, match=r"come from \['dense'\]"):
        grader.run(query=QUESTION, documents=[retrieved(RAIN, "dense")], state=CragState.start(QUESTION))


def test_the_same_retrievers_some_of_them_or_unnamed_ones_are_taken(tmp_path: Path) -> None:
    """And a calibration that names none takes all."""
    own = HeuristicGrader(calibration=write(tmp_path, retrievers=("bm25", "dense")))
    for document in (
        retrieved(VIENNA, "bm25", "dense"),
        retrieved(VIENNA, "dense"),
        VIENNA,
        annotate(VIENNA, retrievers=7),
    ):
        assert own.run(query=QUESTION, documents=[document])["status"] == "ok"
    (tmp_path / "any").mkdir()
    any_list = HeuristicGrader(calibration=write(tmp_path / "any"))
    assert any_list.run(query=QUESTION, documents=[retrieved(VIENNA, "web")])["status"] == "ok"


def covered(grader: HeuristicGrader, query: str = QUESTION) -> tuple[str, float]:
    """Which statistics were used, and how much of the question a document covers that has its river only."""
    result = grader.run(query=query, documents=[Document(id="river", content="A river."), VIENNA])
    return result["signals"]["set"]["statistics"], result["signals"]["documents"]["river"]["covered"]


def test_document_frequencies_come_from_the_store_or_the_file_or_what_was_retrieved(
    in_memory_store: Any, tmp_path: Path
) -> None:
    """A word that most documents of the corpus have says little; the report tells who said so."""
    in_memory_store.write_documents([Document(content=text) for text in CORPUS])
    write_statistics(collect(CORPUS), tmp_path / "corpus.json")
    file = str(tmp_path / "corpus.json")
    plain, by_store = covered(HeuristicGrader()), covered(HeuristicGrader(document_store=in_memory_store))
    by_file = covered(HeuristicGrader(statistics=file))
    assert [plain[0], by_store[0], by_file[0]] == ["retrieved", "store", "file"]
    assert covered(HeuristicGrader(statistics=file, document_store=in_memory_store))[0] == "store"
    assert covered(HeuristicGrader(statistics=file, document_store=SimpleNamespace(write_documents=None)))[0] == "file"
    assert by_store[1] < plain[1]
    assert by_file[1] == by_store[1]


def test_an_empty_store_leaves_it_to_what_was_retrieved(in_memory_store: Any) -> None:
    """It knows nothing."""
    assert covered(HeuristicGrader(document_store=in_memory_store))[0] == "retrieved"


def test_a_tokenised_question_is_looked_up_as_it_was_meant(in_memory_store: Any) -> None:
    """Else a word that is in every document would count as one that nobody has."""
    in_memory_store.write_documents([Document(content=f"{text} They've gone.") for text in CORPUS])
    grader = HeuristicGrader(document_store=in_memory_store)
    assert covered(grader, "They've a river") == covered(grader, "They 've a river")


def test_a_grader_with_a_store_survives_yaml(tmp_path: Path) -> None:
    """The store comes back as what it was."""
    settings: dict[str, Any] = {"calibration": write(tmp_path), "statistics": "corpus.json"}
    pipeline = Pipeline()
    store = InMemoryDocumentStore(index="test_grader_yaml")
    pipeline.add_component("grader", HeuristicGrader(**settings, document_store=store))
    loaded: Any = Pipeline.loads(pipeline.dumps()).get_component("grader")
    assert {name: getattr(loaded, name) for name in settings} == settings
    assert isinstance(loaded.document_store, InMemoryDocumentStore)
    loaded.document_store.write_documents([Document(content=text) for text in CORPUS])
    assert covered(HeuristicGrader(document_store=loaded.document_store))[0] == "store"


def test_weights_and_a_calibration_together_are_refused() -> None:
    """Which of them should judge?"""
    with pytest.raises(ConfigurationError, match="pass weights or a calibration, but got both"):
        HeuristicGrader(weights="evidence", calibration="own.json")


def test_documents_kept_from_an_earlier_pass_enter_the_verdict() -> None:
    """But are not graded again, and the same document does not count twice."""
    grader = HeuristicGrader()
    alone = grader.run(query=QUESTION, documents=[RAIN])
    beside = grader.run(query=QUESTION, documents=[RAIN], state=CragState.start(QUESTION, kept=(VIENNA,)))
    assert (alone["report"]["verdict"]["verdict"], beside["report"]["verdict"]["verdict"]) == ("incorrect", "correct")
    assert [document.id for document in beside["documents"]] == ["rain"]
    assert set(beside["signals"]["documents"]) == {"rain"}
    longer = f"{QUESTION} Old towns stand there."
    again = grader.run(query=longer, documents=[VIENNA, RAIN], state=CragState.start(longer, kept=(VIENNA,)))
    assert again["report"] == grader.run(query=longer, documents=[VIENNA, RAIN])["report"]


def test_in_mode_off_not_even_the_calibration_is_read() -> None:
    """Nothing is judged."""
    grader = HeuristicGrader(calibration="none.json")
    result = grader.run(query=QUESTION, documents=[VIENNA], state=CragState(mode="off"))
    assert (result["status"], result["set_score"]) == ("skipped", 0.0)
    assert "set_score" not in result["report"]
    assert "verdict" not in result["report"]


def test_a_span_tells_probabilities_and_no_text(exporter: InMemorySpanExporter, tmp_path: Path) -> None:
    """And whether they are calibrated, and whose document frequencies they rest on."""
    reports = [
        HeuristicGrader(calibration=path).run(query=QUESTION, documents=[VIENNA, RAIN])["report"]
        for path in (None, write(tmp_path))
    ]
    for span, report, is_calibrated in zip(exporter.get_finished_spans(), reports, (False, True), strict=True):
        tags = dict(span.attributes or {})
        told = {name: tags[f"crag.probability.{name}"] for name in ("correct", "ambiguous", "incorrect")}
        assert told == report["verdict"]["probabilities"]
        assert (tags["crag.grader.calibrated"], tags["crag.grader.statistics"]) == (is_calibrated, "retrieved")
        assert not {"danube", "vienna's", "flows"} & set(json.dumps(tags).lower().replace('"', " ").split())


def test_threads_share_a_grader(in_memory_store: Any) -> None:
    """Each gets the judgement on its own question and documents."""
    in_memory_store.write_documents([Document(content=text) for text in CORPUS])
    grader = HeuristicGrader(document_store=in_memory_store)
    lists = [[Document(id=str(n), content=f"River {n} flows by town {n}."), RAIN] for n in range(10)]
    wanted = [grader.run(query=f"Which river flows by town {n}?", documents=lists[n]) for n in range(10)]
    with ThreadPoolExecutor(8) as pool:
        numbers = [n % 10 for n in range(80)]
        found = list(
            pool.map(lambda n: grader.run(query=f"Which river flows by town {n}?", documents=lists[n]), numbers)
        )
    assert [each["report"] for each in found] == [wanted[n]["report"] for n in numbers]
