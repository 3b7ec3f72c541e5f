"""
What the shipped model says of questions about a person that documents tell other things of.

    python benchmarks/other_properties.py DATASETS [--limit 160]

Lists of popqa (open half, first five documents) that answer in what city a person was born, asked for other properties
of that person, which they do not tell but by chance: how often the verdict is `correct`, without the rule on properties
(`judging/properties.py`) and with it. Below, of all questions of six sets that the rule is about, how many lists that
answer, and that do not, are called `correct`.
"""

import argparse
import re
from collections import Counter
from pathlib import Path
from unittest.mock import patch

from other_numbers import FIRST, SETS
from short_lists import Judge, Text, judging, text_of

from haystack_integrations.crag.evaluation.reading import read_dataset
from haystack_integrations.crag.judging import exact
from haystack_integrations.crag.judging.properties import untold_properties

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


def verdicts(judge: Judge, question: str, texts: list[Text]) -> tuple[bool, bool]:
    """Tell whether the verdict is `correct`, without the rule and with it."""
    with patch.object(exact, "untold_properties", lambda *_: iter(())):
        before = judge(question, texts).conclusion.verdict == "correct"
    return before, judge(question, texts).conclusion.verdict == "correct"


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", type=Path)
    parser.add_argument("--limit", type=int, default=160, help="persons")
    arguments = parser.parse_args()
    found, own = Counter[tuple[str, int]](), Counter[tuple[str, int]]()
    for name in SETS:
        data = read_dataset(arguments.datasets / name, "dev")
        judge, persons = judging(data), 0
        for case in data.ordered:
            if case.fixed is None or not case.strict:
                continue
            texts = [text_of(data, passage) for passage in case.fixed.retrieved[:FIRST]]
            answers = data.truth(case, case.fixed, FIRST) == "correct"
            if [*untold_properties(case.question, ["\n".join(text) for text in texts])]:
                before, after = verdicts(judge, case.question, texts)
                own.update([("answers" if answers else "does not answer", place) for place in range(1 + before)])
                own["answers" if answers else "does not answer", 2] += after
            born = BORN.fullmatch(case.question) if name == "popqa" and answers else None
            if born and persons < arguments.limit:
                persons += 1
                for form in ASKED:
                    found.update(
                        (form, place)
                        for place, told in enumerate(verdicts(judge, form.format(born[1]), texts), 1)
                        if told
                    )
    for form in ASKED:
        print(
            f"{form:36} {persons_of(arguments.limit)} {found[form, 1]:4} without, {found[form, 2]:4} with", flush=True
        )
    for right in ("answers", "does not answer"):
        print(f"{right:36} {own[right, 0]:4} lists {own[right, 1]:4} without, {own[right, 2]:4} with")


def persons_of(limit: int) -> str:
    """Name how many persons are asked about."""
    return f"{limit:4} lists"


if __name__ == "__main__":
    main()
