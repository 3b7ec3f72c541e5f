"""BatchRelevanceGrader: one call to a chat model grades a whole retrieval. Policy: `grading.plan`."""

from typing import Any, Literal

from haystack import Document, component
from haystack.components.generators.chat.types import ChatGenerator

from haystack_integrations.crag.caching import GradeCache
from haystack_integrations.crag.chat import ChatBacked, check_generator
from haystack_integrations.crag.expansion.query_text import check_asked
from haystack_integrations.crag.grading.batch import Grading
from haystack_integrations.crag.grading.cache import grade, grade_async
from haystack_integrations.crag.grading.model import GradingModel
from haystack_integrations.crag.grading.options import GradingOptions
from haystack_integrations.crag.grading.prompt import DEFAULT_RUBRIC, DEFAULT_TEMPLATE, GradingPrompt
from haystack_integrations.crag.grading.report import concluded
from haystack_integrations.crag.inputs import checked
from haystack_integrations.crag.observing.metrics import timed_grading
from haystack_integrations.crag.observing.telemetry import trace
from haystack_integrations.crag.settings import check_one_of
from haystack_integrations.crag.state import CragState


@component
@checked
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
        max_prompt_tokens: int = 7000,
        max_llm_calls: int = 4,
        concurrency: int = 8,
        deadline_s: float = 20.0,
        structured_output: bool | None = None,
        shuffle: bool = False,
        canary: bool = False,
        cache: GradeCache | None = None,
        on_failure: Literal["keep", "raise"] = "keep",
    ) -> None:
        """
        Choose the model and the limits.

        :param chat_generator: Any Haystack chat generator. Set its timeout and retries: it owns the HTTP retries.
        :param rubric: The system message: what a score means. The marks in ours go along with `scale`.
        :param template: Jinja2 template of the user message, with `query`, `documents` (each `key`, `title`, `text`,
            `origin`), `boundary` (random for each call), `scale`, `reasons` and `problem` (set when asking again).
        :param scale: The score that means fully relevant; scores are divided by it. Above it is invalid, not clipped.
        :param reasons: Ask for a short reason for each score: entries are objects then, and three times as long.
        :param max_documents: Ask about the first n only; others keep a grade for this question, if any. None: all.
        :param max_chars_per_document: A longer text is cut, with a mark.
        :param max_prompt_tokens: Most tokens (estimated) of one prompt, of up to 25 documents; more make windows.
        :param max_llm_calls: Most calls for one window, re-asks included.
        :param concurrency: Most windows at once; a hundred passages make four to six.
        :param deadline_s: Seconds after which no call is begun, and one that hangs is given up.
        :param structured_output: Ask for replies by a JSON schema. None: of generators for OpenAI's APIs, until the
            endpoint refuses it. True: of all with `response_format`. False: of none, for a template of another form.
        :param shuffle: Show documents in random order, anew in each call: models favour places, not only passages.
        :param canary: Add a document that is relevant to nothing to each call. A reply that calls it relevant does not
            count: its documents are asked about one by one, which costs a call for each.
        :param cache: A `caching.MemoryGradeCache` or `RedisGradeCache`: keeps grades, but no reasons, from run to run.
        :param on_failure: `keep` passes documents on as `failed`; `raise` raises GradingError if all are.
        :raises ConfigurationError: For an unusable number, a blank rubric, or a template that lacks what it must show.
        """
        check_generator(chat_generator)
        check_one_of("on_failure", on_failure, ("keep", "raise"))
        self.chat_generator = chat_generator
        self.rubric, self.template, self.scale, self.reasons = rubric, template, scale, reasons
        self.max_documents, self.max_chars_per_document = max_documents, max_chars_per_document
        self.max_prompt_tokens, self.max_llm_calls = max_prompt_tokens, max_llm_calls
        self.concurrency, self.deadline_s, self.on_failure = concurrency, deadline_s, on_failure
        self.structured_output, self.shuffle, self.canary, self.cache = structured_output, shuffle, canary, cache
        self._prompt = GradingPrompt(rubric, template, scale=scale, reasons=reasons)
        self._options = GradingOptions.of(self, overhead=self._prompt.overhead)
        self._model = GradingModel(chat_generator, structured_output, reasons=reasons)

    @component.output_types(documents=list[Document], scores=list[float], status=str, report=dict[str, Any])
    def run(self, query: str, documents: list[Document], state: CragState | None = None) -> dict[str, Any]:
        """
        Grade documents against the original question.

        :param query: The original question.
        :param documents: Documents in rank order. A grade that they bring along spares no question.
        :param state: What the run knows: grades already given in it are used again, and its budget is respected.
        :returns: A dictionary with the following keys:
            - `documents`: The same documents in the same order, each with its grade in `meta["crag"]`.
            - `scores`: One score in [0, 1] for each document, same order.
            - `status`: `ok`, `partial`, `failed`, or `skipped` when there was nothing to ask.
            - `report`: What it cost and met: `llm_calls`, `tokens_in`, `tokens_out`, `reasks`, `reasons`, ..., and
              `set_score`, the best document's, where any was judged.
        :raises QuestionError: For an empty question.
        :raises GradingError: When nothing usable came back and `on_failure` is `raise`.
        """
        with timed_grading("BatchRelevanceGrader"), trace("crag.grade") as span:
            grading = self._grading(query, documents, state)
            if grading.items:
                self.warm_up()
                grade(grading, self.cache)
            return concluded(grading, span, strict=self.on_failure == "raise")

    @component.output_types(documents=list[Document], scores=list[float], status=str, report=dict[str, Any])
    async def run_async(self, query: str, documents: list[Document], state: CragState | None = None) -> dict[str, Any]:
        """
        Grade documents without blocking the event loop; see `run`.

        :param query: The original question.
        :param documents: Documents in rank order.
        :param state: What the run knows.
        :returns: As `run`.
        :raises CragError: As `run`.
        """
        with timed_grading("BatchRelevanceGrader"), trace("crag.grade") as span:
            grading = self._grading(query, documents, state)
            if grading.items:
                await self.warm_up_async()
                await grade_async(grading, self.cache)
            return concluded(grading, span, strict=self.on_failure == "raise")

    def _grading(self, query: str, documents: list[Document], state: CragState | None) -> Grading:
        """Open the grading of one batch; all that this run knows is in it, nothing on self."""
        check_asked(query)
        if self._model.generator is not self.chat_generator:  # exchanged since construction
            self._model = GradingModel(self.chat_generator, self.structured_output, reasons=self.reasons)
        return Grading(query, documents, state, model=self._model, prompt=self._prompt, options=self._options)
