"""
A question that tells something besides: what it asks is judged a second time, without the rest.

"We are moving to the new building and everything is chaos. How do I order a desk?" has words that no document on desks
has, and in "I have a dishwasher. How long is the warranty?" they decide. No program knows which. So where the verdicts
on the whole and on what is asked differ, the documents are `ambiguous`: with chatter in front, the shipped model called
10 to 41 % of the lists that answer `incorrect`, and so 3 to 14 % (benchmarks/as_typed.py).
"""

import re
from typing import Final

from haystack_integrations.crag.judging.judge import Likely, Opinion
from haystack_integrations.crag.texts.courtesies import ENDS
from haystack_integrations.crag.texts.function_words import ASKING
from haystack_integrations.crag.texts.text import words
from haystack_integrations.crag.texts.wording import asked_terms

_FEWEST_TERMS: Final = 2
_MARK: Final = re.compile(r"[?\uff1f\u061f]\W*\Z")
_POINTING: Final = frozenset(
    "it its this that these those they them their he him his she her hers one ones there here such same".split()
)
"""Words that point at what was told before: without it there is nothing to judge by."""


def asking_part(query: str) -> str | None:
    """
    Find what is asked in a question that tells something besides.

    ```python
    from haystack_integrations.crag.judging.telling import asking_part

    told = "We are moving to a new building. How do I order a desk?"
    assert asking_part(told) == "How do I order a desk?"
    assert asking_part("I have a dishwasher. How long is its warranty?") is None
    ```

    :param query: The question, without courtesies.
    :returns: Its sentences that ask; None where all of them do, or they cannot be understood alone.
    """
    told = [part for part in ENDS.split(query.strip()) if part]
    asking = [part for part in told if _MARK.search(part) or not ASKING.isdisjoint(words(part)[:1])]
    if not 0 < len(asking) < len(told):
        return None
    part = " ".join(asking)
    is_clear = len(set(asked_terms(part))) >= _FEWEST_TERMS and _POINTING.isdisjoint(words(part))
    return part if is_clear else None


def between(whole: Opinion, part: Opinion) -> Opinion:
    """
    Join what is thought of a list for a whole question, and for what is asked in it.

    :param whole: The one.
    :param part: The other, on the same documents.
    :returns: Probabilities half-way between, and a verdict that both give, or `ambiguous`.
    """
    one, other = whole.conclusion, part.conclusion
    return Opinion(
        Likely(
            (whole.likely.answers + part.likely.answers) / 2,
            (whole.likely.topic + part.likely.topic) / 2,
            (whole.likely.sufficient + part.likely.sufficient) / 2,
        ),
        one._replace(
            verdict=one.verdict if one.verdict == other.verdict else "ambiguous",
            probabilities={name: (value + other.probabilities[name]) / 2 for name, value in one.probabilities.items()},
            covered=(one.covered + other.covered) / 2,
        ),
        whole.signals,
    )
