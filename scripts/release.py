"""
Check a release: `python scripts/release.py check`, `lowest` or `newest`; with `--python PATH` for another interpreter.

`check` builds wheel and source distribution, looks into both, and runs the wheel alone in a fresh environment. `lowest`
and `newest` install the lowest or newest versions that `pyproject.toml` allows and run the tests that need no service;
what stands after `--` goes to pytest. The tools (uv, build, twine) are installed below `build/release`; uv has settings
of its own, such as `UV_DEFAULT_INDEX`, and does not read pip's.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from dist_contents import ROOT, project, sdist_problems, wheel_problems

WORK: Final = ROOT / "build" / "release"
TOOLS: Final = ("build>=1.2", "twine>=6", "uv>=0.5")
TEST_TOOLS: Final = ("dev", "fuzz")  # extras of developers; whoever installs the package has none of them
NO_TEXT_OF_OURS: Final = {"HAYSTACK_TELEMETRY_ENABLED": "False"}
FROM_YAML: Final = """
from pathlib import Path
from haystack import Document, Pipeline
from haystack.document_stores.in_memory import InMemoryDocumentStore
import haystack_integrations.crag as crag
from haystack_integrations.crag.components import StaticDocumentEmbedder
from haystack_integrations.crag.pipelines import load, names

assert (Path(crag.__file__).parent / "py.typed").is_file()
for name in names():
    Pipeline.loads((Path(crag.__file__).parent / "yaml" / f"{name}.yml").read_text("utf-8"))
store = InMemoryDocumentStore(embedding_similarity_function="cosine")
texts = [Document(content="A refund is paid within 30 days."), Document(content="Parcels are sent on Mondays.")]
store.write_documents(StaticDocumentEmbedder().run(texts)["documents"])
found = load("corrective_retrieval", store=store).run(query="When is a refund paid?")
assert "30 days" in found["documents"][0].content, found
print(len(names()), "pipelines load;", "corrective_retrieval says", found["crag"]["verdict"])
"""


class StepError(Exception):
    """A step failed; what it said has been printed."""


def command(*parts: str | Path, cwd: Path = ROOT, show: bool = False) -> str:
    """Run a command without what the caller's environment says of Python; return what it printed, or show it."""
    inherited = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "CRAG_"))}
    called = [str(part) for part in parts]
    out = None if show else subprocess.PIPE
    done = subprocess.run(called, cwd=cwd, env={**inherited, **NO_TEXT_OF_OURS}, stdout=out, stderr=out, text=True)  # noqa: PLW1510
    if done.returncode:
        print(f"failed ({done.returncode}): {' '.join(called)}", (done.stdout or "") + (done.stderr or ""), sep="\n")
        raise StepError
    return done.stdout or ""


def tools() -> Path:
    """Give the folder with the programs of this script; they are installed at the first call."""
    programs = WORK / "tools" / "bin"
    if not (programs / "uv").exists():
        venv.create(WORK / "tools", with_pip=True)
        command(programs / "python", "-m", "pip", "install", "--quiet", *TOOLS)
    return programs


def built(python: str | Path, folder: Path) -> tuple[Path, Path]:
    """Build both distributions, the wheel from the source distribution; give wheel and source distribution."""
    shutil.rmtree(folder, ignore_errors=True)
    command(python, "-m", "build", "--outdir", folder, ROOT)
    return next(folder.glob("*.whl")), next(folder.glob("*.tar.gz"))


def environment(name: str, python: str, *wanted: str | Path) -> Path:
    """Make a fresh environment of that interpreter and install into it; give its folder of programs."""
    folder = WORK / name
    command(tools() / "uv", "venv", "--quiet", "--seed", "--clear", "--python", python, folder)
    install(folder / "bin", *wanted)
    return folder / "bin"


def install(programs: Path, *wanted: str | Path) -> None:
    """Install into an environment."""
    if wanted:
        command(tools() / "uv", "pip", "install", "--quiet", "--python", programs / "python", *wanted)


def try_out(programs: Path) -> str:
    """Use what is installed as a stranger would: the demo, each YAML, one question to a pipeline; say what came out."""
    with TemporaryDirectory(prefix="crag-release-") as elsewhere:  # so that nothing of the checkout is found
        version = command(programs / "crag", "--version", cwd=Path(elsewhere)).strip()
        demo = json.loads(command(programs / "crag", "demo", "--json", cwd=Path(elsewhere)))
        loaded = command(programs / "python", "-c", FROM_YAML, cwd=Path(elsewhere)).strip()
    if len(demo["questions"]) != 3:
        print(f"crag demo answered {len(demo['questions'])} questions, not 3")
        raise StepError
    return f"{version}; crag demo: {len(demo['questions'])} questions; {loaded}"


