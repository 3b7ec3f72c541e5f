"""Which words all texts of a language have, and which texts an English model cannot read."""

import pytest

from haystack_integrations.crag.texts.languages.common_words import common_words, is_other_script
from haystack_integrations.crag.texts.languages.stemming import STOP_WORDS
from haystack_integrations.crag.texts.text import words


@pytest.mark.parametrize(
    "text",
    [
        "The customer has to show an invoice, or the goods are not accepted.",
        "Fred Newmeyer (August 9, 1888 - April 24, 1967) was an American actor.",
        "Tower, Paris, 1889, 330 m",
        "Возврат выплачивается в течение тридцати дней.",
        "退款何时支付?",
        "",
    ],
)
def test_of_english_and_of_languages_unknown_the_stop_words_alone_are_common(text: str) -> None:
    """Also of short texts of names and months, which other languages have, too."""
    assert common_words(words(text)) == STOP_WORDS


def test_a_word_of_english_is_none_of_another_language() -> None:
    """`war` and `man` are common in German only where German is written."""
    german = common_words(words("Der Mann war nicht da, als man ihn in der Stadt gesucht hat."))
    assert {"war", "man", "nicht"} <= set(german)
    assert {"war", "man"}.isdisjoint(
        common_words(words("The man was in the war, and he did not come back to the city."))
    )


@pytest.mark.parametrize(
    ("text", "is_other"),
    [
        ("When is a refund paid?", False),
        ("Über die Brücke? Đường nào?", False),
        ("Ｆｕｌｌ width", False),
        ("1889?", False),
        ("", False),
        ("退款何时支付?", True),
        ("iPhoneの返金はいつですか?", True),
        ("Когда выплачивается возврат?", True),
        ("환불은 언제 지급됩니까?", True),
        ("متى يتم الدفع؟", True),
        ("What is 退款?", False),
    ],
)
def test_the_script_is_that_of_most_letters(text: str, is_other: bool) -> None:
    """Numbers and marks have none."""
    assert is_other_script(text) is is_other
