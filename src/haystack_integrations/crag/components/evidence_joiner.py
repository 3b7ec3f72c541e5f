"""EvidenceJoiner: fusion that forgets nothing. Reciprocal rank fusion: Cormack, Clarke and Buettcher, SIGIR 2009."""

from dataclasses import replace
from typing import Any, Literal

from haystack import Document, component

from haystack_integrations.crag.deciding.miswired import check_handed_on
from haystack_integrations.crag.deciding.records import FIRST_STRATEGY
from haystack_integrations.crag.deciding.retrieval_report import together
from haystack_integrations.crag.fusion import FUSIONS, KEPT, Hit, check_weights, content_key, fuse, within_tokens
from haystack_integrations.crag.grades import annotate, crag_meta, origin_of, unite, without_grade
from haystack_integrations.crag.inputs import checked
from haystack_integrations.crag.light import light
from haystack_integrations.crag.observing.telemetry import set_tags, trace
from haystack_integrations.crag.settings import check_one_of, check_whole
from haystack_integrations.crag.sockets import check_sockets
from haystack_integrations.crag.state import CragState


@component
@light
@checked
class EvidenceJoiner:
    """
    Fuses the lists of several retrievers into one, and keeps what each of them said.

    Every retriever has a socket of its own name, so a score is credited to no other. A document found twice (same title
    and text, or same id) appears once; two texts of one id are two. `meta["crag"]["retrievers"]` holds each retriever's
    own score and rank, and the `lead` of the first: a fused score says where a document stands, not how well it fits.
    Vectors are dropped: copying costs time.

    It waits for all its lists. Behind branches of which only one is taken, join with `DocumentJoiner`, which does not.

    ```python
    from haystack import Document
    from haystack_integrations.crag.components.evidence_joiner import EvidenceJoiner

    joiner = EvidenceJoiner(weights={"bm25": 1.0, "dense": 0.3}, similarity={"dense": "cosine"})
    paris, rome = Document(content="Paris", score=7.1), Document(content="Rome", score=0.4)
    documents = joiner.run(bm25=[paris], dense=[rome, Document(content="Paris", score=0.3)])["documents"]
    assert [document.content for document in documents] == ["Paris", "Rome"]
    assert documents[0].meta["crag"]["retrievers"]["dense"] == {"score": 0.3, "rank": 2, "similarity": 0.3}
    ```
    """

    def __init__(
        self,
        weights: dict[str, float],
        *,
        fusion: Literal["rrf", "score"] = "rrf",
        rrf_k: int = 60,
        top_k: int = 10,
        similarity: dict[str, Literal["cosine", "half_cosine"]] | None = None,
        max_tokens: int | None = None,
        kept_weight: float | None = None,
    ) -> None:
        """
        Name the retrievers and their weights.

        :param weights: Weight of each retriever, 0 or more, by the name of its socket; 0 leaves its list out. Another
            strategy's weights may come with the state. Beside a retriever of weight 1, one below 1 / (rrf_k + 2)
            fills up the list but cannot take its first place.
        :param fusion: `rrf` sums weight / (rrf_k + rank); `score` sums weight x score, each list scaled to [0, 1].
        :param rrf_k: The constant of reciprocal rank fusion, 1 or more.
        :param top_k: Most documents to give on, kept ones of an earlier pass not counted unless `kept_weight` is set.
        :param similarity: Retrievers whose score is a vector similarity: `cosine` as it is, `half_cosine` when it is
            (1 + cosine) / 2, as Elasticsearch gives it of cosines. Rules and graders read the cosine; scores that grow
            from the first document to the last are distances, and say nothing.
        :param max_tokens: Most tokens (estimated) over all documents; None for no limit. The first always stays; of the
            others, those that fit. The rest is not judged: only the span tells how many (`crag.documents.left_out`).
        :param kept_weight: Fuse what a refinement keeps as a list of its own with this weight, first on ties, under
            the name `kept`; None puts it before all that is new.
        :raises ConfigurationError: For an unusable weight, name or number.
        """
        check_weights(weights, kept_weight, similarity or {})
        check_one_of("fusion", fusion, FUSIONS)
        for name, n in (("top_k", top_k), ("rrf_k", rrf_k), ("max_tokens", 1 if max_tokens is None else max_tokens)):
            check_whole(name, n)
        self.weights, self.fusion, self.rrf_k, self.top_k = weights, fusion, rrf_k, top_k
        self.similarity, self.max_tokens, self.kept_weight = similarity, max_tokens, kept_weight
        for name in weights:
            component.set_input_type(self, name, list[Document])
            component.set_input_type(self, f"{name}_report", dict[str, Any] | None, None)
        for name in ("state", "refined_state"):
            component.set_input_type(self, name, CragState | None, None)

    @component.output_types(documents=list[Document], state=CragState, report=dict[str, Any])
    def run(self, **lists: Any) -> dict[str, Any]:
        """
        Fuse.

        :param lists: One list of documents by the name of each retriever, in its rank order; optionally `state`, whose
            strategy's weights replace the joiner's own and whose kept documents are carried on; `refined_state`, the
            state of a correction that ran beside; and a retriever's report, by its name and `_report`.
        :returns: A dictionary with the following keys:
            - `documents`: Fused documents, best first; equal ones in the order of their retrievers' names.
              `document.score` is the fused score.
            - `state`: Both states as one, only when a `refined_state` came.
            - `report`: Whether all that counts was searched, only when a retriever said so; for CragRouter.
        :raises ConfigurationError: For a list of no such name, or of something else than documents; for no
            `refined_state` where the output `state` leads on.
        """
        check_sockets(self, lists)
        reports = {name: lists.pop(f"{name}_report", None) for name in self.weights}
        state, refined = lists.pop("state", None), lists.pop("refined_state", None)
        check_handed_on(self, refined)
        known = CragState.merged(state, refined)
        # By name, and not as they were given: a pipeline that was saved has them sorted, and must not give other lists.
        weights = dict(sorted({**self.weights, **(known.weights if known is not None else {})}.items()))
        if known is not None and self.kept_weight is not None:
            lists[KEPT], weights = list(known.kept), {KEPT: self.kept_weight, **weights}
        strategy = None if known is None else known.strategy or FIRST_STRATEGY  # named as the route names it
        with trace("crag.join", crag_retrieval_strategy=strategy) as span:
            hits = fuse(lists, weights, self.fusion, self.rrf_k, self.similarity)
            found = [self._document(hit, known) for hit in hits[: self.top_k]]
            documents = within_tokens(found, self.max_tokens)
            left_out = {"crag.documents.left_out": len(found) - len(documents)}
            if known is not None and known.kept and self.kept_weight is None:
                documents = _carry(documents, known)
            given = {f"crag.documents.in.{name}": len(listed) for name, listed in lists.items()} | left_out
            set_tags(span, {"openinference.span.kind": "CHAIN", **given, "crag.documents.out": len(documents)})
        # What has no weight in this pass was not asked for: its failure costs nothing.
        said = {name: report for name, report in reports.items() if weights.get(name)}
        report = {"report": together(said)} if any(said.values()) else {}
        return {"documents": documents, **report} | ({} if refined is None else {"state": known})

    def _document(self, hit: Hit, known: CragState | None) -> Document:
        """Write what the retrievers said into a document."""
        # A store's documents may bring along a score, a grade or the web's label of another run; in this one nobody
        # gave it. What the web gives has no score.
        is_kept = known is None or hit.document.id in {document.id for document in known.kept}
        before = crag_meta(hit.document).get("retrievers")
        said = {**before} if is_kept and isinstance(before, dict) else {}
        is_saved = known is not None and known.web_at_best() != "ok" and hit.document.score is not None
        origin = "index" if is_saved else origin_of(hit.document)
        is_own = known is None or hit.document.id in known.grades
        document = hit.document if is_own else without_grade(hit.document)
        document = replace(document, embedding=None, sparse_embedding=None, score=hit.score)
        return annotate(document, retrievers={**said, **hit.found}, origin=origin)


def _carry(documents: list[Document], state: CragState) -> list[Document]:
    """Add what a refinement keeps, with its grades; a document with the text of a kept one does not come back."""
    ids, texts = {d.id for d in state.kept}, {content_key(d) for d in state.kept}
    return unite(state.kept, [d for d in documents if d.id not in ids and content_key(d) not in texts])
