"""PptxToMarkdown: what is on a slide stands below its title."""

from collections.abc import Callable
from copy import deepcopy
from datetime import date
from io import BytesIO
from typing import Any

import pytest
from haystack.dataclasses import ByteStream
from pptx import Presentation
from pptx.chart.data import BubbleChartData, CategoryChartData, XyChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.oxml import parse_xml
from pptx.oxml.ns import nsdecls, qn
from pptx.util import Inches, Pt

from haystack_integrations.crag.components import PptxToMarkdown

TITLE_AND_TEXT, TITLE_ONLY, EMPTY = 1, 5, 6


def told(file: "Presentation") -> str:
    """Convert a presentation."""
    file.save(data := BytesIO())
    (document,) = PptxToMarkdown().run([ByteStream(data.getvalue(), meta={"source": "x.pptx"})])["documents"]
    assert document.meta == {"source": "x.pptx"}
    return document.content or ""


def added(file: "Presentation", layout: int, title: str = "") -> "Presentation":
    """Add a slide."""
    slide = file.slides.add_slide(file.slide_layouts[layout])
    if title:
        slide.shapes.title.text = title
    return slide


def test_titles_are_headings_and_paragraphs_a_list_by_level() -> None:
    """A title of two lines is one heading; a single paragraph is no list."""
    file = Presentation()
    body = added(file, TITLE_AND_TEXT, "Refunds\nof 2025").placeholders[1].text_frame
    body.text = "In two weeks\n "
    below = body.add_paragraph()
    below.text, below.level = "to the account that paid", 1
    added(file, TITLE_AND_TEXT, "Delivery").placeholders[1].text = "# In three days"
    assert told(file).split("\n") == [
        *("## Refunds of 2025", "", "- In two weeks", "  - to the account that paid", ""),
        *("## Delivery", "", "\\# In three days"),
    ]


def test_a_title_without_a_place_for_one_is_known_by_its_look() -> None:
    """Programs that write slides put it into a box like others: each passage stood below "Slide 1"."""
    file = Presentation()

    def slide(*boxes: tuple[str, float, int]) -> str:
        made = added(file, EMPTY)
        for text, top, size in boxes:
            run = made.shapes.add_textbox(0, Inches(top), Inches(5), Inches(1)).text_frame.paragraphs[0].add_run()
            run.text, run.font.size = text, Pt(size)
        return told(file).split("\n\n## ")[-1].removeprefix("## ")

    assert slide(("24 months", 3, 20), ("Warranty terms", 0.3, 32)) == "Warranty terms\n\n24 months"
    assert slide(("45 %", 0.3, 60), ("of repairs", 2, 20)).startswith("Slide 2\n\n")  # a figure
    assert slide(("Thank you", 4, 60), ("all", 0.3, 20)).startswith("Slide 3\n\n")  # in the middle
    assert slide(("One", 0.3, 30), ("Two", 0.3, 30)).startswith("Slide 4\n\n")
    assert slide(("a sentence " * 8, 0.3, 30), ("Two", 3, 20)).startswith("Slide 5\n\n")
    box = added(file, TITLE_ONLY).shapes.add_textbox(0, 0, Inches(5), Inches(1))  # the place for a title left empty
    run = box.text_frame.paragraphs[0].add_run()
    run.text, run.font.size = "Terms", Pt(32)
    assert told(file).endswith("\n\n## Terms")
    box._element.spPr.remove(box._element.spPr.xfrm)  # it may stand anywhere
    assert told(file).endswith("\n\n## Slide 6\n\nTerms")


def test_a_text_that_is_marked_as_the_title_is_one_whatever_its_number() -> None:
    """PptxGenJS counts the places of a slide from 100, and the title had 0 as python-pptx reads it."""
    file = Presentation()
    slide = added(file, TITLE_AND_TEXT, "Refunds")
    slide.placeholders[1].text = "In two weeks"
    slide.shapes.title._element.xpath(".//p:ph")[0].set("idx", "100")
    for name in slide.shapes._spTree.xpath("./p:sp//p:cNvPr"):
        name.set("id", "7")  # as careless programs do: all others of that number were left out
    assert told(file) == "## Refunds\n\nIn two weeks"


