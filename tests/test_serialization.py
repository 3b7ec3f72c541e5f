"""Every component keeps every setting through YAML, with values that are not the defaults."""

import inspect
from typing import Any

import numpy as np
import pytest
from haystack import Pipeline, component
from haystack.components.embedders import MockTextEmbedder
from haystack.components.generators.chat import MockChatGenerator
from haystack.components.rankers import LLMRanker
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever, InMemoryEmbeddingRetriever
from haystack.dataclasses import ChatMessage
from haystack.document_stores.in_memory import InMemoryDocumentStore

from haystack_integrations.components.websearch.ddgs import DDGSWebSearch
from haystack_integrations.components.websearch.tavily import TavilyWebSearch
from haystack_integrations.crag import components
from haystack_integrations.crag.caching import MemoryGradeCache
from haystack_integrations.crag.grading.prompt import DEFAULT_TEMPLATE
from haystack_integrations.crag.web.life_cycle import stored

SETTINGS: dict[str, dict[str, Any]] = {
    "AnswerGenerator": {
        "chat_generator": MockChatGenerator("x"),
        "timeout_s": 7.0,
        "on_failure": "raise",
        "apology": "Sorry.",
    },
    "BatchRelevanceGrader": {
        "chat_generator": MockChatGenerator("x"),
        "rubric": "Judge.",
        "template": DEFAULT_TEMPLATE + " ",
        "scale": 10.0,
        "reasons": True,
        "max_documents": 3,
        "max_chars_per_document": 99,
        "max_prompt_tokens": 500,
        "max_llm_calls": 7,
        "concurrency": 2,
        "deadline_s": 3.0,
        "structured_output": True,
        "shuffle": True,
        "canary": True,
        "cache": MemoryGradeCache(max_entries=7, tenant="t"),
        "on_failure": "raise",
    },
    "CascadeGate": {"sure": 0.9, "low": 0.1, "high": 0.8},
    "CragRouter": {
        "preset": "aggressive",
        "upper": 0.9,
        "lower": 0.2,
        "strict": ["upper"],
        "enough_documents": 3,
        "keep_good": True,
        "keep_beside": 0.05,
        "second_opinion": 0.4,
        "clear_lead": 1.3,
        "filter_threshold": 0.1,
        "aggregate": "max",
        "aggregate_over": "all",
        "variance_rule": True,
        "on_ambiguous": ["refine", "abstain"],
        "on_incorrect": "web",
        "on_ungraded": "refine",
        "on_limit": "abstain",
        "max_iterations": 7,
        "max_evidence": 4,
        "mode": "observe",
        "abstention": "No.",
        "explain_abstention": False,
    },
    "EvidenceJoiner": {
        "weights": {"a": 1.0, "b": 0.5},
        "fusion": "score",
        "rrf_k": 3,
        "top_k": 4,
        "similarity": {"b": "half_cosine"},
        "max_tokens": 100,
        "kept_weight": 2.0,
    },
    "EvidencePromptBuilder": {"system": "Be brief.", "template": "{{ question }} {{ passages }}"},
    "FollowUpRewriter": {
        "chat_generator": MockChatGenerator("x"),
        "system": "Write it out.",
        "max_messages": 2,
        "read_answers": False,
        "timeout_s": 3.0,
    },
    "CsvToMarkdown": {},
    "DocxToMarkdown": {},
    "HtmlToMarkdown": {},
    "HyphenJoiner": {},
    "PassageTitler": {},
    "PdfToMarkdown": {},
    "PptxToMarkdown": {},
    "XlsxToMarkdown": {},
    "LongPassageSplitter": {"max_tokens": 99},
    "QueryExpander": {
        "mode": "web",
        "chat_generator": MockChatGenerator("x"),
        "n": 5,
        "keep_original": True,
        "synonyms": {"a": ["b"]},
        "max_synonyms_per_term": 1,
        "strategies": [{"name": "x", "weights": {"a": 1.0}, "expand": True}],
        "template": "{{ question }}",
        "timeout_s": 3.0,
    },
    "QuestionGuard": {
        "max_characters": 10,
        "budget": {"seconds": 3},
        "strategy": {"name": "x", "weights": {"a": 1.0}},
    },
    "RankerGrader": {
        "ranker": LLMRanker(chat_generator=MockChatGenerator("x")),
        "scale": "logit",
        "slope": 2.0,
        "middle": -1.0,
        "deadline_s": 3.0,
    },
    "RecordBuilder": {"abstention": "Nothing there."},
    "ReportingRetriever": {"retriever": InMemoryBM25Retriever(InMemoryDocumentStore()), "timeout_s": 3.0},
    "ReportingTextEmbeddingRetriever": {
        "retriever": InMemoryEmbeddingRetriever(InMemoryDocumentStore()),
        "text_embedder": MockTextEmbedder(),
        "timeout_s": 3.0,
    },
    "RulePrefilter": {
        "rules": ["few_context"],
        "max_items": 5,
        "vector_score": 0.5,
        "metadata_rules": {"x": {"field": "meta.a", "operator": "==", "value": 1}},
    },
    "HeuristicGrader": {
        "calibration": "somewhere.json",
        "statistics": "somewhere.json.gz",
        "document_store": InMemoryDocumentStore(index="somewhere"),
        "model": "somewhere",
        "title_field": "headline",
        "min_tokens": 7,
    },
    "SearXNGWebSearch": {
        "url": "http://127.0.0.1:8888",
        "top_k": 3,
        "categories": ["news"],
        "engines": ["local"],
        "language": "de",
        "time_range": "week",
        "safe_search": 2,
        "timeout": 1.5,
    },
    "StaticTextEmbedder": {"model": "somewhere"},
    "StaticDocumentEmbedder": {"model": "somewhere", "meta_fields_to_embed": ["title"], "embedding_separator": " "},
    "StopWordRemover": {"stop_words": ["the", "of"], "document_store": InMemoryDocumentStore(index="words")},
    "StripRefiner": {
        "granularity": "window",
        "window": 2,
        "scorer": "llm",
        "model": "somewhere",
        "ranker": LLMRanker(chat_generator=MockChatGenerator("x")),
        "chat_generator": MockChatGenerator("x"),
        "threshold": None,
        "top_n": 3,
        "max_tokens": 10,
        "on_empty": "drop",
        "max_prompt_tokens": 500,
        "deadline_s": 3.0,
        "calls_beside": 1,
        "title_field": "headline",
    },
    "WebFallback": {
        "websearch": [TavilyWebSearch(top_k=3), DDGSWebSearch(backend="mojeek")],
        "max_results": 3,
        "timeout_s": 2.0,
        "max_retries": 0,
        "hedge_after_s": 0.5,
        "query_cooldown_s": 5.0,
        "next_on_empty": True,
        "allow_domains": ["example.org"],
        "deny_domains": ["bad.example.org"],
        "redact": ["[0-9]{4,}"],
        "read_pages": True,
        "enabled": False,
    },
}


