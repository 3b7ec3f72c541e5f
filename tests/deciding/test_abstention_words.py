"""An abstention speaks the language of its question."""

import asyncio
import time
from collections.abc import Iterator, Mapping
from importlib.resources import files
from string import Formatter
from typing import Any

import pytest
import yaml
from haystack import Document
from haystack.components.generators.chat import MockChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.document_stores.in_memory import InMemoryDocumentStore
from makers import fill, graded, grading_by

from haystack_integrations.crag.components import AnswerGenerator, CragRouter, EvidencePromptBuilder
from haystack_integrations.crag.deciding.abstention_words import doubtful, sentence, spoken
from haystack_integrations.crag.pipelines import load
from haystack_integrations.crag.state import CragState
from haystack_integrations.crag.texts.languages.function_words import FUNCTION_WORDS
from haystack_integrations.crag.vocabulary import ABSTENTION, APOLOGY, NONE_TO_SEARCH

KNOWN: dict[str, Any] = yaml.safe_load(
    (files("haystack_integrations.crag") / "data" / "abstentions.yml").read_text("utf-8")
)
SECONDS = 0.5  # a thousandth here
ASKED = {
    "german": "Wer repariert hier die Fahrräder?",
    "french": "Qui est-ce qui répare les vélos ?",
    "spanish": "¿Quién repara las bicicletas?",
    "italian": "Chi è che ripara le biciclette?",
    "portuguese": "Quem é que conserta as bicicletas?",
    "dutch": "Wie kan hier de fietsen repareren?",
    "swedish": "Vem är det som lagar cyklar här?",
    "polish": "Kto i gdzie naprawia rowery?",
    "russian": "Кто и где чинит велосипеды?",
    "turkish": "Bisikletleri kim ve nasıl onarır?",
    "chinese": "谁修自行车？",
    "japanese": "自転車は誰が修理しますか。",
    "korean": "자전거는 누가 고치나요?",
}


def abstained(question: str, *, score: float = 0.1, **settings: Any) -> Any:
    """What a router gives that abstains."""
    policy: dict[str, Any] = dict.fromkeys(("on_ambiguous", "on_incorrect", "on_ungraded", "on_limit"), "abstain")
    documents = [graded("Bees make honey.", score, question, title="Bees")]
    return CragRouter(**{**policy, **settings}).run(query=question, documents=documents)


def texts(told: Mapping[str, Any], place: str = "") -> Iterator[tuple[str, list[str]]]:
    """Each text's key with the places to fill in it."""
    for key, value in told.items():
        if isinstance(value, Mapping):
            yield from texts(value, f"{place}{key}.")
        else:
            yield f"{place}{key}", sorted(name for _, name, _, _ in Formatter().parse(value) if name)


@pytest.mark.parametrize("language", [name for name in KNOWN if name != "english"])
def test_every_language_says_what_english_does_with_the_same_figures(language: str) -> None:
    """None lacks a text or fills another place; the first sentence of English is the package's own."""
    told = dict(texts(KNOWN[language]))
    assert told.pop("unanswered") == told.pop("unwritten") == []
    assert told == dict(texts(KNOWN["english"]))
    assert set(NONE_TO_SEARCH) < set(KNOWN[language]["search"])


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("language", ASKED)
def test_that_an_answer_did_not_come_is_said_in_the_language_of_the_question(
    language: str, *, asynchronous: bool
) -> None:
    """A sentence of the user's own is said as it is, and English is said where the question is not known."""
    state, messages = CragState.start(ASKED[language]), [ChatMessage.from_user("-")]

    def said(state: CragState | None, **settings: Any) -> str:
        part = AnswerGenerator(MockChatGenerator(""), **settings)
        given = part.run_async(messages, state) if asynchronous else None
        return str((part.run(messages, state) if given is None else asyncio.run(given))["replies"][0].text)

    assert said(state) == KNOWN[language]["unwritten"]
    assert said(state, apology="Sorry.") == "Sorry."
    assert said(None) == said(CragState.start("Who repairs bicycles here?")) == APOLOGY


def test_every_language_of_questions_that_is_read_by_its_forms_has_an_abstention() -> None:
    """And so have those that are told by their letters."""
    assert {*KNOWN} == {*FUNCTION_WORDS, "english", "chinese", "japanese"} == {*ASKED, "english"}


@pytest.mark.parametrize("language", ASKED)
def test_a_question_is_declined_in_its_language(language: str) -> None:
    """The sentence, and the three lines below it; the record tells the language."""
    result = abstained(ASKED[language])
    first, empty, *rest = str(result["abstain"]).split("\n")
    assert (first, empty) == (KNOWN[language]["unanswered"], "")
    labels = [KNOWN[language][name].partition("{")[0] for name in ("looked_for", "found", "missing")]
    assert [line[: len(label)] for line, label in zip(rest, labels, strict=True)] == labels
    assert '"Bees"' in rest[1]
    assert "{" not in result["abstain"]
    assert result["decision"]["abstention"]["language"] == language


@pytest.mark.parametrize("question", ["Who repairs bicycles?", "Fahrräder", "Who is 王伟?", "มีจักรยานไหม"])
def test_what_is_asked_in_english_or_in_no_language_that_is_told_is_declined_in_english(question: str) -> None:
    """One word tells no language."""
    assert spoken(question) is None
    assert str(abstained(question)["abstain"]).startswith(f"{ABSTENTION}\n\nLooked for: ")


