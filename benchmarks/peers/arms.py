"""What is measured: for each part of a run its arms, that is, how a row of questions is asked."""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

PARTS: Final = ("cost", "tokens", "quality", "faults")
REAL: Final = "real"
"""A part of its own, that is run where it is asked for: a real model needs a server."""
BY_K: Final = ("cost", "tokens")
"""Parts that are run with every k, and measure no quality."""
KS: Final = (3, 5, 10, 20, 50)
FAULTS: Final = ("garbage", "cut", "web_down", "gap", "nothing", "nowhere", "injected", "hang")
PER_PROMPT_TOKEN, PER_COMPLETION_TOKEN = 0.00002, 0.005
QUESTION_SECONDS: Final = 60.0
REAL_K, REAL_SECONDS = 5, 900.0
"""Documents, and seconds for a question, where a real model runs on this machine's processors."""
GOAL_SECONDS, GOAL_KS = 0.3, (5, 10, 100)
"""Seconds of a call, and values of k, of which the goals speak (`page_goals.py`): more questions are timed there."""

_FEWER: Final = {"hang": 1}


@dataclass(frozen=True)
class Arm:
    """
    What is the same for a row of questions.

    :param k: How many documents.
    :param questions: How many of each set.
    :param a: Seconds of every call.
    :param b: Seconds for each prompt token.
    :param c: Seconds for each completion token.
    :param errors: Share of wrong grades, and of wrong answers.
    :param fault: What goes wrong, or None.
    """

    k: int
    questions: int
    a: float = 0.0
    b: float = 0.0
    c: float = 0.0
    errors: float = 0.0
    fault: str | None = None

    @property
    def is_timed(self) -> bool:
        """Tell whether the model takes time."""
        return bool(self.a or self.b or self.c)

    def __str__(self) -> str:
        """Name it in a table."""
        kind = f"a={self.a:g}" if self.b else f"a={self.a:g} flat" if self.a else "instant"
        said = [f"k={self.k}", kind, *([f"errors={self.errors:g}"] if self.errors else [])]
        return " ".join([*said, *([self.fault] if self.fault else [])])


def arms(part: str, given: argparse.Namespace) -> Iterator[Arm]:
    """
    List the arms of a part.

    :param part: One of `PARTS`.
    :param given: The command line.
    :yields: Arms, in the order in which they are run.
    """
    every, b, c = given.questions, PER_PROMPT_TOKEN, PER_COMPLETION_TOKEN
    if part == "cost":
        for k in given.k:
            at_goal = given.at_goals if k in GOAL_KS else given.timed
            yield Arm(k, every)
            yield Arm(k, at_goal, a=GOAL_SECONDS)
            for a in (0.0, GOAL_SECONDS, 1.0):
                yield Arm(k, at_goal if a == GOAL_SECONDS else given.timed, a=a, b=b, c=c)
    elif part == "tokens":
        yield from (Arm(k, every) for k in given.k)
    elif part == "quality":
        for fault in (None, "gap"):
            for errors in (0.0, 0.1):
                yield Arm(10, every, errors=errors, fault=fault)
    elif part == REAL:
        yield from (Arm(REAL_K, every, fault=fault) for fault in (None, "gap"))
    else:
        for fault in FAULTS:
            yield Arm(10, _FEWER.get(fault, given.faulty), fault=fault)
