"""QuestionGuard: the door of a pipeline. Checks the question, starts the clock, opens the budget."""

from typing import Any

from haystack import component, logging

from haystack_integrations.crag.budget import Budget
from haystack_integrations.crag.deciding.policy import check_mode
from haystack_integrations.crag.errors import QuestionError
from haystack_integrations.crag.expansion.query_text import check_asked
from haystack_integrations.crag.fusion import check_strategy
from haystack_integrations.crag.inputs import check_input
from haystack_integrations.crag.light import light
from haystack_integrations.crag.settings import check_whole
from haystack_integrations.crag.sockets import leads_nowhere
from haystack_integrations.crag.state import CragState
from haystack_integrations.crag.texts.questions.courtesies import bare_question
from haystack_integrations.crag.texts.questions.telling import first_search
from haystack_integrations.crag.vocabulary import WebStatus

logger = logging.getLogger(__name__)


@component
@light
class QuestionGuard:
    """
    Starts a run: refuses a question that no retriever should see, and makes the state that travels with the run.

    An empty question makes Elasticsearch raise, a question of 39 kB can end the server; both stop here with a clear
    error. What people write around a question ("Hi, could you please tell me", "Answer in one sentence.") is not
    searched for; all else in a pipeline is given the question as it is.

    ```python
    from haystack_integrations.crag.components.question_guard import QuestionGuard

    result = QuestionGuard(budget={"seconds": 30}).run(query="Who wrote Emma?")
    assert result["query"] == "Who wrote Emma?"
    asked = "Hi! Could you please tell me who wrote Emma? Answer in one sentence."
    assert QuestionGuard().run(query=asked)["query"] == "who wrote Emma?"
    assert result["state"].budget.seconds == 30
    ```
    """

    def __init__(
        self,
        *,
        max_characters: int = 4096,
        budget: dict[str, Any] | None = None,
        strategy: dict[str, Any] | None = None,
    ) -> None:
        """
        Set the limits of every run.

        :param max_characters: Longest question accepted, in characters.
        :param budget: Limits of a run: `iterations`, `llm_calls`, `tokens`, `seconds`; a missing one is no limit.
        :param strategy: The first retrieval strategy, `{"name", "weights"}`; None leaves the joiner's own weights.
        :raises ConfigurationError: For an unusable limit or strategy.
        """
        check_whole("max_characters", max_characters)
        self.max_characters = max_characters
        self.budget = budget
        self.strategy = strategy
        Budget.of(budget)
        _first(strategy)

    @component.output_types(query=str, state=CragState)
    def run(
        self,
        query: str,
        mode: str | None = None,
        budget: dict[str, Any] | None = None,
        web: bool | None = None,
        top_k: int | None = None,
    ) -> dict[str, Any]:
        """
        Check the question and start the run.

        :param query: The user's question.
        :param mode: `enforce`, `observe` or `off` for this run; None leaves the router's own.
        :param budget: Limits of this run, in place of those of the same name set at construction.
        :param web: False keeps this run from asking the web, whatever the router decides.
        :param top_k: What the retrievers are asked for in this run; only checked here, since not all of them do.
        :returns: A dictionary with the following keys:
            - `query`: What to search for: the question without courtesies (`texts.courtesies`) and, if the rest can be
              understood alone, without what is pasted beside it (`texts.telling`), in plain letters.
            - `state`: The state of the run, its clock started.
        :raises QuestionError: For an empty or too long question, and one that is no Unicode text.
        :raises ConfigurationError: For an unknown mode or limit, a `top_k` below 1, or a `web` that is neither.
        """
        self._check(query)
        if top_k is not None:
            check_whole("top_k", top_k)
        check_input("QuestionGuard", "web", web, bool | None)  # "false" would let the web be asked
        Budget.of(budget)
        limits = Budget.of({**(self.budget or {}), **(budget or {})})
        asked = None if mode is None else check_mode(mode)
        status: WebStatus = "skipped" if web is False else "off"
        search = first_search(bare_question(query))
        self._tell_of_lost(budget=self.budget or budget, strategy=self.strategy, mode=mode, web=web is False)
        state = CragState.start(query, search, budget=limits, mode=asked, web=status, **_first(self.strategy))
        return {"query": search, "state": state}

    def _check(self, query: object) -> None:
        """Refuse what is no question."""
        if query is not None and not isinstance(query, str):
            msg = f"got a {type(query).__name__} as the question, wanted a text; of a ChatMessage pass its text"
            raise QuestionError(msg, "string_type")
        query = query or ""
        if len(query) > self.max_characters:
            msg = (
                f"the question has {len(query):,} characters, but at most {self.max_characters:,} are accepted; "
                "shorten it, or raise max_characters of QuestionGuard"
            )
            raise QuestionError(msg, "string_too_long", max_length=self.max_characters)
        try:
            query.encode()
        except UnicodeEncodeError as error:
            msg = (
                f"the question holds half a character at place {error.start + 1:,}, which no server takes; "
                "send it as UTF-8 text"
            )
            raise QuestionError(msg, "string_unicode") from None
        check_asked(query)

    def _tell_of_lost(self, **given: Any) -> None:
        """Warn where a pipeline takes only the query: what is wished for a run stands in its state."""
        wishes = [name for name, value in given.items() if value]
        if wishes and leads_nowhere(self, "state", "query"):
            logger.warning(
                "{wishes} of QuestionGuard has no effect, since its output state leads nowhere; connect it to the "
                "router and to whatever else takes a state",
                wishes=" and ".join(wishes),
            )


def _first(strategy: dict[str, Any] | None) -> dict[str, Any]:
    """Check a strategy and give it in the state's words."""
    if strategy is None:
        return {}
    check_strategy(strategy)
    return {"strategy": strategy["name"], "weights": dict(strategy["weights"])}
