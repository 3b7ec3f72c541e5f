"""A slip of the keyboard: the question is judged as its documents write the word, and the record says so."""

import json

import pytest
from haystack import Document
from haystack.document_stores.in_memory import InMemoryDocumentStore
from hypothesis import given
from hypothesis import strategies as st

from haystack_integrations.crag.components import HeuristicGrader
from haystack_integrations.crag.corpus_statistics import CorpusStatistics, collect
from haystack_integrations.crag.encoding.encoders import load_encoder
from haystack_integrations.crag.evaluation.labelled import LabelledList, prepare
from haystack_integrations.crag.judging.calibration import load_calibration
from haystack_integrations.crag.judging.grading import grade
from haystack_integrations.crag.judging.reading import Reader
from haystack_integrations.crag.judging.respelling import as_meant, respelled
from haystack_integrations.crag.pipelines import load
from haystack_integrations.crag.pipelines.opening import memory_store
from haystack_integrations.crag.texts.languages.spelling import reread

NOTICE = "The notice period of the employment contract is three months."
TEXTS = (NOTICE, "Vacation is thirty days a year.", "Meals are paid by Hansen Limited.")
CORPUS = collect(TEXTS).statistics("store")


def read(question: str, *texts: str, corpus: CorpusStatistics = CORPUS) -> dict[str, str]:
    read_texts = [("", text) for text in texts or TEXTS]
    readings = Reader(load_encoder()).read(read_texts)
    return respelled(question, read_texts, readings, corpus.counts)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is the notcie period?", {"notcie": "notice"}),
        ("What is the notice perid?", {}),  # five letters: only changed places
        ("How long is the vacaton?", {"vacaton": "vacation"}),
        ("How long is the Vaccation?", {"vaccation": "vacation"}),
        ("Is it in the contarct or the emploment agreement?", {"contarct": "contract", "emploment": "employment"}),
    ],
)
def test_a_word_that_no_document_has_is_read_as_one_that_is_a_slip_away(
    question: str, expected: dict[str, str]
) -> None:
    """Two letters in each other's place, one too many, too few, or another one."""
    assert read(question) == expected


@pytest.mark.parametrize(
    ("question", "text", "expected"),
    [
        ("What is the wifi password?", "The wi-fi password is on the desk.", {"wifi": "wi fi"}),
        ("How do I log in?", "To login, enter your name.", {"log in": "login"}),
        ("Where is my E-Mail?", "An email is kept for a year.", {"e mail": "email"}),
        (
            "What is a post-marketing study?",
            "A postmarketing study is done later.",
            {"post marketing": "postmarketing"},
        ),
        ("Is there a data base?", "The database is on the server.", {"data base": "database"}),
        ("Who is in form?", "We inform whoever is in charge.", {}),
        ("What is a part?", "They live apart.", {}),
        ("What is new2019?", "A new 2019 law.", {}),
    ],
)
def test_a_word_in_one_part_is_the_same_in_two(question: str, text: str, expected: dict[str, str]) -> None:
    """Whichever the question has; words that only happen to make another one are none."""
    assert read(question, text) == expected


@pytest.mark.parametrize(
    ("question", "text", "expected"),
    [
        ("How do I organise my files?", "Files are organized by name.", {"organise": "organize"}),
        ("Which colour has it?", "Its color is green.", {"colour": "color"}),
        ("Who is in the behavioral group?", "A behavioural group met.", {"behavioral": "behavioural"}),
        ("Where is the fitness centre?", "The fitness center is closed.", {"centre": "center"}),
        ("Is there a paediatric ward?", "The pediatric ward is closed.", {"paediatric": "pediatric"}),
        ("Where is the canoe?", "The cane is here.", {}),
        ("Who needs a licence?", "A license is needed.", {"licence": "license"}),
        ("What causes anaemia?", "Anemia is caused by a lack of iron.", {"anaemia": "anemia"}),
        ("What does oestrogen do?", "Estrogen is a hormone.", {"oestrogen": "estrogen"}),
        ("Is there a programme?", "The program is long.", {"programme": "program"}),
        ("Which catalog is it?", "It is in the catalogue.", {"catalog": "catalogue"}),
        ("Who came fourth?", "And so forth.", {}),
        ("What is the price?", "It is called a prise.", {}),
    ],
)
def test_british_and_american_spelling_are_the_same(question: str, text: str, expected: dict[str, str]) -> None:
    """Either way round."""
    assert read(question, text) == expected


