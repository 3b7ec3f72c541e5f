"""
Promise P10: no text of a user in spans, metrics or logs by default, whatever fails; turning content on shows it.

A canary stands in the question, in documents, in replies, in a key and in the password of an address. Every component
runs and fails with them, with tracing and metrics on and the package logging all it has to say.
"""

import asyncio
import logging
from collections.abc import Callable, Iterator
from typing import Any, Final

import pytest
from haystack import Document, Pipeline, component
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.utils import Secret
from makers import fill, grading_by, run_by_door, scripted
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pytest_httpserver import HTTPServer
from reading import Figures, everything
from scripted_model import NAME, ScriptedModel, judging
from web_server import web_server

from haystack_integrations.crag import components
from haystack_integrations.crag.caching import RedisGradeCache
from haystack_integrations.crag.components.answer_generator import AnswerGenerator
from haystack_integrations.crag.components.batch_relevance_grader import BatchRelevanceGrader
from haystack_integrations.crag.components.follow_up_rewriter import FollowUpRewriter
from haystack_integrations.crag.components.query_expander import QueryExpander
from haystack_integrations.crag.components.ranker_grader import RankerGrader
from haystack_integrations.crag.components.searxng_web_search import SearXNGWebSearch
from haystack_integrations.crag.components.strip_refiner import StripRefiner
from haystack_integrations.crag.components.web_fallback import WebFallback
from haystack_integrations.crag.grades import Grade, question_id, with_grade
from haystack_integrations.crag.pipelines import load
from haystack_integrations.crag.state import CragState
from haystack_integrations.crag.store_profiles import open_store

QUESTION: Final = "canaryquestion"
DOCUMENT: Final = "canarydocument"
REPLY: Final = "canaryreply"
KEY: Final = "canarykey"
PASSWORD: Final = "canarypassword"
ASKED: Final = f"Where does the {QUESTION} sing?"


class Records(logging.Handler):
    """Every log line as it would be written, with its traceback."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.setFormatter(logging.Formatter("%(name)s %(message)s"))
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep it: ours from the first word on, others' from warnings on, as a process does by default."""
        if record.levelno >= logging.WARNING or record.name.startswith("haystack"):
            self.lines.append(self.format(record))


class Watch:
    """All that leaves the process by telemetry."""

    def __init__(self, spans: InMemorySpanExporter, figures: Figures, records: Records) -> None:
        self._spans, self._figures, self._records = spans, figures, records

    def seen(self) -> str:
        """What a collector, a scraper and a log file would hold."""
        page = self._figures.export.page()[0].decode()
        assert self._spans.get_finished_spans()
        return "\n".join([everything(self._spans.get_finished_spans()), page, *self._records.lines])

    def check(self) -> None:
        """No canary, in any case."""
        seen = self.seen().lower()
        assert {canary for canary in (QUESTION, DOCUMENT, REPLY, KEY, PASSWORD) if canary in seen} == set()


@pytest.fixture
def watch(spans: InMemorySpanExporter, figures: Figures) -> Iterator[Watch]:
    """Tracing, metrics, and all log records."""
    records, root = Records(), logging.getLogger()
    ours = logging.getLogger("haystack_integrations")
    levels = {logger: logger.level for logger in (root, ours, logging.getLogger("haystack"))}
    for logger in levels:
        logger.setLevel(logging.DEBUG)
    root.addHandler(records)
    yield Watch(spans, figures, records)
    root.removeHandler(records)
    for logger, level in levels.items():
        logger.setLevel(level)


def documents(count: int = 5) -> list[Document]:
    """Documents with a canary in text, title, source and id."""
    return [
        Document(
            id=f"{DOCUMENT}-{n}",
            content=f"The {DOCUMENT} sings in cage {n}. A bird.",
            meta={"title": f"{DOCUMENT} {n}", "source": f"/home/{DOCUMENT}/{n}.md"},
        )
        for n in range(count)
    ]


def raising(*_: Any) -> str:
    """A client whose error repeats all it was told."""
    msg = f"400 {ASKED} {DOCUMENT} {REPLY} {KEY} http://user:{PASSWORD}@host/"
    raise RuntimeError(msg)


