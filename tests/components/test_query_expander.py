"""QueryExpander: other words, other strategies, never the same twice."""

import json
import threading
from dataclasses import replace
from typing import Any

import pytest
from haystack import Document
from hypothesis import given
from hypothesis import strategies as st
from makers import after, scripted

from haystack_integrations.crag.components.query_expander import QueryExpander
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.state import CragState

STRATEGIES = [
    {"name": "dense", "weights": {"bm25": 0.0, "dense": 1.0}},
    {"name": "expanded", "weights": {"bm25": 1.0, "dense": 0.3}, "expand": True},
]


def test_synonyms_are_at_most_two_per_term_in_the_order_of_the_question() -> None:
    """Deterministic, so a run can be repeated."""
    expander = QueryExpander(synonyms={"fast": ["quick", "rapid", "swift"], "car": ["automobile"]})
    assert expander.run(query="Is the car fast?")["query"] == "Is the car fast? automobile quick rapid"


def test_what_is_to_be_defined_is_searched_for_where_definitions_stand() -> None:
    """The word stands in many passages, and that of the glossary has it no more often than others."""
    expander = QueryExpander(synonyms={"trigger": ["hook"]})
    assert expander.run(query="What is a trigger?")["query"] == "trigger glossary terminology definitions"
    assert expander.run(query="What does a trigger cost?")["query"] == "What does a trigger cost? hook"


def test_phrases_win_over_their_words() -> None:
    """`log in` is one term; its words are not expanded a second time."""
    expander = QueryExpander(synonyms={"log in": ["sign in"], "log": ["record"]})
    assert expander.run(query="How do I log in?")["query"] == "How do I log in? sign in"


@pytest.mark.parametrize(
    ("question", "term", "synonym", "found"),
    [
        ("怎么删除文件？", "删除", "移除", True),
        ("ファイルを削除するには", "削除", "消去", True),
        ("파일을 삭제하려면?", "삭제", "제거", True),
        ("วิธีลบไฟล์", "ลบ", "นำออก", True),
        ("怎么调用API的方法？", "api", "接口", True),
        ("怎么删除或移除文件？", "删除", "移除", False),  # it has that word
        ("a scarf", "car", "automobile", False),
    ],
)
def test_a_term_is_found_where_its_script_parts_no_words(question: str, term: str, synonym: str, found: bool) -> None:
    """Chinese and Japanese have no spaces, and Korean writes particles behind; Latin words stay whole."""
    query = QueryExpander(synonyms={term: [synonym]}).run(query=question).get("query", "")
    assert (f" {synonym}" in query) == found


def test_a_plural_finds_the_synonyms_of_its_singular() -> None:
    """`cars` is a form of `car`."""
    assert QueryExpander(synonyms={"car": ["automobile"]}).run(query="fast cars")["query"] == "fast cars automobile"


@pytest.mark.parametrize("suffix", [".json", ".yml"])
def test_a_users_mapping_file_may_be_json_or_yaml(suffix: str, tmp_path: Any) -> None:
    """The file replaces the built-in synonyms."""
    path = tmp_path / f"synonyms{suffix}"
    path.write_text(json.dumps({"widget": ["gadget"]}))
    assert QueryExpander(synonyms=str(path)).run(query="broken widget")["query"] == "broken widget gadget"


@pytest.mark.parametrize("suffix", [".json", ".yml"])
@pytest.mark.parametrize("content", ["- a\n- b", "car: automobile", "a: [1]", "{", '{"a": [" "]}', "no: [nope]", ""])
def test_an_unusable_mapping_file_is_refused_with_the_form_that_is_wanted(
    content: str, suffix: str, tmp_path: Any
) -> None:
    """At construction, not at the first question."""
    path = tmp_path / f"synonyms{suffix}"
    path.write_text(content)
    with pytest.raises(ConfigurationError, match=r"term: \[synonym"):
        QueryExpander(synonyms=str(path))
    with pytest.raises(ConfigurationError, match="cannot be read"):
        QueryExpander(synonyms=str(tmp_path / "missing.yml"))


