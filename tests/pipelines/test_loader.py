"""load(): parts by name, any store, clear errors, and a SuperComponent that goes wherever components go."""

import asyncio
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import yaml
from haystack import Document, Pipeline, SuperComponent, component
from haystack.components.agents import Agent
from haystack.components.embedders import MockTextEmbedder
from haystack.components.generators.chat import MockChatGenerator
from haystack.components.rankers import LLMRanker
from haystack.components.retrievers import TextEmbeddingRetriever
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever, InMemoryEmbeddingRetriever
from haystack.core.errors import PipelineRuntimeError
from haystack.dataclasses import ChatMessage, ToolCall
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.errors import FilterError
from haystack.tools import ComponentTool, PipelineTool
from haystack.utils import Secret
from makers import fill, grading_by, scripted

from haystack_integrations.crag.components.batch_relevance_grader import BatchRelevanceGrader
from haystack_integrations.crag.components.heuristic_grader import HeuristicGrader
from haystack_integrations.crag.components.question_guard import QuestionGuard
from haystack_integrations.crag.components.ranker_grader import RankerGrader
from haystack_integrations.crag.components.reporting_text_embedding_retriever import ReportingTextEmbeddingRetriever
from haystack_integrations.crag.components.static_text_embedder import StaticTextEmbedder
from haystack_integrations.crag.components.web_fallback import WebFallback
from haystack_integrations.crag.encoding.static_model import SHIPPED_MODEL
from haystack_integrations.crag.errors import ConfigurationError, QuestionError, causes
from haystack_integrations.crag.pipelines import export, load, names
from haystack_integrations.crag.pipelines.loader import read, source
from haystack_integrations.crag.pipelines.opening import model_parts
from haystack_integrations.crag.pipelines.placing import with_settings
from haystack_integrations.crag.pipelines.reading import parsed
from haystack_integrations.crag.store_profiles import open_store

QUESTION = "Where do penguins live?"
TEXTS = ["Penguins live in Antarctica and on southern coasts.", "Camels live in deserts.", "Tea is a hot drink."]


@pytest.fixture
def store(in_memory_store: Any) -> Any:
    """Three short documents."""
    fill(in_memory_store, [Document(content=text, meta={"source": f"{n}.md"}) for n, text in enumerate(TEXTS)])
    return in_memory_store


def test_an_unknown_pipeline_is_refused_with_the_list() -> None:
    """Got, wanted."""
    with pytest.raises(ConfigurationError, match=r"no shipped pipeline named 'crag'.*corrective_rag"):
        load("crag")


def test_an_unknown_component_is_refused_with_the_list() -> None:
    """A typing error does not silently keep the default part."""
    with pytest.raises(ConfigurationError, match=r"no component \['ruoter'\].*router"):
        load("corrective_rag", ruoter=object())


def test_inputs_and_outputs_are_those_of_the_yaml(store: Any) -> None:
    """Python users meet the names that REST users meet."""
    rag = load(
        "corrective_rag", store=store, grader=grading_by(lambda _: 0.9), generator=scripted("In Antarctica [1].")
    )
    assert isinstance(rag, SuperComponent)
    result = rag.run(query=QUESTION)
    assert set(result) == {"answers", "documents", "crag"}
    assert result["answers"][0].data == "In Antarctica [1]."
    assert result["answers"][0].documents


def test_a_grader_may_be_a_component_or_a_chat_model(store: Any) -> None:
    """A chat model takes the place inside the YAML's own grader; a component replaces it."""
    by_model = load("corrective_retrieval", store=store, grader=HeuristicGrader())
    assert by_model.run(query=QUESTION)["crag"]["trail"][0]["kept"][0]["grader"].startswith("HeuristicGrader")
    both = load("corrective_rag", store=store, generator=grading_by(lambda _: 0.9))
    grader: Any = both.pipeline.get_component("grader")
    generator: Any = both.pipeline.get_component("generator")
    assert grader.chat_generator is generator.chat_generator


def test_a_model_among_the_settings_of_a_part_is_the_one_it_asks(store: Any) -> None:
    """Beside the one for the answer: a small model may grade or rewrite, with other settings changed as well."""
    small, large = grading_by(lambda _: 0.9), scripted("In Antarctica [1].")
    settings = {"chat_generator": small, "max_chars_per_document": 500}
    rag = load("strict_rag", store=store, generator=large, grader=settings, rewriter={"chat_generator": small})
    asked = {part: rag.pipeline.get_component(part).chat_generator for part in ("generator", "grader", "rewriter")}
    assert asked == {"generator": large, "grader": small, "rewriter": small}
    assert rag.run(query=QUESTION)["crag"]["verdict"] == "correct"


def test_the_batch_grader_can_take_the_heuristics_place(store: Any) -> None:
    """Graders have the same sockets."""
    from haystack_integrations.crag.components.batch_relevance_grader import BatchRelevanceGrader

    grader = BatchRelevanceGrader(grading_by(lambda text: 0.9 if "Penguins" in text else 0.1))
    result = load("corrective_retrieval", store=store, grader=grader).run(query=QUESTION)
    assert [document.content for document in result["documents"]] == [TEXTS[0]]


def test_any_other_store_works_by_passing_its_two_retrievers(store: Any) -> None:
    """And without them the message says how."""

    class Exotic:
        write_documents = count_documents = filter_documents = delete_documents = None

    retrievers = {"bm25": InMemoryBM25Retriever(store), "dense": InMemoryEmbeddingRetriever(store)}
    result = load("corrective_retrieval", store=Exotic(), **retrievers).run(query=QUESTION)
    assert result["crag"]["documents_before"] == 3
    with pytest.raises(ConfigurationError, match=r"Exotic.*bm25=\.\.\., dense=\.\.\."):
        load("corrective_retrieval", store=Exotic())


def test_a_retriever_by_vectors_is_asked_with_the_embedder_of_the_yaml_or_with_its_own(store: Any) -> None:
    """One that comes alone gets the YAML's; one that brings an embedder keeps it."""
    alone, whole = (InMemoryEmbeddingRetriever(store) for _ in range(2))
    own = MockTextEmbedder(embedding=[1.0] * 256)
    for given, embedder in (
        (alone, StaticTextEmbedder),
        (TextEmbeddingRetriever(retriever=whole, text_embedder=own), MockTextEmbedder),
    ):
        dense: Any = load("corrective_retrieval", store=store, dense=given).pipeline.get_component("dense")
        assert isinstance(dense, TextEmbeddingRetriever)
        assert isinstance(dense.text_embedder, embedder)
        assert dense.retriever in (alone, whole)


