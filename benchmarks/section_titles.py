"""
Whether headings before passages help to find them: hit@k of BM25 in memory, and what `corrective_retrieval` decides.

    python benchmarks/section_titles.py FOLDER [--questions 300]

The folder holds the manuals of Node.js in Markdown, a section for each function: `/usr/share/doc/nodejs/api` of the
package of NodeSource, or of Debian's (nodejs-doc), unpacked (`*.md.gz`). A question is "What is the default
highWaterMark of fs.createReadStream?": the option stands in the section, the name of the function in its heading only.
The right passage is the one that holds the default. `missing` are questions for an option that a function does not
have. The same files are indexed as plain text, in which there are no headings, and as Markdown.
"""

import argparse
import random
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from unittest.mock import patch

from finding import find
from haystack import Document
from haystack.document_stores.in_memory import InMemoryDocumentStore

from haystack_integrations.crag.components import passage_titler
from haystack_integrations.crag.pipelines.indexing import index

HEADING = re.compile(r"(?m)^#{1,6} (.+)$")
OPTION = re.compile(r"(?m)^ *\* `(\w+)` \{[^\n]*(?:\n(?! *\*)[^\n]+)*?\*\*Default:\*\*:? *\S+")
COMMENT = re.compile(r"(?s)<!--.*?-->")  # Markdown's are no text
KS = (1, 5, 10)


def read(path: Path) -> str:
    """The text of a manual."""
    return COMMENT.sub("", path.read_text("utf-8"))


class Asked(NamedTuple):
    """A question, and where its answer ends: file and character."""

    text: str
    file: str
    end: int


def questions(folder: Path, wanted: int) -> tuple[list[Asked], list[str]]:
    """Read the questions that have an answer, and ask as many for options that functions lack."""
    found, options = list[Asked](), defaultdict[str, set[str]](set)
    for path in sorted(folder.glob("*.md")):
        text = read(path)
        heads = [(head.start(), head[1].replace("`", "").replace("\\", "")) for head in HEADING.finditer(text)]
        for option in OPTION.finditer(text):
            place = bisect_right(heads, (option.start(), "")) - 1
            if place >= 0 and "(" in heads[place][1]:
                function = heads[place][1].partition("(")[0].removeprefix("new ")
                options[function].add(option[1])
                found.append(Asked(f"What is the default {option[1]} of {function}?", path.stem, option.end()))
    draw = random.Random(1)
    names, every = sorted(options), sorted(set().union(*options.values()))
    pairs = ((draw.choice(every), draw.choice(names)) for _ in range(wanted))
    missing = [f"What is the default {option} of {name}?" for option, name in pairs if option not in options[name]]
    return draw.sample(found, min(wanted, len(found))), missing


def measure(folder: Path, suffix: str, asked: list[Asked], missing: list[str]) -> None:
    """Index the files by another suffix, ask everything, and print."""
    store = InMemoryDocumentStore(embedding_similarity_function="cosine")
    places: dict[tuple[str, int], tuple[int, int]] = {}
    titled_all: Any = passage_titler._titled_all

    def noting(source: str, passages: Iterator[Document]) -> Iterator[Document]:
        """Note where passages are, which they do not name any more once a title stands before them."""
        untouched = list(passages)
        for one in untouched:
            begin = one.meta["split_idx_start"]
            places[source, one.meta["split_id"]] = begin, begin + len(one.content or "")
        yield from titled_all(source, iter(untouched))

    with TemporaryDirectory() as copies, patch.object(passage_titler, "_titled_all", noting):
        for path in folder.glob("*.md"):
            Path(copies, path.stem + suffix).write_text(read(path), "utf-8")
        index(copies, store)
    spans = {}
    for one in store.filter_documents():
        begin, end = places[one.meta["source"], one.meta["split_id"]]
        spans[one.id] = Path(one.meta["source"]).stem, begin, end + 1

    def holds(document: Document, number: int) -> bool:
        source, begin, end = spans.get(document.id, ("", 0, 0))  # what was refined is none of them
        return bool(source == asked[number].file and begin < asked[number].end <= end)

    found = find(store, [question.text for question in asked], holds)
    wrong = sum(find(store, missing, lambda *_: False).correct)
    told = f"{found.told(KS)}; missing: correct {wrong} of {len(missing)}"
    print(f"{suffix:4} {len(spans)} passages: {told}", flush=True)


def main() -> None:
    """Measure both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--questions", type=int, default=300)
    options = parser.parse_args()
    asked, missing = questions(options.folder, options.questions)
    for suffix in (".txt", ".md"):
        measure(options.folder, suffix, asked, missing)


if __name__ == "__main__":
    main()
