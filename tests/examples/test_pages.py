"""What the page on adoption shows is what happens: its diffs are the files, its commands print what stands there."""

import re

from examples.conftest import EXAMPLES, ROOT, Folder

PAGE = (ROOT / "docs" / "adopt.md").read_text("utf-8")
DIFFS = ("retriever", "observe", "enforce", "judge", "pipeline")


def blocks(kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL)


def commands(console: str) -> list[tuple[str, str]]:
    """Each command of a console with what it prints."""
    return re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", console, re.MULTILINE)


def comparable(text: str) -> str:
    """Without white space at ends of lines; scores to two digits, since the last ones are the processor's."""
    lines = "\n".join(line.rstrip() for line in text.splitlines())
    return re.sub(r"\d\.\d+", lambda number: f"{float(number[0]):.2f}", lines)


def test_the_page_shows_the_diffs_as_they_are() -> None:
    """All of them, each once."""
    files = [(EXAMPLES / "existing_app" / f"{name}.diff").read_text("utf-8") for name in DIFFS]
    assert blocks("diff") == files
    assert {path.stem for path in (EXAMPLES / "existing_app").glob("*.diff")} == set(DIFFS)


def test_the_commands_print_what_the_page_says(existing_app: Folder) -> None:
    """From the first to the last, in one folder, as a reader goes through them."""
    shown = commands("".join(blocks("console")))
    assert len(shown) > len(DIFFS)
    for command, printed in shown:
        assert comparable(existing_app.shell(command).stdout) == comparable(printed), command
