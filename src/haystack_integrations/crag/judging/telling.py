"""
A question that tells something besides: what it asks is judged a second time, without the rest.

"We are moving to the new building and everything is chaos. How do I order a desk?" has words that no document on desks
has, and in "I have a dishwasher. How long is the warranty?" they decide. No program knows which. So where the verdicts
on the whole and on what is asked differ, the documents are `ambiguous`: with chatter in front, the shipped model called
10 to 41 % of the lists that answer `incorrect`, and so 3 to 14 % (benchmarks/as_typed.py).
"""

from haystack_integrations.crag.judging.judge import Opinion
from haystack_integrations.crag.judging.likely import Likely


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
