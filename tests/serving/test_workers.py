"""Worker processes that keep dying: started anew, after ever longer pauses, and told."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from uvicorn.supervisors import Multiprocess
from waiting import eventually

from haystack_integrations.crag.serving import workers
from haystack_integrations.crag.serving.workers import Workers, end_with_loop

_PROGRAM = """
import os, signal, sys, time
from contextlib import suppress
from pathlib import Path

def app():
    with Path("starts").open("a") as starts:  # both at once: what is appended is lost by neither
        starts.write("x")
    if len(Path("starts").read_text()) in range(*map(int, sys.argv[1:3])):
        os._exit(1)
    with suppress(FileNotFoundError):
        Path("deaf").unlink()  # by one of the two only
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if Path("slow").exists():
        time.sleep(60)
    if Path("watched").exists():  # this import takes its time
        from haystack_integrations.crag.serving.workers import end_with_parent
        end_with_parent()
    if Path("watched_loop").exists():
        hang_later()
    Path("alive").write_text(str(os.getpid()))
    async def nothing(scope, receive, send): ...
    return nothing

def hang_later():
    import asyncio
    from haystack_integrations.crag.serving import workers
    workers._HUNG, workers._STEP = 3.0, 0.2
    workers.end_with_loop()
    def hang():
        with suppress(FileNotFoundError):
            Path("hangs").unlink()  # by one of them only
            time.sleep(600)
    asyncio.get_running_loop().call_later(1, hang)

if __name__ == "__main__":
    import uvicorn
    from haystack_integrations.crag.serving.logs import configure_logs
    from haystack_integrations.crag.serving.workers import Workers
    configure_logs()
    options = {"port": 0, "lifespan": "off", "log_config": None, "timeout_worker_healthcheck": 60}
    options["timeout_graceful_shutdown"] = 1
    config = uvicorn.Config("program:app", factory=True, workers=2, **options)
    Workers(config, sockets=[config.bind_socket()]).run()
"""


@contextmanager
def supervised(folder: Path, first: int, last: int) -> Iterator["subprocess.Popen[bytes]"]:
    """Two workers, of whose starts the first to the one before last die."""
    (folder / "program.py").write_text(_PROGRAM)
    (folder / "starts").write_text("")
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "program.py", str(first), str(last)],
            cwd=folder,
            stdout=log,
            stderr=log,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            start_new_session=True,
        )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(10)


def starts(folder: Path) -> int:
    return len((folder / "starts").read_text())


def wait_for(folder: Path, count: int) -> None:
    assert eventually(lambda: starts(folder) >= count, 300), (folder / "log").read_text()


def test_workers_that_die_at_each_start_are_started_ever_more_seldom_and_the_log_tells(tmp_path: Path) -> None:
    """A signal ends them in the midst of a pause."""
    with supervised(tmp_path, 1, 1000) as process:
        wait_for(tmp_path, 2)
        time.sleep(8)
        log, told = tmp_path / "log", "Workers died 3 times within a short time; the next one that dies is started anew"
        assert eventually(lambda: f"{told} after 4.0 s." in log.read_text(), 120), log.read_text()
        assert starts(tmp_path) <= 10  # of two workers, after 1, 2 and 4 seconds; without pauses more than 20
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def test_pauses_double_up_to_half_a_minute_and_begin_anew_after_two_minutes_without_a_death(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The longest one is how long a server stays smaller than it should be once the store is back."""
    now, looks, is_ill = 0.0, list[float](), True
    end = SimpleNamespace(close=lambda: None)

    def look(self: Any) -> None:
        looks.append(now)
        self.processes = [SimpleNamespace(pid=len(looks) if is_ill else 0, child_conn=end)]

    monkeypatch.setattr(Multiprocess, "keep_subprocess_alive", look)  # what uvicorn finds; its processes are real above
    monkeypatch.setattr(workers, "time", SimpleNamespace(monotonic=lambda: now))
    supervisor = Workers.__new__(Workers)
    supervisor.processes = []
    while now < 130:
        supervisor.keep_subprocess_alive()
        now += 0.5
    assert looks == [0, 1, 3, 7, 15, 31, 61, 91, 121]
    is_ill, now, looks[:] = False, 200.0, []
    supervisor.keep_subprocess_alive()  # the last one that died is seen to live
    is_ill, now, looks[:] = True, 320.0, []
    while now < 324:
        supervisor.keep_subprocess_alive()
        now += 0.5
    assert looks == [320, 321, 323]


