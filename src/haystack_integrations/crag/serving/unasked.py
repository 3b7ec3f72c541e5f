"""Messages of a chat that ask nothing of documents: small talk, and what front ends want for themselves."""

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from haystack.dataclasses import GeneratedAnswer

from haystack_integrations.crag.deciding.abstention_words import phrases
from haystack_integrations.crag.texts.questions.courtesies import asks_nothing, bare_question, language_of_talk
from haystack_integrations.crag.texts.steering import whole

# Behind each answer Open WebUI asks its chat's model for a title, tags and further questions, as a JSON object.
_TASK: Final = re.compile(r"\s*### Task:\n(?P<told>.*?)<chat_history>\s*(?:user:\s*)?(?P<first>.*)", re.I | re.DOTALL)
_KEY: Final = re.compile(r"\{\s*\"(title|tags|follow_ups|queries)\"\s*:")
# LibreChat asks for a title only, as plain text.
_TITLE: Final = re.compile(
    r"(?:please )?(?:provide|generate|write|create) an? [^\n]{0,80}\btitle\b.*?\nconversation:\s*user:\s*(?P<first>.*)",
    re.I | re.DOTALL,
)
_TITLE_CHARACTERS: Final = 50


def without_run(message: str) -> Mapping[str, Any] | None:
    """
    Answer a message that asks nothing of documents: a run would search, grade and correct in vain.

    :param message: The newest message of a chat.
    :returns: Outputs as of a pipeline, with a record of no model calls; None of a question.
    """
    said = _invitation(message) if asks_nothing(message) else _done(message)
    if said is None:
        return None
    answer = GeneratedAnswer(data=said, query="", documents=[])
    return {"answers": [answer], "crag": {"llm_calls": 0, "tokens": {"in": 0, "out": 0}}}


def is_talk(message: str, before: str = "") -> bool:
    """
    Tell small talk and what was said to it: nothing goes on from there.

    :param message: A message of a chat, of the user or the assistant.
    :param before: The message before it.
    :returns: Whether it asks and tells nothing.
    """
    return asks_nothing(message) or (asks_nothing(before) and message == _invitation(before))


def _invitation(message: str) -> str:
    return str(phrases(language_of_talk(message))["invitation"])


def _done(message: str) -> str | None:
    """Do a task of a front end: the question as title, and nothing where it would take a model to invent."""
    if wanted := _TITLE.match(message):
        return _title(wanted["first"])
    task = _TASK.fullmatch(message)
    key = _KEY.search(task["told"]) if task else None
    if task is None or key is None:
        return None
    if key[1] != "title":
        return json.dumps({key[1]: []})
    return json.dumps({"title": _title(task["first"])}, ensure_ascii=False)


def _title(chat: str) -> str:
    """Make a title of the first line of a chat."""
    first = next((line for line in chat.splitlines() if line.strip()), "")
    title = " ".join(whole(bare_question(first)).split())  # a front end may cut a chat within a character
    if len(title) <= _TITLE_CHARACTERS:
        return title
    return f"{title[:_TITLE_CHARACTERS].rpartition(' ')[0] or title}\u2026"
