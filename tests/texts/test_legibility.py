"""A text that no question will meet is told from one that only looks unusual."""

import base64
from pathlib import Path

import haystack
import pytest

from haystack_integrations.crag.texts.legibility import illegible

ENGLISH = (
    "A refund is paid within two weeks after the returned goods have arrived at our warehouse. The money goes back to "
    "the card that was used. Goods can be returned within thirty days after delivery, in their original packaging. "
    "Batteries are covered by the warranty for six months, all other parts of a device for two years. "
)
GERMAN = (
    "Die Rechtsschutzversicherungsgesellschaften kennen keine Kapitäne der Donaudampfschifffahrtsgesellschaft. Das "
    "Bundesausbildungsförderungsgesetz gilt neben dem Grundstücksverkehrsrecht auch für Auszubildende, die eine "
    "Ausbildung an einer weiterführenden allgemeinbildenden Schule beginnen. Wer einen Antrag stellt, erhält nach zwei "
    "Wochen einen Bescheid über Höhe und Dauer der Leistungen, die er bekommt. "
)
CHINESE = "退款在退回的货物到达我们的仓库后十四天内支付。货物可以在交货后三十天内以原包装退回。" * 9
NAMES = "addEventListenerWithOptions removeAttributeFromParentElement getElementsByClassNameAndTag setInterval "
FINNISH = "Epäjärjestelmällistyttämättömyydelläänsäkään ei ole merkitystä, kun palautusoikeus on voimassa ja tavara "


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (ENGLISH.replace(" ", ""), "its words are not separated"),
        (GERMAN.replace(" ", ""), "its words are not separated"),
        (" ".join(ENGLISH), "its letters stand apart"),
        (GERMAN.replace("e", "é").encode().decode("latin-1"), "its letters were read in another encoding"),
        ("".join(f"(cid:{ord(letter)})" for letter in ENGLISH), "it has codes in the place of letters"),
        ("".join(chr(0xF000 + ord(letter)) for letter in ENGLISH), "it has codes in the place of letters"),
        ("\ufffd" * 300, "it has codes in the place of letters"),
        ("".join(chr(ord(letter) - 29) if letter > " " else letter for letter in GERMAN), "its letters make no words"),
    ],
)
def test_a_text_without_words_is_named_by_what_it_lacks(text: str, why: str) -> None:
    assert illegible(text) == why


@pytest.mark.parametrize(
    "text",
    [
        ENGLISH,
        GERMAN,
        CHINESE,
        FINNISH * 9,
        NAMES + ENGLISH,
        "x = y + z; a * b = c. We solve for x as the sum of a and b. " * 9,
        base64.b64encode(ENGLISH.encode()).decode(),
        "ПРАВИЛА ВОЗВРАТА. Деньги возвращаются в течение четырнадцати дней после получения товара на складе. " * 9,
        "Cześć! Zwrot pieniędzy następuje w ciągu czternastu dni od otrzymania zwróconych towarów w magazynie. " * 9,
        "HTTP TCP TLS DNS SMTP IMAP " * 30,
        "",
        "Thisisatext.",
    ],
)
def test_unusual_texts_raise_no_alarm(text: str) -> None:
    """German compounds, code, formulas, other languages and scripts; and where there is too little to tell."""
    assert illegible(text) is None


def test_source_code_raises_no_alarm() -> None:
    folder = Path(haystack.__file__).parent
    files = sorted(folder.rglob("*.py"))[:200]
    assert len(files) > 100
    assert [file for file in files if illegible(file.read_text("utf-8"))] == []
