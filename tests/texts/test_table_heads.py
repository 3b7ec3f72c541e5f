"""TableHeads: the names of columns before rows that go on with a table."""

from time import process_time

import pytest

from haystack_integrations.crag.texts.table_heads import TableHeads, heads_of_rows, standing_under
from haystack_integrations.crag.texts.text import sentences

HEAD = "| Size | Price |\n|---|---|\n"


@pytest.mark.parametrize(
    ("passages", "above"),
    [
        ([HEAD + "| S | 3 |\n", "| M | 4 |\n", "| L | 5 |\n"], ["", HEAD, HEAD]),
        (["Prices\n\n" + HEAD + "| S | 3 |\n", "| M | 4 |\n"], ["", "Prices\n\n" + HEAD]),
        (["**Prices**\n\n", HEAD + "| S | 3 |\n", "| M | 4 |\n"], ["", "**Prices**\n\n", "**Prices**\n\n" + HEAD]),
        (["| Size | Price |\n", "|---|---|\n| S | 3 |\n"], ["", "| Size | Price |\n"]),
        (["| Size    | Price |\n|:--------|------:|\n", "| S | 3 |\n"], ["", "| Size | Price |\n|:---|---:|\n"]),
        (["Size | Price\n---|---\nS | 3\n", "M | 4\n"], ["", "Size | Price\n---|---\n"]),
        (
            ["Prices\n\n" + HEAD + "| S | 3 |\n\n", "| A | B |\n|---|---|\n", "| M | 4 |\n"],
            ["", "", "| A | B |\n|---|---|\n"],
        ),
        (["| a | b |\n|---+---|\n| S | 3 |\n", "| M | 4 |\n"], ["", "| a | b |\n|---+---|\n"]),
        ([" a  | b\n----+---\n S  | 3\n", " M | 4\n"], ["", " a | b\n---+---\n"]),
        (["+---+---+\n| a | b |\n+---+---+\n| S | 3 |\n", "| M | 4 |\n+---+---+\n"], ["", "| a | b |\n+---+---+\n"]),
        (
            ["+---+---+\n| a | b |\n+===+===+\n| S | 3 |\n+---+---+\n| M | 4 |\n", "+---+---+\n| L | 5 |\n"],
            ["", "| a | b |\n+===+===+\n"],
        ),
    ],
)
def test_rows_have_what_their_passage_lacks(passages: list[str], above: list[str]) -> None:
    """The line above the table and the names of its columns, as narrow as can be."""
    tables = TableHeads()
    assert [tables.over(passage) for passage in passages] == above


@pytest.mark.parametrize(
    "passages",
    [
        [HEAD + "| S | 3 |\n\n", "Pipes | are signs.\n"],
        [HEAD + "| S | 3 |\n", "No row.\n"],
        ["+---+---+\n| a | b |\n+---+---+\n| S | 3 |\n+---+---+\n\n", "No row.\n"],
        [HEAD + "| S | a very long ", "cell |\n"],
        ["| S | 3 |\n", "| M | 4 |\n"],
        ["a | b\n", "---\n"],
        [f"| {'x' * 500} | b |\n|---|---|\n", "| M | 4 |\n"],
        ["Two lines\nof text.\n\n", HEAD],
        [f"{'x' * 300}\n\n", HEAD],
        ["# Prices\n\n", HEAD],
        ["", "", "\n"],
    ],
)
def test_what_is_no_further_row_stays_as_it_is(passages: list[str]) -> None:
    """Behind a table, in half a row, under nothing that names columns, under a heading, which the title has."""
    tables = TableHeads()
    assert {tables.over(passage) for passage in passages} == {""}


def test_rows_stand_under_the_head_of_their_table_and_nothing_else_does() -> None:
    """Not the head itself, the line of dashes, a text behind the table, rows below no head or a very long one."""
    parts = ["Prices.", "| Plan | Price |", "|---|---:|", "| Basic | 9 |", "| Pro | 2 |", "| Day | Hour |", "|---|---|"]
    rows = {3: 1, 4: 1}
    assert heads_of_rows(parts) == rows
    assert heads_of_rows([*parts, "| Monday | 8 |", "Closed | open.", "| Tuesday | 9 |"]) == rows | {7: 5}
    assert heads_of_rows(parts[3:5]) == heads_of_rows([]) == {}
    assert heads_of_rows([f"| {'Plan ' * 200} |", *parts[2:5]]) == {}


def test_sentences_stand_under_their_headings_and_heads() -> None:
    """Under the outer headings, too, but not under the one before; in code a sign of numbers is no heading."""
    parts = [
        "Intro.",
        "# Pumps",
        "All.",
        "## Aero",
        "| Name | Weight |",
        "|---|---|",
        "| Aero 9 | 138 |",
        "## Terra",
        "One.",
    ]
    found = standing_under(parts, heads_of_rows(parts))
    assert found == {2: [1], 4: [1, 3], 5: [1, 3], 6: [1, 3, 4], 8: [1, 7]}
    assert standing_under([*parts[4:7], "#9 is not."], {2: 0}) == {2: [0]}
    assert standing_under(["# Use", "```", "# comment", "run", "```", "Then."], {}) == {n: [0] for n in range(1, 6)}


@pytest.mark.parametrize("end", ["```", "  ```"])
def test_a_heading_behind_a_whole_block_of_code_is_one(end: str) -> None:
    """Sentences are cut so that a block is one of them: all behind it stood under the heading before it."""
    text = f"# Install\n\nRun it.\n\n```sh\n# as root\npip install x\n{end}\n\n# Remove\n\nDelete the folder.\n"
    parts = [text[start:last] for start, last in sentences(text)]
    assert parts[3:] == ["# Remove", "Delete the folder."]
    assert standing_under(parts, {}) == {1: [0], 2: [0], 4: [3]}


@pytest.mark.parametrize("sign", ["\t", " ", "-", "-|", ":", "+-", "="])
def test_a_line_of_signs_below_a_row_costs_no_more_than_its_length(sign: str) -> None:
    """A row of tabs was gone through from each of them, hours for a megabyte, within one step that nothing can end."""
    started = process_time()
    assert TableHeads().over(f"a | b\n{sign * 100_000}a\n") == ""
    assert process_time() - started < 10
