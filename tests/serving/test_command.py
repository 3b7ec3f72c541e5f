"""`crag serve` as an operator starts and ends it, in a process of its own."""

import json
import logging
import os
import re
import signal
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx
import pytest
from cli_runner import QUESTION, crag, environment, refused, two_documents
from pydantic import SecretStr
from scripted_model import NAME, ScriptedModel, documents_in, judging
from serving.conftest import BEARER, KEY
from serving.process import address, command, read_by_hand
from waiting import eventually

import haystack_integrations.crag as crag_package
from haystack_integrations.crag.cli.errors import ExitCode
from haystack_integrations.crag.components import HeuristicGrader
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.serving.deployment import deploy
from haystack_integrations.crag.serving.doubts import doubts
from haystack_integrations.crag.serving.server import app_from_environment, as_variables, check_port
from haystack_integrations.crag.serving.settings import ServeSettings, environment_name, read_settings
from haystack_integrations.crag.settings import configured

SHIPPED = Path(crag_package.__file__).parent / "models" / "calibration" / "default.json"


@pytest.fixture
def docs(tmp_path: Path) -> str:
    return str(two_documents(tmp_path))


def test_sigterm_lets_a_running_request_end(tmp_path: Path, docs: str, scripted_model: ScriptedModel) -> None:
    """It gets its answer, nobody new is let in, and the process ends well."""
    scripted_model.reply = judging(lambda text: float("penguins" in text))
    chat = {"CRAG_LLM_BASE_URL": scripted_model.url, "CRAG_LLM_MODEL": NAME, "CRAG_SERVE_API_KEYS": KEY}
    with command(tmp_path, "--docs", docs, "--pipelines", "corrective_rag", **chat) as running:
        url = running.url()
        ending, reply = threading.Event(), scripted_model.reply
        scripted_model.reply = lambda messages: reply(messages) if ending.wait(25) else ("", "stop")
        with httpx.Client(base_url=url, headers=BEARER, timeout=60) as client, ThreadPoolExecutor(1) as pool:
            asked = pool.submit(client.post, "/corrective_rag/run", json={"question": QUESTION})
            assert eventually(lambda: scripted_model.calls)
            running.process.send_signal(signal.SIGTERM)
            assert eventually(lambda: is_refused(url), 20)
            ending.set()
            response = asked.result()
        assert response.json()["result"]["answer"] == "The answer is in [1]."
        assert running.process.wait(60) in (0, -signal.SIGTERM)
    assert QUESTION not in running.log
    assert KEY not in running.log


def test_a_log_that_nobody_reads_holds_neither_a_request_nor_the_end(docs: str) -> None:
    """`crag serve | less`, or a log driver that hangs; whoever reads on is told how many lines are missing."""
    with read_by_hand("--docs", docs, "--pipelines", "corrective_retrieval") as process:
        assert process.stderr is not None
        log = iter(process.stderr.readline, "")
        with httpx.Client(base_url=address(log), timeout=20) as client:
            for _ in range(2_500):  # 64 KiB in a pipe are some 850 lines, a thousand wait in the server
                assert client.get("/nothing").status_code == 404
            told = next(found for line in log if (found := re.search(r"WARNING ([\d,]+) lines .* missing", line)))
            assert 0 < int(told[1]) < 2_500
            assert client.get("/nothing").status_code == 404
            assert " 404 " in next(log)
            for _ in range(2_500):
                client.get("/nothing")
            process.send_signal(signal.SIGTERM)
            process.wait(20)


def is_refused(url: str) -> bool:
    """Whether nobody new is let in."""
    try:
        httpx.get(f"{url}/health/live", timeout=30)
    except httpx.TransportError as error:  # also one who was let in at the last moment, and gets no answer
        return isinstance(error, httpx.ConnectError)
    return False


