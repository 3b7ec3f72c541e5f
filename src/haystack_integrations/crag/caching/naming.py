"""What something is set to, in a form that is the same in every process: no address of memory gets into a key."""

import inspect
import json
import os
from collections.abc import Mapping
from enum import Enum
from pathlib import PurePath
from typing import Any, Final
from uuid import uuid4
from weakref import WeakKeyDictionary

from haystack.utils import Secret

from haystack_integrations.crag.errors import ConfigurationError

_DEEPEST: Final = 20
_NO_MATTER: Final = frozenset(
    {
        "api_key",
        "azure_ad_token",
        "azure_ad_token_provider",
        "http_client_kwargs",
        "max_retries",
        "organization",
        "streaming_callback",
        "timeout",
    }
)
"""Settings of a chat generator that change neither what it is asked nor what it says, and who pays for it."""

_OWN: Final[WeakKeyDictionary[object, str]] = WeakKeyDictionary()


def stable(value: object, depth: int = 0) -> object:
    """
    Put settings into a form that depends neither on the order in which they were given nor on the process.

    ```python
    from haystack.components.generators.chat import FallbackChatGenerator, MockChatGenerator
    from haystack_integrations.crag.caching.naming import stable

    one, same, other = (FallbackChatGenerator([MockChatGenerator(reply)]) for reply in ("a", "a", "b"))
    assert stable(one) == stable(same) != stable(other)
    ```

    :param value: Plain values, functions, components and others that keep their settings, and what holds them.
    :param depth: How deep it lies in another one.
    :returns: Plain values only.
    :raises ConfigurationError: For what has no such form: settings that nothing tells, or a function without a name.
    """
    if value is None or (isinstance(value, str | int | float) and not isinstance(value, Enum)):
        return value
    if depth > _DEEPEST:
        raise _nameless(value)
    if isinstance(value, Mapping):
        entries = [[str(name), _text(stable(entry, depth + 1))] for name, entry in value.items()]
        return {"map": sorted(entries)}
    if isinstance(value, list | tuple):
        return [stable(entry, depth + 1) for entry in value]
    if isinstance(value, set | frozenset):
        return {"set": sorted(_text(stable(entry, depth + 1)) for entry in value)}
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, Secret):
        return {"secret": None}
    if isinstance(value, type):
        return repr(value)
    if isinstance(value, Enum):
        return [repr(type(value)), stable(value.value, depth + 1)]
    if inspect.isroutine(value):
        return _function(value)
    return [repr(type(value)), _built(value, depth + 1)]


def own_name(value: object) -> str:
    """
    Name an object of which nothing tells the settings: a name that no other has, in this process or any other.

    :param value: The object.
    :returns: The same name for as long as it lives.
    """
    try:
        return _OWN.setdefault(value, uuid4().hex)
    except TypeError:  # what cannot be hashed or weakly held: named anew each time
        return uuid4().hex


def _text(form: object) -> str:
    return json.dumps(form)


def _function(value: Any) -> str:
    """Name a function; one that was made in another, or bound to an object, has a name that others have, too."""
    name = f"{value.__module__}.{value.__qualname__}"
    owner = getattr(value, "__self__", None)
    if "<" in name or not (owner is None or inspect.ismodule(owner)):
        raise _nameless(value)
    return name


def _built(value: object, depth: int) -> object:
    """Say what something was built with: by its attributes, else as it writes itself down."""
    try:
        return stable(_kept(value), depth)
    except ConfigurationError as error:
        try:
            return stable(_without(value.to_dict()), depth)  # type: ignore[attr-defined] # most have it
        except Exception:  # such as a key that may not be written down
            raise error from None


def _kept(value: object) -> Mapping[str, Any]:
    kind = type(value)
    if kind.__init__ is object.__init__ and kind.__new__ is object.__new__:
        return {}
    # Of `__init__`: a component's class has the signature of its metaclass.
    known = list(inspect.signature(kind.__init__).parameters.values())[1:]
    names = [p.name for p in known if p.name not in _NO_MATTER]
    if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in known) or not all(hasattr(value, n) for n in names):
        raise _nameless(value)
    return {name: _setting(value, name) for name in names}


def _setting(value: object, name: str) -> Any:
    """Read a setting; of the address that is left to OpenAI's client, where that one looks for it."""
    found = getattr(value, name)
    return os.environ.get("OPENAI_BASE_URL") if found is None and name == "api_base_url" else found


def _without(written: Any) -> Any:
    """Leave out what does not matter, however deep it lies."""
    if isinstance(written, Mapping):
        return {name: _without(entry) for name, entry in written.items() if name not in _NO_MATTER}
    return [_without(entry) for entry in written] if isinstance(written, list) else written


def _nameless(value: object) -> ConfigurationError:
    msg = (
        f"got a {type(value).__name__}, of which nothing tells the settings, wanted a name for a cache's keys; keep "
        "each init parameter as an attribute, or give its class a to_dict; for a function, use one of a module"
    )
    return ConfigurationError(msg)
