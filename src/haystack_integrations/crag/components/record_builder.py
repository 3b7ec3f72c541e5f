"""RecordBuilder: the last word of a run: its evidence and its `crag` record."""

from typing import Any

from haystack import Document, component
from haystack.dataclasses import ChatMessage

from haystack_integrations.crag.answers import answer_account, shortcomings, shown_to, spent_on
from haystack_integrations.crag.budget import Usage
from haystack_integrations.crag.deciding.abstention_words import sentences
from haystack_integrations.crag.deciding.miswired import check_replies, tell_of_unread_answer
from haystack_integrations.crag.deciding.record_tags import record_tags
from haystack_integrations.crag.deciding.records import run_record
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.inputs import checked
from haystack_integrations.crag.light import light
from haystack_integrations.crag.observing.metrics import answered
from haystack_integrations.crag.observing.telemetry import set_tags, trace
from haystack_integrations.crag.sealing import given
from haystack_integrations.crag.state import CragState
from haystack_integrations.crag.vocabulary import ABSTENTION, ANSWER_FAILED, NOT_ASKED


@component
@light
@checked
class RecordBuilder:
    """
    Writes the `crag` record: verdict, score, corrections, cost and the trail of all decisions, as plain JSON.

    A REST caller and a Python caller get the same record. It waits for the answer, so that its cost is counted.

    ```python
    from haystack_integrations.crag.components.crag_router import CragRouter
    from haystack_integrations.crag.components.record_builder import RecordBuilder

    outcome = CragRouter(on_incorrect="abstain").run(query="Who wrote Emma?", documents=[])["outcome"]
    result = RecordBuilder().run(outcome=outcome)
    assert result["crag"]["verdict"] == "incorrect"
    assert result["crag"]["coverage"]["documents_in"] == 0
    ```
    """

    def __init__(self, *, abstention: str = ABSTENTION) -> None:
        """
        Choose by which sentence an answer is known that a model declined to give.

        :param abstention: What the prompt of the answer asks for when the evidence does not answer; ours is known in
            all languages that it is written in. Empty where it asks for no such sentence: then no answer counts as
            declined.
        """
        self.abstention = abstention

    @component.output_types(crag=dict[str, Any], documents=list[Document])
    def run(
        self,
        outcome: CragState,
        replies: list[ChatMessage] | None = None,
        documents: list[Document] | None = None,
        sealed: bool = False,
    ) -> dict[str, Any]:
        """
        Write the record.

        :param outcome: The router's final state.
        :param replies: The model's answer, for the tokens it cost; without one the run answered nothing.
        :param documents: The evidence as it was handed on, when something refined it after the router.
        :param sealed: Give `crag` as one object that pipelines do not copy; see `sealing`. `load` asks for it.
        :returns: A dictionary with the following keys:
            - `crag`: The record. Its `answer` says what became of the answer: `status` is `none` (no model was asked),
                `written`, `declined` (the model said that the evidence does not answer) or `failed`; `cited` are the
                numbers of the passages it cites, `cited_unknown` numbers that no passage has;
                `unsupported_numbers` are numbers in its text, above twelve, that neither question nor evidence has.
            - `documents`: The evidence the run ended with, as far as the answer's model was shown it; empty when the
                router abstained.
        :raises ConfigurationError: For a state that no router has decided about, or a conversation as `replies`.
        """
        if not outcome.trail:
            msg = (
                "RecordBuilder got a state without a decision for outcome, wanted the final one of CragRouter; "
                "connect its output outcome"
            )
            raise ConfigurationError(msg)
        asked = outcome.action == "generate"
        if asked and replies is None:
            tell_of_unread_answer(self)
        replies = replies or []
        check_replies(replies)
        evidence = list(outcome.evidence) if documents is None else documents
        evidence, unshown = shown_to(replies if asked else (), evidence)
        # Not only in the language that the prompt asks for: a model that answers in another one declines in it, too.
        declined = sorted(sentences(self.abstention)) if asked else ()
        told = answer_account(replies, asked=asked, sentences=declined, question=outcome.query, passages=evidence)
        calls = told["status"] != "none" and not any(reply.meta.get(NOT_ASKED) for reply in replies)
        spent = spent_on(replies) + Usage(llm_calls=int(calls))
        came = calls and not any(ANSWER_FAILED in reply.meta for reply in replies)
        with trace("crag.record") as span:
            why = shortcomings(replies, told)
            record = run_record(outcome, spent, told, evidence, unshown, why, untold=came and not spent.tokens)
            if record["mode"] != "off":
                answered(told["status"], unsupported=bool(told["unsupported_numbers"]))
            set_tags(span, record_tags(record))
            if invented := told["unsupported_numbers"]:
                span.set_content_tag("crag.answer.unsupported_numbers.text", invented)
        return {"crag": given(record, sealed=sealed), "documents": evidence}
