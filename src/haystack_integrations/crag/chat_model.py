"""The chat model that `crag` answers with: any OpenAI-compatible endpoint, from options, the environment or `.env`."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from inspect import signature
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit
from urllib.request import getproxies

from haystack_integrations.crag.errors import ConfigurationError, unreadable_certificates
from haystack_integrations.crag.settings import configured
from haystack_integrations.crag.store_profiles import display_url

if TYPE_CHECKING:
    from haystack.components.generators.chat import OpenAIChatGenerator

MODEL_SETTING: Final = "CRAG_LLM_MODEL"
URL_SETTING: Final = "CRAG_LLM_BASE_URL"
KEY_SETTING: Final = "CRAG_LLM_API_KEY"
OPTIONS_SETTING: Final = "CRAG_LLM_OPTIONS"
GRADING_MODEL_SETTING: Final = "CRAG_LLM_GRADING_MODEL"
GRADING_OPTIONS_SETTING: Final = "CRAG_LLM_GRADING_OPTIONS"
OPENAI_KEY: Final = "OPENAI_API_KEY"
OPENAI_URL: Final = "OPENAI_BASE_URL"
HOW_TO_SET: Final = f"set {URL_SETTING} and {MODEL_SETTING} (and {KEY_SETTING} where it needs one)"
"""The way out where a chat model is asked and none is configured."""

GRADING_SECONDS: Final = 20.0
ANSWER_SECONDS: Final = 60.0
"""How long a reply is waited for, unless another time is asked for."""

_PROXIES: Final = ("http", "https", "all")
_PLAIN: Final = ("", "http", "https")
_SOCKS: Final = ("socks5", "socks5h")
_OURS: Final = frozenset({"messages", "model", "n", "stream"})


@dataclass(frozen=True)
class ChatModel:
    """
    A chat model behind an OpenAI-compatible API.

    :param model: Its name there.
    :param base_url: Address of the API; None for OpenAI's own.
    :param api_key: The key; a local server needs none.
    :param options: What is sent with each call besides, such as `{"reasoning_effort": "low"}`.
    :param judging: The model that grades; None for this one.
    """

    model: str
    base_url: str | None = field(default=None, repr=False)  # it may hold a password
    api_key: str | None = field(default=None, repr=False)
    options: Mapping[str, Any] = field(default_factory=dict, repr=False)
    judging: "ChatModel | None" = None

    def identity(self) -> list[Any]:
        """
        Tell what its replies depend on, to be compared and not to be shown: an address may hold a password.

        :returns: All but the key, which may be exchanged.
        """
        judging = None if self.judging is None else self.judging.identity()
        return [self.model, self.base_url, dict(self.options), judging]

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
            api_key=key,
            model=self.model,
            api_base_url=self.base_url,
            generation_kwargs=dict(self.options),
            timeout=timeout,
            max_retries=1,
        )

    def judge(self, timeout: float = GRADING_SECONDS) -> "OpenAIChatGenerator":
        """
        Make the chat generator that grades; nothing is sent yet.

        :param timeout: Seconds to wait for a reply.
        :returns: The generator.
        """
        return (self.judging or self).generator(timeout)


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
        _check_alone()
        return None
    if model is None:
        msg = f"got an address of a chat model but no model, wanted its name; set {MODEL_SETTING}{option}"
        raise ConfigurationError(msg)
    key, address, setting = api_key or configured(KEY_SETTING), base_url, URL_SETTING
    if base_url is None:
        key = key or configured(OPENAI_KEY)
        if key is None:
            msg = f"got the model {model!r} but neither address nor key; set {URL_SETTING}, or {KEY_SETTING} for OpenAI"
            raise ConfigurationError(msg)
        address, setting = os.environ.get(OPENAI_URL) or None, OPENAI_URL  # which OpenAI's client reads by itself
    if address is not None and not is_address(address):
        got = display_url(address)
        msg = f"got {got!r} as address of the chat model, wanted http://HOST:PORT/v1; correct {setting}"
        raise ConfigurationError(msg)
    _check_client(key or "", KEY_SETTING)
    options = _options(OPTIONS_SETTING)
    own, mine = configured(GRADING_MODEL_SETTING), _options(GRADING_OPTIONS_SETTING)
    # Another model may not know the options of this one.
    sent = mine if mine is not None or own else options
    judging = ChatModel(own or model, address, key, sent or {})
    return ChatModel(model, address, key, options or {}, judging)


def _check_alone() -> None:
    """Refuse what is for a chat model where none is named, and those of the shipped YAML are asked without it."""
    alone = [name for name in (OPTIONS_SETTING, GRADING_MODEL_SETTING, GRADING_OPTIONS_SETTING) if configured(name)]
    if alone and has_key():
        msg = (
            f"got {' and '.join(alone)} without {MODEL_SETTING}, so the models that stand in the pipelines would be "
            f"asked as they are; set {MODEL_SETTING} as well, or unset what is for it"
        )
        raise ConfigurationError(msg)


def _check_client(key: str, setting: str) -> None:
    """Refuse what the model's client cannot be made or send anything with: each call would fail, and not say why."""
    if not (key.isascii() and key.isprintable()):
        msg = (
            "got an API key with a character that no header of HTTP takes (it is not shown), wanted ASCII; copy it "
            f"anew into {setting}: what it was copied from may have added a character that one does not see"
        )
        raise ConfigurationError(msg)
    _check_proxies()
    _check_authorities()


