"""
The pictures of a report, as SVG to stand in a page: no script, no font, no picture from elsewhere.

Colours are the page's own (classes, defined in its style sheet), so that they follow its dark and light form. Each
picture has a title and a description for those who do not see it; the numbers stand in a table beside it.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from markupsafe import Markup

_WIDTH: Final = 520
_HEIGHT: Final = 320
_LEFT: Final = 52
_RIGHT: Final = 504
_TOP: Final = 14
_FLOOR: Final = 276
_STEPS: Final = 5
_BINS: Final = 20
_BAR_LEFT: Final = 204
_BAR_RIGHT: Final = 454
_BAR_STEP: Final = 34
_ROW_NAME: Final = 24  # height of the name above a row of a histogram


def reliability(curve: Sequence[Mapping[str, float]]) -> Markup:
    """
    Draw stated probability against observed share; the larger a dot, the more questions.

    :param curve: From `probabilities.reliability_curve`.
    :returns: The picture.
    """
    most = max((point["n"] for point in curve), default=1)
    dots = [
        _dot(
            (_x(point["probability"]), _y(point["observed"])),
            f"said {point['probability']:.2f}, was {point['observed']:.2f}, {point['n']:.0f} questions",
            3.5 + 4.5 * math.sqrt(point["n"] / most),
        )
        for point in curve
    ]
    line = [(_x(point["probability"]), _y(point["observed"])) for point in curve]
    parts = (
        _axes("stated probability of “correct”"),
        _scale("observed share of “correct”"),
        _line([(_x(0), _y(0)), (_x(1), _y(1))], "ideal"),
        _line(line, "line"),
        *dots,
    )
    return _picture("Reliability of the probabilities", "On the dashed line, what was said is what happened.", *parts)


def cost(curve: Sequence[Mapping[str, Any]]) -> Markup:
    """
    Draw the quality of a cascade against the share of questions that it sends to an LLM.

    :param curve: From `risk.cost_curve`.
    :returns: The picture.
    """
    qualities = [float(point["macro_f1"]) for point in curve]
    low = math.floor(min(qualities) * _STEPS) / _STEPS
    line = [(_x(float(point["share_sent"])), _y(point["macro_f1"], low)) for point in curve]
    parts = (
        _axes("share of questions sent to the LLM"),
        _scale("macro-F1 of the cascade", low),
        _line([(_x(0), line[-1][1]), (_x(1), line[-1][1])], "ideal"),
        _line(line, "line"),
        _dot(line[0], f"nothing sent: macro-F1 {qualities[0]:.3f}"),
        _dot(line[-1], f"everything sent: macro-F1 {qualities[-1]:.3f}"),
    )
    return _picture("Cost curve of a cascade", "The dashed line is everything sent to the LLM.", *parts)


def histograms(groups: Mapping[str, Sequence[float]], title: str) -> Markup:
    """
    Draw how scores of lists are spread, one row for each group, on one axis.

    :param groups: Scores in [0, 1] by the group's name, which is also the class that colours it.
    :param title: What the picture is.
    :returns: The picture.
    """
    parts, height, width = [_axes("score of the list")], (_FLOOR - _TOP) / max(len(groups), 1), _x(1 / _BINS) - _x(0)
    for row, (name, scores) in enumerate(groups.items()):
        floor = _TOP + (row + 1) * height
        counts, edges = np.histogram(np.clip(scores, 0, 1), bins=_BINS, range=(0, 1))
        unit = (height - _ROW_NAME) / max(int(counts.max()), 1)
        parts.append(_tag("line", kind="axis", x1=_LEFT, y1=floor, x2=_RIGHT, y2=floor))
        for count, start, end in zip(counts, edges, edges[1:], strict=False):
            if count:
                said = _tag("title", f"{name}, score {start:.2f} to {end:.2f}: {count}")
                size = {"y": floor - count * unit, "width": width - 1.5, "height": count * unit}
                parts.append(_tag("rect", said, kind=f"fill {name}", x=_x(start) + 0.75, **size))
        parts.append(_tag("text", f"{name} ({len(scores):,})", kind="name", x=_LEFT + 4, y=floor - height + 14))
    return _picture(title, f"One row each: {', '.join(groups)}. Each row has its own height.", *parts)


def bars(rows: Sequence[tuple[str, float, Mapping[str, float] | None]], title: str) -> Markup:
    """
    Draw shares as bars, with their intervals as whiskers.

    :param rows: Name, share and interval of each.
    :param title: What the picture is.
    :returns: The picture.
    """
    parts, length = [], _BAR_RIGHT - _BAR_LEFT
    for row, (name, value, bounds) in enumerate(rows):
        middle = row * _BAR_STEP + 20
        place = {"x": _BAR_LEFT, "y": middle - 7, "height": 14, "rx": 3}
        parts += [
            _tag("text", name, kind="name end", x=_BAR_LEFT - 10, y=middle + 4),
            _tag("rect", kind="track", width=length, **place),
            _tag("rect", kind="bar", width=length * _clip(value), **place),
            _tag("text", f"{value:.3f}", kind="name", x=_BAR_RIGHT + 12, y=middle + 4),
        ]
        if bounds:
            low, high = (_BAR_LEFT + length * _clip(bounds[end]) for end in ("low", "high"))
            path = f"M{low:.1f} {middle}H{high:.1f}M{low:.1f} {middle - 4}v8M{high:.1f} {middle - 4}v8"
            parts.append(_tag("path", kind="whisker", d=path))
    described = ", ".join(f"{name} {value:.2f}" for name, value, _ in rows)
    said = f"{described}. Whiskers: 95 % intervals." if any(bounds for *_, bounds in rows) else f"{described}."
    return _picture(title, said, *parts, height=len(rows) * _BAR_STEP + 8)


def _picture(title: str, description: str, *parts: Markup, height: int = _HEIGHT) -> Markup:
    said = _tag("title", title) + _tag("desc", description)
    label = {"role": "img", "viewBox": f"0 0 {_WIDTH} {height}", "aria-label": f"{title}. {description}"}
    return _tag("svg", said, *parts, **label)


def _axes(below: str) -> Markup:
    """Draw upright lines from 0 to 1, and what they are."""
    parts = []
    for tick in np.linspace(0, 1, _STEPS + 1):
        parts.append(_tag("line", kind="grid", x1=_x(tick), y1=_TOP, x2=_x(tick), y2=_FLOOR))
        parts.append(_tag("text", f"{tick:.1f}", kind="tick middle", x=_x(tick), y=_FLOOR + 17))
    parts.append(_tag("text", below, kind="axis-name middle", x=(_LEFT + _RIGHT) / 2, y=_HEIGHT - 8))
    return Markup("").join(parts)


def _scale(beside: str, low: float = 0) -> Markup:
    """Draw level lines from the lowest value to 1, and what they are."""
    parts = []
    for tick in np.linspace(low, 1, _STEPS + 1):
        height = _y(tick, low)
        parts.append(_tag("line", kind="grid", x1=_LEFT, y1=height, x2=_RIGHT, y2=height))
        parts.append(_tag("text", f"{tick:.2f}", kind="tick end", x=_LEFT - 7, y=height + 4))
    turned = f"translate(13 {(_TOP + _FLOOR) / 2:.0f}) rotate(-90)"
    return Markup("").join([*parts, _tag("text", beside, kind="axis-name middle", transform=turned)])


def _dot(at: tuple[float, float], said: str, radius: float = 5) -> Markup:
    return _tag("circle", _tag("title", said), kind="dot", cx=at[0], cy=at[1], r=radius)


def _line(points: Sequence[tuple[float, float]], kind: str) -> Markup:
    return _tag("polyline", kind=kind, points=" ".join(f"{x:.1f},{y:.1f}" for x, y in points))


def _tag(tag: str, *inside: str, **attributes: Any) -> Markup:
    """Write an element; texts and values are escaped, `kind` is its class."""
    written = Markup("")
    for name, value in attributes.items():
        shown = f"{value:.1f}" if isinstance(value, float) else value
        written += Markup(' {}="{}"').format("class" if name == "kind" else name, shown)
    return Markup("<{0}{1}>{2}</{0}>").format(tag, written, Markup("").join(inside))


def _x(share: float) -> float:
    return _LEFT + _clip(share) * (_RIGHT - _LEFT)


def _y(share: float, low: float = 0) -> float:
    return _FLOOR - _clip((share - low) / (1 - low) if low < 1 else 1) * (_FLOOR - _TOP)


def _clip(share: float) -> float:
    return min(max(share, 0.0), 1.0)
