"""
Questions that offer four answers, and questions that ask whether an answer is right.

    python benchmarks/alternatives.py DATASETS

Questions of popqa with the first five documents of their fixed lists, uncalibrated, with the statistics of their
corpus. The answers offered are the right one and three of other questions about the same property, in any order. For
each label: how many lists got each verdict, and how many answering documents pass the filter (0.5).
"""

import argparse
import json
import random
from collections import Counter, defaultdict
from pathlib import Path

from several_questions import grading_of

from haystack_integrations.crag.evaluation.reading import read_dataset

FIRST, FILTER = 5, 0.5
VERDICTS = ("correct", "ambiguous", "incorrect")
ASKED = {
    "occupation": "Is {0} a {1}?",
    "place of birth": "Was {0} born in {1}?",
    "country": "Is {0} in {1}?",
    "director": "Did {1} direct {0}?",
    "producer": "Did {1} produce {0}?",
    "composer": "Did {1} compose {0}?",
    "sport": "Does {0} play {1}?",
    "author": "Is {1} the author of {0}?",
    "capital": "Is {1} the capital of {0}?",
    "religion": "Does {0} follow {1}?",
}


def main() -> None:
    """Judge, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", type=Path)
    folder = parser.parse_args().datasets / "popqa"
    data, chance, answers = read_dataset(folder, "dev"), random.Random(4), defaultdict[str, list[str]](list)
    grade = grading_of(data)
    lines = (folder / "dev" / "queries.jsonl").read_text("utf-8").splitlines()
    told = {one["id"]: one for one in map(json.loads, lines)}
    for one in told.values():
        answers[one["prop"]].append(one["answers"][0])
    counted, kept = Counter[tuple[str, str, str]](), Counter[str]()
    cases = [case for case in data.ordered if case.strict and case.fixed and told[case.id]["prop"] in ASKED]
    for case in cases:
        one, label = told[case.id], data.truth(case, case.fixed, FIRST)
        right, others = one["answers"][0], chance.choices(answers[one["prop"]], k=3)
        offered = chance.sample([right, *others], 4)
        whether = ASKED[one["prop"]].format
        ways = {
            "as it is": case.question,
            "A) B) C) D)": " ".join(
                [case.question, *(f"{mark}) {each}" for mark, each in zip("ABCD", offered, strict=True))]
            ),
            "in lines": "\n".join(
                [case.question, *(f"{mark}. {each}" for mark, each in zip("ABCD", offered, strict=True))]
            ),
            "is it (right)": whether(one["s_wiki_title"], right),
            "is it (another)": whether(one["s_wiki_title"], next((each for each in others if each != right), "nobody")),
        }
        names = case.fixed.retrieved[:FIRST]
        for way, question in ways.items():
            graded = grade(question, names)
            counted[way, label, graded.report["verdict"]["verdict"]] += 1
            kept[way] += sum(
                score >= FILTER for score, name in zip(graded.scores, names, strict=True) if name in case.gold
            )
    gold = sum(name in case.gold for case in cases for name in case.fixed.retrieved[:FIRST])
    for way in kept:
        rows = ("/".join(str(counted[way, label, verdict]) for verdict in VERDICTS) for label in VERDICTS)
        print(f"{way:15} labels {', '.join(VERDICTS)}: {', '.join(rows)}; kept {kept[way]} of {gold}", flush=True)


if __name__ == "__main__":
    main()
