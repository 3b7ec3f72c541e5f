"""Questions in other languages than English find their words in any form, and in compounds."""

import os
import subprocess
import sys
from io import StringIO

import pytest
from haystack import Document
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from haystack_integrations.crag.cli.span_values import read_tags
from haystack_integrations.crag.cli.views import trail_tree
from haystack_integrations.crag.components import HeuristicGrader, StaticDocumentEmbedder
from haystack_integrations.crag.components.stop_word_remover import StopWordRemover
from haystack_integrations.crag.deciding.record_tags import route_tags
from haystack_integrations.crag.judging.rules.exact import absent
from haystack_integrations.crag.judging.rules.other_names import untold_nouns
from haystack_integrations.crag.pipelines import load
from haystack_integrations.crag.pipelines.opening import memory_store
from haystack_integrations.crag.texts.languages.function_words import language_of
from haystack_integrations.crag.texts.languages.german_verbs import joined
from haystack_integrations.crag.texts.languages.inflections import forms_among, in_forms_of, language_between
from haystack_integrations.crag.texts.text import words

LEASE = "Der Mieter kann mit einer Frist von drei Monaten kündigen. Hunde dürfen gehalten werden."
OTHERS = (
    "Das Museum ist dienstags geöffnet. Der Eintritt kostet 8 Euro.",
    "Die Mitglieder zahlen 240 Euro im Jahr. Der Vorstand wird für zwei Jahre gewählt.",
    "Die Lieferung dauert zwei Werktage. Der Versand kostet 4,90 Euro.",
)


@pytest.mark.parametrize(
    ("question", "text", "language", "read"),
    [
        ("Darf ich einen Hund halten?", "Hunde sind erlaubt.", "german", "Hund sind erlaubt."),
        ("Wer hat beantragt?", "Wer Urlaub beantragen will", "german", "Wer Urlaub beantragt will"),
        ("Wann wird geliefert?", "Wir liefern montags.", "german", "Wir geliefert montags."),
        ("Wo ist der Antrag?", "Anträge liegen aus.", "german", "Antrag liegen aus."),
        ("Wo steht die Frist?", "Die Kündigungsfrist", "german", "Die Kündigungs Frist"),
        ("Wie hoch ist die Miete?", "Die Grundmiete", "german", "Die Grund Miete"),
        ("Où sont les chiens ?", "Le chien est ici.", "french", "Le chiens est ici."),
        (
            "¿Dónde están los perros?",
            "El perro está aquí.",
            "spanish",
            "El perros está aquí.",
        ),
        (
            "Где книга?",
            "Нет книги.",
            "russian",
            "Нет книга.",
        ),
        ("Waar zijn de honden?", "Een hond", "dutch", "Een honden"),
        ("Jak długo trwa kurs?", "Kursy", "polish", "Kurs"),
        ("Quante volte apre la porta?", "Porte", "italian", "Porta"),
    ],
)
def test_other_forms_of_a_word_are_written_as_the_question_has_it(
    question: str, text: str, language: str, read: str
) -> None:
    """Plurals, cases, verbs, and parts of compounds."""
    assert in_forms_of(question, [("", text)]) == (
        question.replace("Wie hoch", "Wie").replace("Jak długo", "ile").replace("Quante volte", "Quante"),
        [("", read)],
        language,
    )


@pytest.mark.parametrize(
    "question",
    [
        "Where are the dogs?",
        "dog rules",
        "Who wrote Die Hard?",
        "什么是狗?",
        "개가 어디에 있나요?",
        "",
    ],
)
def test_nothing_changes_in_english_and_in_languages_without_a_stemmer(question: str) -> None:
    """Nor where the texts are in English and the question is words alone."""
    texts = [("Rules", "The dog must be kept on a lead when it is in the house.")]
    assert in_forms_of(question, texts) == (question, texts, None)


def test_words_alone_are_in_the_language_of_the_texts_where_english_has_one_of_them() -> None:
    """It has "do", too; but no Polish text has "with"."""
    texts = [("", "Psy muszą być na smyczy, kiedy są w muzeum.")]
    assert in_forms_of("wstęp do muzeów z psem", texts)[2] == "polish"
    assert in_forms_of("entry with dogs", texts)[2] is None


def test_of_two_languages_a_question_is_in_the_one_of_the_texts() -> None:
    """Quanto and a are Italian and Portuguese; no English text has them."""
    texts = [("", "A caixa pesa 4 quilos, e quem compra mais não paga.")]
    assert language_between("Quanto pesa a caixa?", texts) == "portuguese"
    assert language_between("Quanto pesa il pacco?", texts) == "italian"
    assert language_between("Quanto pesa a caixa?", [("", "The parcel is free of charge.")]) == "italian"


def test_a_name_and_a_noun_among_words_alone_are_looked_for_as_the_texts_language_tells() -> None:
    """Such a question alone tells no language."""
    texts = [("", "Wysyłka do paczkomatu kosztuje 12 złotych, a jeśli nie jest lekka, to 14.")]
    assert absent("koszt wysyłki do Niemiec", texts) == ["Niemiec", "Niemiec"]
    assert absent("koszt wysyłki do kiosku", texts) == ["kiosku"]
    assert absent("koszt wysyłki do paczkomatu", texts) == []


