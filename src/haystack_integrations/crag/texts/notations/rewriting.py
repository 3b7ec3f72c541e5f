"""What documents write for what a question writes in another way."""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from typing import TypeVar

_Value = TypeVar("_Value", bound=Hashable)


def as_written(asked: Iterable[tuple[str, _Value]], told: Iterable[tuple[str, _Value]]) -> Iterator[tuple[str, str]]:
    """
    Pair what a question has with the most frequent writing of the same in documents, unless one has it as typed.

    ```python
    from haystack_integrations.crag.texts.notations.rewriting import as_written

    assert [*as_written([("2.5M", 2_500_000)], [("2,500,000", 2_500_000), ("7,000", 7_000)])] == [("2.5m", "2,500,000")]
    ```

    :param asked: Each as the question has it, and its value.
    :param told: The same of the documents.
    :returns: Pairs of one as the question has it, in small letters, and what to read for it.
    """
    written: dict[_Value, Counter[str]] = {}
    for other, value in told:
        written.setdefault(value, Counter())[other] += 1
    for typed, value in asked:
        shown = written.get(value)
        if shown and typed.lower() not in map(str.lower, shown):
            yield typed.lower(), shown.most_common(1)[0][0]
