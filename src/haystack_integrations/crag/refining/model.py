"""A trained sentence model: how probable it is that a strip belongs to the evidence. Plain coefficients in JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from haystack_integrations.crag.calibration_file import load
from haystack_integrations.crag.encoding.encoders import load_encoder
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.judging.heads import Head
from haystack_integrations.crag.refining.company import COMPANY, company
from haystack_integrations.crag.refining.signals import SIGNALS, measure
from haystack_integrations.crag.refining.strips import Strip
from haystack_integrations.crag.texts.text import words

PART: Final = "strips"
"""The part of a calibration file that this model is."""

_SHIPPED: Final = "default_strips.json"
_NOTHING: Final = 1e-9


@dataclass(frozen=True)
class StripModel:
    """
    A trained sentence model, in two stages.

    :param head: Judges each strip by its signals.
    :param company: Judges it again, by what the first says of the strips round about and of all others.
    :param threshold: Keep what is more probable by the first: where F1 of the kept sentences was best on questions held
        out.
    :param notes: What else the file tells: data, figures on held-out questions.
    """

    head: Head
    company: Head
    threshold: float
    notes: Mapping[str, Any] = field(default_factory=dict)

    def probabilities(
        self, query: str, strips: Sequence[Strip], titles: Sequence[str], *, alone: bool = True
    ) -> list[float]:
        """
        Judge the strips of one run.

        :param query: The question.
        :param strips: Its strips, in reading order.
        :param titles: One title per document, empty for none.
        :param alone: By the first stage only, as `threshold` was found; else in company, for `enough`.
        :returns: For each strip the probability that it belongs to the evidence. A question without any word speaks
            against no strip: all are sure.
        """
        if not strips or not words(query):
            return [1.0] * len(strips)
        signals = measure(query, strips, titles, load_encoder())
        said = self.head.of_rows(np.column_stack([signals[name] for name in self.head.names]))
        if not alone:
            said = self.company.of_rows(company(said, [strip.document for strip in strips]))
        probabilities: list[float] = said.tolist()
        return probabilities

    def to_dict(self) -> dict[str, Any]:
        """
        Give the part of the file.

        :returns: Plain JSON.
        """
        models = {"model": self.head.to_dict(), "company": self.company.to_dict()}
        return {"threshold": self.threshold, **self.notes, **models}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "StripModel":
        """
        Read what `to_dict` gave.

        :param values: Plain JSON.
        :returns: The model.
        :raises ValueError: When it reads a signal that is not measured here, or the threshold is none.
        """
        head, among = (Head.from_dict(values[name]) for name in ("model", "company"))
        threshold = float(values["threshold"])
        unknown = sorted(set(head.names).difference(SIGNALS))
        if unknown:
            msg = f"unknown signals {unknown}"
            raise ValueError(msg)
        if among.names != COMPANY:
            msg = f"company must read {list(COMPANY)}, but reads {list(among.names)}"
            raise ValueError(msg)
        if not 0 <= threshold <= 1:
            msg = f"threshold must be in [0, 1], but got {threshold}"
            raise ValueError(msg)
        own = {"model", "company", "threshold"}
        return cls(head, among, threshold, {name: value for name, value in values.items() if name not in own})


def enough(probabilities: Mapping[int, float], strips: Sequence[Strip], share: float) -> list[int]:
    """
    Choose strips that hold a share of the evidence expected, in as few words as can be.

    :param probabilities: For each strip, by number, the probability that it belongs to the evidence.
    :param strips: The strips.
    :param share: The share of the sum of the probabilities that is wanted.
    :returns: Numbers of strips, those that promise most per word first.
    """
    sizes = {number: max(1, len(strips[number].text.split())) for number in probabilities}
    missing, chosen = share * sum(probabilities.values()), list[int]()
    for number in sorted(probabilities, key=lambda number: -probabilities[number] / sizes[number]):
        if missing <= _NOTHING:
            break
        chosen.append(number)
        missing -= probabilities[number]
    return chosen


def load_strip_model(path: str | None = None) -> StripModel:
    """
    Read the sentence model of a calibration file; once, until it changes.

    :param path: The file, or None for the one in this package, which was fitted on other people's questions.
    :returns: The model.
    :raises ConfigurationError: When there is no such file, it is none of this version, or it has no such model.
    """
    found = load(path, _SHIPPED, _of)
    if found is None:
        msg = (
            f"calibration {path!r} has no part {PART!r}, which scorer='calibrated' needs; run `crag calibrate` on "
            f"questions with gold_sentences, or leave calibration out for the shipped default"
        )
        raise ConfigurationError(msg)
    return found


def has_strip_model(path: str) -> bool:
    """
    Tell whether a calibration file has a sentence model; it has none where too few sentences were labelled.

    :param path: The file.
    :returns: Whether it has.
    :raises ConfigurationError: When there is no such file, or it is none of this version.
    """
    return load(path, _SHIPPED, _of) is not None


def _of(content: Mapping[str, Any]) -> StripModel | None:
    return StripModel.from_dict(content[PART]) if content.get(PART) else None
