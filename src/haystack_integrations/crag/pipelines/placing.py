"""Put a pipeline on a document store: its retrievers exchanged for those of the store, as the store's profile says."""

from collections.abc import Mapping
from contextlib import suppress
from copy import deepcopy
from enum import Enum
from inspect import signature
from typing import Any, Final, get_args, get_type_hints

from haystack.components.retrievers import TextEmbeddingRetriever
from haystack.core.serialization import component_from_dict, generate_qualified_class_name, import_class_by_name

from haystack_integrations.crag.components.crag_router import CragRouter
from haystack_integrations.crag.components.reporting_text_embedding_retriever import ReportingTextEmbeddingRetriever
from haystack_integrations.crag.copying import plain_copy
from haystack_integrations.crag.errors import ConfigurationError, CragError
from haystack_integrations.crag.pipelines.forms import HAYSTACKS, exchanged, parts_in, settings_of
from haystack_integrations.crag.pipelines.given import check_settings
from haystack_integrations.crag.pipelines.index_fields import Ask, check_index, fields_of
from haystack_integrations.crag.sockets import sockets_of
from haystack_integrations.crag.store_profiles import StoreProfile, prepare, profile_of, profiles

Spec = dict[str, Any]

_STORE: Final = "document_store"
_EMBEDDER: Final = "text_embedder"
_INNER: Final = "retriever"
_SIMILARITY: Final = "similarity"
_STOCK, _REPORTING = map(generate_qualified_class_name, (TextEmbeddingRetriever, ReportingTextEmbeddingRetriever))

_ROUTER: Final = generate_qualified_class_name(CragRouter)
_OF_PRESET: Final = ("upper", "lower")


def on_store(spec: Mapping[str, Any], profile: StoreProfile, document_store: Spec) -> Spec:
    """
    Write a pipeline for another kind of store: with other retrievers, but for such as are of a class of somebody's own.

    :param spec: A pipeline as `read` gives it.
    :param profile: The kind of store.
    :param document_store: The store as YAML holds it, `{"type", "init_parameters"}`.
    :returns: The pipeline for that store, loadable by `Pipeline.from_dict`.
    """
    changed: Spec = plain_copy(dict(spec))
    elsewhere = {name for name, part in changed["components"].items() if not _has_store(part)}
    for name, part in changed["components"].items():
        part.setdefault("init_parameters", {})
        over = _of_its_lists(part, profile.components.get(name, {}), elsewhere)
        over = {} if "type" in over and not (_has_store(part) and _is_known(part)) else over
        changed["components"][name] = _with_store(_laid_over(part, over), document_store)
    return changed


def place_on(
    spec: Spec, store: Any, given: set[str], changes: Mapping[str, Any], ask: Ask = fields_of
) -> tuple[Spec, dict[str, Any]]:
    """
    Exchange the store of a pipeline.

    :param spec: A pipeline as `read` gives it.
    :param store: A live store; its index is made if it has one.
    :param given: Components the caller passes himself.
    :param changes: Settings of others by component, which go before those that the store's profile has.
    :param ask: Reads the fields of the store's index.
    :returns: The pipeline for that kind of store, and live components by name that hold the store.
    :raises ConfigurationError: For a store of an unknown kind without its two retrievers, or an index that these
        cannot search.
    """
    profile, is_new = profile_of(store), prepare(store)
    roles = {name for known in profiles().values() for name in known.components}
    spec = with_changes(spec if profile is None else on_store(spec, profile, {}), changes)
    if profile is not None and profile.index and not is_new:
        check_index(store, [name for name, part in spec["components"].items() if _has_store(part)], given, ask)
    placed = {}
    for name, part in spec["components"].items():
        if not _has_store(part) or name in given:
            continue
        if profile is None and name in roles:
            msg = (
                f"a store of type {type(store).__name__} is not among {list(profiles())}; "
                f"pass its two retrievers: load(..., bm25=..., dense=...)"
            )
            raise ConfigurationError(msg)
        check_settings(part, f"the component {name!r}")
        placed[name] = _placed(name, part, store)
    return spec, placed


def asked_by_text(given: Any, part: Spec) -> Any:
    """
    Let a retriever by vectors be asked by text, where the pipeline's own one is.

    :param given: What the caller passes in the place of a component.
    :param part: That component as the YAML holds it.
    :returns: The retriever with the embedder of the YAML before it; anything else as it is.
    """
    embedder = settings_of(part).get(_EMBEDDER)
    sockets = sockets_of(given, "input")
    if embedder is None or sockets is None or "query_embedding" not in sockets or "query" in sockets:
        return given
    return ReportingTextEmbeddingRetriever(retriever=given, text_embedder=_made(embedder, None))


