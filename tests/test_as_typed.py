"""Questions as people type them: the search and the judgement go by what is asked, the models read all of it."""

from dataclasses import replace
from io import StringIO
from typing import Any

import pytest
from haystack import Document, component
from haystack.components.generators.chat import MockChatGenerator
from haystack.dataclasses import ChatMessage
from rich.console import Console

from haystack_integrations.crag.cli.span_values import read_tags
from haystack_integrations.crag.cli.views import trail_tree
from haystack_integrations.crag.components import (
    HeuristicGrader,
    QueryExpander,
    RankerGrader,
    StripRefiner,
    WebFallback,
)
from haystack_integrations.crag.deciding.record_tags import route_tags
from haystack_integrations.crag.pipelines import load
from haystack_integrations.crag.pipelines.opening import memory_store
from haystack_integrations.crag.state import CragState
from haystack_integrations.crag.texts.questions.courtesies import bare_question
from haystack_integrations.crag.texts.questions.telling import asking_part

BARE = "who wrote Emma?"
TYPED = f"Hi, could you please tell me {BARE} Answer in one short sentence. Thanks in advance!"
TEXTS = (
    "Jane Austen wrote Emma, a novel about youthful hubris. It was published in 1815. The cover was green.",
    "Please note that answers are given in one short sentence. Thanks in advance for your patience.",
    "Hello and welcome. Could you please tell us what you think?",
)


def filled_store() -> Any:
    store = memory_store()
    store.write_documents([Document(content=text, id=str(n)) for n, text in enumerate(TEXTS)])
    return store


def documents() -> list[Document]:
    return [Document(content=text, id=str(n)) for n, text in enumerate(TEXTS)]


@pytest.mark.parametrize("name", ["corrective_retrieval", "corrective_rag", "baseline_rag", "heuristic_rag"])
def test_a_pipeline_searches_for_what_is_asked(name: str) -> None:
    """The first search is for the bare question; the record says so, and tells the question as it came."""
    models = {} if name == "corrective_retrieval" else {"generator": MockChatGenerator("Jane Austen [1].")}
    grader = {} if name == "baseline_rag" else {"grader": HeuristicGrader()}
    result = load(name, store=filled_store(), **grader, **models).run(query=TYPED)
    assert result["crag"]["queries"][0] == BARE
    assert result["documents"][0].id == "0"


def test_the_models_are_shown_the_whole_question() -> None:
    """How to answer is for whoever writes."""
    shown: list[str] = []

    def reply(messages: list[ChatMessage]) -> str:
        shown.append("\n".join(message.text or "" for message in messages))
        return "Jane Austen [1]."

    writer = MockChatGenerator(response_fn=reply)
    load("corrective_rag", store=filled_store(), grader=HeuristicGrader(), generator=writer).run(query=TYPED)
    assert "Answer in one short sentence." in shown[-1]


def test_a_verdict_does_not_depend_on_how_politely_is_asked() -> None:
    """By the trained judgement and by the published weights."""
    for grader in (HeuristicGrader(), HeuristicGrader(weights="evidence"), HeuristicGrader(weights="rerank")):
        plain, typed = (grader.run(query=query, documents=documents()) for query in (BARE, TYPED))
        assert typed["scores"] == plain["scores"]


def test_strips_do_not_depend_on_it_either() -> None:
    """A sentence about answers in one short sentence is no evidence."""
    for refiner in (StripRefiner(), StripRefiner(scorer="embedding", model=None)):
        plain, typed = (refiner.run(query=query, documents=documents())["documents"] for query in (BARE, TYPED))
        assert [document.content for document in typed] == [document.content for document in plain]


def test_a_ranker_is_asked_the_bare_question() -> None:
    """Cross-encoders and rankers by similarity read every word of it."""
    asked: list[str] = []

    @component
    class Ranker:
        @component.output_types(documents=list[Document])
        def run(self, query: str, documents: list[Document]) -> dict[str, list[Document]]:
            asked.append(query)
            return {"documents": documents}

    RankerGrader(Ranker()).run(query=TYPED, documents=documents())
    RankerGrader(Ranker()).run(query=f"09:14:12 ERROR no gateway\n{BARE}", documents=documents())
    assert asked == [BARE, BARE]


