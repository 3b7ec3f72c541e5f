"""AnswerGenerator: the answer, within the time the run has left; a model that fails costs the answer only."""

from typing import Any, Literal

from haystack import component, logging
from haystack.components.generators.chat.types import ChatGenerator
from haystack.dataclasses import ChatMessage, StreamingCallbackT
from haystack.tracing.tracer import Span

from haystack_integrations.crag.answer_model import AnswerModel
from haystack_integrations.crag.answer_prompt import for_run
from haystack_integrations.crag.answers import after, mark_ended, reply_tags
from haystack_integrations.crag.budget import Usage
from haystack_integrations.crag.chat import ChatBacked, check_generator, kind_of, model_of
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.homes import runs_here
from haystack_integrations.crag.inputs import checked
from haystack_integrations.crag.observing.telemetry import LLM_CALL, set_tags, trace
from haystack_integrations.crag.replies.thoughts import without_thought
from haystack_integrations.crag.settings import check_one_of, check_positive, check_text
from haystack_integrations.crag.state import CragState, seconds_for
from haystack_integrations.crag.streaming import heard
from haystack_integrations.crag.unwritten_answers import NoTextError, apology, says_nothing, worded
from haystack_integrations.crag.vocabulary import APOLOGY

logger = logging.getLogger(__name__)


@component
@checked
class AnswerGenerator(ChatBacked):
    """
    Asks a chat generator for the answer and waits no longer than the run's budget and `timeout_s` allow.

    A model that hangs, drips or fails does not lose the evidence: the run ends with it, a sentence as its answer
    and the reason on record. Of a prompt too long for its context the passages graded lowest are left out, on record.

    ```python
    from haystack.components.generators.chat import MockChatGenerator
    from haystack.dataclasses import ChatMessage
    from haystack_integrations.crag.components.answer_generator import AnswerGenerator

    replies = AnswerGenerator(MockChatGenerator("Jane Austen [1].")).run(messages=[ChatMessage.from_user("Who?")])
    assert replies["replies"][0].text == "Jane Austen [1]."
    ```
    """

    def __init__(
        self,
        chat_generator: ChatGenerator,
        *,
        timeout_s: float = 60.0,
        on_failure: Literal["reply", "raise"] = "reply",
        apology: str = APOLOGY,
    ) -> None:
        """
        Choose the model and how long to wait for it.

        :param chat_generator: Any Haystack chat generator; it owns the HTTP retries.
        :param timeout_s: Most seconds for the answer, all retries included.
        :param on_failure: `reply` ends the run with `apology`; `raise` raises what the generator raised.
        :param apology: Stands in the place of an answer; ours in the question's language (`data/abstentions.yml`).
        :raises ConfigurationError: For an unusable number or policy, or a blank apology.
        """
        check_generator(chat_generator)
        check_positive({"timeout_s": timeout_s})
        check_one_of("on_failure", on_failure, ("reply", "raise"))
        self.chat_generator, self._model = chat_generator, AnswerModel(chat_generator)
        self.timeout_s, self.on_failure, self.apology = timeout_s, on_failure, check_text("apology", apology)

    @component.output_types(replies=list[ChatMessage])
    def run(
        self,
        messages: list[ChatMessage],
        state: CragState | None = None,
        streaming_callback: StreamingCallbackT | None = None,
    ) -> dict[str, Any]:
        """
        Write the answer.

        :param messages: The prompt.
        :param state: What the run knows; its budget's seconds bound the wait.
        :param streaming_callback: Called in this thread with each part as it comes, until the model is given up.
        :returns: A dictionary with the following keys:
            - `replies`: The answer; or the apology, whose `meta["crag_failure"]` names the kind of failure.
        :raises Exception: Whatever the generator raises, when `on_failure` is `raise`; TimeoutError in place of a hang.
        """
        why, tried = list[str](), list[Usage]()
        with trace("crag.answer") as span:
            try:
                self.warm_up()
                seconds, model = seconds_for(state, self.timeout_s), self._asked_for_answer()
                with heard(model.listener(streaming_callback), why=why, adds_usage=model.adds_usage) as callback:
                    sent = model.ask(for_run(messages, state), seconds, callback, tried)
                replies = [*map(without_thought, sent["replies"])]
            except Exception as error:  # the boundary of on_failure: whatever a model client raises
                return after(tried, self._failed(span, error, state))
            return after(tried, self._told(span, replies, None if callback is None else why, state))

    @component.output_types(replies=list[ChatMessage])
    async def run_async(
        self,
        messages: list[ChatMessage],
        state: CragState | None = None,
        streaming_callback: StreamingCallbackT | None = None,
    ) -> dict[str, Any]:
        """
        Write the answer without blocking the event loop; see `run`.

        :param messages: The prompt.
        :param state: What the run knows.
        :param streaming_callback: Called with each part of the answer as it comes.
        :returns: As `run`.
        :raises Exception: As `run`.
        """
        why, tried = list[str](), list[Usage]()
        with trace("crag.answer") as span:
            try:
                await self.warm_up_async()
                seconds, model = seconds_for(state, self.timeout_s), self._asked_for_answer()
                listener, in_thread = model.listener(streaming_callback), not await runs_here(model.generator)
                with heard(listener, why, in_thread=in_thread, adds_usage=model.adds_usage) as callback:
                    sent = await model.ask_async(for_run(messages, state), seconds, callback, tried)
                replies = [*map(without_thought, sent["replies"])]
            except Exception as error:  # the boundary of on_failure: whatever a model client raises
                return after(tried, self._failed(span, error, state))
            return after(tried, self._told(span, replies, None if callback is None else why, state))

    def _asked_for_answer(self) -> AnswerModel:
        """Give what was learned of the model's server; of another one where it was exchanged since construction."""
        if self._model.generator is not self.chat_generator:
            self._model = AnswerModel(self.chat_generator)
        return self._model

    def _failed(self, span: Span, error: Exception, state: CragState | None, told: Any = None) -> list[ChatMessage]:
        """Say it in log and span by kind, not by text, which may hold the prompt; then do as `on_failure` says."""
        kind = kind_of(error)
        logger.warning("The answer could not be written: {kind}", kind=kind)
        set_tags(span, {**LLM_CALL, "error.type": kind})
        if self.on_failure == "raise" or isinstance(error, ConfigurationError):  # which is the caller's to mend
            raise worded(error, self.timeout_s)
        return [apology(self.apology, state, error, told or {})]

    def _told(self, span: Span, replies: list[ChatMessage], why: Any, state: CragState | None) -> list[ChatMessage]:
        """Put model, finish reason and tokens on the span; without any text it is a failure, with what it cost."""
        first = replies[0] if replies else ChatMessage.from_assistant("")
        if why is not None:
            mark_ended(first, why, self.chat_generator)
        set_tags(span, {**LLM_CALL, "gen_ai.request.model": model_of(self.chat_generator), **reply_tags(first)})
        return self._failed(span, NoTextError(first), state, first.meta) if says_nothing(first.text or "") else replies
