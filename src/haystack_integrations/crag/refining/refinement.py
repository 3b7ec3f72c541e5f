"""One refinement of one list: decomposes, has strips judged, recomposes. Lives as long as the run of the component."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Final

from haystack import Document
from haystack.tracing.tracer import Span

from haystack_integrations.crag.chat import cost_of, kind_of
from haystack_integrations.crag.encoding.encoders import load_encoder
from haystack_integrations.crag.metadata import title_of
from haystack_integrations.crag.refining.as_asked import Score, scored
from haystack_integrations.crag.refining.asking import Asking, Judged, ModelAsking, RankerAsking
from haystack_integrations.crag.refining.model import enough, load_strip_model
from haystack_integrations.crag.refining.options import OnEmpty, RefinerOptions
from haystack_integrations.crag.refining.prompt import shown
from haystack_integrations.crag.refining.report import tell
from haystack_integrations.crag.refining.selection import Selection, recomposed, select, whole
from haystack_integrations.crag.refining.standing import Standing, completed, standing
from haystack_integrations.crag.refining.strips import (
    KEEP_ABOVE,
    Strip,
    decompose,
    embedding_scores,
    fitting,
    lexical_scores,
)
from haystack_integrations.crag.state import CragState, seconds_for
from haystack_integrations.crag.texts.languages.common_words import is_other_script
from haystack_integrations.crag.texts.questions.courtesies import bare_question
from haystack_integrations.crag.texts.titles import MOST_JUDGED
from haystack_integrations.crag.vocabulary import BUDGET_LIMITS

NOTHING_KEPT: Final = "nothing_kept"
PROMPT_FULL: Final = "max_prompt_tokens"
OTHER_SCRIPT: Final = "other_script"


class Refinement:
    """
    The refinement of one list of documents.

    :ivar asking: The call to another component that is needed, or None when there is nothing to ask.
    """

    def __init__(
        self, query: str, documents: Sequence[Document], state: CragState | None, options: RefinerOptions
    ) -> None:
        """Cut the documents into strips; judge them, or prepare the call that does."""
        self.query, self.documents, self.state, self.options = bare_question(query), documents, state, options
        # A run that only observes, or does not even judge, is answered from its evidence as it was found.
        texts = [] if state is not None and state.mode in ("observe", "off") else [d.content or "" for d in documents]
        self.titles = [title_of(d, options.title_field)[:MOST_JUDGED] for d in documents]
        self.strips = decompose(texts, options.granularity, options.window, self.titles)
        self.asking: Asking | None = None
        self._judged = Judged()
        self._by_wording: dict[int, str] = {}
        self._calls = 0
        if self.strips and options.scorer in ("llm", "ranker"):
            self._prepare()
        elif self.strips and options.scorer == "embedding" and options.model is None and is_other_script(query):
            self._word(range(len(self.strips)), OTHER_SCRIPT)
        elif self.strips:
            scores = dict(enumerate(self._own_scores()))
            self._judged = Judged(dict(sorted(scores.items(), key=lambda entry: -entry[1])))

    def ask(self) -> None:
        """Make the call that is needed; whatever fails, wording judges in its place."""
        if self.asking is None:
            return
        self._calls += self.options.scorer == "llm"
        try:
            self._take(self.asking.read(self.asking.ask(self._seconds())))
        except Exception as error:  # a refinement that fails must not fail the run: whatever a client raises
            self._take(Judged(usage=cost_of(error), problem=kind_of(error)))

    async def ask_async(self) -> None:
        """Make the call that is needed without blocking the event loop; see `ask`."""
        if self.asking is None:
            return
        self._calls += self.options.scorer == "llm"
        try:
            self._take(self.asking.read(await self.asking.ask_async(self._seconds())))
        except Exception as error:  # a refinement that fails must not fail the run: whatever a client raises
            self._take(Judged(usage=cost_of(error), problem=kind_of(error)))

    def concluded(self, span: Span) -> dict[str, Any]:
        """
        Select and recompose, and say what it was like in report, span and log.

        :param span: The span of the run.
        :returns: `documents`, `dropped`, `report`, and `state` where one came.
        """
        found, dropped = list(self.documents), list[Document]()
        empty: OnEmpty | None = None
        kept: Sequence[int] = []
        if self.strips:
            scores, passing = self._ranked()
            kept = select(self.strips, passing, self.options.top_n, self.options.max_tokens)
            kept = completed(kept, self.strips, self._standing, scores, self.options)
            selection = Selection(self.strips, scores, kept, self._by_wording)
            if kept:
                found, dropped = recomposed(self.documents, selection)
            else:
                empty = "best" if passing else self.options.on_empty
                found, dropped, kept = self._empty(empty, scores, passing)
        report = self._report(kept, empty)
        tell(span, report)
        result: dict[str, Any] = {"documents": found, "dropped": dropped, "report": report}
        if self.state is not None:
            # Kept documents that were refined go on as `documents`; carried in the state too, they would come back.
            given = {document.id for document in self.documents}
            kept_on = tuple(document for document in self.state.kept if document.id not in given)
            spent = self.state.spend(replace(self._judged.usage, llm_calls=self._calls))
            result["state"] = replace(spent, kept=kept_on)
        return result

    def _prepare(self) -> None:
        """Write the call, unless the run's budget forbids it; what it cannot be about is left to wording."""
        everything = tuple(range(len(self.strips)))
        tokens = 0
        asking: Asking
        if self.options.scorer == "llm":
            prompt = shown(self.query, self.strips, self.titles, self.options.max_prompt_tokens)
            asking, tokens = ModelAsking(self.options.chat_generator, prompt), prompt.tokens
            self._word([k for k in everything if k not in set(prompt.numbers)], PROMPT_FULL)
        else:
            asking = RankerAsking(self.options.ranker, self.query, self.strips, self.documents)
        limit = self._limit(tokens)
        if limit is not None:
            self._word(everything, limit)
        elif asking.numbers:
            self.asking = asking

    def _limit(self, tokens: int) -> str | None:
        """Tell which limit of the run's budget forbids a call of so many tokens; a ranker takes time only."""
        if self.state is None:
            return None
        if self.options.scorer == "ranker":
            return "deadline" if self.state.seconds_left() == 0 else None
        return self.state.forbids(tokens, beside=self.options.calls_beside)

    def _seconds(self) -> float:
        return seconds_for(self.state, self.options.deadline_s)

    def _take(self, judged: Judged) -> None:
        self._judged = judged
        if judged.problem is not None and self.asking is not None:
            self._word(self.asking.numbers, judged.problem)

    def _word(self, numbers: Sequence[int], reason: str) -> None:
        self._by_wording.update(dict.fromkeys(numbers, reason))

    def _own_scores(self) -> list[float]:
        if self.options.scorer == "calibrated":
            model, alone = load_strip_model(self.options.calibration), self.options.evidence_share is None
            return self._for_any(lambda asked, strips, titles: model.probabilities(asked, strips, titles, alone=alone))
        if self.options.scorer == "embedding":
            encoder = load_encoder(self.options.model)
            return self._for_any(lambda asked, strips, titles: embedding_scores(asked, strips, titles, encoder))
        return self._lexical()

    def _lexical(self) -> list[float]:
        heads = self._standing.heads()
        return self._for_any(lambda asked, strips, titles: lexical_scores(asked, strips, titles, heads))

    def _for_any(self, score: Score) -> list[float]:
        contents = [document.content or "" for document in self.documents]
        return scored(score, self.query, self.strips, self.titles, contents)

    @cached_property
    def _standing(self) -> Standing:
        return self._read(self.strips)

    def _read(self, strips: Sequence[Strip]) -> Standing:
        """Read how strips stand to each other; a window or a passage shows its rows with their head."""
        is_cut = self.options.granularity == "sentence"
        return standing(strips, [d.content or "" for d in self.documents]) if is_cut else Standing()

    def _ranked(self) -> tuple[dict[int, float], list[int]]:
        """Give all scores, best first, and the numbers of the strips that are worth keeping, best first."""
        scores = dict(self._judged.scores)
        passing = self._passing(scores)
        if self._by_wording:
            # Another scorer's threshold says nothing about these scores, which have a line of their own.
            lexical = self._lexical()
            worded = sorted(self._by_wording, key=lambda number: (-lexical[number], number))
            scores.update({k: lexical[k] for k in worded})
            passing += [k for k in worded if lexical[k] > KEEP_ABOVE]
        return scores, passing

    def _passing(self, scores: dict[int, float]) -> list[int]:
        if self.options.evidence_share is not None:
            return enough(scores, self.strips, self.options.evidence_share)
        line = self.options.threshold
        if self.options.scorer == "llm":
            # What a model named is kept: it was asked for no score.
            line = None
        elif line == "auto":
            is_trained = self.options.scorer == "calibrated"
            line = load_strip_model(self.options.calibration).threshold if is_trained else KEEP_ABOVE
        return [k for k, score in scores.items() if line is None or score > line]

    def _empty(
        self, policy: OnEmpty, scores: dict[int, float], passing: Sequence[int]
    ) -> tuple[list[Document], list[Document], list[int]]:
        """Do as `on_empty` says; nothing is passed on only where that is asked for."""
        nothing = Selection(self.strips, scores, [], self._by_wording)
        if policy == "keep":
            return whole(self.documents, nothing), [], []
        if policy == "drop":
            return [], recomposed(self.documents, nothing)[1], []
        best = self._best(scores, passing)
        strips = [*self.strips]
        strips[best] = fitting(strips[best], self.options.max_tokens)
        kept = completed([best], strips, self._read(strips), scores, self.options)
        chosen = Selection(strips, scores, kept, self._by_wording, is_fallback=True)
        return *recomposed(self.documents, chosen), kept

    def _best(self, scores: dict[int, float], passing: Sequence[int]) -> int:
        """Find the strip to pass on alone: worth keeping but too long, or else the best of those that are not."""
        found = next(iter([*passing, *self._judged.scores]), None)
        if found is None:
            # Neither model nor ranker found anything: the best by wording is still the best there is.
            lexical = self._lexical()
            found = max(range(len(lexical)), key=lambda number: (lexical[number], -number))
            self._by_wording.setdefault(found, NOTHING_KEPT)
            scores[found] = lexical[found]
        return found

    def _report(self, kept: Sequence[int], empty: str | None) -> dict[str, Any]:
        reasons = list(dict.fromkeys(self._by_wording.values()))
        usage = self._judged.usage
        return {
            "scorer": self.options.scorer,
            "strips_in": len(self.strips),
            "strips_kept": len(kept),
            "strips_lexical": len(self._by_wording),
            "empty": empty,
            "unknown_numbers": self._judged.unknown,
            "llm_calls": self._calls,
            "tokens_in": usage.tokens_in,
            "tokens_out": usage.tokens_out,
            "reasons": [f"strips_lexical:{reason}" for reason in reasons],
            "limit": next((reason for reason in reasons if reason in BUDGET_LIMITS), None),
        }
