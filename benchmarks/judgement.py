"""
How well the parts without a language model judge: verdicts of HeuristicGrader, strips of StripRefiner.

    python benchmarks/judgement.py DATASETS [--split dev] [--weights evidence]

DATASETS holds one folder per set: `corpus.jsonl`, and in a folder per split `queries.jsonl` and `bm25_top10.jsonl`.
Verdicts: the first five documents of the fixed list, best score >= 0.7 correct, >= 0.3 ambiguous, else incorrect.
`plain` is the same on texts whose surface was made alike (quotes, spaces before punctuation): in clapnq the answering
passages are tokenised differently from the others, and a judgement must not feed on that. `others` takes its two
thresholds from the other sets. Strips: sentences of the corpus kept whole, against the labelled ones.
"""

import argparse
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from haystack import Document

from haystack_integrations.crag.components.heuristic_grader import HeuristicGrader
from haystack_integrations.crag.components.strip_refiner import StripRefiner
from haystack_integrations.crag.texts.languages.stemming import STOP_WORDS
from haystack_integrations.crag.texts.text import sentences, words

CLASSES = ("correct", "ambiguous", "incorrect")
Row = dict[str, Any]


def lines(path: Path) -> Iterator[Row]:
    """Read a JSONL file."""
    with path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def plain(text: str) -> str:
    """Make surface forms alike: straight quotes, no space before punctuation or inside brackets."""
    text = re.sub(r"``|''", '"', text)
    text = re.sub(r"\s+([.,;:!?%)\]]|'s\b|n't\b)", r"\1", text)
    return re.sub(r"([(\[])\s+", r"\1", text)


def document(row: Row, change: Callable[[str], str]) -> Document:
    """Make a document of a corpus entry."""
    return Document(id=row["id"], content=change(row["text"]), meta={"title": row.get("title") or ""})


def macro_f1(truth: Sequence[str], told: Sequence[str]) -> float:
    """Average F1 over the classes that occur."""
    scores = []
    for name in sorted(set(truth)):
        hits = sum(a == b == name for a, b in zip(truth, told, strict=True))
        scores.append(2 * hits / (sum(a == name for a in truth) + sum(b == name for b in told)))
    return float(np.mean(scores))


def verdicts(best: Sequence[float], upper: float = 0.7, lower: float = 0.3) -> list[str]:
    """Decide as CragRouter does with aggregate max."""
    return ["correct" if score >= upper else "ambiguous" if score >= lower else "incorrect" for score in best]


def judge(rows: Sequence[Row], corpus: dict[str, Row], grader: Any, change: Callable[[str], str]) -> list[float]:
    """Give the best document's score for each list."""
    best = []
    for row in rows:
        found = [document(corpus[name], change) for name in row["retrieved"][:5]]
        best.append(max(grader.run(query=change(row["question"]), documents=found)["scores"]))
    return best


def spans(row: Row) -> list[tuple[int, int]]:
    """Find the corpus sentences of a document in its text."""
    if "sentences" not in row:
        return sentences(row["text"])
    found, position = [], 0
    for sentence in row["sentences"]:
        start = row["text"].index(sentence.strip(), position) if sentence.strip() else position
        position = start + len(sentence.strip())
        found.append((start, position))
    return found


def overlap(question: str, rows: Sequence[Row]) -> set[tuple[str, int]]:
    """Choose the baseline: the three sentences that share most words with the question, stop words aside."""
    asked = set(words(question)) - STOP_WORDS
    shared = [
        (len(asked & set(words(row["text"][start:end]))), row["id"], number)
        for row in rows
        for number, (start, end) in enumerate(spans(row))
        if end > start
    ]
    return {(name, number) for _, name, number in sorted(shared, key=lambda entry: -entry[0])[:3]}


def refined(question: str, rows: Sequence[Row], refiner: Any) -> set[tuple[str, int]]:
    """Name the corpus sentences that the refined documents hold whole."""
    kept = set()
    texts = {row["id"]: row for row in rows}
    for short in refiner.run(query=question, documents=[document(row, str) for row in rows])["documents"]:
        row, ranges = texts[short.id], list[list[int]]()
        for strip in short.meta["crag"]["strips"]:
            if ranges and not row["text"][ranges[-1][1] : strip["start"]].strip():
                ranges[-1][1] = strip["end"]
            else:
                ranges.append([strip["start"], strip["end"]])
        for number, (start, end) in enumerate(spans(row)):
            if end > start and any(low <= start and end <= high for low, high in ranges):
                kept.add((short.id, number))
    return kept


