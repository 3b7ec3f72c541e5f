"""QueryExpander: another query, or another retrieval strategy, for another try. Works without any model."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final, Literal

from haystack import Document, component

from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.expansion import MAX_WEB_WORDS, check_synonyms, keywords, load_synonyms, wordings
from haystack_integrations.crag.state import CragState
from haystack_integrations.crag.telemetry import trace

MODES: Final = ("synonyms", "web")


@component
class QueryExpander:
    """
    Finds the next search query of a run; the user's question itself is never replaced.

    After `refine` the same strategy searches in other words: synonyms (at most two for a term, phrases first) and
    words that the kept evidence shares. After `re_retrieve` the next of `strategies` takes over. The same query is
    never sent twice with the same strategy; when no other is left, `exhausted` says so and the run ends.

    Haystack has a `QueryExpander` too (`haystack.components.query`), which knows nothing of earlier tries: mind the
    import path.

    ```python
    from haystack_integrations.crag.components.query_expander import QueryExpander

    expander = QueryExpander(synonyms={"car": ["automobile", "vehicle", "motor"]})
    assert expander.run(query="How fast is the car?")["query"] == "How fast is the car? automobile vehicle"
    assert QueryExpander(mode="web").run(query="How fast is the car?")["query"] == "fast car"
    ```
    """

    def __init__(
        self,
        *,
        mode: Literal["synonyms", "web"] = "synonyms",
        synonyms: str | dict[str, list[str]] | None = None,
        max_synonyms_per_term: int = 2,
        strategies: list[dict[str, Any]] | None = None,
    ) -> None:
        """
        Choose how queries are found.

        :param mode: `synonyms` for a document store, `web` for a search engine (under ten keywords).
        :param synonyms: Own synonyms, `{term: [synonym, ...]}`, or the path of a YAML or JSON file of that form; None
            for the built-in ones.
        :param max_synonyms_per_term: Most synonyms of one term in one query, 1 or more.
        :param strategies: What `re_retrieve` tries, in order: each `{"name", "weights", "expand"}` with weights by
            retriever for EvidenceJoiner, and `expand: true` to change the query too. The last one stays.
        :raises ConfigurationError: For an unknown mode, or an unusable mapping or strategy.
        """
        if mode not in MODES:
            msg = f"mode must be one of {list(MODES)}, but got {mode!r}"
            raise ConfigurationError(msg)
        if isinstance(max_synonyms_per_term, bool) or max_synonyms_per_term < 1:
            msg = f"max_synonyms_per_term must be a whole number > 0, but got {max_synonyms_per_term!r}"
            raise ConfigurationError(msg)
        for strategy in strategies or ():
            if not {"name", "weights"} <= set(strategy) <= {"name", "weights", "expand"}:
                msg = f"a strategy needs name and weights, and may have expand, but got {strategy!r}"
                raise ConfigurationError(msg)
        self.mode, self.synonyms = mode, synonyms
        self.max_synonyms_per_term, self.strategies = max_synonyms_per_term, strategies
        given = isinstance(synonyms, dict)
        self._synonyms = check_synonyms(synonyms, "synonyms") if given else load_synonyms(synonyms)  # type: ignore[arg-type]

    @component.output_types(query=str, state=CragState, exhausted=list[Document])
    def run(self, query: str | None = None, state: CragState | None = None) -> dict[str, Any]:
        """
        Find the next query.

        In a pipeline connect `state` only: a question passed to the whole run would set this off before the first
        retrieval.

        :param query: The user's original question, when there is no state.
        :param state: What the run knows: the question, its action, the queries tried, the kept evidence.
        :returns: A dictionary with the following keys:
            - `query`: The next search query; missing when there is no other.
            - `exhausted`: An empty list in its place, to be sent where retrieved documents are judged.
            - `state`: The state with the new query and strategy written down.
        :raises ConfigurationError: When neither a question nor a state came.
        """
        if state is None and not query:
            msg = "QueryExpander got neither a question nor a state; pass query, or connect the router's state"
            raise ConfigurationError(msg)
        known = state or CragState.start(query or "")
        with trace("crag.expand", crag_action=known.action or None) as span:
            strategy = self._strategy(known)
            tried = {(entry["query"].casefold(), entry["strategy"]) for entry in known.queries}
            candidates = self._candidates(known, expand=strategy["expand"])
            name = strategy["name"]
            found = next((text for text in candidates if (text.casefold(), name) not in tried), None)
            span.set_tag("crag.queries.count", len(known.queries) + (found is not None))
            span.set_tag("crag.retrieval.strategy", name)
            if found is None:
                return {"exhausted": [], "state": known}
        after = replace(
            known,
            strategy=name,
            weights=dict(strategy["weights"]),
            queries=(*known.queries, {"query": found, "strategy": name}),
        )
        return {"query": found, "state": after}

    def _strategy(self, state: CragState) -> dict[str, Any]:
        """Stay with the strategy for a refinement; take the next one after `re_retrieve`."""
        stay = {"name": state.strategy, "weights": state.weights, "expand": True}
        if state.action != "re_retrieve" or not self.strategies:
            return stay
        turn = sum(decision["action"] == "re_retrieve" for decision in state.trail)
        return {"expand": turn > len(self.strategies), **self.strategies[min(turn, len(self.strategies)) - 1]}

    def _candidates(self, state: CragState, *, expand: bool) -> Iterator[str]:
        """Give possible queries, best first."""
        query = state.query
        if self.mode == "web":
            yield keywords(query, MAX_WEB_WORDS) or query
        elif not expand:
            yield query
        tried = [entry["query"] for entry in state.queries]
        for text in wordings(query, self._synonyms, self.max_synonyms_per_term, state.kept, tried):
            yield keywords(text, MAX_WEB_WORDS) if self.mode == "web" else text
