"""What a question wants defined: "What is a tuple?", "What does PITR stand for?" ask for no more than that."""

import re
from typing import Final, NamedTuple

from haystack_integrations.crag.texts.languages.stemming import STOP_WORDS

_BE: Final = r"(?:['\u2019]s| is| are| was| were)"
_ASKED: Final = re.compile(
    rf"(?:(?P<who>who{_BE})|what(?:{_BE}|(?P<does> do(?:es)?))|define)"
    r" (?P<meant>meant by |(?:the )?(?:meaning|definition) of )?(?P<article>(?:an?|the) )?(?:term )?[`'\"\u201c]?"
    r"(?P<name>[^\W_][\w.+/*#'-]*(?: [\w.+/*#'-]+){0,3}?)[`'\"\u201d]?"
    r"(?: (?:(?P<means>means?)|(?P<letters>stands? for|short for)))?"
    r"(?: in (?:the )?(?P<product>[\w.-]+))?\W*",
    re.IGNORECASE,
)


class Defined(NamedTuple):
    """
    What is to be defined.

    :param name: Its name, as the question has it.
    :param product: Of what product it is, or nothing.
    :param letters: Whether it is asked what these letters stand for.
    """

    name: str
    product: str
    letters: bool


def defined_thing(query: str) -> Defined | None:
    """
    Read what a question wants defined.

    ```python
    from haystack_integrations.crag.texts.questions.defined import defined_thing

    assert defined_thing("What is a foreign key?") == ("foreign key", "", False)
    assert defined_thing("What does PITR stand for?") == ("PITR", "", True)
    assert defined_thing("What is the price of a foreign key?") is None
    assert defined_thing("What does a trigger do?") is None
    assert defined_thing("What is the deadline?") is None
    ```

    :param query: The question, without courtesies.
    :returns: A name of at most four words; None for any other question.
    """
    found = _ASKED.fullmatch(" ".join(query.split()))
    if found is None or (bool(found["does"]) and not (found["means"] or found["letters"])):
        return None
    # "Who is the manager?" asks for a name, and "What is the deadline?" for a value.
    is_one = (found["article"] or "").lower().startswith("the") and not (found["meant"] or found["means"])
    is_one = is_one and not (found["letters"] or found["name"].isupper())
    if is_one or (found["who"] and found["article"]) or not STOP_WORDS.isdisjoint(found["name"].lower().split()):
        return None
    return Defined(found["name"].rstrip("'.\u2019"), found["product"] or "", letters=bool(found["letters"]))