@pytest.mark.parametrize("path", ["/corrective_rag/run", "/v1/chat/completions"])
def test_whoever_still_waits_when_the_process_ends_is_told(
    path: str, tmp_path: Path, docs: str, scripted_model: ScriptedModel
) -> None:
    """503, and one line each in the log: the signal ends the process as soon as the server has let go of it."""
    scripted_model.delay = 60.0
    chat = {"CRAG_LLM_BASE_URL": scripted_model.url, "CRAG_LLM_MODEL": NAME, "CRAG_SERVE_SHUTDOWN_SECONDS": "1"}
    page = {"CRAG_SERVE_CORS_ORIGINS": "https://app.example"}  # which a browser shows no answer without its headers
    asked = {"question": QUESTION}
    body = asked if "run" in path else {"model": "corrective_rag", "messages": [{"role": "user", "content": QUESTION}]}
    with command(tmp_path, "--docs", docs, "--pipelines", "corrective_rag", **chat, **page) as running:
        url = running.url()
        with (
            httpx.Client(base_url=url, timeout=50, headers={"Origin": "https://app.example"}) as client,
            ThreadPoolExecutor(1) as pool,
        ):
            waiting = pool.submit(client.post, path, json=body)
            assert eventually(lambda: scripted_model.calls)
            running.process.send_signal(signal.SIGTERM)
            response = waiting.result(50)
        error = response.json()["error"]
        assert (response.status_code, response.json()) == (503, {"error": error, "trace_id": None})
        assert (error if "run" in path else error["code"]) == "unavailable"
        assert response.headers["access-control-allow-origin"] == "https://app.example"
        assert running.process.wait(60) in (0, -signal.SIGTERM)
    assert f"POST {path} 503" in running.log
    assert all(re.match(r"\d{4}-\d\d-\d\dT\S+ [A-Z]+ \w", line) for line in running.log.splitlines()), running.log


def test_a_second_ctrl_c_ends_at_once_and_the_log_stays_a_line_each(
    tmp_path: Path, docs: str, scripted_model: ScriptedModel
) -> None:
    """Who waits is told 503; nothing that was cancelled is told as an error, nor by a traceback."""
    scripted_model.delay = 20.0
    chat = {"CRAG_LLM_BASE_URL": scripted_model.url, "CRAG_LLM_MODEL": NAME}
    with command(tmp_path, "--docs", docs, "--pipelines", "corrective_rag", **chat) as running:
        url = running.url()
        with httpx.Client(base_url=url, timeout=30) as client, ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(client.post, "/corrective_rag/run", json={"question": QUESTION})
            while not scripted_model.calls:
                time.sleep(0.02)
            running.process.send_signal(signal.SIGINT)
            time.sleep(0.5)
            running.process.send_signal(signal.SIGINT)
            assert waiting.result(20).status_code == 503
        running.process.wait(10)
    assert "ERROR" not in running.log
    assert "Traceback" not in running.log
    assert "Cancelled" not in running.log
    assert "POST /corrective_rag/run 503" in running.log


def test_a_request_that_takes_too_long_does_not_hold_the_end(serve: Any, configured_model: ScriptedModel) -> None:
    """Its client may ask again elsewhere: 503, in the form of all failures."""
    configured_model.delay = 60.0
    running = serve(pipelines="corrective_rag", shutdown_seconds=1)
    with running.client() as client, ThreadPoolExecutor(1) as pool:
        asked = pool.submit(client.post, "/corrective_rag/run", json={"question": QUESTION})
        assert eventually(lambda: configured_model.calls)
        started = time.monotonic()
        running.server.should_exit = True
        response = asked.result(50)
    assert time.monotonic() - started < 20
    assert (response.status_code, response.json()) == (503, {"error": "unavailable", "trace_id": None})


def test_without_a_chat_model_it_says_what_is_served(caplog: pytest.LogCaptureFixture, docs: str) -> None:
    settings = read_settings(docs=docs)
    deployment = deploy(settings)
    assert list(deployment.wrappers) == ["corrective_retrieval", "heuristic_rag"]
    assert deployment.store.count_documents() == 2
    assert "only corrective_retrieval, heuristic_rag are served" in caplog.text


