"""Every span and attribute of docs/observability.md, of real runs; nothing of them is text of a user."""

import re
from pathlib import Path
from typing import Any

import pytest
from haystack import Document, Pipeline
from haystack.dataclasses import ChatMessage
from makers import cacheable, fill, grading_by, scripted
from metasearch import Metasearch
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from reading import named
from web_server import web_server

import haystack_integrations.crag as package
from haystack_integrations.crag.caching import MemoryGradeCache
from haystack_integrations.crag.components.batch_relevance_grader import BatchRelevanceGrader
from haystack_integrations.crag.components.elasticsearch_retrievers import ReportingBM25Retriever
from haystack_integrations.crag.components.follow_up_rewriter import FollowUpRewriter
from haystack_integrations.crag.components.heuristic_grader import HeuristicGrader
from haystack_integrations.crag.components.searxng_web_search import SearXNGWebSearch
from haystack_integrations.crag.components.web_fallback import WebFallback
from haystack_integrations.crag.observing.telemetry import traced_id
from haystack_integrations.crag.pipelines import export, load, names
from haystack_integrations.crag.store_profiles import open_store

PAGE = (Path(__file__).parents[2] / "docs" / "observability.md").read_text("utf-8")
QUESTION = "Where do canary birds sing?"


@pytest.fixture
def store(in_memory_store: Any) -> Any:
    """Five documents."""
    fill(in_memory_store, [Document(content=f"Canary birds sing in cage {n}") for n in range(5)])
    return in_memory_store


def test_the_retrievers_of_a_run_say_what_they_gave(spans: InMemorySpanExporter, store: Any) -> None:
    """On their own spans, whose time is theirs, in the words of the conventions."""
    load("corrective_rag", store=store, generator=scripted("x"), grader=grading_by(lambda _: 0.9)).run(query=QUESTION)
    runs = [run for run in named(spans, "haystack.component.run") if run.get("gen_ai.operation.name") == "retrieval"]
    assert {run["haystack.component.name"] for run in runs} == {"bm25", "dense"}
    for run in runs:
        assert run["openinference.span.kind"] == "RETRIEVER"
        assert run["crag.documents.out"] == 5
        assert "gen_ai.retrieval.query.text" not in run
    (dense,) = [run for run in runs if run["haystack.component.name"] == "dense"]
    assert dense["gen_ai.request.top_k"] == 10  # of the file, as the run names none
    (join,) = named(spans, "crag.join")
    assert (join["crag.documents.in.bm25"], join["crag.documents.in.dense"], join["crag.documents.out"]) == (5, 5, 5)


def test_a_join_names_the_first_search_as_the_route_does(spans: InMemorySpanExporter, store: Any) -> None:
    """Also in a pipeline whose guard gives the first strategy no name."""
    load("ranked_rag", store=store, generator=scripted("x"), grader=grading_by(lambda _: 0.9)).run(query=QUESTION)
    (join,), (route,) = named(spans, "crag.join"), named(spans, "crag.route")
    assert join["crag.retrieval.strategy"] == route["crag.retrieval.strategy"] == "first"


def test_no_attribute_of_a_span_is_an_empty_text(spans: InMemorySpanExporter, store: Any) -> None:
    """A missing key has no value: here the strategy of a query that goes to the web."""
    model = {"chat_generator": scripted("canary birds")}
    grader = {"chat_generator": grading_by(lambda _: 0.1)}
    load("strict_rag", store=store, generator=scripted("x"), grader=grader, rewriter=model).run(query=QUESTION)
    (expanded,) = named(spans, "crag.expand")
    assert expanded["crag.expand.mode"] == "web"
    assert "crag.retrieval.strategy" not in expanded
    ours = [span for span in spans.get_finished_spans() if span.name.startswith("crag.")]
    assert [(span.name, key) for span in ours for key, value in (span.attributes or {}).items() if value == ""] == []


