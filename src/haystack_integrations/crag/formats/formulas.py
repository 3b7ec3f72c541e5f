"""Formulas of Word and PowerPoint on one line: their readers leave them out of the text that they stand in."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from haystack_integrations.crag.formats.plain_letters import as_typed

_RAISED: Final = re.compile(r"\s*[-+\u2212]?(?:\d+|[a-z])\s*")
MATH: Final = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
"""The namespace of formulas, as lxml writes it."""


def formula_of(element: Any) -> str:
    """
    Write a formula as it is typed.

    :param element: An `m:oMath`, or a part of one.
    :returns: Its text, such as `E=mc^2` or `(a+b)/2`.
    """
    name = element.tag.removeprefix(MATH) if isinstance(element.tag, str) else ""
    if name == "t":
        return as_typed(element.text or "")
    form = _FORMS.get(name)
    return form(element) if form else "".join(map(formula_of, element))


def raised(text: str) -> str:
    """
    Write what is raised above the line as such: 10 with a raised 6 is no 106.

    :param text: The text of a raised run.
    :returns: The same behind `^` if it is a number or a letter; of "1st", the end stays as it is.
    """
    return f"^{text.lstrip()}" if _RAISED.fullmatch(text) else text


def as_one(text: str) -> str:
    """
    Put brackets around a part of a formula that is more than a name or number.

    :param text: The part.
    :returns: The part, so that a sign before or behind it is of all of it.
    """
    return text if text.isalnum() or len(text) <= 1 else f"({text})"


def _part(element: Any, name: str) -> str:
    found = element.find(MATH + name)
    return "" if found is None else formula_of(found)


def _one(element: Any, name: str) -> str:
    return as_one(_part(element, name))


def _raised(element: Any) -> str:
    low, high = _one(element, "sub"), _one(element, "sup")
    return (f"_{low}" if low else "") + (f"^{high}" if high else "")


def _sign(element: Any, name: str, other: str) -> str:
    found = element.find(f"*/{MATH}{name}")
    return other if found is None else str(found.get(f"{MATH}val", ""))


def _all(element: Any, name: str, between: str) -> str:
    return between.join(map(formula_of, element.iterchildren(MATH + name)))


def _in_brackets(element: Any) -> str:
    parts = _all(element, "e", _sign(element, "sepChr", "|"))
    return _sign(element, "begChr", "(") + parts + _sign(element, "endChr", ")")


_FORMS: Final[Mapping[str, Callable[[Any], str]]] = {
    "f": lambda one: f"{_one(one, 'num')}/{_one(one, 'den')}",
    **dict.fromkeys(("sSup", "sSub", "sSubSup"), lambda one: _one(one, "e") + _raised(one)),
    "rad": lambda one: f"{_part(one, 'deg')}√{_one(one, 'e')}",
    "nary": lambda one: _sign(one, "chr", "∫") + _raised(one) + " " + _part(one, "e"),
    "d": _in_brackets,
    "sPre": lambda one: _raised(one) + _one(one, "e"),
    "func": lambda one: f"{_part(one, 'fName')} {_part(one, 'e')}",
    "limLow": lambda one: f"{_part(one, 'e')}_{_one(one, 'lim')}",
    "limUpp": lambda one: f"{_part(one, 'e')}^{_one(one, 'lim')}",
    "m": lambda one: _all(one, "mr", "; "),
    "mr": lambda one: _all(one, "e", " "),
    "eqArr": lambda one: _all(one, "e", "; "),
}
