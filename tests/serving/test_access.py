"""Keys: which requests need one, how several hold at once, and how they are exchanged."""

import logging
import os
from pathlib import Path
from typing import Any

import pytest
from fastapi.routing import iter_route_contexts
from serving.conftest import BEARER, KEY, QUESTION
from serving.failing import BrokenStore

from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.serving.choice import query_pipelines
from haystack_integrations.crag.serving.keys import Keys
from haystack_integrations.crag.serving.settings import read_settings

OPEN = {"/health/live", "/health/ready"}


def routes(app: Any) -> set[str]:
    return {str(route.path) for route in iter_route_contexts(app.routes)}


def test_the_routes_are_these_and_none_deploys_code(answering: Any) -> None:
    """Whatever Hayhooks adds: a new route of it does not get in here unseen."""
    fixed = {
        "/v1/chat/completions",
        "/v1/models",
        "/v1/models/{name}",
        "/mcp",
        "/mcp/",
        "/metrics",
        "/docs",
        "/openapi.json",
    }
    assert routes(answering.app) == fixed | {"/indexing/run", *OPEN} | {f"/{name}/run" for name in query_pipelines()}


def test_every_route_but_health_answers_401_without_a_key(answering: Any) -> None:
    """Whatever the method, and also where there is no route."""
    others = {"/deploy_files", "/status", "/no-such-route", "//health/live", "/health/live/"}
    with answering.client(headers={}) as client:
        for path in {*routes(answering.app), *others}:
            for method in ("GET", "POST", "DELETE", "OPTIONS", "HEAD"):
                response = client.request(method, path)
                if path in OPEN:
                    assert response.status_code == (200 if method in ("GET", "HEAD") else 405), (method, path)
                    continue
                assert response.status_code == 401, (method, path)
                assert response.headers["WWW-Authenticate"] == "Bearer"
                if method != "HEAD":
                    error = response.json()["error"]
                    assert "unauthorized" in (error, *(error.values() if isinstance(error, dict) else ()))
                    protocol = {"jsonrpc": "2.0", "id": None} if path in ("/mcp", "/mcp/") else {}
                    assert response.json() == {**protocol, "error": error, "trace_id": None}


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": "Bearer wrong"},
        {"Authorization": KEY},
        {"X-API-Key": "wrong"},
        {"X-API-Key": KEY + "x"},
        {"Authorization": "Bearer wrong", "X-API-Key": "wrong"},
        {"Authorization": "Bearer", "X-API-Key": ""},
    ],
)
def test_a_key_that_is_not_right_opens_nothing(answering: Any, headers: dict[str, str]) -> None:
    with answering.client(headers=headers) as client:
        assert client.get("/v1/models").status_code == 401
        assert client.post("/corrective_rag/run", json={"question": QUESTION}).status_code == 401


@pytest.mark.parametrize(
    "headers",
    [
        BEARER,
        {"X-API-Key": KEY},
        {"authorization": f"bearer   {KEY}"},
        {"Authorization": "Bearer of-a-proxy", "X-API-Key": KEY},
        {"Authorization": "Bearer", "X-API-Key": KEY},
        {**BEARER, "X-API-Key": "of-another-server"},
    ],
)
def test_a_key_opens_by_either_header(answering: Any, headers: dict[str, str]) -> None:
    """Also beside another's: a login in front sends its own Bearer along, and OpenAI's clients send an empty one."""
    with answering.client(headers=headers) as client:
        assert client.get("/v1/models").status_code == 200
        assert client.get("/openapi.json").status_code == 200
        assert client.get("/docs").status_code == 200
        assert client.get("/metrics").status_code == 200


def test_health_tells_nothing_else(answering: Any) -> None:
    with answering.client(headers={}) as client:
        assert client.get("/health/live").json() == {"status": "live"}
        assert client.get("/health/ready").json() == {"status": "ready"}


def test_health_is_told_to_a_load_balancer_that_asks_by_head(answering: Any, serve: Any) -> None:
    """The status, and no body."""
    broken = serve(store=BrokenStore(index="test_broken_store"))
    for running, statuses in ((answering, (200, 200)), (broken, (200, 503))):
        with running.client(headers={}) as client:
            for path, status in zip(("/health/live", "/health/ready"), statuses, strict=True):
                response = client.head(path)
                assert (response.status_code, response.content) == (status, b"")
                assert client.get(path).status_code == status  # on the same connection
                refused = client.post(path)
                assert (refused.status_code, set(refused.headers["Allow"].split(", "))) == (405, {"GET", "HEAD"})
    assert {method for path in OPEN for method in answering.app.openapi()["paths"][path]} == {"get"}


