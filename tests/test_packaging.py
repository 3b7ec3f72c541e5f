"""The wheel: what is inside, and that it works in an environment that has nothing else."""

import re
import subprocess
import sys
import venv
import zipfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from haystack_integrations.crag import __version__

ROOT = Path(__file__).parents[1]
PACKAGE = "haystack_integrations/crag/"


def quiet(*command: str | Path, cwd: Path | None = None) -> str:
    """Run a command; a failure shows its last words."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, cwd=cwd, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built once."""
    folder = tmp_path_factory.mktemp("dist")
    quiet(sys.executable, "-m", "build", "--wheel", "--outdir", folder, ROOT)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def empty_environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A fresh virtual environment with the wheel and its dependencies, and nothing else."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=True)
    quiet(folder / "bin" / "python", "-m", "pip", "install", "--quiet", wheel)
    yield folder


def test_the_wheel_carries_yaml_stores_data_and_model_with_their_licence(wheel: Path) -> None:
    """And no `__init__.py` in the namespace or in the folders that hold only data."""
    names = set(zipfile.ZipFile(wheel).namelist())
    for name in ("yaml/corrective_rag.yml", "stores/elasticsearch.yml", "data/synonyms.yml", "py.typed"):
        assert PACKAGE + name in names
    model = PACKAGE + "models/static-minilm-256/"
    assert {model + name for name in ("model.safetensors", "tokenizer.json", "LICENSE", "README.md")} <= names
    assert "haystack_integrations/__init__.py" not in names
    assert PACKAGE + "yaml/__init__.py" not in names
    metadata = zipfile.ZipFile(wheel).read(next(n for n in names if n.endswith("METADATA"))).decode()
    assert f"Version: {__version__}" in metadata
    assert "License-Expression: Apache-2.0" in metadata
    assert f"License-File: src/{model}LICENSE" in metadata  # the model is the work of others


def test_every_yaml_loads_in_an_empty_environment_with_safe_settings(empty_environment: Path) -> None:
    """`pip install`, then `Pipeline.load`; no environment variable, no import of ours before it."""
    code = """
import os, glob, sysconfig
assert not [name for name in os.environ if name.startswith(("HAYSTACK", "OPENAI", "CRAG"))]
from haystack import Pipeline
files = sorted(glob.glob(sysconfig.get_paths()["purelib"] + "/haystack_integrations/crag/yaml/*.yml"))
for file in files:
    with open(file) as text:
        Pipeline.load(text)
print(len(files))
"""
    python = empty_environment / "bin" / "python"
    done = subprocess.run(
        [python, "-c", code], capture_output=True, text=True, env={"PATH": "/usr/bin:/bin"}, cwd="/", check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    shipped = list((ROOT / "src" / PACKAGE / "yaml").glob("*.yml"))
    assert int(done.stdout) == len(shipped)


def test_the_command_answers_in_an_empty_environment(empty_environment: Path, tmp_path: Path) -> None:
    """The entry point, the model and the converters are all there."""
    (tmp_path / "refunds.md").write_text("# Refunds\n\nA refund is paid within 30 days of the purchase.\n")
    crag = empty_environment / "bin" / "crag"
    assert __version__ in quiet(crag, "--version", cwd=tmp_path)
    shown = quiet(crag, "ask", "When is a refund paid?", "--docs", "refunds.md", cwd=tmp_path)
    assert "30 days" in shown


@pytest.mark.parametrize("name", ["components", "pipelines"])
def test_the_public_surface_is_what_all_says(name: str) -> None:
    """Every exported name exists, in alphabetical order, and has a docstring."""
    module = import_module(f"haystack_integrations.crag.{name}")
    assert module.__all__ == sorted(module.__all__, key=str)
    assert all(getattr(module, exported).__doc__ for exported in module.__all__)


def test_no_machine_path_and_no_registry_host_is_in_the_project() -> None:
    """Nothing here works only on one machine."""
    files = quiet("git", "ls-files", cwd=ROOT).split()
    hosts = "|".join(("py" + "pi.org", "python" + "hosted", "npm" + "js.", "repo" + "1.maven", "cra" + "tes.io"))
    paths = "|".join(rf"(?<![\w.])/{name}/" for name in ("wo" + "rk", "ro" + "ot", "fa" + "rm"))
    pattern = re.compile(f"{hosts}|{paths}")
    for name in files:
        path = ROOT / name
        if (
            path.suffix in {".py", ".md", ".yml", ".toml", ".sh", ".json", ".java", ""}
            and path.stat().st_size < 300_000
        ):
            assert not pattern.search(path.read_text("utf-8", errors="ignore")), name
