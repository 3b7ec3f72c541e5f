"""Requests that offer another protocol, as Java's own client and what is built on it do with every request."""

import json
import socket
import time
from http.client import HTTPResponse, parse_headers
from typing import Any, BinaryIO

import pytest
from serving.conftest import KEY, QUESTION

from haystack_integrations.crag.serving import punctual

BODY = json.dumps({"question": QUESTION}).encode()
OFFERS = {
    "h2c": "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAEAAEAAAAIAAAAA\r\n",
    "websocket": "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: aaa\r\n",
}


def asking(offer: str, framing: str = f"Content-Length: {len(BODY)}\r\n", more: str = "") -> bytes:
    told = f"Host: localhost\r\nX-API-Key: {KEY}\r\nContent-Type: application/json\r\n"
    return f"POST /corrective_retrieval/run HTTP/1.1\r\n{told}{offer}{framing}{more}\r\n".encode()


def received(stream: BinaryIO) -> tuple[int, bytes]:
    """Read one answer; what is behind it stays in the stream."""
    status = int(stream.readline().split()[1])
    return status, stream.read(int(parse_headers(stream)["content-length"]))


def sent(running: Any, *parts: bytes, answers: int = 1) -> list[tuple[int, bytes]]:
    """Send parts, each by itself, and read the answers; afterwards the server says nothing more."""
    with socket.create_connection(("127.0.0.1", running.port), timeout=60) as client:
        for part in parts:
            client.sendall(part)
            time.sleep(0.05)
        stream = client.makefile("rb")
        told = [received(stream) for _ in range(answers)]
        client.settimeout(0.2)
        with pytest.raises(TimeoutError):
            client.recv(1)
    return told


@pytest.mark.parametrize("offer", OFFERS)
@pytest.mark.parametrize("pieces", ["one", "two", "chunks", "bytes"])
def test_a_request_that_offers_another_protocol_is_answered_like_any_other(
    answering: Any, offer: str, pieces: str
) -> None:
    """The body is read however it comes, and the connection goes on: nothing of it is taken for the next request."""
    head, chunked = asking(OFFERS[offer]), asking(OFFERS[offer], "Transfer-Encoding: chunked\r\n")
    parts = {
        "one": [head + BODY],
        "two": [head, BODY],
        "chunks": [chunked, b"%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY)],
        "bytes": [*(bytes([sign]) for sign in head[-8:])],
    }[pieces]
    if pieces == "bytes":
        parts = [head[:-8], *parts, BODY]
    (first, body), (second, again) = sent(answering, *parts, *parts, answers=2)
    assert (first, second) == (200, 200), (body, again)
    assert json.loads(body)["result"]["evidence"][0]["source"] == "emma.md"


def test_a_body_behind_an_offer_is_never_a_request(answering: Any) -> None:
    """One answer for one request, whatever stands in the body; behind a proxy a second would go to somebody else."""
    hidden = f"GET /v1/models HTTP/1.1\r\nHost: localhost\r\nX-API-Key: {KEY}\r\n\r\n".encode()
    head = asking(OFFERS["h2c"], f"Content-Length: {len(hidden)}\r\n")
    for parts in ([head + hidden], [head, hidden]):
        assert [status for status, _ in sent(answering, *parts)] == [400]


def test_many_offers_that_come_at_once_are_answered_one_by_one(answering: Any) -> None:
    one = f"GET /health/live HTTP/1.1\r\nHost: localhost\r\n{OFFERS['h2c']}\r\n".encode()
    assert sent(answering, one * 500, answers=500) == [(200, b'{"status":"live"}')] * 500


def test_an_offer_needs_a_key_and_has_limits_too(answering: Any) -> None:
    without = asking(OFFERS["h2c"]).replace(KEY.encode(), b"another") + BODY
    long = asking(OFFERS["h2c"], "Content-Length: 100000\r\n")
    assert [sent(answering, part)[0][0] for part in (without, long)] == [401, 413]


def test_an_offer_does_not_hold_a_connection(serve: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither before nor after the end of its headers."""
    monkeypatch.setattr(punctual, "_HEAD_SECONDS", 0.5)
    monkeypatch.setattr(punctual, "_BODY_SECONDS", 0.5)
    running = serve(read_seconds=0.2)
    for part in (asking(OFFERS["h2c"])[:-2], asking(OFFERS["h2c"])):
        with socket.create_connection(("127.0.0.1", running.port), timeout=60) as client:
            client.sendall(part)
            while client.recv(65_536):
                pass


def test_a_tunnel_is_no_request(answering: Any) -> None:
    with socket.create_connection(("127.0.0.1", answering.port), timeout=60) as client:
        client.sendall(f"CONNECT /v1/models HTTP/1.1\r\nHost: localhost\r\nX-API-Key: {KEY}\r\n\r\n".encode())
        answer = HTTPResponse(client)
        answer.begin()
        assert answer.status == 400
