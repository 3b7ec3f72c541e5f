"""Charts and diagrams: their words and figures are read in documents as on slides."""

from io import BytesIO
from typing import Any

import docx
import pytest
from docx.opc.packuri import PackURI as DocxName
from docx.opc.part import Part as DocxPart
from haystack.dataclasses import ByteStream
from lxml import etree
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.chart.xmlwriter import ChartXmlWriter
from pptx.enum.chart import XL_CHART_TYPE
from pptx.opc.package import Part as SlidePart
from pptx.opc.packuri import PackURI as SlideName

from haystack_integrations.crag.components import DocxToMarkdown, PptxToMarkdown

A = "http://schemas.openxmlformats.org/drawingml/2006/main"
CX = "http://schemas.microsoft.com/office/drawing/2014/chartex"
DGM = "http://schemas.openxmlformats.org/drawingml/2006/diagram"
R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
CHART = (f"{R}/chart", '<c:chart xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" r:id="{}"/>')
NEWER = ("http://schemas.microsoft.com/office/2014/relationships/chartEx", f'<cx:chart xmlns:cx="{CX}" r:id="{{}}"/>')
DIAGRAM = (f"{R}/diagramData", f'<dgm:relIds xmlns:dgm="{DGM}" r:dm="{{}}" r:lo="rId98" r:qs="rId97" r:cs="rId96"/>')


def chart(title: str, *figures: tuple[str, float], form: str = "0%") -> bytes:
    """A chart as Office writes it: its title is that of its only series."""
    data = CategoryChartData(number_format=form)
    data.categories = [name for name, _ in figures]
    data.add_series(title, [figure for _, figure in figures])
    return ChartXmlWriter(XL_CHART_TYPE.COLUMN_CLUSTERED, data).xml.encode()


def newer(layout: str, dimensions: str, title: str = "") -> bytes:
    """A chart of a kind since 2016."""
    head = f"<cx:title><cx:tx><cx:txData><cx:v>{title}</cx:v></cx:txData></cx:tx></cx:title>" if title else ""
    name = "<cx:tx><cx:txData><cx:f>Sheet1!$B$1</cx:f><cx:v>Euros</cx:v></cx:txData></cx:tx>"
    series = f'<cx:series layoutId="{layout}">{name}<cx:dataId val="0"/></cx:series>'
    plot = f"<cx:plotArea><cx:plotAreaRegion>{series}</cx:plotAreaRegion></cx:plotArea>"
    data = f'<cx:chartData><cx:data id="0">{dimensions}</cx:data></cx:chartData>'
    return f'<cx:chartSpace xmlns:cx="{CX}">{data}<cx:chart>{head}{plot}</cx:chart></cx:chartSpace>'.encode()


def dimension(kind: str, of: str, *levels: dict[int, str]) -> str:
    """Names or figures by their places, and a level with nothing in it, as a sunburst has one."""
    form = ' formatCode="#,##0"' if kind == "numDim" else ""
    points = ["".join(f'<cx:pt idx="{at}">{said}</cx:pt>' for at, said in level.items()) for level in (*levels, {})]
    told = "".join(f"<cx:lvl{form}>{one}</cx:lvl>" for one in points)
    return f'<cx:{kind} type="{of}"><cx:f>Sheet1!$A$2</cx:f>{told}</cx:{kind}>'


def diagram(*links: tuple[str, str, int], **texts: str) -> bytes:
    """A diagram: who is below whom, in which order, and what the shapes say."""
    points = '<dgm:pt modelId="doc" type="doc"><dgm:t><a:p/></dgm:t></dgm:pt><dgm:pt modelId="9" type="pres"/>'
    points += "".join(
        f'<dgm:pt modelId="{name}"><dgm:t><a:p><a:r><a:t>{text}</a:t></a:r></a:p></dgm:t></dgm:pt>'
        for name, text in texts.items()
    )
    told = "".join(f'<dgm:cxn srcId="{above}" destId="{below}" srcOrd="{at}"/>' for above, below, at in links)
    told += '<dgm:cxn type="presOf" srcId="doc" destId="9" srcOrd="0"/>'
    names = f'xmlns:dgm="{DGM}" xmlns:a="{A}"'
    parts = f"<dgm:ptLst>{points}</dgm:ptLst><dgm:cxnLst>{told}</dgm:cxnLst>"
    return f"<dgm:dataModel {names}>{parts}</dgm:dataModel>".encode()


