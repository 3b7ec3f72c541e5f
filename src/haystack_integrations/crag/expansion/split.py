"""A question of several parts, split by rule: conservative, so that a doubt leaves the question whole."""

from haystack_integrations.crag.texts.comparisons import things_compared
from haystack_integrations.crag.texts.several_questions import questions_in


def split(question: str, most: int) -> list[str]:
    """
    Split a question of several parts into search queries for the parts.

    Known are several questions in one (`several_questions`) and two things compared (`comparisons`), both of `texts`.

    ```python
    from haystack_integrations.crag.expansion.split import split

    assert split("Where was Alan Turing born and when did he die?", 3) == [
        "Where was Alan Turing born",
        "when did Alan Turing die",
    ]
    assert split("Which city is older, Paris or Rome?", 3) == ["Paris city older", "Rome city older"]
    assert split("What are the causes and effects of inflation?", 3) == []
    ```

    :param question: The question.
    :param most: Most parts.
    :returns: The parts in order; empty when the question is one, or when the parts are more than `most`.
    """
    parts = things_compared(question) or questions_in(question)
    return parts if 1 < len(set(parts)) <= most else []
