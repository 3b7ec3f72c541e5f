"""
`crag serve` under load, beside a bare hybrid RAG that a stock Hayhooks app serves on the same store and model.

    python benchmarks/serving.py [--url http://127.0.0.1:9200] [--seconds 20] [--faults 0.1]
    python benchmarks/serving.py --parts steady faults --rate 30 --seconds 300

Everything runs on loopback, each server in its own process; the load is vegeta's (needs Go), at a constant rate. Parts:
throughput (servers saturated in turn), knee (which rate is held), steady and faults (at `--rate`, else half the knee;
for `--seconds`), tracing (throughput with and without; 1,000 requests read back from Jaeger).
"""

import argparse
import sys
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from typing import Any

import load_servers
from load_generator import IN_FLIGHT, Load, attack
from load_servers import Server, ask
from load_traces import traces_of
from services import Service, start

from haystack_integrations.crag.pipelines.indexing import index
from haystack_integrations.crag.store_profiles import elasticsearch_client, open_store, prepare

PARTS = ("throughput", "knee", "steady", "faults", "tracing")
CRAG, PLAIN, RANKED = "/corrective_rag/run", "/plain/run", "/ranked/run"
_FIRST_STEP, _NEXT_STEP, _STEPS = 0.6, 1.25, 8  # of the throughput, of the step before, at most so many
_BURST = 10.0  # seconds of one measurement of throughput: in-flight requests come in waves, so a short one is luck
_TURNS = 5
_HEAD = ("load", "rate", "sent", "lost", "mixed", "500", "other", "no ans", "p50", "p95", "p99", "own50", "own99")
_FORM = "{:<26}" + "{:>7}" * 7 + "{:>8}" * 5 + "{:>9}{:>15}"


def main() -> None:
    """Measure and print."""
    options = _options()
    with ExitStack() as held:
        folder = Path(held.enter_context(TemporaryDirectory()))
        env = held.enter_context(_environment(options, folder))
        model = held.enter_context(load_servers.model(sys.executable, options.latency, folder))
        env |= {"CRAG_LLM_BASE_URL": f"{model.url}/v1", "CRAG_LLM_MODEL": "scripted"}
        crag = held.enter_context(load_servers.crag(env, folder))
        control = held.enter_context(load_servers.control(env, folder))
        for server, path in ((crag, CRAG), (control, PLAIN), (control, RANKED)):
            attack(server, path, model, 8, 4)  # caches fill, connections open
        print(f"{'Elasticsearch' if options.url else 'in-memory store'}, {options.documents} documents, ", end="")
        print(f"model {1000 * options.latency:.0f} ms a call; times in ms, own = without the model's time\n")
        print(_FORM.format(*_HEAD, "cpu/req", "rss MiB"))
        bench = Bench(options, model, crag, control, folder, env)
        for part in PARTS:
            if part in options.parts:
                getattr(bench, part)()
        print("\n" + "\n".join(bench.notes))


