"""Charts and diagrams of slides and documents: what they say stands in parts of their own."""

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextlib import suppress
from typing import Any, Final

from haystack_integrations.crag.formats.charts import chart_of
from haystack_integrations.crag.formats.diagrams import diagram_of
from haystack_integrations.crag.formats.newer_charts import newer_chart_of

_ID: Final = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
# By the element that names the part: by what attribute, and what reads it.
_READERS: Final[Mapping[str, tuple[str, Callable[[bytes], Iterator[str | list[list[str]]]]]]] = {
    "{http://schemas.openxmlformats.org/drawingml/2006/chart}chart": ("id", chart_of),
    "{http://schemas.microsoft.com/office/drawing/2014/chartex}chart": ("id", newer_chart_of),
    "{http://schemas.openxmlformats.org/drawingml/2006/diagram}relIds": ("dm", diagram_of),
}


def graphics_of(element: Any, links: MutableMapping[str, Any]) -> Iterator[str | list[list[str]]]:
    """
    Read the charts and diagrams that an element shows.

    :param element: A shape or a drawing.
    :param links: The relationships of what it is a part of, by their ids. Those that were followed are taken out: a
        file may show a chart without end.
    :returns: Lines of text, and the rows of tables; nothing of a graphic that cannot be read.
    """
    for one in element.iter(*_READERS):
        name, read = _READERS[one.tag]
        with suppress(Exception):  # whatever a damaged part, or a kind that is not known, leads its reader to
            yield from list(read(links.pop(one.get(_ID + name)).target_part.blob))
