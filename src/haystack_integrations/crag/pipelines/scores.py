"""What joiners make of their lists: which scores are cosines, or halves of them, or nothing; which weights count."""

from collections.abc import Collection, Mapping
from itertools import islice
from math import isclose
from typing import Any, Final

from haystack import Pipeline, logging
from haystack.document_stores.in_memory import InMemoryDocumentStore

from haystack_integrations.crag.components.evidence_joiner import EvidenceJoiner
from haystack_integrations.crag.components.question_guard import QuestionGuard
from haystack_integrations.crag.errors import ConfigurationError, StoreError
from haystack_integrations.crag.homes import links, store_of
from haystack_integrations.crag.pipelines.index_fields import COSINE_HALF, Ask, holds_cosines
from haystack_integrations.crag.sockets import sockets_of
from haystack_integrations.crag.store_profiles import profile_of

logger = logging.getLogger(__name__)

_COSINE: Final = "cosine"
_COMPARED: Final = {
    "QdrantDocumentStore": ("similarity", "cosine"),
    "PgvectorDocumentStore": ("vector_function", "cosine_similarity"),
}
"""By the class of a store without a profile: its setting, also of its retriever, by which its scores are cosines."""
_CERTAIN: Final = "WeaviateDocumentStore"  # its scores are certainties: halves of cosines, and none where it has none
_LOOKED_AT: Final = 10
_TOLERANCE: Final = 1e-3


def fit_scores(pipeline: Pipeline, given: Collection[str], ask: Ask) -> None:
    """
    Let each joiner read the scores of a vector search as what its store makes them, whatever the YAML was written for.

    :param pipeline: A loaded pipeline; the `similarity` of its joiners is changed in place.
    :param given: Names of components that the caller passes himself; such a joiner stays as it is. Of such a retriever
        that takes no vector the YAML, written for another, says nothing: a hybrid's scores are ranks.
    :param ask: Reads the fields of an index.
    """
    for name in set(pipeline.graph.nodes).difference(given):
        joiner = pipeline.get_component(name)
        if isinstance(joiner, EvidenceJoiner) and joiner.similarity:
            kinds = dict[str, Any]()
            for one, said in joiner.similarity.items():
                searching = _searching(pipeline, name, one)
                retriever = links(searching and pipeline.get_component(searching))[-1]
                is_told = _is_by_vectors(retriever) or searching not in given
                kinds[one] = _kind(retriever, said if is_told else None, ask)
            joiner.similarity = {one: kind for one, kind in kinds.items() if kind is not None}


def check_weights_count(pipeline: Pipeline, changes: Mapping[str, Any], given: Collection[str]) -> None:
    """
    Refuse weights of a joiner that change nothing, as those of the file's first strategy go before: nobody would know.

    :param pipeline: A loaded pipeline.
    :param changes: The caller's settings by component.
    :param given: Names of components that he passes himself: of a guard of his, or a strategy, he knows.
    :raises ConfigurationError: With the place for them.
    """
    parts = {name: pipeline.get_component(name) for name in pipeline.graph.nodes}
    for name in (one for one in changes if "weights" in changes[one]):
        joiner = parts[name]
        if not isinstance(joiner, EvidenceJoiner) or not (sockets_of(joiner, "input") or {})["state"].senders:
            continue
        for guard, part in parts.items():
            first = part.strategy if isinstance(part, QuestionGuard) and guard not in given else None
            if first is None or "strategy" in changes.get(guard, {}):
                continue
            wanted = {one: joiner.weights.get(one, weight) for one, weight in first["weights"].items()}
            if wanted != first["weights"]:
                way = {"strategy": {**first, "weights": wanted}}
                msg = (
                    f"the weights of {name!r} would have no effect, since {guard!r} begins with a strategy whose "
                    f"weights go before them; pass them to it, {guard}={way}, and to the strategies of an expander"
                )
                raise ConfigurationError(msg)


def _searching(pipeline: Pipeline, joiner: str, socket: str) -> str | None:
    """Name the retriever by vectors behind a joiner's socket; None where there is none at once."""
    edges = pipeline.graph.in_edges(joiner, data=True)
    found = [sender for sender, _, data in edges if data["to_socket"].name == socket]
    return found[0] if len(found) == 1 else None


def _is_by_vectors(retriever: Any) -> bool:
    """Tell a search by a vector from others, such as a hybrid's own."""
    return "query_embedding" in (sockets_of(retriever, "input") or ())


def _kind(retriever: Any, said: Any, ask: Ask) -> Any:
    """Tell what a retriever's scores are; of a search in a way of its own, what the YAML says."""
    store = store_of(retriever)
    is_known = store is not None and profile_of(store) is not None
    scaled = bool(getattr(retriever, "scale_score", getattr(retriever, "_scale_score", False)))
    if store is not None and not is_known:
        return _elsewhere(retriever, store, scaled=scaled)
    if store is None or not _is_by_vectors(retriever):
        return None if scaled and said == _COSINE else said  # nobody knows how it scales: 0.8 may be a cosine of 0.6
    if isinstance(store, InMemoryDocumentStore):
        return _in_memory(store, scaled=scaled)
    try:
        return COSINE_HALF if holds_cosines(ask(store)) else None
    except StoreError:
        logger.warning(
            "The index could not be asked how it compares vectors ({store}), so its scores are read as those of "
            "cosines; load the pipeline again when its server answers.",
            store=type(store).__name__,
        )
        return COSINE_HALF


def _elsewhere(retriever: Any, store: Any, *, scaled: bool) -> str | None:
    """Read a store that no profile is for; what others give may be anything: FAISS's 0.8 is `1 / (1 + distance)`."""
    if type(store).__name__ == _CERTAIN:
        return COSINE_HALF
    setting, wanted = _COMPARED.get(type(store).__name__, ("", ""))
    if not setting or getattr(retriever, setting, getattr(store, setting, None)) != wanted:
        return None
    return COSINE_HALF if scaled else _COSINE


def _in_memory(store: InMemoryDocumentStore, *, scaled: bool) -> str | None:
    """Read a store's own setting. Its default, the dot product, is the cosine of vectors of length 1 only."""
    if store.embedding_similarity_function == _COSINE:
        return COSINE_HALF if scaled else _COSINE
    # A list at once: somebody may be writing into the store.
    stored = (one.embedding for one in list(store.storage.values()) if one.embedding is not None)
    vectors = list(islice(stored, _LOOKED_AT))
    is_cosine = all(isclose(sum(value * value for value in one), 1, abs_tol=_TOLERANCE) for one in vectors)
    return _COSINE if is_cosine and not scaled else None
