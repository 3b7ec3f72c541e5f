"""
How well StripRefiner's offline scorers choose sentences, and how long it takes.

    python benchmarks/strips.py [DATASETS] [--split dev] [--default FILE]

DATASETS is as for `judgement.py`, which also says how strips are scored: sentences of the corpus kept whole against the
labelled ones, micro, over the first five documents of the fixed lists. `top 3` keeps the three sentences that share
most words with the question. One setting for all sets: `F1` is the scorer as it is shipped, at the threshold 0.5;
`others` takes the threshold (`at`) that is best on average on the other sets. `mean` is the mean of both scorers.

`calibrated`: fitted on four fifths of a set and judged on the rest, threshold and all, articles kept together; and
fitted on the other sets. `evidence_share`: how many of the lists with an answer string keep one, by models that have
not seen the question; where a set has no labelled sentences, by the shipped one; by models fitted on the other sets;
and by shared words, at a threshold of 0.3. `--default FILE` writes the shipped one.
Without DATASETS only the time is told: 10 documents of 300 words.
"""

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import cycle
from pathlib import Path
from pydoc_data.topics import topics
from typing import Any

import numpy as np
import orjson
from common import p50
from haystack import Document
from strip_scorers import Scores, compare

from haystack_integrations.crag.calibration_file import FORMAT, VERSION
from haystack_integrations.crag.components.strip_refiner import StripRefiner
from haystack_integrations.crag.evaluation.cases import Case, Dataset
from haystack_integrations.crag.evaluation.groups import groups_of
from haystack_integrations.crag.evaluation.reading import read_dataset
from haystack_integrations.crag.evaluation.regressions import splits
from haystack_integrations.crag.evaluation.strip_fitting import fit_measured, kept_above
from haystack_integrations.crag.evaluation.strip_lists import Kept, Measured, StripList, measured, strip_lists
from haystack_integrations.crag.evaluation.strips import holds, normal, sought
from haystack_integrations.crag.refining.model import PART, StripModel, enough, load_strip_model
from haystack_integrations.crag.refining.strips import decompose, lexical_scores

SHARES = (0.8, 0.85, 0.9, 0.92, 0.94, 0.95, 0.96, 0.98)
SHARE_OF_POOL = 16_000
"""Strips of each set in the pool that the shipped model is fitted on."""
WORDED = 0.3
"""At 0.5, which chooses sentences best one by one, up to half of the answers are lost."""
POOLED_C = 0.001
"""A model for data that it has not seen must not believe in details."""
TRAINED_ON = {
    "clapnq": "CLAPNQ dev (Apache-2.0; Wikipedia text CC BY-SA 3.0)",
    "covidqa": "COVID-QA (Apache-2.0; articles mostly CC BY)",
    "hotpotqa": "HotpotQA (CC BY-SA 4.0)",
    "scifact": "SciFact (claims and evidence CC BY 4.0, abstracts ODC-By 1.0)",
    "selqa": "SelQA (Apache-2.0; Wikipedia text CC BY-SA)",
}


def labelled(data: Path, split: str) -> dict[str, list[StripList]]:
    """Read the lists of each set that has labelled sentences; questions of one article stay together."""
    found = {}
    for folder in sorted(path for path in data.iterdir() if (path / split).is_dir()):
        dataset = read_dataset(folder, split)
        keys: list[list[object]] = []
        for case in dataset.cases:
            sources = [dataset.passages[name] for name in (*case.gold, *case.partial) if name in dataset.passages]
            # "Israel - Museums": a section of an article.
            articles = [("title", source.title.split(" - ")[0]) for source in sources if source.title]
            keys.append([("text", case.question.lower()), *articles, *(source.id for source in sources)])
        lists = strip_lists(dataset, groups_of(keys))
        if lists:
            found[folder.name] = lists
    return found


