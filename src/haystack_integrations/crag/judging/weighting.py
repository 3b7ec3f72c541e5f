"""From signals to a score: two published weightings, one of our own, and any that a user names."""

from collections.abc import Mapping
from math import exp, inf
from typing import Any, Final, Literal

from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.inputs import is_number
from haystack_integrations.crag.judging.signals import DOCUMENT_SIGNALS, Signals

Preset = Literal["evidence", "coherence", "rerank"]
Weights = Preset | dict[str, float]

PRESETS: Final[dict[str, dict[str, float]]] = {
    "evidence": {"keyword": 0.15, "phrase": 0.65, "semantic": 0.2},
    "coherence": {"keyword": 0.3, "semantic": 0.4, "length": 0.15, "diversity": 0.15},
    "rerank": {"rerank": 0.4, "keyword": 0.3, "agreement": 0.3},
}

# The published formulas for a whole set, where a preset comes with one.
_SETS: Final[dict[str, dict[str, float]]] = {
    "coherence": {"keyword": 0.3, "coherence": 0.4, "length": 0.15, "diversity": 0.15},
    "rerank": PRESETS["rerank"],
}

# `evidence` turns its weighted mean m into 1 / (1 + exp(-15 (m - 0.325))): 0.27 becomes 0.3 and 0.38 becomes 0.7.
# Weights and both numbers suit five data sets together; results are flat around them (benchmarks/judgement.py).
_MIDDLE: Final = 0.325
_SLOPE: Final = 15.0


def check_weights(weights: str | Mapping[str, float]) -> None:
    """
    Refuse weights that mean nothing.

    :param weights: A preset's name, or weights by signal.
    :raises ConfigurationError: For an unknown preset or signal, a weight below 0 or without end, or none above 0.
    """
    if isinstance(weights, str):
        if weights not in PRESETS:
            msg = f"weights must be one of {list(PRESETS)}, or a weight by signal, but got {weights!r}"
            raise ConfigurationError(msg)
        return
    unknown = sorted(set(weights) - set(DOCUMENT_SIGNALS))
    if unknown:
        msg = f"weights names unknown signals {unknown}; choose from {list(DOCUMENT_SIGNALS)}"
        raise ConfigurationError(msg)
    values = list(weights.values())
    is_usable = all(is_number(w) and 0 <= w < inf for w in values)
    if not is_usable or not any(values):
        msg = f"weights must be finite numbers >= 0, at least one of them above 0, but got {dict(weights)}"
        raise ConfigurationError(msg)


def _by_signal(weights: Weights) -> dict[str, float]:
    """Spell out weights by signal."""
    return PRESETS[weights] if isinstance(weights, str) else weights


def document_score(weights: Weights, signals: Signals) -> float:
    """
    Score one document.

    :param weights: A preset's name, or weights by signal.
    :param signals: The document's signals.
    :returns: In [0, 1]. With `evidence` a document whose title the question names has at least 0.5: it is on topic, in
        whatever words it goes on. With other weights it is the weighted mean.
    """
    mean = weighted(signals, _by_signal(weights))
    if weights != "evidence":
        return mean
    return 1 / (1 + exp(-_SLOPE * ((max(mean, _MIDDLE) if signals["subject"] else mean) - _MIDDLE)))


def set_score(weights: Weights, of_set: Mapping[str, Any], scores: list[float]) -> float:
    """
    Score a whole retrieval.

    :param weights: A preset's name, or weights by signal.
    :param of_set: The signals of the set.
    :param scores: The scores of its documents.
    :returns: The published formula of the preset where there is one, else the best document's score.
    """
    published = _SETS.get(weights) if isinstance(weights, str) else None
    return max(scores) if published is None else weighted(of_set, published)


def reason(weights: Weights, signals: Signals) -> str:
    """
    Say in numbers why, so that a grade explains itself in a trace or a record.

    :param weights: A preset's name, or weights by signal.
    :param signals: The document's signals.
    :returns: For example `keyword 0.83, phrase 0.50, semantic 0.71`.
    """
    named = ", title named" if weights == "evidence" and signals["subject"] else ""
    shown = [f"{name} {value:.2f}" for name in _by_signal(weights) if (value := signals[name]) is not None]
    return ", ".join(shown) + named


def weighted(signals: Mapping[str, Any], weights: Mapping[str, float]) -> float:
    """
    Take the weighted mean of signals; one that was not measured is left out and the others count for more.

    :param signals: Signals by name.
    :param weights: Weights by name.
    :returns: In [0, 1]; 0 when nothing was measured.
    """
    measured = {name: weight for name, weight in weights.items() if signals.get(name) is not None}
    total = sum(measured.values())
    return sum(weight * float(signals[name]) for name, weight in measured.items()) / total if total else 0.0