def test_a_compound_of_the_question_is_taken_apart_where_one_text_has_both_parts() -> None:
    """Parts in two texts, or beside a word of grammar, are none of it: overtime is nothing over time."""
    asked = "Welche Kündigungsfrist gilt?"
    assert in_forms_of(asked, [("", LEASE)])[0] == "Welche kündigungs frist gilt?"
    assert in_forms_of(asked, [("", "Wir kündigen."), ("", "Die Frist läuft.")])[0] == asked
    assert in_forms_of(asked, [("", LEASE), ("", "Die Kündigungsfristen sind lang.")])[0] == asked
    over = "Wie viele Überstunden gibt es?"
    assert in_forms_of(over, [("", "Es dauert über zwei Stunden.")])[0] == over


@pytest.mark.parametrize(
    ("question", "read"),
    [
        ("Wie schalte ich das Gerät ab?", "Wie abschalte ich das Gerät?"),
        ("Wann findet die Sitzung statt?", "Wann stattfindet die Sitzung?"),
        ("Wie stelle ich eine Datei wieder her?", "Wie wiederherstelle ich eine Datei?"),
        ("Schalte ich es abends ab", "abschalte ich es abends"),
        ("Wovon hängt der Preis ab?", "Wovon abhängt der Preis?"),
        ("Was ist auf dem Dach?", "Was ist auf dem Dach?"),
        ("Was ist das für ein?", "Was ist das für ein?"),
    ],
)
def test_a_german_verb_in_two_places_is_one_word(question: str, read: str) -> None:
    """Its first part ends the question, as it does a main clause."""
    assert joined(question)[0] == read


def test_a_verb_in_two_places_is_found_in_one_and_in_two() -> None:
    """Manuals say "Gerät abschalten", "zum Abschalten", "Schalten Sie das Gerät ab"."""
    texts = [("", "Gerät abschalten. Beim Abschalten, abgeschaltet, abzuschalten: Schalten Sie es ab, aber nicht um.")]
    _, [(_, text)], _ = in_forms_of("Wie schalte ich das Gerät ab?", texts)
    assert text == ("Gerät abschalte. Beim Abschalte, abschalte, abschalte: Abschalte Sie es ab, aber nicht um.")
    assert "abschalten" in forms_among("Wie schalte ich das Gerät ab?", {"abschalten": 2, "gerät": 1})


def test_words_alone_are_read_in_the_language_of_their_documents() -> None:
    """What has no words of grammar tells no language."""
    assert in_forms_of("Frist Mieter", [("", LEASE)])[2] == "german"


@given(st.text(max_size=60), st.lists(st.tuples(st.text(max_size=20), st.text(max_size=80)), max_size=3))
def test_any_question_and_any_texts_can_be_read(question: str, texts: list[tuple[str, str]]) -> None:
    """As many texts come back as went in."""
    for asked in (question, f"Wie ist die {question}"):
        assert len(in_forms_of(asked, texts)[1]) == len(texts)


def test_what_is_in_other_forms_is_found_and_judged_as_in_the_forms_of_the_question() -> None:
    """Before, nothing of the question was found in the document, and it was `incorrect`."""
    documents = [Document(content=text) for text in (LEASE, *OTHERS)]
    for question in (
        "Welche Kündigungsfrist gilt für Mieter?",
        "Mit welchen Fristen kündigt der Mieter?",
    ):
        graded = HeuristicGrader().run(query=question, documents=documents)
        assert graded["report"]["verdict"]["verdict"] == "correct"
        assert graded["signals"]["set"]["language"] == "german"
        assert [document.content for document in graded["documents"]] == [LEASE, *OTHERS]  # themselves unchanged
    other = HeuristicGrader().run(query="Welche Rauchzeiten gelten für Gäste?", documents=documents)
    assert other["report"]["verdict"]["verdict"] == "incorrect"


def test_a_word_of_which_the_store_has_other_forms_weighs_as_if_it_had_the_word_itself() -> None:
    """Else it would be as rare as a word that no document has."""
    asked, told = "¿Por qué se ha suspendido la cena de invierno?", "La cena de verano queda {}. Asisten tres socios."
    likely = []
    for form in ("suspendido", "suspendida"):
        store = memory_store()
        texts = (told.format(form), "La entrada del museo cuesta 6 euros.", "La cuota se paga en octubre.")
        store.write_documents(StaticDocumentEmbedder().run([Document(content=text) for text in texts])["documents"])
        record = load("corrective_retrieval", store=store).run(query=asked)["crag"]
        likely.append(record["trail"][0]["signals"]["set"]["probability_correct"])
    assert likely[0] == likely[1]


def test_a_store_in_memory_is_searched_for_the_forms_that_it_has() -> None:
    """And for the parts of a compound that it has not."""
    store = memory_store()
    store.write_documents([Document(content=text) for text in (LEASE, *OTHERS)])
    remover = StopWordRemover(document_store=store)
    assert remover.run("Darf ich einen Hund halten?")["query"] == "Hund halten? hunde gehalten"
    assert remover.run("Wie hoch sind die Versandkosten?")["query"] == "hoch Versandkosten? versand kostet"
    assert remover.run("Where is my dog?")["query"] == "dog?"


