"""Whether a question points at something that is told elsewhere: "How long is its warranty?"."""

import re
from typing import Final

from haystack_integrations.crag.texts.text import terms, words

FEWEST_TERMS: Final = 2
"""So many terms a question has that can be understood alone."""

_POINTING: Final = frozenset("it this that these those them one ones there here such same following".split())
"""Words that point at what was told before: without it there is nothing to judge by."""

_PERSONS: Final = frozenset("its they their he him his she her hers".split())
"""Words that do so where nothing is named before them: "When did Ada Lovelace write her notes?" can stand alone."""

_JOINING: Final = re.compile(
    r"(?<=\w )that (?=(?:is|are|was|were|has|have|had|can|could|will|would|do|does|did|may|must)\b)"
    r"|\bthere (?=(?:is|are|was|were)\b)|(?<=(?:is|re|as) )there\b|(?<!which )(?<!the )\bone (?=\w)|\bsuch (?=as\b)"
    r"|(?<!\bthe )\bfollowing\b"
)
"""Such words where they only join: "a house that was sold", "is there a fee", "one of the rules"."""


def points(question: str) -> bool:
    """
    Tell whether a question means something that was told before.

    :param question: The question.
    :returns: Whether it cannot be understood alone.
    """
    said = words(question)
    first = next((place for place, word in enumerate(said) if word in _PERSONS), None)
    is_told = first is not None and len({*terms(" ".join(said[:first]))}) < FEWEST_TERMS
    return is_told or not _POINTING.isdisjoint(_JOINING.sub(" ", " ".join(said)).split())
