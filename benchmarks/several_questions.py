"""
What becomes of two questions that are asked as one ("When was it built and who designed the tower?").

    python benchmarks/several_questions.py DATASETS [--limit 150] [--runs 50]

Questions of the open half are joined in pairs by "and"; each pair is judged as one question, and as the two that it is
(`texts/questions/several_questions.py`). `both`: the documents answer both; `one`: those that answer the first, or the
second, are taken out; `none`: both; `same`: one document answers both. `halves kept`: of `both` and `same`, the
questions for which an answering document passes the filter of 0.3. Uncalibrated, first five documents.

`of two names`: two questions that differ in a name, asked as one about both names.
`compared`: questions that compare two things, their fixed lists of ten: all that answers passes the filter.

Then whole runs of `corrective_retrieval` in memory: of how many questions the answering document is in the evidence,
with all documents in the store, and how often it abstains.
"""

import argparse
import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import chain, takewhile, zip_longest
from pathlib import Path
from unittest.mock import patch

from typed_runs import store_of

from haystack_integrations.crag.encoding.encoders import load_encoder
from haystack_integrations.crag.evaluation.cases import Case, Dataset
from haystack_integrations.crag.evaluation.reading import read_dataset
from haystack_integrations.crag.evaluation.training import corpus_statistics
from haystack_integrations.crag.expansion import expanding
from haystack_integrations.crag.judging import grading, joining
from haystack_integrations.crag.judging.calibration import load_calibration
from haystack_integrations.crag.judging.grading import Graded
from haystack_integrations.crag.judging.reading import Reader
from haystack_integrations.crag.pipelines import load
from haystack_integrations.crag.refining import as_asked
from haystack_integrations.crag.texts.questions.comparisons import things_compared
from haystack_integrations.crag.texts.questions.several_questions import questions_in
from haystack_integrations.crag.vocabulary import JUDGED

SETS = ("popqa", "clapnq", "covidqa", "hotpotqa", "selqa")
FIRST = 5
FILTER = 0.3
_ASKS = re.compile(r"(?:who|whom|whose|what|when|where|which|why|how)\b", re.IGNORECASE)
Pair = tuple[Case, Case]
Grade = Callable[[str, Sequence[str]], Graded]


@contextmanager
def rule(*, is_on: bool) -> Iterator[None]:
    """Judge and search for two questions apart, or as one."""
    with ExitStack() as patched:
        rules = (
            *((joining, name) for name in ("asked_apart", "things_compared")),
            (as_asked, "asked_apart"),
            (expanding, "unanswered"),
        )
        for module, name in () if is_on else rules:
            patched.enter_context(patch.object(module, name, lambda *_: []))
        yield


def asked_as_one(pair: Pair) -> str:
    """Join two questions."""
    first, second = (case.question.strip().rstrip(" ?.!") for case in pair)
    return f"{first} and {second[0].lower()}{second[1:]}?"


def _common(one: str, two: str) -> str:
    """Give what two texts begin with."""
    return "".join(a for a, _ in takewhile(lambda both: both[0] == both[1], zip(one, two, strict=False)))


def asked_of_names(pair: Pair) -> str:
    """Join two questions that differ in a name only; empty where they do not."""
    one, two = (case.question.strip() for case in pair)
    front = _common(one, two).rpartition(" ")[0]
    rest = _common(one[len(front) :][::-1], two[len(front) :][::-1])[::-1]
    names = [text[len(front) + 1 : len(text) - len(rest)] for text in (one, two)]
    is_named = len(front.split()) > 1 and all(name[:1].isupper() and name[-1:].isalnum() for name in names)
    return f"{front} {names[0]} and {names[1]}{rest}" if is_named else ""


def answering(case: Case) -> set[str]:
    """Give the documents of a fixed list that answer."""
    ranked = case.fixed
    return {id_ for id_, grade in zip(ranked.retrieved, ranked.grades or (), strict=True) if grade > 1}


def listed(pair: Pair, gone: set[str]) -> list[str]:
    """Give the first documents of both lists in turn, without some."""
    ranked = ([id_ for id_ in case.fixed.retrieved if id_ not in gone][:FIRST] for case in pair)
    return [id_ for id_ in dict.fromkeys(chain.from_iterable(zip_longest(*ranked))) if id_]


