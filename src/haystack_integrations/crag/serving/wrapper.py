"""One Hayhooks wrapper for every pipeline: REST, chat and MCP tools come from its two methods."""

import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from dataclasses import asdict
from functools import partial
from math import inf
from typing import Any, TypeAlias
from uuid import uuid4

from fastapi_openai_compat import ChatCompletion
from fastapi_openai_compat.chat_completions import chat_completion_response
from hayhooks import BasePipelineWrapper, async_streaming_generator
from haystack.dataclasses import ChatRole, StreamingChunk

from haystack_integrations.crag.budget import Usage
from haystack_integrations.crag.components.answer_generator import AnswerGenerator
from haystack_integrations.crag.components.follow_up_rewriter import FollowUpRewriter
from haystack_integrations.crag.components.web_fallback import WebFallback
from haystack_integrations.crag.copying import made_of, settings_of
from haystack_integrations.crag.pipelines.loaded import LoadedPipeline
from haystack_integrations.crag.pipelines.loader import title
from haystack_integrations.crag.serving.answers import (
    answer_of,
    failed_answer,
    finish_reason,
    sources,
    spoken,
    usage_of,
)
from haystack_integrations.crag.serving.failures import translated
from haystack_integrations.crag.serving.questions import (
    QUERY,
    checked,
    conversation,
    last_question,
    question_model,
    restrictions,
)
from haystack_integrations.crag.serving.unasked import without_run
from haystack_integrations.crag.sockets import sockets_of

Part: TypeAlias = StreamingChunk | ChatCompletion


class CragWrapper(BasePipelineWrapper):  # type: ignore[misc] # Hayhooks has no types
    """
    Serves a loaded pipeline; what it accepts is what stands in its YAML.

    :param name: The pipeline's name.
    :param spec: Its YAML, as `pipelines.loader.read` gives it.
    :param loaded: It, loaded.
    :param longest: Most characters of a question.
    :param follow_ups: Whether a chat's newest message is rewritten by what was said before it; without a model that
        could, an abstention says that it was asked by itself.
    :param cites: Whether a chat's answer ends with a line of what it cites.
    """

    deployment_type = "pipeline"

    def __init__(
        self,
        name: str,
        spec: Mapping[str, Any],
        loaded: LoadedPipeline,
        longest: int,
        *,
        follow_ups: bool = True,
        cites: bool = True,
    ) -> None:
        """Wrap a loaded pipeline."""
        super().__init__()
        self.name, self.loaded, self.pipeline = name, loaded, loaded.pipeline
        self.question_model = question_model(name, spec, _kinds(loaded), longest)
        self.description = f"{_purpose(spec)} {title(name)}. Pipeline: {name}."
        self._writers = _streaming_parts(loaded)
        self._follow_ups, self._rewriter, self._cites = follow_ups, _rewriter(loaded), cites

    def setup(self) -> None:
        """Do nothing: the pipeline is loaded already, on the store that all wrappers share."""

    async def run_api_async(self, question: str, **options: Any) -> dict[str, Any]:
        """
        Answer a question from the indexed documents, with citations; says so when they do not answer it.

        :param question: The question.
        :param options: The pipeline's own options.
        :returns: The entries of `answers.Answer`.
        """
        asked = self._asked(question, options)
        with translated(asked):
            return answer_of(await self.loaded.run_async(**asked))

    async def run_chat_completion_async(
        self,
        model: str,
        messages: list[dict[str, Any]],
        body: dict[str, Any],
    ) -> ChatCompletion | AsyncGenerator[Part, None]:
        """
        Answer the newest message of a chat.

        :param model: The pipeline's name.
        :param messages: OpenAI's messages.
        :param body: The whole request; of its further fields those count that restrict a run.
        :returns: The answer with its evidence and record, and how a message was asked that goes on from earlier ones;
            or, with `stream`, the parts of the answer as they come.
        """
        known = without_run(last_question(messages))
        asked, follow_up = ({}, None) if known else await self._understood(messages, body)
        if not body.get("stream"):
            with translated(asked):
                outputs = known or await self.loaded.run_async(**asked)
                text = spoken(outputs, follow_up, cites=self._cites)
                completion = chat_completion_response(text, f"crag-{uuid4().hex}", model)
                completion.choices[0].finish_reason = finish_reason(outputs)
                told = answer_of(outputs)
                beside = {key: told[key] for key in ("evidence", "crag", "trace_id")}
                return completion.model_copy(
                    update={**beside, "usage": usage_of(outputs, follow_up), "follow_up": follow_up}
                )
        parts = self._streamed(asked, known, follow_up, partial(_usage, model, body))
        # A run that fails before its first word is an HTTP error, not a stream that breaks off.
        return _continued(await anext(parts), parts)

    def _asked(self, question: str, options: Mapping[str, Any]) -> dict[str, Any]:
        asked = checked(self.question_model, {"question": question, **options})
        return {QUERY: asked.pop("question"), **asked}

    async def _understood(
        self, messages: list[dict[str, Any]], body: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, Any] | None]:
        """Check the newest message, and have it written out where earlier ones may say what it is about."""
        asked, said = self._asked(last_question(messages), restrictions(body)), conversation(messages)
        rewriter, begun = self._rewriter, time.monotonic()
        goes_on = sum(message.is_from(ChatRole.USER) for message in said) > 1
        if not self._follow_ups or not goes_on or not asked[QUERY].strip():
            return asked, None
        if rewriter is None:
            return asked, {"question": asked[QUERY], "source": "message", "fallback": None, **asdict(Usage())}
        # Who waits for the answer waits for this, too; a half of the time stays for the search.
        budget = asked.get("budget") or {}
        half = budget.get("seconds", inf) / 2
        if half < rewriter.timeout_s:
            rewriter = made_of(FollowUpRewriter, {**settings_of(rewriter), "timeout_s": half})
        found = await rewriter.run_async(messages=said)
        if half < inf:
            asked["budget"] = {**budget, "seconds": max(half, 2 * half - (time.monotonic() - begun))}
        return {**asked, QUERY: found["query"]}, {"question": found["query"], **found["report"]}

    async def _streamed(
        self,
        asked: Mapping[str, Any],
        known: Mapping[str, Any] | None,
        follow_up: Mapping[str, Any] | None,
        usage: Callable[[dict[str, int] | None], list[ChatCompletion]],
    ) -> AsyncGenerator[Part, None]:
        """Give the answer as its generator writes it; what nobody wrote word by word comes in one piece at the end."""
        ends: list[Part] = []
        wrote = False

        def ended(outputs: Mapping[str, Any]) -> None:
            if not wrote or failed_answer(outputs):
                text = spoken(outputs, follow_up, cites=self._cites)
            else:
                text = sources(outputs) if self._cites else ""
            why: Any = finish_reason(outputs)
            ends.append(StreamingChunk(content=f"\n\n{text}" if text and wrote else text, finish_reason=why))
            ends.extend(usage(usage_of(outputs, follow_up)))

        with translated(asked):
            if known or not self._writers:
                ended(known or await self.loaded.run_async(**asked))
            else:
                stream = async_streaming_generator(
                    pipeline=self.pipeline,
                    pipeline_run_args=self.loaded.arguments(asked),
                    streaming_components=self._writers,
                    include_outputs_from=self.loaded.last,
                    on_pipeline_end=lambda results: ended(self.loaded.outputs(results)),
                )
                async with aclosing(stream):
                    async for chunk in stream:
                        if chunk.content:
                            wrote = True
                            yield StreamingChunk(content=chunk.content)
            for end in ends:
                yield end


