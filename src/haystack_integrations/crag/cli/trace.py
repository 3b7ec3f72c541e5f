"""`crag trace`: how a run was decided, read back from Jaeger; the same trail as `crag ask` prints."""

from typing import Annotated, Final

import typer
from rich.text import Text

from haystack_integrations.crag.cli.output import Json, show, show_json, working
from haystack_integrations.crag.errors import ConfigurationError

_JAEGER: Final = "http://127.0.0.1:16686"

TraceId = Annotated[str, typer.Argument(metavar="TRACE_ID", help="32 hexadecimal digits.")]
Jaeger = Annotated[str, typer.Option(metavar="URL", help="Address of Jaeger's web interface.")]


def trace(trace_id: TraceId, jaeger: Jaeger = _JAEGER, json: Json = False) -> None:
    """Show the decisions of a run from its trace in Jaeger."""
    from haystack_integrations.crag.cli.jaeger import failures, fetch, records
    from haystack_integrations.crag.cli.views import run_view

    with working("reading the trace"):
        spans = fetch(jaeger, trace_id)
    runs, failed = records(spans), failures(spans)
    if not runs:
        why = f"; it failed in {failed[0]}" if failed else ""
        msg = f"the trace has {len(spans)} spans, but none of a decision (`crag.route`){why}"
        if any(span.name == "crag.record" for span in spans):
            msg += "; they were lost on the way to Jaeger, or in it"
        else:
            msg += "; take the trace of a question to a pipeline with a CragRouter"
        raise ConfigurationError(msg)
    if json:
        show_json({"trace_id": trace_id, "spans": len(spans), "errors": failed, "runs": runs})
        return
    for run in runs:
        show(run_view(run))
    for failure in failed:
        show(Text.assemble(("Failed    ", "red"), failure))
