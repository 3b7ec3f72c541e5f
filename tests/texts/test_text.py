"""Words, terms, token estimates and sentence spans."""

from concurrent.futures import ThreadPoolExecutor
from time import process_time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from haystack_integrations.crag.texts.text import count_tokens, sentences, surface_words, terms, words
from haystack_integrations.crag.texts.wording import ask

# Texts made of what sentence rules look at, so that rules meet each other more often than in random text.
PIECES = st.sampled_from(
    [
        *(
            "Dr. Who",
            "e.g.",
            "U.S.",
            "J. K.",
            "et al.",
            "3.5",
            "Fig. 2",
            "p.m.",
            "A.",
            "no. 5",
            "The end",
            "word",
            "ıİß",
        ),
        *(". ", "! ", "? ", "... ", "\u2026 ", ' ."', ".' ", ") ", "[1] ", " ", "\n", "\n\n", "\r\n", "\t", "\u3000"),
        *("- item", "* item", "1. item", "a) item", "# Head\n", "====\n", "---\n", "| a | b |\n", "a\tb\tc\n"),
        *("```\n", "~~~\n", "```py\ncode. More\n```\n", "\u3002", "\uff01", "\u65e5\u672c", "\u300d", "\u0964", "\x1f"),
    ]
)
TEXTS = st.one_of(st.text(max_size=80), st.lists(PIECES, max_size=25).map("".join))


def split(text: str) -> list[str]:
    """The sentences themselves."""
    return [text[start:end] for start, end in sentences(text)]


@given(TEXTS)
@example("``` \n a. \n```")
@example(". . .")
def test_spans_are_in_order_trimmed_and_leave_out_only_whitespace(text: str) -> None:
    """Every character that is no whitespace is in exactly one span."""
    covered = 0
    for start, end in sentences(text):
        assert covered <= start < end <= len(text)
        assert not text[covered:start].strip()
        assert text[start:end] == text[start:end].strip()
        covered = end
    assert not text[covered:].strip()


@given(TEXTS, TEXTS)
def test_a_blank_line_always_separates(first: str, second: str) -> None:
    """What stands before a blank line and what stands behind it are split alone, unless a code block reaches over."""
    if "```" in first or "~~~" in first:
        return
    assert split(f"{first}\n\n{second}") == split(first) + split(second)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Dr. Smith left. He came back.", ["Dr. Smith left.", "He came back."]),
        ("Lee et al. (2019) found it. Good.", ["Lee et al. (2019) found it.", "Good."]),
        ("See Fig. 3, i.e. the chart. It rose.", ["See Fig. 3, i.e. the chart.", "It rose."]),
        ("The U.S. Army moved. In the U.S. The end.", ["The U.S. Army moved.", "In the U.S.", "The end."]),
        ("It costs 3.5 euros. Cheap.", ["It costs 3.5 euros.", "Cheap."]),
        ("J. K. Rowling wrote. John F. Kennedy spoke.", ["J. K. Rowling wrote.", "John F. Kennedy spoke."]),
        ('Films: "Gordon B. Hinckley" and (George W. Bush).', ['Films: "Gordon B. Hinckley" and (George W. Bush).']),
        ("They take vitamin C. Patients recover.", ["They take vitamin C.", "Patients recover."]),
        (
            "It was no. 5 of 9. The answer is no. It was late.",
            ["It was no. 5 of 9.", "The answer is no.", "It was late."],
        ),
        (
            "Acme Inc. bought it. The buyer is Acme Inc. The end.",
            ["Acme Inc. bought it.", "The buyer is Acme Inc.", "The end."],
        ),
        ('He asked "why?" and left. "Yes." She stayed.', ['He asked "why?" and left.', '"Yes."', "She stayed."]),
        ("It ended.[12] Next one.[3][4] Last.", ["It ended.[12]", "Next one.[3][4]", "Last."]),
        ("It is common. [12] Cough? [13, 14] No. [15]", ["It is common. [12]", "Cough? [13, 14]", "No. [15]"]),
        ("It is common.[12,13] Cough is.[14\u201316] No.", ["It is common.[12,13]", "Cough is.[14\u201316]", "No."]),
        ("[1] Fox, A. Foxes. [2] Ox, B. Oxen.[3] It.", ["[1] Fox, A. Foxes.", "[2] Ox, B. Oxen.[3]", "It."]),
        ("Wait... Then go! Really?! Yes", ["Wait...", "Then go!", "Really?!", "Yes"]),
        ("A change . It is common . ''", ["A change .", "It is common . ''"]),
        ("mRNA rose. mRNA fell.", ["mRNA rose.", "mRNA fell."]),
        ("all lower text. another one. the third", ["all lower text.", "another one.", "the third"]),
        (
            "\u4eca\u65e5\u306f\u6674\u308c\u3002\u660e\u65e5\u306f\u96e8\uff01\u672c\u5f53\uff1f",
            ["\u4eca\u65e5\u306f\u6674\u308c\u3002", "\u660e\u65e5\u306f\u96e8\uff01", "\u672c\u5f53\uff1f"],
        ),
        ("...", ["..."]),
        ("", []),
        (" \n\t ", []),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text: str, expected: list[str]) -> None:
    """Abbreviations, initials, decimals, quotations and citations do not end a sentence; its end does."""
    assert split(text) == expected


