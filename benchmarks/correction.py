"""
Does correction help? An answer string in what the generator gets, before and after correction, with live retrieval.

    python benchmarks/correction.py --data DATASETS --url http://127.0.0.1:9200 [--limit 200] [--json FILE]

For each set the corpus is indexed into Elasticsearch through `crag index`; asked are those questions of the open half
that have a gold document and an answer other than yes or no, `--limit` of them drawn with a fixed seed. Support: one
of the accepted answers stands in one of the documents, both normalised (case, accents, punctuation), on word
boundaries.

before  in what `baseline_rag` hands to the generator: same store, ten documents, no judgement
first   in what the pipeline itself retrieved first (heuristic_rag 20 documents, agent_rag BM25 alone): the step from
        before to first is retrieval, the one from first to after is judgement and correction
after   in the evidence that the pipeline ends with; an abstention hands over nothing. + and - count the questions that
        gained and lost support against `before`
words   mean number of words in the documents before and after
floor   the accidental floor: before and after on the questions whose gold documents were all deleted from the index
        (the data's own list), by the strategy that the run took then

Rows: all questions; then those that were answered, by the strategy that the crag record names; then the abstentions,
of which those with support before are wrong (unless that support was an accident: no gold document was retrieved),
while with the gold deleted an abstention is right. `labels` is a chat model that grades by the data's labels (2 ->
0.9, 1 -> 0.5, 0 -> 0.1): what a perfect grader would get out of the pipeline.

One index gives the same figures each time. Two indexings of a corpus do not quite: Elasticsearch keeps vectors rounded
by segment, so the dense lists differ in places, and about one question in a row of the table may change sides.
"""

import argparse
import json
import logging
import os
import random
import re
import subprocess
import sys
import time
import unicodedata
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from common import elasticsearch_version, instant_model, write_figures
from haystack import Document
from haystack.components.generators.chat import MockChatGenerator
from haystack.dataclasses import ChatMessage
from real_questions import SCORES, Labelled, judging

from haystack_integrations.crag.pipelines import load
from haystack_integrations.crag.store_profiles import elasticsearch_client, open_store

# Every run says that no search engine is configured: known here, and printed once.
logging.getLogger("haystack_integrations.crag.web").setLevel(logging.ERROR)

SETS = ("popqa", "hotpotqa", "covidqa")
BY_LABELS = ("agent_rag", "corrective_rag")
WITH_WEB = ("heuristic_rag", "paper_rag", "signals_rag")
STRATEGIES = ("none", "refine", "expand", "web", "web_and_refine")
_WORD = re.compile(r"[^\W_]+")
_BEGINNING = 60  # characters by which a document of the corpus is found again in a prompt


def normal(text: str) -> str:
    """Lower case, no accents, no punctuation, a space at both ends."""
    parts = unicodedata.normalize("NFKD", text.casefold())
    return f" {' '.join(_WORD.findall(''.join(one for one in parts if not unicodedata.combining(one))))} "


def accepted(question: dict[str, Any]) -> list[str]:
    """Answers that can be looked for in a text."""
    return [answer for answer in map(normal, question["answers"]) if answer.strip() not in ("", "yes", "no")]


@dataclass
class Run:
    """What one pipeline did with one question; `strategy` is "abstained" where it answered nothing."""

    strategy: str
    gold: bool  # a document that answers stood in what the pipeline retrieved first
    before: bool
    held: bool  # before, in a document that answers by the labels
    first: bool
    after: bool
    words_before: int
    words_after: int


