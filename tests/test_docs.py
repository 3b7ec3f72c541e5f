"""Every Python example in README, pages and docstrings runs, and what it asserts holds; YAML on pages can be loaded."""

import ast
import re
from pathlib import Path

import pytest
import yaml
from haystack import Pipeline
from haystack.tracing.tracer import disable_tracing

from haystack_integrations.crag import components
from haystack_integrations.crag.pipelines import export

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
def test_the_example_runs_and_prints_what_it_says(code: str, capsys: pytest.CaptureFixture[str]) -> None:
    """As a reader would paste it; what stands as a comment behind a `print` is what that prints."""
    if "hayhooks" in code:
        pytest.importorskip("hayhooks", reason='needs pip install -e ".[serve]"')
    try:
        exec(compile(code, "<example>", "exec"), {"__name__": "example"})
    finally:
        disable_tracing()  # of the whole process
    assert "assert" in code or "print" in code
    printed = capsys.readouterr().out.splitlines()
    assert [said for said in re.findall(r"^print\(.*\)  # (.+)$", code, re.MULTILINE) if said not in printed] == []


def test_the_integration_page_counts_the_components() -> None:
    """Those that can be imported."""
    page = (ROOT / "docs/integration-page.md").read_text("utf-8")
    assert f"This integration has {len(components.__all__)} components." in page


@pytest.mark.parametrize(
    ("page", "part", "pipeline", "kind"),
    [
        ("designs.md", "web", "heuristic_rag", "TavilyWebSearch"),
        ("grading.md", "grader", "corrective_rag", "RedisGradeCache"),
    ],
)
def test_a_part_in_yaml_takes_the_place_of_the_shipped_one(
    page: str, part: str, pipeline: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Keys are set, and where the page has `{...}` stands the chat generator of the shipped file."""
    for name in ("TAVILY_API_KEY", "OPENAI_API_KEY", "REDIS_URL"):
        monkeypatch.setenv(name, "redis://127.0.0.1:9/0")
    (block,) = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs" / page).read_text("utf-8"), re.DOTALL)
    shipped, shown = yaml.safe_load(export(pipeline)), yaml.safe_load(block)
    assert list(shown) == [part]
    assert shown[part]["type"] == shipped["components"][part]["type"]
    settings = shown[part]["init_parameters"]
    if "chat_generator" in settings:
        assert "chat_generator: {...}" in block
        settings["chat_generator"] = shipped["components"][part]["init_parameters"]["chat_generator"]
    shipped["components"].update(shown)
    loaded = Pipeline.from_dict(shipped).get_component(part)
    assert kind in {type(value).__name__ for value in vars(loaded).values()}


def test_every_yaml_block_of_a_page_is_loaded_by_a_test() -> None:
    """By the one above; another page with YAML needs a line there."""
    pages = [page.name for page in (ROOT / "docs").glob("*.md") if "```y" in page.read_text("utf-8")]
    assert sorted(pages) == ["designs.md", "grading.md"]


def test_every_component_has_an_example() -> None:
    """One runnable example in each component's docstring."""
    files = {path.stem for path in (ROOT / "src/haystack_integrations/crag/components").glob("[a-z]*.py")}
    assert files <= {name.split(".")[0] for name, _ in EXAMPLES}
