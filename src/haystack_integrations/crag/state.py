"""What one run knows: one immutable, JSON-friendly object that travels on sockets (router -> expander -> router)."""

import secrets
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Final

from haystack import Document

from haystack_integrations.crag.budget import Budget, Usage
from haystack_integrations.crag.fusion import content_key
from haystack_integrations.crag.grades import Grade, grade_of, question_id
from haystack_integrations.crag.vocabulary import WEB_STATUSES, Mode, WebStatus

_TEXT: Final = "text"
_OTHERS: Final = "others"
_DOCUMENT_FIELDS = ("kept", "best", "evidence")


@dataclass(frozen=True)
class CragState:
    """
    Everything one run knows between two passes. Nothing of a run is kept on a component.

    :param query: The user's original question; only the search query ever changes.
    :param question: `question_id` of it.
    :param started: `time.monotonic()` at the start of the run, in seconds.
    :param mode: The mode asked for in this run, or None for the router's own.
    :param budget: The limits of this run.
    :param usage: What has been spent so far.
    :param ledger: Each spending by a name of its own, so that branches that ran side by side can be added up.
    :param iteration: Finished passes of the loop.
    :param strategy: Name of the retrieval strategy of the coming pass; empty for the pipeline's first.
    :param weights: Fusion weights of that strategy, by retriever; empty for the joiner's own.
    :param queries: Search queries tried, each `{"query", "strategy"}`, in order.
    :param action: The correction that leads to the coming pass; empty on the first, and where it had no other query.
    :param kept: Documents that a refinement carries into the coming pass.
    :param best: Best documents of all passes so far, best first.
    :param seen: Ids of all documents ever retrieved in this run.
    :param grades: Grades given in this run, by document id, so that nothing is graded twice; each with `text`, a digest
        of what was graded, and `others`, grades of other texts of that id by digest: two stores may count from one.
    :param web: What became of the last search of the web.
    :param evidence: The documents the run ended with.
    :param trail: All decisions so far, in order.
    """

    query: str = ""
    question: str = ""
    started: float = field(default_factory=time.monotonic)
    mode: Mode | None = None
    budget: Budget = field(default_factory=Budget)
    usage: Usage = field(default_factory=Usage)
    ledger: dict[str, list[int]] = field(default_factory=dict)
    iteration: int = 0
    strategy: str = ""
    weights: dict[str, float] = field(default_factory=dict)
    queries: tuple[dict[str, str], ...] = ()
    action: str = ""
    kept: tuple[Document, ...] = ()
    best: tuple[Document, ...] = ()
    seen: tuple[str, ...] = ()
    grades: dict[str, dict[str, Any]] = field(default_factory=dict)
    web: WebStatus = "off"
    evidence: tuple[Document, ...] = ()
    trail: tuple[dict[str, Any], ...] = ()

    @classmethod
    def start(cls, query: str, search: str | None = None, **values: Any) -> "CragState":
        """
        Start a run.

        :param query: The user's question.
        :param search: The first search query; the question, where there is none.
        :param values: Further fields.
        :returns: A state with its clock started.
        """
        first = ({"query": query if search is None else search, "strategy": values.get("strategy", "")},)
        return cls(query=query, question=question_id(query), queries=first, **values)

    def __deepcopy__(self, memo: dict[int, Any]) -> "CragState":
        """Return itself: it is never changed in place, and Haystack copies every input before every run."""
        return self

    def seconds(self) -> float:
        """Tell the wall time since the start of the run, in seconds."""
        return time.monotonic() - self.started

    def exhausted(self) -> str | None:
        """
        Tell which limit of the budget is reached.

        :returns: `deadline`, `llm_calls` or `tokens`, or None while there is something left of all three.
        """
        if self.budget.seconds is not None and self.seconds() >= self.budget.seconds:
            return "deadline"
        if self.budget.llm_calls is not None and self.usage.llm_calls >= self.budget.llm_calls:
            return "llm_calls"
        if self.budget.tokens is not None and self.usage.tokens >= self.budget.tokens:
            return "tokens"
        return None

    def forbids(self, tokens: int, beside: int = 0) -> str | None:
        """
        Tell which limit of the budget forbids one more call to a model.

        :param tokens: What the call is going to need, estimated.
        :param beside: Calls that another branch of the run may make at the same time, each taken for as long as this.
        :returns: As `exhausted`; `tokens` also when there are not that many left.
        """
        if (limit := self.exhausted()) is not None:
            return limit
        most, calls = self.budget.tokens, self.budget.llm_calls
        if calls is not None and self.usage.llm_calls + beside >= calls:
            return "llm_calls"
        return "tokens" if most is not None and self.usage.tokens + tokens * (1 + beside) > most else None

    def seconds_left(self) -> float | None:
        """Tell how many seconds of the budget remain (never below 0), or None without a limit."""
        return None if self.budget.seconds is None else max(0.0, self.budget.seconds - self.seconds())

    def bars_web(self) -> bool:
        """Tell whether this run may not ask the web: so from its start on. A query without a word bars no other."""
        return self.web == "skipped" and all(decision["coverage"]["web"] == "skipped" for decision in self.trail)

    def web_at_best(self) -> WebStatus:
        """Tell the best that became of the web in this run: a search that failed does not deny one that answered."""
        known = {self.web, *(decision["coverage"]["web"] for decision in self.trail)}
        return next(status for status in WEB_STATUSES if status in known)

    def spend(self, usage: Usage) -> "CragState":
        """
        Count what was spent.

        :param usage: The amount to add.
        :returns: The state after it.
        """
        entry = {secrets.token_hex(4): [usage.llm_calls, usage.tokens_in, usage.tokens_out]}
        return replace(self, usage=self.usage + usage, ledger={**self.ledger, **entry})

    @staticmethod
    def merged(*states: "CragState | None") -> "CragState | None":
        """
        Bring together what corrections that ran side by side made of one state.

        :param states: States that began as the same one.
        :returns: The first, with what all of them spent, the longest list of queries, what became of the web, and of
            the kept documents only those that no branch has handed on. None when there is none.
        """
        known = [state for state in states if state is not None]
        if not known:
            return None
        ledger = {name: entry for state in known for name, entry in state.ledger.items()}
        others = (Usage(*entry) for name, entry in ledger.items() if name not in known[0].ledger)
        usage = sum(others, known[0].usage)
        web: WebStatus = next((state.web for state in known if state.web != "off"), "off")
        shortest = min((state.kept for state in known), key=len)
        queries = max((state.queries for state in known), key=len)
        return replace(known[0], usage=usage, ledger=ledger, web=web, kept=shortest, queries=queries)

    def to_dict(self) -> dict[str, Any]:
        """Give the state as plain JSON values: how long the run has taken, and not when it began by this clock."""
        values = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "started"}
        values.update(seconds=self.seconds(), budget=asdict(self.budget), usage=asdict(self.usage))
        values.update({name: [d.to_dict(flatten=False) for d in values[name]] for name in _DOCUMENT_FIELDS})
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "CragState":
        """
        Rebuild a state from its plain values.

        :param data: What `to_dict` gave.
        :returns: The state. The time since it was written down, as at a breakpoint, is not the run's.
        """
        values: dict[str, Any] = {key: tuple(v) if isinstance(v, list) else v for key, v in data.items()}
        values["started"] = time.monotonic() - values.pop("seconds")
        values.update(budget=Budget(**data["budget"]), usage=Usage(**data["usage"]))
        values.update({name: tuple(Document.from_dict(d) for d in data[name]) for name in _DOCUMENT_FIELDS})
        return cls(**values)


