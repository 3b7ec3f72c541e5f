"""What becomes of judged strips: the choice within the limits, and documents made of them again."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Final

from haystack import Document

from haystack_integrations.crag.grades import annotate, crag_meta
from haystack_integrations.crag.refining.strips import Strip
from haystack_integrations.crag.texts.text import count_tokens
from haystack_integrations.crag.vocabulary import META_KEY

_NOTES: Final = frozenset({"strips", "strips_in", "strips_kept", "strips_fallback", "strips_lexical"})


@dataclass(frozen=True)
class Selection:
    """
    Which strips stay.

    :param strips: All strips of the run.
    :param scores: By strip number; one that was not judged, and stands above or below another, has none.
    :param kept: Numbers of those that stay, in reading order.
    :param by_wording: Why wording judged a strip in another scorer's place, by strip number.
    :param is_fallback: Whether no strip was worth keeping, so that these are passed on all the same.
    """

    strips: Sequence[Strip]
    scores: Mapping[int, float]
    kept: Sequence[int]
    by_wording: Mapping[int, str]
    is_fallback: bool = False


def select(strips: Sequence[Strip], ranked: Iterable[int], top_n: int | None, max_tokens: int) -> list[int]:
    """
    Choose strips within the limits.

    :param strips: All strips of the run.
    :param ranked: Numbers of those that are worth keeping, best first.
    :param top_n: Most strips, or None.
    :param max_tokens: Most estimated tokens together.
    :returns: Their numbers in reading order.
    """
    chosen, tokens = [], 0
    for number in list(ranked)[:top_n]:
        # One that does not fit makes room for a shorter one after it.
        if tokens + (size := count_tokens(strips[number].text)) <= max_tokens:
            chosen.append(number)
            tokens += size
    return sorted(chosen)


def recomposed(documents: Sequence[Document], selection: Selection) -> tuple[list[Document], list[Document]]:
    """
    Make documents of what stays.

    :param documents: The documents of the run.
    :param selection: Which strips stay.
    :returns: Copies of the documents with a kept strip, and copies of the others, whole; both with notes.
    """
    found: list[Document] = []
    dropped: list[Document] = []
    for number, document in enumerate(documents):
        own = [k for k in selection.kept if selection.strips[k].document == number]
        notes = _notes(number, own, selection)
        if not own:
            dropped.append(_noted(document, notes))
            continue
        mark = {"strips_fallback": True} if selection.is_fallback else {}
        text = _joined(document.content or "", [selection.strips[k] for k in own])
        found.append(_noted(replace(document, content=text, embedding=None, sparse_embedding=None), {**notes, **mark}))
    return found, dropped


def whole(documents: Sequence[Document], selection: Selection) -> list[Document]:
    """
    Pass documents on as they are, with a mark that no strip of them was worth keeping.

    :param documents: The documents of the run.
    :param selection: What was judged.
    :returns: Copies.
    """
    return [
        _noted(document, {**_notes(number, [], selection), "strips_fallback": True})
        for number, document in enumerate(documents)
    ]


def _notes(document: int, own: Sequence[int], selection: Selection) -> dict[str, Any]:
    numbers = [k for k, strip in enumerate(selection.strips) if strip.document == document]
    notes: dict[str, Any] = {
        "strips": [
            {"start": (s := selection.strips[k]).start, "end": s.end, "score": round(selection.scores.get(k, 0.0), 4)}
            for k in own
        ],
        "strips_in": len(numbers),
        "strips_kept": len(own),
    }
    reasons = dict.fromkeys(selection.by_wording[k] for k in numbers if k in selection.by_wording)
    return {**notes, "strips_lexical": ", ".join(reasons)} if reasons else notes


def _noted(document: Document, notes: Mapping[str, Any]) -> Document:
    """Annotate a document; marks of an earlier refinement would tell of a content that is gone."""
    rest = {name: value for name, value in crag_meta(document).items() if name not in _NOTES}
    return annotate(replace(document, meta={**document.meta, META_KEY: rest}), **notes)


def _joined(content: str, kept: Sequence[Strip]) -> str:
    parts = [kept[0].text]
    for before, strip in pairwise(kept):
        between = content[before.end : strip.start]
        parts += ["\n" if between.strip() else between, strip.text]
    return "".join(parts)
