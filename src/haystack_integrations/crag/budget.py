"""What a run may spend, and what it has spent."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from math import inf
from typing import Any, Final

from haystack.dataclasses import ChatMessage

from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.inputs import is_number
from haystack_integrations.crag.settings import check_wait
from haystack_integrations.crag.texts.text import count_tokens

_MOST_TOKENS: Final = 1_000_000_000  # of one call; more is none that was counted, and no number that records hold


@dataclass(frozen=True)
class Usage:
    """
    What a run has spent on language models.

    :param llm_calls: Requests sent to a chat model.
    :param tokens_in: Prompt tokens, as the model reports them.
    :param tokens_out: Completion tokens, as the model reports them.
    """

    llm_calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0

    @property
    def tokens(self) -> int:
        """Both kinds together."""
        return self.tokens_in + self.tokens_out

    @classmethod
    def of(cls, message: ChatMessage, estimate: int = 0) -> "Usage":
        """
        Read the tokens of one reply; the call itself is counted where it is made.

        :param message: A chat generator's reply, with OpenAI's or the newer names of its usage.
        :param estimate: Tokens of the prompt, to be counted with the reply's words where the model reports nothing; 0
            counts what is reported and no more.
        :returns: Its tokens.
        """
        usage = message.meta.get("usage")
        tokens_in = _tokens(usage, "prompt_tokens", "input_tokens")
        tokens_out = _tokens(usage, "completion_tokens", "output_tokens")
        if estimate:
            tokens_out = tokens_out or (0 if tokens_in else count_tokens(message.text or ""))
        return cls(tokens_in=tokens_in or estimate, tokens_out=tokens_out)

    def __add__(self, other: "Usage") -> "Usage":
        """Sum two usages field by field."""
        return Usage(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(Usage)))


@dataclass(frozen=True)
class Budget:
    """
    The limits of one run; None means no limit of that kind.

    :param iterations: Most passes through retrieval; the router's own limit holds too.
    :param llm_calls: Most requests to chat models for judging and correcting; the answer itself is not counted.
    :param tokens: Most prompt and completion tokens together.
    :param seconds: Most wall time from the start of the run: no call is begun without time, and none waited for longer;
        the answer's neither.
    """

    iterations: int | None = None
    llm_calls: int | None = None
    tokens: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        """Refuse limits that are no positive numbers."""
        for f in fields(self):
            value = getattr(self, f.name)
            kind, wanted = (int | float, "a finite number") if f.name == "seconds" else (int, "a whole number")
            if value is not None and (isinstance(value, bool) or not isinstance(value, kind) or not 0 < value < inf):
                msg = f"budget {f.name} must be {wanted} > 0 or null, but got {value!r}"
                raise ConfigurationError(msg)
        check_wait("budget seconds", self.seconds or 0)

    @classmethod
    def of(cls, values: dict[str, Any] | None) -> "Budget":
        """
        Read a budget from a plain mapping.

        :param values: Limits by name, or None for no limits.
        :returns: The budget.
        :raises ConfigurationError: For an unknown name or an unusable number.
        """
        if values is not None and not isinstance(values, Mapping):
            msg = (
                f"got a {type(values).__name__} as budget, wanted a mapping of limits; pass one like {{'seconds': 20}}"
            )
            raise ConfigurationError(msg)
        known = {f.name for f in fields(cls)}
        unknown = set(values or {}) - known
        if unknown:
            msg = f"unknown budget limit {sorted(unknown)}; choose from {sorted(known)}"
            raise ConfigurationError(msg)
        return cls(**(values or {}))


def _tokens(usage: Any, *names: str) -> int:
    """Read the first count that is one: a provider's own form of it costs nobody an answer."""
    values = (usage.get(name) for name in names) if isinstance(usage, dict) else ()
    return int(next((value for value in values if is_number(value) and 0 < value <= _MOST_TOKENS), 0))
