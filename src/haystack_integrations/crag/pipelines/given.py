"""What a caller hands to `load`, checked before anything is made of it: each slip is named by its argument."""

import inspect
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, Final

from haystack.core.serialization import import_class_by_name

from haystack_integrations.crag.chat.generators import check_generator
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.pipelines.checks import asks_a_model, is_chat_model, models_in
from haystack_integrations.crag.pipelines.forms import inputs_of, parts_in, settings_of
from haystack_integrations.crag.pipelines.guesses import meant
from haystack_integrations.crag.pipelines.keys import check_filters
from haystack_integrations.crag.sockets import pipeline_of, sockets_of

Spec = Mapping[str, Any]

_ARGUMENTS: Final = ("store", "grader", "generator")
_EMBEDDER: Final = "text_embedder"
_OURS: Final = "haystack_integrations.crag."
_CHAT_MODEL: Final = "a chat generator such as OpenAIChatGenerator(model=...)"
_WANTED: Final = {"generator": _CHAT_MODEL, "grader": f"a grader such as HeuristicGrader(), or {_CHAT_MODEL}"}


def check_name(name: object, known: Collection[str]) -> None:
    """
    Refuse what is neither a name nor a path.

    :param name: What was given as the pipeline.
    :param known: The shipped pipelines.
    :raises ConfigurationError: With what it is instead; a text is not repeated, it may be long.
    """
    wanted = f"wanted one of {list(known)} or the path of a .yml file"
    if not isinstance(name, str | Path):
        got = f"the class {name.__name__}" if isinstance(name, type) else f"a {type(name).__name__}"
        way = "it runs as it is, without load()" if hasattr(name, "run") else "pass one of them"
        msg = f"got {got} as the pipeline, {wanted}; {way}"
        raise ConfigurationError(msg)
    if "\n" in str(name):
        lines = len(str(name).splitlines())
        msg = (
            f"got a text of {lines} lines as the pipeline, {wanted}; save YAML of your own as a file, and pass its path"
        )
        raise ConfigurationError(msg)


def check_parts(name: str, parts: Spec, spec: Spec) -> None:
    """
    Refuse parts that the pipeline does not have, and what is no part.

    :param name: What the user calls the pipeline.
    :param parts: What was given, by argument.
    :param spec: The pipeline as `read` gives it.
    :raises ConfigurationError: Naming the argument, and the one that may have been meant; or a model's class.
    """
    known = sorted(spec["components"])
    spared = set() if isinstance(parts.get("generator"), dict) else {"generator"}  # a model goes to who asks one
    if unknown := sorted(set(parts) - set(known) - spared):
        asked = sorted(inputs_of(spec).keys() & set(unknown))
        guess = _fitting(unknown, parts, spec) or meant(set(unknown) - {*_ARGUMENTS}, (*known, *_ARGUMENTS))
        hint = f"pass {' and '.join(asked)} to run(); " if asked else guess
        msg = f"the pipeline {name!r} has no component {unknown}; {hint}choose from {known}"
        raise ConfigurationError(msg)
    for part, value in parts.items():
        if isinstance(value, dict):
            _check_plain(part, value)
        elif isinstance(value, type):
            _refuse_class(part, value)
        elif sockets_of(value, "input") is None:
            wanted = _WANTED.get(part, "a component")
            msg = f"got a {type(value).__name__} as {part}, wanted {wanted}; pass one, or a mapping of settings for it"
            raise ConfigurationError(msg)
    for part, model in models_in(parts, spec).items():
        if asks_a_model(spec["components"].get(part, {})):
            check_generator(model)
    if is_chat_model(parts.get("grader")) and not asks_a_model(spec["components"]["grader"]):
        msg = (
            f"got a chat generator as grader, but the grader of {name!r} asks none; "
            "pass a grader that does, BatchRelevanceGrader(chat_generator=...)"
        )
        raise ConfigurationError(msg)


def check_store(store: object) -> None:
    """
    Refuse what is no document store.

    :param store: What was given as one.
    :raises ConfigurationError: With what it is instead.
    """
    if isinstance(store, type):
        _refuse_class("store", store)
    if not hasattr(store, "write_documents"):
        msg = (
            f"got a {type(store).__name__} as store, wanted a document store; pass for example "
            "InMemoryDocumentStore() with your documents written into it"
        )
        raise ConfigurationError(msg)


def check_settings(part: Spec, place: str) -> None:
    """
    Refuse settings that a component does not have, and filters that are none, in it and in the components inside it.

    :param part: The component as the YAML holds it.
    :param place: Which one it is.
    :raises ConfigurationError: Naming it, the settings, and those that may have been meant.
    """
    settings = settings_of(part)
    parameters = dict(inspect.signature(import_class_by_name(part["type"]).__init__).parameters)
    parameters.pop("self", None)
    takes_any = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters.values())
    unknown = sorted(map(str, set(settings) - set(parameters)))
    if unknown and not takes_any:
        kind = part["type"].rpartition(".")[2]
        guess = meant(unknown, parameters)
        more = f"; docs/api.md says what each of {kind} is" if part["type"].startswith(_OURS) else ""
        msg = f"{place}: {kind} has no setting {unknown}; {guess}choose from {sorted(parameters)}{more}"
        raise ConfigurationError(msg)
    check_filters(part, place)
    for inner in parts_in([*settings.values()]):
        check_settings(inner, place)


