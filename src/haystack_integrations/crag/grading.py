"""One grading of one batch: what it knows, spends and finds. Lives as long as the run of the component."""

import asyncio
import time
from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from contextvars import copy_context
from threading import Lock
from types import TracebackType
from typing import Any, Final

from haystack import Document, logging
from haystack.components.generators.chat.types import ChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.tracing.tracer import Span

from haystack_integrations.crag.errors import GradingError
from haystack_integrations.crag.grades import Grade, grade_of, question_id, with_grade
from haystack_integrations.crag.grading_plan import Answer, Item, Limits, Tally, make_item, plan_window, windows
from haystack_integrations.crag.grading_prompt import GradingPrompt
from haystack_integrations.crag.grading_reply import Entry, Reply, read_reply
from haystack_integrations.crag.state import CragState, Usage, given_in_run
from haystack_integrations.crag.telemetry import set_tags, trace
from haystack_integrations.crag.vocabulary import FAILED_SCORE, GraderStatus

logger = logging.getLogger(__name__)

NAME: Final = "BatchRelevanceGrader"
_CONTEXT_WORDS: Final = ("context_length", "context length", "maximum context", "too many tokens")

Plan = Generator[tuple[list[Item], str | None], Answer, dict[str, Entry | str]]


class Grading(AbstractContextManager["Grading"]):
    """The grading of one batch. Open it, run its windows, take the result."""

    def __init__(
        self,
        query: str,
        documents: Sequence[Document],
        state: CragState | None,
        *,
        prompt: GradingPrompt,
        max_documents: int | None,
        max_characters: int,
        max_prompt_tokens: int,
        max_llm_calls: int,
        deadline_s: float,
        strict: bool,
    ) -> None:
        """Sort documents into those that have a grade for this question and those to ask about."""
        self.query, self.documents, self.state = query, documents, state
        self.prompt, self.strict = prompt, strict
        self.question = question_id(query)
        self.skipped = not documents or (state is not None and state.mode == "off")
        self.grades: dict[str, Grade] = {}
        self.tally, self._lock = Tally(), Lock()
        chosen = [] if self.skipped else list(documents)[:max_documents]
        fresh = [document for document in chosen if not self._known(document)]
        items = [make_item(document, max_characters) for document in fresh]
        self.windows = windows(items, max_prompt_tokens, prompt.overhead)
        left = state.seconds_left() if state is not None else None
        ends = time.monotonic() + (deadline_s if left is None else min(deadline_s, left))
        self._limits = Limits(max_llm_calls, ends, self._granted)

    def __enter__(self) -> "Grading":
        """Open the span of the grading."""
        self._trace = trace("crag.grade")
        self._span: Span = self._trace.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close the span, with the error when there is one."""
        self._trace.__exit__(kind, error, traceback)

    def run(self, generator: ChatGenerator, concurrency: int) -> None:
        """Grade all windows; several at once run in threads that keep the trace."""
        if len(self.windows) == 1:
            self._run_window(generator, self.windows[0])
            return
        with ThreadPoolExecutor(max_workers=min(concurrency, len(self.windows))) as pool:
            calls = [pool.submit(copy_context().run, self._run_window, generator, window) for window in self.windows]
            for call in calls:
                call.result()

    async def run_async(self, generator: ChatGenerator, concurrency: int) -> None:
        """Grade all windows on the event loop, at most `concurrency` at once."""
        gate = asyncio.Semaphore(concurrency)

        async def one(window: list[Item]) -> None:
            async with gate:
                await self._run_window_async(generator, window)

        await asyncio.gather(*(one(window) for window in self.windows))

    def _run_window(self, generator: ChatGenerator, window: list[Item]) -> None:
        plan = plan_window(window, self._limits, self.tally)
        answer: Answer | None = None
        while (asked := self._advance(plan, window, answer)) is not None:
            items, problem = asked
            with trace("crag.grade.call"):
                try:
                    sent = generator.run(messages=self.prompt.messages(self.query, items, problem))
                    answer = self._read(sent, items)
                except Exception as error:  # the boundary of on_failure: whatever a model client raises
                    answer = _failed(error)

    async def _run_window_async(self, generator: ChatGenerator, window: list[Item]) -> None:
        plan = plan_window(window, self._limits, self.tally)
        answer: Answer | None = None
        while (asked := self._advance(plan, window, answer)) is not None:
            items, problem = asked
            messages = self.prompt.messages(self.query, items, problem)
            with trace("crag.grade.call"):
                try:
                    if hasattr(generator, "run_async"):
                        left = max(0.001, self._limits.ends - time.monotonic())
                        sent = await asyncio.wait_for(generator.run_async(messages=messages), left)
                    else:
                        sent = await asyncio.to_thread(generator.run, messages=messages)
                    answer = self._read(sent, items)
                except Exception as error:  # the boundary of on_failure: whatever a model client raises
                    answer = _failed(error)

    def _advance(self, plan: Plan, window: list[Item], answer: Answer | None) -> tuple[list[Item], str | None] | None:
        """Tell the plan what came back; gives what to ask next, or takes the grades over when it has ended."""
        try:
            asked = next(plan) if answer is None else plan.send(answer)
        except StopIteration as end:
            self._take(window, end.value)
            return None
        with self._lock:
            self.tally.llm_calls += 1
        return asked

    def _read(self, sent: Mapping[str, Any], items: Sequence[Item]) -> Answer:
        """Read a generator's reply and count its tokens."""
        replies: list[ChatMessage] = sent.get("replies") or []
        if not replies:
            return Answer(Reply(problem="empty"))
        message = replies[0]
        usage = Usage.of(message)
        with self._lock:
            self.tally.tokens_in += usage.tokens_in
            self.tally.tokens_out += usage.tokens_out
        keys = [item.key for item in items]
        reason = message.meta.get("finish_reason")
        return Answer(read_reply(message.text, keys, finish_reason=reason, scale=self.prompt.scale))

    def _take(self, window: Sequence[Item], found: Mapping[str, Entry | str]) -> None:
        for item in window:
            entry = found[item.key]
            if isinstance(entry, Entry):
                self.grades[item.document_id] = Grade(entry.score, "graded", NAME, self.question, entry.reason)
            else:
                self.grades[item.document_id] = Grade.failed(NAME, self.question, entry)

    def _known(self, document: Document) -> bool:
        """Use a grade given earlier in this run; a document without text needs no model to be judged."""
        if not (document.content or "").strip():
            self.grades[document.id] = Grade(0.0, "graded", NAME, self.question, "no_content")
            return True
        known = given_in_run(self.state, document, self.question)
        if known is not None:
            self.grades[document.id] = known
        return known is not None

    def _granted(self) -> bool:
        """Ask the run's budget for one more call."""
        if self.state is None or self.state.budget.llm_calls is None:
            return True
        return self.state.usage.llm_calls + self.tally.llm_calls < self.state.budget.llm_calls

    def result(self) -> dict[str, Any]:
        """
        Give the component's outputs, and say in log and span what was not judged.

        :returns: `documents`, `scores`, `status`, `report`.
        :raises GradingError: When nothing could be judged and the grader is strict.
        """
        failed = sum(grade.status == "failed" for grade in self.grades.values())
        status: GraderStatus = "skipped" if self.skipped else "ok"
        if failed:
            status = "failed" if failed == len(self.grades) else "partial"
        graded = [with_grade(d, self.grades[d.id]) if d.id in self.grades else d for d in self.documents]
        reasons = [f"grader_{status}:{reason}" for reason in dict.fromkeys(self.tally.reasons)] if failed else []
        self._tell(status, failed, reasons)
        if failed and status == "failed" and self.strict:
            msg = f"none of {failed} documents could be judged ({', '.join(reasons)}); check the model, or on_failure"
            raise GradingError(msg)
        spent = {"llm_calls": self.tally.llm_calls, "tokens_in": self.tally.tokens_in}
        spent |= {"tokens_out": self.tally.tokens_out, "reasks": self.tally.reasks}
        spent |= {"bisections": self.tally.bisections}
        marks = {"repaired": self.tally.repaired, "positional": self.tally.positional, "reasons": reasons}
        scores = [grade.score if (grade := grade_of(d, self.question)) else FAILED_SCORE for d in graded]
        return {"documents": graded, "scores": scores, "status": status, "report": {**spent, **marks}}

    def _tell(self, status: GraderStatus, failed: int, reasons: Sequence[str]) -> None:
        cached = sum(grade.status == "cached" for grade in self.grades.values())
        scores = [grade.score for grade in self.grades.values() if grade.status != "failed"]
        tags = {
            "openinference.span.kind": "EVALUATOR",
            "gen_ai.evaluation.name": "relevance",
            "crag.grader.status": status,
            "crag.documents.in": len(self.documents),
            "crag.documents.graded": len(self.grades) - failed - cached,
            "crag.documents.cached": cached,
            "crag.documents.failed": failed,
            "crag.grader.calls": self.tally.llm_calls,
            "crag.grader.reasks": self.tally.reasks,
            "crag.grader.repaired": self.tally.repaired,
            "crag.score.max": max(scores, default=None),
            "gen_ai.usage.input_tokens": self.tally.tokens_in,
            "gen_ai.usage.output_tokens": self.tally.tokens_out,
        }
        set_tags(self._span, tags)
        if failed:
            logger.warning(
                "Grading failed for {failed} of {total} documents, which keep the score 0.5: {reasons}",
                failed=failed,
                total=len(self.documents),
                reasons=", ".join(reasons),
            )


def _failed(error: Exception) -> Answer:
    """Name a failure by its kind; its text may hold a prompt or a key, and goes nowhere."""
    text = str(error).lower()
    kind = "context_length" if any(words in text for words in _CONTEXT_WORDS) else type(error).__name__
    return Answer(Reply(problem=kind), failure=kind)
