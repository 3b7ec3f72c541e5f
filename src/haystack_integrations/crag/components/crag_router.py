"""CragRouter: from grades to one of six actions, bounded and on record (arXiv 2401.15884, section 4.3)."""

from typing import Any

from haystack import Document, component

from haystack_integrations.crag.decisions import Aggregate, Thresholds, check_aggregate
from haystack_integrations.crag.policy import Policy, check_mode
from haystack_integrations.crag.routing import Routing
from haystack_integrations.crag.state import CragState
from haystack_integrations.crag.vocabulary import LOOP_ACTIONS, Action, Mode


@component
class CragRouter:
    """
    Decides what happens with a graded retrieval, and writes the decision down.

    Documents below `filter_threshold` are dropped, the rest is aggregated and compared with `upper` and `lower`. A
    correct retrieval is answered from; an ambiguous or incorrect one is corrected, again and again, until it is
    correct, a limit is reached, or a correction brings nothing new. Then the run ends with the best evidence of any
    pass, or says that the documents do not answer. It never ends with an exception and never empty without a reason.

    ```python
    from haystack import Document
    from haystack_integrations.crag.components.crag_router import CragRouter
    from haystack_integrations.crag.grades import Grade, question_id, with_grade

    question = "Who wrote Emma?"
    grade = Grade(0.9, "graded", "example", question_id(question))
    document = with_grade(Document(content="Emma is a novel by Jane Austen."), grade)
    result = CragRouter().run(query=question, documents=[document])
    assert result["generate"][0].content.startswith("Emma")
    assert result["decision"]["verdict"] == "correct"
    ```
    """

    def __init__(
        self,
        *,
        upper: float = 0.7,
        lower: float = 0.3,
        filter_threshold: float = 0.3,
        aggregate: Aggregate = "mean",
        variance_rule: bool = False,
        on_ambiguous: Action | list[Action] = "refine",
        on_incorrect: Action | list[Action] = "re_retrieve",
        on_ungraded: Action | list[Action] = "generate",
        on_limit: Action = "generate",
        max_iterations: int | None = None,
        max_evidence: int = 10,
        mode: Mode = "enforce",
        abstention: str = "The documents do not answer this question.",
    ) -> None:
        """
        Set the thresholds and the policy.

        :param upper: Aggregate in [0, 1] from which a retrieval is correct.
        :param lower: Aggregate in [0, 1] from which it is ambiguous.
        :param filter_threshold: A document whose score in [0, 1] is below it is dropped.
        :param aggregate: `mean`, `rank_weighted` (weights 1/(rank+1)), `max`, `min` (the worst kept document decides)
            or `set` (the grader's own score of the set).
        :param variance_rule: Between the thresholds, let the spread of the scores decide; see `decisions.judge`.
        :param on_ambiguous: Action, or a ladder of actions by pass; the last one stays.
        :param on_incorrect: Likewise.
        :param on_ungraded: Likewise, for a grading that failed. A web action here is the explicit opt-in: without it
            a failed grading never leads to a web search.
        :param on_limit: What to do when a correction is due but a limit is reached: `generate` from the best evidence
            of any pass, or `abstain` unless some document passed the filter in some pass.
        :param max_iterations: Most passes through retrieval, 1 to 20. None reads `KB_AGENT_MAX_ITERATIONS` from the
            environment or `.env`, and is 3 when that is not set.
        :param max_evidence: Most documents to end with at a limit.
        :param mode: `enforce`, `observe` or `off`; a run can ask for another.
        :param abstention: The answer given when the router abstains.
        :raises ConfigurationError: For an unusable threshold, action, mode or number.
        """
        check_aggregate(aggregate)
        self.upper, self.lower, self.filter_threshold = upper, lower, filter_threshold
        self.aggregate, self.variance_rule, self.mode = aggregate, variance_rule, check_mode(mode)
        self.on_ambiguous, self.on_incorrect = on_ambiguous, on_incorrect
        self.on_ungraded, self.on_limit = on_ungraded, on_limit
        self.max_iterations, self.max_evidence, self.abstention = max_iterations, max_evidence, abstention
        policy = Policy.of(
            on_ambiguous=on_ambiguous,
            on_incorrect=on_incorrect,
            on_ungraded=on_ungraded,
            on_limit=on_limit,
            max_iterations=max_iterations,
            max_evidence=max_evidence,
            filter_threshold=filter_threshold,
        )
        thresholds = Thresholds(upper=upper, lower=lower, filter=filter_threshold)
        self._routing = Routing(thresholds, policy, aggregate, variance_rule, mode)

    @component.output_types(
        generate=list[Document],
        refine=CragState,
        re_retrieve=CragState,
        web=CragState,
        web_and_refine=CragState,
        abstain=str,
        outcome=CragState,
        decision=dict[str, Any],
        state=CragState,
    )
    def run(
        self,
        query: str,
        documents: list[Document],
        state: CragState | None = None,
        report: dict[str, Any] | None = None,
        mode: str | None = None,
    ) -> dict[str, Any]:
        """
        Decide.

        :param query: The original question.
        :param documents: Graded documents in rank order.
        :param state: What the run knows so far; the first pass may come without.
        :param report: What the grader says of its work: `llm_calls`, `tokens_in`, `tokens_out`, `reasons`, its
            `signals`, and `set_score` in [0, 1] for `aggregate="set"`.
        :param mode: Overrides the mode for this run.
        :returns: A dictionary with the following keys, only the branch taken among the first six:
            - `generate`: The evidence to answer from.
            - `refine`, `re_retrieve`, `web`, `web_and_refine`: The state for the correction.
            - `abstain`: The sentence that says so.
            - `outcome`: The final state, when the run ends here (`generate` or `abstain`).
            - `decision`: The decision record, plain JSON.
            - `state`: The state after this decision.
        """
        choice, decision, after = self._routing.decide(query, documents, state, report or {}, mode)
        if choice.action in LOOP_ACTIONS:
            branch: dict[str, Any] = {choice.action: after}
        elif choice.action == "abstain":
            branch = {"abstain": self.abstention, "outcome": after}
        else:
            branch = {"generate": choice.evidence, "outcome": after}
        # The keys of the branches not taken are left out: a None would trigger them.
        return {**branch, "decision": decision, "state": after}
