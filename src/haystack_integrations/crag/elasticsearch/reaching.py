"""A client for what comes before the first search: it waits no longer than agreed, and its refusals are told."""

import re
from functools import partial
from typing import Any, Final

from elastic_transport import ConnectionTimeout, HttpHeaders, Urllib3HttpNode
from elastic_transport.client_utils import DEFAULT
from elasticsearch import ApiError, Elasticsearch, UnsupportedProductError

from haystack_integrations.crag.deadlines import call_within
from haystack_integrations.crag.interrupts import let_end

# A server that works sends a whole reply in less: the timeout itself counts from byte to byte.
_TIMEOUTS: Final = 3

TAKE_MORE: Final = "let the server, or the proxy before it, take longer requests (nginx: client_max_body_size)"
_WAYS: Final = {
    401: "it wants a key that it knows; pass a valid api_key, or user and password, to the store",
    403: (
        "the key lacks a right, or the index has another name; for questions it wants `read` and `view_index_metadata` "
        "on {index!r}, and `monitor` on the cluster; to index also `write`, `maintenance` and `create_index`"
    ),
    404: "make the index {index!r} by `crag index`, or name another one",
    413: TAKE_MORE,
    429: "it is too busy or short of memory, or a proxy before it lets no more through: wait, then run again",
}
WITHOUT_SHARDS: Final = "GET /_cluster/allocation/explain says why a shard is nowhere: start its node, or free its disk"
_BLOCKED: Final = "cluster_block_exception"
_SEARCH: Final = "search_phase_execution_exception"
_STATES: Final = {  # statuses that read as if a key lacked a right, or a setting were wrong
    "index_closed_exception": "open it (POST /{index}/_open), or name another index",
    _BLOCKED: "lift the block that GET /{index}/_settings/index.blocks.* shows, or name another index",
}
_LOST: Final = (_SEARCH, "no_shard_available_action_exception", "unavailable_shards_exception")

_LIMITS: Final = {"max_result_window": 10_000, "max_terms_count": 65_536}  # a page, or names, of ours may be 10,000
_MISTAKE: Final = 400
_FORBIDDEN: Final = 403
_FAILING: Final = 500
_BEHIND: Final = "a proxy before it does not reach it: start the server, or see the proxy's log"
_BARRED: Final = "a proxy before it does not let that through: see the proxy's rules and its log"
_OF_BOTH: Final = (401, 413, 429)  # told alike, whoever of the two says so
_STARTING: Final = "it is not ready: wait, or see its log, and GET /_cluster/health"
_ELSEWHERE: Final = "a proxy before it sends requests on: pass the address that it names, often the same with https://"
_REDIRECTS: Final = (301, 302, 303, 307, 308)
_TYPE: Final = re.compile(r"\w+")


class PatientNode(Urllib3HttpNode):
    """A node whose requests end also where its server sends a byte now and then."""

    def perform_request(
        self,
        method: str,
        target: str,
        body: bytes | None = None,
        headers: HttpHeaders | None = None,
        request_timeout: Any = DEFAULT,
    ) -> Any:
        """
        Send a request and wait for the whole reply.

        :param method: As for any node.
        :param target: As for any node.
        :param body: As for any node.
        :param headers: As for any node.
        :param request_timeout: Most seconds between two bytes; the whole reply may take three times as long.
        :returns: The reply.
        :raises ConnectionTimeout: When it is not whole by then.
        """
        send = partial(super().perform_request, method, target, body, headers, request_timeout)
        # A store that names no timeout leaves it to the node's own.
        seconds = self.config.request_timeout if request_timeout is DEFAULT else request_timeout
        if not isinstance(seconds, int | float):
            return send()
        try:
            return call_within(_TIMEOUTS * seconds, send)
        except TimeoutError as error:
            let_end(error)
            msg = f"no whole reply within {_TIMEOUTS * seconds:g} s"
            raise ConnectionTimeout(msg) from error


def client_for(hosts: Any, **options: Any) -> Elasticsearch:
    """
    Make a client; nothing is sent yet.

    :param hosts: As the client takes them.
    :param options: Of the client; an own `node_class` is kept.
    :returns: The client.
    """
    return Elasticsearch(hosts, **{"node_class": PatientNode, **options})


def refusal(error: ApiError, where: str = "", index: str = "INDEX") -> str:
    """
    Say what a server answered, and what to do.

    :param error: What the client raised.
    :param where: The server, as ` at ADDRESS`, where it is known.
    :param index: Name of the index, where it is known.
    :returns: The message.
    """
    if isinstance(error, UnsupportedProductError):
        return f"what answers{where} is no Elasticsearch; pass the address of one"
    status, kind, headers = error.status_code, _type_of(error), error.meta.headers
    way = _WAYS.get(status, "check the index {index!r} and the rights of the key, or run `crag doctor`")
    # A search that all shards refuse has the name of one that none takes, and the status of a mistake or a full queue.
    if kind == _SEARCH and status == _MISTAKE:
        if limit := next((name for name in _LIMITS if name in str(error.body)), None):
            way = f"set index.{limit} of {{index!r}} to its default, {_LIMITS[limit]}"
    elif status in _REDIRECTS:
        way = _ELSEWHERE
    elif status >= _FAILING:
        # The server itself names an error, but to a HEAD, whose answer has no body.
        is_own = kind or "x-elastic-product" in headers
        way = WITHOUT_SHARDS if kind in _LOST else _STARTING if is_own else _BEHIND
    elif kind in _STATES:
        way = _STATES[kind]
    elif not kind and status not in _OF_BOTH and (headers.get("content-type") or "").startswith("text/"):
        way = _BARRED
    elif not kind and status == _FORBIDDEN:  # to a HEAD
        way = f"{way}; or {_STATES[_BLOCKED]}"
    return f"Elasticsearch{where} refused: {f'{status} {kind}'.rstrip()}; {way.format(index=index)}"


def _type_of(error: ApiError) -> str:
    """Give the type of an error; none where there is no JSON: to a HEAD, or where a proxy answered by a page."""
    return error.message if isinstance(error.body, dict) and _TYPE.fullmatch(error.message) else ""
