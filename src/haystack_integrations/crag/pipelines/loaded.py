"""A loaded pipeline: Haystack's SuperComponent, which says when it is given what it does not take."""

from asyncio import to_thread
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from typing import Any, Final, Self

from haystack import Pipeline, SuperComponent, component, logging

from haystack_integrations.crag.components.cascade_gate import CascadeGate
from haystack_integrations.crag.components.crag_router import CragRouter
from haystack_integrations.crag.components.heuristic_grader import HeuristicGrader
from haystack_integrations.crag.components.record_builder import RecordBuilder
from haystack_integrations.crag.deadlines import call_within
from haystack_integrations.crag.deciding.retrieval_report import status_of_run
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.filters import refuse_void
from haystack_integrations.crag.homes import links, store_of
from haystack_integrations.crag.interrupts import unless_it_ends
from haystack_integrations.crag.light import search_at_home, search_in_thread, stay_on_loop
from haystack_integrations.crag.pipelines.room import told_of_less
from haystack_integrations.crag.sealing import opened
from haystack_integrations.crag.sockets import sockets_of
from haystack_integrations.crag.store_profiles import has_index

logger = logging.getLogger(__name__)

_PATIENCE_S: Final = 2.0
_SEALING: Final[dict[type, tuple[str, ...]]] = {
    CragRouter: ("decision",),
    HeuristicGrader: ("signals", "report"),
    RecordBuilder: ("crag",),
}
"""Components with an input `sealed`, and the outputs that it seals."""

_OPENING: Final[dict[type, dict[str, str | None]]] = {
    CascadeGate: {"report": "report"},
    CragRouter: {"report": None, "scored": None},
}
"""Components that read what is sealed: by which inputs, and by which output they hand it on."""


