"""An abstention in words: what was looked for, what was found and what is missing; no more than the record holds."""

from dataclasses import replace
from typing import Any

import pytest
from haystack import Document
from hypothesis import given
from hypothesis import strategies as st
from makers import fill, graded, grading_by, run_by_door, scripted

from haystack_integrations.crag.components.crag_router import CragRouter
from haystack_integrations.crag.deciding.abstention_words import phrases, sentence, spoken
from haystack_integrations.crag.pipelines import load
from haystack_integrations.crag.state import CragState
from haystack_integrations.crag.vocabulary import ABSTENTION

QUESTION = "Which canoe did Amundsen paddle?"
FIRST = "The documents do not answer this question."


def abstain(
    documents: list[Document], state: CragState | None = None, question: str = QUESTION, **settings: Any
) -> dict[str, Any]:
    """Run a router that abstains at once."""
    policy: dict[str, Any] = dict.fromkeys(("on_ambiguous", "on_incorrect", "on_ungraded", "on_limit"), "abstain")
    return CragRouter(**{**policy, **settings}).run(query=question, documents=documents, state=state)


def lines(result: dict[str, Any]) -> list[str]:
    """The lines below the first sentence."""
    first, empty, *rest = str(result["abstain"]).split("\n")
    assert (first, empty) == (FIRST, "")
    return rest


def doc(content: str, score: float, status: str = "graded", **meta: Any) -> Document:
    """A graded document."""
    return graded(content, score, QUESTION, status, **meta)


def test_it_says_what_was_looked_for_found_and_missing() -> None:
    """Query, number of documents, the best by its title with its score, and the words that none of them has."""
    documents = [doc("Amundsen went by ship.", 0.21, title="The Gjøa"), doc("Rain is likely.", 0.02)]
    result = abstain(documents)
    assert lines(result) == [
        f'Looked for: "{QUESTION}".',
        'Found: 2 documents. The best is "The Gjøa" with a relevance of 0.21; evidence begins at 0.30.',
        'Missing: "canoe", "paddle", not to be found in any of the 2 documents.',
    ]
    assert result["decision"]["abstention"] == {
        "looked_for": [{"query": QUESTION, "strategies": [""]}],
        "found": {"documents": 2, "best": {"id": documents[0].id, "name": "The Gjøa", "score": 0.21}, "unjudged": 0},
        "missing": {"words": ["canoe", "paddle"], "searched": 2, "complete": True},
        "searched": "ok",
        "web": "off",
        "language": None,
    }


def test_all_queries_are_named_each_once_with_its_strategies() -> None:
    """The last ones of many are counted, not listed."""
    tried = [{"query": QUESTION, "strategy": "bm25"}, {"query": QUESTION, "strategy": "dense"}]
    tried += [{"query": f"canoe {number}", "strategy": "web"} for number in range(5)]
    state = replace(CragState.start(QUESTION), queries=tuple(tried))
    said = lines(abstain([], state))[0]
    assert said == (
        f'Looked for: "{QUESTION}" (bm25, dense); "canoe 0" (web); "canoe 1" (web); "canoe 2" (web) and 2 more.'
    )


def test_nothing_found_is_said_as_such() -> None:
    """No document, no claim about documents."""
    assert lines(abstain([]))[1:] == ["Found: no documents.", "Missing: a document to answer from."]


def test_where_all_words_occur_an_answer_is_missing() -> None:
    """Other forms of a word count as the word; nothing is invented."""
    said = lines(abstain([doc("Amundsen paddled canoes.", 0.5)]))
    assert said[1].endswith("Taken together, what was found is judged ambiguous (0.50, where 0.70 is enough).")
    assert said[2] == "Missing: an answer; the words of the question do occur."


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How many canoes did Amundsen paddle?", 'Missing: "canoes", "Amundsen", "paddle", not'),
        ("Wann und wo paddelt Amundsen, und wie viele?", 'Es fehlt: "paddelt", "Amundsen", im'),
        ("¿Cuántos remos tiene?", 'Falta: "remos", que'),
        ("Did the U.S. in Russia paddle 1,200 miles?", 'Missing: "U.S.", "Russia", "paddle", "1,200", "miles", not'),
        ("Wer, wann?", "Es fehlt: eine Antwort."),
        ("Was ist das?", "Es fehlt: eine Antwort."),
        ("Ich habe meine Karte verloren: wie kann ich sie sperren?", 'Es fehlt: "Karte", "verloren", "sperren", im'),
        ("Est-ce que je peux annuler ma commande ?", 'Il manque : "annuler", "commande", introuvable'),
        ("¿Puedo devolver un libro que no es mío?", 'Falta: "devolver", "libro", "mío", que'),
        ("The Habe family: which Ich did they meet?", 'Missing: "Habe", "family", "Ich", "meet", not'),
    ],
)
def test_what_is_missing_is_named_as_it_was_asked_and_no_word_that_only_asks(question: str, expected: str) -> None:
    """No document lacks a "how many"; and "us" is no part of Russia."""
    said = str(abstain([graded("Es ist die Zeit und war.", 0.02, question)], question=question)["abstain"]).split("\n")
    assert said[4].startswith(expected)


