"""Make the pictures of README and docs from the real program and the shipped YAML.

    python scripts/pictures.py                 # the texts between markers in README.md and docs/: no service, seconds
    python scripts/pictures.py terminal        # what `crag demo` and `crag ask` print, as SVG
    python scripts/pictures.py trace           # what `crag trace` prints of a run that is in a real Jaeger, as SVG
    python scripts/pictures.py report FOLDER   # first screen of `crag calibrate FOLDER --html`: PNG, and its figures

A test repeats the first and compares. The others show times of this machine, so they are made by hand; `report` wants
labelled questions (docs/labels.md) and a Chromium.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from html import escape
from io import StringIO
from pathlib import Path
from platform import python_version
from tempfile import TemporaryDirectory

from flow_picture import flow
from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

import haystack_integrations.crag as package
from haystack_integrations.crag.pipelines.loader import read

ROOT = Path(__file__).resolve().parents[1]
PICTURES = ROOT / "docs" / "pictures"
HANDBOOK = {
    "refunds.md": "# Refunds\n\nA refund is paid within 30 days of the return, to the account that paid.\n",
    "returns.md": "# Returns\n\nGoods may be sent back within 60 days of delivery, unused and in their box.\n",
    "opening.md": "# Opening hours\n\nThe shop is open from Monday to Friday, from 9 to 18 o'clock.\n",
}
"""What the pictures of `crag ask` are asked about."""
ANSWERED = ("ask", "How long may goods be sent back?", "--docs", "handbook/")
ABSTAINED = ("ask", "Who repairs bicycles?", "--docs", "handbook/")

_CRAG = (sys.executable, "-c", "from haystack_integrations.crag.cli import main; main()")
_COLUMNS = 100
_FILES = ("README.md", "docs/trace.md")
_MARKED = "<!-- {}: made by `python scripts/pictures.py` -->\n```text\n{}```\n<!-- end of {} -->"
_TIME = re.compile(r"\d+ ms")
_WINDOW = "1180,900"
_NOT_PASSED_ON = ("CRAG_", "KB_AGENT_", "FORCE_COLOR", "NO_COLOR")
_SETTINGS = {"COLUMNS": str(_COLUMNS), "PYTHONPATH": str(Path(package.__file__).parents[2])}
_PATIENCE = 60  # times half a second until Jaeger shows a trace
# Lighter on darker than rich's own, so that what is dimmed can be read.
_GROUND, _TEXT = (24, 28, 36), (236, 239, 244)
_COLOURS = ((236, 95, 103), (126, 200, 120), (235, 190, 90), (110, 168, 254), (196, 145, 224), (95, 200, 210))
_THEME = TerminalTheme(_GROUND, _TEXT, [_GROUND, *_COLOURS, _TEXT])
_REMOTE_FONT = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)


def crag(arguments: Sequence[str], *, colours: bool = False) -> str:
    """
    Run a `crag` command beside a folder `handbook/` with the texts above, without any setting of this machine.

    :param arguments: Of the command.
    :param colours: Write as for a terminal.
    :returns: What it printed on stdout.
    :raises subprocess.CalledProcessError: When it failed; that the documents do not answer is no failure.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_NOT_PASSED_ON)}
    terminal = {"FORCE_COLOR": "1", "TERM": "xterm-256color", "COLORTERM": "truecolor"}
    settings = {**kept, **_SETTINGS, **(terminal if colours else {"NO_COLOR": "1"})}
    with TemporaryDirectory(prefix="crag-pictures-") as folder:
        (Path(folder) / "handbook").mkdir()
        for name, text in HANDBOOK.items():
            (Path(folder) / "handbook" / name).write_text(text, "utf-8")
        command = [*_CRAG, *arguments]
        done = subprocess.run(command, cwd=folder, env=settings, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 3):
        raise subprocess.CalledProcessError(done.returncode, command, done.stdout, done.stderr)
    return "\n".join(line.rstrip() for line in done.stdout.splitlines()) + "\n"


def shown(arguments: Sequence[str]) -> str:
    """
    Write a command as one types it.

    :param arguments: Of `crag`.
    :returns: The line; what has a space is quoted.
    """
    return " ".join(["crag", *(f'"{one}"' if " " in one else one for one in arguments)])


def texts() -> dict[str, str]:
    """
    Make the pictures that are text.

    :returns: By the name in the markers.
    """
    return {
        "flow": flow(read("corrective_rag")),
        "trail": f"$ {shown(ABSTAINED)}\n{crag(ABSTAINED)}",
    }


def filled(page: str, made: Mapping[str, str]) -> str:
    """
    Put pictures between their markers; one that differs in milliseconds only stays as it is.

    :param page: A Markdown page.
    :param made: Pictures by name; the page need not have them all.
    :returns: The page.
    """
    for name, text in made.items():
        marked = re.compile(_MARKED.replace("{}", name, 1).replace("{}", "(.*?)", 1).replace("{}", name), re.DOTALL)
        found = marked.search(page)
        if found and _TIME.sub("", found[1]) != _TIME.sub("", text):
            page = page[: found.start(1)] + text + page[found.end(1) :]
    return page


