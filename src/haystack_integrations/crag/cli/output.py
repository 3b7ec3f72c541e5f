"""
How `crag` writes: people read the terminal, programs read `--json`. No colours when piped, or with NO_COLOR.

Nothing that a document, a model or a web page says can steer the terminal: control characters, and those that turn the
direction of writing, and halves of characters, which cannot be written, are shown as signs or, in JSON, escaped.
"""

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from io import StringIO
from threading import Event, Thread
from typing import Annotated, Any, Final

import typer
from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.segment import Segment
from rich.text import Text

from haystack_integrations.crag.texts.steering import PICTURES, STEERING, as_signs

Json = Annotated[bool, typer.Option("--json", help="Print one JSON value on stdout, and nothing else.")]
"""The option of the commands that print a result."""

_PIPED_WIDTH: Final = 100
_MOST_FAILURES: Final = 20
_LINE_SECONDS: Final = 30.0


class _Console(Console):
    """Writes what is to be read, and no command to the terminal but its own; brackets in a text are no markup."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(markup=False, highlight=False, emoji=False, **settings)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        """Render, with signs in the place of what would steer."""
        for segment in super().render(renderable, options):
            text, style, control = segment
            yield segment if control or not STEERING.search(text) else Segment(as_signs(text), style)


def console(*, error: bool = False) -> Console:
    """
    Open the terminal; made anew for each use, so that redirected streams are respected.

    :param error: Write to stderr.
    :returns: The console.
    """
    stream = sys.stderr if error else sys.stdout
    width = None if stream.isatty() or os.environ.get("COLUMNS") else _PIPED_WIDTH
    return _Console(file=stream, width=width)


def show(*parts: RenderableType) -> None:
    """
    Write to stdout.

    :param parts: What to write, one below the other.
    """
    out = console()
    for part in parts:
        out.print(part, crop=False)  # what is marked as one line stays one, to be copied


def to_copy(command: str) -> RenderableType:
    """
    Put a command on a line of its own, however narrow the terminal: broken in two, its first half would run.

    :param command: The command.
    :returns: What `show` writes.
    """
    # In a group: of a text alone rich makes a new one, which wraps.
    return Group(Text(f"  {command}", no_wrap=True, overflow="ignore"))


def plain(part: RenderableType) -> str:
    """
    Give as text what `show` would write, without colours.

    :param part: What to write.
    :returns: The text.
    """
    out = _Console(file=StringIO(), width=_PIPED_WIDTH, no_color=True)
    with out.capture() as captured:
        out.print(part)
    return captured.get()


def show_json(value: Any) -> None:
    """
    Write one JSON value to stdout, and nothing else.

    :param value: Plain values.
    """
    text = _escaped(json.dumps(value, ensure_ascii=False, indent=2))
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:  # a pipe of Windows, or a locale: with question marks it would be another value
        text = _escaped(json.dumps(value, indent=2))
    typer.echo(text)


def _escaped(text: str) -> str:
    return STEERING.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def complain(message: str, kind: str = "error") -> None:
    """
    Write one message to stderr.

    :param message: What was got, what was wanted, the way out.
    :param kind: `error`, `warning` or `note`.
    """
    style = "bold red" if kind == "error" else "yellow"
    console(error=True).print(Text.assemble((f"{kind}: ", style), message), soft_wrap=True)


def complain_about(failures: Iterable[Mapping[str, str]], kind: str = "not read") -> None:
    """
    List on stderr what could not be read.

    :param failures: Each `{"source", "reason"}`.
    :param kind: What became of them: `not read`, or `warning` for those that were, or `note`.
    """
    listed = list(failures)
    for failure in listed[:_MOST_FAILURES]:
        complain(_on_one_line(f"{failure['source']}: {failure['reason']}"), kind)
    if len(listed) > _MOST_FAILURES:
        complain(f"and {len(listed) - _MOST_FAILURES} more; --json lists them all", kind)


def _on_one_line(name: str) -> str:
    """Show line breaks as signs: what follows them would look like ours."""
    return name.replace("\n", chr(PICTURES + ord("\n")))


@contextmanager
def working(title: str) -> Iterator[None]:
    """
    Show on stderr that something is going on, when that is a terminal.

    :param title: What is being done.
    """
    out = console(error=True)
    if not out.is_terminal:
        yield
        return
    with out.status(title):
        yield


@contextmanager
def progress_bar(title: str) -> Iterator[Callable[[int, int | None, str], None]]:
    """
    Show a progress bar on stderr; where that is no terminal, such as in a log, a line each half minute.

    :param title: What is being done.
    :returns: A callback for `index`: number done, total or None, name of the last one.
    """
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    out = console(error=True)
    if not out.is_terminal:
        with _lines(title, out) as told:
            yield told
        return
    columns = (
        TextColumn(title),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[name]}", markup=False),
    )
    with Progress(*columns, console=out, transient=True) as bar:
        task = bar.add_task(title, total=None, name="")

        def update(done: int, total: int | None, name: str) -> None:
            bar.update(task, completed=done, total=total, name=_on_one_line(name[-40:]))

        yield update


@contextmanager
def _lines(title: str, out: Console) -> Iterator[Callable[[int, int | None, str], None]]:
    """Tell in lines how far it is, from a thread: a single step can take minutes."""
    state, ended = [title], Event()

    def tell() -> None:
        while not ended.wait(_LINE_SECONDS):
            out.print(state[0], soft_wrap=True)

    def update(done: int, total: int | None, name: str) -> None:
        last = f", {_on_one_line(name[-40:])}" if name else ""
        state[0] = f"{title}: {done}" + ("" if total is None else f" of {total}") + last

    thread = Thread(target=tell, daemon=True)
    thread.start()
    try:
        yield update
    finally:
        ended.set()
        thread.join()
