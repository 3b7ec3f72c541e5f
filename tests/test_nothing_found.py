"""Why a search on Elasticsearch found nothing: what is asked of the server, and what its counts mean."""

from typing import Any

import pytest

from haystack_integrations.crag.elasticsearch.requests import vector_request, words_request
from haystack_integrations.crag.elasticsearch.want import count_request, explanation, is_unexplained

FILTERS = {"field": "meta.year", "operator": "==", "value": 2026}
WORDS, FILTERED = words_request("Who?", "AUTO", None, 3), words_request("Who?", "AUTO", FILTERS, 3)
VECTOR = vector_request([0.1, 0.2], None, None, 3)


def fields(*types: str) -> dict[str, Any]:
    """What a server tells of the field of texts."""
    return {"fields": {"content": {kind: {} for kind in types}}}


@pytest.mark.parametrize(
    ("counted", "told", "body", "wanted"),
    [
        (0, {}, WORDS, {"kind": "index_empty"}),
        (0, {}, FILTERED, {"kind": "filters_leave_none"}),
        (1, {}, WORDS, {}),
        (1, fields("text"), WORDS, {}),
        (1, fields("keyword", "match_only_text"), WORDS, {}),
        (1, fields("annotated_text"), WORDS, {}),
        (1, fields("search_as_you_type"), WORDS, {}),
        (1, fields("keyword"), WORDS, {"status": "failed", "kind": "content_not_searchable"}),
        (1, {}, VECTOR, {"kind": "no_vectors"}),
        (0, {}, VECTOR, {}),
    ],
)
def test_nothing_found_is_explained_by_what_there_is(
    counted: int, told: dict[str, Any], body: dict[str, Any], wanted: dict[str, str]
) -> None:
    """That there is no document at all is told of the search by words alone."""
    assert explanation(counted, told, body) == wanted


def test_one_document_with_a_text_that_passes_the_filters_is_enough_to_count() -> None:
    assert count_request("pages", WORDS) == {
        "index": "pages",
        "query": {"exists": {"field": "content"}},
        "terminate_after": 1,
    }
    assert count_request("pages", FILTERED)["query"] == FILTERED["query"]["bool"]["filter"]
    filtered = vector_request([0.1], None, FILTERS, 3)
    assert count_request("pages", filtered)["query"] == filtered["knn"]["filter"]


def test_a_search_by_vectors_looks_at_as_many_as_it_is_to_give_and_no_more_than_the_server() -> None:
    """Ten times as many where nobody says how many."""
    looked_at = [vector_request([0.1], wide, None, k)["knn"] for wide, k in ((None, 3), (5, 8), (None, 5_000))]
    assert [(one["k"], one["num_candidates"]) for one in looked_at] == [(3, 30), (8, 8), (5_000, 10_000)]


@pytest.mark.parametrize(
    ("found", "status", "wanted"),
    [([], "ok", True), (["page"], "ok", False), ([], "failed", False), ([], "incomplete", False)],
)
def test_only_a_whole_search_without_a_document_is_to_be_explained(found: list[Any], status: str, wanted: bool) -> None:
    """Of another the report says why already, and a second question to a server in trouble would lose that."""
    assert is_unexplained(found, {"status": status}) is wanted
