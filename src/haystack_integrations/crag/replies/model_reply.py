"""What is looked at first in any model's reply, before a word of it is read."""

from typing import Final

from haystack_integrations.crag.replies.json_scan import MAX_MARKS, marks

MAX_REPLY_BYTES: Final = 65_536
INTERRUPTED: Final = "interrupted"
"""The server broke a reply off: it failed, or had no room left. The same may well be asked again."""

_WORDS: Final = {
    # By OpenAI, Anthropic, Mistral, Zhipu; by DeepSeek, OpenRouter, SGLang, Cohere, us; by those, Gemini and Bedrock.
    "length": "length max_tokens incomplete model_length model_context_window_exceeded error_limit",
    INTERRUPTED: "insufficient_system_resource error abort network_error timeout interrupted",
    "content_filter": "content_filter content_filtered refusal safety recitation blocklist prohibited_content spii "
    "guardrail_intervened sensitive error_toxic",
}
_ENDS: Final = {word: kind for kind, words in _WORDS.items() for word in words.split()}


def ended_by(finish_reason: str | None) -> str | None:
    """
    Tell what ended a reply before its model ended it.

    :param finish_reason: The model's own word on why it stopped; servers have several for one thing.
    :returns: `length`, `content_filter`, `interrupted`, or None where the model ended by itself or says nothing of it.
    """
    return _ENDS.get(finish_reason.lower()) if isinstance(finish_reason, str) else None


def problem_of(text: str | None, finish_reason: str | None, *, salvage: bool = False) -> str | None:
    """
    Tell what is wrong with a reply as a whole.

    :param text: What the model wrote.
    :param finish_reason: Its own word on why it stopped.
    :param salvage: Whether a part of a cut reply is of use: then one that is too long to be read is `too_long`.
    :returns: `content_filter`, `length` or `interrupted` (cut), `empty`, `too_long`, or None when it is complete and
        can be read.
    """
    cut = ended_by(finish_reason)
    if cut == "content_filter" or (cut and not salvage):
        return cut
    if not text or not text.strip():
        return cut or "empty"
    if len(text.encode("utf-8", "replace")) > MAX_REPLY_BYTES or marks(text) > MAX_MARKS:
        return "too_long"
    return cut
