"""Options that name the chat model, alike in every command that takes them."""

from typing import Annotated

import typer

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