def test_the_model_that_is_set_to_grade_grades(
    docs: str, configured_model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its own options; the other one writes the answers."""
    monkeypatch.setenv("CRAG_LLM_GRADING_MODEL", "small")
    monkeypatch.setenv("CRAG_LLM_GRADING_OPTIONS", '{"reasoning_effort": "minimal"}')
    loaded = deploy(read_settings(pipelines="corrective_rag", docs=docs)).wrappers["corrective_rag"].loaded
    grading = loaded.pipeline.get_component("grader").chat_generator
    answering = loaded.pipeline.get_component("generator").chat_generator
    assert (grading.model, grading.generation_kwargs) == ("small", {"reasoning_effort": "minimal"})
    assert (answering.model, answering.generation_kwargs) == (NAME, {})


def test_an_empty_store_is_told_at_the_start(caplog: pytest.LogCaptureFixture, tmp_path: Path, docs: str) -> None:
    """Also where the named files hold nothing; not where files may be uploaded."""
    empty = tmp_path / "empty"
    empty.mkdir()
    cases: tuple[tuple[dict[str, Any], bool], ...] = (
        ({}, True),
        ({"docs": str(empty)}, True),
        ({"uploads": True}, False),
        ({"docs": docs}, False),
    )
    for given, is_told in cases:
        caplog.clear()
        deploy(read_settings(pipelines="corrective_retrieval", **given))
        assert ("Nothing is indexed" in caplog.text) is is_told


def test_paths_that_share_no_folder_are_told_since_their_sources_bear_whole_paths(
    caplog: pytest.LogCaptureFixture, tmp_path: Path, docs: str
) -> None:
    """Clients and models read where this machine keeps its files, and nobody had chosen that."""
    places = (Path("/dev/shm"), Path("/var/tmp"), Path.home())
    apart = next(each for each in places if os.access(each, os.W_OK) and each.parts[1] != tmp_path.parts[1])
    said = "/: the paths share no other folder, so their sources bear whole paths, in answers, too"
    with TemporaryDirectory(dir=apart) as other:
        (Path(other) / "page.md").write_text("A refund is paid within 30 days.")
        deploy(read_settings(pipelines="corrective_retrieval", docs=f"{docs},{other}"))
        assert said in caplog.text
        asked = crag("ask", "When is a refund paid?", "--docs", docs, "--docs", other)
        assert f"warning: {said}" in " ".join(asked.stderr.split())
    caplog.clear()
    deploy(read_settings(pipelines="corrective_retrieval", docs=f"{docs},{tmp_path}"))
    assert "the paths share" not in caplog.text


def test_files_that_could_not_be_indexed_are_named_at_the_start(
    caplog: pytest.LogCaptureFixture, tmp_path: Path, docs: str
) -> None:
    """Their number alone tells nobody which answers are missing; of very many the first will do, of others the kind."""
    bad = tmp_path / "bad"
    bad.mkdir()
    for name in ("a.eml", "b.eml", "README"):
        (bad / name).write_text("CANARY")
    for number in range(21):
        (bad / f"bad-{number:02}.pdf").write_text("CANARY")
    deploy(read_settings(pipelines="corrective_retrieval", docs=f"{docs},{bad / 'bad-07.pdf'}"))
    assert "bad-07.pdf is not indexed: " in caplog.text
    assert "more" not in caplog.text
    caplog.clear()
    caplog.set_level(logging.INFO)
    deploy(read_settings(pipelines="corrective_retrieval", docs=f"{docs},{bad}"))
    assert "21 failures; not read: 2 .eml, 1 other" in caplog.text
    assert caplog.text.count("is not indexed") == 20
    assert "And 1 more" in caplog.text
    assert "CANARY" not in caplog.text


@pytest.mark.parametrize(
    ("name", "value"), [("ELASTICSEARCH_URL", "http://elastic:CANARY@127.0.0.1:9"), ("CRAG_INDEX", "handbook-CANARY")]
)
def test_the_place_of_a_store_that_is_not_asked_is_told(
    docs: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    """Of the variable alone came a server that was ready and empty, or kept uploads until it was started anew."""
    monkeypatch.setenv(name, value)
    for given, is_told in (({}, True), ({"uploads": True}, True), ({"docs": docs}, False)):
        caplog.clear()
        deploy(read_settings(pipelines="corrective_retrieval", **given))
        told = f"The store is memory, so {name} has no effect: set CRAG_STORE=elasticsearch"
        assert (told in caplog.text) is is_told
        assert "CANARY" not in caplog.text


@pytest.mark.usefixtures("configured_model")
def test_pipelines_judge_by_the_calibration_that_is_named(docs: str) -> None:
    """Where none has a use for it, the start says so."""
    file = str(SHIPPED)
    deployment = deploy(read_settings(docs=docs, calibration=file))
    for name, wrapper in deployment.wrappers.items():
        graders = [part for _, part in wrapper.loaded.pipeline.walk() if isinstance(part, HeuristicGrader)]
        used = [part.calibration for part in graders if part.weights is None]
        assert used == [file] * len(used), name
        assert (name in ("corrective_retrieval", "cascade_rag", "paper_rag")) <= bool(used)
    with pytest.raises(ConfigurationError, match=r"judges by a calibration; .* serve corrective_retrieval"):
        deploy(read_settings(docs=docs, pipelines="heuristic_rag", calibration=file))
    with pytest.raises(ConfigurationError, match="no calibration at"):
        deploy(read_settings(docs=docs, pipelines="corrective_retrieval", calibration="nowhere.json"))


def test_a_setting_that_cannot_work_ends_the_start_before_any_file_is_read(tmp_path: Path) -> None:
    """Indexing may take minutes: with no file to be read, the calibration is what is refused."""
    with pytest.raises(ConfigurationError, match="no calibration at"):
        deploy(read_settings(docs=str(tmp_path / "nowhere"), pipelines="corrective_retrieval", calibration="no.json"))


def test_a_calibration_that_cannot_be_used_ends_the_start(tmp_path: Path, docs: str) -> None:
    """Not the first question."""
    broken = json.loads(SHIPPED.read_text())
    broken["verdict"]["correct_from"] = "0.5"
    file = tmp_path / "own.json"
    file.write_text(json.dumps(broken))
    result = crag("serve", "--port", "0", "--docs", docs, "--calibration", file)
    assert result.exit_code == ExitCode.USAGE
    assert "correct_from must be a finite number, but got '0.5'; write it again" in result.stderr


def test_clients_are_told_no_path_of_the_machine(tmp_path: Path) -> None:
    """Sources are named from the folder that files and folders share."""
    for place in ("north/birds/penguins.md", "south/camels.md", "tea.md"):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text(f"# {place}\n\nSomething about it.\n")
    places = [tmp_path / "north", tmp_path / "south" / "camels.md", tmp_path / "tea.md"]
    for given, told in ((places, {"north/birds/penguins.md", "south/camels.md", "tea.md"}), (places[2:], {"tea.md"})):
        deployment = deploy(read_settings(docs=",".join(map(str, given)), pipelines="corrective_retrieval"))
        assert {document.meta["source"] for document in deployment.store.filter_documents()} == told


@pytest.mark.parametrize(
    ("options", "settings", "said"),
    [
        (["--host", "0.0.0.0"], {}, "so keys are needed"),
        (["--pipelines", "no_such_rag"], {}, "'no_such_rag'"),
        (["--pipelines", "indexing"], {}, "'indexing'"),
        (["--pipelines", "corrective_rag"], {}, "CRAG_LLM_BASE_URL"),
        (["--pipelines", ""], {"CRAG_SERVE_PIPELINES": "corrective_retrieval"}, "got no name"),
        (["--store", "postgres"], {}, "CRAG_STORE"),
        (["--store", "elasticsearch"], {}, "--url"),
        (["--workers", "2"], {}, "a memory store is of one process"),
        (["--index", "handbook"], {}, "got the index 'handbook' without a store that has it"),
        (["--index", "handbook", "--docs", "."], {"CRAG_STORE": "elasticsearch"}, "for the store 'memory'"),
        ([], {"CRAG_SERVE_PORT": "secret"}, "CRAG_SERVE_PORT"),
        ([], {"CRAG_SERVE_CONCURRENT": "0", "CRAG_SERVE_BODY_BYTES": "x"}, "CRAG_SERVE_BODY_BYTES"),
        ([], {"CRAG_SERVE_API_KEYS_FILE": "no-such-file"}, "one a line"),
        ([], {"OTEL_EXPORTER_OTLP_ENDPOINT": "secret"}, "OTEL_EXPORTER_OTLP_ENDPOINT: got no address"),
        (
            [],
            {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9", "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL": "http/json"},
            "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: got 'http/json', wanted grpc or http/protobuf",
        ),
        (
            [],
            {"CRAG_SERVE_CORS_ORIGINS": "https://app.example/"},
            "CRAG_SERVE_CORS_ORIGINS: got 'https://app.example/'",
        ),
        ([], {"CRAG_SERVE_CORS_ORIGINS": "app.example"}, "SCHEME://HOST"),
        ([], {"CRAG_REDIS_URL": "redis:/secret"}, "CRAG_REDIS_URL: wanted redis://HOST"),
        ([], {"CRAG_REDIS_URL": "redis:///0"}, "CRAG_REDIS_URL: wanted redis://HOST"),
        ([], {"CRAG_SEARXNG_URL": "secret"}, "CRAG_SEARXNG_URL"),
        (["--store", "elasticsearch", "--url", "http://127.0.0.1:9", "--index", "*"], {}, "wanted the name of one"),
        (["--store", "elasticsearch", "--url", "http://127.0.0.1:9", "--index", "_all"], {}, "wanted the name of one"),
        ([], {"CRAG_REDIS_URL": "http://user:secret@127.0.0.1"}, "CRAG_REDIS_URL"),
    ],
)
def test_what_cannot_work_ends_the_command_with_the_way_out(
    options: list[str], settings: dict[str, str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in ({"CRAG_SERVE_PORT": "0"} | settings).items():  # somebody may listen at the default one
        monkeypatch.setenv(name, value)
    message = refused(crag("serve", *options), ExitCode.USAGE)
    assert said in message
    assert "secret" not in message


def test_settings_that_have_no_effect_and_a_server_without_keys_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key under a misspelt name would leave the server open, and nobody would know."""
    monkeypatch.setenv("CRAG_SERVE_API_KEY", "CANARY")
    monkeypatch.setenv("CRAG_SERVE_PORT", "0")
    Path(".env").write_text("CRAG_SERVE_NOTHING_LIKE_IT=1\n")
    told = doubts(read_settings())
    assert told[0] == "CRAG_SERVE_API_KEY is no setting and has no effect; did you mean CRAG_SERVE_API_KEYS?"
    assert told[1].startswith("CRAG_SERVE_NOTHING_LIKE_IT is no setting")
    assert told[2].startswith("No API keys are set")
    assert len(told) == 3
    assert "CANARY" not in str(told)
    monkeypatch.delenv("CRAG_SERVE_API_KEY")
    Path(".env").unlink()
    assert doubts(read_settings(api_keys="a-key")) == []


def test_what_reads_like_a_setting_of_the_chat_model_is_told_to_be_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Questions and documents went to OpenAI, as the address of one's own model stood under another name."""
    likely = {
        "CRAG_API_KEYS": "CRAG_LLM_API_KEY or CRAG_SERVE_API_KEYS",
        "CRAG_LLM_BASE_URI": "CRAG_LLM_BASE_URL",
        "CRAG_LLM_TIMEOUT": "CRAG_LLM_OPTIONS",
        "CRAG_SEARX_URL": "CRAG_SEARXNG_URL",
        "crag_llm_base_url": "CRAG_LLM_BASE_URL",
    }
    for name in (*likely, "CRAG_LLM_MODEL", "crag_index"):
        monkeypatch.setenv(name, "CANARY")
    told = [f"{name} is no setting and has no effect; did you mean {meant}?" for name, meant in likely.items()]
    assert doubts(read_settings(api_keys="a-key")) == told


def test_other_variables_that_begin_like_a_setting_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of docker-compose.yml and the tests, of the user's own, and what Kubernetes tells each pod of the Services."""
    for name in ("CRAG_DOCS", "CRAG_SERVICES_DIR", "CRAG_PEERS_DIR", "CRAG_HOME", "CRAG_API_URL"):
        monkeypatch.setenv(name, "of-another")
    for service in ("CRAG", "CRAG_LLM", "CRAG_REDIS", "CRAG_SEARXNG"):
        for name in ("SERVICE_HOST", "SERVICE_PORT", "SERVICE_PORT_HTTP", "PORT", "PORT_80_TCP", "PORT_80_TCP_ADDR"):
            monkeypatch.setenv(f"{service}_{name}", "10.0.0.1")
    assert doubts(read_settings(api_keys="a-key")) == []


def test_an_address_set_for_hayhooks_is_told_to_have_no_effect(monkeypatch: pytest.MonkeyPatch) -> None:
    """It was served at another address without a word; who sets the right one, too, knows what both are for."""
    monkeypatch.setenv("HAYHOOKS_PORT", "8080")
    Path(".env").write_text("HAYHOOKS_HOST=127.0.0.2\n")
    told = doubts(read_settings(api_keys="a-key"))
    assert told == [f"HAYHOOKS_{name} has no effect; set CRAG_SERVE_{name}" for name in ("HOST", "PORT")]
    assert doubts(read_settings(api_keys="a-key", host="127.0.0.2", port=0)) == []


def test_a_setting_beyond_what_the_pipelines_allow_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRAG_SERVE_QUESTION_CHARS", "4097")
    (question,) = doubts(read_settings(api_keys="a-key"))
    assert question.startswith("CRAG_SERVE_QUESTION_CHARS is 4,097 and has no effect")
    monkeypatch.setenv("CRAG_SERVE_QUESTION_CHARS", "4096")
    assert doubts(read_settings(api_keys="a-key")) == []


@pytest.mark.parametrize(("set_to", "wanted"), [("300", 300), ("10", 45), (None, 45)])
def test_a_run_may_take_as_long_as_an_operator_lets_its_answer(
    monkeypatch: pytest.MonkeyPatch, set_to: str | None, wanted: float
) -> None:
    """With a slow model every chat ended by the pipeline's 45 seconds, however long the setting was made."""
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    if set_to is not None:
        monkeypatch.setenv("CRAG_SERVE_ANSWER_SECONDS", set_to)
    wrapper = deploy(read_settings(pipelines="corrective_rag")).wrappers["corrective_rag"]
    guard = wrapper.pipeline.get_component("guard")
    assert guard.run(query="When?")["state"].budget.seconds == wanted
    assert guard.run(query="When?", budget={"seconds": 7})["state"].budget.seconds == 7


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("OPENAI_API_KEY", "sk-\u200bx", "copy it anew into OPENAI_API_KEY"),
        ("SSL_CERT_FILE", "/gone/cacert.pem", "got '/gone/cacert.pem' as SSL_CERT_FILE"),
    ],
)
def test_what_no_client_of_a_model_can_be_made_with_keeps_no_pipeline_without_one_from_being_served(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, told: str
) -> None:
    """A key that lies in the environment for something else; where a served pipeline asks a model, it is named."""
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv(name, value)
    assert list(deploy(read_settings(pipelines="corrective_retrieval")).wrappers) == ["corrective_retrieval"]
    with pytest.raises(ConfigurationError, match=told):
        deploy(read_settings(pipelines="corrective_retrieval,corrective_rag"))


