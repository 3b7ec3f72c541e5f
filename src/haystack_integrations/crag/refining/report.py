"""What a refinement says of itself in its span and in the log. Numbers and names, never a text."""

from collections.abc import Mapping
from typing import Any

from haystack import logging
from haystack.tracing.tracer import Span

from haystack_integrations.crag.observing.telemetry import set_tags

logger = logging.getLogger(__name__)


def tell(span: Span, report: Mapping[str, Any]) -> None:
    """
    Put a refinement into attributes of its span, and warn of what another scorer judged, or of an empty result.

    :param span: The span of the refinement.
    :param report: The component's output of that name.
    """
    tags = {"openinference.span.kind": "CHAIN", "crag.strips.in": report["strips_in"]}
    tags |= {"crag.strips.kept": report["strips_kept"]}
    more = {
        "crag.strips.scorer": None if report["scorer"] == "lexical" else report["scorer"],
        "crag.strips.lexical": report["strips_lexical"],
        "crag.strips.failures": report["reasons"],
        "crag.strips.empty": report["empty"],
        "crag.strips.calls": report["llm_calls"],
        "gen_ai.usage.input_tokens": report["tokens_in"],
        "gen_ai.usage.output_tokens": report["tokens_out"],
    }
    set_tags(span, {**tags, **{name: value or None for name, value in more.items()}})
    if report["reasons"]:
        logger.warning(
            "Of {total} strips {worded} were judged by wording in place of scorer={scorer}: {reasons}",
            total=report["strips_in"],
            worded=report["strips_lexical"],
            scorer=report["scorer"],
            reasons=", ".join(report["reasons"]),
        )
    if report["empty"] == "drop":
        logger.warning("None of {total} strips was worth keeping, so no document is left", total=report["strips_in"])
