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
from multiprocessing import active_children
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

class Interrupting:
    starts = 0

    def __reduce__(self):  # while a process is started, which takes this with it; here the second one
        Interrupting.starts += 1
        if Interrupting.starts == 2:
            interrupt()
        return int, ()

def parts():
    yield 600
    {between}
    yield 600

def ready(*given):
    READY.touch()

if __name__ == "__main__":
    try:
        with at_work(2, ready, ({given},), time.sleep, parts()) as futures:
            {within}
            [future.result() for future in futures]
    except KeyboardInterrupt:
        print("interrupted")
"""


@pytest.mark.parametrize(
    "where",
    [
        {"between": "interrupt()", "given": "0", "within": "pass"},
        {"between": "pass", "given": "Interrupting()", "within": "pass"},
        {"between": "pass", "given": "0", "within": "interrupt()"},
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
    with at_work(2, len, ([],), abs, [-1, 2, -3]) as futures:
        assert [future.result() for future in futures] == [1, 2, 3]
    assert signal.getsignal(signal.SIGINT) is before
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())
