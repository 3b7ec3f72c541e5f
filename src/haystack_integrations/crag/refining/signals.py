"""
Signals of strips: what each shares with a question, alone, with its neighbours, and among all strips of a run.

Words are weighed by how few strips of the run have them. Nothing is known of the corpus, and nothing feeds on surface
form: texts are made alike first.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from haystack_integrations.crag.encoding.encoders import Encoder
from haystack_integrations.crag.judging.surface import normalised
from haystack_integrations.crag.refining.strips import Strip, worded_scores
from haystack_integrations.crag.refining.wording import Table, Values, Worded, read_strips

T = TypeVar("T", bound=np.generic)
Signals = dict[str, Values]

SIGNALS: Final = (
    *("lexical_document", "lexical_lead", "lexical_rank", "lexical_standing"),
    *("alone", "beyond_title", "with_before", "behind_document_best", "joint", "title_named"),
    *("links_out", "links_out_named", "links_in"),
    *("place", "before", "after", "position", "length", "density", "question_length"),
    *("answers_when", "answers_how_many", "answers_statement", "asks_when", "asks_how_many", "asks_who"),
    *("alike", "alike_relative", "alike_before", "alike_behind", "alike_titled", "alike_titled_relative"),
    *("alike_title", "alike_document_relative", "like_document", "like_before", "like_behind"),
    *("soft", "soft_relative", "soft_together_relative"),
)
"""What is measured. Chosen by what held-out likelihood and F1 lose without it, on five data sets together."""

# Where even the best has less than this, none is good: nothing is stretched to 1.
_FLOOR: Final = 0.3
_SPREAD: Final = 0.05
_TINY: Final = 1e-9


@dataclass(frozen=True)
class _Order:
    """
    The places of n strips: those of one document are neighbours.

    :param documents: Number of the document of each strip.
    :param starts: Numbers of the first strips of documents.
    :param groups: For each strip, which of the documents with strips it is of.
    :param sizes: For each strip, the number of strips of its document.
    """

    documents: NDArray[np.int64]
    starts: NDArray[np.int64]
    groups: NDArray[np.int64]
    sizes: NDArray[np.int64]

    @classmethod
    def of(cls, documents: Sequence[int]) -> "_Order":
        """Find where documents begin."""
        numbers = np.array(documents, dtype=np.int64)
        is_first = np.append(True, numbers[1:] != numbers[:-1])
        starts, groups = np.flatnonzero(is_first), np.cumsum(is_first) - 1
        return cls(numbers, starts, groups, np.bincount(groups)[groups])

    @property
    def before(self) -> NDArray[np.int64]:
        """Tell how many strips of its document stand before each strip."""
        return np.arange(len(self.groups)) - self.starts[self.groups]

    @property
    def after(self) -> NDArray[np.int64]:
        """Tell how many strips of its document stand behind each strip."""
        return self.sizes - 1 - self.before

    def previous(self, values: NDArray[T]) -> NDArray[T]:
        """Give each strip the value of the strip before, or zero where its document begins."""
        moved = np.roll(values, 1, axis=0)
        moved[self.before == 0] = 0
        return moved

    def following(self, values: NDArray[T]) -> NDArray[T]:
        """Give each strip the value of the strip behind it, or zero where its document ends."""
        moved = np.roll(values, -1, axis=0)
        moved[self.after == 0] = 0
        return moved

    def most(self, values: Values) -> Values:
        """Give each strip the greatest value in its document."""
        return np.asarray(np.maximum.reduceat(values, self.starts)[self.groups])


def measure(query: str, strips: Sequence[Strip], titles: Sequence[str], encoder: Encoder) -> Signals:
    """
    Measure strips.

    :param query: The question, with at least one word.
    :param strips: The strips of one run, at least one, in reading order.
    :param titles: One title per document, empty for none.
    :param encoder: What embeds texts.
    :returns: The `SIGNALS` by name, one value for each strip.
    """
    texts, heads = [normalised(strip.text) for strip in strips], [normalised(title) for title in titles]
    plain, documents = normalised(query), [strip.document for strip in strips]
    order, worded = _Order.of(documents), read_strips(plain, texts, documents, heads)
    above = worded.titles[order.documents]
    weights = np.log(1 + len(strips) / ((worded.own | above).sum(axis=0) + 0.5))
    return {
        **_lexical(worded, order, above),
        **_covered(worded, order, above, weights),
        **_placed(worded, order),
        **_cued(worded),
        **_alike(plain, texts, heads, order, encoder),
        **_soft(worded, above, weights, encoder),
    }


def _lexical(worded: Worded, order: _Order, above: Table) -> Signals:
    """Compare the scores that `lexical_scores` gives."""
    frequency = worded.own.sum(axis=0)
    frequency = np.where(frequency > 0, frequency, above.sum(axis=0))
    weights = np.where(frequency > 0, np.log(1 + len(above) / np.maximum(frequency, 1)), 0.0)
    alone, together = _share(worded.own, weights), _share(worded.own | above, weights)
    pairs = worded.counts["phrases"] / max(1, worded.pairs)
    score = np.array(worded_scores(together.tolist(), alone.tolist(), pairs.tolist(), order.documents.tolist()))
    ranked = np.sort(score)
    return {
        "lexical_document": order.most(score),
        "lexical_lead": score - ranked[-2:][0],
        "lexical_rank": 1 / (1 + len(score) - np.searchsorted(ranked, score, side="right")),
        "lexical_standing": (score - score.mean()) / (score.std() + _SPREAD),
    }


def _covered(worded: Worded, order: _Order, above: Table, weights: Values) -> Signals:
    """Tell which share of the question stands in a strip, its title, its neighbour, and which strips lead to others."""
    own, both, rest = worded.own, worded.own | above, ~above
    together = _share(both, weights)
    in_lead = order.groups == order.groups[int(together.argmax())]
    still_open = ~both[in_lead].any(axis=0)
    named = [number for number, is_named in enumerate(worded.is_named) if is_named]
    return {
        "alone": _share(own, weights),
        "beyond_title": ((own & rest) @ weights) / np.maximum(rest @ weights, _TINY),
        "with_before": _share(both | order.previous(own), weights),
        "behind_document_best": together - order.most(together),
        # What the best document leaves open, a strip of another may add.
        "joint": np.where(in_lead, together, _share(own & still_open, weights)),
        "title_named": worded.is_named[order.documents].astype(float),
        "links_out": _marked(len(own), [k for links in worded.links for k in links]),
        "links_out_named": _marked(len(own), [k for number in named for k in worded.links[number]]),
        "links_in": np.array([float(bool(links)) for links in worded.links])[order.documents],
    }


def _placed(worded: Worded, order: _Order) -> Signals:
    """Tell where a strip stands and how long it is."""
    counts = worded.counts
    return {
        "place": 1 / np.log2(2 + order.documents),
        "before": np.log1p(order.before),
        "after": np.log1p(order.after),
        "position": order.before / np.maximum(1, order.sizes - 1),
        "length": np.log1p(counts["words"]),
        "density": counts["hits"] / np.maximum(1, counts["content"]),
        "question_length": np.full(len(order.documents), np.log1p(worded.own.shape[1])),
    }


def _cued(worded: Worded) -> Signals:
    """Tell whether a strip has what such a question asks for; 0 for other kinds of question."""
    cues = {
        "when": np.minimum(1, worded.counts["dates"]),
        "how_many": np.minimum(1, worded.counts["numbers"]),
        "statement": np.log1p(worded.counts["findings"]),
    }
    found = {f"answers_{kind}": cue * (kind == worded.kind) for kind, cue in cues.items()}
    return found | {f"asks_{k}": np.full(len(worded.own), float(k == worded.kind)) for k in ("when", "how_many", "who")}


def _alike(query: str, texts: list[str], titles: list[str], order: _Order, encoder: Encoder) -> Signals:
    """Compare vectors of question, strips, titles, and neighbours."""
    vectors = encoder.encode([query, *titles, *texts]).astype(np.float64)
    asked, heads, own = vectors[0], vectors[1 : 1 + len(titles)], vectors[1 + len(titles) :]
    alike, titled = own @ asked, _unit(own + heads[order.documents]) @ asked
    means, previous = _unit(np.add.reduceat(own, order.starts)), order.previous(own)
    like_before = (own * previous).sum(axis=1)
    return {
        "alike": alike,
        "alike_relative": _relative(alike),
        "alike_before": order.previous(alike),
        "alike_behind": order.following(alike),
        "alike_titled": titled,
        "alike_titled_relative": _relative(titled),
        "alike_title": (heads @ asked)[order.documents],
        "alike_document_relative": _relative((means @ asked)[order.groups]),
        "like_document": (own * means[order.groups]).sum(axis=1),
        "like_before": like_before,
        "like_behind": order.following(like_before),
    }


def _soft(worded: Worded, above: Table, weights: Values, encoder: Encoder) -> Signals:
    """Cover the question by words that mean about the same: for each term the cosine of the closest word."""
    count = len(worded.said)
    vectors = encoder.encode([*worded.said, *worded.vocabulary])
    likeness = vectors[count:] @ vectors[:count].T
    closest = np.zeros(worded.own.shape)
    filled = [number for number, words in enumerate(worded.words) if words]
    if filled:
        sizes = [len(worded.words[number]) for number in filled]
        every = likeness[list(chain.from_iterable(worded.words))]
        closest[filled] = np.maximum.reduceat(every, np.cumsum([0, *sizes[:-1]]), axis=0)
    closest = np.where(worded.own, 1.0, np.clip(closest, 0, 1))
    alone = _share(closest, weights)
    together = _share(np.where(above, 1.0, closest), weights)
    return {"soft": alone, "soft_relative": _relative(alone), "soft_together_relative": _relative(together)}


def _share(table: Table | Values, weights: Values) -> Values:
    return np.asarray(table @ weights / max(float(weights.sum()), _TINY))


def _relative(values: Values) -> Values:
    return values / max(float(values.max()), _FLOOR)


def _unit(vectors: Values) -> Values:
    return np.asarray(vectors / (np.linalg.norm(vectors, axis=1, keepdims=True) + _TINY))


def _marked(count: int, numbers: Sequence[int]) -> Values:
    marks = np.zeros(count)
    marks[list(numbers)] = 1
    return marks
