"""What a question asks, where it tells something besides: "We are moving to a new building. How do I order a desk?"."""

import re
from typing import Final

from haystack_integrations.crag.texts.languages.function_words import ASKING
from haystack_integrations.crag.texts.questions.alternatives import without_alternatives
from haystack_integrations.crag.texts.questions.courtesies import ENDS
from haystack_integrations.crag.texts.questions.open_questions import ASKS
from haystack_integrations.crag.texts.questions.pasted import unpasted
from haystack_integrations.crag.texts.questions.pointing import FEWEST_TERMS, points
from haystack_integrations.crag.texts.text import words
from haystack_integrations.crag.texts.wording import asked_terms

_LETTER: Final = re.compile(r"\w")


def asking_part(query: str) -> str | None:
    """
    Find what is asked in a question that tells something besides.

    ```python
    from haystack_integrations.crag.texts.questions.telling import asking_part

    told = "We are moving to a new building. How do I order a desk?"
    assert asking_part(told) == "How do I order a desk?"
    assert asking_part("I have a dishwasher. How long is its warranty?") is None
    assert asking_part("> Could you look it up?\\n> Regards, Anna\\n\\nparental leave twins") == "parental leave twins"
    ```

    :param query: The question, without courtesies.
    :returns: Its sentences that ask; None where all of them do, or they cannot be understood alone.
    """
    said = unpasted(query)
    told = [part for part in ENDS.split(said.strip()) if part]
    asking = [part for part in told if _asks(part) or not ASKING.isdisjoint(words(part)[:1])]
    # Beside what is pasted, a search of a few words is what is asked.
    asking = asking or (told if said != query else [])
    if not asking or (said == query and len(asking) == len(told)):
        return None
    part = " ".join(asking)
    return part if _stands_alone(part) else None


def _stands_alone(part: str) -> bool:
    """Tell whether a part of a question can be understood without the rest."""
    return len(set(asked_terms(part))) >= FEWEST_TERMS and not points(part)


def first_search(question: str) -> str:
    """
    Find what to search for first: of what is pasted the words are many, and few of them are of the question's subject,
    and of the answers that are offered all but one are wrong.

    ```python
    from haystack_integrations.crag.texts.questions.telling import first_search

    log = "09:14:12 ERROR connection to 10.0.0.7 reset"
    assert first_search(f"{log}\\nHow do I restart the import?") == "How do I restart the import?"
    assert first_search(f"{log}\\nHow do I stop this?") == f"{log}\\nHow do I stop this?"
    assert first_search("Which tax is due on bread? A) full B) reduced") == "Which tax is due on bread?"
    ```

    :param question: The question, without courtesies.
    :returns: What it asks beside what is pasted or offered, if that can be understood alone; else the question.
    """
    if unpasted(question) != question:
        return asking_part(question) or question
    part = without_alternatives(question)
    return part if _stands_alone(part) else question


def meant(question: str) -> list[str]:
    """
    Give the ways in which a question may be meant: with what it tells besides, and without.

    :param question: The question, without courtesies.
    :returns: What `first_search` gives, and what it asks alone where that is something else.
    """
    whole = first_search(question)
    return [whole, *filter(None, [asking_part(whole)])]


def _asks(part: str) -> bool:
    """Tell whether there is a question mark behind the last word."""
    return not set(ASKS).isdisjoint(_LETTER.split(part)[-1])
