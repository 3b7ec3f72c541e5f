"""What the pages on adoption show is what happens: diffs are the files, commands print what stands there."""

import re

import pytest
from examples.conftest import EXAMPLES, ROOT, Folder

PAGES = {
    name: (ROOT / "docs" / f"{name}.md").read_text("utf-8")
    for name in ("adopt", "let-an-llm-grade", "one-line", "search-again")
}
APPLY = "git apply "


def blocks(page: str, kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", PAGES[page], re.DOTALL)


def commands(console: str) -> list[tuple[str, str]]:
    """Each command of a console with what it prints."""
    return re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", console, re.MULTILINE)


def comparable(text: str) -> str:
    """Without white space at ends of lines; scores to two digits, since the last ones are the processor's."""
    lines = "\n".join(line.rstrip() for line in text.splitlines())
    return re.sub(r"\d\.\d+", lambda number: f"{float(number[0]):.2f}", lines)


def test_every_diff_is_applied_on_a_page() -> None:
    """What the page shows of it is the file."""
    files = {path.name: path.read_text("utf-8") for path in (EXAMPLES / "existing_app").glob("*.diff")}
    shown = [diff for page in PAGES for diff in blocks(page, "diff")]
    assert sorted(shown) == sorted(text for name, text in files.items() if name != "enforce.diff")  # told in words
    typed = {command for page in PAGES for console in blocks(page, "console") for command, _ in commands(console)}
    assert {f"{APPLY}{name}" for name in files} <= typed


def test_the_diff_that_is_told_in_words_changes_one_word() -> None:
    """From watching to deciding."""
    text = (EXAMPLES / "existing_app" / "enforce.diff").read_text("utf-8")
    (before,), (after,) = (re.findall(rf"^{sign} (.*)$", text, re.MULTILINE) for sign in ("-", r"\+"))
    assert before != after == before.replace("mode: observe", "mode: enforce")
    assert "`mode: observe` becomes `mode: enforce`" in PAGES["adopt"]


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_print_what_the_page_says(page: str, existing_app: Folder) -> None:
    """From the first to the last, in one folder, as a reader goes through them."""
    shown = commands("".join(blocks(page, "console")))
    assert any(command.startswith("python ") for command, _ in shown)
    for command, printed in shown:
        assert comparable(existing_app.shell(command).stdout) == comparable(printed), command
