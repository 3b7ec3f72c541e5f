"""
What a request wants, told by its form and wording.

Looked at is the frame: the prompt without the question and without the documents found in it, so that no document's
words decide. In this order:

1. `batch_grade`: documents in this package's grading tags (`<doc-XXXXXXXX id="XXXXXX" ...>`);
2. `strips`: this package's numbered lines and `{"keep": [...]}`;
3. `rank`: Haystack's LLMRanker ("You are ranking retrieved documents", `Document 1:`);
4. `rewrite`: this package's expander ("one query per line");
5. a reply in a given form (tool call or JSON schema): `route` for a choice that names the web or a vector store, a
   judgement for yes/no, a boolean or a score, `rewrite` for a query or a question;
6. a judgement in free text or loose JSON: "yes" and "no", with words of judging;
7. `rewrite`: words of rewriting;
8. `answer`: anything else.

A judgement is `hallucination_grade` when it asks whether something is grounded in or supported by documents,
`answer_grade` when it asks about an answer or a generation and shows no whole document, else `binary_grade`.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from seen import Form, look
from tokens import Count, by_rule

from haystack_integrations.crag.evaluation.strips import normal

GRADING = frozenset({"batch_grade", "strips", "rank", "binary_grade", "hallucination_grade", "answer_grade"})
"""Roles that judge: those that a faulty model fails in."""

BLOCK = re.compile(r'<(doc-[a-z]{7}) id="([b-z]{3,4})"[^>]*>\n(.*?)\n</\1>', re.DOTALL)
NUMBERED = re.compile(r"<(doc-[a-z]{7})>\n(.*?)\n</\1>", re.DOTALL)
RANKED = re.compile(r"^Document (\d+):\n(.*?)(?=^Document \d+:\n|\Z)", re.DOTALL | re.MULTILINE)
_VERDICT = re.compile(r"score|grade|binary|relevan|grounded|verdict|useful")
_JUDGING = re.compile(r"relevan|grade|grading|hallucinat|grounded|assess|judge|check whether|resolves?\b|useful")
_GROUNDING = re.compile(r"hallucinat|grounded|supported by")
_REWRITING = re.compile(
    r"rewrit|re writ|rephras|reformulat|(?:improved?|better|optimi[sz]ed?|refined?) (?:the |a |this |search )?"
    r"(?:query|question|version)|search quer"
)
_QUERY = re.compile(r"query|question|rewrit")


@dataclass(frozen=True)
class Request:
    """
    A request for a completion, and what it shows.

    :param body: As it was sent.
    :param question: The question of the task.
    :param forms: The documents that may stand in it, by id.
    :param count: What counts tokens.
    """

    body: Mapping[str, Any]
    question: str
    forms: Mapping[str, Form]
    count: Count = by_rule

    @cached_property
    def text(self) -> str:
        """All messages."""
        return "\n".join(_content(message) for message in self.body["messages"])

    @cached_property
    def tokens(self) -> int:
        """Tokens of the prompt; tools and schemas count as prompt."""
        extra = [json.dumps(self.body[name]) for name in ("tools", "response_format") if self.body.get(name)]
        return self.count("\n".join([self.text, *extra]))

    @cached_property
    def _looked(self) -> tuple[dict[str, str], str]:
        shown, rest = look(normal(self.text), self.forms)
        return shown, rest.replace(normal(self.question), " ")

    @property
    def shown(self) -> dict[str, str]:
        """What is shown of each document, by id."""
        return self._looked[0]

    @property
    def frame(self) -> str:
        """The prompt without documents and question."""
        return self._looked[1]

    @cached_property
    def tool(self) -> str | None:
        """The name of the tool that is to be called, where its arguments are the reply."""
        tools = [one["function"] for one in self.body.get("tools") or () if "function" in one]
        choice = self.body.get("tool_choice")
        named = choice["function"]["name"] if isinstance(choice, Mapping) and "function" in choice else None
        # Without a choice a single tool is a form of reply only where its arguments are a judgement.
        return next((one["name"] for one in tools if named in (None, one["name"])), None)

    @cached_property
    def schema(self) -> Mapping[str, Any] | None:
        """The JSON schema of the reply, or None for free text."""
        if self.tool is not None:
            tools = [one["function"] for one in self.body["tools"] if "function" in one]
            return next(one.get("parameters") or {} for one in tools if one["name"] == self.tool)
        form = self.body.get("response_format") or {}
        return form["json_schema"].get("schema") or {} if form.get("type") == "json_schema" else None

    @cached_property
    def role(self) -> str:
        """What is wanted."""
        if BLOCK.search(self.text):
            return "batch_grade"
        if '"keep"' in self.text and NUMBERED.search(self.text):
            return "strips"
        if "You are ranking" in self.text:
            return "rank"
        if "one query per line" in self.text:
            return "rewrite"
        return self._formed() or self._worded()

    def _formed(self) -> str | None:
        properties: Mapping[str, Any] = (self.schema or {}).get("properties") or {}
        for name, one in properties.items():
            options = {str(option).lower() for option in one.get("enum") or ()}
            if any("web" in option or "vector" in option for option in options):
                return "route"
            if {"yes", "no"} <= options or one.get("type") == "boolean" or _VERDICT.search(name.lower()):
                return self._judgement()
        return "rewrite" if any(_QUERY.search(name.lower()) for name in properties) else None

    def _worded(self) -> str:
        asked = f" {self.frame} "
        if " yes " in asked and " no " in asked and _JUDGING.search(asked):
            return self._judgement()
        # LlamaIndex asks to «rewrite an original answer» where the documents fill more than one prompt.
        is_answer = " original answer" in asked or " existing answer" in asked
        return "rewrite" if _REWRITING.search(asked) and not is_answer else "answer"

    def _judgement(self) -> str:
        if _GROUNDING.search(self.frame):
            return "hallucination_grade"
        of_an_answer = re.search(r" (?:answers?|generations?) ", self.frame) and "document" not in self.frame
        # An answer may be a sentence of a document; what is to be judged by itself is a document as a whole.
        shows_document = any(text == self.forms[name].whole for name, text in self.shown.items())
        return "answer_grade" if of_an_answer and not shows_document else "binary_grade"


def _content(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, list):
        return "\n".join(str(part.get("text") or "") for part in content)
    return str(content or "")