def test_an_embedder_with_a_key_in_the_yaml_is_read_as_haystack_reads_it(
    store: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It stands inside the retriever that is exchanged for the live store's, or before the caller's own."""
    monkeypatch.setenv("OWN_KEY", "no key")
    own = tmp_path / "own.yml"
    static = (
        "haystack_integrations.crag.components.static_text_embedder.StaticTextEmbedder\n        init_parameters: {}"
    )
    key = "{api_key: {type: env_var, env_vars: [OWN_KEY], strict: true}}"
    openai = f"haystack.components.embedders.openai_text_embedder.OpenAITextEmbedder\n        init_parameters: {key}"
    text = source("corrective_retrieval")
    assert static in text
    own.write_text(text.replace(static, openai))
    for given in ({}, {"dense": InMemoryEmbeddingRetriever(store)}):
        dense: Any = load(own, store=store, **given).pipeline.get_component("dense")
        assert dense.text_embedder.api_key == Secret.from_env_var("OWN_KEY")


def test_optional_inputs_narrow_the_search(store: Any) -> None:
    """Filters, top_k and mode reach the parts inside, and are not needed."""
    retrieval = load("corrective_retrieval", store=store)
    only = {"field": "meta.source", "operator": "==", "value": "1.md"}
    result = retrieval.run(query=QUESTION, filters=only, mode="observe")
    assert [document.content for document in result["documents"]] == [TEXTS[1]]


def test_it_is_a_node_in_another_pipeline(store: Any) -> None:
    """One component among others, also after a YAML round trip."""
    outer = Pipeline()
    outer.add_component("retrieval", load("corrective_retrieval"))
    assert "crag" in Pipeline.loads(outer.dumps()).run({"retrieval": {"query": QUESTION}})["retrieval"]


def test_a_tool_without_a_description_tells_its_model_what_it_does(store: Any) -> None:
    """Haystack takes the class's own words, and those were for who reads this code."""
    shown = ComponentTool(component=load("corrective_retrieval", store=store)).description.strip()
    assert shown == "Searches documents for what answers a question, and says so where none does."


@pytest.mark.parametrize("kind", ["component", "pipeline"])
def test_it_is_a_tool_of_an_agent(store: Any, kind: str) -> None:
    """Through Haystack's own ComponentTool and PipelineTool."""
    retrieval = load("corrective_retrieval", store=store)
    texts = {"name": "search_manual", "description": "Search the manual; gives judged evidence."}
    shown: Any = {"documents": {"source": "documents", "handler": str}, "crag": {"source": "crag", "handler": str}}
    if kind == "component":
        tool: Any = ComponentTool(component=retrieval, **texts, outputs_to_string=shown)
    else:
        tool = PipelineTool(
            pipeline=retrieval.pipeline,
            input_mapping={"query": retrieval.input_mapping["query"]},
            output_mapping={"record.documents": "documents", "record.crag": "crag"},
            **texts,
            outputs_to_string=shown,
        )
    calls: list[list[ChatMessage]] = []

    class Model:
        def run(self, messages: list[ChatMessage], tools: Any = None, **_: Any) -> dict[str, Any]:
            calls.append(messages)
            if len(calls) == 1:
                call = ToolCall("search_manual", {"query": QUESTION})
                return {"replies": [ChatMessage.from_assistant(tool_calls=[call])]}
            return {"replies": [ChatMessage.from_assistant("Antarctica.")]}

    answer = Agent(chat_generator=Model(), tools=[tool]).run(messages=[ChatMessage.from_user(QUESTION)])
    seen = calls[1][-1].tool_call_results[0].result
    assert "Penguins" in str(seen)
    assert answer["last_message"].text == "Antarctica."


def test_a_yaml_with_an_unknown_component_is_refused_by_name(tmp_path: Path) -> None:
    """No traceback of an import, a sentence."""
    text = export("corrective_retrieval").replace("crag_router.CragRouter", "crag_router.MagicRouter")
    (tmp_path / "mine.yml").write_text(text)
    with pytest.raises(ConfigurationError, match="MagicRouter"):
        load(tmp_path / "mine.yml")


def test_a_class_of_ones_own_that_is_not_found_is_told_where_modules_are_searched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`crag ask --pipeline mine.yml` finds no module beside the file; what is wrong in one is told, too."""
    monkeypatch.setenv("HAYSTACK_DESERIALIZATION_ALLOWLIST", "mine_of_this_test")
    own = tmp_path / "mine.yml"
    text = source("corrective_retrieval")
    own.write_text(text.replace("haystack_integrations.crag.components.heuristic_grader", "mine_of_this_test"))
    with pytest.raises(ConfigurationError, match=r"'grader'.*\(No module named 'mine_of_this_test'\).*in PYTHONPATH"):
        load(own)
    (tmp_path / "mine_of_this_test.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ConfigurationError, match=r"'mine_of_this_test\.HeuristicGrader' \(its module has no") as said:
        load(own)
    assert "\n" not in str(said.value)


@pytest.mark.parametrize(
    ("part", "own", "short"),
    [
        ("bm25", "in_memory.bm25_retriever.InMemoryBM25Retriever", "in_memory.InMemoryBM25Retriever"),
        ("grader", "chat.openai.OpenAIChatGenerator", "chat.OpenAIChatGenerator"),
        ("keywords", "in_memory.document_store.InMemoryDocumentStore", "in_memory.InMemoryDocumentStore"),
    ],
)
def test_a_type_written_as_programs_import_it_is_told_with_its_own_module(
    tmp_path: Path, part: str, own: str, short: str
) -> None:
    """Haystack makes a component only by the module in which its class is written; also of one inside another."""
    (tmp_path / "mine.yml").write_text(source("corrective_rag").replace(own, short, 1))
    with pytest.raises(ConfigurationError, match=rf"component '{part}' .*{short}', wanted it by its own .*{own}"):
        load(tmp_path / "mine.yml")


UNTYPED = "{components: {a: {}}, connections: [], inputs: {}, outputs: {}}"


@pytest.mark.parametrize("text", [b"a: [", b"just words", b"components: {}", UNTYPED.encode(), b"\xff\xfe\x00"])
def test_a_file_that_is_no_pipeline_is_refused(text: bytes, tmp_path: Path) -> None:
    """With what a pipeline needs."""
    (tmp_path / "mine.yml").write_bytes(text)
    with pytest.raises(ConfigurationError):
        load(tmp_path / "mine.yml")


def test_what_haystack_wrote_of_a_pipeline_lacks_its_sockets_for_the_outside(tmp_path: Path) -> None:
    """An app's own file is a pipeline, so it is told what it lacks, and not that it is none."""
    own = tmp_path / "haystacks_own_file.yml"
    own.write_text(Pipeline().dumps())
    with pytest.raises(ConfigurationError, match=r"lacks inputs and outputs at its top level.*name the") as said:
        load(own)
    assert str(said.value).endswith("`crag pipelines show corrective_retrieval`")


PART = "haystack_integrations.crag.components.question_guard.QuestionGuard"


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("components", None, "got nothing as components, wanted a mapping of names"),
        ("components", [], "got [] as components"),
        ("components", "x", "got 'x' as components"),
        ("components", {5: {"type": PART}}, "as components, wanted a mapping of names"),
        ("components", {"a": {"type": PART, "init_parameters": ["x"]}}, "got a list as components.a.init_parameters"),
        ("connections", None, "got nothing as connections, wanted a list of {sender: part.socket"),
        ("connections", "x", "got 'x' as connections"),
        ("connections", [5], "got 5 as connections[0], wanted {sender: part.socket"),
        ("connections", [{"sender": "a.query"}], "as connections[0]"),
        ("connections", [{"sender": "guard.query", "receiver": "b.query"}], "got 'b.query' as connections[0], wanted"),
        ("inputs", None, "got nothing as inputs, wanted a mapping"),
        ("inputs", [], "got [] as inputs"),
        ("inputs", {"query": 5}, "got 5 as inputs.query, wanted a text, part.socket, or a list of them"),
        ("inputs", {"query": ["guard.query", 5]}, "as inputs.query"),
        ("outputs", None, "got nothing as outputs"),
        ("outputs", {"query": ["guard.query"]}, "as outputs.query, wanted a text, part.socket"),
        ("optional_inputs", None, "got nothing as optional_inputs"),
        ("optional_inputs", {"mode": 1.5}, "got 1.5 as optional_inputs.mode"),
        ("max_runs_per_component", "x", "got 'x' as max_runs_per_component, wanted a whole number > 0"),
        ("max_runs_per_component", 0, "got 0 as max_runs_per_component"),
        ("metadata", 5, "got 5 as metadata, wanted a mapping"),
        ("optional_input", {"mode": "guard.mode"}, "key 'optional_input'; did you mean 'optional_inputs'?"),
        ("max_runs_per_components", 9, "did you mean 'max_runs_per_component'?"),
    ],
)
def test_a_slip_in_a_file_of_ones_own_is_named_by_its_key(key: str, value: object, said: str, tmp_path: Path) -> None:
    """The file, what stands there, and what is wanted."""
    good = {"components": {"guard": {"type": PART}}, "connections": [], "inputs": {}, "outputs": {}}
    (tmp_path / "mine.yml").write_text(yaml.safe_dump(good | {key: value}))
    with pytest.raises(ConfigurationError) as caught:
        load(tmp_path / "mine.yml")
    assert said in str(caught.value)
    assert "mine.yml" in str(caught.value)


def test_a_key_that_somebody_else_reads_stays(tmp_path: Path) -> None:
    """Hayhooks' own, and a place for YAML anchors."""
    text = source("corrective_retrieval") + "streaming_components: [generator]\nshared: {index: crag}\n"
    (tmp_path / "mine.yml").write_text(text, encoding="utf-8")
    assert load(tmp_path / "mine.yml").run(query="Who?")["crag"]["verdict"] == "incorrect"


@pytest.mark.parametrize("beside", ["max_characters", "init_params"])
def test_settings_that_stand_where_nobody_reads_them_are_refused(beside: str, tmp_path: Path) -> None:
    """Haystack leaves them out without a word, and the part runs by its defaults."""
    given = {"inputs": {"query": "guard.query"}, "outputs": {"query": "guard.query"}, "connections": []}
    spec = {"components": {"guard": {"type": PART, beside: {"max_characters": 9}}}, **given}
    (tmp_path / "mine.yml").write_text(yaml.safe_dump(spec))
    with pytest.raises(ConfigurationError, match=rf"'guard' of .* has \['{beside}'\] beside type and init_parameters"):
        load(tmp_path / "mine.yml")