def with_settings(part: Spec, settings: Mapping[str, Any]) -> Spec:
    """
    Change settings of a component.

    :param part: The component as the YAML holds it.
    :param settings: Its new settings; those of a TextEmbeddingRetriever are those of the retriever inside, but for such
        as only the outer one has. With another embedder, which may be a server's, it becomes one that reports; a
        mapping that names no type is settings of the embedder, or the retriever, that it has. A router's preset takes
        the place of the thresholds that the file has in its stead.
    :returns: The changed component.
    """
    parameters, own = settings_of(part), dict(settings)
    if part["type"] == _ROUTER and "preset" in own:  # beside them it would say nothing
        parameters = {name: value for name, value in parameters.items() if name not in _OF_PRESET}
    for name in (_EMBEDDER, _INNER):
        had, changed = parameters.get(name), own.get(name)
        if isinstance(had, Mapping) and "type" in had and isinstance(changed, Mapping) and "type" not in changed:
            own[name] = with_settings({**had}, changed)
    if {_EMBEDDER, _INNER} <= parameters.keys():
        part = {**part, "type": _REPORTING} if _EMBEDDER in settings and part["type"] == _STOCK else part
        inner = own.pop(_INNER, parameters[_INNER])
        if isinstance(inner, Mapping):  # else what is not the outer one's is refused, in check_settings
            outside = {name for name in own if name in parameters or (_takes(part, name) and not _takes(inner, name))}
            inner = with_settings({**inner}, {name: own.pop(name) for name in [*own] if name not in outside})
        own[_INNER] = inner
    return {**part, "init_parameters": {**parameters, **own}}


def with_changes(spec: Spec, changes: Mapping[str, Any]) -> Spec:
    """
    Change settings of components.

    :param spec: A pipeline as `read` gives it.
    :param changes: New settings by component.
    :returns: The changed pipeline.
    """
    parts = spec["components"]
    return {**spec, "components": {**parts, **{one: with_settings(parts[one], changes[one]) for one in changes}}}


def _takes(part: Mapping[str, Any], setting: str) -> bool:
    return setting in signature(import_class_by_name(part["type"]).__init__).parameters


def _of_its_lists(part: Spec, over: Mapping[str, Any], elsewhere: set[str]) -> Mapping[str, Any]:
    """Leave out of a profile what it says of scores that a joiner of one's own does not get, or from another search."""
    settings, lists = dict(settings_of(over)), settings_of(part).get("weights") or ()
    if said := settings.pop(_SIMILARITY, None):
        own = {name: kind for name, kind in said.items() if name in lists and name not in elsewhere}
        over = {**over, "init_parameters": {**settings, **({_SIMILARITY: own} if own else {})}}
    return over


def _laid_over(under: Spec, over: Mapping[str, Any], *, is_same: bool = False) -> Spec:
    """Merge mappings, key by key, into all depths; a component that has the wanted type already keeps its settings."""
    is_same = under.get("type") == over["type"] if "type" in over else is_same
    inner = (key for key in over if isinstance(under.get(key), dict))
    both = {key: _laid_over(under[key], over[key], is_same=is_same) for key in inner}
    return {**over, **under, **both} if is_same else {**under, **over, **both}


def _has_store(part: Spec) -> bool:
    parameters = settings_of(part)
    return _STORE in parameters or any(map(_has_store, parts_in([*parameters.values()])))


def _is_known(part: Spec) -> bool:
    """Tell components that stand for a search in a store from a class of the user's own, which may do it otherwise."""
    inside = (inner for inner in parts_in([*settings_of(part).values()]) if _has_store(inner))
    return part["type"].startswith(HAYSTACKS) and all(map(_is_known, inside))


def _with_store(part: Spec, document_store: Spec) -> Spec:
    """Exchange the store of a component and of the components inside it."""
    parameters = {
        name: deepcopy(document_store)
        if name == _STORE
        else exchanged(value, lambda inner: _with_store(inner, document_store))
        for name, value in settings_of(part).items()
    }
    return {**part, "init_parameters": parameters}


def _placed(name: str, part: Spec, store: Any) -> Any:
    """Make a part of a pipeline on a live store; what is for another kind of store does not say which part it is."""
    try:
        return _made(part, store)
    except CragError:
        raise
    except (TypeError, ValueError) as error:
        kind, way = part["type"].rpartition(".")[2], "correct its settings"
        if _STORE in str(error):
            way = f"write one for a {type(store).__name__} into the file, or pass it: load(..., {name}=...)"
        msg = f"the component {name!r}, of the type {kind}, cannot be made: {error}; {way}"
        raise ConfigurationError(msg) from error


def _made(part: Spec, store: Any) -> Any:
    """Make a component on a live store; what has none, such as an embedder with its key, as Haystack reads it."""
    kind = import_class_by_name(part["type"])
    if not _has_store(part):
        return component_from_dict(kind, {"init_parameters": {}, **part}, part["type"])
    parameters = {
        name: store if name == _STORE else exchanged(value, lambda inner: _made(inner, store))
        for name, value in settings_of(part).items()
    }
    hints: dict[str, Any] = {}
    with suppress(NameError, TypeError):  # names that a component of others imports for type checkers only
        hints = get_type_hints(kind.__init__)
    return kind(**{name: _member(name, value, hints.get(name)) for name, value in parameters.items()})


def _member(name: str, value: Any, hint: Any) -> Any:
    """Read a word of a YAML as the member that a setting wants: as a word, `merge` would be no policy, and replace."""
    kinds = [one for one in (hint, *get_args(hint)) if isinstance(one, type) and issubclass(one, Enum)]
    if not kinds or not isinstance(value, str):
        return value
    members = {word.lower(): one for one in kinds[0] for word in (str(one.value), one.name)}
    if value.lower() not in members:
        msg = f"got {value!r} as {name}, wanted one of {list(members)}; correct it"
        raise ConfigurationError(msg)
    return members[value.lower()]
