"""WebFallback: what leaves, what comes back, and that no provider can end a run."""

import asyncio
import json
import logging
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import ddgs.engines.mojeek
import pytest
import tavily
from haystack import Document, Pipeline, SuperComponent
from haystack.components.converters import HTMLToDocument
from haystack.components.fetchers import LinkContentFetcher
from haystack.components.generators.chat import MockChatGenerator
from haystack.components.routers import MetadataRouter
from haystack.utils import Secret
from makers import scripted
from web_server import RESULTS, HttpxSearch, Reply, RequestsSearch, WebServer, web_server

from haystack_integrations.components.websearch.ddgs import DDGSWebSearch
from haystack_integrations.components.websearch.tavily import TavilyWebSearch
from haystack_integrations.crag.budget import Budget, Usage
from haystack_integrations.crag.components.crag_router import CragRouter
from haystack_integrations.crag.components.query_expander import QueryExpander
from haystack_integrations.crag.components.searxng_web_search import SearXNGWebSearch
from haystack_integrations.crag.components.web_fallback import WebFallback
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.grades import crag_meta
from haystack_integrations.crag.state import CragState
from haystack_integrations.crag.texts.text import words
from haystack_integrations.crag.web import life_cycle
from haystack_integrations.crag.web.life_cycle import stored
from haystack_integrations.crag.web.pages import PageReader

QUERY = "Where do penguins live?"
CANARY = "canary7f3a"
BOTH = pytest.mark.parametrize("asynchronous", [False, True], ids=["run", "run_async"])
HTML = b"<html><title>Just a moment</title></html>"


@pytest.fixture
def web() -> Iterator[WebServer]:
    """A search engine."""
    with web_server() as server:
        yield server


def fallback(web: WebServer, **settings: Any) -> WebFallback:
    """One provider."""
    return WebFallback(HttpxSearch(web.url), **settings)


def ask(part: WebFallback, query: str | None = QUERY, *, asynchronous: bool = False, **inputs: Any) -> dict[str, Any]:
    """Run by one of the doors."""
    if asynchronous:
        return asyncio.run(part.run_async(query=query, **inputs))
    return part.run(query=query, **inputs)


@BOTH
def test_documents_are_labelled_with_their_origin_and_the_state_knows_the_web(
    asynchronous: bool, web: WebServer
) -> None:
    """Provider, address, rank, pass of the loop, query as a digest; nothing of it is trusted."""
    state = CragState.start(QUERY, iteration=1)
    result = ask(fallback(web), asynchronous=asynchronous, state=state)
    assert result["status"] == result["state"].web == "ok"
    assert [document.content for document in result["documents"]] == [r["content"] for r in RESULTS]
    origin = crag_meta(result["documents"][1])["provenance"]
    assert (origin["provider"], origin["rank"], origin["iteration"]) == ("HttpxSearch", 2, 1)
    assert origin["trust"] == "untrusted"
    report = result["report"]
    assert (report["provider"], report["results_in"], report["kept"]) == ("HttpxSearch", 3, 3)
    assert origin["query_sha256"].startswith(report["query_sha256"])
    assert json.dumps(report)
    assert "state" not in ask(fallback(web), asynchronous=asynchronous)


@BOTH
@pytest.mark.parametrize(
    ("reply", "status"),
    [
        ({"status": 429}, "failed"),
        ({"status": 403, "body": HTML}, "failed"),
        ({"status": 500}, "failed"),
        ({"delay": 60.0}, "failed"),
        ({"cut": True}, "failed"),
        ({"body": HTML}, "failed"),
        ({"body": {"results": [{"title": None, "url": None, "content": None}] * 3}}, "empty"),
        ({"body": {"results": []}}, "empty"),
        ({"body": {"results": [{"title": "x", "url": "javascript:alert(1)", "content": "x"}]}}, "empty"),
    ],
    ids=["429", "403", "500", "hang", "cut", "html", "nulls", "nothing", "no-web-address"],
)
def test_no_answer_of_a_provider_ends_a_run(
    reply: dict[str, Any], status: str, asynchronous: bool, web: WebServer
) -> None:
    """A status, no documents, no exception, in bounded time."""
    web.always(**reply)
    started = time.monotonic()
    seconds = 0.5 if "delay" in reply else 30  # a busy machine answers late, and that would be another fault
    result = ask(fallback(web, timeout_s=seconds), asynchronous=asynchronous, state=CragState.start(QUERY))
    assert time.monotonic() - started < 10
    assert (result["status"], result["state"].web, result["documents"]) == (status, status, [])