def test_a_refinement_learns_words_from_the_kept_evidence() -> None:
    """Words that the evidence shares and the question lacks."""
    kept = tuple(Document(content=f"The turbocharger raises boost pressure {n}.") for n in range(2))
    state = after("refine", CragState.start("engine power", kept=kept))
    query = QueryExpander(synonyms={}).run(state=state)["query"]
    assert query.startswith("engine power ")
    assert {"turbocharger", "boost", "pressure", "raises"} & set(query.split())


LEARNED = {
    "German": (
        "Wann wird eine Rückerstattung gezahlt?",
        "Die Rückerstattung wird nicht gezahlt, wenn der Kunde den Beleg nicht hat und die Ware nicht angenommen ist.",
        "Für die Ware muss der Kunde einen Beleg vorlegen, oder es wird auch sie nicht angenommen.",
        {"kunde", "beleg", "ware", "angenommen", "vorlegen"},
    ),
    "French": (
        "Quand un remboursement est-il versé ?",
        "Pour obtenir cette somme, le client doit avoir une facture, sauf lorsque les produits ont été endommagés.",
        "Pour être remboursé, le client doit renvoyer avec la facture tous les produits qui sont dans la boîte.",
        {"client", "facture", "produits"},
    ),
    "Spanish": (
        "¿Cuándo se paga un reembolso?",
        "Para este pago el cliente debe tener la factura, también cuando los productos han sido dañados.",
        "El cliente tiene que enviar para ello los productos con la factura, desde donde fueron comprados.",
        {"cliente", "factura", "productos"},
    ),
    "Italian": (
        "Quando viene pagato un rimborso?",
        "Il cliente deve avere una fattura per la merce, anche quando questa non è stata danneggiata dalla posta.",
        "Per questo il cliente deve spedire la merce con la fattura dalla città nella quale è stata comprata.",
        {"cliente", "fattura", "merce"},
    ),
    "Dutch": (
        "Wanneer wordt een terugbetaling gedaan?",
        "De klant moet hiervoor een factuur hebben, ook wanneer de goederen niet werden beschadigd.",
        "Voor deze betaling moet de klant de goederen met een factuur terugsturen, wanneer zij niet werden verkocht.",
        {"klant", "factuur", "goederen"},
    ),
    "Portuguese": (
        "Quando é pago um reembolso?",
        "O cliente deve também apresentar uma fatura para que seja aceite, quando os produtos não foram danificados.",
        "Para este pagamento o cliente deve enviar os produtos com uma fatura pela loja de onde foram comprados.",
        {"cliente", "fatura", "produtos"},
    ),
}


def test_a_refinement_asks_what_is_missing_of_those_whom_the_evidence_names() -> None:
    """The page of the person answers half; the other half stands on the page of the employer, whom only it names."""
    page = Document(content="Mary Ashford (born 1931) was a chemist at Kelburn Institute. She studied in Lowmere.")
    state = after(
        "refine", CragState.start("In which city did the employer of chemist Mary Ashford lie?", kept=(page,))
    )
    query = QueryExpander(synonyms={}).run(state=state)["query"]
    assert query.startswith("city employer lie Kelburn Institute Lowmere")


@pytest.mark.parametrize("kept", ["A refund is paid within 30 days.", "Anna Huber founded the company in 1998."])
def test_a_refinement_asks_the_question_first_that_the_evidence_says_least_of(kept: str) -> None:
    """A chat model grades passages, and does not tell which of two questions they answer."""
    asked = {"When is a refund paid": "refund", "who founded the company": "Huber"}
    state = CragState.start(f"{' and '.join(asked)}?", kept=(Document(content=kept),))
    (left,) = [question for question, told in asked.items() if told not in kept]
    assert QueryExpander().run(state=after("refine", state))["query"] == left
    sent = QueryExpander(mode="web").run(state=after("web_and_refine", state))["query"]
    assert sent in ("refund paid", "founded company") and set(sent.split()) <= set(left.split())


