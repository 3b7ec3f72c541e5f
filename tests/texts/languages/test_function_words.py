"""Which words of a question name nothing, in the language that it is asked in."""

import pytest

from haystack_integrations.crag.encoding.encoders import load_encoder
from haystack_integrations.crag.expansion.rules import keywords
from haystack_integrations.crag.judging.asking import ask as judge
from haystack_integrations.crag.refining.wording import read_strips
from haystack_integrations.crag.texts.languages.function_words import function_words
from haystack_integrations.crag.texts.text import words
from haystack_integrations.crag.texts.wording import ask, asked_terms

GERMAN = "Ich habe meine Karte verloren, wie kann ich sie sperren?"


@pytest.mark.parametrize(
    "question",
    [
        "Who directed Die Hard?",
        "die hard",
        "What was Das Boot about?",
        "Rosa de la Cruz was born in what city?",
        "Van der Waals forces in helium",
        "JAK inhibitors",
        "Is de novo synthesis in the brain a source of NAD?",
        "Who was El Greco, and was he a man of the church?",
        "When did Wie win the Open?",
        "When was Die Zeit founded?",
        "In what city was Ko Wen-je born?",
        "What is the ante in poker, and who plays contra?",
        "avant garde",
        "refund",
        "",
    ],
)
def test_a_question_in_english_has_none_whatever_names_are_in_it(question: str) -> None:
    """Its stop words are left out of the terms already."""
    assert not function_words(words(question))
    assert asked_terms(question) == ask(question).terms


@pytest.mark.parametrize(
    ("question", "terms"),
    [
        (GERMAN, ["kart", "verloren", "sperren"]),
        ("Welche Farbe hat das Rad?", ["farb", "rad"]),
        ("Was kostet eine Fahrt?", ["kostet", "fahrt"]),
        ("Kann man am Samstag in so einem Laden zahlen?", ["samstag", "laden", "zahlen"]),
        ("Wofuer ist die Karte, und wie kann ich sie pruefen?", ["kart", "pruefen"]),
        ("Wofur konnte ich sie brauchen?", ["brauchen"]),
        ("¿Donde esta la opcion, y por que?", ["opcion"]),
        ("Bilet nasil iptal edilir ve neden?", ["bilet", "iptal"]),
        ("Где ещё и где еще его можно купить?", ["купить"]),
        ("Wann erscheint Band 14?", ["erscheint", "band", "14"]),
        ("Où est la gare de Lyon ?", ["gare", "lyon"]),
        ("¿Cuándo llega el tren a Sevilla?", ["llega", "tren", "sevilla"]),
        ("Dove si compra un biglietto dell'autobus?", ["compra", "biglietto", "autobus"]),
        ("¿Puedo fumar?", ["fumar"]),
        ("Darf Besuch rauchen?", ["besuch", "rauchen"]),
        ("Quand sera remboursé celui qui n'a aucun billet ?", ["rembours", "billet"]),
        ("¿Cuánto tiempo tengo, y cada cuánto hay otros trenes?", ["tiempo", "trene"]),
        ("Dov'è la biglietteria?", ["biglietteria"]),
        ("Cos'è l'errore E42?", ["error", "e42"]),
        ("C'è ancora un treno?", ["treno"]),
        ("Onde fica a estação?", ["estacao"]),
        ("Hoelang geldt elk kaartje zonder stempel?", ["kaartj", "stempel"]),
        ("Quanto custa o bilhete para o Porto?", ["custa", "bilhet", "porto"]),
        ("Hoe laat vertrekt de trein naar Gent?", ["vertrekt", "trein", "gent"]),
        ("Hur kommer jag in i museet?", ["kommer", "museet"]),
        ("Ile kosztuje bilet i gdzie można go kupić?", ["kosztuj", "bilet", "kupic"]),
        ("Ile kosztuje garnek?", ["kosztuj", "garnek"]),
        ("Chciałbym wiedzieć, czy wolno tutaj palić", ["wiedziec", "palic"]),
        ("Wat kost verzending?", ["kost", "verzend"]),
        ("Worden overuren uitbetaald?", ["overuren", "uitbetaald"]),
        ("Finns det något kafé, och behöver man bokas?", ["kafe", "boka"]),
        ("Нельзя ли всем курить там после обеда?", ["курить", "обеда"]),
        ("Köpek getirebilir miyim, lütfen?", ["kopek", "getirebilir"]),
        ("Iptal ne zaman mümkün?", ["iptal"]),
        ("Vou precisar desta chave agora?", ["precisar", "chave"]),
        ("Succede qualcosa oppure viene chiuso?", ["chiuso"]),
        ("Was bewirkt die Option --full?", ["option", "full"]),  # as "does" in "What does it do?"
        ("¿Qué hace la opción --full?", ["opcion", "full"]),
        ("Co robi opcja --full?", ["opcja", "full"]),
        ("Bilet nerede satılır ve ne kadar?", ["bilet", "satilir"]),
        ("환불은 언제 어떻게 지급되나요?", ["환불", "지급"]),
        ("E42는 무엇입니까?", ["e42"]),
        ("退款什么时候支付?", ["退", "款", "支", "付"]),
        ("為什麼 dpkg 是 Debian 的工具?", ["dpkg", "debian", "工", "具"]),
        ("目的地和方法", ["目", "的", "地", "和", "方", "法"]),  # nothing asks: these may be parts of words
        ("在庫は何個ですか", ["在", "庫", "何", "個"]),
        ("Сколько стоит билет и где его можно купить?", ["стоит", "билет", "купить"]),
    ],
)
def test_what_a_question_names_is_left(question: str, terms: list[str]) -> None:
    """In the languages whose function words are known as in English."""
    assert list(asked_terms(question)) == terms


def test_a_question_of_nothing_else_is_taken_word_by_word() -> None:
    """There is nothing better to look for."""
    assert asked_terms("Wer ist das?") == ("wer", "ist", "das")
    assert keywords("Wer ist das?") == "wer ist das"


def test_judgement_strips_and_keywords_read_a_question_alike() -> None:
    """A page that has "ich", "habe" and "wie" does not speak of cards."""
    asked = judge(GERMAN, lambda terms: (10, dict.fromkeys(terms, 1)), load_encoder(None))
    assert asked.terms == ask(GERMAN).terms == ("kart", "verloren", "sperren")
    assert read_strips(GERMAN, ["Wie ich sie habe."], [0], [""]).said == ["Karte", "verloren", "sperren"]
    assert keywords(GERMAN) == "karte verloren sperren"


def test_a_question_is_read_once_for_all_its_lists() -> None:
    """Statistics, grader and refiner ask for its terms, each for every list."""
    before = asked_terms.cache_info()
    for _ in range(3):
        ask("Who reviews the plan for the archive of Zwyrtek?")
    after = asked_terms.cache_info()
    assert (after.misses - before.misses, after.hits - before.hits) == (1, 2)
