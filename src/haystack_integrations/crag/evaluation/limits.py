"""A largest share of wrong answers: from which probability on a verdict stays `correct`, and whether there is one."""

from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any, Final

import numpy as np

from haystack_integrations.crag.errors import CalibrationError
from haystack_integrations.crag.evaluation.risk import control_wrong_generate

_DIGITS: Final = 4
_NOISE: Final = 9


class UnreachableLimitError(CalibrationError):
    """No threshold keeps the share that was asked for; the message says which one can be kept."""

    calibrated: Any = None
    """What was fitted, without a limit (`calibrating.Calibrated`); None before anything was."""

    correct_from: float | None = None
    """From which probability on the share that can be kept is kept; None where none can."""


def check_limit(most_wrong: float | None, verdicts: Sequence[str | None]) -> None:
    """
    Refuse a limit that these labels cannot keep however well they are judged, before anything is fitted.

    With c questions that are correct, at best c are called so and none wrongly: `control_wrong_generate` takes the
    next question for wrong, so that no share below 1 / (c + 1) can be promised.

    :param most_wrong: The largest share of wrong `generate` decisions, or None.
    :param verdicts: The true verdict of each list; None where nobody can say.
    :raises UnreachableLimitError: With the smallest share that so many labels can promise at all.
    """
    correct = sum(verdict == "correct" for verdict in verdicts)
    least = 1 / (correct + 1)
    if most_wrong is not None and most_wrong < least:
        msg = (
            f"got {most_wrong:g} as the largest share of wrong answers, but {correct} questions whose documents answer "
            f"can promise {_up(least, 3):g} at best, were they all judged rightly; ask for more than that, or label "
            f"{ceil(1 / most_wrong) - 1 - correct} more of them"
        )
        raise UnreachableLimitError(msg)


def threshold_for(records: Sequence[Mapping[str, Any]], most_wrong: float) -> float:
    """
    Choose from which probability on a verdict stays `correct`; a limit takes verdicts away, and makes none.

    :param records: Held-out records.
    :param most_wrong: The largest share of wrong `generate` decisions.
    :returns: The threshold; 0 where all that is called correct keeps the limit, so that nothing is taken away.
    :raises UnreachableLimitError: When no threshold keeps that share, with the share that can be kept.
    """
    called = [record for record in records if record["verdict"] == "correct"]
    if not called:
        msg = f"none of these {len(records)} questions is called correct, so there is nothing to limit; label more"
        raise UnreachableLimitError(msg)
    scores = np.array([record["probabilities"]["correct"] for record in called])
    right = [record["label"] == "correct" for record in called]
    found = control_wrong_generate(scores, right, most_wrong)
    if found.least is None:
        reachable = _up(found.reachable, 2)
        kept = control_wrong_generate(scores, right, reachable).least if reachable < 1 else None
        there = "" if kept is None else f' (as "correct_from": {_up(kept, _DIGITS):g})'
        msg = (
            f"no threshold keeps the share of wrong answers at {most_wrong:g} on the {len(called)} of {len(records)} "
            f"questions that are called correct; the smallest that can be kept is {reachable:g}{there}: ask for that, "
            "or label more questions"
        )
        refusal = UnreachableLimitError(msg)
        refusal.correct_from = kept
        raise refusal
    return found.least


def realised_in_words(risk: Mapping[str, Any]) -> str:
    """
    Say what a limit did on held-out folds, and what to make of it where more than that was wrong.

    :param risk: From `holding_out.risk_realised`.
    :returns: The words.
    """
    said = unlimited_in_words(risk)
    if risk["share"] is None or risk["share"] <= risk["limit"]:
        return said
    if risk["low"] <= risk["limit"]:
        return f"{said}: above the limit, but within chance; rely on the upper end, not on the limit"
    return f"{said}: above the limit by more than chance, so do not count on it"


def unlimited_in_words(risk: Mapping[str, Any]) -> str:
    """
    Say how many of the verdicts `correct` are wrong, with the interval that so many tell of others.

    :param risk: From `holding_out.risk_without_limit`, or `risk_realised`.
    :returns: The words.
    """
    if risk["share"] is None:
        return "nothing called correct"
    return f"{risk['share']:.1%} wrong among {risk['generated']} answered ({risk['low']:.1%} to {risk['high']:.1%})"


def limit_rows(
    held_out: Mapping[str, Any], correct_from: float | None, most_wrong: float | None = None
) -> dict[str, Any]:
    """
    Collect what a report shows of limits: what each did on held-out folds, and the one that is in the file.

    :param held_out: From `holding_out.figures`, or of a file that lacks some.
    :param correct_from: From which probability on a verdict stays `correct`; None without a limit.
    :param most_wrong: The limit that was asked for, where it is known: the file holds the probability only.
    :returns: Rows for `report.html_report`.
    """
    rows: dict[str, Any] = {}
    if (without := held_out.get("without_limit")) is not None:
        rows["answers without a limit"] = unlimited_in_words(without)
    for risk in held_out.get("wrong_generate", ()):
        rows[f"limit {risk['limit']:.3g} of wrong answers"] = realised_in_words(risk)
    asked = "" if most_wrong is None else f"at most {most_wrong:g} wrong: "
    takes = f"correct from a probability of {correct_from:.2f} on" if correct_from else "takes no verdict away"
    chosen = "none" if correct_from is None else f"{asked}{takes}"
    return {**rows, "limit in the file": chosen}


def _up(value: float, digits: int) -> float:
    """Round up: a limit a little looser, a threshold a little higher than found still hold."""
    # What floats make of it is no reason to: 0.07 x 100 is a little more than 7, and stays 0.07.
    return float(ceil(round(value * 10**digits, _NOISE)) / 10**digits)
