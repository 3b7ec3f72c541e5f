"""The figures of docs/observability.md: by name, unit, label and bucket; once for each run or call, of real runs."""

import asyncio
import json
from typing import Any, get_args

import pytest
from haystack import Document, component
from haystack.dataclasses import ChatMessage
from makers import cacheable, fill, grading_by, scripted
from reading import Figures, in_new_process
from scripted_model import NAME, ScriptedModel, judging
from web_server import web_server

from haystack_integrations.crag.caching import GradeCache, MemoryGradeCache, RedisGradeCache
from haystack_integrations.crag.chat_model import chat_model
from haystack_integrations.crag.components.batch_relevance_grader import BatchRelevanceGrader
from haystack_integrations.crag.components.crag_router import CragRouter
from haystack_integrations.crag.components.elasticsearch_retrievers import ReportingBM25Retriever
from haystack_integrations.crag.components.searxng_web_search import SearXNGWebSearch
from haystack_integrations.crag.components.web_fallback import WebFallback
from haystack_integrations.crag.metrics_export import configure_metrics
from haystack_integrations.crag.pipelines import load
from haystack_integrations.crag.store_profiles import open_store
from haystack_integrations.crag.vocabulary import Verdict

QUESTION = "Where do canary birds sing?"
LATENCY = ["0.01", "0.025", "0.05", "0.1", "0.25", "0.5", "1", "2.5", "5", "10", "20", "40", "+Inf"]


@pytest.fixture
def store(in_memory_store: Any) -> Any:
    """Five documents."""
    fill(in_memory_store, [Document(content=f"Canary birds sing in cage {n}") for n in range(5)])
    return in_memory_store


def test_the_four_published_figures_come_out_under_their_names(figures: Figures, store: Any) -> None:
    """A run that needed no correction: one decision, one run without a correction, its latency, its score."""
    load("agent_rag", store=store, grader=grading_by(lambda _: 0.9), generator=scripted("x")).run(query=QUESTION)
    assert figures.series("crag_decisions_total") == {(("category", "correct"),): 1}
    assert figures.series("crag_corrections_total") == {(("strategy", "none"),): 1}
    labels = {"decision": "correct", "correction_strategy": "none"}
    assert figures.added("crag_retrieval_latency_seconds_count", **labels) == 1
    assert 0 < figures.added("crag_retrieval_latency_seconds_sum", **labels) < 10
    assert figures.value("crag_relevance_score") == pytest.approx(0.9)
    for bound in LATENCY:
        assert figures.value("crag_retrieval_latency_seconds_bucket", le=bound, **labels) >= 0
    page = figures.export.page()[0].decode()
    assert "# TYPE crag_relevance_score gauge" in page
    assert "# TYPE crag_decisions_total counter" in page
    assert "# TYPE crag_retrieval_latency_seconds histogram" in page


def test_a_run_with_several_passes_is_counted_once_by_its_last_decision(figures: Figures, store: Any) -> None:
    """And its documents once, however often they are judged."""
    rag = load("agent_rag", store=store, grader=grading_by(lambda _: 0.1), generator=scripted("x"))
    assert rag.run(query=QUESTION)["crag"]["iterations"] == 2
    assert sum(figures.series("crag_decisions_total").values()) == 1
    assert figures.series("crag_corrections_total") == {(("strategy", "expand"),): 1}
    assert figures.added("crag_document_scores_count", source="index") == 5
    assert figures.added("crag_document_scores_bucket", source="index", le="0.1") == 5


def test_what_is_only_observed_is_no_correction_and_what_is_off_is_not_counted(figures: Figures, store: Any) -> None:
    """Mode `observe` decides, mode `off` does not."""
    rag = load("agent_rag", store=store, grader=grading_by(lambda _: 0.1), generator=scripted("x"))
    rag.run(query=QUESTION, mode="observe")
    assert figures.series("crag_decisions_total") == {(("category", "incorrect"),): 1}
    assert figures.series("crag_corrections_total") == {(("strategy", "none"),): 1}
    rag.run(query=QUESTION, mode="off")
    assert sum(figures.series("crag_decisions_total").values()) == 1


def test_a_router_on_its_own_counts_decisions_and_no_latency(figures: Figures) -> None:
    """Nobody took the time before it."""
    CragRouter(on_incorrect="abstain").run(query=QUESTION, documents=[])
    assert figures.series("crag_decisions_total") == {(("category", "incorrect"),): 1}
    assert figures.series("crag_retrieval_latency_seconds_count") == {}


