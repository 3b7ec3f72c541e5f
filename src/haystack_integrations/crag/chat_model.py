"""The chat model that `crag` answers with: any OpenAI-compatible endpoint, from options, the environment or `.env`."""

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.settings import configured

if TYPE_CHECKING:
    from haystack.components.generators.chat import OpenAIChatGenerator

MODEL_SETTING: Final = "CRAG_LLM_MODEL"
URL_SETTING: Final = "CRAG_LLM_BASE_URL"
KEY_SETTING: Final = "CRAG_LLM_API_KEY"
OPENAI_KEY: Final = "OPENAI_API_KEY"
HOW_TO_SET: Final = f"set {URL_SETTING} and {MODEL_SETTING} (and {KEY_SETTING} where it needs one)"
"""The way out where a chat model is asked and none is configured."""

GRADING_SECONDS: Final = 20.0
ANSWER_SECONDS: Final = 60.0
"""How long a reply is waited for, unless another time is asked for."""


@dataclass(frozen=True)
class ChatModel:
    """
    A chat model behind an OpenAI-compatible API.

    :param model: Its name there.
    :param base_url: Address of the API; None for OpenAI's own.
    :param api_key: The key; a local server needs none.
    """

    model: str
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)

    def generator(self, timeout: float) -> "OpenAIChatGenerator":
        """
        Make a chat generator; nothing is sent yet.

        :param timeout: Seconds to wait for a reply; one that did not come is asked for once more.
        :returns: The generator.
        """
        from haystack.components.generators.chat import OpenAIChatGenerator
        from haystack.utils import Secret

        # The client wants some key, also for a server that asks for none.
        key = Secret.from_token(self.api_key or "no-key")
        return OpenAIChatGenerator(
            api_key=key, model=self.model, api_base_url=self.base_url, timeout=timeout, max_retries=1
        )


def chat_model(base_url: str | None = None, model: str | None = None, api_key: str | None = None) -> ChatModel | None:
    """
    Find the chat model to use: as given, else from the environment, else from `.env`.

    :param base_url: Address of the API.
    :param model: Name of the model.
    :param api_key: The key.
    :returns: The model, or None when none is configured.
    :raises ConfigurationError: When what is configured is not enough, or no address.
    """
    option = " or pass --llm-model" if base_url else ""  # only commands with the one option have the other
    base_url, model = base_url or configured(URL_SETTING), model or configured(MODEL_SETTING)
    if base_url is None and model is None:
        return None
    if model is None:
        msg = f"got an address of a chat model but no model, wanted its name; set {MODEL_SETTING}{option}"
        raise ConfigurationError(msg)
    if base_url is not None and not is_address(base_url):
        msg = f"got {base_url!r} as address of the chat model, wanted http://HOST:PORT/v1; correct {URL_SETTING}"
        raise ConfigurationError(msg)
    key = api_key or configured(KEY_SETTING)
    if base_url is None:
        key = key or configured(OPENAI_KEY)
        if key is None:
            msg = f"got the model {model!r} but neither address nor key; set {URL_SETTING}, or {KEY_SETTING} for OpenAI"
            raise ConfigurationError(msg)
    return ChatModel(model, base_url, key)


def has_key() -> bool:
    """
    Tell whether the model that stands in the shipped YAML could be asked: OpenAI's, so it reads that key alone.

    :returns: True when the key is in the environment of this process; Haystack reads no `.env`.
    """
    return bool(os.environ.get(OPENAI_KEY))


def is_address(url: str) -> bool:
    """
    Tell whether a text is the address of a server.

    :param url: The text.
    :returns: True for `http` and `https` with a host.
    """
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
