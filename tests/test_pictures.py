"""The pictures of README and docs are what the program prints and what its YAML says today."""

import re
from copy import deepcopy
from pathlib import Path
from platform import python_version
from typing import Any
from xml.etree import ElementTree as ET

import pictures
import pytest
from flow_picture import flow

from haystack_integrations.crag.cli.demo import QUESTIONS
from haystack_integrations.crag.pipelines.loader import read

DRAWN = sorted(pictures.PICTURES.glob("*.svg"))
_TIMES = re.compile(r"\d+ (?=ms\b)|\d+\.\d+ (?=s\b)")


@pytest.fixture
def spec() -> dict[str, Any]:
    """The pipeline that README shows, to be changed."""
    return deepcopy(read("corrective_rag"))


@pytest.fixture(scope="module")
def made() -> dict[str, str]:
    """The pictures that are text, made now."""
    return pictures.texts()


def text_of(drawn: str) -> list[str]:
    """The lines of a picture of a terminal, without times."""
    rows: dict[float, list[tuple[float, str]]] = {}
    for part in ET.fromstring(drawn).iter("{http://www.w3.org/2000/svg}text"):
        place = float(part.attrib.get("x", 0)), "".join(part.itertext()).replace("\xa0", " ")
        rows.setdefault(float(part.attrib.get("y", 0)), []).append(place)
    lines = ["".join(text for _, text in sorted(rows[y])) for y in sorted(rows)]
    return [_TIMES.sub("", line).rstrip() for line in lines]


@pytest.mark.parametrize("name", ["README.md", "docs/trace.md"])
def test_texts_between_markers_are_current(name: str, made: dict[str, str]) -> None:
    """`python scripts/pictures.py` would change nothing, and does write into this page."""
    page = (pictures.ROOT / name).read_text("utf-8")
    assert pictures.filled(page, made) == page
    emptied = pictures.filled(page, dict.fromkeys(made, "nothing\n"))
    assert emptied != page
    assert pictures.filled(emptied, made).count("\n") == page.count("\n")


def test_a_text_that_differs_in_its_times_stays(made: dict[str, str]) -> None:
    """Making pictures again changes no file when nothing has changed."""
    page = (pictures.ROOT / "docs/trace.md").read_text("utf-8")
    assert pictures.filled(page, {"trail": re.sub(r"\d+ ms", "99999 ms", made["trail"])}) == page


def test_the_flow_has_six_lines_and_every_part_on_the_way(spec: dict[str, Any]) -> None:
    """All but joiners, which only pass on, and the two parts that give the outputs."""
    drawn = flow(spec)
    assert drawn.count("\n") == 6
    outputs = {path.partition(".")[0] for path in spec["outputs"].values()}
    joiners = {name for name, part in spec["components"].items() if part["type"].endswith(".BranchJoiner")}
    words = set(re.findall(r"\w+", drawn))
    assert set(spec["components"]) - outputs - joiners <= words
    assert not words & joiners


def test_the_flow_follows_the_yaml(spec: dict[str, Any]) -> None:
    """A part between two others appears between them, a branch that is taken away disappears."""
    spec["components"]["rank"] = {"type": "somewhere.Ranker"}
    for one in spec["connections"]:
        one["receiver"] = "rank.documents" if one["receiver"] == "grader.documents" else one["receiver"]
    spec["connections"].append({"sender": "rank.documents", "receiver": "grader.documents"})
    spec["connections"] = [one for one in spec["connections"] if one["sender"] != "router.refine"]
    drawn = flow(spec)
    assert "fuse ─ rank ─ grader ─ router" in drawn
    assert "refine" not in drawn
    assert drawn.count("\n") == 5


@pytest.mark.parametrize("name", ["agent_rag", "baseline_rag", "corrective_retrieval", "paper_rag", "strict_rag"])
def test_a_pipeline_of_another_shape_is_refused(name: str) -> None:
    """Rather than drawn without some of its parts; the way out is the drawing of all of them."""
    with pytest.raises(ValueError, match="crag pipelines draw"):
        flow(read(name))


@pytest.mark.parametrize("file", DRAWN, ids=lambda file: file.name)
def test_a_picture_brings_all_it_needs(file: Path) -> None:
    """Well-formed, with a name for those who do not see it; no font, picture or script from elsewhere."""
    drawn = file.read_text("utf-8")
    root = ET.fromstring(drawn)
    assert root.attrib["role"] == "img"
    assert root.attrib["aria-label"].startswith("A terminal: crag ")
    assert not re.search(r"@font-face|url\((?!#)|<script|<image|href", drawn)


def test_the_picture_of_ask_is_what_it_prints_now() -> None:
    """Both questions with their trails, but for the times."""
    asked = {pictures.shown(one): pictures.crag(one, colours=True) for one in (pictures.ANSWERED, pictures.ABSTAINED)}
    fresh = text_of(pictures.svg(asked, "crag ask"))
    assert text_of((pictures.PICTURES / "ask.svg").read_text("utf-8")) == fresh
    assert sum("Decision trail" in line for line in fresh) == 2


def test_the_picture_of_the_demo_has_its_questions_and_verdicts() -> None:
    """Its passages differ from one Python to the next: on the one that it was made with all of it is compared."""
    lines = text_of((pictures.PICTURES / "demo.svg").read_text("utf-8"))
    if f"crag demo, Python {python_version()}" in lines:
        assert lines == text_of(pictures.terminal()["demo.svg"])
    asked = [line.removeprefix("Question  ") for line in lines if line.startswith("Question ")]
    assert asked == list(QUESTIONS)
    verdicts = [line.split()[2] for line in lines if line.startswith("Verdict ")]
    assert verdicts == ["correct", "ambiguous", "incorrect"]


def test_the_picture_of_a_trace_is_the_trail_without_the_queries(made: dict[str, str]) -> None:
    """What Jaeger gave back is what the terminal shows of the same question."""
    queries = re.compile(r"(search +)(\S.*?)(  \w+)$")
    lines = text_of((pictures.PICTURES / "trace.svg").read_text("utf-8"))
    shown, printed = (
        [queries.sub(r"\1…\3", line.strip()) for line in part] for part in (lines, made["trail"].splitlines())
    )
    top = "Decision trail  not calibrated on your questions"
    assert shown[shown.index(top) :] == printed[printed.index(top) :]


def test_a_command_that_fails_makes_no_picture() -> None:
    """An error is not drawn as if it were a result."""
    with pytest.raises(pictures.subprocess.CalledProcessError):
        pictures.crag(["ask", "Anything?", "--docs", "nowhere/"])
