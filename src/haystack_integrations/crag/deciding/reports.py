"""What a grader says of its work, as a router reads it: anybody may write one, so it is checked and made plain here."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from math import inf, isfinite
from typing import Any, Final, get_args

from haystack import logging

from haystack_integrations.crag.budget import Usage
from haystack_integrations.crag.deciding.retrieval_report import checked_retrieval
from haystack_integrations.crag.errors import ConfigurationError, shown
from haystack_integrations.crag.inputs import is_number
from haystack_integrations.crag.sealing import Sealed
from haystack_integrations.crag.vocabulary import BUDGET_LIMITS, Verdict

logger = logging.getLogger(__name__)

_PLAIN: Final = frozenset({str, bool, int, float, type(None)})
_COSTS: Final = tuple(asdict(Usage()))
_LIMITS: Final = (*BUDGET_LIMITS, "deadline")


def of_both(scored: Mapping[str, Any] | None, report: Mapping[str, Any] | None) -> dict[str, Any]:
    """
    Bring together what a cascade's scorer and its model say: the model's word holds, and both cost.

    :param scored: The scorer's report, or None.
    :param report: The model's, or None where it was not asked.
    :returns: One report.
    """
    both = [one for one in (scored, report) if one]
    costs = {name: sum(_cost(name, plain(one.get(name))) for one in both) for name in _COSTS}
    return {**(scored or {}), **(report or {}), **costs}


def read_report(report: Mapping[str, Any]) -> dict[str, Any]:
    """
    Read a report.

    :param report: What grader and cascade say, and under `retrieval` what EvidenceJoiner says.
    :returns: The same as plain JSON: costs as whole numbers, `reasons` a list, `verdict` in our own words, and
        None for a measurement that is no number.
    :raises ConfigurationError: For an entry that is not what its name says; None is as good as none.
    """
    said: dict[str, Any] = plain(report)
    said |= {name: _cost(name, said.get(name)) for name in (*_COSTS, "not_asked")}
    said["reasons"] = _reasons(said.get("reasons"))
    if said.get("set_score") is None:
        said.pop("set_score", None)
    elif not is_number(said["set_score"]) or not 0 <= said["set_score"] <= 1:
        _refuse("set_score", said["set_score"], "a number from 0 to 1; divide by its maximum")
    said["verdict"] = _verdict(said.get("verdict"))
    for name in ("signals", "cascade"):
        if said.get(name) is not None and not isinstance(said[name], Mapping):
            _refuse(name, said[name], "a mapping")
    if said.get("limit") not in (None, *_LIMITS):
        _refuse("limit", said["limit"], f"one of {list(_LIMITS)}, where that kept the grader from asking")
    said["retrieval"] = checked_retrieval(said.get("retrieval"))
    finite: dict[str, Any] = _finite(said)
    return finite


def usage_of(report: Mapping[str, Any]) -> Usage:
    """
    Take what a grader says it spent.

    :param report: A report, read.
    :returns: Its costs.
    """
    return Usage(**{name: report[name] for name in _COSTS})


def plain(value: Any) -> Any:
    """
    Make plain JSON of a value: NumPy's numbers and arrays, tuples, sets and what is sealed are none.

    :param value: Anything.
    :returns: Mappings, lists, texts, numbers, booleans and None; the text of anything else.
    """
    if type(value) in _PLAIN:
        return value
    if isinstance(value, float):
        return float(value)  # NumPy's is one, and no plain one
    if isinstance(value, str):
        return str.__str__(value)  # NumPy's is one, too, and so is a member of an Enum
    if isinstance(value, int):
        return int(value)
    if isinstance(value, Mapping):
        return {str(name): entry if type(entry) in _PLAIN else plain(entry) for name, entry in value.items()}
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, Sealed):
        return plain(value.content)
    if isinstance(value, Iterable) and not isinstance(value, bytes | bytearray):
        return [plain(entry) for entry in value]
    return str(value)


def _finite(value: Any) -> Any:
    """Put None in the place of what JSON has no number for: a mean of nothing, a share of zero."""
    if isinstance(value, dict):
        return {name: _finite(entry) for name, entry in value.items()}
    if isinstance(value, list):
        return [_finite(entry) for entry in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def _cost(name: str, value: Any) -> int:
    if value is None:
        return 0
    if not is_number(value) or not 0 <= value < inf:
        _refuse(name, value, "a whole number, 0 or more")
    return int(value)


def _reasons(value: Any) -> list[str]:
    if value is not None and not isinstance(value, str | list):
        _refuse("reasons", value, "a list of texts")
    return [value] if isinstance(value, str) else [str(reason) for reason in value or ()]


def _verdict(value: Any) -> Any:
    """Read a verdict, or a mapping that holds one; a word that is none says nothing, and the thresholds decide."""
    if isinstance(value, Mapping):
        least = value.get("correct_from")
        if least is not None and not (is_number(least) and isfinite(least)):
            _refuse("verdict.correct_from", least, "a probability")
        return {**value, "verdict": _verdict(value.get("verdict"))}
    told = value.strip().lower() if isinstance(value, str) else value
    known = get_args(Verdict)
    if told in (None, "", *known):
        return told or None
    logger.warning("What a grader gave as its verdict is none of {known}: the thresholds decide", known=known)
    return None


def _refuse(name: str, value: object, wanted: str) -> None:
    msg = f"got {shown(value)} as {name} in the grader's report, wanted {wanted}"
    raise ConfigurationError(msg)
