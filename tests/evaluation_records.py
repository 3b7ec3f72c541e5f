"""Records of an evaluation, made up: what the tests of measures, intervals and reports share."""

from collections.abc import Sequence
from typing import Any

CLASSES = ("correct", "ambiguous", "incorrect")


def record(name: str = "q1", label: str | None = "correct", verdict: str = "correct", **changes: Any) -> dict[str, Any]:
    """A question without documents, strips, answers or gap, unless they are given."""
    cost = {"llm_calls": 0, "tokens_in": 0, "tokens_out": 0, "words_to_generator": 0, "seconds": 0.0}
    plain = {
        **{"id": name, "question": f"Where is {name}?", "label": label, "strict": True, "verdict": verdict},
        **{"score": None, "probabilities": None, "rule": "test", "action": "generate", "documents": []},
        **{"strips": None, "support": None, "gap": None, "cost": cost, "error": None},
    }
    return {**plain, **changes}


def documents(*pairs: tuple[int | None, bool]) -> list[dict[str, Any]]:
    """Documents by label and whether they were kept."""
    return [
        {"id": f"d{n}", "title": f"Title {n}", "label": label, "score": 0.5, "kept": kept}
        for n, (label, kept) in enumerate(pairs)
    ]


def gap(status: str, verdict: str, score: float | None = None, accidental: bool | None = None) -> dict[str, Any]:
    """What became of a list after evidence was removed."""
    return {"status": status, "verdict": verdict, "score": score, "accidental": accidental}


def verdicts(pairs: Sequence[tuple[str | None, str]]) -> list[dict[str, Any]]:
    """Questions by label and verdict."""
    return [record(f"q{n}", label, verdict) for n, (label, verdict) in enumerate(pairs)]
