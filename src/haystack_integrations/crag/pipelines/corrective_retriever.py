"""CorrectiveRetriever: a whole corrective retrieval in a retriever's place, by one entry of a YAML file."""

import asyncio
from inspect import signature
from pathlib import Path
from threading import Lock
from typing import Any, Final, Self

from haystack import Document, SuperComponent, component, default_from_dict, default_to_dict
from haystack.core.serialization import component_to_dict, generate_qualified_class_name
from haystack.document_stores.types import DocumentStore, FilterPolicy

from haystack_integrations.crag.components.crag_router import CragRouter
from haystack_integrations.crag.components.evidence_joiner import EvidenceJoiner
from haystack_integrations.crag.copying import Copied, in_none
from haystack_integrations.crag.deciding.policy import check_mode
from haystack_integrations.crag.deciding.records import best
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.pipelines.forms import settings_of
from haystack_integrations.crag.pipelines.given import check_store
from haystack_integrations.crag.pipelines.in_place import chosen_of, refuse_others
from haystack_integrations.crag.pipelines.loader import load, names, read
from haystack_integrations.crag.searches import filters_for
from haystack_integrations.crag.settings import check_one_of, check_whole
from haystack_integrations.crag.sockets import sockets_of
from haystack_integrations.crag.vocabulary import Mode

Filters = dict[str, Any]
_WANTED: Final = {"documents", "crag"}
_ROOM: Final[dict[type, str]] = {EvidenceJoiner: "top_k", CragRouter: "max_evidence"}  # where a pipeline stops


