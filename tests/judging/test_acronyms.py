"""Acronyms: the question has the short form and its documents the long one, or the other way round."""

from typing import Any

import pytest
from haystack import Document
from makers import fill

from haystack_integrations.crag.judging import acronyms
from haystack_integrations.crag.judging.acronyms import long_for_short, short_for_long
from haystack_integrations.crag.pipelines import load
from haystack_integrations.crag.texts.text import words

BCP = "The Business Continuity Plan is reviewed every March."


def short(query: str, *texts: str) -> dict[str, str]:
    shown = words(query)
    held = {word for text in texts for word in words(text)}
    return dict(short_for_long(query, {word for word in shown if word not in held}, shown, texts))


@pytest.mark.parametrize(
    ("query", "text", "expected"),
    [
        ("How often is the BCP reviewed?", BCP, {"bcp": "business continuity plan"}),
        ("How often is the DRP reviewed?", BCP, {}),
        ("how often is the bcp reviewed?", BCP, {}),  # any word of three letters may be one
        ("HOW OFTEN IS THE BCP REVIEWED?", BCP, {}),
        ("Who reviews the BCP?", BCP + " The BCP is long.", {}),
        ("What is BCP?", "Buses cannot park here.", {}),  # once, in small letters: by accident
        (
            "What is BCP?",
            "The business continuity plan. Business continuity plans.",
            {"bcp": "business continuity plan"},
        ),
        ("What is MAWO?", "Keep the minimum average weekly output.", {"mawo": "minimum average weekly output"}),
        ("Who leads the BPW?", "The Board of Public Works met.", {"bpw": "board public works"}),
        ("Who leads the BPW?", "The board of public works met.", {}),
        ("What is BCP?", "Business, Continuity, Plan", {}),
        ("What is a Better Cold Pump (BCP)?", BCP, {}),
        ("What is BCP?", "Business CONTINUITY Plan", {}),
    ],
)
def test_an_acronym_is_read_as_what_the_documents_write_out(query: str, text: str, expected: dict[str, str]) -> None:
    """Where none of them has it, and the words are no accident: a name, four words, or there twice."""
    assert short(query, text) == expected


@pytest.mark.parametrize(
    ("query", "text", "expected"),
    [
        ("Who is the data protection officer?", "The DPO is Karin Falk.", {"data protection officer": "dpo"}),
        ("Who is the Data Protection Officer?", "The dpo is Karin Falk.", {}),
        ("Who is the data protection officer?", "The DPO-2 is full.", {}),
        ("Who is the data protection officer?", "THE DPO IS KARIN FALK.", {}),
        ("Who is the data protection officer?", "The officer of data protection (DPO) is Karin Falk.", {}),
        ("Who is the data protection officer?", "Data protection officers (DPO) are many.", {}),
        ("Who is the data protecting officer?", "Data protector offices (DPO) are many.", {}),
        ("What type of bread is it?", "The WTO met.", {}),  # what type of: no name
        ("Who?", "The DPO is Karin Falk.", {}),
        # The capital of the Turkish \u0131 is an I, whose small letter is another one: a KeyError ended the run.
        (
            "\u0131\u015f\u0131k h\u0131z\u0131 nas\u0131l?",
            "IHN budur.",
            {"\u0131\u015f\u0131k h\u0131z\u0131 nas\u0131l": "ihn"},
        ),
    ],
)
def test_words_are_read_as_the_acronym_that_the_documents_write(
    query: str, text: str, expected: dict[str, str]
) -> None:
    """Where none of them has the words together, and it stands there in capitals."""
    assert dict(long_for_short(words(query), [text])) == expected


def test_a_question_with_an_acronym_finds_its_answer_and_the_record_says_how_it_was_read(in_memory_store: Any) -> None:
    """Nothing is read so where the page is missing."""
    others = ["The house rules are reviewed by the tenants.", "Payday is the 25th.", "Lunch is at noon."]
    fill(in_memory_store, [Document(content=text) for text in (BCP, *others)])
    record = load("corrective_retrieval", store=in_memory_store).run(query="How often is the BCP reviewed?")["crag"]
    read_as = {"bcp": "business continuity plan", "often": "every"}
    assert (record["verdict"], record["signals"]["set"]["read_as"]) == ("correct", read_as)
    in_memory_store.delete_documents([Document(content=BCP).id])
    record = load("corrective_retrieval", store=in_memory_store).run(query="How often is the BCP reviewed?")["crag"]
    assert record["verdict"] != "correct"
    assert "read_as" not in record["signals"]["set"]


def test_texts_behind_one_that_has_the_words_are_not_read_for_an_acronym(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chance makes acronyms of many questions: to read ten papers for it took long."""
    read, terms = list[str](), acronyms.terms
    monkeypatch.setattr(acronyms, "terms", lambda text: read.append(text) or terms(text))
    texts = [BCP, "The BCP is long.", "Nobody has read it."]
    assert list(long_for_short(words("Who reviews the business continuity plan?"), texts)) == []
    assert read == [BCP]
