"""A name that no document tells is of another one than they are about."""

import re
from time import process_time

import pytest
from haystack import Document
from hypothesis import given
from hypothesis import strategies as st

from haystack_integrations.crag.components import StaticDocumentEmbedder
from haystack_integrations.crag.judging.rules.other_names import is_begun, names_in, untold_names
from haystack_integrations.crag.pipelines import load
from haystack_integrations.crag.pipelines.opening import memory_store
from haystack_integrations.crag.texts.languages.function_words import language_of
from haystack_integrations.crag.texts.text import words

TIMETABLE = "The train to York leaves at 9:10 from platform 4."


@pytest.mark.parametrize(
    ("question", "text", "names"),
    [
        ("When does the train to Leeds leave?", TIMETABLE, ["Leeds"]),
        ("Who leads the office in New Haven?", "The office in Old Town is led by Ann.", ["New Haven"]),
        ("Is there a manual in Dutch?", "There are manuals in German and Greek.", ["Dutch"]),
        ("Where is Leeds?", TIMETABLE, ["Leeds"]),
        ("Does the plan have SSO, or Kerberos?", "The plan has a password.", ["SSO", "Kerberos"]),
        ("How big is Emma's room?", "Ann's room has 12 square metres.", ["Emma's"]),
        ("Is there a train to Marseille, or was Martin a Faraday?", TIMETABLE, ["Marseille", "Martin", "Faraday"]),
    ],
)
def test_a_name_that_stands_nowhere_is_found(question: str, text: str, names: list[str]) -> None:
    """Places, people, languages, products; also those that begin as a month, or end as a day does."""
    assert [*untold_names(question, [text], language_of(words(question)))] == names


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("When does the train to York leave?", TIMETABLE),
        ("When does the train to New York leave?", TIMETABLE),
        ("Do you ship to Norway?", "Norwegian customers pay more."),
        ("Who was Emilie's son?", "Émilie had a son."),
        ("How big is Emma’s room?", "Emma has 12 square metres."),
        ("Is the museum open on Wednesday?", "It is open from Monday to Friday."),
        ("Is the museum open in May?", "It is open from April to October."),
        ("Is the museum open on Thursdays in Sept?", "It is open from April to October."),
        ("Leeds is where?", TIMETABLE),
        ("My bike is in Leeds. When does the train leave?", TIMETABLE),
        ("Is it open at 6 PM, for 20 EUR?", TIMETABLE),
        ("Is this what I'm told?", TIMETABLE),
        ("How Do I Reset My Router?", TIMETABLE),
        ("HOW DO I RESET MY ROUTER?", TIMETABLE),
        ("Wann fährt der Zug nach Leeds, und von welchem Gleis?", TIMETABLE),
        ("Zug Leeds", TIMETABLE),
    ],
)
def test_what_is_told_in_part_or_may_be_no_name_is_not_missed(question: str, text: str) -> None:
    """German gives a capital to every noun, a headline to every word, and a sentence to its first."""
    assert [*untold_names(question, [text], language_of(words(question)))] == []


@pytest.mark.parametrize(
    ("question", "text", "names"),
    [
        ("Quand part le train de Lyon ?", "Le train de Nantes part à 9 h 10.", ["Lyon"]),
        ("Combien coûte un colis pour l’Espagne ?", "Un colis pour la Suisse coûte 9 euros.", ["Espagne"]),
        ("¿Cuándo sale el tren de Sevilla?", "El tren de Vigo sale a las 9:10.", ["Sevilla"]),
        ("Где останавливается поезд в Твери?", "Поезд останавливается в Москве.", ["Твери"]),
        ("Где останавливается поезд в Москве?", "Поезд из Москвы.", []),
        ("Dove Si Compra Il Biglietto Per Milano?", "Il biglietto per Roma.", []),
        ("¿Qué dice Usted al vendedor?", "Hay que decir la hora.", []),
        ("Quand part le train pour la Norvège ?", "Le train norvégien part à 9 h 10.", []),
    ],
)
def test_other_languages_than_german_give_a_capital_to_names_alone(question: str, text: str, names: list[str]) -> None:
    """Behind an elision, too; not what a whole headline has, or a polite form."""
    assert [*untold_names(question, [text], language_of(words(question)))] == names


def test_a_name_in_capitals_or_behind_them_is_one() -> None:
    """A headline has capitals for its small words, too."""
    assert names_in("Who is the CEO of Acme?") == ["CEO", "Acme"]
    assert names_in("who sings beside The Edge of U2?") == ["The Edge"]
    assert names_in("Who Is The CEO Of Acme?") == []


def test_a_question_about_another_name_is_not_answered() -> None:
    """All of its words but the name are there."""
    store = memory_store()
    texts = [TIMETABLE, "The train to Norwich leaves at 9:20 from platform 2.", "Dogs travel free of charge."]
    store.write_documents(StaticDocumentEmbedder().run([Document(content=text) for text in texts])["documents"])
    rag = load("corrective_retrieval", store=store)
    asked = "Does the train to {} leave from platform 4?"
    assert rag.run(query=asked.format("York"))["crag"]["verdict"] == "correct"
    assert rag.run(query=asked.format("Leeds"))["crag"]["verdict"] != "correct"


@given(
    part=st.text(st.sampled_from("ab\u00e91.'"), min_size=1, max_size=8), text=st.text("ab_\u00e91 .'\n", max_size=30)
)
def test_a_name_is_begun_where_a_word_begins_so(part: str, text: str) -> None:
    """As a pattern finds it; to make one for each name takes longer than to look for it."""
    begins = part[: max(4, len(part) - 4)]
    assert is_begun(part, text) == (re.search(rf"(?<!\w){re.escape(begins)}", text) is not None)


def test_no_name_takes_long_to_find() -> None:
    """Nor does one of a hundred thousand letters, in a word of more of the same."""
    begun = process_time()
    assert not is_begun("a" * 100_000, "b" + "a" * 400_000)
    assert is_begun("aaaa", "baaaa " * 50_000 + "aaaa")
    assert process_time() - begun < 1.0
