"""
Whether questions on an HTML manual find their answer: hit@k of BM25 in memory, and what `corrective_retrieval` decides.

    python benchmarks/html_manuals.py /usr/share/doc/postgresql-doc-15/html [--terms 'sql-*.html'] [--questions 300]

The folder is that of Debian's package `postgresql-doc-15` (DocBook), or any of HTML pages. Four kinds of questions:

terms   "What does RESTRICT do in DROP TABLE?", of each term in a list of definitions that has one meaning on its page;
        the right passage holds the beginning of the definition. Pages whose names match `--terms`; the page is named by
        its title.
cells   "What is the Storage Size of smallint in Numeric Types?", of each table with a head, a caption and at least six
        rows; the right passage holds the row. `below its columns`: it holds the name of the column as well, outside of
        its title. At most twelve questions of a page.

All pages are indexed. To compare with another state of the package, put its `src` first in PYTHONPATH.
"""

import argparse
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from finding import find
from haystack import Document
from haystack.document_stores.in_memory import InMemoryDocumentStore
from lxml import html

from haystack_integrations.crag.pipelines.indexing import index

KS = (1, 10)
MOST_OF_A_PAGE = 12
SHORTEST, LONGEST_TERM, SHOWN = 60, 40, 70
_WORD = re.compile(r"[A-Za-z0-9]+")
_SECTION = re.compile(r"(?:(?:Chapter|Appendix)\s)?[A-Z]?[\d.]+\s+")
_GERUND = re.compile(r"(?!Using|Setting|Working)[A-Z][a-z]{2,}ing")
_BRACKET = re.compile(r"\s*\(.*?\)")
_NUMBER = re.compile(r"^Table\s*[\dA-Z.]+\W*")


class Asked(NamedTuple):
    """
    A question, the page of its answer, and what the right passage holds: its answer, and perhaps a column.

    `named` is a row as one of a table in a list is told, each cell behind the name of its column.
    """

    text: str
    page: str
    answer: str
    column: str = ""
    named: str = ""


def plain(text: str) -> str:
    """Words alone, in lower case."""
    return " ".join(_WORD.findall(text)).lower()


def said(element: Any) -> str:
    """The text of an element on one line."""
    return " ".join(element.text_content().split())


def terms(page: Path) -> Iterator[Asked]:
    """Ask for each term of a page that has one definition."""
    tree = html.parse(str(page)).getroot()
    title, found = " ".join((tree.findtext(".//title") or "").split()), dict[str, list[str]]()
    for term in tree.iter("dt"):
        meaning = term.getnext()
        if meaning is not None and meaning.tag == "dd":
            found.setdefault(said(term), []).append(said(meaning))
    for term, meanings in found.items():
        if len(meanings) == 1 and len(meanings[0]) > SHORTEST and len(term) < LONGEST_TERM:
            yield Asked(f"What does {term} do in {title}?", page.stem, plain(meanings[0])[:SHOWN])


def defined(page: Path) -> Iterator[Asked]:
    """Ask what each term of a glossary is."""
    for one in terms(page):
        name = _BRACKET.sub("", one.text.removeprefix("What does ").rpartition(" do in ")[0])
        yield one._replace(text=f"What is {name if name.isupper() else name.lower()}?")


def tasks(page: Path, often: Counter[str]) -> Iterator[Asked]:
    """Ask how to do what each heading is on; of two words that its first may be a form of, the manual has one."""
    for heading in html.parse(str(page)).getroot().iter("h1", "h2", "h3", "h4"):
        first, _, rest = _SECTION.sub("", said(heading).rstrip("\N{PILCROW SIGN}")).partition(" ")
        below = heading.xpath("following::p[1]")
        if not _GERUND.fullmatch(first) or not rest or not below or len(said(below[0])) < SHORTEST:
            continue
        stem = first.lower().removesuffix("ing")
        verb = max((stem, f"{stem}e", stem[:-1] if stem[-1] == stem[-2] else stem), key=lambda word: often[word])
        words = (word if word.isupper() else word.lower() for word in rest.split())
        yield Asked(f"How do I {verb} {' '.join(words)}?", page.stem, plain(said(below[0]))[:SHOWN])


