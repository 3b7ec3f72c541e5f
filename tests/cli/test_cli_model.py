"""`crag ask` with an OpenAI-compatible endpoint: the answer, its cost, and everything that can be wrong with it."""

import json
import os
import re
import socket
import threading
from pathlib import Path

import pytest
from certificates import certified
from cli_runner import QUESTION, crag, in_process, refused
from pytest_httpserver import HTTPServer
from scripted_model import NAME, Messages, ScriptedModel, documents_in, judging

from haystack_integrations.crag.chat_model import chat_model
from haystack_integrations.crag.cli.errors import ExitCode
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.pipelines.loader import source
from haystack_integrations.crag.settings import configured
from haystack_integrations.crag.vocabulary import ABSTENTION


def test_the_answer_is_shown_with_its_evidence(docs: Path, model: ScriptedModel) -> None:
    """`corrective_rag` is chosen by itself: one call to grade, one to answer."""
    result = crag("ask", QUESTION, "--docs", docs)
    assert result.exit_code == 0, result.stderr
    assert "On the coast of Antarctica [1]." in result.stdout
    assert "penguins.md" in result.stdout
    assert (model.calls, model.gradings) == (2, 1)


def test_json_holds_the_answer_and_its_cost(docs: Path, model: ScriptedModel) -> None:
    """Numbers in the answer are those of the evidence."""
    outcome = json.loads(crag("ask", QUESTION, "--docs", docs, "--json").stdout)
    assert outcome["answer"] == "On the coast of Antarctica [1]."
    assert outcome["pipeline"] == "corrective_rag"
    assert outcome["evidence"][0]["number"] == 1
    assert outcome["crag"]["llm_calls"] == model.calls == 2


