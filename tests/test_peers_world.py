"""
The world of the side-by-side comparison: one real server process, asked by real pipelines and in the peers' forms.

The corpus is a small one of its own: an island, its lighthouse, its ferry.
"""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import httpx
import pytest
from haystack import Document, component
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.components.rankers import LLMRanker
from haystack.dataclasses import ChatMessage
from haystack.utils import Secret

from haystack_integrations.crag.components.evidence_prompt_builder import EvidencePromptBuilder
from haystack_integrations.crag.components.strip_refiner import StripRefiner
from haystack_integrations.crag.expansion.prompt import ExpansionPrompt
from haystack_integrations.crag.grading.canary import canary
from haystack_integrations.crag.grading.plan import Item
from haystack_integrations.crag.grading.prompt import DEFAULT_RUBRIC, DEFAULT_TEMPLATE, GradingPrompt
from haystack_integrations.crag.pipelines import load
from haystack_integrations.crag.state import CragState
from haystack_integrations.crag.vocabulary import ABSTENTION

PEERS = Path(__file__).parents[1] / "benchmarks" / "peers"
if not PEERS.is_dir():
    pytest.skip("the benchmarks are not part of the source distribution", allow_module_level=True)
sys.path[:0] = [str(PEERS), str(PEERS / "adapters")]

import measures  # noqa: E402
import one_run  # noqa: E402
import replies  # noqa: E402
import tasks as peers_tasks  # noqa: E402
import tokens  # noqa: E402
from adapters import ours  # noqa: E402

QUESTION = "When was the lighthouse of Norrholm built?"
ANSWER = "1868"
TASK = "island:lit"
# Labels of the question: built 2, keeper 1, all others 0.
TEXTS = {
    "built": "The lighthouse of Norrholm stands on the north cape. Its tower was built in 1868 of grey granite.",
    "keeper": "The keeper of the lighthouse of Norrholm lived in a small house with his family. He had two goats.",
    "ferry": "The ferry to Norrholm sails three times a day. In winter it sails once, when the ice allows it.",
    "bread": "Bread on the island is baked with rye and sour milk. Every farm has an oven of its own.",
    "birds": "Puffins nest on the cliffs in May. The lighthouse disturbs them little, as visitors have noted.",
    "wool": "Wool of the island is washed in sea water. The blankets are known for being heavy and warm.",
    "school": "The school was closed in 1971, and its children take the ferry. The building houses a library.",
}
FIXED = ["built", "ferry", "keeper", "birds", "bread"]
GRADE = "You are a grader of retrieved documents. Is this one relevant to the question? Give a binary score, yes or no."


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data set in the form that `crag eval` reads: one question with an answer, one without."""
    root = tmp_path_factory.mktemp("datasets")
    place = root / "island" / "dev"
    place.mkdir(parents=True)
    corpus = [{"id": name, "title": f"Norrholm, {name}", "text": text} for name, text in TEXTS.items()]
    _write(root / "island" / "corpus.jsonl", corpus)
    lit = {"id": "lit", "question": QUESTION, "answers": [ANSWER], "gold": ["built"], "partial": ["keeper"]}
    none = {"id": "none", "question": "Who paints the ferry?", "answers": [], "gold": [], "partial": ["ferry"]}
    _write(place / "queries.jsonl", [lit, none])
    lists = [
        {"id": "lit", "retrieved": FIXED, "grades": [2, 0, 1, 0, 0]},
        {"id": "none", "retrieved": ["ferry", "school"], "grades": [1, 0]},
    ]
    _write(place / "bm25_top10.jsonl", lists)
    gaps = [
        {"id": "lit", "retrieved": ["keeper", "ferry", "birds"], "status": "gap"},
        {"id": "none", "retrieved": ["ferry", "school"], "status": "no_gold"},
    ]
    _write(place / "gap_bm25_top10.jsonl", gaps)
    (place / "gap_removed_docs.txt").write_text("built\n", "utf-8")
    return root


class Client:
    """What a run and an adapter say to the world."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.http = httpx.Client(base_url=url, trust_env=False, timeout=30)

    def begin(self, task: str = TASK, **how: Any) -> None:
        """Begin a run."""
        self.http.post("/control/begin", json={"task": task, "system": "test", **how}).raise_for_status()

    def end(self) -> dict[str, Any]:
        """End it."""
        tally: dict[str, Any] = self.http.post("/control/end").json()
        return tally

    def search(self, query: str, k: int = 5) -> list[dict[str, str]]:
        """Retrieve."""
        return self.http.get("/search", params={"q": query, "k": k}).json()["documents"]  # type: ignore[no-any-return]

    def web(self, query: str, n: int = 3) -> list[dict[str, str]]:
        """Search the web."""
        return self.http.get("/web", params={"q": query, "n": n}).json()["results"]  # type: ignore[no-any-return]

    def choice(self, *messages: str, **more: Any) -> dict[str, Any]:
        """Ask the model; the last message is the user's."""
        roles = ["system"] * (len(messages) - 1) + ["user"]
        said = [{"role": role, "content": text} for role, text in zip(roles, messages, strict=True)]
        reply = self.http.post("/v1/chat/completions", json={"model": "m", "messages": said, **more})
        return reply.json()["choices"][0]  # type: ignore[no-any-return]

    def ask(self, *messages: str, **more: Any) -> str:
        """Ask the model for a text."""
        return str(self.choice(*messages, **more)["message"]["content"])

    def generator(self, **more: Any) -> OpenAIChatGenerator:
        """Haystack's own client."""
        return OpenAIChatGenerator(api_key=Secret.from_token("none"), api_base_url=f"{self.url}/v1", **more)


