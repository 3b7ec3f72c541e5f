"""
Whether questions on a CSV file find their row: hit@k of BM25 in memory, and what `corrective_retrieval` decides.

    python benchmarks/sheets.py FILE.csv --key COLUMN [--questions 200]

Asks "What is the county of Newark Liberty?" for every filled cell beside a row's key, the value of a column that tells
rows apart. The right passage holds the whole row. The file is indexed as CSV, as an XLSX with the same cells, and as
plain text, which is what it was to a user who renamed it. Any file with commas does.
"""

import argparse
import csv
import random
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from finding import find
from haystack import Document
from haystack.document_stores.in_memory import InMemoryDocumentStore
from openpyxl import Workbook

from haystack_integrations.crag.pipelines.indexing import index

KS = (1, 10)
_WORD = re.compile(r"\w+")


def plain(text: str) -> str:
    """Words alone, in lower case."""
    return " ".join(_WORD.findall(text)).lower()


def asked(rows: Sequence[Sequence[str]], key: int, wanted: int) -> list[tuple[str, str, list[str]]]:
    """Draw questions: the text, the name of the column, and all cells of the row."""
    head, *others = rows
    often = Counter(row[key] for row in others)
    found = [
        (f"What is the {name} of {row[key]}?", plain(name), [plain(cell) for cell in row])
        for row in others
        if often[row[key]] == 1 and row[key]
        for name, cell in zip(head, row, strict=True)
        if cell and name and name != head[key]
    ]
    return random.Random(3).sample(found, min(wanted, len(found)))


def written(rows: Sequence[Sequence[str]], path: Path) -> None:
    """Write the rows in the form that a suffix names."""
    if path.suffix == ".xlsx":
        book = Workbook(write_only=True)
        sheet = book.create_sheet(path.stem)
        for row in rows:
            sheet.append(row)
        book.save(path)
        return
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)


def measure(rows: Sequence[Sequence[str]], path: Path, questions: Sequence[tuple[str, str, list[str]]]) -> None:
    """Index one form, ask everything, and print."""
    written(rows, path)
    store = InMemoryDocumentStore(embedding_similarity_function="cosine")
    passages = index(path, store).documents_written

    def holds(document: Document, number: int) -> bool:
        content = plain(document.content or "")
        return all(cell in content for cell in questions[number][2])

    found = find(store, [text for text, _, _ in questions], holds)
    pairs = zip(found.kept, questions, strict=True)
    named = sum(any(column in plain(one.content or "") for one in kept) for kept, (_, column, _) in pairs)
    print(f"{path.suffix[1:]}: {passages} passages; {found.told(KS)}; with the column's name {named}", flush=True)


def main() -> None:
    """Measure all forms."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--key", required=True)
    parser.add_argument("--questions", type=int, default=200)
    options = parser.parse_args()
    with options.file.open(encoding="utf-8-sig", newline="") as file:
        rows = [row for row in csv.reader(file) if row]
    rows = [row for row in rows if len(row) == len(rows[0])]
    questions = asked(rows, rows[0].index(options.key), options.questions)
    print(f"{len(rows) - 1} rows, {len(questions)} questions", flush=True)
    with TemporaryDirectory() as folder:
        for suffix in (".txt", ".csv", ".xlsx"):
            measure(rows, Path(folder, options.file.stem).with_suffix(suffix), questions)


if __name__ == "__main__":
    main()
