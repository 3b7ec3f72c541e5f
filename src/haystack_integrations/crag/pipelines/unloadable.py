"""Why a pipeline cannot be loaded, in words that name the part and the setting, and not what else stands in it."""

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Final

from haystack.core.errors import DeserializationError, PipelineError

from haystack_integrations.crag.errors import ConfigurationError, CragError, causes
from haystack_integrations.crag.pipelines.given import check_settings

_UNTRUSTED: Final = re.compile(r"Refusing to deserialize a class from module '([^']+)'")
_NOT_IMPORTED: Final = re.compile(r"Component '([^']+)' \(name: '([^']+)'\) not imported")
_ELSEWHERE: Final = re.compile(r"Class '([^']+)' can't be deserialized as")
_UNEXPECTED: Final = "unexpected keyword argument"


@contextmanager
def said_of(name: str, parts: Callable[[], Mapping[str, Any]]) -> Iterator[None]:
    """
    Say which pipeline cannot be loaded; what this package says of it stays as it is.

    :param name: What the user calls the pipeline.
    :param parts: Gives the components that are made, as the YAML holds them.
    :returns: What does so inside a `with`.
    :raises ConfigurationError: In the place of what Haystack, or Python, says.
    """
    try:
        yield
    except CragError:
        raise
    except (DeserializationError, PipelineError) as error:
        _check_unexpected(error, name, parts())
        msg = f"the pipeline {name!r} cannot be loaded: {_said(error)}"
        raise ConfigurationError(msg) from error
    except (TypeError, KeyError, AttributeError, ValueError, ImportError) as error:
        _check_unexpected(error, name, parts())
        why = f"{type(error).__name__}: {error}"
        msg = f"the pipeline {name!r} cannot be loaded: {why}; compare it with a shipped one, `crag pipelines`"
        raise ConfigurationError(msg) from error


def _check_unexpected(error: BaseException, name: str, parts: Mapping[str, Any]) -> None:
    """Find the setting that a component does not have: Python's words do not say which one may have been meant."""
    if any(isinstance(cause, TypeError) and _UNEXPECTED in str(cause) for cause in causes(error)):
        for part, entry in parts.items():
            with suppress(ImportError, DeserializationError):  # a class that cannot be had is not what failed
                check_settings(entry, f"the component {part!r} of {name!r}")


def _said(error: BaseException) -> str:
    """Give an error's words without the part's settings, which Haystack repeats in full."""
    if refused := _UNTRUSTED.search(str(error)):
        return (
            f"Haystack does not trust the module {refused[1]!r}; name it in HAYSTACK_DESERIALIZATION_ALLOWLIST, or "
            "pass the part to `load` as an object"
        )
    if missing := _NOT_IMPORTED.match(str(error)):
        if path := _own_path(missing[1]):
            return f"the component {missing[2]!r} has the type {missing[1]!r}, wanted it by its own module: {path}"
        # Haystack's own words on a module without such a component list all that there are.
        why = "its module has no such component" if isinstance(error.__cause__, PipelineError) else error.__cause__
        return (
            f"the component {missing[2]!r} cannot be imported as {missing[1]!r} ({why}); correct its type, install its "
            "package, or name the folder of its module in PYTHONPATH: commands do not search the folder they run in"
        )
    head, mark, _ = str(error).partition(" with the following data:")
    if mark and error.__cause__:
        return f"{head}: {_said(error.__cause__)}"
    if (other := _ELSEWHERE.search(str(error))) and (path := _own_path(other[1])):
        return f"got the type {other[1]!r}, wanted it by its own module: {path}"
    return str(error)


def _own_path(path: str) -> str | None:
    """Give the path of a class where it is written; one by which programs may import it is no type in a file."""
    module, _, name = path.rpartition(".")
    kind = getattr(sys.modules.get(module), name, None)  # Haystack has imported the module, if it trusts it
    return f"{kind.__module__}.{kind.__name__}" if isinstance(kind, type) and kind.__module__ != module else None
