"""Whether a DOCX can be read in little time and memory: a few kilobytes of it can unpack, or be told, to gigabytes."""

from collections.abc import Iterator, Mapping
from copy import copy
from io import BytesIO
from typing import Final
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from lxml.etree import ParserError, XMLParser, XMLSyntaxError

_MAX_UNPACKED: Final = 500_000_000
_MAX_XML: Final = 50_000_000  # the text of thirty thick novels; its reader takes twelve times as much memory
_MAX_MARKS: Final = 2_000_000  # so many empty paragraphs are read in a minute
_MAX_REPEATED: Final = 100_000_000  # characters, of cells that stand for several
_MERGING: Final = ("gridSpan", "vMerge")
_PIECE: Final = 1 << 20
# A password-protected DOCX and an old DOC are one and the same container.
_OLE: Final = b"\xd0\xcf\x11\xe0"


class _TooMuchError(Exception):
    """What is wrong, as its text."""


class _Marks:
    """Counts what a part of a document makes its reader do; a target of lxml's parser, which then keeps no tree."""

    def __init__(self) -> None:
        self._marks = self._repeats = self._longest = self._tables = 0
        self._cells: list[int] = []  # how long the text of each open cell is

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._marks += 1
        if self._marks > _MAX_MARKS:
            msg = f"got a DOCX with more than {_MAX_MARKS} marks, wanted fewer; split it"
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


def docx_problem(data: bytes) -> str | None:
    """
    Look whether a DOCX is one, and can be read within bounds.

    :param data: The file.
    :returns: What is wrong and the way out, or None.
    """
    if data.startswith(_OLE):
        return "got a DOCX with a password, or a file in the old DOC format; save it as DOCX without a password"
    try:
        with ZipFile(BytesIO(data)) as archive:
            entries = archive.infolist()
            if not any(entry.filename.startswith("word/") for entry in entries):
                return "got a zip archive without a Word document in it; give it the suffix of what it is"
            _check_parts(archive, entries)
    except _TooMuchError as error:
        return str(error)
    except (BadZipFile, ValueError, NotImplementedError, RuntimeError, EOFError):
        return "got a file that is no DOCX inside (no zip archive); give it the suffix of what it is, or save it again"
    return None


def _check_parts(archive: ZipFile, entries: list[ZipInfo]) -> None:
    """Unpack all, since a directory may lie about sizes, and look at all that is XML, whatever its suffix says."""
    unpacked = text = 0
    for entry in entries:
        target = _Marks()
        parser: XMLParser | None = XMLParser(target=target, resolve_entities=False, remove_blank_text=True)
        for piece in _pieces(archive, entry):
            unpacked += len(piece)
            if unpacked > _MAX_UNPACKED:
                msg = f"got a DOCX of more than {_MAX_UNPACKED} bytes unpacked, wanted at most that; split it"
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
                msg = f"got a DOCX with more than {_MAX_XML} bytes of text and marks, wanted at most that; split it"
                raise _TooMuchError(msg)


def _pieces(archive: ZipFile, entry: ZipInfo) -> Iterator[bytes]:
    if entry.compress_type not in (ZIP_STORED, ZIP_DEFLATED):  # no others are DOCX's, and they unpack without bounds
        raise NotImplementedError
    whole = copy(entry)
    whole.file_size = _MAX_UNPACKED + 1  # as far as it goes, and not as far as the directory says
    with archive.open(whole) as file:
        while piece := file.read(_PIECE):
            yield piece
