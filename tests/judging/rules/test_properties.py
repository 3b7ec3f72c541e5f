"""A property that no document tells: documents about a person do not tell that person's phone number by themselves."""

import pytest
from haystack import Document

from haystack_integrations.crag.components import StaticDocumentEmbedder
from haystack_integrations.crag.judging.rules.exact import absent
from haystack_integrations.crag.judging.rules.properties import untold_properties
from haystack_integrations.crag.pipelines import load
from haystack_integrations.crag.pipelines.opening import memory_store

ANN = "Ann Lee is a painter of harbours. She was born in 1960 in York, and lives by the sea."


@pytest.mark.parametrize(
    ("question", "text", "asked"),
    [
        ("What is the phone number of Ann Lee?", ANN, "phone number"),
        ("What is Ann Lee's e-mail address?", ANN, "e-mail address"),
        ("How much does the Ann Lee cost?", ANN, "cost"),
        ("What is the price of the Ann Lee?", ANN, "price"),
        ("How heavy is the Ann Lee?", ANN, "heavy"),
        ("How far is York from here?", ANN, "far"),
        ("How deep is the harbour?", ANN, "deep"),
        ("How old is Ben Fox?", "Ben Fox is a baker. He lives in Kiel.", "old"),
        ("What does the Ann Lee cost?", ANN, "cost"),
        ("price Ann Lee", ANN, "price"),
        ("What does the Ann Lee cost?", "Feel free to ask for the Ann Lee, a duty-free shop free of dust.", "cost"),
        ("How old is the bridge?", "The bridge is opened for ships; call 4711.", "old"),
        ("How expensive is the Ann Lee?", ANN, "expensive"),
        ("Which is cheaper, the Ann Lee or York?", ANN, "cheaper"),
        ("Which harbour is the most expensive?", ANN, "most expensive"),
        ("Who is heavier, Ann Lee or Ben Fox?", ANN, "heavier"),
        ("What is the tallest harbour?", ANN, "tallest"),
        ("Who is the manager of Ann Lee?", ANN, "manager"),
        ("Who was the chief editor of the paper?", ANN, "editor"),
        ("Who is the author of Harbours?", ANN, "author"),
        ("Who is the mother of Ann Lee?", ANN, "mother"),
    ],
)
def test_a_property_that_nothing_tells_is_found(question: str, text: str, asked: str) -> None:
    """Neither its word, nor another one for it, nor an amount or address of its form."""
    assert [*untold_properties(question, [text])] == [asked]
    assert asked in absent(question, [("", text)])


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What is the phone number of Ann Lee?", "Ann Lee: +44 20 7946 0958"),
        ("What is the phone number of Ann Lee?", "Ann Lee's telephone has the extension 12."),
        ("What is Ann Lee's email address?", "Ann Lee, ann@example.org"),
        ("How much does a day pass cost?", "A day pass is 18 EUR."),
        ("How much does a day pass cost?", "Day passes are free of charge."),
        ("How much does a day pass cost?", "Day passes: free"),
        ("How much does a day pass cost?", "Day passes sell at 18."),
        ("How much does a day pass cost?", "Day pass: \u00a51,800"),
        ("How much does a day pass cost?", "A day pass is 180 kr, a week pass SEK 800."),
        ("What is the price of a day pass?", "Day pass: Rs. 180"),
        ("What is the price of a day pass?", "| Pass | Price |\n|---|---|\n| Day | 18 |"),
        ("How heavy is the box?", "The box, 12 kg, has two handles."),
        ("How far is the beach?", "The beach is five minutes' walk from the hotel."),
        ("How deep is the pool?", "The pool has a depth of two yards."),
        ("How old is Ann Lee?", ANN),
        ("How old is Ann Lee?", "Ann Lee (1960) is a painter."),
        ("How old is the bridge?", "The bridge was built in 1960."),
        ("How old is the bridge?", "The bridge dates back to 1432."),
        ("How old is the bridge?", "The bridge was opened to traffic in 1960."),
        ("Who is the manager of Ann Lee?", "Ann Lee is managed by Ben Fox."),
        ("Who is the author of Harbours?", "Harbours is a novel by Ben Fox."),
        ("Who is the mother of Ann Lee?", "Ann is the daughter of Eve Lee."),
        ("Who is the wife of Ben Fox?", "Ben Fox married Ann Lee."),
        ("Who is responsible for the harbour?", "The harbour is run by Ann Lee."),
        ("Who is the person responsible for the harbour?", "The harbour is run by Ann Lee."),
        ("Which is cheaper, the day pass or the week pass?", "Day pass 18 EUR, week pass 80 EUR."),
        ("Who is the composer of Harbours?", "Harbours is an opera by Ben Fox."),
        ("Where is the price list?", ANN),
        ("What is the occupation of Ann Lee?", ANN),
        ("How much is known of Ann Lee?", ANN),
        ("How long is the river?", ANN),
    ],
)
def test_what_is_told_in_another_way_or_has_no_form_of_its_own_is_left_alone(question: str, text: str) -> None:
    """An occupation is told without that word."""
    assert [*untold_properties(question, [text])] == []


