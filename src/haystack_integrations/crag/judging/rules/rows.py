"""
Rows of tables: who asks for what stands in a row, under the names of its columns and the headings, is told by its cell.

Of a passage with a table a question has few words, and they stand far apart: asked for a cell by the names of its row
and of its column, 16 of 32 were `correct` without this rule, and are 32 with it (benchmarks/other_kinds.py); without
that a row is read under the names of its columns, it were 12.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from haystack_integrations.crag.texts.table_heads import heads_of_rows, standing_under
from haystack_integrations.crag.texts.text import sentences, terms
from haystack_integrations.crag.texts.wording import asked_terms

_FEWEST: Final = 2  # one word alone does not tell what is asked
_BORDER: Final = re.compile(r"(?<!\\)\|")
# What is not so, a row does not tell by its words.
_NOT: Final = re.compile(
    r"(?i)\b(?:not?|never|none|neither|nor|without|except|besides|other than|else)\b|n['\u2019]t\b"
)


class _Row(NamedTuple):
    """The terms of a row's cells, of the names of its columns, and of what stands above its table."""

    cells: Sequence[set[str]]
    names: Sequence[set[str]]
    above: set[str]


def rows(query: str, texts: Sequence[tuple[str, str]]) -> NDArray[np.bool_]:
    """
    Tell which documents have a row of a table with all that a question asks, and more.

    ```python
    from haystack_integrations.crag.judging.rules.rows import rows

    table = "## Rooms\\n\\n| Name | Seats | Beamer |\\n|---|---|---|\\n| Lund | 12 | |\\n| Oslo | 30 | yes |"
    assert rows("What are the seats of the Oslo room?", [("", table)]).tolist() == [True]
    assert rows("What is the price of the Oslo room?", [("", table)]).tolist() == [False]
    assert rows("Is there a beamer in the Lund room?", [("", table)]).tolist() == [False]  # an empty cell
    ```

    :param query: The question, without courtesies.
    :param texts: Title and content of each document.
    :returns: For each whether all terms of the question are in one row, the names of its columns, the headings and the
        line above the table, one of them a word in the row; and whether a cell tells more, below a name that is asked
        for if there is one.
    """
    asked = {*asked_terms(query)}
    if len(asked) < _FEWEST or _NOT.search(query):
        return np.zeros(len(texts), dtype=bool)
    return np.array([any(_tells(row, asked) for row in _rows(title, content, asked)) for title, content in texts])


def _rows(title: str, content: str, asked: set[str]) -> Iterator[_Row]:
    """Read the rows of Markdown's tables, with all that stands above them, in a document that has what is asked."""
    if "|" not in content or not asked <= {*terms(f"{title}\n{content}")}:
        return
    parts = [content[start:end] for start, end in sentences(content)]
    heads = heads_of_rows(parts)
    standing, names, above = standing_under(parts, heads), list[set[str]](), set[str]()
    top = {*terms(f"{title}\n{content.lstrip().partition(chr(10))[0]}")}
    for number, head in heads.items():
        if number - 1 not in heads:  # the first below this head
            names = _cells(parts[head])
            above = top.union(*(terms(parts[place]) for place in (*standing[number], max(0, head - 1))))
        yield _Row(_cells(parts[number]), names, above)


def _cells(line: str) -> list[set[str]]:
    return [{*terms(cell)} for cell in _BORDER.split(line.strip().removeprefix("|").removesuffix("|"))]


def _tells(row: _Row, asked: set[str]) -> bool:
    named = asked & set().union(*row.cells)
    if not asked <= named.union(row.above, *row.names) or all(map(str.isdigit, named)):
        return False
    below = [cell for cell, name in zip(row.cells, row.names, strict=False) if name & (asked - named)]
    return any(cell - asked for cell in below or row.cells)
