"""Questions that are asked as one: each is judged, searched for, and answered from sentences of its own."""

from io import StringIO
from unittest.mock import patch

import pytest
from haystack import Document
from rich.console import Console

from haystack_integrations.crag.cli.span_values import read_tags
from haystack_integrations.crag.cli.views import trail_tree
from haystack_integrations.crag.components import HeuristicGrader, StripRefiner
from haystack_integrations.crag.deciding.record_tags import route_tags
from haystack_integrations.crag.expansion.split import unanswered
from haystack_integrations.crag.judging import joining
from haystack_integrations.crag.pipelines import load
from haystack_integrations.crag.pipelines.opening import memory_store
from haystack_integrations.crag.texts.questions.asked_apart import asked_apart
from haystack_integrations.crag.texts.questions.several_questions import questions_in

ASKED = "Where is the harbour of Kestrel and who designed the lighthouse of Merrow?"
HARBOUR = Document(content="The harbour of Kestrel is in the north of the island, behind the old mill.", id="harbour")
LIGHTHOUSE = Document(content="The lighthouse of Merrow was designed by the engineer Ada Holm in 1911.", id="light")
BREAD = Document(content="Bread is left to rise for two hours before it is baked.", id="bread")


def graded(query: str, *documents: Document) -> tuple[str, dict[str, float], list[str] | None]:
    """Grade them; gives the verdict on the set, the score of each document, and the verdict on each question."""
    result = HeuristicGrader().run(query=query, documents=list(documents))
    scores = dict(zip((document.id for document in documents), result["scores"], strict=True))
    return result["report"]["verdict"]["verdict"], scores, result["signals"]["set"].get("asked_apart")


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("When did Claude Monet die and what was the cause?", ["the cause Claude Monet"]),
        ("Who won the 2010 World Cup and which player scored the winning goal?", ["winning goal 2010 World Cup"]),
        ("When was Python 3.12 released and what does it bring?", ["what does Python 3.12 bring"]),
        ("What was Cao's first mistake and what were the consequences?", ["what were the consequences Cao"]),
        ("How do I install Redis and how do I start it?", ["how do I start Redis"]),
        ("How does the lease work and what is the maximum?", []),
        ("Where do I park and which doors are open at night?", ["which doors are open at night"]),
    ],
)
def test_a_second_question_that_names_nothing_is_about_what_the_first_names(question: str, parts: list[str]) -> None:
    """Alone it would be about anything; without a name it must have words enough of its own."""
    found = questions_in(question)
    assert len(found) == 2 * len(parts)
    assert all(found[1].endswith(part) for part in parts)


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        (
            "Where was Alan Turing born and when did he die and what did he study?",
            ["Where was Alan Turing born", "when did Alan Turing die", "what did Alan Turing study"],
        ),
        (
            "How do I reset my password?\nCan I use two devices? Also, which browsers are supported?",
            ["How do I reset my password", "Can I use two devices", "which browsers are supported"],
        ),
        ("Which river is the longest and is it navigable?", []),  # behind "and" a verb may go on with the question
        ("Who wrote Emma? Who wrote Persuasion? Who wrote Ulysses? Who wrote Dubliners? Who wrote Beloved?", []),
    ],
)
def test_up_to_four_questions_are_told_apart(question: str, parts: list[str]) -> None:
    """A question mark parts questions of any kind, "and" such as begin with a question word."""
    assert questions_in(question) == parts


@pytest.mark.parametrize(
    "question",
    [
        "- Where is the harbour of Kestrel?\n- Who designed the lighthouse of Merrow?",
        "1. Where is the harbour of Kestrel\n\n2. Who designed the lighthouse of Merrow",
        "1) Where is the harbour of Kestrel? 2) Who designed the lighthouse of Merrow?",
        "(a) Where is the harbour of Kestrel? (b) Who designed the lighthouse of Merrow?",
        "Where is the harbour of Kestrel? And who designed the lighthouse of Merrow?",
        "Where is the harbour of Kestrel and also who designed the lighthouse of Merrow?",
        "Where is the harbour of Kestrel, plus who designed the lighthouse of Merrow?",
        "Where is the harbour of Kestrel as well as who designed the lighthouse of Merrow?",
    ],
)
def test_questions_are_told_apart_however_they_are_put_in_a_row(question: str) -> None:
    """As items of a list, too, with question marks or without."""
    wanted = ["where is the harbour of kestrel", "who designed the lighthouse of merrow"]
    assert [part.lower() for part in questions_in(question)] == wanted