def test_a_third_search_asks_of_those_whom_new_evidence_names() -> None:
    """What the evidence named before has been searched for."""
    question, first = "Who owns the maker of the Corvel engine?", Document(content="The Corvel is built by Harn Works.")
    state = after("refine", CragState.start(question, kept=(first,)))
    second = QueryExpander(synonyms={}).run(state=state)["state"]
    assert second.queries[-1]["query"] == "owns maker engine Harn Works built"
    found = Document(content="Harn Works belongs to Ostrey Group.")
    third = after("refine", replace(second, kept=(first, found)))
    assert "Ostrey Group" in QueryExpander(synonyms={}).run(state=third)["query"]


@pytest.mark.parametrize(("question", "one", "two", "telling"), LEARNED.values(), ids=LEARNED)
def test_words_that_every_text_of_its_language_has_are_not_learned(
    question: str, one: str, two: str, telling: set[str]
) -> None:
    """`nicht`, `pour`, `para` and `deve` stood in the query in the place of what the evidence is about."""
    state = after("refine", CragState.start(question, kept=(Document(content=one), Document(content=two))))
    query = QueryExpander(synonyms={}).run(state=state)["query"].lower().split()
    learned = [word for word in query if word not in question.lower()]
    assert len(learned) >= 3
    assert set(learned) <= telling


def test_re_retrieve_climbs_the_ladder_of_strategies() -> None:
    """First the same words by another strategy, then other words; weights travel in the state."""
    expander = QueryExpander(strategies=STRATEGIES, synonyms={"car": ["automobile"]})
    start = CragState.start("fast car", strategy="bm25", weights={"bm25": 1.0, "dense": 0.0})
    first = expander.run(state=after("re_retrieve", start))
    assert (first["query"], first["state"].strategy) == ("fast car", "dense")
    assert first["state"].weights == {"bm25": 0.0, "dense": 1.0}
    second = expander.run(state=after("re_retrieve", first["state"]))
    assert (second["query"], second["state"].strategy) == ("fast car automobile", "expanded")
    third = expander.run(state=after("re_retrieve", second["state"]))
    assert third["state"].strategy == "expanded"
    assert third["query"] != second["query"]


def test_where_there_are_no_other_words_another_strategy_is_asked_in_the_questions_own() -> None:
    """Of stop words nothing else can be made; the dense retriever may find what the other did not, all the same."""
    strategies = [{"name": "dense", "weights": {"bm25": 0.0, "dense": 1.0}, "expand": True}]
    expander = QueryExpander(strategies=strategies)
    start = CragState.start("What is IT?", strategy="bm25", weights={"bm25": 1.0})
    first = expander.run(state=after("re_retrieve", start))
    assert (first["query"], first["state"].strategy) == ("What is IT?", "dense")
    second = expander.run(state=after("re_retrieve", first["state"]))
    assert "query" not in second
    assert second["exhausted"] == []


def test_the_question_itself_is_never_replaced() -> None:
    """Only the search query changes, always starting from the user's words."""
    expander = QueryExpander(synonyms={"car": ["automobile", "vehicle", "motor", "wheels"]})
    state = CragState.start("fast car")
    for _ in range(3):
        state = after("refine", expander.run(state=after("refine", state))["state"])
        assert state.query == "fast car"


@pytest.mark.parametrize(("mode", "warned"), [("synonyms", True), ("llm", False), ("web", False)])
def test_a_model_that_the_mode_never_asks_is_told(mode: Any, warned: bool, caplog: pytest.LogCaptureFixture) -> None:
    """Who passes a model and leaves the mode out got the rules, and nothing said so."""
    QueryExpander(mode=mode, chat_generator=scripted("no query"))
    assert ("chat_generator has no effect in the mode 'synonyms'" in caplog.text) == warned


def test_a_template_that_the_mode_never_renders_is_told(caplog: pytest.LogCaptureFixture) -> None:
    """Not even its mistakes were: it is compiled where a model may be asked."""
    QueryExpander(template="{{ question }}")
    assert "template has no effect in the mode 'synonyms'" in caplog.text


def test_the_web_mode_gives_under_ten_keywords() -> None:
    """By rule: content words in order."""
    question = "Could you please tell me " + " ".join(f"topic{n}" for n in range(20)) + "?"
    words = QueryExpander(mode="web").run(query=question)["query"].split()
    assert len(words) < 10
    assert "the" not in words