@pytest.mark.parametrize(
    ("question", "text", "expected"),
    [
        ("Where does Mueller live?", "Ms M\u00fcller lives in Cologne.", {"mueller": "m\u00fcller"}),
        ("Where does M\u00fcller live?", "Ms Mueller lives in Cologne.", {"m\u00fcller": "mueller"}),
        ("Where is Aarhus?", "\u00c5rhus is in Jutland.", {"aarhus": "\u00e5rhus"}),
        ("Where does M\u00fcller live?", "Ms Muller lives in Cologne.", {}),  # one term
        ("Who is the poet?", "A pot stands on the stove.", {}),
        ("\u00c4 what?", "\u00c6", {}),
    ],
)
def test_a_letter_with_a_mark_may_be_spelt_out(question: str, text: str, expected: dict[str, str]) -> None:
    """As keyboards without it have it; two letters are one in nothing but such a word."""
    assert read(question, text) == expected


def test_a_question_without_marks_is_judged_as_with_them() -> None:
    """Most people who ask in English type none; a third of popqa's verdicts on such names changed by that."""
    documents = [Document(content=text) for text in ("Alois Ra\u0161\u00edn was born in Sm\u00edchov.", *TEXTS)]
    asked = [f"Where was Alois {name} born?" for name in ("Ra\u0161\u00edn", "Rasin", "Rasim")]
    right, bare, other = (HeuristicGrader().run(query=question, documents=documents)["scores"] for question in asked)
    assert bare == pytest.approx(right, abs=0.1)
    assert other[0] < min(bare[0], right[0])


def test_what_is_read_takes_the_place_of_what_is_typed_and_keeps_a_capital() -> None:
    """Whatever stands between two parts."""
    assert reread("Log-in: how do I log  in with my Notcie?", {"log in": "login", "notcie": "notice"}) == (
        "Login: how do I login with my Notice?"
    )


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Who pays for Hanson's meals?", TEXTS[2]),  # another person
        ("Was it a causal meeting?", "It was a casual meeting."),  # a word by itself
        ("What is the martial law?", "The marital law was changed."),
        ("What does the nitoce say?", NOTICE),  # two slips
        ("Where is the otnice?", NOTICE),  # the first letter
        ("What is an-28?", "An-82 is an aircraft."),
        ("Who is Jo?", "Joe is a friend."),
        ("", NOTICE),
    ],
)
def test_other_words_stay_as_they_are(question: str, text: str) -> None:
    """Names that differ by a letter, words of the language, numbers, short words."""
    assert read(question, text) == {}


@pytest.mark.parametrize(
    "asked", ["Explain", "describe", "An introduction to", "The basics of", "Look up", "Search for"]
)
def test_to_explain_a_thing_is_to_tell_what_it_is_unless_documents_have_that_word(asked: str) -> None:
    """EXPLAIN is a command, and a search may be what is asked about."""

    def meant(*texts: str) -> str:
        read_texts = [("", text) for text in texts]
        return as_meant(
            f"{asked} the notice period", read_texts, Reader(load_encoder()).read(read_texts), CORPUS.counts
        )[0]

    assert meant(NOTICE) == "the notice period"
    assert meant(NOTICE, f"{asked} anything.") == f"{asked} the notice period"


