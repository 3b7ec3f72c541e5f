"""Running an evaluation: what a record says, workers, and going on after an interruption."""

import json
import multiprocessing
import re
import resource
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from shutil import copytree, ignore_patterns
from typing import Any
from uuid import uuid4

import pytest
import yaml
from evaluation.calibrated_towns import calibrated_towns, towns
from evaluation.datasets import AMBIGUOUS, BUILDERS, CORRECT, GAPS, ISLANDS, SPLIT, write_dataset
from haystack import Document
from haystack.document_stores.in_memory import InMemoryDocumentStore
from scripted_model import ScriptedModel, judging

from haystack_integrations.crag.chat_model import ChatModel, chat_model
from haystack_integrations.crag.cli.calibrate import _lists
from haystack_integrations.crag.components.heuristic_grader import HeuristicGrader
from haystack_integrations.crag.corpus_statistics import write_statistics
from haystack_integrations.crag.errors import ConfigurationError, EvaluationError, SourceError
from haystack_integrations.crag.evaluation.cases import Case, Dataset, Passage
from haystack_integrations.crag.evaluation.journal import Journal, read_records
from haystack_integrations.crag.evaluation.live import as_indexed, fill
from haystack_integrations.crag.evaluation.made_of import PACKAGE, fingerprint
from haystack_integrations.crag.evaluation.measures import summarise, tally, verdict_measures
from haystack_integrations.crag.evaluation.reading import LISTS, STATISTICS, read_dataset
from haystack_integrations.crag.evaluation.retrieving import Retrieval
from haystack_integrations.crag.evaluation.rows import write_rows
from haystack_integrations.crag.evaluation.running import evaluate
from haystack_integrations.crag.evaluation.setup import Setup
from haystack_integrations.crag.evaluation.strips import Sentences, normal
from haystack_integrations.crag.evaluation.training import counted
from haystack_integrations.crag.judging.grading import Graded
from haystack_integrations.crag.judging.heuristics import Heuristics
from haystack_integrations.crag.pipelines.loader import source
from haystack_integrations.crag.pipelines.opening import memory_store
from haystack_integrations.crag.state import CragState
from haystack_integrations.crag.vocabulary import Lists

EVIDENCE = Setup("corrective_retrieval", grader="evidence")
KEYS = "id question label strict verdict score probabilities rule action documents strips support gap cost error"


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    """The islands."""
    return read_dataset(write_dataset(tmp_path / "two words"), SPLIT)