def test_metrics_can_be_opened_for_a_scraper(serve: Any) -> None:
    running = serve(metrics_open=True)
    with running.client(headers={}) as client:
        assert client.get("/metrics").status_code == 200
        assert client.get("/v1/models").status_code == 401


@pytest.mark.parametrize("version", ["9e999", "x", "1..0"])
def test_metrics_are_given_whatever_version_of_them_is_asked_for(answering: Any, version: str) -> None:
    """Prometheus' client stumbles over one that is none."""
    with answering.client() as client:
        response = client.get("/metrics", headers={"Accept": f"application/openmetrics-text; version={version}"})
    assert response.status_code == 200
    assert response.headers["content-type"].startswith("text/plain")


def test_keys_are_exchanged_in_their_file_without_a_restart(serve: Any, tmp_path: Path) -> None:
    """Old and new hold together; a key that is taken out is refused at the next request."""
    file = tmp_path / "keys"
    file.write_text("# of the first client\nold-key\n\n")
    running = serve(api_keys="", api_keys_file=file)

    def status(key: str) -> int:
        with running.client(headers={"X-API-Key": key}) as client:
            return int(client.get("/v1/models").status_code)

    assert (status("old-key"), status("new-key"), status("# of the first client")) == (200, 401, 401)
    file.write_text("old-key\n  # of the second\nnew-key\n")
    assert (status("old-key"), status("new-key")) == (200, 200)
    file.write_text("new-key\n")
    assert (status("old-key"), status("new-key")) == (401, 200)
    file.unlink()
    assert (status("new-key"), status("")) == (401, 401)