def balanced(sets: Sequence[Sequence[Measured]]) -> list[Measured]:
    """Put sets together so that each has as many strips; the groups of different sets stay apart."""
    pool = []
    for number, lists in enumerate(sets):
        own = [replace(each, group=each.group * len(sets) + number) for each in lists]
        left = SHARE_OF_POOL
        for each in cycle(own):
            pool.append(each)
            left -= len(each.table)
            if left <= 0:
                break
    return pool


def judge(part: dict[str, Any], lists: Sequence[Measured]) -> Kept:
    """Keep what a fitted model says, at its own threshold."""
    model = StripModel.from_dict(part)
    return kept_above(lists, [model.head.of_rows(each.table) for each in lists], model.threshold)


def calibrated(found: dict[str, list[StripList]], file: Path | None) -> dict[str, StripModel]:
    """
    Print how the calibrated model does: fitted on the set, by cross-validation, and fitted on the other sets.

    Gives for each set the model that was fitted on the others.
    """
    sets = {name: [measured(each) for each in lists] for name, lists in found.items()}
    print(f"\n{'calibrated':10} {'n':>5} | {'cross-validated':^25} | {'fitted on the others':^25}")
    print(f"{'set':10} {'':>5} | " + " | ".join(["   F1     P     R words"] * 2))
    columns, foreign = [], {}
    for name, lists in sets.items():
        own = Kept()
        for train, test in splits(np.array([each.group for each in lists])):
            own += judge(fit_measured([lists[k] for k in train]), [lists[k] for k in test])
        others = [other for key, other in sets.items() if key != name]
        part = fit_measured(balanced(others), c=POOLED_C)
        foreign[name], unseen = StripModel.from_dict(part), judge(part, lists)
        measures = [kept.measures() for kept in (own, unseen)]
        cells = [f"{m['f1']:5.3f} {m['precision']:5.2f} {m['recall']:5.2f} {m['words_kept']:5.2f}" for m in measures]
        print(f"{name:10} {len(lists):5} | " + " | ".join(f"{cell:25}" for cell in cells))
        columns.append([m["f1"] for m in measures])
    mean = np.mean(columns, axis=0)
    print(f"{'mean':10} {'':5} | {mean[0]:5.3f} {'':19} | {mean[1]:5.3f}")
    if file is not None:
        part = fit_measured(balanced(list(sets.values())), {"trained_on": TRAINED_ON}, c=POOLED_C)
        # Lists of small sets are in the pool more than once.
        part["held_out"]["questions"] = sum(map(len, sets.values()))
        file.write_bytes(orjson.dumps(calibration_file(part), option=orjson.OPT_INDENT_2))
    return foreign


def calibration_file(part: dict[str, Any]) -> dict[str, Any]:
    """Make a calibration file of a sentence model alone."""
    return {"format": FORMAT, "version": VERSION, "calibrated": False, PART: part}


def support(data: Path, split: str, found: dict[str, list[StripList]], foreign: dict[str, StripModel]) -> None:
    """Print which share of the lists with an answer string keeps one, and the words kept, by share of the evidence."""
    print(f"\n{'evidence_share: answer support kept / words kept':>20}")
    print(f"{'set':19} {'n':>5} | " + " ".join(f"{share:^11.2f}" for share in SHARES) + f" {'by words':^11}")
    for folder in sorted(path for path in data.iterdir() if (path / split).is_dir()):
        dataset = read_dataset(folder, split)
        cases = [case for case in dataset.cases if case.fixed is not None and sought(case)]
        if not cases:
            continue
        told = {folder.name: _unseen(folder.name, cases, found)}
        if folder.name in foreign:
            told[f"{folder.name} (others)"] = iter([(foreign[folder.name], cases)])
        for name, models in told.items():
            counts = np.zeros((len(SHARES) + 1, 4))
            for model, some in models:
                for case in some:
                    counts += _supported(dataset, case, model)
            cells = [f"{after / before:.3f}/{kept / words:.2f}  " for before, after, words, kept in counts]
            print(f"{name:19} {int(counts[0, 0]):5} | " + " ".join(cells))