# Settings that exclude one of those above.
ALTERNATIVES: dict[str, dict[str, Any]] = {
    "HeuristicGrader": {"weights": {"keyword": 0.5, "semantic": 0.5}},
    "StripRefiner": {"scorer": "calibrated", "calibration": "somewhere.json", "evidence_share": 0.9},
}


def test_every_public_component_is_covered_here() -> None:
    """A new component cannot be forgotten."""
    assert set(SETTINGS) == set(components.__all__)


@pytest.mark.parametrize(
    ("name", "settings"), [*sorted(SETTINGS.items()), *ALTERNATIVES.items()], ids=lambda value: str(value)[:30]
)
def test_every_setting_survives_yaml(name: str, settings: dict[str, Any]) -> None:
    """No private copy of a parameter, no default in its place."""
    cls = getattr(components, name)
    pipeline = Pipeline()
    pipeline.add_component("part", cls(**settings))
    again = Pipeline.loads(pipeline.dumps())
    part = again.get_component("part")
    for parameter, value in settings.items():
        kept = getattr(part, parameter)
        # An object of its own is the same when it writes the same down; Haystack stores no list of components.
        if parameter == "websearch":
            kept, value = stored(kept), stored(value)  # noqa: PLW2901
        same = kept.to_dict() == value.to_dict() if hasattr(value, "to_dict") else kept == value
        assert same, parameter
    assert again.dumps() == pipeline.dumps()


@pytest.mark.parametrize("name", sorted(SETTINGS))
def test_every_parameter_is_tried_with_another_value_than_its_default(name: str) -> None:
    """Only then does a lost one show."""
    parameters = inspect.signature(getattr(components, name).__init__).parameters
    tried = {**SETTINGS[name], **ALTERNATIVES.get(name, {})}
    for parameter in (p for p in parameters.values() if p.name not in ("self", "args", "kwargs")):
        assert parameter.name in tried
        assert tried[parameter.name] != parameter.default


def numpys(value: Any) -> Any:
    """The same settings as a search for the best ones has them, with NumPy's numbers."""
    if isinstance(value, dict):
        return {name: numpys(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [numpys(inner) for inner in value]
    kind = {int: np.int64, float: np.float64}.get(type(value))
    return value if kind is None else kind(value)


@pytest.mark.parametrize("name", sorted({*SETTINGS} - {"QuestionGuard", "WebFallback"}))
def test_numpys_numbers_are_taken_as_pythons(name: str) -> None:
    """A whole number was refused as none, and with a fraction no pipeline could be written down."""
    written = []
    for settings in (SETTINGS[name], numpys(SETTINGS[name])):
        pipeline = Pipeline()
        pipeline.add_component("part", getattr(components, name)(**settings))
        written.append(pipeline.dumps())
    assert written[0] == written[1]


@component
class OwnModel:
    """A chat generator as a team writes one: without a `to_dict`, which Haystack does not ask for."""

    def __init__(self, address: str) -> None:
        self.address = address

    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage], generation_kwargs: dict[str, Any] | None = None) -> dict[str, Any]:
        """Repeat what was asked, whatever the options."""
        return {"replies": messages[-1:], "meta": generation_kwargs}


@pytest.mark.parametrize("name", sorted(name for name in SETTINGS if "chat_generator" in SETTINGS[name]))
def test_a_chat_generator_without_to_dict_survives_yaml(name: str) -> None:
    """As it does where it stands alone, and in Haystack's own components."""
    pipeline = Pipeline()
    pipeline.add_component("part", getattr(components, name)(**{**SETTINGS[name], "chat_generator": OwnModel("here")}))
    again = Pipeline.loads(pipeline.dumps(), allowed_modules=[__name__])
    assert again.get_component("part").chat_generator.address == "here"
    assert again.dumps() == pipeline.dumps()