def test_a_file_of_keys_that_is_emptied_locks_its_clients_out_and_the_log_warns(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """An editor or a deployment may have emptied it by mistake."""
    file = tmp_path / "keys"
    file.write_text("key\n")
    keys = Keys([], file)
    caplog.clear()
    file.write_text("")
    assert not keys.accept("key")
    assert [(one.levelname, "holds none now" in one.getMessage()) for one in caplog.records] == [("WARNING", True)]


def test_keys_are_exchanged_by_a_copy_that_keeps_the_time_and_the_size_of_the_file(tmp_path: Path) -> None:
    """As `cp -p` makes it of files whose times a build has set to one and the same: a revoked key went on to open."""
    file = tmp_path / "keys"
    file.write_text("old-key\n")
    keys, told = Keys([], file), file.stat()
    file.write_text("new-key\n")
    os.utime(file, ns=(told.st_atime_ns, told.st_mtime_ns))
    assert (file.stat().st_mtime_ns, file.stat().st_size) == (told.st_mtime_ns, told.st_size)
    assert (keys.accept("old-key"), keys.accept("new-key")) == (False, True)


def test_a_key_in_a_file_may_hold_any_sign(tmp_path: Path) -> None:
    """Only what begins a line is a comment: the first characters of a key open nothing. Some editors write a BOM."""
    file = tmp_path / "keys"
    file.write_text("first#key\n#second\n", "utf-8-sig")
    keys = Keys([], file)
    assert keys.accept("first#key")
    assert not any(keys.accept(key) for key in ("first", "#second", "second", "\ufefffirst#key"))


def test_a_file_of_keys_that_vanishes_is_told_once_and_is_read_when_it_is_back(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Else every client would be refused, and the operator would not see why."""
    file = tmp_path / "keys"
    file.write_text("first-key\n")
    keys = Keys([], file)
    file.unlink()
    with caplog.at_level(logging.ERROR):
        assert not any(keys.accept("first-key") for _ in range(3))
    assert [record.message for record in caplog.records] == ["API keys cannot be read: FileNotFoundError"]
    file.write_text("first-key\n")
    assert keys.accept("first-key")


@pytest.mark.parametrize("key", ["Schlüssel", "鍵-1", "voilà"])
def test_a_key_need_not_be_ascii(serve: Any, key: str) -> None:
    """Clients send its bytes as they write all text, in UTF-8; other bytes open nothing, and break nothing."""
    running = serve(api_keys=key)
    for name, prefix in (("Authorization", b"Bearer "), ("X-API-Key", b"")):
        statuses = []
        for sent in (key.encode(), key.encode()[:-1], b"\xff" + key.encode()):
            with running.client(headers=[(name.encode(), prefix + sent)]) as client:
                statuses.append(client.get("/v1/models").status_code)
        assert statuses == [200, 401, 401]


def test_an_empty_key_is_no_key() -> None:
    keys = Keys(["", "  ", "right"])
    assert keys.accept("right")
    assert not any(keys.accept(key) for key in ("", " ", "righ", "right ", "RIGHT", "\udcff"))


@pytest.mark.parametrize(
    ("content", "trouble"),
    [
        (None, "FileNotFoundError"),
        ("", "none stands in it"),
        ("# only a comment\n", "none stands in it"),
        (b"\xff\xfek\x00", "UnicodeDecodeError"),
    ],
)
def test_a_file_without_a_key_ends_the_start_and_why_is_told(tmp_path: Path, content: Any, trouble: str) -> None:
    """A file that is full of keys, and not for this user or not in UTF-8, is not called empty."""
    file = tmp_path / "keys"
    if content is not None:
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ConfigurationError, match=rf"\({trouble}\), wanted one a line"):
        Keys([], file)
    with pytest.raises(ConfigurationError, match="IsADirectoryError"):
        Keys([], tmp_path)


def test_a_file_of_keys_may_come_from_windows(tmp_path: Path) -> None:
    file = tmp_path / "keys"
    file.write_bytes(b"# two\r\nfirst-key\r\n\r\nsecond-key\r\n")
    keys = Keys([], file)
    assert [keys.accept(key) for key in ("first-key", "second-key", "", "\r")] == [True, True, False, False]


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org"])
def test_a_host_that_others_reach_needs_keys(host: str) -> None:
    with pytest.raises(ConfigurationError, match="CRAG_SERVE_API_KEYS"):
        read_settings(host=host)
    assert read_settings(host=host, api_keys="a-key").has_keys


@pytest.mark.parametrize("value", [" , ", ",", "  "])
def test_a_setting_for_keys_without_a_key_is_refused(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server would be open; only nothing at all is no setting."""
    monkeypatch.setenv("CRAG_SERVE_API_KEYS", value)
    with pytest.raises(ConfigurationError, match="CRAG_SERVE_API_KEYS: got no key in it"):
        read_settings()
    monkeypatch.setenv("CRAG_SERVE_API_KEYS", "")
    assert not read_settings().has_keys


@pytest.mark.parametrize("given", [("",), [" ", "\n"]])
def test_a_list_of_keys_without_a_key_is_refused(given: Any) -> None:
    """In code: the settings called it keys, and the gate was open to whoever names this machine in `Host`."""
    with pytest.raises(ConfigurationError, match="CRAG_SERVE_API_KEYS: got no key in it"):
        read_settings(host="0.0.0.0", api_keys=given)
    assert read_settings(host="0.0.0.0", api_keys=[*given, "a-key"]).has_keys
    assert not read_settings(api_keys=()).has_keys


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "[::1]", "localhost"])
def test_loopback_needs_none(host: str) -> None:
    assert not read_settings(host=host).has_keys
    assert read_settings(host=host).host == host.strip("[]")


def test_without_keys_only_this_machines_names_are_answered(serve: Any) -> None:
    """A web page whose name points to 127.0.0.1 sends its own name."""
    running = serve(api_keys="")
    with running.client(headers={}) as client:
        assert client.get("/v1/models").status_code == 200
        for host in (f"localhost:{running.port}", "LOCALHOST", "127.0.0.2:1416", "[::1]:1416", "[::1]"):
            assert client.get("/v1/models", headers={"Host": host}).status_code == 200, host
        for host in ("[::1]evil", "[::1", "127.0.0.1.evil.example", "localhost@evil.example", "evil.example:localhost"):
            assert client.get("/v1/models", headers={"Host": host}).status_code == 403, host
        refused = client.post(
            "/corrective_retrieval/run", json={"question": QUESTION}, headers={"Host": "evil.example"}
        )
    assert (refused.status_code, refused.json()["error"]) == (403, "forbidden_host")


