"""A word that a line's end parts is one word again, where its document or English knows it as one."""

import pytest
from haystack import Document
from haystack.dataclasses import SparseEmbedding

from haystack_integrations.crag.components import HyphenJoiner


def joined(text: str) -> str:
    (document,) = HyphenJoiner().run([Document(content=text)])["documents"]
    return str(document.content)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("All infor-\nmation here. Information is free.", "All information\nhere. Information is free."),
        ("Infor-\r\n    mation on it; information, free", "Information\non it; information, free"),
        ("Die Rück-\ngabe. Eine Rückgabe ist frei.", "Die Rückgabe.\nEine Rückgabe ist frei."),
        ("Infor- \nmation \nand information", "Information\nand information"),  # Tesseract's
        ("Infor-\nmation\nand information", "Information\nand information"),
        ("Infor-\nmation.\n\nMore information", "Information.\n\nMore information"),
        ("The com-\npany's profit; company", "The company's\nprofit; company"),
        ("Infor-\nmation(s).[3] More information", "Information(s).[3]\nMore information"),
        ("infor-\nmation/infor-\nmation, information", "information\n/information,\ninformation"),
    ],
)
def test_a_word_that_stands_whole_elsewhere_is_joined(text: str, expected: str) -> None:
    """It ends its line, with the mark behind it; lines and paragraphs stay as many as they were, or one fewer."""
    assert joined(text) == expected


def test_a_frequent_word_of_english_is_joined_that_stands_nowhere_else() -> None:
    """Of a paper in two columns half of the words at the ends of lines do not, and no question met them."""
    assert joined("Its degra-\ndation was demon-\nstrated.") == "Its degradation\nwas demonstrated.\n"


@pytest.mark.parametrize(
    "text",
    [
        "A well-\nknown rule that nobody wrote elsewhere.",
        "A well-\nknown rule; wellknown, and well-known.",
        "Abfall-\nentsorgung und Abfall-\nentsorgung",
        "We re-\nsort, and others re-sort.",
        "Hin- und Rück-\nfahrt",
        "the U-\nBahn, UBahn",
        "Pre-\nChristmas, prechristmas",
        "- one\n- two\n\nA line -\nwith a dash. Aline",
        "x-ray-\nbased xraybased raybased",
        "",
    ],
)
def test_any_other_hyphen_stays(text: str) -> None:
    """Also where both parts are words, or the same word is parted twice: that proves nothing."""
    assert joined(text) == text


def test_a_hyphen_of_unicodes_own_is_one_and_a_soft_one_needs_no_proof() -> None:
    """As PDF files have them."""
    assert joined("All infor\u2010\nmation here; information") == "All information\nhere; information"
    for text in (
        "A well\u2010\nknown rule",
        "We re\u2010\nsort, and others re\u2010sort.",
        "x\u2010in\u2010\nto, into",
    ):
        assert joined(text) == text
    assert joined("Vel\u00admor\u00ad\nran's law") == "Vel\u00admorran's\nlaw"


@pytest.mark.parametrize("text", ["Anne\u00ad\nMarie", "the USA\u00ad\nReise", "well\u00ad\nknown, and well-known"])
def test_a_soft_hyphen_that_stands_for_another_stays(text: str) -> None:
    """Some writers of PDF files have no other: a name would become one word."""
    assert joined(text) == text


def test_a_joined_text_has_no_vectors_of_the_one_that_was_parted() -> None:
    """Neither dense nor sparse ones: a store would find it by the halves of its words."""
    sparse = SparseEmbedding(indices=[1], values=[1.0])
    parted = Document(content="Infor-\nmation, information", embedding=[1.0], sparse_embedding=sparse)
    (found,) = HyphenJoiner().run([parted])["documents"]
    assert (found.content, found.embedding, found.sparse_embedding) == ("Information,\ninformation", None, None)


def test_what_is_not_changed_stays_the_same_document() -> None:
    documents = [Document(content="No hyphen."), Document(content=None)]
    found = HyphenJoiner().run(documents)["documents"]
    assert all(one is other for one, other in zip(found, documents, strict=True))


def test_a_long_text_takes_no_time() -> None:
    text = "infor-\nmation " * 100_000 + "information " + "a" * 200_000 + "-" * 200_000
    assert joined(text).count("information") == 100_001