@pytest.mark.parametrize("model", [{"type": "OpenAIChatGenerator", "init_parameters": {}}, {"model": "m"}])
def test_a_model_that_the_file_only_half_names_is_told_how_it_is_named(model: dict[str, Any], tmp_path: Path) -> None:
    """Haystack makes a component of a mapping only where its type has a module."""
    spec = yaml.safe_load(source("corrective_rag"))
    spec["components"]["grader"]["init_parameters"]["chat_generator"] = model
    (tmp_path / "mine.yml").write_text(yaml.safe_dump(spec))
    with pytest.raises(ConfigurationError, match=r"got a mapping, which is a component only with `type: module.Class"):
        load(tmp_path / "mine.yml")


@pytest.mark.parametrize("key", ["sk-of-this-test", "${OPENAI_API_KEY}", {"type": "token", "token": "sk-of-this-test"}])
def test_a_key_that_stands_in_the_file_is_refused_and_not_repeated(key: Any, tmp_path: Path) -> None:
    """Haystack's client said at the first question that a text has no attribute 'resolve_value'."""
    spec = yaml.safe_load(source("corrective_rag"))
    spec["components"]["generator"]["init_parameters"]["chat_generator"]["init_parameters"]["api_key"] = key
    (tmp_path / "mine.yml").write_text(yaml.safe_dump(spec))
    with pytest.raises(
        ConfigurationError, match=r"'generator' of .* as api_key, wanted the name of the var"
    ) as refused:
        load(tmp_path / "mine.yml")
    assert "sk-" not in str(refused.value)


def test_settings_without_a_value_are_none(tmp_path: Path) -> None:
    """As where the lines under `init_parameters:` are all commented out."""
    given = {"inputs": {"query": "guard.query"}, "outputs": {"query": "guard.query"}, "connections": []}
    spec = {"components": {"guard": {"type": PART, "init_parameters": None}}, **given}
    (tmp_path / "mine.yml").write_text(yaml.safe_dump(spec))
    assert load(tmp_path / "mine.yml").run(query="Why?") == {"query": "Why?"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[" * 3000, ""),
        ("a: 1\nb: 2026-13-45", "what stands there is no timestamp, in line 2"),
        ("a: !!timestamp x", "what stands there is no timestamp, in line 1"),
        ("a: [!!bool x]", "what stands there is no bool, in line 1"),
        ("a: !!int ''", "what stands there is no int, in line 1"),
    ],
)
def test_yaml_that_cannot_be_read_is_refused(text: str, said: str, tmp_path: Path) -> None:
    """Also where the parser fails by another error than its own."""
    (tmp_path / "mine.yml").write_text(text)
    with pytest.raises(ConfigurationError, match=rf"mine.yml' is no readable YAML: .*{said}"):
        load(tmp_path / "mine.yml")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "      max_iterations: 3\n",
            "      max_iterations: 3\n      max_iterations: 1\n",
            "'max_iterations' stands twice",
        ),
        ("  record:\n", "  grader:\n    type: a.B\n  record:\n", "the key 'grader' stands twice in one mapping"),
        ("  graded:\n", "\tgraded:\n", r"character '\\t' that cannot start any token, in line"),
        ("max_iterations: 3", "max_iterations: !!python/object/apply:os.getcwd []", "python/object/apply:os.getcwd'"),
    ],
)
def test_what_is_wrong_in_a_file_is_told_with_its_line(tmp_path: Path, old: str, new: str, said: str) -> None:
    """Of two equal keys YAML's reader takes the last: a part under a name that is taken was lost without a word."""
    text = source("corrective_retrieval")
    lines = text[: text.index(old)].count("\n") + new.count("\n") - 1
    (tmp_path / "mine.yml").write_text(text.replace(old, new))
    with pytest.raises(ConfigurationError, match=said) as refused:
        load(tmp_path / "mine.yml")
    assert "in line" in str(refused.value)
    assert abs(int(re.findall(r"in line (\d+)", str(refused.value))[0]) - lines) <= 3


def test_a_merged_mapping_may_be_changed_key_by_key(tmp_path: Path) -> None:
    """Only keys that somebody wrote twice are refused."""
    text = source("corrective_retrieval").replace(
        "init_parameters: {type_: str}", "init_parameters: &kind {type_: str}"
    )
    merged = 'init_parameters: {<<: *kind, type_: "list[haystack.dataclasses.document.Document]"}'
    own = text.replace('init_parameters: {type_: "list[haystack.dataclasses.document.Document]"}', merged)
    assert own.count("*kind") == 1
    (tmp_path / "mine.yml").write_text(own)
    assert load(tmp_path / "mine.yml").run(query="Why?")["crag"]["verdict"] == "incorrect"


def test_two_mappings_may_be_merged_and_a_number_is_another_key_than_its_text() -> None:
    """Neither is written twice."""
    text = "a: &a {x: 1}\nb: &b {y: 2}\nc:\n  <<: *a\n  <<: *b\n  1: one\n  '1': another\n"
    assert parsed("mine.yml", text)["c"] == {"x": 1, "y": 2, 1: "one", "1": "another"}


def test_a_note_beside_the_type_of_a_part_is_no_setting(tmp_path: Path) -> None:
    """Nobody takes a description for one."""
    text = source("corrective_retrieval").replace("  guard:\n", "  guard:\n    description: It begins.\n")
    (tmp_path / "mine.yml").write_text(text)
    assert load(tmp_path / "mine.yml").run(query="Why?")["crag"]["verdict"] == "incorrect"


def test_weights_that_are_those_of_the_joiner_need_no_state(tmp_path: Path) -> None:
    """Others would have no effect, and are refused."""
    text = source("corrective_retrieval").replace("- {sender: state.value, receiver: fuse.state}\n", "")
    same = text.replace("weights: {bm25: 1.0, dense: 0.5}", "weights: {bm25: 1.0, dense: 0.3}")
    (tmp_path / "mine.yml").write_text(same)
    assert load(tmp_path / "mine.yml").run(query="Why?")["crag"]["verdict"] == "incorrect"
    (tmp_path / "mine.yml").write_text(text)
    with pytest.raises(ConfigurationError, match="has weights for 'fuse', which would keep its own"):
        load(tmp_path / "mine.yml")


def test_whatever_haystack_stumbles_over_names_the_file_and_the_error(tmp_path: Path) -> None:
    """A name that Haystack keeps for itself."""
    spec = {"components": {"_debug": {"type": PART}}, "connections": [], "inputs": {}, "outputs": {}}
    (tmp_path / "mine.yml").write_text(yaml.safe_dump(spec))
    with pytest.raises(ConfigurationError, match=r"mine.yml' cannot be loaded: ValueError: "):
        load(tmp_path / "mine.yml")


def test_an_optional_input_that_leads_nowhere_is_named(tmp_path: Path) -> None:
    """An empty list of parts: Haystack leaves such an input out without a word."""
    spec = yaml.safe_load(source("corrective_retrieval"))
    spec["optional_inputs"]["top_k"] = []
    (tmp_path / "mine.yml").write_text(yaml.safe_dump(spec))
    with pytest.raises(ConfigurationError, match=r"mine.yml' cannot be loaded: .*'top_k' leads to no part; write it"):
        load(tmp_path / "mine.yml")


@pytest.mark.parametrize("question", ["", "   ", "why? " * 250_000])
def test_a_question_that_no_retriever_should_see_is_refused(question: str, store: Any) -> None:
    """Empty, or a megabyte."""
    with pytest.raises(Exception, match="question") as caught:
        load("corrective_retrieval", store=store).run(query=question)
    assert isinstance(caught.value.__cause__, QuestionError)


@pytest.mark.parametrize("top_k", [0, "5"])
def test_an_unusable_number_of_documents_is_refused_in_our_words(top_k: Any, store: Any) -> None:
    """Whichever retrievers it would have reached."""
    with pytest.raises(Exception, match="top_k must be a whole number > 0, but got") as caught:
        load("corrective_retrieval", store=store).run(query=QUESTION, top_k=top_k)
    assert any(isinstance(link, ConfigurationError) for link in causes(caught.value))


