"""Text that programs of Windows in Western Europe and America wrote in one byte a letter, as Excel writes CSV."""

import re
from typing import Final

_NAME: Final = "windows-1252"
_LOW: Final = "a-zß-öø-ÿœšž"  # letters of that set
_WITHIN: Final = "\u00a0\u00adªº«»·\u2013—\u2018\u2019…"  # may stand between two
# What no text has, and what none has whose letters are this set's: such signs within a word, or so many in a row.
_OTHER: Final = re.compile(
    rf"[\x00-\x08\x0e-\x1f\x7f]|[{_LOW}][^\x00-\x7f{_LOW}{_WITHIN}]+[{_LOW}]|[{_LOW}][ŠŒŽŸ]|[^\W\x00-\x7f\d_]{{4}}"
)
# Letters of no one language. Central Europe, the Baltic and Turkey have others in their place.
_NEVER_TOGETHER: Final = (("ðþý", "çüèãûàëšž"), ("è", "šž"), ("ã", "î"), ("û", "áíóú"), ("õ", "ö", "áíóú"))
_RARE: Final = 30  # of so many letters that none of English is, one may be of a foreign name
_FEWEST: Final = 2  # letters for each that is none of English


def western(data: bytes) -> str | None:
    """
    Read text as Windows-1252, if it may be such: bytes do not say which letters they are.

    ```python
    from haystack_integrations.crag.formats.western import western

    assert western("Gebühr: 9 €".encode("cp1252")) == "Gebühr: 9 €"
    assert western("Цена".encode("cp1251")) is western("Opłaty".encode("cp1250")) is None
    ```

    :param data: The text, which is not UTF-8.
    :returns: The text, or None.
    """
    try:
        text = data.decode(_NAME)
    except UnicodeDecodeError:
        return None
    letters = {one: text.count(one) for one in set(text) if one.isalpha()}
    others = {one: count for one, count in letters.items() if not one.isascii()}
    if (many := sum(others.values())) * _FEWEST > sum(letters.values()) or _OTHER.search(text):
        return None
    usual = {one.lower() for one, count in others.items() if count * _RARE >= many}
    return None if any(all(usual & set(group) for group in groups) for groups in _NEVER_TOGETHER) else text
