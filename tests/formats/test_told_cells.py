"""Values of cells as text."""

import pytest

from haystack_integrations.crag.formats.sheets import told


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (4_111_111_111_111_111.0, "4111111111111111"),
        (-9_007_199_254_740_991.0, "-9007199254740991"),
        (4_111_111_111_111_111_111.0, "4111111111111110000"),
        (999_999_999_999_999.9, "1000000000000000"),
        (0.1 + 0.2, "0.3"),
    ],
)
def test_a_whole_number_has_all_digits_that_its_file_has(value: float, text: str) -> None:
    """Java writes an order's number as 4.111111111111111E15; of more than 15 digits the last was a zero."""
    assert told(value) == text