@pytest.mark.parametrize(
    "sentence",
    [
        "Am 3. Oktober 1990 trat sie bei.",
        "Im 19. Jahrhundert und vom 1. bis zum 5. Mai galt es.",
        "Nach § 3 Abs. 2 Nr. 1 und Art. 5 GG gilt es.",
        "Obst, z. B. Äpfel, ist gesund.",
        "Die Miete beträgt ca. 500 Euro bzw. 600 Euro inkl. Nebenkosten in der Hauptstr. 5.",
        "Hr. Weiß und Fr. Dr. Schmidt kamen, vgl. S. 12.",
        "Die Frist beträgt max. 14 Tage.",
        "Il est venu avec M. Martin, voir art. 3.",
        "El Sr. García y la Sra. López viven en EE. UU. desde 1990, pág. 3.",
        "Il sig. Rossi abita a Roma.",
        "Vedi pag. 12 e seguenti.",
        "De prijs is bijv. 30 euro.",
        "Dhr. Jansen komt.",
        "A Dra. Ana disse isto.",
        "Mötet börjar kl. 14 i dag.",
        "См. Приложение.",
        "Как показано на рис. 5 ниже.",
    ],
)
def test_abbreviations_of_other_languages_end_no_sentence(sentence: str) -> None:
    """Dates, paragraphs and addresses stay whole: a strip without its "Am 3." would say something else."""
    assert split(f"{sentence} Danach war nichts.") == [sentence, "Danach war nichts."]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Er sagt: „Ich komme.“ Dann ging er.", ["Er sagt: „Ich komme.“", "Dann ging er."]),
        ("Er sagt: »Ja.« Dann ging er.", ["Er sagt: »Ja.«", "Dann ging er."]),
        ("Il dit : « Oui. » Puis il part.", ["Il dit : « Oui. »", "Puis il part."]),
        ("It ended.[^1] Next one.[^note] Last.", ["It ended.[^1]", "Next one.[^note]", "Last."]),
        ("I am 30. She is 20.", ["I am 30.", "She is 20."]),
        ("It is 5 m. Trees grow.", ["It is 5 m.", "Trees grow."]),
    ],
)
def test_quotations_and_notes_end_with_their_sentence(text: str, expected: list[str]) -> None:
    """In the quotes of other languages, and with footnotes as Markdown has them."""
    assert split(text) == expected


