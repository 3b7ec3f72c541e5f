"""One decision, from graded documents to the next state: judge, choose, write down. CragRouter gives it sockets."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from haystack import Document, logging

from haystack_integrations.crag.deciding.abstention import account
from haystack_integrations.crag.deciding.corrections import corrections_of, strategy_of
from haystack_integrations.crag.deciding.decisions import SET_VERDICT, Aggregate, Judgement, Over, judge, unjudged
from haystack_integrations.crag.deciding.miswired import begun, tell_of_other_question
from haystack_integrations.crag.deciding.policy import Choice, Policy, check_mode
from haystack_integrations.crag.deciding.record_tags import route_tags
from haystack_integrations.crag.deciding.records import decision_record
from haystack_integrations.crag.deciding.reports import read_report, usage_of
from haystack_integrations.crag.deciding.retrieval_report import doubted, status_of_run
from haystack_integrations.crag.deciding.thresholds import Thresholds
from haystack_integrations.crag.grades import grade_of, origin_of, question_id, set_score_of, taken_up, unite
from haystack_integrations.crag.inputs import is_number
from haystack_integrations.crag.observing import metrics
from haystack_integrations.crag.observing.telemetry import set_tags, trace, traced_id
from haystack_integrations.crag.state import CragState, known_grades, never_judged
from haystack_integrations.crag.vocabulary import GRADER_FAILED, LOOP_ACTIONS, NO_WEB, WEB_ACTIONS, Mode

logger = logging.getLogger(__name__)

_MOST_IN_A_LINE: Final = 20


@dataclass(frozen=True)
class Routing:
    """
    A router's checked settings, and the decision they lead to.

    :param thresholds: Where a score turns into a verdict.
    :param policy: Where a verdict turns into an action.
    :param aggregate: How scores become one.
    :param over: Whose scores: of the kept documents, or of all that were judged.
    :param variance_rule: Whether the spread of the scores counts between the thresholds.
    :param mode: The mode of a run that asks for none.
    """

    thresholds: Thresholds
    policy: Policy
    aggregate: Aggregate
    over: Over
    variance_rule: bool
    mode: Mode

    def decide(
        self,
        query: str,
        documents: Sequence[Document],
        state: CragState | None,
        report: Mapping[str, Any],
        mode: str | None,
    ) -> tuple[Choice, dict[str, Any], CragState]:
        """
        Decide about one pass.

        :param query: The original question.
        :param documents: Graded documents in rank order.
        :param state: What the run knows so far.
        :param report: What the grader says of its work.
        :param mode: The mode asked for, or None.
        :returns: What is done, the decision record, and the state after it.
        """
        report, question = read_report(report), question_id(query)
        known = begun(query, state).spend(usage_of(report))
        mode_now = check_mode(mode or known.mode or self.mode)
        documents = _received(documents, question, mode_now, report["not_asked"])
        everything = unite(documents, known.kept)
        with trace("crag.route") as span:
            judgement = unjudged(everything) if mode_now == "off" else self._judge(everything, question, known, report)
            searched = status_of_run(known.trail, report.get("retrieval"))
            pool = self.policy.pool(everything, known)
            new, met = any(document.id not in known.seen for document in documents), report.get("limit")
            judgement = doubted(_still_open(judgement, known, never_judged(known, everything, question)), searched)
            choice = self.policy.choose(judgement, known, pool, new=new, met=met, whole=searched == "ok")
            decision = decision_record(
                known, judgement, choice, self.thresholds, self.policy.most_passes(known), mode_now, report
            )
            if choice.action == "abstain":
                decision["abstention"] = {**account(known, everything, pool, judgement), "searched": searched}
            set_tags(span, {**route_tags(decision), "crag.milliseconds": round(1000 * known.seconds(), 1)})
            span.set_content_tag("crag.query", decision["query"])
        _log(decision)
        done = choice if mode_now == "enforce" else Choice("generate", f"mode_{mode_now}", None, list(documents))
        after = replace(
            _passed(known, done, decision),
            question=question,
            mode=mode_now,
            best=tuple(pool),
            seen=tuple(dict.fromkeys((*known.seen, *(document.id for document in documents)))),
            grades=known_grades(everything, question, known),
        )
        fresh = [document for document in everything if document.id not in known.grades]
        _count(decision, after, fresh, timed=state is not None)
        return done, decision, after

    def _judge(
        self, documents: Sequence[Document], question: str, known: CragState, report: Mapping[str, Any]
    ) -> Judgement:
        said: Any = report.get("verdict")
        own, least = (said.get("verdict"), said.get("correct_from")) if isinstance(said, Mapping) else (said, None)
        if own is not None and "set_score" not in report:  # its word is enough, and the best document stands beside it
            report = {**report, **set_score_of(grade_of(document, question) for document in documents)}
        of_set = {"set_score": report.get("set_score"), "set_verdict": own}
        if "set_score" not in report and known.trail:
            # A correction that had nothing to grade brings no word on the set: the last one still holds.
            last = known.trail[-1]
            if self.aggregate == "set" and last["verdict"] == "ungraded" and _known_already(documents, known):
                held = judge(documents, self.thresholds, question=question, aggregate="max")
                if not held.counts["approved"]:
                    return replace(held, verdict="ungraded", score=None, rule=last["judged_by"])
            of_set = {"set_score": last["score"]}
            of_set |= {"set_verdict": last["verdict"]} if last["judged_by"] == SET_VERDICT else {}
            least = last["thresholds"].get("correct_from")
        if not documents and known.web in NO_WEB and _asked_the_web(known):
            return _unchanged(unjudged([]), known)
        judgement = judge(
            documents,
            self.thresholds,
            question=question,
            aggregate=self.aggregate,
            over=self.over,
            variance_rule=self.variance_rule,
            **of_set,
        )
        if judgement.rule == SET_VERDICT:
            judgement = replace(judgement, correct_from=least)
        elif not documents and known.trail:  # nothing was judged: what was promised of the run still holds
            judgement = replace(judgement, correct_from=known.trail[-1]["thresholds"].get("correct_from"))
        if _known_already(documents, known) and _asked_the_web(known) and known.trail[-1]["verdict"] != "ungraded":
            return _unchanged(judgement, known)
        return _taken_back(judgement, report)


def _received(documents: Sequence[Document], question: str, mode: str, not_asked: int) -> list[Document]:
    """Take documents up; a grader that was asked something else is told of where grades count."""
    if mode != "off":
        tell_of_other_question(documents, question, not_asked)
    return taken_up(documents, question)


def _known_already(documents: Sequence[Document], known: CragState) -> bool:
    """Tell whether a pass brought documents, and all of them were seen before."""
    return bool(documents) and all(document.id in known.seen for document in documents)


def _asked_the_web(known: CragState) -> bool:
    """Tell whether this pass is one that the web was to bring documents for."""
    return bool(known.trail) and known.action in WEB_ACTIONS


def _unchanged(judgement: Judgement, known: CragState) -> Judgement:
    """
    Let the last verdict hold: the web brought nothing, and that is no judgement on what was retrieved before.

    What a correction left of it may be its best documents only, which by themselves would pass for correct.
    """
    last = known.trail[-1]
    least = last["thresholds"].get("correct_from")
    rule = "nothing_new" if known.web == "ok" else f"web_{known.web}"
    return replace(judgement, verdict=last["verdict"], score=last["score"], rule=rule, correct_from=least)


def _passed(known: CragState, done: Choice, decision: dict[str, Any]) -> CragState:
    """Give the state after a pass, as far as the choice made it."""
    return replace(
        known,
        iteration=known.iteration + 1,
        action=done.action,
        kept=done.carried,
        evidence=tuple(done.evidence),
        trail=(*known.trail, decision),
    )


def _taken_back(judgement: Judgement, report: Mapping[str, Any]) -> Judgement:
    """
    Take back a verdict `incorrect` where a cascade's model failed.

    It was asked about the very documents that may answer. Those that the scorer was sure of are no majority against
    them: with fewer than half of the documents asked about judged, the retrieval is ungraded.
    """
    told = (report.get("cascade") or {}).get("asked")
    asked = max(told, 0) if is_number(told) else 0
    if not asked or judgement.verdict != "incorrect" or 2 * judgement.counts["failed"] <= asked:
        return judgement
    return replace(judgement, verdict="ungraded", score=None, rule=GRADER_FAILED)


def _still_open(judgement: Judgement, known: CragState, pending: int) -> Judgement:
    """
    Keep in mind what could not be judged in an earlier pass, and did not come again.

    Where most of that pass was not judged, what a correction brought in its place does not make the run `incorrect`.
    """
    judgement = replace(judgement, pending=pending)
    was_ungraded = any(decision["judged_by"] == GRADER_FAILED for decision in known.trail)
    if not pending or judgement.verdict != "incorrect" or not was_ungraded:
        return judgement
    return replace(judgement, verdict="ungraded", score=None, rule=GRADER_FAILED)


def _log(decision: Mapping[str, Any]) -> None:
    """Log the dropped documents in one line, and the decision: ids, numbers and names, no text."""
    if discarded := decision["discarded"]:
        dropped = [
            f"id={traced_id(entry['id'])}, score={entry['score']}, reason={entry['reason']}"
            for entry in discarded[:_MOST_IN_A_LINE]
        ]
        dropped += [f"and {more} more"] if (more := len(discarded) - _MOST_IN_A_LINE) > 0 else []
        # In `observe` it is passed on: a line that said otherwise would send whoever reads it to look for a loss.
        logger.info(
            "{said}: {dropped}, iteration={iteration}",
            said="evidence that enforce would drop" if decision["mode"] == "observe" else "evidence dropped",
            dropped="; ".join(dropped),
            iteration=decision["iteration"],
        )
    logger.info(
        "decision: verdict={verdict}, score={score}, rule={rule}, action={action}, iteration={iteration}",
        **{key: decision[key] for key in ("verdict", "score", "rule", "action", "iteration")},
    )


def _count(decision: Mapping[str, Any], after: CragState, fresh: Sequence[Document], *, timed: bool) -> None:
    """Tell the metrics what this pass came to; a run in mode `off` judges nothing, and is not counted."""
    if after.mode == "off":
        return
    graded = [(document, grade_of(document, after.question)) for document in fresh]
    metrics.documents_scored(
        (grade.score, origin_of(document))
        for document, grade in graded
        if grade is not None and grade.status != "failed"
    )
    if after.action not in LOOP_ACTIONS:
        strategy = strategy_of(corrections_of(after))
        metrics.run_decided(decision["verdict"], strategy, decision["score"], after.seconds() if timed else None)
