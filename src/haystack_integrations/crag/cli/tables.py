"""What a person sees of the other commands: what an indexing run did, what `crag doctor` found."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from haystack_integrations.crag.cli.check import Check

_MOST_KINDS: Final = 4
_SIGNS: Final = {"ok": ("✔", "green"), "warning": ("!", "yellow"), "error": ("✘", "red"), "info": ("·", "dim")}


def report_table(report: Mapping[str, Any]) -> Table:
    """
    Show what an indexing run did.

    :param report: `IndexReport.to_dict()`.
    :returns: A table.
    """
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="dim")
    table.add_column(justify="right")
    table.add_column(style="dim")
    written = ("documents_written", "documents_deleted")
    for key in ("sources", "added", "updated", "unchanged", "removed", "skipped", *written):
        table.add_row(key.replace("_", " "), f"{report[key]:,}", kinds_of(report) if key == "skipped" else "")
    failed = len(report["failures"])
    table.add_row(Text("failures", "red" if failed else "dim"), Text(f"{failed:,}", "red" if failed else ""))
    table.add_row("seconds", f"{report['seconds']:.1f}")
    return table


def kinds_of(report: Mapping[str, Any]) -> str:
    """
    Name the kinds of files that were not read.

    :param report: `IndexReport.to_dict()`.
    :returns: The most frequent ones, such as `12 .png, 3 .xlsx, 1 other`; empty if there are none.
    """
    named = [(kind, count) for kind, count in report["skipped_kinds"].items() if kind][:_MOST_KINDS]
    others = report["skipped"] - sum(count for _, count in named)
    return ", ".join([f"{count:,} {kind}" for kind, count in named] + [f"{others:,} other"] * bool(others))


def checks_view(checks: "Iterable[Check]") -> RenderableType:
    """
    Show what `crag doctor` found.

    :param checks: The checks.
    :returns: Lines; what is to be done stands below what was found, in one piece to be copied.
    """
    found = list(checks)
    width = max(len(check.name) for check in found)
    parts: list[RenderableType] = []
    for check in found:
        row = Table.grid(padding=(0, 2, 0, 0))
        row.add_column(width=1)
        row.add_column(width=width)
        row.add_column()
        row.add_row(Text(*_SIGNS[check.status]), check.name, check.found)
        parts.append(row)
        if check.fix:
            style = "dim" if check.status == "info" else "yellow"
            parts.append(Text(f"{'':>{width + 5}}→ {check.fix}", style, no_wrap=True, overflow="ignore"))
    return Group(*parts)
