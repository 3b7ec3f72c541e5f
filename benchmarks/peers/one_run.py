"""One question of one system: what is retrieved and replied, what goes wrong on purpose, and the tally of it."""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from threading import Event, Lock
from typing import Any

from corpus import Corpus
from real import RealModel
from replies import INSTRUCTION, Script, is_refinement
from roles import GRADING, Request
from seen import Form, form_of, words
from tasks import Task, missing
from tokens import Count, by_rule

from haystack_integrations.crag.evaluation.strips import normal
from haystack_integrations.crag.texts.text import sentences

FAULTS = ("garbage", "hang", "cut", "web_down", "gap", "nothing", "nowhere", "injected")
_KINDS = {"gap": "gap", "nothing": "nothing", "nowhere": "nothing"}


class Run:
    """One question of one system: what it is told, and what it asks for."""

    def __init__(
        self,
        task: Task,
        corpus: Corpus,
        given: Mapping[str, Any],
        count: Count = by_rule,
        model: RealModel | None = None,
    ) -> None:
        """
        Begin.

        :param task: The task.
        :param corpus: The documents of its set.
        :param given: The body of the begin.
        :param count: What counts tokens.
        :param model: A real model in the place of the script.
        """
        self.task, self.corpus, self._count, self._model = task, corpus, count, model
        self.fault: str | None = given.get("fault")
        self.k = int(given.get("k") or 10)
        self.a, self.b, self.c = (float(given.get(name) or 0) for name in ("a", "b", "c"))
        self.hang_seconds = float(given.get("hang_seconds") or 30)
        self.kind = _KINDS.get(self.fault or "", "fixed")
        self.script = Script(task, float(given.get("errors") or 0))
        self.forms = {name: self._form(name) for name in task.lists[self.kind]}
        self.poisoned = self._poisoned() if self.fault == "injected" else None
        self.over = Event()
        self._lock = Lock()
        self._counts: Counter[str] = Counter()
        self._roles: Counter[str] = Counter()
        self._shown: dict[str, str] = {}

    def search(self, query: str, k: int) -> list[str]:
        """
        Retrieve.

        :param query: The query.
        :param k: Most documents.
        :returns: Ids, best first.
        """
        self.count(searches=1)
        if normal(query) == normal(self.task.question):
            return list(self.task.lists[self.kind][:k])
        return self._known(self.corpus.search(query, k, missing(self.task.labels, self.corpus, self.kind)))

    def web(self, query: str, n: int) -> list[str]:
        """
        Search the web.

        :param query: The query.
        :param n: Most results.
        :returns: Ids, best first.
        """
        without = missing(self.task.labels, self.corpus, "nothing") if self.fault == "nowhere" else ()
        return self._known(self.corpus.search(query, n, without))

    def text(self, name: str) -> str:
        """
        Give a document's text as the retriever has it.

        :param name: Its id.
        :returns: Its text; with an instruction in it where that is the fault.
        """
        text = self.corpus.passages[name].text
        if name != self.poisoned:
            return text
        end = next((end for _, end in sentences(text)), len(text))
        return f"{text[:end]} {INSTRUCTION} {text[end:].strip()}".strip()

    def complete(self, body: Mapping[str, Any]) -> tuple[dict[str, Any], str, int, int]:
        """
        Reply to a request, in the time that takes.

        :param body: The request.
        :returns: The message, its finish reason, the tokens of prompt and completion.
        """
        begun = time.monotonic()
        request = Request(body, self.task.question, dict(self.forms), self._count)
        if self._model is not None:
            self._note(request)
            replied = self._model.reply(body)
            self.count(calls=1, tokens_in=replied[2], tokens_out=replied[3])
            return replied
        text = self.script.reply(request, self.fault)
        tokens = (request.tokens, self._count(text))
        self.count(calls=1, tokens_in=tokens[0], tokens_out=tokens[1])
        self._note(request)
        judges = request.role in GRADING
        if judges and self.fault == "hang":
            self.over.wait(self.hang_seconds)
        self.over.wait(max(0.0, begun + self.a + self.b * tokens[0] + self.c * tokens[1] - time.monotonic()))
        message: dict[str, Any] = {"role": "assistant", "content": text}
        finish = "length" if judges and self.fault == "cut" else "stop"
        if request.tool is not None and request.role != "answer" and not (judges and self.fault == "garbage"):
            call = {"name": request.tool, "arguments": text}
            message = {
                **message,
                "content": None,
                "tool_calls": [{"id": "call_1", "type": "function", "function": call}],
            }
            finish = "tool_calls" if finish == "stop" else finish
        return message, finish, *tokens

    def count(self, **counts: int) -> None:
        """
        Add to the tally.

        :param counts: What to add, by name.
        """
        with self._lock:
            self._counts.update(counts)

    def tally(self) -> dict[str, Any]:
        """
        Say what the run was like.

        :returns: The tally of the contract.
        """
        names = ("calls", "tokens_in", "tokens_out", "answer_calls", "web_calls", "searches")
        return {
            **{name: self._counts[name] for name in names},
            "by_role": dict(self._roles),
            "answer_words": words(self._shown.values()),
            "answer_support": self.script.supported(self._shown) is not None,
            "answer_documents": list(self._shown),
            "answer_gold": any(self.task.label(name) == 2 for name in self._shown),
            "suffices": self.task.suffices(self.k, self.kind),
            "truth": self.task.truth(self.k, self.kind),
            "answerable": self.task.answerable,
        }

    def _note(self, request: Request) -> None:
        with self._lock:
            self._roles[request.role] += 1
            if request.role == "answer":
                self._counts["answer_calls"] += 1
                before = self._shown if is_refinement(request) else {}
                self._shown = {**before, **request.shown}

    def _known(self, names: Sequence[str]) -> list[str]:
        """Remember what was handed out: it may stand in a prompt from now on."""
        for name in names:
            self.forms.setdefault(name, self._form(name))
        return list(names)

    def _form(self, name: str) -> Form:
        return form_of(self.corpus.passages[name].text, self.corpus.passages[name].title)

    def _poisoned(self) -> str:
        first = self.task.lists[self.kind][: min(3, self.k)]
        return min(reversed(first), key=self.task.label)