def test_every_shipped_name_is_listed() -> None:
    """The slice that this release ships."""
    assert set(names()) >= {"agent_rag", "baseline_rag", "corrective_rag", "corrective_retrieval", "indexing"}


def test_settings_of_a_part_may_be_given_in_place_of_the_part(store: Any) -> None:
    """One line for another threshold; the rest stays as in the YAML."""
    rag = load("corrective_retrieval", store=store, router={"upper": 0.9})
    router: Any = rag.pipeline.get_component("router")
    assert (router.upper, router.aggregate) == (0.9, "set")


@pytest.mark.filterwarnings("ignore:'MultiRetriever' is an experimental component")
def test_a_store_is_searched_by_the_retrievers_that_another_one_holds_in_a_mapping(store: Any, tmp_path: Path) -> None:
    """They kept the store of the YAML, which is empty, and each question read as one that nothing answers."""
    spec = yaml.safe_load(source("corrective_retrieval"))
    several = {"type": "haystack.components.retrievers.multi_retriever.MultiRetriever"}
    spec["components"]["bm25"] = {**several, "init_parameters": {"retrievers": {"words": spec["components"]["bm25"]}}}
    (file := tmp_path / "several.yml").write_text(yaml.safe_dump(spec))
    loaded = load(file, store=store, dense={"top_k": 1})
    assert loaded.pipeline.get_component("bm25").retrievers["words"].document_store is store
    documents = loaded.run(query=QUESTION)["documents"]
    assert any("bm25" in document.meta["crag"]["retrievers"] for document in documents)
    spec["components"]["bm25"]["init_parameters"]["retrievers"]["words"]["init_parameters"]["topk"] = 1
    file.write_text(yaml.safe_dump(spec))
    with pytest.raises(ConfigurationError, match=r"Retriever has no setting \['topk'\]; did you mean 'top_k'"):
        load(file, store=store)


@pytest.mark.parametrize("name", ["corrective_retrieval", "heuristic_rag"])
def test_a_pipeline_that_searches_by_words_only_is_written_for_a_server_too(name: str, tmp_path: Path) -> None:
    """As the page on one's own pipelines tells to make it; the joiner was told of the vectors' scores all the same."""
    spec = yaml.safe_load(source(name))
    del spec["components"]["dense"], spec["components"]["fuse"]["init_parameters"]["similarity"]
    for settings in (one["init_parameters"] for one in spec["components"].values()):
        for told in (settings, settings.get("strategy", {}), *settings.get("strategies", ())):
            if isinstance(told.get("weights"), dict):
                del told["weights"]["dense"]
    spec["connections"] = [one for one in spec["connections"] if "dense" not in str(one)]
    ends = spec["optional_inputs"]
    ends |= {key: [path for path in paths if "dense" not in path] for key, paths in ends.items()}
    (file := tmp_path / "words.yml").write_text(yaml.safe_dump(spec))
    fuse = Pipeline.loads(export(file, "elasticsearch", "http://127.0.0.1:9")).get_component("fuse")
    assert (fuse.weights, fuse.similarity) == ({"bm25": 1.0}, None)


@pytest.mark.parametrize("inside", ["", "haystack_integrations.crag.components.reporting_retriever.ReportingRetriever"])
@pytest.mark.parametrize("settings", [{}, {"document_store": {"type": "any", "init_parameters": {}}, "path": "p"}])
def test_a_retriever_of_ones_own_in_a_file_stays_on_a_server_too(
    tmp_path: Path, inside: str, settings: dict[str, Any]
) -> None:
    """It was exchanged for one of Elasticsearch, with settings that this does not take, in an exported file, too."""
    own = {"type": "my_package.search.Mine", "init_parameters": settings}
    spec = yaml.safe_load(source("corrective_retrieval"))
    spec["components"]["bm25"] = {"type": inside, "init_parameters": {"retriever": own}} if inside else own
    (file := tmp_path / "mine.yml").write_text(yaml.safe_dump(spec))
    parts = yaml.safe_load(export(file, "elasticsearch", "http://127.0.0.1:9"))["components"]
    written = parts["bm25"]["init_parameters"]["retriever"] if inside else parts["bm25"]
    assert (written["type"], written["init_parameters"].keys()) == (own["type"], settings.keys())
    assert parts["bm25"]["type"] == (inside or own["type"])
    if settings:
        assert written["init_parameters"]["document_store"]["type"].endswith("ElasticsearchDocumentStore")
    assert parts["dense"]["init_parameters"]["retriever"]["type"].endswith("ReportingEmbeddingRetriever")


@pytest.mark.parametrize(("settings", "wanted"), [({}, "cosine"), ({"document_store": {"type": "any"}}, "half_cosine")])
def test_scores_of_a_search_elsewhere_are_read_as_the_file_says(
    tmp_path: Path, settings: dict[str, Any], wanted: str
) -> None:
    """A search of one's own that stays beside Elasticsearch: its cosine of 0.6 was read as one of 0.2."""
    spec = yaml.safe_load(source("corrective_retrieval"))
    spec["components"]["dense"] = {"type": "my_package.search.Mine", "init_parameters": settings}
    (file := tmp_path / "mine.yml").write_text(yaml.safe_dump(spec))
    parts = yaml.safe_load(export(file, "elasticsearch", "http://127.0.0.1:9"))["components"]
    assert parts["fuse"]["init_parameters"]["similarity"] == {"dense": wanted}


