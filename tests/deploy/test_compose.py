"""docker-compose.yml, read by Docker Compose itself: no engine is needed to check, resolve and merge it."""

import re
from pathlib import Path

import pytest
from deployment import DEPLOY, composed

from haystack_integrations.crag import __version__
from haystack_integrations.crag.web.searxng import URL_SETTING


def test_compose_reads_it_in_an_empty_environment() -> None:
    """Nothing must be set to start it, or to start one service of it for the tests."""
    assert set(composed()) >= {"app", "elasticsearch", "grafana", "jaeger", "prometheus", "redis", "searxng"}


def test_every_published_port_is_on_loopback() -> None:
    ports = [(name, port) for name, service in composed().items() for port in service.get("ports", [])]
    assert {name for name, port in ports} >= {"app", "elasticsearch", "grafana", "jaeger", "prometheus", "redis"}
    assert [(name, port) for name, port in ports if port.get("host_ip") != "127.0.0.1"] == []


def test_every_image_names_one_version() -> None:
    for name, service in composed().items():
        assert re.search(r":v?\d+\.\d+(\.\d+)?[\w.-]*$", service["image"]), f"{name}: {service['image']}"


def test_our_image_has_the_version_of_the_package() -> None:
    assert {composed()[name]["image"] for name in ("app", "index")} == {f"crag-haystack:{__version__}"}


def test_every_service_that_stays_says_when_it_is_healthy() -> None:
    """`up --wait` waits for these; the one that ends is waited for by the app."""
    without = [name for name, service in composed().items() if "test" not in service.get("healthcheck", {})]
    assert without == ["index"]
    assert composed()["app"]["depends_on"]["index"]["condition"] == "service_completed_successfully"


def test_what_stays_is_started_again_after_a_crash_or_a_reboot() -> None:
    """But not what someone stopped, nor the one that ends by itself."""
    again = {name: service.get("restart", "no") for name, service in composed().items()}
    assert again.pop("index") == "no"
    assert set(again.values()) == {"unless-stopped"}


@pytest.mark.parametrize("more", [(), (DEPLOY / "web.yml",)], ids=["alone", "with web.yml"])
def test_every_mounted_file_exists_and_is_read_only(more: tuple[Path, ...]) -> None:
    mounts = [mount for service in composed(*more).values() for mount in service.get("volumes", [])]
    files = [mount for mount in mounts if mount["type"] == "bind"]
    assert len(files) >= 6
    for mount in files:
        assert Path(mount["source"]).exists(), mount
        assert mount["read_only"], mount


def test_no_secret_stands_in_it() -> None:
    """Keys come from the environment of whoever starts it, and are not set otherwise."""
    environment = composed()["app"]["environment"]
    assert {name: value for name, value in environment.items() if name.endswith("KEY") or name.endswith("KEYS")} == {
        "CRAG_LLM_API_KEY": None,
        "CRAG_SERVE_API_KEYS": None,
    }
    given = composed(CRAG_SERVE_API_KEYS="mine", CRAG_LLM_API_KEY="its")["app"]["environment"]
    assert (given["CRAG_SERVE_API_KEYS"], given["CRAG_LLM_API_KEY"]) == ("mine", "its")


def test_nobody_can_log_in_to_grafana_with_a_known_password() -> None:
    environment = composed()["grafana"]["environment"]
    assert environment["GF_SECURITY_DISABLE_INITIAL_ADMIN_CREATION"] == "true"
    assert environment["GF_AUTH_ANONYMOUS_ORG_ROLE"] == "Viewer"


@pytest.mark.parametrize("name", ["app", "index"])
def test_our_containers_have_no_rights_to_lose(name: str) -> None:
    service = composed()[name]
    assert service["read_only"]
    assert service["tmpfs"] == ["/tmp"]
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]


def test_no_question_leaves_the_machine_before_somebody_says_so() -> None:
    """The SearXNG of the tests makes its results up; the app must not take them for the web."""
    assert URL_SETTING not in composed()["app"]["environment"]
    live = composed(DEPLOY / "web.yml")
    assert live["app"]["environment"][URL_SETTING] == "http://searxng:8888"
    assert [mount["target"] for mount in live["searxng"]["volumes"]] == ["/etc/searxng/settings.yml"]
