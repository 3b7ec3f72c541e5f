"""Fit `judging.crossing`: sparse pairs of question words and document n-grams, on the documents that are on topic."""

from collections import Counter
from collections.abc import Sequence
from itertools import product
from math import sqrt
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from haystack_integrations.crag.evaluation.cases import ANSWERS, ON_TOPIC
from haystack_integrations.crag.evaluation.labelled import Prepared
from haystack_integrations.crag.evaluation.regressions import Groups, splits_of
from haystack_integrations.crag.judging.crossing import Crossing, question_words, visible
from haystack_integrations.crag.judging.heads import Values

# A word counts when so many questions share it, a pair when so many documents do.
_QUESTIONS: Final = 8
_DOCUMENTS: Final = 3

# Fewer words than this in common, or such words in a smaller share of the questions, and these are too different for
# their words to teach anything: the 11 words of clapnq, in 28 % of its 308 questions, cost .034 of macro-F1.
_WORDS: Final = 4
_SHARE: Final = 0.5
_LEAST_LABELS: Final = 40

# What is kept: the strongest pairs. The file stays small, and a run looks up little.
_MOST_PAIRS: Final = 4_000

_C: Final = 15.0

Pair = tuple[str, str]


def fit_crossing(
    lists: Sequence[Prepared], grades: NDArray[Any], groups: Groups, own: NDArray[np.bool_]
) -> tuple[Crossing | None, Values]:
    """
    Fit pairs of words.

    :param lists: Prepared lists.
    :param grades: The grade of each of their documents, in order.
    :param groups: The group of each of their documents.
    :param own: Which documents teach: not those of cut lists, which stand in another list already.
    :returns: The pairs, and for each document the score by pairs fitted without its group. None where the questions
        have too little in common.
    """
    nothing = np.zeros(len(grades))
    # The same question may come with a shorter and a longer list: it counts once.
    asked = {each.source.id: each.asked.terms for each in lists}.values()
    shared = Counter(term for terms in asked for term in terms)
    words = frozenset(word for word, count in shared.items() if count >= _QUESTIONS)
    chosen = own & (grades >= ON_TOPIC)
    answers = grades == ANSWERS
    is_alike = len(words) >= _WORDS and sum(not words.isdisjoint(terms) for terms in asked) >= _SHARE * len(asked)
    if not is_alike or min(answers.sum(), (chosen & ~answers).sum()) < _LEAST_LABELS:
        return None, nothing
    table, pairs = _table(lists, words, chosen)
    held = nothing.copy()
    for train, test in splits_of(groups, own):
        known = train & chosen
        if len(set(answers[known].tolist())) < 2:  # noqa: PLR2004 - all labels of a kind stand in one group
            continue
        model = _fitted(table[known], answers[known])
        held[test] = _strongest(model, pairs, words)[1](table[test])
    crossing, _ = _strongest(_fitted(table[chosen], answers[chosen]), pairs, words)
    return crossing, held


def _table(lists: Sequence[Prepared], words: frozenset[str], chosen: NDArray[np.bool_]) -> tuple[Any, list[Pair]]:
    """Make a sparse row of the pairs of each document, each row scaled by its number of pairs."""
    rows: list[list[Pair]] = []
    for each in lists:
        asked = question_words(each.asked, words)
        rows += [list(product(asked, visible(each.asked, reading))) for reading in each.readings]
    count = Counter(pair for row, is_chosen in zip(rows, chosen.tolist(), strict=True) if is_chosen for pair in row)
    pairs = sorted(pair for pair, number in count.items() if number >= _DOCUMENTS)
    column = {pair: number for number, pair in enumerate(pairs)}
    indices, values, starts = list[int](), list[float](), [0]
    for row in rows:
        # Sorted: the order of a set is another one in every process, and with it the last digits of a sum.
        own = sorted(column[pair] for pair in row if pair in column)
        indices += own
        values += [1 / sqrt(max(1, len(row)))] * len(own)
        starts.append(len(indices))
    return csr_matrix((values, indices, starts), shape=(len(rows), len(pairs))), pairs


def _fitted(table: Any, labels: NDArray[np.bool_]) -> LogisticRegression:
    return LogisticRegression(C=_C, solver="liblinear", max_iter=200).fit(table, labels)


def _strongest(model: LogisticRegression, pairs: Sequence[Pair], words: frozenset[str]) -> tuple[Crossing, Any]:
    """Keep the strongest pairs; gives them, and the score of sparse rows by them."""
    weights, bias = model.coef_[0].copy(), float(model.intercept_[0])
    weights[np.argsort(-np.abs(weights))[_MOST_PAIRS:]] = 0.0
    kept: dict[str, dict[str, float]] = {}
    for number in np.flatnonzero(weights).tolist():
        word, gram = pairs[number]
        kept.setdefault(word, {})[gram] = float(f"{weights[number]:.4g}")
    return Crossing(words, kept, bias), lambda table: table @ weights + bias
