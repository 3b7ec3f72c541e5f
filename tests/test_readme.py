"""README's first screen is short and true, its links lead somewhere, and the commands of all pages can be typed."""

import json
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest
import typer
from pasting import bash_blocks, free_port, paste

from haystack_integrations.crag.cli.app import app

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
SCREEN = README.splitlines()[:45]
INSTALLING = ("make ", ". .venv/bin/activate && pip install ")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
HOW_TO = [ROOT / "docs" / f"{name}.md" for name in ("choose", "files", "trace", "operate", "limits")]
WALKS = [ROOT / "docs" / f"{name}.md" for name in ("adopt", "calibration", "extend", "serving")]
FENCE = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)
_BEFORE = re.compile(r"^(&&?|\||do)$|;$|^[A-Z_]+=")
LINK = re.compile(r"\]\(([^)\s]+)\)")


def fences(page: str, language: str) -> list[str]:
    """The blocks of a page in one language."""
    return [code for kind, code in FENCE.findall(page) if kind == language]


def commands() -> list[tuple[str, list[str]]]:
    """Every `crag` command of every page, with the name of the page."""
    found = []
    for page in PAGES:
        for code in fences(page.read_text("utf-8"), "bash"):
            for line in code.replace("\\\n", " ").splitlines():
                words = shlex.split(line, comments=True)
                before = ["&", *words]  # a command begins a line, or follows one of these or a setting
                starts = [n for n, word in enumerate(words) if word == "crag" and _BEFORE.search(before[n])]
                for start in starts:
                    rest = words[start:]
                    end = next((number for number, word in enumerate(rest) if word in ("&", "&&", "|", "done;")), None)
                    found.append((page.name, rest[1:end]))
    return found


def parsed(words: list[str]) -> Any:
    """Find the command and read its options, as `crag` does, without running it."""
    command, rest = typer.main.get_command(app), list(words)
    while hasattr(command, "commands"):
        command = command.commands[rest.pop(0)]
    with command.make_context("crag", rest) as context:
        return context.params


def headings(page: Path) -> set[str]:
    """The anchors of a page, as GitHub makes them."""
    titles = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def holds(part: Any, whole: Any) -> bool:
    """What is in one value is in the other, too; of a list, its first entries."""
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(key in whole and holds(part[key], whole[key]) for key in part)
    if isinstance(part, list):
        return len(part) <= len(whole) and all(map(holds, part, whole))
    return bool(part == whole)


def test_the_first_screen_says_all_in_its_order() -> None:
    """What, why, picture, Python, two commands, one request, one table of effect; then the rest."""
    screen = "\n".join(SCREEN)
    wanted = [
        "# crag-haystack",
        "**Corrective RAG for Haystack 3:",
        "Plain RAG",
        "<!-- flow",
        "```python",
        "pip install",
    ]
    wanted += [
        "make demo",
        "make test",
        "curl",
        "| 100 questions per dataset",
        "`corrective_rag`, oracle grades",
        "no LLM, uncal",
    ]
    places = [screen.index(part) for part in wanted]
    assert places == sorted(places)
    assert "## " not in screen
    assert screen.count("curl") == 1
    assert next(line for line in README.splitlines()[45:] if line)


def test_the_example_has_five_lines_and_prints_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    """Beside its imports; what it prints stands below it as comments."""
    (code,) = fences("\n".join(SCREEN), "python")
    lines = [line for line in code.splitlines() if line]
    assert len([line for line in lines if not line.startswith(("from ", "import ", "#"))]) == 5
    exec(compile(code, "README", "exec"), {"__name__": "readme"})
    assert capsys.readouterr().out.splitlines() == [line.removeprefix("# ") for line in lines if line.startswith("# ")]


