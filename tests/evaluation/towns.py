"""Labelled questions to calibrate on: invented towns, and wordings that tell what answers a question of which kind.

All pages of a town have its name as title, and say different things of it in other words than a question does:
`founder` is answered by "was begun". Nothing but pairs of words tells an answer from another fact about the same town.
"""

from collections.abc import Sequence
from itertools import product
from pathlib import Path
from random import Random

from evaluation.datasets import SPLIT, Row, write_lines

from haystack_integrations.crag.evaluation.cases import Dataset, RankedList
from haystack_integrations.crag.evaluation.reading import read_dataset

FACTS = {
    "founder": "was begun long ago by a traveller named {name}",
    "harvest": "grows mostly {name} on its fields",
    "river": "is crossed by quiet waters called {name}",
    "mayor": "elected {name} to lead its council",
    "bread": "bakes flat loaves known as {name}",
}
TOWNS = [
    "".join(two)
    for two in product("Bar Cel Dov Fen Gar Hol Jas Kir Lum Mor Nep Pel".split(), "ako ebra illon ossa unde".split())
]
NAMES = ["".join(two) for two in product("Ad Be Ci Du Ep Fo Ga Hu Io Ke".split(), "lann merr tosk vind".split())]
VERDICTS = ("correct",) * 5 + ("ambiguous",) * 4 + ("incorrect",) * 3
COUNT = 120
LENGTH = 6
"""Documents in a list: one more than a verdict is about."""


def write_towns(
    folder: Path, *, count: int = COUNT, verdicts: Sequence[str] = VERDICTS, shuffled: bool = False, seed: int = 5
) -> Path:
    """Write the data set; shuffled, its labels have nothing to do with its questions. Gives its folder."""
    chance = Random(seed)
    facts = list(FACTS)
    corpus = [
        {"id": f"{town}-{fact}", "title": town, "text": f"{town} {FACTS[fact].format(name=chance.choice(NAMES))}."}
        for town, fact in product(TOWNS, facts)
    ]
    queries, lists = list[Row](), list[Row]()
    for number in range(count):
        town, fact = TOWNS[number % len(TOWNS)], facts[(number + number // len(TOWNS)) % len(facts)]
        verdict = verdicts[(number * 7) % len(verdicts)]
        answer, *others = [f"{town}-{each}" for each in (fact, *chance.sample([f for f in facts if f != fact], 2))]
        found = {"correct": [answer, others[0]], "ambiguous": others, "incorrect": []}[verdict]
        rest = [row["id"] for row in chance.sample(corpus, LENGTH + 4) if row["title"] != town]
        retrieved = (found + rest)[:LENGTH]
        chance.shuffle(retrieved)
        gold, partial = [answer], others
        if shuffled:
            gold, partial = ([retrieved[0]], []) if chance.random() < 0.5 else ([], [retrieved[0]])
        question = f"Visitors often wonder which {fact} has the old town of {town}."
        queries.append({"id": f"t{number}", "question": question, "gold": gold, "partial": partial})
        lists.append({"id": f"t{number}", "retrieved": retrieved})
    write_lines(folder / "corpus.jsonl", corpus)
    write_lines(folder / SPLIT / "queries.jsonl", queries)
    write_lines(folder / SPLIT / "bm25_top10.jsonl", lists)
    return folder


def read_towns(folder: Path) -> tuple[Dataset, dict[str, RankedList]]:
    """Read it, with its lists."""
    dataset = read_dataset(folder, SPLIT, least=1)
    return dataset, {case.id: case.fixed for case in dataset.cases if case.fixed is not None}
