"""
Show it on real input: index two labelled corpora with `crag index`, ask questions, and say where it decided wrongly.

    python benchmarks/real_questions.py DATASETS --url http://127.0.0.1:9200 [--sets covidqa scifact] [--questions 50]
        [--json FILE]

Indexes the corpora into one Elasticsearch index through the command line, then
1. hit@1 and hit@10 of BM25, dense and the fused list over every labelled question of the open half, and of BM25 and
   fusion asked with the whole question, stop words and all;
2. `corrective_retrieval` for the first questions of each set: verdicts against the labels of what was retrieved first;
3. `agent_rag` and `corrective_rag` for the same questions against a scripted OpenAI-compatible server on loopback that
   grades by the labels (2 -> 0.9, 1 -> 0.5, 0 -> 0.1): verdicts, calls for each question, corrections.
"""

import argparse
import json
import logging
import random
import subprocess
import sys
import uuid
from collections import Counter
from pathlib import Path
from typing import Any

from common import elasticsearch_version, questions, write_figures
from haystack.components.embedders import MockDocumentEmbedder
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.utils import Secret
from pytest_httpserver import HTTPServer

from haystack_integrations.crag.components import StopWordRemover
from haystack_integrations.crag.fusion import fuse
from haystack_integrations.crag.pipelines import load
from haystack_integrations.crag.pipelines.indexing import index
from haystack_integrations.crag.pipelines.loader import read
from haystack_integrations.crag.pipelines.opening import memory_store
from haystack_integrations.crag.pipelines.placing import place_on
from haystack_integrations.crag.store_profiles import elasticsearch_client, open_store

logging.getLogger("werkzeug").setLevel(logging.ERROR)
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from scripted_model import NAME, ScriptedModel, judging

SCORES = {2: 0.9, 1: 0.5, 0: 0.1}


class Labelled:
    """One set: questions with grades for documents."""

    def __init__(self, folder: Path) -> None:
        """Read the open half."""
        self.name = folder.name
        self.corpus = folder / "corpus.jsonl"
        # As `crag index` writes them, in plain letters and below their titles, and as prompts show them.
        index([self.corpus], written := memory_store(), embedder=MockDocumentEmbedder())
        self.texts = {document.id: document.content or "" for document in written.filter_documents()}
        with self.corpus.open(encoding="utf-8") as lines:
            self.article = {entry["id"]: entry.get("document") for entry in map(json.loads, lines)}
        self.questions = [q for q in questions(folder / "dev" / "queries.jsonl") if q["gold"]]
        rows = (line.split("\t") for line in (folder / "dev" / "qrels.tsv").read_text("utf-8").splitlines())
        self.grades = {(row[0], row[1]): int(row[2]) for row in rows if row[-1].strip().isdigit()}

    def grade(self, question: dict[str, Any], document_id: str) -> int:
        """2 answers, 1 on topic, 0 neither; covidqa derives 1 from the article, as its README says."""
        given = self.grades.get((question["id"], document_id))
        if given is not None:
            return given
        article = question.get("document")
        return int(article is not None and self.article.get(document_id) == article)

    def label(self, question: dict[str, Any], ids: list[str]) -> str:
        """The verdict that a list deserves."""
        best = max((self.grade(question, id_) for id_ in ids), default=0)
        return {2: "correct", 1: "ambiguous", 0: "incorrect"}[best]


def hits(sets: list[Labelled], store: Any) -> dict[str, Any]:
    """hit@1 and hit@10 of each retriever and of their fusion, BM25 with and without stop words."""
    spec, parts = place_on(read("corrective_rag"), store, given=set(), changes={})
    settings = spec["components"]["fuse"]["init_parameters"]
    print(f"fusion: weights {settings['weights']}, rrf_k {settings['rrf_k']}")
    figures: dict[str, Any] = {}
    keywords = StopWordRemover()
    for labelled in sets:
        found: dict[str, list[list[str]]] = {}
        for question in labelled.questions:
            whole = question["question"]
            dense = parts["dense"].run(query=whole)["documents"]
            lists = {"dense": dense}
            for asked, query in (("", keywords.run(whole)["query"]), (" whole", whole)):
                bm25 = parts["bm25"].run(query=query)["documents"]
                fused = fuse({"bm25": bm25, "dense": dense}, settings["weights"], "rrf", settings["rrf_k"])[:10]
                lists |= {f"bm25{asked}": bm25, f"fused{asked}": [hit.document for hit in fused]}
            for name, documents in lists.items():
                found.setdefault(name, []).append([document.id for document in documents])
        count = len(labelled.questions)
        figures[labelled.name] = {"n": count}
        for name, lists in found.items():
            at = {
                k: sum(bool(set(ids[:k]) & set(q["gold"])) for ids, q in zip(lists, labelled.questions, strict=True))
                for k in (1, 10)
            }
            figures[labelled.name][name] = {f"hit@{k}": hit / count for k, hit in at.items()}
            print(f"{labelled.name:8} {name:11} n={count} hit@1 {at[1] / count:.3f}  hit@10 {at[10] / count:.3f}")
    return figures


