"""A variable that OpenTelemetry or Hayhooks cannot use is told by its name, and none of theirs is blamed for others."""

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_runner import in_process, two_documents

from haystack_integrations.crag.cli.errors import ExitCode
from haystack_integrations.crag.errors import ConfigurationError, StoreError
from haystack_integrations.crag.observing.variables import variables_named


@pytest.fixture(autouse=True)
def _none_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith(("OTEL_", "HAYHOOKS_"))]:
        monkeypatch.delenv(name)


def _fails(error: Exception) -> Callable[[], None]:
    def failing() -> None:
        raise error

    return failing


@pytest.mark.parametrize(
    ("failing", "blamed"),
    [
        (_fails(ValueError("Level 'LOUD' does not exist")), "HAYHOOKS_LOG_LEVEL"),
        (_fails(ValueError("Propagator b3 not found")), "OTEL_PROPAGATORS"),
        (lambda: re.compile("/health/|("), "OTEL_PYTHON_EXCLUDED_URLS"),
        (_fails(StopIteration()), "HAYHOOKS_LOG_LEVEL or OTEL_PROPAGATORS or OTEL_PYTHON_EXCLUDED_URLS"),
    ],
)
def test_the_variable_is_named_whose_name_or_value_stands_in_the_words(
    failing: Callable[[], object], blamed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the words say neither, all that are set."""
    monkeypatch.setenv("HAYHOOKS_LOG_LEVEL", "loud")
    monkeypatch.setenv("OTEL_PROPAGATORS", "b3")
    monkeypatch.setenv("OTEL_PYTHON_EXCLUDED_URLS", "status, (")
    with pytest.raises(ConfigurationError, match=f"; correct or unset {re.escape(blamed)}$"), variables_named():
        failing()


def test_what_is_no_matter_of_a_variable_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error of this package, a package that is missing, and anything where none of theirs is set."""
    with pytest.raises(ZeroDivisionError), variables_named():
        _fails(ZeroDivisionError())()
    monkeypatch.setenv("OTEL_PROPAGATORS", "b3")
    for error in (StoreError("away"), ModuleNotFoundError("hayhooks")):
        with pytest.raises(type(error)) as raised, variables_named():
            _fails(error)()
        assert raised.value is error


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("HAYHOOKS_PORT", "tcp://10.0.0.1:1416"),  # as Kubernetes sets it beside a service of this name
        ("OTEL_PROPAGATORS", "b3"),
        ("OTEL_PYTHON_FASTAPI_EXCLUDED_URLS", "status,("),
        ("OTEL_INSTRUMENTATION_HTTP_CAPTURE_HEADERS_SERVER_REQUEST", "accept,("),
        ("OTEL_BSP_MAX_QUEUE_SIZE", "100"),
        ("OTEL_METRICS_EXEMPLAR_FILTER", "some"),
    ],
)
def test_a_server_refuses_to_start_with_a_variable_that_cannot_be_used(name: str, value: str, tmp_path: Path) -> None:
    """By one line that says which; it was an unexpected error, no traces at all, or a 500 for every request."""
    settings = {name: value}
    if name == "OTEL_BSP_MAX_QUEUE_SIZE":
        settings["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] = "http://127.0.0.1:9/v1/traces"
    served = ("--docs", two_documents(tmp_path), "--pipelines", "corrective_retrieval", "--port", "0")
    ended = in_process("serve", *served, **settings)
    assert ended.returncode == ExitCode.USAGE, ended.stderr
    said = ended.stderr.splitlines()[-1]
    assert said.startswith("error: got ")
    assert name in said or "the line above" in said
    assert "Traceback" not in ended.stderr
