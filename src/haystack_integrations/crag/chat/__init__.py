"""Chat models inside of components: what is known of a generator, its life cycle, calls in time, and failures."""

from haystack_integrations.crag.chat.calls import ask, ask_async
from haystack_integrations.crag.chat.failures import (
    CallError,
    NoCompletionError,
    NoPartsError,
    PromptCutError,
    cost_of,
    kind_of,
    may_be_the_form,
    refused_at_once,
    status_of,
    surely_not_the_form,
    surely_too_long,
)
from haystack_integrations.crag.chat.generators import (
    check_generator,
    model_of,
    reaches_client,
    speaks_openai,
    uses_openai,
)
from haystack_integrations.crag.chat.life_cycle import ChatBacked
from haystack_integrations.crag.chat.room import Room, believed_until

__all__ = [
    "CallError",
    "ChatBacked",
    "NoCompletionError",
    "NoPartsError",
    "PromptCutError",
    "Room",
    "ask",
    "ask_async",
    "believed_until",
    "check_generator",
    "cost_of",
    "kind_of",
    "may_be_the_form",
    "model_of",
    "reaches_client",
    "refused_at_once",
    "speaks_openai",
    "status_of",
    "surely_not_the_form",
    "surely_too_long",
    "uses_openai",
]
