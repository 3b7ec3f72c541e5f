"""`crag eval`: how good the decisions of a pipeline are, on labelled questions."""

import json as json_
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple

import typer

from haystack_integrations.crag.cli.errors import ExitCode
from haystack_integrations.crag.cli.files import (
    REPORT,
    RESULT,
    check_targets,
    require_extra,
    tell_doubts,
    tell_of_labels,
    with_texts,
    write,
)
from haystack_integrations.crag.cli.options import (
    PIPELINE,
    Folder,
    Fresh,
    Html,
    ListsFrom,
    Model,
    PipelineName,
    Split,
    path,
)
from haystack_integrations.crag.cli.output import complain, progress_bar, show, show_json, working
from haystack_integrations.crag.vocabulary import GRADER_FAILED, Lists, OtherGrader

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from haystack_integrations.crag.evaluation.cases import Dataset, Record
    from haystack_integrations.crag.evaluation.setup import Setup

_STDOUT: Final = "-"

Grader = Annotated[OtherGrader | None, typer.Option(help="Grader to use instead of the pipeline's own.")]
Calibration = Annotated[str | None, typer.Option(metavar="FILE", help="Calibration file for the pipeline's grader.")]
TopK = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, max=100, help="Documents to judge (5; collected: all); live: per retriever."),
]
Limit = Annotated[int | None, typer.Option(metavar="N", min=1, help="Only the first N questions.")]
Workers = Annotated[
    int | None, typer.Option(metavar="N", min=1, help="Number of processes; default: chosen automatically.")
]
JsonFile = Annotated[
    Path | None,
    typer.Option(parser=path, metavar="FILE", help="Write the result to FILE, and its records beside it; - prints it."),
]
Compare = Annotated[
    Path | None, typer.Option(parser=path, metavar="FILE", help="Earlier --json result to compare with.")
]


def evaluate(
    folder: Folder,
    split: Split,
    pipeline: PipelineName = PIPELINE,
    grader: Grader = None,
    calibration: Calibration = None,
    model: Model = None,
    lists: ListsFrom = "fixed",
    top_k: TopK = None,
    limit: Limit = None,
    workers: Workers = None,
    json: JsonFile = None,
    html: Html = None,
    compare: Compare = None,
    fresh: Fresh = False,
) -> None:
    """Measure decisions on labelled questions: verdicts, filter, strips, answers, gaps, cost."""
    require_extra()
    from haystack_integrations.crag.evaluation import running
    from haystack_integrations.crag.evaluation.journal import journal_of
    from haystack_integrations.crag.evaluation.reading import read_dataset

    file = None if json is None or str(json) == _STDOUT else json
    check_targets((file, RESULT), (html, REPORT))
    setup = _setup(pipeline, grader, calibration, lists, top_k, model)
    with working("reading the data"):
        dataset = read_dataset(folder, split)
        base = None if compare is None else _base(compare, dataset, limit)
        dataset = replace(dataset, cases=dataset.cases[:limit])
    tell_doubts(dataset)
    with progress_bar("judging") as progress:
        journal = None if file is None else journal_of(file)
        records = running.evaluate(dataset, setup, journal=journal, workers=workers, fresh=fresh, progress=progress)
    _deliver(dataset, setup, records, base, (file, html), printed=json is not None and file is None)
    _tell_what_was_seen(setup.calibration, dataset)
    tell_of_labels(dataset)
    _tell_failures(records)


class _Base(NamedTuple):
    """An earlier evaluation: its records of questions that are asked now, and how many it has in all."""

    records: "Sequence[Record]"
    number: int


def _base(result: Path, dataset: "Dataset", limit: int | None) -> _Base:
    """Read what to compare with; refused before anything is judged where no question is in both."""
    from haystack_integrations.crag.evaluation.journal import records_of
    from haystack_integrations.crag.evaluation.matching import of_both

    records = records_of(result, [case.id for case in dataset.cases])
    return _Base(of_both({case.id: case.question for case in dataset.cases[:limit]}, records), len(records))


def _tell_what_was_seen(calibration: str | None, dataset: "Dataset") -> None:
    """Warn of figures on the questions that a calibration was fitted on: they are better than on any others."""
    from haystack_integrations.crag.evaluation.reading import QUERIES
    from haystack_integrations.crag.evaluation.training import shared_with
    from haystack_integrations.crag.judging.calibration import load_calibration

    if calibration is None:
        return
    fitted = load_calibration(calibration).notes.get("trained_on") or {}
    name, told = fitted.get("split"), "these figures are not held out. Those that are stand in the calibration file"
    if fitted.get("dataset") != dataset.name or not isinstance(name, str):
        return
    if name == dataset.split:
        what = f"was fitted on {dataset.name!r}, split {name!r}: {told}; or evaluate another split"
        complain(f"the calibration {what}", "warning")
    elif (dataset.folder / name / QUERIES).is_file() and (seen := shared_with(dataset, dataset.folder / name)):
        # `crag calibrate` refuses questions that stand in two splits: this one was written after it.
        what = f"was fitted on {len(seen)} of these questions, which stand in the split {name!r}, too ({seen[0]!r})"
        complain(f"the calibration {what}: {told}; or remove them here", "warning")


