"""What documents are likely to be, on topic or an answer, and what the verdict on a list is read from."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from haystack_integrations.crag.judging.calibration import Calibration
from haystack_integrations.crag.judging.evidence import Features
from haystack_integrations.crag.judging.heads import Values

PLACES = 5
"""So many best documents enter the verdict one by one; all enter its sums."""

_LEAST = 1e-3


@dataclass(frozen=True)
class Likely:
    """
    What documents are likely to be, one value for each, same order.

    :param answers: Probability that it answers.
    :param topic: Probability that it is on topic.
    :param sufficient: Probability that it answers, if it is on topic.
    """

    answers: Values
    topic: Values
    sufficient: Values

    def scores(self) -> list[float]:
        """Give the expected grade of each document: 0 off topic, 0.5 on topic, 1 answers; rounded."""
        return [round(value, 4) for value in ((self.answers + self.topic) / 2).tolist()]


def likely_of(features: Sequence[Features], calibration: Calibration) -> Likely:
    """
    Turn signals into probabilities.

    :param features: The signals of each document.
    :param calibration: The trained judgement.
    :returns: What the documents are likely to be.
    """
    heads = [calibration.topic, calibration.answers, *filter(None, (calibration.sufficient,))]
    rows: dict[tuple[str, ...], Values] = {}  # nearly always the same for all of them
    for head in heads:
        if head.names not in rows:
            rows[head.names] = head.rows(features)
    topic, answers, *sufficient = (head.of_rows(rows[head.names]) for head in heads)
    return joined(answers, topic, *sufficient) if sufficient else Likely(np.minimum(answers, topic), topic, answers)


def joined(answers: Values, topic: Values, sufficient: Values) -> Likely:
    """
    Take the mean of two ways to the same probability: asked directly, and step by step.

    :param answers: Probability that a document answers.
    :param topic: That it is on topic.
    :param sufficient: That it answers, if it is on topic.
    :returns: What the documents are likely to be; none is likelier to answer than to be on topic.
    """
    return Likely(np.minimum((answers + topic * sufficient) / 2, topic), topic, sufficient)


def listed(answers: Values, topic: Values, sufficient: Values) -> Features:
    """
    Describe a list by what its documents are likely to be.

    :param answers: For each document the probability that it answers.
    :param topic: That it is on topic, at least.
    :param sufficient: That it answers, if it is on topic.
    :returns: Signals: the best documents' log-odds in order, gaps, the odds that any answers (noisy-or) and that two do
        (Poisson-binomial), expected numbers, the first document's own.
    """
    best, second = np.argsort(-topic, kind="stable")[[0, min(1, len(topic) - 1)]]
    ordered, ordered_topic = _best(answers), _best(topic)
    none, one = 1.0, 0.0
    for each in answers.tolist():
        none, one = none * (1 - each), one * (1 - each) + none * each
    two = max(0.0, 1 - none - one)
    any_topic = 1 - float(np.prod(1 - topic))
    odds = _odds([*ordered, *ordered_topic, 1 - none, any_topic, two])
    places = range(PLACES)
    return {
        **{f"answers_{k + 1}": odds[k] for k in places},
        **{f"topic_{k + 1}": odds[PLACES + k] for k in places},
        "answers_gap": ordered[0] - ordered[1],
        "topic_gap": ordered_topic[0] - ordered_topic[1],
        "answers_any": 1 - none,
        "answers_any_odds": odds[-3],
        "topic_any": any_topic,
        "topic_any_odds": odds[-2],
        "answers_expected": float(answers.sum()),
        "topic_expected": float(topic.sum()),
        "answers_two": two,
        "answers_two_odds": odds[-1],
        "answers_both": ordered[0] * ordered[1],
        "topic_only": float((topic - answers).max()),
        "answers_first": float(answers[0]),
        "topic_first": float(topic[0]),
        "sufficient_best": float(sufficient[best]),
        "sufficient_second": float(sufficient[second]) if len(topic) > 1 else 0.0,
        "sufficient_mean": float((sufficient * topic).sum() / max(_LEAST, float(topic.sum()))),
        "sufficient_most": float((sufficient * (topic > 0.5)).max()),  # noqa: PLR2004
    }


def _best(values: Values) -> list[float]:
    ordered: list[float] = np.sort(values)[::-1][:PLACES].tolist()
    return ordered + [ordered[-1]] * (PLACES - len(ordered))


def _odds(values: Sequence[float]) -> list[float]:
    inside = np.array([min(1 - _LEAST, max(_LEAST, value)) for value in values])
    odds: list[float] = np.log(inside / (1 - inside)).tolist()
    return odds
