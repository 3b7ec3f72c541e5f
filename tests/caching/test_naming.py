"""Names of settings: the same in every process, different for whatever is set differently, or none at all."""

import functools
import subprocess
import sys
from enum import Enum
from pathlib import Path
from typing import Any

import pytest
from haystack.components.generators.chat import FallbackChatGenerator, MockChatGenerator, OpenAIChatGenerator
from haystack.utils import Secret

from haystack_integrations.crag.caching.naming import stable
from haystack_integrations.crag.errors import ConfigurationError

KEY = Secret.from_token("a-key")
NESTED = """
from haystack.components.generators.chat import FallbackChatGenerator, OpenAIChatGenerator
from haystack.utils import Secret
from haystack_integrations.crag.caching.naming import stable
inner = [OpenAIChatGenerator(Secret.from_token("k"), m, generation_kwargs={"stop": {"b", "a"}}) for m in ("one", "two")]
print(stable(FallbackChatGenerator(inner)))
"""


class Level(Enum):
    """A setting of its own kind."""

    LOW = 1
    HIGH = 2


class Wrapping:
    """A generator around another one."""

    def __init__(self, inner: Any) -> None:
        """Keep it."""
        self.inner = inner


class Silent:
    """Keeps its settings where nobody finds them."""

    def __init__(self, model: str) -> None:
        """Hide it."""
        self._hidden = model


class Loose:
    """Takes anything."""

    def __init__(self, **options: Any) -> None:
        """Keep it somewhere."""
        self._options = options


class Writing(Silent):
    """Hides its settings, and writes them down when asked."""

    def to_dict(self) -> dict[str, Any]:
        """Tell."""
        return {"init_parameters": {"model": self._hidden, "api_key": object()}}


def openai(model: str = "m", key: Secret = KEY, **settings: Any) -> OpenAIChatGenerator:
    """A generator with a key that cannot be written down."""
    return OpenAIChatGenerator(api_key=key, model=model, **settings)


def test_a_nested_generator_has_the_same_name_in_every_process() -> None:
    """An address of memory, or the order of a set, would make a shared cache useless."""
    told = {subprocess.check_output([sys.executable, "-c", NESTED], text=True) for _ in range(2)}
    assert len(told) == 1
    assert "one" in (name := told.pop())
    assert " at 0x" not in name


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (FallbackChatGenerator([openai("a")]), FallbackChatGenerator([openai("b")])),
        (FallbackChatGenerator([openai("a"), openai("b")]), FallbackChatGenerator([openai("b"), openai("a")])),
        (Wrapping(openai(api_base_url="http://one/v1")), Wrapping(openai(api_base_url="http://two/v1"))),
        (MockChatGenerator("yes"), MockChatGenerator("no")),
        (Wrapping(Level.LOW), Wrapping(Level.HIGH)),
        (Wrapping(Path("one")), Wrapping(Path("two"))),
        (Wrapping(stable), Wrapping(openai)),
        (Writing("one"), Writing("two")),
    ],
)
def test_what_is_set_differently_has_another_name(one: Any, other: Any) -> None:
    """Otherwise one model's grades would be taken for the other's."""
    assert stable(one) != stable(other)
    assert stable(one) == stable(one)


def test_an_address_that_the_client_finds_in_the_environment_is_in_the_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model called the same at another address is another model."""
    found, given = [], []
    for address in ("http://one/v1", "http://two/v1"):
        monkeypatch.setenv("OPENAI_BASE_URL", address)
        found.append(stable(FallbackChatGenerator([openai()])))
        given.append(stable(openai(api_base_url="http://three/v1")))
    assert found[0] != found[1]
    assert given[0] == given[1]


def test_keys_and_time_limits_are_in_no_name() -> None:
    """A grade does not depend on who pays for it, and how long they would have waited."""
    named = stable(Wrapping(openai(key=Secret.from_token("another"), timeout=3.0, max_retries=7)))
    assert named == stable(Wrapping(openai()))
    assert "a-key" not in str(named)


@pytest.mark.parametrize(
    "value",
    [Silent("m"), Loose(model="m"), Wrapping(lambda: 0), functools.partial(print, 1), [openai().run]],
    ids=["hidden", "loose", "lambda", "partial", "method"],
)
def test_what_tells_no_settings_has_no_name(value: Any) -> None:
    """Better no cache than the grades of another model."""
    with pytest.raises(ConfigurationError, match="nothing tells the settings"):
        stable(value)


def test_what_holds_itself_has_no_name() -> None:
    round_about = Wrapping(None)
    round_about.inner = [round_about]
    with pytest.raises(ConfigurationError, match="nothing tells the settings"):
        stable(round_about)