def test_of_many_words_that_are_missing_the_first_five_are_named_and_the_rest_counted() -> None:
    """All of them stand in the record."""
    question = "Are the canoe, paddle, anchor, rudder, sail, compass and sextant aboard?"
    result = abstain([graded("rain", 0.02, question)], question=question)
    named = '"canoe", "paddle", "anchor", "rudder", "sail" and 3 more'
    assert lines(result)[2] == f"Missing: {named}, not to be found in the document."
    assert result["decision"]["abstention"]["missing"]["words"][5:] == ["compass", "sextant", "aboard"]


def test_a_word_with_soft_hyphens_in_it_is_found() -> None:
    """As converters of PDF and HTML leave them; a reader does not see them."""
    said = lines(
        abstain(
            [graded("Die Kün\u00addi\u00adgungs\u00adfrist.", 0.1, "Kündigungsfrist?")], question="Kündigungsfrist?"
        )
    )
    assert said[2] == "Missing: an answer; the words of the question do occur."


@pytest.mark.parametrize("question", ["返金はいつ支払われますか?", "ค่าจัดส่งเท่าไหร่", "q", "???"])
def test_of_a_question_whose_words_were_not_looked_for_none_is_said_to_occur(question: str) -> None:
    """Text without spaces, a single letter, no word at all: what is missing is an answer, and no more is known."""
    said = str(abstain([graded("ราคาค่าจัดส่งเท่าไหร่ก็ได้", 0.02, question)], question=question)["abstain"])
    gap = phrases(spoken(question))["gap"]["answer"]
    assert said.splitlines()[4] == phrases(spoken(question))["missing"].format(gap=gap)


def test_grader_failures_are_no_judgement_on_the_documents() -> None:
    """What could not be judged is counted, and is never the best."""
    first, _, _, said, _ = abstain([doc("a", 0.5, "failed"), doc("b", 0.5, "failed")])["abstain"].split("\n")
    assert first == "Too few of the documents could be judged, so nothing is known about an answer. Ask again later."
    assert said == "Found: 2 documents. 2 could not be judged and may answer after all."
    said = lines(abstain([doc("a", 0.5, "failed"), doc("b", 0.1, title="B")]))[1]
    assert 'The best is "B" with a relevance of 0.10' in said


@pytest.mark.parametrize(
    ("status", "words"),
    [
        ("failed", "The web search failed."),
        ("empty", "A web search found nothing."),
        ("skipped", "The web was not searched."),
        ("off", ""),
    ],
)
def test_what_became_of_the_web_is_told(status: Any, words: str) -> None:
    """Not asking the web is no news; a failure is."""
    said = lines(abstain([doc("a", 0.1)], replace(CragState.start(QUESTION), web=status)))[1]
    assert said.endswith(words)
    assert ("web" in said) == bool(words)


def test_the_limit_that_ended_the_search_is_told() -> None:
    """A reader sees that it was not all that could have been done."""
    said = lines(abstain([doc("a", 0.1)], on_incorrect="re_retrieve", max_iterations=1))[1]
    assert said.endswith("No further search was allowed.")


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        ("deadline", "The time was up."),
        ("llm_calls", "No further call to a model was allowed."),
        ("tokens", "No further tokens were allowed."),
    ],
)
def test_the_limit_of_a_budget_is_told(limit: str, said: str) -> None:
    """As a grader reports it that could not ask any more."""
    router = CragRouter(on_incorrect="re_retrieve", on_limit="abstain")
    told = router.run(query=QUESTION, documents=[doc("a", 0.1)], report={"limit": limit})
    assert lines(told)[1].endswith(said)


