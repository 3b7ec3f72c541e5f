"""Run `crag` in tests, in this process or in one of its own; and two short documents to ask."""

import os
import subprocess
import sys
from pathlib import Path

from typer.testing import CliRunner, Result

import haystack_integrations.crag as crag_package
from haystack_integrations.crag.cli.app import app
from haystack_integrations.crag.cli.errors import ExitCode

QUESTION = "Where do emperor penguins live?"
PENGUINS = "Emperor penguins live on the coast of Antarctica. They eat fish. Their chicks are grey."
CAMELS = "Camels live in deserts. They store fat in their humps. Their feet are broad."
SCRIPT = [sys.executable, "-c", "from haystack_integrations.crag.cli import main; main()"]


def crag(*arguments: str | Path, stdin: str | None = None) -> Result:
    """Run a command in this process."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin, prog_name="crag")


def environment(**settings: str) -> dict[str, str]:
    """Give the environment of a process that starts in another folder and still finds the package under test."""
    folder = str(Path(crag_package.__file__).parents[2])
    path = os.pathsep.join(filter(None, (folder, os.environ.get("PYTHONPATH"))))
    return {**os.environ, "PYTHONPATH": path, **settings}


def in_process(*arguments: str | Path, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a process of its own, with both streams piped."""
    command = [*SCRIPT, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment(**settings))


def refused(result: Result, code: ExitCode) -> str:
    """Check that a command ended with one message on stderr and nothing else; gives the message."""
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    assert "Traceback" not in result.stderr
    return result.stderr.removeprefix("error: ").strip()


def two_documents(folder: Path) -> Path:
    """Write a document that answers QUESTION and one that does not; gives their folder, `docs`."""
    docs = folder / "docs"
    docs.mkdir()
    (docs / "penguins.md").write_text(PENGUINS)
    (docs / "camels.txt").write_text(CAMELS)
    return docs