def check_sockets(name: str, spec: Spec, live: Spec) -> None:
    """
    Refuse a component of the caller's that cannot stand where it is put.

    :param name: What the user calls the pipeline.
    :param spec: The pipeline, with all its connections.
    :param live: Components by the names of those in whose place they stand.
    :raises ConfigurationError: Naming each input and output that is missing, or that nothing reaches.
    """
    for part, value in live.items():
        if pipeline_of(value) is not None:
            msg = (
                f"got a {type(value).__name__} as {part} that is in another pipeline already, wanted one that is in "
                "none: Haystack lets a component be in one only; make another for this pipeline"
            )
            raise ConfigurationError(msg)
        takes, gives = sockets_of(value, "input") or {}, sockets_of(value, "output") or {}
        lacks = _lacks(part, value, spec)
        missing = [
            f"{what} {', '.join(f'{part}.{key}' for key in sorted(keys))}" for what, keys in lacks.items() if keys
        ]
        if missing:
            msg = (
                f"got a {type(value).__name__} as {part}, wanted one that fits into {name!r}: it lacks "
                f"{' and '.join(missing)}; add them, an input that it has no use for with the default None"
            )
            if f"{part}.filters" in missing[0]:  # ignored, they would open what they were to close
                msg += "; filters that it cannot keep it must refuse, with a FilterError"
            if part == "grader" and "documents" in takes and set(gives) == {"documents"}:  # one of Haystack's rankers
                msg += f"; a ranker that gives scores goes into another part: RankerGrader({type(value).__name__}(...))"
            if part == "web" and "query" in takes and "documents" in gives:  # one of Haystack's web searches
                msg += f"; a web search goes into another part: WebFallback({type(value).__name__}(...))"
            if "query" in lacks["the inputs"] and "query_embedding" in takes:  # its store knows vectors only
                msg += (
                    f"; a retriever by vectors is asked by text in ReportingTextEmbeddingRetriever(retriever="
                    f"{type(value).__name__}(...), text_embedder=...), of "
                    "haystack_integrations.crag.components.reporting_text_embedding_retriever"
                )
            raise ConfigurationError(msg)


def _lacks(part: str, value: object, spec: Spec) -> dict[str, set[str]]:
    """Tell what a component lacks to stand in the place of a part."""
    takes, gives = sockets_of(value, "input") or {}, sockets_of(value, "output") or {}
    taken = [one["receiver"] for one in spec["connections"]] + [*chain.from_iterable(inputs_of(spec).values())]
    given = [one["sender"] for one in spec["connections"]] + list(spec["outputs"].values())
    return {
        "the inputs": _of(part, taken) - set(takes),
        "the outputs": _of(part, given) - set(gives),
        "a default for": {key for key, socket in takes.items() if socket.is_mandatory} - _of(part, taken),
    }


def _fitting(names: Iterable[str], given: Spec, spec: Spec) -> str:
    """Tell as what a component can be passed that came under a name of the user's own pipeline, such as `retriever`."""
    for name in names:
        value, parts = given[name], spec["components"]
        asked_by = [part for part, entry in parts.items() if _EMBEDDER in settings_of(entry)]
        is_settings = isinstance(value, dict) and name in (_EMBEDDER, "embedder")
        if asked_by and (is_settings or "embedding" in (sockets_of(value, "output") or {})):
            where = " and ".join(f'{part}={{"{_EMBEDDER}": ...}}' for part in asked_by)
            got = "settings that" if is_settings else f"{type(value).__name__} that"
            return f"pass the {got} came as {name!r} as {where}, and embed the documents by the same model; "
        if is_chat_model(value):
            fits = sorted(parts.keys() & {"generator"})
        elif _searches_by_vectors(value):
            fits = asked_by
        else:
            fits = [part for part in parts if not any(_lacks(part, value, spec).values())]
        if fits and sockets_of(value, "input") is not None:
            return f"pass the {type(value).__name__} that came as {name!r} as {' or '.join(fits)}; "
    return ""


def _searches_by_vectors(value: object) -> bool:
    """Tell a retriever that `load` asks by text with the YAML's embedder, or that has one of its own."""
    takes = sockets_of(value, "input") or {}
    return hasattr(value, _EMBEDDER) or ("query_embedding" in takes and "query" not in takes)


@contextmanager
def lent(parts: Spec) -> Iterator[None]:
    """
    Give parts back when their pipeline is refused: Haystack lets a component be in one only.

    Else the next try, with the mistake put right, is refused for that, and hides what was wrong.

    :param parts: Components by the names under which they are in it; or in one that Haystack began, and gave to nobody.
    """
    try:
        yield
    except Exception:
        for name, part in parts.items():
            if (pipeline := pipeline_of(part)) is not None:
                pipeline.remove_component(name)
        raise


def _check_plain(part: str, settings: Spec) -> None:
    """Refuse a live store among settings, which are what a YAML can hold."""
    for name, value in settings.items():
        if hasattr(value, "write_documents"):
            msg = (
                f"got a {type(value).__name__} as {name} in the settings of {part!r}, wanted what a YAML can hold; "
                "pass it as store=, for all parts that have one, or pass the component itself"
            )
            raise ConfigurationError(msg)


def _refuse_class(argument: str, kind: type) -> None:
    msg = f"got the class {kind.__name__} as {argument}, wanted an object of it; make one: {kind.__name__}(...)"
    raise ConfigurationError(msg)


def _of(part: str, paths: Iterable[str]) -> set[str]:
    """Name the sockets of one part; a path without one leaves the choice to Haystack."""
    ends = (path.partition(".") for path in paths)
    return {socket for owner, _, socket in ends if owner == part and socket}