def test_a_worker_that_dies_once_is_started_anew_at_once(tmp_path: Path) -> None:
    with supervised(tmp_path, 0, 0):
        wait_for(tmp_path, 2)
        time.sleep(1)
        assert eventually(lambda: (tmp_path / "alive").exists() and (tmp_path / "alive").read_text())
        os.kill(int((tmp_path / "alive").read_text()), signal.SIGKILL)
        wait_for(tmp_path, 3)
        assert "Workers died" not in (tmp_path / "log").read_text()


def test_a_worker_that_dies_without_an_answer_to_whether_it_lives_is_started_anew_at_once(tmp_path: Path) -> None:
    """
    One whose start failed takes its time to end, and answers no more: nobody waits a minute for its word.

    Meanwhile the parent would start no other worker anew, and heed no signal.
    """
    with supervised(tmp_path, 0, 0):
        wait_for(tmp_path, 2)
        assert eventually(lambda: (tmp_path / "alive").exists() and (tmp_path / "alive").read_text())
        worker = int((tmp_path / "alive").read_text())
        os.kill(worker, signal.SIGSTOP)
        time.sleep(3)  # the parent asks twice a second
        os.kill(worker, signal.SIGKILL)
        assert eventually(lambda: starts(tmp_path) == 3, 30), (tmp_path / "log").read_text()


def test_the_end_is_heeded_in_the_midst_of_a_restart_of_all_workers(tmp_path: Path) -> None:
    """Else the pause that a container is given to end in passes, and running requests are lost with it."""
    with supervised(tmp_path, 0, 0) as process:
        wait_for(tmp_path, 2)
        (tmp_path / "slow").touch()
        process.send_signal(signal.SIGHUP)
        wait_for(tmp_path, 3)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0, (tmp_path / "log").read_text()


def test_a_quit_of_the_terminal_ends_the_workers_too(tmp_path: Path) -> None:
    """It reaches all of them: those that it ended were started anew, for ever."""
    with supervised(tmp_path, 0, 0) as process:
        wait_for(tmp_path, 2)
        time.sleep(1)
        os.killpg(process.pid, signal.SIGQUIT)
        assert process.wait(60) == 0, (tmp_path / "log").read_text()


def test_a_worker_that_hangs_does_not_hold_the_end_for_ever(tmp_path: Path) -> None:
    """It is deaf here; one that hangs in a library heeds no signal either. The other ends as it should."""
    (tmp_path / "deaf").touch()
    with supervised(tmp_path, 0, 0) as process:
        wait_for(tmp_path, 2)
        time.sleep(1)
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0, (tmp_path / "log").read_text()
    assert "A worker did not end, and is killed" in (tmp_path / "log").read_text()


def test_workers_end_with_the_process_that_started_them_when_it_is_killed(tmp_path: Path) -> None:
    """Else they serve on, unseen, and hold the port against a new start."""
    (tmp_path / "watched").touch()
    with supervised(tmp_path, 0, 0) as process:
        wait_for(tmp_path, 2)
        group = os.getpgid(process.pid)
        process.kill()
        process.wait(10)
        end = time.monotonic() + 120
        with suppress(ProcessLookupError):  # the whole group is gone
            while time.monotonic() < end:
                os.killpg(group, 0)
                time.sleep(0.05)
            pytest.fail((tmp_path / "log").read_text())


def test_a_worker_whose_event_loop_alone_hangs_is_killed_and_started_anew(tmp_path: Path) -> None:
    """A thread of it says to uvicorn that it lives; no request that comes to it would ever be answered."""
    (tmp_path / "watched_loop").touch()
    (tmp_path / "hangs").touch()
    with supervised(tmp_path, 0, 0) as process:
        wait_for(tmp_path, 3)
        assert "The event loop of a worker hangs" in (tmp_path / "log").read_text()
        time.sleep(5)  # the other one, and the new one, are left alone
        assert starts(tmp_path) == 3
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0


def test_a_process_that_is_no_worker_watches_no_loop() -> None:
    """Nobody would start it anew: whoever runs it probes it."""
    before = threading.active_count()

    async def begin() -> None:
        end_with_loop()

    asyncio.run(begin())
    assert threading.active_count() == before


def test_a_server_may_hold_as_many_connections_as_the_system_allows() -> None:
    """Idle ones are kept for minutes: at 1,024, with which many systems begin, nobody new would be let in."""
    program = (
        "import resource; from haystack_integrations.crag.serving.workers import hold_many_connections;"
        "hold_many_connections(); print(*resource.getrlimit(resource.RLIMIT_NOFILE))"
    )
    limited = ("sh", "-c", 'ulimit -Sn 256; ulimit -Hn 512; exec "$0" "$@"', sys.executable, "-c", program)
    assert subprocess.run(limited, capture_output=True, text=True, check=True).stdout.split() == ["512", "512"]
