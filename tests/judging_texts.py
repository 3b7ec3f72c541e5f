"""What the tests of the judgement share: known frequencies, measured lists, a calibration made by hand."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from haystack_integrations.crag.judging.asking import Asked, Frequencies, ask
from haystack_integrations.crag.judging.calibration import Calibration
from haystack_integrations.crag.judging.company import Measured, measure
from haystack_integrations.crag.judging.heads import Head
from haystack_integrations.crag.judging.reading import shared_reader
from haystack_integrations.crag.vocabulary import JUDGED

ODDS = ("answers_1", "topic_1")
QUESTION_OF_REFUNDS = "When is a refund paid?"
_RETURNS = (
    "Returns. Goods may be sent back by the buyer, unused and in their box, at the cost of the shop. A refund is paid "
    "within 30 days of the return. Nothing is kept for the parcel. Nothing else has to be filled in."
)
REFUNDS = (
    _RETURNS,
    "Delivery. Parcels are paid for by the shop above fifty euros, and take three working days within the country.",
    "Vouchers. A voucher is sent by mail, holds for two years and cannot be changed into money.",
    "Opening hours. The shop opens at nine and closes at six, on Saturdays at two.",
)


def known(documents: int = 1_000, **counts: int) -> Frequencies:
    """A corpus of so many documents, of which so many have each term."""
    return lambda terms: (documents, {term: counts[term] for term in terms if term in counts})


def asking(query: str, frequencies: Frequencies | None = None) -> Asked:
    """A question, in a corpus that knows none of its terms unless told otherwise."""
    return ask(query, frequencies or known(), shared_reader().encoder)


def measured(query: str, *texts: tuple[str, str], frequencies: Frequencies | None = None) -> Measured:
    """The signals of documents, each a title and a content."""
    return measure(asking(query, frequencies), shared_reader().read(texts))


def head(weights: Mapping[str, float], bias: float = 0.0) -> Head:
    """A head of one row that reads its signals as they are."""
    zeros = np.zeros(len(weights))
    return Head(tuple(weights), zeros, zeros + 1, np.array([list(weights.values())]), np.array([bias]))


def calibration(**changes: Any) -> Calibration:
    """A small one: what covers the question is on topic, what has its pairs answers, the best document decides."""
    rows = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, -1.0]])
    parts: dict[str, Any] = {
        "topic": head({"covered": 8.0}, -4.0),
        "answers": head({"covered": 4.0, "pairs": 4.0}, -6.0),
        "sufficient": None,
        "crossing": None,
        "verdict": Head(ODDS, np.zeros(2), np.ones(2), rows, np.zeros(3)),
        "classes": JUDGED,
        "priors": (1.0, 1.0, 1.0),
    }
    return Calibration(**{**parts, **changes})


def tokenised(text: str) -> str:
    """What a tokenised corpus makes of a text."""
    text = re.sub(r'"(?=\w)', "`` ", text).replace('"', " ''")
    text = re.sub(r"(?<=\w)('(?:s|re|ve|ll|d|m)|n't)\b", r" \1", text)
    text = re.sub(r"([.,;:!?%)]+)(?=\s|$)", lambda found: " " + " ".join(found[1]), text)
    text = re.sub(r"\((?=\w)", "( ", text)
    text = re.sub(r"\b([Cc]an)not\b", r"\1 not", text)
    return re.sub(r"(?<=\w)-(?=\w)", " - ", text)


def signals_of(documents: Sequence[Mapping[str, float]]) -> list[float]:
    """All values, of all documents."""
    return [value for each in documents for value in each.values()]