@pytest.mark.parametrize(
    ("question", "text", "meant"),
    [
        ("Can I freeze the notice?", "The notice must not be frozen.", "Can I frozen the notice?"),
        ("Who wrote the notice?", "The notice is written by Ann.", "Who written the notice?"),
        ("Is a notice for teeth?", "The notice is for a tooth.", "Is a notice for tooth?"),
        ("Who found the notice?", "They find the notice.", "Who found the notice?"),  # founded, too
        ("Who wrote the notice?", "Ann wrote the notice that was written.", "Who wrote the notice?"),
    ],
)
def test_an_irregular_form_is_judged_as_the_documents_have_it(question: str, text: str, meant: str) -> None:
    """Where they have only other forms of the word, that no ending tells; it is nothing that is searched for."""
    texts = [("", text)]
    assert as_meant(question, texts, Reader(load_encoder()).read(texts), CORPUS.counts) == (meant, {})


def test_what_a_thing_means_is_what_it_is() -> None:
    """No text that tells it says "mean", and the arithmetic mean is another matter."""
    texts = [("", NOTICE)]
    readings = Reader(load_encoder()).read(texts)
    for asked in ("What does notice period mean?", "what do notice periods stand for"):
        meant, _ = as_meant(asked, texts, readings, CORPUS.counts)
        assert meant.startswith("What is notice period")
    assert as_meant("What is the mean notice?", texts, readings, CORPUS.counts)[0] == "What is the mean notice?"


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("What happens if I lose my badge?", "What if I lose my badge?"),
        ("And what happens after a burglary?", "And what after a burglary?"),
        ("where can i find lost things", "where lost things"),
        ("Where do we get keys?", "Where keys?"),
        ("What happens in chapter 3?", "What happens in chapter 3?"),  # it may be told in this word
        ("How can I find my badge?", "How can I find my badge?"),
    ],
)
def test_that_a_thing_happens_or_is_found_is_not_asked(asked: str, meant: str) -> None:
    """A document says what is to be done, and where things are kept."""
    texts = [("", "Nothing happens. You get and find all.")]
    assert as_meant(asked, texts, Reader(load_encoder()).read(texts), CORPUS.counts)[0] == meant


def test_a_word_that_the_corpus_has_elsewhere_is_no_slip() -> None:
    """The list is about something else, then."""
    corpus = collect([*TEXTS, "The notcie is a small bird."]).statistics("store")
    assert read("What is the notcie period?", *TEXTS, corpus=corpus) == {}


def test_a_file_of_statistics_that_leaves_rare_terms_out_does_not_hide_a_slip() -> None:
    """What it does not know may be in one document; the retrieved ones lack it all the same."""
    rare = CorpusStatistics(3, {}, "file", unseen=1)
    assert read("What is the notcie period?", corpus=rare) == {"notcie": "notice"}


@given(st.text(max_size=60), st.lists(st.text(max_size=60), min_size=1, max_size=3))
def test_whatever_is_asked_what_is_read_stands_in_the_documents(question: str, texts: list[str]) -> None:
    """Never a word of nobody."""
    found = read(question, *texts)
    assert all(any(meant in text.lower() for text in texts) for meant in found.values())
    assert bool(found) == (reread(question, found) != question)


def test_a_misspelt_question_is_graded_as_the_right_one_and_the_record_says_how_it_was_read() -> None:
    """With the store's statistics, and without any."""
    documents = [Document(content=text, id=str(n)) for n, text in enumerate(TEXTS)]
    store = InMemoryDocumentStore()
    store.write_documents(documents)
    for grader in (HeuristicGrader(document_store=store), HeuristicGrader()):
        right = grader.run(query="What is the notice period of the contract?", documents=documents)
        wrong = grader.run(query="What is the notcie period of the contarct?", documents=documents)
        assert wrong["scores"] == right["scores"]
        assert wrong["signals"]["set"]["read_as"] == {"notcie": "notice", "contarct": "contract"}
        assert "read_as" not in right["signals"]["set"]


def test_statistics_are_asked_anew_for_the_words_that_are_read() -> None:
    """A server tells of the terms that it was asked for, and of no others."""
    asked: list[str] = []

    def statistics(query: str) -> CorpusStatistics:
        asked.append(query)
        return CORPUS

    documents = [Document(content=text) for text in TEXTS]
    calibration, reader = load_calibration(None), Reader(load_encoder())
    grade("What is the notcie period?", documents, (), calibration, reader, statistics, None)
    grade("What is the notice period?", documents, (), calibration, reader, statistics, None)
    assert asked == ["What is the notcie period?", "What is the notice period?", "What is the notice period?"]


