"""What a person sees of a run: verdict, evidence, the decision trail as a tree; the tables of the other commands."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

if TYPE_CHECKING:
    from haystack_integrations.crag.cli_doctor import Check
    from haystack_integrations.crag.cli_outcome import Outcome

_MOST_EVIDENCE: Final = 5
_STYLES: Final = {"correct": "green", "ambiguous": "yellow", "incorrect": "red", "ungraded": "magenta"}
_SIGNS: Final = {"ok": "[green]✔[/]", "warning": "[yellow]![/]", "error": "[red]✘[/]", "info": "[dim]·[/]"}
_ACTIONS: Final = {
    "generate": "answer from what was kept",
    "refine": "keep the good, search again with a better query",
    "re_retrieve": "drop it all, search again in another way",
    "web": "search the web instead",
    "web_and_refine": "keep the good, and search the web",
    "abstain": "say that the documents do not answer",
}
_LIMITS: Final = {
    "max_iterations": "no more passes allowed",
    "nothing_new": "the last correction found nothing new",
    "deadline": "out of time",
    "llm_calls": "no more model calls allowed",
    "tokens": "no more tokens allowed",
}


def outcome_view(outcome: "Outcome", *, heading: bool = True) -> RenderableType:
    """
    Show what came out of one question.

    :param outcome: What came out.
    :param heading: Whether to repeat the question.
    :returns: Verdict, answer, evidence, trail.
    """
    parts: list[RenderableType] = [_verdict_line(outcome.crag)]
    if heading:
        parts.insert(0, Text.assemble(("Question  ", "dim"), (outcome.question, "bold")))
    parts += _warnings(outcome.crag)
    if outcome.answer is not None:
        parts += [Text("\nAnswer", "bold"), Padding(Text(outcome.answer), (0, 0, 0, 2))]
    if outcome.evidence:
        parts += [Text("\nEvidence", "bold"), *map(_evidence, outcome.evidence[:_MOST_EVIDENCE])]
        more = len(outcome.evidence) - _MOST_EVIDENCE
        parts += [Text(f"   and {more} more; --json shows all", "dim")] if more > 0 else []
    else:
        parts += [Text("\nThe documents do not answer this question.", "bold")]
    return Group(*parts, Text(), trail_tree(outcome.crag))


def _verdict_line(crag: Mapping[str, Any]) -> Text:
    passes = crag["iterations"]
    cost = [f"{passes} {'pass' if passes == 1 else 'passes'}", f"{crag['milliseconds']:.0f} ms"]
    cost += [f"{crag['llm_calls']} model calls", f"{crag['tokens']['in'] + crag['tokens']['out']} tokens"] * bool(
        crag["llm_calls"]
    )
    return Text.assemble(
        ("Verdict   ", "dim"),
        *_verdict(crag),
        " → ",
        (crag["action"], "bold"),
        (f"  {_ACTIONS[crag['action']]}", "dim"),
        (f"  ({', '.join(cost)})", "dim"),
    )


def _verdict(entry: Mapping[str, Any]) -> list[tuple[str, str]]:
    style = _STYLES[entry["verdict"]]
    score = "" if entry["score"] is None else f" {entry['score']:.2f}"
    return [("● ", style), (entry["verdict"], f"bold {style}"), (score, style)]


def _warnings(crag: Mapping[str, Any]) -> list[RenderableType]:
    """Name what did not work; a limit that was reached stands in the trail."""
    reasons = [reason for reason in crag["coverage"]["reasons"] if not reason.startswith("limit:")]
    return [Text.assemble(("Warning   ", "yellow"), ", ".join(reasons))] if reasons else []


def _evidence(item: Mapping[str, Any]) -> RenderableType:
    score = "" if item["score"] is None else f"  {item['score']:.2f}"
    status = "" if item["status"] in (None, "graded") else f" {item['status']}"
    head = Text.assemble((f"{item['number']:>2} ", "dim"), (item["source"], "cyan"), (score + status, "dim"))
    # The best sentence always, others only when they have something to do with the question.
    best = max((sentence["score"] for sentence in item["sentences"]), default=0)
    telling = [sentence for sentence in item["sentences"] if sentence["score"] > 0 or sentence["score"] == best]
    lines = [Padding(_sentence(sentence), (0, 0, 0, 3)) for sentence in telling]
    return Group(head, *lines)


def _sentence(sentence: Mapping[str, Any]) -> RenderableType:
    # A table keeps the bar beside every line of a wrapped sentence.
    row = Table.grid(padding=(0, 1, 0, 0))
    row.add_column(justify="right", style="dim")
    row.add_column()
    score = "" if sentence["score"] is None else f"{sentence['score']:.2f}"
    row.add_row(score, Text(" ".join(sentence["text"].split())))
    return row


def trail_tree(crag: Mapping[str, Any]) -> Tree:
    """
    Show all decisions of a run, in order.

    :param crag: The `crag` record.
    :returns: A tree with a branch for each pass.
    """
    root = Tree(Text("Decision trail", "bold"), guide_style="dim")
    for decision in crag["trail"]:
        branch = root.add(f"pass {decision['iteration']} of {decision['max_iterations']}")
        limit = decision["limit"]
        ending = f"  {_LIMITS.get(limit, limit)}" if limit else ""
        lines: dict[str, list[str | tuple[str, str]]] = {
            "search": [decision["query"], (f"  {decision['strategy']}", "dim")],
            "verdict": [*_verdict(decision), (f"  {_reason(decision)}", "dim")],
            "documents": [_counts(decision)],
            "action": [(decision["action"], "bold"), (ending, "yellow"), *_mode(decision)],
        }
        for name, words in lines.items():
            branch.add(Text.assemble((f"{name:<10}", "dim"), *words))
    return root


def _reason(decision: Mapping[str, Any]) -> str:
    """Say which rule spoke, with the threshold it looked at."""
    upper, lower = decision["thresholds"]["upper"], decision["thresholds"]["lower"]
    rules = {
        "upper_threshold": f"at least {upper:.2f}",
        "between_thresholds": f"from {lower:.2f} up to {upper:.2f}",
        "lower_threshold": f"below {lower:.2f}" if decision["score"] is not None else "nothing is good enough",
        "no_documents": "nothing was found",
    }
    return rules.get(decision["judged_by"], str(decision["judged_by"]))


def _counts(decision: Mapping[str, Any]) -> str:
    kept, discarded = decision["kept"], decision["discarded"]
    reasons = ", ".join(dict.fromkeys(entry["reason"] for entry in discarded))
    return f"{len(kept)} kept, {len(discarded)} discarded" + (f" ({reasons})" if reasons else "")


def _mode(decision: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Say when the decision was not acted on."""
    return [] if decision["mode"] == "enforce" else [(f"  not acted on: mode {decision['mode']}", "yellow")]


def report_table(report: Mapping[str, Any]) -> Table:
    """
    Show what an indexing run did.

    :param report: `IndexReport.to_dict()`.
    :returns: A table.
    """
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="dim")
    table.add_column(justify="right")
    for key in ("sources", "added", "updated", "unchanged", "removed", "skipped"):
        table.add_row(key, f"{report[key]:,}")
    table.add_row("documents written", f"{report['documents_written']:,}")
    table.add_row("documents deleted", f"{report['documents_deleted']:,}")
    failed = len(report["failures"])
    table.add_row(Text("failures", "red" if failed else "dim"), Text(f"{failed:,}", "red" if failed else ""))
    table.add_row("seconds", f"{report['seconds']:.1f}")
    return table


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
        row.add_row(_SIGNS[check.status], check.name, check.found)
        parts.append(row)
        if check.fix:
            style = "dim" if check.status == "info" else "yellow"
            parts.append(Text(f"{'':>{width + 5}}→ {check.fix}", style, no_wrap=True, overflow="ignore"))
    return Group(*parts)
