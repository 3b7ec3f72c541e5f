"""A small data set for tests: invented islands and who built their lighthouses, with known labels."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

ISLANDS = (
    "Aruva Belmor Corvane Dasset Elquin Farrow Gondra Hestal Ilvane Jorrun Kelspar Lomond "
    "Marvik Nessor Ombrel Pelagon Quarne Rastol Sundra Tormay Ulvest Vandor Wexmoor Yarrik"
).split()
BUILDERS = (
    "Adda Finch,Boris Quill,Cora Lund,Dain Osk,Edda Marr,Fenn Arlo,Greta Holt,Hugo Brand,Ines Varga,Jon Tamsin,"
    "Kara Voss,Lief Orme,Mona Reed,Nils Berg,Olga Strand,Piet Vane,Quin Abbot,Rosa Klein,Sven Dahl,Tara Moss,"
    "Udo Falk,Vera Lindt,Wim Aker,Yara Stone"
).split(",")
CORRECT, AMBIGUOUS = range(14), range(14, 19)
"""Questions whose list holds what answers, and those whose list is only on topic; the others' lists hold neither."""

GAPS = range(7)
"""Questions whose evidence is removed."""

SPLIT = "dev"
Row = dict[str, Any]


def question(number: int) -> str:
    """Ask about an island."""
    return f"Who built the lighthouse of {ISLANDS[number]}?"


def corpus() -> list[Row]:
    """Three documents for each island: who built its lighthouse, what else there is, and nothing of the kind."""
    rows: list[Row] = []
    for number, (island, builder) in enumerate(zip(ISLANDS, BUILDERS, strict=True)):
        built = [
            f"The lighthouse of {island} was built by {builder}.",
            f"It took {number + 3} years.",
            "Seals rest below.",
        ]
        rows += [
            {"id": f"built-{number}", "title": island, "text": " ".join(built), "sentences": built},
            {
                "id": f"isle-{number}",
                "title": island,
                "text": f"{island} is known for its mild summers. Ferries go daily.",
            },
            {"id": f"other-{number}", "title": f"Recipe {number}", "text": f"Boil {number + 2} potatoes. Add salt."},
        ]
    return rows


def queries() -> list[Row]:
    """One question for each island."""
    return [
        {
            "id": f"q{number}",
            "question": question(number),
            "answers": [BUILDERS[number]],
            "gold": [f"built-{number}"],
            "partial": [f"isle-{number}"],
            "gold_sentences": [[f"built-{number}", 0]],
            "source": "invented",
        }
        for number in range(len(ISLANDS))
    ]


def listed(number: int, *, gap: bool = False) -> list[str]:
    """Rank ten documents for a question."""
    others = [f"other-{(number + step) % len(ISLANDS)}" for step in range(10)]
    found = [f"built-{number}", f"isle-{number}"] if number in CORRECT else []
    found = [f"isle-{number}"] if number in AMBIGUOUS else found
    return [*(name for name in found if not (gap and name.startswith("built"))), *others][:10]


def lists() -> list[Row]:
    """Give the fixed lists, without labels: those follow from the questions."""
    return [{"id": f"q{number}", "retrieved": listed(number)} for number in range(len(ISLANDS))]


def gaps() -> list[Row]:
    """Give the lists after the evidence of some questions was removed."""
    return [
        {
            "id": f"q{number}",
            "status": "gap" if number in GAPS else "covered",
            "retrieved": listed(number, gap=number in GAPS),
        }
        for number in range(len(ISLANDS))
    ]


def write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    """Write a JSON Lines file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def repeated(rows: Sequence[Row], times: int) -> list[Row]:
    """Ask everything several times, each under an id of its own."""
    return [{**row, "id": row["id"] + (f"-{time}" if time else "")} for time in range(times) for row in rows]


def write_dataset(folder: Path, *, without: Sequence[str] = (), times: int = 1) -> Path:
    """Write the data set, but for some of its files; gives its folder."""
    files = {
        "corpus.jsonl": corpus(),
        f"{SPLIT}/queries.jsonl": repeated(queries(), times),
        f"{SPLIT}/bm25_top10.jsonl": repeated(lists(), times),
        f"{SPLIT}/gap_bm25_top10.jsonl": repeated(gaps(), times),
    }
    for name, rows in files.items():
        if name.rpartition("/")[2] not in without:
            write_lines(folder / name, rows)
    (folder / SPLIT).mkdir(exist_ok=True)
    return folder
