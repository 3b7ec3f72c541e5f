"""Have retrievers report: a failed search costs its own results, and the router knows what was not searched."""

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any, Final

from haystack.components.retrievers import TextEmbeddingRetriever

from haystack_integrations.crag.components.crag_router import CragRouter
from haystack_integrations.crag.components.evidence_joiner import EvidenceJoiner
from haystack_integrations.crag.components.reporting_retriever import ReportingRetriever
from haystack_integrations.crag.components.reporting_text_embedding_retriever import ReportingTextEmbeddingRetriever
from haystack_integrations.crag.pipelines.forms import inputs_of
from haystack_integrations.crag.searches import tells_of_itself

Spec = dict[str, Any]

_SOCKETS: Final = frozenset({"query", "filters", "top_k", "state", "documents", "report"})
_OURS: Final = ("ReportingBM25Retriever", "ReportingRetriever", "ReportingTextEmbeddingRetriever")


def in_reports(spec: Spec, given: Mapping[str, Any]) -> dict[str, Any]:
    """
    Put the caller's retrievers into ones that report, where the pipeline has a place for the report.

    :param spec: A pipeline as `read` gives it.
    :param given: Live components of the caller's, by name.
    :returns: The same, with each retriever that feeds an EvidenceJoiner, and reports nothing, in one that does.
    """
    silent = _silent(spec, given)
    return {name: _reporting(one) if name in silent else one for name, one in given.items()}


def wanted_of(spec: Spec, given: Mapping[str, Any]) -> Spec:
    """
    Leave out of a pipeline what it wants of a retriever that reports, where the caller's is put into one.

    :param spec: A pipeline as `read` gives it.
    :param given: Live components of the caller's, by name.
    :returns: The pipeline with the connections that the caller's own components must fit.
    """
    added = {f"{name}.{socket}" for name in _silent(spec, given) for socket in ("state", "report")}
    kept = [one for one in spec["connections"] if not added & {one["sender"], one["receiver"]}]
    return {**spec, "connections": kept}


def with_reports(spec: Spec, live: Mapping[str, Any]) -> Spec:
    """
    Connect the retrievers that report: a search ends with the run's budget, and the router is told.

    :param spec: A pipeline as `read` gives it.
    :param live: Live components by the names of those in whose place they stand.
    :returns: The pipeline with the connections that it lacks.
    """
    connections = spec["connections"]
    taken = {one["receiver"]: one["sender"] for one in connections}
    routers = [name for name in spec["components"] if _kind(spec, {}, name) == CragRouter.__name__ or name == "router"]
    state, wanted = next((taken[one] for name in routers if (one := f"{name}.state") in taken), None), []
    for name, joiner, socket in _lists(spec, live):
        if _reports(spec, live, name):
            wanted += [(state, f"{name}.state"), (f"{name}.report", f"{joiner}.{socket}_report")]
            wanted += [(f"{joiner}.report", f"{one}.retrieval") for one in routers]
    added: dict[str, str] = {}
    for sender, receiver in wanted:
        if sender is not None and receiver not in taken:
            added.setdefault(receiver, sender)
    return {**spec, "connections": [*connections, *({"sender": one, "receiver": to} for to, one in added.items())]}


def _lists(spec: Spec, live: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Give each list that a retriever of the YAML gives to a joiner: the retriever, the joiner, and its socket."""
    for one in spec["connections"]:
        (name, _, output), (joiner, _, socket) = (one[end].partition(".") for end in ("sender", "receiver"))
        if output == "documents" and _kind(spec, {}, name).endswith("Retriever"):
            if _kind(spec, live, joiner) == EvidenceJoiner.__name__:
                yield name, joiner, socket


def _silent(spec: Spec, given: Mapping[str, Any]) -> set[str]:
    feeding = {name for name, _, _ in _lists(spec, given) if name in given}
    return {name for name in feeding if _fits(spec, name) and not tells_of_itself(given[name])}


def _kind(spec: Spec, live: Mapping[str, Any], name: str) -> str:
    return type(live[name]).__name__ if name in live else spec["components"][name]["type"].rpartition(".")[2]


def _fits(spec: Spec, name: str) -> bool:
    """Tell whether nothing is asked of a retriever that one around it does not have."""
    ends = [end for one in spec["connections"] for end in (one["sender"], one["receiver"])]
    ends += [*chain.from_iterable(inputs_of(spec).values()), *spec["outputs"].values()]
    return {socket for part, _, socket in (end.partition(".") for end in ends) if part == name} <= _SOCKETS


def _reports(spec: Spec, live: Mapping[str, Any], name: str) -> bool:
    return tells_of_itself(live[name]) if name in live else _kind(spec, live, name) in _OURS


def _reporting(given: Any) -> Any:
    if type(given) is TextEmbeddingRetriever:  # what a class of the caller's adds is kept
        return ReportingTextEmbeddingRetriever(retriever=given.retriever, text_embedder=given.text_embedder)
    return ReportingRetriever(given)