@pytest.mark.parametrize(
    ("name", "grader", "is_idle"),
    [
        ("corrective_retrieval", lambda: None, True),
        ("corrective_retrieval", lambda: BatchRelevanceGrader(grading_by(lambda _: 0.9)), True),
        ("heuristic_rag", lambda: None, True),
        ("baseline_rag", lambda: None, False),
        ("corrective_rag", HeuristicGrader, False),
        ("paper_rag", lambda: None, False),
    ],
)
def test_a_model_that_no_part_asks_is_told(
    store: Any, name: str, grader: Any, is_idle: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """Nobody said that a pipeline without answers asks it nothing; commands and servers do not hand it one."""
    load(name, store=store, generator=MockChatGenerator("Yes."), grader=grader())
    assert ("has no effect: no part of this pipeline asks a chat model" in caplog.text) is is_idle
    caplog.clear()
    load(name, store=store, **model_parts(name, MockChatGenerator("Yes."), MockChatGenerator("Yes.")))
    assert "has no effect" not in caplog.text


@pytest.mark.parametrize("name", sorted({*names()} - {"indexing"}))
def test_a_preset_takes_the_place_of_a_files_thresholds(store: Any, name: str) -> None:
    """Half of the files have their own, beside which `conservative` changed nothing, and nobody said so."""
    model = MockChatGenerator("Yes.")
    rag = load(name, store=store, generator=model, router={"preset": "conservative"})
    held = rag.run(query=QUESTION, **({} if name == "baseline_rag" else {"mode": "observe"}))["crag"]["trail"][-1]
    assert (held["thresholds"]["upper"], held["thresholds"]["lower"]) == (0.8, 0.4)
    own = load(name, store=store, generator=model, router={"preset": "conservative", "upper": 0.9})
    assert own.pipeline.get_component("router").upper == 0.9


@pytest.mark.parametrize("name", ["corrective_retrieval", "agent_rag"])
def test_weights_that_a_strategy_goes_before_are_refused_with_the_place_for_them(store: Any, name: str) -> None:
    """The joiner's own are those of no pass where the guard begins with a strategy; nothing changed, without a word."""
    weights, model = {"bm25": 0.0, "dense": 1.0}, MockChatGenerator("Yes.")
    with pytest.raises(ConfigurationError, match=r"no effect, since 'guard' begins .* guard=\{'strategy'") as no:
        load(name, store=store, generator=model, fuse={"weights": weights})
    assert str(weights) in str(no.value)
    strategy = {"name": "mine", "weights": weights}
    rag = load(name, store=store, generator=model, fuse={"weights": weights}, guard={"strategy": strategy})
    first = rag.run(query=QUESTION, mode="observe")["documents"][0]
    assert first.meta["crag"]["retrievers"].keys() == {"dense"}
    load("paper_rag", store=store, generator=model, fuse={"weights": weights})
    with pytest.raises(ConfigurationError, match="no effect, since 'guard' begins"):
        load(name, store=store, generator=model, fuse={"weights": weights}, guard={"max_characters": 99})


def test_weights_count_beside_a_guard_of_the_callers_own(store: Any) -> None:
    """It has no strategy, whatever the file says of the one in whose place it stands; such weights were refused."""
    weights = {"bm25": 0.0, "dense": 1.0}
    rag = load("corrective_retrieval", store=store, fuse={"weights": weights}, guard=QuestionGuard())
    first = rag.run(query=QUESTION, mode="observe")["documents"][0]
    assert first.meta["crag"]["retrievers"].keys() == {"dense"}


def test_a_part_for_another_kind_of_store_is_named(store: Any, tmp_path: Path) -> None:
    """As of a file that was exported for Elasticsearch; which part it was of ten, nobody said."""
    file = tmp_path / "exported.yml"
    file.write_text(export("corrective_retrieval", "elasticsearch", "http://127.0.0.1:9"), "utf-8")
    with pytest.raises(ConfigurationError, match=r"'bm25', of .* write one for a InMemoryDocumentStore into the file"):
        load(file, store=store)
    with pytest.raises(ConfigurationError, match=r"'bm25', of the type InMemory.* top_k .* correct its settings"):
        load("corrective_retrieval", store=store, bm25={"top_k": 0})


def test_a_policy_that_leads_nowhere_is_refused(store: Any) -> None:
    """A run that chose it would end without a word."""
    with pytest.raises(ConfigurationError, match=r"may choose 'web', but nothing is connected to 'web'"):
        load("corrective_retrieval", store=store, router={"on_incorrect": ["re_retrieve", "web"]})


@component
class Search:
    """A web search as Haystack has them, such as TavilyWebSearch."""

    @component.output_types(documents=list[Document], links=list[str])
    def run(self, query: str) -> dict[str, Any]:
        """Find nothing."""
        return {"documents": [], "links": []}


def test_a_policy_that_leads_to_a_part_and_no_further_is_refused(tmp_path: Path) -> None:
    """As where the web was taken out, and the part that writes its query was left: those runs gave nothing."""
    spec = yaml.safe_load(source("paper_rag"))
    spec["components"].pop("web")
    spec["connections"] = [one for one in spec["connections"] if not re.search(r"\bweb\.", f"{one}")]
    spec["optional_inputs"].pop("web")
    (tmp_path / "own.yml").write_text(yaml.safe_dump(spec))
    with pytest.raises(
        ConfigurationError, match=r"may choose 'web', but what is connected to 'web' ends at rewriter; "
    ):
        load(tmp_path / "own.yml")


def test_a_web_search_in_the_place_of_what_asks_it_is_told_where_it_goes(store: Any) -> None:
    """As `web=TavilyWebSearch()`, which is what a reader tries first."""
    parts: dict[str, Any] = {"store": store, "generator": MockChatGenerator("{}")}
    with pytest.raises(ConfigurationError, match=r"got a Search as web.*WebFallback\(Search\(\.\.\.\)\)"):
        load("ranked_rag", web=Search(), **parts)
    assert load("ranked_rag", web=WebFallback(Search()), **parts).run(query=QUESTION)["crag"]["verdict"]


@component
class Simple:
    """Neither a grader nor a retriever, as far as the pipelines are concerned."""

    @component.output_types(documents=list[Document])
    def run(self, query: str, language: str) -> dict[str, Any]:
        """Find something."""
        return {"documents": [Document(content=query + language)]}


@pytest.mark.parametrize(
    ("part", "lacks"),
    [
        ("bm25", r"the inputs bm25\.filters, bm25\.top_k and a default for bm25\.language;"),
        ("grader", r"the inputs grader\.documents, grader\.state and the outputs grader\.report and a default"),
    ],
)
def test_a_part_that_does_not_fit_into_its_place_is_refused(part: str, lacks: str) -> None:
    """The message names each input and output that is missing, all at once."""
    with pytest.raises(ConfigurationError, match=f"got a Simple as {part}.*it lacks {lacks}"):
        load("corrective_retrieval", **{part: Simple()})


def test_a_retriever_by_vectors_in_the_place_of_one_by_words_is_told_how_it_is_asked(store: Any) -> None:
    """Of a store that searches by vectors only, such as Qdrant; the way that the message names works."""
    with pytest.raises(ConfigurationError, match=r"asked by text in ReportingTextEmbeddingRetriever\(retriever=InM"):
        load("corrective_retrieval", store=store, bm25=InMemoryEmbeddingRetriever(store))
    asked = ReportingTextEmbeddingRetriever(
        retriever=InMemoryEmbeddingRetriever(store), text_embedder=StaticTextEmbedder()
    )
    assert load("corrective_retrieval", store=store, bm25=asked).run(query=QUESTION)["crag"]["documents_before"] > 0


def test_a_ranker_in_the_graders_place_is_told_where_it_goes(store: Any) -> None:
    """It gives documents alone; `add them` is no way for a part of Haystack's."""
    ranker = LLMRanker(chat_generator=MockChatGenerator("{}"))
    with pytest.raises(ConfigurationError, match=r"got a LLMRanker as grader.*RankerGrader\(LLMRanker\(\.\.\.\)\)"):
        load("corrective_retrieval", store=store, grader=ranker)
    assert load("corrective_retrieval", store=store, grader=RankerGrader(ranker)).run(query="Who?")["crag"]["verdict"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (lambda: source("corrective_rag"), r"got a text of \d+ lines as the pipeline.*pass its path"),
        (Pipeline, "got a Pipeline as the pipeline.*runs as it is"),
        (lambda: HeuristicGrader, "got the class HeuristicGrader as the pipeline"),
        (lambda: None, "got a NoneType as the pipeline"),
        (lambda: "crag", r"no shipped pipeline named 'crag'; choose one of"),
        (lambda: "rag", r"no shipped pipeline named 'rag'; choose one of"),
        (lambda: "corective-rag", r"no shipped pipeline named 'corective-rag'; did you mean 'corrective_rag'\?"),
    ],
)
def test_what_is_no_name_of_a_pipeline_is_told_by_its_kind(given: Any, said: str) -> None:
    """A whole file's text is not repeated in the message."""
    with pytest.raises(ConfigurationError, match=said) as caught:
        load(given())
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("store", [None, InMemoryDocumentStore()], ids=["of the file", "own"])
def test_a_setting_that_only_the_outer_retriever_has_is_given_to_it(store: Any) -> None:
    """The one inside was said not to have it."""
    rag = load("corrective_retrieval", store=store, dense={"timeout_s": 2.5, "top_k": 4})
    part: Any = rag.pipeline.get_component("dense")
    assert (part.timeout_s, part.retriever.top_k) == (2.5, 4)


def test_settings_beside_another_retriever_inside_are_given_to_that_one() -> None:
    """They were lost without a word; a mapping without a type stood in the place of the retriever."""
    whole = read("corrective_retrieval")["components"]["dense"]
    kept = whole["init_parameters"]["retriever"]["type"]
    stock = "haystack_integrations.components.retrievers.elasticsearch.ElasticsearchEmbeddingRetriever"
    other = {"type": stock, "init_parameters": {"top_k": 5}}
    for given, kind in ((other, stock), ({"top_k": 5}, kept)):
        changed = with_settings(whole, {"retriever": given, "scale_score": True})["init_parameters"]
        assert changed["retriever"]["type"] == kind
        told = changed["retriever"]["init_parameters"]
        assert (told["top_k"], told["scale_score"], "scale_score" in changed) == (5, True, False)


def test_a_component_with_an_embedder_and_no_retriever_inside_takes_settings_too() -> None:
    """One of the user's own: it could not be loaded, for a key that nobody wrote."""
    embedder = {"type": "own.Embedder", "init_parameters": {"model": "a"}}
    part = {"type": "own.Search", "init_parameters": {"text_embedder": embedder}}
    changed = with_settings(part, {"limit": 5, "text_embedder": {"model": "b"}})
    assert changed == {
        "type": "own.Search",
        "init_parameters": {"text_embedder": {**embedder, "init_parameters": {"model": "b"}}, "limit": 5},
    }


@pytest.mark.parametrize("before", [{"k": 3}, None, "bm25"])
@pytest.mark.parametrize("name", ["retriever", "text_embedder"])
def test_a_setting_that_is_no_component_is_replaced_whatever_it_is_called(name: str, before: Any) -> None:
    """Of a component of the user's own."""
    changed = with_settings({"type": "own.Search", "init_parameters": {name: before}}, {name: {"k": 5}})
    assert changed["init_parameters"] == {name: {"k": 5}}