def test_a_local_endpoint_needs_no_key_and_options_win(
    docs: Path, scripted_model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Options come before the environment; a key is sent when there is one."""
    monkeypatch.setenv("CRAG_LLM_BASE_URL", "http://127.0.0.1:9/v1")
    chosen = ["--llm-base-url", scripted_model.url, "--llm-model", NAME]
    assert crag("ask", QUESTION, "--docs", docs, *chosen).exit_code == 0
    assert crag("ask", QUESTION, "--docs", docs, *chosen, "--llm-api-key", "sk-1").exit_code == 0
    assert scripted_model.keys == ["no-key", "no-key", "sk-1", "sk-1"]


def test_settings_may_stand_in_a_dotenv_file(docs: Path, scripted_model: ScriptedModel) -> None:
    """As the other settings of this package."""
    Path(".env").write_text(f"CRAG_LLM_BASE_URL={scripted_model.url}\nCRAG_LLM_MODEL={NAME}\n")
    assert json.loads(crag("ask", QUESTION, "--docs", docs, "--json").stdout)["answer"]


def test_a_dotenv_file_of_a_windows_editor_is_read(docs: Path, scripted_model: ScriptedModel) -> None:
    """With a byte order mark, which would otherwise be a part of the first name, and its line ends."""
    lines = f"\ufeffCRAG_LLM_MODEL={NAME}\r\nCRAG_LLM_BASE_URL={scripted_model.url}\r\n"
    Path(".env").write_bytes(lines.encode())
    assert json.loads(crag("ask", QUESTION, "--docs", docs, "--json").stdout)["answer"]


@pytest.mark.parametrize("command", [("ask", QUESTION, "--docs", "."), ("doctor",), ("serve",)])
def test_a_dotenv_file_that_cannot_be_read_is_named(command: tuple[str, ...]) -> None:
    """PowerShell's `>` writes UTF-16."""
    Path(".env").write_text("CRAG_LLM_API_KEY=CANARY", "utf-16")
    message = refused(crag(*command), ExitCode.USAGE)
    assert f"{str(Path('.env').absolute())!r} cannot be read (UnicodeDecodeError); save the file as UTF-8" in message
    assert "CANARY" not in message


@pytest.mark.parametrize("command", [("ask", QUESTION, "--docs", "."), ("doctor",), ("serve",)])
def test_a_dotenv_pipe_into_which_nobody_writes_does_not_hold_a_command_for_ever(
    command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It hung without a word, as with a password manager that is locked."""
    monkeypatch.setattr("haystack_integrations.crag.settings._PIPE_SECONDS", 0.2)
    os.mkfifo(".env")
    message = refused(crag(*command), ExitCode.USAGE)
    assert f"{str(Path('.env').absolute())!r} did not come in 0.2 seconds: it is a pipe, and nobody writes" in message


def test_a_dotenv_pipe_is_read_as_often_as_it_is_asked() -> None:
    """A password manager writes it anew for each who reads."""
    os.mkfifo(".env")
    for value in ("one", "two"):
        writer = threading.Thread(target=Path(".env").write_text, args=(f"CRAG_LLM_MODEL={value}\n",))
        writer.start()
        assert configured("CRAG_LLM_MODEL") == value
        writer.join()


def test_no_answer_is_made_up_when_nothing_answers(docs: Path, model: ScriptedModel) -> None:
    """The model is asked for grades only; the answer is null, and the exit code says so."""
    model.reply = judging(lambda _: 0.0)
    result = crag("ask", QUESTION, "--docs", docs, "--json")
    assert result.exit_code == ExitCode.NOT_ANSWERED
    assert json.loads(result.stdout)["answer"] is None
    assert model.calls == model.gradings


def test_a_model_that_says_that_the_evidence_does_not_answer_has_the_last_word(
    docs: Path, model: ScriptedModel
) -> None:
    """A script must not read «answered» where a person reads that nothing answers; the evidence is shown."""
    model.reply = judging(lambda text: 0.9 if "penguins" in text else 0.0, ABSTENTION)
    result = crag("ask", QUESTION, "--docs", docs, "--json")
    outcome = json.loads(result.stdout)
    assert outcome["crag"]["answer"]["status"] == "declined"
    assert (result.exit_code, outcome["answered"], len(outcome["evidence"])) == (ExitCode.NOT_ANSWERED, False, 1)


def test_a_pipeline_that_needs_a_model_says_so(docs: Path) -> None:
    """With the names of the settings, and the pipeline that needs none."""
    message = refused(crag("ask", QUESTION, "--docs", docs, "--pipeline", "corrective_rag"), ExitCode.USAGE)
    assert "CRAG_LLM_BASE_URL and CRAG_LLM_MODEL" in message
    assert "corrective_retrieval" in message


@pytest.mark.parametrize(
    ("settings", "wanted"),
    [
        ({"CRAG_LLM_BASE_URL": "http://localhost:1/v1"}, "CRAG_LLM_MODEL"),
        ({"CRAG_LLM_BASE_URL": "localhost", "CRAG_LLM_MODEL": "m"}, "wanted http://HOST:PORT/v1"),
        ({"CRAG_LLM_MODEL": "m"}, "CRAG_LLM_API_KEY for OpenAI"),
    ],
)
def test_half_a_configuration_is_refused(
    docs: Path, monkeypatch: pytest.MonkeyPatch, settings: dict[str, str], wanted: str
) -> None:
    """What is missing or wrong is named; nothing is asked of the wrong place."""
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    assert wanted in refused(crag("ask", QUESTION, "--docs", docs), ExitCode.USAGE)


def test_an_option_is_named_only_to_those_who_used_its_twin(docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`crag serve`, `eval` and `label` take their model from the environment alone."""
    url = "http://localhost:1/v1"
    asked = crag("ask", QUESTION, "--docs", docs, "--llm-base-url", url)
    assert "set CRAG_LLM_MODEL or pass --llm-model" in refused(asked, ExitCode.USAGE)
    monkeypatch.setenv("CRAG_LLM_BASE_URL", url)
    with pytest.raises(ConfigurationError, match=r"set CRAG_LLM_MODEL$"):
        chat_model()


def test_options_are_sent_with_each_call_and_those_for_grading_with_that_one(
    docs: Path, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model may think about its answer and not about grades, or a smaller one grades: which knows none of these."""
    monkeypatch.setenv("CRAG_LLM_OPTIONS", '{"reasoning_effort": "low", "extra_body": {"own": 1}}')
    assert crag("ask", QUESTION, "--docs", docs).exit_code == 0
    sent = [(call["model"], call.get("reasoning_effort"), call.get("own")) for call in model.requests]
    assert sent == [(NAME, "low", 1)] * 2
    assert "response_format" in model.requests[0]
    monkeypatch.setenv("CRAG_LLM_GRADING_OPTIONS", '{"reasoning_effort": "minimal"}')
    assert crag("ask", QUESTION, "--docs", docs).exit_code == 0
    assert [call.get("reasoning_effort") for call in model.requests[2:]] == ["minimal", "low"]
    monkeypatch.delenv("CRAG_LLM_GRADING_OPTIONS")
    monkeypatch.setenv("CRAG_LLM_GRADING_MODEL", "small")
    assert crag("ask", QUESTION, "--docs", docs).exit_code == 0
    assert [(call["model"], call.get("reasoning_effort")) for call in model.requests[4:]] == [
        ("small", None),
        (NAME, "low"),
    ]


def test_the_grading_model_grades_whatever_the_parts_of_a_file_are_called(
    docs: Path, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The answering one answers, and an answer that failed is an error, not a sentence in its place."""
    own = tmp_path / "own.yml"
    own.write_text(re.sub(r"\b(grader|generator)(?=:\n|\.)", r"our_\1", source("corrective_rag")))
    monkeypatch.setenv("CRAG_LLM_GRADING_MODEL", "small")
    assert crag("ask", QUESTION, "--docs", docs, "--pipeline", own).exit_code == 0
    assert [call["model"] for call in model.requests] == ["small", NAME]
    model.status = 401
    assert "refused: 401" in refused(crag("ask", QUESTION, "--docs", docs, "--pipeline", own), ExitCode.UNREACHABLE)


@pytest.mark.parametrize("name", ["CRAG_LLM_OPTIONS", "CRAG_LLM_GRADING_OPTIONS"])
@pytest.mark.parametrize(
    ("text", "got"),
    [
        ("low", "no JSON (Expecting value: line 1 column 1 (char 0))"),
        ("[1]", "a list"),
        ('{"model": "other", "stream": true}', "model, stream"),
        ('{"extra_headers": {"api-key": "c0ffee"}', "no JSON (Expecting ',' delimiter: line 1 column 40 (char 39))"),
    ],
)
def test_options_that_are_no_object_or_not_the_users_to_set_are_refused(
    docs: Path, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch, name: str, text: str, got: str
) -> None:
    """Before anything is asked, with an example and what is wrong; not by its text, since headers may hold a key."""
    monkeypatch.setenv(name, text)
    message = refused(crag("ask", QUESTION, "--docs", docs), ExitCode.USAGE)
    assert f"the setting {name} must be a JSON object" in message
    assert '{"reasoning_effort": "low"}' in message
    assert f", but got {got}; correct or unset it" in message
    assert "c0ffee" not in message
    assert model.calls == 0


def test_an_option_that_only_a_server_knows_is_refused_with_the_place_for_it(
    docs: Path, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each call ended in a TypeError of the client: no document was graded, no answer written, and nobody told why."""
    monkeypatch.setenv("CRAG_LLM_OPTIONS", '{"top_k": 5, "temperature": 0}')
    message = refused(crag("ask", QUESTION, "--docs", docs), ExitCode.USAGE)
    assert message.startswith("the setting CRAG_LLM_OPTIONS has ['top_k'], which OpenAI's client does not know")
    assert "extra_body" in message
    assert model.calls == 0


@pytest.mark.parametrize("key", ["sk-\u200bCANARY", "sk-CANARY\u2026", "sk-\nCANARY"])
def test_a_key_that_no_header_takes_is_refused_and_not_shown(
    docs: Path, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    """As copied from a page or a chat; each call failed, and the log named an error of encoding."""
    monkeypatch.setenv("CRAG_LLM_API_KEY", key)
    message = refused(crag("ask", QUESTION, "--docs", docs), ExitCode.USAGE)
    assert "copy it anew into CRAG_LLM_API_KEY" in message
    assert "CANARY" not in message
    assert model.calls == 0


@pytest.mark.parametrize(
    ("status", "named"), [(401, "CRAG_LLM_API_KEY"), (404, "CRAG_LLM_MODEL"), (400, "CRAG_LLM_MODEL")]
)
def test_a_model_that_refuses_is_named(docs: Path, model: ScriptedModel, status: int, named: str) -> None:
    """With the setting to look at."""
    model.status = status
    message = refused(crag("ask", QUESTION, "--docs", docs), ExitCode.UNREACHABLE)
    assert f"refused: {status}" in message
    assert named in message


def test_the_model_of_the_file_that_refuses_is_named_too(
    docs: Path, scripted_model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a wrong OPENAI_API_KEY alone there is no answer: no sentence in its place, and not the exit code 0."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-wrong")
    monkeypatch.setenv("OPENAI_BASE_URL", scripted_model.url)
    scripted_model.status = 401
    message = refused(crag("ask", QUESTION, "--docs", docs, "--pipeline", "corrective_rag"), ExitCode.UNREACHABLE)
    assert "refused: 401" in message
    assert "OPENAI_API_KEY" in message


def test_a_model_that_is_down_is_named(docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With its address."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    monkeypatch.setenv("CRAG_LLM_BASE_URL", f"http://127.0.0.1:{port}/v1")
    monkeypatch.setenv("CRAG_LLM_MODEL", "m")
    message = refused(crag("ask", QUESTION, "--docs", docs), ExitCode.UNREACHABLE)
    assert f"no answer from the chat model at http://127.0.0.1:{port}" in message


@pytest.mark.parametrize(("variable", "scheme"), [("HTTP_PROXY", "http"), ("ALL_PROXY", "https")])
def test_a_proxy_of_the_environment_between_command_and_model_is_named(
    docs: Path, monkeypatch: pytest.MonkeyPatch, variable: str, scheme: str
) -> None:
    """A model on this machine is asked through it, too, and whoever reads that none answers would look at the model."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    monkeypatch.setenv(variable, "http://user:secret@127.0.0.1:9")
    monkeypatch.setenv("CRAG_LLM_BASE_URL", f"{scheme}://127.0.0.1:9/v1")
    monkeypatch.setenv("CRAG_LLM_MODEL", "m")
    message = refused(crag("ask", QUESTION, "--docs", docs), ExitCode.UNREACHABLE)
    assert f"asked through the proxy of {variable}, which NO_PROXY=127.0.0.1 avoids)" in message
    assert "secret" not in message
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    assert "proxy" not in refused(crag("ask", QUESTION, "--docs", docs), ExitCode.UNREACHABLE)


@pytest.mark.parametrize("proxy", ["socks5h://127.0.0.1:9", "socks://127.0.0.1:9"])
def test_a_proxy_with_which_the_models_client_cannot_be_made_is_named_with_the_way_out(
    docs: Path, monkeypatch: pytest.MonkeyPatch, model: ScriptedModel, proxy: str
) -> None:
    """As desktops set it. `crag ask` called it unexpected, and `crag serve` ended with a traceback of one line."""
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.setenv("ALL_PROXY", proxy)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    message = refused(crag("ask", QUESTION, "--docs", docs), ExitCode.USAGE)
    assert "got a SOCKS proxy in ALL_PROXY" in message
    assert "run `pip install socksio`, or unset it" in message
    served = in_process("serve", "--docs", docs)
    assert (served.returncode, served.stderr) == (ExitCode.USAGE, f"error: {message}\n")
    monkeypatch.setenv("NO_PROXY", "10.0.0.1, *")
    assert crag("ask", QUESTION, "--docs", docs).exit_code == 0
    assert model.calls > 0


def test_a_proxy_of_a_kind_that_there_is_not_is_named(
    docs: Path, monkeypatch: pytest.MonkeyPatch, model: ScriptedModel
) -> None:
    """A server did not start for it, and its log said of it the class of an error; one without a kind is HTTP's."""
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.setenv("ALL_PROXY", "ftp://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    message = refused(crag("ask", QUESTION, "--docs", docs), ExitCode.USAGE)
    assert "got another kind of proxy in ALL_PROXY" in message
    monkeypatch.setenv("ALL_PROXY", "127.0.0.1:9")
    assert crag("ask", QUESTION, "--docs", docs).exit_code == 0
    assert model.calls > 0


@pytest.mark.parametrize("name", ["CRAG_LLM_GRADING_MODEL", "CRAG_LLM_OPTIONS", "CRAG_LLM_GRADING_OPTIONS"])
def test_what_is_for_a_chat_model_that_is_not_named_is_refused_with_the_way_out(
    docs: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """With OpenAI's key alone the models of the pipeline were asked, and the setting did nothing."""
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv(name, "{}")
    message = refused(crag("ask", QUESTION, "--docs", docs, "--pipeline", "corrective_rag"), ExitCode.USAGE)
    assert f"got {name} without CRAG_LLM_MODEL" in message
    assert "set CRAG_LLM_MODEL as well" in message
    monkeypatch.delenv("OPENAI_API_KEY")
    assert chat_model() is None  # nothing is asked


@pytest.mark.parametrize("content", [None, "", "-----BEGIN PRIVATE KEY-----"], ids=["gone", "empty", "a key"])
def test_certificates_without_which_the_models_client_cannot_be_made_are_named_with_the_way_out(
    docs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: ScriptedModel, content: str | None
) -> None:
    """As conda leaves them behind, or a slip in copying: the error named no file, and no setting."""
    file = tmp_path / "authorities.pem"
    if content is not None:
        file.write_text(content)
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    message = refused(crag("ask", QUESTION, "--docs", docs), ExitCode.USAGE)
    assert f"got {str(file)!r} as SSL_CERT_FILE" in message
    assert "correct or unset it" in message
    assert model.calls == 0


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("OPENAI_API_KEY", "sk-\u200bwrong", "copy it anew into OPENAI_API_KEY"),
        ("SSL_CERT_FILE", "/gone/cacert.pem", "got '/gone/cacert.pem' as SSL_CERT_FILE"),
        ("ALL_PROXY", "gopher://127.0.0.1:9", "got another kind of proxy in ALL_PROXY"),
    ],
)
def test_what_the_client_of_the_files_model_cannot_be_made_with_is_named_too(
    docs: Path, scripted_model: ScriptedModel, monkeypatch: pytest.MonkeyPatch, name: str, value: str, told: str
) -> None:
    """Where OPENAI_API_KEY alone is set; a pipeline that asks no model is not concerned."""
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    monkeypatch.setenv("OPENAI_BASE_URL", scripted_model.url)
    monkeypatch.setenv(name, value)
    message = refused(crag("ask", QUESTION, "--docs", docs, "--pipeline", "corrective_rag"), ExitCode.USAGE)
    assert told in message
    assert "wrong" not in message
    assert scripted_model.calls == 0
    assert crag("ask", QUESTION, "--docs", docs).exit_code == 0


def test_an_address_that_is_no_model_is_named(
    docs: Path, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A web page that answers 200 is no chat completion."""
    httpserver.expect_request("/chat/completions").respond_with_data("<html>", content_type="text/html")
    monkeypatch.setenv("CRAG_LLM_BASE_URL", httpserver.url_for("/"))
    monkeypatch.setenv("CRAG_LLM_MODEL", "m")
    message = refused(crag("ask", QUESTION, "--docs", docs), ExitCode.UNREACHABLE)
    assert "did not return a chat completion; check CRAG_LLM_BASE_URL" in message


def test_a_model_without_words_or_time_for_the_answer_is_not_called_a_wrong_address(
    docs: Path, model: ScriptedModel
) -> None:
    """A model that thinks until its tokens are used up, and one that is slower than the run's own 45 seconds."""
    model.reply = judging(lambda _: 1.0, answer="")
    message = refused(crag("ask", QUESTION, "--docs", docs), ExitCode.UNREACHABLE)
    assert "replied without any text; give it more tokens" in message
    Path("own.yml").write_text(source("corrective_rag").replace("{seconds: 45,", "{seconds: 3,"))
    graded, over = model.reply, threading.Event()

    def slow(messages: Messages) -> tuple[str, str]:
        if not documents_in(messages):
            over.wait(60)
        return graded(messages)

    model.reply = slow
    message = refused(crag("ask", QUESTION, "--docs", docs, "--pipeline", "own.yml"), ExitCode.UNREACHABLE)
    over.set()
    assert "did not answer in the run's time" in message
    assert "CRAG_LLM_BASE_URL" not in message


def test_a_certificate_that_is_not_trusted_is_told_as_that(
    docs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not as a server that is down; with the setting by which it is trusted, which works."""
    authority, context = certified(tmp_path)
    monkeypatch.setenv("CRAG_LLM_MODEL", "m")
    with HTTPServer("127.0.0.1", ssl_context=context) as server:
        server.expect_request("/v1/models").respond_with_json({"object": "list", "data": []})
        monkeypatch.setenv("CRAG_LLM_BASE_URL", f"https://127.0.0.1:{server.port}/v1")
        for result in (crag("ask", QUESTION, "--docs", docs), crag("doctor")):
            said = " ".join(f"{result.stdout}{result.stderr}".split())
            assert f"no secure connection to the chat model at https://127.0.0.1:{server.port} (" in said
            assert "authority's certificate in SSL_CERT_FILE" in said
        monkeypatch.setenv("SSL_CERT_FILE", str(authority))
        found = json.loads(crag("doctor", "--json").stdout)["checks"]
        [said] = [check["found"] for check in found if check["name"] == "chat model"]
        assert "(not among the 0 models listed there)" in said  # it was reached; there is none


def test_tls_to_a_server_that_speaks_none_is_told_as_that(
    docs: Path, scripted_model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the way out."""
    monkeypatch.setenv("CRAG_LLM_MODEL", "m")
    monkeypatch.setenv("CRAG_LLM_BASE_URL", scripted_model.url.replace("http:", "https:"))
    message = refused(crag("ask", QUESTION, "--docs", docs), ExitCode.UNREACHABLE)
    assert "(WRONG_VERSION_NUMBER); " in message
    assert "http:// where it speaks no TLS" in message


def test_evidence_that_the_model_rejected_is_shown_with_what_the_scorer_thought(
    docs: Path, configured_model: ScriptedModel, tmp_path: Path
) -> None:
    """A score of 0.10 among the evidence would be a riddle."""
    configured_model.reply = judging(lambda text: 0.1 if "penguins" in text else 0.9, "On the coast [1].")
    text = source("cascade_rag").replace("{sure: 0.85, low: 0.01, high: 0.9}", "{sure: 1.0, low: 0.0, high: 1.0}")
    (tmp_path / "asks_always.yml").write_text(text, encoding="utf-8")
    asked = ("ask", QUESTION, "--docs", docs, "--pipeline", tmp_path / "asks_always.yml")
    assert re.search(r"penguins\.md  0\.10 \(scorer 0\.\d\d\)", crag(*asked).stdout)
    evidence = json.loads(crag(*asked, "--json").stdout)["evidence"]
    (rejected,) = [one for one in evidence if one["score"] == 0.1]
    assert rejected["opinion"] >= 0.6


def test_evidence_that_the_model_rejected_is_shown_with_its_lead_in_the_search(
    docs: Path, configured_model: ScriptedModel
) -> None:
    """Likewise, of the page that the search clearly put first; one that passes needs no such reason."""
    asked = ("ask", QUESTION, "--docs", docs, "--pipeline", "corrective_rag")
    configured_model.reply = judging(lambda text: 0.1 if "penguins" in text else 0.9, "On the coast [1].")
    assert re.search(r"penguins\.md  0\.10 \(found first, \d\.\d x the next\)", crag(*asked).stdout)
    (rejected, *_) = json.loads(crag(*asked, "--json").stdout)["evidence"]
    assert (rejected["score"], rejected["lead"] >= 1.1) == (0.1, True)
    configured_model.reply = judging(lambda _: 0.9, "On the coast [1].")
    assert "found first" not in crag(*asked).stdout
