"""Large amounts, whose digits are written in several ways: 2,500,000, 2500000, 2.5 million, 2.5m."""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import chain
from typing import Final

from haystack_integrations.crag.number_words import SHORT_ZEROS, ZEROS
from haystack_integrations.crag.texts.notations.rewriting import as_written

_SCALES: Final = ZEROS | SHORT_ZEROS | dict.fromkeys(("mn", "mio"), ZEROS["million"]) | {"b": ZEROS["billion"]}
_AMOUNT: Final = re.compile(
    rf"(?<![\w.,])(\d{{1,3}}(?:,\d{{3}}){{1,4}}(?:\.\d{{1,6}})?|\d{{1,15}}(?:\.\d{{1,6}})?)"
    rf"(?:[ -]?({'|'.join(_SCALES)}))?(?![\w%]|[.,]\d)",
    re.IGNORECASE,
)
_LEAST: Final = 1000
_YEAR: Final = re.compile(r"1\d{3}|20\d{2}")


def amounts_in(text: str) -> Iterator[tuple[str, Decimal]]:
    """
    Find amounts of a thousand and more; what may be a year is none.

    ```python
    from haystack_integrations.crag.texts.notations.amounts import amounts_in

    assert [*amounts_in("It cost $2.5 million.")] == [("2.5 million", 2_500_000)]
    ```

    :param text: Any text.
    :returns: Each as it is written, without a currency, and its value.
    """
    for found in _AMOUNT.finditer(text):
        value = Decimal(found[1].replace(",", "")).scaleb(_SCALES.get((found[2] or "").lower(), 0))
        if value >= _LEAST and not _YEAR.fullmatch(found[0]):
            yield found[0], value


def written_in_digits(query: str, texts: Sequence[str]) -> Iterator[tuple[str, str]]:
    """
    Find how documents write the amounts of a question that none of them writes in that way.

    :param query: The question.
    :param texts: The documents.
    :returns: Pairs of an amount as the question has it, in small letters, and what to read for it.
    """
    if asked := [*amounts_in(query)]:
        yield from as_written(asked, chain.from_iterable(map(amounts_in, texts)))
