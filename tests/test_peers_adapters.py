"""The adapters of the comparison speak its line protocol, and no system that fails ends a run."""

import json
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from scripted_model import Messages, ScriptedModel, documents_in, judging
from werkzeug import Request, Response

PEERS = Path(__file__).parents[1] / "benchmarks" / "peers"
QUESTION = "Who wrote the novel Emma?"
ANSWER = "Emma was written by Jane Austen."
BESIDE = "The Eiffel Tower stands in Paris."
ENTRIES = {"task", "answer", "route", "verdict", "kept", "seconds", "error"}
CORPUS = [
    {"id": "emma", "title": "Emma", "text": f"{ANSWER} It appeared in 1815.", "sentences": [ANSWER]},
    *({"id": f"paris-{n}", "title": "Paris", "text": f"{BESIDE} Seen on day {n}, Emma liked it."} for n in range(12)),
]


@pytest.fixture(autouse=True)
def peers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The modules of the comparison are found, and its cache is this test's own."""
    monkeypatch.syspath_prepend(PEERS)
    monkeypatch.setenv("CRAG_PEERS_DIR", str(tmp_path / "cache"))


@pytest.fixture
def world() -> Iterator[ScriptedModel]:
    """A model, a retriever and a web: of the task `gap` only the web knows the answer, of `broken` nobody."""
    with HTTPServer(host="127.0.0.1", port=0, threaded=True) as server:

        def search(request: Request) -> Response:
            if request.args["task"] == "broken":
                return Response("broken", 500)
            found = CORPUS[request.args["task"] == "gap" :][: int(request.args["k"])]
            return Response(json.dumps({"documents": found}), content_type="application/json")

        server.expect_request("/search").respond_with_handler(search)
        page = {"title": "Emma", "url": "http://example.org/emma", "text": ANSWER}
        server.expect_request("/web").respond_with_json({"results": [page]})
        model = ScriptedModel(server)
        model.reply = reply
        yield model
        model.end()


def reply(messages: Messages) -> tuple[str, str]:
    """Grade, rank or answer as a model would that reads."""
    prompt = messages[-1]["content"]
    if prompt.startswith("You are ranking"):
        found = prompt.partition("\nDocuments:")[2].split("\nDocument ")
        named = [{"index": number} for number, text in enumerate(found[1:], 1) if ANSWER in text]
        return json.dumps({"documents": named}), "stop"
    if documents_in(messages):
        return judging(lambda text: 0.9 if ANSWER in text else 0.1)(messages)
    if ANSWER in prompt:
        return "Jane Austen [1].", "stop"
    return ("no_answer" if "no_answer" in prompt else "I do not know."), "stop"


def worker(name: str, model: ScriptedModel) -> Any:
    """The real process of a system."""
    return import_module("workers").Worker(import_module("systems").SYSTEMS[name], model.url.removesuffix("/v1"))


ASKED = ("corrective_rag", "baseline_rag", "haystack_llm_ranker", "haystack_web_fallback")
KEPT = {
    "corrective_rag": ["emma"],
    "baseline_rag": ["emma", "paris-0", "paris-1"],
    "haystack_llm_ranker": ["emma"],
    "haystack_web_fallback": None,
}


@pytest.mark.parametrize("name", ASKED)
def test_a_worker_answers_each_line_and_a_failed_question_does_not_end_it(name: str, world: ScriptedModel) -> None:
    with worker(name, world) as asked:
        broken = asked.ask("broken", QUESTION, 3, 60)
        said = asked.ask("fixed", QUESTION, 3, 60)
        assert asked.versions["haystack-ai"]
    assert set(broken) == set(said) == ENTRIES
    assert broken["error"]
    assert broken["answer"] is None
    assert said["error"] is None
    assert said["task"] == "fixed"
    assert said["answer"] == "Jane Austen [1]."
    assert said["kept"] == KEPT[name]
    assert said["seconds"] > 0


def test_route_and_verdict_are_those_of_the_record(world: ScriptedModel) -> None:
    with worker("corrective_rag", world) as asked:
        said = [asked.ask(task, QUESTION, 10, 60) for task in ("fixed", "gap")]
    assert [(one["route"], one["verdict"]) for one in said] == [("generate", "correct"), ("abstain", "incorrect")]
    assert said[1]["kept"] == []


def test_the_fallback_goes_to_the_web_when_the_model_says_so(world: ScriptedModel) -> None:
    with worker("haystack_web_fallback", world) as asked:
        said = [asked.ask(task, QUESTION, 10, 60) for task in ("fixed", "gap")]
    assert [(one["route"], one["answer"]) for one in said] == [
        ("generate", "Jane Austen [1]."),
        ("web", "Jane Austen [1]."),
    ]


def test_a_shipped_web_search_is_the_comparisons(world: ScriptedModel) -> None:
    with worker("strict_rag", world) as asked:
        said = asked.ask("gap", QUESTION, 5, 60)
    assert (said["route"], said["verdict"], said["answer"]) == ("web", "incorrect", "Jane Austen [1].")


