"""What documents write for what a question writes in another way."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import chain
from typing import TypeVar

_Value = TypeVar("_Value", bound=Hashable)


def rewritten(
    find: Callable[[str], Iterable[tuple[str, _Value]]], query: str, texts: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """
    Find how documents write what a question has, and none of them writes in that way.

    :param find: Finds it in any text, as it is written, and its value: `amounts_in`, `figures_in`.
    :param query: The question.
    :param texts: The documents.
    :returns: As `as_written`.
    """
    if asked := [*find(query)]:
        yield from as_written(asked, chain.from_iterable(map(find, texts)))


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