@pytest.mark.parametrize("by_yaml", [True, False])
@pytest.mark.parametrize(("seconds", "status"), [(0.5, "failed"), (300, "written")])
def test_an_answer_is_waited_for_as_long_as_an_operator_says(
    serve: Any,
    scripted_model: ScriptedModel,
    monkeypatch: pytest.MonkeyPatch,
    by_yaml: bool,
    seconds: float,
    status: str,
) -> None:
    """Also where the model is the one of the pipeline's YAML, which has a time of its own."""
    grade = judging(lambda text: float("Emma" in text))

    def reply(messages: Any) -> tuple[str, str]:
        time.sleep(0 if documents_in(messages) else 2)
        return grade(messages)

    scripted_model.reply = reply
    if by_yaml:
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        monkeypatch.setenv("OPENAI_BASE_URL", scripted_model.url)
    else:
        monkeypatch.setenv("CRAG_LLM_BASE_URL", scripted_model.url)
        monkeypatch.setenv("CRAG_LLM_MODEL", NAME)
    running = serve(pipelines="corrective_rag", answer_seconds=seconds)
    generator = running.app.state.deployment.wrappers["corrective_rag"].pipeline.get_component("generator")
    assert (generator.timeout_s, generator.chat_generator.async_client.timeout) == (seconds, seconds)
    with running.client() as client:
        result = client.post("/corrective_rag/run", json={"question": QUESTION}).json()["result"]
    assert result["crag"]["answer"]["status"] == status


