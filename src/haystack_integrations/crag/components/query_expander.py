"""QueryExpander: other queries, or another retrieval strategy, for another try. Works without any model."""

from asyncio import to_thread
from typing import Any

from haystack import Document, component
from haystack.components.generators.chat.types import ChatGenerator
from haystack.tracing.tracer import Span

from haystack_integrations.crag.chat import ChatBacked, ask, ask_async, cost_of, kind_of
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.expansion.expanding import Expansion
from haystack_integrations.crag.expansion.options import ExpansionMode, ExpansionOptions
from haystack_integrations.crag.expansion.readers import ended, read_by
from haystack_integrations.crag.inputs import checked, led_by_state
from haystack_integrations.crag.observing.telemetry import set_tags, trace
from haystack_integrations.crag.state import CragState


@component
@checked
@led_by_state
class QueryExpander(ChatBacked):
    """
    Finds the next search queries of a run; the user's question itself is never replaced.

    After `refine` the same strategy searches in other words; after `re_retrieve` the next of `strategies` takes over.
    The same query is never sent twice with the same strategy (the web counts as one); when no other is left,
    `exhausted` says so and the run ends. Where a model gives no new query (budget, deadline, failure, a cut or repeated
    reply) the rules do, and `report` says so; a web that is not set up, or left alone, gets one by the rules at once.
    In mode `web` nothing that documents had a part in reaches the model or the query.

    Haystack's own (`haystack.components.query`) knows no earlier tries; its `MultiQuery...Retriever`s take `queries`.

    ```python
    from haystack_integrations.crag.components.query_expander import QueryExpander

    expander = QueryExpander(synonyms={"car": ["automobile", "vehicle", "motor"]})
    assert expander.run(query="How fast is the car?")["query"] == "How fast is the car? automobile vehicle"
    assert QueryExpander(mode="web").run(query="How fast is the car?")["query"] == "fast car"
    parts = QueryExpander(mode="decompose").run(query="Which is older, Rome or Paris?")["queries"]
    assert parts == ["Which is older, Rome or Paris?", "Rome older", "Paris older"]
    ```
    """

    chat_generator: ChatGenerator | None  # type: ignore[assignment]

    def __init__(
        self,
        *,
        mode: ExpansionMode = "synonyms",
        chat_generator: ChatGenerator | None = None,
        n: int = 3,
        keep_original: bool = False,
        synonyms: str | dict[str, list[str]] | None = None,
        max_synonyms_per_term: int = 2,
        strategies: list[dict[str, Any]] | None = None,
        template: str | None = None,
        timeout_s: float = 15.0,
    ) -> None:
        """
        Choose how queries are found.

        :param mode: `synonyms`: the question with synonyms and words of the kept evidence, or where that names others,
            what it lacks of the question with their names: another hop. `llm`: by a model that sees question, queries
            tried, kept evidence and judgement. `web`: under ten keywords. `multi`: several wordings at once.
            `decompose`: the parts of a question of several hops or a comparison. Only `llm` needs a model.
        :param chat_generator: Any Haystack chat generator; it owns the HTTP retries. One call for each run.
        :param n: Most new queries of `multi` and `decompose`, and most alternatives a model is asked for; 1 to 10.
        :param keep_original: Put the question first into `queries`, as `multi` and `decompose` always do.
        :param synonyms: Own ones, `{term: [synonym, ...]}`, or the path of a YAML or JSON file of them. None: built-in.
        :param max_synonyms_per_term: Most synonyms of one term in one query, 1 or more.
        :param strategies: What `re_retrieve` tries, in order: each `{"name", "weights", "expand"}` with weights by
            retriever for EvidenceJoiner, `expand: true` for other words too, where there are any. The last one stays.
        :param template: Jinja2 text of the user message, with `question`, `tried`, `evidence` (each `title`, `text`),
            `verdict`, `missing`, `boundary` and `n`; None for the built-in one.
        :param timeout_s: Most seconds for the model, all retries included.
        :raises ConfigurationError: For an unknown mode, or an unusable setting, mapping, strategy or template.
        """
        self.mode, self.chat_generator, self.n, self.keep_original = mode, chat_generator, n, keep_original
        self.synonyms, self.max_synonyms_per_term = synonyms, max_synonyms_per_term
        self.strategies, self.template, self.timeout_s = strategies, template, timeout_s
        self._options = ExpansionOptions.of(self)

    @component.output_types(
        query=str, queries=list[str], state=CragState, exhausted=list[Document], report=dict[str, Any]
    )
    def run(self, query: str | None = None, state: CragState | None = None) -> dict[str, Any]:
        """
        Find the next queries.

        In a loop connect `state`: then a question alone, as a run may give it to all components, does nothing.

        :param query: The user's original question, when there is no state, or when nothing was retrieved yet.
        :param state: What the run knows: the question, its action, the queries tried, the kept evidence.
        :returns: A dictionary with the following keys:
            - `query`: The next search query; missing, as `queries`, when there is no other.
            - `queries`: All queries of the coming pass, for a retriever of several: the question first where it is
              kept, then the new ones. Where a pipeline takes `query` alone, no other is tried.
            - `exhausted`: An empty list in their place, to be sent where retrieved documents are judged.
            - `state`: The state with the new queries, the strategy and what a model cost written down.
            - `report`: `mode`, `source` (`model` or `rules`), `fallback` (why not the model), `queries`, `refused`,
              `llm_calls`, `tokens_in`, `tokens_out`. Not for the router: the cost is in the state already.
        :raises ConfigurationError: When neither a question nor a state came.
        """
        expansion = self._begun(query, state)
        with trace("crag.expand", crag_action=expansion.state.action or None) as span:
            if self.chat_generator is not None and expansion.messages is not None:
                try:
                    self.warm_up()
                    expansion.read(ask(self.chat_generator, expansion.messages, expansion.seconds))
                except Exception as error:  # a model must never end a run: whatever its client raises
                    expansion.failed(kind_of(error), cost_of(error))
            return _told(self, span, expansion)

    @component.output_types(
        query=str, queries=list[str], state=CragState, exhausted=list[Document], report=dict[str, Any]
    )
    async def run_async(self, query: str | None = None, state: CragState | None = None) -> dict[str, Any]:
        """
        Find the next queries without blocking the event loop; see `run`.

        :param query: As `run`.
        :param state: As `run`.
        :returns: As `run`, with the same errors.
        """
        expansion = self._begun(query, state)
        with trace("crag.expand", crag_action=expansion.state.action or None) as span:
            if self.chat_generator is not None and expansion.messages is not None:
                try:
                    await self.warm_up_async()
                    expansion.read(await ask_async(self.chat_generator, expansion.messages, expansion.seconds))
                except Exception as error:  # a model must never end a run: whatever its client raises
                    expansion.failed(kind_of(error), cost_of(error))
            return await to_thread(_told, self, span, expansion)  # rules read all of the evidence: others would wait

    def _begun(self, query: str | None, state: CragState | None) -> Expansion:
        if state is None and not query:
            msg = "QueryExpander got neither a question nor a state; pass query, or connect the router's state"
            raise ConfigurationError(msg)
        known = state or CragState.start(query or "")
        return Expansion(self._options, known, first=bool(query) and not known.trail, **read_by(self))


def _told(part: QueryExpander, span: Span, expansion: Expansion) -> dict[str, Any]:
    """Put on the span what became of it; the queries themselves only where content is traced."""
    result = ended(part, expansion.result())
    set_tags(span, expansion.tags(result))
    span.set_content_tag("crag.queries", result.get("queries", []))
    return result
