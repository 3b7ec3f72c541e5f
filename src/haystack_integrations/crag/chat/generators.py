"""What can be told of a chat generator without asking it."""

from contextlib import suppress
from copy import copy
from typing import Any, Final, Literal, get_args

from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.sockets import is_part, named, sockets_of

_INSIDE: Final = "; pass the one that it asks, its chat_generator"
_COMPLETIONS: Final = "OpenAIChatGenerator"
_RESPONSES: Final = "OpenAIResponsesChatGenerator"
_TELLING: Final = frozenset(
    f"{vendor}ChatGenerator"
    for vendor in ("AmazonBedrock", "Anthropic", "Cohere", "GoogleGenAI", "HuggingFaceAPI", "Ollama")
)


def check_generator(generator: object) -> None:
    """
    Refuse what is no chat generator.

    :param generator: The object given.
    :raises ConfigurationError: When it has no `run`, or one that takes no messages or gives no replies: an agent's
        gives a conversation, and each call was paid for and read as empty. Or when its replies are texts.
    """
    msg = f"chat_generator must be a Haystack chat generator, but got {named(generator)}"
    if not is_part(generator):
        raise ConfigurationError(msg)
    if not (_may_have(generator, "input", "messages") and _may_have(generator, "output", "replies")):
        msg += ", which does not take messages and give replies"
        raise ConfigurationError(msg + _INSIDE if hasattr(generator, "chat_generator") else msg)
    replies = (sockets_of(generator, "output") or {}).get("replies")
    if replies is not None and get_args(replies.type) == (str,):  # each was paid for, too, and failed when it was read
        msg += ", whose replies are texts; make each one a message: ChatMessage.from_assistant(text)"
        raise ConfigurationError(msg)


def _may_have(part: object, door: Literal["input", "output"], name: str) -> bool:
    """Tell whether a component has a socket; what is none of Haystack's, or names none, may have any."""
    sockets = sockets_of(part, door)
    return not sockets or name in sockets


def model_of(generator: object) -> str | None:
    """
    Name the model that a chat generator asks.

    :param generator: A chat generator.
    :returns: Its model, or None where it tells none.
    """
    model = getattr(generator, "model", None)
    return model if isinstance(model, str) else None


def speaks_openai(generator: object) -> bool:
    """
    Tell whether a chat generator is Haystack's for OpenAI's chat completions or one derived from it.

    :param generator: A chat generator.
    :returns: Whether it is, told by name: asking by class would import that client for everyone.
    """
    return any(base.__name__ == _COMPLETIONS for base in type(generator).__mro__)


def uses_openai(generator: object) -> bool:
    """
    Tell whether a chat generator is Haystack's for either of OpenAI's APIs, or one derived from it.

    :param generator: A chat generator.
    :returns: Whether it asks for chat completions or responses.
    """
    return any(base.__name__ in (_COMPLETIONS, _RESPONSES) for base in type(generator).__mro__)


def tells_end(generator: object, name: object = None) -> bool:
    """
    Tell whether a reply that says nothing of why its model stopped was not ended by the model.

    The servers behind these always say why; Haystack's generators drop the words that they do not know, such as
    Ollama's `length`, and a stream that broke has none.

    :param generator: A chat generator.
    :param name: Of the one inside it that replied, if it tells one.
    :returns: Whether it is one of those, or derived from one.
    """
    return name in _TELLING or any(base.__name__ in _TELLING for base in type(generator).__mro__)


def reaches_client(generator: Any) -> bool:
    """
    Tell whether the settings of a call reach OpenAI's client, where a timeout is one.

    :param generator: A chat generator.
    :returns: False for another API, and for generators that send all settings in the body, as OpenRouter's does.
    """
    if not uses_openai(generator):
        return False
    with suppress(Exception):  # a method of Haystack's own: where it takes other arguments, nothing is known
        return "timeout" in generator._prepare_api_call(messages=[], generation_kwargs={"timeout": 1.0})
    return True


def quiet(generator: Any) -> Any:
    """
    Keep what graders ask from a generator's own listener: it is told the answer, as by the server.

    :param generator: A chat generator.
    :returns: The same, or a copy without a listener.
    """
    if getattr(generator, "streaming_callback", None) is None:
        return generator
    silent = copy(generator)
    silent.streaming_callback = None
    return silent