@component
class LoadedPipeline(SuperComponent):
    """Searches documents for what answers a question, and says so where none does."""

    # A ComponentTool without a description shows that to its model. What else there is to know, for who reads this:
    # Haystack's own leaves unknown inputs out: with `filter` for `filters` it searches everything. It asks for record,
    # decisions and signals sealed, since Haystack would copy them for nobody (`sealing`). Written down it is a plain
    # SuperComponent, as everyone can read it.

    _has_told = False
    _has_told_of_less = False

    def __init__(
        self,
        pipeline: Pipeline,
        input_mapping: dict[str, list[str]] | None = None,
        output_mapping: dict[str, str] | None = None,
    ) -> None:
        """
        Wrap a pipeline; see Haystack's own.

        :param pipeline: The pipeline. From now on its joiners stay on the event loop, and the searches of a store
            without a server go to a thread, as do those whose client is another loop's; see `light`.
        :param input_mapping: Its sockets by input.
        :param output_mapping: Outputs by its socket.
        """
        # By its name: the decorator makes a class anew, which the short form of `super` does not find.
        SuperComponent.__init__(self, pipeline, input_mapping, output_mapping)
        for _, part in pipeline.walk():
            stay_on_loop(part)
            search_in_thread(part)
            search_at_home(part)

    def run(self, *unnamed: Any, **inputs: Any) -> dict[str, Any]:
        """
        Run the pipeline.

        :param unnamed: Nothing; what stands here is refused.
        :param inputs: By the names of its YAML, `inputs` and `optional_inputs`.
        :returns: Its `outputs`, by the names of its YAML.
        :raises ConfigurationError: For an input that it does not have, or without a name.
        :raises PipelineRuntimeError: For a question that is empty or too long: its `__cause__` is a `QuestionError`.
        """
        self._check(unnamed, inputs)
        found = self.outputs(self.pipeline.run(self.arguments(inputs), include_outputs_from=self.last))
        if self._is_unexplained(found):
            self._tell_why(inputs.get("filters"))
        return found

    async def run_async(self, *unnamed: Any, **inputs: Any) -> dict[str, Any]:
        """Run the pipeline on the event loop; see `run`."""
        self._check(unnamed, inputs)
        found = self.outputs(await self.pipeline.run_async(self.arguments(inputs), include_outputs_from=self.last))
        if self._is_unexplained(found):
            await to_thread(self._tell_why, inputs.get("filters"))
        return found

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """
        Copy the pipeline inside, while nothing in it is open.

        :param memo: What has been copied already.
        :returns: The copy.
        :raises ConfigurationError: For one that holds what cannot be copied, such as an in-memory store or a client.
        """
        made = type(self).__new__(type(self))
        memo[id(self)] = made
        try:
            made.__dict__.update(deepcopy(self.__dict__, memo))
        except TypeError as error:
            msg = f"this pipeline cannot be copied, since something in it is in use ({error}); load it once more"
            raise ConfigurationError(msg) from None
        return made

    @property
    def last(self) -> set[str]:
        """The components that give the outputs."""
        return {path.partition(".")[0] for path in self.output_mapping}

    def arguments(self, inputs: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        """
        Give the arguments of a run of the pipeline inside, whose results are for `outputs` to open.

        :param inputs: As for `run`.
        :returns: Values by component and socket.
        :raises FilterError: For filters with an empty list of conditions, or that are no mapping.
        """
        sockets = sockets_of(self, "input") or {}
        arguments: dict[str, dict[str, Any]] = {name: {"sealed": True} for name in self._sealing()}
        for name, value in inputs.items():
            if value is not None and value is sockets[name].default_value:
                continue  # Haystack's placeholder for what a pipeline around this one was not given
            if name == "filters":
                refuse_void(value)
            for path in self.input_mapping[name]:
                part, _, socket = path.partition(".")
                arguments.setdefault(part, {})[socket] = value
        if not self._has_told_of_less and (less := told_of_less(self.pipeline, inputs.get("top_k"))):
            self._has_told_of_less = True
            logger.warning("{less}", less=less)
        return arguments

    def outputs(self, results: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
        """
        Give the outputs of such a run by the names of the YAML.

        :param results: What it gave, by component and socket.
        :returns: As `run`; outputs that did not come are left out, which is told where none came.
        """
        found = {
            name: opened(results[part][socket])
            for path, name in self.output_mapping.items()
            for part, _, socket in (path.partition("."),)
            if socket in results.get(part, {})
        }
        if not found:
            logger.warning(
                "The run ended before {last}, so none of its outputs {outputs} came: a connection is missing, or a "
                "component gave nothing that leads on. One of your own has to give a connected output in each case.",
                last=" and ".join(sorted(self.last)),
                outputs=list(self.output_mapping.values()),
            )
        return found

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "LoadedPipeline":
        """
        Read what `to_dict` wrote.

        :param data: The dictionary; left as it is.
        :returns: The pipeline, which again says when it is given what it does not take.
        """
        plain = SuperComponent.from_dict({**data, "init_parameters": dict(data["init_parameters"])})
        return cls(plain.pipeline, plain.input_mapping, plain.output_mapping)

    def _check(self, unnamed: Sequence[Any], given: Iterable[str]) -> None:
        known = list(self.input_mapping)
        if unnamed:  # Pipeline.run takes a dictionary, and this stands in the place of one
            msg = f"got {type(unnamed[0]).__name__} without a name, wanted inputs by name; write run({known[0]}=...)"
            raise ConfigurationError(msg)
        if unknown := sorted(set(given).difference(known)):
            msg = f"got the inputs {unknown}, which this pipeline does not take; wanted some of {known}"
            raise ConfigurationError(msg)

    def _is_unexplained(self, found: Mapping[str, Any]) -> bool:
        """Tell whether a run found nothing, and nobody knows why; where a search failed, its record says so."""
        record = found.get("crag")
        if self._has_told or not isinstance(record, dict) or record.get("documents_before") != 0:
            return False
        return status_of_run(record.get("trail", ()), None) == "ok"

    def _tell_why(self, filters: Any) -> None:
        """Say once that there may have been nothing to search: it looks like a question that nothing answers."""
        stores = self._searched()
        if stores and all(map(_is_empty, stores)):
            self._has_told = True
            logger.warning(
                "Nothing was found, since the store that was searched ({stores}) holds no document: write documents "
                "into it, or pass the one that has them, load(..., store=...).",
                stores=", ".join(sorted({type(one).__name__ for one in stores})),
            )
        elif filters:
            self._has_told = True
            logger.warning(
                "Nothing was found under the filters of this run, which perhaps no document passes: compare their "
                "fields, and the kinds of their values, with the documents' metadata."
            )

    def _searched(self) -> list[Any]:
        """Give the store of each retriever, None of one that shows none; a retriever makes documents of a question."""
        found: list[Any] = []
        for _, part in self.pipeline.walk():
            takes, gives = sockets_of(part, "input") or (), sockets_of(part, "output") or ()
            is_asked = "query" in takes and "documents" not in takes and not hasattr(part, "websearch")
            if is_asked and "documents" in gives:
                found.append(store_of(links(part)[-1]))
        return found

    def _sealing(self) -> list[str]:
        """Name the components whose outputs nobody inside reads who would not open them: there they may be sealed."""
        return [
            name
            for name in self.pipeline.graph.nodes
            if (outputs := _SEALING.get(self._kind(name))) and all(self._is_opened(name, output) for output in outputs)
        ]

    def _is_opened(self, name: str, output: str) -> bool:
        """Tell whether all who read an output open it, at once or further on."""
        for _, reader, edge in self.pipeline.graph.out_edges(name, data=True):
            if edge["from_socket"].name == output:
                opening, socket = _OPENING.get(self._kind(reader), {}), edge["to_socket"].name
                if socket not in opening:
                    return False
                handed_on = opening[socket]
                if handed_on is not None and not self._is_opened(reader, handed_on):
                    return False
        return True

    def _kind(self, name: str) -> type:
        return type(self.pipeline.get_component(name))


def _is_empty(store: Any) -> bool:
    """Tell whether a store holds nothing; an index of Elasticsearch is not asked, since its searches say so."""
    with unless_it_ends():  # a server that cannot count; the search itself has ended well
        return not has_index(store) and not call_within(_PATIENCE_S, store.count_documents)
    return False
