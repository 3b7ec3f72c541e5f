"""
Documents that the best one names, and that have of the question what it lacks: the second of two hops.

A page on the employer shares a word with a question on the employer of somebody, and was dropped for it. In 332 lists
of hotpotqa 22 such pages were, of which 17 are needed; in 1,315 of four other datasets 10, and none is.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from haystack_integrations.crag.judging.asking import Asked
from haystack_integrations.crag.judging.likely import Likely
from haystack_integrations.crag.judging.links import speaks_of
from haystack_integrations.crag.judging.reading import Reading

_NEEDED: Final = 0.5


def with_hops(likely: Likely, asked: Asked, readings: Sequence[Reading]) -> Likely:
    """
    Take the second hop of a question to be as likely on topic as not.

    That keeps it beside a document that passes the filter, and has a cascade ask about it. The verdict is not read
    from it: whether both together answer, the signals of the list tell.

    :param likely: What the documents are likely to be.
    :param asked: The question.
    :param readings: The documents, same order.
    :returns: The same, with the probability of such documents to be on topic at least 0.5, or that of the best one.
    """
    best = int(np.argmax(likely.scores()))
    text = readings[best]
    if not (missing := [term for term in asked.terms if not text.holds(term)]):
        return likely
    hops = [
        reading.name != text.name and any(map(reading.holds, missing)) and speaks_of(text, reading.name)
        for reading in readings
    ]
    topic = np.where(hops, np.maximum(likely.topic, min(_NEEDED, likely.topic[best])), likely.topic)
    return replace(likely, topic=topic) if any(hops) else likely
