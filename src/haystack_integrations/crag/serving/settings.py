"""What `crag serve` can be told: from options, the environment or `.env`, checked at once. Keys are never shown."""

import os
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from dotenv import find_dotenv
from pydantic import AfterValidator, Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from haystack_integrations.crag.caching.redis_url import is_redis
from haystack_integrations.crag.errors import ConfigurationError, NotConfiguredError
from haystack_integrations.crag.pipelines.opening import INDEX, MEMORY
from haystack_integrations.crag.settings import (
    CALIBRATION_SETTING,
    INDEX_SETTING,
    REDIS_SETTING,
    STORE_SETTING,
    STORE_URL_SETTING,
    named,
)
from haystack_integrations.crag.web.searxng import Server

PREFIX: Final = "CRAG_SERVE_"
_SHARED: Final = {
    "store": STORE_SETTING,
    "url": STORE_URL_SETTING,
    "index": INDEX_SETTING,
    "redis_url": REDIS_SETTING,
    "calibration": CALIBRATION_SETTING,
}

Names = Annotated[tuple[str, ...], NoDecode]
"""Several values in one setting, separated by commas."""


class ServeSettings(BaseSettings):
    """
    The settings of a server; each is named in `docs/server-settings.md`.

    :param host: Address to listen on. Any but loopback needs keys.
    :param port: Port to listen on.
    :param workers: Processes.
    :param pipelines: Pipelines to serve; empty serves all that can be.
    :param store: Kind of document store.
    :param url: Address of its server.
    :param index: Name of the index.
    :param docs: Files and folders that a memory store is filled with at the start.
    :param calibration: File of `crag calibrate`, for the parts that judge by one; None takes what their YAML says.
    :param redis_url: Where grades are shared by processes; None keeps none.
    :param api_keys: Keys that are accepted.
    :param api_keys_file: File with keys, one a line, read again when it changes.
    :param metrics_open: Whether `/metrics` needs no key.
    :param cors_origins: Origins of web pages that may call.
    :param uploads: Whether files can be uploaded into the index.
    :param follow_ups: Whether a chat's newest message is rewritten by what was said before it.
    :param sources: Whether a chat's answer ends with a line of what it cites.
    :param question_chars: Longest question, in characters.
    :param body_bytes: Longest body of a request.
    :param upload_bytes: Longest body of an upload, all its files together.
    :param read_seconds: How long a client may take to send a body.
    :param concurrent: Requests that run at once, in each process; more are refused.
    :param answer_seconds: Longest wait for a chat model's answer.
    :param ready_seconds: Longest wait for the store when readiness is asked for.
    :param shutdown_seconds: How long running requests may take to end after SIGTERM.
    """

    # `populate_by_name`: code says `store=`, the environment CRAG_STORE. What was given is not repeated in messages.
    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_ignore_empty=True, extra="ignore", frozen=True, populate_by_name=True
    )

    host: Annotated[str, AfterValidator(lambda host: host.strip("[]"))] = "127.0.0.1"  # as in an address, too
    port: int = Field(default=1416, ge=0, le=65_535)
    workers: int = Field(default=1, ge=1, le=64)
    pipelines: Names = ()
    store: Literal["memory", "elasticsearch"] = Field(default="memory", validation_alias=_SHARED["store"])
    url: str | None = Field(default=None, validation_alias=_SHARED["url"], repr=False)
    index: str = Field(default=INDEX, validation_alias=_SHARED["index"])
    docs: Names = ()
    calibration: str | None = Field(default=None, validation_alias=_SHARED["calibration"])
    redis_url: SecretStr | None = Field(default=None, validation_alias=_SHARED["redis_url"])
    api_keys: Annotated[tuple[SecretStr, ...], NoDecode] = ()
    api_keys_file: Path | None = None
    metrics_open: bool = False
    cors_origins: Names = ()
    uploads: bool = False
    follow_ups: bool = True
    sources: bool = True
    question_chars: int = Field(default=4096, ge=1, le=1_000_000)
    body_bytes: int = Field(default=65_536, ge=256, le=100_000_000)
    upload_bytes: int = Field(default=10_000_000, ge=256, le=1_000_000_000)
    read_seconds: float = Field(default=10.0, gt=0, le=600)
    concurrent: int = Field(default=64, ge=1, le=10_000)
    answer_seconds: float = Field(default=60.0, gt=0, le=600)
    ready_seconds: float = Field(default=2.0, gt=0, le=60)
    shutdown_seconds: int = Field(default=30, ge=1, le=600)

    @classmethod
    def settings_customise_sources(cls, *_: Any, **sources: Any) -> tuple[Any, ...]:
        """Let a variable that is set to nothing stand in the place of what `.env` says, as for all other settings."""
        # But for keys: an empty variable, as of a template, must not open a server.
        filed, keys = sources["dotenv_settings"], f"{PREFIX}API_KEYS"
        here = {name.lower() for name in os.environ if not name.upper().startswith(keys)}
        filed.env_vars = {name: value for name, value in filed.env_vars.items() if name not in here}
        return sources["init_settings"], sources["env_settings"], filed

    @model_validator(mode="before")
    @classmethod
    def _bare(cls, values: dict[str, Any]) -> dict[str, Any]:
        """Leave out the end of a line, as of a Secret made by `echo` or an env file of Windows; blanks alone stay."""
        return {name: value.strip() or value if isinstance(value, str) else value for name, value in values.items()}

    @field_validator("pipelines", "docs", "api_keys", "cors_origins", mode="before")
    @classmethod
    def _separated(cls, value: Any) -> Any:
        """Split at commas; a list given in code stays as it is."""
        return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value

    @field_validator("api_keys", mode="before")
    @classmethod
    def _meant(cls, value: Any) -> Any:
        """Keep a text of commas and blanks for `_some`, to which `_separated` would give nothing at all."""
        return (value,) if isinstance(value, str) and value and not value.replace(",", "").strip() else value

    @field_validator("api_keys")
    @classmethod
    def _some(cls, value: tuple[SecretStr, ...]) -> tuple[SecretStr, ...]:
        """Refuse what was meant to hold keys and holds none: the server would be open. Nothing at all is unset."""
        if value and not any(key.get_secret_value().replace(",", "").strip() for key in value):
            msg = "got no key in it, wanted keys with commas between them; write one that you made up, or unset it"
            raise ValueError(msg)
        return value

    @field_validator("store", mode="before")
    @classmethod
    def _known(cls, value: Any) -> Any:
        """Take the profile's own name, too, as the other commands do."""
        return "memory" if value == MEMORY else value

    @field_validator("redis_url")
    @classmethod
    def _redis(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None and not is_redis(value.get_secret_value()):
            msg = "wanted redis://HOST:PORT/0, rediss:// or unix://"
            raise ValueError(msg)
        return value

    @field_validator("cors_origins")
    @classmethod
    def _origins(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        """Refuse what no browser sends: compared letter by letter, it would allow nobody."""
        for origin in value:
            scheme, mark, place = origin.partition("://")
            if origin != "*" and (not scheme or not mark or not place or "/" in place or origin != origin.lower()):
                msg = f"got {origin!r}, wanted it as browsers send it: SCHEME://HOST in small letters, no / after it"
                raise ValueError(msg)
        return value

    @model_validator(mode="after")
    def _web(self) -> "ServeSettings":
        with suppress(NotConfiguredError):  # nothing is wrong with a server without the web
            Server.configured()
        return self

    @model_validator(mode="after")
    def _together(self) -> "ServeSettings":
        if not self.is_local and not self.has_keys:
            msg = (
                f"the host {self.host!r} can be reached from elsewhere, so keys are needed; set {PREFIX}API_KEYS or "
                f"{PREFIX}API_KEYS_FILE, or take the host 127.0.0.1"
            )
            raise ValueError(msg)
        if self.store == "memory" and self.workers > 1:
            msg = "a memory store is of one process; take 1 worker, or the store elasticsearch with its url"
            raise ValueError(msg)
        if self.store == "elasticsearch" and self.docs:
            msg = "docs fill a memory store; fill an index with `crag index PATH --store elasticsearch --url URL`"
            raise ValueError(msg)
        return self

    @property
    def is_local(self) -> bool:
        """Tell whether only this machine can reach the host."""
        return is_loopback(self.host)

    @property
    def has_keys(self) -> bool:
        """Tell whether requests need a key."""
        return bool(self.api_keys) or self.api_keys_file is not None


def read_settings(**given: Any) -> ServeSettings:
    """
    Find the settings: as given, else from the environment, else from `.env`, else the defaults.

    :param given: Settings by name.
    :returns: The settings.
    :raises ConfigurationError: Naming each setting that is unusable, never its value.
    """
    named()  # a `.env` that cannot be read, and a pipe that nobody writes into, are told of by this
    try:
        file = find_dotenv(usecwd=True) or None
        return ServeSettings(_env_file=file, _env_file_encoding="utf-8-sig", **given)  # type: ignore[call-arg]
    except ValidationError as error:
        problems = (_problem(entry) for entry in error.errors(include_url=False, include_input=False))
        msg = f"unusable settings: {'; '.join(problems)}"
        raise ConfigurationError(msg) from None


def is_loopback(host: str) -> bool:
    """
    Tell whether a name is this machine's own.

    :param host: A name or address.
    :returns: True for `localhost` and loopback addresses.
    """
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def environment_name(name: str) -> str:
    """
    Name the environment variable of a setting.

    :param name: Name of the setting.
    :returns: Such as `CRAG_SERVE_PORT`.
    """
    return _SHARED.get(name, PREFIX + name.upper())


def _problem(entry: Any) -> str:
    message = str(entry["msg"]).removeprefix("Value error, ")
    where = str(entry["loc"][0]) if entry["loc"] else ""
    name = where if where in _SHARED.values() else environment_name(where)
    return f"{name}: {message}" if where else message
