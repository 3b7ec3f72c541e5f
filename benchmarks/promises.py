"""
Two promises and the costs of grading: no shift, no invention, hostile replies, own time, windows, cache, deadline.

    python benchmarks/promises.py [--examples 10000] [--replies 200]

P1: generated replies (short, long, permuted, duplicate and foreign ids): scores credited to another document.
P2: every prefix of valid replies with finish_reason `length`: invented scores, and the share of closed entries kept.
"""

import argparse
import asyncio
import json
import random
import statistics
import time
import tracemalloc

from common import instant_model
from haystack import Document

from haystack_integrations.crag.caching import MemoryGradeCache
from haystack_integrations.crag.components.batch_relevance_grader import BatchRelevanceGrader
from haystack_integrations.crag.grading.reply import read_reply


def reply(rng: random.Random) -> tuple[list[str], dict[str, float], list[dict[str, object]]]:
    """Keys, true scores, and entries in a random order."""
    keys = [f"{rng.randrange(16**6):06x}" for _ in range(rng.randint(1, 20))]
    truth = {key: round(rng.random(), 3) for key in keys}
    entries: list[dict[str, object]] = [{"id": key, "score": truth[key], "reason": "words {or} [not]"} for key in truth]
    rng.shuffle(entries)
    return keys, truth, entries


def no_shift(rng: random.Random, examples: int) -> int:
    """Count scores on the wrong document."""
    wrong = 0
    for _ in range(examples):
        keys, truth, entries = reply(rng)
        kept = entries[: rng.randint(0, len(entries))]
        kept += [dict(rng.choice(entries)) for _ in range(rng.randint(0, 3))]
        kept += [{"id": f"zz{rng.randrange(9999)}", "score": 1.0} for _ in range(rng.randint(0, 3))]
        rng.shuffle(kept)
        forms = [json.dumps({"evaluations": kept}), json.dumps(kept), json.dumps([entry["score"] for entry in kept])]
        text = rng.choice(forms[:2] if len(kept) == len(keys) else forms)
        found = read_reply(text, keys, finish_reason="stop")
        wrong += sum(entry.score != truth[key] for key, entry in found.entries.items())
    return wrong


def no_invention(rng: random.Random, replies: int) -> tuple[int, int, int, int]:
    """Count prefixes, invented scores, closed entries and those kept."""
    prefixes = invented = closed = kept = 0
    for _ in range(replies):
        keys, truth, entries = reply(rng)
        text = json.dumps({"evaluations": entries}, indent=rng.choice([None, 1]))
        ends = {str(entry["id"]): text.index(json.dumps(entry["id"])) for entry in entries}
        ends = {
            key: text.index('"' + "}", at) if "\n" not in text else text.index("\n  }", at) for key, at in ends.items()
        }
        for end in range(len(text)):
            prefixes += 1
            found = read_reply(text[:end], keys, finish_reason="length").entries
            invented += sum(entry.score != truth[key] for key, entry in found.items())
            names = {key for key, at in ends.items() if at + 4 <= end}
            closed += len(names)
            kept += len(names & set(found))
    return prefixes, invented, closed, kept


