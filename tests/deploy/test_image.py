"""The image, as far as it can be checked without an engine: its file, what goes into it, and how the app is started."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

from deployment import DEPLOY, ROOT, dev_program, run

DOCKERFILE = (DEPLOY / "Dockerfile").read_text()
START = DEPLOY / "start.sh"


def copied() -> list[str]:
    """What the Dockerfile takes from the project."""
    lines = re.findall(r"^COPY (?!--from)(.+)", DOCKERFILE, re.MULTILINE)
    return [name for line in lines for name in line.split()[:-1]]


def start(folder: Path, **settings: str) -> str:
    """Run start.sh with a `crag` that shows what it was given."""
    crag = folder / "crag"
    crag.write_text('#!/bin/sh\necho "$* keys=${CRAG_SERVE_API_KEYS-} file=${CRAG_SERVE_API_KEYS_FILE-}"\n')
    crag.chmod(0o755)
    path = f"{folder}:{Path(sys.executable).parent}:/usr/bin:/bin"
    done = subprocess.run(
        ["/bin/sh", START, "serve", "--port", "1416"],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": path, **settings},
    )
    return done.stdout + done.stderr


def test_hadolint_has_no_objection() -> None:
    run(dev_program("hadolint"), DEPLOY / "Dockerfile")


def test_it_is_built_on_one_version_and_does_not_run_as_root() -> None:
    assert set(re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE)) == {"python:3.11.14-slim-bookworm"}
    assert re.findall(r"^USER (.+)", DOCKERFILE, re.MULTILINE) == ["10001:10001"]


def test_what_it_copies_is_there_and_let_through() -> None:
    """The ignore file lets through what the Dockerfile copies, and nothing else."""
    let_through = re.findall(r"^!(.+)", (ROOT / ".dockerignore").read_text(), re.MULTILINE)
    assert sorted(copied()) == sorted(let_through)
    assert all((ROOT / name).exists() for name in copied())


def test_what_it_copies_is_all_that_a_wheel_is_built_from() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    (package,) = project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    named = (project["project"]["readme"], *project["project"]["license-files"], package)
    needed = {Path(place).parts[0] for place in named}
    assert {"pyproject.toml", *needed} == set(copied())


class TestTheKeyOfTheFirstStart:
    def test_it_is_made_once_and_only_its_owner_may_read_it(self, tmp_path: Path) -> None:
        keys = tmp_path / "api-keys"
        assert start(tmp_path, CRAG_SERVE_API_KEYS_FILE=str(keys)) == f"serve --port 1416 keys= file={keys}\n"
        made = keys.read_text()
        assert re.fullmatch(r"[\w-]{43}\n", made)
        assert keys.stat().st_mode & 0o777 == 0o600
        start(tmp_path, CRAG_SERVE_API_KEYS_FILE=str(keys))
        assert keys.read_text() == made

    def test_no_two_machines_have_the_same(self, tmp_path: Path) -> None:
        keys = [tmp_path / "one", tmp_path / "two"]
        for file in keys:
            start(tmp_path, CRAG_SERVE_API_KEYS_FILE=str(file))
        assert keys[0].read_text() != keys[1].read_text()

    def test_keys_of_ones_own_are_used_and_none_is_made(self, tmp_path: Path) -> None:
        keys = tmp_path / "api-keys"
        told = start(tmp_path, CRAG_SERVE_API_KEYS="mine", CRAG_SERVE_API_KEYS_FILE=str(keys))
        assert told == "serve --port 1416 keys=mine file=\n"
        assert not keys.exists()

    def test_an_empty_setting_is_none(self, tmp_path: Path) -> None:
        """`CRAG_SERVE_API_KEYS= docker compose up` must not start an app without a key."""
        keys = tmp_path / "api-keys"
        start(tmp_path, CRAG_SERVE_API_KEYS="", CRAG_SERVE_API_KEYS_FILE=str(keys))
        assert keys.stat().st_size > 40

    def test_where_no_key_can_be_kept_nothing_is_started(self, tmp_path: Path) -> None:
        assert "must name the file of API keys" in start(tmp_path)
        told = start(tmp_path, CRAG_SERVE_API_KEYS_FILE=str(tmp_path / "missing" / "api-keys"))
        assert "serve" not in told.splitlines()[-1].split()[0]
        assert os.listdir(tmp_path) == ["crag"]
