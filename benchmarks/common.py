"""What the benchmarks share: an instant grader, corpora, timing in turn (ratios, never timed tests), result files."""

import json
import platform
import re
import shlex
import statistics
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from haystack import Document
from haystack.components.generators.chat import MockChatGenerator, OpenAIChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.utils import Secret

from haystack_integrations.crag.components import StaticDocumentEmbedder
from haystack_integrations.crag.store_profiles import elasticsearch_client, open_store, prepare

PACKAGES = ("crag-haystack", "haystack-ai", "elasticsearch-haystack", "numpy", "scikit-learn")
BATCH = 1_000
_KEY = re.compile(r'<doc-[a-z]+ id="([b-z]{3,4})"')


def instant_model() -> Any:
    """A chat generator that grades or answers at once, in this process."""

    def respond(messages: list[ChatMessage]) -> ChatMessage:
        keys = _KEY.findall(messages[-1].text or "")
        text = json.dumps(dict.fromkeys(keys, 0.9)) if keys else "An answer [1]."
        return ChatMessage.from_assistant(text, meta={"finish_reason": "stop"})

    return MockChatGenerator(response_fn=respond)


def model_at(url: str, name: str, **options: Any) -> OpenAIChatGenerator:
    """A real chat model behind an OpenAI-compatible server, with all the time it takes, saying the same each time."""
    return OpenAIChatGenerator(
        Secret.from_token("none"),
        name,
        api_base_url=url,
        timeout=900,
        max_retries=0,
        generation_kwargs={"temperature": 0, "max_tokens": 800, **options},
    )


def corpus(path: Path) -> Iterator[Document]:
    """Documents of a JSON Lines corpus."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            entry = json.loads(line)
            yield Document(id=entry["id"], content=entry["text"], meta={"title": entry.get("title") or ""})


def embedded_store(documents: Sequence[Document]) -> InMemoryDocumentStore:
    """A store in memory with documents and their vectors."""
    store = InMemoryDocumentStore(embedding_similarity_function="cosine")
    store.write_documents(StaticDocumentEmbedder().run([*documents])["documents"])
    return store


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


def elasticsearch_version(store: Any) -> str:
    """The version of the server behind a store."""
    with elasticsearch_client(store) as client:
        return str(client.info()["version"]["number"])


def write_figures(file: Path | None, figures: Mapping[str, Any], named: Mapping[object, str], **versions: str) -> None:
    """
    Write a result file, which tests compare with the pages: figures, and when, by which command and with what.

    :param file: Where to; None writes nothing.
    :param figures: What was measured, with the numbers of questions.
    :param named: What to write for arguments that belong to this machine, such as a folder.
    :param versions: Of what is no package of Python.
    """
    if file is None:
        return
    hidden = {str(argument): name for argument, name in named.items()}
    program = f"benchmarks/{Path(sys.argv[0]).name}"
    held = {
        "command": shlex.join(["python", program, *(hidden.get(word, word) for word in sys.argv[1:])]),
        "date": datetime.now(UTC).date().isoformat(),
        "versions": {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}, **versions},
        # Not a number, the mean of nothing, is null in JSON.
        "figures": json.loads(json.dumps(figures), parse_constant=lambda _: None),
    }
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(held, indent=1) + "\n", "utf-8")


@contextmanager
def filled(url: str, documents: Sequence[Document], **settings: Any) -> Iterator[Any]:
    """Index documents on Elasticsearch, in an index that goes again at the end; gives the store."""
    store = open_store("elasticsearch", url, f"crag-benchmark-{uuid.uuid4().hex}")
    prepare(store, **settings)
    try:
        for start in range(0, len(documents), BATCH):
            store.write_documents([*documents[start : start + BATCH]])
        yield store
    finally:
        with elasticsearch_client(store) as client:
            client.indices.delete(index=store._index)
        store.close()