def test_of_a_long_question_the_web_is_asked_what_it_asks() -> None:
    """Not its first nine words, which tell what somebody bought; what asks cannot be understood without them."""
    told = "I bought a lamp in Vienna on 5 March 2024 and it broke after thirteen months of use."
    question = f"{told} Is it still under warranty? I live in Graz."
    query = QueryExpander(mode="web").run(query=question)["query"]
    assert query.split()[:2] == ["still", "warranty"]
    assert len(query.split()) == 9


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How many workers?", ["many workers", "workers"]),
        ("Wie lange ist die K\u00fcndigungsfrist?", ["lange k\u00fcndigungsfrist", "k\u00fcndigungsfrist"]),
        ("What is the occupation of Jo Ox?", ["occupation jo ox", "jo ox"]),
        ("What happened at sea in 1889?", ["happened sea 1889", "happened 1889"]),
    ],
)
def test_the_word_that_tells_least_is_left_out_first(question: str, expected: list[str]) -> None:
    """A search for "many" or for "wie lange ist die" finds anything; names and numbers stay longest."""
    expander, state, found = QueryExpander(synonyms={}), CragState.start(question), []
    for _ in expected:
        result = expander.run(state=after("re_retrieve", state))
        state = result["state"]
        found.append(result["query"])
    assert found == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is the revenue of AT&T?", "revenue at&t"),
        ("Is C++ faster than C#?", "c++ faster c#"),
        ("How do I use node.js and ASP.NET in v2.1.0?", "use node.js asp.net v2.1.0"),
        ("What happened on 24.12.2021 AT R&D?", "happened 24.12.2021 r&d"),
        ("Who leads the U.S. Army, e.g. in 3.5 or 1,500 days?I ask.When", "leads us army eg 3.5 1500 days ask"),
    ],
)
def test_keywords_keep_names_that_are_others_once_they_are_cut_into_words(question: str, expected: str) -> None:
    """A search for "revenue" or for "c" finds something else; abbreviations, numbers and slips stay words."""
    assert QueryExpander(mode="web").run(query=question)["query"] == expected


def test_when_no_other_query_is_left_it_says_so() -> None:
    """An empty list for the judge in place of a repeated query."""
    expander = QueryExpander(synonyms={})
    state, seen = CragState.start("emma"), 0
    while "query" in (result := expander.run(state=after("refine", state))):
        state, seen = result["state"], seen + 1
        assert seen < 10
    assert result["exhausted"] == []


@given(
    question=st.text(st.sampled_from("abc car fast log in the?"), min_size=1, max_size=30).filter(str.strip),
    actions=st.lists(st.sampled_from(["refine", "re_retrieve"]), max_size=8),
)
def test_the_same_query_is_never_sent_twice_with_the_same_strategy(question: str, actions: list[str]) -> None:
    """For any question and any order of corrections."""
    expander = QueryExpander(strategies=STRATEGIES)
    state = CragState.start(question, strategy="bm25")
    for action in actions:
        state = expander.run(state=after(action, state))["state"]
    tried = [(entry["query"].casefold(), entry["strategy"]) for entry in state.queries]
    assert len(tried) == len(set(tried))


@pytest.mark.parametrize(
    ("settings", "way_out"),
    [
        ({"mode": "llm2"}, "one of"),
        ({"mode": "llm"}, "pass one, or choose mode 'synonyms'"),
        ({"chat_generator": "gpt"}, "Haystack chat generator"),
        ({"max_synonyms_per_term": 0}, "> 0"),
        ({"n": 0}, "from 1 to 10"),
        ({"n": 11}, "from 1 to 10"),
        ({"timeout_s": 0}, "> 0"),
        ({"strategies": [{"name": "x"}]}, "needs a name and weights"),
        # An expander writes queries for the web by keywords alone, and records and traces read that word, too.
        *(
            ({"strategies": [{"name": bad, "weights": {"bm25": 1}}]}, "name must be a text")
            for bad in ("web", "", None)
        ),
        ({"strategies": [{"name": "x", "weights": {"bm25": 1}, "expand": "no"}]}, "expand, true or false, but got"),
        (
            {"mode": "multi", "template": ["{{ question }}"], "chat_generator": scripted("x")},
            "must be a text, but got a list",
        ),
        ({"synonyms": {"a": "b"}}, "for the term 'a'"),
        ({"synonyms": {" ": ["b"]}}, "got the term ' '"),
        ({"mode": "multi", "template": "{{ query }}"}, "'question'"),
        ({"mode": "multi", "template": "Write something."}, "shows no"),
    ],
)
def test_unusable_settings_are_refused_with_the_way_out(settings: dict[str, Any], way_out: str) -> None:
    """At construction."""
    with pytest.raises(ConfigurationError, match=way_out):
        QueryExpander(**settings)


