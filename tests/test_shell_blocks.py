"""The shell blocks of the pages on serving and calibrating do what stands beside them, pasted as they are."""

import json
import shutil
from pathlib import Path

import pytest
from evaluation.datasets import write_lines
from evaluation.towns import write_towns
from pasting import RETRY, bash_blocks, free_port, paste
from small_network import write_network

pytest.importorskip("hayhooks", reason='needs pip install -e ".[serve]"')
pytestmark = pytest.mark.skipif(shutil.which("curl") is None, reason="the pages' requests are made by curl")

DOCS = Path(__file__).parents[1] / "docs"
REFUNDS = "# Refunds\n\nA refund is paid within 30 days of the return.\n"
PRICES = f"<html><body><h1>Prices</h1><p>{'A kettle costs 30 euros, a toaster 40 euros. ' * 6}</p></body></html>"
LOOSER = ("--max-wrong-generate 0.1", "--max-wrong-generate 0.8")
ON_ELASTICSEARCH = " --store elasticsearch --url http://127.0.0.1:9200"


@pytest.fixture
def handbook(tmp_path: Path) -> Path:
    """What the pages' commands are about: `handbook/`, and two files to upload. Gives the folder around them."""
    (tmp_path / "handbook").mkdir()
    for name in ("handbook/refunds.md", "refunds.md"):
        (tmp_path / name).write_text(REFUNDS, "utf-8")
    (tmp_path / "prices.html").write_text(PRICES, "utf-8")
    return tmp_path


def test_the_page_on_serving_is_pasted_from_the_first_question_to_the_upload(handbook: Path) -> None:
    """In one go, on other ports. Left out: the first block, which installs, and names two servers in the foreground."""
    blocks = bash_blocks(DOCS / "serving.md")
    assert list(blocks)[1:] == ["Ask", "Chat", "Upload files"]
    script = "\necho\n".join(block for name in ("Ask", "Chat", "Upload files") for block in blocks[name])
    ports = {"1416": free_port(), "1417": free_port()}
    for written, free in ports.items():
        script = script.replace(written, free)
    done = paste(script, handbook, CRAG_SERVE_PORT=ports["1416"])
    asked, *streamed, uploaded = [line for line in done.stdout.splitlines() if line.startswith(("{", "data:"))]
    shown = json.loads(asked)["result"]
    assert "within 30 days" in shown["evidence"][0]["content"]
    assert (shown["answer"], shown["crag"]["verdict"]) == (None, "correct")
    assert shown["crag"]["answer"] == {"status": "none", "cited": [], "cited_unknown": [], "unsupported_numbers": []}
    assert streamed[-1] == "data: [DONE]"
    assert any("within 30 days" in line for line in streamed)
    assert json.loads(uploaded)["result"]["added"] == 2
    assert done.returncode == 0


def test_a_hayhooks_of_ones_own_answers_by_the_exported_file(handbook: Path) -> None:
    """Pasted as it stands, on another port, and in memory: the page's Elasticsearch is not there."""
    (block,) = bash_blocks(DOCS / "hayhooks.md")["In a Hayhooks of your own"]
    on_server = f"{ON_ELASTICSEARCH} --index crag"
    assert block.count(on_server) == 1
    port = free_port()
    script = block.replace(on_server, "").replace("1416", port)
    done = paste(script, handbook, HAYHOOKS_HOST="127.0.0.1", HAYHOOKS_PORT=port)
    (answered,) = [line for line in done.stdout.splitlines() if line.startswith('{"result"')]
    assert json.loads(answered)["result"]["record"]["crag"]["verdict"] == "incorrect"  # the store is empty
    assert done.returncode == 0, done.stderr


def test_the_page_on_calibration_is_pasted_from_labels_to_a_server(handbook: Path) -> None:
    """
    All of its blocks in order, and those of the pages that follow, on invented towns. Replaced: the transformer by a
    tiny network, the limit on wrong answers by one that so few questions can keep.
    """
    folder, other = write_towns(handbook / "data" / "handbook", count=72), handbook / "data" / "handbook" / "test"
    (folder / "dev").rename(folder / "labelled")
    for name in ("queries.jsonl", "bm25_top10.jsonl"):
        rows = [json.loads(line) for line in (folder / "labelled" / name).read_text("utf-8").splitlines()]
        write_lines(folder / "labelled" / name, rows[:48])
        write_lines(other / name, rows[48:])
    write_network(handbook / "models" / "bge-small-en-v1.5")
    blocks = bash_blocks(DOCS / "calibration.md")
    assert list(blocks) == ["1. Collect and label", "2. Calibrate", "4. Use it"]
    del blocks["1. Collect and label"]  # begins with questions, and writes other labels
    blocks |= bash_blocks(DOCS / "evaluate.md") | bash_blocks(DOCS / "llm-free-grader.md")
    assert list(blocks)[2:] == ["Evaluate a pipeline", "Use a sentence transformer", "Cascade"]
    port, serve = free_port(), "crag serve --docs handbook --calibration mine.json"
    # The page's server has the terminal to itself; a `#` keeps its comment one.
    ready = f"{serve} &\ncurl -sf {RETRY} http://127.0.0.1:{port}/health/ready #"
    script = "".join(block for section in blocks.values() for block in section)
    assert (script.count(serve), script.count(LOOSER[0])) == (1, 1)
    noting = "trap 'echo \"$? $BASH_COMMAND\" >> failed' ERR\n"
    done = paste(noting + script.replace(serve, ready).replace(*LOOSER), handbook, CRAG_SERVE_PORT=port)
    failed = (handbook / "failed").read_text("utf-8").splitlines() if (handbook / "failed").exists() else []
    # Calibrated on towns, it may find that the documents do not answer: exit code 3.
    assert [line for line in failed if not line.startswith("3 crag ask")] == [], done.stderr
    for name in ("mine.json", "mine.html", "after.html"):
        assert (handbook / name).stat().st_size > 1000
    assert "held out, in five folds" in done.stdout
    assert "# Cascade RAG" in done.stdout


def test_an_index_is_collected_and_labelled_in_a_sheet_as_the_page_says(handbook: Path) -> None:
    """In memory: the page's Elasticsearch is not there, nor is a chat model. Nobody filled the sheet yet."""
    (handbook / "questions.txt").write_text("When is a refund paid?\n")
    (block,) = bash_blocks(DOCS / "calibration.md")["1. Collect and label"]
    assert block.count(f"{ON_ELASTICSEARCH} --index handbook") == 1
    collect, by_model, by_hand = block.splitlines()
    assert by_model.startswith("crag label data/handbook --split asked --output labelled ")
    collect = collect.replace(f"{ON_ELASTICSEARCH} --index handbook", " --docs handbook")
    done = paste(f"{collect}\n{by_hand}\n", handbook)
    assert "Collected 1 of 1 documents for 1 questions" in done.stdout
    assert "1 questions have no label (no grade); fill the sheet and run again" in done.stderr
    assert done.returncode == 0