def _kinds(loaded: LoadedPipeline) -> dict[str, Any]:
    sockets = sockets_of(loaded, "input") or {}
    return {name: sockets[name].type for name in loaded.input_mapping}


def _rewriter(loaded: LoadedPipeline) -> FollowUpRewriter | None:
    """Have the model that writes a pipeline's answers write out follow-up questions; None where none does."""
    parts = [part for _, part in loaded.pipeline.walk()]
    model = next((part.chat_generator for part in parts if isinstance(part, AnswerGenerator)), None)
    # The taint rule: what documents had a part in reaches no web search, and so no question that may become a query.
    asks_the_web = any(isinstance(part, WebFallback) for part in parts)
    return None if model is None else FollowUpRewriter(model, read_answers=not asks_the_web)


def _streaming_parts(loaded: LoadedPipeline) -> list[str]:
    """Name the components that write the answer word by word: not the grader, nor whatever else asks a model."""
    return [name for name, part in loaded.pipeline.walk() if isinstance(part, AnswerGenerator)]


def _usage(model: str, body: Mapping[str, Any], usage: dict[str, int] | None) -> list[ChatCompletion]:
    """Write the part with the tokens for who asks for it: a gateway would estimate them by the question alone."""
    options = body.get("stream_options")
    if usage is None or not isinstance(options, dict) or options.get("include_usage") is not True:
        return []
    part = chat_completion_response("", f"crag-{uuid4().hex}", model)
    return [part.model_copy(update={"object": "chat.completion.chunk", "choices": [], "usage": usage})]


async def _continued(first: Part, rest: AsyncGenerator[Part, None]) -> AsyncGenerator[Part, None]:
    async with aclosing(rest):
        yield first
        async for chunk in rest:
            yield chunk


def _purpose(spec: Mapping[str, Any]) -> str:
    """Say to people and to a model that chooses among tools what comes back."""
    if "answers" in spec["outputs"]:
        return "Answers a question from the indexed documents, with citations, or says that they do not answer it."
    return (
        "Finds passages in the indexed documents that answer a question; `crag.verdict` says whether they do: "
        "`correct`, `ambiguous` (perhaps, or in part) or `incorrect`."
    )