async def test_on_an_event_loop_the_evidence_is_read_beside_it() -> None:
    """Five texts of a hundred pages take seconds, in which a server would answer nobody."""
    readers: set[int] = set()

    class Noticed(dict[str, Any]):
        def get(self, *args: Any) -> Any:
            readers.add(threading.get_ident())
            return super().get(*args)

    page = Document(content="The tower stands in Paris. It was built by Gustave Eiffel.", meta=Noticed(title="Eiffel"))
    state = after("refine", CragState.start("When did the tower open?", kept=(page,)))
    found = await QueryExpander().run_async(state=state)
    assert readers
    assert threading.get_ident() not in readers
    assert found["query"] == QueryExpander().run(state=state)["query"]
    assert "Gustave" in found["query"]


def test_neither_question_nor_state_is_an_error() -> None:
    """With the way out."""
    with pytest.raises(ConfigurationError, match="pass query, or connect"):
        QueryExpander().run()


def test_a_json_file_may_be_indented_with_tabs(tmp_path: Any) -> None:
    """YAML, which reads most JSON, would refuse it."""
    path = tmp_path / "synonyms.json"
    path.write_text('{\n\t"widget": ["gadget"]\n}')
    assert QueryExpander(synonyms=str(path)).run(query="broken widget")["query"] == "broken widget gadget"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("own.yml", "widget: [gadget]\nlamp: [light]\nwidget: [gizmo, gadget]\n"),
        ("own.json", '{"widget": ["gadget"], "lamp": ["light"], "widget": ["gizmo", "gadget"]}'),
    ],
)
def test_a_term_that_stands_twice_in_a_file_has_the_synonyms_of_both(tmp_path: Any, name: str, text: str) -> None:
    """As in one that several people write: YAML and JSON keep the last entry and say nothing of the first."""
    (tmp_path / name).write_text(text)
    expander = QueryExpander(synonyms=str(tmp_path / name))
    assert expander.run(query="broken widget")["query"] == "broken widget gadget gizmo"


def test_a_changed_mapping_file_is_read_again(tmp_path: Any) -> None:
    """By the next expander that is built."""
    path = tmp_path / "synonyms.yml"
    for word in ("gadget", "gizmo"):
        path.write_text(f"widget: [{word}]")
        assert QueryExpander(synonyms=str(path)).run(query="broken widget")["query"] == f"broken widget {word}"


def test_the_question_of_a_published_design_gets_its_synonyms() -> None:
    """Design 001, with its mapping given as data."""
    mapping = {"async": ["asynchronous", "concurrent", "non-blocking"], "explain": ["describe", "clarify"]}
    query = QueryExpander(synonyms=mapping).run(query="explain async function")["query"]
    assert query == "explain async function describe clarify asynchronous concurrent"


def test_side_by_side_the_question_comes_first() -> None:
    """So that original and expanded retrieval run in one pass; `query` is the new one."""
    expander = QueryExpander(synonyms={"car": ["automobile"]}, keep_original=True)
    result = expander.run(state=after("refine", CragState.start("fast car")))
    assert result["queries"] == ["fast car", "fast car automobile"]
    assert result["query"] == "fast car automobile"
    assert [entry["query"] for entry in result["state"].queries] == ["fast car", "fast car automobile"]


def test_alone_the_new_query_is_the_only_one() -> None:
    """Without `keep_original`."""
    result = QueryExpander(synonyms={"car": ["automobile"]}).run(query="fast car")
    assert result["queries"] == ["fast car automobile"]