def hostile() -> tuple[float, float]:
    """Slowest read of hostile replies of 64 KiB in milliseconds, and its peak memory in MB."""
    size = 65_000
    texts = ["[" * 100_000, "[" * size, "{" * size, "[]" * (size // 2), '{"' * (size // 2), '[{"id":' * (size // 7)]
    texts += ['"' * size, "\\" * size, '{"a":' * 3000 + "1" + "}" * 3000, "<think>" * (size // 7), "}{" * (size // 2)]
    texts += ['{"a":1}' * 1170 + " " * 50_000, '"' * 8000 + "<think>", "{a,}" * 2000, "[" + "(" * 60_000 + "]"]
    texts += ['"' * 16_300 + "<think>" + " " * 45_000, '{"' * 8100 + "<think>", "<think>" + "[]" * 8100 + "</think>"]
    texts += ["[" + '"' * 16_300 + "<think>", "[{}" + '{"a"b}' * 2700]
    worst = 0.0
    for text in texts:
        for finish in ("stop", "length"):
            start = time.perf_counter()
            read_reply(text, ["a1b2c3"], finish_reason=finish)
            worst = max(worst, 1000 * (time.perf_counter() - start))
    tracemalloc.start()
    for text in texts:
        read_reply(text, ["a1b2c3"], finish_reason="stop")
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return worst, peak


def own_time() -> float:
    """Median milliseconds of grading 20 documents with an instant model, less the model's own time."""
    model = instant_model()
    grader = BatchRelevanceGrader(model)
    documents = [Document(content=f"passage {number} " * 100) for number in range(20)]
    spent: list[float] = []
    inner = model.run

    def timed(messages: object) -> object:
        start = time.perf_counter()
        result = inner(messages=messages)
        spent[-1] += time.perf_counter() - start
        return result

    class Timed:
        run = staticmethod(timed)

    grader.chat_generator = Timed()  # type: ignore[assignment]
    times = []
    for _ in range(100):
        spent.append(0.0)
        start = time.perf_counter()
        grader.run(query="What is in the passages?", documents=documents)
        times.append(1000 * (time.perf_counter() - start - spent[-1]))
    return statistics.median(times)


class Slow:
    """A chat generator that takes half a second for each call."""

    def __init__(self, seconds: float = 0.5) -> None:
        self.model, self.seconds, self.calls = instant_model(), seconds, 0

    def run(self, messages: list[object]) -> dict[str, object]:
        self.calls += 1
        time.sleep(self.seconds)
        return dict(self.model.run(messages=messages))

    async def run_async(self, messages: list[object]) -> dict[str, object]:
        self.calls += 1
        await asyncio.sleep(self.seconds)
        return dict(self.model.run(messages=messages))


def batch(count: int) -> list[Document]:
    """Documents of about 800 characters."""
    return [Document(content=f"passage {number} " + "seven letters and more " * 35) for number in range(count)]


def windows() -> tuple[int, float]:
    """Calls for 100 documents, and their wall time over that of one call."""
    one, all_ = Slow(), Slow()
    start = time.perf_counter()
    BatchRelevanceGrader(one).run(query="What is in the passages?", documents=batch(20))
    single = time.perf_counter() - start
    start = time.perf_counter()
    BatchRelevanceGrader(all_, concurrency=8).run(query="What is in the passages?", documents=batch(100))
    return all_.calls, (time.perf_counter() - start) / single


async def flights(runs: int) -> tuple[int, float]:
    """Calls for the same question asked at the same time, and milliseconds of asking it again."""
    model, documents = Slow(0.2), batch(20)
    grader = BatchRelevanceGrader(model, cache=MemoryGradeCache())
    asked = [grader.run_async(query="What is in the passages?", documents=documents) for _ in range(runs)]
    await asyncio.gather(*asked)
    times = []
    for _ in range(50):
        start = time.perf_counter()
        await grader.run_async(query="What is in the passages?", documents=documents)
        times.append(1000 * (time.perf_counter() - start))
    return model.calls, statistics.median(times)


def overrun() -> float:
    """Seconds by which a model that hangs exceeds a deadline of half a second."""
    start = time.perf_counter()
    BatchRelevanceGrader(Slow(5), deadline_s=0.5).run(query="What is in the passages?", documents=batch(5))
    return time.perf_counter() - start - 0.5


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--examples", type=int, default=10_000)
    parser.add_argument("--replies", type=int, default=200)
    options = parser.parse_args()
    rng = random.Random(1)
    print(f"P1: {options.examples} replies, {no_shift(rng, options.examples)} scores on the wrong document (goal 0)")
    prefixes, invented, closed, kept = no_invention(rng, options.replies)
    print(f"P2: {prefixes} prefixes of {options.replies} replies, {invented} invented scores (goal 0)")
    print(f"    {100 * kept / closed:.2f} % of the closed entries kept (goal >= 95)")
    worst, peak = hostile()
    print(f"hostile replies of 64 KiB: slowest {worst:.1f} ms (goal <= 50), peak {peak:.1f} MB")
    print(f"grading 20 documents, without the model: {own_time():.2f} ms (goal <= 5)")
    calls, ratio = windows()
    print(f"100 documents of 800 characters: {calls} calls in {ratio:.2f} x the time of one")
    calls, hit = asyncio.run(flights(50))
    print(f"50 times the same question at once: {calls} call (goal 1); asked again from the cache {hit:.2f} ms")
    print(f"a model that hangs: {1000 * overrun():.0f} ms beyond the deadline (goal <= 1000)")


if __name__ == "__main__":
    main()
