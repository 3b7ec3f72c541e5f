"""The services that `scripts/services.py` knows: how each is recognised, installed and run."""

import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from fcntl import LOCK_EX, flock
from pathlib import Path
from string import Template
from subprocess import CalledProcessError, TimeoutExpired, run
from tempfile import TemporaryDirectory

HERE = Path(__file__).resolve().parent
ELASTICSEARCH = "8.19.7"
AGAIN = (10.0, 30.0)  # seconds after which a download that failed is tried again
POLICY = Path("/usr/sbin/policy-rc.d")  # Debian asks it before a package starts its own server
JAEGER = "v1.42.0"  # the newest that `go install` builds: later releases have `replace` lines


class ServiceUnavailable(RuntimeError):  # noqa: N818 - a state of this machine, not a mistake
    """Nothing here can provide the service; the message names what is missing and the command that would start it."""


@dataclass(frozen=True)
class Kind:
    """What differs from one service to the next; another service is one more entry of KINDS."""

    ports: Mapping[str, int]  # environment variable -> port in docker-compose.yml; the first is the service's own URL
    ready: str  # this path answers 200, or this word PONG, once the service works
    command: Callable[[Path, Mapping[str, int]], list[str]]  # (folder of this run, free ports) -> what to run
    refuses_root: bool = False
    form: str = "http://127.0.0.1:{}"  # of its URLs, around the port
    container: str = ""  # its name in docker-compose.yml, where that is another one
    process_first: bool = False  # a container could not do what the tests need


def cache_dir() -> Path:
    """Return the folder of what was downloaded and of the notes about what `start` left running."""
    default = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "crag-haystack", "services")
    folder = Path(os.environ.get("CRAG_SERVICES_DIR") or default).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@contextmanager
def installing() -> Iterator[None]:
    """Let one process of the tests after the other install or ask for containers."""
    with (cache_dir() / "lock").open("w") as lock:
        flock(lock, LOCK_EX)  # until the file is closed
        yield


def run_command(*command: str, pauses: Sequence[float] = ()) -> str:
    """
    Return what a command prints; one that cannot run or fails makes the service unavailable.

    :param command: The words of the command.
    :param pauses: Seconds after each of which one that failed is tried again: a download may be cut.
    """
    try:
        return run(command, check=True, capture_output=True, text=True, timeout=900).stdout
    except CalledProcessError as error:
        if pauses:
            time.sleep(pauses[0])
            return run_command(*command, pauses=pauses[1:])
        why = "\n".join((error.stdout + error.stderr).strip().splitlines()[-3:])
    except (OSError, TimeoutExpired) as error:
        why = str(error)
    message = f"`{' '.join(command)}` failed: {why}"
    raise ServiceUnavailable(message)


def _jdk17() -> Path:
    named = [Path(value, "release") for name, value in sorted(os.environ.items()) if name.startswith("JAVA_HOME")]
    for release in (*named, *sorted(Path("/usr/lib/jvm").glob("*/release"))):
        if release.is_file() and 'JAVA_VERSION="17' in release.read_text() and (release.parent / "bin/javac").is_file():
            return release.parent
    message = "no JDK 17 in JAVA_HOME or /usr/lib/jvm"
    raise ServiceUnavailable(message)


def _elasticsearch(node: Path, ports: Mapping[str, int]) -> list[str]:
    home = unpacked_elasticsearch(node)
    return elasticsearch_command(home, ports["ELASTICSEARCH_URL"], ports["internal"])


def unpacked_elasticsearch(node: Path) -> Path:
    """Unpack the server below a folder, with our plugin and settings; return its home."""
    jdk, ours, home = _jdk17(), HERE / "elasticsearch", node / f"elasticsearch-{ELASTICSEARCH}"
    archive = cache_dir() / f"{home.name}.zip"
    with installing(), TemporaryDirectory(dir=archive.parent) as work:
        if not archive.is_file():
            artifact = f"org.elasticsearch.distribution.integ-test-zip:elasticsearch:{ELASTICSEARCH}:zip"
            copy = ("mvn", "-B", "-q", "dependency:copy", f"-Dartifact={artifact}", f"-DoutputDirectory={work}")
            run_command(*copy, pauses=AGAIN)
            Path(work, archive.name).rename(archive)
    shutil.unpack_archive(archive, node)
    plugin, scratch = home / "plugins" / "root", f"{node}/scratch"
    run_command(f"{jdk}/bin/javac", "--release", "17", "-cp", f"{home}/lib/*", "-d", scratch, f"{ours}/RootPlugin.java")
    shutil.copytree(ours, plugin)
    (plugin / "elasticsearch.yml").replace(home / "config" / "elasticsearch.yml")
    run_command(f"{jdk}/bin/jar", "cf", f"{plugin}/root.jar", "-C", scratch, ".")
    return home


