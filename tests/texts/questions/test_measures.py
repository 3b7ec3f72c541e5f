"""What asks for an amount is read as the unit of its documents (or when, as the column) if a sentence has all else."""

from time import process_time

import pytest
from haystack import Document

from haystack_integrations.crag.components import StaticDocumentEmbedder
from haystack_integrations.crag.pipelines import load
from haystack_integrations.crag.pipelines.opening import memory_store
from haystack_integrations.crag.texts.questions.measures import written_measures

CONTACTS = "| Person | Phone | E-mail |\n|---|---|---|\n| Ann Lee | 4711 | ann@example.org |"
PLAN = "| Train | To | Time | Arrives |\n|---|---|---|---|\n| R7 | Leeds | 9:10 | 9:40 |"
PRICES = "| Name | Price (EUR) |\n|---|---|\n| Havn lamp | 189.00 |\n| Skog lamp | 129.50 |"


@pytest.mark.parametrize(
    ("question", "text", "pairs"),
    [
        ("How long is the warranty?", "The warranty is 24 months.", {"long": "months"}),
        ("How long is the probation?", "Probation lasts six months.", {"long": "months"}),
        ("How long must a password be?", "# Passwords\n\nAt least 14 characters.", {"long": "characters"}),
        ("How long does a link work?", "A link ends after 14 days.", {"long": "days", "work": "days"}),
        ("How long is a link valid?", "A link lasts 14 days.", {"long": "days", "valid": "days"}),
        ("What is the notice period?", "Both give notice of three months.", {"period": "months"}),
        (
            "What is the notice period of the lease?",
            "Paper\n\n# Lease\n\n## 1 Rent\n\nNone.\n\n## 2 Term\n\nEither gives notice of three months.",
            {"period": "months"},
        ),
        ("How many days of leave do I have?", "You have 28 days of leave.", {"many": "28"}),
        ("How many jobs may an account have?", "An account may have up to 1,000 waiting jobs.", {"many": "1,000"}),
        ("How many keys does the door have?", "The door has two of the keys.", {"many": "two"}),
        ("How many doors are there?", "There are twelve doors.", {"many": "twelve"}),
        ("When does the train to Leeds leave?", PLAN, {"leave": "Time"}),
        ("Where does the board meet?", "| Group | Room |\n|---|---|\n| Board | 1.07 |", {"meet": "Room"}),
        ("How much does the notebook cost?", "A notebook costs 120\neuros.", {"much": "euros"}),
        ("How much is a day pass?", "Day pass 18 EUR, weekend pass 39 EUR.", {"much": "EUR"}),
        ("How much does a badge cost?", "A new badge costs $15.", {"much": "$"}),
        ("How much does a badge cost?", "A new badge costs 150 SEK.", {"much": "SEK"}),
        ("How much does a badge cost?", "A new badge costs \u00a5150.", {"much": "\u00a5"}),
        ("How much does a badge cost?", "A new badge: \u20ac15.", {"much": "\u20ac", "cost": "\u20ac"}),
        ("What is the price of a badge?", "A badge is 15 EUR.", {"price": "EUR"}),
        ("How often does the ferry run?", "The ferry runs every 45 minutes.", {"often": "every"}),
        ("How far is the harbour?", "The harbour is 3 km from here.", {"far": "km"}),
        ("How heavy is the press?", "The press: 7.2 kg", {"heavy": "kg"}),
        ("How long does the programme take to descale?", "# Descaling\n\nThe programme takes 25 min.", {"long": "min"}),
        ("Was kostet die Sauna?", "Die Sauna: 14 Euro, das Bad: 5 Euro.", {"kostet": "Euro"}),
        ("Was kostet das Bad für Kinder?", "# Bad\n\nErwachsene 8 Euro, Kinder 4 Euro", {"kostet": "Euro"}),
        ("Combien coûte le parking ?", "Parking : 5 € par jour", {"coûte": "€"}),
        ("Quel est le prix du parking ?", "Parking : 5 € par jour", {"prix": "€"}),
        ("¿Cuánto cuestan las toallas?", "Alquilamos toallas por 2 euros.", {"cuestan": "euros"}),
        ("Quanto costa la sauna?", "La sauna: 14 euro", {"costa": "euro"}),
        ("Quanto dura la garanzia?", "La garanzia è di 24 mesi.", {"dura": "mesi"}),
        ("Quanto custa o envio?", "| tipo | preço |\n|---|---|\n| envio | 7,50 € |", {"custa": "€"}),
        ("Wat kost de sauna?", "De sauna: 14 euro", {"kost": "euro"}),
        ("Ile kosztuje sauna?", "Sauna: 40 złotych", {"kosztuje": "złotych"}),
        ("Ile trwa kurs?", "Kurs: 12 tygodni", {"trwa": "tygodni"}),
        ("Vad kostar frakten?", "Frakten: 49 kr", {"kostar": "kr"}),
        ("Сколько стоит доставка?", "Доставка: 300 рублей", {"стоит": "рублей"}),
        ("How many copies are needed?", "Needed are three signed copies.", {"many": "three"}),
        ("How much is the rent of flat 3B?", "lease\n\n# Flat 3B\n\n## Rent\n\nIt is 980 EUR.", {"much": "EUR"}),
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
        (
            "What is the phone number for claims?",
            "Report a claim by the form or on 0800 555 014.",
            {"phone": "0800 555 014", "number": "0800 555 014"},
        ),
        ("How long does the Aquaro descale?", "Aquaro\nDescaling is over in 25 minutes.", {"long": "minutes"}),
    ],
)
def test_a_measure_is_read_where_its_amount_stands(question: str, text: str, pairs: dict[str, str]) -> None:
    """With the title, headings and names of columns above it."""
    assert dict(written_measures(question, [text if "\n" in text[:10] else f"\n{text}"])) == pairs


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Was kostet die Massage?", "Massage: 40 Minuten. Die Sauna: 14 Euro."),
        ("Was kostet der Hund?", "Der Hund der Nachbarin bellt, und das Futter: 8 Euro."),
        ("Quanto dura la garanzia?", "La garanzia minima"),
        ("Who is the costar of Ann Lee?", "Ann Lee: 5 euros"),
    ],
)
def test_in_other_languages_an_amount_of_something_else_is_none_either(question: str, text: str) -> None:
    """It must stand behind a word of the question, but for words of grammar."""
    assert dict(written_measures(question, [text])) == {}


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How long is the warranty?", "The warranty covers no damage. Delivery takes 3 days."),
        ("How much is a kayak per day?", "A bike is 12 EUR per day. A kayak has two seats."),
        ("How much is the rent of flat 3B?", "lease\n\n# Flat 3B\n\n# Flat 4A\n\n## Rent\n\nIt is 980 EUR."),
        ("How many days of training do I have?", "Staff has 28 days of leave."),
        ("How many keys are there?", "There are keys, and 12 doors."),
        ("How much is the Tind lamp?", PRICES),
        ("What is the phone number of the Havn lamp?", PRICES),
        ("What is the phone number of the harbour?", "At the harbour, 300 spaces are paid for by phone."),
        ("What is the e-mail address of the harbour?", "The harbour is quiet. Write to ann@example.org."),
        ("What is the phone number of Ben Cole?", CONTACTS),
        ("How long is the warranty of the Tind?", "The warranty is 24 months."),
        ("How long is the warranty?", "The warranty must be claimed within 10 days after a defect is found."),
        ("How long does a link work?", "A link may be sent again after 14 days."),
        ("How long must a name be?", "# Passwords\n\nAt least 14 characters."),
        ("What is the notice period of the rent?", "# Lease\n\n## Rent\n\n## Term\n\nA notice of three months."),
        ("How many days of training do I have?", "You have 28 days of leave."),
        ("How many jobs may an account have?", "An account may have jobs for 12 months."),
        ("How many keys does the door have?", "The door of room 2. Keys are with Ann."),
        ("How many are there?", "There are 12."),
        ("When does the train to Hull leave?", PLAN),
        ("Where does the train to Leeds leave?", PLAN),
        ("When does the train to Leeds leave?", "The train to Leeds is of a time when there was none."),
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


@pytest.mark.parametrize("line", ["1 " + "-" * 2_000, "1" + "-a" * 1_000, "1 " + "a-" * 1_000, "1" + " -" * 1_000])
def test_a_number_before_a_drawn_line_costs_no_more_than_its_length(line: str) -> None:
    """Twenty lines of 400 hyphens took 15 seconds: of each hyphen a word might have begun."""
    started = process_time()
    assert dict(written_measures("How many keys are there?", ["\n".join([line] * 20)])) == {}
    assert process_time() - started < 5
