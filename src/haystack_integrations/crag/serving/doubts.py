"""What of the settings of `crag serve` can work, and is perhaps not what was meant."""

import re
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Final

from haystack.tracing.tracer import is_tracing_enabled

from haystack_integrations.crag import chat_model
from haystack_integrations.crag.components.question_guard import QuestionGuard
from haystack_integrations.crag.observing.otlp import exporters, is_off, sends
from haystack_integrations.crag.serving.settings import PREFIX, ServeSettings, environment_name
from haystack_integrations.crag.settings import named
from haystack_integrations.crag.web.searxng import URL_SETTING

_OURS: Final = "CRAG_"
_ALONE_OURS: Final = (PREFIX, "CRAG_LLM_")
_LIKE: Final = 0.8  # how alike another name, which may be of the user's own, is to one of ours, from 0 to 1
_OF_CLUSTER: Final = re.compile(r"_(SERVICE_HOST|SERVICE_PORT|PORT)(_|$)")  # Kubernetes tells of a Service `crag` so
_AS_WRITTEN: Final = {  # the server's own may stand in small letters, too
    *(chat_model.URL_SETTING, chat_model.MODEL_SETTING, chat_model.KEY_SETTING, chat_model.OPTIONS_SETTING),
    *(chat_model.GRADING_MODEL_SETTING, chat_model.GRADING_OPTIONS_SETTING, URL_SETTING),
}
_HAYHOOKS: Final = "HAYHOOKS_"  # the server that this one is made of, which many ran before


def doubts(settings: ServeSettings) -> list[str]:
    """
    Say what can work, and is perhaps not what was meant.

    :param settings: The settings.
    :returns: Sentences for the log.
    """
    found = [*_misspelt()]
    unset = {
        f"{_HAYHOOKS}{name.upper()}": name for name in ServeSettings.model_fields.keys() - settings.model_fields_set
    }
    found += [f"{name} has no effect; set {environment_name(unset[name])}" for name in sorted(unset.keys() & named())]
    if settings.question_chars > (longest := QuestionGuard().max_characters):
        found.append(
            f"{PREFIX}QUESTION_CHARS is {settings.question_chars:,} and has no effect: the pipelines take questions of "
            f"at most {longest:,} characters; lower or unset it"
        )
    if settings.workers > 1 and not sends("metrics") and not is_off():
        found.append(
            f"Each of {settings.workers} workers has figures of its own, and /metrics gives those of one of them: set "
            f"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT, or run processes of one worker"
        )
    if is_off():
        found.append(
            "OTEL_SDK_DISABLED is true, so no traces are sent, and /metrics has no figures of this package: unset it, "
            "and to send nothing set OTEL_TRACES_EXPORTER=none and OTEL_METRICS_EXPORTER=none"
        )
    elif exporters("traces") not in ([], ["none"]) and not is_tracing_enabled():
        found.append(
            "OTEL_TRACES_EXPORTER is set, and no traces are sent: set it to otlp, and OTEL_EXPORTER_OTLP_ENDPOINT to "
            "http://HOST:PORT, or start the server by opentelemetry-instrument"
        )
    if not settings.has_keys:
        found.append(
            f"No API keys are set: anyone on this machine may ask; set {PREFIX}API_KEYS or {PREFIX}API_KEYS_FILE"
        )
    return found


def _misspelt() -> Iterator[str]:
    """Name what reads like a setting and is none: without the address that was meant, questions may go to OpenAI."""
    served = {environment_name(name) for name in ServeSettings.model_fields}
    known, taken = sorted(served | _AS_WRITTEN), served | {PREFIX + name.upper() for name in ServeSettings.model_fields}
    for name in sorted(named() - _AS_WRITTEN):
        if (said := name.upper()) in taken or not said.startswith(_OURS):
            continue
        if _OF_CLUSTER.search(said) and not said.startswith(PREFIX):
            continue
        is_ours = said.startswith(_ALONE_OURS)
        near = get_close_matches(said, known, n=1) if is_ours else get_close_matches(said, known, n=2, cutoff=_LIKE)
        if near or is_ours:
            meant = f"; did you mean {' or '.join(near)}?" if near else ""
            yield f"{name} is no setting and has no effect{meant}"
