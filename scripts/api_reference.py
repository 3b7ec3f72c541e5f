"""
Write `docs/api.md` from the docstrings: `python scripts/api_reference.py`; `--check` only says whether it is current.

griffe reads the sources without importing them: signatures, docstrings and what `component.output_types` declares. The
page is put together here, since griffe's own Markdown (griffe2md, and Haystack's tool on top of it) knows no sockets.
"""

import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import griffe

ROOT: Final = Path(__file__).parents[1]
PAGE: Final = ROOT / "docs" / "api.md"
PACKAGE: Final = "haystack_integrations.crag"
HEAD: Final = """\
# API reference

Made by `python scripts/api_reference.py` from the docstrings; a test compares it with them. A component's `type` is
what stands in YAML, and never changes. Components with I/O have `run_async` beside `run`, with the same sockets.
"""
ON_A_STORE: Final = (
    "pipelines.corrective_retriever.CorrectiveRetriever",
    "pipelines.loader.load",
    "pipelines.loader.export",
    "pipelines.loader.names",
)
MORE: Final = ("tracing.enable_tracing", "metrics_export.configure_metrics")
CACHES: Final = ("caching.memory.MemoryGradeCache", "caching.redis_cache.RedisGradeCache")


def words(text: Any) -> str:
    """Give a description as one line of a table."""
    return " ".join(str(text).split()).replace("|", "\\|")


def code(text: Any) -> str:
    """Give an expression as code that a table can hold."""
    return f"`{words(text)}`"


def parsed(item: griffe.Object, kind: str) -> list[Any]:
    """Give what one kind of section of a docstring holds: `text`, `parameters`, `returns` or `raises`."""
    found = item.docstring.parsed if item.docstring else []
    sections = [section.value for section in found if section.kind.value == kind]
    return [part for value in sections for part in (value if isinstance(value, list) else [value])]


def prose(item: griffe.Object) -> str:
    """Give a docstring without its fields; its examples run with the tests of docstrings, so not with this page."""
    return "\n\n".join(parsed(item, "text")).replace("```python", "```py").replace("### Usage example\n\n", "")


def table(item: griffe.Function, title: str) -> Iterator[str]:
    """Give the parameters of a function: those without a default must be given."""
    told = {entry.name.lstrip("*"): words(entry.description) for entry in parsed(item, "parameters")}
    rows = [entry for entry in item.parameters if entry.name not in ("self", "args")]
    if rows:
        yield f"\n| {title} | type | default | meaning |\n|---|---|---|---|"
    for entry in rows:
        stars = "**" if entry.kind is griffe.ParameterKind.var_keyword else ""
        default = "" if entry.default is None or stars else code(entry.default)
        beside = (f"See `{name}`." for name, meaning in told.items() if f"`{entry.name}`" in meaning)
        meaning = told.get(entry.name) or next(beside, "")
        yield f"| `{stars}{entry.name}` | {code(entry.annotation)} | {default} | {meaning} |"


def returned(item: griffe.Function) -> Iterator[str]:
    """Give what a function returns; of a component's `run` also the sockets and their types."""
    for decorator in item.decorators:
        if isinstance(decorator.value, griffe.ExprCall) and "output_types" in str(decorator.value.function):
            sockets = (one for one in decorator.value.arguments if isinstance(one, griffe.ExprKeyword))
            yield "\n**Outputs:** " + ", ".join(f"`{one.name}` (`{one.value}`)" for one in sockets) + "."
    for entry in parsed(item, "returns"):
        yield "\n" + ("" if item.name == "run" else "**Returns:** ") + re.sub(r":\n(?=- )", ":\n\n", entry.description)


def raised(*items: griffe.Function | None) -> Iterator[str]:
    """Give the errors of functions, each sentence once."""
    fields = (one for item in items if item for one in parsed(item, "raises"))
    told = dict.fromkeys(f"- `{one.annotation}`: {words(one.description)}" for one in fields)
    if told:
        yield "\n**Errors:**\n\n" + "\n".join(told)


def described(item: Any) -> Iterator[str]:
    """Give the section of a component, another class or a function."""
    kind = "type" if any(str(one.value) == "component" for one in item.decorators) else "from"
    yield f"\n### {item.name}\n\n`{kind}: {item.path}`\n\n{prose(item)}"
    start = item.members.get("__init__") if item.is_class else None
    run = (item.members.get("run") if kind == "type" else None) if item.is_class else item
    if start:
        yield from table(start, "init parameter")
    if run:
        yield from table(run, "input" if item.is_class else "parameter")
        yield from returned(run)
    yield from raised(start, run)


def errors(module: griffe.Module) -> Iterator[str]:
    """Give the errors of the package."""
    yield "\n## Errors\n\nTheir texts hold names and numbers, never content."
    yield "\n| error | is also a | raised when |\n|---|---|---|"
    for item in module.classes.values():
        others = ", ".join(f"`{base}`" for base in item.bases if str(base) != "CragError")
        yield f"| `{item.name}` | {others} | {words(prose(item))} |"


def aliases(package: Any, items: Iterable[Any]) -> Iterator[str]:
    """Give the words of the tables that stand for one of several texts."""
    found = {}
    functions = (item[name] for item in items for name in ("__init__", "run") if name in item.members)
    entries = [entry for function in functions for entry in function.parameters]
    for name in (one for entry in entries for one in entry.annotation or () if isinstance(one, griffe.ExprName)):
        if name.canonical_path.startswith(PACKAGE):
            value = str(getattr(package[name.canonical_path[len(PACKAGE) + 1 :]], "value", ""))
            if value.startswith("Literal["):
                found[name.name] = value[8:-1]
    yield "\n## Words for types\n\n| word | one of |\n|---|---|"
    yield from (f"| `{name}` | `{values}` |" for name, values in sorted(found.items()))


def page() -> str:
    """Give the whole page."""
    loader = griffe.GriffeLoader(search_paths=[ROOT / "src"], docstring_parser="sphinx", allow_inspection=False)
    package: Any = loader.load(PACKAGE)
    components = [package["components"][name].final_target for name in package["components"].exports]
    lines = [HEAD, "## Components\n", "| component | what it does |\n|---|---|"]
    for item in components:
        lines.append(f"| [{item.name}](#{item.name.lower()}) | {words(prose(item).split(chr(10) * 2)[0])} |")
    groups: list[tuple[str, Iterable[Any]]] = [
        ("", components),
        ("\n## Pipelines", (package[name] for name in ON_A_STORE)),
        ("\n## Grade caches", (package[name] for name in CACHES)),
        ("\n## Traces and metrics", (package[name] for name in MORE)),
    ]
    for title, items in groups:
        lines += [title] if title else []
        for item in items:
            lines += described(item)
    lines += errors(package["errors"])
    lines += aliases(package, components)
    return "\n".join(line.rstrip() for line in "\n".join(lines).splitlines()) + "\n"


if __name__ == "__main__":
    if "--check" not in sys.argv:
        PAGE.write_text(page(), "utf-8")
    elif not PAGE.is_file() or PAGE.read_text("utf-8") != page():
        sys.exit(f"{PAGE.relative_to(ROOT)} is not what the docstrings say; run python scripts/api_reference.py")
