"""Every Python example in README and docstrings runs, and what it asserts holds."""

import ast
import re
from pathlib import Path

import pytest
from haystack.tracing.tracer import disable_tracing

ROOT = Path(__file__).parents[1]
FENCE = re.compile(r"```python\n(.*?)```", re.DOTALL)


def docstring_examples() -> list[tuple[str, str]]:
    """All fenced examples of the package's docstrings."""
    found = []
    for path in sorted((ROOT / "src").rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                for number, code in enumerate(FENCE.findall(ast.get_docstring(node) or "")):
                    found.append((f"{path.stem}.{getattr(node, 'name', 'module')}.{number}", code))
    return found


def page_examples() -> list[tuple[str, str]]:
    """All fenced Python blocks of the Markdown pages, one program for each page."""
    pages = [path for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))) if path.exists()]
    found = [(page.name, "\n".join(FENCE.findall(page.read_text("utf-8")))) for page in pages]
    return [(name, code) for name, code in found if code]


EXAMPLES = docstring_examples() + page_examples()


@pytest.mark.parametrize("code", [pytest.param(code, id=name) for name, code in EXAMPLES])
def test_the_example_runs(code: str) -> None:
    """As a reader would paste it."""
    try:
        exec(compile(code, "<example>", "exec"), {"__name__": "example"})
    finally:
        disable_tracing()  # of the whole process
    assert "assert" in code or "print" in code


def test_every_component_has_an_example() -> None:
    """One runnable example in each component's docstring."""
    files = {path.stem for path in (ROOT / "src/haystack_integrations/crag/components").glob("[a-z]*.py")}
    assert files <= {name.split(".")[0] for name, _ in EXAMPLES}