def run(
    name: str, sets: list[Labelled], asked: list[tuple[Labelled, dict[str, Any]]], rag: Any, current: list[Any]
) -> dict[str, Any]:
    """Run one pipeline over the questions and report; give the figures."""
    confusion: Counter[tuple[str, str]] = Counter()
    actions: Counter[str] = Counter()
    calls, wrong = [], []
    for labelled, question in asked:
        current[:] = [labelled, question]
        record = rag.run(query=question["question"])["crag"]
        first = record["trail"][0]
        ids = [entry["id"] for entry in first["kept"] + first["discarded"]]
        want = labelled.label(question, ids)
        confusion[want, first["verdict"]] += 1
        actions[f"{'>'.join(d['action'] for d in record['trail'])}"] += 1
        calls.append(record["llm_calls"])
        if want != first["verdict"]:
            best = max(first["kept"] + first["discarded"], key=lambda e: e["score"] or 0.0, default=None)
            wrong.append((labelled, question, want, first, best))
    right = sum(count for (want, got), count in confusion.items() if want == got)
    print(f"\n{name}: {len(asked)} questions, first verdict right {right}")
    for (want, got), count in sorted(confusion.items()):
        print(f"  label {want:9} -> verdict {got:9} {count}")
    print(f"  passes: {dict(actions.most_common())}")
    print(f"  LLM calls for each question: {dict(sorted(Counter(calls).items()))}")
    for labelled, question, want, first, best in wrong[:10]:
        text = next((one.texts[best["id"]] for one in sets if best and best["id"] in one.texts), "")[:110]
        grade = labelled.grade(question, best["id"]) if best else None
        score = best["score"] if best else None
        print(f"  wrong [{labelled.name}] {question['question'][:90]!r}: label {want}, verdict {first['verdict']};")
        print(f"    top score {score} at a document of grade {grade}: {text!r}")
    counted = {str(count): those for count, those in sorted(Counter(calls).items())}
    return {"n": len(asked), "right": right, "llm_calls": counted, "passes": dict(actions.most_common())}


def main() -> None:
    """Index, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", type=Path)
    parser.add_argument("--url", required=True)
    parser.add_argument("--sets", nargs="+", default=["covidqa", "scifact"])
    parser.add_argument("--questions", type=int, default=50)
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    options = parser.parse_args()
    sets = [Labelled(options.datasets / name) for name in options.sets]
    index = f"real-{uuid.uuid4().hex[:8]}"
    command = [
        sys.executable,
        "-c",
        "from haystack_integrations.crag.cli import main; main()",
        "index",
        *(str(one.corpus) for one in sets),
    ]
    command += ["--store", "elasticsearch", "--url", options.url, "--index", index, "--json"]
    report = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    print("crag index:", {key: report[key] for key in ("added", "documents_written", "seconds")})
    store = open_store("elasticsearch", options.url, index)
    try:
        figures: dict[str, Any] = {"hits": hits(sets, store)}
        rng = random.Random(11)
        each = options.questions // len(sets)
        asked = [(one, question) for one in sets for question in rng.sample(one.questions, each)]
        current: list[Any] = []
        rag = load("corrective_retrieval", store=store)
        figures["verdicts"] = {"corrective_retrieval": run("corrective_retrieval", sets, asked, rag, current)}
        with HTTPServer(host="127.0.0.1", port=0, threaded=True) as server:
            model = ScriptedModel(server)

            def score(text: str) -> float:
                labelled, question = current
                beginning = text.partition("[…cut]")[0].strip()
                ids = [id_ for id_, whole in labelled.texts.items() if whole.strip().startswith(beginning)]
                return SCORES[max((labelled.grade(question, id_) for id_ in ids), default=0)]

            model.reply = judging(score)

            def chat() -> OpenAIChatGenerator:
                key = Secret.from_token("none")
                return OpenAIChatGenerator(api_key=key, api_base_url=model.url, model=NAME, timeout=20, max_retries=0)

            for name in ("agent_rag", "corrective_rag"):
                rag = load(name, store=store, generator=chat())
                figures["verdicts"][name] = run(name, sets, asked, rag, current)
        named = {options.datasets: "DATASETS", options.url: "URL"}
        write_figures(options.json, figures, named, elasticsearch=elasticsearch_version(store))
    finally:
        with elasticsearch_client(store) as client:
            client.indices.delete(index=index)
        store.close()


if __name__ == "__main__":
    main()
