"""An Elasticsearch behind TLS with a certificate signed by an authority of one's own, as on most own servers."""

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from certificates import certified
from cli_runner import QUESTION, crag, refused
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from haystack_integrations.crag.cli.errors import ExitCode
from haystack_integrations.crag.elasticsearch.tls import CA_SETTING, tls_options
from haystack_integrations.crag.pipelines import export, load
from haystack_integrations.crag.pipelines.opening import elasticsearch_store, find_place
from haystack_integrations.crag.store_profiles import store_spec


@pytest.fixture
def authority(tmp_path: Path, elasticsearch_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The authority's file; ELASTICSEARCH_URL names the real server, behind TLS of a certificate signed by it."""
    (tmp_path / "tls").mkdir()
    file, context = certified(tmp_path / "tls")

    def relayed(request: Request) -> Response:
        kept = {name: value for name, value in request.headers if name in ("Accept", "Content-Type")}
        url = f"{elasticsearch_url}{request.full_path}"
        answer = httpx.request(request.method, url, content=request.get_data(), headers=kept)
        shown = {name: answer.headers[name] for name in ("Content-Type", "X-Elastic-Product") if name in answer.headers}
        return Response(answer.content, answer.status_code, shown)

    server = HTTPServer("127.0.0.1", ssl_context=context)
    with server:
        server.expect_request(re.compile(".*")).respond_with_handler(relayed)
        monkeypatch.setenv("ELASTICSEARCH_URL", f"https://127.0.0.1:{server.port}")
        monkeypatch.setenv("CRAG_STORE", "elasticsearch")
        yield file


def test_a_server_is_used_whose_authority_is_named(
    authority: Path, docs: Path, elasticsearch_index: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In all commands, on the event loop as `crag serve` runs it, and in a pipeline that is exported."""
    monkeypatch.setenv(CA_SETTING, str(authority))
    assert crag("index", docs, "--index", elasticsearch_index).exit_code == 0
    assert crag("ask", QUESTION, "--index", elasticsearch_index).exit_code == 0
    store = elasticsearch_store(find_place(None, None, elasticsearch_index))
    loaded = load("corrective_retrieval", store=store)

    async def asked() -> dict[str, Any]:
        try:
            return await loaded.run_async(query=QUESTION)
        finally:
            await store.close_async()

    assert asyncio.run(asked())["crag"]["verdict"] == "correct"
    loaded.close()
    store.close()
    assert f"ca_certs: {authority}" in export("corrective_retrieval", "elasticsearch", "https://es.example:9200")


def test_an_unknown_authority_is_told_with_the_setting_that_names_it(authority: Path, docs: Path) -> None:
    """And not as a server that is down."""
    assert authority.is_file()
    message = refused(crag("index", docs), ExitCode.UNREACHABLE)
    assert "(TlsError); pass the address that its certificate is for" in message
    assert message.endswith(f"in {CA_SETTING}")


@pytest.mark.parametrize("wrong", ["missing.crt", "text.crt", "."])
def test_a_file_without_certificates_is_refused_by_its_name(
    wrong: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before anything is asked. No certificate counts for an address without TLS, and nothing is said there."""
    (tmp_path / "text.crt").write_text("no certificate")
    monkeypatch.setenv(CA_SETTING, str(tmp_path / wrong))
    message = refused(crag("index", tmp_path, "--url", "https://127.0.0.1:9"), ExitCode.USAGE)
    assert message.startswith(f"{CA_SETTING} names '{tmp_path / wrong}', which is no readable file of certificates")
    assert "ca_certs" not in store_spec("elasticsearch", "http://127.0.0.1:9")["init_parameters"]


def test_certificates_count_where_all_servers_speak_tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The client refuses them for an address without it; a setting that is not there restricts nothing."""
    assert tls_options(["https://es:9200"]) == {}
    file, _ = certified(tmp_path)
    monkeypatch.setenv(CA_SETTING, str(file))
    assert tls_options(["https://es:9200", "HTTPS://other:9200"]) == {"ca_certs": str(file)}
    assert tls_options(["https://es:9200", "http://other:9200"]) == {}