def test_failed_grades_are_counted_by_reason_and_have_no_score(figures: Figures, store: Any) -> None:
    """A failure is no score of 0.5; a client's error is one word, whatever its class."""

    def broken(_: Any) -> str:
        msg = "x"
        raise ConnectionError(msg)

    load("agent_rag", store=store, grader=scripted(broken), generator=scripted("x")).run(query=QUESTION, mode="observe")
    assert figures.series("crag_grader_failures_total") == {(("reason", "model_error"),): 5}
    assert figures.series("crag_document_scores_count") == {}
    assert figures.series("crag_decisions_total") == {(("category", "ungraded"),): 1}


def test_answers_with_numbers_of_their_own_are_counted_beside_all_that_were_written(
    figures: Figures, store: Any
) -> None:
    """How many of the written answers make figures up is a share that somebody should watch."""
    for answer in ("In cage 1815 [1].", "In cage 4 [1]."):
        load("agent_rag", store=store, grader=grading_by(lambda _: 0.9), generator=scripted(answer)).run(query=QUESTION)
    assert figures.series("crag_answers_total") == {(("status", "written"),): 2}
    assert figures.series("crag_answers_unsupported_total") == {(): 1}


def test_a_run_that_was_to_write_no_answer_is_none_of_the_answers(figures: Figures, store: Any) -> None:
    """Else the share of answers that were declined would fall with each question that nothing was found for."""
    rag = load("strict_rag", store=store, grader=grading_by(lambda _: 0.1), generator=scripted("x"))
    assert rag.run(query=QUESTION)["crag"]["answer"]["status"] == "none"
    assert figures.series("crag_answers_total") == {}


def test_documents_of_the_web_are_counted_as_such(figures: Figures) -> None:
    """How good they are beside those of the index is what an operator pays for."""
    with web_server() as server:
        found = WebFallback(SearXNGWebSearch(url=server.url.removesuffix("/search"))).run(query=QUESTION)["documents"]
    graded = BatchRelevanceGrader(grading_by(lambda _: 0.9)).run(query=QUESTION, documents=found)["documents"]
    CragRouter().run(query=QUESTION, documents=graded)
    assert len(found) > 0
    assert figures.series("crag_document_scores_count") == {(("source", "web"),): len(found)}


def test_gradings_count_their_calls(figures: Figures) -> None:
    """One grading, one record: how often a model was asked, and how long it took."""
    grader = BatchRelevanceGrader(grading_by(lambda _: 0.5), max_prompt_tokens=700)
    result = grader.run(query=QUESTION, documents=[Document(content=f"passage {n}") for n in range(40)])
    calls = result["report"]["llm_calls"]
    assert calls > 1
    assert figures.added("crag_grader_calls_count") == 1
    assert figures.added("crag_grader_calls_sum") == calls
    assert figures.added("crag_grader_duration_seconds_count", grader="BatchRelevanceGrader") == 1
    assert 0 < figures.added("crag_grader_duration_seconds_sum", grader="BatchRelevanceGrader") < 10


def test_looked_up_grades_are_hits_misses_or_errors(figures: Figures) -> None:
    """By document."""
    caches: list[GradeCache] = [MemoryGradeCache(), RedisGradeCache("redis://127.0.0.1:1/0")]
    for cache in caches:
        grader = BatchRelevanceGrader(cacheable(), cache=cache)
        for _ in range(2):
            grader.run(query=QUESTION, documents=[Document(content="a"), Document(content="b")])
        grader.close()
    counts = {dict(labels)["result"]: value for labels, value in figures.series("crag_cache_requests_total").items()}
    assert counts == {"miss": 2, "hit": 2, "error": 4}


def test_a_cache_that_keeps_nothing_is_counted_as_failing_by_what_it_was_to_keep(figures: Figures) -> None:
    """Each grading would pay for its calls again, and nobody would see why."""

    class Full(MemoryGradeCache):
        def write(self, scores: Any, *, seconds: float) -> str | None:
            return "Full"

    grader = BatchRelevanceGrader(cacheable(), cache=Full())
    for _ in range(2):
        grader.run(query=QUESTION, documents=[Document(content="a"), Document(content="b")])
    grader.close()
    counts = {dict(labels)["result"]: value for labels, value in figures.series("crag_cache_requests_total").items()}
    assert counts == {"miss": 4, "error": 4}


