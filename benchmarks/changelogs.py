"""
What changed in a version, over changelogs, asked in several ways: is its passage found, and what is decided?

    python benchmarks/changelogs.py FOLDER [--limit 20]

The folder holds packages of npm, each unpacked in a folder that is named as the archive of `npm pack` (axios-1.2.3).
All Markdown in them is indexed, in memory; asked about are versions that a heading of CHANGELOG.md or History.md names.
Without and with what knows versions (`texts/notations/versions.py`): versions whose passage is in the evidence, lists
called `correct`, and those called `correct` for a version that there is not.
"""

import argparse
import random
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from finding import find
from haystack import Document

from haystack_integrations.crag.pipelines.indexing import index
from haystack_integrations.crag.pipelines.opening import memory_store

FORMS = (
    "What changed in {name} {version}?",
    "What is new in {name} version {version}?",
    "What's new in {name} v{version}?",
    "What was fixed in {name} {version}?",
    "Release notes for {name} v{version}",
    "What did {name} {version} fix?",
)
_LOGS = ("CHANGELOG.md", "History.md")
_HEADING = re.compile(r"(?m)^(?:#{1,4} \[?v?(\d+\.\d+\.\d+)(?![\w.-])|(\d+\.\d+\.\d+) / .*\n==)")


class Asked(NamedTuple):
    """A version of a package."""

    name: str
    version: str

    def is_in(self, document: Document) -> bool:
        """Tell whether a passage of the package names it."""
        named = re.compile(rf"(?<![\d.]){re.escape(self.version)}(?!\d|\.\d)")
        return f"{self.name}-" in str(document.meta.get("source")) and bool(named.search(document.content or ""))


@contextmanager
def to_the_letter() -> Iterator[None]:
    """Know no versions."""
    home = "haystack_integrations.crag"
    with ExitStack() as stack:
        stack.enter_context(patch(f"{home}.judging.respelling.written_versions", return_value=()))
        stack.enter_context(patch(f"{home}.components.stop_word_remover.other_writings", return_value=()))
        yield


def asked_of(folder: Path, limit: int) -> Iterator[Asked]:
    """Draw versions of each package that has a log of its changes."""
    for package in sorted(folder.iterdir()):
        log = next((found for name in _LOGS for found in package.rglob(name)), None)
        known = dict.fromkeys("".join(each) for each in _HEADING.findall(log.read_text("utf-8"))) if log else {}
        name = package.name.rpartition("-")[0]
        for version in random.Random(1).sample(sorted(known), min(limit, len(known))):
            yield Asked(name, version)


def main() -> None:
    """Ask, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--limit", type=int, default=20)
    given = parser.parse_args()
    store = memory_store()
    index(given.folder, store)
    asked = [*asked_of(given.folder, given.limit)]
    print(f"{store.count_documents()} passages, {len(asked)} versions of {len({each.name for each in asked})} packages")
    for form in FORMS:
        told = []
        for reading in (to_the_letter, nullcontext):
            with reading():
                there = find(
                    store,
                    [form.format(**each._asdict()) for each in asked],
                    lambda document, number: asked[number].is_in(document),
                )
                others = [form.format(name=each.name, version=f"{each.version}97") for each in asked]
                wrong = sum(find(store, others, lambda *_: False).correct)
            told.append(f"found {sum(map(bool, there.kept)):3} correct {sum(there.correct):3} no such {wrong:3}")
        print(f"{form:42} {told[0]}  ->  {told[1]}  of {len(asked)}", flush=True)


if __name__ == "__main__":
    main()