def test_a_slide_with_a_picture_in_place_of_its_title_is_read() -> None:
    """PowerPoint lets one put a picture there: of the whole file nothing was read."""
    file = Presentation()
    slide = added(file, TITLE_AND_TEXT, "Refunds")
    slide.placeholders[1].text = "In two weeks"
    title = slide.shapes.title._element
    place = title.xpath(".//p:nvPr")[0]
    title.addprevious(
        parse_xml(
            f'<p:pic {nsdecls("p", "a")}><p:nvPicPr><p:cNvPr id="2" name=""/><p:cNvPicPr/></p:nvPicPr><p:spPr/></p:pic>'
        )
    )
    title.getprevious()[0].append(place)
    title.getparent().remove(title)
    added(file, TITLE_AND_TEXT, "Delivery").placeholders[1].text = "In three days"
    assert told(file) == "## Slide 1\n\nIn two weeks\n\n## Delivery\n\nIn three days"


def test_items_have_the_numbers_that_powerpoint_counts() -> None:
    """They stand nowhere in the file: nothing said which step is the third."""
    file = Presentation()
    frame = added(file, TITLE_AND_TEXT, "Steps").placeholders[1].text_frame
    items = [
        ("Open", 0, 'type="arabicPeriod"'),
        ("red", 1, 'type="alphaLcParenR"'),
        ("blue", 1, 'type="alphaLcParenR"'),
        ("Press", 0, 'type="arabicPeriod"'),
        ("once", 1, 'type="romanUcParenBoth"'),
        ("A remark", 0, ""),
        ("Close", 0, 'type="arabicPlain" startAt="7"'),
    ]
    for place, (text, level, look) in enumerate(items):
        one = frame.add_paragraph() if place else frame.paragraphs[0]
        one.text, one.level = text, level
        if look:
            one._p.get_or_add_pPr().append(parse_xml(f"<a:buAutoNum {nsdecls('a')} {look}/>"))
    wanted = ["1. Open", "  a) red", "  b) blue", "2. Press", "  (I) once", "- A remark", "7. Close"]
    assert told(file).split("\n")[2:] == wanted


def test_tables_groups_and_notes_are_read() -> None:
    """Haystack's converter leaves all three out."""
    file = Presentation()
    slide = added(file, TITLE_ONLY, "Prices")
    table = slide.shapes.add_table(2, 2, Inches(1), Inches(1), Inches(4), Inches(1)).table
    for cell, text in zip(table.iter_cells(), ["Plan", "Price", "Basic", "9"], strict=True):
        cell.text = text
    group = slide.shapes.add_group_shape().shapes.add_group_shape()
    group.shapes.add_textbox(0, 0, 9, 9).text_frame.text = "Without tax"
    slide.notes_slide.notes_text_frame.text = "Ask before you give a discount.\nNever twice."
    assert told(file).split("\n\n") == [
        "## Prices",
        "| Plan | Price |\n| --- | --- |\n| Basic | 9 |",
        "Without tax",
        "Ask before you give a discount.\nNever twice.",
    ]


def merged(file: "Presentation", texts: list[str], *areas: tuple[tuple[int, int], tuple[int, int]]) -> None:
    """Add a slide with a table of four rows and three columns, of which some cells are one, by their corners."""
    frame = added(file, TITLE_ONLY, "Prices").shapes.add_table(4, 3, Inches(1), Inches(1), Inches(4), Inches(1))
    for cell, text in zip(frame.table.iter_cells(), texts, strict=True):
        cell.text = text
    for first, last in areas:
        frame.table.cell(*first).merge(frame.table.cell(*last))


def test_a_cell_merged_over_rows_is_in_each_of_them_and_one_over_columns_once() -> None:
    """A row that goes on with a merged cell said nothing of what it is of."""
    file = Presentation()
    texts = ["Plan", "Size", "Price", "Basic", "small", "5", "", "large", "9", "Team", "", "19"]
    merged(file, texts, ((1, 0), (2, 0)), ((3, 0), (3, 1)))
    assert told(file).split("\n")[4:] == ["| Basic | small | 5 |", "| Basic | large | 9 |", "| Team |  | 19 |"]


def test_names_over_several_columns_are_part_of_each_and_a_figure_over_them_is_of_each() -> None:
    """Nothing said which price was the net one, and that of a free plan had none."""
    file = Presentation()
    texts = ["Plan", "Price", "", "", "net", "gross", "Basic", "9", "10", "Free", "0", ""]
    merged(file, texts, ((0, 0), (1, 0)), ((0, 1), (0, 2)), ((3, 1), (3, 2)))
    rows = ["| Plan | Price net | Price gross |", "| --- | --- | --- |", "| Basic | 9 | 10 |", "| Free | 0 | 0 |"]
    assert told(file).split("\n")[2:] == rows