@pytest.mark.parametrize(
    ("said", "first", "found"),
    [
        ({"status": "failed", "kind": "timeout"}, "The documents could not be searched", "by bm25 failed (timeout)."),
        ({"status": "incomplete"}, "Only a part of the documents could be", "by bm25 reached only a part."),
        ({"status": "ok", "kind": "index_empty"}, FIRST, "no documents. The index holds no document with a text."),
    ],
)
def test_what_could_not_be_searched_is_told(said: dict[str, Any], first: str, found: str) -> None:
    """Where the documents may well answer, that stands first."""
    settings: dict[str, Any] = dict.fromkeys(("on_incorrect", "on_ungraded"), "abstain")
    told = CragRouter(**settings).run(query=QUESTION, documents=[], retrieval={"retrievers": {"bm25": said}})["abstain"]
    assert told.startswith(first)
    assert told.split("\n")[3].endswith(found)


def test_many_searches_that_fail_make_no_long_abstention() -> None:
    """Those that failed alike are told together, and of each way two; the record has all."""
    names = [f"{place:02}_{'retriever_of_a_long_name' * 4}" for place in range(24)]
    retrievers: dict[str, Any] = {name: {"status": "failed", "kind": "timeout"} for name in names[:12]}
    policy: dict[str, Any] = dict.fromkeys(("on_ambiguous", "on_incorrect", "on_ungraded", "on_limit"), "abstain")

    def said(question: str, documents: list[Document], state: CragState | None = None) -> str:
        retrieval = {"retrievers": retrievers}
        told = CragRouter(**policy).run(query=question, documents=documents, state=state, retrieval=retrieval)
        assert [*told["decision"]["retrieval"]["retrievers"]] == [*retrievers]
        return str(told["abstain"])

    alike = said(QUESTION, [])
    assert alike.count("01_retr") == 1 and " and 10 more failed (timeout)." in alike
    retrievers |= {name: {"status": "failed", "kind": "Error" * 20 + name} for name in names[12:]}
    long = " ".join(f"word{place}{'y' * 60}" for place in range(40))
    queries = [{"query": f"{place} {long}", "strategy": f"{place}{'strategy' * 12}"} for place in range(9)]
    state = replace(CragState.start(long, web="cooldown"), queries=tuple(queries), seen=("gone",))
    documents = [graded("rain", 0.1, long, source=long), graded("ice", 0.5, long, "failed")]
    assert 1_500 < len(said(long, documents, state)) <= 2_000


def test_of_a_part_that_could_not_be_judged_it_is_not_said_that_it_does_not_answer() -> None:
    """A search that failed in part, and a grading that failed altogether."""
    unjudged = doc("a", 0.5, "failed")
    said = {"retrievers": {"bm25": {"status": "ok"}, "dense": {"status": "failed", "kind": "deadline"}}}
    told = CragRouter(on_ungraded="abstain").run(query=QUESTION, documents=[unjudged], retrieval=said)["abstain"]
    assert told.startswith("Too few of the documents could be judged")
    assert "The search by dense failed (deadline). 1 could not be judged and may answer after all." in told


def test_words_are_looked_for_in_the_documents_of_all_passes_that_are_at_hand() -> None:
    """The best of earlier passes count; where some are gone, the claim is about the others only."""
    state = replace(CragState.start(QUESTION), best=(doc("a canoe", 0.1),), seen=(doc("a canoe", 0.1).id, "gone"))
    result = abstain([doc("rain", 0.05)], state)
    assert result["decision"]["abstention"]["found"]["documents"] == 3
    assert lines(result)[2] == 'Missing: "Amundsen", "paddle", not to be found in any of the 2 documents at hand.'


def test_a_title_is_put_on_one_line_without_links_and_cut() -> None:
    """Its author may be anybody: no image or link that a chat client would act on, no page of text."""
    title = "A\n![x](http://evil.example/p.png) [click](http://evil.example) \u202e" + "very " * 100
    result = abstain([doc("a", 0.1, title=title)])
    name = result["decision"]["abstention"]["found"]["best"]["name"]
    assert len(name) <= 80
    assert name.startswith("A click very")
    assert "evil" not in result["abstain"]


