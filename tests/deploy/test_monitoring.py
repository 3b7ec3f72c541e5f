"""Prometheus and Grafana: each file read by the program it is for, each expression evaluated on our metrics."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from deployment import DEPLOY, ROOT, dev_module, metrics_page, query, run, scraped
from service_fixtures import program
from waiting import eventually

from haystack_integrations.crag import metrics_export

ALERTS = yaml.safe_load((DEPLOY / "prometheus" / "alerts.yml").read_text())
RULES = [rule for group in ALERTS["groups"] for rule in group["rules"]]
DASHBOARD: dict[str, Any] = json.loads((DEPLOY / "grafana" / "dashboards" / "crag.json").read_text())
PANELS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
PANEL_EXPRESSIONS = [
    (f"{panel['title']} {target['refId']}", target["expr"]) for panel in PANELS for target in panel["targets"]
]


@pytest.fixture(scope="module")
def promtool(prometheus_url: str) -> str:
    """It comes with Prometheus."""
    return program("promtool", "apt-get install prometheus")


@pytest.fixture(scope="module")
def watched(prometheus_url: str) -> Iterator[tuple[str, str]]:
    """A real Prometheus that scrapes a page with all our metrics, and the matcher for that page."""
    with metrics_page() as address, scraped(prometheus_url, address) as matcher:
        yield prometheus_url, matcher


@pytest.fixture(scope="module")
def exposed(watched: tuple[str, str]) -> set[str]:
    """The names that Prometheus knows of us."""
    url, matcher = watched
    return {series["metric"]["__name__"] for series in query(url, f'{{__name__=~"(crag|gen_ai)_.+", {matcher}}}')}


def test_promtool_accepts_the_configuration_and_the_rules(promtool: str) -> None:
    run(promtool, "check", "config", DEPLOY / "prometheus" / "prometheus.yml")
    run(promtool, "check", "rules", DEPLOY / "prometheus" / "alerts.yml")


def test_each_alert_fires_on_its_fault_and_a_healthy_app_fires_none(promtool: str) -> None:
    run(promtool, "test", "rules", DEPLOY / "prometheus" / "alerts_test.yml")


def test_no_alert_is_without_a_test() -> None:
    tests = yaml.safe_load((DEPLOY / "prometheus" / "alerts_test.yml").read_text())["tests"]
    cases = [case for test in tests for case in test["alert_rule_test"]]
    alerts = {rule["alert"] for rule in RULES}
    assert {case["alertname"] for case in cases if case.get("exp_alerts")} == alerts
    assert {case["alertname"] for case in cases if not case.get("exp_alerts")} == alerts


def test_the_pages_count_the_alerts_right_and_name_none_that_is_not_there() -> None:
    words = {20: "twenty", 21: "twenty-one", 22: "twenty-two", 23: "twenty-three"}
    pages = {page: (ROOT / "docs" / f"{page}.md").read_text("utf-8") for page in ("deployment", "operate")}
    counted = [number for text in pages.values() for number in re.findall(r"(\w+(?:teen|ty)(?:-\w+)?) alerts\b", text)]
    assert counted == [words[len(RULES)]] * 2
    assert set(re.findall(r"alert `(\w+)`", pages["operate"])) <= {rule["alert"] for rule in RULES}


def test_each_alert_says_what_to_do() -> None:
    assert all({"summary", "action"} <= rule["annotations"].keys() for rule in RULES)


def test_the_prometheus_of_compose_scrapes_the_app() -> None:
    compose = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    (job,) = yaml.safe_load((DEPLOY / "prometheus" / "prometheus.yml").read_text())["scrape_configs"]
    (target,) = job["static_configs"][0]["targets"]
    name, _, port = target.partition(":")
    assert f"127.0.0.1:{port}:{port}" in compose["services"][name]["ports"]
    assert job["job_name"] == "crag"  # the alerts ask for it


def test_the_names_are_those_that_are_published(exposed: set[str]) -> None:
    """Dashboards and alerts of users hang on them."""
    assert {re.sub("_(bucket|count|sum)$", "", name) for name in exposed} == {
        "crag_decisions_total",
        "crag_corrections_total",
        "crag_answers_total",
        "crag_answers_unsupported_total",
        "crag_retrieval_latency_seconds",
        "crag_relevance_score",
        "crag_document_scores",
        "crag_grader_failures_total",
        "crag_grader_calls",
        "crag_grader_duration_seconds",
        "crag_searches_total",
        "crag_requests_total",
        "crag_ready",
        "crag_telemetry_losses_total",
        "crag_web_requests_total",
        "crag_breaker_open",
        "crag_cache_requests_total",
        "gen_ai_client_token_usage",
        "gen_ai_client_operation_duration_seconds",
    }


@pytest.mark.parametrize("expression", [pytest.param(rule["expr"], id=rule["alert"]) for rule in RULES])
def test_prometheus_evaluates_an_alert_and_its_metrics_exist(
    expression: str, watched: tuple[str, str], exposed: set[str]
) -> None:
    """An alert on a name that nobody exposes would never fire."""
    query(watched[0], expression)
    assert metrics_of(expression) <= exposed


@pytest.mark.parametrize("expression", [pytest.param(expression, id=name) for name, expression in PANEL_EXPRESSIONS])
def test_prometheus_evaluates_a_panel_and_its_metrics_exist(
    expression: str, watched: tuple[str, str], exposed: set[str]
) -> None:
    """As Grafana asks it, with its variable replaced."""
    query(watched[0], expression.replace("$__rate_interval", "1m"))
    assert metrics_of(expression) <= exposed


@pytest.mark.parametrize(
    "expression", [pytest.param(text, id=name) for name, text in PANEL_EXPRESSIONS if "rate(" not in text]
)
def test_a_panel_of_states_shows_something(expression: str, watched: tuple[str, str]) -> None:
    """A rate needs time; a state is there at once."""
    assert query(watched[0], expression)


def test_prometheus_loads_the_shipped_rules_and_finds_them_healthy(watched: tuple[str, str]) -> None:
    """Evaluated once a second by the server itself."""

    def health() -> dict[str, str]:
        groups = httpx.get(f"{watched[0]}/api/v1/rules", timeout=10).json()["data"]["groups"]
        return {rule["name"]: rule["health"] for group in groups for rule in group["rules"]}

    assert eventually(lambda: "unknown" not in health().values())
    assert health() == {rule["alert"]: "ok" for rule in RULES}


@pytest.mark.parametrize(("setting", "seconds"), [("", 15), ("5000", 5)])
def test_metrics_sent_by_otlp_come_as_often_as_the_dashboard_expects(
    setting: str, seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Grafana's shortest window is four intervals of its data source; the SDK's minute would leave each rate empty."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://127.0.0.1:9/v1/metrics")
    monkeypatch.setenv("OTEL_METRIC_EXPORT_INTERVAL", setting)
    (reader,) = metrics_export._otlp()
    reader.shutdown()
    sources = yaml.safe_load((DEPLOY / "grafana/provisioning/datasources/crag.yml").read_text())["datasources"]
    expected = {source["uid"]: source.get("jsonData") for source in sources}["prometheus"]["timeInterval"]
    assert reader._export_interval_millis == seconds * 1000 <= float(expected.removesuffix("s")) * 1000


class TestDashboard:
    def test_grafana_s_own_model_reads_every_word_of_it(self) -> None:
        """What its published schema does not know is lost on the way through; nothing is."""
        assert lost(DASHBOARD, through_the_schema(DASHBOARD)) == []

    def test_a_misspelt_option_would_be_seen(self) -> None:
        wrong = json.loads(json.dumps(DASHBOARD))
        wrong["panels"][1]["fieldConfig"]["defaults"]["units"] = "s"
        assert lost(wrong, through_the_schema(wrong)) == [".panels[1].fieldConfig.defaults.units"]

    def test_panels_do_not_overlap_and_have_their_own_ids(self) -> None:
        cells = [
            (x, y)
            for at in (panel["gridPos"] for panel in DASHBOARD["panels"])
            for x in range(at["x"], at["x"] + at["w"])
            for y in range(at["y"], at["y"] + at["h"])
        ]
        assert len(cells) == len(set(cells))
        assert max(x for x, _ in cells) < 24
        assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])

    def test_every_panel_says_what_it_shows_and_where_from(self) -> None:
        (source, *_) = yaml.safe_load((DEPLOY / "grafana" / "provisioning" / "datasources" / "crag.yml").read_text())[
            "datasources"
        ]
        for panel in PANELS:
            assert panel["description"], panel["title"]
            assert {at["datasource"]["uid"] for at in (panel, *panel["targets"])} == {source["uid"]}

    def test_the_targets_of_the_designs_are_lines_on_it(self) -> None:
        lines = {
            panel["title"]: panel["fieldConfig"]["defaults"]["thresholds"]["steps"][1]["value"]
            for panel in PANELS
            if panel["fieldConfig"]["defaults"].get("custom", {}).get("thresholdsStyle", {}).get("mode") == "line"
        }
        assert sorted(lines.values()) == [0.07, 0.3, 0.45]

    def test_grafana_finds_its_files_where_compose_mounts_them(self) -> None:
        grafana = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]["grafana"]
        mounts = {target: source for source, target, _ in (line.split(":") for line in grafana["volumes"])}
        provider = yaml.safe_load((DEPLOY / "grafana" / "provisioning" / "dashboards" / "crag.yml").read_text())[
            "providers"
        ][0]
        assert (
            ROOT / mounts[provider["options"]["path"]] / "crag.json" == DEPLOY / "grafana" / "dashboards" / "crag.json"
        )
        home = Path(grafana["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"])
        assert str(home.parent) == provider["options"]["path"]
        assert mounts["/etc/grafana/provisioning"] == "./deploy/grafana/provisioning"


def metrics_of(expression: str) -> set[str]:
    """Our metrics in an expression: what is left of our names without the labels."""
    return set(re.findall(r"\b(?:crag|gen_ai)_\w+", re.sub(r"by \([^)]*\)|\{[^}]*\}", "", expression)))


def through_the_schema(dashboard: dict[str, Any]) -> Any:
    """What remains of a dashboard after Grafana's model of it read and wrote it."""
    dev_module("grafana_foundation_sdk.cog.plugins").register_default_plugins()
    model = dev_module("grafana_foundation_sdk.models.dashboard").Dashboard.from_json(dashboard)
    return json.loads(dev_module("grafana_foundation_sdk.cog.encoder").JSONEncoder(sort_keys=True).encode(model))


def lost(given: Any, kept: Any, path: str = "") -> list[str]:
    """Where the second value lacks or changes something of the first."""
    if isinstance(given, dict) and isinstance(kept, dict):
        return [
            at
            for key, value in given.items()
            for at in (lost(value, kept[key], f"{path}.{key}") if key in kept else [f"{path}.{key}"])
        ]
    if isinstance(given, list) and isinstance(kept, list) and len(given) == len(kept):
        pairs = enumerate(zip(given, kept, strict=True))
        return [at for number, (one, other) in pairs for at in lost(one, other, f"{path}[{number}]")]
    return [] if given == kept else [path]
