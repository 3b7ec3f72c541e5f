"""`crag calibrate`: a judgement that knows how often it is wrong, from labelled questions of one's own."""

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from rich.text import Text

from haystack_integrations.crag.cli.files import (
    CALIBRATION,
    REPORT,
    check_targets,
    no_lists,
    require_extra,
    tell_doubts,
    tell_of_labels,
    tell_of_pipeline,
    with_texts,
    write,
)
from haystack_integrations.crag.cli.options import (
    PIPELINE,
    Folder,
    Html,
    ListsFrom,
    Model,
    PipelineName,
    Split,
    path,
)
from haystack_integrations.crag.cli.output import Json, complain, progress_bar, show, show_json, working
from haystack_integrations.crag.errors import CalibrationError
from haystack_integrations.crag.vocabulary import Lists

if TYPE_CHECKING:
    from collections.abc import Iterable

    from haystack_integrations.crag.evaluation.calibrating import Calibrated
    from haystack_integrations.crag.evaluation.cases import Dataset, RankedList
    from haystack_integrations.crag.evaluation.limits import UnreachableLimitError

Output = Annotated[Path, typer.Option(parser=path, metavar="FILE", help="Calibration file to write.")]
MostWrong = Annotated[
    float | None,
    typer.Option(metavar="A", min=0.001, max=0.999, help="Largest accepted share of wrong answers, e.g. 0.1."),
]

_JUDGED: Final = {
    "live": "whole lists, as the pipeline hands them on",
    "collected": "whole lists, as far as they are labelled",
    "fixed": "the first five documents",
}


def calibrate(
    folder: Folder,
    split: Split,
    output: Output,
    lists: ListsFrom = "fixed",
    pipeline: PipelineName = PIPELINE,
    max_wrong_generate: MostWrong = None,
    model: Model = None,
    html: Html = None,
    json: Json = False,
) -> None:
    """Fit the grader that needs no LLM to labelled questions, and report how well it does on unseen ones."""
    require_extra()
    from haystack_integrations.crag.evaluation.calibrating import calibrate as fit_all
    from haystack_integrations.crag.evaluation.calibrating import write as write_file
    from haystack_integrations.crag.evaluation.limits import UnreachableLimitError
    from haystack_integrations.crag.evaluation.reading import read_dataset

    check_targets(*_targets(output, html, max_wrong_generate))
    with working("reading the data"):
        dataset = read_dataset(folder, split, least=1)  # how many it takes is said by `check_enough`
    tell_doubts(dataset)
    dataset, ranked, retrievers = _lists(dataset, lists, pipeline)
    # Whole ones as the pipeline will judge them: its own search found what `crag collect` wrote, too.
    judged = "live" if lists == "live" else "fixed" if dataset.statistics is None else "collected"
    with progress_bar("calibrating") as progress:
        asked: dict[str, Any] = {"most_wrong": max_wrong_generate, "model": model, "judges_whole": judged != "fixed"}
        try:
            found = fit_all(dataset, ranked, retrievers=retrievers, progress=progress, **asked)
        except UnreachableLimitError as error:
            raise _without_limit(error, output) from None
    write_file(found, output)
    if html is not None:
        write(html, _report(found, dataset, lists, max_wrong_generate, _JUDGED[judged]))
    if json:
        show_json({"file": str(output), "correct_from": found.calibration.correct_from, **found.figures})
    else:
        _tell(found, output, model, _JUDGED[judged])
    _tell_left_out(found.figures["n"], len(dataset.cases))
    _tell_short(ranked)
    tell_of_labels(dataset)


def _tell_left_out(judged: int, number: int) -> None:
    """Say how many questions the figures are not about: whoever labelled them would look for them."""
    if judged < number:
        complain(
            f"not in the figures: {number - judged} of {number} questions, for which nothing was retrieved or which "
            "the data marks as not strict",
            "warning",
        )


def _tell_short(ranked: "dict[str, RankedList]") -> None:
    """Warn of lists that are shorter than those of a pipeline: of longer ones too many would be called correct."""
    from haystack_integrations.crag.evaluation.cases import TOP_K

    longest = max(len(one.retrieved) for one in ranked.values())
    if longest <= TOP_K:
        complain(
            f"no list has labels of more than {longest} documents; the shipped pipelines judge 10 and more, and would "
            "call more of those correct, and more of them wrongly, than the figures say: label whole lists",
            "warning",
        )


def _targets(output: Path, html: Path | None, limit: float | None) -> list[tuple[Path | None, bytes]]:
    unlimited = None if limit is None else _unlimited(output)
    return [(output, CALIBRATION), (unlimited, CALIBRATION), (html, REPORT)]


def _unlimited(output: Path) -> Path:
    return output.with_name(f"{output.stem}.unlimited{output.suffix}")


def _without_limit(error: "UnreachableLimitError", output: Path) -> CalibrationError:
    """Keep what was fitted, under another name: whoever asked for a limit must not take it for one with it."""
    from haystack_integrations.crag.evaluation.calibrating import write as write_file

    if error.calibrated is None:
        return error
    kept = _unlimited(output)
    write_file(error.calibrated, kept)
    or_so = "" if error.correct_from is None else ', or with that "correct_from" in its "verdict"'
    msg = f"{error}. What was fitted is not lost: without a limit it stands in {str(kept)!r}; use it as it is{or_so}"
    return CalibrationError(msg)


