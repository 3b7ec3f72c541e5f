"""Searching with SearXNG: a failure is never an empty list, and the question never shows where it does not belong."""

import asyncio
import copy
import json
import logging
import pickle
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from email.utils import formatdate
from types import SimpleNamespace
from typing import Any

import pytest
from haystack import Document, Pipeline
from haystack.core.serialization import component_to_dict
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from haystack_integrations.crag.components.searxng_web_search import SearXNGWebSearch
from haystack_integrations.crag.components.web_fallback import WebFallback
from haystack_integrations.crag.errors import ConfigurationError, WebSearchError
from haystack_integrations.crag.web.searxng import MAX_BYTES

QUESTION = "canaryquestion about Emma"
Door = Callable[..., dict[str, Any]]

RESULT: dict[str, Any] = {
    "url": "https://example.org/emma",
    "title": "Emma",
    "content": "A novel by Jane Austen.",
    "publishedDate": "1815-12-23T00:00:00",
    "pubdate": "1815-12-23 00:00:00",
    "engine": "google",
    "engines": ["google", "bing"],
    "positions": [1, 2],
    "score": 3.0,
    "category": "general",
    "template": "default.html",
    "thumbnail": "",
    "img_src": "",
    "priority": "",
    "parsed_url": ["https", "example.org", "/emma", "", "", ""],
}


@pytest.fixture(params=["run", "run_async"])
def ask(request: pytest.FixtureRequest) -> Door:
    """Ask through both doors."""

    def door(search: SearXNGWebSearch, query: str = QUESTION, **arguments: Any) -> dict[str, Any]:
        if request.param == "run":
            return search.run(query, **arguments)
        return asyncio.run(search.run_async(query, **arguments))

    return door


@pytest.fixture(scope="module")
def threaded() -> Iterator[HTTPServer]:
    with HTTPServer(host="127.0.0.1", threaded=True) as server:
        yield server


@pytest.fixture
def searxng(threaded: HTTPServer) -> Iterator[HTTPServer]:
    """A server of which each test says what it answers."""
    yield threaded
    threaded.clear()


@pytest.fixture(autouse=True)
def no_setting_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CRAG_SEARXNG_URL", raising=False)


def at(server: HTTPServer, **settings: Any) -> SearXNGWebSearch:
    return SearXNGWebSearch(url=server.url_for("/"), **{"timeout": 30.0, **settings})


def reply(*results: Any, unresponsive: Any = ()) -> dict[str, Any]:
    """A reply in SearXNG's dialect."""
    answer = {"answer": "1815", "url": None, "template": "answer/legacy.html", "engine": "x"}
    rest: dict[str, Any] = {"answers": [answer], "corrections": [], "infoboxes": [], "suggestions": []}
    return {"query": QUESTION, "results": list(results), "unresponsive_engines": unresponsive, **rest}


def failure(ask: Door, search: SearXNGWebSearch, query: str = QUESTION) -> WebSearchError:
    """The error of a search; whatever it is, no text of it shows the question."""
    with pytest.raises(WebSearchError) as caught:
        ask(search, query)
    assert "canaryquestion" not in f"{caught.value} {caught.value.__cause__}"
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    return caught.value


@contextmanager
def raw_server(*parts: bytes, pause: float = 0.0, hold: float = 0.0) -> Iterator[tuple[str, list[float]]]:
    """A server that sends these bytes to whoever connects; yields its address and when a client had gone."""
    gone: list[float] = []
    over = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            with suppress(OSError), listening.accept()[0] as client:
                client.recv(65536)
                try:
                    for part in parts:
                        client.sendall(part)
                        time.sleep(pause)
                    over.wait(hold)
                except OSError:
                    gone.append(time.monotonic())

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}", gone
        over.set()
        thread.join(timeout=60)


