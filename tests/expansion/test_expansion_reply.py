"""Reading queries from a reply: what a model puts around them, and what is no query."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haystack_integrations.crag.expansion.query_text import MAX_QUERY_CHARACTERS, bounded, cleaned, one_line, query_key
from haystack_integrations.crag.expansion.reply import read_queries
from haystack_integrations.crag.expansion.rules import keywords
from haystack_integrations.crag.templates import new_boundary


@pytest.mark.parametrize(
    ("reply", "queries"),
    [
        ("fast cars", ["fast cars"]),
        ('"fast cars"', ["fast cars"]),
        ("Query: fast cars", ["fast cars"]),
        ("**Search query:** `fast cars`", ["fast cars"]),
        ("*fast cars*", ["fast cars"]),
        ("__fast cars__", ["fast cars"]),
        ("1. _fast cars_\n2. *slow* cars", ["fast cars", "*slow* cars"]),
        ("Here are two queries:\n1. fast cars\n2) “quick automobiles”", ["fast cars", "quick automobiles"]),
        ("- fast cars\n- FAST  cars\n- slow cars", ["fast cars", "slow cars"]),
        ("```\nfast cars\n```", ["fast cars"]),
        ("# Queries\nfast cars", ["fast cars"]),
        ('{"query": "fast cars"}', ["fast cars"]),
        ('```json\n{"queries": ["fast cars", "slow cars"]}\n```', ["fast cars", "slow cars"]),
        ('[{"query": "fast cars"}, {"query": "slow cars"}]', ["fast cars", "slow cars"]),
        ('["fast cars", 7, null]', ["fast cars"]),
        ('<think>maybe "slow"?</think>fast cars', ["fast cars"]),
        ("The user asks for speed.\nPerhaps slow cars?\n</think>\n\nfast cars", ["fast cars"]),
        ('speed of "Model S" cars', ['speed of "Model S" cars']),
        ("[1] fast cars\n[2] slow cars", ["fast cars", "slow cars"]),
        ("the array[1] of cars", ["the array[1] of cars"]),
        ('{"query": "fast cars"} {"query": "slow cars"}', ["fast cars", "slow cars"]),
        ('Here it is: {"query": "fast cars"}', ["fast cars"]),
        ('Why does {"query": "cars"} give 422?', ['Why does {"query": "cars"} give 422?']),
        ('Is ["cars"] a filter?', ['Is ["cars"] a filter?']),
        ("Standalone question\uff1a「速い車」", ["速い車"]),
        ("> „szybkie auta”", ["szybkie auta"]),
        ("1984 novel", ["1984 novel"]),
        ("3.5 mm jack", ["3.5 mm jack"]),
        ("5. Mai 1945", ["5. Mai 1945"]),
        ("2. Weltkrieg Ende", ["2. Weltkrieg Ende"]),
        ("1. 8. Mai 1945\n2. Kriegsende in Berlin", ["8. Mai 1945", "Kriegsende in Berlin"]),
        ("- 12. Mai 1949\n- Ende der Blockade", ["12. Mai 1949", "Ende der Blockade"]),
        ("fast\u200b\U000e0041cars\x07 now", ["fastcars now"]),
        ("می‌خواهم", ["می‌خواهم"]),
    ],
)
def test_queries_are_read_whatever_stands_around_them(reply: str, queries: list[str]) -> None:
    """Lines or JSON, each query once."""
    assert read_queries(reply, "stop") == (queries, None)


@pytest.mark.parametrize("reply", ["1. Bundesliga Meister 2020", '{"query": "1. Bundesliga Meister 2020"}'])
def test_a_single_query_keeps_a_number_that_the_question_has_in_that_form(reply: str) -> None:
    """A list of one is numbered, too; of several lines they number the list."""
    asked = "Wer wurde 2020 Meister der 1. Bundesliga?"
    assert read_queries(reply, "stop", asked) == (["1. Bundesliga Meister 2020"], None)
    assert read_queries(reply, "stop", "Wer wurde Meister?") == (["Bundesliga Meister 2020"], None)
    assert read_queries("1. Bundesliga\n2. Meister", "stop", asked) == (["Bundesliga", "Meister"], None)


@pytest.mark.parametrize(
    ("reply", "finish_reason", "problem"),
    [
        (None, "stop", "empty"),
        ("", None, "empty"),
        ("fast ca", "length", "length"),
        ("fast ca", "max_tokens", "length"),
        ("no", "content_filter", "content_filter"),
        ('{"query": "fast ca', "stop", "not_json"),
        ('{"answer": "fast cars"}', "stop", "not_json"),
        ("[1]", "stop", "not_json"),
        ("x" * 301, "stop", "unusable"),
        ("Here it is:", "stop", "unusable"),
        ("[" * 20_000, "stop", "too_long"),
    ],
)
def test_what_is_no_query_is_named(reply: str | None, finish_reason: str | None, problem: str) -> None:
    """A cut reply gives nothing: its last query may lack its end."""
    assert read_queries(reply, finish_reason) == ([], problem)


@pytest.mark.parametrize("asked", ["I can't log in", "Done, but I cannot log in!", "I can\u2019t log in, and now?"])
def test_what_somebody_cannot_do_is_no_excuse_of_the_model(asked: str) -> None:
    """The most usual beginning of what people write to a help desk."""
    for query in ("I can't log in to the VPN", "I cannot log in to the VPN"):
        assert read_queries(query, "stop", asked) == ([query], None)
        assert read_queries(query, "stop", "How do I log in?") == ([], "unusable")
    for excuse in ("Sorry, I can't help with that.", "I cannot help with that request."):
        assert read_queries(excuse, "stop", asked) == ([], "unusable")


@pytest.mark.parametrize("what", ["found", "said"])
@pytest.mark.parametrize(
    "reply", ["</{tag}> fast cars", "<{tag}>fast cars</{tag}>", '{{"query": "fast <{tag}> cars"}}']
)
def test_a_query_with_a_tag_of_the_prompt_is_none(what: str, reply: str) -> None:
    """Whoever repeats the prompt has copied a document."""
    assert read_queries(reply.format(tag=new_boundary(what)), "stop") == ([], "unusable")


@given(st.text(max_size=400))
def test_a_query_read_is_one_visible_line_within_the_limit(reply: str) -> None:
    """Whatever the reply is; and no two are the same."""
    queries, problem = read_queries(reply, "stop")
    assert (problem is None) == bool(queries)
    for query in queries:
        assert 0 < len(query) <= MAX_QUERY_CHARACTERS
        assert query == one_line(query)
        assert any(sign.isalnum() for sign in query)
    assert len({query_key(query) for query in queries}) == len(queries)


@given(st.text(max_size=200))
def test_cleaning_twice_changes_nothing_that_matters(line: str) -> None:
    """A cleaned line is never longer than the line, and one line stays one line."""
    assert len(cleaned(line)) <= len(line)
    assert one_line(one_line(line)) == one_line(line)


def test_the_same_query_in_other_letters_is_the_same() -> None:
    """Case, composed and decomposed letters, white space, a final mark."""
    assert query_key("Café  au lait?") == query_key("CAFE\u0301 au\tlait")
    assert query_key("C#") != query_key("C++") != query_key("C")
    assert query_key("?") == "?"


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("x" * MAX_QUERY_CHARACTERS, "x" * MAX_QUERY_CHARACTERS),
        (f"a {'x' * (MAX_QUERY_CHARACTERS - 2)} more", f"a {'x' * (MAX_QUERY_CHARACTERS - 2)}"),
        (f"a {'x' * (MAX_QUERY_CHARACTERS - 1)} more", "a"),
        ("x" * MAX_QUERY_CHARACTERS + "y z", "x" * MAX_QUERY_CHARACTERS),
    ],
    ids=["fits", "ends_with_a_word", "ends_within_a_word", "one_long_word"],
)
def test_a_query_that_is_too_long_is_cut_between_words_where_it_can_be(text: str, sent: str) -> None:
    """No longer than may be sent, and no shorter than it needs to be."""
    assert bounded(text) == sent


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("How high is the Tokyo Tower, how high?", "high tokyo tower"),
        ("The 東京タワー of 1958、高さは?", "東京タワー 1958 高さは"),
        ("What goes into on_delete, and does __str__ matter?", "goes on_delete delete str matter"),
    ],
)
def test_the_keywords_of_a_question_are_what_it_is_about(question: str, words: str) -> None:
    """Each once, none that every question has, names of code as written; without spaces, what is between marks."""
    assert keywords(question) == words
