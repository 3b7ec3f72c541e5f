"""Fusing ranked lists: pure functions behind EvidenceJoiner."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from math import inf
from typing import Any, Final

from haystack import Document

from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.grades import crag_meta, is_refined
from haystack_integrations.crag.inputs import finite, is_number
from haystack_integrations.crag.metadata import title_of
from haystack_integrations.crag.texts.text import count_tokens
from haystack_integrations.crag.vocabulary import WEB

KEPT: Final = "kept"
"""Name of the list of what an earlier pass keeps, beside those of the retrievers."""


@dataclass
class Hit:
    """
    One document and what each retriever said of it.

    :param document: The version that was met first, of those with a text if there is one.
    :param score: The fused score, only good for ordering.
    :param found: By retriever its own `score` (None for one that is no number) and `rank` (from 1), and where its score
        is one, the `similarity`; of the first of all, if it is the retriever's first, too, the `lead`.
    """

    document: Document
    score: float = 0.0
    found: dict[str, dict[str, Any]] = field(default_factory=dict)


def check_weights(weights: Any, kept: Any, similarity: Any) -> None:
    """
    Refuse weights that lists cannot be fused by, and what does not say which scores are vector similarities.

    :param weights: Weight of each retriever.
    :param kept: Weight of what an earlier pass keeps, or None.
    :param similarity: A word of `SIMILARITIES` by retriever.
    :raises ConfigurationError: With what was got and what is accepted.
    """
    if not isinstance(weights, Mapping) or not weights or not all(map(_is_weight, weights.values())):
        msg = f"weights must name at least one retriever, each with a finite number >= 0, but got {weights!r}"
        raise ConfigurationError(msg)
    if not (kept is None or _is_weight(kept)):
        msg = f"kept_weight must be a finite number >= 0 or None, but got {kept!r}"
        raise ConfigurationError(msg)
    # A retriever has two sockets of its name. One that is taken would get a list where it wants something else.
    taken = {KEPT, "state", "refined_state", *(f"{name}_report" for name in weights)}
    if unusable := [name for name in weights if not isinstance(name, str) or not name or name in taken]:
        msg = (
            f"a retriever in weights cannot be called {unusable[0]!r}; choose a text that is not 'kept', 'state', "
            "'refined_state' or another retriever's name with '_report'"
        )
        raise ConfigurationError(msg)
    if not isinstance(similarity, Mapping) or not all(kind in (*SIMILARITIES, None) for kind in similarity.values()):
        msg = f"similarity must say for each retriever one of {list(SIMILARITIES)}, or null, but got {similarity!r}"
        raise ConfigurationError(msg)
    if unknown := set(similarity) - set(weights):
        msg = f"similarity names {sorted(unknown)}, which have no weight; choose from {sorted(weights)}"
        raise ConfigurationError(msg)


def check_strategy(strategy: Any, *options: str) -> None:
    """
    Refuse a retrieval strategy that lists cannot be fused by.

    :param strategy: A name, which is none of the web's queries, and weights by retriever in the place of the joiner's.
    :param options: What else it may say, true or false.
    :raises ConfigurationError: With what was got and what is accepted.
    """
    wanted = {"name", "weights"}
    is_one = isinstance(strategy, Mapping) and wanted <= set(strategy) <= {*wanted, *options}
    is_one = is_one and all(isinstance(strategy.get(one, True), bool) for one in options)
    weights = strategy["weights"] if is_one else None
    if not isinstance(weights, Mapping) or not all(map(_is_weight, weights.values())):
        more = f", and may have {' or '.join(options)}, true or false" if options else ""
        msg = f"a strategy needs a name and weights by retriever, finite numbers >= 0{more}, but got {strategy!r}"
        raise ConfigurationError(msg)
    if not isinstance(name := strategy["name"], str) or name.strip() in ("", WEB):
        msg = f"a strategy's name must be a text, other than {WEB!r} (queries for the web are called so), got {name!r}"
        raise ConfigurationError(msg)


def _is_weight(value: object) -> bool:
    return is_number(value) and 0 <= value < inf


def content_key(document: Document) -> str:
    """
    Name a document's text, whatever its id: white space and case do not count.

    :param document: Any document.
    :returns: A digest of title and content, which graders and models read; one without content is named by its id.
    """
    if not document.content:
        return document.id
    # A lone surrogate passes: replaced, it would make two texts one.
    parts = title_of(document), document.content
    text = "\0".join(" ".join(part.split()) for part in parts).casefold()
    return sha256(text.encode(errors="surrogatepass")).hexdigest()


def _rank_scores(scores: Sequence[float | None], k: int) -> list[float]:
    return [1.0 / (k + rank) for rank in range(1, len(scores) + 1)]


def _scaled_scores(scores: Sequence[float | None], _k: int) -> list[float]:
    # A score that is none, or no number, says nothing in favour of a document.
    if _are_distances(scores):
        scores = [None if score is None else -score for score in scores]
    known = [score for score in scores if score is not None]
    low, high = min(known, default=0.0), max(known, default=0.0)
    if high == low:
        return [float(score is not None or not known) for score in scores]
    return [((low if score is None else score) - low) / (high - low) for score in scores]


def _are_distances(scores: Sequence[float | None]) -> bool:
    """Tell whether scores grow from the best document to the worst, as a store's do that gives distances (Chroma)."""
    known = [score for score in scores if score is not None]
    return known == sorted(known) and known[:1] != known[-1:]


