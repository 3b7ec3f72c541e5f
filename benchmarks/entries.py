"""
What a setting does, over the manuals that have its entry: is that found, and called an answer?

    python benchmarks/entries.py FOLDER [--limit 20]

The folder holds manuals as text or Markdown, such as ssh_config(5) by `man -Tutf8`. Asked about are names that stand
alone on a line, as a heading in code or by themselves ("PermitRootLogin"), in one passage only. Without and with what
knows entries (`judging/rules/entries.py`): passages of the entry in the evidence, lists called `correct`, and those
called `correct` where these passages are taken away.
"""

import argparse
import random
import re
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from unittest.mock import patch

import numpy as np
from finding import find
from haystack import Document

from haystack_integrations.crag.pipelines.indexing import index
from haystack_integrations.crag.pipelines.opening import memory_store

FORMS = (
    "What does {name} do?",
    "What does the {name} option do?",
    "What does {name} mean?",
    "What is the default of {name}?",
    "How do I set {name}?",
    "How does {name} work?",
    "What values can {name} have?",
)
_ENTRY = re.compile(r"(?m)^(?: {3,8}|#{2,6} )`?([A-Z][a-z]+[A-Z]\w+|[a-z]+[A-Z]\w+|[A-Za-z]+_\w+)`?$")


@contextmanager
def no_entries() -> Iterator[None]:
    """Know no entries."""
    none = "haystack_integrations.crag.judging.judge.entries"
    with patch(none, side_effect=lambda _, texts: np.zeros(len(texts), dtype=bool)):
        yield


def entries_of(passages: list[Document], limit: int) -> list[tuple[str, str]]:
    """Draw names, each with the id of the only passage that has its entry."""
    found = defaultdict[str, set[str]](set)
    for passage in passages:
        for name in _ENTRY.findall(passage.content or ""):
            found[name].add(passage.id)
    alone = [(name, min(ids)) for name, ids in sorted(found.items()) if len(ids) == 1]
    return random.Random(5).sample(alone, min(limit, len(alone)))


def main() -> None:
    """Ask, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--limit", type=int, default=20)
    given = parser.parse_args()
    store, without = memory_store(), memory_store()
    index(given.folder, store)
    passages = store.filter_documents()
    asked = entries_of(passages, given.limit)
    without.write_documents([one for one in passages if one.id not in {id_ for _, id_ in asked}])
    print(f"{len(passages)} passages, {len(asked)} names")
    for form in FORMS:
        questions, told = [form.format(name=name) for name, _ in asked], []
        for reading in (no_entries, nullcontext):
            with reading():
                there = find(store, questions, lambda document, number: document.id == asked[number][1])
                wrong = sum(find(without, questions, lambda *_: False).correct)
            told.append(f"found {sum(map(bool, there.kept)):3} correct {sum(there.correct):3} without it {wrong:3}")
        print(f"{form:34} {told[0]}  ->  {told[1]}  of {len(asked)}", flush=True)


if __name__ == "__main__":
    main()
