"""A grader's limits, checked once."""

from dataclasses import dataclass, fields
from typing import Final

from haystack import logging

from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.settings import check_positive

logger = logging.getLogger(__name__)

LEAST_ROOM: Final = 64
"""Tokens that a prompt must have left for documents."""


@dataclass(frozen=True)
class GradingOptions:
    """A grader's checked settings; see `BatchRelevanceGrader` for their meaning."""

    max_documents: int | None
    max_chars_per_document: int
    max_prompt_tokens: int
    max_llm_calls: int
    concurrency: int
    deadline_s: float
    shuffle: bool
    canary: bool

    @classmethod
    def of(cls, grader: object, *, overhead: int) -> "GradingOptions":
        """
        Take the limits of a grader and refuse those that no call can keep.

        :param grader: The component, with an attribute of each name.
        :param overhead: Tokens of its prompt without question and documents, estimated.
        :returns: The options.
        :raises ConfigurationError: Naming the first that is unusable.
        """
        options = cls(**{field.name: getattr(grader, field.name) for field in fields(cls)})
        names = ("max_chars_per_document", "max_prompt_tokens", "max_llm_calls", "concurrency", "deadline_s")
        limits = {name: getattr(options, name) for name in names}
        check_positive({**limits, "max_documents": 1 if options.max_documents is None else options.max_documents})
        least = overhead + LEAST_ROOM
        if options.max_prompt_tokens < least:
            msg = f"max_prompt_tokens must be at least {least}, since the prompt without documents takes {overhead}, "
            msg += f"but got {options.max_prompt_tokens}; raise it, or shorten the rubric"
            raise ConfigurationError(msg)
        if getattr(grader, "reasons", False) and getattr(grader, "cache", None) is not None:
            logger.warning("A grade from the cache has no reason: a cache holds no text; leave out cache or reasons")
        return options
