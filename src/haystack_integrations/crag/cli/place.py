"""The options by which every command is told where documents are kept."""

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
