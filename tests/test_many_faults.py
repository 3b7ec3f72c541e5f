"""
Many faults at once: whatever the model's server does in a run, the record tells what the server's own log tells.

Whole pipelines over HTTP through Haystack's own client, by both doors. Faults are drawn by a seed, so a run that fails
here is one that can be looked at again: its seed stands in the message.
"""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any, Final

import pytest
from accounts import check_record, plain
from failing_model import FAULTS, GRADED, FailingModel, Plan
from haystack import Document
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.utils import Secret
from makers import fill
from metasearch import Metasearch
from reading import Figures

from haystack_integrations.crag.components.searxng_web_search import SearXNGWebSearch
from haystack_integrations.crag.components.web_fallback import WebFallback
from haystack_integrations.crag.metrics_export import configure_metrics
from haystack_integrations.crag.pipelines import load
from haystack_integrations.crag.pipelines.loader import read

RUNS: Final = 8
"""With faults, for each pipeline by each door; besides them a run before, one after, and pairs of modes."""
SEED: Final = 5
TIMEOUT_S: Final = 1.5
QUESTION: Final = "When was the railway to the harbour opened?"
WORDS: Final = "and it was told again that trains ran along the coast when the weather let them pass the bridge"
OPENED: Final = "The railway passage{} to the harbour was opened in {}"
DOCUMENTS: Final = [
    Document(id=f"d{n}", content=f"{OPENED.format(n, 1800 + n)}, {WORDS}. {WORDS * 2}.") for n in range(24)
]
IDS: Final = {document.id for document in DOCUMENTS}
GRADES: Final = ((1.0,), (0.0,), (0.5,), (0.1, 0.0, 0.9), (0.0, 0.0, 0.4), (0.2, 0.6, 0.8, 0.0))
PIPELINES: Final = ("corrective_rag", "cascade_rag", "strict_rag")
Run = Callable[..., Awaitable[dict[str, Any]]]


@pytest.fixture
def make(failing_model: FailingModel, in_memory_store: Any, metasearch: Metasearch) -> Callable[[str], Any]:
    """Load pipelines on one store, which ask the failing model."""
    fill(in_memory_store, DOCUMENTS)
    metasearch.finds([f"Pages tell that the railway was opened in {year}." for year in (1901, 1902)])

    def made(name: str) -> Any:
        key = Secret.from_token("k")
        client = OpenAIChatGenerator(key, api_base_url=failing_model.url, timeout=TIMEOUT_S, max_retries=0)
        # Side by side it is chance which half of a prompt gets the last call, and a seed would not tell all.
        parts: dict[str, Any] = {"generator": client, "grader": {"concurrency": 1}}
        if "web" in read(name)["components"]:  # the same question is asked again and again
            parts["web"] = WebFallback(SearXNGWebSearch(), query_cooldown_s=0)
        if name == "cascade_rag":  # or its scorer would be sure of every question
            parts["gate"] = {"sure": 1.0, "low": 0.0, "high": 1.0}
        return load(name, store=in_memory_store, **parts)

    return made


async def by_door(rag: Any, *, asynchronous: bool, **inputs: Any) -> dict[str, Any]:
    """Run a pipeline."""
    if asynchronous:
        return dict(await rag.run_async(query=QUESTION, **inputs))
    return dict(await asyncio.to_thread(rag.run, query=QUESTION, **inputs))


def check(result: dict[str, Any], model: FailingModel, figures: Figures, budget: dict[str, int], searched: int) -> None:
    """What holds of every run: record, server and metrics tell the same, and what failed is no judgement."""
    record, documents, plan, log = result["crag"], result["documents"], model.plan, model.log
    entries = [entry for decision in record["trail"] for entry in (*decision["kept"], *decision["discarded"])]
    check_record(record, documents, {entry["id"] for entry in entries})
    assert result["answers"][0].data.strip()
    assert record["answer"]["status"] in ("written", "declined", "failed") or record["action"] == "abstain"
    told = {"in": sum(call.read for call in log), "out": sum(call.written for call in log)}
    assert (record["llm_calls"], record["tokens"]) == (len(log), told)
    counted = figures.series("gen_ai_client_token_usage_sum")
    assert {
        kind: sum(n for labels, n in counted.items() if ("gen_ai_token_type", name) in labels)
        for kind, name in (("in", "input"), ("out", "output"))
    } == told
    assert sum(figures.series("gen_ai_client_operation_duration_seconds_count").values()) == len(log)
    for entry in entries:
        if entry.get("status") == "failed":
            assert entry["score"] == 0.5
        elif entry.get("grader") == "BatchRelevanceGrader":
            assert entry["score"] == plan.grade(int(entry["id"][1:]) if entry["id"] in IDS else 0)
    gradings = [call.fault for call in log if call.kind == "grade"]
    if gradings and not set(GRADED).intersection(gradings):
        assert (record["verdict"] != "incorrect", searched) == (True, 0)
    assert sum(call.kind != "answer" for call in log) <= budget.get("llm_calls", 99)
    assert record["iterations"] <= budget.get("iterations", 99)


