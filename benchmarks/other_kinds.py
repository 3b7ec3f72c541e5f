"""
What `corrective_retrieval` says of kinds of documents that no public dataset has: tables, FAQs, ids, editions, signs,
and what is told of one of two kinds.

    python benchmarks/other_kinds.py

Small collections, all of one form, in our own words, and what is asked of them: once with the document that answers
(`there`), once without it (`gone`), which nothing else answers. `lost` counts answers that are not in the evidence. A
verdict `correct` is right in the first case and wrong in the second.
"""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from haystack import Document

from haystack_integrations.crag.components import StaticDocumentEmbedder
from haystack_integrations.crag.pipelines import load
from haystack_integrations.crag.pipelines.opening import memory_store


class Asked(NamedTuple):
    """A question, the document that answers it, what stands in its place once that is gone, and all others."""

    question: str
    answer: str
    instead: str
    others: list[str]


PAIRS = {
    "Which browsers are supported?": "Firefox, Chrome and Safari in their last two versions.",
    "How do I export my data?": "Under Account, press Export; a ZIP file is sent to you.",
    "Can I share my account with a colleague?": "No, it belongs to one person.",
    "What happens when my trial ends?": "Your projects are kept for thirty days.",
    "How can I change the language of the interface?": "Click the globe at the bottom.",
    "Why was my card declined?": "Most often the address does not match.",
    "When are invoices sent?": "On the first day of the month.",
    "How large may a file be?": "Up to 200 MB.",
}
PAPERS = {
    "Travel policy": (
        "Hotels are paid up to {} EUR per night.",
        "What is the hotel limit per night in the {} travel policy?",
    ),
    "Price list": ("A day ticket costs {} EUR.", "How much was a day ticket in the {} price list?"),
    "Annual report": ("Turnover was {} million.", "What was the turnover in the annual report {}?"),
    "Fee schedule": ("The fee for a passport is {} EUR.", "What is the passport fee in {}?"),
    "Leave policy": ("Employees have {} days of leave.", "How many days of leave did employees have in {}?"),
    "Budget": ("The library gets {} thousand EUR.", "How much does the library get in the {} budget?"),
}
OPPOSITES = (
    ("monthly", "yearly", "The {} fee of the Aurora plan is 12 EUR.", "What is the {} fee of the Aurora plan?"),
    ("minimum", "maximum", "The {} order of Holm screws is 200.", "What is the {} order of Holm screws?"),
    ("summer", "winter", "The lido's {} hours are 8:00 to 21:00.", "What are the {} hours of the lido?"),
    ("outdoor", "indoor", "The {} courts at Birkenau cost 14 EUR.", "How much do {} courts at Birkenau cost?"),
    ("full-time", "part-time", "All {} staff of Meridian get a parka.", "What do {} staff of Meridian get?"),
    ("adult", "child", "An {} ticket for the Zeppelin costs 11 EUR.", "How much is a {} ticket for the Zeppelin?"),
    ("gross", "net", "The {} pay of grade 7 is 52,000 EUR.", "What is the {} pay of grade 7?"),
    ("exports", "imports", "The county's {} were 1.2 billion in 2024.", "What were the county's {} in 2024?"),
    ("upload", "download", "The {} limit of Fileo is 2 GB.", "What is the {} limit of Fileo?"),
    ("arrival", "departure", "At Hotel Linde {} is from 15:00.", "When is {} at Hotel Linde?"),
    ("single", "double", "A {} room at the Post costs 70 EUR.", "How much is a {} room at the Post?"),
    ("northern", "southern", "The {} car park has 400 spaces.", "How many spaces does the {} car park have?"),
    ("standard", "express", "Kurio's {} delivery takes four days.", "How long does {} delivery by Kurio take?"),
    ("daily", "weekly", "The {} allowance for Norway is 60 EUR.", "What is the {} allowance for Norway?"),
    ("wholesale", "retail", "The {} margin of tea is 9 %.", "What is the {} margin of tea?"),
    ("urban", "rural", "In {} areas 61 % own a car.", "How many own a car in {} areas?"),
)
LANGUAGES = ("C++", "C#", "C", "F#", "R", "Go", ".NET", "Java")
TABLES = {
    "Ships": (
        ("Aurora", "Bounty", "Comet", "Fortuna"),
        {"Captain": "Quill Rask Stone Tate", "Home port": "Bergen Kiel Oslo Turku"},
    ),
    "Courses": (("Algebra", "Botany", "Drama", "French"), {"Teacher": "Kerr Lund Moss Nye", "Room": "101 204 310 412"}),
    "Stock": (
        ("Bolts", "Hinges", "Rivets", "Springs"),
        {"Shelf": "R1 R2 R5 R9", "Supplier": "Holt Irving Jansen Kemp"},
    ),
    "Offices": (
        ("Austria", "Chile", "Denmark", "Greece"),
        {"Manager": "Orr Pike Quist Reed", "Visa fee": "60 80 45 30"},
    ),
}


