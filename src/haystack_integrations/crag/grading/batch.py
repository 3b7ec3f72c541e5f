"""One grading of one batch: what it asks, spends and finds. Lives as long as the run of the component."""

import asyncio
import secrets
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from threading import Lock
from typing import Any, Final

from haystack import Document
from haystack.dataclasses import ChatMessage
from haystack.tracing.tracer import Span

from haystack_integrations.crag.budget import Usage
from haystack_integrations.crag.chat import CallError, cost_of, kind_of
from haystack_integrations.crag.grades import Grade, question_id
from haystack_integrations.crag.grading.canary import PROBLEM as CANARY
from haystack_integrations.crag.grading.canary import canary, judged, placed
from haystack_integrations.crag.grading.model import GradingModel
from haystack_integrations.crag.grading.options import LEAST_ROOM, GradingOptions
from haystack_integrations.crag.grading.plan import Answer, Item, Limits, Tally, make_items, plan_window
from haystack_integrations.crag.grading.prompt import GradingPrompt
from haystack_integrations.crag.grading.reply import Entry, Reply, read_reply
from haystack_integrations.crag.grading.windows import windows
from haystack_integrations.crag.observing.telemetry import LLM_CALL, names_of, set_tags, trace
from haystack_integrations.crag.state import CragState, given_in_run, seconds_for
from haystack_integrations.crag.texts.text import count_tokens

NAME: Final = "BatchRelevanceGrader"

Asked = tuple[list[Item], str | None]
Plan = Generator[Asked, Answer, dict[str, Entry | str]]