def test_a_web_that_nobody_set_up_has_neither_failed_nor_corrected(figures: Figures, in_memory_store: Any) -> None:
    """Else a question would fire the alerts about a provider that fails, and about questions that leave the house."""
    fill(in_memory_store, [Document(content="Gardens need water in summer.")])
    pipeline = load("heuristic_rag", store=in_memory_store)
    for number in range(6):
        record = pipeline.run(query=f"Who wrote the novel Emma {number}?")["crag"]
        assert (record["trail"][0]["action"], record["coverage"]["web"]) == ("web", "skipped")
        assert record["coverage"]["reasons"] == ["limit:max_iterations"]
    counts = {dict(labels)["status"]: n for labels, n in figures.series("crag_web_requests_total").items()}
    assert counts == {"skipped": 6}
    assert figures.added("crag_corrections_total", strategy="none") == 6
    # Below zero: another test's breaker was open, and is gone.
    assert not any(number > 0 for number in figures.series("crag_breaker_open").values())


def test_searches_of_the_index_are_counted_by_how_much_they_reached(figures: Figures) -> None:
    """A store that is gone is answered with 200 and an abstention: nothing else would tell an operator."""
    gone = ReportingBM25Retriever(document_store=open_store("elasticsearch", "http://127.0.0.1:9"))
    assert gone.run(query="penguins")["report"]["status"] == "failed"
    counts = {dict(labels)["status"]: n for labels, n in figures.series("crag_searches_total").items()}
    assert counts == {"failed": 1}


def test_searches_are_counted_by_provider_and_how_they_ended_and_breakers_are_shown(figures: Figures) -> None:
    """A search that was given again is none; a breaker is shown for as long as it is open."""
    with web_server() as server:
        fallback = WebFallback(SearXNGWebSearch(url=server.url.removesuffix("/search")), max_retries=0)
        for _ in range(2):
            fallback.run(query="penguins")
        server.always(status=503)
        fallback.run(query="camels")
        fallback.run(query="rabbits")
    counts = {dict(labels)["status"]: n for labels, n in figures.series("crag_web_requests_total").items()}
    assert counts == {"ok": 1, "failed": 1, "cooldown": 1}
    assert {dict(labels)["provider"] for labels in figures.series("crag_web_requests_total")} == {"SearXNGWebSearch"}
    assert figures.value("crag_breaker_open", target="SearXNGWebSearch") == 1


def test_calls_to_a_model_are_counted_in_the_words_of_the_conventions(
    figures: Figures, configured_model: ScriptedModel, store: Any
) -> None:
    """Tokens and duration of each call, grading and answer alike; an error by its class."""
    configured_model.reply = judging(lambda _: 0.9)
    model = chat_model()
    assert model is not None
    rag = load("corrective_rag", store=store, generator=model.generator(5.0))
    result = rag.run(query=QUESTION)
    labels = {"gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.request.model": NAME}
    labels = {name.replace(".", "_"): value for name, value in labels.items()}
    assert figures.series("gen_ai_client_operation_duration_seconds_count") == {tuple(sorted(labels.items())): 2}
    for kind, key in (("input", "in"), ("output", "out")):
        assert figures.added("gen_ai_client_token_usage_count", **labels, gen_ai_token_type=kind) == 2
        spent = figures.added("gen_ai_client_token_usage_sum", **labels, gen_ai_token_type=kind)
        assert spent == result["crag"]["tokens"][key]
    configured_model.status = 400
    rag.run(query=QUESTION)
    failed = {**labels, "error_type": "BadRequestError"}
    assert figures.added("gen_ai_client_operation_duration_seconds_count", **failed) >= 1


async def test_a_call_whose_client_left_is_no_success(figures: Figures, store: Any) -> None:
    """It is counted with what ended it, for the time that it was waited for; the cancellation goes on."""
    asked = asyncio.Event()

    @component
    class Hanging:
        """A model that never replies."""

        @component.output_types(replies=list[ChatMessage])
        def run(self, messages: list[ChatMessage]) -> dict[str, Any]:
            raise AssertionError

        @component.output_types(replies=list[ChatMessage])
        async def run_async(self, messages: list[ChatMessage]) -> dict[str, Any]:
            asked.set()
            await asyncio.sleep(60)
            raise AssertionError

    client = asyncio.create_task(load("agent_rag", store=store, generator=Hanging()).run_async(query=QUESTION))
    await asyncio.wait_for(asked.wait(), 10)
    client.cancel()
    with pytest.raises(asyncio.CancelledError):
        await client
    (labels,) = figures.series("gen_ai_client_operation_duration_seconds_count")
    assert dict(labels)["error_type"] == "CancelledError"