def test_the_documents_tell_the_language_of_a_question_that_may_be_of_two_or_has_names_alone() -> None:
    """Quanto pesa a caixa could be Italian."""
    page = Document(content="A caixa tem cinco livros e pode ser aberta por quem a recebe. O peso não é indicado.")
    assert [spoken("Quanto pesa a caixa?", found) for found in ([], [page])] == [None, "portuguese"]
    page = Document(content="Die Fahrräder stehen im Keller und dürfen nicht in den Hof gestellt werden.")
    assert [spoken("Fahrradkeller Schlüssel", found) for found in ([], [page])] == [None, "german"]
    assert spoken("Where are the bicycles?", [page]) is None
    assert [spoken(question, [page]) for question in ("มีจักรยานไหม", "أين الدراجات؟", "велосипеды")] == [None] * 3
    page = Document(content="Велосипеды стоят в подвале, и их нельзя оставлять во дворе.")
    assert [spoken(question, [page]) for question in ("велосипеды", "Trek Domane")] == ["russian"] * 2


@pytest.mark.parametrize(
    "question",
    [
        "Could you please tell me about Oscar de la Hoya?",
        "Show me Notre-Dame de Paris",
        "Lake Como ferry timetable",
        "hoe uses in gardening",
        "Who played in La Casa de Papel?",
        "Der Ring des Nibelungen length",
        "Bundesamt für Sicherheit in der Informationstechnik contact",
        "Quanta magazine subscription",
        "Why do I get this? Die Datei konnte nicht gefunden werden, da der Prozess nicht darauf zugreifen kann",
        'fix "Der Zugriff auf den Pfad wurde verweigert" error',
        "ls -la /home/de/la und `kann ich das`",
    ],
)
def test_names_of_other_languages_and_what_is_quoted_leave_a_question_english(question: str) -> None:
    """They have words of grammar, too."""
    assert spoken(question) is None


def test_the_language_of_a_long_question_is_told_at_once() -> None:
    """By its beginning; as for each run."""
    begun = time.perf_counter()
    assert spoken("Wie lange ist die Frist, wenn ich das Gerät zurückgebe? " * 2_000) == "german"
    assert time.perf_counter() - begun < SECONDS


def test_a_sentence_of_ones_own_stands_first_in_any_language() -> None:
    """What is told below it is in that of the question."""
    said = abstained(ASKED["german"], abstention="Weiß ich nicht.")["abstain"]
    assert said.startswith("Weiß ich nicht.\n\nGesucht: ")
    assert abstained(ASKED["german"], explain_abstention=False)["abstain"] == KNOWN["german"]["unanswered"]


def test_without_a_sentence_the_explanation_stands_alone() -> None:
    """No empty lines stand above it."""
    assert abstained(ASKED["german"], abstention="")["abstain"].startswith("Gesucht: ")


def test_where_too_little_was_searched_or_judged_that_is_said_in_the_language_too() -> None:
    """No sentence says that nothing answers."""
    question = ASKED["german"]
    unjudged = CragRouter(on_ungraded="abstain").run(
        query=question, documents=[graded("Bees make honey.", 0.5, question, "failed")]
    )["abstain"]
    assert unjudged.startswith(KNOWN["german"]["unjudged"])
    lost = {"documents": 0, "retrievers": {"bm25": {"status": "failed", "hits": 0, "kind": "timeout"}}}
    router = CragRouter(on_incorrect="abstain", on_ungraded="abstain", on_ambiguous="abstain")
    unsearched = router.run(query=question, documents=[], retrieval=lost)["abstain"]
    assert unsearched.startswith(KNOWN["german"]["failed"])
    assert "Die Suche mit bm25 ist fehlgeschlagen (timeout)." in unsearched


@pytest.mark.parametrize("reply", [KNOWN["german"]["unanswered"], ABSTENTION])
def test_a_model_is_asked_for_the_sentence_in_the_language_and_is_known_to_decline_by_it(
    in_memory_store: Any, reply: str
) -> None:
    """By that of English as well, since a model may write what it knows."""
    fill(in_memory_store, [Document(content="Bees make honey.")])
    model = MockChatGenerator(reply)
    rag = load("corrective_rag", store=in_memory_store, grader=grading_by(lambda _: 0.9), generator=model)
    result = rag.run(query=ASKED["german"])
    assert result["crag"]["answer"]["status"] == "declined"
    asked = EvidencePromptBuilder().run(question=ASKED["german"], documents=[])["prompt"][0].text
    assert asked.endswith(KNOWN["german"]["unanswered"])
    assert ABSTENTION not in asked


def test_a_sentence_that_is_not_ours_is_translated_by_nobody() -> None:
    """It is its author's."""
    assert sentence("No idea.", "german") == "No idea."
    assert sentence(ABSTENTION, None) == ABSTENTION


@pytest.mark.parametrize("mode", ["enforce", "observe", "off"])
def test_passages_are_doubted_where_a_verdict_counts(mode: str) -> None:
    """A run that changes nothing says nothing of what it would have doubted; nor is there a doubt without a record."""
    store = InMemoryDocumentStore()
    store.write_documents([Document(content="A refund is paid within 30 days of the return.")])
    result = load("corrective_retrieval", store=store).run(query="Which refund colour do returns have?", mode=mode)
    assert len(result["documents"]) == 1
    said = "These passages may not answer the question:" if mode == "enforce" else ""
    assert doubtful(result["crag"], result["documents"]) == said
    assert doubtful({}, result["documents"]) == ""
