"""
Where a system runs: an environment of its own for each peer.

Environments lie in the cache folder (CRAG_PEERS_DIR, else below XDG_CACHE_HOME), one for each requirements file and
text of it, and are made when first used. Our own pipelines and stock Haystack run in the running interpreter.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

from systems import OURS

HERE: Final = Path(__file__).parent
_INSTALL_SECONDS: Final = 1800


class SystemFailed(RuntimeError):  # noqa: N818 - what became of a system, the run goes on without it
    """A system cannot be installed or started; the message says why in one line."""


def cache_dir() -> Path:
    """
    Give the folder of environments, raw records and logs.

    :returns: The folder, made if need be.
    """
    default = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "crag-haystack", "peers")
    folder = Path(os.environ.get("CRAG_PEERS_DIR") or default).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def python_of(environment: str) -> Path:
    """
    Find the interpreter of an environment; make the environment if it is not there.

    :param environment: `ours`, or the stem of a file in `requirements/`.
    :returns: The interpreter.
    :raises SystemFailed: When it cannot be installed, with pip's last line.
    """
    if environment == OURS:
        return Path(sys.executable)
    wanted = HERE / "requirements" / f"{environment}.txt"
    if not wanted.is_file():
        msg = f"no requirements/{wanted.name}"
        raise SystemFailed(msg)
    digest = hashlib.sha256(wanted.read_bytes() + sys.version.encode()).hexdigest()[:8]
    folder = cache_dir() / f"{environment}-{digest}"
    python = folder / "bin" / "python"
    if (folder / "installed").is_file():
        return python
    shutil.rmtree(folder, ignore_errors=True)
    _run(sys.executable, "-m", "venv", str(folder))
    _run(str(python), "-m", "pip", "install", "--quiet", "-r", str(wanted))
    (folder / "installed").touch()
    return python


def _run(*command: str) -> None:
    try:
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=_INSTALL_SECONDS)
    except (OSError, subprocess.SubprocessError) as error:
        lines = (getattr(error, "stderr", None) or str(error)).strip().splitlines()
        msg = f"not installed: {lines[-1] if lines else type(error).__name__}"
        raise SystemFailed(msg) from None