@component
class CorrectiveRetriever(Copied):
    """
    Retrieves, judges, searches up to twice more where that may help, and hands on what answers, or nothing.

    It stands where a retriever stood: same input `query`, same output `documents`, same `document_store` and `top_k`.
    Inside runs a shipped pipeline, so what that decides is decided here, and is in the record.

    ```python
    from haystack import Document
    from haystack.document_stores.in_memory import InMemoryDocumentStore
    from haystack_integrations.crag.pipelines import CorrectiveRetriever

    store = InMemoryDocumentStore()
    store.write_documents([Document(content="A refund is paid within 14 days after the goods have arrived.")])
    retriever = CorrectiveRetriever(store)
    assert len(retriever.run(query="When is a refund paid?")["documents"]) == 1
    nothing = retriever.run(query="Who repairs bicycles?")
    assert (nothing["documents"], nothing["crag"]["action"]) == ([], "abstain")
    ```
    """

    def __new__(cls, *_given: Any, **named: Any) -> Self:
        """Refuse settings that are not taken, such as those of the retriever in whose place this one is put."""
        if cls is CorrectiveRetriever:  # a class made of it may take more
            refuse_others([name for name in named if name not in _taken(cls)], _taken(cls))
        return object.__new__(cls)

    def __init__(
        self,
        document_store: DocumentStore,
        *,
        top_k: int = 10,
        filters: Filters | None = None,
        filter_policy: str | FilterPolicy = "replace",
        candidates: int = 10,
        grader: Any = None,
        mode: Mode | None = None,
        pipeline: str | Path = "corrective_retrieval",
        settings: dict[str, dict[str, Any]] | None = None,
    ) -> None:
        """
        Choose the store, and what runs on it. Nothing is opened before `warm_up` or the first question.

        :param document_store: An in-memory or Elasticsearch store. Without embeddings documents are found by words.
        :param top_k: Most documents handed on, best first.
        :param filters: Haystack's filters for every search.
        :param filter_policy: `replace`: those of a run take their place; or `merge`: both hold, whatever they are.
            Empty filters of a run are none.
        :param candidates: Documents to retrieve and judge, from each retriever; at least `top_k` are.
        :param grader: A grader, such as BatchRelevanceGrader; None keeps the pipeline's own, which asks no model.
        :param mode: `enforce`, `observe` or `off`; None leaves the pipeline's own, `enforce`.
        :param pipeline: A shipped pipeline, or a YAML file of your own, that hands on documents and writes no answer.
        :param settings: Settings that replace those of the YAML, by component: `{"router": {"max_iterations": 1}}`; for
            documents with vectors of another model `{"dense": {"text_embedder": ...}}`.
        :raises ConfigurationError: For what is no store, a number below 1, an unknown mode, policy or setting, settings
            that are none, or a pipeline that is not there or gives something else.
        """
        check_store(document_store)  # without one, `load` would search the empty store of its file
        _check_settings(settings, grader)
        check_whole("top_k", top_k)
        check_whole("candidates", candidates)
        if mode is not None:
            check_mode(mode)
        given = read(name := str(pipeline) if isinstance(pipeline, Path) else pipeline)["outputs"]
        if not set(given) >= _WANTED or "answers" in given:
            fitting = [name for name in names() if set(read(name)["outputs"]) == _WANTED]
            msg = f"the pipeline {pipeline!r} gives {sorted(given)}; wanted {sorted(_WANTED)}, as {fitting} give"
            raise ConfigurationError(msg)
        self.document_store, self.top_k, self.filters, self.candidates = document_store, top_k, filters, candidates
        self.filter_policy = _policy(filter_policy)
        self.grader, self.mode, self.pipeline, self.settings = grader, mode, name, settings
        self._loaded: SuperComponent | None = None
        self._loading = Lock()  # first questions come side by side, and a grader can be in one pipeline only

    def to_dict(self) -> dict[str, Any]:
        """Write the component down: its settings, and not the pipeline, which is loaded anew."""
        named = ("document_store", "top_k", "filters", "filter_policy", "candidates", "mode", "pipeline")
        plain = {name: getattr(self, name) for name in named}
        grader = self.grader and component_to_dict(self.grader, "grader")
        return default_to_dict(self, grader=grader, settings=_written(self.settings), **plain)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "CorrectiveRetriever":
        """
        Read what `to_dict` wrote, or the entry of the retriever that stood here: Haystack writes all its settings down.

        :param data: The dictionary; left as it is.
        :returns: The component. Settings of a retriever that say what is done here anyway are left out.
        :raises ConfigurationError: For a setting that is not taken, or a retriever's that somebody chose otherwise.
        """
        values, known = data.get("init_parameters", {}), _taken(cls)
        refuse_others(chosen_of({name: value for name, value in values.items() if name not in known}), known)
        kept = {name: value for name, value in values.items() if name in known}
        made: CorrectiveRetriever = default_from_dict(cls, {**data, "init_parameters": kept})
        return made

    def warm_up(self) -> None:
        """
        Load the pipeline on the store, once.

        :raises ConfigurationError: For a store or a setting that the pipeline does not know.
        :raises StoreError: When the store's server cannot be reached.
        """
        self._opened().warm_up()

    async def warm_up_async(self) -> None:
        """Load the pipeline without blocking the event loop; see `warm_up`."""
        loaded = self._loaded if self._loaded is not None else await asyncio.to_thread(self._opened)
        await loaded.warm_up_async()

    def close(self) -> None:
        """Close what the pipeline opened."""
        if self._loaded is not None:
            self._loaded.close()

    async def close_async(self) -> None:
        """Close what the pipeline opened on the event loop."""
        if self._loaded is not None:
            await self._loaded.close_async()

    @component.output_types(documents=list[Document], crag=dict[str, Any])
    def run(self, query: str, filters: Filters | None = None, top_k: int | None = None) -> dict[str, Any]:
        """
        Retrieve what answers a question.

        :param query: The question.
        :param filters: In place of the component's own, or beside them, as `filter_policy` says.
        :param top_k: In place of the component's own. More than that and `candidates` are not handed on.
        :returns: A dictionary with the following keys:
            - `documents`: At most `top_k`, best first, with their grades in `meta["crag"]`; none when nothing answers.
            - `crag`: The record: verdict, action, corrections, cost, trail.
        :raises ConfigurationError: For a `top_k` below 1.
        :raises PipelineRuntimeError: For a question that is empty or too long: its `__cause__` is a `QuestionError`.
        """
        asked, most = self._asked(query, filters, top_k)
        result = self._opened().run(**asked)
        return best(result["documents"], result["crag"], most)

    @component.output_types(documents=list[Document], crag=dict[str, Any])
    async def run_async(self, query: str, filters: Filters | None = None, top_k: int | None = None) -> dict[str, Any]:
        """
        Retrieve without blocking the event loop; see `run`.

        :param query: The question.
        :param filters: As in `run`.
        :param top_k: As in `run`.
        :returns: As `run`.
        """
        asked, most = self._asked(query, filters, top_k)
        await self.warm_up_async()
        result = await self._opened().run_async(**asked)
        return best(result["documents"], result["crag"], most)

    def _opened(self) -> SuperComponent:
        with self._loading:
            if self._loaded is None:
                settings = _with_room(self.pipeline, max(self.top_k, self.candidates), self.settings or {})
                parts = {"grader": in_none(self.grader, self), **settings}
                self._loaded = load(self.pipeline, store=self.document_store, **parts)
            return self._loaded

    def _asked(self, query: str, filters: Filters | None, top_k: int | None) -> tuple[dict[str, Any], int]:
        """Give the pipeline's inputs, and how many documents to hand on."""
        most = self.top_k if top_k is None else top_k
        check_whole("top_k", most)
        chosen = filters_for(FilterPolicy.from_str(self.filter_policy), self.filters, filters)
        given = {name: value for name, value in {"filters": chosen, "mode": self.mode}.items() if value is not None}
        return {"query": query, "top_k": max(most, self.candidates), **given}, most