@pytest.mark.parametrize("store", [None, InMemoryDocumentStore()], ids=["of the file", "own"])
def test_a_mapping_for_the_embedder_of_a_retriever_changes_its_settings(store: Any) -> None:
    """It stood there as a mapping, which no run could ask."""
    folder = str(files("haystack_integrations.crag") / "models" / SHIPPED_MODEL)
    rag = load("corrective_retrieval", store=store, dense={"text_embedder": {"model": folder}, "top_k": 3})
    part: Any = rag.pipeline.get_component("dense")
    assert (type(part.text_embedder), part.text_embedder.model) == (StaticTextEmbedder, folder)
    assert part.retriever.top_k == 3


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            {"store": InMemoryDocumentStore},
            r"the class InMemoryDocumentStore as store.*InMemoryDocumentStore\(\.\.\.\)",
        ),
        ({"store": "in_memory"}, "got a str as store, wanted a document store"),
        ({"document_store": 1}, r"no component \['document_store'\]; did you mean 'store'\?"),
        ({"llm": MockChatGenerator("x")}, r"no component \['llm'\]; pass the MockChatGenerator .* 'llm' as generator;"),
        (
            {"retriever": InMemoryBM25Retriever(InMemoryDocumentStore())},
            "the InMemoryBM25Retriever .* 'retriever' as bm25;",
        ),
        (
            {"embedding_retriever": InMemoryEmbeddingRetriever(InMemoryDocumentStore())},
            "the InMemoryEmbeddingRetriever .* 'embedding_retriever' as dense;",
        ),
        (
            {
                "text_retriever": TextEmbeddingRetriever(
                    retriever=InMemoryEmbeddingRetriever(InMemoryDocumentStore()), text_embedder=StaticTextEmbedder()
                )
            },
            "the TextEmbeddingRetriever .* 'text_retriever' as dense;",
        ),
        (
            {"embedder": StaticTextEmbedder()},
            r"the StaticTextEmbedder that came as 'embedder' as dense=\{\"text_embedder\": \.\.\.\}, and embed",
        ),
        *(
            (
                {name: {"model": "own"}},
                rf"the settings that came as '{name}' as dense=\{{\"text_embedder\": \.\.\.\}}, and embed",
            )
            for name in ("embedder", "text_embedder")
        ),
        ({"dense": {"text_embedder": {"modell": "own"}}}, r"has no setting \['modell'\]; did you mean 'model'"),
        ({"judge": HeuristicGrader()}, "pass the HeuristicGrader that came as 'judge' as grader;"),
        ({"generator": "gpt-canary"}, r"got a str as generator, wanted a chat generator such as OpenAIChatGenerator"),
        ({"generator": MockChatGenerator}, "got the class MockChatGenerator as generator"),
        ({"grader": "heuristic"}, "got a str as grader, wanted a grader such as HeuristicGrader"),
        ({"router": {"preste": 1}}, r"CragRouter has no setting \['preste'\]; did you mean 'preset'\?"),
        ({"dense": {"topk": 1}}, r"InMemoryEmbeddingRetriever has no setting \['topk'\]; did you mean 'top_k'\?"),
        ({"router": {"preset": "bold"}}, r"component 'router' of class 'CragRouter': preset must be one of"),
        ({"top_k": 3}, r"no component \['top_k'\]; pass top_k to run\(\)"),
    ],
)
def test_what_cannot_stand_in_its_place_is_refused_by_its_argument(given: dict[str, Any], said: str) -> None:
    """At load, in one sentence, without the value: it may be a key."""
    with pytest.raises(ConfigurationError, match=said) as caught:
        load("corrective_rag", **given)
    assert "canary" not in str(caught.value)
    assert "\n" not in str(caught.value)


@component
class OfMessages:
    """A model of one's own whose replies are texts."""

    @component.output_types(replies=list[str])
    def run(self, messages: list[ChatMessage]) -> dict[str, Any]:
        return {"replies": [messages[-1].text]}


def test_a_model_that_replies_in_texts_is_refused_at_load() -> None:
    """Each question was paid for, and ended in `answer_failed:AttributeError`."""
    said = "got OfMessages, whose replies are texts; make each one a message: ChatMessage.from_assistant"
    with pytest.raises(ConfigurationError, match=said):
        load("corrective_rag", generator=OfMessages(), grader=HeuristicGrader())
    with pytest.raises(ConfigurationError, match=said):
        load("corrective_rag", generator=MockChatGenerator("x"), grader=OfMessages())


def test_a_chat_model_for_a_grader_that_asks_none_is_refused() -> None:
    """It would be left unused without a word."""
    with pytest.raises(ConfigurationError, match=r"grader of 'corrective_retrieval' asks none.*BatchRelevanceGrader"):
        load("corrective_retrieval", grader=MockChatGenerator("{}"))


@pytest.mark.parametrize("part", ["bm25", "dense"])
def test_a_policy_for_filters_holds_on_a_store_that_is_passed(store: Any, part: str) -> None:
    """A retriever's own filters stay beside those of a run; the word for it is what a YAML can hold."""
    own = {"filters": {"field": "meta.source", "operator": "==", "value": "0.md"}, "filter_policy": "merge"}
    other = {"field": "meta.kind", "operator": "!=", "value": "draft"}
    rag = load("corrective_retrieval", store=store, **{part: own})
    found = rag.run(query=QUESTION, filters=other, mode="off")["documents"]
    assert {one.meta["source"] for one in found if part in one.meta["crag"]["retrievers"]} == {"0.md"}
    assert "filter_policy: merge" in rag.pipeline.dumps()


def test_a_retriever_that_takes_no_filters_is_told_to_refuse_them(store: Any) -> None:
    """One that leaves them out shows what they were to close; that it raises ends the run."""

    @component
    class Refusing:
        @component.output_types(documents=list[Document])
        def run(self, query: str, filters: dict[str, Any] | None = None, top_k: int | None = None) -> dict[str, Any]:
            if filters:
                raise FilterError("none")
            return {"documents": [Document(content="A refund is paid in May.")]}

    @component
    class Without:
        @component.output_types(documents=list[Document])
        def run(self, query: str, top_k: int | None = None) -> dict[str, Any]:
            return {"documents": []}

    with pytest.raises(ConfigurationError, match=r"lacks the inputs bm25\.filters; .* must refuse, with a FilterError"):
        load("corrective_retrieval", store=store, bm25=Without())
    rag = load("corrective_retrieval", store=store, bm25=Refusing())
    assert rag.run(query=QUESTION)["crag"]["documents_before"] > 0
    with pytest.raises(PipelineRuntimeError) as raised:
        rag.run(query=QUESTION, filters={"field": "meta.team", "operator": "==", "value": "a"})
    assert isinstance(raised.value.__cause__, FilterError)


def test_an_unknown_word_among_settings_of_a_part_on_a_store_is_named(store: Any) -> None:
    """Got, wanted."""
    with pytest.raises(ConfigurationError, match=r"got 'mrege' as filter_policy, wanted one of \['replace', 'merge'\]"):
        load("corrective_retrieval", store=store, bm25={"filter_policy": "mrege"})


def test_the_indexing_pipeline_on_a_store_is_written_down_and_writes_over(store: Any, tmp_path: Path) -> None:
    """Its writer's policy is a word of the YAML: as such it was no policy, and could not be written down."""
    (tmp_path / "tea.md").write_text("Tea is a hot drink.")
    indexing = load("indexing", store=store)
    assert "policy: OVERWRITE" in indexing.pipeline.dumps()
    assert [indexing.run(sources=[tmp_path / "tea.md"])["documents_written"] for _ in range(2)] == [1, 1]


def test_a_live_store_among_settings_is_refused_with_the_way_out(store: Any) -> None:
    """It has an argument of its own."""
    with pytest.raises(ConfigurationError, match=r"as document_store in the settings of 'grader'.*pass it as store="):
        load("corrective_retrieval", store=store, grader={"document_store": store})


@pytest.mark.parametrize("name", names())
def test_no_key_of_another_server_is_sent_to_openai(name: str) -> None:
    """The YAML's model is OpenAI's: `CRAG_LLM_API_KEY` belongs to `CRAG_LLM_BASE_URL`, which only the commands read."""
    assert "CRAG_LLM" not in source(name)


