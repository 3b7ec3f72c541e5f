"""`crag serve`: the shipped pipelines over HTTP."""

import os
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer

from haystack_integrations.crag.cli.options import Index, Serving, Store, Url, path
from haystack_integrations.crag.errors import ConfigurationError

Host = Annotated[str | None, typer.Option(metavar="HOST", help="Address to listen on (127.0.0.1).")]
Port = Annotated[int | None, typer.Option(metavar="N", min=0, max=65_535, help="Port to listen on (1416).")]
Pipelines = Annotated[
    str | None, typer.Option(metavar="A,B", help="Serve only these pipelines; default: all that can be.")
]
Docs = Annotated[
    list[Path] | None,
    typer.Option(parser=path, metavar="PATH", help="Files or folders to load into the in-memory store."),
]
Workers = Annotated[int | None, typer.Option(metavar="N", min=1, max=64, help="Number of processes (1).")]
Uploads = Annotated[bool, typer.Option("--uploads", help="Allow clients to upload files into the index.")]


def serve(
    host: Host = None,
    port: Port = None,
    pipelines: Pipelines = None,
    store: Store = None,
    url: Url = None,
    index: Index = None,
    docs: Docs = None,
    workers: Workers = None,
    calibration: Serving = None,
    uploads: Uploads = False,
) -> None:
    """Serve pipelines as REST, OpenAI-compatible chat and MCP tools. CRAG_SERVE_* variables set keys and limits."""
    _check_installed()
    from haystack_integrations.crag.observing.variables import variables_named
    from haystack_integrations.crag.settings import named

    named()  # refuses a `.env` that cannot be read, which Hayhooks reads when it is imported
    # What is named here says more than a store in the environment.
    store = store or ("elasticsearch" if url else "memory" if docs else None)
    _keep_log()
    with variables_named():
        from haystack_integrations.crag.pipelines.opening import find_place

        if index:
            find_place(store, url, index)  # refuses one that no store has
        from haystack_integrations.crag.serving.server import serve as run

    given: dict[str, Any] = {
        "host": host,
        "port": port,
        "pipelines": _named(pipelines),
        "store": store,
        "url": url,
        "index": index,
        "docs": tuple(map(str, docs)) if docs else None,
        "workers": workers,
        "calibration": calibration,
        "uploads": uploads or None,
    }
    run(**{name: value for name, value in given.items() if value is not None})


def _check_installed() -> None:
    for module in ("hayhooks", "mcp", "pydantic_settings"):
        if find_spec(module) is None:
            msg = f'serving needs {module}, which is not installed; run `pip install "crag-haystack[serve]"`'
            raise ConfigurationError(msg)


def _named(pipelines: str | None) -> str | None:
    """Refuse a list of no names, as of a variable of the shell that is not set: all pipelines would be served."""
    if pipelines is not None and not pipelines.strip(" ,"):
        msg = "got no name as --pipelines, wanted some with commas between them; leave it out to serve all"
        raise ConfigurationError(msg)
    return pipelines


def _keep_log() -> None:
    """Set what libraries read when they are imported, and would put into the log, or end at."""
    if "LOG" in os.environ and not os.environ.get("HAYHOOKS_LOG_LEVEL"):
        # Hayhooks would read it, and end at the path of some other program's log. This server's log has its own level.
        os.environ["HAYHOOKS_LOG_LEVEL"] = "INFO"
    # gRPC writes lines of its own without end where a collector's certificate is wrong; this log says it as well.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
