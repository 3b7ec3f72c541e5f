"""One judgement on a list from several: for a question as it stands, and for the parts that it has."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from haystack_integrations.crag.judging.judge import Conclusion, Opinion
from haystack_integrations.crag.judging.likely import Likely
from haystack_integrations.crag.texts.questions.alternatives import alternatives_in
from haystack_integrations.crag.texts.questions.asked_apart import asked_apart
from haystack_integrations.crag.texts.questions.comparisons import things_compared
from haystack_integrations.crag.texts.questions.courtesies import bare_question
from haystack_integrations.crag.texts.questions.telling import asking_part, first_search

Kind = Literal["whole", "alternatives", "asked_apart", "compared", "asked_alone"]
"""What a question holds: nothing but itself, answers to choose from, several questions, things that it compares, or
what is asked beside what is told."""


def questions_in(question: str, texts: Sequence[tuple[str, str]]) -> tuple[Kind, list[str]]:
    """
    Tell what is to be judged of a question.

    :param question: The question, as it is meant.
    :param texts: Title and content of each document.
    :returns: What it holds, and the questions to judge: of answers to choose from one for each, else first the whole.
    """
    bare = bare_question(question)
    if offered := [*alternatives_in(bare)]:
        return "alternatives", offered
    if apart := [*asked_apart(bare, texts)]:
        return "asked_apart", [question, *apart]
    if sides := [*things_compared(bare)]:
        return "compared", [question, *sides]
    part = asking_part(question)
    return ("whole", [question]) if part is None else ("asked_alone", [question, part])


def joined_for(kind: Kind, question: str, opinions: Sequence[Opinion]) -> tuple[Opinion, dict[str, Any]]:
    """
    Make one judgement of those for what a question holds.

    :param kind: What it holds.
    :param question: The question, as it is meant.
    :param opinions: The judgement for each of its `questions_in`.
    :returns: The judgement, and what a record tells of the parts.
    """
    whole, *others = opinions
    match kind:
        case "alternatives":
            return best_of(opinions), {kind: len(opinions)}
        case "asked_apart":
            return of_all(whole, others), {kind: [part.conclusion.verdict for part in others]}
        case "compared":
            return with_sides(whole, others), {}
        case "asked_alone":
            (alone,) = others
            both = between(whole, alone)
            # To what is pasted nothing is like; by the mean a document that answers would not pass the filter.
            joined = both if first_search(question) == question else replace(alone, conclusion=both.conclusion)
            return joined, {kind: alone.conclusion.verdict}
    return whole, {}


def between(whole: Opinion, part: Opinion) -> Opinion:
    """
    Join what is thought of a list for a whole question, and for what is asked in it: verdicts that differ are a doubt.

    "We are moving to the new building and everything is chaos. How do I order a desk?" has words that no document on
    desks has, and in "I have a dishwasher. How long is the warranty?" they decide. No program knows which. With chatter
    in front, the shipped model called 10 to 41 % of the lists that answer `incorrect`, and so 3 to 14 %
    (benchmarks/as_typed.py).

    :param whole: The judgement for the whole question.
    :param part: That for the part.
    :returns: What lies between them, with the signals of the whole.
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


def of_all(whole: Opinion, parts: Sequence[Opinion]) -> Opinion:
    """
    Join what is thought of a list for each of the questions that were asked as one.

    To the words of two questions, a document that answers one is half of an answer: of lists that answered both, a
    quarter of the halves was lost to the filter, and of those that answered one a third was called `correct`
    (benchmarks/several_questions.py). So a document is as good as it is for any of them. Where all find the same
    document best, a later question may lack words that only the first has, so the whole may still say `correct`.

    :param whole: The judgement for all of them together.
    :param parts: That for each of them, two or more.
    :returns: What holds for all.
    """
    best = np.array([part.likely.answers for part in parts]).argmax(axis=0)
    same = {int(part.likely.answers.argmax()) for part in parts}
    said = [part.conclusion for part in parts]
    is_told_by_one = len(same) == 1 and "incorrect" not in {each.verdict for each in said}
    return Opinion(
        _for_any(parts),
        whole.conclusion if is_told_by_one and whole.conclusion.verdict == "correct" else _for_all(said),
        [parts[number].signals[place] for place, number in enumerate(best)],
    )


def best_of(offered: Sequence[Opinion]) -> Opinion:
    """
    Take the judgement for the answer that fits a list best, of those that a question offers.

    To the words of all of them, a document that has the right one lacks most: of 605 lists that answer, 137 were
    `correct`, and so 568 (benchmarks/alternatives.py).

    :param offered: The judgement for each answer, one or more.
    :returns: The best for the list, and for each document.
    """
    best = np.array([each.likely.answers for each in offered]).argmax(axis=0)
    said = max((each.conclusion for each in offered), key=lambda each: each.probabilities["correct"])
    return Opinion(_for_any(offered), said, [offered[number].signals[place] for place, number in enumerate(best)])


def with_sides(whole: Opinion, sides: Sequence[Opinion]) -> Opinion:
    """
    Raise documents that tell of one of the things that a question compares; the verdict stays that of the whole.

    Of 35 comparisons of hotpotqa, 22 kept the pages of both things among ten documents, and so 31
    (benchmarks/several_questions.py).

    :param whole: The judgement for the question.
    :param sides: That for each thing, with what is asked about it.
    :returns: The judgement, with the best of all for each document.
    """
    return Opinion(_for_any([whole, *sides]), whole.conclusion, whole.signals)


def _for_any(opinions: Sequence[Opinion]) -> Likely:
    """Take each document to be as good as it is for any of several questions."""
    likely = [opinion.likely for opinion in opinions]
    return Likely(
        np.array([each.answers for each in likely]).max(axis=0),
        np.array([each.topic for each in likely]).max(axis=0),
        np.array([each.sufficient for each in likely]).max(axis=0),
    )


def _for_all(said: Sequence[Conclusion]) -> Conclusion:
    """Take no more of each than all have: where only some of the questions are answered, that is a doubt."""
    verdicts = {each.verdict for each in said}
    correct, incorrect = (min(each.probabilities[name] for each in said) for name in ("correct", "incorrect"))
    return Conclusion(
        verdicts.pop() if len(verdicts) == 1 else "ambiguous",
        {"correct": correct, "ambiguous": 1 - correct - incorrect, "incorrect": incorrect},
        min(each.covered for each in said),
        sum(each.absent for each in said),
        min(each.specific for each in said),
    )
