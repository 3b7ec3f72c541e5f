"""What a model thinks before it answers: many servers leave it in front, in `<think>…</think>` or `<thinking>…`."""

import re
from typing import Any, Final

from haystack.dataclasses import ChatMessage

_TAGS: Final = ("<think>", "<thinking>")
_OPEN: Final = re.compile("<think(?:ing)?>", re.IGNORECASE)
_CLOSE: Final = re.compile("</think(?:ing)?>", re.IGNORECASE)
_HELD: Final = len("</thinking>") - 1
# At the beginning or end of a line: an answer that speaks of the tag has it in the middle of one.
_CLOSED: Final = re.compile(rf"^[ \t]*{_CLOSE.pattern}|{_CLOSE.pattern}[ \t]*$", re.IGNORECASE | re.MULTILINE)


class Thoughts:
    """
    Takes a thought out of the beginning of a text that comes in parts; a tag further on is text, and stays.

    ```python
    from haystack_integrations.crag.replies.thoughts import Thoughts

    thoughts = Thoughts()
    parts = ["<thi", "nk>Passage [2]?", " No.</th", "ink>\\n\\n", "Jane ", "Austen [1]."]
    assert "".join(map(thoughts.without, parts)) == "Jane Austen [1]."
    assert thoughts.thought == "Passage [2]? No."
    ```
    """

    def __init__(self) -> None:
        """Begin at the beginning of a text."""
        self._blanks = self._held = ""
        self._said: list[str] = []
        self._ended = self._within = self._is_over = False

    @property
    def thought(self) -> str:
        """What the model thought, as far as it came."""
        return "".join([*self._said, self._held if self._within and not self._is_over else ""]).strip()

    def without(self, part: str, *, last: bool = False) -> str:
        """
        Give as much of the text as is known to be no thought.

        :param part: The next part of it.
        :param last: Whether it is the last one: then nothing is held back any more.
        :returns: Text to show; nothing of a thought that never ends.
        """
        if self._ended:
            return part
        self._held += part
        if not self._within:
            begun = self._held.lstrip()
            self._blanks += self._held[: len(self._held) - len(begun)]
            self._held = begun
            if opened := _OPEN.match(begun):
                self._within, self._held = True, begun[opened.end() :]
            elif last or not any(tag.startswith(begun.lower()) for tag in _TAGS):
                return self._shown(self._blanks + begun)
            else:
                return ""
        return self._after_thought(last=last)

    def _after_thought(self, *, last: bool) -> str:
        if not self._is_over:
            # Only what may be the beginning of a tag is looked at again: thoughts come in tens of thousands of parts.
            close, size = _CLOSE.search(self._held), len(self._held)
            end, after = close.span() if close else (size, size) if last else (max(0, size - _HELD),) * 2
            self._said.append(self._held[:end])
            self._is_over, self._held = close is not None, self._held[after:]
        # What stands between thought and answer is neither: the answer begins with its first sign.
        answer = self._held.lstrip() if self._is_over else ""
        self._held = answer or ("" if self._is_over else self._held)
        return self._shown(answer) if answer or last else ""

    def _shown(self, text: str) -> str:
        self._ended, self._held = True, ""
        return text


def parted(text: str) -> tuple[str, str]:
    """
    Part a text from a thought that ends in it without having begun: a template may have written the opening tag.

    ```python
    from haystack_integrations.crag.replies.thoughts import parted

    assert parted("Passage [2]? No.\\n</think>\\n\\nJane Austen [1].") == ("Passage [2]? No.", "Jane Austen [1].")
    ```

    :param text: What a model wrote, all of it: of a part nobody can tell.
    :returns: The thought and the rest; an empty thought and the text itself where none ends so.
    """
    end = _CLOSED.search(text)
    if end is None or _OPEN.search(text, 0, end.start()):
        return "", text
    return text[: end.start()].strip(), text[end.end() :].lstrip()


def without_thought(reply: ChatMessage) -> ChatMessage:
    """
    Put a thought where Haystack keeps such: `reasoning` of the message, beside the answer and not in it.

    :param reply: A model's reply.
    :returns: It, or a message with the same metadata whose text is the answer alone.
    """
    text, thoughts = reply.text or "", Thoughts()
    answer = thoughts.without(text, last=True)
    thought = thoughts.thought
    if answer == text:
        thought, answer = parted(text)
    if answer == text:
        return reply
    rest: dict[str, Any] = {"meta": reply.meta, "name": reply.name, "tool_calls": reply.tool_calls or None}
    return ChatMessage.from_assistant(answer or None, reasoning=reply.reasoning or thought or None, **rest)
