"""RankerGrader: any Haystack ranker (a cross-encoder, a reranking service) in the place of a grader."""

import math
from typing import Any, get_args

from haystack import Document, component

from haystack_integrations.crag.chat import ChatBacked, kind_of
from haystack_integrations.crag.deadlines import run_within, run_within_async
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.expansion.query_text import check_asked
from haystack_integrations.crag.inputs import checked, is_number
from haystack_integrations.crag.observing.metrics import timed_grading
from haystack_integrations.crag.observing.telemetry import trace
from haystack_integrations.crag.ranker_scores import Ranking, Scale, check_reads_question
from haystack_integrations.crag.settings import check_one_of, check_positive
from haystack_integrations.crag.sockets import is_part, named
from haystack_integrations.crag.state import CragState, seconds_for


@component
@checked
class RankerGrader(ChatBacked):
    """
    Grades documents by a ranker's own scores; takes the place of `HeuristicGrader` in any YAML, also before a cascade.

    A ranker's score orders documents and is seldom a probability: look at the scores of questions of your own, and
    choose `scale`, `slope` and `middle` so that 0.5 stands where answers begin. What the ranker does not return, or
    gives no score, is `failed`: kept, marked, and never read as irrelevant. A ranker that only chooses gives none.

    ```python
    from haystack import Document, component
    from haystack_integrations.crag.components.ranker_grader import RankerGrader

    @component
    class SharedWords:
        @component.output_types(documents=list[Document])
        def run(self, query: str, documents: list[Document], top_k: int = 10) -> dict:
            asked = set(query.lower().split())
            scored = [Document(id=d.id, content=d.content, score=len(asked & set(d.content.lower().split())))
                      for d in documents]
            return {"documents": sorted(scored, key=lambda d: -d.score)[:top_k]}

    grader = RankerGrader(SharedWords(), scale="logit", slope=2.0, middle=1.5)
    documents = [Document(content="Jane Austen wrote Emma"), Document(content="Rain is likely")]
    assert grader.run(query="Who wrote Emma", documents=documents)["scores"] == [0.7311, 0.0474]
    ```
    """

    def __init__(
        self, ranker: Any, *, scale: Scale = "unit", slope: float = 1.0, middle: float = 0.0, deadline_s: float = 20.0
    ) -> None:
        """
        Choose the ranker, and what its scores mean.

        :param ranker: Any Haystack ranker: `run` takes documents and gives them back with scores.
        :param scale: `unit`: its scores are in [0, 1], and are the grades. `logit`: they are any numbers, and the
            grade is 1 / (1 + exp(-slope x (score - middle))).
        :param slope: For `logit`: how steep the curve is, above 0.
        :param middle: For `logit`: the score that becomes 0.5.
        :param deadline_s: Most seconds to wait for the ranker.
        :raises ConfigurationError: For something else than a ranker, one that takes no `query`, or an unusable number.
        """
        if not is_part(ranker):
            msg = f"ranker must be a Haystack ranker, but got {named(ranker)}"
            raise ConfigurationError(msg)
        check_reads_question(ranker)
        check_one_of("scale", scale, get_args(Scale))
        if not is_number(middle) or not math.isfinite(middle):
            msg = f"middle must be a number, but got {middle!r}"
            raise ConfigurationError(msg)
        check_positive({"slope": slope, "deadline_s": deadline_s})
        if scale == "unit" and (slope, middle) != (1.0, 0.0):
            msg = f"slope and middle go with scale='logit' only, but got slope={slope!r} and middle={middle!r}"
            raise ConfigurationError(msg)
        self.ranker, self.scale, self.slope, self.middle, self.deadline_s = ranker, scale, slope, middle, deadline_s

    @component.output_types(documents=list[Document], scores=list[float], status=str, report=dict[str, Any])
    def run(self, query: str, documents: list[Document], state: CragState | None = None) -> dict[str, Any]:
        """
        Grade documents against the original question.

        :param query: The original question.
        :param documents: Documents in rank order.
        :param state: What the run knows: a grade given in an earlier pass stays, and the run's seconds are respected;
            in mode `off` nothing is graded.
        :returns: A dictionary with the following keys:
            - `documents`: The same documents in the same order, each with its grade in `meta["crag"]`.
            - `scores`: One score in [0, 1] for each document, same order; none when skipped.
            - `status`: `ok`, `partial`, `failed`, or `skipped` (no documents, or mode `off`: they pass unchanged).
            - `report`: `set_score`, the best document's, where any was judged, and the `reasons` of failures.
        :raises QuestionError: For an empty question.
        :raises ConfigurationError: For a score outside [0, 1] with `scale="unit"`.
        """
        with timed_grading("RankerGrader"), trace("crag.grade") as span:
            ranking = self._ranking(query, documents, state)
            if ranking.asked:
                try:
                    self.warm_up()
                    arguments, seconds = ranking.arguments(self.ranker), seconds_for(state, self.deadline_s)
                    self._take(ranking, run_within(self.ranker, seconds, arguments))
                except ConfigurationError:
                    raise
                except Exception as error:  # a ranker must never end a run: whatever its client raises
                    ranking.fail(ranking.asked, kind_of(error))
            return ranking.concluded(span)

    @component.output_types(documents=list[Document], scores=list[float], status=str, report=dict[str, Any])
    async def run_async(self, query: str, documents: list[Document], state: CragState | None = None) -> dict[str, Any]:
        """
        Grade documents without blocking the event loop; a ranker without `run_async` works in a thread. See `run`.

        :param query: The original question.
        :param documents: Documents in rank order.
        :param state: What the run knows.
        :returns: As `run`.
        :raises CragError: As `run`.
        """
        with timed_grading("RankerGrader"), trace("crag.grade") as span:
            ranking = self._ranking(query, documents, state)
            if ranking.asked:
                try:
                    await self.warm_up_async()
                    arguments, seconds = ranking.arguments(self.ranker), seconds_for(state, self.deadline_s)
                    self._take(ranking, await run_within_async(self.ranker, seconds, arguments))
                except ConfigurationError:
                    raise
                except Exception as error:  # a ranker must never end a run: whatever its client raises
                    ranking.fail(ranking.asked, kind_of(error))
            return ranking.concluded(span)

    def _asked(self) -> Any:
        return self.ranker

    def _ranking(self, query: str, documents: list[Document], state: CragState | None) -> Ranking:
        check_asked(query)
        return Ranking(f"RankerGrader:{type(self.ranker).__name__}", query, documents, state)

    def _take(self, ranking: Ranking, sent: Any) -> None:
        ranking.take(sent, self.scale, self.slope, self.middle)