SIMILARITIES: Final = ("cosine", "half_cosine")
"""What the scores of a retriever by vectors can be."""

FUSIONS: Final[dict[str, Callable[[Sequence[float | None], int], list[float]]]] = {
    "rrf": _rank_scores,
    "score": _scaled_scores,
}


def fuse(
    lists: Mapping[str, Sequence[Document]],
    weights: Mapping[str, float],
    fusion: str,
    k: int,
    similarity: Mapping[str, str] | None = None,
) -> list[Hit]:
    """
    Fuse ranked lists.

    :param lists: Documents in rank order, by retriever.
    :param weights: Weight of each retriever; a list of weight 0 is left out.
    :param fusion: A name in `FUSIONS`.
    :param k: The constant of reciprocal rank fusion.
    :param similarity: What the scores of a retriever are, for `similarity_of`.
    :returns: Each document once, best first; of equal ones the one met first, in the order of the weights. One with the
        id, or the title and text, of another is the same, but for two texts of one id.
    """
    hits: list[Hit] = []
    by_id: dict[str, Hit] = {}
    by_text: dict[str, Hit] = {}
    for name, weight in weights.items():
        documents = lists.get(name) or []
        if not weight:
            continue
        scores = [finite(document.score) for document in documents]
        kind = None if _are_distances(scores) else (similarity or {}).get(name)
        parts = FUSIONS[fusion](scores, k)
        for rank, (document, own, part) in enumerate(zip(documents, scores, parts, strict=True), 1):
            text = content_key(document)
            hit = by_text.get(text) or by_id.get(document.id)
            if hit is None or (text not in by_text and not _is_one(hit.document, document)):
                hit = Hit(document)
                hits.append(hit)
            if document.content and not hit.document.content:
                hit.document = document  # as beside a vector store that keeps no texts
            by_text.setdefault(text, hit)
            by_id.setdefault(document.id, hit)
            if name in hit.found:
                continue
            hit.score += weight * part
            cosine = similarity_of(own, kind)
            hit.found[name] = {"score": own, "rank": rank, **({} if cosine is None else {"similarity": cosine})}
    ordered = sorted(hits, key=lambda hit: -hit.score)
    _tell_lead(ordered)
    return ordered


def _tell_lead(hits: Sequence[Hit]) -> None:
    """Say of the first how clearly a retriever put it first: its score there, as a multiple of the next one's."""
    for name, found in hits[0].found.items() if hits else ():
        behind = max((_standing(hit.found[name]) for hit in hits[1:] if name in hit.found), default=0.0)
        # The scores of what is kept are sums of an earlier pass, by which no retriever puts anything first.
        if name != KEPT and found["rank"] == 1 and 0.0 < behind < (own := _standing(found)):
            found["lead"] = round(own / behind, 3)


def _standing(found: Mapping[str, Any]) -> float:
    """Give a score to compare: a cosine as (1 + cosine) / 2, as Elasticsearch has it, lest a lead differ by store."""
    cosine = found.get("similarity")
    return (found["score"] or 0.0) if cosine is None else (1.0 + float(cosine)) / 2


def lead_of(document: Document) -> float:
    """
    Tell how clearly the search put a document first.

    :param document: A document as `EvidenceJoiner` gives it on.
    :returns: How many times the next hit's score a retriever gave it; 0 where it was not first.
    """
    retrievers = crag_meta(document).get("retrievers")
    told = retrievers.values() if isinstance(retrievers, Mapping) else ()
    return max((finite(one.get("lead")) or 0.0 for one in told if isinstance(one, Mapping)), default=0.0)


def _is_one(first: Document, second: Document) -> bool:
    """Tell whether two texts of one id are one document: two stores may count from one, both."""
    return not (first.content and second.content) or is_refined(first) or is_refined(second)


def similarity_of(score: float | None, kind: str | None) -> float | None:
    """
    Read the cosine out of a vector retriever's score.

    :param score: The retriever's own score.
    :param kind: `cosine`, `half_cosine`, or None for a score that is no similarity.
    :returns: The cosine in [-1, 1]; None for what is none, such as the dot product of vectors of any length.
    """
    if score is None or kind is None:
        return None
    cosine = round(2 * score - 1 if kind == "half_cosine" else score, 6)
    return cosine if -1 <= cosine <= 1 else None


def within_tokens(documents: Sequence[Document], most: int | None) -> list[Document]:
    """
    Keep what fits into a token budget, best first: one that does not fit makes room for a shorter one after it.

    :param documents: Documents, best first.
    :param most: Most tokens, estimated; None for no limit.
    :returns: Those that fit, in order; the first always stays.
    """
    if most is None:
        return list(documents)
    kept: list[Document] = []
    spent = 0
    for document in documents:
        tokens = count_tokens(document.content or "")
        if not kept or spent + tokens <= most:
            kept.append(document)
            spent += tokens
    return kept
