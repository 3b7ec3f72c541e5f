"""
Politeness and patience of the web fallback (promises P5 and P8), against servers on loopback started here.

    python benchmarks/web.py [--searches 40]

Requests a failing provider sees and those in its cool-down; probes of 50 waiting threads; 20 parallel searches against
one; hedged p95 with one provider hanging against the healthy one's; seconds a fault takes; bytes of canaries that left.
"""

import argparse
import asyncio
import statistics
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

# The misbehaving server and its clients are the tests' own.
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from haystack import Document, logging
from web_server import HttpxSearch, WebServer, web_server

from haystack_integrations.crag.components.web_fallback import WebFallback
from haystack_integrations.crag.state import CragState
from haystack_integrations.crag.web.search import WebSearchChain

CANARY = "canary7f3a"
FAULTS: dict[str, dict[str, Any]] = {
    "429": {"status": 429},
    "429 with Retry-After": {"status": 429, "headers": {"Retry-After": "120"}},
    "403": {"status": 403},
    "500": {"status": 500},
    "hang": {"delay": 60.0},
    "cut body": {"cut": True},
    "HTML": {"body": b"<html></html>"},
    "null fields": {"body": {"results": [{"title": None, "url": None, "content": None}]}},
}


class Clock:
    """Time of cool-downs; passes when told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def usable(results: Any, _: str) -> tuple[list[Document], dict[str, int]]:
    """Everything."""
    return list(results), {}


def together(count: int, call: Callable[[int], Any]) -> tuple[list[Any], float]:
    """Results of so many threads, and the seconds they took."""
    found: list[Any] = []
    threads = [threading.Thread(target=lambda n=n: found.append(call(n))) for n in range(count)]
    started = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found, time.perf_counter() - started


def polite(server: WebServer) -> None:
    """A provider that fails until it does not."""
    clock = Clock()
    server.always(status=500)
    chain = WebSearchChain([HttpxSearch(server.url)], clock=clock, max_retries=1)
    rounds = []
    for number in range(4):
        before = server.calls
        chain.search(f"first {number}", usable)
        asked = server.calls - before
        for again in range(20):
            chain.search(f"again {number} {again}", usable)
        rounds.append((asked, server.calls - before - asked))
        clock.now += 30 * 2**number
    print(f"flapping provider, (requests, requests in the cool-down) of 4 rounds: {rounds}; wanted (<= 2, 0)")
    server.always(status=500, delay=0.5)
    before = server.calls
    clock.now += 900
    outcomes, _ = together(50, lambda n: chain.search(f"waiting {n}", usable).status)
    refused = outcomes.count("cooldown")
    print(f"50 waiting threads: {server.calls - before} request(s), {refused} refused; wanted 1, 49")


def parallel(server: WebServer) -> None:
    """20 searches at once against one."""
    server.always(delay=0.5)
    chain = WebSearchChain([HttpxSearch(server.url)])
    _, one = together(1, lambda _: chain.search("alone", usable))
    _, twenty = together(20, lambda n: chain.search(f"parallel {n}", usable))

    async def many() -> float:
        started = time.perf_counter()
        await asyncio.gather(*(chain.search_async(f"tasks {n}", usable) for n in range(20)))
        return time.perf_counter() - started

    tasks = asyncio.run(many())
    print(f"20 parallel searches: threads {twenty / one:.2f} x one, tasks {tasks / one:.2f} x one; wanted <= 2")


def hedged(server: WebServer, hanging: WebServer, searches: int) -> None:
    """The preferred provider hangs, each time anew: fresh chains know of no failure."""
    server.always(delay=0.3)
    hanging.always(delay=60.0)
    delay = 0.2

    def p95(make: Callable[[], WebSearchChain], *, asynchronous: bool) -> float:
        times = []
        for _ in range(searches):
            chain = make()
            started = time.perf_counter()
            outcome = asyncio.run(chain.search_async("q", usable)) if asynchronous else chain.search("q", usable)
            times.append(time.perf_counter() - started)
            assert outcome.status == "ok"
        return statistics.quantiles(times, n=20)[-1]

    both = [HttpxSearch(hanging.url), HttpxSearch(server.url)]
    for asynchronous in (False, True):
        alone = p95(lambda: WebSearchChain([HttpxSearch(server.url)]), asynchronous=asynchronous)
        pair = p95(lambda: WebSearchChain(both, hedge_after_s=delay, timeout_s=2.0), asynchronous=asynchronous)
        name = "tasks" if asynchronous else "threads"
        print(
            f"hedged p95 of {searches}, {name}: {1000 * pair:.0f} ms; healthy alone {1000 * alone:.0f} ms, "
            f"delay {1000 * delay:.0f} ms; wanted <= {1000 * (delay + 1.2 * alone):.0f} ms"
        )


def faults(server: WebServer) -> None:
    """Status, documents, requests and seconds of each fault, with a limit of one second."""
    for name, reply in FAULTS.items():
        server.always(**reply)
        before, started = server.calls, time.perf_counter()
        result = WebFallback(HttpxSearch(server.url), timeout_s=1.0).run(query="penguins")
        seconds = time.perf_counter() - started
        calls, kind = server.calls - before, [one["failure"] for one in result["report"]["tried"]]
        print(f"{name:21} {result['status']:7} {kind[0]!s:13} {calls} requests {seconds:.2f} s")


def private(server: WebServer) -> None:
    """Marks in all that a run knows, and what of them the server saw."""
    server.always()
    seen = len(server.requests)
    document = Document(content=CANARY, meta={"title": CANARY})
    state = CragState.start(CANARY, kept=(document,), best=(document,), trail=({"note": CANARY},))
    part = WebFallback(HttpxSearch(server.url), redact=[rf"{CANARY}\S*"], deny_domains=[f"{CANARY}.example"])
    part.run(query=f"penguins {CANARY}", state=state)
    sent = b"".join(server.requests[seen:])
    print(f"canaries in {len(sent)} bytes sent: {sent.count(CANARY.encode()) * len(CANARY)} bytes")
    before = server.calls
    part.run(query="other penguins", enabled=False)
    print(f"requests with the web off: {server.calls - before}")


def overhead() -> None:
    """What the chain adds to a provider that answers at once."""

    class Instant:
        def run(self, query: str) -> dict[str, Any]:
            return {"documents": [Document(content=query, meta={"url": "https://example.org/x"})]}

    part = WebFallback(Instant())
    times = []
    for number in range(300):
        started = time.perf_counter()
        part.run(query=f"question {number}")
        times.append(1000 * (time.perf_counter() - started))
    p95 = statistics.quantiles(times, n=20)[-1]
    print(f"own time of a search: p50 {statistics.median(times):.2f} ms, p95 {p95:.2f} ms")


def main() -> None:
    """Run all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--searches", type=int, default=40)
    searches = parser.parse_args().searches
    logging.getLogger("haystack_integrations").setLevel("ERROR")
    with web_server() as server, web_server() as hanging:
        polite(server)
        parallel(server)
        hedged(server, hanging, searches)
        faults(server)
        private(server)
    overhead()


if __name__ == "__main__":
    main()
