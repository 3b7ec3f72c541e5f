"""`crag doctor`: what works, what is missing, and the way out."""

import json
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError
from importlib.resources import files
from pathlib import Path
from threading import Event
from uuid import uuid4

import pytest
import redis
from certificates import certified
from cli_runner import crag, refused
from metasearch import Metasearch
from pytest_httpserver import HTTPServer
from scripted_model import NAME, ScriptedModel
from service_fixtures import own_redis
from waiting import eventually
from werkzeug import Response

from haystack_integrations.crag.chat_model import chat_model
from haystack_integrations.crag.cli.errors import ExitCode
from haystack_integrations.crag.pipelines.loader import names, source


def examined(*arguments: str) -> tuple[int, dict[str, dict[str, str]]]:
    """Run it; gives the exit code, and the checks by name."""
    result = crag("doctor", "--json", *arguments)
    found = json.loads(result.stdout)
    assert found["healthy"] is (result.exit_code == 0)
    return result.exit_code, {check["name"]: check for check in found["checks"]}


def test_a_healthy_machine_needs_no_model_and_no_server() -> None:
    """What is optional and absent is said, and is no fault."""
    code, checks = examined()
    assert code == 0
    for name in ("python", "packages", "static model", "embedded pipeline", "settings"):
        assert checks[name]["status"] == "ok"
    assert checks["chat model"]["status"] == "info"
    assert "CRAG_LLM_MODEL" in checks["chat model"]["fix"]
    assert {"extra serve", "extra trace", "extra web", "extra redis", "extra eval", "extra onnx"} <= set(checks)


def test_a_package_that_is_not_installed_has_no_extras_and_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """As when it is run from its source."""

    def unknown(name: str) -> list[str]:
        raise PackageNotFoundError(name)

    monkeypatch.setattr("haystack_integrations.crag.cli.doctor.requires", unknown)
    code, checks = examined()
    assert code == 0
    assert not [name for name in checks if name.startswith("extra ")]


def test_the_table_shows_every_check_and_its_way_out_in_one_line() -> None:
    """A command that is shown can be copied."""
    result = crag("doctor")
    assert result.exit_code == 0
    assert "✔  python" in result.stdout
    assert "→ to get written answers, set CRAG_LLM_BASE_URL and CRAG_LLM_MODEL (environment or .env)" in result.stdout


def test_an_unreadable_setting_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """Named with its value, and what to do."""
    monkeypatch.setenv("KB_AGENT_MAX_ITERATIONS", "many")
    code, checks = examined()
    assert code == ExitCode.FAILED
    assert "KB_AGENT_MAX_ITERATIONS" in checks["settings"]["found"]
    assert checks["settings"]["fix"].startswith("correct or unset it")


