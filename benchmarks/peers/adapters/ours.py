"""
The shipped pipelines of this package, loaded by name as a user loads them.

Replaced are retrieval (`bm25=` asks the world, `dense=` finds nothing) and, where a pipeline has one, the web search
inside its `WebFallback`. Models are those of the YAML, timeouts and retries included: they find the world by
OPENAI_BASE_URL. `top_k` is k for retriever and joiner; prompts, filters, thresholds and token limits stay as shipped.
`agent_rag` searches vectors in its second pass: here that pass finds nothing new.

What is calibrated is one pipeline for each set, as a user of its documents has one: `calibration` at its scorer, and
document frequencies from a file, since the store that would tell them is the comparison's retriever here.

Where a real model answers, on this machine's processors, seconds of budgets and models are raised (`unhurried`).

The memory of the web search (no query twice in a minute) is off, since each question is asked in several arms.
"""

from inspect import signature
from pathlib import Path
from typing import Any

from haystack import Document, SuperComponent, component
from haystack.core.serialization import import_class_by_name
from worker import PATIENCE, Answer, calibrations, dataset, is_real, search, serve, system, web

from haystack_integrations.crag.components.web_fallback import WebFallback
from haystack_integrations.crag.pipelines import load
from haystack_integrations.crag.pipelines.loader import read

PACKAGES = ("crag-haystack", "haystack-ai", "openai")
CALIBRATED = {"cascade_rag_calibrated": "cascade_rag"}
_ROUTES = {"web": "web", "web_and_refine": "web", "refine": "retry", "expand": "retry"}


def documents_of(found: list[dict[str, Any]]) -> list[Document]:
    """
    Make Haystack's documents, scored by rank as BM25 would leave them: best first.

    :param found: What the world's retriever gave.
    :returns: Documents with its ids and texts.
    """
    return [
        Document(id=one["id"], content=one["text"], meta={"title": one.get("title") or ""}, score=1 / (1 + rank))
        for rank, one in enumerate(found)
    ]


@component
class WorldRetriever:
    """A retriever around the world's /search."""

    @component.output_types(documents=list[Document])
    def run(self, query: str, filters: dict[str, Any] | None = None, top_k: int = 10) -> dict[str, Any]:
        """
        Search.

        :param query: What to search for.
        :param filters: Not used: the questions have none.
        :param top_k: Most documents.
        :returns: The documents.
        """
        del filters
        return {"documents": documents_of(search(query, top_k))}


@component
class NoVectors:
    """Dense retrieval over an empty store."""

    @component.output_types(documents=list[Document])
    def run(self, query: str, filters: dict[str, Any] | None = None, top_k: int = 10) -> dict[str, Any]:
        """
        Find nothing.

        :param query: Not used.
        :param filters: Not used.
        :param top_k: Not used.
        :returns: No documents.
        """
        del query, filters, top_k
        return {"documents": []}


@component
class WorldWeb:
    """A web search in Haystack's form around the world's /web."""

    def __init__(self, top_k: int = 10) -> None:
        """
        Choose a size.

        :param top_k: Most results.
        """
        self.top_k = top_k

    @component.output_types(documents=list[Document], links=list[str])
    def run(self, query: str) -> dict[str, Any]:
        """
        Search.

        :param query: What to search for.
        :returns: Documents with title and url, and the links alone.
        """
        found = web(query, self.top_k)
        documents = [
            Document(content=one["text"], meta={"title": one.get("title") or "", "url": one["url"]}) for one in found
        ]
        return {"documents": documents, "links": [one["url"] for one in found]}


def scored_by(place: Path) -> dict[str, Any]:
    """
    Choose what a cascade is loaded with to judge by a calibration.

    :param place: The folder of the calibration; without one in it, what ships judges.
    :returns: Settings of its scorer.
    """
    files = {path.stem: str(path) for path in place.glob("*.json")}
    return {"scorer": {"document_store": None, **files}}


