"""The last line of a streamed chat: OpenAI's clients wait for `[DONE]`, which Hayhooks' routes do not send."""

from typing import Final

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

CHAT: Final = "/v1/chat/completions"
DONE: Final = b"data: [DONE]\n\n"


class StreamEnd:
    """
    Says that a stream of chat completions is whole. One that breaks off is not: it ends without it.

    :param app: What is inside.
    """

    def __init__(self, app: ASGIApp) -> None:
        """Wrap an app."""
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, with the last line where it is streamed."""
        if scope["type"] != "http" or scope["path"] != CHAT:
            await self.app(scope, receive, send)
            return
        is_stream = False

        async def ended(message: Message) -> None:
            nonlocal is_stream
            if message["type"] == "http.response.start":
                is_stream = Headers(raw=message["headers"]).get("content-type", "").startswith("text/event-stream")
            elif is_stream and message["type"] == "http.response.body" and not message.get("more_body", False):
                message = {**message, "body": message.get("body", b"") + DONE}
            await send(message)

        await self.app(scope, receive, ended)
