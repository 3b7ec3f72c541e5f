"""What a search is asked for."""

import asyncio
import json
from types import SimpleNamespace
from typing import Any

import pytest
from haystack import Document, component
from haystack.document_stores.types import FilterPolicy
from haystack.errors import FilterError

from haystack_integrations.crag.components.reporting_retriever import ReportingRetriever
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.searches import Limit, failed, filters_for, wanted

YEAR, TOPIC = ({"field": f"meta.{name}", "operator": "==", "value": 1} for name in ("year", "topic"))


@pytest.mark.parametrize(
    ("policy", "own", "of_run", "holds"),
    [
        ("replace", YEAR, TOPIC, TOPIC),
        ("replace", YEAR, None, YEAR),
        ("replace", YEAR, {}, YEAR),
        ("merge", YEAR, TOPIC, {"operator": "AND", "conditions": [YEAR, TOPIC]}),
        ("merge", YEAR, {}, YEAR),
        ("merge", None, TOPIC, TOPIC),
        ("merge", None, None, None),
    ],
)
def test_filters_of_a_run_take_the_place_of_a_retrievers_own_or_hold_beside_them(
    policy: str, own: Any, of_run: Any, holds: Any
) -> None:
    """Empty ones of a run are none: they would open what the retriever's close."""
    assert filters_for(FilterPolicy.from_str(policy), own, of_run) == holds


@pytest.mark.parametrize(("own", "of_run", "number"), [(10, 3, 3), (10, None, 10), ("all", None, None), (None, 3, 3)])
def test_a_search_is_told_with_the_number_that_it_was_asked_for(own: Any, of_run: int | None, number: Any) -> None:
    assert wanted(SimpleNamespace(top_k=own), of_run) == number


def test_a_retriever_without_a_number_is_asked_for_none() -> None:
    assert wanted(object(), None) is None


class ProgrammingError(Exception):
    """As a driver of a database names a table that is not there."""


@pytest.mark.parametrize(
    "kind",
    [
        *(ConfigurationError, FilterError, AssertionError, AttributeError, ImportError, NameError),
        *(NotImplementedError, TypeError, ValueError, ProgrammingError),
    ],
)
def test_a_mistake_that_somebody_has_to_put_right_is_raised(kind: type[Exception]) -> None:
    """Told as a failed search it would be hard to find; also what another error was made of."""
    outer = RuntimeError("outer")
    outer.__cause__ = kind("x")
    for error in (kind("x"), outer):
        with pytest.raises(type(error)):
            failed(error, Limit(1.0, "timeout"))


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (TimeoutError(), "deadline"),
        (ConnectionRefusedError(), "ConnectionRefusedError"),
        (json.JSONDecodeError("x", "", 0), "JSONDecodeError"),
    ],
)
def test_any_other_error_is_a_search_that_failed(error: Exception, kind: str) -> None:
    """By a word: its text may hold a question or a key. A reply that is no JSON is no wrong argument."""
    assert failed(error, Limit(1.0, "deadline")).result() == {
        "documents": [],
        "report": {"status": "failed", "kind": kind},
    }


@component
class _Gone:
    @component.output_types(documents=list[Document])
    def run(self, query: str) -> dict[str, Any]:
        return {"documents": None}


@component
class _Misnamed:
    @component.output_types(documents=list[Document])
    def run(self, query: str) -> dict[str, Any]:
        return {"docs": []}


def test_a_retriever_that_names_its_output_otherwise_is_a_mistake_and_no_failed_search() -> None:
    """It gives no document to any question; the log said `KeyError`, and the other search answered alone."""
    retriever, said = ReportingRetriever(_Misnamed()), r"_Misnamed gave \['docs'\], wanted documents"
    with pytest.raises(ConfigurationError, match=said):
        retriever.run(query="Who wrote Emma?")
    with pytest.raises(ConfigurationError, match=said):
        asyncio.run(retriever.run_async(query="Who wrote Emma?"))


def test_a_retriever_that_gives_no_list_at_all_is_a_search_that_failed() -> None:
    """Some give `None` where their service did not answer; it ended the whole run in the part that reads the list."""
    told = {"documents": [], "report": {"status": "failed", "kind": "no_documents"}}
    assert ReportingRetriever(_Gone()).run(query="Who wrote Emma?") == told
    assert asyncio.run(ReportingRetriever(_Gone()).run_async(query="Who wrote Emma?")) == told
