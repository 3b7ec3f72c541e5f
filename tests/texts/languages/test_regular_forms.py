"""Forms that the stemmers leave apart are told by their endings."""

import pytest

from haystack_integrations.crag.texts.languages.inflections import in_forms_of
from haystack_integrations.crag.texts.languages.regular_forms import regular_forms


@pytest.mark.parametrize(
    ("question", "text", "read"),
    [
        ("Quand est-ce que vous livrez ?", "Nous ne livrons pas le lundi.", "Nous ne livrez pas le lundi."),
        ("Combien coûte la carte ?", "Les cartes coûtent 5 euros.", "Les carte coûte 5 euros."),
        ("Faut-il rendre la clé ?", "La clé est rendue.", "La clé est rendre."),
        ("Quand ouvrez-vous ?", "Le musée est ouvert.", "Le musée est ouvrez."),
        ("Quand livrez-vous ?", "Frais de livraison", "Frais de livrez"),
        ("Peut-on annuler un achat ?", "Ce qui est acheté", "Ce qui est achat"),
        ("Comment peut-on s'inscrire ?", "Les inscriptions", "Les inscrire"),
        ("Que faire en cas de perte ?", "Qui perd la clé", "Qui perte la clé"),
        ("¿Puedo devolver el libro?", "Las devoluciones", "Las devolver"),
        ("¿Cuándo abre el museo?", "Apertura", "Abre"),
        ("¿Cómo puedo pedir otra clave?", "Pide otra; elige", "Pedir otra; elige"),
        ("¿Cuánto dura el curso?", "La duración", "La dura"),
        ("¿A qué hora cierra?", "Está cerrado.", "Está cierra."),
        ("¿Puedo devolver el libro?", "Quien devuelve libros", "Quien devolver libro"),
        ("¿Dónde está la luz?", "Las luces", "Las luz"),
        ("¿Puedo utilizar leche?", "No utilice leche.", "No utilizar leche."),
        ("¿Dónde puedo aparcar?", "Aparque delante.", "Aparcar delante."),
        ("Onde fica o animal?", "Os animais dormem.", "Os animal dormem."),
        ("Quando é a reunião?", "As reuniões são curtas.", "As reunião são curtas."),
        ("Quantas viagens há?", "Uma viagem", "Uma viagens"),
        ("Wanneer moet ik betalen?", "Er wordt vooraf betaald.", "Er wordt vooraf betalen."),
        ("Kan ik annuleren?", "Wie annuleert, belt.", "Wie annuleren, belt."),
        ("Wanneer krijg ik het?", "Wie het heeft gekregen", "Wie het heeft krijg"),
        ("Waar moet ik het melden?", "Een melding", "Een melden"),
        ("Quando chiudete?", "È chiuso, la chiusura", "È chiudete, la chiudete"),
        ("Quanto costa la spedizione?", "Spediamo, chi spedisce", "Spedizione, chi spedizione"),
        ("Como posso pagar?", "Pague já, o pagamento", "Pagar já, o pagar"),
        ("Onde se inscrever?", "As inscrições", "As inscrever"),
        ("Jak czyścić filtr w zmywarce?", "Zmywarka, czyszczenie", "Zmywarce, czyścić"),
        ("Kiedy dostanę zwrot?", "Zostanie zwrócona.", "Zostanie zwrot."),
        ("Czy garnek coś kosztuje i kto płaci?", "Koszt garnków", "Kosztuje garnek"),
        ("Czy można zrobić zdjęcie?", "Zdjęć nie wolno.", "Zdjęcie nie wolno."),
        ("Jak mogę rezerwować?", "Rezerwacja, rezerwuj", "Rezerwować, rezerwować"),
    ],
)
def test_a_regular_form_is_read_as_the_question_has_its_word(question: str, text: str, read: str) -> None:
    """Persons of French verbs, Spanish vowels that part, plurals, participles, nouns of verbs, Polish consonants."""
    assert in_forms_of(question, [("", text)])[1] == [("", read)]


@pytest.mark.parametrize(("word", "language"), [("livrer", "french"), ("guerra", "spanish"), ("hund", "swedish")])
def test_what_has_no_such_ending_is_no_other_form(word: str, language: str) -> None:
    """Nor is anything in a language of which none are known."""
    assert [*regular_forms(word, language)] == []