def _lists(dataset: "Dataset", lists: Lists, pipeline: str) -> "tuple[Dataset, dict[str, RankedList], list[str]]":
    """Take the lists in the data, or retrieve; gives the data with its texts as they are judged."""
    if lists == "fixed":
        found = {case.id: case.fixed for case in dataset.cases if case.fixed is not None}
        if not found:
            raise no_lists(dataset)
        tell_of_pipeline(pipeline)
        return dataset, found, _retrievers(found.values())
    from haystack_integrations.crag.evaluation.live import as_indexed
    from haystack_integrations.crag.evaluation.retrieving import Retrieval

    with working("indexing the corpus"):
        retrieval = Retrieval.over(dataset, pipeline)
    ranked = {}
    with progress_bar("retrieving") as progress:
        for number, case in enumerate(dataset.cases, 1):
            ranked[case.id] = retrieval.of(case.question)
            progress(number, len(dataset.cases), "")
    return as_indexed(dataset), ranked, _retrievers(ranked.values())


def _retrievers(lists: "Iterable[RankedList]") -> list[str]:
    """Name those that found the lists; nothing where they are not known of each."""
    found = [one.retrievers for one in lists if one.retrieved]
    return sorted({name for names in found for name in names}) if all(found) else []


def _report(found: "Calibrated", dataset: "Dataset", lists: Lists, most_wrong: float | None, judged: str) -> str:
    from haystack_integrations.crag.evaluation.limits import limit_rows
    from haystack_integrations.crag.evaluation.measures import summarise
    from haystack_integrations.crag.evaluation.report import html_report

    names = {"dataset": dataset.name, "split": dataset.split, "pipeline": "held-out folds", "lists": lists}
    result = summarise(found.records, **names, grader="calibrated")
    figures = found.figures
    macro_f1 = {"value": figures["verdict"]["macro_f1"], **figures["intervals"]["verdict.macro_f1"]}
    about = {"judged": judged, "folds share no": figures["folds_share_no"]}
    errors = {"adaptive ECE": figures["ece"], "adaptive ECE by chance alone": figures["ece_by_chance"]}
    held_out = {**about, "macro-F1": macro_f1, **errors}
    limits = limit_rows(figures, found.calibration.correct_from, most_wrong)
    shown = {
        "held_out": {**held_out, **limits},
        "reliability": figures["reliability"],
        "cost_curve": figures["cost_curve"],
        "calls_saved": figures["calls_saved_at_2_points"],
        "cascade": figures["cascade"],
    }
    return html_report(result, with_texts(found.records, dataset), intervals=figures["intervals"], calibration=shown)


def _tell(found: "Calibrated", output: Path, model: str | None, judged: str) -> None:
    from haystack_integrations.crag.evaluation.cascades import in_words
    from haystack_integrations.crag.evaluation.intervals import rare_verdicts
    from haystack_integrations.crag.evaluation.limits import realised_in_words, unlimited_in_words
    from haystack_integrations.crag.evaluation.risk import saving
    from haystack_integrations.crag.evaluation.strip_fitting import LEAST_QUESTIONS, LEAST_SOURCES
    from haystack_integrations.crag.evaluation.training import RECOMMENDED

    figures = found.figures
    lines = [
        f" on {figures['n']} questions, judged by {judged};",
        f"  held out, in five folds that share no {figures['folds_share_no']}:",
        f"  macro-F1 {_bounded(figures, 'verdict.macro_f1')}, accuracy {_bounded(figures, 'verdict.accuracy')}",
        f"  calibration error {figures['ece']:.3f} (adaptive ECE; {figures['ece_by_chance']:.3f} by chance alone)",
        f"  Brier score {figures['brier']:.3f}",
        f"  {saving(figures['calls_saved_at_2_points'])}",
        *(f"  {told}" for told in in_words(figures["cascade"])),
    ]
    if figures["n"] < RECOMMENDED:
        lines.insert(2, f"  few questions, so wide intervals: it does well from {RECOMMENDED} on")
    if (rare := rare_verdicts(figures["verdict"]["confusion"])) is not None:
        lines.insert(2, f"  {rare}")
    gap = figures["gaps_at_10_percent"]
    if gap is not None:
        noticed = f"{gap['recall']:.0%} noticed at {gap['false_alarms']:.0%} false alarms"
        lines.append(f"  evidence removed: {noticed}, by a threshold chosen on these lists")
    lines.append(f"  without a limit: {unlimited_in_words(figures['without_limit'])}")
    for risk in figures["wrong_generate"]:
        lines.append(f"  limit {100 * risk['limit']:.3g}% of wrong answers: {realised_in_words(risk)}")
    least = found.calibration.correct_from
    if least is not None:
        surely = f"correct from a probability of {least:.2f} on: macro-F1 and accuracy above are without that limit"
        lines.append(f"  {surely}" if least else "  the limit takes no verdict away: what is called correct keeps it")
    strips = found.strips
    of = f"{LEAST_QUESTIONS} questions with labelled sentences, some of them retrieved, about {LEAST_SOURCES} sources"
    lines.append(f"  no sentence model: it takes {of}" if strips is None else "  with a sentence model")
    show(Text.assemble(("Calibrated", "bold"), "\n".join(lines)), _told_use(output, model))


def _told_use(output: Path, model: str | None) -> str:
    """Say what takes the file: one for a model of one's own only what can be told that model, too."""
    given = "" if model is None else f", model={model!r}"
    commands = "crag ask, serve and eval" if model is None else f"crag eval, with --model {quote(model)}"
    return (
        f"Written to {output}. Use it: --calibration {quote(str(output))} of {commands}, or "
        f"HeuristicGrader(calibration={str(output)!r}{given})"
    )


def _bounded(figures: dict[str, Any], name: str) -> str:
    group, key = name.split(".")
    bounds = figures["intervals"][name]
    return f"{figures[group][key]:.3f} ({bounds['low']:.3f} to {bounds['high']:.3f})"
