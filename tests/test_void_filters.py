"""Filters that restrict nothing or everything, and that no pipeline takes."""

import asyncio
from typing import Any

import pytest
from haystack import Document
from haystack.errors import FilterError
from makers import fill

from haystack_integrations.crag.filters import is_void
from haystack_integrations.crag.pipelines import CorrectiveRetriever, load

YEAR, TOPIC = ({"field": f"meta.{name}", "operator": "==", "value": 1} for name in ("year", "topic"))


@pytest.mark.parametrize(
    ("filters", "void"),
    [
        ({"operator": "OR", "conditions": []}, True),
        ({"operator": "OR", "conditions": {}}, True),
        ({"operator": "OR", "conditions": {"field": "meta.year"}}, True),
        ({"operator": "AND", "conditions": [YEAR, {"operator": "NOT", "conditions": ()}]}, True),
        ({"operator": "AND", "conditions": [YEAR]}, False),
        ({"operator": "AND", "conditions": (YEAR, TOPIC)}, False),
        ({**YEAR, "conditions": []}, False),
        ([], True),
        ((), True),
        ("", True),
        (False, True),
        ({"operator": "OR", "conditions": [YEAR, []]}, True),
        ({}, False),
        (None, False),
    ],
)
def test_filters_with_a_list_of_nothing_are_void(filters: Any, void: bool) -> None:
    """As a whole or within."""
    assert is_void(filters) is void


@pytest.mark.parametrize("operator", ["AND", "OR", "NOT"])
@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_list_of_nothing_that_may_be_seen_opens_no_store(
    in_memory_store: Any, operator: str, asynchronous: bool
) -> None:
    """To Haystack's store in memory, all of no conditions hold of each document."""
    fill(in_memory_store, [Document(content="A refund is paid within 30 days of the return.", meta={"year": 1})])
    nothing = {"operator": "AND", "conditions": [{"operator": operator, "conditions": []}]}
    for made in (load("corrective_retrieval", store=in_memory_store), CorrectiveRetriever(in_memory_store)):
        asked: dict[str, Any] = {"query": "When is a refund paid?"}
        assert made.run(**asked, filters=YEAR)["documents"]
        with pytest.raises(FilterError, match="empty list of conditions"):
            asyncio.run(made.run_async(**asked, filters=nothing)) if asynchronous else made.run(
                **asked, filters=nothing
            )


@pytest.mark.parametrize("policy", ["replace", "merge"])
@pytest.mark.parametrize("asynchronous", [False, True])
def test_an_empty_list_in_the_place_of_filters_opens_no_store(
    in_memory_store: Any, policy: str, asynchronous: bool
) -> None:
    """As of somebody who is in no team: Python takes it for none, and the whole store was searched."""
    fill(in_memory_store, [Document(content="A refund is paid within 30 days of the return.", meta={"year": 1})])
    nothing: Any = []
    for retriever in (
        load("corrective_retrieval", store=in_memory_store),
        CorrectiveRetriever(in_memory_store, filter_policy=policy),
    ):
        asked: dict[str, Any] = {"query": "When is a refund paid?"}
        assert retriever.run(**asked, filters={})["documents"]
        with pytest.raises(FilterError, match="empty list"):
            asyncio.run(retriever.run_async(**asked, filters=nothing)) if asynchronous else retriever.run(
                **asked, filters=nothing
            )
    own: Any = []
    with pytest.raises(FilterError, match="empty list"):
        CorrectiveRetriever(in_memory_store, filters=own, filter_policy=policy).run(**asked, filters=YEAR)