@pytest.mark.parametrize("seed", ["1", "5"])
def test_the_same_is_looked_for_in_each_process(seed: str) -> None:
    """The first word of a set was read as that of a question, and it is another one in each process."""
    vocabulary = {"der": 3, "kann": 2, "the": 9, "hunde": 4, "dog": 2}
    code = "from haystack_integrations.crag.texts.languages.inflections import forms_among as f\nprint(f('Hund', {}))"
    code = code.replace("{}", repr(vocabulary))
    told = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
    )
    assert told.stdout.strip() == b"[]"


@pytest.mark.parametrize(
    ("question", "query"),
    [
        ("Wie füge ich eine Fußnote ein?", "füge Fußnote einfügen"),
        ("Wann findet die Sitzung statt?", "findet Sitzung statt? stattfinden"),
        ("Wie hoch sind die Versandkosten?", "hoch Versandkosten?"),
        ("How do I add a footnote?", "add footnote?"),
    ],
)
def test_where_a_store_does_not_tell_its_words_a_verb_in_two_places_is_looked_for_in_one(
    question: str, query: str
) -> None:
    """On Elasticsearch the manual's "einfügen" would not be found by "füge"."""
    assert StopWordRemover().run(question)["query"] == query


def test_words_alone_are_looked_for_in_the_language_of_the_store() -> None:
    """English words are not, whatever the store has."""
    german = {"der": 3, "die": 3, "und": 2, "ein": 2, "hunde": 1}
    assert forms_among("Hund", german) == ["hunde"]
    assert forms_among("the Hund", german) == []
    assert forms_among("Hund", {"the": 3, "of": 3, "hunde": 1}) == []


@pytest.mark.parametrize(
    ("question", "nouns"),
    [
        ("Was kostet der Katalog des Museums?", ["Katalog"]),
        ("Wie hoch ist der Eintritt in das Museum?", []),
        ("Warum ist das Museum Montags zu?", ["Montags"]),
        ("What does the Catalogue cost?", []),
    ],
)
def test_a_german_noun_that_no_document_has_is_noticed(question: str, nouns: list[str]) -> None:
    """Every noun of a German question has a capital; names of English ones are looked for elsewhere."""
    shown = ["Das Museum ist geöffnet, die Museums Karte kostet 8 Euro Eintritt."]
    assert [*untold_nouns(question, shown, language_of(words(question)))] == nouns


@pytest.mark.parametrize(
    ("question", "nouns"),
    [
        ("Qui a fondé le musée et l'école du village ?", ["école", "village"]),
        ("Quel est le plus grand tarif de l’entrée ?", []),
        ("Où se trouve le lave-linge du musée ?", []),
        ("Peut-on entrer sans billet ?", []),
        ("Combien d'ascenseurs a le musée, et combien de salles ?", ["ascenseurs", "salles"]),
        ("¿Cuánto cuesta el catálogo del museo?", ["catálogo"]),
        ("¿Cuánto cuesta lo mejor del museo?", []),
        ("Dove si compra il catalogo dell'acquario?", ["catalogo", "acquario"]),
        ("Onde fica a piscina do museu?", ["piscina"]),
        ("Where is la piscina?", []),
        ("Wat kost de catalogus van het museum?", ["catalogus"]),
        ("Waar is het nieuwe museum, en de kleine ingang?", []),
        ("Ile kosztuje wstęp do muzeum dla studenta?", ["studenta"]),
        ("Czy mogę wejść do nowego muzeum bez niej?", []),
    ],
)
def test_a_noun_that_no_document_has_is_noticed_by_what_it_stands_behind(question: str, nouns: list[str]) -> None:
    """An article, in Polish a preposition; in no compound with a hyphen, and nothing that may be an adjective."""
    shown = ["Le musée ; el museo; il museo; o museu; het museum; muzeum. L'entrée est à 8 euros."]
    assert [*untold_nouns(question, shown, language_of(words(question)))] == nouns


def test_the_language_is_told_by_record_trace_and_trail() -> None:
    """One of ten names, and no text of the question."""
    store = memory_store()
    store.write_documents(
        StaticDocumentEmbedder().run([Document(content=text) for text in (LEASE, *OTHERS)])["documents"]
    )
    record = load("corrective_retrieval", store=store).run(query="Welche Fristen gelten für Mieter?")["crag"]
    decision = record["trail"][0]
    tags = route_tags(decision)
    assert tags["crag.decision.language"] == read_tags(tags)["crag.decision.language"] == "german"
    assert read_tags({**tags, "crag.decision.language": "<b>"}).get("crag.decision.language") is None
    shown = Console(width=200, file=StringIO())
    shown.print(trail_tree(record))
    assert "words found in any form that German gives them" in shown.file.getvalue()  # type: ignore[attr-defined]
    spoof = {**decision, "signals": {"set": {"language": "klingon"}, "documents": {}}}
    assert route_tags(spoof)["crag.decision.language"] is None