def untimed(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Give records without what differs from run to run."""
    return [{**record, "cost": {**record["cost"], "seconds": 0}} for record in records]


def test_a_record_says_what_was_decided_and_what_is_true(dataset: Dataset) -> None:
    """Verdict and label, documents with grade and score, strips, support, gap and cost."""
    record = evaluate(dataset, EVIDENCE)[0]
    assert sorted(record) == sorted(KEYS.split())
    assert (record["id"], record["label"], record["verdict"], record["action"]) == (
        "q0",
        "correct",
        "correct",
        "generate",
    )
    assert [one["label"] for one in record["documents"]] == [2, 1, *[0] * 8]
    first = record["documents"][0]
    assert (first["id"], first["title"], first["kept"]) == ("built-0", ISLANDS[0], True)
    assert first["score"] > record["documents"][-1]["score"]
    assert (record["strips"]["gold"], record["strips"]["hits"]) == (1, 1)
    assert record["strips"]["words_kept"] < record["strips"]["words_in"]
    assert record["support"] == {"before": True, "after": True}
    assert (record["gap"]["status"], record["gap"]["accidental"]) == ("gap", False)
    assert record["gap"]["verdict"] != "correct"
    assert record["cost"]["llm_calls"] == 0
    assert record["cost"]["words_to_generator"] > 0
    assert record["cost"]["seconds"] > 0
    assert record["error"] is None


def test_a_disk_that_is_full_ends_an_evaluation_with_the_file_that_cannot_be_written(
    dataset: Dataset, tmp_path: Path
) -> None:
    """And the next one goes on with the records that it took."""
    journal, limits = tmp_path / "records.jsonl", resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, limits[1]))
    try:
        with pytest.raises(ConfigurationError, match=r"cannot write '.*records.jsonl' \(File too large\)"):
            evaluate(dataset, EVIDENCE, journal=journal)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    taken = read_records(journal)
    assert 0 < len(taken) < len(dataset.cases)
    assert untimed(evaluate(dataset, EVIDENCE, journal=journal)) == untimed(evaluate(dataset, EVIDENCE))


def test_a_list_without_its_evidence_is_scored_by_the_number_for_that(dataset: Dataset, tmp_path: Path) -> None:
    """A calibration has one; the shipped judgement has none, and its score stands in."""
    file = tmp_path / "calibration.json"
    file.write_text(json.dumps(calibrated_towns().calibration.to_dict()))
    one = evaluate(dataset, Setup("corrective_retrieval", grader="heuristic", calibration=str(file)))
    other = evaluate(dataset, Setup("corrective_retrieval", grader="heuristic"))
    places = [n for n, record in enumerate(one) if record["gap"] and record["gap"]["status"] == "covered"]
    assert places
    assert all(one[n]["gap"]["score"] != one[n]["score"] for n in places)
    assert all(other[n]["gap"]["score"] == other[n]["score"] for n in places)


def test_a_list_is_judged_as_it_is_where_the_corpus_stands_in_a_store(dataset: Dataset, tmp_path: Path) -> None:
    """Rare words weigh more: what is rare is asked of the whole corpus, not of the list."""
    file = tmp_path / "calibration.json"
    file.write_text(json.dumps(calibrated_towns().calibration.to_dict()))
    corpus = [passage.document() for passage in dataset.passages.values()]
    store = InMemoryDocumentStore(index=uuid4().hex)
    store.write_documents(corpus)
    grader = HeuristicGrader(calibration=str(file), document_store=store)
    grader.warm_up()
    found = {document.id: document for document in corpus}
    for record in evaluate(dataset, Setup("corrective_retrieval", calibration=str(file))):
        judged = [found[one["id"]] for one in record["documents"]][:5]
        report = grader.run(query=record["question"], documents=judged)["report"]
        assert record["probabilities"] == report["verdict"]["probabilities"]


def test_lists_that_an_index_gave_are_judged_whole(dataset: Dataset) -> None:
    """As the pipeline judges them, and as `crag calibrate` does: the sixth document may be the one that answers."""
    lists = dataset.folder / SPLIT / LISTS
    rows = [json.loads(line) for line in lists.read_text().splitlines()]
    write_rows(lists, [{**row, "retrieved": row["retrieved"][::-1]} for row in rows])
    assert evaluate(read_dataset(dataset.folder, SPLIT), EVIDENCE)[0]["label"] == "incorrect"
    write_statistics(counted(dataset), dataset.folder / STATISTICS)  # as `crag collect` leaves them
    collected = read_dataset(dataset.folder, SPLIT)
    assert evaluate(collected, EVIDENCE)[0]["label"] == "correct"
    assert evaluate(collected, replace(EVIDENCE, top_k=5))[0]["label"] == "incorrect"


def test_the_islands_are_judged_rightly(dataset: Dataset) -> None:
    """The labels are known, and the evidence preset is good enough for them."""
    result = summarise(
        evaluate(dataset, EVIDENCE), dataset="islands", split=SPLIT, pipeline="p", grader="g", lists="fixed"
    )
    assert result["verdict"]["confusion"]["correct"]["correct"] == len(CORRECT)
    assert result["verdict"]["macro_f1"] > 0.9
    assert result["gaps"]["recall"] == 1.0
    assert result["answer_support"]["before"] == len(CORRECT) / len(ISLANDS)


def test_probabilities_are_on_record_where_the_grader_gives_them(dataset: Dataset) -> None:
    """The calibrated model does, published weights do not."""
    calibrated = evaluate(dataset, Setup("corrective_retrieval", grader="heuristic"))[0]["probabilities"]
    assert sorted(calibrated) == ["ambiguous", "correct", "incorrect"]
    assert sum(calibrated.values()) == pytest.approx(1, abs=0.001)
    assert evaluate(dataset, EVIDENCE)[0]["probabilities"] is None


@pytest.mark.parametrize("pipeline", ["corrective_retrieval", "paper_rag"])
def test_sentences_go_by_the_calibration_where_it_has_a_model_of_them(
    dataset: Dataset, tmp_path: Path, pipeline: str
) -> None:
    """Whether or not the pipeline refines; a model that keeps everything shows that it was asked."""
    shipped = files("haystack_integrations.crag") / "models" / "calibration"
    calibration = json.loads((shipped / "default.json").read_text())
    strips = json.loads((shipped / "default_strips.json").read_text())["strips"]
    # All above the threshold, and all alike for a share of the evidence.
    alike = {name: [*shape, 0.0] for name, (*shape, _) in strips["company"]["signals"].items()}
    every = {**strips, "threshold": 0.0, "company": {**strips["company"], "signals": alike}}
    words = []
    for number, content in enumerate([calibration, {**calibration, "strips": every}]):
        file = tmp_path / f"{number}.json"
        file.write_text(json.dumps(content))
        record = evaluate(dataset, Setup(pipeline, calibration=str(file)))[0]
        words.append((record["strips"]["words_kept"], record["strips"]["words_in"]))
    (few, of_few), (many, of_many) = words
    assert few < of_few == of_many == many


def test_a_calibration_that_cannot_be_used_is_refused(dataset: Dataset, tmp_path: Path) -> None:
    """Before any process starts."""
    file = tmp_path / "calibration.json"
    file.write_text('{"format": "something else"}')
    setup = Setup("corrective_retrieval", calibration=str(file))
    for lists in ("fixed", "live"):
        with pytest.raises(ConfigurationError, match="calibration"):
            evaluate(dataset, replace(setup, lists=lists), workers=2)


def test_the_order_is_that_of_the_data_with_any_number_of_workers(dataset: Dataset) -> None:
    """Two processes give the same records as one."""
    assert untimed(evaluate(dataset, EVIDENCE, workers=2)) == untimed(evaluate(dataset, EVIDENCE, workers=1))


def test_a_short_list_is_graded_once_and_a_long_one_apart(dataset: Dataset) -> None:
    """The verdict is about the first documents alone, the filter about ten."""
    five, ten = evaluate(dataset, EVIDENCE), evaluate(dataset, replace(EVIDENCE, top_k=10))
    assert [len(record["documents"]) for record in five] == [len(record["documents"]) for record in ten]
    assert [r["documents"] for r in five] == [r["documents"] for r in ten]
    one = evaluate(dataset, replace(EVIDENCE, top_k=1))
    assert {record["label"] for record in one} == {"correct", "ambiguous", "incorrect"}
    assert one[0]["support"] == {"before": True, "after": True}


@pytest.mark.parametrize("pipeline", ["heuristic_rag", "paper_rag", "signals_rag", "baseline_rag"])
def test_the_judging_parts_of_a_pipeline_need_no_chat_model(dataset: Dataset, pipeline: str) -> None:
    """Only what judges is made, with the settings of the YAML."""
    records = evaluate(dataset, Setup(pipeline))
    assert all(record["error"] is None for record in records)
    assert {record["verdict"] for record in records} <= {"correct", "ambiguous", "incorrect", "ungraded"}


def test_the_evidence_is_refined_where_the_pipeline_refines_it(dataset: Dataset) -> None:
    """Fewer words reach the generator, and the answer is among them."""
    whole, refined = evaluate(dataset, EVIDENCE), evaluate(dataset, replace(EVIDENCE, pipeline="paper_rag"))
    fewer = [
        r["cost"]["words_to_generator"] < w["cost"]["words_to_generator"] for r, w in zip(refined, whole, strict=True)
    ]
    assert any(fewer)
    assert refined[0]["support"] == {"before": True, "after": True}


@pytest.mark.parametrize("setup", [Setup("corrective_rag"), Setup("corrective_retrieval", grader="llm")])
def test_a_grader_without_its_chat_model_is_refused(dataset: Dataset, setup: Setup) -> None:
    """With the settings, and the grader that needs none."""
    with pytest.raises(ConfigurationError, match=r"CRAG_LLM_BASE_URL.*--grader heuristic"):
        evaluate(dataset, setup)


def test_the_same_pipeline_with_a_heuristic_needs_no_chat_model(dataset: Dataset) -> None:
    """Its generator is not made either."""
    assert evaluate(dataset, Setup("corrective_rag", grader="evidence"))[0]["verdict"] == "correct"


def test_a_pipeline_that_judges_nothing_is_refused(dataset: Dataset) -> None:
    """With one that does."""
    with pytest.raises(ConfigurationError, match=r"no component \['router'\]; choose another"):
        evaluate(dataset, Setup("indexing"))


def test_lists_are_needed_for_fixed_lists(tmp_path: Path) -> None:
    """With the file that is missing, and the other way."""
    folder = write_dataset(tmp_path / "own", without=["bm25_top10.jsonl", "gap_bm25_top10.jsonl"])
    with pytest.raises(ConfigurationError, match=r"no fixed lists; .*or take --lists live"):
        evaluate(read_dataset(folder, SPLIT), EVIDENCE)


def test_an_interrupted_evaluation_goes_on(dataset: Dataset, tmp_path: Path) -> None:
    """What was finished is not judged again, also when the last line was cut off."""
    journal = tmp_path / "result.json.records.jsonl"
    whole = evaluate(dataset, EVIDENCE, journal=journal)
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:11]) + lines[11][:40])
    told: list[tuple[int, int | None]] = []
    again = evaluate(dataset, EVIDENCE, journal=journal, progress=lambda done, total, _: told.append((done, total)))
    assert told[0] == (11, len(ISLANDS))
    assert len(told) == len(ISLANDS) - 10
    assert journal.read_bytes().splitlines(keepends=True)[:11] == lines[:11]
    assert untimed(again) == untimed(whole)
    assert untimed(read_records(journal)) == untimed(whole)


def test_more_questions_go_on_from_fewer(dataset: Dataset, tmp_path: Path) -> None:
    """A first look at some questions is not lost."""
    journal, told = tmp_path / "records.jsonl", list[str]()
    evaluate(replace(dataset, cases=dataset.cases[:4]), EVIDENCE, journal=journal)
    records = evaluate(dataset, EVIDENCE, journal=journal, progress=lambda *now: told.append(now[2]))
    assert len(records) == len(ISLANDS)
    assert "q0" not in told


def test_records_of_another_evaluation_are_refused(dataset: Dataset, tmp_path: Path) -> None:
    """The message names what is different; `fresh` begins anew."""
    journal = tmp_path / "records.jsonl"
    evaluate(dataset, EVIDENCE, journal=journal)
    other = replace(EVIDENCE, grader="rerank")
    with pytest.raises(ConfigurationError, match=r"made with other grader; add --fresh"):
        evaluate(dataset, other, journal=journal)
    assert evaluate(dataset, other, journal=journal, fresh=True)
    (dataset.folder / "corpus.jsonl").write_text((dataset.folder / "corpus.jsonl").read_text() + "\n")
    with pytest.raises(ConfigurationError, match=r"made with other data; add --fresh"):
        evaluate(dataset, other, journal=journal)


@pytest.mark.parametrize(
    ("change", "different"),
    [
        ({"model": ChatModel("small", options={"temperature": 0})}, "model"),
        ({"model": ChatModel("small", "http://127.0.0.1:9/v1")}, "model"),
        ({"model": ChatModel("large")}, "model"),
        ({"model": ChatModel("small", judging=ChatModel("large"))}, "model"),
        ({"model": None}, "model"),
        ({"top_k": 3}, "top_k"),
        ({"lists": "live"}, "lists"),
        ({"grader": None}, "grader"),
        ({"pipeline": "cascade_rag"}, "pipeline"),
    ],
)
def test_what_was_judged_by_another_model_or_in_another_way_is_not_taken_up(
    dataset: Dataset, change: dict[str, Any], different: str
) -> None:
    """Figures would be of both; the key of the model's server may be exchanged in between."""
    setup = Setup("corrective_rag", grader="llm", model=ChatModel("small", api_key="old"))
    made_of, other = fingerprint(dataset, setup), fingerprint(dataset, replace(setup, **change))
    assert [name for name, value in made_of.items() if other[name] != value] == [different]
    assert fingerprint(dataset, replace(setup, model=ChatModel("small", api_key="new"))) == made_of


def test_records_made_with_other_settings_in_the_environment_are_refused(
    dataset: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`agent_rag` approves few documents without a grader; how many are few is a setting."""
    journal, setup = tmp_path / "records.jsonl", Setup("agent_rag", grader="evidence")
    evaluate(dataset, setup, journal=journal)
    monkeypatch.setenv("KB_AGENT_AUTO_APPROVE_MAX_ITEMS", "10")
    with pytest.raises(ConfigurationError, match=r"made with other settings in the environment; add --fresh"):
        evaluate(dataset, setup, journal=journal)


def test_records_made_with_other_synonyms_in_a_file_are_refused(dataset: Dataset, tmp_path: Path) -> None:
    """Files that the pipeline names belong to it, of whichever kind they are."""
    synonyms, own = tmp_path / "synonyms.yml", tmp_path / "own.yml"
    spec = yaml.safe_load(source("corrective_retrieval"))
    spec["components"]["expander"]["init_parameters"]["synonyms"] = str(synonyms)
    own.write_text(yaml.safe_dump(spec))
    journal, setup = tmp_path / "records.jsonl", Setup(str(own))
    synonyms.write_text("car: [automobile]\n")
    evaluate(dataset, setup, journal=journal)
    synonyms.write_text("car: [vehicle]\n")
    with pytest.raises(ConfigurationError, match=r"made with other pipeline; add --fresh"):
        evaluate(dataset, setup, journal=journal)


def test_records_made_with_another_calibration_in_the_users_folder_are_refused(
    dataset: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of `~/mine.json` in a pipeline, too: what was judged by the one before would pass for this one's."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    own, mine, journal = tmp_path / "own.yml", tmp_path / "mine.json", tmp_path / "records.jsonl"
    shipped = (files("haystack_integrations.crag") / "models" / "calibration" / "default.json").read_bytes()
    spec = yaml.safe_load(source("corrective_retrieval"))
    spec["components"]["grader"]["init_parameters"] = {"calibration": "~/mine.json"}
    own.write_text(yaml.safe_dump(spec))
    for setup, different in (
        (Setup(str(own)), "pipeline"),
        (Setup("corrective_retrieval", calibration="~/mine.json"), "calibration"),
    ):
        mine.write_bytes(shipped)
        evaluate(dataset, setup, journal=journal, fresh=True)
        assert evaluate(dataset, setup, journal=journal)
        mine.write_bytes(shipped + b"\n")
        with pytest.raises(ConfigurationError, match=f"made with other {different}; add --fresh"):
            evaluate(dataset, setup, journal=journal)


def test_records_made_with_another_model_in_the_same_folder_are_refused(dataset: Dataset, tmp_path: Path) -> None:
    """A model that was trained anew has other vectors, and so has what is judged by them."""
    journal, folder = tmp_path / "records.jsonl", tmp_path / "model"
    copytree(str(files("haystack_integrations.crag") / "models" / "static-minilm-256"), folder)
    setup = replace(EVIDENCE, encoder=str(folder))
    evaluate(dataset, setup, journal=journal)
    assert evaluate(dataset, setup, journal=journal)
    (folder / "config.json").write_text((folder / "config.json").read_text() + "\n")
    with pytest.raises(ConfigurationError, match=r"made with other encoder; add --fresh"):
        evaluate(dataset, setup, journal=journal)


def test_records_made_with_other_code_are_refused(
    dataset: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A clone judges otherwise after an update, and bears the same version: old figures would pass for those of now."""
    journal, updated = tmp_path / "records.jsonl", tmp_path / "crag"
    evaluate(dataset, EVIDENCE, journal=journal)
    copytree(PACKAGE, updated, ignore=ignore_patterns("*.pyc", "*.safetensors"))
    monkeypatch.setattr("haystack_integrations.crag.evaluation.made_of.PACKAGE", updated)
    assert evaluate(dataset, EVIDENCE, journal=journal)
    (updated / "state.py").write_text((updated / "state.py").read_text("utf-8") + "\n", "utf-8")
    with pytest.raises(ConfigurationError, match=r"made with other code of crag-haystack; add --fresh"):
        evaluate(dataset, EVIDENCE, journal=journal)


JUDGING = r"\b(router|grader|scorer|gate|prefilter|strips)(?=:\n|\.)"


@pytest.mark.parametrize("pipeline", ["corrective_retrieval", "paper_rag", "agent_rag", "cascade_rag"])
@pytest.mark.parametrize("lists", ["fixed", "live"])
def test_the_parts_that_judge_may_have_any_name(
    dataset: Dataset, tmp_path: Path, configured_model: ScriptedModel, pipeline: str, lists: Lists
) -> None:
    """A cascade, for one, is known by its gate; and what the grading model is for is known, too."""
    configured_model.reply = judging(lambda text: 0.9 if "was built by" in text else 0.4)
    model = chat_model()
    assert model is not None
    asked = replace(model, judging=replace(model, model="small", judging=None))
    own, few = tmp_path / "own.yml", replace(dataset, cases=dataset.cases[:3])
    own.write_text(re.sub(JUDGING, r"our_\1", source(pipeline)))
    shipped = str(files("haystack_integrations.crag") / "models" / "calibration" / "default.json")
    changes: list[dict[str, Any]] = [{}, {"calibration": shipped}]
    for change in (*changes, *([{"grader": "heuristic"}] if pipeline != "cascade_rag" else [])):
        done = []
        for name in (pipeline, str(own)):
            setup = Setup(name, lists=lists, model=asked, **change)
            before = configured_model.calls
            records = untimed(evaluate(few, setup, workers=1))
            models = Counter(call["model"] for call in configured_model.requests[before:])
            done.append((records, setup.grader_name, setup.is_cascade, models))
        assert done[0] == done[1]


def test_a_pipeline_with_nothing_that_is_known_to_grade_is_refused(dataset: Dataset, tmp_path: Path) -> None:
    """Of fixed lists: every verdict would be `ungraded`, and every figure 0."""
    own, spec = tmp_path / "own.yml", yaml.safe_load(source("corrective_retrieval"))
    spec["components"]["grader"]["type"] = "house.rules.Judge"
    spec["connections"] = [one for one in spec["connections"] if one["sender"] != "grader.report"]
    own.write_text(re.sub(r"\bgrader(?=[:.])", "judge", yaml.safe_dump(spec)))
    with pytest.raises(ConfigurationError, match=r"nothing that grades is found .*'judge'.* to router\.report"):
        evaluate(dataset, Setup(str(own)))
    assert untimed(evaluate(dataset, Setup("baseline_rag")))[0]["rule"] == "mode_off"  # the control has none


def test_lists_are_not_taken_from_a_pipeline_that_judges_them_whatever_it_is_told(
    dataset: Dataset, tmp_path: Path
) -> None:
    """Without an input `mode` its lists are what passed the filter, and a calibration would learn from these alone."""
    own = tmp_path / "own.yml"
    own.write_text(source("corrective_retrieval").replace("  mode: [guard.mode]\n", ""))
    with pytest.raises(ConfigurationError, match=r"takes no mode.*`mode: \[guard.mode\]`"):
        Retrieval.over(dataset, str(own))
    assert (
        Retrieval.over(dataset, "baseline_rag").of(dataset.cases[0].question).retrieved
    )  # its router judges nothing anyway


@pytest.mark.parametrize("pipeline", ["corrective_rag", "cascade_rag", "agent_rag"])
def test_lists_are_taken_without_a_chat_model_whatever_its_parts_are_called(
    dataset: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pipeline: str
) -> None:
    """Nothing is asked in mode `off`, so no part needs the key of a model."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    own, asked = tmp_path / "own.yml", dataset.cases[0].question
    own.write_text(re.sub(r"\b(grader|generator|expander)(?=[:.])", r"our_\1", source(pipeline)))
    assert Retrieval.over(dataset, str(own)).of(asked) == Retrieval.over(dataset, pipeline).of(asked)


def test_lists_are_as_long_as_the_pipeline_makes_them_unless_told_otherwise(tmp_path: Path) -> None:
    """What is calibrated on is what will be judged; `crag collect` and `crag label` ask for a length of their own."""
    dataset, _ = towns()
    own, text = tmp_path / "own.yml", source("corrective_retrieval").replace("top_k: 10", "top_k: 7")
    own.write_text(text.replace("rrf_k: 1", "rrf_k: 1\n      top_k: 7"), "utf-8")
    lengths = [
        len(Retrieval.over(dataset, str(own), depth).of(dataset.cases[0].question).retrieved) for depth in (None, 3, 30)
    ]
    assert lengths == [7, 3, 30]


def test_a_broken_line_among_the_records_is_named(dataset: Dataset, tmp_path: Path) -> None:
    """Not at the end, so no interruption explains it."""
    journal = tmp_path / "records.jsonl"
    evaluate(dataset, EVIDENCE, journal=journal)
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join([*lines[:3], b"{broken\n", *lines[4:]]))
    with pytest.raises(SourceError, match=r"records\.jsonl:4: got another line"):
        evaluate(dataset, EVIDENCE, journal=journal)


@pytest.mark.parametrize(
    "changes",
    [
        {"id": {}},
        {"cost": None},
        {"cost": {"llm_calls": "x"}},
        {"score": "x"},
        {"documents": [5]},
        {"gap": [1]},
        {"gap": {}},
    ],
)
def test_a_line_that_is_no_record_is_named(dataset: Dataset, tmp_path: Path, changes: dict[str, Any]) -> None:
    """Each measure reads of it what it needs, and would end with an error that says nothing."""
    journal = tmp_path / "records.jsonl"
    evaluate(dataset, EVIDENCE, journal=journal)
    lines = journal.read_text().splitlines()
    for line in (json.dumps({**json.loads(lines[3]), **changes}), '{"id": "q3"}'):
        journal.write_text("\n".join([*lines[:3], line, *lines[4:], ""]))
        with pytest.raises(SourceError, match=r"records\.jsonl:4: got another line"):
            evaluate(dataset, EVIDENCE, journal=journal)


def test_grades_that_pandas_wrote_are_read_again(dataset: Dataset, tmp_path: Path) -> None:
    """As 2.0; the records of hours with a model would be of no use to the next run, nor to a comparison."""
    file, journal = dataset.folder / SPLIT / LISTS, tmp_path / "records.jsonl"
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    grades = {case.id: case.grades(case.fixed) for case in dataset.cases if case.fixed is not None}
    write_rows(file, [{**line, "grades": [*map(float, grades[line["id"]])]} for line in lines])
    again = read_dataset(dataset.folder, SPLIT)
    records = evaluate(again, EVIDENCE, journal=journal)
    assert read_records(journal) == evaluate(again, EVIDENCE, journal=journal) == records
    assert records[0]["documents"][0]["label"] == 2


OWN_GRADER = """
from typing import Any
import numpy as np
from haystack import Document, component
from haystack_integrations.crag.components import HeuristicGrader

@component
class Own:
    def __init__(self, says: str):
        self.says = says

    @component.output_types(documents=list[Document], report=dict[str, Any])
    def run(self, query: str, documents: list[Document], state: Any = None):
        graded = HeuristicGrader().run(query=query, documents=documents)["documents"]
        verdict = "Correct" if self.says == "a word" else {"probabilities": {"correct": np.float32(0.5)}}
        said = {"verdict": verdict, "set_score": np.float32(0.5), "llm_calls": np.int64(3)}
        return {"documents": graded, "report": said}
"""


@pytest.mark.parametrize(("says", "probabilities"), [("a word", None), ("a mapping", {"correct": 0.5})])
def test_what_a_grader_of_ones_own_says_is_read_as_the_router_reads_it(
    dataset: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: str, probabilities: dict[str, float] | None
) -> None:
    """Numbers of NumPy, which could be shown and not written, and a verdict that is a word alone."""
    (tmp_path / "own_of_this_test.py").write_text(OWN_GRADER)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("HAYSTACK_DESERIALIZATION_ALLOWLIST", "own_of_this_test")
    own, journal = tmp_path / "own.yml", tmp_path / "records.jsonl"
    spec = yaml.safe_load(source("corrective_retrieval"))
    spec["components"]["grader"] = {"type": "own_of_this_test.Own", "init_parameters": {"says": says}}
    own.write_text(yaml.safe_dump(spec))
    records = evaluate(dataset, Setup(str(own)), journal=journal)
    assert read_records(journal) == records
    assert {type(record["cost"]["llm_calls"]) for record in records} == {int}
    assert (records[0]["probabilities"], records[0]["cost"]["llm_calls"]) == (probabilities, 3)


def test_a_killed_worker_loses_nothing_that_was_finished(tmp_path: Path) -> None:
    """The message says what to do, and doing it ends the evaluation."""
    many = read_dataset(write_dataset(tmp_path / "many", times=30), SPLIT)
    journal, seen = tmp_path / "records.jsonl", list[str]()

    def kill(done: int, total: int | None, name: str) -> None:
        seen.append(name)
        for process in multiprocessing.active_children():
            process.kill()

    with pytest.raises(EvaluationError, match="run the same command again"):
        evaluate(many, EVIDENCE, journal=journal, workers=2, progress=kill)
    assert 0 < len(seen) < len(many.cases)
    assert [record["id"] for record in read_records(journal)] == seen
    told: list[str] = []
    assert len(evaluate(many, EVIDENCE, journal=journal, workers=1, progress=lambda *now: told.append(now[2]))) == 720
    assert not set(told) & set(seen)


def test_a_question_that_fails_ends_no_evaluation(tmp_path: Path) -> None:
    """Its record holds the error, its label, so that it counts, and nothing made up; run again, it is tried again."""
    folder = write_dataset(tmp_path / "set")
    dataset = read_dataset(folder, SPLIT)
    broken = replace(dataset.cases[3], gap=replace(dataset.cases[3].gap, retrieved=("vanished",)))  # type: ignore[type-var]
    half = replace(dataset, cases=(*dataset.cases[:3], broken, *dataset.cases[4:]))
    journal = tmp_path / "records.jsonl"
    record = evaluate(half, EVIDENCE, journal=journal)[3]
    assert record["error"].startswith("KeyError")
    assert (record["verdict"], record["documents"], record["cost"]["seconds"]) == (None, [], None)
    assert record["label"] == "correct"
    assert verdict_measures([record])["accuracy"] == 0.0
    told: list[str] = []
    whole = evaluate(dataset, EVIDENCE, journal=journal, progress=lambda *now: told.append(now[2]))
    assert told == ["q3"]
    assert all(one["error"] is None for one in whole)


def test_live_lists_run_the_whole_pipeline(dataset: Dataset) -> None:
    """On an index of the corpus: every answer is in it, and every question finds it."""
    records = evaluate(dataset, Setup("corrective_retrieval", lists="live", grader="evidence"), workers=1)
    assert {record["label"] for record in records} == {"correct"}
    assert all(record["verdict"] == "correct" for record in records)
    assert all(record["support"]["after"] for record in records)
    assert set(records[0]["first"]) == {"verdict", "score", "label"}
    assert records[0]["gap"] is None


def test_all_that_a_live_run_judged_counts_in_what_was_kept(dataset: Dataset, tmp_path: Path) -> None:
    """The kept ones come first in a record: of its first ten, those that were wrongly discarded would be missing."""
    pipeline = tmp_path / "wide.yml"
    text = (
        source("corrective_retrieval")
        .replace("top_k: 10", "top_k: 25")
        .replace("rrf_k: 1", "rrf_k: 1\n      top_k: 25")
    )
    pipeline.write_text(text, "utf-8")
    one = dataset.cases[0]
    wanted = replace(one, partial=tuple(name for name in dataset.passages if name.startswith("built-"))[1:])
    setup = Setup(str(pipeline), lists="live", grader="evidence")
    (record,) = evaluate(replace(dataset, cases=(wanted,)), setup, workers=1)
    assert len(record["documents"]) == 25
    lost = [document for document in record["documents"] if document["label"] == 1 and not document["kept"]]
    found = tally(record)
    assert (len(lost), found["filter.gold"] - found["filter.hits"]) == (23, 23)


def test_live_lists_are_fitted_on_and_looked_through_as_the_pipeline_judges_them(dataset: Dataset) -> None:
    """
    Below their titles, as in an index: a calibration on the bare texts of 308 lists of clapnq gave 21 another verdict
    than it was measured with, 17 of them `correct`. Labels of sentences stay where they are.
    """
    store, read = memory_store(), as_indexed(dataset)
    fill(store, read)
    assert {one.id: one.content for one in store.filter_documents()} == {
        name: f"{one.title}\n\n{one.text}" if not one.text.startswith(one.title) else one.text
        for name, one in dataset.passages.items()
    }
    judged, _, _ = _lists(dataset, "live", "corrective_retrieval")
    assert judged == as_indexed(read) == read
    for name, number in ((name, number) for case in dataset.cases for name, number in case.gold_sentences):
        own, below = Sentences(dataset.passages).of(name)[number], Sentences(read.passages).of(name)[number]
        assert dataset.passages[name].text[own[0] : own[1]] == read.passages[name].text[below[0] : below[1]]
    uncut = replace(dataset, passages={name: replace(one, sentences=None) for name, one in dataset.passages.items()})
    assert as_indexed(uncut).passages["built-0"].sentences == dataset.passages["built-0"].sentences
    lights = replace(dataset.passages["built-0"], title="Lights of old", sentences=None)
    asked = replace(dataset.cases[0], answers=("lights of old",), gold_sentences=frozenset())
    other = replace(dataset, passages={**dataset.passages, "built-0": lights}, cases=(asked,))
    (record,) = evaluate(other, replace(EVIDENCE, lists="live"), workers=1)
    assert record["support"] == {"before": True, "after": True}


def test_a_calibration_is_not_measured_on_lists_of_other_retrievers(tmp_path: Path) -> None:
    """At once, as at run time it would refuse them; whose retrievers are not told are judged."""
    data = towns()[0]
    cases = [replace(one, fixed=replace(one.fixed, retrievers=("bm25",))) for one in data.cases[:3] if one.fixed]
    setup = Setup("corrective_retrieval", calibration=str(_of_retrievers(tmp_path, "sparse")))
    with pytest.raises(ConfigurationError, match=r"of \['sparse'\], but these documents come from \['bm25'"):
        evaluate(replace(data, cases=tuple(cases)), setup, workers=1)
    unnamed = [replace(one, fixed=replace(one.fixed, retrievers=())) for one in cases if one.fixed]
    assert not any(one["error"] for one in evaluate(replace(data, cases=tuple(unnamed)), setup, workers=1))


def test_a_setting_that_some_questions_fail_by_does_not_end_a_live_evaluation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as one of a part that only a correction reaches: what needs none is judged."""
    judged = Heuristics.grade

    def grade(self: Heuristics, query: str, documents: Sequence[Document], state: CragState | None) -> Graded:
        if "violins" in query:
            msg = "this question cannot be judged so"
            raise ConfigurationError(msg)
        return judged(self, query, documents, state)

    monkeypatch.setattr(Heuristics, "grade", grade)
    data = towns()[0]
    cases = data.cases[0], replace(data.cases[1], question="Who repairs old violins in winter?")
    setup = Setup("corrective_retrieval", lists="live")
    told = [one["error"] for one in evaluate(replace(data, cases=cases), setup, workers=1)]
    assert told[0] is None
    assert "this question cannot be judged so" in told[1]


def _of_retrievers(folder: Path, *names: str) -> Path:
    file = folder / "mine.json"
    file.write_text(json.dumps(replace(calibrated_towns().calibration, retrievers=names).to_dict()))
    return file


def test_the_order_of_the_corpus_changes_no_live_list(dataset: Dataset) -> None:
    """Not even between documents of one score."""
    twins = {f"twin-{n}": Passage(f"twin-{n}", "Twins", "Twins stand side by side.") for n in range(4)}
    case = Case("q", "Where do twins stand?")
    first, *others = (
        Retrieval.over(replace(dataset, passages=dict(passages), cases=(case,)), "corrective_retrieval").of(
            case.question
        )
        for passages in (twins.items(), reversed(twins.items()))
    )
    assert others == [first]


def test_a_pipeline_with_a_web_search_runs_live_without_it(dataset: Dataset) -> None:
    """No provider is asked, and none need be configured."""
    few = replace(dataset, cases=dataset.cases[:4])
    records = evaluate(few, Setup("heuristic_rag", lists="live", top_k=5), workers=1)
    assert all(record["error"] is None for record in records)
    assert all(one["id"] in dataset.passages for record in records for one in record["documents"])


def test_live_lists_need_no_lists_in_the_data(tmp_path: Path) -> None:
    """A user's own questions with what answers them are enough."""
    folder = write_dataset(tmp_path / "own", without=["bm25_top10.jsonl", "gap_bm25_top10.jsonl"])
    dataset = read_dataset(folder, SPLIT)
    assert len(evaluate(dataset, Setup("corrective_retrieval", lists="live"), workers=1)) == len(ISLANDS)


def test_a_pipeline_with_a_generator_needs_a_chat_model_when_live(dataset: Dataset) -> None:
    """It would answer each question."""
    with pytest.raises(ConfigurationError, match="CRAG_LLM_BASE_URL"):
        evaluate(dataset, Setup("corrective_rag", lists="live", grader="heuristic"))


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"grader": "best"}, r"got the grader 'best', wanted one of"),
        ({"lists": "some"}, r"got the lists 'some'"),
        ({"grader": "rerank", "calibration": "mine.json"}, r"leave out one of the two"),
    ],
)
def test_a_contradiction_is_refused(settings: dict[str, Any], said: str) -> None:
    """At once."""
    with pytest.raises(ConfigurationError, match=said):
        Setup("corrective_retrieval", **settings)


