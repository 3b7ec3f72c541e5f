"""RulePrefilter: cheap rules that spare the grader when the answer to «is this relevant?» is already known."""

from typing import Any, Final, Literal, get_args

from haystack import Document, component, logging

from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.grades import Grade, question_id, with_grade
from haystack_integrations.crag.inputs import checked
from haystack_integrations.crag.light import light
from haystack_integrations.crag.observing.telemetry import set_tags, trace
from haystack_integrations.crag.settings import number
from haystack_integrations.crag.similarities import check_rules, fulfils, read_history, similarity_in
from haystack_integrations.crag.sockets import tell_of_dead_end
from haystack_integrations.crag.state import CragState, given_in_run

logger = logging.getLogger(__name__)

Rule = Literal["read_file", "few_context", "high_vector_score"]
RULES: Final[tuple[str, ...]] = get_args(Rule)
_RULE: Final = "rule:"
MAX_ITEMS_SETTING: Final = "KB_AGENT_AUTO_APPROVE_MAX_ITEMS"
VECTOR_SCORE_SETTING: Final = "KB_AGENT_VECTOR_SCORE_THRESHOLD"


@component
@light
@checked
class RulePrefilter:
    """
    Approves a retrieval by rule, or hands it to the grader; never both, and never an empty one.

    Rules, tried in the order given: `read_file` when an agent's tool calls of this round were all `read_file`;
    `few_context` for 1 to `max_items` documents; `high_vector_score` when every document comes from a vector search
    and its *similarity* reaches `vector_score`. A fused score is a rank score and never meets that threshold: the rule
    reads the cosine that EvidenceJoiner kept, or the item scores in the tool history. Where a grader has judged one of
    the documents earlier in the run no rule speaks: what it found irrelevant is not approved for being few; nor where
    one has no text, as of an image, since nothing could be answered from that. Source: design 000.

    ```python
    from haystack import Document
    from haystack_integrations.crag.components.rule_prefilter import RulePrefilter

    prefilter = RulePrefilter(rules=["few_context"], max_items=2)
    result = prefilter.run(query="Who wrote Emma?", documents=[Document(content="Emma is by Jane Austen.")])
    assert result["rule_name"] == "few_context"
    assert result["approved"][0].meta["crag"]["score"] == 1.0
    ```
    """

    def __init__(
        self,
        *,
        rules: list[Rule] | None = None,
        max_items: int | None = None,
        vector_score: float | None = None,
        metadata_rules: dict[str, dict[str, Any]] | None = None,
    ) -> None:
        """
        Choose the rules.

        :param rules: Names in the order they are tried; None for all three, an empty list for none.
        :param max_items: Most documents for `few_context`, 0 or more; None reads `KB_AGENT_AUTO_APPROVE_MAX_ITEMS`
            from the environment or `.env`, and is 2 when that is not set.
        :param vector_score: Least cosine in [0, 1] for `high_vector_score`; None reads
            `KB_AGENT_VECTOR_SCORE_THRESHOLD`, and is 0.8 when that is not set.
        :param metadata_rules: Own rules by name, in Haystack's filter syntax, tried after the others, in the order of
            their names: approved when every document matches, for example
            `{"handbook": {"field": "meta.kind", "operator": "==", ...}}`.
        :raises ConfigurationError: For an unknown rule, an unreadable one, or an unreadable setting.
        """
        unknown = [rule for rule in rules or () if rule not in RULES]
        if unknown:
            msg = f"unknown rules {unknown}; choose from {list(RULES)}, or state your own in metadata_rules"
            raise ConfigurationError(msg)
        check_rules(metadata_rules or {})
        self.rules = rules
        self.max_items = max_items
        self.vector_score = vector_score
        self.metadata_rules = metadata_rules
        self._rules = RULES if rules is None else tuple(rules)
        self._max_items = number("max_items", max_items, 2, int, 0, 10_000, MAX_ITEMS_SETTING)
        self._vector_score = number("vector_score", vector_score, 0.8, float, 0, 1, VECTOR_SCORE_SETTING)

    @component.output_types(approved=list[Document], documents=list[Document], rule_name=str)
    def run(
        self,
        query: str,
        documents: list[Document],
        tool_history: list[dict[str, Any]] | None = None,
        state: CragState | None = None,
    ) -> dict[str, Any]:
        """
        Approve by rule, or pass on.

        :param query: The original question.
        :param documents: What was retrieved.
        :param tool_history: An agent's tool calls of this round, each `{"tool": name}`, and for `vector_search` also
            `items`, each `{"id", "score"}`, or `scores` in the order of the documents; similarities in [0, 1]. They
            tell of what the run's first search found.
        :param state: What the run knows: the grades given in earlier passes.
        :returns: A dictionary with the following keys:
            - `approved`: All documents with score 1.0 and status `approved`, when a rule matched.
            - `documents`: The documents as they came, when none did.
            - `rule_name`: The rule that matched; empty when none did.
        """
        with trace("crag.prefilter") as span:
            # A run is given them for all its passes, but what a correction finds is not what the agent found.
            history, question = ([] if state and state.iteration else tool_history or []), question_id(query)
            has_text = all((document.content or "").strip() for document in documents)
            is_open = bool(documents) and has_text and not _is_judged(documents, state, question)
            rule = self._matching(documents, history) if is_open else ""
            set_tags(span, {"openinference.span.kind": "EVALUATOR", "crag.documents.in": len(documents)})
            set_tags(span, {"crag.fast_path_hit": bool(rule)})
            tell_of_dead_end(self, *(("approved", "documents") if rule else ("documents", "approved")))
            if not rule:
                return {"documents": documents, "rule_name": ""}
            span.set_tag("crag.rule_name", rule)
        logger.info("fast_path_hit: rule_name={rule_name}, documents={count}", rule_name=rule, count=len(documents))
        grade = Grade(1.0, "approved", f"{_RULE}{rule}", question)
        return {"approved": [with_grade(document, grade) for document in documents], "rule_name": rule}

    def _matching(self, documents: list[Document], history: list[dict[str, Any]]) -> str:
        """Name the first rule that matches, or nothing."""
        checks = {
            "read_file": lambda: bool(history) and all(call.get("tool") == "read_file" for call in history),
            "few_context": lambda: len(documents) <= self._max_items,
            "high_vector_score": lambda: self._all_similar(documents, history),
        }
        for rule in self._rules:
            if checks[rule]():
                return rule
        # Haystack sorts mappings where it writes YAML: from there, the same rule is to be the one that is told.
        for name, conditions in sorted((self.metadata_rules or {}).items(), key=lambda rule: str(rule[0])):
            if all(fulfils(document, conditions, name) for document in documents):
                return name
        return ""

    def _all_similar(self, documents: list[Document], history: list[dict[str, Any]]) -> bool:
        """Tell whether every document was found by vector search with a similarity that suffices."""
        by_id, in_order = read_history(history)
        if in_order is not None and len(in_order) >= len(documents):
            return all(score >= self._vector_score for score in in_order)
        return all(similarity_in(document, by_id) >= self._vector_score for document in documents)


def _is_judged(documents: list[Document], state: CragState | None, question: str) -> bool:
    """Tell whether a grader, and no rule, has judged one of the documents in this run."""
    known = [given_in_run(state, document, question) for document in documents] if state is not None else []
    return any(grade is not None and not grade.grader.startswith(_RULE) for grade in known)