def _setup(
    pipeline: str, grader: str | None, calibration: str | None, lists: Lists, top_k: int | None, model: str | None
) -> "Setup":
    """Say what is evaluated; a chat model is looked for only where one is asked."""
    from haystack_integrations.crag.chat_model import chat_model
    from haystack_integrations.crag.evaluation.parts import waits_for_a_model
    from haystack_integrations.crag.evaluation.setup import Setup
    from haystack_integrations.crag.pipelines.opening import check_calibration

    if calibration is not None:
        check_calibration(calibration)
    setup = Setup(pipeline, grader, calibration, lists, top_k, encoder=model)
    return replace(setup, model=chat_model()) if waits_for_a_model(setup) else setup


def _deliver(
    dataset: "Dataset",
    setup: "Setup",
    records: list[dict[str, Any]],
    base: _Base | None,
    files: tuple[Path | None, Path | None],
    *,
    printed: bool,
) -> None:
    """Write and show the result."""
    from haystack_integrations.crag.evaluation.gaps import gap_recall_at, two_scales
    from haystack_integrations.crag.evaluation.groups import group_numbers
    from haystack_integrations.crag.evaluation.intervals import intervals
    from haystack_integrations.crag.evaluation.measures import summarise, whole_result
    from haystack_integrations.crag.evaluation.report import html_report
    from haystack_integrations.crag.evaluation.table import text_table

    names = {"dataset": dataset.name, "split": dataset.split, "lists": setup.lists}
    result = summarise(records, **names, pipeline=setup.pipeline, grader=setup.grader_name)
    with working("redrawing questions"):
        groups = group_numbers(dataset)
        bounds = intervals(records, groups=groups)
        comparison, about = (None, None) if base is None else _compared(records, base, groups)
    (file, html), recall = files, gap_recall_at(records)
    whole = whole_result(result, recall, intervals=bounds, comparison=comparison, compared_on=about)
    if file is not None:
        write(file, json_.dumps(whole, ensure_ascii=False, indent=2) + "\n")
    if html is not None:
        more: dict[str, Any] = {
            "calibration": _limits(setup.calibration),
            "comparison": comparison,
            "compared_on": about,
        }
        write(html, html_report(result, with_texts(records, dataset), intervals=bounds, **more))
    gap = recall or two_scales(records)
    told = text_table(result, intervals=bounds, comparison=comparison, gap=gap, compared_on=about)
    show_json(whole) if printed else show(told)


def _compared(
    records: list[dict[str, Any]], base: _Base, groups: "Mapping[str, int]"
) -> "tuple[Mapping[str, Mapping[str, float] | None], str]":
    """Compare with an earlier evaluation, and say on how many questions."""
    from haystack_integrations.crag.evaluation.intervals import paired
    from haystack_integrations.crag.evaluation.matching import of_both_judged, other_truths
    from haystack_integrations.crag.evaluation.table import shared

    ours, theirs = of_both_judged(records, base.records)
    about = shared(len(ours), len(records), base.number, other_truths(ours, theirs))
    return paired(ours, theirs, groups=groups), about


def _limits(calibration: str | None) -> dict[str, Any] | None:
    """Collect what the page tells of a calibration's limit of wrong answers."""
    from haystack_integrations.crag.evaluation.limits import limit_rows
    from haystack_integrations.crag.judging.calibration import load_calibration

    if calibration is None:
        return None
    fitted = load_calibration(calibration)
    return {"held_out": limit_rows(fitted.notes.get("held_out") or {}, fitted.correct_from)}


def _tell_failures(records: list[dict[str, Any]]) -> None:
    """Say how many questions have no verdict, and how many failed, and why the first did."""
    unjudged = [record for record in records if record["error"] is None and record["rule"] == GRADER_FAILED]
    if unjudged:
        told = f"{len(unjudged)} of {len(records)} questions have no verdict, as grades failed, and count as wrong"
        complain(f"{told}; `crag doctor` asks the chat model, `crag ask` says what fails", "warning")
    failed = [record for record in records if record["error"] is not None]
    if failed:
        complain(f"{len(failed)} of {len(records)} questions failed, the first with {failed[0]['error']}", "warning")
        raise typer.Exit(ExitCode.INPUTS_FAILED)
