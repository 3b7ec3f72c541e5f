"""The chat model as the grader asks it: in time, and with a JSON schema where the endpoint understands one."""

import inspect
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from haystack import logging
from haystack.components.generators.chat.types import ChatGenerator
from haystack.dataclasses import ChatMessage

from haystack_integrations.crag.caching.naming import own_name, stable
from haystack_integrations.crag.chat import (
    CallError,
    Room,
    ask,
    ask_async,
    believed_until,
    kind_of,
    may_be_the_form,
    model_of,
    reaches_client,
    speaks_openai,
    surely_not_the_form,
    surely_too_long,
)
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.grading.plan import SCHEMA_REFUSED

logger = logging.getLogger(__name__)

_FORMS: Final = frozenset({"response_format", "text_format"})
_PLACES: Final = frozenset({"grades", "evaluations", "scores"})
"""Where a reply may have its grades, or the name of its schema, as of the one that is asked for; see `reply_schema`."""


def reply_schema(*, reasons: bool) -> dict[str, Any]:
    """
    Write the JSON schema of a reply, as OpenAI's `response_format` takes it.

    It is the same for every call, and names no ids: providers compile a schema when they first see it, which takes
    seconds, and keep it. Ids and ranges are checked when the reply is read. OpenAI's strict mode takes no object whose
    keys are not named, so that of scores is not strict there; servers of open models hold a model to it all the same.

    :param reasons: Whether the reply lists objects with reasons, or is one object of scores by id.
    :returns: The value of `response_format`.
    """
    schema: dict[str, Any] = {"type": "object", "additionalProperties": {"type": "number"}}
    if reasons:
        entry = {"id": {"type": "string"}, "reason": {"type": "string"}, "score": {"type": "number"}}
        schema = _object({"evaluations": {"type": "array", "items": _object(entry)}})
    return {"type": "json_schema", "json_schema": {"name": "grades", "strict": reasons, "schema": schema}}


def _is_for_answers(form: Any) -> bool:
    """Tell whether a schema that a user gave the generator has no place for grades."""
    if not isinstance(form, Mapping):
        form = {"schema": form.model_json_schema()} if hasattr(form, "model_json_schema") else {}
    elif form.get("type") != "json_schema":
        return False
    words = set(re.findall(r"\w+", str(form)))
    schema = (form.get("json_schema") or form).get("schema") or {}
    # Of any keys, as ids are: an object that names none, or says of what kind the others are; or a list.
    is_open = not schema.get("properties") or schema.get("additionalProperties") or "patternProperties" in schema
    return not (is_open or _PLACES & words or {"id", "score"} <= words)


