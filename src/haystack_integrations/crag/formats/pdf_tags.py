"""The headings and tables of a PDF as its tags tell them: word processors and browsers write tags."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from pypdf import PdfReader
from pypdf.generic import ArrayObject, DictionaryObject, IndirectObject

from haystack_integrations.crag.formats.pdf_headings import SIGN
from haystack_integrations.crag.formats.pdf_pieces import Piece

_MOST: Final = 500_000  # parts of a file's structure
_LEVELS: Final = {"/H": 1} | {f"/H{level}": level for level in range(1, 7)}
_CELLS: Final = ("/TH", "/TD")


class Heading(NamedTuple):
    """A heading: its number in the file, as it may be of several pieces, and its level."""

    number: int
    level: int


class Cell(NamedTuple):
    """A cell of a table: the numbers of the table in the file, of the row in it, and of the cell in the row."""

    table: int
    row: int
    number: int


@dataclass
class Tags:
    """
    What each marked piece of text belongs to, by the numbers of the page's object and of the mark.

    `tables` has, of each table, row by row, how many rows and columns each cell spans; none of one that holds headings,
    which only places parts of a page. `order` has, of each page, the places of its marks in the order of the tags.
    """

    headings: dict[int, dict[int, Heading]] = field(default_factory=lambda: defaultdict(dict))
    cells: dict[int, dict[int, Cell]] = field(default_factory=lambda: defaultdict(dict))
    tables: dict[int, list[list[tuple[int, int]]]] = field(default_factory=dict)
    order: dict[int, dict[int, int]] = field(default_factory=lambda: defaultdict(dict))


class _Place(NamedTuple):
    """Where in the structure a part is: on which page, in which heading, table, row and cell."""

    page: int = 0
    heading: Heading | None = None
    table: int | None = None
    row: int | None = None
    cell: Cell | None = None


def tags_of(reader: PdfReader) -> Tags:
    """
    Read which pieces of text are headings, or cells of tables.

    :param reader: A PDF file.
    :returns: Its tags; none if it has none, or some that cannot be read.
    """
    try:
        return _tags(reader)
    except Exception:  # whatever a damaged file leads its reader to: its text is read nevertheless
        return Tags()


def words_of(pieces: Sequence[Piece], marked: Mapping[int, Heading]) -> list[tuple[int, str]]:
    """
    Give the headings of a page.

    :param pieces: Its text.
    :param marked: Which of its pieces are headings.
    :returns: Their levels and words, in the order of the text.
    """
    said: dict[Heading, str] = {}
    for piece in pieces:
        if (heading := marked.get(piece.mark)) is not None:
            said[heading] = said.get(heading, "") + piece.text
    return [(heading.level, " ".join(text.split())) for heading, text in said.items() if text.strip()]


def with_signs(pieces: Sequence[Piece], marked: Mapping[int, Heading]) -> list[Piece]:
    """
    Put a sign where each heading of a page begins: a line of the contents above may have the same words.

    :param pieces: Its text.
    :param marked: Which of its pieces are headings.
    :returns: The text with `SIGN` before each.
    """
    signed, found = list[Piece](), set[Heading]()
    for piece in pieces:
        heading, words = marked.get(piece.mark), piece.text.lstrip()
        if heading is not None and words and heading not in found:
            found.add(heading)
            piece = piece._replace(text=f"{piece.text.removesuffix(words)}{SIGN}{words}")  # noqa: PLW2901
        signed.append(piece)
    return signed


def _tags(reader: PdfReader) -> Tags:
    tags = Tags()
    root: Any = reader.root_object.get("/StructTreeRoot", DictionaryObject()).get_object()
    roles: Any = root.get("/RoleMap", {})
    left: list[tuple[Any, _Place]] = [(root, _Place())]
    seen: dict[int, Any] = {}
    while left and len(seen) < _MOST:
        part, place = left.pop()
        part = part.get_object()
        if isinstance(part, int):
            tags.order[place.page].setdefault(part, len(tags.order[place.page]))
            if place.heading:
                tags.headings[place.page][part] = place.heading
            if place.cell:
                tags.cells[place.page][part] = place.cell
        if not isinstance(part, ArrayObject | DictionaryObject) or id(part) in seen:
            continue
        seen[id(part)] = part
        if isinstance(part, ArrayObject):
            left += [(one, place) for one in reversed(part)]
        else:
            shown = part.raw_get("/Pg") if "/Pg" in part else None
            place = place._replace(page=shown.idnum) if isinstance(shown, IndirectObject) else place
            kind = part.get("/S")
            place = _within(tags, part, str(roles.get(kind, kind)), place, len(seen))
            left += [(part[key], place) for key in ("/K", "/MCID") if key in part]
    return tags


def _within(tags: Tags, part: DictionaryObject, kind: str, place: _Place, number: int) -> _Place:
    """Give the place of what a part holds; of a table in a cell the text is the cell's."""
    if place.heading is None and (level := _LEVELS.get(kind)):
        if place.table is not None:
            tags.tables.pop(place.table, None)
        return place._replace(heading=Heading(number, level))
    if place.table is None:
        if kind != "/Table":
            return place
        tags.tables[number] = []
        return place._replace(table=number)
    rows = tags.tables.get(place.table)
    if rows is None or place.cell is not None:
        return place
    if place.row is None and kind == "/TR":
        rows.append([])
        return place._replace(row=len(rows) - 1)
    if place.row is not None and kind in _CELLS:
        rows[place.row].append(_spans(part))
        return place._replace(cell=Cell(place.table, place.row, len(rows[place.row]) - 1))
    return place


def _spans(part: DictionaryObject) -> tuple[int, int]:
    """Read how many rows and columns a cell spans; its attributes are one dictionary, or several."""
    told: Any = part.get("/A", ())
    every = [one.get_object() for one in (told if isinstance(told, ArrayObject) else [told] if told else ())]
    said = [one for one in every if isinstance(one, DictionaryObject)]
    spans: list[Any] = [next((one[key] for one in said if key in one), 1) for key in ("/RowSpan", "/ColSpan")]
    rows, columns = (max(int(span), 1) if isinstance(span, int | float) else 1 for span in spans)
    return rows, columns