def test_answers_are_found_on_word_boundaries() -> None:
    """Case, accents and punctuation do not count."""
    assert normal("Zoë Ångström, (1889)!") == " zoe angstrom 1889 "
    assert normal(BUILDERS[0]) in normal("It was ADDA finch's.")
    assert normal("cat") not in normal("concatenate")


@pytest.mark.parametrize(
    ("answer", "text", "other"),
    [
        ("\u5317\u4eac", "\u9996\u90fd\u662f\u5317\u4eac\u3002", "\u4eac\u5317"),
        (
            "333\u30e1\u30fc\u30c8\u30eb",
            "\u9ad8\u3055333\u30e1\u30fc\u30c8\u30eb\u3067\u3059",
            "1333\u30e1\u30fc\u30c8\u30eb",
        ),
        ("\u0e01\u0e23\u0e38\u0e07", "\u0e04\u0e37\u0e2d\u0e01\u0e23\u0e38\u0e07\u0e21\u0e2b\u0e32", "\u0e01\u0e23"),
        ("\uc11c\uc6b8", "\uc218\ub3c4\ub294 \uc11c\uc6b8\uc774\ub2e4.", "\uc6b8\uc11c"),
    ],
)
def test_answers_are_found_in_texts_without_spaces(answer: str, text: str, other: str) -> None:
    """Chinese, Japanese, Thai; and Korean, which writes particles onto a word. No answer was ever supported there."""
    assert normal(answer) in normal(text)
    assert normal(answer) not in normal(other)