def test_a_models_own_listener_hears_the_answer_and_no_grading(store: Any) -> None:
    """As the server streams: what a grader asks and is told is nobody's answer."""
    heard: list[str] = []
    model = MockChatGenerator("An answer [1].", streaming_callback=lambda chunk: heard.append(chunk.content))
    rag = load("corrective_rag", store=store, generator=model)
    rag.run(query="Who wrote Emma?")
    assert rag.pipeline.get_component("generator").chat_generator is model
    assert rag.pipeline.get_component("grader").chat_generator.streaming_callback is None
    assert "".join(heard).strip() in ("", "An answer [1].")


def test_a_models_own_listener_hears_the_answer_also_of_a_part_of_another_name(tmp_path: Path, store: Any) -> None:
    """A file of the user's own may name its parts as it likes."""
    model = MockChatGenerator("An answer [1].", streaming_callback=lambda _: None)
    text = re.sub(r"\bgenerator\b(?=[.:])", "writer", source("corrective_rag"))
    (tmp_path / "own.yml").write_text(text)
    rag = load(tmp_path / "own.yml", store=store, generator=model)
    assert rag.pipeline.get_component("writer").chat_generator is model
    assert rag.pipeline.get_component("grader").chat_generator.streaming_callback is None


def test_a_ranker_that_shows_its_model_to_nobody_keeps_that_of_the_file(tmp_path: Path, store: Any) -> None:
    """Haystack's LLMRanker: `load` gives the caller's model to the parts that show theirs."""
    spec = yaml.safe_load(source("corrective_rag"))
    ranker = LLMRanker(chat_generator=MockChatGenerator('{"documents": [{"index": 1}]}'))
    ranked = {"sender": "rank.documents", "receiver": "grader.documents"}
    links = [one for one in spec["connections"] if one["receiver"] != "grader.documents"]
    spec["components"]["rank"] = ranker.to_dict()
    spec["connections"] = [*links, {"sender": "fuse.documents", "receiver": "rank.documents"}, ranked]
    spec["inputs"]["query"].append("rank.query")
    (tmp_path / "own.yml").write_text(yaml.safe_dump(spec))
    rag = load(tmp_path / "own.yml", store=store, grader=grading_by(lambda _: 0.9), generator=scripted("There [1]."))
    assert rag.run(query=QUESTION)["crag"]["documents_before"] == 1


def test_an_anchor_that_was_taken_out_is_explained(tmp_path: Path) -> None:
    """The store of all parts stands in the first that has one."""
    own = tmp_path / "own.yml"
    own.write_text(source("corrective_retrieval").replace("document_store: &store", "document_store:"))
    with pytest.raises(ConfigurationError, match=r"undefined alias 'store'.*stood in a part that was taken out"):
        load(own)


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("haystack_integrations.crag.components.magic.Magic", "Could not import"),
        ("somebodys.module.Magic", "does not trust"),
        ("haystack.components.joiners.branch.BranchJoiner", "document_store"),
    ],
)
def test_a_part_that_cannot_be_put_on_a_store_is_named(store: Any, tmp_path: Path, kind: str, said: str) -> None:
    """As without a store: unknown, of a module that nobody trusts, or with another parameter."""
    spec = yaml.safe_load(source("corrective_retrieval"))
    spec["components"]["grader"]["type"] = kind
    own = tmp_path / "own.yml"
    own.write_text(yaml.safe_dump(spec))
    with pytest.raises(ConfigurationError, match=f"(?i)(cannot be loaded|has no setting).*({said})"):
        load(own, store=store)


@pytest.mark.parametrize(
    ("part", "settings", "said"),
    [
        (
            "router",
            {"max_iteration": 2},
            "CragRouter has no setting ['max_iteration']; did you mean 'max_iterations'? ",
        ),
        (
            "router",
            {"upper_threshold": 0.6, "filter": 0.2},
            "CragRouter has no setting ['filter', 'upper_threshold']; did you mean 'filter_threshold' and 'upper'? ",
        ),
        (
            "grader",
            {"titel_field": "x"},
            "HeuristicGrader has no setting ['titel_field']; did you mean 'title_field'? ",
        ),
        ("search_query", {"typ": "str"}, "BranchJoiner has no setting ['typ']; did you mean 'type_'? "),
        (
            "expander",
            {
                "chat_generator": {
                    "type": f"{MockChatGenerator.__module__}.MockChatGenerator",
                    "init_parameters": {"q": 1},
                }
            },
            "MockChatGenerator has no setting ['q']; ",
        ),
    ],
)
def test_an_unknown_setting_in_a_file_is_named_with_its_component_and_the_one_that_was_meant(
    tmp_path: Path, part: str, settings: dict[str, Any], said: str
) -> None:
    """Python's own words name neither the component nor what was meant; values, which may be keys, are not repeated."""
    spec = yaml.safe_load(source("corrective_retrieval"))
    spec["components"][part]["init_parameters"] |= settings
    own = tmp_path / "own.yml"
    own.write_text(yaml.safe_dump(spec))
    with pytest.raises(ConfigurationError) as caught:
        load(own)
    assert str(caught.value).startswith(f"the component {part!r} of {str(own)!r}: {said}choose from [")
    ours = "haystack_integrations.crag" in spec["components"][part]["type"] and part != "expander"
    assert str(caught.value).endswith("]") is not ours  # of its own components it says where to read on


def test_an_unknown_setting_inside_a_list_is_named_too(tmp_path: Path) -> None:
    """A web fallback holds its searches in one."""
    kind = "haystack_integrations.crag.components"
    search = {"type": f"{kind}.searxng_web_search.SearXNGWebSearch", "init_parameters": {"urll": "http://127.0.0.1:1"}}
    spec = yaml.safe_load(source("corrective_retrieval"))
    web = {"type": f"{kind}.web_fallback.WebFallback", "init_parameters": {"websearch": [search]}}
    spec["components"]["web"] = web
    own = tmp_path / "own.yml"
    own.write_text(yaml.safe_dump(spec))
    with pytest.raises(ConfigurationError, match=r"component 'web' .*SearXNGWebSearch has no setting \['urll'\]"):
        load(own)


def test_settings_of_a_generator_that_a_pipeline_has_not_are_refused() -> None:
    """A model as `generator` may go to a grader; settings go nowhere."""
    with pytest.raises(ConfigurationError, match=r"'corrective_retrieval' has no component \['generator'\]; choose fr"):
        load("corrective_retrieval", generator={"timeout_s": 3})


def test_a_model_goes_to_the_part_of_that_name_that_asks_one(tmp_path: Path, store: Any) -> None:
    """Whatever a file calls its grader; the answer is another model's."""
    (tmp_path / "own.yml").write_text(re.sub(r"\bgrader(?=:\n|\.)", "judge", source("corrective_rag")))
    judge, writer = MockChatGenerator("[]"), MockChatGenerator("An answer.")
    rag = load(tmp_path / "own.yml", store=store, judge=judge, generator=writer)
    asked = [rag.pipeline.get_component(part).chat_generator for part in ("judge", "generator")]
    assert asked == [judge, writer]
    with pytest.raises(ConfigurationError, match=r"got a MockChatGenerator as router, wanted one that fits"):
        load(tmp_path / "own.yml", router=MockChatGenerator("x"), generator=writer)


def test_a_part_that_a_pipeline_has_not_is_not_guessed_to_be_itself() -> None:
    """`grader` is an argument of `load`, and no component of the control."""
    with pytest.raises(ConfigurationError, match=r"has no component \['grader'\]; choose from"):
        load("baseline_rag", grader=HeuristicGrader())


def test_weights_of_a_retriever_that_there_is_not_are_refused() -> None:
    """Of an expander's strategy and of the first one: passed over, the strategy would search with other weights."""
    store, weights = InMemoryDocumentStore(), {"bm52": 1.0, "dense": 0.2}
    said = "has weights for ['bm52'], which no joiner has; choose from ['bm25', 'dense']"
    for given in (
        {"expander": {"strategies": [{"name": "by_meaning", "weights": weights}]}},
        {"guard": {"strategy": {"name": "by_meaning", "weights": weights}}},
    ):
        with pytest.raises(ConfigurationError, match=re.escape(said)):
            load("corrective_retrieval", store=store, **given)


