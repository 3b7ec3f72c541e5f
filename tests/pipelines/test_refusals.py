"""What a bulk request's answer means: a document that is at fault, or an index that takes none."""

import pytest
from elastic_transport import ApiResponseMeta, ConnectionTimeout, HttpHeaders, NodeConfig, TlsError
from elasticsearch import ApiError, UnsupportedProductError

from haystack_integrations.crag.elasticsearch import reaching
from haystack_integrations.crag.elasticsearch.tls import no_answer
from haystack_integrations.crag.errors import StoreError
from haystack_integrations.crag.pipelines.refusals import refusal, way_out


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
    assert "to index also `write`, `maintenance` and `create_index`" in said_of(403, "security_exception")


def said_of(status: int, kind: str, body: str = "", error: type[ApiError] = ApiError, **headers: str) -> str:
    """What is told of an answer of the server, by its status, the type of its error, its body and its headers."""
    meta = ApiResponseMeta(status, "1.1", HttpHeaders(headers), 0.0, NodeConfig("http", "127.0.0.1", 9200))
    answer = (
        None
        if kind == "None"
        else kind
        if not kind.islower() or " " in kind
        else {"error": {"type": kind, "reason": body}}
    )
    return reaching.refusal(error(kind, meta, answer), " at http://es", "pages")


SEARCH = "search_phase_execution_exception"


@pytest.mark.parametrize(
    ("status", "kind", "body", "way"),
    [
        (401, "security_exception", "", "it wants a key that it knows"),
        (413, "None", "", "let the server, or the proxy before it, take longer requests"),
        (429, "es_rejected_execution_exception", "", "it is too busy"),
        (404, "index_not_found_exception", "", "make the index 'pages' by `crag index`"),
        (400, "index_closed_exception", "", "open it (POST /pages/_open)"),
        (403, "cluster_block_exception", "", "lift the block that GET /pages/_settings/"),
        (503, SEARCH, "", "GET /_cluster/allocation/explain says why"),
        (503, SEARCH, "max_result_window", "GET /_cluster/allocation/explain says why"),
        (429, SEARCH, "", "it is too busy"),
        (429, SEARCH, "max_result_window", "it is too busy"),
        (400, SEARCH, "", "check the index 'pages'"),
        (400, SEARCH, "[index.max_result_window]", "set index.max_result_window of 'pages' to its default, 10000"),
        (400, SEARCH, "[index.max_terms_count]", "set index.max_terms_count of 'pages' to its default, 65536"),
        (400, "x_content_parse_exception", "max_terms_count", "check the index 'pages'"),
        (502, "<html>Bad Gateway</html>", "", "a proxy before it does not reach it"),
        (504, "None", "", "a proxy before it does not reach it"),
        (503, "process_cluster_event_timeout_exception", "", "it is not ready: wait, or see its log"),
        (503, "master_not_discovered_exception", "", "it is not ready: wait, or see its log"),
        (503, "cluster_block_exception", "", "it is not ready: wait, or see its log"),
        (503, "unavailable_shards_exception", "", "GET /_cluster/allocation/explain says why"),
        (500, "null_pointer_exception", "", "it is not ready: wait, or see its log"),
        (418, "None", "", "check the index 'pages'"),
        (302, "None", "", "a proxy before it sends requests on: pass the address that it names"),
        (308, "None", "", "a proxy before it sends requests on: pass the address that it names"),
    ],
)
def test_what_a_server_or_a_proxy_before_it_refuses_is_told_with_the_way_out(
    status: int, kind: str, body: str, way: str
) -> None:
    """A status alone may mislead: a closed index reads as a wrong request, a blocked one as a want of rights."""
    named = f" {kind}" if kind not in ("None", "<html>Bad Gateway</html>") else ""
    assert said_of(status, kind, body).startswith(f"Elasticsearch at http://es refused: {status}{named}; {way}")


def test_a_refusal_without_a_body_is_perhaps_a_block() -> None:
    """A question begins with a HEAD: an index with a block on its metadata was told as a want of rights alone."""
    assert "the key lacks a right" in said_of(403, "None")
    assert "or lift the block that GET /pages/_settings/" in said_of(403, "None")
    assert "lift the block" not in said_of(403, "security_exception")


@pytest.mark.parametrize(("status", "page"), [(403, "<html>Forbidden</html>"), (403, "Forbidden"), (404, "not found")])
def test_a_proxy_that_lets_nothing_through_is_no_want_of_rights(status: int, page: str) -> None:
    """Its page has no error's type either; the server's own answer to a HEAD says JSON, though it has no body."""
    told = said_of(status, page, **{"Content-Type": "text/html"})
    way = "a proxy before it does not let that through: see the proxy's rules and its log"
    assert told == f"Elasticsearch at http://es refused: {status}; {way}"
    assert "the key lacks a right" in said_of(403, "None", **{"Content-Type": "application/json"})


def test_a_server_that_is_not_ready_is_told_from_a_proxy_that_does_not_reach_it() -> None:
    """To a HEAD it gives no error's type, but its own header: one that still started was told as a proxy's fault."""
    told = said_of(503, "None", **{"X-Elastic-Product": "Elasticsearch"})
    assert (
        told
        == "Elasticsearch at http://es refused: 503; it is not ready: wait, or see its log, and GET /_cluster/health"
    )
    assert "a proxy before it does not reach it" in said_of(503, "None")


def test_a_document_that_lacks_a_routing_is_no_fault_of_its_metadata() -> None:
    assert way_out("routing_missing_exception") == "its mapping wants a routing with each document: use another index"


def test_another_program_that_answers_is_told_as_such() -> None:
    assert "is no Elasticsearch" in said_of(200, "None", error=UnsupportedProductError)


@pytest.mark.parametrize(
    ("kind", "way"),
    [
        (TlsError, "pass the address that its certificate is for"),
        (ConnectionTimeout, "look at its load, disks and master"),
        (ConnectionError, "start the server, or pass the address of one that runs"),
    ],
)
def test_a_server_that_does_not_answer_is_told_with_the_way_out(kind: type[Exception], way: str) -> None:
    """One that runs with a full disk is not to be started."""
    said = no_answer(kind("x"), " at http://es")
    assert said.startswith(f"no answer from Elasticsearch at http://es ({kind.__name__}); {way}")
