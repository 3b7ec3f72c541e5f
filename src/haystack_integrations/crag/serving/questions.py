"""What a pipeline can be asked: its YAML says which options there are, this module what values they take."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Literal

from haystack.dataclasses import ChatMessage
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    ValidationError,
    create_model,
)
from pydantic_core import PydanticCustomError

from haystack_integrations.crag.inputs import levels
from haystack_integrations.crag.pipelines.forms import inputs_of
from haystack_integrations.crag.serving.failures import ServeError, broken_rules
from haystack_integrations.crag.serving.unasked import is_talk
from haystack_integrations.crag.vocabulary import Mode

QUERY: Final = "query"
"""What pipelines call the question."""

_MOST_LEVELS: Final = 20
_MOST_ENTRIES: Final = 1_000


def _no_switch(value: Any) -> Any:
    """Refuse true and false where a number is wanted: pydantic would read them as 1 and 0."""
    if isinstance(value, bool):
        rule: Literal["int_type"] = "int_type"
        raise PydanticCustomError(rule, "a boolean is no number")
    return value


_Number = BeforeValidator(_no_switch)
_Score = Annotated[float, Field(allow_inf_nan=False), _Number]
_Positive = Annotated[int, Field(gt=0, le=1_000_000_000), _Number]


class BudgetLimits(BaseModel):
    """Limits of one run."""

    model_config = ConfigDict(extra="forbid")

    iterations: _Positive | None = None
    llm_calls: _Positive | None = None
    tokens: _Positive | None = None
    seconds: Annotated[float, Field(gt=0, le=3600, allow_inf_nan=False), _Number] | None = None


class FoundItem(BaseModel):
    """What an agent's vector search found."""

    id: str | None = None
    score: _Score | None = None


class ToolCall(BaseModel):
    """A tool call of an agent, in this round."""

    tool: str
    items: list[FoundItem] | None = None
    scores: list[_Score] | None = None


def _bounded(filters: dict[str, Any]) -> dict[str, Any]:
    """
    Refuse filters that are nested deeper than anyone writes them, or hold more: Haystack copies them, leaf by leaf.

    The one would exhaust Python's stack; with nine thousand values, each question would hold up all others for seconds.
    """
    entries = 0
    for depth, level in enumerate(levels(filters), 1):
        entries += len(level)
        if entries > _MOST_ENTRIES:
            many: Literal["too_many"] = "too_many"
            raise PydanticCustomError(many, "too many entries", {"max_entries": _MOST_ENTRIES})
        if depth == _MOST_LEVELS:
            deep: Literal["too_deep"] = "too_deep"
            raise PydanticCustomError(deep, "nested too deep", {"max_levels": _MOST_LEVELS})
    return filters


_FILTERS: Final = (
    'Haystack metadata filters: `{"field": "meta.KEY", "operator": "==", "value": VALUE}` (also !=, >, >=, <, <=, in, '
    'not in), or `{"operator": "AND", "conditions": [...]}` (also OR, NOT).'
)
_OPTIONS: Final[dict[str, tuple[Any, str]]] = {
    "top_k": (
        Annotated[int, Field(ge=1, le=1000), _Number],
        "Documents per retriever. Of all together at most as many are judged as the pipeline's joiner gives on.",
    ),
    "filters": (
        Annotated[dict[str, Any], AfterValidator(_bounded)],
        _FILTERS,
    ),
    "mode": (Mode, "`enforce` acts on decisions, `observe` only takes them, `off` does neither."),
    "web": (StrictBool, "False keeps this run from asking the web."),
    "tool_history": (list[ToolCall], "An agent's tool calls of this round."),
    "budget": (BudgetLimits, "Limits of this run, in place of the pipeline's; `iterations` can only be lowered."),
}


