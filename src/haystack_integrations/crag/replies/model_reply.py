"""What is looked at first in any model's reply, before a word of it is read."""

from typing import Final

from haystack_integrations.crag.replies.json_scan import MAX_MARKS, marks

MAX_REPLY_BYTES: Final = 65_536
_CUT: Final = ("length", "max_tokens", "incomplete")
_FILTERED: Final = ("content_filter", "refusal", "safety")


def ended_by(finish_reason: str | None) -> str | None:
    """
    Tell what ended a reply before its model ended it.

    :param finish_reason: The model's own word on why it stopped; servers have several for one thing.
    :returns: `length`, `content_filter`, or None where the model ended by itself or says nothing of it.
    """
    if finish_reason in _FILTERED:
        return "content_filter"
    return "length" if finish_reason in _CUT else None


def problem_of(text: str | None, finish_reason: str | None, *, salvage: bool = False) -> str | None:
    """
    Tell what is wrong with a reply as a whole.

    :param text: What the model wrote.
    :param finish_reason: Its own word on why it stopped.
    :param salvage: Whether a part of a cut reply is of use: then one that is too long to be read is `too_long`.
    :returns: `content_filter`, `length` (cut), `empty`, `too_long`, or None when it is complete and can be read.
    """
    cut = ended_by(finish_reason)
    if cut == "content_filter" or (cut and not salvage):
        return cut
    if not text or not text.strip():
        return cut or "empty"
    if len(text.encode("utf-8", "replace")) > MAX_REPLY_BYTES or marks(text) > MAX_MARKS:
        return "too_long"
    return cut
