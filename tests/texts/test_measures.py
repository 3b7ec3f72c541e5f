"""What asks for an amount is read as the unit that its documents have, where one sentence has all that is asked."""

import pytest
from haystack import Document

from haystack_integrations.crag.components import StaticDocumentEmbedder
from haystack_integrations.crag.pipelines import load
from haystack_integrations.crag.pipelines.opening import memory_store
from haystack_integrations.crag.texts.measures import written_measures

CONTACTS = "| Person | Phone | E-mail |\n|---|---|---|\n| Ann Lee | 4711 | ann@example.org |"
WATTS = "| Name | Watts |\n|---|---|\n| Havn lamp | 40 |\n| Skog lamp | 60 |"
PRICES = "| Name | Price (EUR) |\n|---|---|\n| Havn lamp | 189.00 |\n| Skog lamp | 129.50 |"


@pytest.mark.parametrize(
    ("question", "text", "pairs"),
    [
        ("How long is the warranty?", "The warranty is 24 months.", {"long": "months"}),
        ("How long is the probation?", "Probation lasts six months.", {"long": "months"}),
        ("How much is a day pass?", "Day pass 18 EUR, weekend pass 39 EUR.", {"much": "EUR"}),
        ("How much does a badge cost?", "A new badge costs $15.", {"much": "$"}),
        ("How much does a badge cost?", "A new badge: \u20ac15.", {"much": "\u20ac", "cost": "\u20ac"}),
        ("What is the price of a badge?", "A badge is 15 EUR.", {"price": "EUR"}),
        ("How often does the ferry run?", "The ferry runs every 45 minutes.", {"often": "every"}),
        ("How far is the harbour?", "The harbour is 3 km from here.", {"far": "km"}),
        ("How heavy is the press?", "The press: 7.2 kg", {"heavy": "kg"}),
        ("How long does the programme take to descale?", "# Descaling\n\nThe programme takes 25 min.", {"long": "min"}),
        ("How many rooms are there?", "There are 31 rooms.", {"many": "31"}),
        ("How many rooms does the hotel have?", "The hotel has four large rooms.", {"many": "four"}),
        ("How many rooms?", "Rooms: 1,200", {"many": "1,200"}),
        ("How many watts has the Skog lamp?", WATTS, {"many": "60"}),
        ("How much is the Havn lamp?", PRICES, {"much": "Price"}),
        ("What is Ann Lee's phone number?", CONTACTS, {"number": "Phone"}),
        ("What is the e-mail address of Ann Lee?", CONTACTS, {"address": "ann@example.org"}),
        (
            "What is the phone number of the desk?",
            "# Desk\n\nCall +49 30 1234-0.",
            {"phone": "+49 30 1234-0", "number": "+49 30 1234-0"},
        ),
        (
            "What is the telephone number of the desk?",
            "Desk: tel. 4711",
            {"number": "tel. 4711", "telephone": "tel. 4711"},
        ),
        ("How long does the Aquaro descale?", "Aquaro\nDescaling is over in 25 minutes.", {"long": "minutes"}),
    ],
)
def test_a_measure_is_read_where_its_amount_stands(question: str, text: str, pairs: dict[str, str]) -> None:
    """With the title, heading and names of columns above it."""
    assert dict(written_measures(question, [text if "\n" in text[:10] else f"\n{text}"])) == pairs


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How long is the warranty?", "The warranty covers no damage. Delivery takes 3 days."),
        ("How much is a kayak per day?", "A bike is 12 EUR per day. A kayak has two seats."),
        ("How many rooms have a view?", "Of the rooms, a view have those of the 3 upper floors."),
        ("How many rooms were there?", "The rooms were painted in 2014."),
        ("How many rooms are let?", "The 2014 rooms are let."),
        ("How many rooms are let?", "1.5 rooms are let."),
        ("How many rooms have a view?", "There are 31 rooms."),
        ("How many watts has the Tind lamp?", WATTS),
        ("How much is the Tind lamp?", PRICES),
        ("What is the phone number of the Havn lamp?", PRICES),
        ("What is the phone number of the harbour?", "At the harbour, 300 spaces are paid for by phone."),
        ("What is the e-mail address of the harbour?", "The harbour is quiet. Write to ann@example.org."),
        ("What is the phone number of Ben Cole?", CONTACTS),
        ("How long is the warranty of the Tind?", "The warranty is 24 months."),
        ("How long is the warranty?", "The warranty must be claimed within 10 days after a defect is found."),
        ("How much is gift wrapping?", "Orders over 60 EUR come with free gift wrapping."),
        ("How much is the deposit?", "A deposit is refused for rentals below 20 EUR."),
        ("How deep is the harbour?", "The harbour was deepened by 2 m."),
        ("How much snow fell?", "For the snow that fell we pay 3 EUR."),
        ("How long is it?", "It is 24 months."),
        ("Who is so long?", "It is so for 24 months."),
    ],
)
def test_no_measure_is_read_where_something_else_is_told(question: str, text: str) -> None:
    """An amount of another thing answers nothing."""
    assert [*written_measures(question, [f"\n{text}"])] == []


@pytest.mark.parametrize(
    ("question", "other"),
    [
        ("How long is the warranty?", "How long is the apprenticeship?"),
        ("How much is a day pass?", "How much is a kayak?"),
    ],
)
def test_an_amount_that_a_document_has_is_correct_and_one_that_it_has_not_is_not(question: str, other: str) -> None:
    """Though none of them has the word "long" or "much"."""
    store = memory_store()
    told = (
        "The warranty is 24 months from the date of purchase.",
        "Tickets: day pass 18 EUR, weekend pass 39 EUR.",
        "The apprenticeship is supervised by Mr Castellan.",
        "A kayak has two seats and a rudder.",
    )
    store.write_documents(StaticDocumentEmbedder().run([Document(content=each) for each in told])["documents"])
    rag = load("corrective_retrieval", store=store)
    assert rag.run(query=question)["crag"]["verdict"] == "correct"
    assert rag.run(query=other)["crag"]["verdict"] != "correct"
