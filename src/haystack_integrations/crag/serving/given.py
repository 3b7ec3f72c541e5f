"""What the settings of a server give to the parts of the pipelines that it serves."""

from typing import TYPE_CHECKING, Any

from haystack_integrations.crag.components.answer_generator import AnswerGenerator
from haystack_integrations.crag.components.batch_relevance_grader import BatchRelevanceGrader
from haystack_integrations.crag.components.question_guard import QuestionGuard

if TYPE_CHECKING:
    from haystack_integrations.crag.pipelines.loaded import LoadedPipeline


def share_cache(loaded: "LoadedPipeline", cache: Any) -> None:
    """
    Let all graders of a pipeline share a cache of grades.

    :param loaded: The pipeline.
    :param cache: The cache.
    """
    for _, part in loaded.pipeline.walk():
        if isinstance(part, BatchRelevanceGrader):
            part.cache = cache


def give_time(loaded: "LoadedPipeline", seconds: float) -> None:
    """
    Let an answer take as long as an operator says, and its run: ended by its budget, the setting would do nothing.

    :param loaded: The pipeline, before its warm-up.
    :param seconds: Longest wait for an answer; a longer budget of the pipeline stays.
    """
    for _, part in loaded.pipeline.walk():
        if isinstance(part, AnswerGenerator):
            part.timeout_s = seconds
            if hasattr(part.chat_generator, "timeout"):  # of the client, which would give up before
                part.chat_generator.timeout = seconds
        if isinstance(part, QuestionGuard) and part.budget and "seconds" in part.budget:
            part.budget = {**part.budget, "seconds": max(seconds, part.budget["seconds"])}
