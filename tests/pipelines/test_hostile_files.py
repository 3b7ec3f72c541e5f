"""Files made to hold an indexing run, or its memory: each is named, and the others are indexed."""

import io
import json
import struct
import threading
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZipFile

import docx
import pytest
from files import EMMA
from haystack import Document, component
from openpyxl import Workbook
from waiting import eventually

from haystack_integrations.crag.pipelines import conversion
from haystack_integrations.crag.pipelines.indexing import index

WORDS = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
MAIN = "word/document.xml"
CELLS = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
FAR = '<sheetData><row r="{}"><c r="{}"><v>1</v></c></row></sheetData>'
CELL = "<w:tc><w:tcPr>{}</w:tcPr><w:p><w:r><w:t>{}</w:t></w:r></w:p></w:tc>"


def word(body: str, *, main: str = MAIN, way: int = ZIP_DEFLATED) -> bytes:
    """A DOCX with other marks in it, and perhaps with another name of its main part."""
    plain, made = io.BytesIO(), io.BytesIO()
    docx.Document().save(plain)
    names = {MAIN: main, "word/_rels/document.xml.rels": f"word/_rels/{Path(main).name}.rels"}
    with ZipFile(plain) as known, ZipFile(made, "w", way) as archive:
        for entry in known.infolist():
            data = known.read(entry).replace(MAIN.encode(), main.encode())
            text = f"<w:document {WORDS}><w:body>{body}</w:body></w:document>".encode()
            archive.writestr(names.get(entry.filename, entry.filename), text if entry.filename == MAIN else data)
    return made.getvalue()


def lying(data: bytes) -> bytes:
    """The same, with a directory that says that the main part has a thousand bytes."""
    changed = bytearray(data)
    struct.pack_into("<I", changed, data.rfind(MAIN.encode()) - 46 + 24, 1000)
    return bytes(changed)


def torn(data: bytes) -> bytes:
    """The same, with a main part whose packed bytes are others: a bad disk, a transfer as text."""
    start = data.find(MAIN.encode()) + len(MAIN)
    return data[:start] + b"\xff" * 40 + data[start + 40 :]


