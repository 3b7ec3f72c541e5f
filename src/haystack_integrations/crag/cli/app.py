"""The `crag` command: parse, call, print. What it does is in the other modules; heavy imports come with the command."""

import logging
import os
import sys
import warnings
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Final

import typer

from haystack_integrations.crag import __version__
from haystack_integrations.crag.cli.calibrate import calibrate
from haystack_integrations.crag.cli.collect import collect
from haystack_integrations.crag.cli.commands import Commands
from haystack_integrations.crag.cli.ending import tidied
from haystack_integrations.crag.cli.errors import ExitCode
from haystack_integrations.crag.cli.evaluate import evaluate
from haystack_integrations.crag.cli.label import label
from haystack_integrations.crag.cli.options import (
    Calibration,
    Index,
    Keeping,
    LlmKey,
    LlmModel,
    LlmUrl,
    Serving,
    Store,
    Url,
    path,
)
from haystack_integrations.crag.cli.output import Json, complain, complain_about, progress_bar, show, show_json, working
from haystack_integrations.crag.cli.serve import serve
from haystack_integrations.crag.cli.shipped import app as pipelines_app
from haystack_integrations.crag.cli.signs import write_any_sign
from haystack_integrations.crag.cli.trace import trace

_KINDS: Final = "md, txt, html, pdf, docx, pptx, xlsx, csv, jsonl"


app = typer.Typer(
    cls=Commands,
    help="Corrective RAG for Haystack: grades what was retrieved, and corrects it before answering.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    add_completion=False,
)
app.add_typer(pipelines_app, name="pipelines")


def _version(value: bool) -> None:
    if value:
        typer.echo(f"crag-haystack {__version__}")
        raise typer.Exit


@app.callback()
def setup(
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks and log messages.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Prepare the process for any command."""
    del version
    os.environ.setdefault("HAYSTACK_TELEMETRY_ENABLED", "False")
    if os.path.expanduser("~") == "~":  # a container's user without HOME or an entry: Haystack could not be imported
        os.environ["HOME"] = os.sep
    # What the libraries log, the commands say in their own words.
    logging.basicConfig(level=logging.INFO if debug else logging.CRITICAL)


@app.command()
def demo(json: Json = False) -> None:
    """Ask three questions about Python's own language reference: no download, no API key, no LLM."""
    from haystack_integrations.crag.cli.demo import demo_view, run_demo

    with working("reading Python's language reference"):
        result = run_demo()
    if json:
        show_json(result.to_dict())
    else:
        show(*demo_view(result))


@app.command()
def ask(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="The question; - reads it from stdin.")],
    more: Annotated[
        list[Path] | None, typer.Argument(parser=path, metavar="PATH", help="Files or folders, like --docs.")
    ] = None,
    docs: Annotated[
        list[Path] | None, typer.Option(parser=path, metavar="PATH", help=f"Files or folders: {_KINDS}.")
    ] = None,
    store: Store = None,
    url: Url = None,
    index: Index = None,
    pipeline: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Shipped pipeline or .yml file. Default: corrective_rag with a chat model, else corrective_retrieval.",
        ),
    ] = None,
    llm_base_url: LlmUrl = None,
    llm_model: LlmModel = None,
    llm_api_key: LlmKey = None,
    mode: Annotated[str | None, typer.Option(metavar="MODE", help="enforce, observe (change nothing) or off.")] = None,
    top_k: Annotated[int | None, typer.Option(metavar="N", min=1, max=1000, help="Documents per retriever.")] = None,
    calibration: Calibration = None,
    json: Json = False,
) -> None:
    """Answer a question from files, or from an index made by `crag index`."""
    from haystack_integrations.crag.chat_model import chat_model
    from haystack_integrations.crag.cli import ask as asking
    from haystack_integrations.crag.cli.views import outcome_view

    model = chat_model(llm_base_url, llm_model, llm_api_key)
    request = asking.Request(
        question=asking.from_stdin() if question == "-" else question,
        pipeline=pipeline or (asking.WITHOUT_MODEL if model is None else asking.WITH_MODEL),
        docs=[*(docs or ()), *asking.more_docs(more or ())],
        options={"mode": mode, "top_k": top_k},
        calibration=calibration,
    )
    with working("reading and judging"):
        outcome = asking.answer(request, model, (store, url, index), complain_about)
    show_json(outcome.to_dict()) if json else show(outcome_view(outcome))
    raise typer.Exit(outcome.exit_code)