class Bench:
    """One set in one index, and the pipelines on it."""

    def __init__(self, folder: Path, url: str, limit: int) -> None:
        """Read the set, index its corpus, load the pipelines."""
        self.labelled = Labelled(folder)
        self.normal = {id_: normal(text) for id_, text in self.labelled.texts.items()}
        self.ids: dict[str, list[str]] = {}
        for id_, text in self.labelled.texts.items():
            self.ids.setdefault(text.strip()[:_BEGINNING], []).append(id_)
        able = [question for question in self.labelled.questions if accepted(question)]
        self.able = len(able)
        drawn = set(random.Random(11).sample(range(len(able)), min(limit, len(able))))
        self.questions = [question for number, question in enumerate(able) if number in drawn]
        rows = map(json.loads, (folder / "dev" / "gap_bm25_top10.jsonl").read_text("utf-8").splitlines())
        status = {row["id"]: row["status"] for row in rows}
        self.gaps = [question for question in self.questions if status[question["id"]] == "gap"]
        self.removed = (folder / "dev" / "gap_removed_docs.txt").read_text("utf-8").split()
        self.index = f"correction-{uuid.uuid4().hex[:8]}"
        command = [sys.executable, "-c", "from haystack_integrations.crag.cli import main; main()", "index"]
        command += [str(self.labelled.corpus), "--store", "elasticsearch", "--url", url, "--index", self.index]
        subprocess.run([*command, "--json"], capture_output=True, check=True)
        self.store = open_store("elasticsearch", url, self.index)
        self.asked: dict[str, Any] = {}
        self.baseline = load("baseline_rag", store=self.store, generator=instant_model())
        self.pipelines = {"corrective_retrieval": load("corrective_retrieval", store=self.store)}
        self.pipelines["heuristic_rag"] = load("heuristic_rag", store=self.store)
        for name in ("paper_rag", "signals_rag"):
            self.pipelines[name] = load(name, store=self.store, generator=instant_model())
        for name in BY_LABELS:
            self.pipelines[name] = load(name, store=self.store, generator=self.labels())

    def labels(self) -> MockChatGenerator:
        """A chat model that grades by the labels of the question that is asked, and answers at once."""

        def score(text: str) -> float:
            shown = text.split("\n", 1)[-1] if text.startswith("Title: ") else text
            shown = shown.partition(" […cut]")[0].strip()
            same = [id_ for id_ in self.ids.get(shown[:_BEGINNING], ()) if self.labelled.texts[id_].startswith(shown)]
            best: int = max((self.labelled.grade(self.asked, id_) for id_ in same), default=0)
            return SCORES[best]

        reply = judging(score)

        def respond(messages: list[ChatMessage]) -> ChatMessage:
            text, reason = reply([{"content": messages[-1].text or ""}])
            return ChatMessage.from_assistant(text, meta={"finish_reason": reason})

        return MockChatGenerator(response_fn=respond)

    def measure(self, questions: Sequence[dict[str, Any]]) -> dict[str, list[Run]]:
        """Ask everything of every pipeline."""
        runs: dict[str, list[Run]] = {name: [] for name in self.pipelines}
        for question in questions:
            self.asked, answers = question, accepted(question)

            def holds(texts: list[str], answers: list[str] = answers) -> bool:
                return any(answer in text for text in texts for answer in answers)

            plain = self.baseline.run(query=question["question"])["documents"]
            before = holds([normal(document.content or "") for document in plain])
            held = holds([normal(document.content or "") for document in plain if document.id in question["gold"]])
            for name, rag in self.pipelines.items():
                off = {"web": False} if name in WITH_WEB else {}
                result = rag.run(query=question["question"], **off)
                record, final = result["crag"], result["documents"]
                first = [entry["id"] for part in ("kept", "discarded") for entry in record["trail"][0][part]]
                runs[name].append(
                    Run(
                        strategy="abstained" if record["action"] == "abstain" else record["strategy"],
                        gold=not set(question["gold"]).isdisjoint(first),
                        before=before,
                        held=held,
                        first=holds([self.normal[id_] for id_ in first]),
                        after=holds([normal(document.content or "") for document in final]),
                        words_before=words(plain),
                        words_after=words(final),
                    )
                )
        return runs

    def remove_gold(self) -> None:
        """Make the coverage gap: delete the documents that the data's own list names."""
        self.store.delete_documents(self.removed, refresh=True)
        with elasticsearch_client(self.store) as client:  # deleted documents no longer count in BM25's statistics
            client.options(request_timeout=120).indices.forcemerge(index=self.index, max_num_segments=1)

    def close(self) -> None:
        """Delete the index."""
        with elasticsearch_client(self.store) as client:
            client.indices.delete(index=self.index)
        self.store.close()


def words(documents: Sequence[Document]) -> int:
    """Words of all documents."""
    return sum(len((document.content or "").split()) for document in documents)


def mean(values: Sequence[float]) -> float:
    """The mean; not a number without values."""
    return sum(values) / len(values) if values else float("nan")


