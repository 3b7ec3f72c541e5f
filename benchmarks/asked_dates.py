"""
A question has a date in one form, its document in another: is the document found, and what is the verdict?

    python benchmarks/asked_dates.py DATASETS [--limit 40]

Passages of hotpotqa with "(born 3 April 1921)" or "(born April 3, 1921)", among 2,500 others, in memory; "Who was born
on ...?" by `corrective_retrieval`, uncalibrated. The date as it is in the data, in words, and in numbers, in question
and passages; and another day of the month, of which the passage does not tell. Without and with what knows dates
(`texts/notations/dates.py`): passages found in the final evidence, lists called `correct`, and searches.
"""

import argparse
import json
import random
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import Any
from unittest.mock import patch

from common import embedded_store
from haystack import Document
from haystack.document_stores.in_memory import InMemoryDocumentStore

from haystack_integrations.crag.pipelines import load
from haystack_integrations.crag.texts.notations.dates import Day, dates_in

_OTHERS = 2_500
_BORN = re.compile(r"\(born ([^()]{8,20})\)")
_MONTHS = "January February March April May June July August September October November December".split()
FORMS: dict[str, Callable[[Day], str]] = {
    "3 April 1921": lambda day: f"{day.day} {_MONTHS[day.month - 1]} {day.year}",
    "the 3rd of April 1921": lambda day: f"the {day.day}{_behind(day.day)} of {_MONTHS[day.month - 1]} {day.year}",
    "1921-04-03": lambda day: f"{day.year}-{day.month:02}-{day.day:02}",
    "03.04.1921": lambda day: f"{day.day:02}.{day.month:02}.{day.year}",
    "4/3/1921": lambda day: f"{day.month}/{day.day}/{day.year}",
    "another day": lambda day: f"{day.day % 28 + 1} {_MONTHS[day.month - 1]} {day.year}",
}
HELD = {"as it is": None, "1921-04-03": FORMS["1921-04-03"], "03.04.1921": FORMS["03.04.1921"]}


def _behind(number: int) -> str:
    return {1: "st", 2: "nd", 3: "rd"}.get(number % 10 if number // 10 != 1 else 0, "th")


@contextmanager
def to_the_letter() -> Iterator[None]:
    """Know no dates."""
    home = "haystack_integrations.crag"
    with ExitStack() as stack:
        for reader in ("respelling", "rules.exact"):
            stack.enter_context(patch(f"{home}.judging.{reader}.dates_in", return_value=()))
        stack.enter_context(patch(f"{home}.expansion.expanding.other_forms", return_value=()))
        yield


def born(text: str) -> Day | None:
    """Find the day of birth that a passage tells, if it is a whole date."""
    found = _BORN.search(text)
    known = [(written, days) for written, days in dates_in(found[1])] if found else []
    return min(known[0][1]) if known and known[0][0] == found[1] and min(known[0][1]).day else None


def store_of(rows: Sequence[dict[str, Any]], form: Callable[[Day], str] | None) -> InMemoryDocumentStore:
    """Fill a store, with the days of birth in a form."""

    def held(text: str) -> str:
        day = born(text) if form else None
        return _BORN.sub(f"(born {form(day)})", text, count=1) if form and day else text

    documents = [Document(id=row["id"], content=held(row["text"]), meta={"title": row["title"]}) for row in rows]
    return embedded_store(documents)


def main() -> None:
    """Ask, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", type=Path)
    parser.add_argument("--limit", type=int, default=40)
    given = parser.parse_args()
    rows = [json.loads(line) for line in (given.datasets / "hotpotqa" / "corpus.jsonl").read_text("utf-8").splitlines()]
    chance = random.Random(1)
    chance.shuffle(rows)
    asked = [row for row in rows if born(row["text"])][: given.limit]
    others = [row for row in rows if row not in asked][:_OTHERS]
    for held, form in HELD.items():
        rag = load("corrective_retrieval", store=store_of([*asked, *others], form))
        for typed, written in FORMS.items():
            told = []
            for reading in (to_the_letter, nullcontext):
                with reading():
                    runs = [rag.run(query=f"Who was born on {written(born(row['text']))}?") for row in asked]
                ids = [{document.id for document in run["documents"]} for run in runs]
                found = sum(row["id"] in there for row, there in zip(asked, ids, strict=True))
                correct = sum(run["crag"]["verdict"] == "correct" for run in runs)
                searches = sum(len(run["crag"]["queries"]) for run in runs)
                told.append(f"found {found:3} correct {correct:3} searches {searches:3}")
            print(f"held {held:12} asked {typed:22} {told[0]}  ->  {told[1]}  of {len(asked)}", flush=True)


if __name__ == "__main__":
    main()