def cells(page: Path) -> Iterator[Asked]:
    """Ask for cells of a page's tables."""
    for table in html.parse(str(page)).getroot().iter("table"):
        rows = [[cell for cell in row if cell.tag in ("td", "th")] for row in table.iter("tr")]
        captions = table.xpath("preceding::p[@class='title'][1]")
        whole = len({len(row) for row in rows}) == 1 and not any(cell.get("rowspan") for row in rows for cell in row)
        if len(rows) < 6 or not whole or not captions or not all(cell.tag == "th" for cell in rows[0]):
            continue
        caption, head = _NUMBER.sub("", said(captions[0])), [said(cell) for cell in rows[0]]
        names = Counter(plain(said(row[0])) for row in rows)
        for row in (list(map(said, row)) for row in rows[1:]):
            named = plain(" ".join(f"{name} {cell}" for name, cell in zip(head, row, strict=True) if cell))[:SHOWN]
            if names[plain(row[0])] > 1 or not plain(row[0]) or len(row[0]) > LONGEST_TERM:
                continue
            for column, cell in zip(head[1:], row[1:], strict=True):
                if plain(column) and plain(column) != "description" and plain(cell) and len(cell) < SHORTEST:
                    text = f"What is the {column} of {row[0]} in {caption}?"
                    yield Asked(text, page.stem, plain(" ".join(row))[:SHOWN], plain(column), named)


def drawn(questions: Sequence[Asked], wanted: int, of_a_page: int) -> list[Asked]:
    """Draw questions that are asked of one place only, and few of a page."""
    often = Counter(question.text for question in questions)
    mixed = random.Random(3).sample(questions, len(questions))
    pages, kept = Counter[str](), list[Asked]()
    for question in mixed:
        pages[question.page] += 1
        if often[question.text] == 1 and pages[question.page] <= of_a_page:
            kept.append(question)
    return kept[:wanted]


def measure(kind: str, store: InMemoryDocumentStore, asked: Sequence[Asked]) -> None:
    """Ask everything, and print."""

    def holds(document: Document, number: int) -> bool:
        question, content = asked[number], plain(document.content or "")
        is_told = question.answer in content or (bool(question.named) and question.named in content)
        return Path(document.meta["source"]).stem == question.page and is_told

    found = find(store, [question.text for question in asked], holds)
    below = ""
    if any(question.column for question in asked):
        texts = [[plain((one.content or "").partition("\n\n")[2]) for one in kept] for kept in found.kept]
        named = sum(
            any(question.column in text for text in every) for question, every in zip(asked, texts, strict=True)
        )
        below = f"; below its columns {named}"
    print(f"{kind}: {found.told(KS)}{below}", flush=True)


def main() -> None:
    """Index once, and measure both kinds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--terms", default="*.html")
    parser.add_argument("--glossary", default="*glossary*.html")
    parser.add_argument("--kinds", nargs="*", default=["terms", "cells", "what", "how"])
    parser.add_argument("--questions", type=int, default=300)
    options = parser.parse_args()
    pages = sorted(options.folder.glob("*.html"))
    often = Counter(word for page in pages for word in _WORD.findall(said(html.parse(str(page)).getroot()).lower()))
    kinds = {
        "terms": [one for page in pages if page.match(options.terms) for one in terms(page)],
        "cells": [one for page in pages for one in cells(page)],
        "what": [one for page in pages if page.match(options.glossary) for one in defined(page)],
        "how": [one for page in pages for one in tasks(page, often)],
    }
    store = InMemoryDocumentStore(embedding_similarity_function="cosine")
    print(f"{len(pages)} pages, {index(options.folder, store).documents_written} passages", flush=True)
    for kind, questions in kinds.items():
        if kind in options.kinds and (
            asked := drawn(questions, options.questions, options.questions if kind == "what" else MOST_OF_A_PAGE)
        ):
            measure(kind, store, asked)


if __name__ == "__main__":
    main()
