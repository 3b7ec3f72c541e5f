"""Open a store, and find the models of a pipeline, by what a user says: command line and server share these doors."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from inspect import signature
from typing import Any, Final
from urllib.parse import urlsplit
from uuid import uuid4

from haystack.core.serialization import generate_qualified_class_name

from haystack_integrations.crag.chat_model import is_address
from haystack_integrations.crag.components.answer_generator import AnswerGenerator
from haystack_integrations.crag.errors import ConfigurationError, StoreError
from haystack_integrations.crag.judging.calibration import load_calibration
from haystack_integrations.crag.pipelines.checks import asks_a_model, by_the_set, judges_by_calibration, wants_a_model
from haystack_integrations.crag.pipelines.forms import settings_of
from haystack_integrations.crag.pipelines.index_fields import holds_documents
from haystack_integrations.crag.pipelines.loader import read
from haystack_integrations.crag.pipelines.roles import roles_of
from haystack_integrations.crag.refining.model import has_strip_model
from haystack_integrations.crag.settings import INDEX_SETTING, STORE_SETTING, STORE_URL_SETTING, configured, path_of
from haystack_integrations.crag.store_profiles import (
    display_url,
    has_index,
    nodes_of,
    open_store,
    profile_named,
    profile_of,
)

ELASTICSEARCH: Final = "elasticsearch"
MEMORY: Final = "in_memory"
INDEX: Final = "crag"
_MODEL_FREE: Final = ("lexical", "embedding", "calibrated")
_DOTTED: Final = r"v?\d+(?:\.\d+)+"
_OF_NO_NAME: Final = set('*?," \\|#')  # Elasticsearch takes the first three for several


@dataclass(frozen=True)
class Place:
    """
    Where documents are kept.

    :param kind: The store's profile, or None where nobody says.
    :param url: Address of its server.
    :param index: Name of the index.
    """

    kind: str | None
    url: str | None
    index: str


def find_place(store: str | None, url: str | None, index: str | None) -> Place:
    """
    Find where documents are kept: as given, else from the environment, else from `.env`.

    :param store: `elasticsearch`, or `memory` (also `in_memory`); None with an address is the store that has one.
    :param url: `http://HOST:PORT`; of a cluster all of them, with commas between.
    :param index: Name of the index.
    :returns: The place. What the environment says of a server is for a store that has one.
    :raises ConfigurationError: For an unknown kind of store, and an address or an index of one that has none.
    """
    word = store or (ELASTICSEARCH if url else configured(STORE_SETTING))
    kind = None if word is None else profile_named(word)
    if kind != ELASTICSEARCH:
        if url:
            msg = f"got an address for the store {store!r}, which has none; leave out --url, or --store {ELASTICSEARCH}"
            raise ConfigurationError(msg)
        if index:
            got = f"for the store {word!r}, which has none" if word else "without a store that has it"
            msg = f"got the index {index!r} {got}; leave it out, or pass --store {ELASTICSEARCH} --url URL with it"
            raise ConfigurationError(msg)
        return Place(kind, None, INDEX)
    return Place(kind, url or configured(STORE_URL_SETTING), index or configured(INDEX_SETTING) or INDEX)


def check_place(place: Place) -> None:
    """
    Refuse a place that no server has; none is contacted.

    :param place: What `find_place` gave.
    :raises ConfigurationError: For a name that no index may have, or is of several, or an unusable address.
    """
    if place.index == "_all" or _OF_NO_NAME & set(place.index):
        msg = (
            f"got {place.index!r} as --index, wanted the name of one, without blanks; for several name an alias of them"
        )
        raise ConfigurationError(msg)
    nodes = nodes_of(place.url) if place.url else []
    if any(not is_address(node) or urlsplit(node).port is None for node in nodes):
        msg = f"got {display_url(nodes)!r} as --url, wanted http://HOST:PORT; the usual port of Elasticsearch is 9200"
        msg += ", and in a password # is written as %23, / as %2F" if "@" in str(place.url) else ""
        raise ConfigurationError(msg)


def elasticsearch_store(place: Place) -> Any:
    """
    Open the store of a server; it is not contacted yet.

    :param place: What `find_place` gave.
    :returns: The store.
    :raises ConfigurationError: For another kind of store, a missing address, or as `check_place`.
    """
    if place.kind != ELASTICSEARCH:
        got = "no store" if place.kind is None else f"the store {place.kind!r}"
        msg = (
            f"got {got}, wanted one that keeps documents when the command has ended; pass --store {ELASTICSEARCH} "
            "--url URL, or ask files without an index: crag ask QUESTION --docs PATH"
        )
        raise ConfigurationError(msg)
    check_place(place)
    return open_store(place.kind, place.url, place.index)


def holds_nothing(store: Any) -> bool:
    """
    Tell whether a store is known to hold no document; for a warning, so nothing depends on an answer.

    :param store: Any document store.
    :returns: True for an in-memory or Elasticsearch store that says so.
    """
    if not has_index(store):
        return profile_of(store) is not None and store.count_documents() == 0
    with suppress(StoreError):
        return not holds_documents(store)
    return False


def memory_store(kind: Any = None) -> Any:
    """
    Open an in-memory store that nobody else shares: Haystack keeps one for each index name and process.

    A number with dots is one word in it, as on Elasticsearch: to Haystack's own expression, version 5.13.9 is three
    numbers, each of which many texts have.

    :param kind: A subclass of Haystack's store, or None.
    :returns: The store.
    """
    from haystack.document_stores.in_memory import InMemoryDocumentStore

    usual = signature(InMemoryDocumentStore).parameters["bm25_tokenization_regex"].default
    return (kind or InMemoryDocumentStore)(f"{_DOTTED}|{usual}", index=f"crag-{uuid4().hex}")


def calibrated_parts(name: str, file: str | None) -> dict[str, dict[str, str]]:
    """
    Choose what a pipeline is to be loaded with, so that it judges by one's own calibration.

    :param name: A shipped pipeline, or the path of a YAML file.
    :param file: What `crag calibrate` wrote, or None.
    :returns: Arguments of `load`: settings of each part that judges by a calibration, of the router, which then goes by
        the calibrated verdict, and as `refined_by`; empty without a file.
    :raises ConfigurationError: When there is no such file, or it cannot be used: now, not at the first question.
    """
    if file is None:
        return {}
    check_calibration(file)
    spec = read(name)
    parts = spec["components"].items()
    chosen = {part: {"calibration": file} for part, entry in parts if judges_by_calibration(entry)}
    if not chosen:
        return {}
    load_calibration(file)
    return {**chosen, **by_the_set(spec), **refined_by(file, spec)}


def refined_by(file: str, spec: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """
    Choose what lets the last refiner select sentences by one's own calibration.

    :param file: What `crag calibrate` wrote.
    :param spec: A pipeline as `read` gives it.
    :returns: Settings of the refiner, as `load` takes them; none where it asks another model, or the file has no
        sentence model.
    :raises ConfigurationError: For an unusable file.
    """
    name = roles_of(spec).refiner
    is_free = bool(name) and settings_of(spec["components"][name]).get("scorer", "lexical") in _MODEL_FREE
    return {name: by_sentences(file)} if is_free and has_strip_model(file) else {}


def by_sentences(file: str) -> dict[str, str]:
    """
    Say how a refiner goes by a calibration's sentence model.

    :param file: What `crag calibrate` wrote.
    :returns: Settings of `StripRefiner`.
    """
    return {"scorer": "calibrated", "calibration": file, "threshold": "auto"}


def check_calibration(file: str) -> None:
    """
    Refuse a calibration that is not there.

    :param file: Its file.
    :raises ConfigurationError: With the command that writes one.
    """
    if not path_of(file).is_file():
        msg = f"no calibration at {file!r}; write one with `crag calibrate`, or leave it out"
        raise ConfigurationError(msg)


def model_parts(name: str, answering: Any, grading: Any) -> dict[str, Any]:
    """
    Choose what a pipeline is to be loaded with, so that it asks one's own model.

    :param name: A shipped pipeline, or the path of a YAML file.
    :param answering: An AnswerGenerator or a chat generator; it also serves every other part that asks one.
    :param grading: The chat generator of a grader that asks one.
    :returns: Arguments of `load`; none where nobody asks one.
    """
    spec = read(name)
    if not wants_a_model(spec) and "generator" not in spec["components"]:
        return {}
    parts, grader = spec["components"], roles_of(spec).grader
    chosen = {"generator": answering, **({grader: grading} if grader and asks_a_model(parts[grader]) else {})}
    writing = [part for part, entry in parts.items() if entry["type"] == generate_qualified_class_name(AnswerGenerator)]
    if "generator" not in parts and len(writing) == 1 and isinstance(answering, AnswerGenerator):
        return {**chosen, "generator": answering.chat_generator, writing[0]: answering}
    return chosen
