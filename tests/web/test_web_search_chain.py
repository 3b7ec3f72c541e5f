"""The chain over real HTTP: who is asked, how often, how long it takes, and what is said of it."""

import asyncio
import logging
import threading
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import httpx
import pytest
import requests
from haystack import Document
from makers import Clock
from waiting import eventually, eventually_async
from web_server import HttpxSearch, Reply, RequestsSearch, WebServer, web_server

from haystack_integrations.crag.errors import ConfigurationError, NotConfiguredError, WebSearchError
from haystack_integrations.crag.web.outcome import Answer, Outcome, status_of
from haystack_integrations.crag.web.providers import failure_of, results_of
from haystack_integrations.crag.web.search import WebSearchChain

logger = logging.getLogger(__name__)

QUERY = "Where do penguins live?"
BOTH = pytest.mark.parametrize("asynchronous", [False, True], ids=["search", "search_async"])
CLIENTS = pytest.mark.parametrize("client", [HttpxSearch, RequestsSearch], ids=["httpx", "requests"])


@pytest.fixture
def one() -> Iterator[WebServer]:
    """The preferred provider."""
    with web_server() as server:
        yield server


@pytest.fixture
def two() -> Iterator[WebServer]:
    """The next provider."""
    with web_server() as server:
        yield server


def usable(results: Sequence[Document], provider: str) -> tuple[list[Document], dict[str, int]]:
    """All results with a text."""
    return [result for result in results if result.content], {}


def search(chain: WebSearchChain, query: str = QUERY, *, asynchronous: bool = False, seconds: Any = None) -> Outcome:
    """Search by one of the doors."""
    if asynchronous:
        return asyncio.run(chain.search_async(query, usable, seconds))
    return chain.search(query, usable, seconds)


def failures(outcome: Outcome) -> list[str | None]:
    """What each provider met."""
    return [answer.failure for answer in outcome.tried]


@BOTH
@CLIENTS
def test_results_come_in_their_order_with_their_address(client: Any, asynchronous: bool, one: WebServer) -> None:
    """Whatever key the provider has for it."""
    outcome = search(WebSearchChain([client(one.url)]), asynchronous=asynchronous)
    assert outcome.status == "ok"
    assert outcome.answer is not None
    urls = [document.meta["url"] for document in outcome.answer.documents]
    assert urls == [f"https://example.org/page/{n}" for n in (1, 2, 3)]


IN_TWO_MINUTES = "the date in two minutes"  # written when the test runs, which may be long after this is read
HTML = b"<!doctype html><title>Just a moment</title>"
FAULTS = [
    ("429", {"status": 429}, "rate_limited", 1, 30),
    ("429-seconds", {"status": 429, "headers": {"Retry-After": "120"}}, "rate_limited", 1, 120),
    ("429-date", {"status": 429, "headers": {"Retry-After": IN_TWO_MINUTES}}, "rate_limited", 1, 100),
    ("429-nonsense", {"status": 429, "headers": {"Retry-After": "soon"}}, "rate_limited", 1, 30),
    ("403", {"status": 403, "body": HTML}, "http_403", 1, 30),
    ("500", {"status": 500}, "http_500", 2, 30),
    ("503-seconds", {"status": 503, "headers": {"Retry-After": "45"}}, "http_503", 1, 45),
    ("hang", {"delay": 60.0}, "timeout", 1, 30),
    ("cut", {"cut": True}, "connection", 2, 30),
    ("html", {"body": HTML}, "not_json", 2, 30),
    ("no results key", {"body": {"error": None}}, "malformed", 2, 30),
    ("null results", {"body": {"results": None}}, "malformed", 2, 30),
]


