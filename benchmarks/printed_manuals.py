"""
Whether questions on PDF and DOCX files find their answer: hit@k of BM25, and what `corrective_retrieval` decides.

    python benchmarks/printed_manuals.py /path/to/pairs [--questions 200]

The folder holds pairs: `NAME.pdf` or `NAME.docx`, and the same manual as `NAME.html` or as HTML pages in a folder
`NAME`. Questions and answers come of the HTML, which has its words and sections as they were meant; the other is
indexed. For each manual:

readable   the share of the sequences of three words in the HTML that the text of the other has as well.
terms      "What does -f mean in Bash Builtins?", of each term in a list of definitions; the right passage holds the
           beginning of the definition.
words      "What is said about substitution, arguments, expansion?", of the longest words of a sentence; the right
           passage holds the beginning of the sentence.

To compare with another state of the package, put its `src` first in PYTHONPATH.
"""

import argparse
import random
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from finding import find
from haystack import Document
from haystack.document_stores.in_memory import InMemoryDocumentStore
from lxml import html

from haystack_integrations.crag.pipelines.indexing import index
from haystack_integrations.crag.texts.titles import titled

KS = (1, 10)
SHORTEST, LONGEST, LONGEST_TERM, LONGEST_SECTION, SHOWN, SAID = 60, 250, 28, 50, 40, 5
_LETTERS = re.compile(r"[^\W_]+")
_WORD = re.compile(r"[^\W\d_]{2,}")
_NUMBER = re.compile(r"^[\dA-Z]+(\.\d+)*\.? ")
_BROKEN = re.compile(r"[-\u2010]\n\s*")


class Asked(NamedTuple):
    """A question, and the letters with which its answer begins."""

    text: str
    answer: str


def letters(text: str) -> str:
    """Letters and digits alone, in lower case."""
    return "".join(_LETTERS.findall(unicodedata.normalize("NFKC", text))).lower()


def said(element: Any) -> str:
    """The text of an element on one line, without the sign of a link to it."""
    return " ".join(element.text_content().replace("\N{PILCROW SIGN}", "").split())


def triples(text: str) -> set[tuple[str, ...]]:
    """The sequences of three words; those that a line breaks are whole."""
    words = _WORD.findall(_BROKEN.sub("", unicodedata.normalize("NFKC", text).replace("\u00ad", "")).lower())
    return set(zip(words, words[1:], words[2:], strict=False))


def terms(tree: Any) -> Iterator[Asked]:
    """Ask for each definition."""
    section = ""
    for element in tree.iter("h1", "h2", "h3", "h4", "h5", "dd"):
        if element.tag != "dd":
            section = _NUMBER.sub("", said(element))
            continue
        term, meaning = element.getprevious(), letters(said(element))
        if term is None or term.tag != "dt" or len(meaning) <= SHOWN or not 0 < len(section) < LONGEST_SECTION:
            continue
        if _WORD.search(said(term)) and len(said(term)) <= LONGEST_TERM:
            yield Asked(f"What does {said(term)} mean in {section}?", meaning[:SHOWN])


def words(tree: Any) -> Iterator[Asked]:
    """Ask for the longest words of each sentence, in their order."""
    for paragraph in tree.iter("p"):
        for sentence in re.split(r"(?<=[.!?]) ", said(paragraph)):
            found = list(dict.fromkeys(_WORD.findall(sentence)))
            if SHORTEST < len(sentence) < LONGEST and len(found) > SAID:
                longest = sorted(sorted(found, key=len)[-SAID:], key=found.index)
                yield Asked(f"What is said about {', '.join(longest)}?", letters(sentence)[:SHOWN])


def drawn(asked: Sequence[Asked], text: str, wanted: int) -> list[Asked]:
    """Draw questions that are asked once, and whose answer begins at one place of the text."""
    often = Counter(question.text for question in asked)
    mixed = random.Random(1).sample(asked, len(asked))
    return [one for one in mixed if often[one.text] == 1 and text.count(one.answer) == 1][:wanted]


def measure(manual: Path, pages: Sequence[Path], wanted: int) -> None:
    """Index one manual, ask for what its pages say, and print."""
    store, trees = (
        InMemoryDocumentStore(embedding_similarity_function="cosine"),
        [html.parse(str(one)) for one in pages],
    )
    with TemporaryDirectory() as folder:
        Path(folder, manual.name).write_bytes(manual.read_bytes())
        report = index(folder, store)
    passages = sorted(store.filter_documents(), key=lambda one: one.meta["chunk"])
    texts = [(one.content or "").removeprefix(titled("", one.meta["title"])) for one in passages]
    begins, text = dict[str, tuple[int, int]](), ""
    for one, own in zip(passages, map(letters, texts), strict=True):
        begins[one.id], text = (len(text), len(text) + len(own)), text + own
    wanted_triples = set().union(*(triples(tree.getroot().text_content()) for tree in trees))
    readable = len(wanted_triples & triples("".join(texts))) / len(wanted_triples)
    print(f"{manual.name}: {len(texts)} passages in {report.seconds:.0f} s, readable {readable:.3f}", flush=True)
    for name, kind in (("terms", terms), ("words", words)):
        if not (asked := drawn([one for tree in trees for one in kind(tree.getroot())], text, wanted)):
            continue
        places = [text.find(one.answer) for one in asked]

        def holds(document: Document, number: int, places: Sequence[int] = places) -> bool:
            begin, end = begins.get(document.id, (0, 0))
            return begin <= places[number] < end

        print(f"  {name}: {find(store, [one.text for one in asked], holds).told(KS)}", flush=True)


def main() -> None:
    """Measure each pair."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--questions", type=int, default=200)
    options = parser.parse_args()
    for manual in sorted([*options.folder.glob("*.pdf"), *options.folder.glob("*.docx")]):
        page = manual.with_suffix(".html")
        measure(manual, [page] if page.is_file() else sorted(manual.with_suffix("").glob("*.html")), options.questions)


if __name__ == "__main__":
    main()
