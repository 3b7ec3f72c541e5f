"""What holds for every shipped pipeline file."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from haystack import Document, Pipeline
from makers import asked, fill, graded, grading_by, run_by_door, scripted
from metasearch import Metasearch

from haystack_integrations.crag.components.batch_relevance_grader import BatchRelevanceGrader
from haystack_integrations.crag.pipelines import export, load, names
from haystack_integrations.crag.pipelines.checks import asks_a_model
from haystack_integrations.crag.pipelines.loader import read, source

ALL = names()
QUERY_PIPELINES = [name for name in ALL if name != "indexing"]


def test_each_loads_with_haystacks_safe_settings() -> None:
    """In a fresh process without any setting, as a user's app does after `pip install`; none helps another."""
    code = f"""
import os
from haystack import Pipeline

for name, text in {[(name, source(name)) for name in ALL]!r}:
    if os.fork() == 0:
        Pipeline.loads(text)
        print(name, flush=True)
        os._exit(0)
    os.wait()
"""
    environment = {"PATH": "/usr/bin:/bin", "HAYSTACK_TELEMETRY_ENABLED": "False", "PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
    assert done.stdout.split() == ALL, done.stderr[-2000:]


@pytest.mark.parametrize("name", ALL)
def test_its_inputs_and_outputs_exist(name: str) -> None:
    """Every declared socket is one of the pipeline's."""
    spec, pipeline = read(name), Pipeline.loads(source(name))
    inputs, outputs = pipeline.inputs(), pipeline.outputs(include_components_with_connected_outputs=True)
    declared = {**spec["inputs"], **spec.get("optional_inputs", {})}
    paths = [path for value in declared.values() for path in ([value] if isinstance(value, str) else value)]
    for part, socket in (path.split(".", 1) for path in paths):
        assert socket in inputs[part]
    for part, socket in (path.split(".", 1) for path in spec["outputs"].values()):
        assert socket in outputs[part]


@pytest.mark.parametrize("name", QUERY_PIPELINES)
def test_a_model_that_hangs_in_every_grading_leaves_time_for_the_answer(name: str) -> None:
    """All passes at the grader's deadline, and still some seconds of the run's budget."""
    pipeline = Pipeline.loads(source(name))
    parts = {part: pipeline.get_component(part) for part in pipeline.graph.nodes}
    if not isinstance(parts.get("grader"), BatchRelevanceGrader):
        return
    loops = parts["router"].on_ungraded in ("refine", "re_retrieve")
    passes = (parts["router"].max_iterations or 3) if loops else 1  # 3: KB_AGENT_MAX_ITERATIONS unset
    assert passes * parts["grader"].deadline_s + 5 <= parts["guard"].budget["seconds"]


@pytest.mark.parametrize("name", ALL)
def test_it_survives_two_round_trips(name: str) -> None:
    """What Haystack dumps it loads again, and the second dump is the same."""
    once = Pipeline.loads(source(name)).dumps()
    assert Pipeline.loads(once).dumps() == Pipeline.loads(Pipeline.loads(once).dumps()).dumps()
    assert Pipeline.loads(once).to_dict()["components"].keys() == read(name)["components"].keys()


@pytest.mark.parametrize("name", ALL)
def test_it_is_hand_written_with_a_head_that_says_what_it_needs(name: str) -> None:
    """Comment header, no dumped nulls, components in the order data flows."""
    text = source(name)
    head = [line for line in text.splitlines() if line.startswith("#")]
    assert any("Needs:" in line for line in head)
    assert any("Endpoint:" in line for line in head)
    if name in QUERY_PIPELINES:
        assert f'POST /{name}/run, with {{"question": "..."}} where `crag serve` runs it,' in text
        assert '# with {"query": "..."} where a Hayhooks deploys this file.' in head
    assert ": null" not in text


@pytest.mark.parametrize("name", QUERY_PIPELINES)
def test_every_query_pipeline_returns_a_plain_json_record(name: str, in_memory_store: Any) -> None:
    """The same record for a REST caller and a Python caller."""
    parts = {} if name == "corrective_retrieval" else {"generator": scripted("An answer.")}
    if asks_a_model(read(name)["components"].get("grader", {})):
        parts["grader"] = grading_by(lambda _: 0.9)
    result = load(name, store=in_memory_store, **parts).run(query="Is anything there?")
    record = json.loads(json.dumps(result["crag"]))
    expected = {"verdict", "score", "signals", "action", "corrections", "strategy", "corrected", "documents_before"}
    expected |= {"documents_after", "tokens", "milliseconds", "web_used", "cache_hits", "coverage", "trail"}
    assert expected <= set(record)
    assert set(record["coverage"]) >= {
        *("documents_in", "graded", "cached", "failed", "web", "iterations"),
        *("llm_calls", "tokens", "deadline_hit", "reasons"),
    }


@pytest.mark.parametrize("mode", ["observe", "off"])
@pytest.mark.parametrize("name", [name for name in QUERY_PIPELINES if name != "baseline_rag"])
def test_a_run_that_only_observes_is_answered_from_what_was_found(name: str, mode: str, in_memory_store: Any) -> None:
    """All of it and whole, strips or no strips; and the record tells of that evidence."""
    pages = [f"Refund {n} is paid within {n} days. Dogs bark. The zebra rule {n} says nothing." for n in range(4)]
    fill(in_memory_store, [Document(content=text) for text in pages])
    parts = {} if name == "corrective_retrieval" else {"generator": scripted("An answer [1].")}
    result = load(name, store=in_memory_store, **parts).run(query="When is refund 3 paid?", mode=mode)
    assert sorted(document.content for document in result["documents"]) == sorted(pages)
    record = result["crag"]
    assert (record["documents_after"], len(record["kept"]), record["corrected"]) == (4, 4, False)


@pytest.mark.parametrize("name", QUERY_PIPELINES)
def test_a_grade_that_a_stored_document_brings_along_is_none_of_the_run(name: str, in_memory_store: Any) -> None:
    """Evidence that somebody wrote back into the store, or a grade that was planted there, also for this question."""
    question = "When is refund 3 paid?"
    brought = graded("x", 1.0, question, source="a.md").meta
    fill(in_memory_store, [Document(content=f"Dogs bark {n} times a day.", meta=brought) for n in range(4)])
    parts = {} if name == "corrective_retrieval" else {"generator": scripted("An answer.")}
    if asks_a_model(read(name)["components"].get("grader", {})):
        parts["grader"] = grading_by(lambda _: 0.0)
    record = load(name, store=in_memory_store, **parts).run(query=question)["crag"]
    assert not [entry for decision in record["trail"] for entry in decision["kept"] if entry["grader"] == "test"]
    assert record["trail"][0]["coverage"]["cached"] == 0


@pytest.mark.parametrize("name", QUERY_PIPELINES)
def test_it_can_be_exported_for_elasticsearch_and_loads_again(name: str) -> None:
    """Other retrievers, whose reports reach the router, and all connections of the shipped file; safe settings."""
    text = export(name, store="elasticsearch", url="http://127.0.0.1:9", index="manuals")
    spec = yaml.safe_load(text)
    shipped = read(name)["connections"]
    assert spec["connections"][: len(shipped)] == shipped
    added = {one["receiver"]: one["sender"] for one in spec["connections"][len(shipped) :]}
    state = next(one["sender"] for one in shipped if one["receiver"] == "router.state")
    assert added == {"bm25.state": state, "fuse.bm25_report": "bm25.report"}
    connected = {one["receiver"]: one["sender"] for one in shipped}
    assert (connected["dense.state"], connected["fuse.dense_report"]) == (state, "dense.report")
    assert connected["router.retrieval"] == "fuse.report"
    bm25 = spec["components"]["bm25"]["init_parameters"]
    assert bm25["fuzziness"] == "0"
    store = bm25["document_store"]["init_parameters"]
    assert store["index"] == "manuals"
    assert store["request_timeout"] == 5
    assert store["custom_mapping"]["_source"] == {"enabled": True, "excludes": ["embedding"]}
    assert spec["components"]["fuse"]["init_parameters"]["similarity"] == {"dense": "half_cosine"}
    Pipeline.loads(text)


def test_the_folder_is_flat_and_holds_only_pipelines() -> None:
    """Hayhooks takes a sub-folder for a wrapper, and Python would take an __init__.py for a package."""
    folder = Path(str(read.__globals__["files"]("haystack_integrations.crag"))) / "yaml"
    assert {path.suffix for path in folder.iterdir()} == {".yml"}


@pytest.mark.parametrize("asynchronous", [False, True], ids=["run", "run_async"])
@pytest.mark.parametrize("name", ["paper_rag", "strict_rag"])
def test_a_rewriter_without_another_query_starts_no_second_run_beside_the_first(
    name: str, asynchronous: bool, in_memory_store: Any, metasearch: Metasearch
) -> None:
    """A question of one word has no other query for the web: what comes then is judged once, with the run's state."""
    calls = []

    def reply(messages: Any) -> str:
        calls.append(messages)
        text, documents = messages[-1].text, asked(messages)
        if documents:
            return json.dumps({"evaluations": [{"id": key, "score": 0.5} for key in documents]})
        return "By Austen [1]." if "passage-" in text else "emma"

    fill(in_memory_store, [Document(content="Emma is a novel."), Document(content="Emma was a film.")])
    metasearch.finds(["Emma is on the web."])
    router = {"max_iterations": 3, "upper": 1.0, "lower": 0.0}
    rag = load(name, store=in_memory_store, generator=scripted(reply), router=router)
    crag = run_by_door(rag, asynchronous=asynchronous, query="Emma")["crag"]
    assert (len(crag["trail"]), crag["documents_before"]) == (3, 2)
    assert [decision["after"] for decision in crag["trail"]] == [None, "web_and_refine", "web_and_refine"]
    assert crag["trail"][-1]["judged_by"] == "nothing_new"
    assert crag["llm_calls"] == len(calls)
    assert metasearch.queries == ["emma"]


@pytest.mark.parametrize("asynchronous", [False, True], ids=["run", "run_async"])
@pytest.mark.parametrize("name", [name for name in QUERY_PIPELINES if "web" in read(name)["components"]])
def test_a_pass_that_the_web_led_to_is_on_record_as_a_search_of_the_web(
    name: str, asynchronous: bool, in_memory_store: Any, metasearch: Metasearch
) -> None:
    """With the words that were sent: where no rewriter notes them, as much as where one does."""
    fill(in_memory_store, [Document(content=f"Dogs bark {n} times a day.") for n in range(3)])
    metasearch.finds(["A refund of type 3 is paid within three days."])
    parts = {} if name == "heuristic_rag" else {"generator": scripted("Within three days [1].")}
    if asks_a_model(read(name)["components"]["grader"]):
        scale = 10 if name == "ranked_rag" else 1
        parts["grader"] = grading_by(lambda text: scale * (0.9 if "refund" in text else 0.0))
    rag = load(name, store=in_memory_store, **parts)
    crag = run_by_door(rag, asynchronous=asynchronous, query="When is a refund of type 3 paid?")["crag"]
    assert [decision["coverage"]["web"] for decision in crag["trail"]] == ["off", "ok"]
    assert crag["retrieval"] == ["first", "web"]
    assert crag["queries"][1:] == metasearch.queries


def test_an_abstention_names_both_places_that_one_query_was_looked_for_in(
    in_memory_store: Any, metasearch: Metasearch
) -> None:
    """The question goes to the web in the words that the documents were searched for."""
    fill(in_memory_store, [Document(content="Dogs bark.")])
    metasearch.finds(["Cats sleep."])
    rag = load("ranked_rag", store=in_memory_store, grader=grading_by(lambda _: 0.0), generator=scripted("No."))
    result = rag.run(query="When is a refund paid?")
    assert result["crag"]["abstention"]["looked_for"] == [
        {"query": "When is a refund paid?", "strategies": ["", "web"]}
    ]
    assert 'Looked for: "When is a refund paid?" (documents, web).' in result["answers"][0].data


@pytest.mark.parametrize("name", ["ranked_rag", "signals_rag"])
def test_a_web_that_was_not_searched_is_not_said_to_have_been_looked_in(
    name: str, in_memory_store: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The abstention names the search of the index alone."""
    monkeypatch.delenv("CRAG_SEARXNG_URL", raising=False)
    fill(in_memory_store, [Document(content="Dogs bark.")])
    parts: dict[str, Any] = {"generator": scripted("An answer.")}
    parts |= {"grader": grading_by(lambda _: 0.0)} if name == "ranked_rag" else {}
    crag = load(name, store=in_memory_store, **parts).run(query="When is a refund paid?")["crag"]
    assert crag["coverage"]["web"] == "skipped"
    assert crag["abstention"] is None or [one["strategies"] for one in crag["abstention"]["looked_for"]] == [[""]]


@pytest.mark.parametrize("name", QUERY_PIPELINES)
def test_where_nothing_is_judged_no_document_has_a_score(name: str, in_memory_store: Any) -> None:
    """Neither 0.5 nor `failed`: nobody was asked, and nothing failed."""
    fill(in_memory_store, [Document(content=f"Refund {n} is paid within {n} days.") for n in range(3)])
    parts = {} if name == "corrective_retrieval" else {"generator": scripted("An answer [1].")}
    off = {} if name == "baseline_rag" else {"mode": "off"}
    crag = load(name, store=in_memory_store, **parts).run(query="When is refund 2 paid?", **off)["crag"]
    decision = crag["trail"][0]
    for entry in (*crag["kept"], *decision["kept"]):
        assert (entry["score"], entry["status"], entry["grader"], entry["reason"]) == (None, None, None, "mode_off")
    assert {entry["reason"] for entry in crag["corrections"]} == {"mode_off"}
    assert (decision["coverage"]["failed"], crag["coverage"]["degraded"]) == (0, False)


@pytest.mark.parametrize("name", QUERY_PIPELINES)
def test_what_asks_a_model_before_the_answer_is_bounded(name: str) -> None:
    """A model that writes useless replies ends up at the budget, not at the sum of all limits."""
    parts = read(name)["components"]
    asking = [part for part in parts if asks_a_model(parts[part]) and part != "generator"]
    assert not asking or parts["guard"]["init_parameters"]["budget"]["llm_calls"] <= 6