STAFF = """Staff

## Board

Ann Lee leads it.

## Telephones

| who | phone |
|---|---|
| Ben Fox | 4410 |
| Eve May | 4411 |

## Mail

- Kim Roe: kim@example.org
- Tom Day: tom@example.org

Ann Sand has no desk.

Her phone: 4499
"""


@pytest.mark.parametrize(
    ("question", "is_told"),
    [
        ("What is the phone number of Ben Fox?", True),
        ("What is Mr Fox's phone number?", True),
        ("What is the phone number of Ms Sand?", True),
        ("What is the e-mail address of Tom Day?", True),
        ("What is the phone number of Ann Lee?", False),
        ("What is the phone number of Kim Roe?", False),
        ("What is the e-mail address of Ben Fox?", False),
        ("What is Dr. Lee's e-mail address?", False),
        ("What is the phone number of the board?", True),
        ("What is the phone number of Brookfield?", True),
    ],
)
def test_the_number_of_a_person_stands_beside_the_name(question: str, is_told: bool) -> None:
    """In the same row, item or paragraph, or below it; whose number it is may go without saying for any other."""
    asked = [each for each in ("phone number", "e-mail address") if each in question]
    assert [*untold_properties(question, [STAFF])] == ([] if is_told else asked)


@pytest.mark.parametrize(
    "text", ["Ann Lee\n\n4410 is the number of her phone.", "\n# Ann Lee\n\nShe\n\n## Mail\n\nOr phone."]
)
def test_all_below_a_persons_name_is_of_the_person(text: str) -> None:
    """As a title, or as a heading."""
    assert [*untold_properties("What is the phone number of Ann Lee?", [text])] == []


def test_a_document_about_something_else_tells_no_property() -> None:
    """The price of another thing, of which the question has no word, or few."""
    texts = [("", ANN), ("", "The Skog chair is 129 EUR."), ("", "The chair of Lee & Sons is 200 EUR.")]
    assert absent("What is the price of Ann Lee's painting of harbours?", texts) == ["price"]
    assert absent("What is the price of the Skog chair?", texts) == []
    assert absent("What is the price of the chair of Ann Lee?", texts) == []  # more than one may be meant


def test_a_question_for_what_no_document_tells_of_a_person_is_not_answered() -> None:
    """Every word but the property is there."""
    store = memory_store()
    texts = [ANN, "Ben Fox is a baker. He was born in 1971 in Kiel.", "Dogs travel free of charge."]
    store.write_documents(StaticDocumentEmbedder().run([Document(content=text) for text in texts])["documents"])
    rag = load("corrective_retrieval", store=store)
    assert rag.run(query="In which city was Ann Lee born?")["crag"]["verdict"] == "correct"
    for asked in ("What is the phone number of Ann Lee?", "Who is the manager of Ann Lee?", "How heavy is Ann Lee?"):
        assert rag.run(query=asked)["crag"]["verdict"] != "correct"