class GradingModel:
    """
    One chat generator and what was learned about its endpoint.

    One that refuses the schema is asked in words only, from then on, or for ten minutes where it has taken the schema
    before: then a proxy may have asked another model for a while. Where it refuses words as well, something else was
    wrong, and the schema is tried again.
    """

    def __init__(self, generator: ChatGenerator, structured_output: bool | None, *, reasons: bool) -> None:
        """
        Find out how to ask for structured output.

        :param generator: The chat generator.
        :param structured_output: True asks any generator for it, False none, None those of OpenAI's client.
        :param reasons: Whether entries have reasons.
        :raises ConfigurationError: For True with a generator whose `run` takes no `generation_kwargs`.
        """
        self.generator = generator
        self._in_words_until = 0.0
        self._words_taken = self._told = False
        self._room = Room()
        takes = "generation_kwargs" in inspect.signature(generator.run).parameters
        if structured_output and not takes:
            msg = (
                f"structured_output=True needs a chat generator whose run takes generation_kwargs, but "
                f"{type(generator).__name__} has none; set its own JSON mode and structured_output=False"
            )
            raise ConfigurationError(msg)
        own: Mapping[str, Any] = getattr(generator, "generation_kwargs", None) or {}
        self._is_foreign, self._schema_taken = not reaches_client(generator), False
        wanted = not self._is_foreign if structured_output is None else structured_output
        form = own.get("response_format") or own.get("text_format") or (own.get("text") or {}).get("format")
        is_set = not _FORMS.isdisjoint(own) or "format" in (own.get("text") or {})
        if _is_for_answers(form):
            logger.warning(
                "{generator} has a response schema of its own, and grades would be held to it as well; give the grader "
                "a generator without it: load(..., grader=...), BatchRelevanceGrader(chat_generator=...)",
                generator=type(generator).__name__,
            )
        self._schema: dict[str, Any] | None = None
        if wanted and not is_set:
            self._schema = self._asking_for(reply_schema(reasons=reasons), own)

    def _asking_for(self, form: dict[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
        """Write a schema as the generator's API takes it, beside its own settings."""
        if self._is_foreign:
            return {"response_format": form}
        if speaks_openai(self.generator):
            # Through extra_body: `response_format` itself makes Haystack call OpenAI's `parse`, which raises on a cut
            # reply and takes the entries with it that were complete.
            return {"extra_body": {**(own.get("extra_body") or {}), "response_format": form}}
        return {"text": {**(own.get("text") or {}), "format": {"type": form["type"], **form["json_schema"]}}}

    @property
    def name(self) -> str:
        """The kind of generator and its model, as far as it tells one."""
        return f"{type(self.generator).__name__}:{getattr(self.generator, 'model', '')}"

    @property
    def model(self) -> str | None:
        """The model's own name, as far as the generator tells one."""
        return model_of(self.generator)

    @property
    def settings(self) -> Mapping[str, Any]:
        """Every setting of the generator that may change what it says, as it is now, for keys of caches."""
        try:
            return {"generator": stable(self.generator)}
        except ConfigurationError as error:
            if not self._told:
                logger.warning("Cached grades are of use to this process only: {why}", why=str(error))
            self._told = True
            return {"own": own_name(self.generator)}

    @property
    def structured(self) -> bool:
        """Whether the next call asks for structured output."""
        return self._schema is not None and time.monotonic() >= self._in_words_until

    def ask(self, messages: Sequence[ChatMessage], seconds: float, size: int) -> Mapping[str, Any]:
        """
        Ask once.

        :param messages: What to send.
        :param seconds: The longest wait.
        :param size: Tokens of the prompt, estimated as for `room`.
        :returns: What the generator returns.
        :raises CallError: When the endpoint refuses the form of the request; the next one goes without the schema.
        :raises Exception: Whatever else the generator raises; TimeoutError when it does not answer in time.
        """
        with self._learning(size) as schema:
            return ask(self.generator, messages, seconds, generation_kwargs=schema)

    async def ask_async(self, messages: Sequence[ChatMessage], seconds: float, size: int) -> Mapping[str, Any]:
        """
        Ask once without blocking the event loop; see `ask`.

        :param messages: What to send.
        :param seconds: The longest wait.
        :param size: As for `ask`.
        :returns: As `ask`.
        :raises CallError: As `ask`.
        :raises Exception: As `ask`.
        """
        with self._learning(size) as schema:
            return await ask_async(self.generator, messages, seconds, generation_kwargs=schema)

    def room(self, most: int) -> int:
        """
        Tell how long a prompt may be, so that not every grading finds out anew that the model's context is shorter.

        :param most: What the grader's settings allow, in tokens, estimated.
        :returns: It, or less once a prompt was too long.
        """
        return int(self._room.within(most))

    @contextmanager
    def _learning(self, size: int) -> Iterator[dict[str, Any] | None]:
        """Give the schema to ask with, if any, and learn from what becomes of the request."""
        schema = self._schema if self.structured else None
        try:
            yield schema
        except Exception as error:
            if surely_too_long(error):
                self._room.refused(size)
            if not self._may_be_the_form(error):
                raise
            # Refused in words as well: then the schema was not the reason, unless words have been taken before.
            is_refused = schema is not None or self._words_taken
            self._in_words_until = believed_until(taken=self._schema_taken) if is_refused else 0.0
            if schema is None:
                raise
            if self._is_foreign:
                self._tell_way_out(error)
            raise CallError(SCHEMA_REFUSED) from error
        self._room.took(size)
        self._words_taken |= schema is None
        self._schema_taken |= schema is not None

    def _may_be_the_form(self, error: Exception) -> bool:
        """Generators of other vendors refuse a schema before they send it, each by an error of its own."""
        is_unknown = self._is_foreign and self._schema is not None and not self._schema_taken
        is_other = surely_not_the_form(error) or kind_of(error) == "context_length"
        return may_be_the_form(error) or (is_unknown and not is_other)

    def _tell_way_out(self, error: Exception) -> None:
        logger.warning(
            "{generator} takes no response_format of OpenAI's form ({kind}) and is asked in words: set "
            "structured_output=False, and the vendor's own JSON mode in the generator's generation_kwargs",
            generator=type(self.generator).__name__,
            kind=kind_of(error),
        )


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
