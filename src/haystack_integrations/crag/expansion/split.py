"""A question of several parts, split by rule: conservative, so that a doubt leaves the question whole."""

from collections.abc import Mapping, Sequence
from typing import Any

from haystack import Document

from haystack_integrations.crag.deciding.record_tags import asked_apart as verdicts_apart
from haystack_integrations.crag.expansion.evidence_words import least_told
from haystack_integrations.crag.texts.questions.asked_apart import asked_apart
from haystack_integrations.crag.texts.questions.comparisons import things_compared
from haystack_integrations.crag.texts.questions.several_questions import questions_in
from haystack_integrations.crag.vocabulary import JUDGED


def split(question: str, most: int) -> list[str]:
    """
    Split a question of several parts into search queries for the parts.

    Known are several questions in one (`several_questions`) and two things compared (`comparisons`), both of `texts`.

    ```python
    from haystack_integrations.crag.expansion.split import split

    assert split("Where was Alan Turing born and when did he die?", 3) == [
        "Where was Alan Turing born",
        "when did Alan Turing die",
    ]
    assert split("Which city is older, Paris or Rome?", 3) == ["Paris city older", "Rome city older"]
    assert split("What are the causes and effects of inflation?", 3) == []
    ```

    :param question: The question.
    :param most: Most parts.
    :returns: The parts in order; empty when the question is one, or when the parts are more than `most`.
    """
    parts = things_compared(question) or questions_in(question)
    return parts if 1 < len(set(parts)) <= most else []


def unanswered(question: str, trail: Sequence[Mapping[str, Any]], kept: Sequence[Document] = ()) -> list[str]:
    """
    Give the questions in what is asked that the last pass left without an answer.

    ```python
    from haystack_integrations.crag.expansion.split import unanswered

    asked = "When was Emma written and who built the Chawton museum?"
    judged = {"signals": {"set": {"asked_apart": ["correct", "incorrect"]}}}
    assert unanswered(asked, [judged]) == ["who built the Chawton museum"]
    ```

    :param question: What is asked.
    :param trail: The decisions of the run; the last one may tell the verdict on each question.
    :param kept: The evidence that the run keeps.
    :returns: The questions, least answered first; where no grader told all of them, those first of whose words the
        evidence has the fewest; none when it is one question.
    """
    told = (verdicts_apart(trail[-1]) if trail else None) or []
    parts = asked_apart(question, ()) if told else questions_in(question)
    if len(told) != len(parts):
        return least_told(parts, kept) if kept else parts
    judged = sorted(zip(told, parts, strict=True), key=lambda each: -JUDGED.index(each[0]))
    return [part for verdict, part in judged if verdict != JUDGED[0]]
