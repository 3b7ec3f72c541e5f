"""What a cache of grades is, and the key that a grade is found by."""

import hashlib
import json
import random
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Self

import orjson
from haystack.core.serialization import default_from_dict, default_to_dict

from haystack_integrations.crag.caching.flights import Flights
from haystack_integrations.crag.caching.naming import stable
from haystack_integrations.crag.copying import made_of, settings_of
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.inputs import is_number
from haystack_integrations.crag.settings import check_positive

_LONGEST_VALUE: Final = 64


@dataclass(frozen=True)
class Found:
    """
    What a cache answered.

    :param scores: Scores by key; a key that is missing here was not found.
    :param error: The kind of failure that kept the cache from answering; None when it answered.
    :param seconds: How long the cache itself took, where that is less than the wait was; None counts the whole wait.
    """

    scores: dict[str, float] = field(default_factory=dict)
    error: str | None = None
    seconds: float | None = field(default=None, compare=False)


class GradeCache(ABC):
    """
    Keeps the scores of clean grades by key, for a time. No text gets into it: keys are hashes, values are numbers.

    A cache cannot hurt a run: reading and writing raise nothing, and take no longer than they are given.

    :ivar timeout_s: The most seconds that all cache traffic of one grading may cost; None sets no limit.
    :ivar flights: Which keys are being graded right now, by whoever shares this object.
    """

    timeout_s: float | None = None

    def __init__(self, *, ttl_s: float = 86_400.0, jitter: float = 0.1, tenant: str = "", web: bool = False) -> None:
        """
        Check and keep what all caches are told.

        :param ttl_s: Seconds for which a score is kept.
        :param jitter: How far a lifetime varies, as a share of `ttl_s`: what was graded together expires apart.
        :param tenant: Salt of the keys: tenants with different ones never share a grade.
        :param web: Whether grades of documents from the web may be kept too.
        :raises ConfigurationError: For an unusable number.
        """
        check_positive({"ttl_s": ttl_s})
        if not is_number(jitter) or not 0 <= jitter < 1:
            msg = f"jitter must be a number from 0 to below 1, but got {jitter!r}"
            raise ConfigurationError(msg)
        self.ttl_s, self.jitter, self.tenant, self.web = ttl_s, jitter, tenant, web
        self.flights = Flights()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return itself: what is asked by several is one cache, and Haystack copies settings when it loads a YAML."""
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Write down for pickle what it is made of: in another process nothing is kept yet, and nobody waits."""
        return made_of, (type(self), settings_of(self))

    @abstractmethod
    def read(self, keys: Sequence[str], *, seconds: float) -> Found:
        """
        Look scores up.

        :param keys: Keys as `grade_key` makes them.
        :param seconds: The longest wait.
        :returns: The scores that are known, or the kind of failure.
        """

    @abstractmethod
    def write(self, scores: Mapping[str, float], *, seconds: float) -> str | None:
        """
        Keep scores. What is no score is left out.

        :param scores: Scores by key.
        :param seconds: The longest wait.
        :returns: The kind of failure that kept the cache from keeping them, or None.
        """

    @abstractmethod
    async def read_async(self, keys: Sequence[str], *, seconds: float) -> Found:
        """Look scores up without blocking the event loop; see `read`."""

    @abstractmethod
    async def write_async(self, scores: Mapping[str, float], *, seconds: float) -> str | None:
        """Keep scores without blocking the event loop; see `write`."""

    def close(self) -> None:
        """Release connections; the next use opens new ones."""

    async def close_async(self) -> None:
        """Release the connections of this event loop; the next use opens new ones."""

    def lifetime(self) -> float:
        """
        Draw how long the next score is kept.

        :returns: Seconds: `ttl_s`, up to the share `jitter` more or less.
        """
        return self.ttl_s * random.uniform(1 - self.jitter, 1 + self.jitter)  # noqa: S311 - spreads load, no secret

    def to_dict(self) -> dict[str, Any]:
        """
        Write this cache down.

        :returns: Haystack's form, with every init parameter.
        """
        return default_to_dict(self, **settings_of(self))

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """
        Build the cache that `to_dict` wrote down.

        :param data: Haystack's form.
        :returns: The cache.
        """
        return default_from_dict(cls, data)


def usable(scores: Mapping[str, object]) -> dict[str, float]:
    """
    Leave out what cannot be a score.

    :param scores: Whatever was sent or found, by key.
    :returns: The finite numbers in [0, 1]; a boolean is none.
    """
    numbers = {key: s for key, s in scores.items() if is_number(s)}
    return {key: float(score) for key, score in numbers.items() if 0 <= score <= 1}  # false for NaN


def pack(score: float) -> bytes:
    """Write a score down for a store outside this process: JSON, never pickle."""
    return orjson.dumps({"v": 1, "s": score})


def unpack(raw: object) -> object:
    """Read what `pack` wrote, as strictly as it was written: who can write to the store must not get to do harm."""
    with suppress(orjson.JSONDecodeError):
        value = orjson.loads(raw) if isinstance(raw, bytes | str) and len(raw) <= _LONGEST_VALUE else None
        if isinstance(value, dict) and value.keys() == {"v", "s"} and value["v"] == 1 and type(value["v"]) is int:
            return value["s"]
    return None


def grade_key(
    *,
    grader: str,
    model: str,
    prompt: str,
    generation: Mapping[str, Any],
    tenant: str,
    question: str,
    text: str,
    mode: Literal["batch", "single"],
) -> str:
    """
    Name a grade by all that it depends on, so that a changed prompt or model needs no invalidation.

    Not by `Document.id`: ids that users set collide across texts, default ones change with metadata. The question
    keeps its case, and nothing similar is matched: "dogs bite men" is not "men bite dogs".

    ```python
    from haystack_integrations.crag.caching import grade_key

    same = {"grader": "g", "model": "m", "prompt": "p", "generation": {}, "tenant": "", "text": "t", "mode": "batch"}
    assert grade_key(question=" Who wrote Emma? ", **same) == grade_key(question="Who wrote Emma?", **same)
    assert grade_key(question="who wrote emma?", **same) != grade_key(question="Who wrote Emma?", **same)
    ```

    :param grader: Name of the grader.
    :param model: Name of the model.
    :param prompt: All of the prompt that is neither question nor document: system message, template, scale.
    :param generation: What the model is told beside the prompt, such as its temperature.
    :param tenant: Salt that keeps tenants apart.
    :param question: The original question.
    :param text: The document as the prompt shows it.
    :param mode: Whether neighbours were in the prompt (`batch`): they may change a score.
    :returns: 64 hexadecimal digits.
    :raises ConfigurationError: When what the model is told has no form that is the same in every process.
    """
    normal = unicodedata.normalize("NFC", question.strip())
    # A lone surrogate can come from a broken file; it is no reason to fail.
    shown = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    parts = ["v1", grader, model, prompt, stable(generation), tenant, normal, shown, mode]
    return hashlib.sha256(json.dumps(parts).encode("ascii")).hexdigest()