def test_hard_wrapped_lines_are_joined() -> None:
    """A line break alone is no boundary, with either kind of line end."""
    assert split("One sentence\nover two lines. Next\r\none.") == ["One sentence\nover two lines.", "Next\r\none."]


def test_list_items_stand_apart_and_keep_their_continuation() -> None:
    """With any marker, and the number of an item is not a sentence."""
    assert split("\u25aa one\n\u25cf two\n\uf0b7 three") == ["\u25aa one", "\u25cf two", "\uf0b7 three"]
    text = "Intro\n- one\n* two\n  goes on\n\u2022 three\n1. four\n2) five. Six\na) seven"
    assert split(text) == [
        "Intro",
        "- one",
        "* two\n  goes on",
        "\u2022 three",
        "1. four",
        "2) five.",
        "Six",
        "a) seven",
    ]


def test_headings_stand_apart() -> None:
    """Marked by #, by an underline, or by a blank line."""
    assert split("# Title\nText here\ngoes on.") == ["# Title", "Text here\ngoes on."]
    assert split("Title\n=====\nText.") == ["Title\n=====", "Text."]
    assert split("Title\n\nText.") == ["Title", "Text."]


def test_table_rows_stand_apart() -> None:
    """With bars or with tabs."""
    assert split("Before\n| a | 1. |\n| b | 2. |\nAfter.") == ["Before", "| a | 1. |", "| b | 2. |", "After."]
    assert split("a\t1\tx. Y\nb\t2\ty") == ["a\t1\tx. Y", "b\t2\ty"]


def test_a_code_block_is_one_unit() -> None:
    """Closed or not; code within a line is no block."""
    assert split("See:\n```python\nx = 1. \n\nY = 2\n```\nDone. Yes.") == [
        *("See:", "```python\nx = 1. \n\nY = 2\n```", "Done.", "Yes.")
    ]
    assert split("~~~\nnever. Closed") == ["~~~\nnever. Closed"]
    assert split("```inline``` is. Not one") == ["```inline``` is.", "Not one"]


@pytest.mark.parametrize(
    "unit",
    [
        ".",
        ". ",
        "e.g. ",
        "A. ",
        "a. ",
        ".'",
        "#\n",
        "- ",
        "```\n",
        "\n",
        "\u3002",
        "\u3002,",
        "~",
        "(\u3002",
        ".[1",
        "Aa. b ",
        ".[^",
        ". \u00bb",
        "3. ",
    ],
)
def test_hostile_repetition_costs_no_more_than_its_length(unit: str) -> None:
    """Text comes from the web: nothing may take quadratic time."""
    text = unit * (100_000 // len(unit))
    started = process_time()
    sentences(f"{text}a")  # marks behind the last word are not looked at
    terms(text)
    count_tokens(text)
    assert process_time() - started < 5


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Cat's 3.5 naps!", ["the", "cat's", "3.5", "naps"]),
        ("1,200 people, 1,2,3", ["1200", "people", "1", "2", "3"]),
        ("U.S. e.g. end.Next", ["us", "eg", "end", "next"]),
        ("max_tokens COVID-19 AT&T", ["max", "tokens", "covid", "19", "at", "t"]),
        ("don\u2019t Caf\u00e9 cafe\u0301", ["don't", "caf\u00e9", "caf\u00e9"]),
        ("\u6771\u4eac\u30bf tower", ["\u6771", "\u4eac", "\u30bf", "tower"]),
        ("USBメモリとディスク・ドライブ", ["usb", "メモリ", "と", "ディスク", "ドライブ"]),
        (
            "\u0939\u093f\u0928\u094d\u0926\u0940 \ud55c\uad6d\uc5b4",
            ["\u0939\u093f\u0928\u094d\u0926\u0940", "\ud55c\uad6d\uc5b4"],
        ),
        ("K\u00fcn\u00addi\u00adgung x\u2060y \ufeffstart", ["k\u00fcndigung", "xy", "start"]),
        ("`` ... -- ''", []),
    ],
)
def test_words_of_any_script_are_found(text: str, expected: list[str]) -> None:
    """Lower case, numbers whole, ideographs alone, combining signs kept, soft hyphens left out."""
    assert words(text) == expected


