"""`crag collect`: questions of one's own, and what an index finds for them, as data for `crag label` and the others."""

from pathlib import Path
from shlex import quote
from typing import Annotated, Any

import typer
from rich.console import RenderableType
from rich.text import Text

from haystack_integrations.crag.cli.errors import ExitCode
from haystack_integrations.crag.cli.files import require_extra
from haystack_integrations.crag.cli.options import PIPELINE, Index, PipelineName, Store, Url, path
from haystack_integrations.crag.cli.output import (
    Json,
    complain,
    complain_about,
    progress_bar,
    show,
    show_json,
    to_copy,
    working,
)
from haystack_integrations.crag.cli.places import choose_place, open_place, read_documents

Questions = Annotated[
    Path,
    typer.Argument(parser=path, metavar="FILE", help="Questions: one a line, or JSON Lines with a question in each."),
]
Folder = Annotated[
    Path, typer.Argument(parser=path, metavar="DIR", help="Folder to write to; made if it is not there.")
]
Split = Annotated[str, typer.Option(metavar="NAME", help="Name of the split to write: a subfolder of DIR.")]
Docs = Annotated[
    list[Path] | None, typer.Option(parser=path, metavar="PATH", help="Files or folders, in place of a store.")
]
TopK = Annotated[int, typer.Option(metavar="N", min=1, max=100, help="Documents to collect per question, at most.")]


def collect(
    questions: Questions,
    folder: Folder,
    split: Split,
    docs: Docs = None,
    store: Store = None,
    url: Url = None,
    index: Index = None,
    pipeline: PipelineName = PIPELINE,
    top_k: TopK = 10,
    json: Json = False,
) -> None:
    """Write what your index finds for questions of your own, to be labelled by people or by your chat model."""
    require_extra()
    from haystack_integrations.crag.evaluation import collecting
    from haystack_integrations.crag.evaluation.questions import read_questions
    from haystack_integrations.crag.evaluation.retrieving import Retrieval

    asked = read_questions(questions)
    place = collecting.check_target(folder, split)
    opened = open_place(choose_place(docs or (), (store, url, index)))
    retrieval = Retrieval(opened, pipeline, top_k)
    read: dict[str, list[dict[str, str]]] = {"failures": [], "doubts": []}
    if docs:
        with working("reading"):
            read = read_documents(docs, opened, complain_about)
    with progress_bar("collecting") as progress:
        found = collecting.collect(asked, opened, retrieval, progress)
    with working("counting words"):
        number = collecting.write_data(asked, found, opened, place)
    empty = sum(not ranked.retrieved for ranked in found.lists.values())
    if counted := sum(question.counts_sentences for question in asked):
        complain(f"gold_sentences of {counted} questions are left out: they count those of another corpus", "warning")
    if empty:
        complain(f"nothing was found for {empty} of {len(asked)} questions", "warning")
    summary = {"split": split, "questions": len(asked), "documents": len(found.passages), "documents_of_store": number}
    show_json({**summary, "nothing_found": empty, **read}) if json else show(*_told(summary, place))
    if read["failures"]:  # in a script, the figures on these labels would tell of an index that lacks them
        raise typer.Exit(ExitCode.INPUTS_FAILED)


def _told(summary: dict[str, Any], place: Path) -> list[RenderableType]:
    from haystack_integrations.crag.evaluation.sheets import SHEET

    found = f"{summary['documents']} of {summary['documents_of_store']} documents for {summary['questions']} questions"
    folder, split, sheet = (quote(str(one)) for one in (place.parent, place.name, place / SHEET))
    label = f"crag label {folder} --split {split} --output labelled"
    return [
        Text.assemble(("Collected", "bold"), f" {found}"),
        f"Written to {place}. Label it by your chat model:",
        to_copy(label),
        f"Or fill the column grade of {place / SHEET}:",
        to_copy(f"{label} --sheet {sheet}"),
    ]
