"""
What every adapter shares: the line protocol, and the clients of the world's retriever and web. Standard library only.

    <python> adapters/X.py --system NAME --url http://127.0.0.1:PORT

An adapter builds the system that `system()` names and calls `serve(answer, packages)`. `answer` is a function of a
question and k; what it gives are the entries `answer`, `route`, `verdict`, `kept` of a reply, each optional. Documents
come only from `search`, web results only from `web`, the model is the one at `url()`/v1, also in OPENAI_BASE_URL.
"""

import argparse
import json
import os
import sys
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, TextIO

Answer = Callable[[str, int], dict[str, Any]]
"""From a question and k to what a system says: `{"answer", "route", "verdict", "kept"}`."""

PATIENCE = 600
"""Seconds of a call where a real model answers, on this machine's processors."""
ENTRIES = ("answer", "route", "verdict", "kept")
_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # loopback, whatever the machine's proxies are
_asked = {"task": ""}  # one worker answers one question at a time


def search(query: str, k: int) -> list[dict[str, Any]]:
    """
    Ask the world's retriever for the question that is being answered.

    :param query: What to search for: the question itself gives the task's own list, another query the corpus.
    :param k: Most documents.
    :returns: Documents `{"id", "title", "text"}`, best first.
    """
    found: list[dict[str, Any]] = _get("/search", q=query, k=str(k), task=_asked["task"])["documents"]
    return found


def web(query: str, n: int) -> list[dict[str, Any]]:
    """
    Ask the world's web.

    :param query: What to search for.
    :param n: Most results.
    :returns: Results `{"title", "url", "text"}`, best first.
    :raises urllib.error.HTTPError: When the web is down.
    """
    found: list[dict[str, Any]] = _get("/web", q=query, n=str(n), task=_asked["task"])["results"]
    return found


def url() -> str:
    """
    Tell where the world is.

    :returns: Its address, without a path.
    """
    return str(_given().url)


def system() -> str:
    """
    Tell which system this worker is to be.

    :returns: Its name.
    """
    return str(_given().system)


def dataset() -> str:
    """
    Tell which set the question that is being answered is from.

    :returns: The name of the set.
    """
    return _asked["task"].partition(":")[0]


def calibrations() -> list[Path]:
    """
    Tell where the calibrations are.

    :returns: A folder for each set, of its name.
    """
    return list(_given().calibrations)


def is_real() -> bool:
    """
    Tell whether a real model answers, which takes its time.

    :returns: Whether it does.
    """
    return bool(_given().real)


def serve(answer: Answer, packages: Sequence[str]) -> None:
    """
    Say that the system is ready, then answer one line after another until there are no more.

    :param answer: The system.
    :param packages: Distributions whose versions the first line tells.
    """
    lines = _given().lines
    _say(lines, {"ready": True, "versions": _versions(packages)})
    for line in sys.stdin:
        _say(lines, _reply(answer, json.loads(line)))


@cache
def _given() -> argparse.Namespace:
    """Read the command line, name the model to every client, and keep standard output for the protocol."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--system", required=True)
    parser.add_argument("--url", required=True)
    parser.add_argument("--calibrations", nargs="*", type=Path, default=())
    parser.add_argument("--real", action="store_true")
    given = parser.parse_args()
    if given.real:
        os.environ["OPENAI_TIMEOUT"] = str(PATIENCE)
    os.environ["OPENAI_BASE_URL"] = os.environ["OPENAI_API_BASE"] = f"{given.url}/v1"
    os.environ["OPENAI_API_KEY"] = "none"
    os.environ["NO_PROXY"] = "127.0.0.1,localhost"
    given.lines = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a library prints must not come between our lines
    return given


def _reply(answer: Answer, asked: dict[str, Any]) -> dict[str, Any]:
    """Answer one question; an exception is an entry of the reply, not the end of the worker."""
    _asked["task"] = asked["task"]
    said: dict[str, Any] = {}
    error = None
    begun = time.perf_counter()
    try:
        said = answer(asked["question"], int(asked["k"]))
    except Exception as failure:
        first = (str(failure).strip().splitlines() or [""])[0]
        error = f"{type(failure).__name__}: {first[:300]}"
    seconds = time.perf_counter() - begun
    return {"task": asked["task"], **{key: said.get(key) for key in ENTRIES}, "seconds": seconds, "error": error}


def _get(path: str, **query: str) -> Any:
    with _DIRECT.open(f"{url()}{path}?{urllib.parse.urlencode(query)}", timeout=60) as response:
        return json.load(response)


def _say(lines: TextIO, entry: dict[str, Any]) -> None:
    lines.write(json.dumps(entry) + "\n")
    lines.flush()


def _versions(packages: Sequence[str]) -> dict[str, str]:
    found = {}
    for name in packages:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "missing"
    return found
