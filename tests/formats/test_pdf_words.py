"""Letters of a PDF are written as people type them."""

from io import BytesIO

import pytest
from files import pdf
from haystack.dataclasses import ByteStream
from pypdf import PdfReader, PdfWriter

from haystack_integrations.crag.components import PdfToMarkdown
from haystack_integrations.crag.formats.pdf_words import is_of_tex, with_accents
from haystack_integrations.crag.formats.plain_letters import as_typed


@pytest.mark.parametrize(
    ("printed", "typed"),
    [
        ("\ufef3\ufeee\ufee3\ufe8e 30", "\u064a\u0648\u0645\u0627 30"),  # a word, each letter in the form of its place
        ("\ufefb", "\u0644\u0627"),  # two letters printed as one
        ("\ufb2a", "\u05e9\u05c1"),  # with its point
        ("\U0001d444 = \U0001d7cf\U0001d7d0", "Q = 12"),  # of formulas
        ("x\u00b2 \u2460 caf\u00e9", "x\u00b2 \u2460 caf\u00e9"),
    ],
)
def test_letters_that_have_a_code_for_each_form_are_plain_ones(printed: str, typed: str) -> None:
    """No one types a letter in the form of its place; other signs stay as they are."""
    assert as_typed(printed) == typed


@pytest.mark.parametrize(
    ("printed", "typed"),
    [
        ("M\u00a8uller, \u00a8Ubung, Jos\u00b4e, ch\u02c6ateau", "M\u00fcller, \u00dcbung, Jos\u00e9, ch\u00e2teau"),
        ("na\u00a8\u0131ve \u02c7Skoda Erd\u02ddos se\u02dcnor", "na\u00efve \u0160koda Erd\u0151s se\u00f1or"),
        ("fa\u00b8cade fac\u00b8ade C\u00b8 a va", "fa\u00e7ade fa\u00e7ade \u00c7a va"),
        ("voil`a d`es", "voil\u00e0 d\u00e8s"),
        ("`a` and `echo` or `x", "`a` and `echo` or `x"),
        ("it\u00b4s at host.org/\u02dcnick, 25 \u02daC", "it\u00b4s at host.org/\u02dcnick, 25 \u02daC"),
        ("\u02c6x + \u02dc3", "\u02c6x + \u02dc3"),
    ],
)
def test_an_accent_of_tex_is_one_with_its_letter(printed: str, typed: str) -> None:
    """No one finds Müller in `M¨uller`; code, apostrophes, folders and formulas stay as they are."""
    assert with_accents(printed) == typed


@pytest.mark.parametrize(
    ("creator", "is_of"), [("LaTeX with hyperref", True), ("dvips(k) 5.99", True), ("Word", False)]
)
def test_accents_are_joined_in_files_of_tex_alone(creator: str, is_of: bool) -> None:
    """Of other programs a sign before a letter may be one that somebody typed."""
    writer = PdfWriter(clone_from=BytesIO(pdf(r"M\310uller")))
    writer.add_metadata({"/Creator": creator})
    writer.write(data := BytesIO())
    assert is_of_tex(PdfReader(data)) is is_of
    (document,) = PdfToMarkdown().run([ByteStream(data.getvalue())])["documents"]
    assert document.content == ("M\u00fcller" if is_of else "M\u00a8uller")