def test_settings_are_shown_with_where_they_come_from(monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment wins over `.env`."""
    Path(".env").write_text("KB_AGENT_MAX_ITERATIONS=5\nKB_AGENT_AUTO_APPROVE_MAX_ITEMS=1\n")
    monkeypatch.setenv("KB_AGENT_MAX_ITERATIONS", "2")
    found = examined()[1]["settings"]["found"]
    assert "KB_AGENT_MAX_ITERATIONS=2 (environment)" in found
    assert "KB_AGENT_AUTO_APPROVE_MAX_ITEMS=1 (.env)" in found


def test_settings_are_shown_with_what_reads_them() -> None:
    """One shipped pipeline only: all others say their numbers themselves, but the control, which never corrects."""
    shipped = {name: source(name) for name in names()}
    left_open = {name for name, text in shipped.items() if "CragRouter" in text and "max_iterations:" not in text}
    assert left_open == {"agent_rag", "baseline_rag"}
    assert [name for name, text in shipped.items() if "RulePrefilter" in text] == ["agent_rag"]
    assert examined()[1]["settings"]["found"].startswith("for agent_rag, and for parts of yours that leave them open: ")


def test_a_model_that_answers_is_healthy(configured_model: ScriptedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is asked for a word, as questions ask it, and so is another way in which it grades."""
    monkeypatch.setenv("CRAG_LLM_OPTIONS", '{"reasoning_effort": "low"}')
    code, checks = examined()
    assert (code, checks["chat model"]["status"], configured_model.calls) == (0, "ok", 1)
    monkeypatch.setenv("CRAG_LLM_GRADING_OPTIONS", '{"reasoning_effort": "none"}')
    assert examined()[0] == 0
    assert [request["reasoning_effort"] for request in configured_model.requests] == ["low", "low", "none"]


@pytest.mark.parametrize(
    ("status", "way_out"),
    [(402, "no credit left"), (404, "CRAG_LLM_MODEL"), (429, "quota is used up"), (503, "server's log")],
)
def test_a_model_that_is_listed_and_refuses_to_answer_is_a_fault(
    status: int, way_out: str, configured_model: ScriptedModel
) -> None:
    """Out of credit, taken away, over its limit: its server lists it all the same."""
    configured_model.status = status
    code, checks = examined()
    assert (code, checks["chat model"]["status"]) == (ExitCode.FAILED, "error")
    assert f"refused: {status} " in checks["chat model"]["found"]
    assert way_out in checks["chat model"]["fix"]


def test_a_model_that_is_listed_and_hangs_is_a_fault(
    configured_model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A question would not get its grades either."""
    monkeypatch.setattr("haystack_integrations.crag.cli.doctor.GRADING_SECONDS", 1.0)
    configured_model.delay = 60.0
    check = examined()[1]["chat model"]
    assert (check["status"], "has not answered within 1 s" in check["found"]) == ("error", True)
    assert "its load" in check["fix"]


def test_a_model_that_is_not_listed_and_refused_is_a_fault(configured_model: ScriptedModel) -> None:
    """With the models that the server has."""
    configured_model.status = 404
    code, checks = examined("--llm-model", "other")
    assert (code, checks["chat model"]["status"]) == (ExitCode.FAILED, "error")
    assert checks["chat model"]["found"].endswith("(not among the 1 models listed there)")
    assert checks["chat model"]["fix"].startswith(f"set CRAG_LLM_MODEL to a model that the server has: {NAME}; else ")


def test_a_model_that_is_not_listed_and_answers_is_healthy(configured_model: ScriptedModel) -> None:
    """An alias or a pattern of a proxy; that it is not listed is said, as a small server answers to any name."""
    code, checks = examined("--llm-model", "alias")
    assert (code, checks["chat model"]["status"], configured_model.calls) == (0, "ok", 1)
    assert checks["chat model"]["found"].startswith("alias at ")
    assert checks["chat model"]["found"].endswith("; not among the models listed there: alias")


@pytest.mark.parametrize("listed", ["llama3.2:latest", "models/llama3.2"])
def test_a_model_may_be_listed_with_its_tag_or_its_kind(httpserver: HTTPServer, listed: str) -> None:
    """As Ollama and Google list what is asked for without it."""
    httpserver.expect_request("/v1/models").respond_with_json({"object": "list", "data": [{"id": listed}]})
    choice = {"index": 0, "message": {"role": "assistant", "content": "Yes."}, "finish_reason": "stop"}
    reply = {"id": "x", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
    httpserver.expect_request("/v1/chat/completions").respond_with_json(reply)
    at = ("--llm-base-url", httpserver.url_for("/v1"), "--llm-model")
    assert examined(*at, "llama3.2")[1]["chat model"]["status"] == "ok"
    assert "not among" not in examined(*at, "llama3.2")[1]["chat model"]["found"]
    assert examined(*at, "llama3")[1]["chat model"]["found"].endswith("not among the models listed there: llama3")


def test_a_model_that_grades_is_asked_by_its_own_name(
    configured_model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is asked at each question, and named by its own setting when it is refused."""
    monkeypatch.setenv("CRAG_LLM_GRADING_MODEL", "small")
    assert examined()[1]["chat model"]["found"].endswith("; not among the models listed there: small")
    assert [request["model"] for request in configured_model.requests] == [NAME, "small"]
    configured_model.refuses, configured_model.refusal = "max_completion_tokens", 404
    monkeypatch.setenv("CRAG_LLM_GRADING_OPTIONS", '{"max_completion_tokens": 9}')
    check = examined()[1]["chat model"]
    assert check["status"] == "error"
    assert check["found"].startswith("small: ")
    assert check["fix"].startswith("set CRAG_LLM_GRADING_MODEL to ")


@pytest.mark.parametrize(("listed", "status"), [("", 404), ('{"object": "list", "data": [{"name": "m"}]}', 200)])
def test_a_server_without_a_list_of_models_is_asked_for_a_word(
    listed: str, status: int, httpserver: HTTPServer, scripted_model: ScriptedModel
) -> None:
    """Many small servers only know completions, or list models in a way of their own."""
    httpserver.expect_request("/v1/models").respond_with_data(listed, status=status, content_type="application/json")
    choice = {"index": 0, "message": {"role": "assistant", "content": "Yes."}, "finish_reason": "stop"}
    forward = {"id": "x", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
    httpserver.expect_request("/v1/chat/completions").respond_with_json(forward)
    code, checks = examined("--llm-base-url", httpserver.url_for("/v1"), "--llm-model", "m")
    assert (code, checks["chat model"]["status"]) == (0, "ok")


@pytest.mark.parametrize("mistyped", [False, True])
def test_the_password_of_a_models_server_is_not_shown(
    configured_model: ScriptedModel, monkeypatch: pytest.MonkeyPatch, mistyped: bool
) -> None:
    """What `crag doctor` says is pasted into tickets."""
    address = configured_model.url.replace("://", "://user:CANARY@")
    monkeypatch.setenv("CRAG_LLM_BASE_URL", address.replace(":", "", 1) if mistyped else address)
    code, checks = examined()
    assert (code, checks["chat model"]["status"]) == ((1, "error") if mistyped else (0, "ok"))
    assert "CANARY" not in str(checks)


def test_the_server_that_openais_client_is_led_to_is_named(
    scripted_model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By OPENAI_BASE_URL, which it reads by itself; an evaluation of one server is not gone on with on another."""
    for name, value in {"CRAG_LLM_MODEL": "m", "OPENAI_API_KEY": "none", "OPENAI_BASE_URL": scripted_model.url}.items():
        monkeypatch.setenv(name, value)
    code, checks = examined()
    assert (code, scripted_model.calls) == (0, 1)
    assert f"m at {scripted_model.url} answers" in checks["chat model"]["found"]
    first = chat_model()
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    other = chat_model()
    assert first is not None
    assert other is not None
    assert first.identity() != other.identity()
    monkeypatch.setenv("OPENAI_BASE_URL", "127.0.0.1:9/v1")
    assert examined()[1]["chat model"]["fix"] == "correct OPENAI_BASE_URL"


def test_a_model_that_is_down_is_a_fault() -> None:
    """It was configured, so somebody needs it."""
    code, checks = examined("--llm-base-url", "http://127.0.0.1:9/v1", "--llm-model", "m")
    assert code == ExitCode.FAILED
    assert "CRAG_LLM_BASE_URL" in checks["chat model"]["fix"]


def test_the_calibration_of_a_server_is_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that was taken away or half written makes every question a 500; a whole one says whose questions it is of."""
    shipped = files("haystack_integrations.crag").joinpath("models", "calibration", "default.json").read_bytes()
    mine = tmp_path / "mine.json"
    mine.write_bytes(shipped)
    assert "calibration" not in examined()[1]
    check = examined("--calibration", str(mine))[1]["calibration"]
    assert (check["status"], str(mine) in check["found"], "questions of" in check["found"]) == ("ok", True, True)
    monkeypatch.setenv("CRAG_CALIBRATION", str(mine))
    mine.write_bytes(shipped[:2000])
    code, checks = examined()
    assert (code, checks["calibration"]["status"]) == (ExitCode.FAILED, "error")
    assert "is no readable JSON" in checks["calibration"]["found"]
    mine.unlink()
    assert "cannot be read" in examined()[1]["calibration"]["found"]


def test_a_cache_in_redis_without_its_extra_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """The client is an extra, and its absence no surprise."""
    monkeypatch.setenv("CRAG_REDIS_URL", "redis://127.0.0.1:9/0")
    monkeypatch.setitem(sys.modules, "redis", None)
    code, checks = examined()
    assert (code, checks["redis"]["status"]) == (ExitCode.FAILED, "error")
    assert checks["redis"]["fix"] == 'run `pip install "crag-haystack[redis]"`'


def test_what_a_server_is_set_to_use_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its store, its grades and its web; nothing of a password is shown."""
    monkeypatch.setenv("CRAG_STORE", "elasticsearch")
    monkeypatch.setenv("ELASTICSEARCH_URL", "http://elastic:CANARY@127.0.0.1:9")
    monkeypatch.setenv("CRAG_REDIS_URL", "redis://:CANARY@127.0.0.1:9/0")
    monkeypatch.setenv("CRAG_SEARXNG_URL", "http://user:CANARY@127.0.0.1:9")
    monkeypatch.setenv("CRAG_SERVE_API_KEY", "CANARY")
    code, checks = examined()
    assert code == ExitCode.FAILED
    assert {name: checks[name]["status"] for name in ("elasticsearch", "redis", "searxng")} == dict.fromkeys(
        ("elasticsearch", "redis", "searxng"), "error"
    )
    assert "did you mean CRAG_SERVE_API_KEYS" in checks["serve settings"]["found"]
    assert "CANARY" not in json.dumps(checks)
    monkeypatch.setenv("ELASTICSEARCH_URL", "nowhere")
    assert "wanted http://HOST:PORT" in examined()[1]["store"]["found"]


def test_a_store_of_an_unknown_kind_is_found_beside_all_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a setting it ended the command before anything was looked at; as an option it is a mistake of the command."""
    monkeypatch.setenv("CRAG_STORE", "CANARY")
    code, checks = examined()
    assert (code, checks["store"]["status"], checks["embedded pipeline"]["status"]) == (1, "error", "ok")
    assert checks["store"]["found"] == "no kind of store is named 'CANARY'"
    assert "no kind of store is named 'other'" in refused(crag("doctor", "--store", "other"), ExitCode.USAGE)


def test_settings_of_a_store_that_no_command_asks_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the address alone nothing was said of a store, and everything was healthy."""
    monkeypatch.setenv("ELASTICSEARCH_URL", "http://elastic:CANARY@127.0.0.1:9")
    monkeypatch.setenv("CRAG_INDEX", "handbook")
    code, checks = examined()
    assert (code, checks["store"]["status"]) == (0, "warning")
    assert checks["store"]["found"] == "no server is asked, so ELASTICSEARCH_URL and CRAG_INDEX have no effect"
    assert "set CRAG_STORE=elasticsearch" in checks["store"]["fix"]
    monkeypatch.setenv("CRAG_STORE", "elasticsearch")
    code, checks = examined()
    assert (code, "store" in checks, checks["elasticsearch"]["status"]) == (ExitCode.FAILED, False, "error")


@pytest.mark.parametrize("lower", [False, True])
def test_settings_of_a_server_are_looked_at_where_the_server_reads_them(lower: bool) -> None:
    """In `.env`, too, and in any letters; and so is the file of keys that they name."""
    wrong = "CRAG_SERVE_CONCURRENT=0\n"
    Path(".env").write_text(wrong.lower() if lower else wrong)
    code, checks = examined()
    assert (code, checks["serve settings"]["status"]) == (ExitCode.FAILED, "error")
    assert "CRAG_SERVE_CONCURRENT" in checks["serve settings"]["found"]
    Path(".env").write_text("CRAG_SERVE_API_KEYS_FILE=keys\n")
    code, checks = examined()
    assert code == ExitCode.FAILED
    assert "got no API key from the file 'keys' (FileNotFoundError)" in checks["serve settings"]["found"]
    Path("keys").write_text("a-key\n")
    assert examined()[1]["serve settings"]["status"] == "ok"


@pytest.mark.parametrize(
    ("name", "value", "found"),
    [
        ("PIPELINES", "corective_rag", "got the pipelines ['corective_rag'], wanted some of"),
        ("PIPELINES", "corrective_rag", "the pipelines ['corrective_rag'] ask a chat model, but none is configured"),
        ("DOCS", "nowhere", "no file or folder at ['nowhere']"),
    ],
)
def test_what_ends_the_start_of_a_server_is_no_setting_that_is_usable(
    name: str, value: str, found: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It said that all are known and usable, and the server did not start."""
    monkeypatch.setenv("CRAG_SERVE_API_KEYS", "a-key")
    assert examined()[1]["serve settings"]["status"] == "ok"
    monkeypatch.setenv(f"CRAG_SERVE_{name}", value)
    code, checks = examined()
    assert (code, checks["serve settings"]["status"]) == (ExitCode.FAILED, "error")
    assert checks["serve settings"]["found"].startswith(found)


def test_a_redis_and_a_metasearch_that_answer_are_healthy(
    redis_url: str, metasearch: Metasearch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the metasearch a search tells: one that runs may still give no JSON."""
    monkeypatch.setenv("CRAG_REDIS_URL", redis_url)
    metasearch.finds(["Rain in the morning."])
    checks = examined()[1]
    assert (checks["redis"]["status"], checks["searxng"]["status"]) == ("ok", "ok")
    metasearch.status = 403
    assert "formats" in checks_text(examined()[1]["searxng"])


@pytest.mark.parametrize(
    ("rights", "said", "way"),
    [
        (["-@all", "+@connection"], "cannot read grades (NoPermissionError)", "crag:grade:*"),
        (["-@all", "+@connection", "+@read"], "cannot store grades (NoPermissionError)", "crag:grade:*"),
    ],
)
def test_a_redis_that_answers_but_refuses_reads_or_writes_is_a_warning(
    redis_url: str, monkeypatch: pytest.MonkeyPatch, rights: list[str], said: str, way: str
) -> None:
    """No question fails for it, so only what is paid for twice would tell."""
    user = f"doctor-{uuid4().hex}"
    monkeypatch.setenv("CRAG_REDIS_URL", redis_url.replace("//", f"//{user}@"))
    with redis.Redis.from_url(redis_url) as server:
        server.execute_command("ACL", "SETUSER", user, "on", "nopass", "~*", *rights)
        code, checks = examined()
        server.acl_deluser(user)
    assert (code, checks["redis"]["status"]) == (0, "warning")
    assert said in checks["redis"]["found"]
    assert way in checks["redis"]["fix"]


@pytest.mark.parametrize(
    ("setting", "said", "way"),
    [
        (("--maxmemory", "1"), "cannot store grades (OutOfMemoryError)", "maxmemory-policy"),
        (("--replicaof", "127.0.0.1 9"), "cannot store grades (ReadOnlyError)", "CRAG_REDIS_URL"),
    ],
)
def test_so_is_one_whose_memory_is_full_and_a_read_only_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, setting: tuple[str, str], said: str, way: str
) -> None:
    with own_redis(tmp_path, *setting) as (url, _):
        monkeypatch.setenv("CRAG_REDIS_URL", url)
        check = examined()[1]["redis"]
    assert check["status"] == "warning"
    assert said in check["found"]
    assert way in check["fix"]


def test_so_is_a_node_of_a_cluster_which_gives_one_grade_and_refuses_two(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was told to be well, and no grade was ever read."""
    with own_redis(tmp_path, "--cluster-enabled", "yes") as (url, _), redis.Redis.from_url(url) as node:
        node.execute_command("CLUSTER", "ADDSLOTSRANGE", 0, 16_383)
        assert eventually(lambda: "cluster_state:ok" in str(node.execute_command("CLUSTER", "INFO")))
        monkeypatch.setenv("CRAG_REDIS_URL", url)
        check = examined()[1]["redis"]
    assert check["status"] == "warning"
    assert "cannot read grades (ClusterCrossSlotError)" in check["found"]
    assert "name a Redis that is none in CRAG_REDIS_URL" in check["fix"]


def checks_text(check: dict[str, str]) -> str:
    """All that a check says."""
    return " ".join(check.values())


def test_a_store_that_is_down_is_a_fault() -> None:
    """And nothing more is looked at there."""
    code, checks = examined("--url", "http://127.0.0.1:9")
    assert code == ExitCode.FAILED
    assert checks["elasticsearch"]["status"] == "error"
    assert "index" not in checks


@pytest.mark.parametrize("models", ["<html>502 Bad Gateway", "{}", "null", "[]"])
@pytest.mark.parametrize("content_type", ["text/html", "application/json"])
def test_a_proxys_page_is_no_model_that_answers(
    models: str, content_type: str, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor is whatever else is no chat completion; a server that replies counts, whether or not it lists its models."""
    monkeypatch.setenv("CRAG_LLM_BASE_URL", httpserver.url_for("/v1"))
    monkeypatch.setenv("CRAG_LLM_MODEL", NAME)
    httpserver.expect_request("/v1/models").respond_with_data(models, content_type=content_type)
    httpserver.expect_oneshot_request("/v1/chat/completions").respond_with_data(models, content_type=content_type)
    _, checks = examined()
    assert checks["chat model"]["status"] == "error"
    assert "does not return a chat completion" in checks["chat model"]["found"]
    assert "CRAG_LLM_BASE_URL" in checks["chat model"]["fix"]
    choice = {"index": 0, "message": {"role": "assistant", "content": "Yes."}, "finish_reason": "stop"}
    reply = {"id": "x", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
    httpserver.expect_request("/v1/chat/completions").respond_with_json(reply)
    assert examined()[1]["chat model"]["status"] == "ok"


def test_services_whose_certificate_is_not_trusted_are_told_from_those_that_are_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each with the setting that mends it; trusted, they are asked, and here found to be something else."""
    authority, context = certified(tmp_path)
    with HTTPServer("127.0.0.1", ssl_context=context) as server:
        server.expect_request("/search").respond_with_json({})
        monkeypatch.setenv("CRAG_REDIS_URL", f"rediss://127.0.0.1:{server.port}/0")
        monkeypatch.setenv("CRAG_SEARXNG_URL", f"https://127.0.0.1:{server.port}")
        _, checks = examined()
        for name in ("redis", "searxng"):
            assert "no secure connection" in checks[name]["found"]
            assert "SSL_CERT_FILE" in checks[name]["fix"]
        monkeypatch.setenv("SSL_CERT_FILE", str(authority))
        _, checks = examined()
        assert "without a list `results`" in checks["searxng"]["found"]
        assert "no answer from Redis" in checks["redis"]["found"]


def test_a_redis_that_is_down_is_named_with_its_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not as an error that nobody expected; without its password."""
    monkeypatch.setenv("CRAG_REDIS_URL", "redis://:CANARY@127.0.0.1:9/0")
    _, checks = examined()
    assert checks["redis"]["found"] == "no answer from Redis at redis://127.0.0.1:9/0 (ConnectionError)"
    assert "start it, or correct CRAG_REDIS_URL" in checks["redis"]["fix"]


@pytest.mark.parametrize(
    "url", ["http://:CANARY@127.0.0.1:9", "redis://:CANARY@h:99999/0", "redis://h/0?db=CANARY", "redis:///0"]
)
def test_what_is_no_address_of_a_redis_is_named_by_its_setting(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was an unexpected error with the words of Redis' client."""
    monkeypatch.setenv("CRAG_REDIS_URL", url)
    check = examined()[1]["redis"]
    assert check["found"] == "what CRAG_REDIS_URL holds is no address of a Redis"
    assert check["fix"] == "correct CRAG_REDIS_URL, wanted redis://HOST:PORT/0, rediss:// or unix://"


def test_a_redis_without_the_database_that_is_named_is_told_as_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It runs: nobody needs to start it."""
    with own_redis(tmp_path) as (url, _):
        monkeypatch.setenv("CRAG_REDIS_URL", f"{url.rpartition('/')[0]}/99")
        check = examined()[1]["redis"]
    assert (check["status"], "name a database that it has" in check["fix"]) == ("error", True)


def test_a_redis_that_wants_a_password_is_named_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As one without."""
    with own_redis(tmp_path, "--requirepass", "CANARY") as (url, _):
        monkeypatch.setenv("CRAG_REDIS_URL", url.replace("//", "//:wrong@"))
        check = examined()[1]["redis"]
    assert "(AuthenticationError)" in check["found"]
    assert "password into CRAG_REDIS_URL" in check["fix"]


def test_what_is_no_elasticsearch_is_told_as_that(httpserver: HTTPServer) -> None:
    """Neither its index nor the rights of a key are what is wrong."""
    httpserver.expect_request("/").respond_with_json({"version": {"number": "8.19.0"}})
    _, checks = examined("--store", "elasticsearch", "--url", httpserver.url_for("/").rstrip("/"), "--index", "i")
    assert "is no Elasticsearch" in checks["elasticsearch"]["found"]
    assert checks["elasticsearch"]["fix"] == "pass the address of one"


def test_a_service_that_drips_holds_no_doctor(httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its client's own timeout counts from byte to byte, and never ends."""
    over = Event()

    def dripping() -> Iterator[bytes]:
        while not over.wait(0.1):
            yield b" "

    httpserver.expect_request("/v1/models").respond_with_handler(
        lambda _: Response(dripping(), content_type="application/json")
    )
    monkeypatch.setattr("haystack_integrations.crag.cli.check._SECONDS", 1.0)
    monkeypatch.setenv("CRAG_LLM_BASE_URL", httpserver.url_for("/v1"))
    monkeypatch.setenv("CRAG_LLM_MODEL", NAME)
    try:
        _, checks = examined()
    finally:
        over.set()
    assert checks["chat model"]["found"] == "no complete answer within 1 s"


def test_a_collector_is_sent_nothing_and_says_whether_it_would_take_more(
    httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the server sends: with its address and key. A lost trace fails no answer, so nobody would notice."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", httpserver.url_for("").rstrip("/"))
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-key=secret")
    httpserver.expect_request("/v1/traces", method="POST", headers={"x-key": "secret"}).respond_with_data(b"")
    httpserver.expect_request("/v1/metrics", method="POST").respond_with_data(b"", status=404)  # as a Jaeger
    code, checks = examined()
    assert code == 1
    assert checks["traces"]["status"] == "ok"
    assert checks["metrics"]["status"] == "error"
    assert checks["metrics"]["fix"].endswith(": OTEL_METRICS_EXPORTER=none, if it is a Jaeger, which takes no metrics")
    monkeypatch.setenv("OTEL_METRICS_EXPORTER", "none")
    code, checks = examined()
    assert code == 0
    assert "metrics" not in checks
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")  # nothing is sent, whatever would be taken
    assert "traces" not in examined()[1]


@pytest.mark.parametrize("protocol", ["http/protobuf", "grpc"])
def test_a_collector_that_is_not_there_is_named_without_its_password(
    protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By either protocol, with the variable that holds its address."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://user:secret@127.0.0.1:9/v1/traces")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", protocol)
    code, checks = examined()
    assert code == 1
    assert checks["traces"]["found"] == f"not taken at http://127.0.0.1:9/v1/traces by {protocol}"
    assert "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT" in checks["traces"]["fix"]
    assert "secret" not in str(checks["traces"])