def summed(runs: Sequence[Run], gaps: Sequence[Run]) -> dict[str, Any]:
    """The figures of one line of the table."""
    parts = ("before", "first", "after", "words_before", "words_after")
    means = {part: mean([getattr(run, part) for run in runs]) for part in parts}
    return {
        "n": len(runs),
        **means,
        "gained": sum(run.after and not run.before for run in runs),
        "lost": sum(run.before and not run.after for run in runs),
        "held": sum(run.held for run in runs),
        "lost_held": sum(run.held and not run.after for run in runs),
        "floor": {"n": len(gaps), **{part: mean([getattr(run, part) for run in gaps]) for part in ("before", "after")}},
    }


def row(label: str, figures: dict[str, Any]) -> str:
    """One line of the table."""
    support = " ".join(f"{figures[part]:6.3f}" for part in ("before", "first", "after"))
    size = " ".join(f"{figures[part]:6.0f}" for part in ("words_before", "words_after"))
    floor = f"{figures['floor']['n']:4} {figures['floor']['before']:6.3f} {figures['floor']['after']:6.3f}"
    lost = f"{figures['lost']} ({figures['lost_held']})"
    line = f"{label:43} {figures['n']:4} | {support} {figures['gained']:4} {lost:>8} | {size} | {floor}"
    return line.replace("nan", "  -")


def silences(runs: Sequence[Run], gaps: Sequence[Run]) -> dict[str, int]:
    """The abstentions: all, those that were wrong, and those that were right."""
    silent = [run for run in runs if run.strategy == "abstained"]
    return {
        "n": len(silent),
        "with_support_before": sum(run.before for run in silent),
        "with_gold_retrieved": sum(run.gold for run in silent),
        "gold_deleted": sum(run.strategy == "abstained" for run in gaps),
    }


def table(bench: Bench, runs: dict[str, list[Run]], gaps: dict[str, list[Run]]) -> dict[str, Any]:
    """Print one set, and return the figures of the pipelines."""
    print(
        f"\n{bench.labelled.name}: n = {len(bench.questions)} of {bench.able}, gold deleted: {len(bench.gaps)} of them"
    )
    found = {}
    print(
        f"{'':43} {'':4} | {'support':^20} {'':13} | {'words':^13} | {'floor (gold deleted)':^18}\n"
        f"{'pipeline / strategy':43} {'n':>4} | {'before':>6} {'first':>6} {'after':>6} {'+':>4} {'-':>8} | "
        f"{'before':>6} {'after':>6} | {'n':>4} {'before':>6} {'after':>6}"
    )
    for name, every in runs.items():
        whole, silent = summed(every, gaps[name]), silences(every, gaps[name])
        found[name] = {**whole, "abstained": silent}
        print(row(name + (" (grader: labels)" if name in BY_LABELS else ""), whole))
        for strategy in STRATEGIES:
            some = [run for run in every if run.strategy == strategy]
            alike = [run for run in gaps[name] if run.strategy == strategy]
            if some or alike:
                asked = " (web asked for, none here)" if "web" in strategy else ""
                print(row(f"  {strategy}{asked}", summed(some, alike)))
        print(
            f"  abstained {silent['n']}, with support before {silent['with_support_before']}, with a gold document "
            f"retrieved {silent['with_gold_retrieved']}; with the gold deleted {silent['gold_deleted']} of "
            f"{len(gaps[name])}"
        )
    return {"n": len(bench.questions), "able": bench.able, "gold_deleted": len(bench.gaps), "pipelines": found}


def main() -> None:
    """Index, ask, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    url = os.environ.get("ELASTICSEARCH_URL")
    parser.add_argument("--url", default=url, required=url is None)
    parser.add_argument("--limit", type=int, default=200)
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    options = parser.parse_args()
    print("no web provider here: web strategies are not measured (web=False); a run that asks for the web gets nothing")
    figures = {}
    for name in SETS:
        started = time.monotonic()
        bench = Bench(options.data / name, options.url, options.limit)
        try:
            runs = bench.measure(bench.questions)
            bench.remove_gold()
            figures[name] = table(bench, runs, bench.measure(bench.gaps))
            server = elasticsearch_version(bench.store)
        finally:
            bench.close()
        print(f"{name}: {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
    named = {options.data: "DATASETS", options.url: "URL"}
    write_figures(options.json, figures, named, elasticsearch=server)


if __name__ == "__main__":
    main()
