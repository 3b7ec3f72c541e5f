"""
How reliably `crag["answer"]["unsupported_numbers"]` tells a made-up number from one of the evidence.

    python benchmarks/answer_numbers.py DATASETS [--sets clapnq covidqa] [--split dev]

DATASETS is as for `judgement.py`. The answers are people's own: of clapnq written by annotators, of covidqa passages of
the article. Looked for in the documents that answer, and in these with the rest of the list of ten. `named`: answers
of which a number is named though the answer is right. `altered`: each number above twelve, replaced by one that is
1, 2, 3 or 10 away; the share that is named.
"""

import argparse
import random
import re
from collections.abc import Iterator
from pathlib import Path

import orjson

from haystack_integrations.crag.answer_numbers import unsupported_numbers
from haystack_integrations.crag.evaluation.cases import Case, Dataset
from haystack_integrations.crag.evaluation.reading import read_dataset

STEPS = (-10, -3, -2, -1, 1, 2, 3, 10)


def answers_of(folder: Path, split: str) -> Iterator[tuple[str, str]]:
    """Give question ids with an answer each."""
    for line in (folder / split / "queries.jsonl").read_bytes().splitlines():
        told = orjson.loads(line)
        for answer in [*told.get("long_answers", ()), *told["answers"]][:2]:
            yield told["id"], answer


def evidence_of(data: Dataset, case: Case, *, whole: bool) -> list[str]:
    """Give the question and the texts that an answer may rest on."""
    listed = case.fixed.retrieved if whole and case.fixed else ()
    passages = [data.passages[name] for name in dict.fromkeys((*case.gold, *listed))]
    return [case.question, *(f"{passage.title}\n{passage.text}" for passage in passages)]


def measured(data: Dataset, found: list[tuple[str, str]], *, whole: bool) -> str:
    """Count what is named of right answers, and of altered ones."""
    cases, drawn = {case.id: case for case in data.cases}, random.Random(1)
    with_numbers = named = altered = noticed = 0
    for id_, answer in found:
        evidence = evidence_of(data, cases[id_], whole=whole)
        numbers = [number for number in re.findall(r"\d+", answer) if 12 < int(number) < 10**9]
        with_numbers += bool(numbers)
        named += bool(numbers and unsupported_numbers(answer, evidence, amounts=True))
        for number in numbers:
            other = max(13, int(number) + drawn.choice(STEPS))
            altered += other != int(number)
            noticed += other != int(number) and bool(unsupported_numbers(f"It is {other}.", evidence, amounts=True))
    return f"{with_numbers} answers with numbers, {named} named; altered {altered}, noticed {noticed / altered:.0%}"


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", type=Path)
    parser.add_argument("--sets", nargs="+", default=["clapnq", "covidqa"])
    parser.add_argument("--split", default="dev")
    asked = parser.parse_args()
    for name in asked.sets:
        data = read_dataset(asked.datasets / name, asked.split)
        found = [*answers_of(asked.datasets / name, asked.split)]
        for where, whole in (("documents that answer", False), ("with the rest of ten", True)):
            print(f"{name:8} {where:22} {measured(data, found, whole=whole)}", flush=True)


if __name__ == "__main__":
    main()
