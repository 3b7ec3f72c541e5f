"""Options that are alike in every command that takes them: where documents are kept, and the chat model."""

from typing import Annotated

import typer

Store = Annotated[
    str | None,
    typer.Option(
        metavar="KIND",
        help="Kind of store, [bold]elasticsearch[/] or [bold]memory[/]; or set CRAG_STORE.",
        show_default=False,
    ),
]
Url = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="Address of the store's server, http://HOST:PORT; or set ELASTICSEARCH_URL.",
        show_default=False,
    ),
]
Index = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Name of the index (crag); or set CRAG_INDEX.", show_default=False),
]
LlmUrl = Annotated[
    str | None,
    typer.Option(metavar="URL", help="OpenAI-compatible API; or set CRAG_LLM_BASE_URL.", show_default=False),
]
LlmModel = Annotated[
    str | None, typer.Option(metavar="NAME", help="Name of the chat model; or set CRAG_LLM_MODEL.", show_default=False)
]
LlmKey = Annotated[
    str | None, typer.Option(metavar="KEY", help="API key; better set CRAG_LLM_API_KEY.", show_default=False)
]
