"""
How the page of the comparison looks: blocks as Markdown and as HTML, and pictures as SVG.

Nothing is loaded from elsewhere and no script runs, by the page's own content security policy. Every text is escaped
here and nowhere else. Colours are classes, so that pictures follow the page's light and dark form; what a picture
shows stands in a table, too.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any, Final, NamedTuple
from urllib.parse import quote, urlsplit


class Link(NamedTuple):
    """A text that leads to an address."""

    text: str
    url: str


class Line(NamedTuple):
    """What is drawn of a system: its name, its side (`ours`, `peer`, `plain`), and points (x, value, low, high)."""

    name: str
    side: str
    points: Sequence[tuple[float, float, float | None, float | None]]


Text = str | Link | Sequence[str | Link]
Block = tuple[str, Any]
"""A kind and what it holds: `h1` `h2` `h3` `p` a text, `ul` texts, `pre` lines, `table` rows of texts, `svg`."""

STYLE: Final = """
:root { color-scheme: light dark; --page: #fff; --text: #1b2330; --soft: #5a6577; --line: #dde2ea; --ours: #2062ba;
  --peer: #b4540a; --plain: #707a88; --o0: #0f8a6a; --o1: #c8452f; --o2: #d3a000; --o3: #8a4fa8; --o4: #9aa4b3;
  --o5: #3b4453; }
@media (prefers-color-scheme: dark) { :root { --page: #11151c; --text: #e7ebf2; --soft: #9aa6b8; --line: #2d3644;
  --ours: #6ea8fe; --peer: #f5a15c; --plain: #a3adbb; --o0: #3cc79c; --o1: #f07a63; --o2: #e5c03d; --o3: #c491e0;
  --o4: #6d7787; --o5: #d5dae2; } }
body { margin: 0 auto; padding: 24px; max-width: 1160px; background: var(--page); color: var(--text);
  font: 16px/1.5 system-ui, sans-serif; }
a { color: var(--ours); } p, li { max-width: 84ch; overflow-wrap: anywhere; } h2 { margin-top: 2em; }
pre { white-space: pre-wrap; padding: 10px; border: 1px solid var(--line); } .wide { overflow-x: auto; margin: 16px 0; }
@media (max-width: 700px) { table { min-width: 64em; } }
table { border-collapse: collapse; font-size: 13.5px; } th, td { padding: 4px 9px; border-bottom: 1px solid var(--line);
  text-align: left; vertical-align: top; } thead { color: var(--soft); }
svg { width: 100%; height: auto; margin: 12px 0; font: 12px system-ui, sans-serif; } svg text { fill: var(--text); }
svg .soft { fill: var(--soft); } svg .end { text-anchor: end; } svg .middle { text-anchor: middle; }
svg .title { font-size: 15px; font-weight: 600; } path { fill: none; } .grid { stroke: var(--line); }
.lead { stroke: var(--soft); stroke-width: .6; opacity: .6; } .whisker { stroke: var(--text); }
"""
_COLOURS: Final = "".join(
    f".{name} {{ fill: var(--{name}); }} path.{name} {{ fill: none; stroke: var(--{name}); stroke-width: 1.5; }}\n"
    for name in ("ours", "peer", "plain", *(f"o{number}" for number in range(6)))
)
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_SIDES: Final = {"ours": "this package", "peer": "peers", "plain": "plain RAG"}
_WIDTH, _TOP, _ROW, _HEIGHT = 1080, 56, 24, 360
_STEPS: Final = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)


def markdown(blocks: Iterable[Block]) -> str:
    """
    Write a page as Markdown, without its pictures.

    :param blocks: The page.
    :returns: Its text.
    """
    return "\n\n".join(_marked(kind, held) for kind, held in blocks if kind != "svg") + "\n"


def _marked(kind: str, held: Any) -> str:
    match kind:
        case "table":
            head, *rows = ["| " + " | ".join(map(_plain, row)) + " |" for row in held]
            return "\n".join([head, "|" + "---|" * len(held[0]), *rows])
        case "ul":
            return "\n".join(f"- {_plain(one)}" for one in held)
        case "pre":
            lines = (" ".join(line.replace("`", "").split()) for line in held)
            return "\n".join(("```sh", *lines, "```"))
    return f"{'#' * int(kind[1])} {_plain(held)}" if kind[0] == "h" else _plain(held)


def _plain(text: Text) -> str:
    if isinstance(text, Link):
        return f"[{_plain(text.text)}]({_address(text.url)})" if _address(text.url) else _plain(text.text)
    if not isinstance(text, str):
        return "".join(map(_plain, text))
    marks = r"([\\`*\[\]|~]|(?<!\w)_|_(?!\w)|^[#+-](?= ))"
    return escape(re.sub(marks, r"\\\1", re.sub(r"\s+", " ", text)), quote=False)


def _address(url: str) -> str:
    """Give an address that may stand in a page; an empty one for any other."""
    return quote(url, safe="/:?=#%.-_~+") if urlsplit(url).scheme in ("", "https") else ""


def html(blocks: Iterable[Block], title: str) -> str:
    """
    Write a page as HTML.

    :param blocks: The page.
    :param title: Its title.
    :returns: Its text.
    """
    body = "\n".join(_tagged(kind, held) for kind, held in blocks)
    head = f'<meta charset="utf-8">\n<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
    head += '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    head += f"<title>{escape(title)}</title>\n<style>{STYLE}{_COLOURS}</style>"
    return f'<!DOCTYPE html>\n<html lang="en">\n<head>\n{head}\n</head>\n<body>\n{body}\n</body>\n</html>\n'


def _tagged(kind: str, held: Any) -> str:
    match kind:
        case "table":
            head, *rows = ["".join(f"<td>{_shown(cell)}</td>" for cell in row) for row in held]
            body = "\n".join(f"<tr>{row}</tr>" for row in rows)
            head = head.replace("<td>", '<th scope="col">').replace("</td>", "</th>")
            return f'<div class="wide"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>'
        case "ul":
            return "<ul>\n" + "\n".join(f"<li>{_shown(one)}</li>" for one in held) + "\n</ul>"
        case "svg":
            return str(held)
        case "pre":
            return "<pre>" + "\n".join(map(_shown, held)) + "</pre>"
    return f"<{kind}>{_shown(held)}</{kind}>"


def _shown(text: Text) -> str:
    if isinstance(text, Link):
        url, said = _address(text.url), escape(text.text)
        return f'<a href="{escape(url)}">{said}</a>' if url else said
    return escape(re.sub(r"\s+", " ", text)) if isinstance(text, str) else "".join(map(_shown, text))


def _tag(name: str, inner: str = "", kind: str = "", **entries: float) -> str:
    given = "".join(f' {key}="{value:.1f}"' for key, value in entries.items())
    return f'<{name} class="{kind}"{given}>{inner}</{name}>'


def _said(text: str, x: float, y: float, kind: str = "") -> str:
    return _tag("text", escape(text), kind, x=x, y=y)


def _path(kind: str, *points: tuple[float, float]) -> str:
    return f'<path class="{kind}" d="M{"L".join(f"{x:.1f} {y:.1f}" for x, y in points)}"/>'


def _picture(title: str, height: float, parts: Iterable[str], key: Mapping[str, str]) -> str:
    legend, x = "", 0.0
    for kind, name in key.items():
        legend += _tag("rect", kind=kind, x=x, y=28, width=11, height=11) + _said(name, x + 16, 38, "soft")
        x += 40 + 6.4 * len(name)
    inner = _said(title, 0, 16, "title") + legend + "".join(parts)
    return f'<svg viewBox="0 0 {_WIDTH} {height:.0f}" role="img" aria-label="{escape(title)}">{inner}</svg>'


def plot(title: str, below: str, lines: Sequence[Line], ticks: Mapping[float, str] | None = None) -> str:
    """
    Draw values against x, each system named at the right with its last value; what lies close is named further down.

    :param title: What the picture is.
    :param below: What x is.
    :param lines: Systems with one point or more.
    :param ticks: Words for places on the axis below; without them it is a scale from 0.
    :returns: SVG.
    """
    top = max([0.01, *(high or value for line in lines for _, value, _, high in line.points)])
    most = max([0.01, *(ticks or ()), *(x for line in lines for x, *_ in line.points)])
    floor, left, right = float(_TOP + _HEIGHT), 40.0, 660.0

    def at(x: float, value: float) -> tuple[float, float]:
        return left + (right - left) * x / most, floor - (_HEIGHT - 10) * value / top

    parts = [_path("grid", at(0, tick), at(most, tick)) for tick in _ticks(top)]
    parts += [_said(f"{tick:g}", left - 6, at(0, tick)[1] + 4, "soft end") for tick in _ticks(top)]
    words = ticks or {tick: f"{tick:g}" for tick in _ticks(most)}
    parts += [_said(word, at(x, 0)[0], floor + 18, "soft middle") for x, word in words.items()]
    parts.append(_said(below, (left + right) / 2, floor + 36, "soft middle"))
    last = 0.0
    for line in sorted((line for line in lines if line.points), key=lambda line: -line.points[-1][1]):
        places = [at(x, value) for x, value, *_ in line.points]
        parts += [_path(line.side, *places)] if len(places) > 1 else []
        parts += [_tag("circle", kind=line.side, cx=x, cy=y, r=3.5) for x, y in places]
        ends = [(at(x, low), at(x, high)) for x, _, low, high in line.points if low is not None and high is not None]
        parts += [_path(line.side, *both) for both in ends]
        last = max(places[-1][1], last + 15)
        parts.append(_path("lead", (places[-1][0] + 5, places[-1][1]), (right + 40, last)))
        parts.append(_said(f"{line.points[-1][1]:.2f}  {line.name}", right + 46, last + 4, line.side))
    return _picture(title, max(floor + 46, last + 20), parts, _SIDES)


def _ticks(most: float) -> list[float]:
    step = next((one for one in _STEPS if most / one <= 6), most)
    return [number * step for number in range(int(most / step + 1e-9) + 1)]


def bars(title: str, lines: Sequence[Line], unit: str) -> str:
    """
    Draw values as bars, their ranges as whiskers.

    :param title: What the picture is.
    :param lines: Systems with one point each.
    :param unit: Of the values.
    :returns: SVG.
    """
    most, left, parts = max([0.01, *(line.points[0][3] or line.points[0][1] for line in lines)]), 250.0, []
    wide = _WIDTH - left - 90
    for number, (name, side, ((_, value, low, high), *_)) in enumerate(lines):
        y, end = float(_TOP + number * _ROW), left + wide * value / most
        parts += [_said(name, left - 8, y + 13, "end")]
        parts += [_tag("rect", kind=side, x=left, y=y + 2, width=end - left, height=_ROW - 8)]
        if low is not None and high is not None:
            parts += [_path("whisker", (left + wide * low / most, y + 10), (left + wide * high / most, y + 10))]
            end = max(end, left + wide * high / most)
        parts += [_said(f"{value:.2f} {unit}", end + 7, y + 14)]
    return _picture(title, _TOP + len(lines) * _ROW + 8, parts, _SIDES)


def matrix(title: str, columns: Sequence[str], rows: Mapping[str, Sequence[Any]], key: Sequence[str]) -> str:
    """
    Draw shares as stacked bars, a cell for each system and column.

    :param title: What the picture is.
    :param columns: Their names.
    :param rows: By system its cells: a share for each entry of `key` and a word beside them, or None.
    :param key: What the shares are of.
    :returns: SVG.
    """
    left, wide = 250.0, (_WIDTH - 250.0) / max(1, len(columns))
    parts = []
    for number, words in enumerate(name.split() for name in columns):
        halves = words[: (len(words) + 1) // 2], words[(len(words) + 1) // 2 :]
        parts += [
            _said(" ".join(half), left + number * wide, _TOP + 8 + 14 * at, "soft") for at, half in enumerate(halves)
        ]
    for line, (name, cells) in enumerate(rows.items()):
        y = float(_TOP + 32 + line * _ROW)
        parts.append(_said(name, left - 8, y + 12, "end"))
        for number, cell in enumerate(cells):
            x, (shares, word) = left + number * wide, cell or ((), "not run")
            for place, share in enumerate(shares):
                said = f"<title>{escape(key[place])}: {share:.0%}</title>"
                size = {"x": x, "y": y, "width": share * (wide - 44), "height": 16}
                parts += [_tag("rect", said, f"o{place}", **size)] if share else []
                x += share * (wide - 44)
            parts.append(_said(word, x + 4, y + 12, "soft"))
    legend = {f"o{number}": name for number, name in enumerate(key)}
    return _picture(title, _TOP + 40 + len(rows) * _ROW, parts, legend)