def unhurried(name: str) -> dict[str, Any]:
    """
    Choose what a shipped pipeline is loaded with to have time for a model that runs on this machine's processors.

    :param name: Its name.
    :returns: For its components the seconds of budget and models, and of what asks them.
    """
    changed: dict[str, dict[str, Any]] = {}
    for place, one in read(name)["components"].items():
        given = one["init_parameters"]
        if "budget" in given:
            changed[place] = {"budget": {**given["budget"], "seconds": PATIENCE}}
        if "chat_generator" in given:
            model = given["chat_generator"]
            slow = {**model, "init_parameters": {**model["init_parameters"], "timeout": PATIENCE}}
            known = signature(import_class_by_name(one["type"]).__init__).parameters
            limits = {limit: PATIENCE for limit in ("deadline_s", "timeout_s") if limit in known}
            changed[place] = {"chat_generator": slow, **limits}
    return changed


def loaded(name: str, given: dict[str, Any] | None = None, *, takes_its_time: bool = False) -> SuperComponent:
    """
    Load a shipped pipeline on the world.

    :param name: Its name.
    :param given: More that it is loaded with.
    :param takes_its_time: Whether its seconds are those of `unhurried`.
    :returns: The pipeline.
    """
    # The world has the ranked documents of each question as it stands, for all systems the same.
    whole = {"keywords": {"stop_words": []}}
    slow = unhurried(name) if takes_its_time else {}
    parts: dict[str, Any] = {"bm25": WorldRetriever(), "dense": NoVectors(), **whole, **slow, **(given or {})}
    own = read(name)["components"].get("web")
    if own is not None:
        settings = {key: value for key, value in own["init_parameters"].items() if key != "websearch"}
        parts["web"] = WebFallback(WorldWeb(), **{**settings, "query_cooldown_s": 0})
    return load(name, **parts)


def prepare(name: str) -> Answer:
    """
    Build one of the systems.

    :param name: Its name.
    :returns: What answers a question.
    """
    if name not in CALIBRATED:
        return answering(loaded(name, takes_its_time=is_real()))
    of = {
        place.name: answering(loaded(CALIBRATED[name], scored_by(place), takes_its_time=is_real()))
        for place in calibrations()
    }

    def answer(question: str, k: int) -> dict[str, Any]:
        return of[dataset()](question, k)

    return answer


def answering(rag: SuperComponent) -> Answer:
    """
    Ask a pipeline, and read its record.

    :param rag: The pipeline.
    :returns: What answers a question.
    """
    fuse: Any = rag.pipeline.get_component("fuse")

    def answer(question: str, k: int) -> dict[str, Any]:
        fuse.top_k = k
        result = rag.run(query=question, top_k=k)
        record = result["crag"]
        first = record["trail"][0]
        reasons = record["coverage"]["reasons"]
        if any(reason.startswith("retrieval_failed:") for reason in reasons):  # the comparison's own fault
            msg = f"the world could not be searched: {reasons}"
            raise RuntimeError(msg)
        failed = any(reason.startswith("answer_failed:") for reason in reasons)
        answers = [] if failed else result.get("answers") or []  # what stands in a failed answer's place is none
        return {
            "answer": answers[0].data if answers else None,
            "route": route_of(record),
            "verdict": first["verdict"],
            "kept": [entry["id"] for entry in first["kept"]],
        }

    return answer


def route_of(record: dict[str, Any]) -> str:
    """
    Say how a run came to its end: no answer, the last action, or the correction that led to it.

    :param record: The `crag` record.
    :returns: `abstain` also where the record says that the model declined to answer, `web`, `retry`, or `generate` when
        nothing was corrected.
    """
    is_over = record["action"] == "abstain" or record["answer"]["status"] == "declined"
    return "abstain" if is_over else _ROUTES.get(record["strategy"], "generate")


if __name__ == "__main__":
    serve(prepare(system()), PACKAGES)
