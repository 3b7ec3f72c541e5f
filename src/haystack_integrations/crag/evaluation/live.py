"""Live lists: the whole pipeline on an index of the corpus, with its own retrieval and corrections, the web aside."""

from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any, Final

from haystack_integrations.crag.chat_model import ANSWER_SECONDS
from haystack_integrations.crag.components.passage_titler import PassageTitler
from haystack_integrations.crag.components.static_document_embedder import StaticDocumentEmbedder
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.evaluation.cases import Case, Dataset, Passage, RankedList
from haystack_integrations.crag.evaluation.parts import asking_parts, exchanged, require_model
from haystack_integrations.crag.evaluation.setup import Setup
from haystack_integrations.crag.evaluation.strips import support, words_in
from haystack_integrations.crag.metadata import title_of
from haystack_integrations.crag.pipelines.checks import check_questions
from haystack_integrations.crag.pipelines.forms import inputs_of
from haystack_integrations.crag.pipelines.loader import load, read
from haystack_integrations.crag.pipelines.opening import memory_store, model_parts
from haystack_integrations.crag.texts.text import sentences

_BATCH: Final = 1024


def check(setup: Setup) -> None:
    """
    Refuse a pipeline that cannot be evaluated live, before anything is read or indexed.

    :param setup: What is evaluated.
    :raises ConfigurationError: When it is no pipeline for questions, or asks a chat model and none is configured.
    """
    spec = read(setup.pipeline)
    check_questions(setup.pipeline, spec)
    if setup.top_k is not None and "top_k" not in inputs_of(spec):
        msg = f"the pipeline {setup.pipeline!r} takes no top_k; leave out --top-k, or choose another pipeline"
        raise ConfigurationError(msg)
    require_model(setup, asking_parts(setup, spec["components"]))


class LiveLists:
    """Asks a pipeline the questions of a data set."""

    def __init__(self, dataset: Dataset, setup: Setup) -> None:
        """
        Index the corpus, in this process, and load the pipeline on it.

        :param dataset: The data.
        :param setup: What is evaluated.
        :raises ConfigurationError: See `check`.
        """
        check(setup)
        self._dataset = as_indexed(dataset)
        store = memory_store()
        fill(store, self._dataset)
        changes, spec = exchanged(setup, store), read(setup.pipeline)
        if setup.model is not None:
            asked = model_parts(setup.pipeline, setup.model.generator(ANSWER_SECONDS), setup.model.judge())
            changes = {**asked, **changes}
        self._pipeline: Any = load(setup.pipeline, store=store, **changes)
        self._options: dict[str, Any] = {"web": False} if "web" in inputs_of(spec) else {}
        if setup.top_k is not None:
            self._options["top_k"] = setup.top_k

    def truth(self, _case: Case) -> None:
        """Tell no verdict: which list a question ends with is known when it has been asked."""

    def record(self, case: Case) -> dict[str, Any]:
        """
        Ask a question.

        :param case: The question.
        :returns: Its record: the verdict of the last decision and the label of the list that this was about; `first`
            holds both of the first one.
        """
        started = perf_counter()
        result = self._pipeline.run(query=case.question, **self._options)
        seconds = perf_counter() - started
        crag, documents = result["crag"], result["documents"]
        first, last = crag["trail"][0], crag["trail"][-1]
        known = (self._dataset.passages.get(entry["id"]) for entry in _judged(first))
        retrieved = [passage.document() for passage in known if passage is not None]
        return {
            "id": case.id,
            "question": case.question,
            "label": self._label(case, last),
            "strict": case.strict,
            **{name: crag[name] for name in ("verdict", "score", "rule", "action")},
            "probabilities": None,
            "first": {"verdict": first["verdict"], "score": first["score"], "label": self._label(case, first)},
            "documents": self._listed(case, last),
            "strips": None,
            "support": support(case, retrieved, documents),
            "gap": None,
            "cost": {
                "llm_calls": crag["llm_calls"],
                "tokens_in": crag["tokens"]["in"],
                "tokens_out": crag["tokens"]["out"],
                "words_to_generator": words_in(documents),
                "seconds": round(seconds, 6),
            },
            "error": None,
        }

    def _label(self, case: Case, decision: dict[str, Any]) -> str:
        judged = tuple(entry["id"] for entry in _judged(decision))
        return self._dataset.truth(case, RankedList(judged), len(judged))

    def _listed(self, case: Case, decision: dict[str, Any]) -> list[dict[str, Any]]:
        # All of them: with the kept ones first, a beginning would lose what was wrongly discarded.
        kept = {entry["id"] for entry in decision["kept"]}
        known = ((entry, self._dataset.passages.get(entry["id"])) for entry in _judged(decision))
        return [
            {
                "id": entry["id"],
                "title": "" if passage is None else passage.title,
                "label": None if passage is None else case.grade(entry["id"]),
                "score": entry["score"],
                "kept": entry["id"] in kept,
            }
            for entry, passage in known
        ]


def _judged(decision: dict[str, Any]) -> Sequence[dict[str, Any]]:
    """List what a decision was about, the kept documents first: the record does not tell the order any more."""
    return [*decision["kept"], *decision["discarded"]]


def check_whole(dataset: Dataset) -> None:
    """
    Refuse to retrieve from a part of a store: among what was found for the questions, all of it is found again.

    :param dataset: The data.
    :raises ConfigurationError: For a corpus that `crag collect` wrote.
    """
    if dataset.statistics is not None:
        msg = (
            f"the corpus in {str(dataset.folder)!r} is what `crag collect` found in a store, not all of that store, so "
            "nothing can be retrieved from it; leave out --lists, or take --lists fixed: the lists are in the data"
        )
        raise ConfigurationError(msg)


def as_indexed(dataset: Dataset) -> Dataset:
    """
    Give a data set the texts that `crag index` makes of its records: what a pipeline on an index of them judges.

    :param dataset: The data.
    :returns: The same, each text below its title. Labelled sentences are the same ones.
    """
    # By id, so that the order in a file does not decide between documents of one score.
    passages = sorted(dataset.passages.values(), key=lambda passage: passage.id)
    documents = PassageTitler().run(documents=[passage.document() for passage in passages])["documents"]
    rows = zip(passages, documents, strict=True)
    texts = {
        one.id: replace(one, title=title_of(made), text=made.content or "", sentences=_cut(one)) for one, made in rows
    }
    return replace(dataset, passages=texts)


def _cut(passage: Passage) -> tuple[str, ...]:
    """Give its sentences: the title above would be one more, by which others are counted."""
    own = passage.sentences
    return tuple(passage.text[start:end] for start, end in sentences(passage.text)) if own is None else own


def fill(store: Any, dataset: Dataset) -> None:
    """
    Embed the corpus of a data set, and write it into a store.

    :param store: The store.
    :param dataset: The data; see `as_indexed`.
    """
    documents = [passage.document() for passage in dataset.passages.values()]
    for start in range(0, len(documents), _BATCH):
        store.write_documents(StaticDocumentEmbedder().run(documents=documents[start : start + _BATCH])["documents"])
