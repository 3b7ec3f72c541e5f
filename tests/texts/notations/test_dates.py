"""Dates are known in words and in numbers, and written in the other form."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haystack_integrations.crag.texts.notations.dates import Day, dates_in, in_numbers, other_forms

DAY = Day(2021, 4, 3)


@pytest.mark.parametrize(
    "written",
    [
        *("3 April 2021", "April 3, 2021", "3rd of April 2021", "Apr. 3 2021", "APRIL 3RD, 2021", "03 April, 2021"),
        *("3. April 2021", "3 avril 2021", "3 de abril de 2021", "3 aprile 2021", "3 april 2021"),
        *("3 APR\u0130L 2021", "3 apr\u0131l 2021"),  # as Turkish keyboards have it
        *("2021-04-03", "2021/04/03", "2021.4.3", "03.04.2021", "3.4.2021"),
    ],
)
def test_a_day_is_known_however_it_is_written(written: str) -> None:
    """Alone, within a sentence, and with a time behind it."""
    for text in (written, f"It opened on {written}.", f"({written})", f"{written}, 10:30", f"{written}: opened"):
        assert [*dates_in(text)] == [(written, {DAY})]


def test_a_month_of_an_old_print_is_known() -> None:
    """It has the long s."""
    assert [*dates_in("Augu\u017ft 1784")] == [("Augu\u017ft 1784", {Day(1784, 8, 0)})]


def test_of_a_day_and_a_month_in_numbers_either_may_be_first() -> None:
    """But behind dots the month, and what is above twelve is no month."""
    assert [*dates_in("4/3/2021")] == [("4/3/2021", {DAY, Day(2021, 3, 4)})]
    assert [*dates_in("13/04/2021 and 04-13-2021")] == [
        ("13/04/2021", {Day(2021, 4, 13)}),
        ("04-13-2021", {Day(2021, 4, 13)}),
    ]


def test_a_month_is_known_in_words_alone() -> None:
    """In numbers it may be a season, or a version."""
    assert [*dates_in("in April 2021")] == [("April 2021", {Day(2021, 4, 0)})]
    assert [*dates_in("the season 2010-11")] == []


@pytest.mark.parametrize(
    "text",
    [
        *("192.168.1.2021", "version 2021.04.03.1", "1999-13-01", "2021-04-32", "12/2021", "0-306-40615-2"),
        *("May I ask?", "section 3.4.20215", "3.4.2021,5", "march on 2021", "x2021-04-03"),
    ],
)
def test_other_numbers_are_no_dates(text: str) -> None:
    """Addresses, versions, sections, days that no month has."""
    assert [*dates_in(text)] == []


def test_a_question_is_given_with_its_dates_in_the_other_form() -> None:
    """Once for each way in which they can be read."""
    assert [*other_forms("From 2021-04-03 to 5 May 2021?")] == ["From 3 April 2021 to 2021-05-05?"]
    assert [*other_forms("on 4/3/2021?")] == ["on 4 March 2021?", "on 3 April 2021?"]
    assert [*other_forms("in April 2021?")] == ["in 2021-04?"]
    assert [*other_forms("on what day?")] == []


def test_a_date_that_stands_in_another_one_is_given_where_it_is_written() -> None:
    """Written out, the third of April has the month that is named behind it."""
    assert [*other_forms("on 2021-04-03 or in April 2021?")] == ["on 3 April 2021 or in 2021-04?"]


@given(st.text(alphabet="0123456789-/. aprilmy,", max_size=60))
def test_any_text_has_days_that_can_be_written(text: str) -> None:
    """Each of them has a month, and is read again as it is written."""
    for written, days in dates_in(text):
        assert written in text
        for day in days:
            assert 1 <= day.month <= 12
            assert day.day <= 31
            assert not day.day or [*dates_in(in_numbers(day))] == [(in_numbers(day), {day})]


@given(st.dates(min_value=date(1000, 1, 1), max_value=date(2099, 12, 31)))
def test_a_day_in_the_other_form_is_the_same_day(day: date) -> None:
    """There and back."""
    (words,) = other_forms(f"on {day}")
    assert [*other_forms(words)] == [f"on {day}"]
