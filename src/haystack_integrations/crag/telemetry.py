"""One small door to Haystack's tracing: a child span with scalar tags, whatever backend is on (or none)."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from haystack.tracing.tracer import Span, tracer


def set_tags(span: Span, tags: Mapping[str, Any]) -> None:
    """
    Set tags, leaving out what is None: a missing key is honest, an empty string is not.

    :param span: The span to write to.
    :param tags: Values by attribute name; scalars, or lists of scalars (exported as JSON text).
    """
    for name, value in tags.items():
        if value is not None:
            span.set_tag(name, value)


@contextmanager
def trace(name: str, **tags: Any) -> Iterator[Span]:
    """
    Open a span below the current one.

    :param name: Operation name, for example `crag.grade`.
    :param tags: Tags to set at once; `_` in a keyword stands for `.` in the attribute name.
    :returns: The span, for further tags.
    """
    with tracer.trace(name, parent_span=tracer.current_span()) as span:
        set_tags(span, {key.replace("_", "."): value for key, value in tags.items()})
        yield span