def _unseen(
    name: str, cases: Sequence[Case], found: dict[str, list[StripList]]
) -> Iterator[tuple[StripModel, list[Case]]]:
    """Give models, and the questions that they have not seen: by folds where the set has labelled sentences."""
    if name not in found:
        yield load_strip_model(), list(cases)
        return
    lists = [measured(each) for each in found[name]]
    asked = [each.question for each in found[name]]
    left = {case.id: case for case in cases}
    for train, test in splits(np.array([each.group for each in lists])):
        held = {asked[k] for k in test}
        own = [case for case in left.values() if case.question in held]
        yield StripModel.from_dict(fit_measured([lists[k] for k in train])), own
        left = {case.id: case for case in left.values() if case.question not in held}
    yield StripModel.from_dict(fit_measured(lists)), list(left.values())


def _supported(dataset: Dataset, case: Case, model: StripModel) -> Scores:
    """Count for one list, each share and shared words: an answer in it, and in what is kept; words, and words kept."""
    passages = [dataset.passages[name] for name in (case.fixed.retrieved[:5] if case.fixed else ())]
    strips = decompose([passage.text for passage in passages], "sentence", 3)
    answers, rows = sought(case), []
    if not holds([normal(passage.text) for passage in passages], answers):
        return np.zeros((len(SHARES) + 1, 4))
    titles = [passage.title for passage in passages]
    scores = dict(enumerate(model.probabilities(case.question, strips, titles, alone=False)))
    lexical = lexical_scores(case.question, strips, titles)
    worded = [k for k, score in enumerate(lexical) if score > WORDED] or list(range(len(strips)))
    for kept in (*(sorted(enough(scores, strips, share)) for share in SHARES), worded):
        texts = [
            normal(" ".join(strips[k].text for k in kept if strips[k].document == number))
            for number in range(len(passages))
        ]
        words = [sum(len(strips[k].text.split()) for k in numbers) for numbers in (range(len(strips)), kept)]
        rows.append([1, holds(texts, answers), *words])
    return np.array(rows, dtype=float)


def timed(call: Callable[[], Any], rounds: int = 100) -> tuple[list[float], list[float]]:
    """Time a call: sorted milliseconds by the clock, and of this thread alone, whatever else the machine does."""
    wall, own = [], []
    for _ in range(rounds):
        start, begun = time.perf_counter(), time.thread_time()
        call()
        own.append(1000 * (time.thread_time() - begun))
        wall.append(1000 * (time.perf_counter() - start))
    return sorted(wall), sorted(own)


def documents() -> list[Document]:
    """10 documents of 300 words, out of Python's language reference, which is on every machine."""
    words = " ".join(topics[name] for name in sorted(topics)).split(" ")[:3000]
    return [Document(content=" ".join(words[start : start + 300])) for start in range(0, 3000, 300)]


def main() -> None:
    """Print time and table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", nargs="?", type=Path)
    parser.add_argument("--split", default="dev")
    parser.add_argument("--default", type=Path)
    options = parser.parse_args()
    pages, query = documents(), "When is the finally clause of a try statement executed?"
    for scorer in ("lexical", "embedding", "calibrated"):
        refiner: Any = StripRefiner(scorer=scorer)
        count = refiner.run(query=query, documents=pages)["report"]["strips_in"]
        wall, own = timed(lambda refiner=refiner: refiner.run(query=query, documents=pages))  # type: ignore[misc]
        print(
            f"{scorer:10} 10 x 300 words, {count} strips: p50 {p50(wall):.1f} ms, p95 {wall[94]:.1f} ms, "
            f"own time p50 {p50(own):.1f} ms"
        )
    if options.datasets is not None:
        compare(options.datasets, options.split)
        found = labelled(options.datasets, options.split)
        support(options.datasets, options.split, found, calibrated(found, options.default))


if __name__ == "__main__":
    main()