def pairs_of(data: Dataset) -> tuple[list[Pair], list[Pair], list[Pair]]:
    """Pair questions that their lists answer: with the next, the next of the same answer, and the same for a name."""
    cases = [c for c in data.ordered if c.strict and c.fixed and data.truth(c, c.fixed, FIRST) == "correct"]
    alike = defaultdict(list)
    for case in (cases := [case for case in cases if _ASKS.match(case.question)]):
        alike[frozenset(answering(case))].append(case)
    next_ones = list(zip(cases[::2], cases[1::2], strict=False))
    same = [pair for group in alike.values() for pair in zip(group[::2], group[1::2], strict=False)]
    kinds = []
    alike_asked = sorted(cases, key=lambda case: case.question)
    named = [pair for pair in zip(alike_asked[::2], alike_asked[1::2], strict=False) if asked_of_names(pair)]
    apart = [pair for pair in next_ones if answering(pair[0]).isdisjoint(answering(pair[1]))]
    for found in (apart, same, named):
        pairs = [pair for pair in found if found is named or questions_in(asked_as_one(pair))]
        random.Random(1).shuffle(pairs)
        kinds.append(pairs)
    return kinds[0], kinds[1], kinds[2]


def grading_of(data: Dataset) -> Grade:
    """Grade as HeuristicGrader does on a store that holds this corpus."""
    reader, calibration, statistics = Reader(load_encoder()), load_calibration(None), corpus_statistics(data)

    def grade(question: str, names: Sequence[str]) -> Graded:
        documents = [data.passages[name].document() for name in names]
        return grading.grade(question, documents, (), calibration, reader, lambda _: statistics, "title")

    return grade


def show_verdicts(
    name: str, grade: Grade, asked_of: Callable[[Pair], str], pairs: Sequence[Pair], same: Sequence[Pair]
) -> None:
    """Print verdicts by what the documents answer, and what passes the filter."""
    told, kept, asked = Counter[tuple[str, str]](), Counter[str](), Counter[str]()
    for kind, some in (("both", pairs), ("one", pairs), ("none", pairs), ("same", same)):
        for pair in some:
            one, two = map(answering, pair)
            for gone in {"one": (one, two), "none": (one | two,)}.get(kind, (set(),)):
                shown = listed(pair, gone)
                graded = grade(asked_of(pair), shown)
                told[kind, graded.report["verdict"]["verdict"]] += 1
                passing = {id_ for id_, score in zip(shown, graded.scores, strict=True) if score >= FILTER}
                asked[kind] += 2
                kept[kind] += sum(not passing.isdisjoint(own) for own in (one, two))
    for kind in ("both", "same", "one", "none"):
        verdicts = " / ".join(str(told[kind, verdict]) for verdict in JUDGED)
        halves = f", halves kept {kept[kind]} of {asked[kind]}" if kind in ("both", "same") else ""
        print(f"{name:9} {kind:5} {' / '.join(JUDGED)}: {verdicts}{halves}", flush=True)


def show_comparisons(name: str, data: Dataset, grade: Grade) -> None:
    """Print for how many questions that compare two things all that answers passes the filter, and how many do."""
    cases = [case for case in data.ordered if case.fixed and things_compared(case.question)]
    kept = passed = 0
    for case in cases:
        shown = case.fixed.retrieved
        scores = zip(shown, grade(case.question, shown).scores, strict=True)
        passing = {id_ for id_, score in scores if score >= FILTER}
        kept, passed = kept + (answering(case) <= passing), passed + len(passing)
    if cases:
        print(f"{name:9} compared: all that answers passes in {kept} of {len(cases)}, documents {passed}", flush=True)


def show_runs(name: str, data: Dataset, pairs: Sequence[Pair]) -> None:
    """Print what whole runs bring."""
    rag = load("corrective_retrieval", store=store_of(data, chain.from_iterable(pairs)))
    for is_on in (False, True):
        found = abstained = words = 0
        with rule(is_on=is_on):
            for pair in pairs:
                result = rag.run(query=asked_as_one(pair))
                shown = {document.id for document in result["documents"]}
                found += sum(not shown.isdisjoint(case.gold) for case in pair)
                abstained += result["crag"]["action"] == "abstain"
                words += sum(len((document.content or "").split()) for document in result["documents"])
        told = f"{found} of {2 * len(pairs)} in the evidence, abstained {abstained}, words {words // len(pairs)}"
        print(f"{name:9} runs  {'as two' if is_on else 'as one'}: {told}", flush=True)


def main() -> None:
    """Run, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", type=Path)
    parser.add_argument("--limit", type=int, default=150)
    parser.add_argument("--runs", type=int, default=50)
    asked = parser.parse_args()
    for name in SETS:
        data = read_dataset(asked.datasets / name, "dev")
        pairs, same, named = pairs_of(data)
        grade = grading_of(data)
        for is_on in (False, True):
            with rule(is_on=is_on):
                print("as two" if is_on else "as one")
                show_verdicts(name, grade, asked_as_one, pairs[: asked.limit], same[: asked.limit])
                if named:
                    show_verdicts(f"{name}, of two names", grade, asked_of_names, named[: asked.limit], [])
                show_comparisons(name, data, grade)
        if pairs[: asked.runs]:
            show_runs(name, data, pairs[: asked.runs])


if __name__ == "__main__":
    main()
