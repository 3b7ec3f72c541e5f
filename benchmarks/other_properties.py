"""
What the shipped model says of questions about a person that documents tell other things of.

    python benchmarks/other_properties.py DATASETS [--limit 160]

Lists of popqa (open half, first five documents) that answer in what city a person was born, asked for other properties
of that person, which they do not tell but by chance: how often the verdict is `correct`, without the rule on properties
(`judging/rules/properties.py`) and with it. Below, of all questions of six sets that the rule is about, how many lists
that answer, and that do not, are called `correct`.
"""

import argparse
import re
from collections import Counter
from pathlib import Path

from other_numbers import FIRST, SETS, show, verdicts
from short_lists import judging, text_of

from haystack_integrations.crag.evaluation.reading import read_dataset
from haystack_integrations.crag.judging.rules import exact
from haystack_integrations.crag.judging.rules.properties import untold_properties

BORN = re.compile(r"In what city was (.+) born\?")
ASKED = (
    *("What is the phone number of {}?", "What is {}'s e-mail address?", "How much does {} cost?", "How heavy is {}?"),
    *("What is the price of {}?", "How far is {} from here?", "How deep is {}?", "Who is the manager of {}?"),
    *(
        "Who was the producer of {}?",
        "Who was the director of {}?",
        "Who is the author of {}?",
        "Who is the owner of {}?",
    ),
)


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", type=Path)
    parser.add_argument("--limit", type=int, default=160, help="persons")
    arguments = parser.parse_args()
    found = Counter[tuple[str, ...]]()
    for name in SETS:
        data = read_dataset(arguments.datasets / name, "dev")
        judge, persons = judging(data), 0
        for case in data.ordered:
            if case.fixed is None or not case.strict:
                continue
            texts = [text_of(data, passage) for passage in case.fixed.retrieved[:FIRST]]
            answers, asked = data.truth(case, case.fixed, FIRST) == "correct", list[tuple[str, str, str]]()
            if [*untold_properties(case.question, ["\n".join(text) for text in texts])]:
                asked.append(("asked", "answers" if answers else "does not answer", case.question))
            born = BORN.fullmatch(case.question) if name == "popqa" and answers else None
            if born and persons < arguments.limit:
                persons += 1
                asked += [(form, "does not answer", form.format(born[1])) for form in ASKED]
            for kind, right, question in asked:
                found[kind, right, "lists"] += 1
                told = verdicts(judge, question, texts, (exact, "untold_properties"))
                found.update((kind, right, rule) for rule, is_correct in told if is_correct)
    show("all", found)


if __name__ == "__main__":
    main()