def check(python: str) -> None:
    """Build, look inside, install the wheel alone, use it."""
    wheel, sdist = built(tools() / "python", WORK / "dist")
    problems = [*wheel_problems(wheel), *sdist_problems(sdist)]
    if problems:
        print(*problems, sep="\n")
        raise StepError
    command(tools() / "twine", "check", "--strict", wheel, sdist)
    print(f"{wheel.name} and {sdist.name}: complete, nothing else inside, metadata in order")
    print(try_out(environment("alone", python, wheel)))


def direct(extras: Sequence[str]) -> dict[str, str]:
    """Give what `pyproject.toml` asks for itself: each requirement with its name as indexes write it."""
    told = project()["project"]
    wanted = [*told["dependencies"], *(one for extra in extras for one in told["optional-dependencies"][extra])]
    return {one: normal(re.split(r"[\[<>=!~; ]", one)[0]) for one in wanted}


def normal(name: str) -> str:
    """Write a package's name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def lowest_pins(python: str, extras: Sequence[str], target: Path) -> dict[str, str]:
    """Resolve to the lowest versions that have a wheel for this Python; give them by name."""
    options = [part for extra in extras for part in ("--extra", extra)]
    options += ["--resolution", "lowest-direct", "--no-build", "--no-header", "--no-annotate", "--python", python]
    target.unlink(missing_ok=True)  # uv would keep to the versions of an earlier one
    command(tools() / "uv", "pip", "compile", "--quiet", *options, "--output-file", target, ROOT / "pyproject.toml")
    lines = (line.split(";")[0].strip() for line in target.read_text("utf-8").splitlines() if "==" in line)
    return {normal(name.split("[")[0]): version for name, _, version in (line.partition("==") for line in lines)}


def raised(bounds: Mapping[str, str], pins: Mapping[str, str]) -> list[str]:
    """Name what was not tested at its lower bound: another package asks for more, or there is no wheel."""
    said = []
    for requirement, name in sorted(bounds.items()):
        low = re.search(r">=([\w.]+)", requirement)
        if low is None or not re.fullmatch(rf"{re.escape(low[1])}(\.0)*", pins[name]):
            said.append(f"{requirement}: tested {pins[name]}")
    return said


def lowest(python: str, arguments: Sequence[str]) -> None:
    """Use the wheel with the lowest versions of what it needs, then run the tests with those of all extras."""
    extras = [name for name in project()["project"]["optional-dependencies"] if name not in TEST_TOOLS]
    wheel, _ = built(tools() / "python", WORK / "dist")
    alone = WORK / "lowest-alone.txt"
    lowest_pins(python, (), alone)
    print(try_out(environment("lowest-alone", python, "--requirements", alone, wheel)))
    full, kept = WORK / "lowest.txt", WORK / "lowest-kept.txt"
    pins, bounds = lowest_pins(python, extras, full), direct(extras)
    print(*raised(bounds, pins), sep="\n")
    kept.write_text("".join(f"{name}=={pins[name]}\n" for name in sorted(set(bounds.values()))), "utf-8")
    programs = environment("lowest", python, "--requirements", full)
    # The test tools may want newer ones: the versions under test hold all the same.
    install(programs, "--override", kept, "--editable", f"{ROOT}[dev]")
    tested(programs, bounds.values(), arguments)


def newest(python: str, arguments: Sequence[str]) -> None:
    """Run the tests with the newest versions of everything."""
    extras = [name for name in project()["project"]["optional-dependencies"] if name not in TEST_TOOLS]
    programs = environment("newest", python, "--upgrade", "--refresh", "--editable", f"{ROOT}[dev]")
    tested(programs, direct(extras).values(), arguments)


def tested(programs: Path, names: Iterable[str], arguments: Sequence[str]) -> None:
    """Print the versions, and run the tests that need no service."""
    listed = command(tools() / "uv", "pip", "list", "--quiet", "--format", "json", "--python", programs / "python")
    versions = {normal(one["name"]): one["version"] for one in json.loads(listed)}
    print(", ".join(f"{name} {versions[name]}" for name in sorted(set(names))), flush=True)
    command(programs / "python", "-m", "pytest", "-m", "not integration", "-q", *arguments, show=True)


def main(words: Sequence[str]) -> int:
    """Read the command line; give the exit status."""
    before, after = (words, ()) if "--" not in words else (words[: words.index("--")], words[words.index("--") + 1 :])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("check", "lowest", "newest"))
    parser.add_argument("--python", default=sys.executable, help="the interpreter to check with; this one by default")
    asked = parser.parse_args(before)
    try:
        print("Python", command(asked.python, "-c", "import platform; print(platform.python_version())").strip())
        if asked.what == "check":
            check(asked.python)
        else:
            {"lowest": lowest, "newest": newest}[asked.what](asked.python, after)
    except StepError:
        return 1
    print(f"{asked.what}: passed")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
