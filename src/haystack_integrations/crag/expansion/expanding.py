"""One expansion: what may be asked, what came back, which queries are sent. Lives as long as the component's run."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, replace
from typing import Any, Final

from haystack import logging
from haystack.dataclasses import ChatMessage

from haystack_integrations.crag.budget import Usage
from haystack_integrations.crag.chat import CallError
from haystack_integrations.crag.expansion.options import ExpansionOptions
from haystack_integrations.crag.expansion.query_text import query_key, without_operators
from haystack_integrations.crag.expansion.reply import read_reply
from haystack_integrations.crag.expansion.rules import web_form, web_keywords, wordings
from haystack_integrations.crag.expansion.split import split, unanswered
from haystack_integrations.crag.state import CragState, seconds_for
from haystack_integrations.crag.texts.languages.spelling import reread
from haystack_integrations.crag.texts.notations.dates import other_forms
from haystack_integrations.crag.texts.questions.courtesies import bare_question
from haystack_integrations.crag.texts.questions.defined import defined_thing
from haystack_integrations.crag.texts.questions.telling import asking_part, first_search
from haystack_integrations.crag.texts.text import count_tokens
from haystack_integrations.crag.vocabulary import WEB

logger = logging.getLogger(__name__)

_WHERE_DEFINED: Final = "glossary terminology definitions"

ONE_HOP: Final = "one_hop"
"""In place of a kind of failure: the model says that the question has one part. That is an answer."""


class Expansion:
    """Finds the next queries of a run: asks for a model's where there is one, and falls back to rules, visibly."""

    def __init__(
        self, options: ExpansionOptions, state: CragState, *, first: bool, searched: bool = True, alone: bool = False
    ) -> None:
        """
        Look at what the run knows.

        :param options: The expander's settings.
        :param state: What the run knows.
        :param first: Whether nothing was retrieved yet, so that the question itself is no repetition.
        :param searched: Whether there is anybody to search for the queries; see `readers.read_by`.
        :param alone: Whether the pass searches for one of them only: then no other counts as tried.
        """
        self.options, self.state, self._first, self._alone = options, state, first, alone
        self._question = bare_question(state.query)
        self._searched = searched and not (options.mode == WEB and state.bars_web())
        self.strategy = self._next_strategy()
        # The web is a place of its own: what the index was asked in the same words, no search engine has seen.
        self.name: str = WEB if options.mode == WEB else self.strategy["name"]
        self.usage = Usage()
        self.failure: str | None = None
        self.refused = 0
        self._written: list[str] = []
        self._estimate = 0
        self._tried = {query_key(e["query"]) for e in state.queries if e["strategy"] == self.name}
        self._tried_anywhere = self._tried if self.name == WEB else {query_key(e["query"]) for e in state.queries}
        self.messages = self._messages()

    @property
    def seconds(self) -> float:
        """How long a model may take."""
        return seconds_for(self.state, self.options.timeout_s)

    def _next_strategy(self) -> Mapping[str, Any]:
        """Stay with the strategy for a refinement; take the next one after `re_retrieve`."""
        state, ladder = self.state, self.options.strategies
        if state.action != "re_retrieve" or not ladder:
            return {"name": state.strategy, "weights": state.weights, "expand": True}
        turn = sum(decision["action"] == "re_retrieve" for decision in state.trail)
        return {"expand": turn > len(ladder), **ladder[min(max(turn, 1), len(ladder)) - 1]}

    def _messages(self) -> list[ChatMessage] | None:
        """Write what a model is to be asked; None when there is none, no need or no budget for it."""
        if self.options.prompt is None or self._same_words() or not self._searched:
            return None
        try:
            messages = self.options.prompt.messages(self.state)
        except CallError as error:
            self.failed(error.kind, calls=0)
            return None
        self._estimate = sum(count_tokens(message.text or "") for message in messages)
        # A web is not asked when the budget is spent: the last call would be paid for a query that is never sent.
        self.failure = self.state.forbids(self._estimate, beside=int(self.name == WEB))
        return None if self.failure else messages

    def _same_words(self) -> bool:
        """Tell whether the question itself is sent, by a strategy that has not seen it yet."""
        return self.name != WEB and not self.strategy["expand"] and query_key(self._question) not in self._tried

    def read(self, sent: Mapping[str, Any]) -> None:
        """
        Take over what a model wrote, and count what it cost.

        :param sent: What the chat generator returned.
        """
        queries, problem, self.usage = read_reply(sent, self._estimate, self._question)
        if problem is not None:
            self.failed(problem)
            return
        if self.name == WEB:
            bare = (without_operators(query, self._question) for query in queries)
            queries = [form for query in bare if (form := web_form(query))]
            if not queries:
                self.failed("unusable")
                return
        self._written = [query for query in queries if query_key(query) not in self._tried_anywhere]
        self.refused = len(queries) - len(self._written)
        if self._written:
            return
        asked = {query_key(self.state.query), query_key(self._question)}
        if self.options.mode == "decompose" and asked.issuperset(map(query_key, queries)):
            self.failure = ONE_HOP
        else:
            self.failed("repeated")

    def failed(self, kind: str, cost: Usage | None = None, *, calls: int = 1) -> None:
        """
        Write down that a model gave no query; the rules do.

        :param kind: The kind of failure, never its text.
        :param cost: What a call cost that brought no reply; None leaves that of the reply.
        :param calls: How often it was asked.
        """
        self.usage = replace(self.usage if cost is None else cost, llm_calls=calls)
        self.failure = kind
        logger.warning("No query from the model ({kind}); the rules write one", kind=kind)

    def result(self) -> dict[str, Any]:
        """
        Choose the queries.

        :returns: The outputs of the component.
        """
        question, options = self._question, self.options
        new = self._new(self._written) or self._new(self._by_rule())
        # Only what was spent is an entry of the ledger: without a model the state stays the same by value.
        state = self.state.spend(self.usage) if self.usage.llm_calls else self.state
        report = self._report(len(new))
        if not new and not (self._first and options.keep_original):
            # The coming pass will have searched nothing, and no correction led to it; the web is asked all the same.
            action = state.action if self.name == WEB else ""
            return {"exhausted": [], "state": replace(state, action=action), "report": report}
        queries = list(new)
        if options.keep_original:
            queries = [question, *(query for query in new if query_key(query) != query_key(question))]
        # What differs from the question in case only is the question.
        chosen = new[0] if new and new[0] in queries else question
        # The last entry names the pass in the decision record, so the query that goes alone comes last.
        ordered = [*(query for query in queries if query != chosen and not self._alone), chosen]
        entries = [query for query in ordered if query_key(query) not in self._tried]
        after = replace(
            state,
            strategy=self.strategy["name"],
            weights=dict(self.strategy["weights"]),
            queries=(*state.queries, *({"query": query, "strategy": self.name} for query in entries)),
        )
        return {"query": chosen, "queries": queries, "state": after, "report": report}

    def _new(self, candidates: Iterable[str]) -> list[str]:
        """Take the first candidates that this strategy was not asked; as many as one pass has."""
        found: dict[str, str] = {}
        most = 1 if self._alone or self._same_words() else self.options.n
        for text in candidates:
            if (key := query_key(text)) and key not in self._tried:
                found.setdefault(key, text)
            if len(found) == most:
                break
        return list(found.values())

    def _by_rule(self) -> Iterator[str]:
        """Give queries without a model, best first."""
        options = self.options
        if self.name == WEB:
            # The taint rule: no word of a document reaches a search engine, nor of a query that learned from one; which
            # of its own questions is asked, they may tell. Of few words none is for what the question tells besides.
            asked = next(iter(unanswered(self._question, self.state.trail, self.state.kept)), None)
            asked = asked or asking_part(self._question) or self._question
            yield web_form(web_keywords(asked) or asked)
            for text in wordings(asked, options.synonyms, options.max_synonyms_per_term, (), ()):
                yield web_form(web_keywords(text) or text)
            return
        if self._same_words():
            yield self._question
        parts = split(self._question, options.n) if options.mode == "decompose" else []
        untried = [part for part in parts if query_key(part) not in self._tried]
        yield from untried
        if not untried:
            yield from self._other_words()

    def _other_words(self) -> Iterator[str]:
        """Give other wordings; of a question that cannot be split one at a time, since they are no parts of it."""
        state, options = self.state, self.options
        # As its documents write it, and what it asks alone: both are closer to them than any other wording.
        question = reread(self._question, _read_as(state))
        parts = [] if options.mode == "decompose" else unanswered(question, state.trail, state.kept)
        yield from parts
        told = [part for part in (asking_part(question), question) if part not in (None, self._question)]
        # Nobody has searched for all of it where the first search was for what stands beside something pasted.
        yield from told if first_search(self._question) == self._question else [self._question, *told]
        if thing := defined_thing(question):
            yield f"{thing.name} {_WHERE_DEFINED}"
        yield from other_forms(first_search(question))
        asked, tried = next(iter(parts), first_search(question)), [entry["query"] for entry in state.queries]
        found = wordings(asked, options.synonyms, options.max_synonyms_per_term, state.kept, tried)
        if options.mode != "decompose":
            yield from found
        elif not self._first:
            yield from [text for text in found if query_key(text) not in self._tried][:1]
        # Where there are none, a strategy that has not seen the question is asked in its own words.
        yield self._question

    def _report(self, found: int) -> dict[str, Any]:
        """Say where the queries come from; what it cost is counted in the state already."""
        source = None if not found else "model" if self._written else "rules"
        asked = self.options.prompt is not None
        counts = {"queries": found, "refused": self.refused, **asdict(self.usage)}
        return {"mode": self.options.mode, "source": source, "fallback": self.failure if asked else None, **counts}

    def tags(self, result: Mapping[str, Any]) -> dict[str, Any]:
        """
        Give the span attributes: numbers and names, no text.

        :param result: What `result` gave.
        :returns: Attributes by name.
        """
        report = result["report"]
        return {
            "openinference.span.kind": "CHAIN",
            "crag.queries.count": len(result["state"].queries),
            "crag.retrieval.strategy": self.strategy["name"] or None,
            "crag.expand.mode": report["mode"],
            "crag.expand.source": report["source"],
            "crag.expand.fallback": report["fallback"],
            "crag.expand.refused": report["refused"],
            "crag.expand.calls": report["llm_calls"],
            "gen_ai.usage.input_tokens": report["tokens_in"] or None,
            "gen_ai.usage.output_tokens": report["tokens_out"] or None,
        }


def _read_as(state: CragState) -> dict[str, str]:
    """Find how a grader of this run read words that no document had: the first pass that told, saw the most of them."""
    told = ((decision.get("signals") or {}).get("set") or {} for decision in state.trail)
    return next((dict(of_set["read_as"]) for of_set in told if of_set.get("read_as")), {})
