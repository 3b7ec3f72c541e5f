"""What the benchmarks share: an instant grader, corpora, paired timing. Ratios in one run, never timed tests."""

import json
import re
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from haystack import Document
from haystack.components.generators.chat import MockChatGenerator
from haystack.dataclasses import ChatMessage

_KEY = re.compile(r'<doc-[0-9a-f]+ id="([0-9a-f]{6})"')


def instant_model(score: float = 0.9) -> Any:
    """A chat generator that grades or answers at once, in this process."""

    def respond(messages: list[ChatMessage]) -> ChatMessage:
        keys = _KEY.findall(messages[-1].text or "")
        text = json.dumps({"evaluations": [f"{key} {score}" for key in keys]}) if keys else "An answer [1]."
        return ChatMessage.from_assistant(text, meta={"finish_reason": "stop"})

    return MockChatGenerator(response_fn=respond)


def corpus(path: Path) -> Iterator[Document]:
    """Documents of a JSON Lines corpus."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            entry = json.loads(line)
            yield Document(id=entry["id"], content=entry["text"], meta={"title": entry.get("title") or ""})


def questions(path: Path) -> list[dict[str, Any]]:
    """Labelled questions of a JSON Lines file."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def paired(calls: Sequence[Callable[[int], object]], rounds: int, warm: int = 3) -> list[list[float]]:
    """Time several calls in turn, round by round: milliseconds of each call in each counted round."""
    for number in range(warm):
        for call in calls:
            call(number)
    times: list[list[float]] = [[] for _ in calls]
    for number in range(rounds):
        order = list(range(len(calls)))
        for which in order if number % 2 == 0 else reversed(order):
            start = time.perf_counter()
            calls[which](number)
            times[which].append(1000 * (time.perf_counter() - start))
    return times


def p50(values: Sequence[float]) -> float:
    """The median."""
    return statistics.median(values)
