"""What the slides of a PPTX file say."""

import re
from collections.abc import Iterable, Iterator
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final

from haystack_integrations.crag.formats.escaping import escaped
from haystack_integrations.crag.formats.formulas import MATH, formula_of, raised
from haystack_integrations.crag.formats.graphics import graphics_of
from haystack_integrations.crag.formats.numerals import FORMS
from haystack_integrations.crag.formats.office_parts import completed
from haystack_integrations.crag.formats.sheets import markdown_of, table_of

_CHOICES: Final = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_DRAWING: Final = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_TITLES: Final = ".//p:nvPr/p:ph[@type='title' or @type='ctrTitle']"
_HIDDEN: Final = ("0", "false")
_USUAL: Final = 1_800  # hundredths of a point: what has no size of its own has this one
_LONGEST_TITLE: Final = 15  # words
_START: Final = re.compile(r"[0-9]{1,5}")
_FORMS: Final = {"alphaLc": FORMS["a"], "alphaUc": FORMS["A"], "romanLc": FORMS["i"], "romanUc": FORMS["I"]}

if TYPE_CHECKING:
    from pptx.slide import Slide


def pptx_as_markdown(data: bytes) -> str:
    """
    Write slides as Markdown.

    :param data: The file.
    :returns: Of each slide that is not hidden the title as a heading, what is on it, and the speaker's notes.
    :raises Exception: python-pptx's, of many kinds.
    """
    from pptx import Presentation  # a fifth of a second that no question needs

    file = Presentation(BytesIO(completed(data)))
    slides = ((number, one) for number, one in enumerate(file.slides, 1) if one.element.get("show") not in _HIDDEN)
    upper = (file.slide_height or 0) // 3
    return "\n\n".join(part for number, slide in slides for part in _told(number, slide, upper))


def _told(number: int, slide: "Slide", upper: int) -> Iterator[str]:
    _with_all_shown(slide.element)
    _with_looks(slide.element)
    _with_formulas(slide.element)
    title = _title(slide, upper)
    heading = "" if title is None else " ".join(title.text_frame.text.split())
    shapes = [shape for shape in slide.shapes if title is None or shape._element is not title._element]
    told = list(_shapes(shapes, dict(slide.part.rels)))
    if slide.has_notes_slide and (notes := slide.notes_slide.notes_text_frame) and notes.text.strip():
        told.append(escaped(notes.text.strip()))
    if heading or told:  # what has no title is not of the slide before it
        yield from (f"## {heading or f'Slide {number}'}", *told)


def _title(slide: "Slide", upper: int) -> Any:
    """Find the title of a slide; where no text is marked as one, it may be known by its look."""
    shapes: list[Any] = [shape for shape in slide.shapes if shape.has_text_frame]
    texts = [shape for shape in shapes if shape.text_frame.text.strip()]
    marked = (shape for shape in texts if shape._element.xpath(_TITLES))
    return next(marked, None) or _title_by_look(texts, upper)


def _title_by_look(texts: Iterable[Any], upper: int) -> Any:
    """Find the short text in the upper part of a slide that is larger than all others; programs write titles so."""
    sized = [(_size(shape), shape) for shape in texts]
    sized.sort(key=lambda one: one[0], reverse=True)
    if not sized or (sized[1:] and sized[0][0] == sized[1][0]):
        return None
    size, shape = sized[0]
    words = shape.text_frame.text.split()
    is_above = shape.top is not None and shape.top < upper
    is_short = len(words) <= _LONGEST_TITLE and sum(map(str.isalpha, "".join(words))) > len("".join(words)) / 2
    return shape if size > _USUAL and is_above and is_short else None


def _size(shape: Any) -> int:
    """Give the size of the largest letters of a text, in hundredths of a point."""
    told = (look.get("sz", "") for look in shape._element.iter(f"{_DRAWING}rPr"))
    return max((int(size) for size in told if _START.fullmatch(size)), default=_USUAL)


def _with_all_shown(slide: Any) -> None:
    """Take the first of alternatives, such as a text with a formula, out of them: their reader passes them over."""
    for choice in list(slide.iter(f"{_CHOICES}Choice")):
        for part in list(choice) if choice.getprevious() is None else ():
            choice.getparent().addprevious(part)


def _with_looks(slide: Any) -> None:
    """Write as text what only a look tells: raised figures, and words that are struck through."""
    for look in slide.iter(f"{_DRAWING}rPr"):
        words, height = look.getnext(), look.get("baseline", "0")
        if words is not None and height.isdigit() and height != "0":
            words.text = raised(words.text or "")
        if words is not None and words.text and look.get("strike", "noStrike") != "noStrike":
            words.text = f"~~{words.text}~~"  # as of pages: the old price is none


def _with_formulas(slide: Any) -> None:
    for formula in list(slide.iter(f"{MATH}oMath")):
        holder = next((one for one in formula.iterancestors() if one.getparent().tag == f"{_DRAWING}p"), None)
        if holder is not None:
            run = holder.makeelement(f"{_DRAWING}r")
            text = run.makeelement(f"{_DRAWING}t")
            text.text = formula_of(formula)
            run.append(text)
            holder.addprevious(run)


def _shapes(shapes: Iterable[Any], links: dict[str, Any]) -> Iterator[str]:
    for shape in shapes:
        if hasattr(shape, "shapes"):  # a group
            yield from _shapes(shape.shapes, links)
        elif shape.has_text_frame:
            yield from filter(None, [_list(shape.text_frame.paragraphs)])
        elif getattr(shape, "has_table", False):
            yield markdown_of(_rows(shape.table))
        else:
            for part in graphics_of(shape._element, links):
                yield from [escaped(part)] if isinstance(part, str) else table_of(part)


def _rows(table: Any) -> Iterator[list[str]]:
    """Give the texts of a table, that of a merged cell in each of its places: but what a row begins with once."""
    row: list[str] = []
    for cells in table.rows:
        above, row = row, [cell.text for cell in cells.cells]
        is_within = False  # behind the first text of the row
        for column, cell in enumerate(cells.cells):
            if cell._tc.vMerge and column < len(above):
                row[column] = above[column]
            elif cell._tc.hMerge and is_within:
                row[column] = row[column - 1]
            else:
                is_within = any(row[:column])
        yield row


def _list(paragraphs: Iterable[Any]) -> str:
    """Tell paragraphs by their levels, with the numbers that PowerPoint counts; a single one is no list."""
    told, counts = list[tuple[int, str, str]](), dict[int, int]()
    for one in paragraphs:
        if text := " ".join(one.text.split()):
            counts = {level: count for level, count in counts.items() if level <= one.level}
            look = one._p.find(f"{_DRAWING}pPr/{_DRAWING}buAutoNum")
            told.append((one.level, _number(look, one.level, counts), text))
    if len(told) == 1 and told[0][1] == "-":
        return escaped(told[0][2])
    return "\n".join(f"{'  ' * level}{sign} {text}" for level, sign, text in told)


def _number(look: Any, level: int, counts: dict[int, int]) -> str:
    """Count a paragraph; one that has no number ends the count."""
    if look is None:
        counts.pop(level, None)
        return "-"
    start, kind = look.get("startAt", ""), look.get("type", "")
    first = int(start) if _START.fullmatch(start) else 1
    counts[level] = counts.get(level, first - 1) + 1
    said = next((form(counts[level]) for name, form in _FORMS.items() if kind.startswith(name)), str(counts[level]))
    return f"({said})" if kind.endswith("ParenBoth") else f"{said})" if kind.endswith("ParenR") else f"{said}."