class Bench:
    """The parts, in the order in which each needs what an earlier one found."""

    def __init__(
        self, options: Any, model: Server, crag: Server, control: Server, folder: Path, env: dict[str, str]
    ) -> None:
        self.options, self.model, self.crag, self.control = options, model, crag, control
        self.folder, self.env = folder, env
        self.notes: list[str] = []
        self.most, self.held = 20.0, 0.0

    @property
    def rate(self) -> float:
        """Return the rate of long loads: as asked for, else half the knee."""
        rate: float = self.options.rate or (self.held or self.most / 2) / 2
        return rate

    def throughput(self) -> None:
        """Keep the servers saturated, in turn."""
        kinds = {"crag": (self.crag, CRAG), "ranked": (self.control, RANKED), "plain": (self.control, PLAIN)}
        found = self._saturated(kinds)
        self.most = median(load.throughput for load in found["crag"])
        per = ", ".join(
            f"{name} {median(load.throughput for load in loads):.1f}/s "
            f"at {median(load.cpu_each for load in loads):.1f} ms of processor"
            for name, loads in found.items()
        )
        self.notes.append(f"throughput, {IN_FLIGHT} in flight, median of {_TURNS}: {per}")
        told = {"ranked": "the control with as many model calls (2, LLMRanker)", "plain": "the bare control (1 call)"}
        self.notes += [
            f"  beside {what}: {_beside(found['crag'], found[name])} (goal >= 0.9)" for name, what in told.items()
        ]

    def knee(self) -> None:
        """Raise the rate until replies are refused, lost, late, or fewer than requests."""
        base, steps = 0.0, range(0 if self.options.rate else _STEPS)
        for rate in (_FIRST_STEP * self.most * _NEXT_STEP**step for step in steps):
            load = self._show(attack(self.crag, CRAG, self.model, rate, self.options.step, "crag"))
            base = base or _quantile(load.latencies, 50)
            if not _is_held(load, base):
                break
            self.held = load.rate
        if not self.options.rate:
            self.notes.append(f"knee: {self.held:.1f}/s is held (all answered, p99 <= 2 x the p50 of the first step)")

    def steady(self) -> None:
        """Keep a rate for long; then the controls for comparison."""
        load = self._show(attack(self.crag, CRAG, self.model, self.rate, self.options.seconds, "crag, steady"))
        ranked, plain = (
            self._show(attack(self.control, path, self.model, self.rate, self.options.step, name))
            for name, path in (("ranked, 2 calls", RANKED), ("plain, 1 call", PLAIN))
        )
        own, theirs, bare = (1000 * _quantile(one.own, 99) for one in (load, ranked, plain))
        self.notes += [
            f"steady at {self.rate:.1f}/s: own p99 {own:.0f} ms (goal <= 20); ranked {theirs:.0f}, plain {bare:.0f} ms",
            f"  lost {load.lost}, mixed {load.mixed} (goal 0), RSS {load.rss[1] - load.rss[0]:+.1f} MiB (goal < 20)",
            f"  the load itself was late by p99 {1000 * _quantile(load.late, 99):.0f} ms",
        ]

    def faults(self) -> None:
        """Let a share of the model's calls fail: 429, 503, cut replies, now and then one that never comes."""
        ask(f"{self.model.url}/fail/{self.options.faults}", "POST")
        share = f"{100 * self.options.faults:.0f} % faults"
        load = attack(self.crag, CRAG, self.model, self.rate, self.options.seconds, f"crag, {share}")
        ask(f"{self.model.url}/fail/0", "POST")
        self._show(load)
        self.notes.append(f"{share}: HTTP 500 {load.statuses.get(500, 0)} (goal 0), replies by status {load.statuses}")

    def tracing(self) -> None:
        """Serve once more, traced by Jaeger, and compare in turn; then look at the traces of 1,000 requests."""
        service = f"load-{uuid.uuid4().hex[:8]}"
        with (
            start("jaeger") as jaeger,
            load_servers.crag(self.env | _traced(jaeger, service), self.folder, "traced") as on,
        ):
            attack(on, CRAG, self.model, 8, 4)
            found = self._saturated({"traced": (on, CRAG), "untraced": (self.crag, CRAG)})
            self.notes.append(f"tracing: {_beside(found['traced'], found['untraced'])} (goal >= 0.95)")
            held, since = 1.5 * self.rate, time.time()
            load = self._show(attack(on, CRAG, self.model, held, 1000 / held, "crag, traced"))
            seen = traces_of(jaeger.urls["JAEGER_URL"], service, since, time.time(), load.sent)
        self.notes.append(
            f"  {load.sent} requests: {len(seen.spans)} traces, {seen.orphans} orphan spans, {seen.roots} roots, "
            f"{seen.spans_each:.1f} spans each; traces by spans {seen.sizes}"
        )

    def _saturated(self, kinds: dict[str, tuple[Server, str]]) -> dict[str, list[Load]]:
        """Measure several servers in turns, forth and back, since a machine has its moods."""
        loads: dict[str, list[Load]] = {name: [] for name in kinds}
        for turn in range(_TURNS):
            for name in reversed(kinds) if turn % 2 else kinds:
                server, path = kinds[name]
                loads[name].append(self._show(attack(server, path, self.model, 0, _BURST, f"{name}, saturated")))
        return loads

    @staticmethod
    def _show(load: Load) -> Load:
        counted = {status: count for status, count in load.statuses.items() if status not in (0, 200, 500)}
        print(
            _FORM.format(
                load.name,
                f"{load.rate or load.throughput:.1f}",
                load.sent,
                load.lost,
                load.mixed,
                load.statuses.get(500, 0),
                sum(counted.values()),
                load.unanswered,
                *(f"{1000 * _quantile(load.latencies, percent):.0f}" for percent in (50, 95, 99)),
                *(f"{1000 * _quantile(load.own, percent):.0f}" for percent in (50, 99)),
                f"{load.cpu_each:.1f}",
                f"{load.rss[0]:.0f} -> {load.rss[1]:.0f}",
            ),
            flush=True,
        )
        return load


