"""Whether an office file is read in little time and memory: a few kilobytes can unpack, or be told, to gigabytes."""

import re
import zlib
from collections.abc import Iterator, Mapping
from copy import copy
from functools import reduce
from io import BytesIO
from typing import Final
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from lxml.etree import ParserError, XMLParser, XMLSyntaxError

from haystack_integrations.crag.formats.xlsx_formulas import without_result

_MAX_UNPACKED: Final = 500_000_000
_MAX_XML: Final = 50_000_000  # the text of thirty thick novels; its reader takes twelve times as much memory
_MAX_MARKS: Final = 2_000_000  # so many empty paragraphs are read in a minute
_MAX_CELLS: Final = 1_000_000  # of all sheets: each takes a quarter of a kilobyte, whether something is in it or not
_MAX_REPEATED: Final = 100_000_000  # characters, of cells that stand for several
_MERGING: Final = ("gridSpan", "vMerge")
_PLACE: Final = re.compile(r"(?i)([A-Z]{1,3})\$?([0-9]{1,7})")
_ROW: Final = re.compile(r"[0-9]{1,7}")
_PIECE: Final = 1 << 20
_SHEETS: Final = "xl/"
WORKBOOKS: Final = (".xlsx", ".xlsm")
OFFICE: Final = {
    **dict.fromkeys((".docx", ".docm"), ("word/", "Word document")),
    **dict.fromkeys((".pptx", ".pptm"), ("ppt/", "presentation")),
    **dict.fromkeys(WORKBOOKS, (_SHEETS, "workbook")),
}
# A password-protected file and one in the format before 2007 are one and the same container.
_OLE: Final = b"\xd0\xcf\x11\xe0"


class _TooMuchError(Exception):
    """What is wrong, as its text."""


class _Grid:
    """Follows how far sheets go: who reads one makes all cells up to the outermost, and all of a merged area."""

    def __init__(self) -> None:
        self._others = 0  # cells of the sheets before
        self._row = self._column = self._height = self._width = self._merged = 0

    def next_sheet(self) -> None:
        self._others += max(self._height * self._width, self._merged)
        self._row = self._column = self._height = self._width = self._merged = 0

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        if name == "row":
            self._row, self._column = self._row + 1, 0
            self._row = int(attributes["r"]) if _ROW.fullmatch(attributes.get("r", "")) else self._row
        elif name == "c":  # those that name no place stand beside each other
            self._row, self._column = next(_places(attributes.get("r", "")), (self._row, self._column + 1))
            self._reach(self._row, self._column)
        elif name == "mergeCell" and (corners := list(_places(attributes.get("ref", "")))):
            (top, left), (bottom, right) = corners[0], corners[-1]
            self._merged += max(0, bottom - top + 1) * max(0, right - left + 1)
            self._reach(bottom, right)

    def _reach(self, row: int, column: int) -> None:
        self._height, self._width = max(self._height, row), max(self._width, column)
        if self._others + max(self._height * self._width, self._merged) > _MAX_CELLS:
            size = f"a sheet of {self._height} rows and {self._width} columns"
            way = "split it, or delete what stands far outside"
            msg = f"got {size}, wanted at most {_MAX_CELLS} cells in all sheets, empty ones included; {way}"
            raise _TooMuchError(msg)


def _places(told: str) -> Iterator[tuple[int, int]]:
    """Read the row and column of each place that a text such as `B7` or `A1:C3` names."""
    for letters, row in _PLACE.findall(told):
        yield int(row), reduce(lambda column, letter: 26 * column + ord(letter) - ord("A") + 1, letters.upper(), 0)


