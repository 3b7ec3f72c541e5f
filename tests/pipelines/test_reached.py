"""A file of one's own in which a part would wait for ever is refused when it is loaded, not after a question."""

from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml
from haystack import Document, component
from haystack.components.generators.chat import MockChatGenerator
from haystack.components.rankers import LLMRanker
from makers import fill, grading_by

from haystack_integrations.crag.components.web_fallback import WebFallback
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.pipelines import load
from haystack_integrations.crag.pipelines.loader import read
from haystack_integrations.crag.pipelines.opening import memory_store

Spec = dict[str, Any]

RANKER = {
    "type": f"{LLMRanker.__module__}.LLMRanker",
    "init_parameters": {"chat_generator": MockChatGenerator('{"documents": [{"index": 1}]}').to_dict()},
}


@pytest.fixture
def loaded(tmp_path: Path) -> Callable[[Spec], Any]:
    """Writes a pipeline down and loads it with a scripted judge and model."""

    def loaded(spec: Spec) -> Any:
        own = tmp_path / "own.yml"
        own.write_text(yaml.safe_dump(spec))
        return load(own, grader=grading_by(lambda _: 0.1), generator=MockChatGenerator("Soon [1]."))

    return loaded


def ranked(query: str) -> Spec:
    """The recommended pipeline with a ranker before the grader, whose query comes from an output."""
    spec = read("corrective_rag")
    spec["components"]["rank"] = RANKER
    for link in spec["connections"]:
        if link["sender"] == "fuse.documents":
            link["sender"] = "rank.documents"
    links = {"fuse.documents": "rank.documents", query: "rank.query"}
    spec["connections"] += [{"sender": one, "receiver": other} for one, other in links.items() if one]
    return spec


def test_a_part_of_the_loop_that_gets_an_input_once_is_refused_with_what_comes_each_time(
    loaded: Callable[[Spec], Any],
) -> None:
    """Haystack empties a socket when its part has run: the second pass ended at the ranker, without a word."""
    with pytest.raises(ConfigurationError) as refused:
        loaded(ranked("guard.query"))
    assert str(refused.value) == (
        "'rank' runs in each pass, and rank.query comes from guard, which runs once: the second pass ends there "
        "without a result; connect what comes in each pass, such as search_query.value, or nothing, and give "
        "rank.query to the run, by a line under inputs at the end of the file"
    )


def test_what_only_a_correction_leads_to_may_get_an_input_once(tmp_path: Path) -> None:
    """How often it runs depends on the router, and here it is once: a ranker of what the web brings."""
    spec = read("heuristic_rag")
    spec["components"]["rank"] = RANKER
    for link in spec["connections"]:
        if link["sender"] == "web.documents":
            link["sender"] = "rank.documents"
    links = {"web.documents": "rank.documents", "guard.query": "rank.query"}
    spec["connections"] += [{"sender": one, "receiver": other} for one, other in links.items()]
    (tmp_path / "own.yml").write_text(yaml.safe_dump(spec))
    assert load(tmp_path / "own.yml").run(query="Who repairs bicycles?")["crag"]["trail"]


@pytest.mark.parametrize("query", ["search_query.value", ""])
def test_both_ways_out_let_the_second_pass_reach_the_end(query: str, loaded: Callable[[Spec], Any]) -> None:
    """The query of each pass, or the question, which a run gives to all passes."""
    spec = ranked(query)
    spec["inputs"]["query"] += [] if query else ["rank.query"]
    assert loaded(spec).run(query="Who repairs bicycles?")["crag"]["iterations"] == 2


def test_a_half_of_the_search_that_comes_once_is_refused_where_the_halves_meet(
    loaded: Callable[[Spec], Any],
) -> None:
    """The joiner waits for it."""
    spec = read("corrective_rag")
    for link in spec["connections"]:
        if link["receiver"] == "keywords.query":
            link["sender"] = "guard.query"
    with pytest.raises(ConfigurationError, match=r"'fuse' runs in each pass, and fuse.bm25 comes from bm25, which"):
        loaded(spec)


def test_a_ring_of_parts_that_nothing_begins_is_refused_where_it_would_begin(loaded: Callable[[Spec], Any]) -> None:
    """Each waits for the other: the run gave nothing, and said so behind the first question only."""
    spec = read("corrective_rag")
    spec["connections"] = [link for link in spec["connections"] if link["sender"] != "guard.query"]
    with pytest.raises(ConfigurationError) as refused:
        loaded(spec)
    assert str(refused.value) == (
        "no question leads to answer and record, since correction.value and graded.value and search_query.value can "
        "get a first value only from what comes behind; connect what begins it to correction.value or graded.value or "
        "search_query.value"
    )


@pytest.mark.parametrize(
    ("key", "line", "said"),
    [
        (
            "outputs",
            {"told": "record.crg"},
            r"the output 'told' .* names record.crg, and .* from \['crag', 'documents'\]",
        ),
        (
            "optional_inputs",
            {"past": ["prompt.past"]},
            r"the input 'past' .* names prompt.past, .* \['documents', 'quest",
        ),
    ],
)
def test_an_end_that_names_no_socket_is_told_with_those_that_there_are(
    key: str, line: Spec, said: str, loaded: Callable[[Spec], Any]
) -> None:
    """Of an input that is there and connected, Haystack's words said that it is not available."""
    spec = read("corrective_rag")
    spec[key] |= line
    with pytest.raises(ConfigurationError, match=said):
        loaded(spec)


