"""From a verdict to an action: ladders, limits and early stop. Pure; the router gives it sockets."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from haystack import Document

from haystack_integrations.crag.decisions import Judgement, best_first
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.grades import grade_of, unite
from haystack_integrations.crag.settings import number
from haystack_integrations.crag.state import CragState
from haystack_integrations.crag.vocabulary import ACTIONS, LOOP_ACTIONS, MODES, WEB_ACTIONS, Action, Mode, Verdict

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
    """

    action: Action
    rule: str
    limit: str | None
    evidence: list[Document]


@dataclass(frozen=True)
class Policy:
    """
    Checked settings of a router; see `CragRouter` for their meaning.

    :param ladders: For each verdict the actions by pass; the last one stays.
    :param on_limit: `generate` or `abstain`.
    :param max_iterations: Most passes.
    :param max_evidence: Most documents to end with at a limit.
    :param filter_threshold: The score in [0, 1] from which a document counts as evidence.
    """

    ladders: dict[Verdict, tuple[Action, ...]]
    on_limit: Action
    max_iterations: int
    max_evidence: int
    filter_threshold: float

    @classmethod
    def of(
        cls,
        *,
        on_ambiguous: Any,
        on_incorrect: Any,
        on_ungraded: Any,
        on_limit: Any,
        max_iterations: int | None,
        max_evidence: int,
        filter_threshold: float,
    ) -> "Policy":
        """
        Check a router's settings.

        :returns: The policy.
        :raises ConfigurationError: With what was got and what is accepted.
        """
        if on_limit not in ("generate", "abstain"):
            msg = f"on_limit must be 'generate' or 'abstain', but got {on_limit!r}"
            raise ConfigurationError(msg)
        if not isinstance(max_evidence, int) or max_evidence < 1:
            msg = f"max_evidence must be a whole number > 0, but got {max_evidence!r}"
            raise ConfigurationError(msg)
        ladders: dict[Verdict, tuple[Action, ...]] = {
            "correct": ("generate",),
            "ambiguous": _ladder("on_ambiguous", on_ambiguous),
            "incorrect": _ladder("on_incorrect", on_incorrect),
            "ungraded": _ladder("on_ungraded", on_ungraded),
        }
        iterations = number(ITERATIONS_SETTING, max_iterations, 3, int, 1, _MOST_ITERATIONS)
        return cls(ladders, on_limit, iterations, max_evidence, filter_threshold)

    def pool(self, documents: Sequence[Document], state: CragState, question: str) -> list[Document]:
        """
        Add the documents of this pass to the best of all passes.

        :param documents: Graded documents of this pass.
        :param state: What the run knows so far.
        :param question: `question_id` of the question.
        :returns: At most `max_evidence` documents, best first; the newest grade of a document counts.
        """
        graded = [document for document in documents if grade_of(document, question) is not None]
        return best_first(unite(graded, state.best))[: self.max_evidence]

    def choose(self, judgement: Judgement, state: CragState, pool: Sequence[Document], *, new: bool) -> Choice:
        """
        Choose the action after a judgement.

        :param judgement: What the grades of this pass say.
        :param state: What the run knew before this pass.
        :param pool: The best documents of all passes, this one included.
        :param new: Whether this pass brought a document that no earlier pass had.
        :returns: The choice.
        """
        iteration, rule = state.iteration + 1, judgement.rule
        if rule == "mode_off":
            return Choice("generate", rule, None, judgement.kept)
        action = self._rung(judgement.verdict, iteration)
        if action in WEB_ACTIONS and judgement.verdict != "ungraded" and judgement.counts["failed"]:
            # What could not be judged may be the answer: a failure must not send the question to a search engine.
            action, rule = self._rung("ungraded", iteration), "grader_partial"
        limit = self._limit(state, iteration, new=new) if action in LOOP_ACTIONS else None
        if limit is None and action in LOOP_ACTIONS:
            return Choice(action, rule, None, [])
        sound = [document for document in pool if self._is_evidence(document)]
        if limit is not None:
            action = "generate" if sound or self.on_limit == "generate" else "abstain"
            evidence = sound or list(pool)
        else:
            evidence = judgement.kept or list(pool)
        if action == "generate" and not evidence:
            action = "abstain"
        return Choice(action, limit or rule, limit, evidence if action == "generate" else [])

    def _rung(self, verdict: Verdict, iteration: int) -> Action:
        ladder = self.ladders[verdict]
        return ladder[min(iteration, len(ladder)) - 1]

    def _limit(self, state: CragState, iteration: int, *, new: bool) -> str | None:
        if iteration >= self.max_iterations:
            return "max_iterations"
        return state.exhausted() or (None if new or iteration == 1 else "nothing_new")

    def _is_evidence(self, document: Document) -> bool:
        grade = grade_of(document)
        return grade is not None and grade.score >= self.filter_threshold


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
    if mode not in MODES:
        msg = f"mode must be one of {list(MODES)}, but got {mode!r}"
        raise ConfigurationError(msg)
    checked: Mode = mode
    return checked
