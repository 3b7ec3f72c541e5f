"""Bad input at the command line: what was got, what was wanted, the way out; an exit code, and no traceback."""

import json
import re
import socket
import subprocess
import threading
import time
from pathlib import Path

import pytest
from cli_runner import QUESTION, SCRIPT, crag, environment, refused
from pypdf import PdfWriter
from pytest_httpserver import HTTPServer
from scripted_model import ScriptedModel
from werkzeug import Request, Response

from haystack_integrations.crag.cli.errors import ExitCode
from haystack_integrations.crag.pipelines.loader import source


@pytest.mark.parametrize("question", ["", "   \n"])
def test_an_empty_question_is_refused(question: str, docs: Path) -> None:
    """Before any file is read."""
    assert "the question is empty" in refused(crag("ask", question, "--docs", docs), ExitCode.USAGE)


def test_a_question_of_a_megabyte_is_refused(docs: Path) -> None:
    """It can only come through stdin; the message holds its length, not its text."""
    message = refused(crag("ask", "-", "--docs", docs, stdin="why " * 250_000), ExitCode.USAGE)
    assert "999,999 characters" in message  # without the space at its end
    assert "why" not in message


def test_a_question_in_another_encoding_is_refused(docs: Path) -> None:
    """From stdin as in an argument: with a sign for each byte that is no UTF-8, other words would be searched for."""
    run = [*SCRIPT, "ask", "-", "--docs", str(docs)]
    told = subprocess.run(run, input="Wer prüft?".encode("cp1252"), capture_output=True, check=False, env=environment())
    assert (told.returncode, told.stdout) == (ExitCode.USAGE, b"")
    assert b"half a character at place 7, which no server takes; send it as UTF-8 text" in told.stderr
    marked = f"\ufeff{QUESTION}\r\n".encode()
    read = subprocess.run([*run, "--json"], input=marked, capture_output=True, check=False, env=environment())
    assert json.loads(read.stdout)["question"] == QUESTION


def test_a_folder_without_documents_is_refused_with_what_would_do(tmp_path: Path) -> None:
    """The kinds that can be read are named."""
    (tmp_path / "empty").mkdir()
    message = refused(crag("ask", QUESTION, "--docs", tmp_path / "empty"), ExitCode.INPUTS_FAILED)
    assert "got no readable document" in message
    assert ".pdf" in message


def test_a_path_that_does_not_exist_is_named() -> None:
    """A typing error in a path is found at once."""
    assert "nowhere.md" in refused(crag("ask", QUESTION, "--docs", "nowhere.md"), ExitCode.INPUTS_FAILED)


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("empty.md", b"", "empty"),
        ("blank.txt", b" \n\n", "empty"),
        ("picture.txt", b"\x89PNG\0\0\0", "binary"),
        ("letter.docx", b"not a zip archive", "DOCX"),
        ("paper.pdf", b"not a pdf", "PDF"),
    ],
)
def test_a_file_that_is_not_what_its_name_says_is_named(tmp_path: Path, name: str, content: bytes, reason: str) -> None:
    """When it is the only one, nothing can be answered; no traceback in either case."""
    (tmp_path / name).write_bytes(content)
    result = crag("ask", QUESTION, "--docs", tmp_path / name)
    assert (result.exit_code, result.stdout) == (ExitCode.INPUTS_FAILED, "")
    assert result.stderr.startswith(f"not read: {name}: ")
    assert reason in result.stderr
    assert "error: got no readable document in " in result.stderr
    assert "Traceback" not in result.stderr


def test_a_pdf_with_a_password_is_named(docs: Path) -> None:
    """With the way out; the other files are answered from."""
    writer = PdfWriter()
    writer.add_blank_page(100, 100)
    writer.encrypt("secret", algorithm="RC4-128")
    with (docs / "locked.pdf").open("wb") as file:
        writer.write(file)
    result = crag("ask", QUESTION, "--docs", docs)
    assert result.exit_code == ExitCode.INPUTS_FAILED
    assert "locked.pdf: got a PDF with a password" in result.stderr
    assert "penguins.md" in result.stdout


def test_a_yaml_with_an_unknown_component_is_named(docs: Path, tmp_path: Path) -> None:
    """The type that cannot be loaded stands in the message."""
    path = tmp_path / "mine.yml"
    path.write_text(source("corrective_retrieval").replace("heuristic_grader.HeuristicGrader", "magic.MagicGrader"))
    message = refused(crag("ask", QUESTION, "--docs", docs, "--pipeline", path), ExitCode.USAGE)
    assert "magic.MagicGrader" in message


