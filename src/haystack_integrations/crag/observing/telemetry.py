"""One small door to Haystack's tracing: a child span with scalar tags, whatever backend is on (or none)."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from hashlib import sha256
from itertools import islice
from typing import Any, Final

from haystack import Document
from haystack.tracing.tracer import Span, tracer

MOST_ON_A_SPAN: Final = 50
"""Of how many documents a span tells ids, scores and reasons."""

LLM_CALL: Final = {"openinference.span.kind": "LLM", "gen_ai.operation.name": "chat"}
"""What a span of a call to a chat model says of its kind."""

GRADING: Final = {"openinference.span.kind": "EVALUATOR", "gen_ai.evaluation.name": "relevance"}
"""What a span of a grading says of its kind."""

_HASH: Final = re.compile(r"[0-9a-f]{64}")
_DIGITS: Final = 12
_LONGEST_NAME: Final = 128


def set_tags(span: Span, tags: Mapping[str, Any]) -> None:
    """
    Set tags, leaving out what is None or no number: a missing key is honest, an empty string is not.

    :param span: The span to write to.
    :param tags: Values by attribute name; scalars, or lists of scalars (exported as JSON text).
    """
    for name, value in _telling(tags):
        span.set_tag(name, value)


def _telling(tags: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in tags.items():
        if value is not None and not (isinstance(value, float) and math.isnan(value)):
            yield name, value


def traced_id(id_: str) -> str:
    """
    Give a document's id as spans and logs show it.

    Haystack's own ids are hashes and stay as they are. One that a user chose (a path, a title, a customer's number)
    carries meaning: it becomes a short hash, the same in spans and logs, unless content is traced.

    ```python
    from haystack_integrations.crag.observing.telemetry import traced_id

    assert traced_id("contracts/acme.pdf") == "sha256:e343de3abbc2"
    assert traced_id("ab" * 32) == "ab" * 32
    ```

    :param id_: The id.
    :returns: What may be shown.
    """
    known = str(id_)  # Haystack checks no id, and many count their documents
    return known if tracer.is_content_tracing_enabled or _HASH.fullmatch(known) else _hashed(known)


@lru_cache(4096)  # a document's id stands on several spans of a run
def _hashed(id_: str) -> str:
    return f"sha256:{sha256(id_.encode('utf-8', 'surrogatepass')).hexdigest()[:_DIGITS]}"


def shown(documents: Iterable[Document]) -> list[dict[str, Any]]:
    """
    List documents in the form of `gen_ai.retrieval.documents`, which is content.

    :param documents: What a retrieval gave.
    :returns: Id and score of the first 50.
    """
    return [{"id": document.id, "score": document.score} for document in islice(documents, MOST_ON_A_SPAN)]


@contextmanager
def trace(name: str, **tags: Any) -> Iterator[Span]:
    """
    Open a span below the current one.

    :param name: Operation name, for example `crag.grade`.
    :param tags: Tags to set at once; `_` in a keyword stands for `.` in the attribute name.
    :returns: The span, for further tags.
    """
    given = {key.replace("_", "."): value for key, value in tags.items()}
    # Given at once, as Haystack's own are: Weave's tracer loses a span that begins without a mapping.
    with tracer.trace(name, tags=dict(_telling(given)), parent_span=tracer.current_span()) as span:
        yield span


def names_of(said: object) -> list[str]:
    """
    Keep what looks like a name: a server may write anything in its place, also what it was sent.

    :param said: The model's name, or the word on why it stopped, as a reply has it.
    :returns: The name; nothing for anything else.
    """
    is_name = isinstance(said, str) and 0 < len(said) <= _LONGEST_NAME and said.isprintable() and " " not in said
    return [str(said)] if is_name else []
