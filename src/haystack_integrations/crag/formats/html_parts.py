"""What is looked up in a page: headings and texts, and what an element stands in."""

from typing import Any, Final

HEADINGS: Final = ("h1", "h2", "h3", "h4", "h5", "h6")
"""The elements that are headings, by their level."""

TEXTS: Final = ("p", "li", "dt", "dd", "td", "th", "caption", *HEADINGS)
"""The elements that hold text of their own."""

INLINE: Final = frozenset(
    "a abbr acronym b bdi bdo big br cite code data del dfn em font i img ins kbd label mark nobr q s samp small span "
    "strike strong sub sup time tt u var wbr".split()
)
"""The elements that stand within a line."""


def is_in(one: Any, *tags: str) -> bool:
    """
    Tell whether an element stands in another one.

    :param one: The element.
    :param tags: The names of the others.
    :returns: Whether it stands in one of these, however deep.
    """
    return next(one.iterancestors(*tags), None) is not None
