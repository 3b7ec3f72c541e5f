"""What stands in a wheel and in a source distribution, and what should: used by `release.py` and the tests."""

import base64
import csv
import hashlib
import io
import subprocess
import tarfile
import tomllib
import zipfile
from collections.abc import Iterable
from email.parser import Parser
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[1]
KEPT_OUT: Final = ("tests/", "benchmarks/", "examples/", "fuzz/", "docs/", "scripts/", "__pycache__/", ".pyc", ".log")
MADE: Final = ("METADATA", "WHEEL", "RECORD", "entry_points.txt")


def project() -> dict[str, Any]:
    """Read what `pyproject.toml` says."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def files(*places: str) -> set[str]:
    """Give the project's files: what git knows, and what is new and not ignored."""
    command = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard", *places]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\0")
    return {name for name in listed if name and (ROOT / name).exists()}


def wheel_problems(wheel: Path) -> list[str]:
    """
    Say what is wrong with a wheel: each file of the package is there byte by byte, and nothing else.

    :param wheel: The file.
    :returns: A sentence for each problem; none when all is well.
    """
    archive = zipfile.ZipFile(wheel)
    names = {name for name in archive.namelist() if not name.endswith("/")}
    info = f"{'-'.join(wheel.name.split('-')[:2])}.dist-info/"
    package = {name.removeprefix("src/"): ROOT / name for name in files("src")}
    made = {*MADE, *(f"licenses/{name}" for name in project()["project"]["license-files"])}
    problems = difference(names, package.keys() | {info + name for name in made}, wheel.name)
    for name in sorted(package.keys() & names):
        if archive.read(name) != package[name].read_bytes():
            problems.append(f"{wheel.name}: {name} is not the file of the project")
    problems += [f"{wheel.name}: {name} is no part of a package" for name in sorted(names) if kept_out(name)]
    if not any("METADATA" in problem or "RECORD" in problem for problem in problems):
        problems += metadata_problems(archive.read(f"{info}METADATA").decode(), wheel.name)
        problems += record_problems(archive, f"{info}RECORD", wheel.name)
    return problems


def sdist_problems(sdist: Path) -> list[str]:
    """
    Say what is wrong with a source distribution: it holds what `pyproject.toml` includes, and what is needed to build.

    :param sdist: The file.
    :returns: A sentence for each problem; none when all is well.
    """
    top = sdist.name.removesuffix(".tar.gz") + "/"
    with tarfile.open(sdist) as archive:
        names = {member.name.removeprefix(top) for member in archive.getmembers() if member.isfile()}
        told = archive.extractfile(f"{top}PKG-INFO")
        text = told.read().decode() if told else ""
    included = project()["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    wanted = files(*(f":(literal){name}" for name in included)) | {"pyproject.toml", ".gitignore", "PKG-INFO"}
    return difference(names, wanted, sdist.name) + metadata_problems(text, sdist.name)


def difference(found: Iterable[str], wanted: Iterable[str], where: str) -> list[str]:
    """Name each file that is missing, and each that nobody asked for."""
    missing, surplus = set(wanted) - set(found), set(found) - set(wanted)
    said = [f"{where}: {name} is missing" for name in sorted(missing)]
    return said + [f"{where}: {name} should not be there" for name in sorted(surplus)]


def kept_out(name: str) -> bool:
    """Say whether a name is one of tests, benchmarks, examples or caches, wherever it stands."""
    return any(part in f"/{name}" for part in (f"/{one}" if one.endswith("/") else one for one in KEPT_OUT))


def metadata_problems(text: str, where: str) -> list[str]:
    """Compare the metadata with `pyproject.toml`: what an installer and the package's page read."""
    told, said = Parser().parsestr(text), project()["project"]
    wanted = {
        "Name": said["name"],
        "Version": said["version"],
        "Summary": said["description"],
        "License-Expression": said["license"],
        "Requires-Python": said["requires-python"],
        "Description-Content-Type": "text/markdown",
    }
    problems = [
        f"{where}: {key} is {told[key]!r}, not {value!r}" for key, value in wanted.items() if told[key] != value
    ]
    extras = set(said["optional-dependencies"])
    if set(told.get_all("Provides-Extra", [])) != extras:
        problems.append(f"{where}: its extras are {sorted(told.get_all('Provides-Extra', []))}, not {sorted(extras)}")
    needed = [one for one in told.get_all("Requires-Dist", []) if "extra ==" not in one]
    if len(needed) != len(said["dependencies"]):
        problems.append(f"{where}: it needs {len(needed)} packages, not {len(said['dependencies'])}")
    if (ROOT / said["readme"]).read_text("utf-8").strip() != str(told.get_payload()).strip():
        problems.append(f"{where}: its description is not {said['readme']}")
    return problems


def record_problems(archive: zipfile.ZipFile, record: str, where: str) -> list[str]:
    """Check that RECORD lists each file with its hash; RECORD itself has none."""
    told = {name: digest for name, digest, _ in csv.reader(io.StringIO(archive.read(record).decode()))}
    problems = []
    for name in sorted(set(archive.namelist()) - {record}):
        kind, _, value = told.get(name, "sha256=").partition("=")
        found = hashlib.new(kind, archive.read(name)).digest()
        if base64.urlsafe_b64encode(found).rstrip(b"=").decode() != value:
            problems.append(f"{where}: RECORD has another hash for {name}")
    return problems
