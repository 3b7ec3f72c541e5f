"""Every component keeps every setting through YAML, with values that are not the defaults."""

import inspect
from typing import Any

import pytest
from haystack import Pipeline
from haystack.components.generators.chat import MockChatGenerator

from haystack_integrations.crag import components
from haystack_integrations.crag.grading_prompt import DEFAULT_TEMPLATE

SETTINGS: dict[str, dict[str, Any]] = {
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
        "on_failure": "raise",
    },
    "CragRouter": {
        "upper": 0.9,
        "lower": 0.2,
        "filter_threshold": 0.1,
        "aggregate": "max",
        "variance_rule": True,
        "on_ambiguous": ["refine", "abstain"],
        "on_incorrect": "web",
        "on_ungraded": "refine",
        "on_limit": "abstain",
        "max_iterations": 7,
        "max_evidence": 4,
        "mode": "observe",
        "abstention": "No.",
    },
    "EvidenceJoiner": {
        "weights": {"a": 1.0, "b": 0.5},
        "fusion": "score",
        "rrf_k": 3,
        "top_k": 4,
        "similarity": {"b": "half_cosine"},
        "max_tokens": 100,
    },
    "EvidencePromptBuilder": {"system": "Be brief.", "template": "{{ question }} {{ passages }}"},
    "QueryExpander": {
        "mode": "web",
        "synonyms": {"a": ["b"]},
        "max_synonyms_per_term": 1,
        "strategies": [{"name": "x", "weights": {"a": 1.0}, "expand": True}],
    },
    "QuestionGuard": {
        "max_characters": 10,
        "budget": {"seconds": 3},
        "strategy": {"name": "x", "weights": {"a": 1.0}},
    },
    "RecordBuilder": {},
    "RulePrefilter": {
        "rules": ["few_context"],
        "max_items": 5,
        "vector_score": 0.5,
        "metadata_rules": {"x": {"field": "meta.a", "operator": "==", "value": 1}},
    },
    "HeuristicGrader": {
        "weights": {"keyword": 0.5, "semantic": 0.5},
        "model": "somewhere",
        "title_field": "headline",
        "min_tokens": 7,
    },
    "StaticTextEmbedder": {"model": "somewhere"},
    "StaticDocumentEmbedder": {"model": "somewhere", "meta_fields_to_embed": ["title"], "embedding_separator": " "},
    "StripRefiner": {
        "granularity": "window",
        "window": 2,
        "scorer": "lexical",
        "threshold": None,
        "top_n": 3,
        "max_tokens": 10,
        "title_field": "headline",
    },
}

ONLY_ONE_VALUE = {"scorer"}
"""Parameters that accept a single value in this release."""


def test_every_public_component_is_covered_here() -> None:
    """A new component cannot be forgotten."""
    assert set(SETTINGS) == set(components.__all__)


@pytest.mark.parametrize("name", sorted(SETTINGS))
def test_every_setting_survives_yaml(name: str) -> None:
    """No private copy of a parameter, no default in its place."""
    cls = getattr(components, name)
    pipeline = Pipeline()
    pipeline.add_component("part", cls(**SETTINGS[name]))
    again = Pipeline.loads(pipeline.dumps())
    part = again.get_component("part")
    for parameter, value in SETTINGS[name].items():
        kept = getattr(part, parameter)
        assert (type(kept) is type(value)) if parameter == "chat_generator" else (kept == value)
    assert again.dumps() == pipeline.dumps()


@pytest.mark.parametrize("name", sorted(SETTINGS))
def test_every_parameter_is_tried_with_another_value_than_its_default(name: str) -> None:
    """Only then does a lost one show."""
    parameters = inspect.signature(getattr(components, name).__init__).parameters
    tried = SETTINGS[name]
    for parameter in (p for p in parameters.values() if p.name not in ("self", "args", "kwargs")):
        assert parameter.name in tried
        assert tried[parameter.name] != parameter.default or parameter.name in ONLY_ONE_VALUE
