"""Settings in a pipeline's file by which it would be open: keys that are written out, and filters of nothing."""

import inspect
import re
from collections.abc import Container, Mapping
from typing import Any

from haystack.core.serialization import import_class_by_name
from haystack.errors import FilterError
from haystack.utils import Secret

from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.filters import refuse_void
from haystack_integrations.crag.pipelines.forms import HAYSTACKS, parts_in, settings_of


def check_filters(part: Mapping[str, Any], place: str) -> None:
    """
    Refuse filters among the settings that are none: of an empty list a retriever takes no filters, and finds all.

    :param part: A component as the YAML holds it; another word for it may be meant by a class of the user's own.
    :param place: Which one it is.
    :raises ConfigurationError: Naming it.
    """
    if part["type"].startswith(HAYSTACKS):
        try:
            refuse_void(settings_of(part).get("filters"))
        except FilterError as error:
            msg = f"{place}: {error}"
            raise ConfigurationError(msg) from None


def check_keys(name: str, parts: Mapping[str, Any], live: Container[str]) -> None:
    """
    Refuse a key that is written out: Haystack's clients fail on it at the first question, by a word of Python's. And
    filters that are none.

    :param name: What the user calls the pipeline.
    :param parts: Its components as the YAML holds them, of classes that Haystack trusts.
    :param live: Those that others stand for.
    :raises ConfigurationError: Naming the component and the setting, and not what stands there.
    """
    for part, entry in parts.items():
        if part not in live:
            _check(entry, f"the component {part!r} of {name!r}")


def _check(part: Mapping[str, Any], place: str) -> None:
    check_filters(part, place)
    settings, kind = settings_of(part), part["type"].rpartition(".")[2]
    # A class of the user's own may make secrets of texts, or have a mapping of another kind that looks like a part.
    known = import_class_by_name(part["type"]) if part["type"].startswith(HAYSTACKS) else object
    for name, parameter in inspect.signature(known.__init__).parameters.items():
        given = settings.get(name)
        if given is None or isinstance(given, Secret) or not _is_secret(parameter.annotation):
            continue
        if not (isinstance(given, dict) and given.get("type") == "env_var"):
            msg = (
                f"{place}: {kind} got a {type(given).__name__} as {name}, wanted the name of the variable that holds "
                f"it; write {name}: {{type: env_var, env_vars: [NAME], strict: true}}"
            )
            raise ConfigurationError(msg)
    for inner in parts_in([*settings.values()]):
        _check(inner, place)


def _is_secret(kind: Any) -> bool:
    """Tell whether a parameter takes a secret, and no plain text: by its words, which some modules leave as such."""
    words = re.findall(r"\w+", kind.__name__ if isinstance(kind, type) else str(kind))
    return "Secret" in words and {"str", "tuple", "list", "dict", "Sequence", "Mapping"}.isdisjoint(words)
