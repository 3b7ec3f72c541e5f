"""Who asks what something is, is told by the sentence that says so, or by its entry in a glossary."""

import time

import pytest
from haystack import Document
from haystack.document_stores.in_memory import InMemoryDocumentStore
from makers import fill

from haystack_integrations.crag.judging.rules.definitions import definitions
from haystack_integrations.crag.pipelines import load
from haystack_integrations.crag.texts.questions.defined import defined_thing

SECONDS = 2.0  # some hundredths here; quadratic time would be minutes
GLOSSARY = (
    "# Glossary\n\n- Ballast (water): Weight that is taken on board so that a ship lies deeper.\n"
    "- **Tare**: What the empty *container* weighs.\n- Dead freight: See Freight."
)
BOOK = (
    "# Loading\n\nA bill of lading is the receipt that a carrier gives. Estimated Time of Arrival (ETA) is a promise. "
    "The *tare* is subtracted. In this part, a demurrage is a charge for delay. The hatch is closed at night. "
    "Cargo of the Inland Waterways of the North (CIWN) comes by barge."
)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What is ballast?", GLOSSARY),
        ("What does tare mean?", GLOSSARY),
        ("define tares", GLOSSARY),
        ("What is meant by the term 'ballast'?", GLOSSARY),
        ("What is a demurrage?", BOOK),
        ("What are demurrages?", BOOK),
        ("What is an ETA?", BOOK),
        ("What does CIWN stand for?", BOOK),
        ("What does CIWN stand for?", f"{BOOK} Ask the CIWN (by phone) for a slot."),
        ("What is a demurrage in loading?", BOOK),
    ],
)
def test_what_something_is_is_told_by_its_definition(question: str, text: str) -> None:
    """Of the question one word is left, which stands in many documents."""
    assert definitions(question, [("", text)]).tolist() == [True]


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What is a tare?", BOOK),  # named, not said what it is
        ("What is the hatch?", BOOK),  # said what is done to it
        ("What is dead freight?", GLOSSARY),  # only leads on
        ("What is a container?", GLOSSARY),  # in another entry
        ("What is ballast?", GLOSSARY.replace("Glossary", "Fields")),  # a list of anything
        ("What is ballast in chemistry?", GLOSSARY),  # of another subject
        ("What does ETD stand for?", BOOK),
        ("What does a demurrage cost?", BOOK),
        ("What is the price of a demurrage?", BOOK),
        ("What is the hatch of the ship?", "The hatch is a lid. The ship has one."),
        ("What is the deadline?", "The deadline is the day by which a supplier delivers."),
        ("What is the population of Berlin?", "Population is the number of people.\nOf Berlin it is counted."),
        ("What is inflation in Spain?", "Inflation is a rise in prices.\n\nSpain and Italy have some."),
        ("Who is the carrier?", BOOK.replace("that a carrier", "of the carrier. The carrier is the one that")),
    ],
)
def test_other_questions_and_texts_tell_no_definition(question: str, text: str) -> None:
    """A name alone says nothing, and another question is not answered by what a thing is."""
    assert definitions(question, [("", text)]).tolist() == [False]


def test_a_product_is_told_from_one_whose_name_begins_so() -> None:
    """What a closure is in JavaScript says nothing of Java."""
    texts = [(title, "A closure is a function that keeps its scope.") for title in ("JavaScript", "The Java tutorial")]
    assert definitions("What is a closure in Java?", texts).tolist() == [False, True]


def test_a_capital_at_the_end_of_a_name_is_no_plural() -> None:
    """HTTPS is another thing than HTTP; several URLs are what one URL is."""
    texts = [("", "HTTP is a protocol."), ("", "HTTPS is a protocol."), ("", "URLs are the addresses of pages.")]
    texts.append(("Glossary", "- HTTPS: How pages come unread by others."))
    assert definitions("What is HTTPS?", texts).tolist() == [False, True, False, True]
    assert definitions("What is HTTP?", texts).tolist() == [True, False, False, False]
    assert definitions("What is a URL?", texts).tolist() == [False, False, True, False]
    assert definitions("What are URLs?", texts).tolist() == [False, False, True, False]


def test_a_title_tells_that_a_text_is_a_glossary() -> None:
    """Passages of it have no heading of their own."""
    entry = GLOSSARY.partition("\n\n")[2]
    assert definitions("What is ballast?", [("Terminology", entry), ("", entry)]).tolist() == [True, False]


def test_a_definition_is_found_and_believed_among_many_passages_with_the_word() -> None:
    """Searched for where definitions stand, since by one word its passage is not among the first ten."""
    logs = [
        Document(content=f"Day {n}: ballast {n} tonnes, ballast pumps ran, ballast tanks checked.") for n in range(40)
    ]
    with_it, without = (InMemoryDocumentStore(embedding_similarity_function="cosine") for _ in range(2))
    fill(with_it, [*logs, Document(content=GLOSSARY)])
    fill(without, logs)
    found = load("corrective_retrieval", store=with_it).run(query="What is ballast?")
    assert (found["crag"]["verdict"], found["documents"][0].content) == ("correct", GLOSSARY)
    assert load("corrective_retrieval", store=without).run(query="What is ballast?")["crag"]["verdict"] != "correct"


@pytest.mark.parametrize("text", ["What is " + "a " * 40_000, "what is " + "x" * 80_000, "define " + "a-" * 40_000])
def test_a_long_question_takes_no_longer(text: str) -> None:
    """A pattern that goes back would take minutes."""
    begun = time.process_time()
    defined_thing(text)
    definitions("What is a tare?", [("", "- tare (" * 20_000), ("", "tare (x " * 20_000), ("", "( tare) " * 20_000)])
    definitions("What does TARE stand for?", [("", "a b c (TARE " * 10_000), ("", "TARE (a b c " * 10_000)])
    assert time.process_time() - begun < SECONDS
