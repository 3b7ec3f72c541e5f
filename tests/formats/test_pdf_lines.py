"""Numbers of lines are no part of their words."""

import pytest

from haystack_integrations.crag.formats.pdf_lines import without_line_numbers

WORDS = "the heating rate was five kelvin and all cells failed within two days of rest".split()


def test_numbers_of_lines_go_and_others_stay() -> None:
    """As TeX prints them for reviewers: no question met the last word of a line. One stands behind a number."""
    lines = [f"and then {word}" for word in WORDS]
    lines[3], lines[7] = "It was made in 2020", "Well-"
    printed = [f"{line}{number}" for number, line in enumerate(lines, 15)]
    assert without_line_numbers("\n".join(["Notes1", *printed, "A 25"])) == "\n".join(["Notes1", *lines, "A 25"])


@pytest.mark.parametrize(
    "lines",
    [
        [f"{word}{number}" for number, word in enumerate(WORDS[:9], 1)],
        [f"{word} {number}" for number, word in enumerate(WORDS, 1)],
        [f"Set GPIO{number}" for number in range(1, 17)],
        [f"{word}{7 * number}" for number, word in enumerate(WORDS, 1)],
        [f"x{number}" for number in range(2_000)],
    ],
)
def test_numbers_that_are_no_count_of_lines_stay(lines: list[str]) -> None:
    """Too few, apart from their words, parts of a name, or in no order."""
    assert without_line_numbers("\n".join(lines)) == "\n".join(lines)