def test_multi_gives_several_wordings_at_once_and_others_in_the_next_pass() -> None:
    """Without a model by the rules."""
    expander = QueryExpander(mode="multi", n=2, synonyms={"car": ["automobile", "motor", "vehicle"]})
    first = expander.run(state=after("refine", CragState.start("the fastest red car")))
    second = expander.run(state=after("refine", first["state"]))
    assert first["queries"][0] == second["queries"][0] == "the fastest red car"
    assert first["query"] == first["queries"][1]
    new = first["queries"][1:] + second["queries"][1:]
    assert len(new) == len(set(new)) == 4
    assert first["report"] == {
        "mode": "multi",
        "source": "rules",
        "fallback": None,
        "queries": 2,
        "refused": 0,
        "llm_calls": 0,
        "tokens_in": 0,
        "tokens_out": 0,
    }


def test_the_query_that_goes_alone_names_the_pass_in_the_record() -> None:
    """The record reads the last entry of the state's queries."""
    result = QueryExpander(mode="multi", n=3).run(state=after("refine", CragState.start("fast red car of my uncle")))
    assert len(result["queries"]) == 4
    assert result["state"].queries[-1]["query"] == result["query"]


def test_decompose_gives_the_parts_of_a_question() -> None:
    """And once they are all tried, other words for the whole."""
    expander = QueryExpander(mode="decompose")
    state = after("re_retrieve", CragState.start("Where was Alan Turing born and when did he die?"))
    first = expander.run(state=state)
    assert first["queries"][1:] == ["Where was Alan Turing born", "when did Alan Turing die"]
    second = expander.run(state=after("refine", first["state"]))
    assert len(second["queries"]) == 2
    assert second["query"] not in first["queries"]


@pytest.mark.parametrize("mode", ["multi", "decompose"])
def test_before_the_first_retrieval_a_question_without_other_words_is_sent_itself(mode: Any) -> None:
    """An expander in front of a retriever must not swallow the question; in a loop it would be a repetition."""
    result = QueryExpander(mode=mode, synonyms={}).run(query="emma")
    assert (result["query"], result["queries"]) == ("emma", ["emma"])
    again = QueryExpander(mode=mode, synonyms={}).run(state=after("refine", result["state"]))
    assert again["exhausted"] == []
    assert not {"query", "queries"} & set(again)


def test_the_web_is_asked_the_question_that_the_index_has_seen() -> None:
    """The same words, but another place: a question of keywords is not expanded just to be different."""
    expander = QueryExpander(mode="web")
    first = expander.run(state=after("web", CragState.start("fast car", strategy="bm25", weights={"bm25": 1.0})))
    assert first["query"] == "fast car"
    assert (first["state"].strategy, first["state"].weights) == ("bm25", {"bm25": 1.0})
    assert first["state"].queries[-1] == {"query": "fast car", "strategy": "web"}
    assert expander.run(state=after("web", first["state"]))["query"] != "fast car"


def test_the_web_mode_learns_nothing_from_documents() -> None:
    """The taint rule: no word of the kept evidence, nor of a query that learned from it."""
    kept = tuple(Document(content=f"The turbocharger canary raises boost {n}.") for n in range(3))
    state = CragState.start("engine power", kept=kept)
    state = after("web", QueryExpander(synonyms={}).run(state=after("refine", state))["state"])
    assert "canary" in " ".join(entry["query"] for entry in state.queries)
    expander = QueryExpander(mode="web", synonyms={"power": ["strength"]})
    while "query" in (result := expander.run(state=state)):
        assert set(result["query"].split()) <= {"engine", "power", "strength"}
        state = after("web", result["state"])


def test_scripts_without_spaces_are_not_cut_into_characters_for_the_web() -> None:
    """A run of characters between marks is a word there."""
    assert QueryExpander(mode="web").run(query="東京の人口は、何人ですか？")["query"] == "東京の人口は 何人ですか"
    many = "、".join(f"東京{n}区" for n in range(20))
    assert QueryExpander(mode="web").run(query=many)["query"].split() == [f"東京{n}区" for n in range(9)]