def test_a_store_that_cannot_be_reached_ends_the_command(tmp_path: Path) -> None:
    """With the exit code for it, and without the password of its address."""
    url = "http://elastic:CANARY@127.0.0.1:9"
    message = refused(crag("serve", "--port", "0", "--store", "elasticsearch", "--url", url), ExitCode.UNREACHABLE)
    assert "no answer from Elasticsearch" in message
    assert "CANARY" not in message


def test_a_worker_that_cannot_start_says_why_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command starts another one in its place; a traceback of each would bury the log."""
    monkeypatch.setenv("CRAG_STORE", "elasticsearch")
    monkeypatch.setenv("ELASTICSEARCH_URL", "http://127.0.0.1:9")
    with pytest.raises(SystemExit):
        app_from_environment()
    (line,) = capsys.readouterr().err.splitlines()
    assert "ERROR A worker could not start: no answer from Elasticsearch" in line


def test_a_port_that_is_taken_is_named() -> None:
    """Before anything is loaded; 3 would say that nothing answers the question."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        message = refused(crag("serve", "--port", str(port)), ExitCode.USAGE)
    assert f"port {port} is taken at 127.0.0.1; choose another --port" in message
    check_port("127.0.0.1", port)


@pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="this machine has no IPv6")
def test_all_addresses_of_both_families_are_listened_at(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, docs: str
) -> None:
    """Whoever listens at `::` means all, as with nginx or several workers; a single one took no IPv4."""
    monkeypatch.setenv("CRAG_SERVE_API_KEYS", KEY)
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
        message = refused(crag("serve", "--host", "::", "--port", port), ExitCode.USAGE)
    assert f"port {port} is taken at ::" in message
    given = ("--docs", docs, "--pipelines", "corrective_retrieval", "--host", "::")
    with command(tmp_path, *given) as running:
        port = running.url().rpartition(":")[2]
        assert eventually(lambda: "Application startup complete" in running.log)
        with httpx.Client(transport=httpx.HTTPTransport(retries=5)) as client:  # it listens a moment later
            for place in ("127.0.0.1", "[::1]"):
                assert client.get(f"http://{place}:{port}/health/live").status_code == 200


