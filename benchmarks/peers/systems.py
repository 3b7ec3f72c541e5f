"""The systems that are compared: where each runs, what it was written from, and what was changed to run it here."""

from dataclasses import asdict, dataclass
from typing import Any, Final

OURS: Final = "ours"
_YAML: Final = "src/haystack_integrations/crag/yaml"
_LANGGRAPH: Final = "https://github.com/langchain-ai/langgraph/blob/main/examples/rag"
_PACKS: Final = "https://github.com/run-llama/llama_index/tree/main/llama-index-packs"
_ON_WORLD: Final = (
    "bm25 is the comparison's retriever, dense finds nothing; top_k of retriever and joiner is k",
    "prompts, filters, thresholds, time limits and token limits as shipped",
)
_WEB: Final = (
    "the web search inside WebFallback is the comparison's",
    "query_cooldown_s is 0, since each question is asked in several arms",
)
_MODEL_FREE: Final = (
    "document frequencies are those of the retrieved documents, as by default",
    "its shipped model was fitted on the open halves of covidqa, scifact, hotpotqa, clapnq, selqa: it knows these sets",
)
_STRIPS: Final = "its shipped sentence model was fitted on the open halves of these sets, too"
_OWN_WORDS: Final = "prompts in our own words with the same meaning; retriever and web search are the comparison's"


@dataclass(frozen=True)
class System:
    """
    One row of the comparison.

    :param name: Its name for the adapter and in the results.
    :param label: Its name for readers.
    :param adapter: Its file in `adapters/`.
    :param source: The documentation it was written from, or the file that is run.
    :param environment: `ours` for the running interpreter, else the stem of a file in `requirements/`.
    :param changed: What differs from that documentation or from the defaults, and why.
    :param answers: Whether it writes an answer; if not, it ends with evidence.
    :param routes: Whether it decides between answering from what was retrieved and something else.
    :param judges: Whether it has a verdict of three classes.
    :param web: Whether it may ask the web.
    :param calibrated: Whether it judges by a calibration on questions of the set that are not asked.
    """

    name: str
    label: str
    adapter: str
    source: str
    environment: str = OURS
    changed: tuple[str, ...] = ()
    answers: bool = True
    routes: bool = True
    judges: bool = False
    web: bool = False
    calibrated: bool = False

    def shown(self) -> dict[str, Any]:
        """
        Give what a result file says about it.

        :returns: Its entries, plain JSON.
        """
        return asdict(self)


def _ours(name: str, label: str, *changed: str, web: bool = False, answers: bool = True) -> System:
    """One of the shipped pipelines that judge."""
    said = (*_ON_WORLD, *(_WEB if web else ()), *changed)
    return System(name, label, "ours.py", f"{_YAML}/{name}.yml", changed=said, answers=answers, judges=True, web=web)


_ALL: Final = (
    _ours("corrective_rag", "corrective_rag"),
    _ours("agent_rag", "agent_rag", "its second pass searches vectors only, so here it finds nothing new"),
    _ours("cascade_rag", "cascade_rag", *_MODEL_FREE),
    System(
        "cascade_rag_calibrated",
        "cascade_rag, calibrated",
        "ours.py",
        f"{_YAML}/cascade_rag.yml",
        changed=(
            *_ON_WORLD,
            "calibration at its scorer is one that crag calibrate makes of questions that are not asked, see above",
            "a pipeline for each set; its document frequencies are those of the set's corpus, as its store would tell",
        ),
        judges=True,
        calibrated=True,
    ),
    _ours("heuristic_rag", "heuristic_rag", *_MODEL_FREE, web=True, answers=False),
    _ours("ranked_rag", "ranked_rag", "grades the first 5 of k, by its design", _STRIPS, web=True),
    _ours("signals_rag", "signals_rag", "no reranker: the other two signals count for more", _STRIPS, web=True),
    _ours("strict_rag", "strict_rag", "its joiner gives k documents on instead of 5", web=True),
    _ours("paper_rag", "paper_rag", *_MODEL_FREE, _STRIPS, web=True),
    System(
        "baseline_rag",
        "plain RAG (baseline_rag)",
        "ours.py",
        f"{_YAML}/baseline_rag.yml",
        changed=_ON_WORLD,
        routes=False,
    ),
    System(
        "haystack_llm_ranker",
        "Haystack: LLMRanker + generator",
        "haystack_stock.py",
        "https://docs.haystack.deepset.ai/docs/llmranker",
        changed=(
            "the retriever is the comparison's",
            "LLMRanker gets the OpenAIChatGenerator with JSON schema that its page shows",
            "since its default generator speaks OpenAI's Responses API, which the comparison's model does not",
        ),
        routes=False,
    ),
    System(
        "haystack_web_fallback",
        "Haystack: web fallback (tutorial 36)",
        "haystack_stock.py",
        "https://haystack.deepset.ai/tutorials/36_building_fallbacks_with_conditional_routing",
        changed=(_OWN_WORDS, "the web search is in the place of SerperDev's, with its default of 10 results"),
        web=True,
    ),
    System(
        "langgraph_crag",
        "LangGraph: corrective RAG",
        "langgraph_crag.py",
        f"{_LANGGRAPH}/langgraph_crag.ipynb",
        "langgraph",
        changed=(
            _OWN_WORDS,
            "the prompt of the answer stands in the adapter, since the example loads it from an online hub",
            "documents reach that prompt as texts, not as printed objects; the model is named gpt-4o-mini",
        ),
        web=True,
    ),
    System(
        "langgraph_adaptive",
        "LangGraph: adaptive RAG",
        "langgraph_adaptive.py",
        f"{_LANGGRAPH}/langgraph_adaptive_rag.ipynb",
        "langgraph",
        changed=(_OWN_WORDS, "recursion limit 25, LangGraph's documented long-standing default"),
        web=True,
    ),
    System(
        "llamaindex_pack",
        "LlamaIndex: corrective RAG pack",
        "llamaindex_pack.py",
        f"{_PACKS}/llama-index-packs-corrective-rag",
        "llamaindex",
        changed=(
            "run by the pack's own workflow class, since its pack class raises outside of a notebook; core 0.12.42",
            "index and Tavily tool in its context are the comparison's; embeddings are a mock, nothing is embedded",
        ),
        web=True,
    ),
)
SYSTEMS: Final = {system.name: system for system in _ALL}
"""All systems by name, ours first."""
