"""Decompose documents into strips, keep what bears on the question, recompose (arXiv 2401.15884, section 4.4)."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, Literal, get_args

from haystack import Document, component

from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.grades import annotate
from haystack_integrations.crag.strips import Granularity, Strip, decompose, fitting, lexical_scores
from haystack_integrations.crag.telemetry import set_tags, trace
from haystack_integrations.crag.text import count_tokens

_SCORERS = {"lexical": lexical_scores}


@component
class StripRefiner:
    """
    Keeps the strips of documents that bear on a question and leaves out the rest; works offline.

    Nothing is written: each kept strip is a piece of its document, found again by its offsets in `meta["crag"]`.
    Strips next to each other keep the whitespace between them, others are joined by a line break.

    ### Usage example

    ```python
    from haystack import Document
    from haystack_integrations.crag.components.strip_refiner import StripRefiner

    page = Document(content="The tower is in Paris. Bread is baked daily. The tower opened in 1889.")
    refined = StripRefiner().run(query="When did the tower open?", documents=[page])["documents"]
    assert refined[0].content == "The tower opened in 1889."
    ```
    """

    def __init__(
        self,
        *,
        granularity: Granularity = "sentence",
        window: int = 3,
        scorer: Literal["lexical"] = "lexical",
        threshold: float | None = 0.5,
        top_n: int | None = None,
        max_tokens: int = 4096,
        title_field: str | None = "title",
    ) -> None:
        """
        Create the refiner.

        :param granularity: A strip is a `sentence`, a `window` of sentences, or the whole `passage`.
        :param window: Sentences in a window.
        :param scorer: What scores a strip: `lexical` compares wording.
        :param threshold: Keep strips that score higher. None for no such limit.
        :param top_n: Keep at most so many strips of all documents together, best first. None for no such limit.
        :param max_tokens: Most estimated tokens of all kept strips together; the best come first.
        :param title_field: Metadata field with a document's title, which a strip need not repeat. None for no title.
        :raises ConfigurationError: When a value is not usable.
        """
        if granularity not in get_args(Granularity):
            msg = f"granularity must be one of {list(get_args(Granularity))}, but got {granularity!r}"
            raise ConfigurationError(msg)
        if scorer not in _SCORERS:
            msg = f"scorer must be one of {list(_SCORERS)}, but got {scorer!r}"
            raise ConfigurationError(msg)
        if threshold is not None and not 0 <= threshold <= 1:
            msg = f"threshold must be in [0, 1], or null for no threshold, but got {threshold!r}"
            raise ConfigurationError(msg)
        for name, value in (("window", window), ("top_n", top_n), ("max_tokens", max_tokens)):
            if value is not None and value < 1:
                msg = f"{name} must be at least 1, but got {value!r}"
                raise ConfigurationError(msg)
        self.granularity = granularity
        self.window = window
        self.scorer = scorer
        self.threshold = threshold
        self.top_n = top_n
        self.max_tokens = max_tokens
        self.title_field = title_field

    @component.output_types(documents=list[Document], dropped=list[Document])
    def run(self, query: str, documents: list[Document]) -> dict[str, Any]:
        """
        Refine documents; the given ones stay as they are.

        :param query: The user's question.
        :param documents: The documents, best first.
        :returns: A dictionary with the following keys:
            - `documents`: Copies of those with a kept strip, same order and ids, without embeddings. `content` is the
              kept strips in reading order; `meta["crag"]` holds `strips` (`start` and `end` in the original content,
              and `score`), `strips_in` and `strips_kept`. Never empty for documents with text: where no strip
              passes, the best one is kept, cut to `max_tokens`, and marked `strips_fallback: true`. Without any text
              the documents come back unchanged.
            - `dropped`: Copies of the others, whole, with `strips_in` and `strips_kept: 0`.
        """
        with trace("crag.refine") as span:
            strips = decompose([document.content or "" for document in documents], self.granularity, self.window)
            if not strips:
                set_tags(span, {"crag.strips.in": 0, "crag.strips.kept": 0})
                return {"documents": documents, "dropped": []}
            titles = [str(document.meta.get(self.title_field or "") or "") for document in documents]
            scores = _SCORERS[self.scorer](query, strips, titles)
            kept = self._select(strips, scores)
            is_fallback = not kept
            if is_fallback:
                best = max(range(len(strips)), key=lambda number: (scores[number], -number))
                strips[best], kept = fitting(strips[best], self.max_tokens), [best]
            set_tags(span, {"crag.strips.in": len(strips), "crag.strips.kept": len(kept)})
        found: list[Document] = []
        dropped: list[Document] = []
        for number, document in enumerate(documents):
            own = [(strips[k], scores[k]) for k in kept if strips[k].document == number]
            counts = {"strips_in": sum(s.document == number for s in strips), "strips_kept": len(own)}
            if not own:
                dropped.append(annotate(document, strips=[], **counts))
                continue
            notes = [{"start": s.start, "end": s.end, "score": round(score, 4)} for s, score in own]
            mark = {"strips_fallback": True} if is_fallback else {}
            short = replace(document, content=_recompose(document.content or "", own), embedding=None)
            found.append(annotate(short, strips=notes, **counts, **mark))
        return {"documents": found, "dropped": dropped}

    def _select(self, strips: Sequence[Strip], scores: Sequence[float]) -> list[int]:
        """Choose strips, best first, and give their numbers in reading order."""
        passing = [k for k, score in enumerate(scores) if self.threshold is None or score > self.threshold]
        chosen, tokens = [], 0
        for k in sorted(passing, key=lambda number: -scores[number])[: self.top_n]:
            # One that does not fit makes room for a shorter one after it.
            if tokens + (size := count_tokens(strips[k].text)) <= self.max_tokens:
                chosen.append(k)
                tokens += size
        return sorted(chosen)


def _recompose(content: str, kept: Sequence[tuple[Strip, float]]) -> str:
    parts = [kept[0][0].text]
    for (before, _), (strip, _) in pairwise(kept):
        between = content[before.end : strip.start]
        parts += ["\n" if between.strip() else between, strip.text]
    return "".join(parts)
