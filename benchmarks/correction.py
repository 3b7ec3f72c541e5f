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
0.9, 1 -> 0.5, 0 -> 0.1): what a perfect grader would get out of the pipeline. A question of hotpotqa needs both of
its pages, and the data calls a list with one of them ambiguous: so one counts as 1 until the other was shown, too.
An `erring` chat model is wrong on one document in ten, drawn anew for each question: it calls what answers unrelated
(0.1), and all else an answer (0.9). The scorer of `cascade_rag` is not calibrated; `no opinion`: what it thought of a
document that the model was asked about does not count.

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
from pathlib import Path
from typing import Any

from common import elasticsearch_version, instant_model, write_figures
from correction_table import Run, table
from haystack import Document
from haystack.components.generators.chat import MockChatGenerator
from haystack.dataclasses import ChatMessage
from real_questions import SCORES, Labelled  # puts the tests on the path
from scripted_model import documents_in, judging

from haystack_integrations.crag.pipelines import load
from haystack_integrations.crag.store_profiles import elasticsearch_client, open_store

# Every run says that no search engine is configured: known here, and printed once.
logging.getLogger("haystack_integrations.crag.web").setLevel(logging.ERROR)

SETS = ("popqa", "hotpotqa", "covidqa")
# Graded by labels: the pipeline, the share of grades that are wrong, and settings of its parts.
BY_LABELS: dict[str, tuple[str, float, dict[str, Any]]] = {
    "agent_rag": ("agent_rag", 0.0, {}),
    "corrective_rag": ("corrective_rag", 0.0, {}),
    "cascade_rag": ("cascade_rag", 0.0, {}),
    "corrective_rag, erring, no lead": ("corrective_rag", 0.1, {"router": {"clear_lead": None}}),
    "corrective_rag, erring": ("corrective_rag", 0.1, {}),
    "cascade_rag, erring, no opinion": ("cascade_rag", 0.1, {"router": {"second_opinion": None}}),
    "cascade_rag, erring": ("cascade_rag", 0.1, {}),
}
WITH_WEB = ("heuristic_rag", "paper_rag", "signals_rag")
ALL_NEEDED = "hotpotqa"  # the set whose questions need every gold document
_WORD = re.compile(r"[^\W_]+")
_BEGINNING = 60  # characters by which a document of the corpus is found again in a prompt


def normal(text: str) -> str:
    """Lower case, no accents, no punctuation, a space at both ends."""
    parts = unicodedata.normalize("NFKD", text.casefold())
    return f" {' '.join(_WORD.findall(''.join(one for one in parts if not unicodedata.combining(one))))} "


def accepted(question: dict[str, Any]) -> list[str]:
    """Answers that can be looked for in a text."""
    return [answer for answer in map(normal, question["answers"]) if answer.strip() not in ("", "yes", "no")]


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
        self.shown = set[str]()  # gold documents that a prompt of this run had
        self.baseline = load("baseline_rag", store=self.store, generator=instant_model())
        self.pipelines = {"corrective_retrieval": load("corrective_retrieval", store=self.store)}
        self.pipelines["heuristic_rag"] = load("heuristic_rag", store=self.store)
        for name in ("paper_rag", "signals_rag"):
            self.pipelines[name] = load(name, store=self.store, generator=instant_model())
        for name, (pipeline, wrong, parts) in BY_LABELS.items():
            self.pipelines[name] = load(pipeline, store=self.store, generator=self.labels(wrong), **parts)

    def labels(self, wrong: float) -> MockChatGenerator:
        """A chat model that grades by the labels of the question that is asked, and answers at once."""

        def ids_of(text: str) -> list[str]:
            shown = text.partition(" […cut]")[0].strip()
            return [id_ for id_ in self.ids.get(shown[:_BEGINNING], ()) if self.labelled.texts[id_].startswith(shown)]

        def score(text: str) -> float:
            best: int = max((self.labelled.grade(self.asked, id_) for id_ in ids_of(text)), default=0)
            if random.Random(f"{self.asked['id']} {text}").random() < wrong:
                return SCORES[0 if best == max(SCORES) else max(SCORES)]
            needed = self.asked["gold"] if self.labelled.name == ALL_NEEDED else ()
            return SCORES[min(best, 1) if not self.shown.issuperset(needed) else best]

        reply = judging(score)

        def respond(messages: list[ChatMessage]) -> ChatMessage:
            said = [{"content": messages[-1].text or ""}]
            shown = (id_ for text in documents_in(said).values() for id_ in ids_of(text))
            self.shown.update(set(self.asked["gold"]).intersection(shown))
            text, reason = reply(said)
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
                self.shown.clear()
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
            title = f"{name}: n = {len(bench.questions)} of {bench.able}, gold deleted: {len(bench.gaps)} of them"
            counts = {"n": len(bench.questions), "able": bench.able, "gold_deleted": len(bench.gaps)}
            found = table(title, runs, bench.measure(bench.gaps), tuple(BY_LABELS))
            figures[name] = {**counts, "pipelines": found}
            server = elasticsearch_version(bench.store)
        finally:
            bench.close()
        print(f"{name}: {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
    named = {options.data: "DATASETS", options.url: "URL"}
    write_figures(options.json, figures, named, elasticsearch=server)


if __name__ == "__main__":
    main()
