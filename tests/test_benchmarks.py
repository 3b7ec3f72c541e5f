"""Benchmarks switch parts of the package off, which must be where they say; commands that are written down must run."""

import argparse
import ast
import importlib
import re
import runpy
import shlex
import sys
from collections.abc import Iterator
from inspect import Parameter, signature
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "benchmarks"
PATCHING = sorted(path.stem for path in FOLDER.glob("*.py") if "unittest.mock import patch" in path.read_text("utf-8"))

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
IN_PAGES = re.compile(r"`(?:python )?(?:benchmarks/)?((?:peers/)?\w+\.py)\s+([^`]+)`")
IN_SCRIPTS = re.compile(r"^ +python benchmarks/((?:peers/)?\w+\.py)(.*?)(?: +#.*)?$", re.MULTILINE)


def commands() -> set[tuple[str, str]]:
    """Scripts with the arguments that pages, and the heads of scripts, call them with."""
    found = {
        (script, " ".join(given.split()))
        for page in PAGES
        for script, given in IN_PAGES.findall(page.read_text("utf-8"))
    }
    for path in (*FOLDER.glob("*.py"), *FOLDER.glob("peers/*.py")):
        found |= set(IN_SCRIPTS.findall(path.read_text("utf-8")))
    return {(script, given.strip()) for script, given in found if (FOLDER / script).is_file()}


@pytest.fixture
def benchmark(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A script of the folder, which finds those beside it."""
    for folder in (FOLDER, FOLDER / "peers"):
        monkeypatch.syspath_prepend(str(folder))
    sys.modules.pop(request.param, None)
    return importlib.import_module(request.param)


def switches(module: ModuleType) -> Iterator[Any]:
    """Context managers of a script that take nothing, or only whether something is on."""
    for made in vars(module).values():
        if getattr(made, "__module__", None) != module.__name__ or not hasattr(made, "__wrapped__"):
            continue
        wanted = [one for one in signature(made).parameters.values() if one.default is Parameter.empty]
        if all(one.kind is Parameter.KEYWORD_ONLY and one.annotation is bool for one in wanted):
            yield made(**dict.fromkeys((one.name for one in wanted), False))


def patched(module: ModuleType) -> Iterator[tuple[Any, str]]:
    """What the script patches by an imported name and a text."""
    for call in ast.walk(ast.parse(Path(str(module.__file__)).read_text("utf-8"))):
        if isinstance(call, ast.Call):
            match [call.func, *call.args]:
                case [*_, ast.Attribute(attr="object"), ast.Name(id=owner), ast.Constant(value=str(name))] | [
                    ast.Attribute(attr="object"),
                    ast.Name(id=owner),
                    ast.Constant(value=str(name)),
                    *_,
                ] if owner in vars(module):
                    yield vars(module)[owner], name


@pytest.mark.parametrize("benchmark", PATCHING, indirect=True)
def test_what_a_benchmark_switches_off_is_there(benchmark: ModuleType) -> None:
    """Else it would end in an error, as nobody runs all of them after each change."""
    found = 0
    for switch in switches(benchmark):
        with switch:
            found += 1
    for owner, name in patched(benchmark):
        assert hasattr(owner, name), f"{owner.__name__} has no {name}"
        found += 1
    assert found or benchmark.__name__ == "other_numbers"  # there what is switched off is an argument


def test_benchmarks_that_switch_something_off_are_found() -> None:
    """The list is made by their imports."""
    assert len(PATCHING) > 5


class TakenError(Exception):
    """The arguments were understood; what they ask for is not begun."""


@pytest.mark.parametrize(("script", "given"), sorted(commands()))
def test_a_benchmark_takes_the_arguments_it_is_said_to_take(
    script: str, given: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As written, with optional ones (in brackets), and a number where a capital N stands for one."""
    source = (FOLDER / script).read_text("utf-8")
    assert "argparse" in source or not given, "takes no arguments"
    if "argparse" not in source:
        return
    parse = argparse.ArgumentParser.parse_args

    def taken(parser: argparse.ArgumentParser, args: Any = None, namespace: Any = None) -> None:
        parse(parser, args, namespace)
        raise TakenError

    monkeypatch.setattr(argparse.ArgumentParser, "parse_args", taken)
    monkeypatch.setattr(sys, "argv", [script, *shlex.split(re.sub(r"\bN\b", "1", re.sub(r"[][]", "", given)))])
    for folder in (ROOT, FOLDER, FOLDER / "peers"):
        monkeypatch.syspath_prepend(str(folder))
    with pytest.raises(TakenError):
        runpy.run_path(str(FOLDER / script), run_name="__main__")
