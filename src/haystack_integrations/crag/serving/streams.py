"""
A streamed chat as OpenAI's clients read it, which Hayhooks' routes do not quite write.

They wait for `[DONE]` as the last line. The one for JavaScript gathers the parts by copying each over what it has: with
a `message` of null, as Hayhooks puts it beside each `delta`, it loses its own and fails.
"""

from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from haystack_integrations.crag.serving.problems import CHAT

DONE: Final = b"data: [DONE]\n\n"
_NO_MESSAGE: Final = b',"message":null'  # never in a text: in JSON its quotes have backslashes


class StreamEnd:
    """
    Writes a stream of chat completions so, and says that it is whole. One that breaks off is not: it ends without it.

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
                headers = MutableHeaders(scope=message)
                is_stream = headers.get("content-type", "").startswith("text/event-stream")
                if is_stream:  # nginx would keep it until it is whole
                    headers["X-Accel-Buffering"] = "no"
            elif is_stream and message["type"] == "http.response.body":
                last = b"" if message.get("more_body", False) else DONE
                message = {**message, "body": message.get("body", b"").replace(_NO_MESSAGE, b"") + last}
            await send(message)

        await self.app(scope, receive, ended)