@pytest.mark.parametrize(
    "question",
    ["Which of these is a lake?\n- Who\n- What", "How do I start it?\n- it says that it is gone", "Is C# & what it is"],
)
def test_a_list_of_answers_is_no_list_of_questions(question: str) -> None:
    assert questions_in(question) == []


def test_three_questions_are_correct_when_all_are_answered() -> None:
    """One that is not makes the list ambiguous."""
    asked = f"{ASKED[:-1]} and how long is bread left to rise?"
    assert graded(asked, HARBOUR, LIGHTHOUSE, BREAD)[::2] == ("correct", ["correct"] * 3)
    assert graded(asked, HARBOUR, LIGHTHOUSE)[::2] == ("ambiguous", ["correct", "correct", "incorrect"])


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("Who designed Kestrel Light and Merrow Light?", ["Who designed Kestrel Light?", "Who designed Merrow Light?"]),
        ("What are the fees for Visa and for Amex in Japan?", ["for Visa in Japan?", "for Amex in Japan?"]),
        ("What is the distance between Kestrel and Merrow?", []),  # of both together
        ("Are Kestrel and Merrow of the same height?", []),
        ("Who met Ada and Ben and Cleo?", []),
        ("Who founded Holm and Holm?", []),  # one name
        ("Kestrel and Merrow", []),
    ],
)
def test_one_question_about_two_names_is_asked_of_each(question: str, parts: list[str]) -> None:
    """Unless it is about both together."""
    found = asked_apart(question, [("Lights", "The lights of Kestrel stand by the sea.")])
    assert len(found) == len(parts)
    assert all(one.endswith(part) for one, part in zip(found, parts, strict=True))


def test_two_names_that_a_document_has_side_by_side_are_not_parted() -> None:
    """They may be the name of one thing, or be told of together."""
    asked = "Who wrote Pride and Prejudice?"
    book = Document(content="Pride and\nPrejudice is a novel by Jane Austen.", id="book")
    assert graded(asked, book, BREAD)[2] is None
    firm = Document(content="Marks & Spencer is a firm founded in Leeds.", id="firm")
    assert graded("Who founded Marks and Spencer?", firm, BREAD)[2] is None
    assert graded("Who designed Kestrel and Merrow?", HARBOUR, LIGHTHOUSE)[2] is not None


def test_a_list_that_answers_one_of_two_questions_is_ambiguous() -> None:
    """It is neither an answer nor nothing, whichever of them it answers; the other is what a second search is for."""
    assert graded(ASKED, HARBOUR, LIGHTHOUSE)[0] == "correct"
    assert graded(ASKED, HARBOUR, BREAD)[::2] == ("ambiguous", ["correct", "incorrect"])
    assert graded(ASKED, BREAD, LIGHTHOUSE)[::2] == ("ambiguous", ["incorrect", "correct"])
    assert graded(ASKED, BREAD)[0] == "incorrect"


def test_a_document_is_as_good_as_it_is_for_either_question() -> None:
    """To the words of both questions each document would be half of an answer."""
    _, scores, _ = graded(ASKED, HARBOUR, LIGHTHOUSE, BREAD)
    for question, document in zip(questions_in(ASKED), (HARBOUR, LIGHTHOUSE), strict=True):
        assert scores[document.id] == graded(question, HARBOUR, LIGHTHOUSE, BREAD)[1][document.id]
    assert scores["bread"] < 0.3


def test_a_document_on_one_of_two_things_that_are_compared_is_kept() -> None:
    """It has half of the words of the question; the verdict on the list stays that on the whole question."""
    asked = "Which lighthouse is taller, Kestrel or Merrow?"
    kestrel = Document(
        content="Kestrel has a lighthouse 31 metres tall, painted white and rebuilt in 1950.", id="kestrel"
    )
    merrow = Document(content="The tower at Merrow is 44 metres tall; it is the oldest lighthouse there.", id="merrow")
    verdict, scores, apart = graded(asked, kestrel, merrow, BREAD)
    assert min(scores["kestrel"], scores["merrow"]) > 0.3 > scores["bread"]
    assert apart is None
    with patch.object(joining, "things_compared", lambda _: []):
        whole, lower, _ = graded(asked, kestrel, merrow, BREAD)
    assert verdict == whole
    assert all(scores[name] >= lower[name] for name in scores)
    assert scores != lower


