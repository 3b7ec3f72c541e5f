"""
What tracing and metrics cost: throughput of corrective_rag in this process with them on and off, in one run.

    python benchmarks/tracing.py [--model-ms 200] [--at-once 16] [--questions 200] [--rounds 6] [--jaeger URL]

The model is `model_server.py` in a process of its own, asked through OpenAI's client. Spans go through the SDK's batch
processor to a collector on loopback (Jaeger's OTLP port with --jaeger, else one in another process that reads and drops
them), figures to the Prometheus reader. Also counts traces and orphan spans, and says what a question costs in
processor time: the rate cannot fall by more than that where the processor is what is short.
"""

import argparse
import asyncio
import json
import random
import socket
import statistics
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.tracing.tracer import disable_tracing
from haystack.utils import Secret
from model_server import case, topic
from opentelemetry import metrics, trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from overhead import documents

from haystack_integrations.crag.components.static_document_embedder import StaticDocumentEmbedder
from haystack_integrations.crag.metrics_export import configure_metrics
from haystack_integrations.crag.pipelines import load
from haystack_integrations.crag.tracing import enable_tracing

# Reads what is sent and says yes; its own process, as a collector is. It ends with the one that started it.
SINK = """
import sys, threading
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
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.stdin.read()
"""


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


async def throughput(rag: Any, questions: list[str], at_once: int) -> tuple[float, float]:
    """Questions per second, so many at once; and milliseconds of processor time for each."""
    gate = asyncio.Semaphore(at_once)

    async def one(question: str) -> None:
        async with gate:
            result = await rag.run_async(query=question)
            assert result["crag"]["llm_calls"] >= 2, result["crag"]

    begun, busy = time.perf_counter(), time.process_time()
    await asyncio.gather(*(one(question) for question in questions))
    trace.get_tracer_provider().force_flush()  # type: ignore[attr-defined]
    return len(questions) / (time.perf_counter() - begun), 1000 * (time.process_time() - busy) / len(questions)


async def measure(rag: Any, options: argparse.Namespace) -> None:
    """Take turns: on, off, off, on; a ratio for each pair."""
    rng, census = random.Random(1), Census()
    provider: Any = trace.get_tracer_provider()
    asked = 0

    def questions(count: int) -> list[str]:
        return [f"What does {case(number)} say of {topic(number)}?" for number in rng.choices(range(10_000), k=count)]

    await throughput(rag, questions(100), options.at_once)
    rates: dict[bool, list[float]] = {True: [], False: []}
    costs: dict[bool, list[float]] = {True: [], False: []}
    provider.add_span_processor(census)
    for number in range(options.rounds):
        for on in (True, False) if number % 2 else (False, True):
            enable_tracing() if on else disable_tracing()
            asked += options.questions * on
            rate, cost = await throughput(rag, questions(options.questions), options.at_once)
            rates[on].append(rate)
            costs[on].append(cost)
    ratios = [on / off for on, off in zip(rates[True], rates[False], strict=True)]
    print(f"off {statistics.median(rates[False]):.1f} questions/s, on {statistics.median(rates[True]):.1f}")
    print(
        f"ratio on/off: median {statistics.median(ratios):.3f} ({min(ratios):.3f} to {max(ratios):.3f}), goal >= 0.95"
    )
    print(f"processor time: off {min(costs[False]):.1f} ms a question, on {min(costs[True]):.1f} (least of the rounds)")
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
    pipe, port = subprocess.PIPE, free_port()
    server = Path(__file__).with_name("model_server.py")
    command = [sys.executable, str(server), "--port", str(port), "--latency", str(options.model_ms / 1000)]
    serving = [subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)]
    if options.jaeger is None:
        sink = [sys.executable, "-c", SINK]
        serving.append(subprocess.Popen(sink, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL))
        assert serving[1].stdout is not None
        options.jaeger = f"http://127.0.0.1:{int(serving[1].stdout.readline())}"
    try:
        prepare_and_measure(options, port)
    finally:
        for process in serving:
            process.terminate()
            process.wait()


def free_port() -> int:
    """A port that nobody listens at."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def prepare_and_measure(options: argparse.Namespace, port: int) -> None:
    """Load the pipeline on a filled store, with tracing and metrics set up as an app would."""
    provider = TracerProvider()
    exporter = OTLPSpanExporter(f"{options.jaeger}/v1/traces")
    provider.add_span_processor(BatchSpanProcessor(exporter, max_queue_size=100_000))
    trace.set_tracer_provider(provider)
    configure_metrics()
    figures: Any = metrics.get_meter_provider()
    store = InMemoryDocumentStore(index="tracing", embedding_similarity_function="cosine")
    made = [replace(d, content=f"{topic(n)} {d.content}") for n, d in enumerate(documents(500))]
    store.write_documents(StaticDocumentEmbedder().run(documents=made)["documents"])
    url = f"http://127.0.0.1:{port}/v1"
    model: Any = OpenAIChatGenerator(Secret.from_token("none"), model="scripted", api_base_url=url, timeout=30)
    rag = load("corrective_rag", store=store, generator=model)
    print(json.dumps({key: value for key, value in vars(options).items() if key != "jaeger"}))
    try:
        asyncio.run(measure(rag, options))
    finally:
        provider.shutdown()
        figures.shutdown()


if __name__ == "__main__":
    main()