def test_a_yaml_that_is_no_pipeline_is_refused(docs: Path, tmp_path: Path) -> None:
    """Whether it is no YAML, no pipeline, or none for questions."""
    path = tmp_path / "mine.yml"
    path.write_text("components: [")
    assert "no readable YAML" in refused(crag("ask", QUESTION, "--docs", docs, "--pipeline", path), ExitCode.USAGE)
    path.write_text("a: 1")
    assert "no pipeline" in refused(crag("ask", QUESTION, "--docs", docs, "--pipeline", path), ExitCode.USAGE)
    message = refused(crag("ask", QUESTION, "--docs", docs, "--pipeline", "indexing"), ExitCode.USAGE)
    assert "got the pipeline 'indexing', wanted one with the input `query`" in message


def test_an_unreadable_setting_is_named_with_its_value(
    docs: Path, configured_model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before anything is asked."""
    monkeypatch.setenv("KB_AGENT_VECTOR_SCORE_THRESHOLD", "high")
    message = refused(crag("ask", QUESTION, "--docs", docs, "--pipeline", "agent_rag"), ExitCode.USAGE)
    assert "KB_AGENT_VECTOR_SCORE_THRESHOLD must be a number from 0 to 1, but got 'high'" in message
    assert configured_model.calls == 0


@pytest.mark.parametrize(
    "place", [[], ["--docs", ".", "--store", "elasticsearch"], ["--docs", ".", "--url", "http://x:1"]]
)
def test_either_files_or_a_store_must_be_named(place: list[str]) -> None:
    """Neither and both are refused with the two ways."""
    assert "--docs PATH, or --store" in refused(crag("ask", QUESTION, *place), ExitCode.USAGE)


def test_a_store_may_be_named_by_its_address_or_by_the_environment(monkeypatch: pytest.MonkeyPatch, docs: Path) -> None:
    """For every command that has one, as for the server; files that are named say more."""
    closed = "http://127.0.0.1:9"
    commands = (["ask", QUESTION], ["index", docs])
    for command in commands:
        assert "no answer from Elasticsearch" in refused(crag(*command, "--url", closed), ExitCode.UNREACHABLE)
    monkeypatch.setenv("CRAG_STORE", "elasticsearch")
    monkeypatch.setenv("ELASTICSEARCH_URL", closed)
    for command in commands:
        assert "no answer from Elasticsearch" in refused(crag(*command), ExitCode.UNREACHABLE)
    assert crag("doctor").exit_code == ExitCode.FAILED
    assert crag("ask", QUESTION, "--docs", docs).exit_code == ExitCode.DONE
    assert crag("ask", QUESTION, "--docs", docs, "--store", "memory").exit_code == ExitCode.DONE


def test_an_unknown_kind_of_store_is_refused_with_the_known_ones(docs: Path) -> None:
    """By all commands in the same words."""
    for command in (["ask", QUESTION], ["index", docs], ["doctor"], ["pipelines", "export", "baseline_rag"]):
        message = refused(crag(*command, "--store", "postgres"), ExitCode.USAGE)
        assert "no kind of store is named 'postgres'; choose one of ['elasticsearch', 'in_memory', 'memory']" in message


def test_a_key_that_a_pipeline_of_ones_own_wants_is_named(
    docs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in one that was exported: an unexpected error of Haystack's had no way out."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    mine = tmp_path / "mine.yml"
    crag("pipelines", "export", "corrective_rag", "-o", mine)
    message = refused(crag("ask", QUESTION, "--docs", docs, "--pipeline", mine), ExitCode.USAGE)
    assert "reads its key from OPENAI_API_KEY, which is not set" in message
    assert "or CRAG_LLM_BASE_URL and CRAG_LLM_MODEL" in message


@pytest.mark.parametrize(
    "command",
    [
        ("ask", QUESTION, ""),
        ("ask", QUESTION, "--docs", ""),
        ("index", ""),
        ("index", ".", "--base", ""),
        ("serve", "--docs", ""),
        ("collect", "questions.txt", "", "--split", "asked", "--docs", "."),
        ("eval", "", "--split", "test"),
        ("pipelines", "export", "corrective_rag", "--output", ""),
    ],
)
def test_an_empty_path_is_refused(command: tuple[str, ...]) -> None:
    """As of a variable of the shell that is not set: the working directory was read, and kept in the index."""
    result = crag(*command)
    assert (result.exit_code, result.stdout) == (ExitCode.USAGE, "")
    assert "got an empty path; name one" in result.stderr


def test_a_question_without_quotes_is_told_from_paths(docs: Path) -> None:
    """A shell hands on its words one by one."""
    for place in ([], ["--docs", docs]):
        message = refused(crag("ask", "how", "does", "it", "work", *place), ExitCode.USAGE)
        assert "no file or folder at ['does', 'it', 'work']" in message
        assert 'put it into quotes: crag ask "QUESTION"' in message


@pytest.mark.parametrize(
    "url",
    ["localhost:9200", "http://localhost", "ftp://localhost:9200", "http://x:99999", "http://u:p@[::1", "http://a b:1"],
)
def test_an_address_that_is_none_is_refused(url: str) -> None:
    """With the form that is wanted."""
    result = crag("ask", QUESTION, "--store", "elasticsearch", "--url", url)
    message = refused(result, ExitCode.USAGE)
    assert "wanted http://HOST:PORT" in message
    assert "u:p" not in message


def test_a_password_that_is_not_escaped_is_not_shown_and_how_to_is_said() -> None:
    """At its `#` the address ends, so that there is no host in it."""
    message = refused(
        crag("ask", QUESTION, "--store", "elasticsearch", "--url", "http://u:se#cret@localhost:9200"), ExitCode.USAGE
    )
    assert "se#cret" not in message
    assert "# is written as %23" in message


def test_a_store_that_is_down_is_named() -> None:
    """Within seconds; the address is shown without its password."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://elastic:secret@127.0.0.1:{server.getsockname()[1]}"
    for command in (["ask", QUESTION], ["index", "."]):
        message = refused(crag(*command, "--store", "elasticsearch", "--url", url), ExitCode.UNREACHABLE)
        assert "no answer from Elasticsearch at http://127.0.0.1:" in message
        assert "secret" not in message


@pytest.mark.parametrize("later", [False, True], ids=["at once", "later"])
@pytest.mark.parametrize("status", [502, 503, 504])
def test_a_proxy_that_does_not_reach_the_store_is_told_from_a_store_that_refuses(
    status: int, later: bool, httpserver: HTTPServer
) -> None:
    """As nginx and load balancers answer for it, in HTML: neither the index nor a key's rights are at fault."""
    page = f"<html><body><h1>{status} Bad Gateway</h1>\nThe server is not there.\n</body></html>\n"
    if later:  # HAProxy, whose queue is full, or whose time is over, as soon as something is searched
        known = {"X-Elastic-Product": "Elasticsearch"}
        httpserver.expect_request("/crag", method="HEAD").respond_with_data(headers=known)
    httpserver.expect_request(re.compile("/")).respond_with_data(page, status, content_type="text/html")
    place = ("--store", "elasticsearch", "--url", httpserver.url_for("/").rstrip("/"))
    message = refused(crag("ask", QUESTION, *place), ExitCode.UNREACHABLE)
    assert f"refused: {status}; a proxy before it does not reach it" in message
    assert "<html>" not in message


@pytest.mark.parametrize(
    "kind", ["es_rejected_execution_exception", "circuit_breaking_exception", "search_phase_execution_exception"]
)
def test_a_store_that_is_too_busy_is_told_as_that(kind: str, httpserver: HTTPServer, docs: Path) -> None:
    """Whoever looked at the index, the rights of a key, or for a lost shard found nothing wrong."""
    answer = {"error": {"root_cause": [], "type": kind, "reason": "Data too large"}, "status": 429}
    known = {"X-Elastic-Product": "Elasticsearch"}
    httpserver.expect_request("/crag", method="HEAD").respond_with_data(headers=known)
    httpserver.expect_request(re.compile("/")).respond_with_json(answer, 429, headers=known)
    place = ("--store", "elasticsearch", "--url", httpserver.url_for("/").rstrip("/"))
    for command in (["ask", QUESTION], ["index", docs]):
        message = refused(crag(*command, *place), ExitCode.UNREACHABLE)
        assert f"refused: 429 {kind}; it is too busy or short of memory" in message
        assert "wait, then run again" in message
        assert "rights" not in message


def test_a_store_that_is_slow_is_given_up(httpserver: HTTPServer) -> None:
    """After the five seconds of its profile, not after a minute."""

    over = threading.Event()

    def slow(_: Request) -> Response:
        over.wait(60)
        return Response("{}")

    httpserver.expect_request("/crag").respond_with_handler(slow)
    started = time.monotonic()
    result = crag("ask", QUESTION, "--store", "elasticsearch", "--url", httpserver.url_for("/").rstrip("/"))
    over.set()
    message = refused(result, ExitCode.UNREACHABLE)
    assert "ConnectionTimeout" in message
    assert "look at its load, disks and master" in message  # it runs: it was told to be started
    assert time.monotonic() - started < 30


def test_an_index_must_be_kept_somewhere(docs: Path) -> None:
    """Indexing into memory would be lost with the process."""
    assert "got no store, wanted one that keeps documents" in refused(crag("index", docs), ExitCode.USAGE)
    for word in ("in_memory", "memory"):
        message = refused(crag("index", docs, "--store", word), ExitCode.USAGE)
        assert "got the store 'in_memory', wanted" in message
        assert "--store elasticsearch --url URL" in message


def test_debug_shows_where_it_happened(docs: Path) -> None:
    """For everybody else there is no traceback."""
    assert "Traceback" in crag("--debug", "ask", "", "--docs", docs).stderr
    assert "Traceback" not in crag("ask", "", "--docs", docs).stderr