def test_every_kind_of_list_is_in_the_data() -> None:
    """Guards the tests above."""
    assert len(GAPS) < len(CORRECT) < len(CORRECT) + len(AMBIGUOUS) < len(ISLANDS)
    assert json.dumps(BUILDERS)


def test_records_that_another_command_is_writing_are_left_alone(dataset: Dataset, tmp_path: Path) -> None:
    """Begun twice, each would write its lines over the other's, and what was paid for would be lost."""
    journal = tmp_path / "r.json.records.jsonl"
    log = Journal(journal, dataset, EVIDENCE, fresh=False)
    for fresh in (False, True):
        with pytest.raises(ConfigurationError, match="another command is writing"):
            evaluate(dataset, EVIDENCE, journal=journal, fresh=fresh)
    log.close()
    assert len(evaluate(dataset, EVIDENCE, journal=journal)) == 24
    assert len(read_records(journal)) == 24


def test_records_whose_writer_was_killed_in_the_first_line_begin_anew(dataset: Dataset, tmp_path: Path) -> None:
    """There is nothing in them that could be of another evaluation."""
    journal = tmp_path / "r.json.records.jsonl"
    journal.write_text('{"format": "crag-ev')
    evaluate(dataset, EVIDENCE, journal=journal)
    assert len(read_records(journal)) == 24