@BOTH
@pytest.mark.parametrize(
    "inputs",
    [
        {"enabled": False},
        {"state": CragState.start(QUERY, budget=Budget(llm_calls=1), usage=Usage(llm_calls=1))},
        {"state": CragState.start(QUERY, budget=Budget(seconds=0.001), started=0.0)},
        {"state": CragState.start(QUERY, web="skipped")},
        {"query": "  "},
        {"query": "penguin@example.org"},
    ],
    ids=["off", "no calls left", "no time left", "run without web", "no query", "nothing but personal data"],
)
def test_nothing_is_opened_where_nothing_may_be_sent(inputs: Any, asynchronous: bool, web: WebServer) -> None:
    """P8: the server sees no request."""
    result = ask(fallback(web, redact=[r"\S+@\S+"]), asynchronous=asynchronous, **inputs)
    assert (result["status"], result["documents"], web.calls) == ("skipped", [], 0)


@BOTH
def test_a_query_of_which_nothing_may_be_sent_keeps_no_other_of_the_run_from_the_web(
    asynchronous: bool, web: WebServer
) -> None:
    """But a run that may not ask the web may not later, either."""
    part, router = fallback(web, redact=[r"\S+@\S+"]), CragRouter(on_incorrect="web", max_iterations=3)
    for started, then in (("off", "ok"), ("skipped", "skipped")):
        state = CragState.start(QUERY, web=started)  # type: ignore[arg-type]
        state = router.run(query=QUERY, documents=[], state=state)["state"]
        told = ask(part, "penguin@example.org", asynchronous=asynchronous, state=state)
        assert (told["status"], web.calls) == ("skipped", int(started == "skipped"))
        state = router.run(query=QUERY, documents=[], state=told["state"])["state"]
        told = ask(part, "penguins", asynchronous=asynchronous, state=state)
        assert (told["status"], web.calls) == (then, 1)


@BOTH
def test_without_a_query_the_question_of_the_run_is_searched_for(asynchronous: bool, web: WebServer) -> None:
    """And still without what must not leave."""
    part = fallback(web, redact=[CANARY])
    inputs = {"query": None, "state": CragState.start(f"penguins {CANARY}")}
    assert ask(part, asynchronous=asynchronous, **inputs)["status"] == "ok"
    assert b"q=penguins " in web.requests[0]
    with pytest.raises(ConfigurationError, match="got neither a question nor a state"):
        ask(part, asynchronous=asynchronous, query=None)


def test_a_run_may_be_let_in_where_the_web_is_off(web: WebServer) -> None:
    """Off is what holds for runs that say nothing."""
    part = fallback(web, enabled=False)
    part.warm_up()
    assert ask(part)["status"] == "skipped"
    assert ask(part, enabled=True)["status"] == "ok"


