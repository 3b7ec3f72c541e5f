"""Decompose documents into strips, keep what bears on the question, recompose (arXiv 2401.15884, section 4.4)."""

from asyncio import to_thread
from dataclasses import replace
from typing import Any

from haystack import Document, component
from haystack.components.generators.chat.types import ChatGenerator

from haystack_integrations.crag.inputs import checked
from haystack_integrations.crag.observing.telemetry import trace
from haystack_integrations.crag.refining.options import OnEmpty, RefinerOptions, Scorer, Threshold
from haystack_integrations.crag.refining.parts import PartBacked
from haystack_integrations.crag.refining.refinement import Refinement
from haystack_integrations.crag.refining.strips import Granularity
from haystack_integrations.crag.state import CragState


@component
@checked
class StripRefiner(PartBacked):
    """
    Keeps the strips of documents that bear on a question and leaves out the rest; by default it works offline.

    Nothing is written: each kept strip is a piece of its document, found again by its offsets in `meta["crag"]`.
    Strips next to each other keep the whitespace between them, others are joined by a line break. Sentences bring along
    what they say nothing without, as far as the limits go: a row its table's head, a heading and a list what is below,
    a question its answer.

    ### Usage example

    ```python
    from haystack import Document
    from haystack.components.generators.chat import MockChatGenerator
    from haystack_integrations.crag.components.strip_refiner import StripRefiner

    page = Document(content="The tower is in Paris. Bread is baked daily. The tower opened in 1889.")
    refined = StripRefiner().run(query="When did the tower open?", documents=[page])["documents"]
    assert refined[0].content == "The tower opened in 1889."

    refiner = StripRefiner(scorer="llm", chat_generator=MockChatGenerator('{"keep": [1, 3]}'))
    refined = refiner.run(query="When did the tower open?", documents=[page])["documents"]
    assert refined[0].content == "The tower is in Paris.\\nThe tower opened in 1889."
    ```
    """

    def __init__(
        self,
        *,
        granularity: Granularity = "sentence",
        window: int = 3,
        scorer: Scorer = "lexical",
        model: str | None = None,
        calibration: str | None = None,
        ranker: Any = None,
        chat_generator: ChatGenerator | None = None,
        threshold: Threshold = "auto",
        evidence_share: float | None = None,
        top_n: int | None = None,
        max_tokens: int = 4096,
        on_empty: OnEmpty = "best",
        max_prompt_tokens: int = 6000,
        deadline_s: float = 20.0,
        calls_beside: int = 0,
        title_field: str | None = "title",
    ) -> None:
        """
        Create the refiner.

        :param granularity: A strip is a `sentence`, a `window` of sentences, or the whole `passage`.
        :param window: Sentences in a window.
        :param scorer: What judges strips. `lexical` compares wording, `embedding` vectors of a static model, relative
            to the best strip: above 0.5 is worth keeping. `calibrated` gives the probability that a strip belongs to
            the evidence, by a trained model of both. `ranker`: its scores as they are; a `top_k` chosen for it leaves
            out the rest. `llm`: one call for all; the reply names what to keep. Wording judges where model or ranker
            fail, and of `embedding` without a `model` a question in another script than Latin; it shows.
        :param model: Folder of a model2vec model, for `embedding`. None takes the one shipped in this package.
        :param calibration: File of `crag calibrate`, for `calibrated`. None: the shipped model, of others' questions.
        :param ranker: Any Haystack ranker, for `ranker`.
        :param chat_generator: Any Haystack chat generator, for `llm`. It owns the HTTP retries.
        :param threshold: Keep what scores higher; any number for a ranker. `auto`: 0.5, or for `calibrated` the line
            where F1 was best when it was fitted. None for no such limit. Not for `llm`.
        :param evidence_share: For `calibrated`, in place of the threshold: keep the best strips that hold this share of
            the evidence expected. 0.94 loses few answers; a threshold leaves out more.
        :param top_n: Keep at most so many strips of all documents together, best first. None for no such limit.
        :param max_tokens: Most estimated tokens of all kept strips together; the best come first.
        :param on_empty: Where no strip is worth keeping, pass on the `best` one, cut to `max_tokens`; `keep` the
            documents whole, whatever their size; or `drop` them all.
        :param max_prompt_tokens: Most estimated tokens of the prompt; strips that it has no room for are judged by
            wording.
        :param deadline_s: Most seconds to wait for model or ranker.
        :param calls_beside: For `llm`, calls that a branch beside may make from the same budget: wording judges
            where it has none to spare.
        :param title_field: Metadata field with a document's title, which a strip need not repeat. None for no title.
        :raises ConfigurationError: When a value is not usable, or the part that a scorer needs is missing.
        """
        self.granularity, self.window, self.title_field = granularity, window, title_field
        self.scorer, self.model, self.ranker, self.chat_generator = scorer, model, ranker, chat_generator
        self.calibration, self.evidence_share = calibration, evidence_share
        self.threshold, self.top_n, self.max_tokens, self.on_empty = threshold, top_n, max_tokens, on_empty
        self.max_prompt_tokens, self.deadline_s, self.calls_beside = max_prompt_tokens, deadline_s, calls_beside
        self._options = RefinerOptions.of(self)

    @component.output_types(documents=list[Document], dropped=list[Document], report=dict[str, Any], state=CragState)
    def run(self, query: str, documents: list[Document], state: CragState | None = None) -> dict[str, Any]:
        """
        Refine documents; the given ones stay as they are.

        :param query: The user's question.
        :param documents: The documents, best first.
        :param state: What the run knows; its budget bounds the call to model or ranker.
        :returns: A dictionary with the following keys:
            - `documents`: Copies of those with a kept strip, same order and ids, without embeddings. `content` is the
              kept strips in reading order; `meta["crag"]` holds `strips` (`start` and `end` in the given content, and
              `score`), `strips_in` and `strips_kept`, and `strips_lexical`, the reason, where wording judged in
              another scorer's place. What `on_empty` passed on is marked `strips_fallback: true`, also the best strip
              where none fits into `max_tokens`. Without any text the documents come back unchanged.
            - `dropped`: Copies of the others, whole, with `strips_in` and `strips_kept: 0`.
            - `report`: What it cost and met: `strips_in`, `strips_kept`, `strips_lexical`, `empty`, `llm_calls`,
              `tokens_in`, `tokens_out`, `unknown_numbers`, `reasons`, `limit`.
            - `state`: With what was spent, without kept documents that were refined; missing when none came.
        """
        with trace("crag.refine") as span:
            refinement = Refinement(query, documents, state, self._now())
            if refinement.asking is not None:
                self.warm_up()
                refinement.ask()
            return refinement.concluded(span)

    @component.output_types(documents=list[Document], dropped=list[Document], report=dict[str, Any], state=CragState)
    async def run_async(self, query: str, documents: list[Document], state: CragState | None = None) -> dict[str, Any]:
        """
        Refine documents without blocking the event loop; see `run`.

        :param query: The user's question.
        :param documents: The documents, best first.
        :param state: What the run knows.
        :returns: As `run`.
        """
        with trace("crag.refine") as span:
            # Cutting, scoring and choosing take time that other requests on this event loop would wait for.
            refinement = await to_thread(Refinement, query, documents, state, self._now())
            if refinement.asking is not None:
                await self.warm_up_async()
                await refinement.ask_async()
            return await to_thread(refinement.concluded, span)

    def _now(self) -> RefinerOptions:
        """Give the checked settings with the model as it is now: a loader may have exchanged it."""
        return replace(self._options, chat_generator=self.chat_generator)
