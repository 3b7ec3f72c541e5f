"""What a bulk request's answer means: a document that is at fault, or an index that takes none."""

import pytest
from elastic_transport import ApiResponseMeta, HttpHeaders, NodeConfig
from elasticsearch import ApiError

from haystack_integrations.crag.elasticsearch import reaching
from haystack_integrations.crag.errors import StoreError
from haystack_integrations.crag.pipelines.refusals import refusal


@pytest.mark.parametrize(("status", "error"), [(400, {"type": "document_parsing_exception"}), (413, {"type": "large"})])
def test_a_document_that_is_at_fault_is_refused_alone(status: int, error: dict[str, str]) -> None:
    assert refusal({"status": status, "error": error}, "pages") == error["type"]


def test_a_document_that_was_not_there_to_be_deleted_is_no_refusal() -> None:
    assert refusal({"status": 404}, "pages") is None


@pytest.mark.parametrize(
    ("status", "kind", "way"),
    [
        (403, "cluster_block_exception", "free disk space"),
        (429, "cluster_block_exception", "free disk space"),
        (503, "cluster_block_exception", "look at the server's health"),
        (429, "es_rejected_execution_exception", "give the server time"),
        (404, "index_not_found_exception", "look at the server's health"),
        (503, "unavailable_shards_exception", "look at the server's health"),
    ],
)
def test_an_index_that_takes_nothing_is_an_error_of_the_store(status: int, kind: str, way: str) -> None:
    """No source is named for it, and the run ends instead of failing with each one in turn."""
    with pytest.raises(
        StoreError, match=rf"refuses writes to the index 'pages' \({kind}\); {way}.*, then run again to resume"
    ):
        refusal({"status": status, "error": {"type": kind}}, "pages")


def test_a_key_that_may_not_index_is_told_all_that_indexing_takes() -> None:
    """A server with security on was asked with each set of rights: its `write` does not refresh an index."""
    meta = ApiResponseMeta(403, "1.1", HttpHeaders(), 0.0, NodeConfig("http", "127.0.0.1", 9200))
    error = ApiError("security_exception", meta, {"error": {"type": "security_exception"}})
    assert "to index also `write`, `maintenance` and `create_index`" in reaching.refusal(error, "http://es", "pages")