def test_a_calibration_is_fitted_on_what_a_grader_will_see() -> None:
    """A list is measured alike for a misspelt question with courtesies and for the plain one."""
    texts = tuple(("", text) for text in TEXTS)

    def measured(question: str) -> object:
        one = LabelledList("q", question, texts, (2, 0, 0), "correct", 0)
        return prepare([one], Reader(load_encoder()), lambda terms: (3, CORPUS.frequency(terms)))[0].measured

    said = "Hi, could you tell me what the notcie period is? Thanks!"
    assert measured(said) == measured("what the notice period is?")


def test_the_trail_of_a_run_tells_how_a_word_was_read() -> None:
    """As part of the signals of the set, in JSON."""
    store = memory_store()
    store.write_documents([Document(content=text) for text in TEXTS])
    record = load("corrective_retrieval", store=store).run(query="What is the notcie period?")["crag"]
    assert record["signals"]["set"]["read_as"] == {"notcie": "notice"}
    json.dumps(record)


@pytest.mark.parametrize(
    ("asked", "written", "expected"),
    [
        ("2021-04-03", "April 3, 2021", {"2021-04-03": "April 3, 2021"}),
        ("03.04.2021", "3 April 2021", {"03.04.2021": "3 April 2021"}),
        ("4/3/2021", "3 April 2021", {"4/3/2021": "3 April 2021"}),
        ("the 3rd of April 2021", "April 3, 2021", {"3rd of april 2021": "April 3, 2021"}),
        ("April 3, 2021", "2021-04-03", {"april 3, 2021": "2021-04-03"}),
        ("3. M\u00e4rz 2021", "03.03.2021", {"3. m\u00e4rz 2021": "03.03.2021"}),
        ("April 2021", "2021-04-03", {"april 2021": "2021-04"}),
        ("April 3, 2021", "3 April 2021", {}),  # the same words
        ("2021-04-03", "April 4, 2021", {}),
        ("April 2021", "April 3, 2021", {}),
    ],
)
def test_a_date_is_read_in_the_form_that_documents_have(asked: str, written: str, expected: dict[str, str]) -> None:
    """In words or in numbers, whichever is first: to its letters no document had it."""
    text = f"The bridge opened on {written}."
    assert read(f"What opened on {asked}?", text) == expected
    assert read(f"What opened on {asked}?", text, f"On {asked} nothing closed.") == {}


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("Which train leaves at 6:30 pm?", "Which train leaves at 18:30?"),
        ("How much does FL1020 cost?", "How EUR does FL-1020 cost?"),
    ],
)
def test_a_time_an_id_and_a_price_are_read_in_the_form_that_documents_have(asked: str, expected: str) -> None:
    """A time as a whole, though its "p.m." may be written otherwise, too."""
    text = "RB 21 leaves at 18:30 and not at 6 p.m. The FL-1020 costs 129.50 EUR."
    assert reread(asked, read(asked, text)) == expected


@pytest.mark.parametrize(
    ("asked", "written"),
    [("2021-04-03", "April 3, 2021"), ("03.04.2021", "April 3, 2021"), ("April 3, 2021", "2021-04-03")],
)
def test_a_passage_with_a_date_in_another_form_is_found_and_answers(asked: str, written: str) -> None:
    """Where the first search misses it, a second one has the date as other documents may write it."""
    store = memory_store()
    others = [f"The bridge over river {n} opened in the year {1900 + n}." for n in range(20)]
    closed = f"Closed for repair on {written} by order of the mayor: Kestrel Light."
    store.write_documents([Document(content=text) for text in (*others, closed)])
    result = load("corrective_retrieval", store=store).run(query=f"What closed for repair on {asked}?")
    assert closed in [document.content for document in result["documents"]]
    assert result["crag"]["verdict"] == "correct"
