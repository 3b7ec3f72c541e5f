"""What a diagram of Office says (SmartArt): a process, a hierarchy or a cycle, as a list."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from haystack_integrations.crag.formats.office_parts import part_of

_DIAGRAM: Final = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"
_DRAWING: Final = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_DEEPEST: Final = 20


def diagram_of(data: bytes) -> Iterator[str]:
    """
    Write a diagram as a list.

    :param data: The part of a file that is the diagram's data.
    :returns: The texts of its shapes in order, each below the one that it belongs to.
    :raises Exception: lxml's, for a damaged part.
    """
    root = part_of(data)
    points = {one.get("modelId"): one for one in root.iter(f"{_DIAGRAM}pt")}
    below = defaultdict[str | None, list[tuple[int, str | None]]](list)
    for one in root.iter(f"{_DIAGRAM}cxn"):
        if one.get("type", "parOf") == "parOf":
            below[one.get("srcId")].append((int(one.get("srcOrd", "0")), one.get("destId")))
    left = [(0, name) for name, one in points.items() if one.get("type") == "doc"]
    while left:
        level, name = left.pop()
        point = points.pop(name, None)  # once: a damaged file may lead in a circle
        if point is None:
            continue
        text = " ".join(" ".join("".join(line.itertext(f"{_DRAWING}t")) for line in point.iter(f"{_DRAWING}p")).split())
        if text:
            yield f"{'  ' * (level - 1)}- {text}"
        inner = min(level + 1, _DEEPEST) if text or not level else level
        left += [(inner, one) for _, one in sorted(below[name], key=lambda other: other[0], reverse=True)]
