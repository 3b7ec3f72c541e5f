"""From a verdict to an action: ladders, limits and early stop. Pure; the router gives it sockets."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from haystack import Document

from haystack_integrations.crag.deciding.decisions import Judgement, best_first
from haystack_integrations.crag.deciding.retrieval_report import RETRIEVAL_RULES
from haystack_integrations.crag.deciding.thresholds import Thresholds
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.grades import grade_of, unite
from haystack_integrations.crag.settings import check_one_of, check_text, check_whole, number
from haystack_integrations.crag.state import CragState
from haystack_integrations.crag.vocabulary import (
    ACTIONS,
    GRADER_FAILED,
    LOOP_ACTIONS,
    MODE_OFF,
    MODES,
    ON_LIMIT,
    WEB_ACTIONS,
    Action,
    Mode,
    OnLimit,
    Verdict,
)

ITERATIONS_SETTING: Final = "KB_AGENT_MAX_ITERATIONS"
_MOST_ITERATIONS: Final = 20


@dataclass(frozen=True)
class Choice:
    """
    What is to be done.

    :param action: The action.
    :param rule: What decided: the judgement's rule, or the limit.
    :param limit: The limit that ended the run, or None.
    :param evidence: The documents to answer from, for `generate`.
    :param carried: The documents that go along into the coming pass.
    """

    action: Action
    rule: str
    limit: str | None
    evidence: list[Document]
    carried: tuple[Document, ...] = ()

    def branch(self, after: CragState) -> dict[str, Any]:
        """
        Give what the router's sockets get: of the branches only the one taken, since a None would trigger the others.

        :param after: The state after the decision.
        :returns: Values by socket; the words of an abstention are to come.
        """
        if self.action in LOOP_ACTIONS:
            beside = {"kept": list(after.kept)} if self.action in WEB_ACTIONS else {}
            return {self.action: after, **beside}
        return {self.action: self.evidence if self.action == "generate" else "", "outcome": after}


@dataclass(frozen=True)
class Policy:
    """
    Checked settings of a router; see `CragRouter` for their meaning.

    :param ladders: For each verdict the actions by pass; the last one stays.
    :param on_limit: One of `ON_LIMIT`.
    :param max_iterations: Most passes.
    :param max_evidence: Most documents to end with at a limit.
    :param thresholds: The scores in [0, 1] from which documents count as evidence.
    :param enough: An ambiguous retrieval that keeps so many documents is answered from them; None: never.
    :param good: The score in [0, 1] from which a document stays beside what the web finds; None: none does.
    """

    ladders: dict[Verdict, tuple[Action, ...]]
    on_limit: OnLimit
    max_iterations: int
    max_evidence: int
    thresholds: Thresholds
    enough: int | None
    good: float | None

    @classmethod
    def of(cls, router: Any, thresholds: Thresholds) -> "Policy":
        """
        Take a router's settings and check them.

        :param router: The component, with an attribute for each setting.
        :param thresholds: Its thresholds.
        :returns: The policy.
        :raises ConfigurationError: With what was got and what is accepted.
        """
        check_one_of("on_limit", router.on_limit, ON_LIMIT)
        check_whole("max_evidence", router.max_evidence)
        if router.enough_documents is not None:
            check_whole("enough_documents", router.enough_documents)
        if not router.explain_abstention:  # else the explanation may stand alone
            check_text("abstention", router.abstention)
        ladders: dict[Verdict, tuple[Action, ...]] = {
            "correct": ("generate",),
            "ambiguous": _ladder("on_ambiguous", router.on_ambiguous),
            "incorrect": _ladder("on_incorrect", router.on_incorrect),
            "ungraded": _ladder("on_ungraded", router.on_ungraded),
        }
        return cls(
            ladders,
            router.on_limit,
            number("max_iterations", router.max_iterations, 3, int, 1, _MOST_ITERATIONS, ITERATIONS_SETTING),
            router.max_evidence,
            thresholds,
            router.enough_documents,
            thresholds.upper if router.keep_good else None,
        )

    def pool(self, documents: Sequence[Document], state: CragState) -> list[Document]:
        """
        Add the documents of this pass to the best of all passes.

        What the web has replaced or supplemented is not taken up again: it was dropped for a reason, or is refined
        among this pass's documents. Only when the web brought nothing, what was there stays.

        :param documents: Graded documents of this pass.
        :param state: What the run knows so far.
        :returns: At most `max_evidence` documents, best first; the newest grade of a document counts. Those without one
            only from a pass in which none has any.
        """
        # Where nobody gave a grade, nobody called one of them worse than another.
        graded = [one for one in documents if grade_of(one) is not None] or documents
        replaced = state.action in WEB_ACTIONS and graded
        return best_first(graded if replaced else unite(graded, state.best))[: self.max_evidence]

    def choose(
        self,
        judgement: Judgement,
        state: CragState,
        pool: Sequence[Document],
        *,
        new: bool,
        met: str | None = None,
        whole: bool = True,
    ) -> Choice:
        """
        Choose the action after a judgement.

        :param judgement: What the grades of this pass say.
        :param state: What the run knew before this pass.
        :param pool: The best documents of all passes, this one included.
        :param new: Whether this pass brought a document that no earlier pass had.
        :param met: A limit of the budget that kept the grader from asking, or None.
        :param whole: Whether all that was to be searched could be searched.
        :returns: The choice.
        """
        iteration, rule = state.iteration + 1, judgement.rule
        if rule == MODE_OFF:
            return Choice("generate", rule, None, judgement.kept)
        action = self._rung(judgement.verdict, iteration)
        if judgement.verdict == "ambiguous" and self.enough is not None and len(judgement.kept) >= self.enough:
            action, rule = "generate", "enough_documents"
        is_partial = judgement.counts["failed"] or judgement.pending or not whole
        if action in WEB_ACTIONS and judgement.verdict != "ungraded" and is_partial:
            # What was not judged or not searched may be the answer: a failure must not send the question to the web.
            action, rule = self._rung("ungraded", iteration), "grader_partial" if whole else "retrieval_incomplete"
        carried = judgement.kept if action in ("refine", "web_and_refine") else []
        if action == "web" and (carried := self._good(judgement.kept)):
            action = "web_and_refine"
        # What was found does not answer and not all was searched: neither an answer nor "there is none" rests on it.
        unsearched = judgement.rule in RETRIEVAL_RULES
        limit = (met or self._limit(state, iteration, new=new)) if action in LOOP_ACTIONS else None
        if limit is None and action in LOOP_ACTIONS:
            return Choice(action, rule, None, [], tuple(carried))
        sound = self._sound(pool)
        if limit is not None:
            action = "abstain" if self.on_limit == "abstain" else "generate"
            evidence = sound or (list(pool) if self.on_limit == "generate" and not unsearched else [])
        else:
            # In the place of a web search, as where the grader failed, only what may answer; else the best there is.
            is_judged = rule == judgement.rule and rule != GRADER_FAILED
            evidence = [] if unsearched else judgement.kept or (list(pool) if is_judged else sound)
        # A calibration that promises how rarely an answer is wrong promises it of what is called correct, of no rest.
        unsure = judgement.correct_from is not None and judgement.verdict != "correct"
        if action == "generate" and (unsure or not evidence):
            action = "abstain"
        return Choice(action, limit or rule, limit, evidence if action == "generate" else [])

    def _good(self, documents: Sequence[Document]) -> list[Document]:
        """List the documents that are too good to be replaced."""
        graded = [(document, grade_of(document)) for document in documents] if self.good is not None else []
        return [d for d, grade in graded if grade and grade.status != "failed" and grade.score >= (self.good or 0.0)]

    def _rung(self, verdict: Verdict, iteration: int) -> Action:
        ladder = self.ladders[verdict]
        return ladder[min(iteration, len(ladder)) - 1]

    def most_passes(self, state: CragState) -> int:
        """
        Tell how many passes a run may have.

        :param state: What the run knows so far.
        :returns: The number: its budget may allow fewer than the router, and not more.
        """
        return min(self.max_iterations, state.budget.iterations or self.max_iterations)

    def _limit(self, state: CragState, iteration: int, *, new: bool) -> str | None:
        if iteration >= self.most_passes(state):
            return "max_iterations"
        return state.exhausted() or (None if new or iteration == 1 else "nothing_new")

    def _sound(self, documents: Sequence[Document]) -> list[Document]:
        """List the documents that count as evidence."""
        graded = [(document, grade) for document in documents if (grade := grade_of(document)) is not None]
        keeps = self.thresholds.enough(grade for _, grade in graded)
        return [document for document, grade in graded if keeps(document, grade)]


def _ladder(name: str, value: Any) -> tuple[Action, ...]:
    """Check one action or a ladder of actions."""
    rungs = tuple(value) if isinstance(value, list | tuple) else (value,)
    if not rungs or any(rung not in ACTIONS for rung in rungs):
        msg = f"{name} must be one of {list(ACTIONS)} or a list of them, but got {value!r}"
        raise ConfigurationError(msg)
    return rungs


def check_mode(mode: Any) -> Mode:
    """
    Refuse an unknown mode.

    :param mode: A name.
    :returns: The same name.
    :raises ConfigurationError: With the list of known ones.
    """
    check_one_of("mode", mode, MODES)
    checked: Mode = mode
    return checked
