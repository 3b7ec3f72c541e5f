"""What a question asks, where it tells something besides: "We are moving to a new building. How do I order a desk?"."""

import re
from typing import Final

from haystack_integrations.crag.texts.courtesies import ENDS
from haystack_integrations.crag.texts.function_words import ASKING
from haystack_integrations.crag.texts.open_questions import ASKS
from haystack_integrations.crag.texts.text import words
from haystack_integrations.crag.texts.wording import asked_terms

_FEWEST_TERMS: Final = 2
_LETTER: Final = re.compile(r"\w")
_POINTING: Final = frozenset(
    "it its this that these those they them their he him his she her hers one ones there here such same".split()
)
"""Words that point at what was told before: without it there is nothing to judge by."""


def asking_part(query: str) -> str | None:
    """
    Find what is asked in a question that tells something besides.

    ```python
    from haystack_integrations.crag.texts.telling import asking_part

    told = "We are moving to a new building. How do I order a desk?"
    assert asking_part(told) == "How do I order a desk?"
    assert asking_part("I have a dishwasher. How long is its warranty?") is None
    ```

    :param query: The question, without courtesies.
    :returns: Its sentences that ask; None where all of them do, or they cannot be understood alone.
    """
    told = [part for part in ENDS.split(query.strip()) if part]
    asking = [part for part in told if _asks(part) or not ASKING.isdisjoint(words(part)[:1])]
    if not 0 < len(asking) < len(told):
        return None
    part = " ".join(asking)
    is_clear = len(set(asked_terms(part))) >= _FEWEST_TERMS and _POINTING.isdisjoint(words(part))
    return part if is_clear else None


def _asks(part: str) -> bool:
    """Tell whether there is a question mark behind the last word."""
    return not set(ASKS).isdisjoint(_LETTER.split(part)[-1])
