"""AnswerBuilder: Haystack's own, which stays on the event loop."""

from haystack import component
from haystack.components.builders import AnswerBuilder as HaystackAnswerBuilder

from haystack_integrations.crag.light import light


@component
@light
class AnswerBuilder(HaystackAnswerBuilder):
    """
    Makes a GeneratedAnswer of a model's reply.

    It reads one reply by a regular expression, if that, and Haystack's own goes to another thread and back for it.

    ```python
    from haystack_integrations.crag.components.answer_builder import AnswerBuilder

    (answer,) = AnswerBuilder().run(query="Who wrote Emma?", replies=["Jane Austen [1]."])["answers"]
    assert answer.data == "Jane Austen [1]."
    ```
    """