@BOTH
def test_only_the_query_leaves_and_not_what_is_cut_from_it(
    asynchronous: bool, web: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """P8: marks in kept documents, grades, question, key, settings and the query's personal part: 0 bytes."""
    monkeypatch.setenv("OTHER_KEY", CANARY)
    secret = Document(content=f"{CANARY} content", meta={"title": CANARY})
    state = CragState.start(
        f"{CANARY} original question",
        kept=(secret,),
        best=(secret,),
        evidence=(secret,),
        trail=({"note": CANARY},),
        grades={secret.id: {"reason": CANARY}},
    )
    other = TavilyWebSearch(api_key=Secret.from_env_var("OTHER_KEY"))
    settings: Any = {"redact": [rf"{CANARY}\S*"], "deny_domains": [f"{CANARY}.example"]}
    part = WebFallback([HttpxSearch(web.url), RequestsSearch(web.url), other], next_on_empty=True, **settings)
    web.reply = lambda number: Reply(body={"results": []}) if number == 1 else Reply()
    result = ask(part, f"penguins {CANARY}@mail of {CANARY}\nstreet", asynchronous=asynchronous, state=state)
    assert result["status"] == "ok"
    assert web.calls == 2
    sent = b"\n".join(web.requests)
    assert b"penguins+of+street" in sent or b"penguins%20of%20street" in sent
    assert CANARY.encode() not in sent.lower()


def test_results_on_domains_that_are_not_allowed_are_told_apart_from_none(web: WebServer) -> None:
    """`denied`, with the number dropped."""
    result = ask(fallback(web, allow_domains=["example.com"]))
    assert (result["status"], result["documents"]) == ("denied", [])
    assert result["report"]["dropped"] == {"domain": 3}


def test_a_flood_of_results_is_capped(web: WebServer) -> None:
    """1,000 results, the first of 10 MB."""
    flood = [{"title": "t", "url": f"https://example.org/{n}", "content": f"{n} " + "x" * 50} for n in range(1_000)]
    flood[0]["content"] = "y" * 10_000_000
    web.always(body={"results": flood})
    result = ask(fallback(web, max_results=4))
    assert len(result["documents"]) == 4
    assert sum(len(document.content.encode()) for document in result["documents"]) < 64 * 1_024
    assert result["report"]["results_in"] == 1_000


@BOTH
def test_the_same_query_again_gives_the_same_documents_in_the_later_pass(asynchronous: bool, web: WebServer) -> None:
    """One request; what was found belongs to the pass it is given in."""
    part = fallback(web)
    first = ask(part, asynchronous=asynchronous)
    again = ask(part, asynchronous=asynchronous, state=CragState.start(QUERY, iteration=2))
    assert web.calls == 1
    assert again["report"]["again"]
    assert [d.id for d in again["documents"]] == [d.id for d in first["documents"]]
    origins = [crag_meta(document)["provenance"] for document in again["documents"]]
    assert {origin["iteration"] for origin in origins} == {2}
    assert origins[0]["retrieved_at"] == crag_meta(first["documents"][0])["provenance"]["retrieved_at"]


@pytest.mark.parametrize("several", [False, True], ids=["one", "list"])
def test_searches_without_a_form_of_their_own_survive_yaml(several: bool) -> None:
    """Haystack alone stores neither a Tavily search in a component nor any list of components."""
    one = TavilyWebSearch(api_key=Secret.from_env_var("A_KEY"), top_k=3)
    searches: Any = [one, DDGSWebSearch(backend="mojeek")] if several else one
    pipeline = Pipeline()
    pipeline.add_component("web", WebFallback(searches))
    again = Pipeline.loads(pipeline.dumps())
    part: Any = again.get_component("web")
    kept = part.websearch
    assert stored(kept) == stored(searches)
    assert again.dumps() == pipeline.dumps()


@pytest.mark.parametrize(
    "other",
    [LinkContentFetcher(), MockChatGenerator("x"), MetadataRouter(rules={}), [SearXNGWebSearch(), HTMLToDocument()]],
)
def test_what_is_no_web_search_is_refused_at_once(other: Any) -> None:
    """It failed at each question, as `malformed`, as if its server were to blame; a whole pipeline may be one."""
    kind = type(other[-1] if isinstance(other, list) else other).__name__
    with pytest.raises(ConfigurationError, match=f"takes a query and gives documents, .* but got {kind}"):
        WebFallback(other)
    pipeline = Pipeline()
    pipeline.add_component("search", SearXNGWebSearch())
    WebFallback(SuperComponent(pipeline))


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"websearch": []}, "an empty list"),
        ({"websearch": "searxng"}, "str"),
        ({"websearch": HttpxSearch}, "ComponentMeta|type|HttpxSearch"),
        ({"max_results": 0}, "max_results"),
        ({"timeout_s": 0}, "timeout_s"),
        ({"max_retries": -1}, "max_retries"),
        ({"hedge_after_s": "1"}, "hedge_after_s"),
        ({"query_cooldown_s": -1}, "query_cooldown_s"),
        ({"hedge_after_s": math.nan}, "hedge_after_s"),
        ({"redact": ["("]}, "redact"),
        ({"allow_domains": ["not a domain"]}, "domain"),
        ({"deny_domains": ["*.example"]}, "is no domain"),
        ({"allow_domains": []}, "allow_domains is empty, which lets in nothing; None lets in all"),
    ],
)
def test_unusable_settings_are_named_at_once(settings: dict[str, Any], said: str) -> None:
    """Before anything is sent."""
    with pytest.raises(ConfigurationError, match=said):
        WebFallback(**{"websearch": HttpxSearch("http://127.0.0.1:9"), **settings})