def test_a_web_search_is_sent_the_bare_question() -> None:
    """By the fallback alone, and by an expander in front of it."""
    sent: list[str] = []

    @component
    class Search:
        @component.output_types(documents=list[Document], links=list[str])
        def run(self, query: str) -> dict[str, Any]:
            sent.append(query)
            return {"documents": [], "links": []}

    state = CragState.start(TYPED)
    WebFallback(Search(), query_cooldown_s=0).run(state=state)
    WebFallback(Search(), query_cooldown_s=0).run(state=CragState.start(f"09:14:12 ERROR no gateway\n{BARE}"))
    expanded = QueryExpander(mode="web").run(state=state)
    assert sent == [BARE, BARE]
    assert expanded["query"] == "wrote emma"


def test_other_wordings_are_of_the_bare_question() -> None:
    """Without a model, a second search is for what is asked in other words."""
    state = CragState.start("Could you please tell me how to fix an error in a function? Thanks!")
    query = QueryExpander().run(state=state)["query"]
    assert query.startswith("how to fix an error in a function?")
    assert "thanks" not in query.lower()


def test_a_second_search_is_for_what_is_asked_alone() -> None:
    """The first has found nothing by all that was told; and the web is sent no story in its few words."""
    state = CragState.start("We are moving to a new building and everything is chaos. How do I order a new desk?")
    assert QueryExpander().run(state=state)["query"] == "How do I order a new desk?"
    assert QueryExpander(mode="web").run(state=state)["query"] == "order new desk"
    plain = CragState.start("How do I order a new desk?")
    assert QueryExpander().run(state=plain)["query"] != "How do I order a new desk?"


def test_below_a_log_the_same_sentences_are_kept() -> None:
    """What shares words with the log says nothing on the question."""
    text = "Emma was written by Jane Austen. A worker lost the connection to the gateway. It was raining in Antwerp."
    document = Document(content=text)
    log = "2024-03-11 09:14:12 ERROR worker lost the connection to the gateway"

    def kept(query: str) -> str | None:
        found: str | None = StripRefiner().run(query=query, documents=[document])["documents"][0].content
        return found

    assert kept("Who was Emma written by?") == kept(f"{log}\nWho was Emma written by?")
    assert "gateway" not in str(kept("Who was Emma written by?"))


def test_the_first_search_is_not_for_what_is_pasted_and_the_second_one_is() -> None:
    """A log has many words, and few of them are of the subject; what finds nothing for the rest may find it by them."""
    asked = "Who repairs the engine of zeppelins?"
    question = f"{asked}\n2024-03-11 09:14:12 ERROR worker-3 lost the novel of 1815"
    rag = load("corrective_retrieval", store=filled_store(), router={"aggregate": "set", "preset": "conservative"})
    record = rag.run(query=question)["crag"]
    assert record["queries"][:2] == [asked, question]


def test_a_second_search_is_for_the_words_as_the_documents_write_them() -> None:
    """What the first one found by the other words of the question has told the right spelling; the web is not told."""
    store = memory_store()
    texts = (
        "A portal for all employees was opened.",
        "Meals are free.",
        "Order a desk in the portal of your department.",
    )
    store.write_documents([Document(content=text) for text in texts])
    rag = load("corrective_retrieval", store=store, router={"aggregate": "set", "preset": "conservative"})
    record = rag.run(query="Which employees pay in the protal?")["crag"]
    assert record["trail"][0]["signals"]["set"]["read_as"] == {"protal": "portal"}
    assert record["queries"][:2] == ["Which employees pay in the protal?", "Which employees pay in the portal?"]
    state = replace(CragState.start("Where is the protal?"), trail=tuple(record["trail"][:1]))
    assert QueryExpander(mode="web").run(state=state)["query"] == "protal"


def test_an_abstention_does_not_miss_courtesies() -> None:
    """What is missing is what was asked for."""
    question = "Hello, could you please explain to me the tariff for zeppelins? Thanks in advance!"
    record = load("corrective_retrieval", store=filled_store()).run(query=question)["crag"]
    missing = record["abstention"]["missing"]["words"]
    assert missing == ["tariff", "zeppelins"]