@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize(
    ("host", "told"), [("192.0.2.1", "cannot listen at 192.0.2.1"), ("nowhere.invalid", "no address")]
)
def test_a_host_that_is_not_this_machine_is_named_with_the_way_out(
    monkeypatch: pytest.MonkeyPatch, host: str, told: str, workers: str
) -> None:
    """The web server would give the number of an error, and no address."""
    monkeypatch.setenv("CRAG_SERVE_API_KEYS", KEY)
    given = ("--store", "elasticsearch", "--url", "http://127.0.0.1:9", "--workers", workers)
    message = refused(crag("serve", "--host", host, *given), ExitCode.USAGE)
    assert told in message
    assert "take an address of this machine as --host" in message


def test_a_start_that_fails_has_the_code_of_a_failure(monkeypatch: pytest.MonkeyPatch, docs: str) -> None:
    """As `crag --help` says, and not uvicorn's own."""

    def failing(*_: Any, **__: Any) -> None:
        raise SystemExit(3)

    monkeypatch.setattr("uvicorn.Server.run", failing)
    assert crag("serve", "--port", "0", "--docs", docs).exit_code == ExitCode.FAILED


def test_a_platforms_own_number_of_workers_does_not_end_the_start(tmp_path: Path, docs: str) -> None:
    """As Heroku sets it for whatever runs there: uvicorn reads it, and wants the app named then."""
    with command(tmp_path, "--docs", docs, "--pipelines", "corrective_retrieval", WEB_CONCURRENCY="2") as running:
        assert httpx.get(f"{running.url()}/health/ready").status_code == 200