@pytest.mark.parametrize("top_k", [None, 3])
def test_a_search_of_elasticsearch_names_its_index_and_how_many_it_asked_for(
    spans: InMemorySpanExporter, top_k: int | None
) -> None:
    """Whether the run says how many or the retriever does, and also where no server answers."""
    pipeline, store = Pipeline(), open_store("elasticsearch", "http://127.0.0.1:9", "handbook")
    pipeline.add_component("bm25", ReportingBM25Retriever(document_store=store, top_k=7))
    pipeline.run({"bm25": {"query": QUESTION} | ({} if top_k is None else {"top_k": top_k})})
    (run,) = named(spans, "haystack.component.run")
    assert (run["gen_ai.data_source.id"], run["gen_ai.request.top_k"]) == ("handbook", top_k or 7)
    assert run["crag.retrieval.status"] == "failed"


def test_what_is_content_is_there_with_haystacks_switch(spans: InMemorySpanExporter, store: Any, content: None) -> None:
    """Query and documents of retrievers, the search query of each decision."""
    load("corrective_rag", store=store, generator=scripted("x"), grader=grading_by(lambda _: 0.9)).run(query=QUESTION)
    run = next(r for r in named(spans, "haystack.component.run") if r["haystack.component.name"] == "bm25")
    assert run["gen_ai.retrieval.query.text"] == "canary birds sing?", "what was searched for, without stop words"
    assert len(run["gen_ai.retrieval.documents"]) == 5
    assert set(run["gen_ai.retrieval.documents"][0]) == {"id", "score"}
    assert named(spans, "crag.route")[0]["crag.query"] == QUESTION
    assert QUESTION in str(named(spans, "haystack.pipeline.run")[0]["haystack.pipeline.input_data"])


def test_each_pass_and_the_whole_run_can_be_read(spans: InMemorySpanExporter, store: Any) -> None:
    """Rule, scores, what was dropped and why, corrections and costs; the last span sums up."""
    rag = load("agent_rag", store=store, grader=grading_by(lambda _: 0.1), generator=scripted("In cages."))
    crag = rag.run(query=QUESTION)["crag"]
    routes = named(spans, "crag.route")
    for route, decision in zip(routes, crag["trail"], strict=True):
        assert route["openinference.span.kind"] == "CHAIN"
        assert route["crag.decision"] == decision["verdict"]
        assert route["crag.decision.rule"] == decision["rule"]
        assert route["crag.decision.judged_by"] == decision["judged_by"]
        assert route.get("crag.decision.limit") == decision["limit"]
        assert route["crag.action"] == decision["action"]
        assert (route["crag.iteration"], route["crag.iteration.max"]) == (decision["iteration"], 3)
        assert route["crag.retrieval.strategy"] == decision["strategy"]
        assert route["crag.discarded.scores"] == [entry["score"] for entry in decision["discarded"]]
        assert route["crag.discarded.reasons"] == [entry["reason"] for entry in decision["discarded"]]
        assert route["crag.llm_calls"] == decision["coverage"]["llm_calls"]
        assert route["crag.tokens"] == decision["coverage"]["tokens"]
        assert route["crag.degraded"] == bool(decision["coverage"]["reasons"])
        assert route["crag.milliseconds"] >= 0
    assert [route["crag.correction.strategy"] for route in routes] == ["expand", "none"]
    (record,) = named(spans, "crag.record")
    assert record["crag.decision"] == crag["verdict"]
    assert (record["crag.iterations"], record["crag.llm_calls"]) == (crag["iterations"], crag["llm_calls"])
    assert (record["crag.tokens.in"], record["crag.tokens.out"]) == (crag["tokens"]["in"], crag["tokens"]["out"])
    assert record.get("crag.degraded.reasons", []) == crag["coverage"]["reasons"]
    (expand,) = named(spans, "crag.expand")
    assert (expand["openinference.span.kind"], expand["crag.queries.count"]) == ("CHAIN", 2)