@pytest.mark.skipif(shutil.which("curl") is None, reason="the request is made by curl")
def test_the_block_with_the_request_is_pasted_and_answers_as_shown(tmp_path: Path) -> None:
    """In one go, on another port. Left out: the lines that install, which need a network."""
    pytest.importorskip("hayhooks", reason='needs pip install -e ".[serve]"')
    (block,) = [code for code in fences("\n".join(SCREEN), "bash") if "curl" in code]
    *lines, shown = block.splitlines()
    pasted = [line for line in lines if not line.startswith(INSTALLING)]
    assert len(lines) - len(pasted) == len(INSTALLING) + 1
    assert pasted[0] == "crag serve --docs docs/ &"
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    port = free_port()
    done = paste("\n".join(pasted).replace("1416", port), tmp_path, CRAG_SERVE_PORT=port)
    assert done.returncode == 0, done.stderr
    assert holds(json.loads(shown.removeprefix("# ").replace(", ...", "")), json.loads(done.stdout))


def test_no_block_asks_a_server_that_does_not_listen_yet() -> None:
    """A server in the foreground ends a block; after one in the background, curl tries again until it listens."""
    asking = 0
    for page in PAGES:
        for block in (one for section in bash_blocks(page).values() for one in section):
            lines = [line for line in block.replace("\\\n", " ").splitlines() if line and not line.startswith("#")]
            starts = [n for n, line in enumerate(lines) if re.search(r"\b(crag serve|hayhooks run)\b", line)]
            for line in lines[starts[0] + 1 :] if starts else ():
                if line.startswith("curl"):
                    asking += 1
                    assert all(lines[n].split("#")[0].rstrip().endswith("&") for n in starts), (page.name, block)
                    assert "--retry-connrefused" in line, (page.name, line)
    assert asking >= 4


def test_every_set_of_the_measurements_has_its_source() -> None:
    """A row of the table of datasets, with a link and a licence."""
    page = (ROOT / "docs" / "judgement.md").read_text("utf-8")
    table = page.partition("## Datasets")[2].partition("\n## ")[0]
    rows = dict(re.findall(r"^\| ([a-z]+) \| (.*)$", table, re.MULTILINE))
    rows.pop("dataset")
    measured = (ROOT / "docs" / "results.md").read_text("utf-8") + README + page
    named = {name for name in rows if re.search(rf"\b{name}\b", measured.replace(table, ""))}
    assert named == {"popqa", "clapnq", "scifact", "covidqa", "hotpotqa", "selqa"} == set(rows)
    assert all("](https://" in row and re.search(r"MIT|Apache-2.0|CC BY", row) for row in rows.values())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    """To a file of this folder, and to a heading that is there."""
    for link in LINK.findall(page.read_text("utf-8")):
        if link.startswith("http"):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), link
        assert not anchor or anchor in headings(target), link


def test_every_page_can_be_reached_from_the_readme() -> None:
    """No page is forgotten."""
    linked = {(ROOT / link.partition("#")[0]).resolve() for link in LINK.findall(README) if not link.startswith("http")}
    drafts = {"integration-page.md"}  # for another repository
    assert [page.name for page in PAGES[1:] if page not in linked and page.name not in drafts] == []


@pytest.mark.parametrize("page", HOW_TO, ids=lambda page: page.name)
def test_a_how_to_page_is_short(page: Path) -> None:
    """At most 80 lines."""
    assert len(page.read_text("utf-8").splitlines()) <= 80


@pytest.mark.parametrize("page", WALKS, ids=lambda page: page.name)
def test_a_page_that_leads_from_nothing_to_done_is_short(page: Path) -> None:
    """At most 115 lines with its commands; what is only looked up has pages of its own."""
    assert len(page.read_text("utf-8").splitlines()) <= 115


@pytest.mark.parametrize(("page", "words"), [pytest.param(*one, id=f"{one[0]}: {one[1][:2]}") for one in commands()])
def test_every_crag_command_of_the_pages_can_be_typed(page: str, words: list[str]) -> None:
    """The command exists, and takes these options."""
    del page
    assert isinstance(parsed(words), dict)


def test_a_command_that_does_not_exist_is_noticed() -> None:
    """The test above can fail: a wrong option and a wrong command."""
    with pytest.raises(KeyError):
        parsed(["aks", "Why?"])
    with pytest.raises(Exception, match="No such option"):
        parsed(["ask", "Why?", "--dcos", "handbook/"])
