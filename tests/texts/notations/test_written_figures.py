"""A time, a size and an id are the same in every way of writing them."""

import pytest

from haystack_integrations.crag.texts.notations.figures import figures_in, other_figures
from haystack_integrations.crag.texts.notations.rewriting import rewritten


@pytest.mark.parametrize(
    ("question", "text", "pairs"),
    [
        ("Which train leaves at 6:30 pm?", "RB 21 at 18:30", {"6:30 pm": "18:30"}),
        ("Which train leaves at 6:30 PM?", "RB 21 at 18:30", {"6:30 pm": "18:30"}),
        ("Which train leaves at 18h30?", "RB 21 at 18:30", {"18h30": "18:30"}),
        ("Which train leaves at 9.30?", "RB 21 at 9:30", {"9.30": "9:30"}),
        ("Which train leaves at 09:30?", "RB 21 at 9:30 am", {"09:30": "9:30 am"}),
        ("What is on at 2 pm?", "14:00 Cooking show", {"2 pm": "14:00"}),
        ("What is on at 14:00?", "Cooking show, 2 p.m.", {"14:00": "2 p.m."}),
        ("What is on at 12 am?", "00:00 Fireworks, 12:00 Lunch", {"12 am": "00:00"}),
        ("Which train leaves at 6:30 pm?", "RB 21 | 18:30:00", {"6:30 pm": "18:30:00"}),  # as databases export it
        ("Which train leaves at 18:30:00?", "RB 21 at 6:30 pm", {"18:30:00": "6:30 pm"}),
        ("Which lamp is 40 x 60 cm?", "Skog, 40x60", {"40 x 60": "40x60"}),
        ("Which box is 10x20x30?", "10 x 20 x 30 cm", {"10x20x30": "10 x 20 x 30"}),
        ("How much is FL1020?", "FL-1020: 129.50", {"fl1020": "FL-1020"}),
        ("Where does IC402 go?", "IC 402 to Port Selby", {"ic402": "IC 402"}),
        ("What is error E-52?", "E52: paper jam", {"e-52": "E52"}),
    ],
)
def test_a_figure_is_read_as_documents_write_it(question: str, text: str, pairs: dict[str, str]) -> None:
    """By its value."""
    assert dict(rewritten(figures_in, question, [text])) == pairs


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Which train leaves at 6:30 am?", "RB 21 at 18:30"),
        ("Which ticket costs 9.30?", "RB 21 at 9:30"),
        ("Which train leaves at 9:30?", "RB 21 at 9:30"),
        ("Which train leaves at 6:30 pm?", "RB 21 at 18:30:15, 18:30:00.5, 18:30:00:07"),
        ("Which lamp is 40 x 60 cm?", "40x60x10, 40x160, 60x40"),
        ("How much is FL1020?", "FL-1021, AFL-1020, FL-1020-B"),
        ("How much is FL1020?", "FL1020 and FL-1020"),
        ("What is A4?", "A 4-day trip"),
        ("Who has 12 users?", "12:00"),
    ],
)
def test_another_figure_stays_another_one(question: str, text: str) -> None:
    """And one that a document writes in the same way stays as it is."""
    assert [*rewritten(figures_in, question, [text])] == []


@pytest.mark.parametrize(
    ("query", "others"),
    [
        ("IC402", ["IC 402"]),
        ("IC 402", ["IC402"]),
        ("fl-1020", ["FL1020"]),
        ("6 pm", ["18:00"]),
        ("12 am", ["00:00"]),
        ("18:30", ["6:30 pm"]),
        ("9:30", ["09:30", "9:30 am"]),
        ("40 x 60", ["40x60"]),
        ("12 users in 2020, 40 %, vitamin B12", []),
    ],
)
def test_a_search_by_words_has_the_other_writings_of_a_figure(query: str, others: list[str]) -> None:
    """To an index IC402 is one word, and IC 402 two."""
    assert [*other_figures(query)] == others