@pytest.fixture
def store(in_memory_store: Any) -> Any:
    """The documents."""
    fill(in_memory_store, documents())
    return in_memory_store


@pytest.fixture
def chat(scripted_model: ScriptedModel) -> Any:
    """A chat generator with a key in its header and a password in its address."""
    scripted_model.reply = judging(lambda text: 0.6, f"The {REPLY} [1].")
    url = scripted_model.url.replace("http://", f"http://user:{PASSWORD}@")
    return OpenAIChatGenerator(Secret.from_token(KEY), model=NAME, api_base_url=url, max_retries=0)


@pytest.mark.parametrize("asynchronous", [False, True], ids=["run", "run_async"])
@pytest.mark.parametrize(
    "name", ["corrective_rag", "agent_rag", "cascade_rag", "paper_rag", "strict_rag", "heuristic_rag"]
)
def test_a_run_that_goes_well_shows_no_canary(
    watch: Watch, store: Any, chat: Any, name: str, asynchronous: bool
) -> None:
    """By either door, with grading, correction and answer."""
    parts = {"web": search()} if name in ("paper_rag", "strict_rag") else {}
    rag = load(name, store=store, generator=chat, **parts)
    result = run_by_door(rag, asynchronous=asynchronous, query=ASKED)
    assert result["documents"]
    watch.check()


def search() -> WebFallback:
    """A web search whose results hold a canary, behind a door that takes out some of it."""
    from haystack import component

    @component
    class Search:
        @component.output_types(documents=list[Document])
        def run(self, query: str) -> dict[str, Any]:
            meta = {"url": f"https://example.org/{DOCUMENT}", "title": DOCUMENT}
            return {"documents": [Document(content=f"{DOCUMENT}\u200b sings", meta=meta)]}

    return WebFallback(Search())


def test_turned_on_everything_of_the_run_is_there(
    watch: Watch, store: Any, chat: Any, content: None, spans: InMemorySpanExporter
) -> None:
    """Question, documents and replies; a key and a password are no content, and are nowhere."""
    load("corrective_rag", store=store, generator=chat).run(query=ASKED)
    seen = everything(spans.get_finished_spans())
    assert all(canary in seen for canary in (QUESTION, DOCUMENT, REPLY))
    assert KEY not in watch.seen()
    assert PASSWORD not in watch.seen()


def test_a_model_that_fails_shows_no_canary(watch: Watch, store: Any) -> None:
    """Grading, expansion, refinement and answer, each with an error that repeats the prompt."""
    load("agent_rag", store=store, generator=scripted(raising), grader=scripted(raising)).run(query=ASKED)
    QueryExpander(mode="llm", chat_generator=scripted(raising)).run(query=ASKED)
    StripRefiner(scorer="llm", chat_generator=scripted(raising)).run(query=ASKED, documents=documents())
    watch.check()


@pytest.mark.parametrize("reply", [raising, f"Where does the {QUESTION} sing in the {REPLY}?", REPLY])
def test_a_follow_up_shows_no_canary(watch: Watch, reply: Any) -> None:
    """Rewritten, not rewritten, and with a model that fails."""
    said = [
        ChatMessage.from_user(ASKED),
        ChatMessage.from_assistant(f"In the {DOCUMENT}."),
        ChatMessage.from_user(ASKED),
    ]
    FollowUpRewriter(scripted(reply)).run(messages=said)
    watch.check()


@pytest.mark.parametrize("status", [400, 401, 429, 500])
def test_an_endpoint_that_refuses_shows_no_canary(
    watch: Watch, store: Any, chat: Any, scripted_model: ScriptedModel, status: int
) -> None:
    """Over HTTP, with the key in the request and the password in the address."""
    scripted_model.status = status
    load("corrective_rag", store=store, generator=chat).run(query=ASKED)
    watch.check()


def test_replies_of_any_form_show_no_canary(watch: Watch) -> None:
    """Refusals, prose, broken JSON, ids nobody asked for, a finish reason of its own."""
    for text in (REPLY, f'{{"{REPLY}": ', f'[{{"id": "{REPLY}", "score": 1, "reason": "{REPLY}"}}]', "[0.1]"):
        for finish in ("stop", "length", "content_filter"):
            grader = BatchRelevanceGrader(scripted(text, finish), reasons=True)
            grader.run(query=ASKED, documents=documents())
    watch.check()


