"""
Replies whose content is a list of parts: text beside thoughts and references, as some servers of OpenAI's API send it.

Haystack's generator hands such a list on as it came, where everyone expects a text. Likewise half a character: a server
that cuts a text by UTF-16 sends an emoji in two halves, and neither can be written as UTF-8.
"""

from collections.abc import Mapping
from typing import Any, Final

from haystack.dataclasses import ChatMessage, StreamingChunk

from haystack_integrations.crag.texts.steering import whole

_TEXTS: Final = ("text", "output_text")
_THOUGHTS: Final = ("thinking", "reasoning")


def as_text(sent: Mapping[str, Any]) -> Mapping[str, Any]:
    """
    Give what a chat generator returned, with a text in the place of each list of parts.

    ```python
    from haystack.dataclasses import ChatMessage
    from haystack_integrations.crag.replies.parts import as_text

    parts = [{"type": "thinking", "thinking": "Passage 2?"}, {"type": "text", "text": "Jane Austen [1]."}]
    (reply,) = as_text({"replies": [ChatMessage.from_assistant(parts)]})["replies"]
    assert (reply.text, reply.reasoning.reasoning_text) == ("Jane Austen [1].", "Passage 2?")
    ```

    :param sent: What the generator returned.
    :returns: The same where its replies are texts.
    """
    replies = sent.get("replies") or []
    if not any(_is_parted(reply) for reply in replies):
        return sent
    return {**sent, "replies": [_joined(reply) if _is_parted(reply) else reply for reply in replies]}


class Halves:
    """
    Likewise for a text that comes in parts: the first half of a character waits for the other one.

    ```python
    from haystack_integrations.crag.replies.parts import Halves

    halves = Halves()
    assert [halves.joined("Smile \\ud83d"), halves.joined("\\ude00!")] == ["Smile ", "\\U0001f600!"]
    ```
    """

    def __init__(self) -> None:
        """Begin at the beginning of a text."""
        self._first = ""

    def joined(self, part: str, *, last: bool = False) -> str:
        """
        Give as much of the text as is whole.

        :param part: The next part of it.
        :param last: Whether it is the last one.
        :returns: Text to show.
        """
        text = self._first + part
        self._first = text[-1:] if not last and "\ud800" <= text[-1:] <= "\udbff" else ""
        return whole(text.removesuffix(self._first))


def join_parts(chunk: StreamingChunk) -> None:
    """
    Likewise for a part of a stream: in place, since Haystack's generator joins these very objects when it has ended.

    :param chunk: A part as the generator made it.
    """
    content: Any = chunk.content
    if isinstance(content, list):
        object.__setattr__(chunk, "content", _read(content, _TEXTS))  # past Haystack's warning, which is of copies


def _is_parted(reply: Any) -> bool:
    text: Any = reply.text if isinstance(reply, ChatMessage) else None
    return isinstance(text, list) or (isinstance(text, str) and whole(text) is not text)


def _joined(reply: ChatMessage) -> ChatMessage:
    parts: Any = reply.text if isinstance(reply.text, list) else [reply.text]
    reasoning = reply.reasoning or _read(parts, _THOUGHTS) or None
    rest: dict[str, Any] = {"meta": reply.meta, "name": reply.name, "tool_calls": reply.tool_calls or None}
    return ChatMessage.from_assistant(whole(_read(parts, _TEXTS)) or None, reasoning=reasoning, **rest)


def _read(parts: list[Any], kinds: tuple[str, ...]) -> str:
    """Join the text of all parts of some kinds; a thought's may be a list of parts itself."""
    said: list[str] = []
    for part in parts:
        kind = part.get("type") if isinstance(part, dict) else None
        if kind in kinds:
            inner = part.get(kind, part.get("text"))
            said.append(_read(inner, _TEXTS) if isinstance(inner, list) else inner if isinstance(inner, str) else "")
        elif isinstance(part, str) and kinds is _TEXTS:
            said.append(part)
    return "".join(said)
