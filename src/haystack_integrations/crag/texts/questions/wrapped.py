"""What programs wrap a question in: the escapes of an address, JSON, the labels of a prompt or of a chat."""

import json
import re
from typing import Final
from urllib.parse import unquote_plus

from haystack_integrations.crag.texts.questions.pointing import points
from haystack_integrations.crag.texts.steering import whole

_KEYS: Final = ("question", "query", "q", "user_input", "input", "prompt", "message", "messages", "text", "content")
_LABEL: Final = re.compile(
    r"""^[ \t]*(?:
    (?P<asked>(?:(?:user|my|current|new|follow[ -]?up|standalone)[ ])?(?:question|query|q|input)|user|human|customer)
    |(?P<answered>(?:(?:your|helpful|final|short)[ ])?(?:answer|response|reply)|a|ai|assistant|bot|agent|chatbot)
    |(?P<told>(?:(?:given|retrieved)[ ])?(?:context|documents?|passages?|background|sources?))
    |(?:(?:chat|conversation)[ ])?(?:system|instructions?|history)
    )[ ]?:[ \t]*""",
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)


def unwrapped(query: str) -> str:
    """
    Take a question out of what a program has put around it.

    ```python
    from haystack_integrations.crag.texts.questions.wrapped import unwrapped

    assert unwrapped("Who%20wrote%20Emma%3F") == "Who wrote Emma?"
    assert unwrapped('{"question": "Who wrote Emma?", "top_k": 5}') == "Who wrote Emma?"
    assert unwrapped("Use the context.\\n\\nQuestion: Who wrote Emma?\\nHelpful answer:") == "Who wrote Emma?"
    assert unwrapped("User: Who wrote Emma?\\nBot: Austen.\\nUser: When did she?").startswith("User: Who wrote")
    ```

    :param query: What came as the question.
    :returns: What is asked in it: of several questions with labels the last one, below what is labelled as context. The
        same text where nothing is wrapped, where its last label is of an answer that is given, and where the last
        question cannot be understood without those before it.
    """
    query = _unescaped(query)
    if query.lstrip().startswith(("{", "[")):
        return _of_json(query)
    return _labelled(query) if ":" in query else query


def _unescaped(query: str) -> str:
    """Undo the escapes of an address, in which there is no white space."""
    is_escaped = "%20" in query or ("%3F" in query and "+" in query)
    plain = unquote_plus(query) if is_escaped and len(query.split()) == 1 and "://" not in query else query
    return plain if plain.strip() else query


def _of_json(query: str) -> str:
    try:
        found = json.loads(query)
    except (ValueError, RecursionError):
        return query
    while not isinstance(found, str):
        if isinstance(found, list):  # messages of a chat, or the parts of one
            said = [one for one in found if isinstance(one, dict) and one.get("role", "user") == "user"]
            found = said[-1] if said else None
        elif isinstance(found, dict):
            found = next((found[key] for key in _KEYS if found.get(key)), None)
        else:
            return query
    return whole(found) if found.strip() else query  # an escape may be half a character


def _labelled(query: str) -> str:
    labels = list(_LABEL.finditer(query))
    ends = [*(label.start() for label in labels), len(query)][1:]
    parts = [(label.lastgroup, query[label.end() : end].strip()) for label, end in zip(labels, ends, strict=False)]
    asked = [text for kind, text in parts if kind == "asked" and text]
    is_wrapped = any(kind != "asked" for kind, _ in parts)  # else it may be a form, or several questions
    is_answered = bool(parts) and parts[-1][0] == "answered" and parts[-1][1]
    if not (asked and is_wrapped) or is_answered or points(asked[-1]):
        return query
    return "\n".join([*(text for kind, text in parts if kind == "told" and text), asked[-1]])