def test_a_grading_says_who_was_asked_and_what_came_back(spans: InMemorySpanExporter) -> None:
    """Scores in document order, the prompt by its hash, each call's reply and cost."""
    grader = BatchRelevanceGrader(cacheable(), cache=MemoryGradeCache())
    documents = [Document(content="one"), Document(content="two"), Document(content="")]
    for _ in range(2):
        grader.run(query=QUESTION, documents=documents)
    first, second = named(spans, "crag.grade")
    assert first["openinference.span.kind"] == "EVALUATOR"
    assert (first["gen_ai.evaluation.name"], first["crag.grader.status"]) == ("relevance", "ok")
    assert first["crag.scores"] == [0.9, 0.1, 0.0]
    assert first["crag.document.ids"] == [document.id for document in documents]
    assert (first["crag.score.max"], first["crag.score.mean"]) == (0.9, 0.3333)
    assert len(first["crag.grader.prompt.sha256"]) == 12
    assert first["gen_ai.response.finish_reasons"] == ["stop"]
    assert (first["crag.documents.graded"], first["crag.documents.cached"]) == (3, 0)
    assert (second["crag.documents.graded"], second["crag.documents.cached"]) == (1, 2)
    (call,) = named(spans, "crag.grade.call")
    assert (call["openinference.span.kind"], call["gen_ai.operation.name"]) == ("LLM", "chat")
    assert (call["gen_ai.usage.input_tokens"], call["gen_ai.usage.output_tokens"]) == (100, 10)
    assert call["gen_ai.response.finish_reasons"] == ["stop"]
    assert call["crag.documents.in"] == 2


def test_a_grading_that_failed_says_why(spans: InMemorySpanExporter) -> None:
    """By kind; there is no score of what was not judged."""

    def broken(_: Any) -> str:
        msg = "secret text"
        raise ConnectionError(msg)

    BatchRelevanceGrader(scripted(broken)).run(query=QUESTION, documents=[Document(content="one")])
    (grade,) = named(spans, "crag.grade")
    assert (grade["crag.grader.status"], grade["error.type"]) == ("failed", "ConnectionError")
    assert (grade["crag.documents.graded"], grade["crag.documents.failed"]) == (0, 1)
    assert not {"crag.scores", "crag.score.max", "crag.score.mean"} & set(grade)
    assert named(spans, "crag.grade.call")[0]["error.type"] == "ConnectionError"


def test_an_id_that_a_user_chose_is_shown_as_a_hash(spans: InMemorySpanExporter, content: None) -> None:
    """A path says something; Haystack's own ids are hashes already. With content traced, ids are as they are."""
    HeuristicGrader().run(query=QUESTION, documents=[Document(id="a/b.pdf", content="x")])
    assert named(spans, "crag.grade")[0]["crag.document.ids"] == ["a/b.pdf"]


def test_hashed_ids_are_the_same_everywhere() -> None:
    """So that spans of one trace, and log lines, can be laid side by side."""
    assert traced_id("a/b.pdf") == traced_id("a/b.pdf") != traced_id("a/c.pdf")
    assert "pdf" not in traced_id("a/b.pdf")


def test_web_and_sanitiser_say_what_came_and_what_was_taken_out(spans: InMemorySpanExporter) -> None:
    """Provider, status, drops by reason, breaker; invisible characters by number."""
    hidden = "Penguins\u200b\u2060 are birds."
    results = [{"title": "P", "url": f"https://example.org/{n}", "content": f"{hidden} {n}"} for n in range(2)]
    results.append({"title": "no link", "content": "x"})
    with web_server() as server:
        server.always(body={"results": results})
        WebFallback(SearXNGWebSearch(url=server.url.removesuffix("/search"))).run(query=QUESTION)
    (web,) = named(spans, "crag.web")
    assert (web["openinference.span.kind"], web["gen_ai.operation.name"]) == ("RETRIEVER", "retrieval")
    assert (web["crag.web.provider"], web["crag.web.status"]) == ("SearXNGWebSearch", "ok")
    assert (web["crag.web.results.kept"], web["crag.documents.out"]) == (2, 2)
    assert web["crag.breaker.state"] == ["SearXNGWebSearch:closed"]
    assert len(web["crag.web.query.sha256"]) == 12
    (guard,) = named(spans, "crag.guard")
    assert (guard["openinference.span.kind"], guard["crag.guard.removed_chars"]) == ("GUARDRAIL", 4)
    assert guard["crag.guard.flags"] == ["invisible_characters"]


