"""What a sentence stands under: the heading above it, for a row the names of its columns."""

import pytest

from haystack_integrations.crag.judging.asking import ask
from haystack_integrations.crag.judging.evidence import examine
from haystack_integrations.crag.judging.reading import shared_reader
from haystack_integrations.crag.texts.section_heads import heads_above


@pytest.mark.parametrize(
    ("parts", "above"),
    [
        (["Insurance.", "## Claims", "By mail.", "## Fees", "None."], {2: 1, 4: 3}),
        (["## Fees", "| who | fee |", "|---|---|", "| all | 3 |", "And tax."], {1: 0, 2: 0, 3: 1, 4: 0}),
        (["# " + "long " * 99, "By mail."], {}),
        (["#claims is our channel.", "By mail."], {}),
        (["Insurance.", "By mail."], {}),
        ([], {}),
    ],
)
def test_a_sentence_stands_under_the_nearest_heading_and_a_row_under_its_head(
    parts: list[str], above: dict[int, int]
) -> None:
    """Both in order, so that a row has the heading of its table's head as well."""
    assert heads_above(parts) == above
    assert list(heads_above(parts)) == sorted(above)


def test_the_words_of_a_heading_count_in_the_sentences_below_it() -> None:
    """Neither has both words by itself, and the heading of another section lends it none."""
    reader = shared_reader()
    asked = ask("How are claims reported?", lambda terms: (100, dict.fromkeys(terms, 1)), reader.encoder)
    texts = [
        ("", "## Claims\n\nThey are reported by mail."),
        ("", "## Fees\n\nThey are reported by mail.\n\n## Claims"),
        ("", "## Claims\n\n| how |\n|---|\n| reported by mail |"),
    ]
    found = [examine(asked, reading).wording["sentence"] for reading in reader.read(texts)]
    assert found == pytest.approx([1.0, 0.5, 1.0])