class Bomb:
    """Raises a canary when it is used as a text, a document, a state or a tool call."""

    def __getattr__(self, name: str) -> Any:
        if name in {"content", "id", "meta", "score", "query", "trail", "get", "strip", "lower", "split", "encode"}:
            return raising()
        raise AttributeError(name)

    def __deepcopy__(self, memo: Any) -> "Bomb":
        return self


@component
class Exploding:
    """A vendor's retriever or embedder, whose errors repeat what it was asked."""

    @component.output_types(documents=list[Document], embedding=list[float])
    def run(
        self, query: str = "", text: str = "", query_embedding: Any = None, filters: Any = None, top_k: Any = None
    ) -> dict[str, Any]:
        """Fail."""
        raise RuntimeError(ASKED + query + text)


MADE: dict[str, Callable[[], Any]] = {
    "AnswerGenerator": lambda: AnswerGenerator(scripted(raising), on_failure="raise"),
    "BatchRelevanceGrader": lambda: BatchRelevanceGrader(scripted(raising), on_failure="raise"),
    "EvidenceJoiner": lambda: components.EvidenceJoiner({"documents": 1.0}),
    "FollowUpRewriter": lambda: FollowUpRewriter(scripted(raising)),
    "RankerGrader": lambda: RankerGrader(Exploding()),
    "ReportingRetriever": lambda: components.ReportingRetriever(Exploding()),
    "ReportingTextEmbeddingRetriever": lambda: components.ReportingTextEmbeddingRetriever(
        retriever=Exploding(), text_embedder=Exploding()
    ),
    "SearXNGWebSearch": lambda: SearXNGWebSearch(url="http://127.0.0.1:1"),
    "WebFallback": lambda: WebFallback(SearXNGWebSearch(url="http://127.0.0.1:1"), max_retries=0),
}


@pytest.mark.parametrize("asynchronous", [False, True], ids=["run", "run_async"])
@pytest.mark.parametrize("name", components.__all__)
def test_a_component_that_fails_in_a_pipeline_shows_no_canary(watch: Watch, name: str, asynchronous: bool) -> None:
    """Every one of them, given what raises a canary at the first touch, or a setting that is one."""
    made = MADE.get(name, getattr(components, name))()
    pipeline = Pipeline()
    pipeline.add_component("part", made)
    given = {
        "query": ASKED,
        "question": ASKED,
        "text": Bomb(),
        "documents": [Bomb()],
        "sources": [Bomb()],
        "messages": [ChatMessage.from_user(ASKED)],
        "outcome": Bomb(),
        "mode": f"{QUESTION}",
        "tool_history": [Bomb()],
    }
    takes = set(made.__haystack_input__._sockets_dict)
    inputs = {"part": {key: value for key, value in given.items() if key in takes}}
    if name == "QueryExpander":
        inputs = {"part": {"state": Bomb()}}
    if name == "FollowUpRewriter":
        inputs = {"part": {"messages": [Bomb()]}}
    if name == "StopWordRemover":
        inputs = {"part": {"query": Bomb()}}
    try:
        asyncio.run(pipeline.run_async(inputs)) if asynchronous else pipeline.run(inputs)
    except Exception as error:
        assert name in str(error)
    else:
        assert name in ("WebFallback", "ReportingRetriever", "ReportingTextEmbeddingRetriever")  # a failure is a status
    watch.check()


@pytest.mark.parametrize("door", ["question", "mode", "budget"])
def test_what_the_door_refuses_shows_no_canary(watch: Watch, store: Any, door: str) -> None:
    """A question that is too long, settings that are none."""
    rag = load("agent_rag", store=store, generator=scripted("x"), grader=grading_by(lambda _: 0.9))
    wrong: dict[str, Any] = {"question": {"query": QUESTION * 1_000}, "mode": {"query": ASKED, "mode": QUESTION}}
    wrong["budget"] = {"query": ASKED, "budget": {QUESTION: 1}}
    with pytest.raises(Exception, match="QuestionGuard"):
        rag.run(**wrong[door])
    watch.check()


