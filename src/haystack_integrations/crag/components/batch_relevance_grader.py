"""BatchRelevanceGrader: one call to a chat model grades a whole retrieval. Policy: `grading_plan`."""

from typing import Any, Literal

from haystack import Document, component
from haystack.components.generators.chat.types import ChatGenerator

from haystack_integrations.crag.chat_backed import ChatBacked, check_generator
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.grading import Grading
from haystack_integrations.crag.grading_prompt import DEFAULT_RUBRIC, DEFAULT_TEMPLATE, GradingPrompt
from haystack_integrations.crag.settings import check_positive
from haystack_integrations.crag.state import CragState


@component
class BatchRelevanceGrader(ChatBacked):
    """
    Grades all documents in one call to any Haystack chat generator (in as many windows as the prompt budget needs).

    The reply is keyed by random ids, so a short, long or permuted reply cannot shift a score to a neighbour. What is
    missing is asked for once more, then split; what stays without a usable judgement gets 0.5 and the status
    `failed`: visible in the result, the log and the trace, and never read as irrelevant.

    ```python
    from haystack import Document
    from haystack.components.generators.chat import MockChatGenerator
    from haystack_integrations.crag.components.batch_relevance_grader import BatchRelevanceGrader

    grader = BatchRelevanceGrader(MockChatGenerator("[0.9, 0.1]"))
    documents = [Document(content="Emma is a novel by Jane Austen."), Document(content="Rain is likely.")]
    result = grader.run(query="Who wrote Emma?", documents=documents)
    assert result["scores"] == [0.9, 0.1]
    assert result["report"]["llm_calls"] == 1
    ```
    """

    def __init__(
        self,
        chat_generator: ChatGenerator,
        *,
        rubric: str = DEFAULT_RUBRIC,
        template: str = DEFAULT_TEMPLATE,
        scale: float = 1.0,
        reasons: bool = False,
        max_documents: int | None = None,
        max_chars_per_document: int = 800,
        max_prompt_tokens: int = 6000,
        max_llm_calls: int = 4,
        concurrency: int = 4,
        deadline_s: float = 20.0,
        on_failure: Literal["keep", "raise"] = "keep",
    ) -> None:
        """
        Choose the model and the limits.

        :param chat_generator: Any Haystack chat generator. Set its timeout and retries: it owns the HTTP retries.
        :param rubric: The system message: what a score means.
        :param template: Jinja2 template of the user message, with `query`, `documents` (each `key`, `title`, `text`,
            `origin`), `boundary` (random for each call), `scale`, `reasons` and `problem` (set when asking again).
        :param scale: The score that means fully relevant; scores are divided by it. Above it is invalid, not clipped.
        :param reasons: Ask for a short reason for each score.
        :param max_documents: Grade only the first n; the others pass without a grade. None grades all.
        :param max_chars_per_document: A longer text is cut, with a mark.
        :param max_prompt_tokens: Most tokens (estimated) of one prompt; more documents make more windows.
        :param max_llm_calls: Most calls for one window, re-asks included.
        :param concurrency: Most windows at once.
        :param deadline_s: Seconds after which no further call is begun.
        :param on_failure: `keep` passes documents on with the status `failed`; `raise` raises GradingError.
        :raises ConfigurationError: For an unusable number, or a template that leaves out what it must show.
        """
        check_generator(chat_generator)
        check_positive({"max_chars_per_document": max_chars_per_document, "max_prompt_tokens": max_prompt_tokens})
        check_positive({"max_llm_calls": max_llm_calls, "concurrency": concurrency, "scale": scale})
        check_positive({"deadline_s": deadline_s, "max_documents": 1 if max_documents is None else max_documents})
        if on_failure not in ("keep", "raise"):
            msg = f"on_failure must be 'keep' or 'raise', but got {on_failure!r}"
            raise ConfigurationError(msg)
        self.chat_generator = chat_generator
        self.rubric, self.template, self.scale, self.reasons = rubric, template, scale, reasons
        self.max_documents, self.max_chars_per_document = max_documents, max_chars_per_document
        self.max_prompt_tokens, self.max_llm_calls = max_prompt_tokens, max_llm_calls
        self.concurrency, self.deadline_s, self.on_failure = concurrency, deadline_s, on_failure
        self._prompt = GradingPrompt(rubric, template, scale=scale, reasons=reasons)

    @component.output_types(documents=list[Document], scores=list[float], status=str, report=dict[str, Any])
    def run(self, query: str, documents: list[Document], state: CragState | None = None) -> dict[str, Any]:
        """
        Grade documents against the original question.

        :param query: The original question.
        :param documents: Documents in rank order.
        :param state: What the run knows: grades already given are used again, and the run's budget is respected.
        :returns: A dictionary with the following keys:
            - `documents`: The same documents in the same order, each with its grade in `meta["crag"]`.
            - `scores`: One score in [0, 1] for each document, same order.
            - `status`: `ok`, `partial`, `failed`, or `skipped` when there was nothing to ask.
            - `report`: What it cost and met: `llm_calls`, `tokens_in`, `tokens_out`, `reasks`, `reasons`, ...
        :raises GradingError: When nothing usable came back and `on_failure` is `raise`.
        """
        with self._grading(query, documents, state) as grading:
            if grading.windows:
                self.warm_up()
                grading.run(self.chat_generator, self.concurrency)
            return grading.result()

    @component.output_types(documents=list[Document], scores=list[float], status=str, report=dict[str, Any])
    async def run_async(self, query: str, documents: list[Document], state: CragState | None = None) -> dict[str, Any]:
        """
        Grade documents without blocking the event loop; see `run`.

        :param query: The original question.
        :param documents: Documents in rank order.
        :param state: What the run knows.
        :returns: As `run`.
        :raises GradingError: As `run`.
        """
        with self._grading(query, documents, state) as grading:
            if grading.windows:
                await self.warm_up_async()
                await grading.run_async(self.chat_generator, self.concurrency)
            return grading.result()

    def _grading(self, query: str, documents: list[Document], state: CragState | None) -> Grading:
        """Open the grading of one batch; all that this run knows is in it, nothing on self."""
        return Grading(
            query,
            documents,
            state,
            prompt=self._prompt,
            max_documents=self.max_documents,
            max_characters=self.max_chars_per_document,
            max_prompt_tokens=self.max_prompt_tokens,
            max_llm_calls=self.max_llm_calls,
            deadline_s=self.deadline_s,
            strict=self.on_failure == "raise",
        )
