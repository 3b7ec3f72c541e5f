"""Which documents are about what a question is about: another one tells the price of another thing."""

from collections.abc import Sequence
from math import log
from typing import Final

from haystack_integrations.crag.texts.text import terms
from haystack_integrations.crag.texts.wording import asked_terms

_LESS: Final = 0.5


def about(query: str, asked: Sequence[str], shown: Sequence[str]) -> list[str]:
    """
    Choose documents that are about what a question is about.

    ```python
    from haystack_integrations.crag.judging.rules.about import about

    texts = ["The Havn lamp has a shade of paper.", "The Skog chair: 129 EUR."]
    assert about("What is the price of the Havn lamp?", ["price"], texts) == texts[:1]
    ```

    :param query: The question.
    :param asked: Its words for what it asks about that.
    :param shown: The documents.
    :returns: Those with half as much of the rest of the question as the best of them, at least.
    """
    own = {*terms(" ".join(asked))}
    rest, held = [term for term in asked_terms(query) if term not in own], [{*terms(text)} for text in shown]
    weights = {term: log(2 + len(shown) / (1 + sum(term in each for each in held))) for term in rest}
    found = [sum(weights[term] for term in rest if term in each) for each in held]
    return [text for text, value in zip(shown, found, strict=True) if value >= _LESS * max(found, default=0.0)]