def test_a_strategy_that_no_joiner_is_told_of_is_refused(tmp_path: Path) -> None:
    """The record named the strategy, and the lists were fused by the joiner's own weights."""
    spec = yaml.safe_load(source("agent_rag"))
    spec["connections"] = [one for one in spec["connections"] if one["receiver"] != "fuse.state"]
    (tmp_path / "own.yml").write_text(yaml.safe_dump(spec))
    with pytest.raises(
        ConfigurationError, match=r"of '(guard|expander)' has weights for 'fuse', .* state to fuse.state"
    ):
        load(tmp_path / "own.yml")


def test_a_ranker_between_router_and_prompt_goes_to_the_record_too(tmp_path: Path, store: Any) -> None:
    """An answer cites by number: with another order in the record, [2] named a passage that the model called [4]."""
    own, shown = tmp_path / "own.yml", list[str]()
    text = source("corrective_rag").replace("router.generate, receiver: prompt.", "router.generate, receiver: middle.")
    kind = "haystack.components.rankers.lost_in_the_middle.LostInTheMiddleRanker"
    text = text.replace("components:\n", f"components:\n  middle: {{type: {kind}, init_parameters: {{}}}}\n", 1)
    link = "connections:\n- {sender: middle.documents, receiver: %s.documents}\n"
    own.write_text(text.replace("connections:\n", link % "prompt"))
    model = scripted(lambda messages: shown.append(messages[-1].text) or "Soon [2].")
    parts = {"store": store, "grader": grading_by(lambda _: 0.9), "generator": model}
    with pytest.raises(ConfigurationError, match=r"would name the wrong ones; connect middle.documents to record.doc"):
        load(own, **parts)
    own.write_text(own.read_text().replace("connections:\n", link % "record"))
    found = load(own, **parts).run(query=QUESTION)["documents"]
    assert re.findall(r' source="([^"]+)"', shown[-1]) == [document.meta["source"] for document in found]
    assert len(found) == len(TEXTS)


def test_a_class_that_haystack_does_not_trust_is_told_in_one_line_with_the_ways_of_load(tmp_path: Path) -> None:
    """Haystack's own words name arguments that `load` does not have."""
    own = tmp_path / "own.yml"
    text = source("corrective_retrieval")
    own.write_text(text.replace("haystack_integrations.crag.components.heuristic_grader", "somebodys.module"))
    with pytest.raises(ConfigurationError) as refused:
        load(own)
    assert str(refused.value).endswith(
        "Haystack does not trust the module 'somebodys.module'; name it in HAYSTACK_DESERIALIZATION_ALLOWLIST, or "
        "pass the part to `load` as an object"
    )


def test_an_input_without_a_name_is_refused_with_the_way_to_name_it() -> None:
    """`Pipeline.run` takes a dictionary, so this is what is tried first."""
    rag = load("corrective_retrieval", store=InMemoryDocumentStore())
    for given, kind in (({"query": "Who wrote Emma?"}, "dict"), ("Who wrote Emma?", "str")):
        said = f"got {kind} without a name, wanted inputs by name; write run(query=...)"
        with pytest.raises(ConfigurationError, match=re.escape(said)):
            rag.run(given)
        with pytest.raises(ConfigurationError, match=re.escape(said)):
            asyncio.run(rag.run_async(given))


def test_an_input_that_the_pipeline_does_not_take_is_refused_and_not_left_out() -> None:
    """With `filter` for `filters` a plain SuperComponent searches the documents of everyone."""
    rag = load("corrective_retrieval")
    for run in (rag.run, lambda **inputs: asyncio.run(rag.run_async(**inputs))):
        with pytest.raises(ConfigurationError, match=re.escape("got the inputs ['filter'], which this")) as refused:
            run(query="Who wrote Emma?", filter={"field": "meta.year", "operator": "==", "value": 1815})
        assert str(refused.value).endswith("wanted some of ['query', 'filters', 'top_k', 'mode', 'budget']")


def test_a_loaded_pipeline_is_written_down_as_a_plain_super_component() -> None:
    """So that it can be read where this package is not what reads it."""
    data = load("corrective_retrieval").to_dict()
    assert data["type"] == "haystack.core.super_component.super_component.SuperComponent"
    assert SuperComponent.from_dict(data).run(query="Who wrote Emma?")["crag"]["action"] == "abstain"


def test_what_was_written_down_is_read_back_with_its_checks() -> None:
    """`type(pipeline).from_dict` gives the same pipeline, and leaves the dictionary as it was."""
    loaded = load("corrective_retrieval")
    written = loaded.to_dict()
    again = type(loaded).from_dict(written)
    assert again.to_dict() == written == loaded.to_dict()
    with pytest.raises(ConfigurationError, match="filter"):
        again.run(query="Who wrote Emma?", filter={})


def test_settings_are_those_of_the_parts_that_the_store_has(elasticsearch_url: str, elasticsearch_index: str) -> None:
    """The retrievers for Elasticsearch have a timeout, those in memory have none; a slip is named on either."""
    store = open_store("elasticsearch", elasticsearch_url, elasticsearch_index)
    rag = load("corrective_retrieval", store=store, bm25={"timeout_s": 2}, dense={"timeout_s": 3, "num_candidates": 50})
    assert rag.pipeline.get_component("bm25").timeout_s == 2
    rag.close()
    for kept, settings in ((store, {"timeuot_s": 2}), (None, {"timeout_s": 2})):
        with pytest.raises(ConfigurationError, match=re.escape(f"has no setting {list(settings)}")):
            load("corrective_retrieval", store=kept, bm25=settings)
    store.close()


def test_what_the_caller_sets_goes_before_what_the_kind_of_store_wants(
    elasticsearch_url: str, elasticsearch_index: str
) -> None:
    """The fuzziness of the store's profile took the place of the caller's, and nobody was told."""
    store = open_store("elasticsearch", elasticsearch_url, elasticsearch_index)
    changes = {"bm25": {"fuzziness": "AUTO"}, "fuse": {"similarity": {"dense": None}}, "dense": {"top_k": 3}}
    rag = load("corrective_retrieval", store=store, **changes)
    assert rag.pipeline.get_component("bm25").to_dict()["init_parameters"]["fuzziness"] == "AUTO"
    assert rag.pipeline.get_component("fuse").similarity == {"dense": None}
    rag.close()
    usual = load("corrective_retrieval", store=store)
    assert usual.pipeline.get_component("bm25").to_dict()["init_parameters"]["fuzziness"] == "0"
    assert usual.pipeline.get_component("fuse").similarity == {"dense": "half_cosine"}
    usual.close()


def test_a_yaml_written_for_a_kind_of_store_keeps_its_settings_on_another_index(
    elasticsearch_url: str, elasticsearch_index: str, tmp_path: Path
) -> None:
    """As one that `export` wrote, and its owner changed: with `store=` its fuzziness was the shipped one again."""
    file = tmp_path / "own.yml"
    spec = yaml.safe_load(export("corrective_retrieval", "elasticsearch", elasticsearch_url, elasticsearch_index))
    spec["components"]["bm25"]["init_parameters"]["fuzziness"] = "AUTO"
    file.write_text(yaml.safe_dump(spec))
    store = open_store("elasticsearch", elasticsearch_url, f"{elasticsearch_index}-other")
    rag = load(file, store=store)
    assert rag.pipeline.get_component("bm25").to_dict()["init_parameters"]["fuzziness"] == "AUTO"
    assert rag.pipeline.get_component("dense").retriever._document_store is store
    rag.close()


@pytest.mark.parametrize(
    ("mistake", "said"),
    [
        ({"router": {"on_incorrect": "web"}}, "nothing is connected to 'web'"),
        ({"router": {"max_iterations": -1}}, "must be a whole number from 1 to 20"),
        ({"fuse": {"weights": {"bm25": 1.0}}}, "fuse"),
    ],
    ids=["found when all is connected", "found when the part is in", "found before the part is in"],
)
def test_a_part_can_be_given_again_after_a_mistake_in_another_setting(
    mistake: dict[str, Any], said: str, in_memory_store: Any
) -> None:
    """In a notebook the grader is made in one cell, and the pipeline loaded in the next."""
    grader = HeuristicGrader()
    for _ in range(2):
        with pytest.raises(ConfigurationError, match=said):
            load("corrective_retrieval", store=in_memory_store, grader=grader, **mistake)
    rag = load("corrective_retrieval", store=in_memory_store, grader=grader)
    assert rag.run(query="Is there anything?")["crag"]["verdict"] == "incorrect"
    with pytest.raises(ConfigurationError, match="got a HeuristicGrader as grader that is in another pipeline already"):
        load("corrective_retrieval", store=in_memory_store, grader=grader)