@BOTH
@CLIENTS
@pytest.mark.parametrize(
    ("reply", "kind", "calls", "cooldown"), [pytest.param(*fault[1:], id=fault[0]) for fault in FAULTS]
)
def test_every_fault_is_a_kind_and_a_cool_down_and_never_an_exception(
    reply: dict[str, Any], kind: str, calls: int, cooldown: float, client: Any, asynchronous: bool, one: WebServer
) -> None:
    """In bounded time, with at most one retry and none after 4xx; then nobody is asked until the cool-down is over."""
    clock = Clock()
    if reply.get("headers", {}).get("Retry-After") == IN_TWO_MINUTES:
        date = format_datetime(datetime.now(UTC) + timedelta(seconds=120), usegmt=True)
        reply = {**reply, "headers": {"Retry-After": date}}
    one.always(**reply)
    seconds = 1.0 if kind == "timeout" else 30.0  # a busy machine answers late, and that would be another fault
    chain = WebSearchChain([client(one.url)], timeout_s=seconds, clock=clock, query_cooldown_s=0)
    started = time.monotonic()
    outcome = search(chain, asynchronous=asynchronous)
    assert time.monotonic() - started < seconds + 10
    assert (outcome.status, failures(outcome), outcome.answer) == ("failed", [kind], None)
    assert one.calls == calls
    # The thread that was given up tells its breaker itself, on a busy machine a moment later.
    assert eventually(lambda: chain.providers[0].breaker.state == "cooldown")
    clock.now += cooldown - 1
    assert search(chain, asynchronous=asynchronous).status == "cooldown"
    assert one.calls == calls
    clock.now += 25 if cooldown == 100 else 1  # a date has whole seconds, and time passes while it is read
    one.always()
    assert search(chain, asynchronous=asynchronous).status == "ok"


class Holding:
    """A search that holds its event loop for longer than it has, as another request's work does, and then hangs."""

    async def run_async(self, query: str) -> dict[str, Any]:
        """Hang."""
        time.sleep(1.0)
        await asyncio.sleep(60)
        return {"documents": []}

    def run(self, query: str) -> dict[str, Any]:
        """Be asked by the other door."""
        raise AssertionError


async def test_a_provider_that_hangs_is_left_alone_also_where_its_end_is_seen_late() -> None:
    """Else each run would wait for it anew while the event loop is busy."""
    chain = WebSearchChain([Holding()], timeout_s=0.3)
    outcome = await chain.search_async(QUERY, usable)
    assert (outcome.status, failures(outcome)) == ("failed", ["timeout"])
    assert chain.providers[0].breaker.state == "cooldown"


@BOTH
@CLIENTS
@pytest.mark.parametrize("status", [400, 413, 414, 422])
def test_a_provider_that_refuses_one_query_is_asked_the_next_one(
    status: int, client: Any, asynchronous: bool, one: WebServer
) -> None:
    """Else whoever asks what it does not take would switch the web off for all. It is not asked that again."""
    one.reply = lambda number: Reply(status=status) if number == 1 else Reply()
    chain = WebSearchChain([client(one.url)])
    refused = search(chain, "???", asynchronous=asynchronous)
    assert (refused.status, failures(refused), one.calls) == ("failed", [f"http_{status}"], 1)
    assert chain.providers[0].breaker.state == "closed"
    assert search(chain, asynchronous=asynchronous).status == "ok"
    assert search(chain, "???", asynchronous=asynchronous).status == "cooldown"
    assert one.calls == 2


@BOTH
def test_a_flapping_provider_is_asked_twice_at_most_and_not_at_all_in_the_cool_down(
    asynchronous: bool, one: WebServer
) -> None:
    """P5: 1 + retries requests at first, then one probe after each cool-down."""
    clock = Clock()
    one.always(status=500)
    chain = WebSearchChain([HttpxSearch(one.url)], clock=clock)
    for round_ in range(1, 4):
        for attempt in range(5):
            search(chain, f"question {round_} {attempt}", asynchronous=asynchronous)
        assert one.calls == 1 + round_
        clock.now += 30 * 2 ** (round_ - 1)


