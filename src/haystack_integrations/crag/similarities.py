"""What RulePrefilter reads: vector similarities, as documents or an agent's tool calls tell them, and metadata."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from haystack import Document, logging
from haystack.errors import FilterError
from haystack.utils.filters import document_matches_filter

from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.filters import is_void
from haystack_integrations.crag.fusion import similarity_of
from haystack_integrations.crag.grades import crag_meta
from haystack_integrations.crag.inputs import finite

logger = logging.getLogger(__name__)

_NONE: Final = -1.0


def read_history(history: Sequence[Mapping[str, Any]]) -> tuple[dict[str, float], list[float] | None]:
    """
    Read the item scores of an agent's vector searches.

    :param history: Its tool calls of this round.
    :returns: The highest score by id; and those in order when the round held no other tool call and no id, else None.
    """
    by_id, in_order = dict[str, float](), list[float]()
    for call in (call for call in history if call.get("tool") == "vector_search"):
        # An agent's tool may write anything: what is no number, or none that a cosine can be (a dot product, the score
        # of a search for words), is a similarity that meets no threshold.
        items, scores = (own if isinstance(own := call.get(name), list) else [] for name in ("items", "scores"))
        for item in [*items, *scores]:
            id_, score = (item.get("id"), item.get("score")) if isinstance(item, dict) else (None, item)
            similarity = _NONE if (cosine := _cosine(score)) is None else cosine
            if id_ is None:
                in_order.append(similarity)
            else:
                by_id[str(id_)] = max(similarity, by_id.get(str(id_), _NONE))
    only_searches = bool(history) and all(call.get("tool") == "vector_search" for call in history)
    # Beside items with ids nobody knows which documents the others are of.
    return by_id, in_order if only_searches and in_order and not by_id else None


def still_told(history: list[dict[str, Any]], passed: int) -> list[dict[str, Any]]:
    """
    Leave of an agent's tool calls what they tell of the documents of a pass.

    :param history: Its tool calls of this round.
    :param passed: How many passes the run has behind it.
    :returns: All in the first; later what they say of documents by id, which holds whichever search finds those.
    """
    if not passed:
        return history
    by_id, _ = read_history(history)
    return [{"tool": "vector_search", "items": [{"id": id_, "score": score} for id_, score in by_id.items()]}]


def similarity_in(document: Document, scores: Mapping[str, float]) -> float:
    """
    Read a document's vector similarity.

    :param document: A document, with what EvidenceJoiner keeps of its retrievers.
    :param scores: Scores by id, from the tool history.
    :returns: The highest; -1 for one that vector search did not find.
    """
    retrievers = crag_meta(document).get("retrievers")
    said = retrievers.values() if isinstance(retrievers, dict) else ()  # metadata is anybody's
    told = [_cosine(one.get("similarity")) for one in said if isinstance(one, dict)]
    kept = [similarity for similarity in told if similarity is not None]
    return float(max([*kept, scores.get(str(document.id), _NONE)]))


def _cosine(value: object) -> float | None:
    return similarity_of(finite(value), "cosine")


def check_rules(rules: Mapping[str, Any]) -> None:
    """
    Refuse rules that no document could be compared with.

    :param rules: Conditions in Haystack's filter syntax, by the rule's name.
    :raises ConfigurationError: Naming the rule.
    """
    for name, conditions in rules.items():
        try:
            # Each by itself: of several that all have to hold the first that does not hides what is behind it.
            for condition in _each_of(conditions):
                document_matches_filter(condition, Document(content=""))
        except (FilterError, TypeError, AttributeError) as error:
            msg = f"the metadata rule {name!r} cannot be read: {error}; write it in Haystack's filter syntax"
            raise ConfigurationError(msg) from error
        if is_void(conditions):
            msg = f"the metadata rule {name!r} cannot be read: it has an empty list of conditions; give at least one"
            raise ConfigurationError(msg)


def _each_of(conditions: Any) -> Iterator[Any]:
    yield conditions
    within = conditions.get("conditions") if isinstance(conditions, dict) else None
    for condition in within if isinstance(within, list | tuple) else ():
        yield from _each_of(condition)


def fulfils(document: Document, conditions: dict[str, Any], name: str) -> bool:
    """
    Tell whether a document is what a rule describes.

    :param document: A document.
    :param conditions: The rule, in Haystack's filter syntax.
    :param name: Its name.
    :returns: Whether it is. What cannot be compared, such as a year that is a text with a number, is not: metadata is
        anybody's, and one document of another kind must not end the run.
    """
    try:
        return bool(document_matches_filter(conditions, document))
    except (FilterError, TypeError, ValueError) as error:
        kind = type(error).__name__
        logger.warning("The metadata of a document cannot be compared by rule {rule}: {kind}", rule=name, kind=kind)
        return False
