"""Shell blocks of the pages, run by bash as a reader pastes them: in one go, with what they leave in the background."""

import os
import re
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from cli_runner import environment

RETRY = "--retry 60 --retry-connrefused --retry-delay 1"
_OTHER = re.compile(r"```\w+\n.*?```", re.DOTALL)
_BASH = re.compile(r"```bash\n(.*?)```", re.DOTALL)


def bash_blocks(page: Path) -> dict[str, list[str]]:
    """The bash blocks of a page by the heading they stand under."""
    found: dict[str, list[str]] = {}
    for section in re.split(r"^#+ (?=.*$)", _without_comments_of_code(page.read_text("utf-8")), flags=re.MULTILINE):
        if blocks := _BASH.findall(section):
            found[section.partition("\n")[0]] = [block.replace("\0", "#") for block in blocks]
    return found


def free_port() -> str:
    """A port that nobody listens on."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return str(listening.getsockname()[1])


def paste(script: str, folder: Path, **settings: str) -> "subprocess.CompletedProcess[str]":
    """Run a script in a folder; its servers end with it."""
    binaries = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    known = {name: value for name, value in environment().items() if not name.startswith(("CRAG_", "HAYHOOKS_"))}
    out, err = folder / "pasted.out", folder / "pasted.err"
    with out.open("w") as to_out, err.open("w") as to_err:
        # A session of its own, and files in place of pipes: a server in the background holds both open.
        process = subprocess.Popen(
            ["bash", "-c", script],
            cwd=folder,
            env={**known, "PATH": binaries, **settings},
            stdin=subprocess.DEVNULL,
            stdout=to_out,
            stderr=to_err,
            start_new_session=True,
        )
        try:
            code = process.wait(240)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    return subprocess.CompletedProcess(script, code, out.read_text("utf-8"), err.read_text("utf-8"))


def _without_comments_of_code(text: str) -> str:
    """A comment of a block is no heading."""
    return _OTHER.sub(lambda block: block[0].replace("#", "\0"), text)