def svg(commands: Mapping[str, str], title: str) -> str:
    """
    Render what a terminal showed; the window has a dark ground of its own, so it can stand on any page.

    :param commands: By the command that was typed what it printed, with ANSI colours.
    :param title: What stands above the window.
    :returns: SVG without a script, and without a font from elsewhere.
    """
    console = Console(record=True, width=_COLUMNS + 2, file=StringIO(), force_terminal=True, color_system="truecolor")
    for number, (command, printed) in enumerate(commands.items()):
        console.print(Text.assemble("\n" * (number > 0), ("$ ", "green"), (command, "bold"), "\n"))
        console.print(Text.from_ansi(printed.rstrip("\n")))
    drawn = _REMOTE_FONT.sub("", console.export_svg(title=title, theme=_THEME, unique_id="crag")).replace(
        "Fira Code", "monospace"
    )
    said = escape(f"A terminal: {'; '.join(commands)}", quote=True)
    drawn = drawn.replace("<svg ", f'<svg role="img" aria-label="{said}" ', 1)
    return "\n".join(line.rstrip() for line in drawn.splitlines()) + "\n"


def terminal() -> dict[str, str]:
    """
    Make the pictures of `crag demo` and `crag ask`.

    :returns: SVG by file name.
    """
    asked = {shown(one): crag(one, colours=True) for one in (ANSWERED, ABSTAINED)}
    return {
        # Its text is that of one Python's own reference.
        "demo.svg": svg({"crag demo": crag(["demo"], colours=True)}, f"crag demo, Python {python_version()}"),
        "ask.svg": svg(asked, "crag ask"),
    }


def trace() -> dict[str, str]:
    """
    Ask with tracing on, and make the picture of what `crag trace` reads back from Jaeger.

    :returns: SVG by file name.
    """
    from opentelemetry import trace as opentelemetry
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import SERVICE_NAME, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor
    from services import start

    from haystack_integrations.crag.pipelines import load
    from haystack_integrations.crag.pipelines.indexing import index
    from haystack_integrations.crag.pipelines.opening import memory_store
    from haystack_integrations.crag.tracing import enable_tracing

    with start("jaeger") as jaeger, TemporaryDirectory(prefix="crag-pictures-") as folder:
        for name, text in HANDBOOK.items():
            Path(folder, name).write_text(text, "utf-8")
        index(folder, store := memory_store(), base=folder)
        provider = TracerProvider(resource=Resource.create({SERVICE_NAME: "crag"}))
        exporter = OTLPSpanExporter(f"{jaeger.urls['JAEGER_OTLP_URL']}/v1/traces")
        provider.add_span_processor(BatchSpanProcessor(exporter))
        opentelemetry.set_tracer_provider(provider)
        enable_tracing()
        with opentelemetry.get_tracer("pictures").start_as_current_span("question") as span:
            load("corrective_retrieval", store=store).run(query=ABSTAINED[1])
        provider.shutdown()
        identity = f"{span.get_span_context().trace_id:032x}"
        printed = _read_back(["trace", identity, "--jaeger", jaeger.urls["JAEGER_URL"]])
    return {"trace.svg": svg({f"crag trace {identity}": printed}, "crag trace")}


def _read_back(arguments: Sequence[str]) -> str:
    """Ask again until Jaeger has the trace; spans come late."""
    for _ in range(_PATIENCE):
        with suppress(subprocess.CalledProcessError):
            return crag(arguments, colours=True)
        time.sleep(0.5)
    return crag(arguments, colours=True)


def report(folder: Path) -> None:
    """
    Calibrate, and make a picture of the first screen of the report; its figures, of held-out folds, stand beside it.

    :param folder: Labelled questions, with the split `dev`.
    :raises RuntimeError: Without a browser.
    """
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        msg = "no browser to look at the report with; install Chromium"
        raise RuntimeError(msg)
    with TemporaryDirectory(prefix="crag-pictures-") as made:
        page = Path(made, "report.html")
        arguments = ["--split", "dev", "--output", f"{made}/own.json", "--html", str(page), "--json"]
        told = json.loads(crag(["calibrate", str(folder.resolve()), *arguments]))
        target = PICTURES / "report.png"
        options = ("--headless", "--no-sandbox", "--hide-scrollbars", f"--user-data-dir={made}")
        look = [browser, *options, f"--window-size={_WINDOW}", f"--screenshot={target}", page.as_uri()]
        subprocess.run(look, check=True, capture_output=True)
    figures = {name: told[name] for name in ("n", "verdict", "filter", "ece", "gaps", "gaps_at_10_percent")}
    bounds = {name: told["intervals"][name] for name in ("verdict.macro_f1", "filter.f1", "gaps.recall")}
    seen = {"set": folder.name, "date": datetime.now(UTC).date().isoformat(), **figures, "intervals": bounds}
    target.with_suffix(".json").write_text(json.dumps(seen, indent=1) + "\n", "utf-8")


def main() -> None:
    """Make what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", nargs="?", choices=("texts", "terminal", "trace", "report"), default="texts")
    parser.add_argument("folder", nargs="?", type=Path, help="labelled questions, for `report`")
    options = parser.parse_args()
    PICTURES.mkdir(exist_ok=True)
    if options.kind == "texts":
        made = texts()
        for name in _FILES:
            page = ROOT / name
            page.write_text(filled(page.read_text("utf-8"), made), "utf-8")
    elif options.kind == "report":
        if options.folder is None:
            parser.error("got no folder with labelled questions, wanted one, in the form of docs/labels.md")
        report(options.folder)
    else:
        for name, drawn in (terminal() if options.kind == "terminal" else trace()).items():
            (PICTURES / name).write_text(drawn, "utf-8")


if __name__ == "__main__":
    main()
