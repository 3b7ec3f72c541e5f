"""FollowUpRewriter: a message that goes on from earlier ones, as a question that can be searched for and judged."""

from typing import Any

from haystack import component
from haystack.components.generators.chat.types import ChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.tracing.tracer import Span

from haystack_integrations.crag.chat import ChatBacked, ask, ask_async, check_generator, cost_of, kind_of
from haystack_integrations.crag.expansion.follow_up import DEFAULT_SYSTEM, FollowUp
from haystack_integrations.crag.inputs import checked
from haystack_integrations.crag.observing.telemetry import set_tags, trace
from haystack_integrations.crag.settings import check_positive, check_text, check_whole


@component
@checked
class FollowUpRewriter(ChatBacked):
    """
    Writes the newest message of a conversation as a question that can be understood alone.

    "And how long does that take?" finds nothing, and no grader can judge by it. Put this in front of a pipeline that
    people talk to: one call of a model where something was said before, none for the first question. Where the model
    fails, the message is asked as it stands, and `report` says so. `crag serve` does this in its chat.

    The idea is LangChain's history-aware retriever and LlamaIndex's condense-question engine.

    ```python
    from haystack.components.generators.chat import MockChatGenerator
    from haystack.dataclasses import ChatMessage
    from haystack_integrations.crag.components.follow_up_rewriter import FollowUpRewriter

    rewriter = FollowUpRewriter(MockChatGenerator("How long does a refund take?"))  # your chat model
    first = [ChatMessage.from_user("Can I return a lamp?")]
    assert rewriter.run(messages=first)["query"] == "Can I return a lamp?"
    more = [*first, ChatMessage.from_assistant("Yes, for a refund [1]."), ChatMessage.from_user("How long is that?")]
    assert rewriter.run(messages=more)["query"] == "How long does a refund take?"
    ```
    """

    def __init__(
        self,
        chat_generator: ChatGenerator,
        *,
        system: str = DEFAULT_SYSTEM,
        max_messages: int = 6,
        read_answers: bool = True,
        timeout_s: float = 15.0,
    ) -> None:
        """
        Choose the model.

        :param chat_generator: Any Haystack chat generator; it owns the HTTP retries. At most one call for each run.
        :param system: The system message.
        :param max_messages: Of how many earlier messages the model is shown the first 600 characters, 1 or more.
        :param read_answers: Whether they include the assistant's. Answers are made of documents: pass False where the
            question may go to a web search, which must learn nothing of them.
        :param timeout_s: Most seconds for the model, all retries included.
        :raises ConfigurationError: For what is no chat generator, a blank text, or an unusable number.
        """
        check_generator(chat_generator)
        check_whole("max_messages", max_messages)
        check_positive({"timeout_s": timeout_s})
        self.chat_generator, self.system = chat_generator, check_text("system", system)
        self.max_messages, self.read_answers, self.timeout_s = max_messages, read_answers, timeout_s

    @component.output_types(query=str, report=dict[str, Any])
    def run(self, messages: list[ChatMessage]) -> dict[str, Any]:
        """
        Write the question.

        :param messages: The conversation, the newest message of the user last. System and tool messages do not count.
        :returns: A dictionary with the following keys:
            - `query`: The question: the model's, with the message behind it where that only repeats an earlier one; or
              the newest message as it stands where nothing was said before, it has more than 300 characters, or the
              model wrote none that is made of what was said.
            - `report`: `source` (`model` or `message`), `fallback` (why not the model, if it was asked: a kind of
              failure, `several` lines, or `unrelated`), `llm_calls`, `tokens_in`, `tokens_out`.
        :raises ConfigurationError: When the newest message of the user has no text, or there is none.
        """
        found = FollowUp(messages, self.system, self.max_messages, read_answers=self.read_answers)
        with trace("crag.follow_up") as span:
            if (asked := found.messages) is not None:
                try:
                    self.warm_up()
                    found.read(ask(self.chat_generator, asked, self.timeout_s), asked)
                except Exception as error:  # a model must never end a run: whatever its client raises
                    found.failed(kind_of(error), cost_of(error))
            return _told(span, found)

    @component.output_types(query=str, report=dict[str, Any])
    async def run_async(self, messages: list[ChatMessage]) -> dict[str, Any]:
        """
        Write the question without blocking the event loop; see `run`.

        :param messages: As `run`.
        :returns: As `run`, with the same errors.
        """
        found = FollowUp(messages, self.system, self.max_messages, read_answers=self.read_answers)
        with trace("crag.follow_up") as span:
            if (asked := found.messages) is not None:
                try:
                    await self.warm_up_async()
                    found.read(await ask_async(self.chat_generator, asked, self.timeout_s), asked)
                except Exception as error:  # a model must never end a run: whatever its client raises
                    found.failed(kind_of(error), cost_of(error))
            return _told(span, found)


def _told(span: Span, found: FollowUp) -> dict[str, Any]:
    """Put on the span what became of it; the question itself only where content is traced."""
    result = found.result()
    report = result["report"]
    set_tags(
        span,
        {
            "openinference.span.kind": "CHAIN",
            "crag.follow_up.source": report["source"],
            "crag.follow_up.fallback": report["fallback"],
            "crag.follow_up.calls": report["llm_calls"],
            "gen_ai.usage.input_tokens": report["tokens_in"] or None,
            "gen_ai.usage.output_tokens": report["tokens_out"] or None,
        },
    )
    span.set_content_tag("crag.queries", [result["query"]])
    return result
