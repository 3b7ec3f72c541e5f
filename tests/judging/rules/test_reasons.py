"""That something is so does not tell why."""

import pytest
from haystack import Document

from haystack_integrations.crag.components import StaticDocumentEmbedder
from haystack_integrations.crag.judging.rules.reasons import untold_reason
from haystack_integrations.crag.pipelines import load
from haystack_integrations.crag.pipelines.opening import memory_store
from haystack_integrations.crag.texts.languages.function_words import language_of
from haystack_integrations.crag.texts.text import words

RULES = "Close all windows before you leave. Dogs wait outside. Nuts are not allowed because of allergies."


@pytest.mark.parametrize(
    ("question", "texts", "missing"),
    [
        ("Why must all windows be closed?", [RULES], ["why"]),
        ("Why are nuts not allowed?", [RULES], []),
        ("Why are dogs left outside?", [RULES], []),  # beside a reason, which may be of both
        ("Why must all windows be closed?", ["Because of thieves.", RULES], ["why"]),
        ("Why must all windows be closed?", ["Thieves come in. So close all windows."], []),
        ("Why must all windows be closed?", ["Close all windows to keep thieves out."], []),
        ("Why must all windows be closed?", ["Close all windows. Reply to the letter."], ["why"]),
        ("When must all windows be closed?", [RULES], []),
        ("Wann sind alle Fenster geschlossen?", ["Alle Fenster sind geschlossen."], []),
        ("Why must all windows be closed?", ["Dogs wait outside.", ""], []),
        ("Why?", [RULES], []),
        ("Why was my card declined?", ["## Why was my card declined?\n\nThe bank may have refused it."], []),
        ("Why was my card declined?", ["**Why was a card declined?**\n\nThe bank may have refused it."], []),
        ("Why was my card declined?", ["## A card was declined\n\nThe bank may have refused it."], ["why"]),
        ("Why was my card declined?", ["Why was my card declined?\nWhy is my parcel late?\nWho pays?"], ["why"]),
        ("Why was my card declined?", ["Ask the bank why a card was declined. We cannot tell."], ["why"]),
        ("Warum wurde meine Karte abgelehnt?", ["### Warum wurde meine Karte abgelehnt?\n\nSie ist gesperrt."], []),
    ],
)
def test_a_reason_that_no_document_gives_is_missed(question: str, texts: list[str], missing: list[str]) -> None:
    """It is looked for beside the sentences that have most words of the question."""
    assert [*untold_reason(question, texts, language_of(words(question)))] == missing


@pytest.mark.parametrize(
    ("question", "without", "told"),
    [
        (
            "Warum sind alle Fenster zu?",
            "Die Fenster sind zu. Das Fest ist um 10 Uhr.",
            "Die Fenster sind wegen Sturm zu.",
        ),
        (
            "Pourquoi la salle est-elle fermée ?",
            "La salle est fermée pour les visiteurs.",
            "La salle est fermée pour travaux.",
        ),
        ("¿Por qué no hay cena?", "La cena no se hace.", "La cena no se hace por la lluvia."),
        ("Perché la sala è chiusa?", "La sala è chiusa.", "La sala è chiusa per lavori."),
        ("Porque foi adiado o passeio?", "O passeio foi adiado.", "O passeio foi adiado devido à chuva."),
        ("Waarom is het bad dicht?", "Het bad is dicht.", "Het bad is dicht, want het lekt."),
        ("Dlaczego basen jest zamknięty?", "Basen jest zamknięty.", "Basen jest zamknięty z powodu awarii."),
        ("Varför är badet stängt?", "Badet är stängt.", "Badet är stängt på grund av regn."),
        ("Почему закрыт бассейн?", "Бассейн закрыт.", "Бассейн закрыт из-за аварии."),
        ("Havuz neden kapalı?", "Havuz kapalı.", "Havuz bakım nedeniyle kapalı."),
    ],
)
def test_a_reason_is_missed_in_other_languages(question: str, without: str, told: str) -> None:
    """Each has words of its own for it."""
    language = language_of(words(question))
    assert [*untold_reason(question, [without], language)] == ["why"]
    assert [*untold_reason(question, [told], language)] == []


def test_a_question_for_a_reason_is_not_answered_without_one() -> None:
    """Most words of it are there."""
    store = memory_store()
    texts = ["Close all windows before you leave the office.", "Nuts are not allowed because of allergies."]
    store.write_documents(StaticDocumentEmbedder().run([Document(content=text) for text in texts])["documents"])
    rag = load("corrective_retrieval", store=store)
    said = [f"{word} must I close all windows of the office before I leave?" for word in ("When", "Why")]
    assert [rag.run(query=each)["crag"]["verdict"] == "correct" for each in said] == [True, False]
    assert rag.run(query="Why are nuts not allowed?")["crag"]["verdict"] == "correct"
