"""
A known irrelevant document in the batch: when it is graded relevant, the model was talked into it.

Its text is about things that do not exist, so no question is about it. Source of the idea: canaries in notes on OWASP's
LLM01 (architectural defence, adaptive testing).
"""

import secrets
from collections.abc import Sequence
from typing import Final

from haystack_integrations.crag.grading.plan import Answer, Item, new_key
from haystack_integrations.crag.grading.reply import Reply
from haystack_integrations.crag.texts.text import count_tokens

PROBLEM: Final = "canary"
_RELEVANT: Final = 0.5

_TEXTS: Final = (
    "The third drawer of a Velmorran cupboard holds seven brass spoons, counted from the left on market days.",
    "Orlath weavers fold the blue cloth twice before the bell of Sennick Tower, and once after it.",
    "A quill of the marsh tirrin is trimmed with a wooden comb, then laid on slate until the evening fog.",
    "In Dunmerrow the ferry keeps four lanterns, of which the smallest is lit on the last day of Harrowtide.",
)


def canary(items: Sequence[Item] = ()) -> Item:
    """
    Make a canary.

    :param items: The documents it is going to be among.
    :returns: An item like any other, with a new random key and no document behind it.
    """
    text = secrets.choice(_TEXTS)
    return Item(new_key({item.key for item in items}), text, "", "index", -1, count_tokens(text))


def placed(bird: Item, items: Sequence[Item]) -> list[Item]:
    """
    Put a canary at a random place among the items of a call.

    :param bird: The canary.
    :param items: The documents asked about.
    :returns: A new list.
    """
    at = secrets.randbelow(len(items) + 1)
    return [*items[:at], bird, *items[at:]]


def judged(bird: Item, reply: Reply) -> Answer:
    """
    Take the canary out of a reply, and refuse the reply when the canary was graded relevant.

    :param bird: The canary.
    :param reply: What the model said of all.
    :returns: The answer for the documents.
    """
    entry = reply.entries.pop(bird.key, None)
    if entry is None or entry.score < _RELEVANT:
        return Answer(reply)
    return Answer(Reply(problem=PROBLEM), failure=PROBLEM)