def test_courtesies_are_no_part_of_either_question() -> None:
    """They are left out before the two are told apart."""
    assert graded(f"Hi, could you please tell me {ASKED} Thanks in advance!", HARBOUR, LIGHTHOUSE)[2] is not None


def test_the_probabilities_of_two_questions_are_no_more_than_each_has() -> None:
    """They still add up to one."""
    verdict = HeuristicGrader().run(query=ASKED, documents=[HARBOUR, BREAD])["report"]["verdict"]
    each = [
        HeuristicGrader().run(query=part, documents=[HARBOUR, BREAD])["report"]["verdict"]
        for part in questions_in(ASKED)
    ]
    for name in ("correct", "incorrect"):
        assert verdict["probabilities"][name] == min(one["probabilities"][name] for one in each)
    assert sum(verdict["probabilities"].values()) == pytest.approx(1, abs=1e-3)
    assert verdict["covered"] == min(one["covered"] for one in each)


@pytest.mark.parametrize("scorer", ["calibrated", "lexical", "embedding"])
def test_sentences_are_kept_for_both_questions(scorer: str) -> None:
    """Not only for the one that has more words."""
    page = Document(content=f"{BREAD.content} {HARBOUR.content} Ferries are late. {LIGHTHOUSE.content} It snows.")
    [kept] = StripRefiner(scorer=scorer).run(query=ASKED, documents=[page])["documents"]
    assert "behind the old mill" in kept.content
    assert "Ada Holm" in kept.content
    assert "snows" not in kept.content


@pytest.mark.parametrize(
    ("told", "left"),
    [
        (["correct", "incorrect"], [1]),
        (["ambiguous", "incorrect"], [1, 0]),
        (["correct", "correct"], []),
        (None, [0, 1]),  # as a model grades
        (["correct"], [0, 1]),
        (["correct", "perhaps"], [0, 1]),
        ("correct", [0, 1]),
        (7, [0, 1]),
    ],
)
def test_what_the_last_pass_left_unanswered_is_searched_for_next(told: object, left: list[int]) -> None:
    """The least answered first; whatever a grader of one's own wrote there."""
    parts = questions_in(ASKED)
    trail = [{"signals": None}, {"signals": {"set": {"asked_apart": told}}}]
    assert unanswered(ASKED, trail) == [parts[place] for place in left]
    assert unanswered(ASKED, []) == parts
    assert unanswered(ASKED, [{"signals": {"set": "none"}}]) == parts
    assert unanswered("Who designed the lighthouse of Merrow?", trail) == []


def test_a_second_search_is_for_the_question_that_found_nothing() -> None:
    """Words of both would find more of what the first search found."""
    store = memory_store()
    store.write_documents([HARBOUR, BREAD, Document(content="The harbour of Kestrel is deep, and the north windy.")])
    record = load("corrective_retrieval", store=store).run(query=ASKED)["crag"]
    assert record["trail"][0]["signals"]["set"]["asked_apart"] == ["correct", "incorrect"]
    assert record["queries"][:2] == [ASKED, questions_in(ASKED)[1]]


def test_the_trail_and_the_trace_tell_the_verdict_on_each_question() -> None:
    """In names only; what was asked stays in the record."""
    store = memory_store()
    store.write_documents([HARBOUR, BREAD])
    record = load("corrective_retrieval", store=store).run(query=ASKED)["crag"]
    decision = record["trail"][0]
    tags = route_tags(decision)
    assert read_tags({**tags, "crag.decision.asked_apart": '["correct", "incorrect"]'})["crag.decision.asked_apart"]
    assert tags["crag.decision.asked_apart"] == ["correct", "incorrect"]
    shown = Console(width=200, file=StringIO())
    shown.print(trail_tree({**record, "trail": [decision]}))
    assert "its questions one by one: correct, incorrect" in shown.file.getvalue()  # type: ignore[attr-defined]
