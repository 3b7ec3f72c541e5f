"""Variables that libraries below ours read by themselves: one that they cannot use is told by its name."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from haystack_integrations.crag.errors import ConfigurationError, CragError, causes

_OWNERS: Final = ("HAYHOOKS_", "OTEL_")
_LONGEST: Final = 200


@contextmanager
def variables_named() -> Iterator[None]:
    """
    Name the variables that OpenTelemetry or Hayhooks fails at: their own words are of a value, or of a field.

    :raises ConfigurationError: For what is raised inside while a variable of theirs is set; it names those whose name
        or value is in the words, else all.
    """
    try:
        yield
    except (CragError, ImportError):
        raise
    except Exception as error:  # each raises what Python raises for it: a ValueError, a `re.error`, a StopIteration
        if not (names := _named_in(error)):
            raise
        said = " ".join(str(error).split())[:_LONGEST]
        msg = (
            f"got a setting that its library cannot use ({': '.join(filter(None, (type(error).__name__, said)))}), "
            f"wanted a value from OpenTelemetry's or Hayhooks' own list; correct or unset {' or '.join(names)}"
        )
        raise ConfigurationError(msg) from error


def _named_in(error: Exception) -> list[str]:
    given = {name: value for name, value in sorted(os.environ.items()) if name.startswith(_OWNERS) and value}
    words = " ".join(f"{link} {getattr(link, 'pattern', '')}" for link in causes(error))
    found = [name for name, value in given.items() if any(_stands_in(term, words) for term in _terms(name, value))]
    return found or list(given)


def _terms(name: str, value: str) -> list[str]:
    """List what may stand for a variable: its name, the field of Hayhooks that it sets, the parts of its value."""
    return [name, name.removeprefix(_OWNERS[0]), *filter(None, map(str.strip, value.split(",")))]


def _stands_in(term: str, words: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(term)}(?!\w)", words, re.IGNORECASE) is not None
