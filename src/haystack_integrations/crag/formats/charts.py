"""What the charts of slides and documents show: figures with their categories, series and units."""

from collections.abc import Iterator
from contextlib import suppress
from itertools import zip_longest
from typing import Any, Final

from haystack_integrations.crag.formats.number_formats import as_moment, shown

_PLACES: Final = ".//c:ptCount/@val | .//c:pt/@idx"
_CHARTS: Final = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
# Kinds that python-pptx gives up, and one that keeps its figures in the same way.
_ALIKE: Final = {
    "area3DChart": "areaChart",
    "bar3DChart": "barChart",
    "line3DChart": "lineChart",
    "pie3DChart": "pieChart",
    "ofPieChart": "pieChart",
    "stockChart": "lineChart",
    "surfaceChart": "lineChart",
    "surface3DChart": "lineChart",
}
_MOST_POINTS: Final = 100_000  # a file of a few bytes may name any number of them
_MOST_FIGURES: Final = 1_000_000  # of all series


def chart_of(data: bytes) -> "Iterator[str | list[list[str]]]":
    """
    Write a chart as tables below its title.

    :param data: The part of a file that is the chart.
    :returns: The title, and for each kind of plot in the chart the figures in rows, below the names of its series.
    :raises ValueError: When it would have too many; python-pptx's errors are of many kinds.
    """
    from pptx.chart.chart import Chart  # a fifth of a second that no question needs
    from pptx.oxml import parse_xml

    made: Any = Chart
    chart = made(parse_xml(data), None)  # what it is a part of is not looked at
    farthest = max(map(int, chart._chartSpace.xpath(_PLACES)), default=0)
    if farthest > _MOST_POINTS or farthest * len(chart._chartSpace.xpath(".//c:ser")) > _MOST_FIGURES:
        msg = f"got a chart of more than {_MOST_POINTS} points, or {_MOST_FIGURES} figures"
        raise ValueError(msg)
    title = chart.chart_title.text_frame.text if chart.has_title and chart.chart_title.has_text_frame else ""
    yield from filter(None, [" ".join(title.split())])
    _with_known_kinds(chart)
    across, up = _axes(chart)
    is_1904 = chart._chartSpace.date_1904
    for plot in chart.plots:
        series = list(plot.series)
        if any(one._element.xpath("./c:yVal") for one in series):  # whose others may have been left out
            size = ["Size"] if any(one._element.xpath("./c:bubbleSize") for one in series) else []
            points = (row for one in series for row in _points(one, is_1904=is_1904))
            rows = [["", across or "X", up or "Y", *size], *points]
        else:
            names = (f"{one.name} ({up})" if up else one.name for one in series)
            columns = (_figures(one, "val", is_1904=is_1904) for one in series)
            figures = zip_longest(_categories(plot, is_1904=is_1904), *columns, fillvalue="")
            rows = [[across, *names], *map(list, figures)]
        yield rows


def _with_known_kinds(chart: Any) -> None:
    """Exchange what holds the figures, where its name alone keeps their reader from them."""
    for plot in chart._chartSpace.xpath("./c:chart/c:plotArea/*"):
        if known := _ALIKE.get(plot.tag.removeprefix(_CHARTS)):
            made = plot.makeelement(f"{_CHARTS}{known}")
            made.extend(list(plot))
            plot.getparent().replace(plot, made)


def _axes(chart: Any) -> tuple[str, str]:
    """Give the titles of the axes; with two for values nothing says which series is of which."""
    titles = ["", ""]
    values = chart._chartSpace.xpath(".//c:valAx")
    scattered = bool(chart._chartSpace.xpath(".//c:yVal"))
    for place, name in enumerate(("category_axis", "value_axis")):
        if place == 1 and len(values) > 1 + scattered:
            break
        with suppress(ValueError):  # a pie has none
            axis = getattr(chart, name)
            titles[place] = " ".join(axis.axis_title.text_frame.text.split()) if axis.has_title else ""
    return titles[0], titles[1]


def _categories(plot: Any, *, is_1904: bool) -> list[str]:
    """Give the names of rows: dates as such, and below others the whole of them, as in `Europe, Germany`."""
    form = plot._element.xpath("string(./c:ser[1]/c:cat/c:numRef/c:numCache/c:formatCode)")
    labels = ([_date(str(one), form, is_1904=is_1904) for one in levels] for levels in plot.categories.flattened_labels)
    return [", ".join(filter(None, levels)) for levels in labels]


def _date(label: str, form: str, *, is_1904: bool) -> str:
    with suppress(ValueError):
        return as_moment(float(label), form, is_1904=is_1904) or label
    return label


def _points(series: Any, *, is_1904: bool) -> Iterator[list[str]]:
    columns = (_figures(series, name, is_1904=is_1904) for name in ("xVal", "yVal", "bubbleSize"))
    for point in zip_longest(*columns, fillvalue=""):
        yield [series.name, *point]


def _figures(series: Any, name: str, *, is_1904: bool) -> list[str]:
    """Give the figures of a series as the chart shows them, with gaps."""
    form = series._element.xpath(f"string(./c:{name}//c:formatCode)") or "General"
    found = {}
    for point in series._element.xpath(f"./c:{name}//c:pt"):
        text = "".join(point.xpath("string(./c:v)"))
        with suppress(ValueError):
            text = as_moment(float(text), form, is_1904=is_1904) or shown(float(text), form)
        found[int(point.get("idx"))] = text
    return [found.get(place, "") for place in range(max(found, default=-1) + 1)]
