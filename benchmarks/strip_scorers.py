"""The first table of `strips.py`: scorers by wording and by vectors, at one threshold for all sets."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from judgement import Row, lines, overlap, spans, strips
from numpy.typing import NDArray

from haystack_integrations.crag.encoding.encoders import load_encoder
from haystack_integrations.crag.refining.strips import KEEP_ABOVE, decompose, embedding_scores, lexical_scores

SCORERS = ("lexical", "embedding", "mean")
GRID = np.round(np.arange(0.0, 0.985, 0.02), 2)
Scores = NDArray[np.float64]


@dataclass(frozen=True)
class Judged:
    """One list: scores of its strips by scorer, and the strips, label and words of each sentence of the corpus."""

    scores: dict[str, Scores]
    parts: list[list[int]]
    labels: NDArray[np.bool_]
    words: NDArray[np.int64]
    gold: int


def judged(row: Row, corpus: dict[str, Row]) -> Judged:
    """Score the strips of one list by every scorer."""
    found = [corpus[name] for name in row["retrieved"][:5]]
    pieces = decompose([entry["text"] for entry in found], "sentence", 3)
    titles = [entry.get("title") or "" for entry in found]
    lexical = np.array(lexical_scores(row["question"], pieces, titles))
    embedding = np.array(embedding_scores(row["question"], pieces, titles, load_encoder()))
    gold = {tuple(entry) for entry in row["gold_sentences"]}
    parts, labels, sizes = [], [], []
    for document, entry in enumerate(found):
        own = [(k, piece) for k, piece in enumerate(pieces) if piece.document == document]
        for number, (start, end) in enumerate(spans(entry)):
            if end > start:
                parts.append([k for k, piece in own if piece.start < end and piece.end > start])
                labels.append((entry["id"], number) in gold)
                sizes.append(len(entry["text"][start:end].split()))
    scores = {"lexical": lexical, "embedding": embedding, "mean": (lexical + embedding) / 2}
    return Judged(scores, parts, np.array(labels), np.array(sizes), len(gold))


def curve(lists: Sequence[Judged], scorer: str) -> tuple[Scores, Scores]:
    """F1 and share of words kept at each threshold; where no strip passes, the best one is kept."""
    hits, kept, words = np.zeros(len(GRID)), np.zeros(len(GRID)), np.zeros(len(GRID))
    gold = sum(entry.gold for entry in lists)
    for entry in lists:
        scores = entry.scores[scorer].copy()
        scores[scores.argmax()] = np.inf
        weakest = np.array([scores[part].min() for part in entry.parts])
        is_kept = weakest[None, :] > GRID[:, None]
        hits += (is_kept & entry.labels).sum(1)
        kept += is_kept.sum(1)
        words += is_kept @ entry.words
    return 2 * hits / (kept + gold), words / sum(int(entry.words.sum()) for entry in lists)


def compare(data: Path, split: str) -> None:
    """Print the table."""
    base: dict[str, Row] = {}
    curves: dict[str, dict[str, tuple[Scores, Scores]]] = {}
    for folder in sorted(path for path in data.iterdir() if (path / split).is_dir()):
        asked = {row["id"]: row for row in lines(folder / split / "queries.jsonl")}
        listed = [{**asked[row["id"]], **row} for row in lines(folder / split / "bm25_top10.jsonl")]
        rows = [row for row in listed if row.get("gold_sentences")]
        if rows:
            corpus = {row["id"]: row for row in lines(folder / "corpus.jsonl")}
            base[folder.name] = {"n": len(rows), **strips(rows, corpus, overlap)}
            entries = [judged(row, corpus) for row in rows]
            curves[folder.name] = {scorer: curve(entries, scorer) for scorer in SCORERS}
    print(f"{'':9} {'':>5} | {'top 3':^11} | " + " | ".join(f"{scorer:^26}" for scorer in SCORERS))
    print(f"{'set':9} {'n':>5} | {'F1':>5} words | " + " | ".join(["   F1 words others      at"] * len(SCORERS)))
    at = int(np.searchsorted(GRID, KEEP_ABOVE))
    columns: list[list[float]] = []
    for name, top in base.items():
        cells, numbers = [], [top["f1"]]
        for scorer in SCORERS:
            others = [curves[other][scorer][0] for other in base if other != name]
            best = int(np.mean(others, axis=0).argmax())
            f1, words = curves[name][scorer]
            cells.append(f"{f1[at]:5.3f} {words[at]:5.2f} {f1[best]:6.3f} {GRID[best]:7.2f}")
            numbers += [f1[at], f1[best]]
        columns.append(numbers)
        print(f"{name:9} {top['n']:5} | {top['f1']:.3f} {top['words']:5.2f} | " + " | ".join(cells))
    mean = np.mean(columns, axis=0)
    cells = [f"{mean[1 + 2 * k]:5.3f} {'':5} {mean[2 + 2 * k]:6.3f} {'':7}" for k in range(len(SCORERS))]
    print(f"{'mean':9} {'':5} | {mean[0]:.3f} {'':5} | " + " | ".join(cells))