async def one(
    rag: Any, model: FailingModel, web: Metasearch, plan: Plan, *, asynchronous: bool, **inputs: Any
) -> dict[str, Any]:
    """Make one run, check it, and name it where it fails."""
    figures, before = Figures(configure_metrics()), len(web.queries)
    model.begin(plan)
    try:
        result = await by_door(rag, asynchronous=asynchronous, **inputs)
        figures.freeze()
        check(result, model, figures, inputs.get("budget") or {}, len(web.queries) - before)
    except Exception as error:
        error.add_note(f"seed {plan.seed!r}, {plan}, {inputs}; the server: {model.log}")
        raise
    return result


def lasting(result: dict[str, Any]) -> Any:
    """A record without what differs from run to run."""
    return plain({**result["crag"], "milliseconds": 0})


@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize("asynchronous", [False, True], ids=["run", "run_async"])
@pytest.mark.parametrize("name", PIPELINES)
def test_the_record_tells_what_the_server_s_log_tells_whatever_fails_and_nothing_stays_of_it(
    name: str,
    asynchronous: bool,
    make: Callable[[str], Any],
    failing_model: FailingModel,
    metasearch: Metasearch,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Calls and tokens to the last, also of what was asked in vain; and after ten minutes a run is as before."""

    async def run() -> None:
        rag = make(name)

        async def ask(plan: Plan, **inputs: Any) -> dict[str, Any]:
            return await one(rag, failing_model, metasearch, plan, asynchronous=asynchronous, **inputs)

        clean = Plan(f"{name}/clean", grades=GRADES[3])
        before = await ask(clean)
        assert [one for one in before["crag"]["coverage"]["reasons"] if not one.startswith("limit:")] == []
        for number in range(RUNS):
            drawn = random.Random(seed := f"{SEED}/{name}/{number}")
            budget = drawn.choice([None, None, {"llm_calls": 1}, {"llm_calls": 3}, {"iterations": 1}])
            await ask(Plan(seed, drawn.choice([0.3, 0.6, 1.0]), drawn.choice(GRADES)), budget=budget)
        # A refusal of what was taken before is believed for a while only.
        later = SimpleNamespace(monotonic=lambda: time.monotonic() + 601)
        for module in ("chat.room", "grading.model"):
            monkeypatch.setattr(f"haystack_integrations.crag.{module}.time", later, raising=False)
        after = await ask(clean)
        assert lasting(after) == lasting(before)
        await rag.close_async()
        rag.close()

    asyncio.run(run())


@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize("asynchronous", [False, True], ids=["run", "run_async"])
@pytest.mark.parametrize("name", PIPELINES)
def test_a_run_that_observes_answers_as_one_that_grades_nothing_whatever_fails(
    name: str, asynchronous: bool, make: Callable[[str], Any], failing_model: FailingModel, metasearch: Metasearch
) -> None:
    """From the same documents, and in the next run too: after a prompt that was refused its next one is shorter."""

    async def run() -> None:
        told: dict[str, list[Any]] = {}
        for mode in ("off", "observe"):
            rag, told[mode] = make(name), []
            for number, faults in enumerate([("refused",), FAULTS, ("cut",), FAULTS]):
                plan = Plan(seed := f"{SEED}/{name}/pair/{number}", 0.7, GRADES[3 + number % 3], faults)
                got = await one(rag, failing_model, metasearch, plan, asynchronous=asynchronous, mode=mode)
                ids = [document.id for document in got["documents"]]
                told[mode].append((seed, got["answers"][0].data, ids, got["crag"]["answer"]))
            await rag.close_async()
            rag.close()
        assert told["observe"] == told["off"]

    asyncio.run(run())