@pytest.mark.parametrize("failing", [{"status": 503, "body": f"{QUESTION} {DOCUMENT}"}, {"body": REPLY}, {"cut": True}])
def test_a_web_search_that_fails_shows_no_canary(watch: Watch, failing: dict[str, Any]) -> None:
    """With what the server said, and what it was asked."""
    with web_server() as server:
        server.always(**failing)
        state = CragState.start(ASKED)
        WebFallback(SearXNGWebSearch(url=server.url.removesuffix("/search")), max_retries=0).run(state=state)
    watch.check()


def test_engines_that_fail_beside_others_show_no_canary(watch: Watch) -> None:
    """A log line of the client names engines and causes; the question in them is masked."""
    results = [{"title": DOCUMENT, "url": "https://example.org/1", "content": DOCUMENT}]
    with web_server() as server:
        server.always(body={"results": results, "unresponsive_engines": [["brave", f"no page for {ASKED}"]]})
        WebFallback(SearXNGWebSearch(url=server.url.removesuffix("/search"))).run(query=ASKED)
    watch.check()


def test_a_cache_that_is_down_shows_no_canary(watch: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a password in its address."""
    monkeypatch.setenv("CACHE_URL", f"redis://user:{PASSWORD}@127.0.0.1:1/0")
    cache = RedisGradeCache(Secret.from_env_var("CACHE_URL"))
    BatchRelevanceGrader(grading_by(lambda _: 0.5), cache=cache).run(query=ASKED, documents=documents())
    watch.check()


def test_elasticsearch_that_refuses_or_is_down_shows_no_canary(watch: Watch, httpserver: HTTPServer) -> None:
    """Its client opens spans of its own below ours; a refusal quotes the query, an address has a password."""
    cause = {"type": "parsing_exception", "reason": f"Failed to parse query [{ASKED}]"}
    refusal = {"error": {**cause, "root_cause": [cause]}, "status": 400}
    httpserver.expect_request("/").respond_with_json(
        {"version": {"number": "8.19.7"}}, headers={"X-Elastic-Product": "Elasticsearch"}
    )
    refused = httpserver.url_for("").rstrip("/").replace("http://", f"http://user:{PASSWORD}@")
    for address in (refused, f"http://user:{PASSWORD}@127.0.0.1:1"):
        for kind in ("bm25", "dense"):
            pipeline = retriever(address, kind, httpserver, refusal)
            with pytest.raises(Exception):  # noqa: B017 - whatever the client raises
                pipeline.run({"r": {"query": ASKED} if kind == "bm25" else {"query_embedding": [0.1] * 3}})
    assert [request.path for request, _ in httpserver.log].count("/crag/_search") == 2  # refused, not failed before
    watch.check()


def retriever(address: str, kind: str, server: HTTPServer, refusal: dict[str, Any]) -> Pipeline:
    """A pipeline of one Elasticsearch retriever."""
    from haystack_integrations.components.retrievers.elasticsearch import (
        ElasticsearchBM25Retriever,
        ElasticsearchEmbeddingRetriever,
    )

    server.expect_request("/crag/_search").respond_with_json(
        refusal, status=400, headers={"X-Elastic-Product": "Elasticsearch"}
    )
    server.expect_request("/crag").respond_with_data("", headers={"X-Elastic-Product": "Elasticsearch"})
    store = open_store("elasticsearch", address, "crag")
    part = ElasticsearchBM25Retriever if kind == "bm25" else ElasticsearchEmbeddingRetriever
    pipeline = Pipeline()
    pipeline.add_component("r", part(document_store=store))
    return pipeline


def test_grades_with_reasons_of_a_model_show_no_canary(watch: Watch) -> None:
    """A model's reason is a reply: it stands in the record, not in telemetry."""
    from haystack_integrations.crag.components.crag_router import CragRouter

    grade = Grade(0.9, "graded", "test", question_id(ASKED), REPLY)
    CragRouter().run(query=ASKED, documents=[with_grade(document, grade) for document in documents()])
    watch.check()
