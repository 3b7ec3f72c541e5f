"""Reading the queries that a model wrote: lines or JSON, cleaned; of a cut reply nothing."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from haystack.dataclasses import ChatMessage

from haystack_integrations.crag.budget import Usage
from haystack_integrations.crag.expansion.query_text import cleaned, query_key, usable
from haystack_integrations.crag.replies.json_scan import json_values, without_thoughts
from haystack_integrations.crag.replies.model_reply import problem_of
from haystack_integrations.crag.replies.thoughts import parted
from haystack_integrations.crag.templates import named_boundary
from haystack_integrations.crag.texts.text import terms

_LONGEST_REPLY: Final = 16_384
_MOST_VALUES: Final = 32
_MOST_LINES: Final = 64
_NAMES: Final = ("queries", "query", "questions", "question", "sub_questions", "subquestions", "keywords", "text", "q")
_SORRY: Final = re.compile(r"(?:i['\u2019]?m |i am )?(?:very )?sorry\b|as an ai\b", re.IGNORECASE)
_CANNOT: Final = re.compile(r"\bi can(?:['\u2019]?t|not)\b", re.IGNORECASE)
# Not the number of a query: `[1] emma author`.
_BEGINS: Final = re.compile(r"[`json \n]*(?:\{|\[(?!\d{1,2}\]\s+\S))")
_HEADING: Final = re.compile(r"```|#{1,6}\s")
_BOUNDARY: Final = re.compile(rf"</?{named_boundary('found', 'said')}\b")


def read_reply(
    sent: Mapping[str, Any], estimate: int, question: str, told: str = ""
) -> tuple[list[str], str | None, Usage]:
    """
    Read what a chat generator returned.

    :param sent: What it returned.
    :param estimate: Tokens of the prompt, counted where the model reports none.
    :param question: What the queries are for.
    :param told: What else stood in the prompt, as `read_queries`.
    :returns: The queries and what is wrong, as of `read_queries`, and what the call cost.
    """
    replies: list[ChatMessage] = sent.get("replies") or []
    if not replies:
        return [], "empty", Usage(llm_calls=1)
    queries, problem = read_queries(replies[0].text, replies[0].meta.get("finish_reason"), question, told)
    return queries, problem, Usage(llm_calls=1) + Usage.of(replies[0], estimate)


def read_queries(
    text: str | None, finish_reason: str | None, question: str = "", told: str = ""
) -> tuple[list[str], str | None]:
    """
    Read a reply.

    :param text: What the model wrote.
    :param finish_reason: Its own word on why it stopped.
    :param question: What the queries are for, in the user's words.
    :param told: What the user was told before: a query may begin with a number that stands there, too.
    :returns: The usable queries in order, each once, and what is wrong with the reply when there is none:
        `content_filter`, `length` or `interrupted` (it was cut: the end of a query may be missing), `empty`,
        `too_long`, `not_json` or `unusable`.
    """
    problem = problem_of(text, finish_reason)
    if problem is not None:
        return [], problem
    if len(text or "") > _LONGEST_REPLY:
        return [], "too_long"
    said = without_thoughts(parted(text or "")[1]).strip()
    if not said:
        return [], "empty"
    values = [value for value, start, end in json_values(said, _MOST_VALUES) if _is_alone(said, start, end)]
    # JSON may also be what is asked about, and square brackets are JSON too (`[1]`): only texts in it count, and with
    # none the lines do.
    written = [query for value in values for query in _texts(value, 0)]
    if not written and _BEGINS.match(said):
        return [], "not_json"
    lines = written or list(_lines(said))
    found: dict[str, str] = {}
    for line in lines[:_MOST_LINES]:
        query = cleaned(line, len(lines), f"{question} {told}")
        if usable(query) and not _is_excuse(query, question) and not _BOUNDARY.search(query):
            found.setdefault(query_key(query), query)
    return list(found.values()), None if found else "unusable"


def _is_excuse(query: str, question: str) -> bool:
    """Tell what a model says that declines; "I can't log in" is no excuse where that is what is asked about."""
    if not _CANNOT.match(query):
        return bool(_SORRY.match(query))
    asked = _CANNOT.sub("", question)
    return asked == question or {*terms(_CANNOT.sub("", query))}.isdisjoint(terms(asked))


def _is_alone(text: str, start: int, end: int) -> bool:
    """Tell a reply in JSON from JSON that a question is about: no word stands before it on its line, nor behind it."""
    before = text[:start].rpartition("\n")[2].strip("`json \t")
    after = text[end:].partition("\n")[0].lstrip()
    return before[-1:] in ("", ":", "]", "}", ",") and not after[:1].isalnum()


def _texts(value: Any, depth: int) -> Iterator[str]:
    """Give the queries of a JSON value: a text, a list of them, or an object that names them."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list) and depth <= len(_NAMES):
        for entry in value:
            yield from _texts(entry, depth + 1)
    elif isinstance(value, dict):
        name = next((name for name in _NAMES if isinstance(value.get(name), str | list)), None)
        if name is not None:
            yield from _texts(value[name], depth + 1)


def _lines(text: str) -> Iterator[str]:
    """Give the lines that can be queries: no fences, no headings, no "Here are three queries:"."""
    for line in text.splitlines():
        bare = line.strip()
        if bare and not _HEADING.match(bare) and not bare.rstrip("*_ ").endswith(":"):
            yield bare