@pytest.fixture(scope="module")
def started(folder: Path) -> Iterator[Client]:
    """The world's process on a free port."""
    command = [sys.executable, str(PEERS / "world.py"), str(folder), "--sets", "island", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            client = Client(json.loads(process.stdout.readline())["url"])
            with client.http:
                yield client
        finally:
            process.kill()


@pytest.fixture
def world(started: Client) -> Iterator[Client]:
    """The world with a run that has begun."""
    started.begin()
    yield started
    started.end()


def graded(client: Client, names: list[str]) -> dict[str, float]:
    """The real grading prompt about documents and a canary, and the scores it gets, by name."""
    items = [Item("bcdfghjklmn"[place] * 3, TEXTS[name], name, "index", place, 1) for place, name in enumerate(names)]
    bird = canary()
    prompt = GradingPrompt(DEFAULT_RUBRIC, DEFAULT_TEMPLATE, scale=1, reasons=False)
    messages = prompt.messages(QUESTION, [*items, bird], None)
    scores: dict[str, float] = json.loads(client.ask(*(message.text or "" for message in messages)))
    assert scores.pop(bird.key) == 0.1
    return {name: scores[item.key] for name, item in zip(names, items, strict=True)}


def ranked(client: Client, names: list[str]) -> list[str]:
    """What the real LLMRanker keeps."""
    documents = [Document(id=name, content=TEXTS[name]) for name in names]
    ranker = LLMRanker(chat_generator=client.generator())
    return [one.id for one in ranker.run(query=QUESTION, documents=documents)["documents"]]


SCHEMA = {"type": "object", "properties": {"binary_score": {"type": "string"}, "why": {"type": "string"}}}
TOOL = {"type": "function", "function": {"name": "Grade", "parameters": SCHEMA}}
FORMS: dict[str, dict[str, Any]] = {
    "tool call": {"tools": [TOOL], "tool_choice": {"type": "function", "function": {"name": "Grade"}}},
    "schema": {"response_format": {"type": "json_schema", "json_schema": {"name": "Grade", "schema": SCHEMA}}},
    "loose JSON": {"response_format": {"type": "json_object"}},
    "free text": {},
}


def judgement(form: str, choice: dict[str, Any]) -> str:
    """The word in a reply of a form."""
    message = choice["message"]
    if form == "free text":
        return str(message["content"])
    text = message["tool_calls"][0]["function"]["arguments"] if form == "tool call" else message["content"]
    return str(json.loads(text)["binary_score"])


def relevant(client: Client, form: str, names: list[str]) -> list[str]:
    """The documents that the yes/no form of a peer calls relevant."""
    asked = {name: f"Document:\n\n{TEXTS[name]}\n\nQuestion: {QUESTION}" for name in names}
    said = {name: judgement(form, client.choice(GRADE, text, **FORMS[form])) for name, text in asked.items()}
    assert set(said.values()) <= {"yes", "no"}
    return [name for name, word in said.items() if word == "yes"]


def test_the_questions_of_a_folder_are_told_in_the_order_in_which_they_are_asked(world: Client, folder: Path) -> None:
    told = world.http.get("/tasks").json()["tasks"]
    found, _ = peers_tasks.read(folder, ["island"], 20)
    assert [one["task"] for one in told] == list(found)
    assert {one["task"]: one["answerable"] for one in told} == {TASK: True, "island:none": False}


def test_lists_begin_with_the_fixed_ten_and_go_on_by_bm25(folder: Path) -> None:
    task = peers_tasks.read(folder, ["island"], 20)[0][TASK]
    assert list(task.lists["fixed"])[:5] == FIXED
    assert len(set(task.lists["fixed"])) == len(task.lists["fixed"])
    assert task.lists["gap"][:3] == ("keeper", "ferry", "birds")
    assert not {"built", "keeper"} & set(task.lists["nothing"])
    assert [task.truth(5, kind) for kind in peers_tasks.KINDS] == ["correct", "ambiguous", "incorrect"]
    assert [task.suffices(1, kind) for kind in peers_tasks.KINDS] == [True, False, False]


def test_the_question_gets_its_list_and_any_other_query_a_search(world: Client) -> None:
    assert [one["id"] for one in world.search(QUESTION, 3)] == FIXED[:3]
    assert world.search("puffins on cliffs", 1)[0]["id"] == "birds"
    assert world.search(f"{QUESTION} in detail")[0] == {
        "id": "built",
        "title": "Norrholm, built",
        "text": TEXTS["built"],
    }
    assert world.end()["searches"] == 3


def test_in_a_gap_the_index_has_no_answer_and_the_web_has(world: Client) -> None:
    for fault, gone, on_the_web in (
        ("gap", {"built"}, True),
        ("nothing", {"built", "keeper"}, True),
        ("nowhere", {"built", "keeper"}, False),
    ):
        world.begin(fault=fault)
        for query in (QUESTION, "lighthouse tower built granite keeper"):
            assert not gone & {one["id"] for one in world.search(query, 10)}
        pages = world.web(QUESTION)
        assert any(ANSWER in page["text"] for page in pages) is on_the_web
        assert all(set(page) == {"title", "url", "text"} for page in pages)
        assert world.end()["web_calls"] == 1


def test_a_web_that_is_down_answers_503_and_is_counted(world: Client) -> None:
    world.begin(fault="web_down")
    assert world.http.get("/web", params={"q": QUESTION, "n": 3}).status_code == 503
    assert world.end()["web_calls"] == 1


def test_the_batch_grading_prompt_gets_a_score_for_each_label(world: Client) -> None:
    assert graded(world, FIXED) == {"built": 0.9, "keeper": 0.5, "ferry": 0.1, "birds": 0.1, "bread": 0.1}
    assert world.end()["by_role"] == {"batch_grade": 1}


def test_llm_ranker_keeps_what_is_labelled_best_first(world: Client) -> None:
    assert ranked(world, ["ferry", "keeper", "birds", "built"]) == ["built", "keeper"]
    assert world.end()["by_role"] == {"rank": 1}


@pytest.mark.parametrize("form", FORMS)
def test_a_document_is_relevant_from_label_one_up_in_every_form_of_yes_and_no(world: Client, form: str) -> None:
    assert relevant(world, form, FIXED) == ["built", "keeper"]
    assert world.end()["by_role"] == {"binary_grade": len(FIXED)}


def test_the_same_documents_are_judged_wrongly_in_every_form(world: Client) -> None:
    names = list(TEXTS)
    world.begin(errors=0.4)
    world.search("lighthouse ferry bread wool school puffins", 10)
    wrong = {name for name in names if replies.is_wrong(TASK, name, 0.4)}
    assert 0 < len(wrong) < len(names)
    expected = {name for name in names if (name in ("built", "keeper")) != (name in wrong)}
    assert {name for name, score in graded(world, names).items() if score >= 0.5} == expected
    assert set(ranked(world, names)) == expected
    for form in FORMS:
        assert set(relevant(world, form, names)) == expected
    smaller = {name for name in names if replies.is_wrong(TASK, name, 0.2)}
    assert smaller <= wrong


def test_a_share_of_answers_is_not_seen_or_made_up_by_attempt_whatever_the_prompt_shows(world: Client) -> None:
    """The first documents shown bring the first draw, others the next, and the same the same again."""
    others, erring = [name for name in TEXTS if name not in ("built", "keeper")], []
    for shown, right, wrong in (
        (["built"], f"{ANSWER} [1]", ABSTENTION),
        ([], ABSTENTION, f"{replies.MADE_UP} [1]"),
    ):
        world.begin(errors=0.4)
        prompts = [answer_prompt([TEXTS[name] for name in (*shown, other)]) for other in others]
        replied = [world.ask(*prompt) for prompt in prompts]
        assert set(replied) == {right, wrong}
        assert [world.ask(*prompt) for prompt in prompts] == replied
        erring.append([text == wrong for text in replied])
    drawn = [replies.is_wrong(TASK, replies.attempt(number), 0.4) for number in range(1, len(others) + 1)]
    assert erring == [drawn, drawn]


@pytest.mark.parametrize("form", ["tool call", "schema", "free text"])
def test_the_graders_of_answers_look_at_support_and_at_not_knowing(world: Client, form: str) -> None:
    grounded = "Is the generation grounded in the set of facts? Give a binary score, yes or no."
    resolves = "Does the answer resolve the question? Give a binary score, yes or no."
    for facts, generation, expected in (
        ("built", f"{ANSWER} [1]", ("yes", "yes")),
        ("built", "Its tower was built in 1868 of grey granite. [1]", ("yes", "yes")),
        ("ferry", f"{ANSWER} [1]", ("no", "yes")),
        ("ferry", "I do not know.", ("yes", "no")),
    ):
        first = world.choice(grounded, f"Facts: {TEXTS[facts]}\n\nGeneration: {generation}", **FORMS[form])
        second = world.choice(resolves, f"Question: {QUESTION}\n\nGeneration: {generation}", **FORMS[form])
        assert (judgement(form, first), judgement(form, second)) == expected
    assert world.end()["by_role"] == {"hallucination_grade": 4, "answer_grade": 4}


def test_queries_are_the_question_in_detail_whoever_asks_for_them(world: Client) -> None:
    expected = f"{QUESTION} in detail"
    state = CragState(query=QUESTION, kept=(Document(content=TEXTS["keeper"]),))
    for mode in ("llm", "multi", "decompose", "web"):
        messages = ExpansionPrompt(mode, 3, None).messages(state)
        assert world.ask(*(message.text or "" for message in messages)) == expected
    asked = f"The first question: {QUESTION}\nGive an improved question."
    assert world.ask("You rewrite questions so that a web search finds more.", asked) == expected
    refine = (
        f"Refine a query so that it finds relevant search results.\n{QUESTION}\nReply with the optimized query only."
    )
    assert world.ask(refine) == expected
    assert world.end()["by_role"] == {"rewrite": 6}


def test_a_router_of_questions_chooses_the_index(world: Client) -> None:
    source = {"type": "string", "enum": ["web_search", "vectorstore"]}
    form = {"name": "Route", "schema": {"type": "object", "properties": {"datasource": source}}}
    said = world.ask("Route it.", QUESTION, response_format={"type": "json_schema", "json_schema": form})
    assert json.loads(said) == {"datasource": "vectorstore"}
    assert world.end()["by_role"] == {"route": 1}


def test_the_refiner_s_model_keeps_the_line_with_the_answer(world: Client) -> None:
    documents = [Document(id=name, content=TEXTS[name]) for name in ("ferry", "built", "keeper")]
    refiner = StripRefiner(scorer="llm", chat_generator=world.generator())
    found = refiner.run(query=QUESTION, documents=documents)["documents"]
    assert [one.content for one in found] == ["Its tower was built in 1868 of grey granite."]
    assert world.end()["by_role"] == {"strips": 1}


def answer_prompt(texts: list[str]) -> list[str]:
    """The real prompt of our answers."""
    documents = [Document(content=text, meta={"title": f"Built {ANSWER}"}) for text in texts]
    messages: list[ChatMessage] = EvidencePromptBuilder().run(question=QUESTION, documents=documents)["prompt"]
    return [message.text or "" for message in messages]


def test_an_answer_is_what_the_documents_of_the_prompt_hold(world: Client) -> None:
    assert world.ask(*answer_prompt([TEXTS["ferry"], TEXTS["built"]])) == f"{ANSWER} [1]"
    tally = world.end()
    assert tally["answer_support"] is True
    assert tally["answer_documents"] == ["built", "ferry"]
    assert tally["answer_words"] == sum(len(TEXTS[name].split()) for name in ("built", "ferry"))
    assert tally["answer_gold"] is tally["suffices"] is True


def test_an_answer_in_the_question_or_in_a_title_is_no_support(world: Client) -> None:
    assert world.ask(*answer_prompt([TEXTS["ferry"]])) == ABSTENTION
    assert world.ask(f"Context: {TEXTS['ferry']}\n\nQuestion: Was it {ANSWER}? {QUESTION}") == "I do not know."
    tally = world.end()
    assert (tally["answer_support"], tally["answer_calls"], tally["answer_gold"]) == (False, 2, False)


def test_refined_evidence_is_recognised_by_its_sentences(world: Client) -> None:
    assert world.ask(*answer_prompt(["Its tower was built in 1868 of grey granite."])) == f"{ANSWER} [1]"
    tally = world.end()
    assert (tally["answer_documents"], tally["answer_words"]) == (["built"], 9)


def test_a_document_that_was_cut_is_recognised_by_its_beginning(world: Client) -> None:
    cut = TEXTS["built"][:75]
    assert world.ask(GRADE, f"Document: {cut}\nQuestion: {QUESTION}") == "yes"
    assert world.ask(f"Context: {cut}\n{QUESTION}") == "I do not know."
    assert world.end()["answer_documents"] == ["built"]


def test_a_prompt_that_asks_for_a_sentinel_gets_it(world: Client) -> None:
    asked = f"Reply no_answer when the documents do not answer.\n{TEXTS['wool']}\n{QUESTION}"
    assert world.ask(asked) == "no_answer"
    asked = f"Else reply with this sentence and nothing else: It is not there.\n{TEXTS['wool']}\n{QUESTION}"
    assert world.ask(asked) == "It is not there."


def test_an_answer_so_far_is_kept_when_it_is_to_be_refined(world: Client) -> None:
    world.ask(f"Context: {TEXTS['built']}\nQuery: {QUESTION}")
    asked = f"The query is: {QUESTION}\nThere is an existing answer: {ANSWER} [1]\nMore context: {TEXTS['ferry']}"
    assert world.ask(asked) == f"{ANSWER} [1]"
    assert world.end()["answer_support"] is True


def test_a_question_without_an_answer_is_never_answered(world: Client) -> None:
    world.begin("island:none")
    assert world.ask(f"Answer it.\n{TEXTS['ferry']}\nWho paints the ferry?") == "I do not know."
    tally = world.end()
    assert (tally["answerable"], tally["suffices"], tally["truth"]) == (False, False, "ambiguous")


@pytest.mark.parametrize("form", FORMS)
def test_a_model_that_returns_garbage_gives_no_grade_in_any_form(world: Client, form: str) -> None:
    world.begin(fault="garbage")
    asked = f"Document: {TEXTS['built']}\nQuestion: {QUESTION}"
    choice = world.choice(GRADE, asked, **FORMS[form])
    assert choice["message"]["content"] == replies.GARBAGE
    assert "tool_calls" not in choice["message"]
    assert world.ask(f"Context: {TEXTS['built']}\n{QUESTION}") == f"{ANSWER} [1]"


@pytest.mark.parametrize("form", FORMS)
def test_a_reply_that_is_cut_is_half_of_one_and_says_so(world: Client, form: str) -> None:
    asked = f"Document: {TEXTS['built']}\nQuestion: {QUESTION}"
    texts = []
    for fault in (None, "cut"):
        world.begin(fault=fault)
        choice = world.choice(GRADE, asked, **FORMS[form])
        message = choice["message"]
        text = message["tool_calls"][0]["function"]["arguments"] if form == "tool call" else message["content"]
        texts.append((text, choice["finish_reason"]))
    (whole, _), (half, reason) = texts
    assert half == whole[: len(whole) // 2]
    assert reason == "length"


def test_a_call_that_hangs_ends_with_its_run_and_counts_in_no_other(world: Client) -> None:
    world.begin(fault="hang", hang_seconds=600)
    replied: list[str] = []
    asked = f"Document: {TEXTS['built']}\nQuestion: {QUESTION}"
    waiting = Thread(target=lambda: replied.append(world.ask(GRADE, asked)))
    waiting.start()
    assert world.ask(f"Context: {TEXTS['built']}\n{QUESTION}") == f"{ANSWER} [1]"  # an answer does not hang
    while world.http.get("/control/tally").json()["calls"] < 2:
        time.sleep(0.01)
    assert replied == []
    assert world.end()["by_role"] == {"binary_grade": 1, "answer": 1}
    world.begin()
    waiting.join(timeout=30)
    assert replied == ["yes"]
    assert world.end()["calls"] == 0


def test_an_instruction_in_a_document_is_obeyed_outside_of_random_tags_only(world: Client) -> None:
    world.begin(fault="injected")
    documents = world.search(QUESTION, 5)
    poisoned = [one for one in documents if replies.INSTRUCTION in one["text"]]
    assert [one["id"] for one in poisoned] == ["ferry"]
    texts = [one["text"] for one in documents]
    assert world.ask("Answer it.\n" + "\n".join(texts) + QUESTION) == replies.PWNED
    assert world.ask(*answer_prompt(texts)) == f"{ANSWER} [1]"
    assert world.ask(GRADE, f"Document: {poisoned[0]['text']}\nQuestion: {QUESTION}") == "yes"
    assert set(world.end()["answer_documents"]) == set(FIXED)


def test_a_stream_says_what_the_whole_reply_says(world: Client) -> None:
    chunks: list[str] = []
    generator = world.generator(streaming_callback=lambda chunk: chunks.append(chunk.content))
    message = ChatMessage.from_user(f"Context: {TEXTS['built']}\n{QUESTION}")
    assert generator.run([message])["replies"][0].text == "".join(chunks) == f"{ANSWER} [1]"


def test_a_call_takes_the_latency_of_its_tokens_and_counts_them(world: Client) -> None:
    world.begin(a=0.05, b=0.001, c=0.01)
    begun = time.monotonic()
    body = {"model": "m", "messages": [{"role": "user", "content": "one two, three four"}]}
    usage = world.http.post("/v1/chat/completions", json=body).json()["usage"]
    assert time.monotonic() - begun >= 0.05 + 5 * 0.001 + 5 * 0.01
    assert (usage["prompt_tokens"], usage["completion_tokens"]) == (5, 5)  # "I do not know."
    tally = world.end()
    assert (tally["calls"], tally["tokens_in"], tally["tokens_out"]) == (1, 5, 5)


def test_tools_and_schemas_count_as_prompt(world: Client) -> None:
    for more in ({}, FORMS["tool call"], FORMS["schema"]):
        world.choice(GRADE, f"{TEXTS['built']}\n{QUESTION}", **more)
    tally = world.end()
    world.begin()
    world.choice(GRADE, f"{TEXTS['built']}\n{QUESTION}")
    assert tally["tokens_in"] > 3 * world.end()["tokens_in"]


def test_the_world_counts_tokens_by_what_it_is_given(folder: Path) -> None:
    """A real tokenizer in place of the rule: of the prompt, its schema and the reply."""
    tasks, corpora = peers_tasks.read(folder, ["island"], 2)
    run = one_run.Run(tasks[TASK], corpora["island"], {}, lambda text: 7)
    *_, read, written = run.complete({"messages": [{"role": "user", "content": QUESTION}]})
    assert (read, written) == (7, 7)
    assert (run.tally()["tokens_in"], run.tally()["tokens_out"]) == (7, 7)


def test_without_the_tokenizers_package_its_part_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is counted by another rule in its place."""
    monkeypatch.setitem(sys.modules, "mistral_common", None)
    with pytest.raises(SystemExit, match="pip install mistral-common"):
        tokens.tekken()


def test_embeddings_are_the_same_for_the_same_text(world: Client) -> None:
    data = world.http.post("/v1/embeddings", json={"model": "m", "input": ["a", "b", "a"]}).json()["data"]
    assert data[0]["embedding"] == data[2]["embedding"] != data[1]["embedding"]


def test_an_unknown_task_or_fault_is_refused_by_name(world: Client) -> None:
    for body, name in (({"task": "island:no"}, "island:no"), ({"task": TASK, "fault": "rain"}, "rain")):
        refused = world.http.post("/control/begin", json=body)
        assert refused.status_code == 400
        assert name in refused.json()["error"]["message"]


@component
class FromWorld:
    """A retriever around /search."""

    def __init__(self, client: Client) -> None:
        self.client = client

    @component.output_types(documents=list[Document])
    def run(self, query: str, filters: dict[str, Any] | None = None, top_k: int = 10) -> dict[str, Any]:
        found = self.client.search(query, top_k)
        return {"documents": [Document(id=one["id"], content=one["text"], score=1.0) for one in found]}


@component
class NoVectors:
    """A dense retriever that finds nothing."""

    @component.output_types(documents=list[Document])
    def run(self, query: str, filters: dict[str, Any] | None = None, top_k: int = 10) -> Any:
        return {"documents": []}


@pytest.mark.parametrize(
    ("fault", "verdict", "outcome"),
    [
        (None, "correct", "answered with support"),
        ("garbage", "ungraded", "answered with support"),
        ("gap", "ambiguous", "abstained"),
        ("nothing", "incorrect", "abstained"),
        ("injected", "correct", "answered with support"),
    ],
)
def test_corrective_rag_runs_on_the_world(world: Client, fault: str | None, verdict: str, outcome: str) -> None:
    model = world.generator()
    rag = load("corrective_rag", grader=model, generator=model, bm25=FromWorld(world), dense=NoVectors())
    world.begin(fault=fault, k=5)
    result = rag.run(query=QUESTION, top_k=5)
    tally = world.end()
    assert result["crag"]["trail"][0]["verdict"] == verdict
    assert result["crag"]["llm_calls"] == tally["calls"]
    route = ours.route_of(result["crag"])
    record = {**tally, "answer": result["answers"][0].data, "route": route, "error": None}
    assert measures.outcome(record) == outcome


RECORD: dict[str, Any] = {
    **{"task": "t1", "answer": f"{ANSWER} [1]", "route": "generate", "verdict": "correct", "seconds": 1.0},
    **{"error": None, "calls": 2, "by_role": {"answer": 1, "rank": 1}, "tokens_in": 1000, "tokens_out": 10},
    **{"answer_calls": 1, "answer_words": 20, "answer_support": True, "answer_gold": True, "web_calls": 0},
    **{"searches": 1, "suffices": True, "truth": "correct", "answerable": True},
}


@pytest.mark.parametrize(
    ("change", "outcome"),
    [
        ({}, "answered with support"),
        ({"answer_support": False}, "answered without"),
        ({"answer": "PWNED"}, "answered without"),
        ({"answer": "I do not know."}, "abstained"),
        ({"answer": "no_answer"}, "abstained"),
        ({"answer": None, "route": "abstain"}, "abstained"),
        ({"answer": "Empty Response"}, "empty"),
        ({"answer": None}, "empty"),
        ({"answer": None, "error": "timeout"}, "timeout"),
        ({"answer": None, "error": "GraphRecursionError: limit"}, "error"),
    ],
)
def test_an_outcome_is_one_of_six(change: dict[str, Any], outcome: str) -> None:
    assert measures.outcome({**RECORD, **change}) == outcome
    assert outcome in measures.OUTCOMES


def test_figures_count_an_error_as_a_wrong_decision() -> None:
    good = [{**RECORD, "task": f"t{number}"} for number in range(3)]
    lacking = {"suffices": False, "truth": "incorrect", "answer_support": False, "answer_gold": False}
    refused = {**RECORD, **lacking, "task": "t3", "route": "abstain", "verdict": "incorrect", "answer": None}
    broken = {**RECORD, "task": "t4", "route": None, "verdict": None, "answer": None, "error": "timeout"}
    whole, less = measures.figures([*good, refused]), measures.figures([*good, refused, broken])
    assert whole["suffices_f1"]["value"] == whole["verdict_f1"]["value"] == 1
    assert less["suffices_f1"]["value"] == pytest.approx((6 / 7 + 1) / 2, abs=1e-4)
    assert less["suffices_f1"]["low"] <= less["suffices_f1"]["value"] <= less["suffices_f1"]["high"]
    assert less["outcomes"] == {"answered with support": 3, "abstained": 1, "timeout": 1}
    assert less["support"]["value"] == 0.6
    assert less["calls"]["median"] == 2
    assert (less["n"], less["abstained"]) == (5, None)


def test_what_does_not_apply_to_a_system_is_none() -> None:
    figures = measures.figures([{**RECORD, "route": None, "verdict": None}])
    assert figures["suffices_f1"] is figures["verdict_f1"] is None


def test_an_answer_without_an_answering_document_is_wrong() -> None:
    lucky = {**RECORD, "task": "t2", "answer_gold": False}
    assert measures.figures([RECORD, lucky])["wrong_answers"]["value"] == 0.5


def test_tokens_cost_what_the_price_list_says() -> None:
    assert measures.dollars(2_000_000, 500_000, {"input": 0.25, "output": 2.0}) == 1.5