def _beside(ours: Sequence[Load], theirs: Sequence[Load]) -> str:
    """Compare turn by turn."""
    turns = list(zip(ours, theirs, strict=True))
    rates = sorted(one.throughput / other.throughput for one, other in turns)
    spent = median(one.cpu_each / other.cpu_each for one, other in turns)
    return f"throughput x {median(rates):.2f}, from {rates[0]:.2f} to {rates[-1]:.2f}, processor a reply x {spent:.2f}"


def _is_held(load: Load, base: float) -> bool:
    all_answered = load.answered == load.sent and load.achieved > 0.97 * load.rate
    return all_answered and _quantile(load.latencies, 99) <= 2 * base


def _quantile(values: Sequence[float], percent: int) -> float:
    return quantiles(values, n=100)[percent - 1] if len(values) > 1 else 0.0


def _traced(jaeger: Service, service: str) -> dict[str, str]:
    return {"OTEL_EXPORTER_OTLP_ENDPOINT": jaeger.urls["JAEGER_OTLP_URL"], "OTEL_SERVICE_NAME": service}


@contextmanager
def _environment(options: Any, folder: Path) -> Iterator[dict[str, str]]:
    """Write the documents, and give the settings that all servers share; an index is removed at the end."""
    documents = load_servers.documents(folder / "documents.jsonl", options.documents)
    env = {"HAYSTACK_TELEMETRY_ENABLED": "False", "HAYHOOKS_TRACING_INCLUDE_HAYSTACK_SPANS": "false"}
    if not options.url:
        yield env | {"CRAG_SERVE_DOCS": str(documents)}
        return
    name = f"serving-{uuid.uuid4().hex[:8]}"
    store = open_store("elasticsearch", options.url, name)
    prepare(store)
    try:
        index([documents], store)
        yield env | {"CRAG_STORE": "elasticsearch", "ELASTICSEARCH_URL": options.url, "CRAG_INDEX": name}
    finally:
        with elasticsearch_client(store) as client:
            client.indices.delete(index=name)
        store.close()


def _options() -> Any:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", help="of an Elasticsearch; without one, each server has the documents in memory")
    parser.add_argument("--documents", type=int, default=500)
    parser.add_argument("--latency", type=float, default=0.2, help="seconds of a model call")
    parser.add_argument("--seconds", type=float, default=20, help="of a long load")
    parser.add_argument("--step", type=float, default=10, help="seconds of a short load")
    parser.add_argument("--rate", type=float, help="of long loads; without it, half the knee")
    parser.add_argument("--faults", type=float, default=0.1, help="share of model calls that fail")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    return parser.parse_args()


if __name__ == "__main__":
    main()
