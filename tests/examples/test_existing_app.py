"""A plain Haystack app becomes a corrective one by the diffs beside it."""

import json
from typing import Any

from examples.conftest import ANSWERED, EXAMPLES, UNANSWERED, Folder, credulous
from scripted_model import documents_in

ASK = """
import json, sys, logging, app
logging.getLogger("haystack_integrations.crag.deciding.routing").setLevel(logging.INFO)
logging.basicConfig(format="%(message)s")
pipeline = app.open_pipeline()
answers = [app.ask(pipeline, question) for question in sys.argv[1:]]
print(json.dumps([[answer.data, [document.meta["source"] for document in answer.documents]] for answer in answers]))
"""
TELL = """
import json, sys, app
from haystack import Pipeline
pipeline = app.open_pipeline()
again = Pipeline.loads(pipeline.dumps())
result = pipeline.run({"query": sys.argv[1]}, include_outputs_from={"retriever"})
record, answer = result["retriever"]["crag"], result["answer"]["answers"][0]
is_same = again.get_component("retriever").to_dict() == pipeline.get_component("retriever").to_dict()
print(json.dumps([record["action"], record["mode"], len(answer.documents), is_same]))
"""
NOTHING = "The documents do not answer this question."


def ask(app: Folder, *questions: str) -> list[Any]:
    """Answer and sources of each question, asked in one process; the log stays in `app.log`."""
    (app.path / "ask.py").write_text(ASK)
    done = app.shell("python ask.py " + " ".join(f"'{question}'" for question in questions))
    (app.path / "app.log").write_text(done.stderr)
    return list(json.loads(done.stdout))


def prompts(app: Folder) -> list[Any]:
    """What the model was sent since the last look, without connection details."""
    sent = [request["messages"] for request in app.model.requests]
    app.model.requests.clear()
    return sent


def lines(diff: str, sign: str) -> list[str]:
    """The lines that a diff adds or takes away."""
    text = (EXAMPLES / "existing_app" / f"{diff}.diff").read_text()
    return [line for line in text.splitlines() if line.startswith(sign) and not line.startswith(f"{sign}" * 3 + " ")]


def test_before_it_answers_from_whatever_was_found(existing_app: Folder) -> None:
    """Also a question of which the handbook has no word."""
    _, (answer, sources) = ask(existing_app, ANSWERED, UNANSWERED)
    assert answer == "Goods can be returned within 30 days."
    assert sources == ["returns.md", "account.md"]


def test_one_line_of_yaml_corrects_what_the_prompt_is_shown(existing_app: Folder) -> None:
    """The retriever's type; a question that nothing answers reaches the model without a passage."""
    assert (len(lines("retriever", "-")), len(lines("retriever", "+"))) == (1, 1)
    (answer, sources), (_, nothing) = ask(existing_app.apply("retriever"), ANSWERED, UNANSWERED)
    assert answer.startswith("A refund is paid within 14 days")
    assert (sources, nothing) == (["refunds.md"], [])
    answering, empty = (sent[-1]["content"] for sent in prompts(existing_app))
    assert "A refund is paid" in answering
    assert "Goods can be returned" not in answering
    assert "[1]" not in empty


def test_that_retriever_tells_its_verdict_and_is_written_out_as_one_entry(existing_app: Folder) -> None:
    """Beside the answer, for whoever asks for it."""
    (existing_app.path / "tell.py").write_text(TELL)
    told = json.loads(existing_app.apply("retriever").shell(f"python tell.py '{UNANSWERED}'").stdout)
    assert told == ["abstain", "enforce", 0, True]
    existing_app.shell("git apply -R retriever.diff")
    assert (existing_app.path / "rag.yml").read_bytes() == (EXAMPLES / "existing_app" / "rag.yml").read_bytes()


def test_observing_changes_no_answer_and_no_byte_of_a_prompt(existing_app: Folder) -> None:
    """And each decision is in the log."""
    questions = (ANSWERED, UNANSWERED, "Do you sell bicycles?")  # of the last one nothing is retrieved at all
    before, shown = ask(existing_app, *questions), prompts(existing_app)
    assert ask(existing_app.apply("observe"), *questions) == before
    assert prompts(existing_app) == shown
    assert len(shown) == len(questions)
    log = (existing_app.path / "app.log").read_text()
    assert "verdict=correct" in log
    assert "verdict=incorrect" in log
    assert "action=abstain" in log
    assert "Bitcoin" not in log


def test_enforcing_is_one_word(existing_app: Folder) -> None:
    """What does not answer is dropped; where nothing does, no model is asked."""
    assert [line.replace("observe", "enforce")[1:] for line in lines("enforce", "-")] == [
        line[1:] for line in lines("enforce", "+")
    ]
    answered, refused = ask(existing_app.apply("observe", "enforce"), ANSWERED, UNANSWERED)
    assert answered[1] == ["refunds.md"]
    assert refused[0].startswith(NOTHING)
    assert refused[1] == []
    (only,) = prompts(existing_app)
    assert "refund is paid within 14 days" in only[-1]["content"]
    assert "Goods can be returned" not in only[-1]["content"]


def test_a_model_judges_for_one_call_more(existing_app: Folder) -> None:
    """Where it finds nothing that answers, that call is the only one."""
    existing_app.apply("observe", "enforce", "judge")
    (answer, sources), (refusal, nothing) = ask(existing_app, ANSWERED, UNANSWERED)
    assert (answer.partition(" within")[0], sources) == ("A refund is paid", ["refunds.md"])
    assert refusal.startswith(NOTHING)
    assert nothing == []
    assert (existing_app.model.calls, existing_app.model.gradings) == (3, 2)


def test_a_judge_that_makes_no_sense_refuses_nobody(existing_app: Folder) -> None:
    """The answers are those of the app before us."""
    before = ask(existing_app, ANSWERED, UNANSWERED)
    existing_app.apply("observe", "enforce", "judge")
    existing_app.model.reply = lambda messages: ("Hm.", "stop") if documents_in(messages) else credulous(messages)
    assert ask(existing_app, ANSWERED, UNANSWERED) == before
    assert "verdict=ungraded" in (existing_app.path / "app.log").read_text()


def test_the_whole_pipeline_searches_again_before_it_gives_up(existing_app: Folder) -> None:
    """Two calls for an answer, one where nothing answers, and a decision for each pass."""
    (answer, sources), (refusal, nothing) = ask(existing_app.apply("pipeline"), ANSWERED, UNANSWERED)
    assert answer.startswith("A refund is paid within 14 days")
    assert sources == ["refunds.md"]
    assert refusal.startswith(NOTHING)
    assert nothing == []
    log = (existing_app.path / "app.log").read_text()
    assert "action=refine" in log or "action=re_retrieve" in log
    assert "action=abstain, iteration=2" in log
    assert (existing_app.model.calls, existing_app.model.gradings) == (3, 2)


def test_the_diffs_lead_back(existing_app: Folder) -> None:
    """Taken back in reverse, the app is the one that was there."""
    diffs = ("observe", "enforce", "judge")
    existing_app.apply(*diffs)
    for name in reversed(diffs):
        existing_app.shell(f"git apply -R {name}.diff")
    for name in ("app.py", "rag.yml"):
        assert (existing_app.path / name).read_bytes() == (EXAMPLES / "existing_app" / name).read_bytes()