class Grading:
    """The grading of one batch: sorts out what must be asked, asks it in windows, collects grades."""

    def __init__(
        self,
        query: str,
        documents: Sequence[Document],
        state: CragState | None,
        *,
        model: GradingModel,
        prompt: GradingPrompt,
        options: GradingOptions,
    ) -> None:
        """Sort documents into those that have a grade for this question and those to ask about."""
        self.query, self.documents, self.state = query, documents, state
        self.model, self.prompt, self.options = model, prompt, options
        self.question = question_id(query)
        self.skipped = not documents or (state is not None and state.mode == "off")
        self.grades: dict[int, Grade] = {}  # by the document's place, since two documents may have the same id
        self.clean, self._off_scale = set[int](), set[str]()
        self.tally, self._lock = Tally(), Lock()
        self._overhead = prompt.overhead + count_tokens(query)
        self._promised = 0
        room = max(options.max_prompt_tokens - self._overhead, LEAST_ROOM)
        most = len(documents) if options.max_documents is None else options.max_documents
        unknown = [] if self.skipped else [(n, one) for n, one in enumerate(documents) if not self._known(n, one)]
        fresh = {place: document for place, document in unknown if place < most}
        self.items = make_items(fresh, options.max_chars_per_document, room)
        self.tally.cut = sum(item.is_cut for item in self.items)
        ends = time.monotonic() + seconds_for(state, options.deadline_s)
        self._limits = Limits(options.max_llm_calls, ends, self._take_call)

    def seconds_left(self) -> float:
        """Tell how long this grading may still take, in seconds."""
        return max(0.0, self._limits.ends - time.monotonic())

    def ask(self, items: Sequence[Item]) -> None:
        """
        Grade items in windows; several at once run in threads that keep the trace.

        :param items: What to ask the model about.
        """
        self._ask_all(windows(items, self.model.room(self.options.max_prompt_tokens), self._overhead))
        self._ask_all([[item] for item in self._suspected(items)])

    async def ask_async(self, items: Sequence[Item]) -> None:
        """
        Grade items on the event loop; see `ask`.

        :param items: What to ask the model about.
        """
        await self._ask_all_async(windows(items, self.model.room(self.options.max_prompt_tokens), self._overhead))
        await self._ask_all_async([[item] for item in self._suspected(items)])

    def _ask_all(self, cut: Sequence[list[Item]]) -> None:
        if len(cut) == 1:
            self._ask_window(cut[0])
        elif cut:
            pool = ThreadPoolExecutor(max_workers=min(self.options.concurrency, len(cut)))
            try:
                for call in [pool.submit(copy_context().run, self._ask_window, window) for window in cut]:
                    call.result()
            finally:  # interrupted: what was not begun would be paid for, and nobody would read it
                pool.shutdown(wait=False, cancel_futures=True)

    async def _ask_all_async(self, cut: Sequence[list[Item]]) -> None:
        gate = asyncio.Semaphore(self.options.concurrency)

        async def one(window: list[Item]) -> None:
            async with gate:
                await self._ask_window_async(window)

        async with asyncio.TaskGroup() as group:
            for window in cut:
                group.create_task(one(window))

    def _ask_window(self, window: list[Item]) -> None:
        plan = plan_window(window, self._limits, self.tally)
        answer: Answer | None = None
        while (asked := self._advance(plan, window, answer)) is not None:
            with self._calling(asked[0]) as span:
                try:
                    messages, read = self._call(*asked, span, alone=len(window) == 1)
                    answer = read(self.model.ask(messages, self.seconds_left(), self._estimate(asked[0])))
                except Exception as error:  # the boundary of on_failure: a template, or whatever a client raises
                    answer = self._failed(error, span)

    async def _ask_window_async(self, window: list[Item]) -> None:
        plan = plan_window(window, self._limits, self.tally)
        answer: Answer | None = None
        while (asked := self._advance(plan, window, answer)) is not None:
            with self._calling(asked[0]) as span:
                try:
                    messages, read = self._call(*asked, span, alone=len(window) == 1)
                    answer = read(await self.model.ask_async(messages, self.seconds_left(), self._estimate(asked[0])))
                except Exception as error:  # the boundary of on_failure: a template, or whatever a client raises
                    answer = self._failed(error, span)

    @contextmanager
    def _calling(self, items: Sequence[Item]) -> Iterator[Span]:
        """Open the span of one call; what the call really cost is counted by then, so the promise is taken back."""
        try:
            with trace("crag.grade.call") as span:
                set_tags(span, {**LLM_CALL, "crag.documents.in": len(items), "gen_ai.request.model": self.model.model})
                yield span
        finally:
            with self._lock:
                self._promised -= self._estimate(items)

    def _advance(self, plan: Plan, window: list[Item], answer: Answer | None) -> Asked | None:
        """Tell the plan what came back; gives what to ask next, or takes the grades over when it has ended."""
        try:
            return next(plan) if answer is None else plan.send(answer)
        except StopIteration as end:
            self._take(window, end.value)
            return None

    def _call(
        self, items: list[Item], problem: str | None, span: Span, *, alone: bool
    ) -> tuple[list[ChatMessage], Callable[[Mapping[str, Any]], Answer]]:
        """Prepare one call: its messages, and the reader of its reply, which knows what was asked in which order."""
        shown = secrets.SystemRandom().sample(items, len(items)) if self.options.shuffle else items
        bird = canary(items) if self.options.canary and not alone else None
        shown = shown if bird is None else placed(bird, shown)

        def read(sent: Mapping[str, Any]) -> Answer:
            reply = self._read(sent, shown, span)
            answer = Answer(reply) if bird is None else judged(bird, reply)
            with self._lock:
                self.tally.canaries += answer.failure == CANARY
                credited = answer.reply.entries if answer.reply.clean else {}
                self.clean |= {item.place for item in items if item.key in credited}
            return answer

        try:
            return self.prompt.messages(self.query, shown, problem), read
        except CallError:
            with self._lock:
                self.tally.spent += Usage(-1)  # nothing is sent
            raise

    def _read(self, sent: Mapping[str, Any], shown: Sequence[Item], span: Span) -> Reply:
        """Read a generator's reply and count its tokens; where it does not tell them, count our estimate."""
        replies: list[ChatMessage] = sent.get("replies") or []
        if not replies:
            return Reply(problem="empty")
        message = replies[0]
        usage, why = Usage.of(message, self._estimate(shown)), message.meta.get("finish_reason")
        set_tags(span, {"gen_ai.usage.input_tokens": usage.tokens_in, "gen_ai.usage.output_tokens": usage.tokens_out})
        set_tags(span, {"gen_ai.response.finish_reasons": names_of(why) or None})
        with self._lock:
            self.tally.spent += usage
            self.tally.finish_reasons += names_of(why)
        keys = [item.key for item in shown]
        doubted = not self._off_scale.isdisjoint(keys)
        reply = read_reply(message.text, keys, finish_reason=why, scale=self.prompt.scale, doubted=doubted)
        self._off_scale.update(keys if reply.off_scale else ())
        set_tags(span, {"crag.grader.problem": reply.problem, "crag.grader.repaired": reply.repaired})
        return reply

    def _failed(self, error: Exception, span: Span) -> Answer:
        set_tags(span, {"error.type": (kind := kind_of(error))})
        with self._lock:
            self.tally.spent += cost_of(error)
        return Answer(Reply(problem=kind), failure=kind)

    def _take(self, window: Sequence[Item], found: Mapping[str, Entry | str]) -> None:
        for item in window:
            entry = found[item.key]
            if isinstance(entry, Entry):
                self.grades[item.place] = Grade(entry.score, "graded", NAME, self.question, entry.reason)
            else:
                self.fail(item, entry)

    def fail(self, item: Item, reason: str) -> None:
        """
        Write down that an item could not be judged.

        :param item: The item.
        :param reason: The kind of failure.
        """
        self.grades[item.place] = Grade.failed(NAME, self.question, reason)

    def _suspected(self, items: Sequence[Item]) -> list[Item]:
        """List the items that shared a call with a canary that was graded relevant: to be asked about one by one."""
        return [i for i in items if (grade := self.grades[i.place]).status == "failed" and grade.reason == CANARY]

    def _known(self, place: int, document: Document) -> bool:
        """Use a grade given earlier in this run; a document without text needs no model to be judged."""
        if not (document.content or "").strip():
            self.grades[place] = Grade(0.0, "graded", NAME, self.question, "no_content")
            return True
        known = given_in_run(self.state, document, self.question)
        if known is not None:
            self.grades[place] = known
        return known is not None

    def _take_call(self, items: Sequence[Item]) -> str | None:
        """Take one call from the run's budget, with the tokens it is going to need; windows ask at the same time."""
        estimate = self._estimate(items)
        with self._lock:
            if self.state is not None:
                if limit := self.state.spend(self.tally.spent).forbids(self._promised + estimate):
                    return limit
            self.tally.spent += Usage(1)
            self._promised += estimate
            return None

    def _estimate(self, items: Sequence[Item]) -> int:
        return self._overhead + sum(item.tokens for item in items)