def test_the_text_of_a_document_is_not_quoted() -> None:
    """Where there is no title the source is named, and no name is better than a text."""
    assert '"rain.md"' in abstain([doc("secret", 0.1, source="rain.md")])["abstain"]
    unnamed = abstain([doc("secret", 0.1)])["abstain"]
    assert "The best has a relevance of 0.10" in unnamed
    assert "secret" not in unnamed


@pytest.mark.parametrize(
    "question", ["火星の二つの衛星の名前は?", "Wie heißen die Monde des Mars?", "Кто это?", "?!", "Who was it?"]
)
def test_any_language_is_answered(question: str) -> None:
    """A single ideograph says too little to be called missing; a question of stop words is taken word by word."""
    documents = [graded("Rain is likely.", 0.1, question)]
    said = abstain(documents, question=question)
    missing, language = said["decision"]["abstention"]["missing"]["words"], said["decision"]["abstention"]["language"]
    assert said["abstain"].startswith(sentence(ABSTENTION, language))
    assert all(len(word) > 1 and word in question for word in missing)


@given(
    question=st.text(min_size=1, max_size=3000),
    title=st.text(max_size=3000),
    queries=st.lists(st.text(max_size=300), max_size=9),
)
def test_the_text_stays_short_whatever_comes_in(question: str, title: str, queries: list[str]) -> None:
    """Three lines below the first, 1,500 characters at most, for any question, title and queries."""
    tried = tuple({"query": query, "strategy": "s"} for query in [question, *queries])
    state = replace(CragState.start(question), queries=tried)
    said = abstain([graded("x", 0.1, question, title=title)], state, question)["abstain"]
    assert len(said) <= len(FIRST) + 1500
    told = [phrases(spoken(question))[name].partition("{")[0] for name in ("looked_for", "found", "missing")]
    assert [line[: len(begin)] for line, begin in zip(said.splitlines()[2:], told, strict=True)] == told


def test_a_run_that_answers_has_no_abstention_on_record() -> None:
    """Nor has a pass that goes on."""
    assert "abstention" not in abstain([doc("Amundsen's canoe", 0.9)])["decision"]


@pytest.mark.parametrize("asynchronous", [False, True], ids=["run", "run_async"])
def test_a_whole_pipeline_tells_it_in_answer_and_record_and_not_in_the_trace(
    in_memory_store: Any, exporter: Any, asynchronous: bool
) -> None:
    """A REST caller gets the account as data; our spans hold how many, never which."""
    fill(in_memory_store, [Document(content="Canary birds sing.", meta={"title": "Canary title"})])
    rag = load("corrective_rag", store=in_memory_store, grader=grading_by(lambda _: 0.1), generator=scripted("x"))
    result = run_by_door(rag, asynchronous=asynchronous, query="Which canary plays chess?")
    text, account = result["answers"][0].data, result["crag"]["abstention"]
    assert '"Canary title"' in text
    assert '"plays", "chess", not to be found in the document' in text
    assert account == result["crag"]["trail"][-1]["abstention"]
    assert account["missing"]["words"] == ["plays", "chess"]
    assert len(account["looked_for"]) == len({entry["query"] for entry in account["looked_for"]})
    ours = [span for span in exporter.get_finished_spans() if span.name.startswith("crag.")]
    assert not {"canary", "chess"} & {word for span in ours for word in span.to_json().lower().split('"')}
    assert "chess" not in " ".join(span.to_json() for span in ours)
    assert [span for span in ours if span.name == "crag.route"][-1].attributes["crag.abstention.missing"] == 2


@pytest.mark.parametrize("documents", [[doc("a", 0.5, "failed")], [Document(content="a")]], ids=["failed", "no grade"])
def test_a_grading_that_failed_is_not_called_documents_that_do_not_answer(documents: list[Document]) -> None:
    """Not in the short form either, of which a user reads nothing else: a model that is down would be an answer."""
    told = abstain(documents, explain_abstention=False)["abstain"]
    assert told == "Too few of the documents could be judged, so nothing is known about an answer. Ask again later."
    assert abstain([doc("a", 0.1)], explain_abstention=False)["abstain"] == FIRST


