"""Who asks how something is done is told by the section that is headed so."""

import time

import pytest
from haystack import Document
from haystack.document_stores.in_memory import InMemoryDocumentStore
from makers import fill

from haystack_integrations.crag.judging.rules.tasks import tasks
from haystack_integrations.crag.pipelines import load

SECONDS = 2.0  # some hundredths here; quadratic time would be minutes
SAYS = "Open the lid, take out the old one and press the new one in until it clicks."
MANUAL = (
    f"# 4. Looms\n\n## 4.1. Replacing the shuttle\n\n{SAYS}\n\n## 4.2. Turn off the fan\n\n{SAYS}\n\n"
    f"## Oiling the gears\n\nSee below.\n\n## Tighten belts\n\n### Before you begin\n\n{SAYS}\n"
)
PASSAGE = f"looms - Chapter 4. Looms - 4.1. Replacing the shuttle\n\n{SAYS}"


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How do I replace the shuttle?", MANUAL),
        ("How can we replace a shuttle", PASSAGE),
        ("how to replace shuttles", PASSAGE),
        ("Is it possible to replace the shuttle?", MANUAL),
        ("I want to replace the shuttle of a loom", MANUAL),  # the loom is in the heading above
        ("Can I replace the shuttle of the loom?", PASSAGE),
        ("How do I turn off the fan?", MANUAL),
        ("How is the belt tightened?", MANUAL),  # told in the part below it
    ],
)
def test_what_a_section_is_headed_is_told_by_it(question: str, text: str) -> None:
    """In its text the words of its heading often stand nowhere, and in other passages one by one."""
    assert tasks(question, [("", text)]).tolist() == [True]


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How do I replace the fan?", MANUAL),  # words of two headings
        ("How do I replace the shuttle of a bicycle?", MANUAL),
        ("How do I turn on the fan?", MANUAL),
        ("How do I replace the shuttle without tools?", MANUAL + "\n# Replacing the shuttle tools\n\n" + SAYS),
        ("How do I oil the gears?", MANUAL),  # nothing is said below it
        ("Why do I replace the shuttle?", MANUAL),
        ("Who may replace the shuttle?", MANUAL),
        ("How do I replace it?", "# Replacing\n\n" + SAYS),  # one word
        ("How do I replace the shuttle?", "Replacing the shuttle is no work for beginners. " + SAYS),  # no heading
    ],
)
def test_other_tasks_and_other_questions_are_not(question: str, text: str) -> None:
    """A heading that has one word less, or a particle turned round, is of another task."""
    assert tasks(question, [("", text)]).tolist() == [False]


def test_what_leads_to_a_place_does_not_lead_from_it() -> None:
    """Both are small words, which no term is made of; and "how to" leads nowhere."""
    texts = [("", f"# Moving\n\n## {head} Weaver\n\n{SAYS}") for head in ("Migrate to", "Migrating from")]
    assert tasks("How do I  migrate from Weaver?", texts).tolist() == [False, True]
    assert tasks("How to migrate from Weaver?", texts).tolist() == [False, True]
    assert tasks("How to migrate to Weaver?", texts).tolist() == [True, False]


def test_the_title_of_a_document_stands_above_its_headings() -> None:
    """A question names the product, whose sections need not."""
    section = f"## Replacing the shuttle\n\n{SAYS}"
    asked = "How do I replace the shuttle in Weaver?"
    assert tasks(asked, [("Weaver 3 manual", section), ("", section)]).tolist() == [True, False]
    assert tasks(asked, [("", f"{section} So it is with Weaver.")]).tolist() == [True]


def test_a_task_of_a_manual_is_believed_and_one_that_it_does_not_tell_is_not() -> None:
    """Its words stand in many passages of the manual."""
    store = InMemoryDocumentStore(embedding_similarity_function="cosine")
    others = [f"Note {n}: {said} of loom {n}." for n in range(15) for said in ("the shuttle", "to replace a part")]
    fill(store, [Document(content=text) for text in (MANUAL.replace("Replacing", "Replace"), *others)])
    rag = load("corrective_retrieval", store=store)
    assert rag.run(query="How do I replace the shuttle?")["crag"]["verdict"] == "correct"
    assert rag.run(query="How do I rent the shuttle?")["crag"]["verdict"] != "correct"


def test_many_headings_take_no_longer() -> None:
    """A page of links may have thousands of them."""
    begun = time.process_time()
    tasks("How do I replace the shuttle?", [("", "# Replacing the loom\n\n" * 3_000), ("", "#" * 50_000)])
    assert time.process_time() - begun < SECONDS


@pytest.mark.parametrize("head", ["9" * 60, "Part 1" + ".1" * 60, "4" * 199])
def test_a_head_of_digits_takes_no_longer(head: str) -> None:
    """An order's number or a hash, alone on the first line; each of its digits was once a number of its own."""
    begun = time.process_time()
    assert not tasks(
        "How do I replace the shuttle?", [("", f"{head}| loom\n\n{SAYS}"), ("", f"# {head}|\n\n{SAYS}")]
    ).any()
    assert time.process_time() - begun < SECONDS


def test_a_page_of_many_headings_takes_no_longer_for_each() -> None:
    """Each was looked for among all: ten documents of 10,000 headings held a question for a quarter of a minute."""
    page = "".join(f"## Part {number}\n\nA screw.\n\n" for number in range(30_000))
    chain = f"{page}## Adjusting the chain\n\nLoosen the screw on the left, then pull the wheel back."
    started = time.process_time()
    assert tasks("How do I adjust the chain?", [("", page), ("", chain)]).tolist() == [False, True]
    assert time.process_time() - started < 4
