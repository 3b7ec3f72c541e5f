"""
What the shipped model says of a question about another year, number or name than its documents tell of.

    python benchmarks/other_numbers.py DATASETS

Fixed lists of the open half, first five documents. `asked`: questions with a number over twelve or a name that none of
these documents has (`judging/rules/exact.py`), by what people say of the list; how often the verdict is `correct`,
without that rule and with it. `changed`: lists that answer a question with a number, asked with another number in its
place, which none of the documents has; `renamed`: those that answer one with a name, with the name of another question
in its place. A verdict `correct` is wrong then.
"""

import argparse
import random
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

from short_lists import Judge, Text, judging, text_of

from haystack_integrations.crag.answer_numbers import unsupported_numbers
from haystack_integrations.crag.evaluation.reading import read_dataset
from haystack_integrations.crag.judging import judge as judging_module
from haystack_integrations.crag.judging.rules.other_names import names_in, untold_names

SETS = ("popqa", "clapnq", "scifact", "covidqa", "hotpotqa", "selqa")
FIRST = 5
NUMBER = re.compile(r"(?<![\w.,])\d[\d.,]*(?![\w])")


def other(number: str, chance: random.Random) -> str:
    """Change the digits of a number; of one of four digits, such as a year, the last two."""
    stays = 2 if len(number) == 4 else 0
    return number[:stays] + re.sub(
        r"\d", lambda digit: str((int(digit[0]) + chance.randint(1, 7)) % 10), number[stays:]
    )


def changed(question: str, shown: list[str], chance: random.Random) -> str | None:
    """Ask about another number than one that the documents have; None where there is none to change."""
    for found in NUMBER.finditer(question):
        number = found[0].strip(".,")
        if unsupported_numbers(number, []) and not unsupported_numbers(number, shown):
            asked = question.replace(number, other(number, chance), 1)
            return asked if unsupported_numbers(asked, shown) else None
    return None


def renamed(question: str, shown: list[str], names: list[str], chance: random.Random) -> str | None:
    """Ask about the name of another question, which no document has, in the place of one that they have."""
    told = "\n".join(shown).lower()
    name = next((name for name in names_in(question) if name.lower() in told), None)
    another = chance.choice(names) if names else ""
    if name is None or any(part.lower() in told for part in another.split()):
        return None
    return question.replace(name, another, 1)


def verdicts(
    judge: Judge, question: str, texts: list[Text], rule: tuple[object, str] = (judging_module, "absent")
) -> Iterator[tuple[str, bool]]:
    """Tell whether the verdict is `correct`, without and with a rule: a module's function that then finds nothing."""
    with patch.object(*rule, lambda *_: []):
        yield "without", judge(question, texts).conclusion.verdict == "correct"
    yield "with", judge(question, texts).conclusion.verdict == "correct"


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", type=Path)
    parser.add_argument("--sets", nargs="+", default=SETS)
    arguments = parser.parse_args()
    total = Counter[tuple[str, ...]]()
    for name in arguments.sets:
        data, chance, found = (
            read_dataset(arguments.datasets / name, "dev"),
            random.Random(0),
            Counter[tuple[str, ...]](),
        )
        judge, names = judging(data), [name for case in data.ordered for name in names_in(case.question)]
        for case in data.ordered:
            if case.fixed is None or not case.strict:
                continue
            texts = [text_of(data, passage) for passage in case.fixed.retrieved[:FIRST]]
            shown, truth = ["\n".join(text) for text in texts], data.truth(case, case.fixed, FIRST)
            is_asked = unsupported_numbers(case.question, shown) or [*untold_names(case.question, shown)]
            asked = {"asked": case.question} if is_asked else {}
            if truth == "correct" and (another := changed(case.question, shown, chance)):
                asked |= {"changed": another}
            if truth == "correct" and (another := renamed(case.question, shown, names, chance)):
                asked |= {"renamed": another}
            for kind, question in asked.items():
                right = "answers" if truth == "correct" and kind == "asked" else "does not answer"
                found[kind, right, "lists"] += 1
                found.update((kind, right, rule) for rule, is_correct in verdicts(judge, question, texts) if is_correct)
        total.update(found)
        show(name, found)
    show("all", total)


def show(name: str, found: Counter[tuple[str, ...]]) -> None:
    """Print a line for each kind of question."""
    for kind, right in sorted({key[:2] for key in found}):
        lists, without, with_rule = (found[kind, right, what] for what in ("lists", "without", "with"))
        print(
            f"{name:9} {kind:8} {right:16} {lists:4} lists, called correct: {without:3} without, {with_rule:3} with",
            flush=True,
        )


if __name__ == "__main__":
    main()