def test_the_figures_of_a_chart_are_a_table() -> None:
    """Its categories below the names of its series."""
    file, data = Presentation(), CategoryChartData()
    data.categories = ["North", "South"]
    data.add_series("2024", (9, 11.5))
    data.add_series("2025", (10, None))
    slide = added(file, TITLE_ONLY, "Sales")
    chart = slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, 0, 0, Inches(4), Inches(3), data).chart
    chart.has_title = True
    chart.chart_title.text_frame.text = "In millions"
    table = ["|  | 2024 | 2025 |", "| --- | --- | --- |", "| North | 9 | 10 |", "| South | 11.5 |  |"]
    assert told(file).split("\n\n") == ["## Sales", "In millions", "\n".join(table)]


def rows_of(
    data: CategoryChartData | XyChartData | BubbleChartData, unit: str = "", change: Callable[[Any], None] | None = None
) -> list[str]:
    """Tell the rows of a chart with such figures."""
    file = Presentation()
    place = Inches(1), Inches(1), Inches(3), Inches(3)
    kinds = {XyChartData: XL_CHART_TYPE.XY_SCATTER, BubbleChartData: XL_CHART_TYPE.BUBBLE}
    kind = kinds.get(type(data), XL_CHART_TYPE.COLUMN_CLUSTERED)
    chart = added(file, TITLE_ONLY, "Figures").shapes.add_chart(kind, *place, data).chart
    if unit:
        chart.value_axis.axis_title.text_frame.text = unit
    if change is not None:
        change(chart)
    return [line for line in told(file).split("\n")[2:] if "---" not in line]


def test_figures_of_a_chart_have_the_units_that_it_shows() -> None:
    """By their format, or the title of the axis; 12.5% was 0.125. The name of a single series stood above the rows."""
    data = CategoryChartData(number_format="0.0%")
    data.categories = ["North"]
    data.add_series("Share", (0.125,))
    assert rows_of(data) == ["|  | Share |", "| North | 12.5% |"]
    data = CategoryChartData(number_format='#,##0 "€"')
    data.categories = ["North"]
    data.add_series("Sales", (1500,))
    assert rows_of(data, "Millions") == ["|  | Sales (Millions) |", "| North | 1500 € |"]


@pytest.mark.parametrize(
    "kind",
    ["bar3DChart", "line3DChart", "pie3DChart", "area3DChart", "ofPieChart", "stockChart", "surfaceChart"],
)
def test_figures_of_a_chart_in_depth_are_read_as_those_of_a_flat_one(kind: str) -> None:
    """python-pptx makes no such chart, and gives up those that PowerPoint makes."""

    def renamed(chart: Any) -> None:
        (plot,) = chart._chartSpace.xpath(".//c:barChart")
        made = plot.makeelement(qn(f"c:{kind}"))
        made.extend(list(plot))
        plot.getparent().replace(plot, made)

    data = CategoryChartData()
    data.categories = ["North", "South"]
    data.add_series("Sales", (9, 11.5))
    assert rows_of(data, change=renamed) == ["|  | Sales |", "| North | 9 |", "| South | 11.5 |"]


def test_categories_of_a_chart_are_dates_and_name_what_they_are_part_of() -> None:
    """A date was the number that stands for it in the file, and of two levels one was told."""
    data = CategoryChartData()
    data.categories = [date(2026, 1, 1), date(2026, 2, 1)]
    data.add_series("Sales", (1, None))
    assert rows_of(data) == ["|  | Sales |", "| 2026-01-01 | 1 |", "| 2026-02-01 |  |"]
    data = CategoryChartData()
    for region, land in (("Europe", "France"), ("Asia", "Japan")):
        data.add_category(region).add_sub_category(land)
    data.add_series("Sales", (1, 2))
    assert rows_of(data) == ["|  | Sales |", "| Europe, France | 1 |", "| Asia, Japan | 2 |"]


def test_points_of_a_scatter_chart_have_both_of_their_figures() -> None:
    """One alone was told, as if it were of nothing."""
    data = XyChartData()
    series = data.add_series("Trial")
    series.add_data_point(1.5, 10)
    assert rows_of(data, "Kelvin") == ["|  | X | Kelvin |", "| Trial | 1.5 | 10 |"]
    bubbles = BubbleChartData()
    series = bubbles.add_series("Trial")
    series.add_data_point(1, 2, 30)
    series.add_data_point(4, 5, 60)
    assert rows_of(bubbles) == ["|  | X | Y | Size |", "| Trial | 1 | 2 | 30 |", "| Trial | 4 | 5 | 60 |"]


def test_points_of_a_scatter_chart_whose_other_figures_were_left_out_are_read() -> None:
    """PowerPoint counts them from 1; the table had the name of the series and nothing else."""
    data = XyChartData()
    data.add_series("Trial").add_data_point(1.5, 10)
    data.add_series("Control").add_data_point(2, 20)

    def without(chart: Any) -> None:
        for one in chart._chartSpace.xpath(".//c:xVal"):
            one.getparent().remove(one)

    assert rows_of(data, "Kelvin", without) == ["|  | X | Kelvin |", "| Trial |  | 10 |", "| Control |  | 20 |"]


