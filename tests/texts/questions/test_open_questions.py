"""Questions that a text ends with."""

import pytest

from haystack_integrations.crag.texts.questions.open_questions import is_question, open_from


@pytest.mark.parametrize("sentence", ["Who?", "**Who?**", "(Who?)", "\u8c01\uff1f", "| Who? |", "\u00abWho?\u00bb "])
def test_a_question_is_told_by_its_mark_whatever_closes_behind_it(sentence: str) -> None:
    """Emphasis, brackets, quotes, the end of a cell."""
    assert is_question(sentence)
    assert not is_question(f"{sentence} Ann.")


@pytest.mark.parametrize(
    ("sentences", "first"),
    [
        ([], 0),
        (["Ann."], 1),
        (["Who?", "Ann."], 2),
        (["Ann.", "Who?"], 1),
        (["It rained.", "Who?", "Where?", "---"], 1),
        (["Q: Who?", "A:"], 0),
        (["Q: Who?", "Answer:"], 0),
        (["Who?", "Kind regards\nAnn Lee"], 0),
        (["Who?", "Ann Lee"], 2),
        (["Thanks", "Who?"], 1),
        (["It was:", "Who?", "Ann Lee."], 3),
        (["It was so:"], 1),
    ],
)
def test_a_label_and_the_end_of_a_letter_answer_nothing(sentences: list[str], first: int) -> None:
    """Whatever else stands behind a question may answer it."""
    assert open_from(sentences) == first