def test_an_input_that_nothing_gives_is_named_before_the_first_question(loaded: Callable[[Spec], Any]) -> None:
    """As where a retriever was taken out, and the joiner's weights still name it."""
    spec = read("corrective_rag")
    spec["connections"] = [link for link in spec["connections"] if link["receiver"] != "fuse.dense"]
    with pytest.raises(ConfigurationError, match=r"'fuse' cannot run without dense, and nothing gives it; connect an"):
        loaded(spec)
    spec["optional_inputs"]["hits"] = ["fuse.dense"]
    assert loaded(spec).run(query="Who repairs bicycles?", hits=[])["crag"]["iterations"] == 2


def _with_another(pipeline: str, search: str, name: str) -> Spec:
    """Add a search like one that is there by its query and its list alone."""
    spec = read(pipeline)
    spec["components"][name] = deepcopy(spec["components"][search])
    spec["components"]["fuse"]["init_parameters"]["weights"][name] = 1.0
    spec["connections"] += [
        {"sender": "search_query.value", "receiver": f"{name}.query"},
        {"sender": f"{name}.documents", "receiver": f"fuse.{name}"},
    ]
    return spec


def test_filters_that_one_search_would_not_get_are_refused(in_memory_store: Any, tmp_path: Path) -> None:
    """It found what they close: a retriever that was added by its query and its list alone."""
    spec, own = _with_another("corrective_retrieval", "bm25", "third"), tmp_path / "own.yml"
    own.write_text(yaml.safe_dump(spec))
    with pytest.raises(ConfigurationError, match=r"leads to some searches, and not to third.filters, .* add third"):
        load(own, store=in_memory_store)
    fill(in_memory_store, [Document(content="A refund is paid in May.", meta={"team": "sales"})])
    ends, found = spec["optional_inputs"], list[int]()
    for line in ({"filters": [*ends["filters"], "third.filters"]}, {"filters_of_third": "third.filters"}):
        own.write_text(yaml.safe_dump(spec | {"optional_inputs": ends | line}))
        closed = {"field": "meta.team", "operator": "==", "value": "legal"}
        run = load(own, store=in_memory_store).run(query="When is a refund paid?", mode="observe", filters=closed)
        found.append(len(run["documents"]))
    assert found == [0, 1]


@component
class _WithoutFilters:
    """A search in what everybody may see."""

    @component.output_types(documents=list[Document])
    def run(self, query: str, top_k: int | None = None) -> dict[str, list[Document]]:
        return {"documents": [Document(content=f"A page on {query}")]}


@component
class _WithMore:
    """A search that tells of itself, and has one more setting of a run than the filters."""

    @component.output_types(documents=list[Document], report=dict[str, Any])
    def run(
        self, query: str, filters: Any = None, filters_used: dict[str, bool] | None = None, state: Any = None
    ) -> dict[str, Any]:
        return {"documents": [Document(content=f"A page on {query}")], "report": {"status": "ok"}}


def test_a_search_without_filters_and_other_inputs_of_a_run_are_not_asked_for_filters(
    in_memory_store: Any, tmp_path: Path
) -> None:
    """What `load` puts around the one has them, and the other's begin with the word: both were refused."""
    spec, own = _with_another("corrective_retrieval", "bm25", "third"), tmp_path / "own.yml"
    own.write_text(yaml.safe_dump(spec))
    question = "Who repairs bicycles?"
    assert load(own, store=in_memory_store, third=_WithoutFilters()).run(query=question, mode="observe")["documents"]
    with pytest.raises(ConfigurationError, match=r"and not to third.filters, which"):
        load(own, store=in_memory_store, third=_WithMore())
    spec["optional_inputs"]["filters"].append("third.filters")
    own.write_text(yaml.safe_dump(spec))
    assert load(own, store=in_memory_store, third=_WithMore()).run(query=question, mode="observe")["documents"]


@component
class _Scripted:
    """A web search that finds something whatever it is asked."""

    @component.output_types(documents=list[Document])
    def run(self, query: str) -> dict[str, list[Document]]:
        return {"documents": [Document(content=f"A page on {query}", meta={"url": "https://example.org/"})]}


def test_a_web_search_that_a_run_cannot_forbid_is_refused(tmp_path: Path) -> None:
    """Asked for its words alone beside the retrievers, it was asked in a run with `web=False`, too."""
    spec, own = _with_another("heuristic_rag", "web", "beside"), tmp_path / "own.yml"

    def loaded(spec: Spec) -> Any:
        own.write_text(yaml.safe_dump(spec))
        return load(own, store=memory_store(), beside=WebFallback(_Scripted()), web=WebFallback(_Scripted()))

    with pytest.raises(ConfigurationError, match=r"'beside' would ask the web also in a run with web=False"):
        loaded(spec)
    ends = spec["optional_inputs"] | {"web": ["guard.web", "beside.enabled"]}
    links = [*spec["connections"], {"sender": "state.value", "receiver": "beside.state"}]
    for told in (spec | {"optional_inputs": ends}, spec | {"connections": links}):
        rag = loaded(told)
        assert rag.run(query="Who repairs bicycles?", web=False, mode="observe")["documents"] == []
        assert rag.run(query="Who repairs bicycles?", mode="observe")["documents"]
