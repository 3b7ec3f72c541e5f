"""
Why something is so, which a document that says only that it is so does not tell: "Close all windows when you leave."

To the words of a question such a document is as good as one with the reason. Of 48 lists of public datasets that
answer why, all have a word of a reason beside the words of the question.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from haystack_integrations.crag.judging.asking import kind_of
from haystack_integrations.crag.texts.function_words import function_words
from haystack_integrations.crag.texts.text import sentences, terms, words
from haystack_integrations.crag.texts.wording import asked_terms

# Wide on purpose: "to keep it dry" may be a reason.
_REASON: Final = re.compile(
    r"(?i)\b(?:because|since|due to|owing to|given|thanks to|so|thus|hence|there(?:fore|by)|otherwise|responsible"
    r"|reasons?|purpose|le(?:d|ads?|ading) to|risk\w*|danger\w*|threat\w*|important|importance|need\w*"
    r"|(?:caus|result|attribut|consequen|aim|inten[dt]|prevent|avoid|protect|allow|ensur|enabl|expla|motiv|respon)\w*"
    r"|to (?!(?:be|the|an?|this|that|it|us|you|me|him|her|them|my|your|our|their)\b)[a-z]{2,})\b"
)


def untold_reason(query: str, shown: Sequence[str]) -> Iterator[str]:
    """
    Find out whether a reason is asked for that no document may tell.

    ```python
    from haystack_integrations.crag.judging.reasons import untold_reason

    asked = "Why must all windows be closed?"
    assert [*untold_reason(asked, ["Close all windows. Lock the door."])] == ["why"]
    assert [*untold_reason(asked, ["Close all windows. Otherwise it rains in."])] == []
    ```

    :param query: The question.
    :param shown: The documents.
    :returns: The question word, if so: none of the sentences that have most words of the question, and none beside
        them, has a word of a reason.
    """
    if kind_of(query) == "why" and not function_words(words(query)):
        near = list(_near(set(asked_terms(query)), shown))
        most = max((often for often, _ in near), default=0)
        if most and not any(_REASON.search(said) for often, said in near if often == most):
            yield "why"


def _near(asked: set[str], shown: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Give for each sentence how many words of the question it has, and what is said there, before and after it."""
    for text in shown:
        spans = [(0, 0), *sentences(text), (len(text), len(text))]
        for (start, _), (first, last), (_, end) in zip(spans, spans[1:], spans[2:], strict=False):
            yield len(asked.intersection(terms(text[first:last]))), text[start:end]