def _taken(cls: type[CorrectiveRetriever]) -> list[str]:
    return [name for name in signature(cls.__init__).parameters if name != "self"]


def _policy(given: str | FilterPolicy) -> str:
    """Give a policy as YAML holds it."""
    value = getattr(given, "value", given)
    check_one_of("filter_policy", value, [policy.value for policy in FilterPolicy])
    return str(value)


def _check_settings(settings: object, grader: object) -> None:
    """Refuse what is no settings by component: a component among them could not be written down."""
    given = {} if settings is None else settings
    if not isinstance(given, dict) or not all(isinstance(one, dict) for one in given.values()):
        msg = (
            "settings must be a mapping of settings by component, such as {'router': {'max_iterations': 1}}; a part of "
            "your own goes into load(...), whose result is a component, too"
        )
        raise ConfigurationError(msg)
    if grader is not None and "grader" in given:
        msg = f"got a grader and settings {list(given['grader'])} of one, wanted either; set them in the grader"
        raise ConfigurationError(msg)


def _written(settings: dict[str, dict[str, Any]] | None) -> dict[str, dict[str, Any]] | None:
    """Write settings down with the components among them, such as a text embedder, which `load` takes as they are."""

    def plain(name: str, value: Any) -> Any:
        return value if sockets_of(value, "input") is None else component_to_dict(value, name)

    return settings and {
        part: {name: plain(name, value) for name, value in changed.items()} for part, changed in settings.items()
    }


def _with_room(pipeline: str, most: int, settings: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Let as many documents through as are wanted; what is set in so many words stays."""
    kinds = {generate_qualified_class_name(kind): kind for kind in _ROOM}
    roomy = dict(settings)
    for name, part in read(pipeline)["components"].items():
        if (kind := kinds.get(part["type"])) is not None:
            setting = _ROOM[kind]
            usual = signature(vars(kind)["__init__"]).parameters[setting].default
            check_whole(f"{setting} of {name!r}", said := settings_of(part).get(setting, usual))
            roomy[name] = {setting: max(most, said), **settings.get(name, {})}
    return roomy