def test_a_start_that_fails_at_the_last_moment_is_a_line_without_the_text_of_the_exception(
    tmp_path: Path, docs: str
) -> None:
    """Here the model's client cannot be made: uvicorn would log pages of traceback, with what the exception says."""
    chat = {"CRAG_LLM_BASE_URL": "http://127.0.0.1:9/v1", "CRAG_LLM_MODEL": NAME, "HTTPS_PROXY": "http://proxy:canary"}
    with command(tmp_path, "--docs", docs, "--pipelines", "corrective_rag", **chat) as running:
        assert running.process.wait(60) == ExitCode.FAILED
    assert "ERROR The server cannot start, or end: InvalidURL" in running.log
    assert "Traceback" not in running.log
    assert "canary" not in running.log


def test_a_folder_of_documents_may_have_a_comma_in_its_name(tmp_path: Path, docs: str) -> None:
    """As an option it is one path; only in CRAG_SERVE_DOCS a comma separates several."""
    folder = Path(docs).rename(tmp_path / "letters, 2026")
    with command(tmp_path, "--docs", str(folder), "--pipelines", "corrective_retrieval") as running:
        answer = httpx.post(f"{running.url()}/corrective_retrieval/run", json={"question": QUESTION}, timeout=30)
        assert answer.json()["result"]["evidence"][0]["source"] == "penguins.md"


@pytest.mark.parametrize("word", ["memory", "in_memory"])
def test_a_memory_store_has_the_names_that_other_commands_take(word: str) -> None:
    assert read_settings(store=word).store == "memory"


def test_settings_come_from_env_files_too(tmp_path: Path) -> None:
    """What is given wins over the environment, and that over `.env`; an empty value is none."""
    Path(".env").write_text(
        "CRAG_SERVE_PORT=1500\nCRAG_INDEX=books\nCRAG_SERVE_API_KEYS=first-key, second-key\nCRAG_SERVE_HOST=\n"
    )
    settings = read_settings(port=1600)
    assert (settings.port, settings.index, settings.host) == (1600, "books", "127.0.0.1")
    assert [key.get_secret_value() for key in settings.api_keys] == ["first-key", "second-key"]
    assert "first-key" not in repr(settings)


def test_a_variable_that_is_set_to_nothing_switches_off_what_an_env_file_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """`CRAG_REDIS_URL= crag serve` did nothing, while `crag doctor` and the chat model's settings heed it."""
    filed = {"CRAG_STORE": "elasticsearch", "CRAG_REDIS_URL": "redis://127.0.0.1:9/0", "CRAG_SERVE_UPLOADS": "true"}
    Path(".env").write_text("".join(f"{name}={value}\n" for name, value in filed.items()))
    assert read_settings().store == configured("CRAG_STORE") == "elasticsearch"
    for name in filed:
        monkeypatch.setenv(name, "")
    settings = read_settings()
    assert {configured(name) for name in filed} == {None}
    assert (settings.store, settings.redis_url, settings.uploads) == ("memory", None, False)


def test_a_variable_for_keys_that_is_set_to_nothing_opens_no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """As of a template, beside a `.env` with keys: the server was open, also behind a proxy on this machine."""
    for name, value in (("CRAG_SERVE_API_KEYS", "a-key"), ("CRAG_SERVE_API_KEYS_FILE", "keys")):
        Path(".env").write_text(f"{name}={value}\n")
        monkeypatch.setenv(name, "")
        assert read_settings().has_keys
        monkeypatch.setenv(name, "another")
        assert "another" in str(read_settings().api_keys_file or read_settings().api_keys[0].get_secret_value())
        monkeypatch.delenv(name)