def test_spaces_around_punctuation_change_no_word() -> None:
    """Corpora that were tokenised once read as those that were not."""
    assert terms("The examiner 's office ( in 1990 ) , was closed .") == terms(
        "The examiner's office (in 1990), was closed."
    )


@given(TEXTS)
@example("\U0001d790 \uff21")
def test_words_are_lower_case_and_never_blank(text: str) -> None:
    """Nothing that is no word gets through."""
    for word in words(text):
        assert any(character.isalnum() for character in word)
        assert not any(character.isspace() for character in word)
        assert word == word.lower()


def test_terms_are_stems_without_stop_words() -> None:
    """In order, repeated as often as they occur."""
    assert terms("What are the occupations of presidents, and their occupation?") == ["occup", "presid", "occup"]


def test_hiragana_are_no_terms_and_katakana_are_words() -> None:
    """One by one, kana are in any text; a question of hiragana alone is taken as it is."""
    assert terms("メモリが必要ですか") == ["メモリ", "必", "要"]
    assert ask("いつですか").terms == ("い", "つ", "で", "す", "か")


def test_terms_are_the_same_in_every_thread() -> None:
    """Stemmers are not shared between threads."""
    text = "running runners ran generously " * 200
    expected = terms(text)
    with ThreadPoolExecutor(8) as pool:
        assert all(found == expected for found in pool.map(terms, [text] * 64))


def test_tokens_are_estimated_from_words() -> None:
    """1.3 for a word, 1 for an ideograph, 0 for nothing."""
    assert count_tokens("one two three four five six seven eight nine ten") == 13
    assert count_tokens("\u6771\u4eac") == 2
    assert count_tokens("in \u6771\u4eac") == 4
    assert count_tokens(" \n") == 0


def test_a_lone_surrogate_is_no_reason_to_fail() -> None:
    """As a broken file or a cut emoji leaves it."""
    assert terms("bridge \ud800 river") == ["bridg", "river"]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("He was born c. 1850 and d. 1900 in Rome. He painted.", 2),
        ("They took vitamin C. 20 patients did not.", 2),
        ("「はい。」と言った。", 1),
        ("“好。”他说。", 1),
        ("「はい。」「いいえ。」", 2),
        ("他走了。”“好。”", 2),
    ],
)
def test_years_and_reported_speech_stay_with_their_sentence(text: str, count: int) -> None:
    """A quotation and who said it are one sentence; two quotations are two."""
    assert len(sentences(text)) == count


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Des villes, p. ex. Paris, sont belles. Elles brillent.", 2),
        ("Des villes (par ex. Paris) sont belles. Elles brillent.", 2),
        ("He met his ex. She left.", 2),
        ("返金は１４日以内です．商品は返送してください．", 2),
        ("図１．２に示す（注）．値は３．１４であり，Ｆｉｇ．２にも示す．", 2),
        ("１．はじめに述べる．次に示す．", 2),
    ],
)
def test_french_examples_and_full_stops_of_full_width_are_known(text: str, count: int) -> None:
    """The latter end a Japanese sentence as in scientific papers, but not behind a number or a Latin letter."""
    assert len(sentences(text)) == count


@given(text=st.text(st.sampled_from("ab1 .,'_-()\n\t\x1c;\u00e9\u00b2\u00a0\u00ad\u2013\u2019"), max_size=40))
@example(text="U.S. prices, e.g. 1,200.50, don't 'fall'...")
def test_western_letters_are_read_the_same_in_the_company_of_others(text: str) -> None:
    """Texts of Latin-1 and a few signs only, which most are, are cut into words another way."""
    assert [*surface_words(text), "\u0142"] == surface_words(f"{text} \u0142")