def test_a_search_that_does_not_say_why_it_failed_ends_no_run() -> None:
    """Anybody's retriever may report; a status is all that it must tell."""
    retrieval = {"retrievers": {"own": {"status": "failed"}, "other": {"status": "ok"}}}
    said = CragRouter(on_ungraded="abstain").run(query=QUESTION, documents=[], retrieval=retrieval)["abstain"]
    assert "The search by own failed." in said
    assert "by other" not in said


def test_a_score_just_below_a_limit_does_not_read_as_if_it_reached_it() -> None:
    """0.696 is 0.70 in two decimals, and 0.70 would be enough."""
    found = lines(abstain([doc("a canoe", 0.696)]))[1]
    assert "relevance of 0.70." in found
    assert "judged ambiguous (0.696, where 0.70 is enough)" in found
    assert "relevance of 0.298; evidence begins at 0.30" in lines(abstain([doc("a canoe", 0.298)]))[1]


def test_of_a_graders_own_verdict_no_score_is_said_to_be_enough() -> None:
    """A trained grader calls many a list correct that scores less than the threshold, which it never reads."""
    router = CragRouter(aggregate="set", on_ambiguous="abstain")
    said = {"set_score": 0.46, "verdict": {"verdict": "ambiguous"}}
    found = lines(router.run(query=QUESTION, documents=[doc("a canoe", 0.6)], report=said))[1]
    assert found.endswith("Taken together, what was found is judged ambiguous.")
    by_score = router.run(query=QUESTION, documents=[doc("a canoe", 0.6)], report={"set_score": 0.46})
    assert lines(by_score)[1].endswith("is judged ambiguous (0.46, where 0.70 is enough).")


def test_the_best_that_was_found_may_be_one_that_the_web_replaced() -> None:
    """Where the worst document decides, a fair one goes with the others; what the web brought may be worse than it."""
    router = CragRouter(
        aggregate="min", aggregate_over="all", on_incorrect="web", on_limit="generate_relevant", max_iterations=2
    )
    first = router.run(query=QUESTION, documents=[doc("a canoe", 0.6, source="canoes.md"), doc("rain", 0.0)])
    assert "web" in first
    result = router.run(query=QUESTION, documents=[doc("a shop", 0.1)], state=replace(first["web"], web="ok"))
    found = lines(result)[1]
    assert found.startswith('Found: 3 documents. The best is "canoes.md" with a relevance of 0.60. Taken together')
    assert "judged incorrect (0.10, where 0.70 is enough)" in found


@pytest.mark.parametrize(("score", "status", "wanted"), [(0.5, "graded", 0.2), (0.5, "failed", 0.2)])
def test_the_best_is_told_by_its_last_grade(score: float, status: str, wanted: float) -> None:
    """What an earlier pass thought of a document that came again, or could not judge, is no news any more."""
    settings: dict[str, Any] = dict.fromkeys(("on_ambiguous", "on_incorrect", "on_ungraded"), "re_retrieve")
    router = CragRouter(**settings, max_iterations=2, on_limit="abstain", aggregate="min", aggregate_over="all")
    state = router.run(query=QUESTION, documents=[doc("a canoe", score, status), doc("rain", 0.0)])["state"]
    again = [doc("a canoe", 0.2)] if status == "graded" else [doc("a boat", 0.2)]
    decision = router.run(query=QUESTION, documents=again, state=replace(state, best=()))["decision"]
    assert decision["abstention"]["found"]["best"]["score"] == wanted


@pytest.mark.parametrize(("web", "is_named"), [("skipped", False), ("cooldown", False), ("failed", True), ("ok", True)])
def test_words_for_a_web_that_was_not_searched_were_not_looked_for(web: Any, is_named: bool) -> None:
    """A rewriter has written them before anybody knew."""
    queries = ({"query": QUESTION, "strategy": "bm25"}, {"query": "canoe amundsen", "strategy": "web"})
    state = replace(CragState.start(QUESTION), queries=queries, web=web)
    result = abstain([doc("rain", 0.05)], state)
    named = {"query": "canoe amundsen", "strategies": ["web"]}
    assert (named in result["decision"]["abstention"]["looked_for"]) == is_named
    assert ("canoe amundsen" in lines(result)[0]) == is_named
