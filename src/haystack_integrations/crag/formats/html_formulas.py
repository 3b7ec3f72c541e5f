"""Formulas of a page on one line: a half is no 12, and what is raised no digit of what it stands behind."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from lxml.html import HtmlElement

from haystack_integrations.crag.formats.formulas import as_one
from haystack_integrations.crag.formats.html_parts import is_in

_HIDDEN: Final = {"\N{FUNCTION APPLICATION}": " ", "\N{INVISIBLE TIMES}": "", "\N{INVISIBLE SEPARATOR}": ","}
_NOTES: Final = ("annotation", "annotation-xml", "mphantom")
_WHOLE: Final = ("mi", "mn", "mo", "mtext", "ms")


def with_formulas(body: HtmlElement) -> None:
    """
    Write each formula as it is typed, such as `(a+b)/2`, or as its page says that it is read.

    :param body: The body of a page, changed in place.
    """
    for one in [one for one in body.iter("math") if not is_in(one, "math")]:  # one in another is told with it
        read, told = one.get("alttext", ""), " ".join(_told(one).split())
        one.text, one[:] = told if "\\" in read and told else read or told, []  # TeX's commands are no words
        one.drop_tag()


def _told(one: Any) -> str:
    if one.tag in _NOTES:
        return ""
    if one.tag in _WHOLE:
        text: str = one.text_content().strip()
        return _HIDDEN.get(text, text)
    if one.tag == "mspace":
        return " "
    form, parts = _FORMS.get(one.tag), [_told(part) for part in one if isinstance(part.tag, str)]
    if form is not None and len(parts) == form[0]:
        return form[1](*parts)
    if one.tag == "msqrt":
        return f"√{as_one(''.join(parts))}"
    return _BETWEEN.get(one.tag, "").join(parts) or one.text or ""


def _low_and_high(base: str, low: str, high: str) -> str:
    return f"{base}_{as_one(low)}^{as_one(high)}"


_BETWEEN: Final[Mapping[str, str]] = {"mtr": " ", "mtable": "; "}
_FORMS: Final[Mapping[str, tuple[int, Callable[..., str]]]] = {
    "mfrac": (2, lambda above, below: f"{as_one(above)}/{as_one(below)}"),
    "mroot": (2, lambda base, index: f"{index}√{as_one(base)}"),
    **dict.fromkeys(("msup", "mover"), (2, lambda base, high: f"{as_one(base)}^{as_one(high)}")),
    **dict.fromkeys(("msub", "munder"), (2, lambda base, low: f"{base}_{as_one(low)}")),
    **dict.fromkeys(("msubsup", "munderover"), (3, _low_and_high)),
}