def question_model(name: str, spec: Mapping[str, Any], kinds: Mapping[str, Any], longest: int) -> type[BaseModel]:
    """
    Write the model of what a pipeline can be asked.

    :param name: The pipeline's name.
    :param spec: Its YAML, as `pipelines.loader.read` gives it.
    :param kinds: Types of its inputs by name, for those that only it has.
    :param longest: Most characters of a question.
    :returns: A model with `question` and the pipeline's own options; it refuses all others.
    """
    told = "The question." if QUERY in spec["inputs"] else ""
    fields: dict[str, Any] = {
        "question": (Annotated[str, Field(min_length=1, max_length=longest)], Field(description=told))
    }
    for option in inputs_of(spec):
        if option != QUERY:
            kind, meaning = _OPTIONS.get(option, (kinds[option], f"Input {option} of the pipeline."))
            fields[option] = (kind | None, Field(default=None, description=meaning))
    title = "".join(part.title() for part in name.split("_")) + "Question"
    return create_model(title, __config__=ConfigDict(extra="forbid"), **fields)


def checked(model: type[BaseModel], asked: Mapping[str, Any]) -> dict[str, Any]:
    """
    Check what was asked, whichever door it came in by.

    :param model: As `question_model` gives it.
    :param asked: The question and the options.
    :returns: The question and the options that were given, by name.
    :raises ServeError: Naming the fields and rules that are broken.
    """
    try:
        return model.model_validate(asked).model_dump(exclude_none=True)
    except ValidationError as error:
        errors = error.errors(include_url=False, include_input=False, include_context=True)
        raise ServeError(422, "invalid_request", broken_rules(errors, names_in(model))) from None


def names_in(model: type[BaseModel]) -> dict[str | None, list[str]]:
    """
    Name what a request may hold, and what its budget may.

    :param model: As `question_model` gives it.
    :returns: The names by field; None for those of the whole request.
    """
    return {None: list(model.model_fields), "budget": list(BudgetLimits.model_fields)}


def last_question(messages: Sequence[Mapping[str, Any]]) -> str:
    """
    Find the question of a chat.

    :param messages: OpenAI's messages, the newest last.
    :returns: The text of the newest one of the user; empty when there is none.
    """
    return next((_text_of(message) for message in reversed(messages) if message.get("role") == "user"), "")


def restrictions(body: Mapping[str, Any]) -> dict[str, Any]:
    """
    Find what the request of a chat forbids its run, in fields that OpenAI's does not have.

    To leave these out without a word would show a client what it wanted closed, send its question to the web, or spend
    what it wanted saved. What else OpenAI's clients send is meant for another server: `top_k` is a sampler's, `mode` a
    front end's.

    :param body: The whole request. Who writes it without OpenAI's client, and some proxies, leave `extra_body` in it.
    :returns: The options of that name, unchecked.
    """
    beside = body.get("extra_body")
    places = [beside, body] if isinstance(beside, Mapping) else [body]
    names = ("filters", "web", "budget")
    return {name: place[name] for place in places for name in names if place.get(name) is not None}


def conversation(messages: Sequence[Mapping[str, Any]]) -> list[ChatMessage]:
    """
    Read what was said in a chat; system messages, tools, images and small talk are left out.

    :param messages: OpenAI's messages, the newest last.
    :returns: The texts of user and assistant, in order.
    """
    told = ((message.get("role"), _text_of(message)) for message in messages)
    said = [(role, text) for role, text in told if role in ("user", "assistant") and text.strip()]
    return [
        ChatMessage.from_user(text) if role == "user" else ChatMessage.from_assistant(text)
        for (role, text), (_, before) in zip(said, [("", ""), *said], strict=False)
        if not is_talk(text, before)
    ]


def _text_of(message: Mapping[str, Any]) -> str:
    said = message.get("content")
    if isinstance(said, list):
        parts = (part.get("text") for part in said if isinstance(part, dict) and part.get("type") == "text")
        return "\n".join(part for part in parts if isinstance(part, str))
    return said if isinstance(said, str) else ""