def adapter(folder: Path, body: str) -> str:
    """An adapter whose system is a few lines."""
    path = folder / "adapter.py"
    head = f"import os, sys, time\nsys.path.insert(0, {str(PEERS / 'adapters')!r})\nfrom worker import serve\n"
    path.write_text(f"{head}print('a library talks')\n{body}\nserve(answer, ('no-such-package',))\n")
    return str(path)


DIES = "def answer(question, k):\n    os._exit(3) if 'die' in question else None\n    return {'answer': question}"
HANGS = "def answer(question, k):\n    time.sleep(600 * ('hang' in question))\n    return {'answer': question}"


@pytest.mark.parametrize(("body", "question"), [(DIES, "die"), (HANGS, "hang")])
def test_a_worker_that_dies_or_hangs_is_started_again(body: str, question: str, tmp_path: Path) -> None:
    workers, systems = import_module("workers"), import_module("systems")
    system = systems.System("one", "One", adapter(tmp_path, body), "a test")
    with workers.Worker(system, "http://127.0.0.1:9") as asked:
        assert asked.versions == {"no-such-package": "missing"}
        with pytest.raises((workers.WorkerDied, TimeoutError)):
            asked.ask("1", question, 3, 60 if question == "die" else 0.2)
        assert asked.is_cold
        assert asked.ask("2", "well", 3, 60)["answer"] == "well"


def test_a_system_that_does_not_start_says_why(tmp_path: Path) -> None:
    workers, systems = import_module("workers"), import_module("systems")
    system = systems.System("one", "One", adapter(tmp_path, "raise RuntimeError('no such model')"), "a test")
    with pytest.raises(import_module("environments").SystemFailed, match="RuntimeError: no such model"):
        workers.Worker(system, "http://127.0.0.1:9")


def datasets(folder: Path) -> Path:
    """A data set of one's own in the form of the open ones."""
    place = folder / "datasets" / "tiny" / "dev"
    place.mkdir(parents=True)
    asked = [f"Who wrote Emma, question {number}?" for number in range(2)]
    queries = [
        {"id": f"q{n}", "question": one, "gold": ["emma"], "answers": ["Jane Austen"]} for n, one in enumerate(asked)
    ]
    ids = [document["id"] for document in CORPUS]
    lists = [{"id": row["id"], "retrieved": ids[:10]} for row in queries]
    for path, rows in ((place.parent / "corpus.jsonl", CORPUS), (place / "queries.jsonl", queries)):
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    (place / "bm25_top10.jsonl").write_text("".join(json.dumps(row) + "\n" for row in lists), "utf-8")
    return folder / "datasets"


COUNTS = "asked = []\ndef answer(question, k):\n    asked.append(question)\n    return {'answer': str(len(asked))}"


def test_a_worker_has_read_nothing_before_questions_that_are_timed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But for the one that warms it up: each timed arm begins with a process of its own."""
    run, systems = import_module("run"), import_module("systems")
    monkeypatch.setitem(
        systems.SYSTEMS, "counts", systems.System("counts", "Counts", adapter(tmp_path, COUNTS), "a test")
    )
    options = ["--sets", "tiny", "--questions", "2", "--timed", "1", "--at-goals", "2", "--k", "3", "10"]
    options += ["--parts", "cost", "--out", str(tmp_path / "results"), "--systems", "counts"]
    monkeypatch.setattr(sys, "argv", ["run.py", str(datasets(tmp_path)), *options])
    run.main()
    raw = (tmp_path / "cache" / "records" / "cost" / "counts.jsonl").read_text("utf-8").splitlines()
    said = [(one["k"], one["a"], bool(one["b"]), int(one["answer"])) for one in map(json.loads, raw)]
    assert [number for k, a, by_tokens, number in said if k == 3 and (a or by_tokens)] == [2, 2, 2, 2]
    assert [number for k, a, by_tokens, number in said if k == 10 and (a or by_tokens)] == [2, 3, 2, 2, 3, 2]


def test_a_run_goes_on_without_what_fails_and_goes_on_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run, systems = import_module("run"), import_module("systems")
    dies = systems.System("dies", "Dies", adapter(tmp_path, DIES.replace("'die' in question", "True")), "a test")
    never = systems.System("never", "Never", "never.py", "a test", environment="nowhere")
    for system in (dies, never):
        monkeypatch.setitem(systems.SYSTEMS, system.name, system)
    out = tmp_path / "results"
    options = ["--sets", "tiny", "--questions", "2", "--timed", "1", "--k", "3", "--parts", "cost", "--out", str(out)]
    command = ["run.py", str(datasets(tmp_path)), *options, "--systems", "never", "dies", "baseline_rag"]
    for _ in range(2):
        monkeypatch.setattr(sys, "argv", command)
        run.main()
    result = json.loads((out / "cost.json").read_text("utf-8"))
    assert result["failed"] == {"never": "no requirements/nowhere.txt"}
    assert set(result["figures"]) == set(result["systems"]) == {"dies", "baseline_rag"}
    assert len(result["figures"]["baseline_rag"]) == 5
    assert result["systems"]["baseline_rag"]["versions"]["haystack-ai"]
    (ran,) = result["runs"]
    assert ran["machine"]["cpus"] >= 1
    assert str(tmp_path) not in ran["command"]
    assert "baseline_rag           cost: measured before" in capsys.readouterr().out