@pytest.mark.parametrize(
    ("question", "part"),
    [
        ("We are moving to a new building. How do I order a desk?", "How do I order a desk?"),
        ("How do I order a desk? We are moving to a new building.", "How do I order a desk?"),
        (
            "Wir ziehen um. Wie bestelle ich einen Schreibtisch mit Licht?",
            "Wie bestelle ich einen Schreibtisch mit Licht?",
        ),
        ("My lamp is broken\nhow do I order a new lamp", "how do I order a new lamp"),
        (bare_question("Hello,\nmy lamp is broken\nhow do I order a new lamp"), "how do I order a new lamp"),
        ("How do I order a desk?", None),
        ("How do I order a desk? And who pays for the desk?", None),
        ("I have a dishwasher. How long is its warranty period?", None),
        ("I have a dishwasher. What now?", None),
        ("We moved. Is there a fee for a desk that was sold?", "Is there a fee for a desk that was sold?"),
        (
            "We moved. What is one of the rules for desks such as mine?",
            "What is one of the rules for desks such as mine?",
        ),
        ("We moved. How do I order that desk?", None),
        ("We have two desks. Which one is larger and older?", None),
        ("She is my aunt. When did she write her notes?", None),
        ("I like computers. When did Ada Lovelace write her notes?", "When did Ada Lovelace write her notes?"),
        ("Order a desk. Pay later.", None),
        ("", None),
    ],
)
def test_what_is_asked_is_found_where_it_can_be_understood_alone(question: str, part: str | None) -> None:
    """Not where it points at what was told, or names next to nothing."""
    assert asking_part(question) == part


def test_what_somebody_tells_besides_makes_good_documents_ambiguous_and_not_incorrect() -> None:
    """Nobody knows whether it decides; documents that answer neither stay `incorrect`."""
    desk = [Document(content="Order a new desk in the portal: choose a desk, and press order.", id="desk")]
    told = "Our cousin from Antwerp juggles torches and paints portraits of horses. How do I order a new desk?"
    grader = HeuristicGrader()

    def verdict(query: str, documents: list[Document]) -> str:
        return str(grader.run(query=query, documents=documents)["report"]["verdict"]["verdict"])

    assert verdict("How do I order a new desk?", desk) == "correct"
    assert verdict(told, desk) == "ambiguous"
    assert grader.run(query=told, documents=desk)["signals"]["set"]["asked_alone"] == "correct"
    assert verdict(told, [Document(content="Standard delivery takes three working days.")]) == "incorrect"


def test_beside_a_log_documents_are_worth_what_they_are_for_what_is_asked() -> None:
    """No document is like a log; the verdict is ambiguous, since it may decide."""
    desk = [Document(content="Order a new desk in the portal: choose a desk, and press order.", id="desk")]
    plain = HeuristicGrader().run(query="How do I order a new desk?", documents=desk)
    log = "\n".join(f"2024-03-11 09:14:{n} ERROR worker-{n} lost the connection to gateway {n}" for n in range(10, 40))
    beside = HeuristicGrader().run(query=f"{log}\nHow do I order a new desk?", documents=desk)
    assert beside["scores"] == plain["scores"]
    assert (plain["report"]["verdict"]["verdict"], beside["report"]["verdict"]["verdict"]) == ("correct", "ambiguous")


def test_the_verdict_on_a_whole_question_is_never_raised_to_correct_by_its_part() -> None:
    """Else a product that is told first, and that no document has, would be forgotten."""
    scores = {}
    for query in ("My Zebrano dishwasher leaks. How long is a warranty period?", "How long is a warranty period?"):
        report = HeuristicGrader().run(
            query=query, documents=[Document(content="A warranty period is two years long.")]
        )
        scores[query] = report["report"]["verdict"]
    whole, part = scores.values()
    assert part["verdict"] == "correct"
    assert whole["verdict"] == "ambiguous"
    assert whole["probabilities"]["correct"] < part["probabilities"]["correct"]
    assert sum(whole["probabilities"].values()) == pytest.approx(1, abs=1e-3)


def test_a_trace_tells_how_a_question_was_read_in_numbers_and_names_only() -> None:
    """As the record does at the terminal, and `crag trace` from the spans: the same words, without the question's."""
    store = memory_store()
    store.write_documents([Document(content="Order a new desk in the portal: choose a desk, and press order.")])
    told = "Our cousin from Antwerp juggles torches and paints portraits. How do I ordre a new desk in the protal?"
    record = load("corrective_retrieval", store=store).run(query=told)["crag"]
    decision = record["trail"][0]
    tags = route_tags(decision)
    assert (tags["crag.decision.read_as"], tags["crag.decision.asked_alone"]) == (2, "correct")
    assert "protal" not in repr(tags)
    seen = read_tags(tags)
    assert (seen["crag.decision.read_as"], seen["crag.decision.asked_alone"]) == (2, "correct")
    shown = Console(width=200, file=StringIO())
    shown.print(trail_tree({**record, "trail": [decision]}))
    words = shown.file.getvalue()  # type: ignore[attr-defined]
    assert "2 words of the question read as the documents write them; correct by what is asked alone" in words
