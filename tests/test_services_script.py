"""What `scripts/services.py` promises to `make test`, CI and a developer."""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import kinds
import pytest
import redis
import service_fixtures
import services
import yaml
from elasticsearch import Elasticsearch

ROOT = Path(services.__file__).resolve().parents[1]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())


def web_server(_: Path, ports: Mapping[str, int]) -> list[str]:
    return [sys.executable, "-m", "http.server", "--bind", "127.0.0.1", str(ports["TINY_URL"])]


def broken_server(_: Path, ports: Mapping[str, int]) -> list[str]:
    return [sys.executable, "-c", "print('the disk is on fire'); raise SystemExit(3)"]


@pytest.fixture
def bare_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without any program, service or download; the folder is its temporary one."""
    for name in ("cache", "bin", "tmp"):
        (tmp_path / name).mkdir()
    for variable in (variable for kind in kinds.KINDS.values() for variable in kind.ports):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("CRAG_SERVICES_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    monkeypatch.setattr(kinds, "POLICY", tmp_path / "policy-rc.d")
    return tmp_path


@pytest.fixture
def tiny(bare_machine: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Register a service that needs nothing but Python."""
    monkeypatch.setitem(kinds.KINDS, "tiny", kinds.Kind({"TINY_URL": 1}, "/", web_server))
    monkeypatch.delenv("TINY_URL", raising=False)
    return bare_machine


def python(program: str) -> list[str]:
    """Return the command that runs a program in which the service `tiny` is known."""
    known = "import kinds, services, sys, time, test_services_script as t\n"
    known += "kinds.KINDS['tiny'] = kinds.Kind({'TINY_URL': 1}, '/', t.web_server)\n"
    return [
        sys.executable,
        "-c",
        f"import sys\nsys.path[:0] = {[str(ROOT / 'scripts'), str(ROOT / 'tests')]}\n{known}{program}",
    ]


def install_docker(machine: Path, running: str = "") -> Path:
    """Put a `docker` on PATH whose engine answers; it only notes what it is asked."""
    log, program = machine / "docker.log", machine / "bin" / "docker"
    program.write_text(f'#!/bin/sh\necho "$*" >> "{log}"\ncase "$*" in *" ps "*) echo "{running}";; esac\n')
    program.chmod(0o755)
    return log


def install_apt(machine: Path) -> Path:
    """Put an `apt-get` on PATH that brings a `redis-server` which ends at once; it notes what it is asked."""
    log, program, brings = machine / "apt.log", machine / "bin" / "apt-get", machine / "bin" / "redis-server"
    note = f'[ ! -e "{kinds.POLICY}" ] || : > "{machine}/policy-during-install"'
    bring = f'echo "#!/bin/sh\necho the fake was started" > "{brings}"; /bin/chmod 755 "{brings}"'
    program.write_text(f'#!/bin/sh\necho "$*" >> "{log}"\ncase "$1" in install) {note}; {bring};; esac\n')
    program.chmod(0o755)
    return log


def leftovers(machine: Path) -> list[Path]:
    """What stays on a machine, but for the file that those who install wait for."""
    return [left for folder in ("tmp", "cache") for left in (machine / folder).iterdir() if left.name != "lock"]