def in_document(kind: tuple[str, str], *parts: bytes, cell: bool = False) -> str:
    """Tell a document with a paragraph of such graphics, in a cell of a table too, and one behind it."""
    file = docx.Document()
    file.add_heading("Sales", 1)
    place: Any = file.add_table(1, 2).cell(0, 1).paragraphs[0] if cell else file.add_paragraph()
    place.add_run("By region:")
    for number, data in enumerate(parts):
        part = DocxPart(DocxName(f"/word/graphics/one{number}.xml"), "application/xml", data, file.part.package)
        shown = kind[1].format(file.part.relate_to(part, kind[0]))
        inline = f'<a:graphic xmlns:a="{A}"><a:graphicData>{shown}</a:graphicData></a:graphic>'
        word = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
        place._p.append(etree.fromstring(f'<w:r xmlns:w="{word}" xmlns:r="{R}"><w:drawing>{inline}</w:drawing></w:r>'))
    file.add_paragraph("All in all.")
    file.save(saved := BytesIO())
    (document,) = DocxToMarkdown().run([ByteStream(saved.getvalue())])["documents"]
    return document.content or ""


def on_slide(kind: tuple[str, str], *parts: bytes) -> str:
    """Tell a slide with such graphics, as PowerPoint writes them for itself and for older programs."""
    file = Presentation()
    slide = file.slides.add_slide(file.slide_layouts[5])
    slide.shapes.title.text = "Sales"
    main = "http://schemas.openxmlformats.org/presentationml/2006/main"
    names = f'xmlns:p="{main}" xmlns:a="{A}" xmlns:r="{R}" xmlns:cx1="x"'
    other = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
    look = '<p:nvGraphicFramePr><p:cNvPr id="7" name="x"/><p:cNvGraphicFramePr/><p:nvPr/></p:nvGraphicFramePr><p:xfrm/>'
    for number, data in enumerate(parts):
        part = SlidePart(SlideName(f"/ppt/graphics/one{number}.xml"), "application/xml", slide.part.package, data)
        shown = kind[1].format(slide.part.relate_to(part, kind[0]))
        held = f'<a:graphicData uri="x">{shown}</a:graphicData>'
        frame = f"<p:graphicFrame>{look}<a:graphic>{held}</a:graphic></p:graphicFrame>"
        choice = f'<mc:Choice Requires="cx1">{frame}</mc:Choice><mc:Fallback><p:sp/></mc:Fallback>'
        slide.shapes._spTree.append(
            etree.fromstring(f"<mc:AlternateContent {other} {names}>{choice}</mc:AlternateContent>")
        )
    file.save(saved := BytesIO())
    (document,) = PptxToMarkdown().run([ByteStream(saved.getvalue())])["documents"]
    return document.content or ""


def test_charts_of_a_document_stand_behind_their_paragraph_in_order() -> None:
    """The figures of a report were lost with each chart; within a cell, they are words of it."""
    charts = [chart("2024", ("North", 0.1), ("South", 0.2)), chart("2025", ("North", 0.3))]
    tables = ["|  | 2024 |", "| --- | --- |", "| North | 10% |", "| South | 20% |", "|  | 2025 |", "| --- | --- |"]
    lines = [line.replace("|  |", "| |") for line in tables]
    told = [line for line in in_document(CHART, *charts).splitlines() if line]
    assert told == ["# Sales", "By region:", *lines, "| North | 30% |", "All in all."]
    assert "By region: 2024; North, 10%; South, 20% |" in in_document(CHART, charts[0], cell=True)


