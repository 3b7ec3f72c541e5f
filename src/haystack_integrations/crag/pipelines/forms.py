"""The form of a pipeline's YAML: a slip is named by its file and its key; and which components a setting holds."""

from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from reprlib import repr as shown
from typing import Any, Final, NoReturn, TypeGuard

from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.pipelines.guesses import meant

_KEYS: Final = ("components", "connections", "inputs", "outputs")
_OPTIONAL_KEYS: Final = ("optional_inputs", "max_runs_per_component", "connection_type_validation")
_PARAMETERS: Final = "init_parameters"
_NOTES: Final = ("name", "description", "comment", "metadata")  # no setting, and nobody takes one for it
_ALIKE: Final = 0.85  # a letter or two; `inputs_of_mine` is a key of somebody's own
HAYSTACKS: Final = ("haystack.", "haystack_integrations.", "haystack_experimental.")


def checked(name: str, spec: Any) -> dict[str, Any]:
    """
    Check the form of a pipeline; whether its parts exist and fit together is found out by loading it.

    :param name: What the user calls it.
    :param spec: What its YAML holds.
    :returns: The same; `init_parameters` without a value are empty ones.
    :raises ConfigurationError: With the key, what it holds, and what is wanted.
    """
    missing = [key for key in _KEYS if not isinstance(spec, dict) or key not in spec]
    if not isinstance(spec, dict) or missing:
        # What Haystack writes of a pipeline names no sockets for the outside.
        way = "compare it with" if missing != ["inputs", "outputs"] else "name the sockets to ask and to read, as does"
        msg = (
            f"{name!r} is no pipeline that can be asked: it lacks {' and '.join(missing)} at its top level, wanted "
            f"{', '.join(_KEYS)}; {way} `crag pipelines show corrective_retrieval`"
        )
        raise ConfigurationError(msg)
    _keys(name, spec)
    spec["components"] = _components(name, spec["components"])
    _connections(name, spec["connections"], spec["components"])
    for key in ("inputs", "optional_inputs"):
        _sockets(name, key, spec.get(key, {}), "a text, part.socket, or a list of them")
    _sockets(name, "outputs", spec["outputs"], "a text, part.socket")
    most = spec.get("max_runs_per_component", 1)
    if isinstance(most, bool) or not isinstance(most, int) or most < 1:
        _refuse(name, "max_runs_per_component", most, "a whole number > 0")
    if not isinstance(spec.get("metadata", {}), dict):
        _refuse(name, "metadata", spec["metadata"], "a mapping")
    return spec


def inputs_of(spec: Mapping[str, Any]) -> dict[str, list[str]]:
    """
    List what a pipeline can be given.

    :param spec: A pipeline in the form that `checked` wants.
    :returns: For each of its `inputs`, then of its `optional_inputs`, where it goes: `part.socket`, or the part alone.
    """
    given = {**spec["inputs"], **spec.get("optional_inputs", {})}
    return {name: [places] if isinstance(places, str) else places for name, places in given.items()}


def settings_of(part: Mapping[str, Any]) -> dict[str, Any]:
    """
    Give the settings of a component.

    :param part: The component as the YAML holds it.
    :returns: Its settings by name; empty where it names none.
    """
    settings: dict[str, Any] = part.get(_PARAMETERS) or {}
    return settings


def parts_in(value: object) -> Iterator[dict[str, Any]]:
    """
    Give the components that a setting is, or holds in lists and mappings, as that of MultiRetriever does.

    :param value: The setting as the YAML holds it.
    :returns: The components as the YAML holds them; what is inside of one is its own.
    """
    if _is_part(value):
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from parts_in(one)


def exchanged(value: Any, change: Callable[[dict[str, Any]], Any]) -> Any:
    """
    Exchange those components.

    :param value: The setting as the YAML holds it.
    :param change: Gives what stands in the place of a component.
    :returns: The setting with what `change` gave.
    """
    if _is_part(value):
        return change(value)
    if isinstance(value, dict):
        return {name: exchanged(one, change) for name, one in value.items()}
    return [exchanged(one, change) for one in value] if isinstance(value, list) else value


def _is_part(value: object) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict) and "type" in value and "init_parameters" in value


def _keys(name: str, spec: Mapping[Any, Any]) -> None:
    """Refuse a slip in a key that may be left out. Others stay: Hayhooks has keys of its own, and so have anchors."""
    known = (*_KEYS, *_OPTIONAL_KEYS, *_NOTES)
    left_out = [key for key in _OPTIONAL_KEYS if key not in spec]
    for key in spec:
        if key not in known and get_close_matches(str(key), left_out, n=1, cutoff=_ALIKE):
            msg = f"the pipeline {name!r} cannot be loaded: nobody reads its key {key!r}; {meant([str(key)], left_out)}"
            raise ConfigurationError(msg.rstrip())


def _components(name: str, parts: object) -> dict[str, Any]:
    if not isinstance(parts, dict) or not all(isinstance(part, str) for part in parts):
        _refuse(name, "components", parts, "a mapping of names to {type, init_parameters}")
    untyped = [part for part, one in parts.items() if not isinstance(one, dict) or not isinstance(one.get("type"), str)]
    if untyped:
        msg = f"the components {untyped} of {name!r} have no type; give each `type: module.ClassName`"
        raise ConfigurationError(msg)
    for part, one in parts.items():
        beside = sorted(map(str, one.keys() - {"type", _PARAMETERS, *_NOTES}))
        if beside and one["type"].startswith(HAYSTACKS):  # a class of the user's own may read more by its from_dict
            msg = (
                f"the component {part!r} of {name!r} has {beside} beside type and {_PARAMETERS}, where nobody reads; "
                f"write settings into its {_PARAMETERS}"
            )
            raise ConfigurationError(msg)
        given = one.get(_PARAMETERS)
        if given is not None and not (isinstance(given, dict) and all(isinstance(key, str) for key in given)):
            # Its kind alone: a secret may stand in the value.
            _refuse(name, f"components.{part}.{_PARAMETERS}", type(given), "a mapping of settings by name")
    return {
        part: {**one, _PARAMETERS: one[_PARAMETERS] or {}} if _PARAMETERS in one else one for part, one in parts.items()
    }


def _connections(name: str, connections: object, parts: Mapping[str, Any]) -> None:
    wanted = "{sender: part.socket, receiver: part.socket}"
    if not isinstance(connections, list):
        _refuse(name, "connections", connections, f"a list of {wanted}, [] for none")
    for number, one in enumerate(connections):
        key = f"connections[{number}]"
        ends = (one.get("sender"), one.get("receiver")) if isinstance(one, dict) else (None,)
        for end in ends:
            if not isinstance(end, str):
                _refuse(name, key, one, wanted)
            if end.partition(".")[0] not in parts:
                _refuse(name, key, end, f"one of the components {sorted(parts)}")


def _sockets(name: str, key: str, given: object, wanted: str) -> None:
    if not isinstance(given, dict) or not all(isinstance(own, str) for own in given):
        _refuse(name, key, given, f"a mapping of names to {wanted}; {{}} for none")
    for own, places in given.items():
        is_list = isinstance(places, list) and key != "outputs"
        if not all(isinstance(place, str) for place in (places if is_list else [places])):
            _refuse(name, f"{key}.{own}", places, wanted)


def _refuse(name: str, key: str, got: object, wanted: str) -> NoReturn:
    said = "nothing" if got is None else f"a {got.__name__}" if isinstance(got, type) else shown(got)
    msg = f"the pipeline {name!r} cannot be loaded: got {said} as {key}, wanted {wanted}; correct it in the file"
    raise ConfigurationError(msg)
