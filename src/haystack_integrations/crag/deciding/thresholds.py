"""Where a score turns into a verdict, and the three published settings of it."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Final, Literal

from haystack import Document

from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.fusion import lead_of
from haystack_integrations.crag.grades import Grade
from haystack_integrations.crag.inputs import is_number
from haystack_integrations.crag.settings import check_one_of

Preset = Literal["balanced", "conservative", "aggressive"]

PRESETS: Final[dict[str, tuple[float, float]]] = {
    "balanced": (0.7, 0.3),
    "conservative": (0.8, 0.4),
    "aggressive": (0.6, 0.2),
}
"""Upper and lower threshold by name (designs 000 and 004): how sure one must be before answering as is."""

_MOST_DIGITS: Final = 9


@dataclass(frozen=True)
class Thresholds:
    """
    Where a score turns into a verdict; all in [0, 1].

    :param upper: The aggregate from which a retrieval is correct.
    :param lower: The aggregate from which it is ambiguous; below it is incorrect.
    :param filter: A document below this score is dropped.
    :param strict: `upper` or `lower`, or both: an aggregate of exactly that belongs to the verdict below.
    :param beside: What a document must score where another one passes the filter; None: as much as that.
    :param opinion: What a cheaper grader must have thought of it there, whatever its score; None: that does not count.
    :param lead: How many times the next hit's score, 1 or more, the search must have given it there; likewise.
    """

    upper: float
    lower: float
    filter: float
    strict: tuple[str, ...] = ()
    beside: float | None = None
    opinion: float | None = None
    lead: float | None = None

    def __post_init__(self) -> None:
        """Refuse thresholds outside [0, 1] or in the wrong order."""
        for name in ("upper", "lower", "filter"):
            value = getattr(self, name)
            if not is_number(value) or not 0.0 <= value <= 1.0:
                msg = f"threshold {name!r} must be a number between 0 and 1, but got {value!r}"
                raise ConfigurationError(msg)
        if self.lower > self.upper:
            msg = f"lower must not be above upper, but got lower={self.lower} and upper={self.upper}"
            raise ConfigurationError(msg)
        if self.beside is not None and not (is_number(self.beside) and 0.0 <= self.beside <= self.filter):
            msg = (
                f"keep_beside must be a number between 0 and the filter, {self.filter}, but got {self.beside!r}; set "
                "it beside filter_threshold, to null where the filter alone decides"
            )
            raise ConfigurationError(msg)
        if self.opinion is not None and not (is_number(self.opinion) and 0.0 <= self.opinion <= 1.0):
            msg = f"second_opinion must be a number between 0 and 1, or null, but got {self.opinion!r}"
            raise ConfigurationError(msg)
        if self.lead is not None and not (is_number(self.lead) and 1.0 <= self.lead < inf):
            msg = f"clear_lead must be a number from 1 on, or null, but got {self.lead!r}"
            raise ConfigurationError(msg)

    def is_correct(self, score: float) -> bool:
        """
        Compare with the upper threshold.

        :param score: An aggregate.
        :returns: Whether it makes a retrieval correct.
        """
        return score > self.upper if "upper" in self.strict else score >= self.upper

    def is_incorrect(self, score: float) -> bool:
        """
        Compare with the lower threshold.

        :param score: An aggregate.
        :returns: Whether it makes a retrieval incorrect.
        """
        return score <= self.lower if "lower" in self.strict else score < self.lower

    def enough(self, grades: Iterable[Grade]) -> Callable[[Document, Grade], bool]:
        """
        Tell what is enough to be kept: to leave out a page of the answer costs more than to read one too many.

        Where a document passes the filter, less will do for those beside it, or that a cheaper grader thought well of
        them, or that the search clearly put them first: a model that errs now and then would lose the answer. Alone,
        none of these makes evidence of anything.

        :param grades: The grades of all documents.
        :returns: Whether a document with this grade is kept; one that failed says nothing: its 0.5 is no judgement.
        """
        passes = any(grade.status != "failed" and grade.score >= self.filter for grade in grades)
        least = self.beside if passes and self.beside is not None else self.filter

        def keeps(document: Document, grade: Grade) -> bool:
            if grade.status == "failed" or grade.score >= least:
                return True
            return passes and (self._is_liked(grade) or (self.lead is not None and lead_of(document) >= self.lead))

        return keeps

    def _is_liked(self, grade: Grade) -> bool:
        return self.opinion is not None and grade.opinion is not None and grade.opinion >= self.opinion

    @classmethod
    def of(
        cls,
        preset: str,
        upper: float | None,
        lower: float | None,
        filter_threshold: float,
        strict: Sequence[str] | None = None,
        beside: float | None = None,
        opinion: float | None = None,
        lead: float | None = None,
    ) -> "Thresholds":
        """
        Take a preset's thresholds, except where another number is given.

        :param preset: A name of `PRESETS`.
        :param upper: Another upper threshold, or None.
        :param lower: Another lower threshold, or None.
        :param filter_threshold: The filter.
        :param strict: Thresholds that must be exceeded, `upper` or `lower`.
        :param beside: What is enough beside a document that passes the filter, or None.
        :param opinion: Which opinion of a cheaper grader is enough there, or None.
        :param lead: Which lead in the search is enough there, or None.
        :returns: The thresholds.
        :raises ConfigurationError: For an unknown preset or an unusable number.
        """
        check_one_of("preset", preset, PRESETS)
        if not set(strict or ()) <= {"upper", "lower"}:
            msg = f"strict must name 'upper' or 'lower', but got {strict!r}"
            raise ConfigurationError(msg)
        high, low = PRESETS[preset]
        chosen = (high if upper is None else upper, low if lower is None else lower)
        return cls(*chosen, filter_threshold, tuple(strict or ()), beside, opinion, lead)


def told(score: float, limits: Collection[float], digits: int = 2) -> str:
    """
    Write a score so that it reads on the side of a limit that it is on: 0.696 does not reach 0.7, 0.70 would.

    ```python
    from haystack_integrations.crag.deciding.thresholds import told

    assert told(0.694, [0.7]) == "0.69"
    assert told(0.696, [0.7]) == "0.696"
    ```

    :param score: A score.
    :param limits: What it was compared with.
    :param digits: Decimals, where so many will do.
    :returns: The score, rounded.
    """
    sides = [(score < limit, score > limit) for limit in limits]
    for count in range(digits, _MOST_DIGITS):
        near = round(score, count)
        if [(near < limit, near > limit) for limit in limits] == sides:
            return f"{near:.{count}f}"
    return f"{score:.{_MOST_DIGITS}f}"
