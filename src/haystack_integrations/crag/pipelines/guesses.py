"""What a mistyped name was meant to be."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Final

_CUTOFF: Final = 0.6  # below it, four letters in common are enough: `crag` would be strict_rag
_FEW: Final = 3


def meant(unknown: Iterable[str], known: Iterable[str]) -> str:
    """
    Guess what a mistyped name was meant to be.

    :param unknown: Names that are not known.
    :param known: Those that are.
    :returns: A question for a message, with a space behind it; empty without a guess.
    """
    choices = list(known)
    found = dict.fromkeys(guess for name in unknown for guess in _nearest(name, choices))
    return f"did you mean {' and '.join(map(repr, found))}? " if found else ""


def _nearest(name: str, choices: Sequence[str]) -> list[str]:
    """Name the likeliest: one with all words of the name and more, or fewer of them, such as `upper_threshold`."""
    words = {*name.split("_")}
    alike = [one for one in choices if words <= {*one.split("_")} or words >= {*one.split("_")}]
    if len(alike) > _FEW:  # of `rag` any one would be a guess by chance
        alike = []
    return get_close_matches(name, alike or choices, n=1, cutoff=0.0 if alike else _CUTOFF)
