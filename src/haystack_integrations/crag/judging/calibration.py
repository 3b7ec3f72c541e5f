"""The calibration file: a trained judgement as plain JSON, small enough to read. Written by `crag calibrate`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from haystack_integrations.crag.calibration_file import FORMAT, VERSION, finite, load
from haystack_integrations.crag.encoding.static_model import SHIPPED_MODEL
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.judging.crossing import Crossing
from haystack_integrations.crag.judging.heads import Head
from haystack_integrations.crag.vocabulary import JUDGED

_SHIPPED: Final = "default.json"


@dataclass(frozen=True)
class Calibration:
    """
    A trained judgement.

    :param topic: Probability that a document is on topic.
    :param answers: Probability that it answers.
    :param sufficient: Probability that it answers, if it is on topic; None asks for that only directly.
    :param crossing: Which words answer which kind of question; None where too few questions are alike.
    :param verdict: The three-way verdict on a list, from `verdicts.listed` and the list's own signals.
    :param classes: The verdicts it tells apart, in the order of the head's rows.
    :param priors: For each of them a factor that makes up for how often it occurred.
    :param covered: Probability that an answering document is there, from the same signals as the verdict, by a model
        that has also met lists from which those documents were removed; None where it was fitted without.
    :param correct_from: A verdict `correct` needs at least this probability, too (conformal risk control), or None.
    :param is_calibrated: Whether it was fitted on the user's own questions.
    :param encoder: Name of the model whose vectors it was fitted on.
    :param retrievers: Names of the retrievers whose lists it was fitted on; empty when they were not recorded.
    :param notes: What else the file tells: data, figures on held-out questions.
    """

    topic: Head
    answers: Head
    sufficient: Head | None
    crossing: Crossing | None
    verdict: Head
    classes: tuple[str, ...]
    priors: tuple[float, ...]
    correct_from: float | None = None
    covered: Head | None = None
    is_calibrated: bool = True
    encoder: str = SHIPPED_MODEL
    retrievers: tuple[str, ...] = ()
    notes: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse parts that do not fit together: better when the file is read than at the first question."""
        known = set(self.classes)
        if len(self.classes) < 2 or len(known) < len(self.classes) or not known <= set(JUDGED):  # noqa: PLR2004
            msg = f"classes must be two or three of {list(JUDGED)}, but got {list(self.classes)}"
            raise ValueError(msg)
        if len(self.priors) != len(self.classes) or not all(prior > 0 for prior in self.priors):
            msg = f"priors must be {len(self.classes)} numbers > 0, but got {list(self.priors)}"
            raise ValueError(msg)
        least = self.correct_from
        if least is not None and not 0 <= finite("correct_from", least) <= 1:
            msg = f"correct_from must be null or a number from 0 to 1, but got {least!r}"
            raise ValueError(msg)
        rows = {"verdict": (self.verdict, 1 if len(known) == 2 else 3)}  # noqa: PLR2004
        heads = {"topic": self.topic, "answers": self.answers, "sufficient": self.sufficient, "covered": self.covered}
        rows |= {name: (head, 1) for name, head in heads.items() if head is not None}
        for name, (head, wanted) in rows.items():
            if len(head.biases) != wanted:
                msg = f"{name!r} must have {wanted} biases, but got {len(head.biases)}"
                raise ValueError(msg)

    def to_dict(self) -> dict[str, Any]:
        """
        Give the file's content.

        :returns: Plain JSON.
        """
        return {
            "format": FORMAT,
            "version": VERSION,
            "calibrated": self.is_calibrated,
            **self.notes,
            "encoder": self.encoder,
            "retrievers": list(self.retrievers),
            "verdict": {
                "classes": list(self.classes),
                "priors": list(self.priors),
                "correct_from": self.correct_from,
                "model": self.verdict.to_dict(),
                "covered": None if self.covered is None else self.covered.to_dict(),
            },
            "documents": {
                "topic": self.topic.to_dict(),
                "answers": self.answers.to_dict(),
                "sufficient": None if self.sufficient is None else self.sufficient.to_dict(),
                "crossing": None if self.crossing is None else self.crossing.to_dict(),
            },
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Calibration":
        """
        Read what `to_dict` gave.

        :param values: Plain JSON.
        :returns: The calibration.
        :raises ValueError: When a value is of another kind than `to_dict` writes, or parts do not fit together.
        """
        documents, verdict = values["documents"], values["verdict"]
        crossing, covered = documents["crossing"], verdict.get("covered")
        is_calibrated, retrievers = values["calibrated"], values["retrievers"]
        if not isinstance(is_calibrated, bool):
            msg = f"calibrated must be true or false, but got {is_calibrated!r}"
            raise ValueError(msg)
        if not isinstance(retrievers, list | tuple) or not all(isinstance(name, str) for name in retrievers):
            msg = f"retrievers must be a list of texts, but got {retrievers!r}"
            raise ValueError(msg)
        own = {"format", "version", "calibrated", "encoder", "retrievers", "verdict", "documents"}
        return cls(
            topic=Head.from_dict(documents["topic"]),
            answers=Head.from_dict(documents["answers"]),
            sufficient=None if documents["sufficient"] is None else Head.from_dict(documents["sufficient"]),
            crossing=None if crossing is None else Crossing.from_dict(crossing),
            verdict=Head.from_dict(verdict["model"]),
            classes=tuple(verdict["classes"]),
            priors=tuple(finite("a prior", prior) for prior in verdict["priors"]),
            correct_from=verdict["correct_from"],
            covered=None if covered is None else Head.from_dict(covered),
            is_calibrated=is_calibrated,
            encoder=str(values.get("encoder", SHIPPED_MODEL)),
            retrievers=tuple(retrievers),
            notes={name: value for name, value in values.items() if name not in own},
        )


def load_calibration(path: str | None = None) -> Calibration:
    """
    Read a calibration file; once, until it changes.

    :param path: The file, or None for the one in this package, which was fitted on other people's questions.
    :returns: The calibration.
    :raises ConfigurationError: When there is no such file, or it is none of this version.
    """
    return load(path, _SHIPPED, _of)


def _of(content: Mapping[str, Any]) -> Calibration:
    for part in ("verdict", "documents"):
        if not content.get(part):
            msg = f"has no part {part!r}, which judges documents"
            raise ConfigurationError(msg)
    return Calibration.from_dict(content)
