"""
What tracing and metrics cost: throughput of corrective_rag in this process with them on and off, in one run.

    python benchmarks/tracing.py [--model-ms 200] [--at-once 16] [--questions 200] [--rounds 6] [--jaeger URL]

Spans go through the SDK's batch processor to a collector on loopback (Jaeger's OTLP port with --jaeger, else one in
another process that reads and drops them), figures to the Prometheus reader. Also counts traces and orphan spans.
"""

import argparse
import asyncio
import json
import random
import statistics
import subprocess
import sys
import time
from collections import Counter
from typing import Any

from common import instant_model
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.tracing.tracer import disable_tracing
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from overhead import WORDS, documents

from haystack_integrations.crag.components.static_document_embedder import StaticDocumentEmbedder
from haystack_integrations.crag.metrics_export import configure_metrics
from haystack_integrations.crag.pipelines import load
from haystack_integrations.crag.tracing import enable_tracing

# Reads what is sent and says yes; its own process, as a collector is.
SINK = """
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
class Sink(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()
    def log_message(self, *_):
        pass
server = ThreadingHTTPServer(("127.0.0.1", 0), Sink)
print(server.server_port, flush=True)
server.serve_forever()
"""


class Slow:
    """A scripted model that takes its time, as real ones do."""

    def __init__(self, seconds: float) -> None:
        self._model, self._seconds = instant_model(), seconds

    def run(self, messages: list[Any]) -> Any:
        """Answer after a while."""
        time.sleep(self._seconds)
        return self._model.run(messages)

    async def run_async(self, messages: list[Any]) -> Any:
        """Answer after a while, on the event loop."""
        await asyncio.sleep(self._seconds)
        return self._model.run(messages)


class Census(SpanProcessor):
    """Counts traces, spans and those without their parent; keeps ids only."""

    def __init__(self) -> None:
        self.spans: list[tuple[int, int, int | None]] = []

    def on_end(self, span: ReadableSpan) -> None:
        """Take down who it is and who is above it."""
        assert span.context is not None
        self.spans.append((span.context.trace_id, span.context.span_id, span.parent and span.parent.span_id))

    def orphans(self) -> int:
        """Count spans whose parent is not in their trace."""
        known = {(trace_id, span_id) for trace_id, span_id, _ in self.spans}
        return sum(parent is not None and (trace_id, parent) not in known for trace_id, _, parent in self.spans)


async def throughput(rag: Any, questions: list[str], at_once: int) -> float:
    """Questions per second, so many at once."""
    gate = asyncio.Semaphore(at_once)

    async def one(question: str) -> None:
        async with gate:
            result = await rag.run_async(query=question)
            assert result["crag"]["llm_calls"] == 2

    begun = time.perf_counter()
    await asyncio.gather(*(one(question) for question in questions))
    return len(questions) / (time.perf_counter() - begun)


async def measure(rag: Any, options: argparse.Namespace) -> None:
    """Take turns: on, off, off, on; a ratio for each pair."""
    rng, census = random.Random(1), Census()
    provider: Any = trace.get_tracer_provider()
    asked = 0

    def questions() -> list[str]:
        return [
            f"Which {rng.choice(WORDS)}{n % 40} stands near the {rng.choice(WORDS)}?" for n in range(options.questions)
        ]

    for _ in range(2):
        await throughput(rag, questions()[:50], options.at_once)
    rates: dict[bool, list[float]] = {True: [], False: []}
    provider.add_span_processor(census)
    for number in range(options.rounds):
        for on in (True, False) if number % 2 else (False, True):
            enable_tracing() if on else disable_tracing()
            asked += options.questions * on
            rates[on].append(await throughput(rag, questions(), options.at_once))
            provider.force_flush()
    ratios = [on / off for on, off in zip(rates[True], rates[False], strict=True)]
    print(f"off {statistics.median(rates[False]):.1f} questions/s, on {statistics.median(rates[True]):.1f}")
    print(
        f"ratio on/off: median {statistics.median(ratios):.3f} ({min(ratios):.3f} to {max(ratios):.3f}), goal >= 0.95"
    )
    traces = Counter(trace_id for trace_id, *_ in census.spans)
    per = len(census.spans) / len(traces)
    print(f"{asked} questions: {len(traces)} traces, {per:.0f} spans each, {census.orphans()} orphan spans")


def main() -> None:
    """Set up, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model-ms", type=float, default=200.0)
    parser.add_argument("--at-once", type=int, default=16)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--jaeger", help="its OTLP address, http://HOST:4318")
    options = parser.parse_args()
    sink = None
    if options.jaeger is None:
        sink = subprocess.Popen([sys.executable, "-c", SINK], stdout=subprocess.PIPE, text=True)
        assert sink.stdout is not None
        options.jaeger = f"http://127.0.0.1:{sink.stdout.readline().strip()}"
    provider = TracerProvider()
    exporter = OTLPSpanExporter(f"{options.jaeger}/v1/traces")
    provider.add_span_processor(BatchSpanProcessor(exporter, max_queue_size=100_000))
    trace.set_tracer_provider(provider)
    figures = configure_metrics()
    store = InMemoryDocumentStore(index="tracing", embedding_similarity_function="cosine")
    store.write_documents(StaticDocumentEmbedder().run(documents=documents(500))["documents"])
    model: Any = Slow(options.model_ms / 1000)
    rag = load("corrective_rag", store=store, generator=model, grader={"cache": None})
    grader: Any = rag.pipeline.get_component("grader")
    grader.chat_generator = model
    print(json.dumps({key: value for key, value in vars(options).items() if key != "jaeger"}))
    try:
        asyncio.run(measure(rag, options))
    finally:
        provider.shutdown()
        figures.shutdown()
        if sink is not None:
            sink.terminate()
            sink.wait()


if __name__ == "__main__":
    main()
