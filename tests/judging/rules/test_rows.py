"""Who asks for what a row of a table has, is told by that row."""

import time
from typing import Any

import pytest
from haystack import Document
from makers import fill

from haystack_integrations.crag.judging.rules.rows import rows
from haystack_integrations.crag.pipelines import load

SECONDS = 2.0  # some hundredths here; quadratic time would be minutes
YEARS = (
    "# Annual report of Holm AG\n\nA good year.\n\n## Five years\n\n| million EUR | 2022 | 2023 |\n|---|---|---|\n"
    "| Sales | 318.2 | 341.7 |\n| Net profit | 14.9 | |\n| Loans | 2 | 3 |\n"
)
SHEET = "# Data sheet: pump Aero 9\n\n| Property | Value |\n|---|---|\n| Voltage | 400 V |\n| Weight | 138 kg |\n"
PRICES = (
    "| Article | Price | Remark |\n|---|---|---|\n| Larch board 4 m | 21.80 | to order |\n| Oak board 3 m | 9.1 | |"
)
FERRY = "# Ferry\n\nOn Sunday:\n\n| Departure | Arrival |\n|---|---|\n| 8:45 | 9:30, Ytter |\n"


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What were the sales of Holm in 2022?", YEARS),
        ("net profit 2022", YEARS),
        ("Sales in 2023?", YEARS),
        ("What is the voltage of the Aero 9?", SHEET),
        ("price larch board", PRICES),
        ("What is the remark on the larch board?", PRICES),
        ("When is the Sunday arrival in Ytter?", FERRY),
    ],
)
def test_a_row_tells_what_its_columns_and_headings_name(question: str, text: str) -> None:
    """The names may be in the title, too, and in the line above the table."""
    assert rows(question, [("", "Other text."), ("", text)]).tolist() == [False, True]


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What were the sales of Holm in 2018?", YEARS),
        ("What were the costs of Holm in 2022?", YEARS),
        ("What was the net profit of Holm in 2023?", YEARS),  # the cell is empty
        ("What was good in 2023?", YEARS.replace("A good year.", "| A | B |\n|---|---|\n| A | good |")),
        ("What was reported in year 2?", YEARS),  # a number alone names no row
        ("sales", YEARS),
        ("Which sales were not in 2022?", YEARS),
        ("What is the price of the Oak board 4 m?", PRICES),  # of two rows
        ("What is the remark on the oak board?", PRICES),
        ("voltage of the Aero 9", SHEET.replace("|---|---|\n", "")),
    ],
)
def test_a_row_tells_nothing_else(question: str, text: str) -> None:
    """Of what is in no row, in two of them, or in an empty cell."""
    assert rows(question, [("", text)]).tolist() == [False]


def test_who_asks_for_a_cell_is_answered_by_its_row(in_memory_store: Any) -> None:
    """A passage with a table has little of such a question; for another row it is not correct."""
    fill(in_memory_store, [Document(content=each) for each in (YEARS, SHEET, PRICES, FERRY)])
    rag = load("corrective_retrieval", store=in_memory_store)
    told = rag.run(query="What is the voltage of the Aero 9?")
    assert told["crag"]["verdict"] == "correct"
    assert SHEET in [document.content for document in told["documents"]]
    assert rag.run(query="What is the efficiency of the Aero 9?")["crag"]["verdict"] != "correct"


def test_no_table_takes_long() -> None:
    """Nor does a text of nothing but borders."""
    begun = time.process_time()
    rows("price of larch", [("larch price", text) for text in (PRICES + "\n| Oak | 3 | |" * 10_000, "|" * 100_000)])
    rows("not " * 50_000, [("", PRICES)])
    assert time.process_time() - begun < SECONDS
