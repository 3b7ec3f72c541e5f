"""Options that are alike in every command that takes them: paths, stores, chat models, pipelines."""

from pathlib import Path
from typing import Annotated

import typer

Store = Annotated[
    str | None,
    typer.Option(metavar="KIND", help="Kind of store, [bold]elasticsearch[/] or [bold]memory[/]; or set CRAG_STORE."),
]
Url = Annotated[
    str | None,
    typer.Option(metavar="URL", help="Address of the store's server, http://HOST:PORT; or set ELASTICSEARCH_URL."),
]
Index = Annotated[str | None, typer.Option(metavar="NAME", help="Name of the index (crag); or set CRAG_INDEX.")]
LlmUrl = Annotated[str | None, typer.Option(metavar="URL", help="OpenAI-compatible API; or set CRAG_LLM_BASE_URL.")]
LlmModel = Annotated[str | None, typer.Option(metavar="NAME", help="Name of the chat model; or set CRAG_LLM_MODEL.")]
LlmKey = Annotated[str | None, typer.Option(metavar="KEY", help="API key; better set CRAG_LLM_API_KEY.")]
PipelineName = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Shipped pipeline or .yml file. Default: corrective_rag with a chat model, else corrective_retrieval.",
    ),
]


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
