"""CragRouter: from grades to one of six actions, bounded and on record (arXiv 2401.15884, section 4.3)."""

from typing import Any

from haystack import Document, component

from haystack_integrations.crag.deciding.abstention import in_words
from haystack_integrations.crag.deciding.decisions import Aggregate, Over, check_aggregate
from haystack_integrations.crag.deciding.miswired import check_ways
from haystack_integrations.crag.deciding.policy import Policy, check_mode
from haystack_integrations.crag.deciding.reports import of_both
from haystack_integrations.crag.deciding.routing import Routing
from haystack_integrations.crag.deciding.thresholds import Preset, Thresholds
from haystack_integrations.crag.inputs import checked
from haystack_integrations.crag.light import light
from haystack_integrations.crag.sealing import given
from haystack_integrations.crag.state import CragState
from haystack_integrations.crag.vocabulary import ABSTENTION, Action, Mode, OnLimit


@component
@light
@checked
class CragRouter:
    """
    Decides what happens with a graded retrieval, and writes the decision down.

    What reaches `filter_threshold` is aggregated, compared with `upper` and `lower`, and corrected until it is correct,
    at a limit, or nothing new comes: then the best evidence of any pass is the end, or the word that nothing answers.

    ```python
    from haystack import Document
    from haystack_integrations.crag.components import CragRouter, HeuristicGrader

    question, page = "When is a refund paid?", Document(content="A refund is paid within 14 days.")
    graded = HeuristicGrader().run(query=question, documents=[page])["documents"]
    assert CragRouter().run(query=question, documents=graded)["generate"] == graded
    ```
    """

    def __init__(
        self,
        *,
        preset: Preset = "balanced",
        upper: float | None = None,
        lower: float | None = None,
        strict: list[str] | None = None,
        filter_threshold: float = 0.3,
        aggregate: Aggregate = "mean",
        aggregate_over: Over = "kept",
        variance_rule: bool = False,
        on_ambiguous: Action | list[Action] = "refine",
        on_incorrect: Action | list[Action] = "re_retrieve",
        on_ungraded: Action | list[Action] = "generate",
        on_limit: OnLimit = "generate",
        max_iterations: int | None = None,
        max_evidence: int = 10,
        enough_documents: int | None = None,
        keep_good: bool = False,
        keep_beside: float | None = None,
        second_opinion: float | None = None,
        clear_lead: float | None = None,
        mode: Mode = "enforce",
        abstention: str = ABSTENTION,
        explain_abstention: bool = True,
    ) -> None:
        """
        Set the thresholds and the policy.

        :param preset: `balanced` (upper 0.7, lower 0.3), `conservative` (0.8, 0.4) or `aggressive` (0.6, 0.2).
        :param upper: Aggregate in [0, 1] from which a retrieval is correct. None: the preset's.
        :param lower: Aggregate in [0, 1] from which it is ambiguous. None: the preset's. A `set` verdict reads neither.
        :param strict: `upper`, `lower` or both: thresholds that must be exceeded, not only reached.
        :param filter_threshold: A document whose score in [0, 1] is below it is dropped.
        :param aggregate: `mean`, `rank_weighted` (1/(rank+1)), `max`, `min`, `set` (the grader's verdict or score).
        :param aggregate_over: The `kept` documents, or `all` that were judged.
        :param variance_rule: Between the thresholds, let the spread of the scores decide; see `decisions.judge`.
        :param on_ambiguous: Action, or a ladder of actions by pass; the last one stays. Likewise `on_incorrect`.
        :param on_ungraded: Likewise, when grading failed: only a web action here lets a failure reach a web search.
        :param on_limit: At a limit `generate` from any pass's best, `generate_relevant` from what passed, or `abstain`.
        :param max_iterations: Most passes, 1 to 20. None reads `KB_AGENT_MAX_ITERATIONS` (environment, `.env`), else 3.
        :param max_evidence: Most documents to end with at a limit.
        :param enough_documents: An ambiguous retrieval that keeps so many is answered from them. None: never.
        :param keep_good: Where the action is `web`, documents that reach `upper` stay: it becomes `web_and_refine`.
        :param keep_beside: Score in [0, 1] that will do where another document passes the filter. None: the filter's.
        :param second_opinion: Score in [0, 1] by the scorer of a cascade that will do there, too. None: none will.
        :param clear_lead: Likewise a first place in the search, by so many times the next hit's score, 1 or more.
        :param mode: `enforce`, `observe` or `off`; a run can ask for another.
        :param abstention: Said where it abstains; ours in the question's language (`data/abstentions.yml`).
        :param explain_abstention: Say after it, in that language, what was looked for, found and is missing.
        :raises ConfigurationError: For an unusable threshold, action, mode or number, or an abstention without words.
        """
        check_aggregate(aggregate, aggregate_over)
        self.preset, self.upper, self.lower, self.strict, self.keep_good = preset, upper, lower, strict, keep_good
        self.filter_threshold, self.keep_beside, self.variance_rule = filter_threshold, keep_beside, variance_rule
        self.second_opinion, self.clear_lead = second_opinion, clear_lead
        self.aggregate, self.aggregate_over, self.mode = aggregate, aggregate_over, check_mode(mode)
        self.on_ambiguous, self.on_incorrect, self.on_ungraded = on_ambiguous, on_incorrect, on_ungraded
        self.enough_documents, self.on_limit, self.max_evidence = enough_documents, on_limit, max_evidence
        self.max_iterations, self.abstention, self.explain_abstention = max_iterations, abstention, explain_abstention
        limits = Thresholds.of(preset, upper, lower, filter_threshold, strict, keep_beside, second_opinion, clear_lead)
        self._routing = Routing(limits, Policy.of(self, limits), aggregate, aggregate_over, variance_rule, mode)

    @component.output_types(
        generate=list[Document],
        refine=CragState,
        re_retrieve=CragState,
        web=CragState,
        web_and_refine=CragState,
        abstain=str,
        kept=list[Document],
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
        scored: dict[str, Any] | None = None,
        retrieval: dict[str, Any] | None = None,
        sealed: bool = False,
    ) -> dict[str, Any]:
        """
        Decide.

        :param query: The original question.
        :param documents: Graded documents in rank order.
        :param state: What the run knows so far; the first pass may come without.
        :param report: What the grader says of its work; for `aggregate="set"` its `verdict` and `set_score` are read.
        :param mode: Overrides the mode for this run.
        :param scored: What CascadeGate says of a cheap scorer's work; where `report` says something else, that holds.
        :param retrieval: What EvidenceJoiner says of the search: where it was not whole, nothing is `incorrect`.
        :param sealed: Give `decision` as one object that pipelines do not copy; see `sealing`. `load` asks for it.
        :returns: A dictionary with the following keys, only the branch taken among the first six:
            - `generate`: The evidence to answer from; `abstain`: words for none; with both `outcome`: the final state.
            - `refine`, `re_retrieve`, `web`, `web_and_refine`: The state; with the web `kept`: the documents that stay.
            - `decision`, `state`: The decision record, plain JSON, and the state after it.
        :raises ConfigurationError: Where the pipeline leads a correction back here without its state.
        """
        said = {**of_both(scored, report), "retrieval": retrieval}
        choice, decision, after = self._routing.decide(query, documents, state, said, mode)
        branch = choice.branch(after)
        if "abstain" in branch:
            branch["abstain"] = in_words(self.abstention, decision, explain=self.explain_abstention)
        check_ways(self, choice.action)
        return {**branch, "decision": given(decision, sealed=sealed), "state": after}
