"""`crag demo`: three questions to a text that is on every machine, Python's own language reference."""

import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from rich.console import RenderableType
from rich.rule import Rule
from rich.text import Text

from haystack_integrations.crag.cli.ask import WITHOUT_MODEL, load_pipeline
from haystack_integrations.crag.cli.outcome import Outcome, run
from haystack_integrations.crag.cli.views import outcome_view
from haystack_integrations.crag.errors import SourceError

if TYPE_CHECKING:
    from haystack_integrations.crag.pipelines.index_report import IndexReport

QUESTIONS: Final = {
    "What happens when a finally clause executes a return statement?": "The reference answers this one.",
    "What does the assert statement do, and how does pytest use it?": "It answers half of it: pytest is another thing.",
    "How do I send an email?": "It cannot answer this one.",
}
"""The questions, and what a reader of the reference knows about them. The verdicts are the pipeline's own."""

_MOST_EVIDENCE: Final = 3


@dataclass(frozen=True)
class Demo:
    """
    What the demo did.

    :param report: What was indexed.
    :param outcomes: What came out, one for each question.
    :param seconds: How long all of it took, once Python had started.
    """

    report: "IndexReport"
    outcomes: tuple[Outcome, ...]
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """Give the demo as plain JSON."""
        outcomes = [outcome.to_dict() for outcome in self.outcomes]
        return {"indexed": self.report.to_dict(), "questions": outcomes, "seconds": self.seconds}


def run_demo() -> Demo:
    """
    Index the reference through the shipped indexing pipeline, and ask.

    :returns: What came out.
    :raises SourceError: When this Python comes without its reference.
    """
    started = time.perf_counter()
    try:
        from pydoc_data.topics import topics
    except ImportError:
        msg = "this Python comes without its reference (pydoc_data.topics); ask your own: crag ask QUESTION --docs PATH"
        raise SourceError(msg) from None
    from haystack_integrations.crag.pipelines.indexing import index
    from haystack_integrations.crag.pipelines.opening import memory_store

    store = memory_store()
    with TemporaryDirectory(prefix="crag-demo-") as folder:
        for name, text in topics.items():
            Path(folder, f"{name}.txt").write_text(text, "utf-8")
        report = index(folder, store, base=folder)
    pipeline = load_pipeline(WITHOUT_MODEL, store, None, {})
    outcomes = tuple(run(pipeline, WITHOUT_MODEL, question) for question in QUESTIONS)
    return Demo(report, outcomes, round(time.perf_counter() - started, 2))


def demo_view(demo: Demo) -> list[RenderableType]:
    """
    Show the demo.

    :param demo: What came out.
    :returns: What to write, one below the other.
    """
    report = demo.report
    parts: list[RenderableType] = [
        Text("Corrective retrieval over Python's own language reference", "bold"),
        Text(
            f"{report.sources} topics in {report.documents_written} passages, indexed in {report.seconds:.1f} s; "
            "no download, no key, no language model",
            "dim",
        ),
    ]
    for number, outcome in enumerate(demo.outcomes, 1):
        title = Text.assemble((str(number), "bold"), f"  {QUESTIONS[outcome.question]}")
        parts += [Text(), Rule(title, align="left", style="dim"), Text()]
        parts += [outcome_view(outcome, most=_MOST_EVIDENCE)]
    parts += [Text(), Rule(style="dim"), Text(f"Done in {demo.seconds:.1f} s. Now ask your own files:", "dim")]
    return [*parts, Text("  crag ask 'YOUR QUESTION' --docs FOLDER", "bold")]
