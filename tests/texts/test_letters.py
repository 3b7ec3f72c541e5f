"""A question and a text are written in the same letters, whichever way they came."""

import pytest
from haystack import Document

from haystack_integrations.crag.pipelines import load
from haystack_integrations.crag.texts.letters import in_plain_letters


@pytest.mark.parametrize(
    "sign",
    [
        *map(chr, range(0xFB00, 0xFB07)),
        "\u00ad",
        "\u2060",
        "\ufeff",
        "\u200b",
        "\u200c",
        "\u200d",
        "e\u0301",
        "\u1e9e",
        "\ufb2a",
    ],
)
def test_a_sign_becomes_in_a_question_what_it_becomes_in_an_indexed_text(sign: str) -> None:
    """Their rules stand in two places, one of them the YAML: a sign that only one knew would not be found."""
    letters = load("indexing").pipeline.get_component("letters")
    written = letters.run([Document(content=f"of{sign}ce")])["documents"][0].content
    assert in_plain_letters(f"of{sign}ce") == written
