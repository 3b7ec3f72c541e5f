"""Options that are alike in every command that takes them: stores, chat models, labelled data, pipelines."""

from pathlib import Path
from typing import Annotated, Final

import typer

from haystack_integrations.crag.vocabulary import Lists

PIPELINE: Final = "corrective_retrieval"
"""What the commands that evaluate and calibrate are about, unless another one is named."""


def path(given: str) -> Path:
    """
    Read a path; an empty one, as of a variable of the shell that is not set, would be the working directory.

    :param given: What stands on the command line.
    :returns: The path.
    :raises BadParameter: When it is empty.
    """
    if not given:
        msg = "got an empty path; name one, such as . for this folder"
        raise typer.BadParameter(msg)
    return Path(given)


Store = Annotated[
    str | None,
    typer.Option(metavar="KIND", help="Kind of store, [bold]elasticsearch[/] or [bold]memory[/]; or set CRAG_STORE."),
]
Keeping = Annotated[str | None, typer.Option(metavar="KIND", help="Kind of store: elasticsearch; or set CRAG_STORE.")]
"""Of a command that wants a store which keeps documents when it has ended."""

Url = Annotated[
    str | None,
    typer.Option(metavar="URL", help="Address of the store's server, http://HOST:PORT; or set ELASTICSEARCH_URL."),
]
Index = Annotated[str | None, typer.Option(metavar="NAME", help="Name of the index (crag); or set CRAG_INDEX.")]
LlmUrl = Annotated[str | None, typer.Option(metavar="URL", help="OpenAI-compatible API; or set CRAG_LLM_BASE_URL.")]
LlmModel = Annotated[str | None, typer.Option(metavar="NAME", help="Name of the chat model; or set CRAG_LLM_MODEL.")]
LlmKey = Annotated[str | None, typer.Option(metavar="KEY", help="API key; better set CRAG_LLM_API_KEY.")]
_CALIBRATION: Final = "Calibration file written by `crag calibrate`"
Calibration = Annotated[str | None, typer.Option(metavar="FILE", help=f"{_CALIBRATION}.")]
Serving = Annotated[str | None, typer.Option(metavar="FILE", help=f"{_CALIBRATION}; or set CRAG_CALIBRATION.")]
"""The same of a command that reads the settings of a server."""

Folder = Annotated[
    Path, typer.Argument(parser=path, metavar="DIR", help="Folder with corpus.jsonl and a subfolder for each split.")
]
Split = Annotated[str, typer.Option(metavar="NAME", help="Name of the split: a subfolder with queries.jsonl.")]
PipelineName = Annotated[str, typer.Option(metavar="NAME", help="Shipped pipeline or .yml file.")]
Model = Annotated[
    str | None, typer.Option(metavar="FOLDER", help="Folder of the grader's embedding model; default: the shipped one.")
]
ListsFrom = Annotated[Lists, typer.Option(help="fixed: the lists in the data. live: the pipeline retrieves.")]
Html = Annotated[Path | None, typer.Option(parser=path, metavar="FILE", help="Write an HTML report.")]
Fresh = Annotated[bool, typer.Option("--fresh", help="Start again, and ignore records of an earlier run.")]