def test_axes_and_figures_of_a_chart_are_told_as_far_as_they_say_something() -> None:
    """Of two axes for figures nothing says which is a series' own; a gap stays one, and a word stays a word."""
    data = CategoryChartData()
    data.categories = ["North", "South"]
    data.add_series("Sales", (1, 2))

    def changed(chart: Any) -> None:
        chart.category_axis.axis_title.text_frame.text = "Half of\vthe country"
        axis = chart._chartSpace.xpath(".//c:valAx")[0]
        axis.addnext(deepcopy(axis))
        first, second = chart._chartSpace.xpath(".//c:val//c:pt")
        first.getparent().remove(first)
        second.xpath("./c:v")[0].text = "none yet"

    rows = rows_of(data, "Millions", changed)
    assert rows == ["| Half of the country | Sales |", "| North |  |", "| South | none yet |"]


def test_what_is_struck_through_is_marked_as_of_pages() -> None:
    """The old price stood beside the new one as if both were asked."""
    file = Presentation()
    box = added(file, TITLE_ONLY, "Prices").shapes.add_textbox(*map(Inches, (1, 1, 2, 1)))
    for text, look in (("10 euro", "sngStrike"), (" 20 euro", "noStrike")):
        run = box.text_frame.paragraphs[0].add_run()
        run.text = text
        run.font._element.set("strike", look)
    assert told(file).split("\n")[2:] == ["~~10 euro~~ 20 euro"]


def test_a_chart_that_names_points_without_end_is_left_out() -> None:
    """A file of a few bytes more would take all memory; what else is on the slide is read."""
    file, data = Presentation(), CategoryChartData()
    data.categories = ["North"]
    data.add_series("Sales", (1,))
    slide = added(file, TITLE_ONLY, "Figures")
    place = Inches(1), Inches(1), Inches(3), Inches(3)
    chart = slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, *place, data).chart
    slide.shapes.add_textbox(*place).text_frame.text = "In euro"
    for count in chart._chartSpace.xpath(".//c:ptCount"):
        count.set("val", "1000000000")
    assert told(file) == "## Figures\n\nIn euro"


def test_what_stands_on_a_slide_without_a_title_is_not_of_the_slide_before() -> None:
    """It is told by its number; a slide without a word is none, and a hidden one is not read."""
    file = Presentation()
    added(file, TITLE_ONLY, "Prices")
    added(file, EMPTY)
    added(file, EMPTY).shapes.add_textbox(0, 0, 9, 9).text_frame.text = "Thank you"
    added(file, TITLE_ONLY, "Old prices").element.set("show", "0")
    assert told(file) == "## Prices\n\n## Slide 3\n\nThank you"


def test_a_file_that_cannot_be_read_gives_nothing() -> None:
    """As with Haystack's converters."""
    assert PptxToMarkdown().run([ByteStream(b"PK\x03\x04\xff")])["documents"] == []


def test_a_text_with_a_formula_is_read_and_what_is_raised_in_it() -> None:
    """PowerPoint puts the whole text into an alternative for programs that show formulas; its reader saw nothing."""
    file = Presentation()
    shape = added(file, TITLE_AND_TEXT, "Energy").placeholders[1]
    shape.text_frame.text = "Of 10"
    for words, baseline in (("6", "30000"), (" parts CO", "0"), ("2", "-25000"), (": ", "0")):
        run = shape.text_frame.paragraphs[0].add_run()
        run.text = words
        run._r.get_or_add_rPr().set("baseline", baseline)
    spaces = " ".join(
        f'xmlns:{name}="http://schemas.{place}"'
        for name, place in (
            ("mc", "openxmlformats.org/markup-compatibility/2006"),
            ("a14", "microsoft.com/office/drawing/2010/main"),
            ("m", "openxmlformats.org/officeDocument/2006/math"),
        )
    )
    either = parse_xml(
        f'<mc:AlternateContent {spaces}><mc:Choice Requires="a14"/><mc:Fallback/><a14:m><m:oMath><m:r><m:t>E=m</m:t>'
        "</m:r></m:oMath></a14:m></mc:AlternateContent>"
    )
    shape.text_frame.paragraphs[0]._p.append(either[2])
    shape._element.addprevious(either)
    either[0].append(shape._element)
    assert told(file) == "## Energy\n\nOf 10^6 parts CO2: E=m"