def pdf(*streams: bytes) -> bytes:
    """A PDF of one page a thousand times: its content, and forms, of which each can draw the next one as F."""
    head = b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[%s]/Count 1000>>" % (b"3 0 R " * 1000)
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R/Resources<</XObject<</F 5 0 R>>>>>>"
    form = b"/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</F %d 0 R>>>>"
    bodies = [*head, page]
    for number, stream in enumerate(streams):
        packed = zlib.compress(stream)
        words = b"" if not number else form % (number + 5)
        bodies.append(b"<<%s/Filter/FlateDecode/Length %d>>stream\n%s\nendstream" % (words, len(packed), packed))
    data, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(bodies, 1):
        offsets.append(b"%010d 00000 n \n" % len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"xref\n0 %d\n0000000000 65535 f \n%s" % (len(bodies) + 1, b"".join(offsets))
    end = b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (len(bodies) + 1, len(data))
    return data + table + end


def long_text() -> str:
    """More text than a DOCX may have, in a few hundred kilobytes."""
    return f"<w:p><w:r><w:t>{'a ' * 500}</w:t></w:r></w:p>" * 50_000


def table(first: str, text: str, *rows: str) -> bytes:
    """A DOCX with a table whose first cell is merged with others."""
    return word(f"<w:tbl><w:tr>{CELL.format(first, text)}</w:tr>{''.join(rows)}</w:tbl>")


def book(*sheets: str) -> bytes:
    """An XLSX with other marks in its sheets."""
    plain, made, file = io.BytesIO(), io.BytesIO(), Workbook()
    for _ in sheets[1:]:
        file.create_sheet()
    file.save(plain)
    with ZipFile(plain) as known, ZipFile(made, "w", ZIP_DEFLATED) as archive:
        for entry in known.infolist():
            if not entry.filename.startswith("xl/worksheets/"):
                archive.writestr(entry.filename, known.read(entry))
        for number, body in enumerate(sheets, 1):
            archive.writestr(f"xl/worksheets/sheet{number}.xml", f"<worksheet {CELLS}>{body}</worksheet>")
    return made.getvalue()


def merged(*areas: str) -> str:
    """The end of a sheet with merged cells."""
    return f"<sheetData/><mergeCells>{''.join(f'<mergeCell ref={area!r}/>' for area in areas)}</mergeCells>"


SPAN = '<w:gridSpan w:val="3"/>'
GRID = "<w:tblGrid>" + "<w:gridCol/>" * 3 + "</w:tblGrid>"
BELOW = f"<w:tr>{CELL.format('<w:vMerge/>', '')}</w:tr>"
HOSTILE: dict[str, tuple[Callable[[], bytes], str]] = {
    "marks.html": (lambda: b"<p>x</p>" * 600_000, "1200000 marks"),
    "other-suffix.docx": (lambda: word(long_text(), main="word/document.png"), "50000000 bytes of text and marks"),
    "lying.docx": (lambda: lying(word(long_text())), "50000000 bytes of text and marks"),
    "paragraphs.docx": (lambda: word("<w:p/>" * 2_100_000), "2000000 marks"),
    "wide.docx": (lambda: table('<w:gridSpan w:val="100000000"/>', "a"), "merged cells"),
    "wide-and-long.docx": (lambda: table('<w:gridSpan w:val="1000"/>', "a" * 200_000), "merged cells"),
    "endless.docx": (lambda: table(f'<w:gridSpan w:val="{"9" * 5000}"/>', "a"), "merged cells"),
    "encoded.docx": (lambda: table('<w:gridSpan w:val="&#49;00000000"/>', "a"), "merged cells"),
    "tall.docx": (lambda: table('<w:vMerge w:val="restart"/>', "a" * 1_000_000, *[BELOW] * 200), "merged cells"),
    "far.xlsx": (lambda: book(FAR.format(1048576, "C1048576")), "1048576 rows and 3 columns"),
    "far.xlsm": (lambda: book(FAR.format(1048576, "C1048576")), "1048576 rows and 3 columns"),
    "far-and-small.xlsx": (lambda: book(FAR.format(1048576, "c1048576")), "1048576 rows and 3 columns"),
    "placeless.xlsx": (lambda: book(f'<sheetData><row r="900000">{"<c/>" * 2}</row></sheetData>'), "900000 rows"),
    "merged.xlsx": (lambda: book(merged("A1:XFD1048576")), "1048576 rows and 16384 columns"),
    "often.xlsx": (lambda: book(merged(*["$A$1:$A$500000"] * 3)), "500000 rows and 1 columns"),
    "sheets.xlsx": (lambda: book(*[merged("A1:A900")] * 1200), "1000000 cells in all sheets"),
    "other-zip.xlsx": (lambda: word("<w:p/>"), "zip archive without a workbook"),
    "old.pptx": (lambda: b"\xd0\xcf\x11\xe0" + bytes(600), "old PPT format"),
    "torn.docx": (lambda: torn(word("<w:p/>" * 1000)), "no DOCX inside"),
    "other-zip.docx": (lambda: word("<w:p/>", way=ZIP_BZIP2), "no DOCX inside"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_file_that_would_take_all_time_or_memory_is_named(tmp_path: Path, in_memory_store: Any, name: str) -> None:
    """Before any reader gets it; the others are indexed."""
    make, words = HOSTILE[name]
    (tmp_path / name).write_bytes(make())
    (tmp_path / "good.md").write_text(EMMA)
    report = index(tmp_path, in_memory_store, base=tmp_path)
    assert [failure.source for failure in report.failures] == [name]
    assert words in report.failures[0].reason
    assert report.added == 1


def test_a_record_that_is_nested_without_end_breaks_no_question(tmp_path: Path, in_memory_store: Any) -> None:
    """A store in memory copies what it finds; such a copy ended every search that came upon it."""
    deep = '{"a": ' * 900 + "1" + "}" * 900
    deep, fair = (f'{{"id": "{len(meta)}", "text": "Emma.", "meta": {meta}}}' for meta in (deep, '{"a": {"b": [1]}}'))
    jsonl = tmp_path / "records.jsonl"
    jsonl.write_text(f"{deep}\n{fair}\n")
    report = index(jsonl, in_memory_store, base=tmp_path)
    assert [(failure.source, "20 levels" in failure.reason) for failure in report.failures] == [
        ("records.jsonl#6301", True)
    ]
    assert [document.meta["a"] for document in in_memory_store.filter_documents()] == [{"b": [1]}]


def test_a_record_with_more_metadata_than_anyone_writes_is_named(tmp_path: Path, in_memory_store: Any) -> None:
    """A store in memory copies it entry by entry at every question; what a record brings besides does not count."""
    many, tags = {f"k{n}": n for n in range(10_001)}, {"tags": ["t"] * 10_001}
    records: list[dict[str, Any]] = [{"id": "a", "meta": many}, {"id": "b", **many}, {"id": "c", "meta": tags}]
    records += [{"id": "d", "vectors": [0.5] * 20_000, "meta": {"tags": ["t"] * 9_000}}]
    jsonl = tmp_path / "records.jsonl"
    jsonl.write_text("\n".join(json.dumps({**record, "text": "Emma."}) for record in records))
    report = index(jsonl, in_memory_store, base=tmp_path)
    assert [failure.source for failure in report.failures] == [f"records.jsonl#{id_}" for id_ in "abc"]
    assert all("10000 entries" in failure.reason for failure in report.failures)
    assert [document.id for document in in_memory_store.filter_documents()] == ["d"]


def test_tables_with_merged_cells_are_read(tmp_path: Path, in_memory_store: Any) -> None:
    """As people make them: many, each with a heading over all columns and a long text in one cell."""
    row = f"<w:tr>{CELL.format(SPAN, EMMA * 100)}</w:tr>"
    (tmp_path / "tables.docx").write_bytes(word(f"<w:tbl>{GRID}{row * 20}</w:tbl>" * 5))
    assert index(tmp_path, in_memory_store, base=tmp_path).failures == ()


def test_a_cell_that_is_merged_over_a_thousand_rows_is_read_with_each(tmp_path: Path, in_memory_store: Any) -> None:
    """A group and its members. Its reader went up to the first row from each: 300 took seconds, 2,000 were given up."""
    begun = '<w:vMerge w:val="restart"/>'
    rows = (
        CELL.format("<w:vMerge/>" if row else begun, "Fees" * (not row)) + CELL.format("", row) for row in range(1500)
    )
    tall = "".join(f"<w:tr>{row}</w:tr>" for row in rows)
    head = f"<w:tr>{CELL.format('', 'Group')}{CELL.format('', 'Number')}</w:tr>"
    (tmp_path / "tall.docx").write_bytes(word(f"<w:tbl>{head}{tall}</w:tbl>"))
    report = index(tmp_path, in_memory_store, base=tmp_path)
    assert report.failures == ()
    text = "\n".join(document.content or "" for document in in_memory_store.filter_documents())
    assert all(f"| Fees | {row} |" in text for row in range(1500))


# What ends the thread may meet it in Hypothesis' own look at garbage, which says so, and is sent again.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_file_that_is_read_without_end_is_given_up(
    tmp_path: Path, in_memory_store: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Thirty forms, each drawing the next one twice, on a thousand pages: its reader stops at 5,000 on each of them."""
    monkeypatch.setattr(conversion, "_SECONDS", 2.0)
    before = threading.active_count()
    (tmp_path / "forms.pdf").write_bytes(pdf(*[b"/F Do /F Do"] * 30, b"BT (x) Tj ET"))
    (tmp_path / "good.md").write_text(EMMA)
    report = index(tmp_path, in_memory_store, base=tmp_path)
    assert [failure.source for failure in report.failures] == ["forms.pdf"]
    assert "nothing was read in 2 s" in report.failures[0].reason
    assert report.added == 1
    assert eventually(lambda: threading.active_count() <= before, 30)


def test_an_embedder_may_take_its_time(tmp_path: Path, in_memory_store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what reads files is hurried: a large model beside them is slow, and right."""
    monkeypatch.setattr(conversion, "_SECONDS", 2.0)

    @component
    class Slow:
        @component.output_types(documents=list[Document])
        def run(self, documents: list[Document]) -> dict[str, Any]:
            time.sleep(5)
            return {"documents": documents}

    (tmp_path / "good.md").write_text(EMMA)
    assert index(tmp_path, in_memory_store, base=tmp_path, embedder=Slow()).added == 1
