"""Documents of another year than the one that is asked for."""

from typing import Any

import pytest
from haystack import Document
from makers import fill

from haystack_integrations.crag.judging.rules.editions import of_other_years
from haystack_integrations.crag.pipelines import load

HOTELS = "Travel policy {}\nHotels are paid up to {} EUR per night. Flights in economy only."
QUESTION = "What is the hotel limit in the 2024 travel policy?"


def is_of_another(question: str, content: str, title: str = "") -> bool:
    return bool(of_other_years(question, [(title, content)])[0])


@pytest.mark.parametrize(
    "title", ["Policy 2022", "Policy 2021-23", "Policy 2022/23", "Policy \uff12\uff10\uff12\uff12"]
)
def test_a_title_with_years_but_the_one_that_is_asked_for_tells_another_edition(title: str) -> None:
    """As does the first line of a text, blank ones aside."""
    assert is_of_another(QUESTION, "Hotels are paid.", title)
    assert is_of_another(QUESTION, f"{title}\nHotels are paid.")
    assert is_of_another(QUESTION, f"\n\n{title}\nHotels are paid.")


@pytest.mark.parametrize(
    ("question", "content", "title"),
    [
        (QUESTION, "Hotels are paid.", "Policy"),
        (QUESTION, "Hotels are paid.", "Policy 2024"),
        (QUESTION, "Hotels are paid.", "Policy 2023/24"),
        (QUESTION, "Hotels are paid.", "Policy 2022-2025"),
        (QUESTION, "Still valid in 2024.", "Policy 2022"),
        (QUESTION, "In 2022 hotels were paid.", ""),
        ("What is the hotel limit?", "Hotels are paid.", "Policy 2022"),
        ("Who pays a hotel above 2000 EUR?", "Hotels are paid.", "Policy 2022"),
        ("Who pays a hotel above $2000?", "Hotels are paid.", "Policy 2022"),
        ("What was new on 2024-03-01?", "Nothing.", "News of 2022"),
    ],
)
def test_a_document_without_a_year_of_its_own_or_with_the_one_that_is_asked_for_is_none(
    question: str, content: str, title: str
) -> None:
    """Nor is an amount or a whole date a year."""
    assert not is_of_another(question, content, title)


@pytest.mark.parametrize("years", [(2022, 2024), (2022,)])
def test_last_years_policy_does_not_answer_for_this_years(in_memory_store: Any, years: tuple[int, ...]) -> None:
    """Though other documents of the list are of the year that is asked for."""
    pages = [HOTELS.format(year, 120 + year - 2022) for year in years]
    others = ["Leave policy 2024\nTwenty-eight days per year.", "Gift policy 2020\nGifts above 50 EUR are declared."]
    fill(in_memory_store, [Document(content=text) for text in (*pages, *others)])
    verdict = load("corrective_retrieval", store=in_memory_store).run(query=QUESTION)["crag"]["verdict"]
    assert (verdict == "correct") == (2024 in years)