class _Marks:
    """Counts what a part of a document makes its reader do; a target of lxml's parser, which then keeps no tree."""

    def __init__(self, grid: _Grid | None) -> None:
        self._grid = grid
        self._marks = self._repeats = self._longest = self._tables = 0
        self._cells: list[int] = []  # how long the text of each open cell is

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._marks += 1
        if self._marks > _MAX_MARKS:
            msg = f"got a file with more than {_MAX_MARKS} marks, wanted fewer; split it"
            raise _TooMuchError(msg)
        name = tag.rpartition("}")[2]
        if name == "tbl":
            self._repeats, self._longest = (self._repeats, self._longest) if self._tables else (0, 0)
            self._tables += 1
        elif name == "tc":
            self._cells.append(0)
        elif name in _MERGING:
            said = (value for key, value in attributes.items() if key.rpartition("}")[2] == "val")
            self._repeats += _times(next(said, ""))
            self._check()
        elif self._grid is not None:
            self._grid.start(name, attributes)

    def end(self, tag: str) -> None:
        name = tag.rpartition("}")[2]
        if name == "tbl":
            self._tables -= 1
        elif name == "tc":
            self._longest = max(self._longest, self._cells.pop())
            self._check()

    def data(self, text: str) -> None:
        if self._cells:
            self._cells[-1] += len(text)

    def close(self) -> None:
        pass

    def _check(self) -> None:
        """Of a table a cell of several columns or rows is told once for each of them."""
        if self._repeats * (self._longest + 1) >= _MAX_REPEATED:
            msg = "got a DOCX with merged cells that are told as more than any table holds; repair or split it"
            raise _TooMuchError(msg)


def _times(said: str) -> int:
    """Read for how many a cell stands as its reader does; `restart` and `continue` are one each."""
    try:
        return max(1, int(said))
    except ValueError:  # also of a number that is too long to be read
        return _MAX_REPEATED if said.strip().isdecimal() else 1


def workbook_doubt(data: bytes) -> str | None:
    """
    Tell what a workbook shows when it is opened, and has not in it.

    :param data: The file.
    :returns: What is wrong and the way out, or None.
    """
    count = without_result(data)
    way = "open it in a spreadsheet program, which calculates them, and save it there"
    what = "a formula" if count == 1 else f"{count} formulas"
    return f"got a workbook with {what} without a result: {way}" if count else None


def office_problem(data: bytes, suffix: str) -> str | None:
    """
    Look whether a DOCX, XLSX or PPTX is one, and can be read within bounds.

    :param data: The file.
    :param suffix: Which of them it is to be, such as `.docx`.
    :returns: What is wrong and the way out, or None.
    """
    kind, (folder, content) = suffix[1:].upper(), OFFICE[suffix]
    if data.startswith(_OLE):
        way = f"save it as {kind} without a password"
        return f"got a file with a password, or one in the old {kind[:3]} format; {way}"
    try:
        with ZipFile(BytesIO(data)) as archive:
            entries = archive.infolist()
            if not any(entry.filename.startswith(folder) for entry in entries):
                return f"got a zip archive without a {content} in it; give it the suffix of what it is"
            _check_parts(archive, entries, _Grid() if folder == _SHEETS else None)
    except _TooMuchError as error:
        return str(error)
    except (BadZipFile, ValueError, NotImplementedError, RuntimeError, EOFError, zlib.error):
        way = "give it the suffix of what it is, or save it again"
        return f"got a file that is no {kind} inside (no zip archive); {way}"
    return None


def _check_parts(archive: ZipFile, entries: list[ZipInfo], grid: _Grid | None) -> None:
    """Unpack all, since a directory may lie about sizes, and look at all that is XML, whatever its suffix says."""
    unpacked = text = 0
    for entry in entries:
        target = _Marks(grid)
        if grid is not None:
            grid.next_sheet()
        parser: XMLParser | None = XMLParser(target=target, resolve_entities=False, remove_blank_text=True)
        for piece in _pieces(archive, entry):
            unpacked += len(piece)
            if unpacked > _MAX_UNPACKED:
                msg = f"got a file of more than {_MAX_UNPACKED} bytes unpacked, wanted at most that; split it"
                raise _TooMuchError(msg)
            if parser is None:
                continue
            try:
                parser.feed(piece)
            except (XMLSyntaxError, ParserError):  # a picture; or broken, and no other reader goes further
                parser = None
                continue
            text += len(piece)
            if text > _MAX_XML:
                msg = f"got a file with more than {_MAX_XML} bytes of text and marks, wanted at most that; split it"
                raise _TooMuchError(msg)


def _pieces(archive: ZipFile, entry: ZipInfo) -> Iterator[bytes]:
    if entry.compress_type not in (
        ZIP_STORED,
        ZIP_DEFLATED,
    ):  # no others are in such files, and they unpack without bounds
        raise NotImplementedError
    whole = copy(entry)
    whole.file_size = _MAX_UNPACKED + 1  # as far as it goes, and not as far as the directory says
    with archive.open(whole) as file:
        while piece := file.read(_PIECE):
            yield piece
