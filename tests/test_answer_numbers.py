"""Numbers of an answer are looked for in its evidence, however either writes them."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haystack_integrations.crag.answer_numbers import MOST_NUMBERS, unsupported_numbers


@pytest.mark.parametrize(
    ("answer", "evidence"),
    [
        ("Within 30 days.", "within thirty (30) days"),
        ("Within 30 days.", "Within Thirty days"),
        ("In the 25 states.", "the twenty-five states"),
        ("17 of them.", "Seventeen of them."),
        ("It costs 1,200 euros.", "1.200 EUR"),
        ("It costs 1200 euros.", "1 200 EUR, or 1\u202f200"),
        ("It costs 1 200 euros.", "1200 EUR"),
        ("It costs 1'200 francs.", "CHF 1200"),
        ("A share of 3.5 %.", "3,5 Prozent"),
        ("1.5 million people.", "1,500,000 inhabitants"),
        ("1,500,000 people.", "1.5 million inhabitants"),
        ("20 thousand.", "20000"),
        ("1.2 billion, or 1,200,000,000.", "1,200 million"),
        ("12,345.6 million in 2,500 k parts", "12,345,600,000 and 2,500,000"),
        ("1.25 million, 1.250 million, 1,250 thousand", "1,250,000"),
        ("15,000 users, 2500 of them new.", "15k users, 2.5K new ones"),
        ("15k users, $1.5M, 2.5bn", "15,000 users, 1,500,000 dollars, 2,500,000,000"),
        (
            "200 or 250 seats, 100 more, 1,200 in all.",
            "two hundred, or two hundred and fifty; a hundred; twelve hundred",
        ),
        ("15,000, 300000 and 2,000,000.", "fifteen thousand, three hundred thousand and two million"),
        ("In 1984, 2012 and 1066.", "in nineteen eighty-four, twenty twelve and ten sixty-six"),
        ("The 19th century, the 21st and 200th day.", "nineteenth century, twenty-first day, two hundredth day"),
        ("The 50th state, the 115th time.", "The Fiftieth state, the one hundred and fifteenth time"),
        ("3,125 pages", "Three thousand one hundred\ntwenty-five pages"),
        ("24 eggs, 200 days, 2000 pages", "Two dozen eggs, a couple of hundred days, a couple thousand pages"),
        ("500,000 users, $2.5 million, 1,500", "half a\nmillion, two and a half million, one and a half thousand"),
        ("On 25 November 2026.", "2026-11-25"),
        ("At 14:30.", "14.30 Uhr"),
        ("At 14.30.", "14:30"),
        ("On 25.11.2026.", "2026-11-25"),
        ("On 5.3.2026, or 25.03.2026.", "5 March 2026, 25 March 2026"),
        ("By ISO27001, and the GDPR.", "no number"),
        ("Of COVID-19 and Python3.12.", "the virus, the language"),
        ("From 2019/20 on.", "2019 and 20"),
        ("In 2024/25, 2024-25 and 2024\u201325.", "the season 2024-2025"),
        ("In 2024-2025, 1914\u20131918 and 1998/99.", "2024/25; 1914\u201118; 1998 to 1999"),
        ("1. First, 2. then [1]: in 12 steps.", "no number"),
        ("5 M\u0130LL\u0130ON, 2 m\u0131llion", "5,000,000 and 2,000,000"),
        ("No number at all.", ""),
        ("\uff13\uff10 days", "30 days"),
        ("Room 007.", "Room 7"),
        ("1 234,50 euros.", "1.234,50 EUR"),
        ("1\u202f234,50 euros.", "1234.50 EUR"),
        ("30 days", "\u0663\u0660 \u064a\u0648\u0645"),
        ("\u0661\u066c\u0662\u0663\u0664\u066b\u0665", "1,234.5"),
        ("\u8fd4\u54c1\u306f30\u65e5", "30\u65e5"),
        ("１٬２５０، ١،٢٥٠", "1,250"),
        ("30天。", "三十天内支付退款。"),
        ("第15條、2026年。", "第十五條，二〇二六年"),
        ("325人、2012人", "三百二十五人，两千零一十二人"),
        ("120,000元", "12万元"),
        ("1.5万元, 35,000元", "15000元, 3.5 万元"),
        ("1.2億円", "120,000,000円"),
        ("1億2000万円", "120,000,000円"),
        ("12,500원", "1만 2,500원"),
        ("35,000원, 5,000원, 50,000,000원", "3만 5천원, 5천 원, 5천만 원"),
        ("35,000円, 12,500円, 30,000,000円", "3万5千円、1万2千5百円、3千万円"),
        ("3만5천원", "35,000원"),
        ("It takes 3.5 hours, or 20½.", "3½ hours, 20.5 at most"),
        ("3½ or 20 ¾ hours, half of 14¼", "3.5, 20.75 and 14.25 hours"),
        ("14 days, 25 m² and 10⁶", "14¹ days, 25² m, 106"),
    ],
)
def test_a_number_that_stands_in_the_evidence_in_any_form_is_supported(answer: str, evidence: str) -> None:
    """Words, separators, scales, dates; small numbers count or number things, and are not looked at."""
    assert unsupported_numbers(answer, [evidence]) == []


@pytest.mark.parametrize(
    ("answer", "evidence", "missing"),
    [
        ("Within 14 days.", "within thirty (30) days", ["14"]),
        ("A 14-day notice, -14 degrees, EUR 99, of 1850-1870.", "30", ["14", "99", "1850", "1870"]),
        ("Between 300 and 30 days.", "30 days", ["300"]),
        ("In 2019 and in 2020, 2019.", "1819", ["2019", "2020"]),
        ("A share of 35 %.", "3 or 5", ["35"]),
        ("1.6 million people.", "1,500,000 inhabitants", ["1.6"]),
        ("A share of 3.5 %.", "3 of 5", ["3.5"]),
        ("It costs 1 300 euros.", "1.200 EUR", ["1 300"]),
        ("It costs 13.5 euros.", "135 euros", []),
        ("Twenty-six, so 26.", "twenty-five", ["26"]),
        ("\u0663\u0660 \u064a\u0648\u0645", "14", ["30"]),
        ("\u8fd4\u54c1\u306f30\u65e5", "20\u65e5", ["30"]),
        ("\u5171\uff13\uff10\u5929", "20\u5929", ["30"]),
        ("40天、400人", "三十天内，千葉の四人，一百人", ["40", "400"]),
        ("1000个，1億2000万円", "千葉，一般，1億3000万円", ["1000", "2000"]),
        ("30,005원, 5,000원", "3만 5천원", ["30,005", "5,000"]),
        ("It takes 14¹ days, or 20½.", "15 days, 20", ["14", "20.5"]),
        ("14. It is so.\n15. And so on.", "", ["14", "15"]),
        (
            "300 or 500 seats, 5,000 in all",
            "between two hundred and three hundred, hundreds, a thousand",
            ["500", "5,000"],
        ),
        ("the 18th and the 22nd century", "the nineteenth and the twenty-first century", ["18", "22"]),
        (
            "In 1985, 2104 and 1948.",
            "in nineteen eighty-four, twenty-one four, nineteen, forty-eight",
            ["1985", "2104", "1948"],
        ),
        ("16k users, 3.5M", "15,000 and 2,500,000", ["16", "3.5"]),
        ("345.6 million, 1,300 million", "12,345.6 million, 1,200 million", ["345.6", "1,300"]),
        ("In 2024/26, 2024-2025 and 2030.", "2024/25-7, 2024-11-30, 2024-20, 2025/26", ["2030"]),
        ("In 2023/24 and in 2025.", "2022-23, 2023-11-25, 12024/25", ["24", "2025"]),
        ("50, 36 or 250 eggs", "half of them, two dozen, a couple of days, half a million", ["50", "36", "250"]),
    ],
)
def test_a_number_that_is_nowhere_in_the_evidence_is_named_as_it_is_written(
    answer: str, evidence: str, missing: list[str]
) -> None:
    """Each once, in the order of the answer. Digits alone are compared, so a point in another place goes unseen."""
    assert unsupported_numbers(answer, [evidence]) == missing


@pytest.mark.parametrize(
    ("written", "told"),
    [("99.90", "99.9"), ("99,9", "99.90"), ("12,000.00", "12000"), ("12.000", "12,000.00"), ("20.0", "20")],
)
def test_an_amount_may_end_with_zeros_of_a_fraction_and_a_version_may_not(written: str, told: str) -> None:
    """A sheet says 99.9 where an answer says 99.90; but nobody asks for 3.1 who asks for 3.10."""
    assert unsupported_numbers(f"It costs {written} euros.", [f"EUR {told}"], amounts=True) == []
    assert unsupported_numbers("It costs 99.95 euros, or 12.010.", ["99.9 or 12.01"], amounts=True) == [
        "99.95",
        "12.010",
    ]
    assert unsupported_numbers("Version 3.10", ["Version 3.1"]) == ["3.10"]


@given(st.lists(st.integers(13, 10**7), max_size=30), st.lists(st.integers(13, 10**7), max_size=30))
def test_what_is_named_is_what_no_text_has(written: list[int], known: list[int]) -> None:
    """Plain numbers: exactly the others, the first twenty."""
    answer, evidence = "; ".join(map(str, written)), [f"It is {number}." for number in known]
    others = dict.fromkeys(number for number in written if number not in known)
    assert unsupported_numbers(answer, evidence) == [*map(str, others)][:MOST_NUMBERS]


@pytest.mark.parametrize("mark", ["{}. **Step**", "- {}) step", "  {}. step", "**{}.** step"])
def test_the_numbers_of_a_long_list_are_no_numbers_of_the_answer(mark: str) -> None:
    """They go on from 1; what stands behind them is read, and a number that begins a line otherwise, too."""
    items = [f"{mark.format(n)} {100 + n}" for n in range(1, 21)]
    assert unsupported_numbers("\n".join(items), [str([*range(101, 120)])]) == ["120"]
    assert unsupported_numbers("1. May\n2. June\n17. July", ["May and June"]) == ["17"]


@given(st.text(max_size=200))
def test_what_an_answer_repeats_is_supported(text: str) -> None:
    """Whatever its signs are."""
    assert unsupported_numbers(text, [text]) == []


@pytest.mark.parametrize(
    "text",
    [
        "1" * 100_000,
        "1," * 50_000,
        "1 234 " * 20_000,
        "twenty " * 20_000,
        "1万 " * 30_000,
        "1천" * 40_000,
        "一" * 90_000,
        "1.5 " * 20_000,
        "two hundred and " * 20_000,
        "a thousand " * 20_000,
    ],
)
def test_a_hostile_answer_costs_milliseconds(text: str) -> None:
    """In its length, no more: and a number of a hundred thousand digits is read as digits."""
    started = time.process_time()
    unsupported_numbers(text, [text[:-1]])
    assert time.process_time() - started < 2


@pytest.mark.parametrize("number", ["13", "19", "20", "47", "90", "99"])
def test_evidence_that_was_read_for_one_answer_is_read_rightly_for_the_next(number: str) -> None:
    """Numbers of a text are kept, in each way of writing that was asked for: words are, when they are."""
    evidence = ["Thirteen, NINETEEN, twenty, Forty-Seven, ninety and ninety nine; 2.5 million, 1,200."]
    assert unsupported_numbers("2400000 and 1200", evidence) == ["2400000"]
    assert unsupported_numbers(f"{number}, 2500000 and 98", evidence) == ["98"]
    assert unsupported_numbers(f"{number} and 1300", evidence) == ["1300"]
