"""The judgement itself: from a question and its documents to probabilities and a verdict, by a calibration."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from haystack_integrations.crag.judging.asking import Asked, Frequencies, ask
from haystack_integrations.crag.judging.calibration import Calibration
from haystack_integrations.crag.judging.company import Measured
from haystack_integrations.crag.judging.copies import measure_apart, measure_once
from haystack_integrations.crag.judging.evidence import Features
from haystack_integrations.crag.judging.heads import Values
from haystack_integrations.crag.judging.likely import Likely, likely_of, listed
from haystack_integrations.crag.judging.reading import Reader, Reading
from haystack_integrations.crag.judging.rules.definitions import definitions
from haystack_integrations.crag.judging.rules.editions import of_other_years
from haystack_integrations.crag.judging.rules.entries import entries
from haystack_integrations.crag.judging.rules.exact import absent
from haystack_integrations.crag.judging.rules.hops import with_hops
from haystack_integrations.crag.judging.rules.rows import rows
from haystack_integrations.crag.judging.rules.sections import of_other_sections
from haystack_integrations.crag.judging.rules.tasks import tasks
from haystack_integrations.crag.judging.rules.unanswered import unanswered
from haystack_integrations.crag.texts.languages.common_words import is_other_script
from haystack_integrations.crag.texts.questions.courtesies import bare_question
from haystack_integrations.crag.vocabulary import JUDGED

CROSSED = "crossing"
"""The signal that `Crossing` gives a document."""

_ALIKE = 0.65
# Of lists that lack a number of the question 3 answered and 14 did not; of others with a number about two in three do.
_SELDOM = 0.1
_ENTRY = 0.8  # surely correct, and no promise: of such lists too few have labels


class Conclusion(NamedTuple):
    """
    What is said of a list.

    :param verdict: The verdict.
    :param probabilities: Of each verdict, calibrated.
    :param covered: How likely an answering document is there, for telling lists whose evidence the store lacks: by
        the model that has met such lists, else the probability of `correct`. An order, not a share of your questions.
    :param absent: How many things that the question names exactly are in no document: it is not `correct` then.
    :param specific: How little it is by chance that a document has all words of the question; see `Asked`.
    """

    verdict: str
    probabilities: dict[str, float]
    covered: float
    absent: int = 0
    specific: float = 0.0


@dataclass(frozen=True)
class Opinion:
    """
    The judgement on a retrieval.

    :param likely: On each document.
    :param conclusion: On the list.
    :param signals: What was measured of each document.
    """

    likely: Likely
    conclusion: Conclusion
    signals: list[Features]


def judge(
    query: str,
    texts: Sequence[tuple[str, str]],
    calibration: Calibration,
    reader: Reader,
    frequencies: Frequencies,
) -> Opinion:
    """
    Judge a retrieval.

    :param query: The question.
    :param texts: Title and content of each document, at least one, in rank order.
    :param calibration: The trained judgement.
    :param reader: What reads texts.
    :param frequencies: Gives the number of documents in the corpus, and how many of them have each term.
    :returns: The judgement.
    """
    return opinion_on(query, texts, ask(query, frequencies, reader.encoder), reader.read(texts), calibration)


def opinion_on(
    query: str,
    texts: Sequence[tuple[str, str]],
    asked: Asked,
    readings: Sequence[Reading],
    calibration: Calibration,
) -> Opinion:
    """
    Judge a retrieval that has been read.

    :param query: The question.
    :param texts: Title and content of each document, at least one, in rank order.
    :param asked: The question, read.
    :param readings: The documents, read.
    :param calibration: The trained judgement.
    :returns: The judgement.
    """
    measure = measure_once if calibration.is_calibrated else measure_apart
    measured = crossed(measure(asked, readings), asked, readings, calibration)
    if not calibration.is_calibrated and is_other_script(query):
        measured = replace(measured, documents=[_by_words(each) for each in measured.documents])
    likely, conclusion = concluded(query, texts, asked, readings, measured, calibration)
    return Opinion(likely, conclusion, measured.documents)


def concluded(
    query: str,
    texts: Sequence[tuple[str, str]],
    asked: Asked,
    readings: Sequence[Reading],
    measured: Measured,
    calibration: Calibration,
) -> tuple[Likely, Conclusion]:
    """
    Judge a retrieval that has been measured.

    :param query: The question.
    :param texts: Title and content of each document.
    :param asked: The question as it is meant.
    :param readings: The documents.
    :param measured: What was measured of them.
    :param calibration: The trained judgement.
    :returns: The judgement on each document, and on the list.
    """
    bare, likely = bare_question(query), likely_of(measured.documents, calibration)
    doubted = unanswered(asked, readings) | of_other_years(bare, texts) | of_other_sections(asked, texts)
    if doubted.any():
        answers, sufficient = (
            np.where(doubted, np.minimum(v, _SELDOM), v) for v in (likely.answers, likely.sufficient)
        )
        likely = replace(likely, answers=answers, sufficient=sufficient)
    conclusion = _conclude(measured, likely, calibration)
    if not calibration.is_calibrated:
        told = entries(bare, texts) | rows(bare, texts) | definitions(bare, texts) | tasks(bare, texts)
        told &= ~doubted
        likely, conclusion = _told(likely, conclusion, told) if told.any() else (likely, conclusion)
    if missing := len(absent(bare, texts)):
        likely, conclusion = _lacking(likely, conclusion, missing)
    return with_hops(likely, asked, readings), conclusion


def _told(likely: Likely, conclusion: Conclusion, told: NDArray[np.bool_]) -> tuple[Likely, Conclusion]:
    """Take documents to answer that have the entry of what is asked about. A calibration has met such questions."""
    raised = Likely(
        *(np.where(told, np.maximum(v, _ENTRY), v) for v in (likely.answers, likely.topic, likely.sufficient))
    )
    if conclusion.verdict == "correct":
        return raised, conclusion
    odds = {name: value for name, value in conclusion.probabilities.items() if name != "correct"}
    rest = {name: value * (1 - _ENTRY) / sum(odds.values()) for name, value in odds.items()}
    said = {"correct": _ENTRY, **rest}
    return raised, conclusion._replace(verdict="correct", probabilities=said, covered=max(conclusion.covered, _ENTRY))


def _lacking(likely: Likely, conclusion: Conclusion, missing: int) -> tuple[Likely, Conclusion]:
    """Take documents to answer seldom that lack so many things that the question names exactly."""
    odds = {name: value * (_SELDOM if name == "correct" else 1) for name, value in conclusion.probabilities.items()}
    probabilities = {name: value / sum(odds.values()) for name, value in odds.items()}
    verdict = "ambiguous" if conclusion.verdict == "correct" else conclusion.verdict
    said = conclusion._replace(
        verdict=verdict, probabilities=probabilities, covered=conclusion.covered * _SELDOM, absent=missing
    )
    return replace(likely, answers=np.minimum(likely.answers, _SELDOM)), said


def _by_words(signals: Features) -> Features:
    """
    Take a document to be as like the question as one on its subject is, whatever the vectors say.

    To a model of English any two texts in Cyrillic are alike (.96), so nothing was `incorrect`. A calibration has met
    its own language, and knows what is much there.
    """
    mixed = (signals["sentence_under_title"] + _ALIKE) / 2
    return {**signals, "like_document": _ALIKE, "like_most": _ALIKE, "sentence_mixed": mixed}


def crossed(measured: Measured, asked: Asked, readings: Sequence[Reading], calibration: Calibration) -> Measured:
    """
    Add the signal of the crossing, where the calibration has one.

    :param measured: What was measured.
    :param asked: The question.
    :param readings: The documents.
    :param calibration: The trained judgement.
    :returns: What was measured, with `CROSSED` in each document's signals.
    """
    if (crossing := calibration.crossing) is None:
        return measured
    rows = zip(measured.documents, readings, strict=True)
    return replace(measured, documents=[{**each, CROSSED: crossing.score(asked, text)} for each, text in rows])


def together(measured: Measured, likely: Likely) -> Features:
    """
    Collect what the verdict is read from.

    :param measured: What was measured of the list.
    :param likely: What its documents are likely to be.
    :returns: Signals by name.
    """
    own = list(measured.distinct)
    return {**measured.together, **listed(likely.answers[own], likely.topic[own], likely.sufficient[own])}


def _conclude(measured: Measured, likely: Likely, calibration: Calibration) -> Conclusion:
    """Judge a list, by what was measured of it and what its documents are likely to be."""
    signals = [together(measured, likely)]
    verdict, probabilities = decide(calibration.verdict.probabilities(signals)[0], calibration)
    covered = calibration.covered
    chance = probabilities["correct"] if covered is None else float(covered.probabilities(signals)[0])
    return Conclusion(verdict, probabilities, chance, specific=measured.together["specific"])


def decide(row: Values, calibration: Calibration) -> tuple[str, dict[str, float]]:
    """
    Turn probabilities into a verdict.

    :param row: A probability for each class; of the second class where there are two.
    :param calibration: The trained judgement.
    :returns: The verdict, and the probability of each of the three.
    """
    row = np.atleast_1d(row)
    row = np.array([1 - row[0], row[0]]) if len(row) == 1 else row
    weighed = row * np.array(calibration.priors)
    by_class = dict(zip(calibration.classes, row.tolist(), strict=True))
    verdict, least = calibration.classes[int(weighed.argmax())], calibration.correct_from
    # A limit only takes verdicts away: it never makes one `correct` that would be none without it.
    if verdict == "correct" and least is not None and by_class["correct"] < least:
        weighed[calibration.classes.index("correct")] = -1.0
        # Where nothing was labelled ambiguous, what is not sure enough is not for that likely to be off topic.
        verdict = calibration.classes[int(weighed.argmax())] if "ambiguous" in calibration.classes else "ambiguous"
    return verdict, {name: by_class.get(name, 0.0) for name in JUDGED}