async def test_a_search_that_cannot_be_made_ready_is_named_in_the_log_and_fails_no_run(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A pipeline warms up before each run; a missing key must not end it."""
    part = WebFallback(TavilyWebSearch(api_key=Secret.from_env_var("NO_SUCH_KEY")))
    pipeline = Pipeline()
    pipeline.add_component("web", part)
    with caplog.at_level(logging.WARNING):
        result = pipeline.run({"web": {"query": QUERY}})
        await part.warm_up_async()
    assert result["web"]["status"] == "failed"
    assert "TavilyWebSearch could not be initialised" in caplog.text
    assert "NO_SUCH_KEY" not in caplog.text  # what others say may hold a key


def test_a_search_that_is_not_set_up_is_told_once_and_each_run_says_that_it_went_without(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server has several pipelines with a web, each of which warms up before each run."""
    monkeypatch.delenv("CRAG_SEARXNG_URL", raising=False)
    life_cycle._tell_once.cache_clear()
    parts = [WebFallback(SearXNGWebSearch()) for _ in range(3)]
    with caplog.at_level(logging.WARNING):
        for part in [*parts, *parts]:
            part.warm_up()
        assert caplog.text.count("no SearXNG server is set") == 1
        assert [part.run(query=QUERY)["status"] for part in parts] == ["skipped"] * 3
    assert "Web search failed" not in caplog.text


class Lively:
    """A search that notes what is done to it."""

    def __init__(self) -> None:
        self.done: list[str] = []

    def run(self, query: str) -> dict[str, Any]:
        """Find nothing."""
        return {"documents": []}

    def warm_up(self) -> None:
        """Note it."""
        self.done.append("warm_up")

    async def warm_up_async(self) -> None:
        """Note it."""
        self.done.append("warm_up_async")

    def close(self) -> None:
        """Note it."""
        self.done.append("close")

    async def close_async(self) -> None:
        """Note it."""
        self.done.append("close_async")


async def test_a_search_is_made_ready_before_it_is_asked_outside_of_a_pipeline_too() -> None:
    """Some make their client there. By the door that it is asked by."""

    class Both(Lively):
        async def run_async(self, query: str) -> dict[str, Any]:
            return self.run(query)

    searches = [Lively(), Lively(), Both(), Both()]
    for search in searches[::2]:
        WebFallback(search).run(query=QUERY)
    for search in searches[1::2]:
        await WebFallback(search).run_async(query=QUERY)
    assert [search.done for search in searches] == [["warm_up"]] * 3 + [["warm_up_async"]]


async def test_the_life_cycle_reaches_every_search() -> None:
    """And nothing is made ready while the web is off."""
    searches = [Lively(), Lively()]
    for enabled in (False, True):
        part = WebFallback(searches, enabled=enabled)
        part.warm_up()
        await part.warm_up_async()
    part.close()
    await part.close_async()
    assert [search.done for search in searches] == [["warm_up", "warm_up_async", "close", "close_async"]] * 2


async def test_a_search_that_cannot_be_closed_leaves_no_other_open() -> None:
    class Stuck(Lively):
        def close(self) -> None:
            msg = "stuck"
            raise OSError(msg)

        async def close_async(self) -> None:
            self.close()

    for first, last in ((Stuck(), Lively()), (Lively(), Stuck())):
        fallback = WebFallback([first, last])
        with pytest.raises(OSError, match="stuck"):
            fallback.close()
        with pytest.raises(OSError, match="stuck"):
            await fallback.close_async()
        assert [*first.done, *last.done] == ["close", "close_async"]


def test_the_span_tells_status_and_numbers_and_log_and_span_hold_no_word(
    web: WebServer, exporter: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """A failure is named by its kind; neither query nor address is told."""
    part = WebFallback(RequestsSearch(web.url.replace("http://", f"http://user:{CANARY}@")), query_cooldown_s=0)
    with caplog.at_level(logging.INFO, logger="haystack_integrations"):
        ask(part, f"{CANARY} penguins")
        web.always(status=500)
        ask(part, f"{CANARY} penguins")
    good, bad = [dict(s.attributes) for s in exporter.get_finished_spans() if s.name == "crag.web"]
    assert (good["crag.web.status"], good["crag.web.provider"]) == ("ok", "RequestsSearch")
    assert (good["crag.web.results.in"], good["crag.web.results.kept"]) == (3, 3)
    assert good["openinference.span.kind"] == "RETRIEVER"
    assert len(good["crag.web.query.sha256"]) == 12
    assert json.loads(good["crag.breaker.state"]) == ["RequestsSearch:closed"]
    assert json.loads(bad["crag.web.failures"]) == ["web_failed:RequestsSearch:http_500"]
    assert json.loads(bad["crag.breaker.state"]) == ["RequestsSearch:cooldown"]
    assert caplog.text.count("Web search failed: RequestsSearch:http_500") == 1
    told = caplog.text + "".join(span.to_json() for span in exporter.get_finished_spans())
    assert CANARY not in told
    assert "secret words" not in told
    assert "127.0.0.1" not in told


async def test_a_cancelled_run_leaves_no_task(web: WebServer) -> None:
    """P11."""
    web.always(delay=60.0)
    task = asyncio.create_task(fallback(web).run_async(query=QUERY))
    await asyncio.sleep(0.2)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert asyncio.all_tasks() == {asyncio.current_task()}


@BOTH
def test_two_hundred_runs_at_once_do_not_mix(asynchronous: bool, web: WebServer) -> None:
    """P11: each gets the answer to its own query; nothing of a run is on the component."""
    web.always(delay=0.05)

    class Echo:
        """Answers with the query."""

        async def run_async(self, query: str) -> dict[str, Any]:
            await asyncio.sleep(0.01)
            return self.run(query)

        def run(self, query: str) -> dict[str, Any]:
            return {"documents": [Document(content=query, meta={"url": "https://example.org/x"})]}

    part = WebFallback(Echo())

    async def many() -> list[dict[str, Any]]:
        if asynchronous:
            return await asyncio.gather(*(part.run_async(query=f"question {n}") for n in range(200)))
        return await asyncio.gather(*(asyncio.to_thread(part.run, query=f"question {n}") for n in range(200)))

    results = asyncio.run(many())
    assert [result["documents"][0].content for result in results] == [f"question {n}" for n in range(200)]


TAVILY = {"results": [{"title": "Emma", "url": "https://example.org/emma", "content": "By Jane Austen.", "score": 0.9}]}


@pytest.fixture
def tavily_search(web: WebServer) -> TavilyWebSearch:
    """Haystack's component with tavily's own clients, which alone take another address."""
    search = TavilyWebSearch(api_key=Secret.from_token("tvly-key"), top_k=3)
    address = web.url.removesuffix("/search")
    search._tavily_client = tavily.TavilyClient(api_key="tvly-key", api_base_url=address)
    search._async_tavily_client = tavily.AsyncTavilyClient(api_key="tvly-key", api_base_url=address)
    return search


@BOTH
@pytest.mark.parametrize(
    ("reply", "status", "kind"),
    [
        ({"body": TAVILY}, "ok", None),
        ({"body": {"results": []}}, "empty", None),
        ({"body": {"results": [{"title": None, "url": None, "content": None, "score": None}]}}, "empty", None),
        ({"status": 429, "body": {"detail": {"error": "x"}}}, "failed", "rate_limited"),
        ({"status": 432, "body": {"detail": {"error": "x"}}}, "failed", "http_403"),
        ({"status": 401}, "failed", "http_401"),
        ({"status": 500}, "failed", "http_500"),
        ({"body": HTML}, "failed", "not_json"),
        ({"body": TAVILY, "cut": True}, "failed", "connection"),
        ({"delay": 60.0}, "failed", "timeout"),
    ],
    ids=["ok", "empty", "nulls", "429", "432", "401", "500", "html", "cut", "hang"],
)
def test_tavily_in_its_wire_form(
    reply: dict[str, Any], status: str, kind: str | None, asynchronous: bool, web: WebServer, tavily_search: Any
) -> None:
    """The real integration against a server on loopback."""
    web.always(**reply)
    result = ask(WebFallback(tavily_search, timeout_s=1.5 if "delay" in reply else 30), asynchronous=asynchronous)
    assert result["status"] == status
    assert [one["failure"] for one in result["report"]["tried"]] == [kind]
    assert b'"query": "Where do penguins live?"' in web.requests[0]
    assert len(result["documents"]) == (status == "ok")


PAGE = b"""<html><body><ul class="results"><li><h2><a href="https://example.org/emma">Emma</a></h2>
<p class="s">Where penguins live: a novel.</p></li></ul></body></html>"""


@BOTH
@pytest.mark.parametrize(
    ("reply", "status"),
    [
        ({"body": PAGE}, "ok"),
        ({"body": b"<html></html>"}, "failed"),  # ddgs says the same when there is nothing and when it was refused
        ({"status": 429}, "failed"),
        ({"status": 403}, "failed"),
    ],
    ids=["ok", "nothing", "429", "403"],
)
def test_ddgs_in_its_wire_form(
    reply: dict[str, Any], status: str, asynchronous: bool, web: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The real integration; ddgs has no setting for an address, so its engine is pointed at loopback."""
    monkeypatch.setattr(ddgs.engines.mojeek.Mojeek, "search_url", web.url)
    web.always(**reply)
    part = WebFallback(DDGSWebSearch(backend="mojeek", top_k=2), timeout_s=30, max_retries=0)
    result = ask(part, asynchronous=asynchronous)
    assert result["status"] == status
    assert web.calls == 1
    if status == "ok":
        assert result["documents"][0].meta["url"] == "https://example.org/emma"
        assert result["documents"][0].content == "Where penguins live: a novel."
    else:
        assert [one["failure"] for one in result["report"]["tried"]] == ["DDGSException"]


@BOTH
@pytest.mark.parametrize("broken", [False, True])
def test_pages_are_read_in_the_time_that_is_left_and_snippets_are_used_where_that_fails(
    broken: bool, asynchronous: bool, web: WebServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Only where it is on; how pages are read is tested with the reader."""
    given: list[tuple[float, Callable[[str], bool]]] = []

    def read(reader: PageReader, documents: list[Document], seconds: float) -> list[Document]:
        given.append((seconds, reader.permits))  # what is asserted here would pass for a page that cannot be read
        if broken:
            raise RuntimeError(CANARY)
        return [replace(document, content="The whole page.") for document in documents]

    async def read_async(reader: PageReader, documents: list[Document], seconds: float) -> list[Document]:
        return read(reader, documents, seconds)

    monkeypatch.setattr(PageReader, "read_blocking", read)
    monkeypatch.setattr(PageReader, "read", read_async)
    ask(fallback(web), asynchronous=asynchronous)
    assert not given
    state = CragState.start(QUERY, budget=Budget(seconds=5))
    result = ask(fallback(web, read_pages=True, allow_domains=["example.org"]), asynchronous=asynchronous, state=state)
    ((seconds, permits),) = given
    assert 0 < seconds < 5
    assert permits("www.example.org")
    assert not permits("example.com")
    assert result["status"] == "ok"
    assert result["documents"][0].content == (RESULTS[0]["content"] if broken else "The whole page.")
    assert CANARY not in caplog.text
    assert ("were not read (RuntimeError)" in caplog.text) == broken


@BOTH
@pytest.mark.parametrize("before", ["off", "ok", "failed", "empty"])
@pytest.mark.parametrize(
    ("reply", "seconds", "after"),
    [
        ({}, 60, "ok"),
        ({"body": {"results": []}}, 60, "empty"),
        ({"status": 500}, 60, "failed"),
        ({}, 0.001, "skipped"),
    ],
)
def test_the_state_tells_of_the_last_search_only(
    reply: dict[str, Any], seconds: float, after: str, before: Any, asynchronous: bool, web: WebServer
) -> None:
    """It is what the coming pass is judged by. What became of earlier ones stands in the trail."""
    web.always(**reply)
    started = time.monotonic() - 1
    state = CragState.start(QUERY, web=before, budget=Budget(seconds=max(seconds, 0.001)), started=started)
    result = ask(fallback(web, max_retries=0), asynchronous=asynchronous, state=state)
    assert (result["status"], result["state"].web) == (after, after)


@BOTH
@pytest.mark.parametrize("written", [None, "Jane Doe example refund", "jane-doe refund 4711"], ids=str)
def test_what_is_cut_from_the_question_does_not_leave_in_a_rewriters_words(
    written: str | None, asynchronous: bool, web: WebServer
) -> None:
    """An expression knows an address by its form, and keywords have none; the rest of the question is searched for."""
    question = "Did jane.doe@example.com get a refund for order 4711-0815?"
    rewriter = QueryExpander(mode="web", chat_generator=None if written is None else scripted(written))
    sent = rewriter.run(state=CragState.start(question))
    part = fallback(web, redact=[r"\S+@\S+", r"\d{4}-\d{4}"])
    assert ask(part, sent["query"], asynchronous=asynchronous, state=sent["state"])["status"] == "ok"
    assert "refund" in query_of(web)
    assert not {"jane", "doe", "example", "4711", "0815"} & set(words(query_of(web)))


@pytest.mark.parametrize(
    ("query", "expression", "left"),
    [
        ("refund to 4111\n1111  1111\u200b 1111", r"\d{4} \d{4} \d{4} \d{4}", "refund to"),
        ("refund to jane@exam\u00adple.org", r"\S+@\w+\.org\b", "refund to"),
        ("Name: Jane Doe\nWhen is a refund paid?", r"(?m)^Name:.*$", "When is a refund paid?"),
    ],
    ids=["lines", "invisible", "by lines"],
)
def test_an_expression_sees_the_query_as_it_came_and_as_it_is_sent(
    query: str, expression: str, left: str, web: WebServer
) -> None:
    """On one line, and without what nobody sees: else what is sent would hold what was to be cut."""
    assert ask(fallback(web, redact=[expression]), query)["status"] == "ok"
    assert query_of(web) == left


@BOTH
@pytest.mark.parametrize("letters", ["seal ", "海", "a"], ids=["words", "no spaces", "one word"])
def test_a_question_that_is_too_long_for_a_search_engine_is_cut(
    letters: str, asynchronous: bool, web: WebServer
) -> None:
    """Between two words, if it has any: engines refuse what has more than some hundred characters."""
    assert ask(fallback(web), (letters * 4_000)[:4_000], asynchronous=asynchronous)["status"] == "ok"
    assert 290 < len(query_of(web)) <= 300
    assert not query_of(web).replace(letters.strip(), "").strip()


def query_of(web: WebServer) -> str:
    """What the server was asked last."""
    return parse_qs(urlsplit(web.requests[-1].split()[1].decode()).query)["q"][0]