@pytest.mark.parametrize("tell", [in_document, on_slide])
def test_charts_of_the_kinds_since_2016_are_read(tell: Any) -> None:
    """A waterfall has names and figures, a treemap groups that are told once, a histogram figures alone."""
    names = dimension("strDim", "cat", {0: "Start", 1: "Fees", 2: "End"})
    steps = names + dimension("numDim", "val", {0: "1000", 1: "-20.4", 2: "980"})
    groups = ({0: "Bonn", 1: "Köln", 2: "Graz"}, {0: "Germany", 2: "Austria"})
    tree = dimension("strDim", "cat", *groups) + dimension("numDim", "size", {0: "3", 1: "5", 2: "7"})
    parts = [newer("waterfall", steps, "Bridge"), newer("treemap", tree)]
    told = tell(NEWER, *parts, newer("clusteredColumn", dimension("numDim", "val", {0: "1", 1: "2"})), b"<damaged")
    rows = [line for line in told.replace("|  |", "| |").splitlines() if line and "---" not in line]
    assert [row for row in rows if row not in ("By region:", "All in all.")][1:] == [
        *("Bridge", "| | Euros |", "| Start | 1000 |", "| Fees | -20.4 |", "| End | 980 |", "| | Euros |"),
        *("| Germany, Bonn | 3 |", "| Germany, Köln | 5 |", "| Austria, Graz | 7 |", "| Euros |", "| 1 |", "| 2 |"),
    ]


@pytest.mark.parametrize(
    ("form", "figure", "shown"),
    [
        ("[h]:mm", 0.125, "3:00:00"),
        ("h:mm", 0.3125, "07:30"),
        (r"yyyy\-mm\-dd;@", 46_000, "2025-12-09"),
        ('d/m/yy" (plan)"', 46_000.75, "2025-12-09 18:00"),
        ("d/m/yy", 1e9, "1000000000"),
        ('0" days"', 5, "5 days"),
        ('0.0,"k"', 1500, "1.5k"),
        ('0,.0"k"', 1500, "1.5k"),
    ],
)
def test_figures_that_are_times_are_read_as_such(form: str, figure: float, shown: str) -> None:
    """Of a plan's dates and a race's times the format alone was told: `yyyymmdd`, `:mm`."""
    assert f"| Ann | {shown} |" in in_document(CHART, chart("Time", ("Ann", figure), form=form))
    values = dimension("numDim", "val", {0: str(figure)}).replace("#,##0", form.replace('"', "&quot;"))
    names = dimension("strDim", "cat", {0: "Ann"})
    assert f"| Ann | {shown} |" in in_document(NEWER, newer("funnel", names + values))


@pytest.mark.parametrize("tell", [in_document, on_slide])
def test_the_shapes_of_a_diagram_are_a_list(tell: Any) -> None:
    """A process is told nowhere else; shapes without words are none, and a damaged file may lead in a circle."""
    links = [("doc", "b", 1), ("doc", "a", 0), ("b", "c", 0), ("doc", "e", 2), ("e", "d", 0), ("c", "b", 0)]
    data = diagram(*links, a="Ask", b="Check", c="by two", d="Pay", e="")
    assert [line for line in tell(DIAGRAM, data).splitlines() if line.lstrip().startswith("-")] == [
        *("- Ask", "- Check", "  - by two", "- Pay"),
    ]


@pytest.mark.parametrize("tell", [in_document, on_slide])
def test_a_chart_of_points_without_end_is_left_out(tell: Any) -> None:
    """A file of a few bytes would fill the memory."""
    many = dimension("numDim", "val", dict.fromkeys(range(100_001), "7"))
    assert "| 7 |" not in tell(NEWER, newer("funnel", many))
    data = CategoryChartData()
    data.categories = ["Ann"]
    for year in range(11):
        data.add_series(str(year), [7])
    xml = ChartXmlWriter(XL_CHART_TYPE.COLUMN_CLUSTERED, data).xml
    assert "| Ann | 7 | 7 |" in tell(CHART, xml.encode())
    assert "| Ann | 7 |" not in tell(CHART, xml.replace('ptCount val="1"', 'ptCount val="99999"').encode())
