"""The numbers of a DOCX's clauses and lists: Word counts them when it shows a file, and they stand nowhere in it."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from docx.document import Document as DocxFile
from docx.enum.style import WD_STYLE_TYPE
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml.ns import qn

from haystack_integrations.crag.formats.docx_parts import OFF, bases, parts_of
from haystack_integrations.crag.formats.numerals import FORMS, repeated

_BULLET: Final = "-"  # whatever sign of whatever font it is
_WHOLE: Final = re.compile(r"[0-9]{1,6}")
_LEVELS: Final = range(9)  # as many as Word has
_LONGEST: Final = 60  # characters of what stands before a paragraph: a longer one is a file that wants to fill memory
_FORMS: Final[Mapping[str, Callable[[int], str]]] = {
    "lowerLetter": repeated,
    "upperLetter": lambda number: repeated(number).upper(),
    "lowerRoman": FORMS["i"],
    "upperRoman": FORMS["I"],
    "decimalZero": lambda number: f"{number:02}",
    "none": lambda _: "",
}


@dataclass
class _Level:
    """
    How one level of a list is counted and shown: `%1.%2` names the numbers of its levels.

    It begins anew after a paragraph of one of the first `begins_below` levels. If `is_legal`, it shows the numbers of
    all levels in figures: section 1.01 of article I.
    """

    start: int = 1
    form: str = "decimal"
    text: str = ""
    style: str | None = None
    begins_below: int = len(_LEVELS)
    is_legal: bool = False


@dataclass
class _List:
    """A definition of levels, and where its count is."""

    levels: dict[int, _Level] = field(default_factory=dict)
    counts: dict[int, int] = field(default_factory=dict)

    def next(self, level: int, own: Mapping[int, _Level]) -> str:
        """Count on, and give what stands before the paragraph; a list may show some levels in a way of its own."""
        levels = {**self.levels, **own}
        known = levels.get(level)
        if known is None or level not in _LEVELS or len(known.text) > _LONGEST:
            return ""
        self.counts[level] = self.counts.get(level, known.start - 1) + 1
        self.counts = {
            one: count
            for one, count in self.counts.items()
            if one <= level or levels.get(one, _Level()).begins_below <= level
        }
        if known.form == "bullet":
            return _BULLET
        said = known.text
        for one in range(level + 1):
            other = levels.get(one, _Level())
            count = self.counts.setdefault(one, other.start)
            form = "decimal" if known.is_legal and other.form != "decimalZero" else other.form
            said = said.replace(f"%{one + 1}", _FORMS.get(form, str)(count))
        return said.strip()


class Numbers:
    """Counts the paragraphs of one file, in order."""

    def __init__(self, file: DocxFile) -> None:
        """
        Read what is counted how.

        :param file: The file.
        """
        root = [one for part in parts_of(file, RELATIONSHIP_TYPE.NUMBERING) for one in part.element]
        lists = [(one, _List(_levels_of(one))) for one in root if one.tag == qn("w:abstractNum")]
        named = {_value(one, "w:styleLink"): known for one, known in lists}
        # A list that only names a style of lists is counted as, and with, that style's own.
        self._lists = {
            _id(one, "abstractNumId"): known if (style := _value(one, "w:numStyleLink")) is None else named.get(style)
            for one, known in lists
        }
        self._nums = {_id(one, "numId"): one for one in root if one.tag == qn("w:num")}
        self._begun = set[str | None]()
        self._styles = {style.style_id: tuple(bases(style)) for style in file.styles}
        default = file.styles.default(WD_STYLE_TYPE.PARAGRAPH)
        self._default = None if default is None else default.style_id

    def of(self, paragraph: Any) -> str:
        """
        Count a paragraph.

        :param paragraph: The next `w:p` of the file.
        :returns: Its number as Word shows it, such as `4.2` or `(a)`, `-` for any bullet; empty if it has none.
        """
        styles = self._styles.get(paragraph.style or self._default, ())
        said = [_numbered(one) for one in (paragraph, *(style.element for style in styles))]
        number = next((one for one, _ in said if one is not None), None)
        num = self._nums.get(number)
        known = None if num is None else self._lists.get(_value(num, "w:abstractNumId"))
        if num is None or known is None:
            return ""
        names = {style.style_id for style in styles}
        of_style = (at for at, level in known.levels.items() if level.style in names)
        level = next((_whole(at, 0) for _, at in said if at is not None), None)
        self._begin(number, num, known)
        own = {
            at: shown for change in num.iterchildren(qn("w:lvlOverride")) for at, shown in _levels_of(change).items()
        }
        return known.next(next(of_style, 0) if level is None else level, own)

    def _begin(self, number: str | None, num: Any, known: _List) -> None:
        """Start a list anew where it says so itself, once; else it goes on with others of its kind."""
        if number in self._begun:
            return
        self._begun.add(number)
        for change in num.iterchildren(qn("w:lvlOverride")):
            start, level = _value(change, "w:startOverride"), _whole(_id(change, "ilvl"), 0)
            if start is not None:
                known.counts = {one: count for one, count in known.counts.items() if one < level}
                known.counts[level] = _whole(start, 1) - 1


def _levels_of(definition: Any) -> dict[int, _Level]:
    levels = {}
    for one in definition.iterchildren(qn("w:lvl")):
        said = {name: _value(one, f"w:{name}") for name in ("start", "numFmt", "lvlText", "pStyle", "lvlRestart")}
        levels[_whole(_id(one, "ilvl"), 0)] = _Level(
            start=_whole(said["start"], 1),
            form=said["numFmt"] or "decimal",
            text=said["lvlText"] or "",
            style=said["pStyle"],
            begins_below=_whole(said["lvlRestart"], len(_LEVELS)),
            is_legal=one.find(qn("w:isLgl")) is not None and _value(one, "w:isLgl") not in OFF,
        )
    return levels


def _numbered(element: Any) -> tuple[str | None, str | None]:
    """Read which list a paragraph or style says it is of, and at which level."""
    found = element.find(f"{qn('w:pPr')}/{qn('w:numPr')}")
    return (None, None) if found is None else (_value(found, "w:numId"), _value(found, "w:ilvl"))


def _value(element: Any, tag: str) -> str | None:
    found = element.find(qn(tag))
    return None if found is None else found.get(qn("w:val"))


def _whole(said: str | None, other: int) -> int:
    """Read a number; a damaged file costs its numbers, and not its headings."""
    return int(said) if said is not None and _WHOLE.fullmatch(said) else other


def _id(element: Any, name: str) -> str | None:
    said: str | None = element.get(qn(f"w:{name}"))
    return said