def seconds_for(state: CragState | None, most: float) -> float:
    """
    Tell how long something may take.

    :param state: What the run knows, if there is a run.
    :param most: Its own limit, in seconds.
    :returns: That, or what the run's budget has left if that is less.
    """
    left = None if state is None else state.seconds_left()
    return most if left is None else min(most, left)


def given_in_run(state: CragState | None, document: Document, question: str) -> Grade | None:
    """
    Find the grade that a document was given for this question earlier in this run.

    :param state: What the run knows, if there is a run.
    :param document: The document.
    :param question: `question_id` of the question.
    :returns: The grade with the status `cached`; None when the run knows of none, or only of one that failed.
    """
    given = {} if state is None else state.grades.get(document.id, {})
    if not given:  # a grade that the document alone knows of is another run's, or of a grader before this one
        return None
    known, text = grade_of(document, question), content_key(document)
    if given.get(_TEXT) not in (None, text):
        given = given.get(_OTHERS, {}).get(text, {})
    if given:
        known = Grade(**{name: value for name, value in given.items() if name not in (_TEXT, _OTHERS)})
    if known is None or known.status == "failed" or known.question != question:
        return None
    return replace(known, status="cached")


def never_judged(state: CragState, documents: Iterable[Document], question: str) -> int:
    """
    Count the documents of earlier passes whose grading failed, and that nobody has judged since: they may answer.

    :param state: What the run knew before this pass.
    :param documents: What was graded in this pass; those of them that failed again are not counted.
    :param question: `question_id` of the question.
    :returns: The number.
    """
    failed = {one["id"] for decision in state.trail for one in decision["kept"] if one["status"] == "failed"}
    graded = {document.id for document in documents if grade_of(document, question) is not None}
    return len(failed - state.grades.keys() - graded)


def known_grades(documents: Iterable[Document], question: str, state: CragState) -> dict[str, dict[str, Any]]:
    """
    Write the grades of a pass down for later ones; a failed one may be tried again.

    :param documents: What was graded.
    :param question: `question_id` of the question.
    :param state: What the run knew before.
    :returns: The new `grades`. What a refinement left of a document is a text of its own: the whole may come again.
    """
    grades = dict(state.grades)
    for document in documents:
        grade, before = grade_of(document, question), grades.get(document.id, {})
        if grade is None or grade.status == "failed":
            continue
        others, text = before.get(_OTHERS, {}), content_key(document)
        if before.get(_TEXT) in (None, text):
            grades[document.id] = {**grade.to_dict(), _TEXT: text, _OTHERS: others}
        else:
            grades[document.id] = {**before, _OTHERS: {**others, text: grade.to_dict()}}
    return grades
