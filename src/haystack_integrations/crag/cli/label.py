"""`crag label`: labels for `crag calibrate` and `crag eval`, made by a chat model, or by people in a sheet."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from rich.console import RenderableType
from rich.text import Text

from haystack_integrations.crag.cli.errors import ExitCode
from haystack_integrations.crag.cli.files import no_lists, require_extra, tell_of_pipeline
from haystack_integrations.crag.cli.options import PIPELINE, Folder, Fresh, PipelineName, Split, path
from haystack_integrations.crag.cli.output import Json, complain, progress_bar, show, show_json, to_copy, working
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.vocabulary import Lists

if TYPE_CHECKING:
    from collections.abc import Callable

    from haystack_integrations.crag.chat_model import ChatModel
    from haystack_integrations.crag.evaluation.cases import Case, Dataset, RankedList

Output = Annotated[str, typer.Option(metavar="NAME", help="Name of the split to write, in the same folder.")]
ListsFrom = Annotated[
    Lists | None,
    typer.Option(help="fixed: the lists in the data. live: the pipeline retrieves. Default: fixed if there are lists."),
]
Sheet = Annotated[
    Path | None,
    typer.Option(parser=path, metavar="FILE", help="Take the grades of this filled sheet (.xlsx), and ask no model."),
]
TopK = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, max=100, help="Documents to grade per question (10; collected: all)."),
]
_TOP_K: Final = 10


def label(
    folder: Folder,
    split: Split,
    output: Output,
    pipeline: PipelineName = PIPELINE,
    lists: ListsFrom = None,
    top_k: TopK = None,
    sheet: Sheet = None,
    fresh: Fresh = False,
    json: Json = False,
) -> None:
    """
    Let your chat model label questions, with one call for each, or take the labels of a sheet.

    A second run resumes where the first one stopped.
    """
    from haystack_integrations.crag.evaluation.origins import check_target
    from haystack_integrations.crag.evaluation.reading import read_dataset

    if sheet is not None:
        _check_lists({"--lists": lists == "live", "--top-k": top_k is not None, "--pipeline": pipeline != PIPELINE})
    model = _model() if sheet is None else None
    with working("reading the data"):
        dataset = read_dataset(folder, split, labelled=False, least=1)
    place = check_target(dataset, output, by_model=model is not None)
    chosen: Lists = lists or ("fixed" if sheet or any(case.fixed for case in dataset.cases) else "live")
    if model is not None:
        records = _asked(dataset, pipeline, chosen, top_k or dataset.depth(_TOP_K), model, place, fresh=fresh)
    else:
        records = _taken(dataset, sheet, place)
    summary = _summary(output, records)
    show_json(summary) if json else show(*_told(summary, place, dataset, by_model=model is not None))
    if summary["left_out"]:
        why = "; ".join(summary["failures"])
        again = "run again to ask once more" if model else "fill the sheet and run again"
        complain(f"{summary['left_out']} questions have no label ({why}); {again}", "warning")
        raise typer.Exit(ExitCode.INPUTS_FAILED if model else ExitCode.DONE)


def _asked(
    dataset: "Dataset", pipeline: str, lists: Lists, top_k: int, model: "ChatModel", place: Path, *, fresh: bool
) -> list[dict[str, Any]]:
    """Ask the chat model."""
    from haystack_integrations.crag.evaluation.labelling import grader_of, make_labels
    from haystack_integrations.crag.evaluation.setup import Setup

    setup = Setup(pipeline, "llm", lists=lists, top_k=top_k, model=model)
    ranked = _ranked(dataset, lists, pipeline, top_k)
    with progress_bar("labelling") as progress:
        return make_labels(dataset, setup, ranked, grader_of(model), place, fresh=fresh, progress=progress)


def _check_lists(given: dict[str, bool]) -> None:
    """Refuse what says of other lists: a sheet is about those of the data."""
    if others := " and ".join(name for name, is_given in given.items() if is_given):
        msg = f"got a sheet and {others}, wanted the lists that the sheet is about; leave out {others}"
        raise ConfigurationError(msg)


def _taken(dataset: "Dataset", sheet: Path | None, place: Path) -> list[dict[str, Any]]:
    """Take what people filled in."""
    from haystack_integrations.crag.evaluation.labelling import take_labels
    from haystack_integrations.crag.evaluation.setup import Setup
    from haystack_integrations.crag.evaluation.sheets import read_sheet

    assert sheet is not None  # noqa: S101 - else there is a model
    if any(case.fixed is None for case in dataset.cases):
        raise no_lists(dataset)
    records = read_sheet(sheet, dataset)
    take_labels(dataset, Setup(PIPELINE), records, place)
    return records


def _model() -> "ChatModel":
    from haystack_integrations.crag.chat_model import chat_model

    if (model := chat_model()) is None:
        msg = (
            "labels are made by a chat model, but none is configured; set CRAG_LLM_BASE_URL and CRAG_LLM_MODEL (and "
            "CRAG_LLM_API_KEY), or label questions by hand, such as in a sheet of `crag collect` (--sheet FILE)"
        )
        raise ConfigurationError(msg)
    return model


def _ranked(dataset: "Dataset", lists: Lists, pipeline: str, top_k: int) -> "Callable[[Case], RankedList]":
    """Give what finds the list of a question: in the data, or by retrieval."""
    if lists == "live":
        require_extra()
        from haystack_integrations.crag.evaluation.retrieving import Retrieval

        with working("indexing the corpus"):
            retrieval = Retrieval.over(dataset, pipeline, top_k)
        return lambda case: retrieval.of(case.question)
    if any(case.fixed is None for case in dataset.cases):
        raise no_lists(dataset)
    tell_of_pipeline(pipeline)

    def fixed(case: "Case") -> "RankedList":
        assert case.fixed is not None  # noqa: S101 - checked for all of them
        return replace(case.fixed, retrieved=case.fixed.retrieved[:top_k])

    return fixed


def _summary(output: str, records: list[dict[str, Any]]) -> dict[str, Any]:
    from haystack_integrations.crag.evaluation.labelling import summed, verdict_of

    made = [record for record in records if record["error"] is None]
    failures = [record["error"] for record in records if record["error"] is not None]
    return {
        "split": output,
        "questions": len(records),
        "labelled": len(made),
        "left_out": len(failures),
        "verdicts": dict(Counter(map(verdict_of, made)).most_common()),
        "failures": [why for why, _ in Counter(failures).most_common()],
        "cost": summed(records),
    }


def _told(summary: dict[str, Any], place: Path, dataset: "Dataset", *, by_model: bool) -> list[RenderableType]:
    from haystack_integrations.crag.evaluation.origins import is_labelled_by_model
    from haystack_integrations.crag.evaluation.sheets import SHEET

    verdicts = ", ".join(f"{count} {name}" for name, count in summary["verdicts"].items()) or "none"
    cost, share = summary["cost"], f"{summary['labelled']} of {summary['questions']} questions"
    told: list[RenderableType] = [
        Text.assemble(("Labelled", "bold"), f" {share}; by the first five documents: {verdicts}")
    ]
    if by_model:
        told.append(f"  cost {cost['llm_calls']} calls, {cost['tokens_in']} tokens in, {cost['tokens_out']} tokens out")
    folder, split, sheet = (quote(str(one)) for one in (place.parent, place.name, place / SHEET))
    if not summary["labelled"]:
        return [*told, f"Written to {place}."]
    told.append(f"Written to {place}. Use it:")
    told.append(to_copy(f"crag calibrate {folder} --split {split} --output calibration.json"))
    if by_model:
        told.append(f"Better, correct its grades in {place / SHEET} first, and:")
        told.append(to_copy(f"crag label {folder} --split {split} --output checked --sheet {sheet}"))
    is_labelled = any(case.gold or case.partial for case in dataset.cases)
    if is_labelled and (by_model or not is_labelled_by_model(dataset.folder / dataset.split)):
        told.append(f"{dataset.split!r} has labels of its own: `crag calibrate` says how to set one of the two aside")
    return told
