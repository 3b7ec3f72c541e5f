"""A real model in the place of the comparison's script: requests go on to a server, answers are read by their words."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.utils import Secret
from scripted_model import ScriptedModel

PEERS = Path(__file__).parents[1] / "benchmarks" / "peers"
if not PEERS.is_dir():
    pytest.skip("the benchmarks are not part of the source distribution", allow_module_level=True)
sys.path[:0] = [str(PEERS), str(PEERS / "adapters")]

import page_real  # noqa: E402
import real  # noqa: E402
from adapters import ours  # noqa: E402

QUESTION, ANSWER = "When was the lighthouse of Norrholm built?", "1868"


@pytest.fixture
def world(tmp_path: Path, scripted_model: ScriptedModel) -> Iterator[httpx.Client]:
    """The world's process, with a server behind it that stands for the real model's."""
    place = tmp_path / "island" / "dev"
    place.mkdir(parents=True)
    rows: dict[Path, dict[str, Any]] = {
        place.parent / "corpus.jsonl": {"id": "built", "title": "Norrholm", "text": "Its tower was built in 1868."},
        place / "queries.jsonl": {"id": "lit", "question": QUESTION, "answers": [ANSWER], "gold": ["built"]},
        place / "bm25_top10.jsonl": {"id": "lit", "retrieved": ["built"], "grades": [2]},
    }
    for path, row in rows.items():
        path.write_text(json.dumps({"partial": [], **row} if "gold" in row else row) + "\n", "utf-8")
    command = [sys.executable, str(PEERS / "world.py"), str(tmp_path), "--sets", "island", "--port", "0"]
    command += ["--model-url", scripted_model.url]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            url = json.loads(process.stdout.readline())["url"]
            with httpx.Client(base_url=url, trust_env=False, timeout=30) as client:
                client.post("/control/begin", json={"task": "island:lit", "system": "test"}).raise_for_status()
                yield client
        finally:
            process.kill()


def test_a_system_gets_the_words_of_the_real_model_and_its_tokens_are_counted(
    world: httpx.Client, scripted_model: ScriptedModel
) -> None:
    """Haystack's own client asks, streamed and whole; what it shows is noted as with the script."""
    scripted_model.reply = lambda _: ("In the year 1868, as far as I know.", "stop")
    words: list[str] = []
    generator = OpenAIChatGenerator(Secret.from_token("none"), api_base_url=str(world.base_url).rstrip("/") + "/v1")
    asked = [ChatMessage.from_user(f"Its tower was built in 1868. {QUESTION}")]
    for callback in (None, lambda chunk: words.append(chunk.content)):
        (reply,) = generator.run(asked, streaming_callback=callback)["replies"]
        assert reply.text == "In the year 1868, as far as I know."
    assert "".join(words) == "In the year 1868, as far as I know."
    assert all(request["max_tokens"] == 512 and not request.get("stream") for request in scripted_model.requests)
    tally = world.post("/control/end", json={}).json()
    assert (tally["calls"], tally["answer_documents"]) == (2, ["built"])
    assert tally["tokens_out"] == 2 * (len("In the year 1868, as far as I know.") // 4)


def test_what_the_real_model_refuses_is_told_to_the_system(world: httpx.Client, scripted_model: ScriptedModel) -> None:
    scripted_model.status = 429
    reply = world.post("/v1/chat/completions", json={"model": "m", "messages": [{"role": "user", "content": "Hi"}]})
    assert reply.status_code == 429
    assert "scripted 429" in reply.json()["error"]["message"]


def test_the_questions_tell_their_accepted_answers(world: httpx.Client) -> None:
    assert [task["accepted"] for task in world.get("/tasks").json()["tasks"]] == [[ANSWER]]


@pytest.mark.parametrize(
    ("answer", "route", "error", "end"),
    [
        ("It was built in 1868. [1]", "generate", None, "right"),
        ("The passages do not mention 1867, but 1868.", None, None, "right"),
        ("It was built in 1912.", "generate", None, "wrong"),
        ("It was built in 18680.", "generate", None, "wrong"),
        ("I don't know.", None, None, "declined"),
        ("no_answer", None, None, "declined"),
        ("The provided documents do not specify when it was built.", None, None, "declined"),
        ("There is no information about that in the context.", None, None, "declined"),
        ("The documents do not answer this question. Found: 1868.", "abstain", None, "declined"),
        ("", "generate", None, "failed"),
        (None, None, "timeout", "failed"),
        (None, None, "GraphRecursionError: limit", "failed"),
    ],
)
def test_an_answer_is_judged_by_its_words(answer: str | None, route: str | None, error: str | None, end: str) -> None:
    record = {"answer": answer, "route": route, "error": error, "answer_support": False, "accepted": [ANSWER]}
    assert real.end_of(record) == end


def test_a_pipeline_that_takes_its_time_differs_in_its_seconds_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model on the machine's own processors is slow, which is no failure of who asks it."""
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    as_shipped, patient = (
        ours.loaded("corrective_rag", takes_its_time=slow).pipeline.to_dict()["components"] for slow in (False, True)
    )
    seconds = ours.PATIENCE
    assert patient["guard"]["init_parameters"].pop("budget") == {"seconds": seconds, "llm_calls": 6}
    as_shipped["guard"]["init_parameters"].pop("budget")
    for part, limit in {"grader": "deadline_s", "generator": "timeout_s"}.items():
        assert patient[part]["init_parameters"].pop(limit) == seconds
        as_shipped[part]["init_parameters"].pop(limit)
        model = patient[part]["init_parameters"]["chat_generator"]["init_parameters"]
        assert model.pop("timeout") == seconds
        as_shipped[part]["init_parameters"]["chat_generator"]["init_parameters"].pop("timeout")
    assert patient == as_shipped


def test_the_page_tells_of_a_real_model_where_one_was_asked(tmp_path: Path) -> None:
    """Each system in a row, a table for each kind of list; and nothing without the file."""
    assert page_real.real_model(tmp_path) == []
    counted = dict.fromkeys(real.SPREADS, 2)
    record = {**counted, "task": "t", "route": None, "error": None, "answer_support": False, "by_role": {"answer": 2}}
    record |= {"accepted": [ANSWER], "suffices": True}
    records = [{**record, "answer": said} for said in ("In 1868.", "In 1912.")]
    records.append({**record, "answer": "In 1912.", "suffices": False})  # nothing that it could have answered from
    arms = [{"k": 5, "fault": fault, **real.real_figures(records)} for fault in (None, "gap")]
    held = {
        "settings": {"model": "tiny.gguf", "questions": {"popqa": 2}, "arms": arms},
        "systems": {"mine": {"label": "My system"}},
        "figures": {"mine": arms},
        "runs": [{"command": "python run.py DATASETS --parts real", "date": "2026-11-29T00:00:00"}],
    }
    (tmp_path / "real.json").write_text(json.dumps(held), "utf-8")
    blocks = page_real.real_model(tmp_path)
    assert "tiny.gguf" in blocks[1][1]
    tables = [content for kind, content in blocks if kind == "table"]
    assert len(tables) == 2
    assert tables[0][1][:3] == ["My system", "2", "0.50 (0.01 to 0.99)"]
    assert tables[0][1][-4:] == ["2.0", "2", "2", "2.0"]
    said = "Most right answers (0.50): My system (2.0 calls). Fewest wrong ones (0.50): My system (2.0 calls)."
    assert ("p", said) in blocks