def test_without_keys_no_foreign_web_page_can_send_anything(serve: Any) -> None:
    """A browser sends a form with files for any page, without asking first; only the answer would be kept from it."""
    running = serve(api_keys="", uploads=True, cors_origins="https://app.example")

    def status(origin: str | None) -> int:
        headers = {} if origin is None else {"Origin": origin}
        with running.client(headers=headers) as client:
            return int(client.post("/indexing/run", files={"files": ("a.md", b"Bees make honey.")}).status_code)

    own = (None, "https://app.example", f"http://127.0.0.1:{running.port}", "http://localhost:3000", "http://[::1]")
    foreign = ("https://evil.example", "null", "", "https://app.example.evil.example", "http://localhost@evil.example")
    assert [status(origin) for origin in own] == [200] * len(own)
    assert [status(origin) for origin in foreign] == [403] * len(foreign)
    with running.client(headers={"Origin": "https://evil.example"}) as client:
        assert client.get("/v1/models").json()["error"]["code"] == "forbidden_origin"


def test_with_a_key_it_does_not_matter_by_which_name_or_page_the_server_is_called(answering: Any) -> None:
    """No page knows it by itself; whether it may read the answer is its browser's to decide."""
    with answering.client() as client:
        for headers in ({"Origin": "https://evil.example"}, {"Host": "crag.example.org"}, {"Host": "10.1.2.3:1416"}):
            assert client.get("/v1/models", headers=headers).status_code == 200, headers


def test_clients_in_web_pages_may_send_headers_of_their_own(serve: Any) -> None:
    """OpenAI's says which system it runs on, MCP's which version it speaks; a browser asks for each of them first."""
    asking = {"Origin": "https://app.example", "Access-Control-Request-Method": "POST"}
    wanted = "authorization,content-type,mcp-protocol-version,x-stainless-os,x-stainless-retry-count"
    with serve(cors_origins="https://app.example").client(headers={}) as client:
        for path in ("/mcp", "/v1/chat/completions"):
            asked = client.options(path, headers={**asking, "Access-Control-Request-Headers": wanted})
            assert asked.status_code == 200
            allowed = asked.headers["access-control-allow-headers"]
            assert {name.strip().lower() for name in allowed.split(",")} >= set(wanted.split(","))


def test_an_allowed_page_of_the_internet_may_call_a_server_in_ones_own_network(serve: Any) -> None:
    """Chrome asks for that besides, of a front end somewhere that calls a server here; it was refused with a 400."""
    asking = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Private-Network": "true"}
    with serve(cors_origins="https://app.example").client(headers={}) as client:
        allowed, other = (
            client.options("/v1/chat/completions", headers={**asking, "Origin": f"https://{name}.example"})
            for name in ("app", "evil")
        )
    assert (allowed.status_code, allowed.headers["access-control-allow-private-network"]) == (200, "true")
    assert (other.status_code, "access-control-allow-origin" in other.headers) == (400, False)


def test_web_pages_of_other_origins_may_call_only_when_named(serve: Any, answering: Any) -> None:
    """No origin by default; a browser then shows nothing of an answer."""
    asking = {"Origin": "https://app.example", "Access-Control-Request-Method": "POST"}
    with answering.client() as client:
        assert "access-control-allow-origin" not in client.get("/v1/models", headers=asking).headers
    running = serve(cors_origins="https://app.example, https://other.example")
    with running.client(headers={}) as client:
        allowed = client.options("/corrective_retrieval/run", headers=asking)
        other = client.options("/corrective_retrieval/run", headers={**asking, "Origin": "https://evil.example"})
        # The preflight has no key; the request after it needs one.
        assert client.get("/v1/models", headers={"Origin": "https://app.example"}).status_code == 401
    assert allowed.headers["access-control-allow-origin"] == "https://app.example"
    assert "access-control-allow-origin" not in other.headers


def test_a_web_page_is_told_what_failed_whatever_it_was(serve: Any) -> None:
    """A browser shows a page nothing of an answer without these headers, not even its status."""
    running = serve(cors_origins="https://app.example")

    async def failing() -> None:
        raise RuntimeError("CANARY")

    running.app.add_api_route("/failing", failing, methods=["POST"])
    with running.client() as client:
        told = client.post("/failing", headers={"Origin": "https://app.example"})
    assert told.status_code == 500
    assert told.json()["error"] == "internal_error"
    assert told.headers["access-control-allow-origin"] == "https://app.example"
    assert "X-Request-Id" in told.headers


def test_answers_carry_headers_that_browsers_heed(answering: Any) -> None:
    with answering.client() as client:
        headers = client.get("/v1/models").headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cache-Control"] == "no-store"
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert "server" not in headers
