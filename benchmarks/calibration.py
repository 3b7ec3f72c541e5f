"""
What `crag calibrate` reaches on questions it has not seen, how many labels that takes, and which signals it is owed to.

    python benchmarks/calibration.py DATASETS [--sets popqa ...] [--model FOLDER] [--curve] [--ablation]

Nested cross-validation on the open half, five folds; questions about one source stay in one fold. First five documents
of the fixed lists. In brackets stands the calibration error of probabilities that hold exactly. `saved` is the share of
a perfect model's grading calls that a cascade saves at 2 points of macro-F1 lost. `gaps` is the recall at 10 % false
alarms. `wrong` are the realised shares of wrong `generate` decisions at the limits 0.05, 0.1 and 0.2 (of how many). The
second line is about `cascade_rag`, with models that are right and ones that err (`evaluation/cascades.py`). The third:
how many random halves of the sources have a threshold for a limit, and the share of wrong ones among all answers that
these give to the other half.
"""

import argparse
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from haystack_integrations.crag.evaluation.calibrating import prepared_of
from haystack_integrations.crag.evaluation.cascades import in_words
from haystack_integrations.crag.evaluation.fitting import fit
from haystack_integrations.crag.evaluation.groups import group_numbers
from haystack_integrations.crag.evaluation.holding_out import LIMITS, figures, held_out, record_of
from haystack_integrations.crag.evaluation.labelled import Prepared
from haystack_integrations.crag.evaluation.measures import verdict_measures
from haystack_integrations.crag.evaluation.reading import read_dataset
from haystack_integrations.crag.evaluation.regressions import splits
from haystack_integrations.crag.evaluation.risk import control_wrong_generate, realised
from haystack_integrations.crag.evaluation.training import labelled_lists
from haystack_integrations.crag.judging.company import COMPARED, Measured

SETS = ("popqa", "clapnq", "scifact", "covidqa", "hotpotqa")
FEW = (25, 50, 100, 200)
HALVES = 600
_DRAWS = 3  # of so few labels

PARTS: dict[str, Callable[[str], bool]] = {
    "meaning": lambda name: name.startswith(("like_", "agreement", "sentence_mixed")),
    "against the list": lambda name: name.endswith(("_gap", "_standing", "_above")) and name.startswith(COMPARED),
    "between documents": lambda name: name.startswith(("joint", "linked", "spoken", "speaks", "siblings", "beyond")),
    "titles and names": lambda name: name.startswith(("title", "names", "rest_", "others_")),
    "phrases": lambda name: name.startswith(("pairs", "run", "window")),
    "sentences": lambda name: name.startswith("sentence"),
    "answer cues": lambda name: name.startswith(("cue", "asks_")),
}


def without(lists: Sequence[Prepared], drop: Callable[[str], bool]) -> list[Prepared]:
    """Take signals away."""

    def kept(features: dict[str, float]) -> dict[str, float]:
        return {name: value for name, value in features.items() if not drop(name)}

    def left(found: Measured) -> Measured:
        return replace(found, documents=[*map(kept, found.documents)], together=kept(found.together))

    return [replace(each, measured=left(each.measured)) for each in lists]


def macro_f1(lists: Sequence[Prepared]) -> float:
    """Held-out macro-F1."""
    return float(verdict_measures(held_out(lists, workers=os.cpu_count() or 1)[0])["macro_f1"])


def with_few(lists: Sequence[Prepared], labels: int) -> float:
    """Macro-F1 when only so many labelled questions are fitted on, each fold judged by those outside it."""
    judged = [each for each in lists if each.source.verdict is not None]
    groups = np.array([each.source.group for each in judged])
    values = []
    for draw in range(_DRAWS):
        random, records = np.random.default_rng(draw), []
        for train, test in splits(groups):
            chosen = {judged[n].source.id for n in random.permutation(train)[:labels]}
            calibration = fit([each for each in lists if each.source.id in chosen])
            records += [record_of(judged[n], calibration) for n in test]
        values.append(verdict_measures(records)["macro_f1"])
    return float(np.mean(values))


def on_halves(records: Sequence[Mapping[str, Any]], groups: Mapping[str, int], most: float) -> str:
    """The share of random halves of the sources that have a threshold, and what it lets through on the other half."""
    called = [record for record in records if record["verdict"] == "correct"]
    scores = np.array([record["probabilities"]["correct"] for record in called])
    right = np.array([record["label"] == "correct" for record in called])
    sources = np.array([groups[record["id"]] for record in called])
    all_, random, found, counts = np.unique([*groups.values()]), np.random.default_rng(0), 0, np.zeros(2)
    for _ in range(HALVES):
        own = np.isin(sources, random.permutation(all_)[: len(all_) // 2])
        threshold = control_wrong_generate(scores[own], right[own], most).least
        if threshold is not None:
            told = realised(scores[~own], right[~own], threshold)
            found, counts = found + 1, counts + np.array([told["wrong"], told["generated"]])
    return f"{found / HALVES:.0%}, {counts[0] / max(1, counts[1]):.3f}"


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", type=Path)
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--model", help="folder of an embedding model in the place of the shipped one")
    parser.add_argument("--curve", action="store_true", help="fewer labels")
    parser.add_argument("--ablation", action="store_true", help="fewer signals")
    asked = parser.parse_args()
    for name in asked.sets:
        data = read_dataset(asked.datasets / name, "dev")
        fixed = {case.id: case.fixed for case in data.cases if case.fixed}
        lists, gaps = prepared_of(data, labelled_lists(data, fixed), asked.model)
        records, folds = held_out(lists, gaps, os.cpu_count() or 1)
        found = figures(records, folds, group_numbers(data))
        bounds, gap = found["intervals"]["verdict.macro_f1"], found["gaps_at_10_percent"]
        wrong = ", ".join(
            "none" if w["share"] is None else f"{w['share']:.3f} ({w['generated']})" for w in found["wrong_generate"]
        )
        print(
            f"{name:9} n={found['n']:4} macro-F1 {found['verdict']['macro_f1']:.3f} "
            f"({bounds['low']:.3f} to {bounds['high']:.3f})  ECE {found['ece']:.3f} "
            f"(by chance {found['ece_by_chance']:.3f})  "
            f"filter F1 {found['filter']['f1']:.3f}  saved {found['calls_saved_at_2_points']:.2f}  "
            f"gaps {'none' if gap is None else format(gap['recall'], '.3f')}  wrong {wrong}",
            flush=True,
        )
        print(f"{'':9} {'; '.join(in_words(found['cascade']))}", flush=True)
        halves = (f"{most}: {on_halves(records, group_numbers(data), most)}" for most in LIMITS)
        print(f"{'':9} halves with a threshold, wrong on the other half: " + ", ".join(halves), flush=True)
        if asked.curve:
            few = {labels: with_few(lists, labels) for labels in FEW if labels < 0.8 * found["n"]}
            print(f"{'':9} labels " + ", ".join(f"{labels}: {value:.3f}" for labels, value in few.items()), flush=True)
        if asked.ablation:
            whole = found["verdict"]["macro_f1"]
            lost = {part: whole - macro_f1(without(lists, drop)) for part, drop in PARTS.items()}
            print(
                f"{'':9} lost without " + ", ".join(f"{part}: {value:+.3f}" for part, value in lost.items()), flush=True
            )


if __name__ == "__main__":
    main()
