"""`crag pipelines`: list, show, export and draw what this package ships, or a YAML file of your own."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from haystack_integrations.crag.cli.drawing import Form, mermaid, tree
from haystack_integrations.crag.cli.files import write
from haystack_integrations.crag.cli.options import Index, Url, path
from haystack_integrations.crag.cli.output import Json, complain, console, plain, show, show_json
from haystack_integrations.crag.errors import ConfigurationError

app = typer.Typer(help="List, show, export and draw the shipped pipelines.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(metavar="NAME", help="A shipped pipeline, or a .yml file.")]
Output = Annotated[Path | None, typer.Option("--output", "-o", parser=path, metavar="FILE", help="File to write to.")]


@app.command("list")
def list_(json: Json = False) -> None:
    """List the shipped pipelines."""
    from haystack_integrations.crag.pipelines.loader import names

    found = [_described(name) for name in names()]
    if json:
        show_json(found)
        return
    table = Table.grid(padding=(0, 2, 0, 0))
    for one in found:
        table.add_row(Text(one["name"], "cyan"), one["title"])
    show(table)


def _described(name: str) -> dict[str, Any]:
    from haystack_integrations.crag.pipelines.checks import wants_a_model
    from haystack_integrations.crag.pipelines.loader import read, title

    spec = read(name)
    return {
        "name": name,
        "title": title(name),
        "inputs": list(spec["inputs"]),
        "optional_inputs": list(spec.get("optional_inputs", ())),
        "outputs": list(spec["outputs"]),
        "chat_model": wants_a_model(spec),
    }


@app.command("show")
def show_(name: Name, json: Json = False) -> None:
    """Print a pipeline's YAML as it is shipped, with its comments."""
    from haystack_integrations.crag.pipelines.loader import read, source

    text = source(name)
    if json:
        show_json({"name": name, **read(name)})
    elif console().is_terminal:
        show(Syntax(text, "yaml", theme="ansi_dark", background_color="default", word_wrap=True))
    else:
        typer.echo(text, nl=False)


@app.command()
def export(
    name: Name,
    store: Annotated[
        str | None, typer.Option(metavar="KIND", help="Store to run on: memory (as shipped) or elasticsearch.")
    ] = None,
    url: Url = None,
    index: Index = None,
    output: Output = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite FILE if it holds something else.")] = False,
    json: Json = False,
) -> None:
    """Write a pipeline's YAML for a store, to load or deploy elsewhere."""
    from haystack_integrations.crag.pipelines.loader import export as exported
    from haystack_integrations.crag.pipelines.opening import MEMORY, check_place, find_place

    # A file for elsewhere: what CRAG_STORE says is of the commands that ask or fill a store here.
    place = find_place(store or (None if url else MEMORY), url, index)
    check_place(place)
    kind = place.kind or MEMORY
    text = exported(name, kind, place.url, place.index)
    if output is not None and not force:
        _keep(output, text)
    _deliver({"name": name, "store": kind, "yaml": text}, "yaml", output, json=json)
    if ":" in (place.url or "").partition("://")[2].rpartition("@")[0]:
        complain(
            "the address holds a password, and so does the YAML now; a key in ELASTIC_API_KEY stays out", "warning"
        )


@app.command()
def draw(
    name: Name,
    form: Annotated[Form, typer.Option("--format", help="mermaid (text for Markdown) or tree.")] = "mermaid",
    output: Output = None,
    json: Json = False,
) -> None:
    """Draw a pipeline from its YAML."""
    from haystack_integrations.crag.pipelines.loader import read

    picture = tree(name, read(name)) if form == "tree" else mermaid(read(name))
    if isinstance(picture, Tree) and output is None and not json:
        show(picture)
        return
    drawing = picture if isinstance(picture, str) else plain(picture)
    if output is not None:
        _keep_others(output, drawing)
    _deliver({"name": name, "format": form, "drawing": drawing}, "drawing", output, json=json)


def _keep(file: Path, text: str) -> None:
    """Refuse to replace a file: a YAML is exported to be edited. The same text again changes nothing."""
    if file.is_file() and file.read_bytes() != text.encode():
        msg = f"{str(file)!r} exists and holds something else; choose another -o FILE, or pass --force to replace it"
        raise ConfigurationError(msg)


def _keep_others(file: Path, drawing: str) -> None:
    """Refuse to replace what is no earlier drawing, of which the first line is the same."""
    head = drawing.partition("\n")[0]
    if file.is_file() and (held := file.read_text("utf-8", "replace")).strip() and held.partition("\n")[0] != head:
        msg = f"{str(file)!r} exists and is no earlier drawing; choose another -o FILE, or remove it first"
        raise ConfigurationError(msg)


def _deliver(result: dict[str, Any], key: str, output: Path | None, *, json: bool) -> None:
    """Write a text into a file, or to stdout, or as JSON."""
    if output is not None:
        write(output, result[key])
    if json:
        show_json({**result, "file": None if output is None else str(output)})
    elif output is None:
        typer.echo(result[key], nl=False)
