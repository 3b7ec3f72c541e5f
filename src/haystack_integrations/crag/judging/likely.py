"""What documents are likely to be: on topic, an answer."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from haystack_integrations.crag.judging.calibration import Calibration
from haystack_integrations.crag.judging.evidence import Features
from haystack_integrations.crag.judging.heads import Values


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