def entries() -> Iterator[Asked]:
    """Of a FAQ: the answer is gone, the question stays."""
    texts = {question: f"Q: {question}\nA: {answer}" for question, answer in PAIRS.items()}
    for question, text in texts.items():
        yield Asked(question, text, f"Q: {question}", [other for other in texts.values() if other != text])


def editions() -> Iterator[Asked]:
    """Of the same papers for four years."""
    texts = {
        (name, year): f"{name} {year}\n{said.format(3 * place + year - 2000)}"
        for place, (name, (said, _)) in enumerate(PAPERS.items())
        for year in range(2021, 2025)
    }
    for (name, year), text in texts.items():
        yield Asked(PAPERS[name][1].format(year), text, "", [other for other in texts.values() if other != text])


def ids() -> Iterator[Asked]:
    """Of orders and of errors that differ in their number only."""
    orders = {f"{4711 + k // 3}-{'ABC'[k % 3]}": k for k in range(24)}
    forms = [
        (f"Order {one} was shipped on {k + 1} May by parcel service.", f"When was order {one} shipped?")
        for one, k in orders.items()
    ]
    errors = [f"ORA-{900 + 7 * k:05d}" for k in range(24)]
    forms += [
        (
            f"{one}: table T{k} does not exist or you have no right to read it.",
            f"Table does not exist or no right to read it, {one}?",
        )
        for k, one in enumerate(errors)
    ]
    for text, question in forms:
        yield Asked(question, text, "", [other for other, _ in forms if other != text])


def signs() -> Iterator[Asked]:
    """Of names that are one letter but for their signs."""
    said = "The {} client is installed by its package manager and needs a runtime of 2020 or later."
    for name in LANGUAGES:
        others = [said.format(other) for other in LANGUAGES if other != name]
        yield Asked(f"How is the {name} client installed?", said.format(name), "", others)
        yield Asked(f"What does the {name} client need?", said.format(name), "", others)


def opposites() -> Iterator[Asked]:
    """Of one of two kinds: the other one is told instead."""
    for one, other, text, question in OPPOSITES:
        others = [said.format(told) for told, _, said, _ in OPPOSITES if said != text]
        yield Asked(question.format(other), text.format(other), text.format(one), others)


def rows() -> Iterator[Asked]:
    """Of tables: the row is gone."""
    texts = {name: _table(name) for name in TABLES}
    for name, (keys, columns) in TABLES.items():
        for key in keys:
            for column in columns:
                others = [text for other, text in texts.items() if other != name]
                yield Asked(f"What is the {column.lower()} of {key}?", texts[name], _table(name, without=key), others)


def _table(name: str, without: str = "") -> str:
    keys, columns = TABLES[name]
    lines = [
        ("Name", *columns),
        ("---",) * (1 + len(columns)),
        *zip(keys, *map(str.split, columns.values()), strict=True),
    ]
    return f"# {name}\n\n" + "\n".join(f"| {' | '.join(line)} |" for line in lines if line[0] != without)


def ask(question: str, texts: list[str]) -> tuple[str, list[str]]:
    """The verdict, and the evidence."""
    store = memory_store()
    store.write_documents(StaticDocumentEmbedder().run([Document(content=text) for text in texts if text])["documents"])
    result = load("corrective_retrieval", store=store).run(query=question)
    return result["crag"]["verdict"], [document.content or "" for document in result["documents"]]


def main() -> None:
    """Ask, count and print."""
    print(f"{'':10}questions  there: correct ambiguous incorrect lost  gone: correct ambiguous incorrect")
    for kind in (rows, entries, ids, signs, editions, opposites):
        there, gone, lost = Counter[str](), Counter[str](), 0
        for asked in kind():
            verdict, evidence = ask(asked.question, [asked.answer, *asked.others])
            there[verdict] += 1
            lost += asked.answer not in evidence
            gone[ask(asked.question, [asked.instead, *asked.others])[0]] += 1
        with_it, without = (
            [counts[name] for name in ("correct", "ambiguous", "incorrect")] for counts in (there, gone)
        )
        print(
            f"{kind.__name__:10}{there.total():9}",
            "{:15}{:10}{:10}".format(*with_it),
            f"{lost:4}",
            "{:14}{:10}{:10}".format(*without),
        )


if __name__ == "__main__":
    main()