def test_a_follow_up_says_how_it_was_asked(spans: InMemorySpanExporter, content: None) -> None:
    """By whom the question was written, and what it cost; the question itself is content."""
    said = [ChatMessage.from_user(QUESTION), ChatMessage.from_assistant("In cages."), ChatMessage.from_user("Why?")]
    FollowUpRewriter(scripted("Why do canary birds sing?")).run(said)
    FollowUpRewriter(scripted("")).run(said)
    first, second = named(spans, "crag.follow_up")
    assert (first["openinference.span.kind"], first["crag.follow_up.source"]) == ("CHAIN", "model")
    assert (first["crag.follow_up.calls"], first["crag.queries"]) == (1, ["Why do canary birds sing?"])
    assert first["gen_ai.usage.input_tokens"] > 0
    assert (second["crag.follow_up.source"], second["crag.follow_up.fallback"]) == ("message", "empty")


def test_a_refinement_counts_strips(spans: InMemorySpanExporter, store: Any) -> None:
    """In and kept."""
    grader = BatchRelevanceGrader(chat_generator=grading_by(lambda _: 0.9))
    rag = load("paper_rag", store=store, grader=grader, generator=scripted("x"))
    rag.run(query=QUESTION)
    refine = named(spans, "crag.refine")[0]
    assert refine["openinference.span.kind"] == "CHAIN"
    assert refine["crag.strips.in"] >= refine["crag.strips.kept"] >= 1


def told_on_the_page() -> dict[str, set[str]]:
    """The attributes of each row of the table of spans: `.kept` behind `crag.strips.in` is `crag.strips.kept`."""
    table = PAGE.partition("## Spans")[2].partition("\n### ")[0]
    rows = [re.findall(r"`([^`]+)`", line) for line in table.splitlines() if line.startswith("| `")]
    told: dict[str, set[str]] = {}
    for span, *words in rows:
        last = ""
        for word in words:
            last = word if word.startswith("crag.") else last
            name = last.rpartition(".")[0] + word if word.startswith(".") else word
            told.setdefault(span, set()).add(name)
    return told


def test_every_attribute_of_every_shipped_pipeline_is_told_on_the_page(
    spans: InMemorySpanExporter, store: Any, metasearch: Metasearch
) -> None:
    """On the row of its span; what has a name of a document's or a retriever's in it by its beginning."""
    metasearch.finds(["A page on birds."])
    told = told_on_the_page()
    for name in set(names()) - {"indexing"}:
        model = {"generator": grading_by(lambda text: 0.9 if "page" in text else 0.1)}
        rag = load(name, store=store, **(model if "\n  generator:" in export(name) else {}))
        rag.run(query="Who repairs canary bicycles?")
    seen = {(span.name, key) for span in spans.get_finished_spans() for key in span.attributes or {}}
    ours = {(span, key) for span, key in seen if span in told and key.startswith("crag.")}
    assert {span for span, _ in ours} >= {"crag.route", "crag.web", "crag.refine", "crag.cascade", "crag.record"}
    assert [(span, key) for span, key in sorted(ours) if not is_told(key, told[span])] == []


def test_every_attribute_that_the_code_names_is_told_on_the_page() -> None:
    """Also those that a run in memory does not have."""
    code = "".join(file.read_text("utf-8") for file in Path(package.__file__).parent.rglob("*.py"))
    named_in_code = set(re.findall(r'"(crag\.[a-z_.0-9]*[a-z0-9])"', code))
    told = told_on_the_page()
    instruments = re.findall(r"`(crag\.[a-z.]+)`", PAGE.partition("## Metrics")[2])
    page = {*told, *instruments}.union(*told.values())
    assert sorted(name for name in named_in_code if not is_told(name, page)) == []


def is_told(name: str, page: set[str]) -> bool:
    """Whether one of the page's names is it, or stands for it: `crag.abstention.*`, `crag.web.dropped.<reason>`."""
    return name in page or any(name.startswith(re.split(r"[*<]", one)[0]) for one in page if re.search(r"[*<]", one))
