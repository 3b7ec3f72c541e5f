"""What the kinds of charts show that Office has had since 2016: waterfalls, funnels, treemaps, histograms."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, Final

from haystack_integrations.crag.formats.number_formats import as_moment, shown
from haystack_integrations.crag.formats.office_parts import part_of

_NAMES: Final = {
    "cx": "http://schemas.microsoft.com/office/drawing/2014/chartex",
    "a": "http://schemas.openxmlformats.org/drawingml/2006/main",
}
_TITLE: Final = "./cx:chart/cx:title//cx:v | ./cx:chart/cx:title//a:t"
_MOST_POINTS: Final = 100_000  # a file of a few bytes may name any number of them


def newer_chart_of(data: bytes) -> Iterator[str | list[list[str]]]:
    """
    Write a chart as tables below its title.

    :param data: The part of a file that is the chart.
    :returns: The title, and for each series its figures in rows, behind what they are of, from the outermost inwards.
    :raises ValueError: When it would have too many; lxml's errors are of many kinds.
    """
    root = part_of(data)
    yield from filter(None, [" ".join("".join(part.text or "" for part in _found(root, _TITLE)).split())])
    left = _MOST_POINTS
    for series in _found(root, "./cx:chart/cx:plotArea/cx:plotAreaRegion/cx:series"):
        known = "".join(_found(series, "./cx:dataId/@val"))
        dimensions = [part for one in _found(root, "./cx:chartData/cx:data") if one.get("id") == known for part in one]
        rows = list(_rows(_levels(dimensions, "strDim"), _levels(dimensions, "numDim")))
        left -= sum(map(len, rows))
        if left < 0:
            msg = f"got a chart of more than {_MOST_POINTS} points"
            raise ValueError(msg)
        if rows:
            name = " ".join("".join(part.text or "" for part in _found(series, "./cx:tx//cx:v")).split())
            yield [["", *[name or "Value"] * (len(rows[0]) - 1)], *rows]


def _rows(names: Sequence[dict[int, str]], figures: Sequence[dict[int, str]]) -> Iterator[list[str]]:
    """Put figures behind their names; that of a group stands only where the group begins."""
    said = [""] * len(names)
    for at in sorted({at for one in (*names, *figures) for at in one}):
        pairs = enumerate(zip(names, said, strict=True))
        said = [level.get(at, before if depth else "") for depth, (level, before) in pairs]
        if any(at in one for one in figures):
            yield [", ".join(filter(None, reversed(said))), *(one.get(at, "") for one in figures)]


def _levels(dimensions: Sequence[Any], kind: str) -> list[dict[int, str]]:
    found = (_points(level) for one in dimensions if _is(one, kind) for level in _found(one, "./cx:lvl"))
    return [points for points in found if points]


def _points(level: Any) -> dict[int, str]:
    """Give what stands at each place, numbers as the chart shows them."""
    found, form = {}, level.get("formatCode") or "General"
    for point in _found(level, "./cx:pt"):
        found[int(point.get("idx"))] = text = " ".join((point.text or "").split())
        with suppress(ValueError):
            if _is(level.getparent(), "numDim"):
                found[int(point.get("idx"))] = as_moment(float(text), form) or shown(float(text), form)
    return found


def _is(one: Any, name: str) -> bool:
    return bool(one.tag == f"{{{_NAMES['cx']}}}{name}")


def _found(one: Any, path: str) -> Any:
    return one.xpath(path, namespaces=_NAMES)
