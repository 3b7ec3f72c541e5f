"""What holds for the adapters of other systems without their packages: pinned, alone, and told in the first line."""

import ast
import re
import sys
from pathlib import Path

import pytest

PEERS = Path(__file__).parent.parent / "benchmarks" / "peers"
ADAPTERS = {"langgraph_crag": "langgraph", "langgraph_adaptive": "langgraph", "llamaindex_pack": "llamaindex"}
BESIDE = {"worker", "langgraph_crag"}


def pinned(environment: str) -> list[str]:
    """Name the packages of an environment; each line must pin one version."""
    lines = (PEERS / "requirements" / f"{environment}.txt").read_text("utf-8").splitlines()
    found = [re.fullmatch(r"([a-z0-9-]+)==[0-9][0-9a-z.]*", line) for line in lines if not line.startswith("#")]
    assert all(found)
    return [one[1] for one in found if one]


def tree(adapter: str) -> ast.Module:
    """Read an adapter without importing it."""
    return ast.parse((PEERS / "adapters" / f"{adapter}.py").read_text("utf-8"))


def imported(adapter: str) -> set[str]:
    """Name the modules that an adapter imports, but for the standard library and the files beside it."""
    names: set[str] = set()
    for node in ast.walk(tree(adapter)):
        if isinstance(node, ast.Import):
            names |= {one.name for one in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module or "")
    return {name for name in names if name.split(".")[0] not in sys.stdlib_module_names | BESIDE}


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_an_adapter_imports_only_packages_that_its_environment_pins(adapter: str) -> None:
    packages = pinned(ADAPTERS[adapter])
    for module in imported(adapter):
        distribution = f"{module.replace('.', '-').replace('_', '-')}-"
        assert any(distribution.startswith(f"{package}-") for package in packages), module


@pytest.mark.parametrize("adapter", ["langgraph_crag", "llamaindex_pack"])
def test_the_versions_that_an_adapter_tells_are_of_pinned_packages(adapter: str) -> None:
    told = [
        ast.literal_eval(node.value)
        for node in tree(adapter).body
        if isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == ["PACKAGES"]
    ]
    assert len(told) == 1
    assert set(told[0]) <= set(pinned(ADAPTERS[adapter]))


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_an_adapter_says_what_it_was_written_from_and_what_differs(adapter: str) -> None:
    said = ast.get_docstring(tree(adapter)) or ""
    assert "documentation" in said
    assert "What differs" in said