@app.command()
def index(
    paths: Annotated[list[Path], typer.Argument(parser=path, metavar="PATH", help=f"Folders, {_KINDS}.")],
    store: Keeping = None,
    url: Url = None,
    index: Index = None,
    base: Annotated[
        Path | None,
        typer.Option(
            parser=path,
            metavar="PATH",
            help="Folder that sources are named from: one per index; default the common one.",
        ),
    ] = None,
    shard: Annotated[
        str | None, typer.Option(metavar="K/N", help="Index part K of N only; other processes take the others.")
    ] = None,
    allow_empty: Annotated[bool, typer.Option("--allow-empty", help="Unindex all documents of an empty PATH.")] = False,
    statistics: Annotated[
        Path | None,
        typer.Option(parser=path, metavar="FILE", help="Also write word statistics for graders (.json, .json.gz)."),
    ] = None,
    json: Json = False,
) -> None:
    """Index files and folders, or bring their index up to date; a second run writes nothing."""
    from haystack_integrations.crag import corpus_statistics
    from haystack_integrations.crag.cli.tables import report_table
    from haystack_integrations.crag.pipelines.indexing import index as run_index
    from haystack_integrations.crag.pipelines.opening import elasticsearch_store, find_place

    opened = elasticsearch_store(find_place(store, url, index))
    if statistics is not None:
        corpus_statistics.check_target(statistics)
    with progress_bar("indexing") as progress:
        report = run_index(paths, opened, base=base, progress=progress, shard=shard, allow_empty=allow_empty).to_dict()
    if not report["sources"] and not allow_empty:  # a wrong folder: no failure, and seldom meant
        complain(f"got no file to index in {', '.join(map(str, paths))}; was another folder meant?", "warning")
    complain_about(report["failures"])
    complain_about(report["doubts"], "warning")
    show_json(report) if json else show(report_table(report))
    if statistics is not None:  # last, since a failure of it must not hide what became of the files
        with working("counting words"):  # of the whole index, as it is now: a second run counts nothing twice
            corpus_statistics.write_statistics(corpus_statistics.count_store(opened), statistics)
    raise typer.Exit(ExitCode.INPUTS_FAILED if report["failures"] else ExitCode.DONE)


@app.command()
def doctor(
    store: Store = None,
    url: Url = None,
    index: Index = None,
    llm_base_url: LlmUrl = None,
    llm_model: LlmModel = None,
    llm_api_key: LlmKey = None,
    calibration: Serving = None,
    json: Json = False,
) -> None:
    """Say what is reachable, what is missing, and how to fix it."""
    from haystack_integrations.crag.chat_model import chat_model
    from haystack_integrations.crag.cli.doctor import checks
    from haystack_integrations.crag.cli.tables import checks_view
    from haystack_integrations.crag.pipelines.opening import ELASTICSEARCH, elasticsearch_store, find_place

    if store or url or index:  # a wrong option is a mistake of the command, a wrong setting one of the things found
        find_place(store, url, index)

    def opened() -> object:
        place = find_place(store, url, index)
        return elasticsearch_store(place) if place.kind == ELASTICSEARCH else None

    found = list(checks(opened, lambda: chat_model(llm_base_url, llm_model, llm_api_key), calibration))
    healthy = all(check.status != "error" for check in found)
    if json:
        show_json({"healthy": healthy, "checks": [asdict(check) for check in found]})
    else:
        show(checks_view(found))
    raise typer.Exit(ExitCode.DONE if healthy else ExitCode.FAILED)


app.command("eval")(tidied("eval", evaluate))
app.command("calibrate")(tidied("calibrate", calibrate))
app.command("collect")(collect)
app.command("label")(label)
app.command("serve")(serve)
app.command("trace")(trace)


def main() -> None:
    """Run the command line; the entry point of the `crag` script."""
    write_any_sign()
    if not sys.warnoptions and "--debug" not in sys.argv:
        warnings.simplefilter("ignore")  # of libraries, to their developers
        os.environ["PYTHONWARNINGS"] = "ignore"  # of the processes that a command starts, as the server's workers
    app(prog_name="crag")