class TestSearxItself:
    """The real server: Debian's searx, or SearXNG in a container."""

    def test_results_become_documents_in_their_order(self, searx_url: str, ask: Door) -> None:
        found = ask(SearXNGWebSearch(url=searx_url, engines=["local"]), "novels")
        assert [document.meta["rank"] for document in found["documents"]] == [1, 2, 3, 4, 5]
        first = found["documents"][0]
        assert first.content == "Passage 1 of page 1 about novels."
        assert first.score is None
        assert first.meta == {
            "title": "Title 1",
            "url": "https://example.org/6/1/1",
            "link": "https://example.org/6/1/1",
            "engines": ["local"],
            "searxng_score": 1.0,
            "rank": 1,
        }
        assert found["links"] == [f"https://example.org/6/1/{rank}" for rank in (1, 2, 3, 4, 5)]

    def test_a_result_without_a_snippet_keeps_its_title_as_text(self, searx_url: str, ask: Door) -> None:
        assert ask(SearXNGWebSearch(url=searx_url, engines=["local"]), "novels")["documents"][4].content == "Title 5"

    def test_a_date_is_the_one_for_machines(self, searx_url: str, ask: Door) -> None:
        """searx writes `publishedDate` for people: "Mar 1, 2024"."""
        found = ask(SearXNGWebSearch(url=searx_url, engines=["localnews"]), "novels", top_k=1)
        assert found["documents"][0].meta["published"].startswith("2024-03-01T10:00:00")

    @pytest.mark.parametrize(
        ("word", "cause"), [("fault500", "HTTP error"), ("faultbadjson", ""), ("faultslow", "timeout")]
    )
    def test_no_results_because_an_engine_failed_is_an_error_that_names_it(
        self, word: str, cause: str, searx_url: str, ask: Door
    ) -> None:
        error = failure(ask, SearXNGWebSearch(url=searx_url, engines=["local"]), f"canaryquestion {word}")
        assert error.kind == "engines_failed"
        assert f"(local: {cause}" in str(error)

    def test_an_engine_that_refuses_is_an_error(self, searx_url: str) -> None:
        """Afterwards searx leaves it alone for an hour and does not say so; earlier runs may have used some up."""
        for number in range(1, 7):
            search = SearXNGWebSearch(url=searx_url, engines=[f"limited{number}"])
            try:
                assert search.run("fault429")["documents"] == []
            except WebSearchError as error:
                assert error.kind == "engines_failed"
                assert f"(limited{number}: too many requests)" in str(error)
                return
        pytest.fail("every engine is suspended: `python scripts/services.py stop searx`, then run this again")

    def test_nothing_found_is_an_empty_list(self, searx_url: str, ask: Door) -> None:
        empty = ask(SearXNGWebSearch(url=searx_url, engines=["local"]), "faultempty")
        assert empty == {"documents": [], "links": []}

    def test_a_refused_parameter_is_an_error_with_the_server_s_reason(self, searx_url: str, ask: Door) -> None:
        error = failure(ask, SearXNGWebSearch(url=searx_url, language="zz-top-1"))
        assert error.kind == "http_400"
        assert 'Invalid value "zz-top-1"' in str(error)

    def test_a_question_of_signs_only_leaves_the_server_to_others(self, searx_url: str) -> None:
        """Without its orders nothing is left of it, and searx refuses an empty query: that is no fault of searx."""
        fallback = WebFallback(SearXNGWebSearch(url=searx_url, engines=["local"]))
        assert fallback.run(query="???")["status"] == "failed"
        assert fallback.run(query="novels")["status"] == "ok"

    def test_an_engine_that_it_does_not_know_is_an_error(self, searx_url: str, ask: Door) -> None:
        """The server asks its default engines instead, which may be those that were to be avoided."""
        error = failure(ask, SearXNGWebSearch(url=searx_url, engines=["intranet"]))
        assert error.kind == "engines_ignored"
        assert "engines=['intranet'] and silently asked others (local)" in str(error)

    @pytest.mark.parametrize("order", ["!localnews", "!ln", "!!g", "!!", ":de", "<1", "?ln"])
    def test_a_question_cannot_give_the_server_orders(self, order: str, searx_url: str, ask: Door) -> None:
        """`!ln` would change the engines and `!!g` redirect the question to another site."""
        found = ask(SearXNGWebSearch(url=searx_url, engines=["local"]), f"novels {order} by Jane Austen")
        assert {name for document in found["documents"] for name in document.meta["engines"]} == {"local"}
        assert order not in str(found["documents"][0].content)

    def test_the_timeout_holds(self, searx_url: str, ask: Door) -> None:
        started = time.monotonic()
        error = failure(ask, SearXNGWebSearch(url=searx_url, timeout=0.2), "canaryquestion faultslow")
        assert error.kind == "timeout"  # searx itself gives an engine three seconds, and then says that it failed
        assert time.monotonic() - started < 3

    def test_searches_run_beside_each_other(self, searx_url: str) -> None:
        search = SearXNGWebSearch(url=searx_url, engines=["local"])

        async def many() -> list[dict[str, Any]]:
            return await asyncio.gather(*(search.run_async("a" * length) for length in range(1, 9)))

        for length, found in enumerate(asyncio.run(many()), start=1):
            assert found["links"][0] == f"https://example.org/{length}/1/1"

    def test_a_pipeline_that_was_loaded_without_an_address_takes_it_from_the_setting(
        self, searx_url: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        pipeline = Pipeline()
        pipeline.add_component("web", SearXNGWebSearch(top_k=2, engines=["local"]))
        again = Pipeline.loads(pipeline.dumps())
        with pytest.raises(ConfigurationError, match="pass url or set CRAG_SEARXNG_URL"):
            again.get_component("web").run(query="novels")  # as the pipeline's warm-up would say
        monkeypatch.setenv("CRAG_SEARXNG_URL", searx_url)
        assert len(again.run({"web": {"query": "novels"}})["web"]["links"]) == 2
        assert again.dumps() == pipeline.dumps()


class TestWhatSearXNGAnswers:
    def test_its_dialect_is_read(self, searxng: HTTPServer, ask: Door) -> None:
        """ISO dates, answers that are objects, fields that searx does not have."""
        searxng.expect_request("/search").respond_with_json(reply(RESULT))
        found = ask(at(searxng))
        assert found["links"] == ["https://example.org/emma"]
        document = found["documents"][0]
        assert document.content == "A novel by Jane Austen."
        assert document.meta["published"] == "1815-12-23T00:00:00"
        assert document.meta["engines"] == ["google", "bing"]
        assert (document.meta["rank"], document.meta["searxng_score"], document.score) == (1, 3.0, None)

    def test_null_fields_are_absent_ones(self, searxng: HTTPServer, ask: Door) -> None:
        nothing: dict[str, Any] = dict.fromkeys(RESULT)
        searxng.expect_request("/search").respond_with_json(reply({**nothing, "url": "http://a.org", "title": "A"}))
        found = ask(at(searxng))["documents"]
        assert [(document.content, document.meta) for document in found] == [
            ("A", {"title": "A", "url": "http://a.org", "link": "http://a.org", "engines": [], "rank": 1})
        ]

    @pytest.mark.parametrize(
        "broken",
        [
            {"url": None},
            {"url": ""},
            {"url": 7},
            {"url": "javascript:alert(1)"},
            {"url": "magnet:?xt=1"},
            {"title": None, "content": " "},
        ],
        ids=str,
    )
    def test_a_result_without_a_web_address_or_any_text_is_left_out(
        self, broken: dict[str, Any], searxng: HTTPServer, ask: Door
    ) -> None:
        searxng.expect_request("/search").respond_with_json(reply({**RESULT, **broken}, "text", None, RESULT))
        found = ask(at(searxng))
        assert len(found["documents"]) == len(found["links"]) == 1
        assert found["documents"][0].meta["rank"] == 1

    @pytest.mark.parametrize("date", ["Feb 6, 2024", "3 hour(s), 5 minute(s) ago", "", 7, None, "06.02.2024"])
    def test_a_date_for_people_is_no_date(self, date: object, searxng: HTTPServer, ask: Door) -> None:
        """It depends on the server's language."""
        searxng.expect_request("/search").respond_with_json(reply({**RESULT, "publishedDate": date, "pubdate": None}))
        assert "published" not in ask(at(searxng))["documents"][0].meta

    @pytest.mark.parametrize("score", ["1e400", "NaN", '"high"', "true", "null"])
    def test_a_score_that_is_no_number_is_left_out(self, score: str, searxng: HTTPServer, ask: Door) -> None:
        body = json.dumps(reply({**RESULT, "score": 0.5})).replace('"score": 0.5', f'"score": {score}')
        searxng.expect_request("/search").respond_with_data(body)
        assert "searxng_score" not in ask(at(searxng))["documents"][0].meta

    def test_half_a_character_pair_does_not_get_through(self, searxng: HTTPServer, ask: Door) -> None:
        """JSON can hold one, but no store and no model takes it."""
        searxng.expect_request("/search").respond_with_json(reply({**RESULT, "content": "a \ud83d b"}))
        content = ask(at(searxng))["documents"][0].content
        assert content is not None
        assert content.encode() == b"a ? b"

    def test_a_question_that_no_address_can_hold_is_a_failure_and_half_a_character_is_a_sign(
        self, searxng: HTTPServer, ask: Door
    ) -> None:
        """An agent may ask anything; both raised errors of other kinds."""
        searxng.expect_request("/search").respond_with_json(reply(RESULT))
        ask(at(searxng), "who \ud83d wrote it")
        assert searxng.log[-1][0].args["q"] == "who ? wrote it"
        error = failure(ask, at(searxng), "a" * 100_000)
        assert (error.kind, "question of 100,000 characters" in str(error)) == ("http_414", True)

    def test_no_more_than_top_k_are_returned(self, searxng: HTTPServer, ask: Door) -> None:
        many = [{**RESULT, "url": f"http://a.org/{number}"} for number in range(1000)]
        searxng.expect_request("/search").respond_with_json(reply(*many))
        assert len(ask(at(searxng))["documents"]) == 10
        assert len(ask(at(searxng, top_k=3))["documents"]) == 3
        assert ask(at(searxng, top_k=3), top_k=2)["links"] == ["http://a.org/0", "http://a.org/1"]

    def test_a_page_is_the_same_document_at_any_rank(self, searxng: HTTPServer, ask: Door) -> None:
        searxng.expect_request("/search").respond_with_json(
            reply(RESULT, {**RESULT, "url": "http://a.org"}, {**RESULT, "score": 0.1})
        )
        first, other, again = (document.id for document in ask(at(searxng))["documents"])
        assert first == again != other

    @pytest.mark.parametrize("names", [[["google", "Suspended: CAPTCHA"]], [["bing"]], ["odd"], [[None, 7]]], ids=str)
    def test_no_results_with_an_engine_that_failed_is_an_error(
        self, names: list[Any], searxng: HTTPServer, ask: Door
    ) -> None:
        searxng.expect_request("/search").respond_with_json(reply(unresponsive=names))
        error = failure(ask, at(searxng))
        assert error.kind == "engines_failed"
        if "google" in names[0]:
            assert "(google: Suspended: CAPTCHA)" in str(error)

    @pytest.mark.parametrize("odd", [None, 7, {}, "x", []], ids=str)
    def test_no_results_and_no_failed_engine_is_an_empty_list(self, odd: Any, searxng: HTTPServer, ask: Door) -> None:
        searxng.expect_request("/search").respond_with_json(reply(unresponsive=odd))
        assert ask(at(searxng)) == {"documents": [], "links": []}

    def test_results_of_other_engines_are_kept_when_one_failed_and_the_log_says_so(
        self, searxng: HTTPServer, ask: Door, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level(logging.INFO)
        searxng.expect_request("/search").respond_with_json(reply(RESULT, unresponsive=[["brave", "timeout"]]))
        assert len(ask(at(searxng))["links"]) == 1
        assert "brave: timeout" in caplog.text


class TestWhatIsAsked:
    def test_all_settings_reach_the_server(self, searxng: HTTPServer, ask: Door) -> None:
        searxng.expect_request("/search", method="GET").respond_with_json(reply())
        settings = {"categories": ["general", "news"], "engines": ["a", "b"], "language": "de-CH", "time_range": "week"}
        ask(at(searxng, **settings, safe_search=2), "Wer schrieb «Emma» & «Momo»?")
        request, _ = searxng.log[-1]
        assert request.args.to_dict() == {
            "q": "Wer schrieb «Emma» & «Momo»?",
            "format": "json",
            "categories": "general,news",
            "engines": "a,b",
            "language": "de-CH",
            "time_range": "week",
            "safesearch": "2",
        }
        assert "Cookie" not in request.headers

    def test_what_is_not_set_is_left_to_the_server(self, searxng: HTTPServer, ask: Door) -> None:
        searxng.expect_request("/search").respond_with_json(reply())
        ask(at(searxng))
        assert set(searxng.log[-1][0].args) == {"q", "format", "safesearch"}

    @pytest.mark.parametrize("path", ["", "/", "/search", "/search/", "?theme=simple", "/#top"])
    def test_the_address_may_be_written_in_several_ways(self, path: str, searxng: HTTPServer, ask: Door) -> None:
        searxng.expect_request("/sub/search").respond_with_json(reply(RESULT))
        assert ask(SearXNGWebSearch(url=f"{searxng.url_for('/sub')}{path}"))["links"]

    def test_a_password_comes_from_the_setting_only_and_is_never_shown(
        self, searxng: HTTPServer, ask: Door, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        url = f"http://me:canary%40word@127.0.0.1:{searxng.port}"
        with pytest.raises(ConfigurationError, match="only in CRAG_SEARXNG_URL; this one is not shown") as caught:
            SearXNGWebSearch(url=url)
        assert "canary" not in str(caught.value)
        monkeypatch.setenv("CRAG_SEARXNG_URL", url)
        searxng.expect_ordered_request("/search").respond_with_json(reply())
        searxng.expect_ordered_request("/search").respond_with_data("", status=500)
        search = SearXNGWebSearch()
        ask(search)
        authorization = searxng.log[-1][0].authorization
        assert authorization is not None
        assert (authorization.username, authorization.password) == ("me", "canary@word")
        assert "canary" not in str(failure(ask, search))
        assert "canary" not in str(component_to_dict(search, "web"))

    def test_no_log_shows_the_question(self, searxng: HTTPServer, ask: Door, caplog: pytest.LogCaptureFixture) -> None:
        """httpx's own client would log every address, and the question is a part of it."""
        caplog.set_level(logging.DEBUG)
        searxng.expect_request("/search").respond_with_json(reply(RESULT, unresponsive=[["brave", QUESTION]]))
        ask(at(searxng))
        ours = [record.getMessage() for record in caplog.records if record.name != "werkzeug"]
        assert ours
        assert not any("canaryquestion" in line for line in ours)

    def test_no_proxy_of_the_environment_sees_the_question(
        self, searxng: HTTPServer, ask: Door, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("NO_PROXY", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, "http://127.0.0.1:9")  # nobody listens there
        searxng.expect_request("/search").respond_with_json(reply(RESULT))
        assert ask(at(searxng))["links"]

    def test_a_redirect_is_not_followed(self, searxng: HTTPServer, ask: Door) -> None:
        searxng.expect_request("/search").respond_with_data(
            "", status=302, headers={"Location": f"{searxng.url_for('/elsewhere')}?q=canaryquestion"}
        )
        error = failure(ask, at(searxng))
        assert error.kind == "http_302"
        assert "set url to where it moved" in str(error)
        assert [request.path for request, _ in searxng.log] == ["/search"]


class TestFailures:
    def test_json_that_is_switched_off_is_explained(self, searxng: HTTPServer, ask: Door) -> None:
        """SearXNG's default: a page in HTML, with 403."""
        searxng.expect_request("/search").respond_with_data("<!doctype html>", status=403, content_type="text/html")
        error = failure(ask, at(searxng))
        assert error.kind == "http_403"
        assert "`search.formats: [html, json]` in SearXNG's settings.yml" in str(error)

    @pytest.mark.parametrize(
        ("body", "what"),
        [
            (b"<!doctype html><html><body>canaryquestion", "an HTML page"),
            (b"", "something else"),
            (b"{", "something else"),
            (b"[" * 100_000, "something else"),
            (b"[]", "something else"),
            (b"null", "something else"),
            (b"\xff\xfe\x00", "something else"),
            (b'{"results": [' + b"1" * 5000 + b"]}", "something else"),
        ],
        ids=["html", "empty", "cut", "deep", "list", "null", "bytes", "number"],
    )
    def test_anything_but_a_json_object_is_an_error(
        self, body: bytes, what: str, searxng: HTTPServer, ask: Door
    ) -> None:
        searxng.expect_request("/search").respond_with_data(body)
        error = failure(ask, at(searxng))
        assert error.kind == "not_json"
        assert f"sent {what} instead of a JSON object" in str(error)
        assert "search.formats" in str(error)

    @pytest.mark.parametrize("body", [{}, {"results": None}, {"results": {}}, {"detail": "canaryquestion"}], ids=str)
    def test_json_of_another_kind_of_server_is_an_error(
        self, body: dict[str, Any], searxng: HTTPServer, ask: Door
    ) -> None:
        searxng.expect_request("/search").respond_with_json(body)
        assert failure(ask, at(searxng)).kind == "not_searxng"

    def test_a_bad_request_in_html_keeps_its_status(self, searxng: HTTPServer, ask: Door) -> None:
        """A proxy in front of it refuses a question that is too long."""
        searxng.expect_request("/search").respond_with_data("<html>canaryquestion", status=400)
        assert failure(ask, at(searxng)).kind == "http_400"

    @pytest.mark.parametrize(
        ("header", "low", "high"),
        [("7", 7, 7), (None, None, None), ("soon", None, None), ("-1", None, None), ("9" * 400, 86_400, 86_400)],
    )
    def test_too_many_requests_tells_how_long_to_wait(
        self, header: str | None, low: float, high: float, searxng: HTTPServer, ask: Door
    ) -> None:
        headers = {} if header is None else {"Retry-After": header}
        searxng.expect_request("/search").respond_with_data("Too Many Requests", status=429, headers=headers)
        error = failure(ask, at(searxng))
        assert error.kind == "rate_limited"
        assert error.retry_after_s == low == high

    @pytest.mark.parametrize("ahead", [0, 86_400, -86_400])
    def test_the_time_to_wait_may_be_a_date_by_the_clock_of_the_server(
        self, ahead: int, searxng: HTTPServer, ask: Door, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        here = SimpleNamespace(time=lambda: time.time() + ahead)
        monkeypatch.setattr("haystack_integrations.crag.retry_after.time", here)
        when = formatdate(time.time() + 60, usegmt=True)
        searxng.expect_request("/search").respond_with_data("", status=429, headers={"Retry-After": when})
        waited = failure(ask, at(searxng)).retry_after_s
        assert waited is not None
        assert 50 < waited <= 60

    @pytest.mark.parametrize("status", [401, 404, 500, 502, 503])
    def test_any_other_status_is_an_error_of_its_own_kind(self, status: int, searxng: HTTPServer, ask: Door) -> None:
        searxng.expect_request("/search").respond_with_data("<html>canaryquestion", status=status)
        error = failure(ask, at(searxng))
        assert (error.kind, error.retry_after_s) == (f"http_{status}", None)
        assert f"HTTP {status}" in str(error)

    def test_the_server_s_own_words_about_a_bad_request_are_shown_short_and_without_the_question(
        self, searxng: HTTPServer, ask: Door
    ) -> None:
        told = 'Invalid value "Canaryquestion+about%20Emma" for parameter q ' + "x" * 5000
        searxng.expect_request("/search").respond_with_json({"error": told}, status=400)
        error = failure(ask, at(searxng))
        assert error.kind == "http_400"
        assert "Emma" not in str(error)
        assert 'Invalid value "… … …" for parameter q xxx' in str(error)
        assert len(str(error)) < 400

    def test_a_body_that_is_too_large_is_not_read_to_its_end(self, searxng: HTTPServer, ask: Door) -> None:
        sent = 0

        def endless(_: Request) -> Response:
            def parts() -> Iterator[bytes]:
                nonlocal sent
                for _ in range(640):  # 40 MiB
                    sent += 65536
                    yield b" " * 65536

            return Response(parts())

        searxng.expect_request("/search").respond_with_handler(endless)
        assert failure(ask, at(searxng)).kind == "too_large"
        assert MAX_BYTES <= sent < 30 * 1024 * 1024  # what the buffers of the sockets hold is sent all the same

    @pytest.mark.parametrize("flooded", ["results", "unresponsive_engines"])
    def test_a_reply_full_of_small_entries_costs_little(self, flooded: str, searxng: HTTPServer, ask: Door) -> None:
        """Of 2 MiB, what is looked at is what can be used: an event loop waits for it."""
        entry = {"results": '{"url":"http://a.b","title":"x"}', "unresponsive_engines": '["a","b"]'}[flooded]
        body = f'{{"results":[],"{flooded}":[{",".join([entry] * ((MAX_BYTES - 100) // (len(entry) + 1)))}]}}'
        searxng.expect_request("/search").respond_with_data(body)
        search = at(searxng, timeout=20.0)
        started = time.process_time()
        if flooded == "results":
            assert len(ask(search)["documents"]) == 10
        else:
            assert failure(ask, search).kind == "engines_failed"
        assert time.process_time() - started < 5.0  # the server's share is in it

    def test_a_compressed_body_is_not_inflated(self, searxng: HTTPServer, ask: Door) -> None:
        """None was asked for, and a small one may be huge inside."""
        searxng.expect_request("/search").respond_with_data(b"\x1f\x8b\x08", headers={"Content-Encoding": "gzip"})
        assert failure(ask, at(searxng)).kind == "not_json"
        assert searxng.log[-1][0].headers["Accept-Encoding"] == "identity"

    def test_a_body_that_is_cut_off_is_an_error(self, ask: Door) -> None:
        """Also where what came is JSON."""
        with raw_server(b'HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n{"results": []}') as (url, _):
            error = failure(ask, SearXNGWebSearch(url=url))
        assert error.kind == "connection"
        assert "RemoteProtocolError" in str(error)

    def test_something_that_is_no_web_server_is_an_error_that_does_not_repeat_it(self, ask: Door) -> None:
        with raw_server(b"220 canaryquestion ESMTP\r\n") as (url, _):
            assert failure(ask, SearXNGWebSearch(url=url)).kind == "connection"

    def test_a_server_that_is_not_there_is_an_error(self, ask: Door) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            url = f"http://127.0.0.1:{free.getsockname()[1]}"
        error = failure(ask, SearXNGWebSearch(url=url))
        assert error.kind == "connection"
        assert url in str(error)

    def test_a_server_that_hangs_costs_no_more_than_the_timeout(self, ask: Door) -> None:
        with raw_server(hold=60.0) as (url, _):
            started = time.monotonic()
            assert failure(ask, SearXNGWebSearch(url=url, timeout=0.3)).kind == "timeout"
            assert 0.2 < time.monotonic() - started < 10

    @pytest.mark.parametrize("head", [b"HTTP/1.1 200 OK\r\n\r\n", b"HTTP/1.1 200 OK\r\nX: "], ids=["body", "head"])
    def test_a_server_that_drips_is_left_after_the_timeout(self, head: bytes, ask: Door) -> None:
        """Each byte comes in time; only the whole does not. Its connection is closed, so nothing goes on behind."""
        with raw_server(head, *[b"x"] * 1000, pause=0.05) as (url, gone):
            started = time.monotonic()
            assert failure(ask, SearXNGWebSearch(url=url, timeout=0.3)).kind == "timeout"
            assert time.monotonic() - started < 10
        assert gone
        assert gone[0] - started < 15

    def test_a_search_that_was_cancelled_is_not_an_error_of_the_server(self) -> None:
        async def cancelled(url: str) -> None:
            task = asyncio.create_task(SearXNGWebSearch(url=url).run_async(QUESTION))
            await asyncio.sleep(0.1)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

        with raw_server(hold=60.0) as (url, _):
            asyncio.run(cancelled(url))

    def test_an_error_can_be_copied_and_sent_to_another_process(self) -> None:
        error = WebSearchError("no", kind="rate_limited", retry_after_s=7.0)
        for other in (copy.copy(error), pickle.loads(pickle.dumps(error))):
            assert (str(other), other.kind, other.retry_after_s) == ("no", "rate_limited", 7.0)

    def test_nothing_stays_open(self, searxng: HTTPServer, ask: Door) -> None:
        searxng.expect_request("/search").respond_with_json(reply(RESULT))
        search = at(searxng)
        ask(search)
        before = threading.active_count()
        for _ in range(5):
            ask(search)
        assert threading.active_count() <= before + 1


class TestSettings:
    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"safe_search": 3}, "safe_search must be a whole number from 0 to 2, but got 3"),
            ({"safe_search": True}, "safe_search must be a whole number from 0 to 2, but got True"),
            ({"time_range": "decade"}, "time_range must be one of .*'day', 'week'.* but got 'decade'"),
            ({"top_k": 0}, "top_k must be a whole number from 1 to 1000, but got 0"),
            ({"timeout": float("inf")}, "timeout must be a number from 0.001 to 600, but got inf"),
            ({"categories": "news"}, "got a str for categories, wanted a list of texts or None"),
            ({"engines": ["a,b"]}, "engines must be a list of names"),
            ({"engines": [""]}, "engines must be a list of names"),
            ({"url": "127.0.0.1:8888"}, "url must be like 'http://127.0.0.1:8888'"),
            ({"url": "ftp://a.org"}, "url must be like"),
            ({"url": "http://"}, "url must be like"),
            ({"url": "http://a.org:99999999"}, "url must be like"),
            ({"url": 7}, "url must be like"),
            ({"url": ""}, "url must be like"),
        ],
        ids=str,
    )
    def test_an_unusable_value_is_refused_at_once(self, settings: dict[str, Any], message: str) -> None:
        with pytest.raises(ConfigurationError, match=message):
            SearXNGWebSearch(**settings)

    def test_an_unusable_top_k_is_refused_before_anything_is_sent(self, ask: Door) -> None:
        with pytest.raises(ConfigurationError, match="top_k"):
            ask(SearXNGWebSearch(url="http://127.0.0.1:9"), top_k=0)

    def test_an_unusable_setting_is_refused_and_not_shown(self, ask: Door, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("CRAG_SEARXNG_URL", "me:canaryword@host")
        with pytest.raises(ConfigurationError, match="url must be like") as caught:
            ask(SearXNGWebSearch())
        assert "canaryword" not in str(caught.value)

    def test_warming_up_connects_to_nothing(self) -> None:
        """Certificates are read, the server need not run."""
        with socket.create_server(("127.0.0.1", 0)) as server:
            search = SearXNGWebSearch(url=f"https://127.0.0.1:{server.getsockname()[1]}")
            search.warm_up()
            search.warm_up()
            server.settimeout(0.1)
            with pytest.raises(TimeoutError):
                server.accept()

    def test_its_sockets_are_those_of_every_web_search(self) -> None:
        pipeline = Pipeline()
        pipeline.add_component("web", SearXNGWebSearch())
        assert set(pipeline.inputs()["web"]) == {"query", "top_k"}
        assert pipeline.outputs(include_components_with_connected_outputs=True)["web"] == {
            "documents": {"type": list[Document]},
            "links": {"type": list[str]},
        }