def strips(rows: Sequence[Row], corpus: dict[str, Row], choose: Callable[[str, Sequence[Row]], set[Any]]) -> Row:
    """Score kept sentences against the labelled ones, over all questions together."""
    hits = kept = gold = words_kept = words_all = 0
    for row in rows:
        found = [corpus[name] for name in row["retrieved"][:5]]
        labelled = {tuple(entry) for entry in row["gold_sentences"]}
        chosen = choose(row["question"], found)
        hits, kept, gold = hits + len(chosen & labelled), kept + len(chosen), gold + len(labelled)
        for entry in found:
            for number, (start, end) in enumerate(spans(entry)):
                size = len(entry["text"][start:end].split())
                words_all += size
                words_kept += size if (entry["id"], number) in chosen else 0
    return {"f1": 2 * hits / (kept + gold), "p": hits / kept, "r": hits / gold, "words": words_kept / words_all}


def thresholds(others: Sequence[tuple[list[str], list[float]]]) -> tuple[float, float]:
    """Find the thresholds that are best on average over some sets."""
    grid = np.round(np.arange(0.1, 0.96, 0.05), 2).tolist()
    pairs = [(upper, lower) for lower in grid for upper in grid if upper >= lower]
    return max(pairs, key=lambda pair: float(np.mean([macro_f1(t, verdicts(b, *pair)) for t, b in others])))


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", type=Path)
    parser.add_argument("--split", default="dev")
    parser.add_argument("--weights", default="evidence")
    options = parser.parse_args()
    grader, refiner = HeuristicGrader(weights=options.weights), StripRefiner()
    results: dict[str, tuple[list[str], list[float]]] = {}
    strip_table = []
    print(f"{'verdict':12} {'n':>5} {'majority':>8} {'macro-F1':>8} {'plain':>6} {'accuracy':>8}  told as c/a/i")
    for folder in sorted(path for path in options.datasets.iterdir() if (path / options.split).is_dir()):
        corpus = {row["id"]: row for row in lines(folder / "corpus.jsonl")}
        asked = {row["id"]: row for row in lines(folder / options.split / "queries.jsonl")}
        lists = [{**asked[row["id"]], **row} for row in lines(folder / options.split / "bm25_top10.jsonl")]
        rows = [row for row in lists if row.get("strict") is not False]
        truth = [row["label_top5"] for row in rows]
        best = judge(rows, corpus, grader, str)
        told, alike = verdicts(best), verdicts(judge(rows, corpus, grader, plain))
        results[folder.name] = (truth, best)
        pairs = Counter(zip(truth, told, strict=True))
        table = "   ".join(f"{a[:4]} {'/'.join(str(pairs[a, b]) for b in CLASSES)}" for a in CLASSES if a in truth)
        most = Counter(truth).most_common(1)[0][0]
        right = sum(a == b for a, b in zip(truth, told, strict=True)) / len(rows)
        print(
            f"{folder.name:12} {len(rows):5} {macro_f1(truth, [most] * len(rows)):8.3f} {macro_f1(truth, told):8.3f} "
            f"{macro_f1(truth, alike):6.3f} {right:8.3f}  {table}"
        )
        labelled = [row for row in lists if row.get("gold_sentences")]
        if labelled:
            ours = strips(labelled, corpus, lambda question, found: refined(question, found, refiner))
            strip_table.append((folder.name, len(labelled), strips(labelled, corpus, overlap), ours))
    print(f"\n{'others':12} upper lower macro-F1 with thresholds from the other sets")
    for name, (truth, best) in results.items():
        upper, lower = thresholds([value for other, value in results.items() if other != name])
        print(f"{name:12} {upper:5.2f} {lower:5.2f} {macro_f1(truth, verdicts(best, upper, lower)):8.3f}")
    print(f"\n{'strips':12} {'n':>5} | top 3 by overlap: F1 words | StripRefiner: F1     P     R words")
    for name, count, base, ours in strip_table:
        print(
            f"{name:12} {count:5} | {base['f1']:20.3f} {base['words']:5.2f} | "
            f"{ours['f1']:16.3f} {ours['p']:5.3f} {ours['r']:5.3f} {ours['words']:5.2f}"
        )


if __name__ == "__main__":
    main()
