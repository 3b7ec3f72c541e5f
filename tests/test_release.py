"""What a release is made of: both distributions, the pages that go with it, and the script that checks them."""

import ast
import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import api_reference
import pytest
import release
import yaml
from dist_contents import ROOT, project, sdist_problems, wheel_problems
from haystack import Pipeline
from haystack.core.errors import DeserializationError
from packaging.requirements import Requirement

PACKAGE = "haystack_integrations/crag/"
Entries = dict[str, bytes]


@pytest.fixture(scope="module")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Wheel and source distribution; the wheel is built from the other."""
    return release.built(sys.executable, tmp_path_factory.mktemp("built") / "dist")


@pytest.fixture
def spoiled(distributions: tuple[Path, Path], tmp_path: Path) -> Callable[[Callable[[Entries], object]], list[str]]:
    """Change the entries of a copy of the wheel; give the problems that are found."""

    def spoil(change: Callable[[Entries], object]) -> list[str]:
        with zipfile.ZipFile(distributions[0]) as archive:
            entries = {name: archive.read(name) for name in archive.namelist()}
        change(entries)
        copy = tmp_path / distributions[0].name
        with zipfile.ZipFile(copy, "w") as archive:
            for name, content in entries.items():
                archive.writestr(name, content)
        return [problem.removeprefix(f"{copy.name}: ") for problem in wheel_problems(copy)]

    return spoil


def test_both_distributions_hold_what_they_should_and_nothing_else(distributions: tuple[Path, Path]) -> None:
    """Every file of the package byte by byte, no tests, benchmarks, examples or caches, and the project's metadata."""
    wheel, sdist = distributions
    assert wheel_problems(wheel) == []
    assert sdist_problems(sdist) == []


@pytest.mark.parametrize("name", ["py.typed", "yaml/corrective_rag.yml", "models/static-minilm-256/model.safetensors"])
def test_a_file_that_is_left_out_is_named(spoiled: Callable[..., list[str]], name: str) -> None:
    """Also one that no Python imports."""
    assert spoiled(lambda entries: entries.pop(PACKAGE + name)) == [f"{PACKAGE}{name} is missing"]


@pytest.mark.parametrize(
    "name", ["tests/test_state.py", "benchmarks/calls.py", "examples/app.py", f"{PACKAGE}__pycache__/state.pyc"]
)
def test_what_is_no_part_of_a_package_is_named(spoiled: Callable[..., list[str]], name: str) -> None:
    """Once for not being the project's, once for its kind."""
    problems = spoiled(lambda entries: entries.update({name: b""}))
    assert {f"{name} should not be there", f"{name} is no part of a package"} <= set(problems)


def test_a_file_that_was_changed_is_named(spoiled: Callable[..., list[str]]) -> None:
    """It is not the project's, and not the one that RECORD tells of."""
    name = f"{PACKAGE}yaml/corrective_rag.yml"
    problems = spoiled(lambda entries: entries.update({name: b"components: {}"}))
    assert problems == [f"{name} is not the file of the project", f"RECORD has another hash for {name}"]


def test_metadata_of_another_project_is_named(spoiled: Callable[..., list[str]]) -> None:
    """What an installer decides by: Python, dependencies, extras."""

    def change(entries: Entries) -> None:
        (name,) = (name for name in entries if name.endswith("METADATA"))
        text = entries[name].decode().replace("Requires-Python: >=3.11", "Requires-Python: >=2.7")
        entries[name] = text.replace("Requires-Dist: haystack-ai", "X-Was: haystack-ai", 1).encode()

    problems = spoiled(change)
    assert problems[0] == "Requires-Python is '>=2.7', not '>=3.11'"
    assert problems[1].startswith("it needs ")


def test_a_source_distribution_that_cannot_be_built_from_is_refused(
    distributions: tuple[Path, Path], tmp_path: Path
) -> None:
    """Without its licence."""
    copy = tmp_path / distributions[1].name
    with tarfile.open(distributions[1]) as archive, tarfile.open(copy, "w:gz") as smaller:
        for member in archive.getmembers():
            if not member.name.endswith("/LICENSE") or "/src/" in member.name:
                smaller.addfile(member, archive.extractfile(member))
    assert sdist_problems(copy) == [f"{copy.name}: LICENSE is missing"]