def elasticsearch_command(home: Path, http: int, transport: int, *settings: str, heap: str = "512m") -> list[str]:
    """Return what starts an unpacked server on two ports; settings are `name=value`."""
    java = [f"ES_JAVA_OPTS=-Xms{heap} -Xmx{heap}", f"ES_JAVA_HOME={_jdk17()}", f"ES_TMPDIR={home.parent}/scratch"]
    given = [f"-E{setting}" for setting in (f"http.port={http}", f"transport.port={transport}", *settings)]
    return ["env", *java, "bash", f"{home}/bin/elasticsearch", *given]


def _jaeger(_: Path, ports: Mapping[str, int]) -> list[str]:
    folder = cache_dir() / f"jaeger-{JAEGER}"
    with installing():
        if not (folder / "all-in-one").is_file():
            package = f"github.com/jaegertracing/jaeger/cmd/all-in-one@{JAEGER}"
            run_command("env", f"GOBIN={folder}", "go", "install", package, pauses=AGAIN)
    unused = ["collector.http-server.", "collector.otlp.grpc.", "query.grpc-server.", "http-server.", "admin.http."]
    unused += [f"processor.{protocol}.server-" for protocol in ("jaeger-binary", "jaeger-compact", "zipkin-compact")]
    listen = dict.fromkeys(unused, 0)  # any port: left alone, these listen on all interfaces
    listen |= {"collector.grpc-server.": ports["internal"], "query.http-server.": ports["JAEGER_URL"]}
    listen["collector.otlp.http."] = ports["JAEGER_OTLP_URL"]
    arguments = [f"--{name}host-port=127.0.0.1:{port}" for name, port in listen.items()]
    return ["env", "COLLECTOR_OTLP_ENABLED=true", f"{folder}/all-in-one", *arguments]


def _redis(node: Path, ports: Mapping[str, int]) -> list[str]:
    if not shutil.which("redis-server"):
        apt_install("redis-server")
    limits = ["--save", "", "--appendonly", "no", "--maxmemory", "64mb", "--maxmemory-policy", "allkeys-lru"]
    return ["redis-server", "--bind", "127.0.0.1", "--port", str(ports["REDIS_URL"]), "--dir", str(node), *limits]


def _searx(node: Path, ports: Mapping[str, int]) -> list[str]:
    if not shutil.which("searx-run"):
        apt_install("searx")
    ours, backend = HERE / "searx", str(ports["internal"])
    settings = Template((ours / "settings.yml").read_text()).substitute(port=ports["SEARXNG_URL"], backend=backend)
    (node / "settings.yml").write_text(settings)
    launcher = [sys.executable, f"{ours}/backend.py", backend, "searx-run"]
    return ["env", f"SEARX_SETTINGS_PATH={node}/settings.yml", *launcher]


def scrape_targets() -> Path:
    """Return the folder whose JSON files tell the Prometheus of the tests, while it runs, what to scrape."""
    folder = cache_dir() / "prometheus-targets"
    folder.mkdir(exist_ok=True)
    return folder


def _prometheus(node: Path, ports: Mapping[str, int]) -> list[str]:
    if not shutil.which("prometheus"):
        apt_install("prometheus")
    values = {"targets": scrape_targets(), "rules": HERE.parent / "deploy" / "prometheus" / "alerts.yml"}
    settings = Template((HERE / "prometheus" / "prometheus.yml").read_text()).substitute(values)
    (node / "prometheus.yml").write_text(settings)
    listen = f"--web.listen-address=127.0.0.1:{ports['PROMETHEUS_URL']}"
    return ["prometheus", f"--config.file={node}/prometheus.yml", f"--storage.tsdb.path={node}/data", listen]


def apt_install(package: str) -> None:
    """Install a Debian package, without starting a server of its own."""
    with installing(), ExitStack() as undo:
        if os.geteuid() == 0 and not POLICY.exists():  # no server of the package's own: a test's is started here
            undo.callback(POLICY.unlink)
            POLICY.write_text("#!/bin/sh\nexit 101\n")
            POLICY.chmod(0o755)
        with suppress(ServiceUnavailable):  # a new machine has no lists of packages; without them `install` says why
            run_command("apt-get", "update")
        run_command("apt-get", "install", "-y", "--no-install-recommends", package, pauses=AGAIN)


KINDS = {
    "elasticsearch": Kind({"ELASTICSEARCH_URL": 9200}, "/_cluster/health?wait_for_status=yellow", _elasticsearch, True),
    "jaeger": Kind({"JAEGER_URL": 16686, "JAEGER_OTLP_URL": 4318}, "/api/services", _jaeger),
    "redis": Kind({"REDIS_URL": 6379}, "PING", _redis, form="redis://127.0.0.1:{}/0"),
    # Debian has the older searx only; the container is its successor, SearXNG.
    "searx": Kind({"SEARXNG_URL": 8888}, "/healthz", _searx, container="searxng"),
    # A container does not reach the pages that tests serve on loopback.
    "prometheus": Kind({"PROMETHEUS_URL": 9090}, "/-/ready", _prometheus, process_first=True),
}