def _check_proxies() -> None:
    """Refuse a proxy of the environment that the model's client cannot be made with, whatever it is to ask."""
    proxies = getproxies()
    kinds = {f"{name.upper()}_PROXY": proxies.get(name, "").lower().rpartition("://")[0] for name in _PROXIES}
    usable = (*_PLAIN, *(_SOCKS if find_spec("socksio") is not None else ()))
    named = sorted(name for name, kind in kinds.items() if kind not in usable)
    if not named or "*" in map(str.strip, proxies.get("no", "").split(",")):
        return
    is_socks = any(kinds[name].startswith("socks") for name in named)
    kind, wanted, way_out = (
        ("a SOCKS proxy", "socks5:// and with the package socksio", "run `pip install socksio`")
        if is_socks
        else ("another kind of proxy", "http:// or https://", "correct it")
    )
    msg = (
        f"got {kind} in {' and '.join(named)}, which the chat model's client takes only as {wanted}, also where "
        f"NO_PROXY avoids the proxy; {way_out}, or unset it"
    )
    raise ConfigurationError(msg)


def _check_authorities() -> None:
    """Refuse certificates that cannot be read: the model's client cannot be made then, whatever it is to ask."""
    if (file := os.environ.get("SSL_CERT_FILE")) and (why := unreadable_certificates(file)):
        msg = (
            f"got {file!r} as SSL_CERT_FILE, which is no readable file of certificates ({why}), wanted a PEM file with "
            "those of authorities; correct or unset it"
        )
        raise ConfigurationError(msg)


def _options(name: str) -> dict[str, Any] | None:
    """Read a setting that is a JSON object; None where it is not set."""
    if (text := configured(name)) is None:
        return None
    try:
        found = json.loads(text)
        got = ", ".join(sorted(_OURS & found.keys())) if isinstance(found, dict) else f"a {type(found).__name__}"
    except ValueError as error:
        found, got = None, f"no JSON ({error})"
    if not isinstance(found, dict) or got:
        # The text is not shown: the headers in it may hold a key.
        msg = (
            f"the setting {name} must be a JSON object of what the chat model's API takes besides {sorted(_OURS)}, "
            f'such as {{"reasoning_effort": "low"}}, but got {got}; correct or unset it'
        )
        raise ConfigurationError(msg)
    if found and (unknown := sorted(found.keys() - _known_to_client())):
        msg = (
            f"the setting {name} has {unknown}, which OpenAI's client does not know, so each call would fail; what "
            'only your server knows goes into extra_body, such as {"extra_body": {"top_k": 20}}'
        )
        raise ConfigurationError(msg)
    return found


def _known_to_client() -> set[str]:
    """Name what the client takes for a call: anything else ends it before it is sent."""
    from openai.resources.chat.completions import Completions

    return set(signature(Completions.create).parameters)


def has_key() -> bool:
    """
    Tell whether the model that stands in the shipped YAML could be asked: OpenAI's, so it reads that key alone.

    :returns: True when the key is in the environment of this process; Haystack reads no `.env`.
    :raises ConfigurationError: Where the key, a proxy or certificates of the environment cannot be used.
    """
    if key := os.environ.get(OPENAI_KEY):
        _check_client(key, OPENAI_KEY)
    return bool(key)


def is_address(url: str) -> bool:
    """
    Tell whether a text is the address of a server.

    :param url: The text.
    :returns: True for `http` and `https` with a host, in which no blank is.
    """
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and len((parts.hostname or "").split()) == 1 and parts.port != 0
    except ValueError:
        return False
