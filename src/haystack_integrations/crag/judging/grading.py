"""Grade retrieved documents by a calibration: what HeuristicGrader does when it is given no weights."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from haystack import Document

from haystack_integrations.crag.corpus_statistics import CorpusStatistics
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.grades import crag_meta
from haystack_integrations.crag.judging.asking import Frequencies, Supposed, with_forms
from haystack_integrations.crag.judging.calibration import Calibration
from haystack_integrations.crag.judging.copies import originals
from haystack_integrations.crag.judging.evidence import Features
from haystack_integrations.crag.judging.joining import joined_for, questions_in
from haystack_integrations.crag.judging.judge import Opinion, judge
from haystack_integrations.crag.judging.meaning import meant_by
from haystack_integrations.crag.judging.reading import Reader, Reading
from haystack_integrations.crag.metadata import title_of

# What a grade's reason tells of a document's signals.
_TOLD: Final = ("covered", "sentence_under_title", "pairs", "like_document")
_LIKELY: Final = ("answers", "on_topic", "sufficient")


# The corpus supposed where nothing is known of it, and how common a term is that all retrieved documents have.
_SUPPOSED: Final = 10_000
_DAMPED: Final = 0.5


@dataclass(frozen=True)
class Graded:
    """
    What became of the documents of one retrieval.

    :param scores: The expected grade of each: 0 off topic, 0.5 on topic, 1 answers.
    :param reasons: Why, in numbers.
    :param signals: Of the set and of each document, as a grader emits them.
    :param report: What the router reads: `set_score`, `verdict`, `calibrated`, `signals`.
    """

    scores: list[float]
    reasons: list[str]
    signals: dict[str, Any]
    report: dict[str, Any]


def grade(
    query: str,
    documents: Sequence[Document],
    beside: Sequence[Document],
    calibration: Calibration,
    reader: Reader,
    statistics: Callable[[str], CorpusStatistics | None],
    title_field: str | None,
) -> Graded:
    """
    Grade documents.

    :param query: The question.
    :param documents: At least one document, in rank order.
    :param beside: Documents kept from earlier passes: the verdict is on all of them together.
    :param calibration: The trained judgement.
    :param reader: What reads texts.
    :param statistics: Gives the corpus's document frequencies of a question's terms; where it has none, the retrieved
        documents are counted.
    :param title_field: Metadata field with a document's title, or None.
    :returns: Scores, reasons and signals.
    """
    everything = [*documents, *beside]
    texts = [_text(document, title_field) for document in everything]
    opinion, how = _judged(query, texts, calibration, reader, statistics)
    scores = opinion.likely.scores()[: len(documents)]
    probabilities = {name: round(value, 4) for name, value in opinion.conclusion.probabilities.items()}
    covered = round(opinion.conclusion.covered, 4)
    of_set = {
        **{f"probability_{name}": value for name, value in probabilities.items()},
        "covered": covered,
        "absent": opinion.conclusion.absent,
        "calibrated": calibration.is_calibrated,
        # A calibration does not go by it.
        **({} if calibration.is_calibrated else {"specific": round(opinion.conclusion.specific, 2)}),
        **how,
    }
    each = [_signals(opinion, n) for n in range(len(documents))]
    by_id = {document.id: own for document, own in zip(documents, each, strict=True)}
    signals = {"set": of_set, "documents": by_id}
    # The record and the trail carry what explains a grade; all hundred signals would drown it.
    main = {id_: {name: round(own[name], 4) for name in (*_LIKELY, *_TOLD)} for id_, own in by_id.items()}
    report = {
        "set_score": probabilities["correct"],
        "verdict": {
            "verdict": opinion.conclusion.verdict,
            "probabilities": probabilities,
            "covered": covered,
            **({} if calibration.correct_from is None else {"correct_from": calibration.correct_from}),
        },
        "calibrated": calibration.is_calibrated,
        "signals": {"set": of_set, "documents": main},
    }
    return Graded(scores, [_reason(own) for own in each], signals, report)


def _judged(
    query: str,
    texts: Sequence[tuple[str, str]],
    calibration: Calibration,
    reader: Reader,
    statistics: Callable[[str], CorpusStatistics | None],
) -> tuple[Opinion, dict[str, Any]]:
    """Judge what is meant by a question, and say by which statistics, and how it was read."""
    known: list[CorpusStatistics | None] = []

    def counted(question: str, readings: Sequence[Reading], language: str | None) -> Frequencies:
        known.append(statistics(question))
        return _frequencies(known[-1], readings, language)

    meant = meant_by(query, texts, reader, counted)
    kind, questions = questions_in(meant.question, meant.texts)
    opinions = [judge(each, meant.texts, calibration, reader, meant.frequencies) for each in questions]
    opinion, parts = joined_for(kind, meant.question, opinions)
    how: dict[str, Any] = {"statistics": "retrieved" if known[-1] is None else known[-1].origin}
    how |= {} if meant.language is None else {"language": meant.language}
    return opinion, how | ({"read_as": meant.read_as} if meant.read_as else {}) | parts


def retrieved_frequencies(readings: Sequence[Reading]) -> Supposed:
    """
    Count document frequencies over what was retrieved: the last resort, since all of it was retrieved for the question.

    What all of them have is no common word for that, so the counts are stretched to those of a corpus, much damped: a
    term that none has weighs about twice as much as one that all have. A copy of another document is not counted.

    :param readings: The documents, at least one.
    :returns: Frequencies in a corpus of supposed size.
    """

    def frequencies(wanted: Sequence[str]) -> tuple[int, Mapping[str, int]]:
        found = [frozenset(term for term in wanted if reading.holds(term)) for reading in readings]
        distinct = set(originals(readings, found))
        shares = {term: sum(term in found[place] for place in distinct) / len(distinct) for term in wanted}
        return _SUPPOSED, {term: round(_SUPPOSED ** (_DAMPED * share)) for term, share in shares.items()}

    return Supposed(frequencies)


def _frequencies(known: CorpusStatistics | None, readings: Sequence[Reading], language: str | None) -> Frequencies:
    return retrieved_frequencies(readings) if known is None else with_forms(known.counts, readings, language)


def _text(document: Document, title_field: str | None) -> tuple[str, str]:
    return title_of(document, title_field), document.content or ""


def check_encoder(calibration: Calibration, encoder: str) -> None:
    """
    Refuse vectors of another model than the calibration was made with: alike is another number there.

    :param calibration: The trained judgement.
    :param encoder: Name of the model that is used.
    :raises ConfigurationError: With both names.
    """
    if calibration.encoder != encoder:
        msg = (
            f"the calibration was made with the embeddings of {calibration.encoder!r}, but the grader's model is "
            f"{encoder!r}; pass the folder of that model, or calibrate with this one: `crag calibrate --model FOLDER`"
        )
        raise ConfigurationError(msg)


def check_retrievers(used: Collection[str], calibration: Calibration) -> None:
    """
    Refuse lists of other retrievers than those the calibration was made on: their errors are other ones.

    :param used: Names of the retrievers; none where they are not known.
    :param calibration: The trained judgement.
    :raises ConfigurationError: With both.
    """
    if calibration.retrievers and not set(used) <= set(calibration.retrievers):
        msg = (
            f"the calibration was made on lists of {sorted(calibration.retrievers)}, but these documents come from "
            f"{sorted(used)}; calibrate on lists of this pipeline: `crag calibrate DIR --lists live --pipeline NAME`"
        )
        raise ConfigurationError(msg)


def retrievers_of(documents: Sequence[Document]) -> set[str]:
    """
    Name what found documents.

    :param documents: The documents.
    :returns: The names, as far as a joiner says so; the web is none of them.
    """
    used: set[str] = set()
    for document in documents:
        known = crag_meta(document)
        found = None if known.get("origin") == "web" else known.get("retrievers")
        used |= set(found) if isinstance(found, dict) else set()
    return used


def _signals(opinion: Opinion, n: int) -> Features:
    likely = opinion.likely
    own = (float(likely.answers[n]), float(likely.topic[n]), float(likely.sufficient[n]))
    return {**dict(zip(_LIKELY, own, strict=True)), **opinion.signals[n]}


def _reason(signals: Features) -> str:
    told = ", ".join(f"{name} {signals[name]:.2f}" for name in _TOLD)
    return f"answers {signals['answers']:.2f}, on topic {signals['on_topic']:.2f} ({told})"
