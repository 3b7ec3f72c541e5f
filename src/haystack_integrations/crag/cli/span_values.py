"""What the attributes of a span say, where they are such as this package writes: anybody can send spans to Jaeger."""

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final, get_args

from haystack_integrations.crag.inputs import finite
from haystack_integrations.crag.texts.languages.inflections import INFLECTED
from haystack_integrations.crag.vocabulary import ACTIONS, JUDGED, MODES, Verdict

_TEXTS: Final = (
    "crag.document.ids",
    "crag.discarded.ids",
    "crag.discarded.reasons",
    "crag.degraded.reasons",
    "crag.decision.asked_apart",
    "crag.answer.unsupported_numbers.text",
)
_SCORES: Final = ("crag.scores", "crag.discarded.scores")
_CITED: Final = ("crag.answer.cited", "crag.answer.cited_unknown")
_LISTS: Final = frozenset({*_TEXTS, *_SCORES, *_CITED})
_ONE_OF: Final[Mapping[str, tuple[str, ...]]] = {
    "crag.decision": get_args(Verdict),
    "crag.decision.asked_alone": JUDGED,
    "crag.decision.language": INFLECTED,
    "crag.action": ACTIONS,
    "crag.mode": MODES,
}
_WORDS: Final = frozenset(
    {
        *(f"crag.decision.{name}" for name in ("rule", "judged_by", "limit")),
        *("crag.retrieval.strategy", "crag.correction.strategy", "crag.query", "crag.answer.status"),
    }
)
_NUMBERS: Final = ("crag.score", "crag.milliseconds", "crag.threshold.")
_COUNTS: Final = (
    "crag.iteration",
    "crag.llm_calls",
    "crag.tokens",
    "crag.decision.absent",
    "crag.decision.read_as",
    "crag.documents.",
    "crag.answer.unsupported_numbers",
)


def read_tags(tags: Mapping[str, Any]) -> dict[str, Any]:
    """
    Read the attributes of a span; what is of another kind than this package writes is as if it were missing.

    :param tags: The attributes as they came; lists are JSON, as Haystack writes them.
    :returns: Those that can be used.
    """
    values = dict(tags)
    for name in _LISTS & values.keys():
        # Cut on the way, by a limit of OpenTelemetry's or a collector's, it stays a text. So does a query as it is,
        # which may begin with a bracket, too.
        with suppress(ValueError, TypeError, RecursionError):
            values[name] = json.loads(values[name])
    return {name: value for name, value in values.items() if _is_usable(name, value)}


def _is_usable(name: str, value: object) -> bool:
    if name in _LISTS:
        return isinstance(value, list) and all(_is_entry(name, one) for one in value)
    if name in _ONE_OF:
        return value in _ONE_OF[name]
    if name in _WORDS:
        return isinstance(value, str)
    if name.startswith(_NUMBERS) and name not in _LISTS:
        return finite(value) is not None
    if name.startswith(_COUNTS):
        return _is_count(value)
    return True


def _is_entry(name: str, value: object) -> bool:
    if name in _TEXTS:
        return isinstance(value, str)
    return _is_count(value) if name in _CITED else value is None or finite(value) is not None


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
