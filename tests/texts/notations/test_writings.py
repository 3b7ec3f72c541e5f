"""Numbers, units and names are read in the way that documents write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haystack_integrations.crag.texts.notations.figures import amounts_in
from haystack_integrations.crag.texts.notations.rewriting import rewritten
from haystack_integrations.crag.texts.notations.writings import written_otherwise


@pytest.mark.parametrize(
    ("query", "text", "expected"),
    [
        ("Who gets ten percent?", "It is 10% off.", {"ten": "10", "percent": "%"}),
        ("What costs five dollars?", "It costs $5.", {"five": "5", "dollars": "$"}),
        ("Which trail is 12km long?", "It is 12 kilometers long.", {"12km": "12 kilometers"}),
        ("Which trail is 12 km long?", "It is 12km long.", {"12 km": "12km"}),
        ("Which shop opens at 9am?", "It opens at 9 a.m. each day.", {"9am": "9 a.m."}),
        ("How many centimeters wide is it?", "It is 80 cm wide.", {"centimeters": "cm"}),
        ("What was built in the nineteenth century?", "In the 19th century", {"nineteenth": "19th"}),
        ("Which tower has 1000 steps?", "It has 1,000 steps.", {"1000": "1,000"}),
        ("Who left the US?", "He left the United States.", {"us": "United States"}),
        ("Who left the United States?", "He left the U.S. in May.", {"united states": "U.S."}),
        ("How many gigabytes has it?", "It has 16GB.", {"gigabytes": "GB"}),
        ("who left the usa?", "He left the United States.", {"usa": "United States"}),
        ("what was lost in ww2", "It was lost in World War II.", {"ww2": "World War II"}),
        ("What did Saint Mary found?", "St. Mary founded it.", {"saint": "St."}),
        ("What was built in the 1800s?", "It is of the 19th century.", {"1800s": "19th century"}),
        ("What was lost in WW2?", "It was lost in World War II.", {"ww2": "World War II"}),
        ("Is the gym open on Wednesday?", "The gym: Mon, Wed and Fri 17-21.", {"wednesday": "Wed"}),
        ("Is the gym open on Fridays?", "The gym: Mon, Wed and Fri 17-21.", {"fridays": "Fri"}),
        ("What is due in September?", "Due: Sept. 3", {"september": "Sept"}),
        ("How many days of vacation do I have?", "You have 27 days of holiday.", {"vacation": "holiday"}),
        ("where do bikes go", "Bicycles go into the cellar.", {"bikes": "bicycles"}),
        ("Is there a car park?", "The parking lot is full.", {"car park": "parking lot"}),
    ],
)
def test_what_is_written_in_several_ways_is_read_as_documents_write_it(
    query: str, text: str, expected: dict[str, str]
) -> None:
    """Words and digits, signs, a number and its unit in one, countries, British and American words, short ones."""
    assert dict(written_otherwise(query, [text])) == expected
    assert dict(written_otherwise(query, [text, query])) == {}


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("Tell us about the US", "the United States"),
        ("List four problems of mines.", "In 4 of the mines"),
        ("Tell us more", "the United States"),
        ("What was lost in World War I?", "lost in World War II"),
        ("Which trail is 12km long?", "It is 13 km long."),
        ("How many seconds?", "It was John's."),
        ("What is on the 1st floor?", "Saint Mary"),
        ("Which doctor is on duty?", "Dr. Holm lives here."),
        ("How many parking tickets are there?", "The car park is full."),
        ("When is the flight?", "The flat is free."),
        ("Who am I?", "at 5 p.m."),
        ("What do one and two make?", "1 and 2"),
        ("Who wrote Emma?", "10% of the 1st"),
        ("Is it open on Saturday?", "The cat sat there, to sun its fur."),
        ("", "%"),
    ],
)
def test_other_words_stay(query: str, text: str) -> None:
    """Pronouns, other numbers, letters that are no unit, and what stands nowhere."""
    assert dict(written_otherwise(query, [text])) == {}


@given(
    st.lists(st.sampled_from(["ten", "10", "%", "percent", "$", "US", "us", "5", "km", "5km", "am", "WWII", "a"])),
    st.lists(st.sampled_from(["ten", "10", "%", "per cent", "$", "U.S.", "5", " km", "5km", "a.m.", "WW2"])),
)
def test_whatever_is_asked_is_read_as_something_that_documents_have(said: list[str], written: list[str]) -> None:
    """And stands in the question."""
    query, text = " ".join(said), " ".join(written)
    for typed, other in written_otherwise(query, [text]):
        assert typed in query.lower()
        assert other in text


@pytest.mark.parametrize(
    ("query", "text", "expected"),
    [
        ("What is for 2,500,000 dollars?", "It is for $2.5 million.", {"2,500,000": "2.5 million"}),
        ("What is for $2.5m?", "It is for 2500000 dollars.", {"2.5m": "2500000"}),
        ("Who has 15k users?", "It has 15,000 users.", {"15k": "15,000"}),
        ("Who has 3 Billion users?", "It has 3,000,000,000 users.", {"3 billion": "3,000,000,000"}),
        ("Who has 3 million users?", "3 M\u0130LL\u0130ON users", {"3 million": "3 M\u0130LL\u0130ON"}),
        ("Who has 15k users?", "It has 15k users, or 15,000.", {}),
        ("What happened in 2021?", "It has 2,021 users.", {}),
        ("What costs 15?", "It costs 15,000.", {}),
        ("Which address is 10.0.0.1?", "It is 10,001.", {}),
    ],
)
def test_an_amount_is_read_as_documents_write_it(query: str, text: str, expected: dict[str, str]) -> None:
    """By its value; a year is none."""
    assert dict(rewritten(amounts_in, query, [text])) == expected


@given(st.integers(min_value=1000, max_value=10**12), st.sampled_from(["{}", "{:,}"]))
def test_an_amount_is_known_with_commas_and_without(value: int, form: str) -> None:
    """But for what may be a year."""
    written = form.format(value)
    assert [*amounts_in(f"It is {written}.")] == (
        [] if 1000 <= value < 2100 and "," not in written else [(written, value)]
    )
