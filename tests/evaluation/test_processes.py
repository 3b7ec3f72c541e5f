"""Worker processes, and what the keyboard does to them: a terminal sends its interruption to all of a group."""

import signal
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from cli_runner import environment

from haystack_integrations.crag.evaluation.processes import at_work

_SCRIPT = """
import os, signal, time
from multiprocessing import active_children, util
from pathlib import Path
from haystack_integrations.crag.evaluation.processes import at_work

READY = Path(__file__).with_name("ready")

def interrupt():
    while not READY.exists():  # a process that has hardly begun ends silently by itself
        time.sleep(0.01)
    for child in active_children():
        os.kill(child.pid, signal.SIGINT)
    time.sleep(0.5)  # for what they would say
    os.kill(os.getpid(), signal.SIGINT)

def interrupt_next_start():
    start = util.spawnv_passfds

    def interrupted(*given):
        process = start(*given)
        interrupt()
        return process

    util.spawnv_passfds = interrupted

def parts():
    yield 600
    {between}
    yield 600

def ready():
    READY.touch()
    return time.sleep

if __name__ == "__main__":
    try:
        with at_work(2, ready, parts()) as futures:
            {within}
            [future.result() for future in futures]
    except KeyboardInterrupt:
        print("interrupted")
"""


@pytest.mark.parametrize(
    "where",
    [
        {"between": "interrupt()", "within": "pass"},
        {"between": "interrupt_next_start()", "within": "pass"},
        {"between": "pass", "within": "interrupt()"},
    ],
    ids=["between two starts", "while one starts", "while they work"],
)
def test_an_interruption_ends_processes_without_a_word_of_theirs(where: dict[str, str], tmp_path: Path) -> None:
    """Whenever it comes; none is left behind, and nobody waits for the rest of what they were at."""
    script = tmp_path / "script.py"
    script.write_text(_SCRIPT.format(**where))
    started: Any = {"text": True, "env": environment(), "start_new_session": True}
    started["preexec_fn"] = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    piped = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([sys.executable, str(script)], **started, **piped) as process:
        out, said = process.communicate(timeout=300)  # also the end of whoever holds its output
    assert (out, said, process.returncode) == ("interrupted\n", "", 0)


def test_what_is_done_is_given_in_order() -> None:
    before = signal.getsignal(signal.SIGINT)
    with at_work(2, partial(partial, abs), [-1, 2, -3]) as futures:
        assert [future.result() for future in futures] == [1, 2, 3]
    assert signal.getsignal(signal.SIGINT) is before
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


_DYING = """
import os, signal
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from multiprocessing import resource_tracker, util
from haystack_integrations.crag.evaluation.processes import at_work

if __name__ == "__main__":
    resource_tracker.ensure_running()
    start = util.spawnv_passfds

    def killed(*given):
        process = start(*given)
        os.kill(process, signal.SIGKILL)
        return process

    util.spawnv_passfds = killed
    try:
        with at_work(1, partial(print, bytes(1_000_000)), [0]) as futures:
            futures[0].result()
    except BrokenProcessPool:
        print("broken")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="started in another way")
def test_a_process_that_dies_before_it_has_read_what_it_is_given_is_told(tmp_path: Path) -> None:
    """As by a system short of memory: `crag calibrate` waited for ever, and not even an interruption ended it."""
    (script := tmp_path / "script.py").write_text(_DYING)
    done = subprocess.run(
        [sys.executable, script], env=environment(), capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.stdout, done.returncode) == ("broken\n", 0)


_KILLED = """
import os, signal, time
from pathlib import Path
from haystack_integrations.crag.evaluation.processes import at_work

READY = Path(__file__).with_name("ready")

def ready():
    READY.touch()
    return time.sleep

if __name__ == "__main__":
    with at_work(2, ready, [0, 0]) as futures:
        [future.result() for future in futures]
        assert READY.exists()
        os.kill(os.getpid(), signal.{signal})
        time.sleep(60)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="killed in another way")
@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM"])
def test_processes_end_with_the_one_that_started_them(name: str, tmp_path: Path) -> None:
    """Killed by a time limit, or for its memory, it can end none of them: each waited for its next part for ever."""
    (script := tmp_path / "script.py").write_text(_KILLED.format(signal=name))
    piped = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([sys.executable, script], env=environment(), text=True, **piped) as process:
        process.communicate(timeout=60)  # its output ends with the last process that holds it
    assert process.returncode == -signal.Signals[name]