class TestWhereAServiceComesFrom:
    def test_a_url_in_the_environment_wins_and_nothing_is_started(
        self, bare_machine: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Who runs a server already names it; start() neither checks nor ends it."""
        monkeypatch.setenv("ELASTICSEARCH_URL", "http://search.example:9200")
        with services.start("elasticsearch") as service:
            assert service.url == "http://search.example:9200"
            assert not service.started_here
        assert leftovers(bare_machine) == []

    def test_where_a_docker_engine_runs_compose_starts_the_service_and_stop_removes_it(
        self, bare_machine: Path
    ) -> None:
        log = install_docker(bare_machine)
        with services.start("jaeger") as service:
            assert service.urls == {"JAEGER_URL": "http://127.0.0.1:16686", "JAEGER_OTLP_URL": "http://127.0.0.1:4318"}
            assert service.started_here
        asked = log.read_text().splitlines()
        assert asked[0] == "info"
        assert asked[-2].endswith("docker-compose.yml up -d --wait jaeger")
        assert asked[-1].endswith("docker-compose.yml rm --stop --force --volumes jaeger")

    def test_a_container_that_ran_before_is_used_and_left_running(self, bare_machine: Path) -> None:
        log = install_docker(bare_machine, running="elasticsearch")
        with services.start("elasticsearch") as service:
            assert not service.started_here
        assert " rm " not in log.read_text()

    def test_a_container_that_two_processes_of_the_tests_use_is_removed_by_the_last(self, bare_machine: Path) -> None:
        """The first may end before the second."""
        log = install_docker(bare_machine)
        first = services.start("jaeger")
        install_docker(bare_machine, running="jaeger")
        second = services.start("jaeger")
        first.stop()
        assert " rm " not in log.read_text()
        second.stop()
        assert log.read_text().splitlines()[-1].endswith("rm --stop --force --volumes jaeger")

    @pytest.mark.parametrize("name", kinds.KINDS)
    def test_a_service_that_nothing_provides_is_unavailable_and_the_message_names_the_command(
        self, name: str, bare_machine: Path
    ) -> None:
        """The reader learns what is missing and what to type; nothing stays behind."""
        container = {"searx": "searxng"}.get(name, name)
        with pytest.raises(kinds.ServiceUnavailable, match=f"`docker compose up -d --wait {container}`") as caught:
            services.start(name)
        assert "No such file or directory: 'docker'" in str(caught.value)
        assert leftovers(bare_machine) == []

    def test_a_container_may_have_another_name_than_its_service(self, bare_machine: Path) -> None:
        log = install_docker(bare_machine)
        with services.start("searx") as service:
            assert service.urls == {"SEARXNG_URL": "http://127.0.0.1:8888"}
        asked = log.read_text().splitlines()
        assert asked[-2].endswith("up -d --wait searxng")
        assert asked[-1].endswith("rm --stop --force --volumes searxng")

    def test_an_address_has_the_form_that_the_service_s_clients_expect(self, bare_machine: Path) -> None:
        install_docker(bare_machine)
        with services.start("redis") as service:
            assert service.urls == {"REDIS_URL": "redis://127.0.0.1:6379/0"}

    def test_redis_is_installed_where_apt_get_can_do_it_and_no_server_of_the_package_starts(
        self, bare_machine: Path
    ) -> None:
        """On a new machine the lists of packages come first; its own server would hold a port and never be stopped."""
        log = install_apt(bare_machine)
        with pytest.raises(RuntimeError, match="the fake was started"):  # after the installation it was run
            services.start("redis")
        asked = log.read_text().splitlines()
        assert asked == ["update", "install -y --no-install-recommends redis-server"]
        assert (bare_machine / "policy-during-install").exists() == (os.geteuid() == 0)
        assert not kinds.POLICY.exists()

    def test_a_policy_of_the_machine_is_left_as_it_is(self, bare_machine: Path) -> None:
        install_apt(bare_machine)
        kinds.POLICY.write_text("theirs")
        with pytest.raises(RuntimeError, match="the fake was started"):
            services.start("redis")
        assert kinds.POLICY.read_text() == "theirs"

    def test_a_download_that_was_cut_is_tried_again(self, bare_machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """A package index that is slow for a moment would fail every test of the service."""
        monkeypatch.setattr(kinds, "AGAIN", (0.0, 0.0))
        log = install_apt(bare_machine)
        program = bare_machine / "bin" / "apt-get"
        program.write_text(f'{program.read_text()}[ "$1" = update ] || [ "$(/usr/bin/wc -l < "{log}")" -ge 4 ]\n')
        with pytest.raises(RuntimeError, match="the fake was started"):
            services.start("redis")
        assert len(log.read_text().splitlines()) == 4

    def test_where_redis_cannot_be_installed_the_message_names_the_command(self, bare_machine: Path) -> None:
        with pytest.raises(kinds.ServiceUnavailable) as caught:
            services.start("redis")
        assert "`apt-get install -y --no-install-recommends redis-server` failed" in str(caught.value)
        assert not kinds.POLICY.exists()

    def test_a_test_without_its_service_is_skipped_for_a_developer_and_fails_in_ci(
        self, bare_machine: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("CI", raising=False)
        with pytest.raises(pytest.skip.Exception, match="docker compose up"):
            service_fixtures.started("elasticsearch")
        monkeypatch.setenv("CI", "true")
        with pytest.raises(pytest.fail.Exception, match="docker compose up"):
            service_fixtures.started("elasticsearch")


class TestAServerOfOurOwn:
    def test_it_answers_until_it_is_stopped_and_leaves_nothing_behind(self, tiny: Path) -> None:
        with services.start("tiny") as service:
            assert service.answers()
            assert service.started_here
            assert leftovers(tiny) != []
        assert not service.answers()
        assert leftovers(tiny) == []

    def test_each_start_is_a_new_server_with_its_own_data(self, tiny: Path) -> None:
        with services.start("tiny") as one, services.start("tiny") as other:
            assert one.url != other.url
            assert one.directory != other.directory

    def test_one_that_does_not_start_is_an_error_that_shows_its_log(
        self, tiny: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A broken server is not an absent one: the test that needs it must not be skipped."""
        monkeypatch.setitem(kinds.KINDS, "tiny", kinds.Kind({"TINY_URL": 1}, "/", broken_server))
        with pytest.raises(RuntimeError, match="exit status 3") as caught:
            services.start("tiny")
        assert not isinstance(caught.value, kinds.ServiceUnavailable)
        assert str(caught.value).endswith("the disk is on fire")
        assert leftovers(tiny) == []

    def test_one_whose_port_was_taken_meanwhile_is_started_again(
        self, tiny: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A port is free when it is chosen, and a server needs seconds until it asks for it."""
        taken: list[Mapping[str, int]] = []

        def unlucky(node: Path, ports: Mapping[str, int]) -> list[str]:
            taken.append(ports)
            return (broken_server if len(taken) == 1 else web_server)(node, ports)

        monkeypatch.setitem(kinds.KINDS, "tiny", kinds.Kind({"TINY_URL": 1}, "/", unlucky))
        with services.start("tiny") as service:
            assert service.answers()
        assert len(taken) == 2
        assert leftovers(tiny) == []

    def test_sigterm_to_the_process_that_started_it_ends_it(self, tiny: Path) -> None:
        """A cancelled CI job or `kill` of pytest must not leave servers running."""
        wait = "with services.start('tiny') as service:\n    print(service.url, flush=True)\n    time.sleep(60)"
        with subprocess.Popen(python(wait), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
            assert process.stdout is not None
            service = services.Service("tiny", {"TINY_URL": process.stdout.readline().strip()})
            assert service.answers()
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=120)
        assert not service.answers()
        assert leftovers(tiny) == []


class TestCommandLine:
    def run(self, *arguments: str) -> str:
        command = python(f"sys.argv[1:] = {list(arguments)}\nservices.main()")
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def test_start_leaves_the_service_running_start_again_reuses_it_and_stop_ends_it(
        self, tiny: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        line = self.run("start", "tiny")
        assert line.startswith("export TINY_URL=http://127.0.0.1:")
        assert self.run("start", "tiny") == line
        with services.start("tiny") as service:
            assert not service.started_here
        assert service.answers()
        assert service.url in self.run("status", "tiny")
        monkeypatch.setenv("TINY_URL", service.url)  # as after `eval`
        self.run("stop", "tiny")
        assert not service.answers()
        assert leftovers(tiny) == []
        assert self.run("status", "tiny") == "tiny: not running\n"

    def test_without_a_name_it_is_about_all_services(self, tiny: Path) -> None:
        assert [line.split(":")[0] for line in self.run("status").splitlines()] == [*kinds.KINDS]

    def test_an_unavailable_service_ends_it_with_the_reason_and_no_traceback(self, bare_machine: Path) -> None:
        command = [sys.executable, str(ROOT / "scripts" / "services.py"), "start", "elasticsearch"]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        assert done.returncode == 1
        assert done.stderr.startswith("elasticsearch is not available: `docker compose up -d --wait elasticsearch`")
        assert "Traceback" not in done.stderr


class TestElasticsearch:
    def test_it_answers_the_call_that_every_client_makes_first(self, elasticsearch_url: str) -> None:
        with Elasticsearch(elasticsearch_url) as client:
            assert client.info()["version"]["number"].startswith("8.")

    def test_a_search_that_loses_shards_is_an_error_by_default(self, elasticsearch_url: str) -> None:
        """Otherwise a lost shard would only make the list of documents shorter."""
        with Elasticsearch(elasticsearch_url) as client:
            settings = client.cluster.get_settings(include_defaults=True, flat_settings=True)
        effective = {**settings["defaults"], **settings["persistent"], **settings["transient"]}
        assert effective["search.default_allow_partial_results"] == "false"

    def test_the_indexes_of_a_test_are_deleted_with_it_even_when_it_fails(self, elasticsearch_url: str) -> None:
        def failing_test() -> None:
            with service_fixtures.temporary_index(elasticsearch_url) as name:
                names.append(name)
                for index in (name, f"{name}-archive"):
                    client.indices.create(index=index)
                pytest.fail("on purpose")

        names: list[str] = []
        with Elasticsearch(elasticsearch_url) as client:
            with pytest.raises(pytest.fail.Exception):
                failing_test()
            assert not client.indices.get(index=f"{names[0]}*")

    def test_a_test_that_uses_it_through_another_fixture_is_an_integration_test(
        self, elasticsearch_index: str, request: pytest.FixtureRequest
    ) -> None:
        assert request.node.get_closest_marker("integration")

    def test_any_other_test_is_not(self, request: pytest.FixtureRequest) -> None:
        assert not request.node.get_closest_marker("integration")

    def test_one_version_is_named_everywhere(self) -> None:
        """Elasticsearch refuses a plugin that was made for another version."""
        descriptor = (ROOT / "scripts" / "elasticsearch" / "plugin-descriptor.properties").read_text()
        assert f"elasticsearch.version={kinds.ELASTICSEARCH}\n" in descriptor
        assert COMPOSE["services"]["elasticsearch"]["image"] == f"elasticsearch:{kinds.ELASTICSEARCH}"

    def test_the_container_and_the_node_of_our_own_agree_on_partial_results(self) -> None:
        node = yaml.safe_load((ROOT / "scripts" / "elasticsearch" / "elasticsearch.yml").read_text())
        container = COMPOSE["services"]["elasticsearch"]["environment"]
        assert node["search.default_allow_partial_results"] is False
        assert container["search.default_allow_partial_results"] == "false"
        assert node["network.host"] == "127.0.0.1"


class TestRedis:
    def test_it_answers_and_a_client_can_use_its_address(self, redis_url: str) -> None:
        with redis.Redis.from_url(redis_url) as client:
            assert client.ping()

    def test_a_test_that_uses_it_is_an_integration_test(self, redis_url: str, request: pytest.FixtureRequest) -> None:
        assert request.node.get_closest_marker("integration")

    def test_one_that_does_not_answer_is_not_taken_for_a_working_one(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            url = f"redis://127.0.0.1:{free.getsockname()[1]}/0"
        assert not services.Service("redis", {"REDIS_URL": url}).answers()

    def test_the_container_and_the_server_of_our_own_have_the_same_limits(self, tmp_path: Path) -> None:
        container = COMPOSE["services"]["redis"]["command"]
        assert " ".join(kinds.KINDS["redis"].command(tmp_path, {"REDIS_URL": 1})).endswith(" ".join(container[1:]))


class TestSearx:
    def test_it_answers_in_json_from_an_engine_on_this_machine(self, searx_url: str) -> None:
        with urlopen(f"{searx_url}/search?q=novels&engines=local&format=json", timeout=10) as reply:
            results = json.load(reply)["results"]
        assert [result["url"] for result in results][:2] == [f"https://example.org/6/1/{rank}" for rank in (1, 2)]

    def test_a_test_that_uses_it_is_an_integration_test(self, searx_url: str, request: pytest.FixtureRequest) -> None:
        assert request.node.get_closest_marker("integration")

    def test_its_search_engine_ends_with_it(self, tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Whether the launcher alone is ended or, as usual, its whole group."""

        def launcher(_: Path, ports: Mapping[str, int]) -> list[str]:
            program = str(ROOT / "scripts" / "searx" / "backend.py")
            return [sys.executable, program, str(ports["internal"]), *web_server(_, ports)]

        monkeypatch.setitem(kinds.KINDS, "tiny", kinds.Kind({"TINY_URL": 1}, "/", launcher))
        with services.start("tiny") as service:
            assert service.process is not None
            service.process.terminate()
            service.process.wait(timeout=60)
            assert not service.answers()
        assert leftovers(tiny) == []

    def test_the_container_and_the_server_of_our_own_have_the_same_engines(self) -> None:
        """None of them is on the internet."""
        folder = ROOT / "scripts" / "searx"
        ours, theirs = (
            {engine["name"]: engine for engine in yaml.safe_load(text)["engines"]}
            for text in (
                (folder / "settings.yml").read_text().replace("$backend", "8899"),
                (folder / "searxng.yml").read_text(),
            )
        )
        assert theirs == {name: ours[name] for name in theirs}
        addresses = [engine.get("search_url") or engine["base_url"] for engine in ours.values()]
        assert all(address.startswith("http://127.0.0.1:8899") for address in addresses)


@pytest.mark.parametrize("name", [kind.container or service for service, kind in kinds.KINDS.items()])
class TestComposeFile:  # the rest of it: tests/deploy
    def test_a_service_is_published_on_loopback_only(self, name: str) -> None:
        """Security is off in these services."""
        ports = COMPOSE["services"][name]["ports"]
        assert ports
        assert all(port.startswith("127.0.0.1:") for port in ports)

    def test_a_service_has_a_health_check_so_that_wait_means_ready(self, name: str) -> None:
        check = COMPOSE["services"][name]["healthcheck"]
        assert check["test"][0] in {"CMD", "CMD-SHELL"}
        assert check["retries"] > 1

    def test_the_ports_are_those_that_the_script_hands_out(self, name: str) -> None:
        ports = COMPOSE["services"][name]["ports"]
        kind = next(kind for service, kind in kinds.KINDS.items() if name == (kind.container or service))
        assert {f"127.0.0.1:{port}:{port}" for port in kind.ports.values()} <= set(ports)