@pytest.mark.parametrize("end", ["\n", "\r", " "])
def test_the_end_of_a_line_is_no_part_of_a_setting(end: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As of a Secret made by `echo`, or of an env file from Windows; `crag ask` left it out already."""
    given = {
        "CRAG_STORE": "elasticsearch",
        "ELASTICSEARCH_URL": "http://127.0.0.1:9200",
        "CRAG_INDEX": "handbook",
        "CRAG_CALIBRATION": "mine.json",
        "CRAG_SERVE_HOST": "0.0.0.0",
        "CRAG_SERVE_WORKERS": "2",
        "CRAG_SERVE_API_KEYS_FILE": "keys",
        "CRAG_SERVE_METRICS_OPEN": "true",
    }
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    meant = read_settings()
    for name, value in given.items():
        monkeypatch.setenv(name, value + end)
    assert read_settings() == meant


def test_a_value_that_is_wrong_is_not_repeated() -> None:
    with pytest.raises(ConfigurationError) as caught:
        read_settings(concurrent="CANARY", api_keys_file=["CANARY"])
    assert "CRAG_SERVE_CONCURRENT" in str(caught.value)
    assert "CANARY" not in str(caught.value)


def test_every_setting_is_in_the_documentation() -> None:
    page = (Path(__file__).parents[2] / "docs" / "server-settings.md").read_text("utf-8")
    assert [name for name in ServeSettings.model_fields if f"`{environment_name(name)}`" not in page] == []


def test_help_names_the_command() -> None:
    assert "serve" in crag("--help").stdout


def test_several_workers_share_an_index(tmp_path: Path, elasticsearch_url: str, elasticsearch_index: str) -> None:
    """Each is a process; an upload to one is found by all. SIGTERM ends them all. No library's warnings are logged."""
    place = ("--store", "elasticsearch", "--url", elasticsearch_url, "--index", elasticsearch_index)
    served = (*place, "--workers", "2", "--uploads", "--pipelines", "corrective_retrieval")
    warned = "import sys, warnings\nif '--multiprocessing-fork' in sys.orig_argv: warnings.warn('CANARY')\n"
    (tmp_path / "sitecustomize.py").write_text(warned)
    path = os.pathsep.join((str(tmp_path), environment()["PYTHONPATH"]))
    with command(tmp_path, *served, PYTHONPATH=path) as running:
        url = running.url()
        end = time.monotonic() + 300
        while running.log.count("Application startup complete") < 2:
            assert time.monotonic() < end, running.log
            time.sleep(0.1)
        files = {"files": ("penguins.md", b"# Penguins\n\nEmperor penguins live on the coast of Antarctica.\n")}
        assert httpx.post(f"{url}/indexing/run", files=files, timeout=60).json()["result"]["added"] == 1
        for _ in range(8):
            answer = httpx.post(f"{url}/corrective_retrieval/run", json={"question": QUESTION}, timeout=30).json()
            assert answer["result"]["evidence"][0]["source"] == "uploads/penguins.md"
        running.process.send_signal(signal.SIGTERM)
        assert running.process.wait(120) in (0, -signal.SIGTERM)
        assert "CANARY" not in running.log


def test_a_variable_log_of_another_program_is_let_be(tmp_path: Path, docs: str) -> None:
    """Hayhooks reads its log level from it, and the server ended at a path; its log has a level of its own."""
    with command(tmp_path, "--docs", docs, "--pipelines", "corrective_retrieval", LOG="/var/log/app.log") as running:
        assert httpx.get(f"{running.url()}/health/live").status_code == 200


def test_workers_read_what_was_given_in_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """A list went to them as Python shows it, and of a secret the stars: the keys that they accepted were others."""
    given: dict[str, Any] = {"api_keys": [SecretStr("first-key"), "second-key"], "pipelines": ("corrective_retrieval",)}
    given |= {"port": 0, "uploads": True, "cors_origins": "https://a.example,https://b.example"}
    given |= {"redis_url": SecretStr("redis://:word@127.0.0.1:6379/0"), "docs": {"handbook"}, "url": None}
    settings = read_settings(**given)
    for name, value in as_variables(settings, [*given, "unknown"]).items():
        monkeypatch.setenv(name, value)
    assert read_settings() == settings
    with pytest.raises(ConfigurationError, match="got a comma in a value of api_keys"):
        as_variables(read_settings(api_keys=["one,two"]), ["api_keys"])
