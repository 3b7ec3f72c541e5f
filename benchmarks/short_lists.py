"""
What the shipped model says of short lists, and of lists in which a text stands twice.

    python benchmarks/short_lists.py DATASETS [--limit 250]

The beginnings of the fixed lists of the open half, judged with the statistics of their corpus: the first document
alone, beside one or two drawn from the corpus, the first two, three, five and ten. For each macro-F1 of the verdict,
how often it was `correct` and how often rightly. popqa was not fitted on.

Then the first five, in which the document most likely to answer is followed by a copy of it, to the letter or nearly:
how many verdicts change, and how many of these fall. `overlapping` has two parts of it in its place, a third in both.
"""

import argparse
import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from haystack_integrations.crag.encoding.encoders import load_encoder
from haystack_integrations.crag.evaluation.cases import Case, Dataset
from haystack_integrations.crag.evaluation.measures import verdict_measures
from haystack_integrations.crag.evaluation.reading import read_dataset
from haystack_integrations.crag.evaluation.training import corpus_statistics
from haystack_integrations.crag.judging.calibration import load_calibration
from haystack_integrations.crag.judging.judge import Opinion, judge
from haystack_integrations.crag.judging.reading import Reader
from haystack_integrations.crag.texts.text import sentences
from haystack_integrations.crag.vocabulary import JUDGED

SETS = ("popqa", "clapnq", "scifact", "covidqa", "hotpotqa")
LISTS = ((1, 0), (1, 1), (1, 2), (2, 0), (3, 0), (5, 0), (10, 0))
FIRST = 5
Text = tuple[str, str]
Judge = Callable[[str, Sequence[Text]], Opinion]


def judging(data: Dataset) -> Judge:
    """Judge as HeuristicGrader does on a store that holds this corpus."""
    reader, calibration = Reader(load_encoder()), load_calibration(None)
    frequencies = corpus_statistics(data).counts
    return lambda query, texts: judge(query, texts, calibration, reader, frequencies)


def text_of(data: Dataset, name: str) -> Text:
    """Title and text of a passage."""
    return data.passages[name].title, data.passages[name].text


def copies(title: str, text: str) -> Iterator[tuple[str, list[Text]]]:
    """A document and what a second version of it looks like."""
    whole, words, parts = (title, text), text.split(), [text[start:end] for start, end in sentences(text)]
    yield "the same", [whole, whole]
    yield "a word", [whole, (title, " ".join([*words[: len(words) // 2], "quite", *words[len(words) // 2 + 1 :]]))]
    yield "a line more", [whole, (title, f"Last updated on Monday by the editors of this page. {text}")]
    if len(parts) > 2:
        yield "a sentence less", [whole, (title, " ".join(parts[:-1]))]
        first, last = (len(parts) + 2) // 3, -(-2 * len(parts) // 3)
        yield "overlapping", [(title, " ".join(parts[:last])), (title, " ".join(parts[first:]))]


def short(data: Dataset, cases: Sequence[Case], said: Judge) -> None:
    """Print what is said of the beginnings of lists."""
    everything = [*data.passages]
    for own, foreign in LISTS:
        drawn, records = random.Random(7), []
        for case in cases:
            names = [*case.fixed.retrieved[:own], *(drawn.choice(everything) for _ in range(foreign))]
            verdict = said(case.question, [text_of(data, name) for name in names]).conclusion.verdict
            label = data.truth(case, case.fixed, own)
            records.append({"label": label, "verdict": verdict, "strict": True, "rule": "", "error": None})
        told = [record["label"] for record in records if record["verdict"] == "correct"]
        value, right = verdict_measures(records)["macro_f1"], told.count("correct")
        print(
            f"  first {own}, foreign {foreign}: macro-F1 {value:.3f}, correct {len(told)}, rightly {right}", flush=True
        )


def twice(data: Dataset, cases: Sequence[Case], said: Judge) -> None:
    """Print what a second version of the best document does."""
    moved: dict[str, list[int]] = {}
    for case in cases:
        texts = [text_of(data, name) for name in case.fixed.retrieved[:FIRST]]
        before = said(case.question, texts)
        best = int(before.likely.answers.argmax())
        for name, versions in copies(*texts[best]):
            after = said(case.question, [*texts[:best], *versions, *texts[best + 1 :]])
            places = [JUDGED.index(each.conclusion.verdict) for each in (before, after)]
            moved.setdefault(name, []).append(places[1] - places[0])
    for name, steps in moved.items():
        changed, fallen = sum(map(bool, steps)), sum(step > 0 for step in steps)
        print(f"  {name}: of {len(steps)} verdicts {changed} change, {fallen} fall", flush=True)


def main() -> None:
    """Judge, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", type=Path)
    parser.add_argument("--limit", type=int, default=250)
    asked = parser.parse_args()
    for name in SETS:
        data = read_dataset(asked.datasets / name, "dev")
        cases = [case for case in data.ordered if case.strict and case.fixed and case.fixed.retrieved]
        random.Random(1).shuffle(cases)
        cases, said = cases[: asked.limit], judging(data)
        print(f"{name}, n = {len(cases)}")
        short(data, cases, said)
        twice(data, cases, said)


if __name__ == "__main__":
    main()
