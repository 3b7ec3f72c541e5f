"""The examples, copied to where they may be changed, and a model that believes what it is shown."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cli_runner import environment
from scripted_model import Messages, ScriptedModel, documents_in, judging

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
ANSWERED, UNANSWERED = "When is a refund paid?", "Can I pay with Bitcoin?"
_FIRST_SENTENCE = re.compile(
    r'(?:\[(?:1|\w+\.md)\] |number="1"[^>]*>\n)(?:[\w ]+\n\n)?(.*?\.)'
)  # behind the passage's title


def credulous(messages: Messages) -> tuple[str, str]:
    """Repeat the first sentence that is shown; as a judge, find the page on refunds relevant to refunds."""
    shown = str(messages[-1]["content"])
    if documents_in(messages):
        is_asked = "refund" in shown.partition("\n")[0]
        return judging(lambda text: float(is_asked and "A refund is paid" in text))(messages)
    found = _FIRST_SENTENCE.search(shown)
    return found[1] if found else "I was shown nothing.", "stop"


class Folder:
    """A copy of an example, and commands in it as a reader would type them."""

    def __init__(self, path: Path, model: ScriptedModel) -> None:
        self.path, self.model = path, model
        binaries = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
        self.settings = {"PATH": binaries, "OPENAI_BASE_URL": model.url, "OPENAI_API_KEY": "a-key-of-the-tests"}

    def shell(self, command: str, **settings: str) -> "subprocess.CompletedProcess[str]":
        """Run a command; a failure shows what it wrote."""
        known = environment(**self.settings, **settings)
        done = subprocess.run(
            command, shell=True, cwd=self.path, env=known, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done

    def apply(self, *diffs: str) -> "Folder":
        """Change the app, as the page says."""
        for name in diffs:
            self.shell(f"git apply {name}.diff")
        return self


@pytest.fixture
def existing_app(tmp_path: Path, scripted_model: ScriptedModel) -> Folder:
    """The app that was there before us."""
    scripted_model.reply = credulous
    return Folder(Path(shutil.copytree(EXAMPLES / "existing_app", tmp_path / "existing_app")), scripted_model)
