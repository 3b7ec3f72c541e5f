"""Fixed lists: the judging parts of a pipeline on lists that come with the data, one pass, without its retrieval."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from time import perf_counter
from typing import Any, Final

from haystack import Document

from haystack_integrations.crag.deciding.reports import read_report
from haystack_integrations.crag.evaluation.cases import TOP_K, Case, Dataset, Label, RankedList
from haystack_integrations.crag.evaluation.gaps import COVERED, DECIDED
from haystack_integrations.crag.evaluation.parts import Parts, judging_parts, warm_up
from haystack_integrations.crag.evaluation.setup import Setup
from haystack_integrations.crag.evaluation.strips import Sentences, answered, support, words_in
from haystack_integrations.crag.grades import grade_of
from haystack_integrations.crag.vocabulary import SPENT

LISTED: Final = 10
"""How many documents of a list the filter is measured on."""

_MOST_KEPT: Final = 200  # documents: of one question, or two


@dataclass(frozen=True)
class Decided:
    """
    What became of a list.

    :param decision: The router's decision record.
    :param scores: The grade of each document by id.
    :param kept: Ids of the documents that passed the filter.
    :param evidence: What the generator would be given if this were the last pass.
    :param report: What the grader says of its work, as the router reads it.
    :param seconds: How long the judgement took.
    """

    decision: dict[str, Any]
    scores: dict[str, float | None]
    kept: frozenset[str]
    evidence: list[Document]
    report: dict[str, Any]
    seconds: float


class FixedLists:
    """Judges the lists of a data set."""

    def __init__(self, dataset: Dataset, setup: Setup) -> None:
        """
        Load the parts of the pipeline that judge.

        :param dataset: The data.
        :param setup: What is evaluated.
        :raises ConfigurationError: When there are no lists, or a part is missing or cannot be used.
        """
        self._dataset, self._top_k = dataset, setup.top_k or dataset.depth(TOP_K)
        self._parts: Parts = judging_parts(setup)
        warm_up(vars(self._parts).values())
        self._sentences = Sentences(dataset.passages)
        # The lists of a question have much in common.
        self._document = lru_cache(_MOST_KEPT)(lambda name: dataset.passages[name].document())

    def truth(self, case: Case) -> Label:
        """
        Tell the right verdict on a question's list.

        :param case: The question.
        :returns: The verdict.
        """
        return self._dataset.truth(case, case.fixed or RankedList(()), self._top_k)

    def record(self, case: Case) -> dict[str, Any]:
        """
        Judge the lists of a question.

        :param case: The question.
        :returns: Its record.
        """
        ranked = case.fixed or RankedList(())
        listed, top = ranked.retrieved[: max(LISTED, self._top_k)], ranked.retrieved[: self._top_k]
        first = self._decide(case.question, top)
        # A grade may depend on the company, so the verdict's list and the longer one are graded apart.
        longer = first if listed == top else self._decide(case.question, listed)
        refined, spent = self._refined(case.question, first.evidence)
        return {
            "id": case.id,
            "question": case.question,
            "label": self.truth(case),
            "strict": case.strict,
            **{name: first.decision[name] for name in ("verdict", "score", "rule", "action")},
            "probabilities": _said_of(first, "probabilities"),
            "documents": self._listed(case, ranked, longer),
            "strips": self._strips(case, top),
            "support": support(case, self._found(top), refined),
            "gap": self._gap(case, top, first),
            "cost": {
                **{name: first.report[name] + spent.get(name, 0) for name in SPENT},
                "words_to_generator": words_in(refined),
                "seconds": round(first.seconds + spent["seconds"], 6),
            },
            "error": None,
        }

    def _decide(self, question: str, names: Sequence[str]) -> Decided:
        """Decide as in the pipeline's first pass."""
        started = perf_counter()
        graded, reports = self._graded(question, self._found(names))
        routed = self._parts.router.run(query=question, documents=graded, **reports)
        seconds, decision = perf_counter() - started, routed["decision"]
        kept = frozenset(entry["id"] for entry in decision["kept"])
        grades = ((document.id, grade_of(document)) for document in graded)
        scores = {name: None if grade is None else grade.score for name, grade in grades}
        stays = [document for document in graded if document.id in kept]
        evidence = [] if decision["action"] == "abstain" else routed.get("generate", stays)
        report = read_report({**(reports.get("scored") or {}), **(reports.get("report") or {})})
        return Decided(decision, scores, kept, evidence, report, seconds)

    def _graded(self, question: str, documents: list[Document]) -> tuple[list[Document], dict[str, Any]]:
        """Give graded documents, and what the router is told besides."""
        parts, reports = self._parts, dict[str, Any]()
        if parts.prefilter is not None:
            passed = parts.prefilter.run(query=question, documents=documents)
            if "approved" in passed:
                return passed["approved"], reports
        if parts.gate is not None:
            scored = parts.scorer.run(query=question, documents=documents)
            gated = parts.gate.run(query=question, documents=scored["documents"], report=scored["report"])
            reports["scored"] = gated["report"]
            if "decided" in gated:
                return gated["decided"], reports
            documents = gated["undecided"]
        if parts.grader is None:
            return documents, reports
        result = parts.grader.run(query=question, documents=documents)
        return result["documents"], {**reports, "report": result.get("report") or {}}

    def _refined(self, question: str, evidence: list[Document]) -> tuple[list[Document], dict[str, Any]]:
        """Refine evidence as the pipeline does before its generator; tells what that cost too."""
        if self._parts.refiner is None or not evidence:
            return evidence, {"seconds": 0.0}
        started = perf_counter()
        result = self._parts.refiner.run(query=question, documents=evidence)
        return result["documents"], {**result["report"], "seconds": perf_counter() - started}

    def _listed(self, case: Case, ranked: RankedList, longer: Decided) -> list[dict[str, Any]]:
        rows = zip(ranked.retrieved[:LISTED], case.grades(ranked), strict=False)
        return [
            {
                "id": name,
                "title": self._dataset.passages[name].title,
                "label": grade,
                "score": longer.scores.get(name),
                "kept": name in longer.kept,
            }
            for name, grade in rows
        ]

    def _strips(self, case: Case, top: Sequence[str]) -> dict[str, int] | None:
        if not case.gold_sentences:
            return None
        refined = self._parts.strips.run(query=case.question, documents=self._found(top))["documents"]
        return self._sentences.count(case, top, refined)

    def _gap(self, case: Case, top: Sequence[str], first: Decided) -> dict[str, Any] | None:
        if case.gap is None:
            return None
        names = case.gap.retrieved[: self._top_k]
        # Most lists lost nothing: the same list need not be judged twice.
        decided = first if names == top else self._decide(case.question, names)
        accidental = answered(case, self._found(names)) if case.gap.status == "gap" else None
        # A calibrated judgement has a number for just this; any other its score.
        covered = _said_of(decided, "covered")
        told = {"verdict": decided.decision["verdict"], "score": decided.decision["score"], "by": DECIDED}
        told |= {} if covered is None else {"score": covered, "by": COVERED}
        return {"status": case.gap.status, **told, "accidental": accidental}

    def _found(self, names: Sequence[str]) -> list[Document]:
        return [self._document(name) for name in names]


def _said_of(decided: Decided, name: str) -> Any:
    verdict = decided.report["verdict"]
    return verdict.get(name) if isinstance(verdict, dict) else None  # else it is a word alone, or None
