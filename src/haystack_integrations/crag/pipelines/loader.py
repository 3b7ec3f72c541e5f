"""Load a shipped pipeline: read the YAML, exchange parts by name, wrap it in a SuperComponent. No wiring here."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from itertools import takewhile
from pathlib import Path
from typing import Any

import yaml
from haystack import Pipeline, component, logging
from haystack.core.super_component.super_component import InvalidMappingTypeError, InvalidMappingValueError

from haystack_integrations.crag.chat.generators import quiet
from haystack_integrations.crag.components.answer_generator import AnswerGenerator
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.pipelines.checks import CHAT_GENERATOR, asks_a_model, check_loaded, models_in
from haystack_integrations.crag.pipelines.forms import checked, inputs_of
from haystack_integrations.crag.pipelines.given import (
    check_name,
    check_parts,
    check_settings,
    check_sockets,
    check_store,
    lent,
)
from haystack_integrations.crag.pipelines.guesses import meant
from haystack_integrations.crag.pipelines.index_fields import fields_of
from haystack_integrations.crag.pipelines.keys import check_keys
from haystack_integrations.crag.pipelines.loaded import LoadedPipeline
from haystack_integrations.crag.pipelines.placing import asked_by_text, on_store, place_on, with_changes
from haystack_integrations.crag.pipelines.reading import parsed
from haystack_integrations.crag.pipelines.reporting import in_reports, wanted_of, with_reports
from haystack_integrations.crag.pipelines.scores import check_weights_count, fit_scores
from haystack_integrations.crag.pipelines.unloadable import said_of
from haystack_integrations.crag.pipelines.vectors import check_asked
from haystack_integrations.crag.settings import path_of
from haystack_integrations.crag.sockets import sockets_of
from haystack_integrations.crag.store_profiles import profile_named, profiles, store_spec

logger = logging.getLogger(__name__)


def _shipped() -> dict[str, Traversable]:
    folder = files("haystack_integrations.crag") / "yaml"
    return {entry.name.removesuffix(".yml"): entry for entry in folder.iterdir() if entry.name.endswith(".yml")}


def names() -> list[str]:
    """
    List the shipped pipelines.

    ```python
    from haystack_integrations.crag.pipelines import names

    assert "corrective_rag" in names()
    ```

    :returns: Their names in alphabetical order; each is also the stem of its YAML file and its Hayhooks endpoint.
    """
    return sorted(_shipped())


def source(name: str | Path) -> str:
    """
    Read a pipeline's YAML.

    :param name: A shipped pipeline's name, or the path of a YAML file of your own.
    :returns: The text with its comments.
    :raises ConfigurationError: When there is no such pipeline; the message lists the shipped ones.
    """
    check_name(name, names())
    if isinstance(name, Path) or name.endswith((".yml", ".yaml")):
        path = path_of(name)
        if not path.is_file():
            msg = f"no pipeline file at {str(path)!r}; pass an existing .yml file or one of {names()}"
            raise ConfigurationError(msg)
        try:
            return path.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            msg = f"the pipeline file {str(path)!r} cannot be read ({type(error).__name__}); save it as UTF-8 text"
            raise ConfigurationError(msg) from None
    if name not in names():
        guess = meant([name], names())
        msg = f"no shipped pipeline named {name!r}; {guess}choose one of {names()}, or pass the path of a .yml file"
        raise ConfigurationError(msg)
    return _shipped()[name].read_text("utf-8")


def read(name: str | Path) -> dict[str, Any]:
    """
    Read a pipeline's YAML as a mapping.

    :param name: As for `source`.
    :returns: `components`, `connections`, `inputs`, `outputs`, and what else the file holds.
    :raises ConfigurationError: When there is no such pipeline, or the file is no pipeline.
    """
    return checked(str(name), parsed(str(name), source(name)))


def title(name: str | Path) -> str:
    """
    Say what a pipeline does: the first sentence of the comment at its YAML's head.

    :param name: As for `source`.
    :returns: The sentence without its full stop; empty for a file that begins without a comment.
    """
    head = takewhile(lambda line: line.startswith("#"), source(name).splitlines())
    return " ".join(line.removeprefix("#").strip() for line in head).partition(". ")[0].removesuffix(".")


def export(name: str | Path, store: str = "in_memory", url: str | None = None, index: str = "crag") -> str:
    """
    Give the YAML of a pipeline, ready to be loaded or deployed elsewhere.

    :param name: As for `source`.
    :param store: The store it shall run on; `in_memory` gives the file as it is shipped, with its comments.
    :param url: Address of the store's server.
    :param index: Name of the index.
    :returns: YAML text.
    :raises ConfigurationError: For an unknown pipeline or store, or a missing URL.
    """
    store = profile_named(store)
    if store == "in_memory" and url is None and index == "crag":
        return source(name)
    document_store = store_spec(store, url, index)
    spec = with_reports(on_store(read(name), profiles()[store], document_store), {})
    head = f"# {name} on {store}, written by `crag pipelines export`; the shipped file explains every part.\n"
    return head + yaml.safe_dump(spec, sort_keys=False, allow_unicode=True, width=120)


def load(
    name: str | Path, *, store: Any = None, grader: Any = None, generator: Any = None, **components: Any
) -> LoadedPipeline:
    """
    Load a shipped pipeline on your store and your models.

    The YAML is the pipeline: its `inputs` and `outputs` are the arguments and result keys of what is returned, its
    `optional_inputs` may be passed too.

    ```python
    from haystack.components.generators.chat import MockChatGenerator
    from haystack_integrations.crag.components.heuristic_grader import HeuristicGrader
    from haystack_integrations.crag.pipelines import load

    rag = load("corrective_rag", grader=HeuristicGrader(), generator=MockChatGenerator("An answer."))
    result = rag.run(query="Is there anything in the empty store?")
    assert result["crag"]["verdict"] == "incorrect"
    assert result["documents"] == []
    ```

    :param name: A shipped pipeline's name, or the path of a YAML file of your own.
    :param store: A Haystack document store. In-memory and Elasticsearch stores are known; for any other pass its two
        retrievers as `bm25=` and `dense=`; a retriever by vectors is asked with those of the YAML's embedder, unless it
        is a TextEmbeddingRetriever with one of its own. One that fails or hangs costs its own results only. None keeps
        the YAML's in-memory store.
    :param grader: A grader component, or a chat generator for the YAML's own grader.
    :param generator: A chat generator for the answer, or an AnswerGenerator with one; its model also serves every
        other part that asks a chat model, unless you pass that part or a `chat_generator` among its settings, or it
        keeps its model to itself, as Haystack's LLMRanker does: that asks the one of the file.
    :param components: Any other component of the pipeline, by its name in the YAML; or a chat generator for one that
        asks one; or a mapping of settings that replace those of the YAML, for example
        `router={"preset": "conservative"}`.
    :returns: A SuperComponent: run it, put it into another pipeline, or hand it to an Agent as a tool.
    :raises ConfigurationError: For an unknown pipeline or component name; the message lists the valid ones.
    :raises StoreError: When the store's server cannot be reached; its index is made here, before the first query.
    """
    spec = read(name)
    parts = {"grader": grader, "generator": generator, **components}
    parts = {key: value for key, value in parts.items() if value is not None}
    check_parts(str(name), parts, spec)
    if store is not None:
        check_store(store)
    changes = {key: value for key, value in parts.items() if isinstance(value, dict)}
    models = models_in(parts, spec)
    live = {key: value for key, value in parts.items() if key in spec["components"] and key not in {*models, *changes}}
    if "generator" in models and not asks_a_model(spec["components"].get("generator", {})):
        live |= {"generator": models["generator"]} if "generator" in spec["components"] else {}
    elif hasattr(generator, CHAT_GENERATOR):
        models["generator"] = generator.chat_generator
    ask = cache(fields_of)  # an index is asked once, whatever is to be known of its fields
    live = {key: asked_by_text(value, spec["components"][key]) for key, value in live.items()}
    with said_of(str(name), lambda: {part: one for part, one in spec["components"].items() if part not in live}):
        placed: dict[str, Any] = {}
        if store is None:
            spec = with_changes(spec, changes)
        else:
            spec, placed = place_on(spec, store, set(live), changes, ask)
        for key in changes:
            check_settings(spec["components"][key], f"the component {key!r}")
        check_sockets(str(name), wanted_of(spec, live), live)
        live = {**placed, **in_reports(spec, live)}
        spec = with_reports(spec, live)
        with lent(live):
            pipeline = Pipeline.from_dict(spec, components=live)
            check_keys(str(name), spec["components"], live)
    with lent(live):
        check_loaded(pipeline, spec)
        check_weights_count(pipeline, changes, live)
        fit_scores(pipeline, live.keys() | {one for one in changes if "similarity" in changes[one]}, ask)
        if store is not None:
            check_asked(pipeline, store, ask)
        loaded = _wrapped(name, pipeline, spec)
    _give_models(pipeline, spec["components"], live, models, changes)
    return loaded


def _give_models(
    pipeline: Pipeline, declared: Any, live: Mapping[str, Any], models: Mapping[str, Any], changes: Mapping[str, Any]
) -> None:
    """Let the parts that the YAML has, and that ask a chat model, ask the caller's."""
    asked = [part for part in pipeline.graph.nodes if part not in live and asks_a_model(declared.get(part, {}))]
    if "generator" in models and not asked and "generator" not in declared:
        logger.warning("The generator that load was given has no effect: no part of this pipeline asks a chat model.")
    for part in asked:
        asking: Any = pipeline.get_component(part)
        if not hasattr(asking, CHAT_GENERATOR):
            continue  # Haystack's LLMRanker shows its model to nobody, and keeps that of the file
        is_named = CHAT_GENERATOR in changes.get(part, {})  # among the settings that the caller gives this part
        model = asking.chat_generator if is_named else models.get(part, models.get("generator", asking.chat_generator))
        answers = part == "generator" or isinstance(asking, AnswerGenerator)
        asking.chat_generator = model if answers else quiet(model)


def _wrapped(name: str | Path, pipeline: Pipeline, spec: Mapping[str, Any]) -> LoadedPipeline:
    """Give a pipeline the inputs and outputs that its YAML names."""
    inputs = inputs_of(spec)
    try:
        loaded = LoadedPipeline(pipeline, inputs, {path: output for output, path in spec["outputs"].items()})
    except (InvalidMappingTypeError, InvalidMappingValueError) as error:
        msg = (
            f"the pipeline {str(name)!r} cannot be loaded: {error}; a part of your own takes the inputs of the one in "
            f"whose place it stands: {inputs}"
        )
        raise ConfigurationError(msg) from error
    sockets = sockets_of(loaded, "input") or {}
    for name_ in spec.get("optional_inputs", {}):
        if (socket := sockets.get(name_)) is None:
            msg = (
                f"the pipeline {str(name)!r} cannot be loaded: the optional input {name_!r} leads to no part; write it "
                "as PART.INPUT, or leave it out"
            )
            raise ConfigurationError(msg)
        # Haystack's placeholder for «not given» has no JSON schema, so ComponentTool fails on it; None means the same.
        component.set_input_type(loaded, name_, socket.type, None)
    return loaded