def test_the_lowest_versions_that_were_not_tested_are_told() -> None:
    """A bound that another package lifts, or that has no wheel, is no promise that was kept."""
    bounds = {"one>=1.2": "one", "two[extra]>=2,<3": "two", "three": "three", "four>=4.0": "four"}
    told = release.raised(bounds, {"one": "1.2.0", "two": "2.5", "three": "0.1", "four": "4.0.1"})
    assert told == ["four>=4.0: tested 4.0.1", "three: tested 0.1", "two[extra]>=2,<3: tested 2.5"]


def test_each_dependency_has_a_lowest_version() -> None:
    """Without one, the lowest that is allowed is the first ever published."""
    extras = [name for name in project()["project"]["optional-dependencies"] if name not in release.TEST_TOOLS]
    assert [one for one in release.direct(extras) if ">=" not in one] == []


def test_an_app_that_reads_files_with_docling_can_install_the_package() -> None:
    """Docling 2.143 takes no typer from 0.27 on: pip found no versions that fit both."""
    (typer,) = (one for one in map(Requirement, project()["project"]["dependencies"]) if one.name == "typer")
    assert typer.specifier.contains("0.26.8")


def test_the_command_says_what_it_does() -> None:
    """Its help names the three checks, and a wrong word is refused."""
    script = [sys.executable, str(ROOT / "scripts" / "release.py")]
    shown = subprocess.run([*script, "--help"], capture_output=True, text=True, check=True).stdout
    assert all(word in shown for word in ("check", "lowest", "newest", "--python"))
    assert subprocess.run([*script, "publish"], capture_output=True, check=False).returncode == 2


def test_the_api_reference_is_what_the_docstrings_say() -> None:
    """Run `python scripts/api_reference.py` when it is not."""
    assert api_reference.PAGE.read_text("utf-8") == api_reference.page()


def test_each_field_of_a_component_is_in_the_api_reference() -> None:
    """No parameter, input or socket without a line, and none without a meaning."""
    page = api_reference.page()
    assert not re.search(r"^\| `[^`]+` \| .* \|  \|$", page, re.MULTILINE)
    for part in re.split(r"^### ", page.split("\n## Pipelines")[0], flags=re.MULTILINE)[1:]:
        assert re.search(r"^\*\*Outputs:\*\* `", part, re.MULTILINE), part[:40]
        assert "| input | type |" in part, part[:40]


def test_each_line_of_the_threat_model_names_a_test_that_exists() -> None:
    """A claim that nothing proves is not in the table."""
    text = (ROOT / "SECURITY.md").read_text("utf-8")
    rows = [line for line in text.split("| test |", 1)[1].splitlines() if line.startswith("|") and "---" not in line]
    assert len(rows) > 20
    for row in rows:
        named = re.findall(r"`([\w/]+\.py)::(test_\w+)`", row.split("|")[4])
        assert named, row
        for file, name in named:
            tree = ast.parse((ROOT / "tests" / file).read_text("utf-8"))
            assert name in {getattr(node, "name", "") for node in ast.walk(tree)}, f"{file}::{name}"


@pytest.mark.parametrize("kind", ["os.system", "subprocess.Popen", "importlib.import_module"])
def test_a_yaml_that_names_code_of_others_is_refused(kind: str) -> None:
    """Haystack's safe settings, which our YAML needs no exception from."""
    with pytest.raises(DeserializationError, match="allowlist"):
        Pipeline.loads(f"components: {{a: {{type: {kind}, init_parameters: {{}}}}}}\nconnections: []\n")


def test_the_integration_page_has_the_form_of_haystacks_list() -> None:
    """Its head has every entry that the list requires, and its sections are those of the table of contents."""
    _, head, text = (ROOT / "docs" / "integration-page.md").read_text("utf-8").split("---\n", 2)
    told = yaml.safe_load(head)
    assert {"layout", "name", "description", "authors", "type", "repo", "report_issue", "version"} <= set(told)
    assert (told["layout"], told["type"]) == ("integration", "Custom Component")
    assert told["version"] == "Haystack " + re.search(r"haystack-ai>=([\d.]+)", str(project())).group(1)  # type: ignore[union-attr]
    for title, anchor in re.findall(r"^- \[(\w+)\]\(#(\w+)\)$", text, re.MULTILINE):
        assert anchor == title.lower()
        assert re.search(rf"^##+ {title}$", text, re.MULTILINE)


def test_the_changelog_begins_with_the_version_of_the_project() -> None:
    """What is released is what is described."""
    first = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert first
    assert first.group(1) == project()["project"]["version"]