def test_fifty_searches_waiting_for_the_end_of_a_cool_down_send_one_request(one: WebServer) -> None:
    """P5 through the chain: one probe; the others are told `cooldown` at once."""
    clock = Clock()
    one.always(status=500)
    chain = WebSearchChain([HttpxSearch(one.url)], clock=clock)
    search(chain)
    assert one.calls == 2
    one.always(status=500, delay=0.5)
    clock.now += 30
    statuses: list[str] = []
    threads = [
        threading.Thread(target=lambda n=n: statuses.append(search(chain, f"{QUERY} {n}").status)) for n in range(50)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert one.calls == 3
    assert sorted(statuses) == ["cooldown"] * 49 + ["failed"]


@BOTH
def test_twenty_searches_at_once_do_not_wait_for_each_other(asynchronous: bool, one: WebServer) -> None:
    """No lock is held while a provider works; one after the other they would take half a minute."""
    one.always(delay=1.5)
    chain = WebSearchChain([HttpxSearch(one.url)], timeout_s=60)

    async def many() -> list[str]:
        found = await asyncio.gather(*(chain.search_async(f"{QUERY} {n}", usable) for n in range(20)))
        return [outcome.status for outcome in found]

    def thread(n: int, statuses: list[str]) -> threading.Thread:
        return threading.Thread(target=lambda: statuses.append(search(chain, f"{QUERY} {n}").status))

    started = time.monotonic()
    statuses: list[str] = []
    if asynchronous:
        statuses = asyncio.run(many())
    else:
        threads = [thread(n, statuses) for n in range(20)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    assert time.monotonic() - started < 20
    assert statuses == ["ok"] * 20


@BOTH
@pytest.mark.parametrize("reply", [{"status": 500}, {"status": 429}, {"delay": 60.0}], ids=["500", "429", "hang"])
def test_a_failure_leads_to_the_next_provider_also_when_it_hangs(
    reply: dict[str, Any], asynchronous: bool, one: WebServer, two: WebServer
) -> None:
    """One that hangs does not use up the time of the others."""
    one.always(**reply)
    chain = WebSearchChain([HttpxSearch(one.url), RequestsSearch(two.url)], timeout_s=6.0)
    outcome = search(chain, asynchronous=asynchronous)
    assert outcome.status == "ok"
    assert outcome.answer is not None
    assert outcome.answer.provider == "RequestsSearch"
    assert two.calls == 1


@BOTH
@pytest.mark.parametrize("onward", [False, True])
def test_an_empty_answer_leads_on_only_where_that_is_asked_for(
    onward: bool, asynchronous: bool, one: WebServer, two: WebServer
) -> None:
    """It is an answer: nothing was found."""
    one.always(body={"results": []})
    chain = WebSearchChain([HttpxSearch(one.url), RequestsSearch(two.url)], next_on_empty=onward)
    outcome = search(chain, asynchronous=asynchronous)
    assert outcome.status == ("ok" if onward else "empty")
    assert two.calls == onward


@BOTH
def test_a_hedge_answers_in_the_time_of_the_delay_and_the_healthy_provider(
    asynchronous: bool, one: WebServer, two: WebServer
) -> None:
    """Fresh chains, so that no cool-down helps. P95 over more searches: `benchmarks/web.py`."""
    one.always(delay=60.0)
    two.always(delay=0.4)
    healthy = [timed(WebSearchChain([HttpxSearch(two.url)]), asynchronous) for _ in range(4)]
    both = [HttpxSearch(one.url), HttpxSearch(two.url)]
    hedged = [timed(WebSearchChain(both, hedge_after_s=0.2, timeout_s=30.0), asynchronous) for _ in range(4)]
    assert min(hedged) <= 0.2 + 1.2 * max(healthy)  # the best counts: other work on this machine is no delay of ours
    assert max(hedged) < 10
    assert one.calls == 4


def timed(chain: WebSearchChain, asynchronous: bool) -> float:
    """Seconds of one search that finds something."""

    async def run() -> float:
        started = time.perf_counter()
        assert (await chain.search_async(QUERY, usable)).status == "ok"
        return time.perf_counter() - started

    if asynchronous:
        return asyncio.run(run())
    started = time.perf_counter()
    assert search(chain).status == "ok"
    return time.perf_counter() - started


def test_the_late_failure_of_a_hedged_provider_counts_for_its_breaker_and_not_as_an_answer(
    one: WebServer, two: WebServer
) -> None:
    """Threads that are given up tell their breaker how it went."""
    one.always(status=500, delay=2.0)
    chain = WebSearchChain([HttpxSearch(one.url), HttpxSearch(two.url)], hedge_after_s=0.05, max_retries=0)
    outcome = search(chain)
    assert outcome.status == "ok"
    assert sorted(str(failure) for failure in failures(outcome)) == ["None", "abandoned"]
    assert chain.providers[0].breaker.state == "closed"
    assert eventually(lambda: chain.providers[0].breaker.state == "cooldown")
    assert chain.providers[1].breaker.state == "closed"


async def test_a_cancelled_search_leaves_no_task_and_gives_its_probe_back(one: WebServer, two: WebServer) -> None:
    """Also with a hedge under way."""
    clock = Clock()
    one.always(status=500)
    chain = WebSearchChain(
        [HttpxSearch(one.url), HttpxSearch(two.url)], hedge_after_s=0.1, clock=clock, max_retries=0, query_cooldown_s=0
    )
    await chain.search_async(QUERY, usable)
    one.always(delay=60.0)
    two.always(delay=60.0)
    clock.now += 30
    task = asyncio.create_task(chain.search_async(QUERY, usable))
    assert await eventually_async(lambda: one.calls == 2 and two.calls == 1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert asyncio.all_tasks() == {asyncio.current_task()}
    assert chain.providers[0].breaker.state == "half_open"
    assert chain.providers[0].breaker.admit() is not None


@BOTH
def test_the_same_query_is_not_searched_again_within_its_cool_down_but_answered_again(
    asynchronous: bool, one: WebServer
) -> None:
    """Case, white space and composition of letters make no other query."""
    clock = Clock()
    chain = WebSearchChain([HttpxSearch(one.url)], clock=clock)
    first = search(chain, "Où  est la Café?", asynchronous=asynchronous)
    again = search(chain, " où est la CAFE\u0301? ", asynchronous=asynchronous)
    assert one.calls == 1
    assert again.again
    assert again.status == "ok"
    assert first.answer is not None
    assert again.answer is not None
    assert again.answer.documents == first.answer.documents
    again.answer.documents[0].meta["url"] = "changed by a run"
    third = search(chain, "où est la café?", asynchronous=asynchronous)
    assert third.answer is not None
    assert third.answer.documents[0].meta["url"] != "changed by a run"
    clock.now += 60
    search(chain, "où est la café?", asynchronous=asynchronous)
    assert one.calls == 2


def test_a_query_that_failed_is_left_alone_too_and_a_thousand_queries_are_remembered(one: WebServer) -> None:
    """Memory is bounded."""
    clock = Clock()
    one.always(status=500)
    chain = WebSearchChain([HttpxSearch(one.url)], clock=clock, query_cooldown_s=3_600)
    assert search(chain).status == "failed"
    clock.now += 31
    assert search(chain).status == "cooldown"
    assert one.calls == 2
    for number in range(1_100):
        chain._found[str(number)] = Outcome("empty")
    assert len(chain._found) == 1_000


@BOTH
def test_a_search_ends_with_the_run_and_is_not_begun_without_time(asynchronous: bool, one: WebServer) -> None:
    """The run's seconds count when they are fewer than the chain's own."""
    one.always(delay=60.0)
    chain = WebSearchChain([HttpxSearch(one.url)], timeout_s=30)
    started = time.monotonic()
    assert search(chain, asynchronous=asynchronous, seconds=1.0).status == "failed"
    assert time.monotonic() - started < 10
    assert search(chain, "another", asynchronous=asynchronous, seconds=0.0).status in ("skipped", "cooldown")
    assert one.calls == 1


@BOTH
def test_a_run_without_time_leaves_the_provider_and_its_query_to_the_others(asynchronous: bool, one: WebServer) -> None:
    """Else one client with a small budget would switch the web off for all."""
    one.always(delay=2.0)
    chain = WebSearchChain([HttpxSearch(one.url)], timeout_s=30)
    before = set(threading.enumerate())
    hurried = search(chain, asynchronous=asynchronous, seconds=0.3)
    assert hurried.status == "failed"
    assert failures(hurried) == ["deadline"]
    # What was left behind has ended.
    assert eventually(lambda: all(thread.name != "crag-call" for thread in set(threading.enumerate()) - before))
    one.always()
    assert chain.providers[0].breaker.state == "closed"
    assert search(chain, "another", asynchronous=asynchronous).status == "ok"
    assert search(chain, asynchronous=asynchronous).status == "ok"
    assert one.calls == 3


class Unset:
    """A search that nobody has set up."""

    def run(self, query: str) -> dict[str, Any]:
        """Say so."""
        msg = "no server is set"
        raise NotConfiguredError(msg)


@BOTH
def test_a_provider_that_nobody_set_up_is_passed_over_and_has_not_failed(asynchronous: bool, one: WebServer) -> None:
    """The next one is asked; alone, it is as if the web were off, and the next search looks again."""
    chain = WebSearchChain([Unset(), HttpxSearch(one.url)])
    assert search(chain, asynchronous=asynchronous).status == "ok"
    alone = WebSearchChain([Unset()])
    for _ in range(2):
        outcome = search(alone, asynchronous=asynchronous)
        assert (outcome.status, outcome.again, [one.calls for one in outcome.tried]) == ("skipped", False, [0])
    assert alone.providers[0].breaker.state == "closed"


class Impatient:
    """A search with a short limit of its own."""

    def run(self, query: str) -> dict[str, Any]:
        """Give up at once."""
        raise TimeoutError


@BOTH
def test_a_provider_that_meets_its_own_limit_has_failed_also_where_the_run_has_a_budget(asynchronous: bool) -> None:
    """Else one that hangs would be asked for ever by those whose runs have less time than a search may take."""
    chain = WebSearchChain([Impatient()], timeout_s=30)
    assert failures(search(chain, asynchronous=asynchronous, seconds=10.0)) == ["timeout"]
    assert chain.providers[0].breaker.state == "cooldown"
    assert search(chain, asynchronous=asynchronous).again


@pytest.mark.parametrize(
    ("error", "kind", "retry_after"),
    [
        (WebSearchError("x", kind="engines_failed", retry_after_s=3600.0), "engines_failed", 3600.0),
        (ConfigurationError("x"), "ConfigurationError", None),
        (TimeoutError(), "timeout", None),
        (httpx.ReadTimeout("x"), "timeout", None),
        (requests.ConnectTimeout("x"), "timeout", None),
        (ConnectionRefusedError(), "connection", None),
        (httpx.RemoteProtocolError("x"), "connection", None),
        (requests.ConnectionError("x"), "connection", None),
        (KeyError("organic"), "malformed", None),
        (ArithmeticError("secret"), "ArithmeticError", None),
    ],
)
def test_errors_are_told_by_their_kind(error: Exception, kind: str, retry_after: float | None) -> None:
    """Also when somebody wrapped them."""
    assert failure_of(error).kind == kind
    wrapped = RuntimeError("about the query")
    wrapped.__cause__ = error
    told = failure_of(wrapped)
    assert told.kind in (kind, "RuntimeError")
    assert told.retry_after_s in (retry_after, None)


def test_an_address_beside_the_documents_is_found_when_there_is_one_for_each() -> None:
    """A shorter list of links would shift them."""
    documents = [Document(content="a"), Document(content="b")]
    links = ["https://a.example", "https://b.example"]
    assert [d.meta["url"] for d in results_of({"documents": documents, "links": links})] == links
    assert all("url" not in d.meta for d in results_of({"documents": documents, "links": links[:1]}))


@pytest.mark.parametrize("answer", [None, [], {}, {"documents": None}, {"documents": ["text"]}])
def test_what_is_no_list_of_documents_is_an_error(answer: Any) -> None:
    """It is not an empty answer."""
    with pytest.raises(TypeError, match="list of documents"):
        results_of(answer)


class Logging:
    """A search that logs what went wrong and gives nothing, as Haystack's for Firecrawl does, or what it is told to."""

    def __init__(self, url: str, found: Sequence[Document] = (), level: int = logging.ERROR) -> None:
        self.url, self.found, self.level = url, list(found), level

    def run(self, query: str) -> dict[str, Any]:
        """Search."""
        try:
            requests.get(self.url, timeout=5).raise_for_status()
        except requests.HTTPError as error:
            logger.log(self.level, f"No results for {query}: {error}", exc_info=self.level >= logging.ERROR)
        return {"documents": self.found, "links": []}

    async def run_async(self, query: str) -> dict[str, Any]:
        """Search."""
        return self.run(query)


@BOTH
@pytest.mark.parametrize("level", [logging.WARNING, logging.ERROR])
def test_a_failure_that_a_search_only_logs_is_no_empty_answer(
    level: int, asynchronous: bool, one: WebServer, caplog: pytest.LogCaptureFixture
) -> None:
    """A revoked key passed for a web that has nothing on the question. Its log line keeps the question to itself."""
    one.always(status=401)
    outcome = search(WebSearchChain([Logging(one.url, level=level)]), asynchronous=asynchronous)
    assert (outcome.status, failures(outcome)) == ("failed", ["http_401"])
    assert QUERY not in caplog.text
    assert "HTTPError" in caplog.text
    page = Document(content="At the pole.", meta={"url": "https://example.org"})
    assert search(WebSearchChain([Logging(one.url, [page])]), asynchronous=asynchronous).status == "ok"
    one.always(body={})
    assert search(WebSearchChain([Logging(one.url)]), asynchronous=asynchronous).status == "empty"


@pytest.mark.parametrize(
    ("name", "kind"),
    [("TooManyRequests", "rate_limited"), ("Authentication", "http_401"), ("NoResult", "http_400")],
)
def test_linkups_errors_are_told_by_their_names(name: str, kind: str) -> None:
    """Its client keeps no status; one that found nothing for a question is not paused for that."""
    failure = failure_of(type(f"Linkup{name}Error", (Exception,), {})())
    assert (failure.kind, failure.retryable) == (kind, False)
    assert failure.of_provider is (kind != "http_400")


class Quitting:
    """A search that cancels itself."""

    async def run_async(self, query: str) -> dict[str, Any]:
        """Behave as a client does whose own time limit leaks."""
        raise asyncio.CancelledError


def test_a_provider_that_cancels_itself_has_failed_and_does_not_cancel_the_run(one: WebServer) -> None:
    """The next one is asked."""
    outcome = search(WebSearchChain([Quitting(), HttpxSearch(one.url)]), asynchronous=True)
    assert outcome.status == "ok"
    assert failures(outcome) == ["cancelled", None]


def test_a_machine_without_a_thread_to_spare_fails_the_search_and_not_the_run(
    one: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And no provider is blamed for it."""
    chain = WebSearchChain([HttpxSearch(one.url)])

    def none_left(*_: Any) -> None:
        msg = "can't start new thread"
        raise RuntimeError(msg)

    monkeypatch.setattr("haystack_integrations.crag.web.search.begun", none_left)
    outcome = search(chain)
    assert failures(outcome) == ["RuntimeError"]
    assert chain.providers[0].breaker.state == "closed"


def test_two_providers_of_one_class_have_two_names_and_two_breakers(one: WebServer, two: WebServer) -> None:
    """Else the failure of one would rest the other."""
    one.always(status=500)
    chain = WebSearchChain([HttpxSearch(one.url), HttpxSearch(two.url)])
    assert [provider.name for provider in chain.providers] == ["HttpxSearch-1", "HttpxSearch-2"]
    search(chain)
    assert [provider.breaker.state for provider in chain.providers] == ["cooldown", "closed"]


@pytest.mark.parametrize(
    ("tried", "status"),
    [
        ([Answer("a", failure="timeout", calls=1), Answer("b", failure="cooldown")], "failed"),
        ([Answer("a", failure="open"), Answer("b", failure="cooldown")], "cooldown"),
        ([Answer("a", failure="timeout", calls=1), Answer("b", calls=1)], "empty"),
        ([Answer("a", failure=NotConfiguredError.kind)], "skipped"),
    ],
)
def test_one_provider_that_was_asked_is_enough_for_a_search_to_have_failed(tried: list[Answer], status: str) -> None:
    """Only where none was asked, nothing is known of the web of today."""
    assert status_of(tried) == status
