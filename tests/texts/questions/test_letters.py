"""A question and a text are written in the same letters, whichever way they came."""

import pytest
from haystack import Document

from haystack_integrations.crag.pipelines import load
from haystack_integrations.crag.texts.questions.letters import in_plain_letters


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


@pytest.mark.parametrize(
    ("pasted", "plain"),
    [
        ("con\u200bfi\u200b\u200bguration", "configuration"),
        ("Kube\u200bConfig of a caf\u00e9\u200bteria", "KubeConfig of a caf\u00e9teria"),
        ("o\ufb03\u200bce, cafe\u0301\u200bs, a\u00ad\u200bb", "office, caf\u00e9s, ab"),
        ("\u03bb\u03cc\u200b\u03b3\u03bf\u03c2", "\u03bb\u03cc\u03b3\u03bf\u03c2"),
        ("\u043f\u043e\u200b\u043b\u0435", "\u043f\u043e\u043b\u0435"),
        *(
            (f"{left}\u200b{right}",) * 2
            for left, right in ["\u1780\u1781", "\u0e01\u0e02", "\u65e5Y", "/b", "12", " b"]
        ),
    ],
)
def test_a_zero_width_space_goes_out_of_a_word_and_stays_between_words(pasted: str, plain: str) -> None:
    """Pages have it where a long word may be broken, and no search found the word. Khmer and Thai part words by it."""
    letters = load("indexing").pipeline.get_component("letters")
    assert in_plain_letters(pasted) == plain
    assert letters.run([Document(content=pasted)])["documents"][0].content == plain
