"""What one run knows: one immutable, JSON-friendly object that travels on sockets (router -> expander -> router)."""

import time
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from haystack import Document
from haystack.dataclasses import ChatMessage

from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.grades import Grade, grade_of, question_id
from haystack_integrations.crag.vocabulary import Mode

_DOCUMENT_FIELDS = ("kept", "best", "evidence")


@dataclass(frozen=True)
class Usage:
    """
    What a run has spent on language models.

    :param llm_calls: Requests sent to a chat model.
    :param tokens_in: Prompt tokens, as the model reports them.
    :param tokens_out: Completion tokens, as the model reports them.
    """

    llm_calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0

    @classmethod
    def of(cls, message: ChatMessage) -> "Usage":
        """
        Read the tokens of one reply; the call itself is counted where it is made.

        :param message: A chat generator's reply, with OpenAI's or the newer names of its usage.
        :returns: Its tokens; 0 for what the model does not report.
        """
        usage = message.meta.get("usage") or {}
        tokens_in = int(usage.get("prompt_tokens") or usage.get("input_tokens") or 0)
        tokens_out = int(usage.get("completion_tokens") or usage.get("output_tokens") or 0)
        return cls(tokens_in=tokens_in, tokens_out=tokens_out)

    def __add__(self, other: "Usage") -> "Usage":
        """Sum two usages field by field."""
        return Usage(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(Usage)))


@dataclass(frozen=True)
class Budget:
    """
    The limits of one run; None means no limit of that kind.

    :param llm_calls: Most requests to chat models for judging and correcting; the answer itself is not counted.
    :param tokens: Most prompt and completion tokens together.
    :param seconds: Most wall time until the last decision, from the start of the run.
    """

    llm_calls: int | None = None
    tokens: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        """Refuse limits that are no positive numbers."""
        for f in fields(self):
            value = getattr(self, f.name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int | float) or value <= 0):
                msg = f"budget {f.name} must be a number > 0 or null, but got {value!r}"
                raise ConfigurationError(msg)

    @classmethod
    def of(cls, values: dict[str, Any] | None) -> "Budget":
        """
        Read a budget from a plain mapping.

        :param values: Limits by name, or None for no limits.
        :returns: The budget.
        :raises ConfigurationError: For an unknown name or an unusable number.
        """
        known = {f.name for f in fields(cls)}
        unknown = set(values or {}) - known
        if unknown:
            msg = f"unknown budget limit {sorted(unknown)}; choose from {sorted(known)}"
            raise ConfigurationError(msg)
        return cls(**(values or {}))


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
    :param iteration: Finished passes of the loop.
    :param strategy: Name of the retrieval strategy of the coming pass; empty for the pipeline's first.
    :param weights: Fusion weights of that strategy, by retriever; empty for the joiner's own.
    :param queries: Search queries tried, each `{"query", "strategy"}`, in order.
    :param action: The correction that leads to the coming pass; empty on the first.
    :param kept: Documents that a refinement carries into the coming pass.
    :param best: Best documents of all passes so far, best first.
    :param seen: Ids of all documents ever retrieved in this run.
    :param grades: Grades given in this run, by document id, so that nothing is graded twice.
    :param evidence: The documents the run ended with.
    :param trail: All decisions so far, in order.
    """

    query: str = ""
    question: str = ""
    started: float = field(default_factory=time.monotonic)
    mode: Mode | None = None
    budget: Budget = field(default_factory=Budget)
    usage: Usage = field(default_factory=Usage)
    iteration: int = 0
    strategy: str = ""
    weights: dict[str, float] = field(default_factory=dict)
    queries: tuple[dict[str, str], ...] = ()
    action: str = ""
    kept: tuple[Document, ...] = ()
    best: tuple[Document, ...] = ()
    seen: tuple[str, ...] = ()
    grades: dict[str, dict[str, Any]] = field(default_factory=dict)
    evidence: tuple[Document, ...] = ()
    trail: tuple[dict[str, Any], ...] = ()

    @classmethod
    def start(cls, query: str, **values: Any) -> "CragState":
        """
        Start a run.

        :param query: The user's question.
        :param values: Further fields.
        :returns: A state with its clock started, and the question as the first search query.
        """
        first = ({"query": query, "strategy": values.get("strategy", "")},)
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
        spent = self.usage.tokens_in + self.usage.tokens_out
        if self.budget.tokens is not None and spent >= self.budget.tokens:
            return "tokens"
        return None

    def seconds_left(self) -> float | None:
        """Tell how many seconds of the budget remain (never below 0), or None without a limit."""
        return None if self.budget.seconds is None else max(0.0, self.budget.seconds - self.seconds())

    def spend(self, usage: Usage) -> "CragState":
        """
        Count what was spent.

        :param usage: The amount to add.
        :returns: The state after it.
        """
        return replace(self, usage=self.usage + usage)

    def to_dict(self) -> dict[str, Any]:
        """Give the state as plain JSON values."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        values.update(budget=asdict(self.budget), usage=asdict(self.usage))
        values.update({name: [d.to_dict(flatten=False) for d in values[name]] for name in _DOCUMENT_FIELDS})
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "CragState":
        """
        Rebuild a state from its plain values.

        :param data: What `to_dict` gave.
        :returns: The state.
        """
        values: dict[str, Any] = {key: tuple(v) if isinstance(v, list) else v for key, v in data.items()}
        values.update(budget=Budget(**data["budget"]), usage=Usage(**data["usage"]))
        values.update({name: tuple(Document.from_dict(d) for d in data[name]) for name in _DOCUMENT_FIELDS})
        return cls(**values)


def given_in_run(state: CragState | None, document: Document, question: str) -> Grade | None:
    """
    Find the grade that a document was given for this question earlier in this run.

    :param state: What the run knows, if there is a run.
    :param document: The document.
    :param question: `question_id` of the question.
    :returns: The grade with the status `cached`; None when there is none, or only one that failed.
    """
    given = None if state is None else state.grades.get(document.id)
    known = Grade(**given) if given is not None else grade_of(document, question)
    if known is None or known.status == "failed" or known.question != question:
        return None
    return replace(known, status="cached")
