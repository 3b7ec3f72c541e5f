"""StopWordRemover: a search by words goes by those that name something, and a name keeps all of its words."""

from typing import Any

import pytest
from haystack import Document
from haystack.document_stores.in_memory import InMemoryDocumentStore
from hypothesis import given
from hypothesis import strategies as st
from makers import scripted

from haystack_integrations.crag.components.heuristic_grader import HeuristicGrader
from haystack_integrations.crag.components.static_document_embedder import StaticDocumentEmbedder
from haystack_integrations.crag.components.stop_word_remover import StopWordRemover
from haystack_integrations.crag.pipelines import load
from haystack_integrations.crag.texts.languages.stemming import STOP_WORDS


def words_of(query: str, **settings: Any) -> str:
    """What is left of a query."""
    left: str = StopWordRemover(**settings).run(query)["query"]
    return left


@pytest.mark.parametrize(
    ("query", "left"),
    [
        ("How do I turn the autosave off?", "turn autosave"),
        ("It can’t save. What should I do about the error?", "save. error?"),
        ("Wie kann ich eine gelöschte Datei wiederherstellen?", "gelöschte Datei wiederherstellen?"),
        ("¿Cómo puedo borrar un archivo?", "borrar archivo?"),
        ("HOW DO I RESET MY PASSWORD?", "RESET PASSWORD?"),
        ("How Do I Reset My Password?", "Reset Password?"),
        ("휴가를 신청하려면 어떻게 해야 하나요?", "휴가를 신청하려면"),
        ("I've lost my key, and they'd like to know how it'd open", "lost key, like know open"),
    ],
)
def test_words_that_only_hold_a_question_together_are_left_out(query: str, left: str) -> None:
    """Of English and of the other languages that are known, with any mark at their end."""
    assert words_of(query) == left


@pytest.mark.parametrize(
    ("query", "left"),
    [
        ("Who is the singer of The Who?", "singer The Who?"),
        ("When is the IT department open?", "IT department open?"),
        ("What does `with` do, and what 'for'?", "`with` 'for'?"),
        ("Is there an option --no or -A to it?", "option --no -A"),
        ("In London I met Will. I saw him", "London met Will. saw"),
        ("In London, as I'm told by Will", "London, told Will"),
        ("WHO guidelines for masks", "WHO guidelines masks"),
        ("IT: who is in charge?", "IT: charge?"),
        ("The Who Albums", "Who Albums"),
    ],
)
def test_what_is_written_as_a_name_stays(query: str, left: str) -> None:
    """A capital inside a sentence makes a name, and so do quotes, backticks and dashes; `I` is none."""
    assert words_of(query) == left


@pytest.mark.parametrize(
    "query",
    [
        "what is this about?",
        "who is it ?",
        "is it - or not?",
        "怎么删除文件？",
        "ファイルを削除するには",
        "autosave",
        " ",
        "",
    ],
)
def test_a_query_that_would_lose_all_or_nothing_stays_as_it_is(query: str) -> None:
    """Stop words alone are better than no query, or a mark alone; Chinese and Japanese have no spaces to part words."""
    assert words_of(query) == query


def test_capitals_of_a_query_that_has_no_others_make_no_name() -> None:
    """Who leaves the key for capitals on is searched for as anyone else; quotes still tell what is asked about."""
    assert words_of("WHAT IS THE NOTICE PERIOD OF 2024?") == "NOTICE PERIOD 2024?"
    assert words_of("WAS IST DIE FRIST, UND WO STEHT `WITH`?") == "FRIST, STEHT `WITH`?"
    assert words_of("THE WHO") == "THE WHO"


def test_versions_and_figures_are_searched_for_as_others_write_them_too() -> None:
    """To an index v3.12 and 3.12 are two words, and so are IC402 and IC 402."""
    assert words_of("What is new in v3.12?") == "new v3.12? 3.12"
    assert words_of("Where does the IC402 go at 6:30 pm?") == "IC402 go 6:30 pm? IC 402 18:30"


def test_words_of_ones_own_take_the_place_of_the_built_in_ones() -> None:
    """An empty list switches it off."""
    assert words_of("Which invoice is open?", stop_words=["Invoice"]) == "Which is open?"
    assert words_of("Which invoice is open?", stop_words=[]) == "Which invoice is open?"


_WORDS = st.one_of(st.sampled_from(sorted(STOP_WORDS)), st.text(st.characters(exclude_categories=["Nd"]), min_size=1))


@given(st.lists(_WORDS, max_size=20).map(" ".join))
def test_words_are_left_out_and_never_changed_or_moved(query: str) -> None:
    """Whatever the query without figures, what is left stands in it in this order, and a query with words keeps one."""
    left, rest = words_of(query), iter(query.split())
    assert all(word in rest for word in left.split())
    assert bool(left.split()) == bool(query.split())


@pytest.mark.parametrize("name", ["corrective_rag", "heuristic_rag", "baseline_rag"])
def test_a_pipeline_finds_by_words_what_the_question_names(name: str) -> None:
    """A text full of the question's small words comes before the one on its topic only where this is switched off."""
    question = "How do I do it if the jet of a carburettor is not the one that I had?"
    small = Document(
        content="Do I do it? If I do it, how is it that it is not the one that I had, and the one of the two?"
    )
    named = Document(content="Carburettor: clean it with a thin brass wire, then let warm water run through.")
    store = InMemoryDocumentStore(embedding_similarity_function="cosine")
    store.write_documents(StaticDocumentEmbedder().run([small, named])["documents"])

    def first(**settings: Any) -> str:
        parts = {} if name == "baseline_rag" else {"grader": HeuristicGrader(), "router": {"mode": "off"}}
        rag: Any = load(name, store=store, generator=scripted("Clean it [1]."), **parts, **settings)
        found = rag.pipeline.run(rag.arguments({"query": question}), include_outputs_from={"bm25"})
        return str(found["bm25"]["documents"][0].id)

    assert first() == named.id
    assert first(keywords={"stop_words": []}) == small.id