def test_no_label_has_a_value_that_users_make(figures: Figures, store: Any) -> None:
    """Many different questions add no series; verdicts, strategies and buckets are all there is."""

    def series() -> set[str]:
        lines = figures.export.page()[0].decode().splitlines()
        return {line.rpartition(" ")[0] for line in lines if line.startswith(("crag_", "gen_ai_"))}

    rag = load("agent_rag", store=store, grader=grading_by(lambda _: 0.1), generator=scripted("x"))
    rag.run(query="Where do canary birds sing?")
    after_one = series()
    for number in range(20):
        rag.run(query=f"Where do {number} canary birds sing?")
    assert series() == after_one
    assert any(line.startswith("crag_decisions_total{") for line in after_one)
    words = {*get_args(Verdict), "none", "refine", "expand", "web", "web_and_refine", "index"}
    for name in ("crag_decisions_total", "crag_corrections_total", "crag_retrieval_latency_seconds_count"):
        assert {value for labels in figures.series(name) for _, value in labels} <= words


def test_configuring_twice_gives_the_same_and_prometheus_can_ask_for_openmetrics(figures: Figures) -> None:
    """An app factory may run more than once in a process."""
    assert configure_metrics() is figures.export
    assert figures.export.page()[1].startswith("text/plain")
    assert figures.export.page("application/openmetrics-text; version=1.0.0")[1].startswith("application/openmetrics")


INSTRUMENTS = {
    "crag.decisions": "{decision}",
    "crag.corrections": "{correction}",
    "crag.answers": "{answer}",
    "crag.answers.unsupported": "{answer}",
    "crag.retrieval.latency": "s",
    "crag.relevance.score": "",
    "crag.document.scores": "",
    "crag.grader.failures": "{document}",
    "crag.grader.calls": "{call}",
    "crag.grader.duration": "s",
    "crag.searches": "{search}",
    "crag.requests": "{request}",
    "crag.ready": "",
    "crag.web.requests": "{request}",
    "crag.breaker.open": "{breaker}",
    "crag.cache.requests": "{request}",
    "gen_ai.client.token.usage": "{token}",
    "gen_ai.client.operation.duration": "s",
}

RECORDING = """
from haystack_integrations.crag.observing import metrics
from haystack_integrations.crag.budget import Usage
from haystack_integrations.crag.breaker import Breaker
breaker = Breaker()
metrics.watch("any", breaker)
metrics.index_searched("ok")
metrics.request_ended("-", 429)
metrics.store_answered(True)
metrics.run_decided("correct", "none", 0.9, 0.1)
metrics.answered("written", unsupported=True)
metrics.documents_scored([(0.5, "web")])
metrics.grading_ended(["deadline"], 1)
with metrics.timed_grading("any"):
    pass
metrics.web_searched("any", "ok")
metrics.cache_asked(1, 1, failed=False)
metrics.model_asked("m", "any", 0.1, Usage(1, 2, 3), None)
"""


def test_an_app_with_its_own_provider_gets_every_instrument_with_its_unit() -> None:
    """The meter reports to whatever is configured, also when that is done later; the page is added to it, once."""
    code = f"""{RECORDING}
import json
from opentelemetry import metrics as api
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
reader = InMemoryMetricReader()
api.set_meter_provider(MeterProvider([reader]))
{RECORDING}
(scope,) = [one for one in reader.get_metrics_data().resource_metrics[0].scope_metrics if one.scope.name == "crag"]
print(json.dumps({{one.name: one.unit for one in scope.metrics}}))
from haystack_integrations.crag import metrics_export
for _ in range(2):
    export = metrics_export.configure_metrics()
    metrics_export._exports.clear()  # as in an app that has set such a reader itself
{RECORDING}
lines = export.page()[0].decode().splitlines()
print(len(lines) - len(set(lines)), *(line.split(" ")[-1] for line in lines if line.startswith("crag_decisions_total")))
"""
    units, page = in_new_process(code).splitlines()
    assert json.loads(units) == INSTRUMENTS
    assert page == "0 1.0"


def test_a_provider_of_another_kind_is_refused_a_page() -> None:
    """Nothing can be added to it, and the process can have no second one."""
    code = """
from opentelemetry import metrics as api
class Another(api.NoOpMeterProvider):
    pass
api.set_meter_provider(Another())
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.metrics_export import configure_metrics
try:
    configure_metrics()
except ConfigurationError as error:
    print(error)
"""
    assert "already" in in_new_process(code)


def test_without_opentelemetry_nothing_is_counted_and_nothing_fails() -> None:
    """Its API is optional; asking for the page then says what to install."""
    code = f"""
import sys
sys.modules["opentelemetry"] = sys.modules["opentelemetry.metrics"] = None
{RECORDING}
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.metrics_export import configure_metrics
try:
    configure_metrics()
except ConfigurationError as error:
    print(error)
"""
    assert "crag-haystack[serve]" in in_new_process(code)
