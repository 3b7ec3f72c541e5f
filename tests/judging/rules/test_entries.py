"""Who asks what a setting does is told by its entry in a reference."""

import time
from typing import Any

import pytest
from haystack import Document
from makers import fill

from haystack_integrations.crag.judging.rules.entries import entries
from haystack_integrations.crag.pipelines import load

VERDICTS = ("correct", "ambiguous", "incorrect")
SECONDS = 2.0  # some hundredths here; quadratic time would be minutes
MANUAL = (
    "tarn.conf\n\n     AliveInterval\n\t     Sets a timeout after which a message is sent to the other side. "
    "The default is 15.\n\n     AliveCountMax\n\t     Sets the number of messages that may be sent without an answer."
)
MARKDOWN = (
    "#### `maxsockets`\n\n* Default: 15\n\nThe most connections that are used for one origin.\n\n"
    "#### `long`\n\nShow all."
)
TABLE = "| Code | Meaning |\n|---|---|\n| `ECONNABORTED` | The request has been timed out. |"
FIELDS = (
    "# Fields\n\n- `files` (list): the names of what is packed\n- `engines`: the releases of node that it works with"
)
ERRORS = (
    "# Errors\n\n## E05: the target is read-only\n\nSomebody has mounted it so.\n\n- F-08: the pump is blocked by dirt"
)
GERMAN = "# Fehler\n\n- F08: Die Pumpe ist verstopft und muss gereinigt werden."
OPTION = "curl 1\n\n       -j, --json <data>\n              Sends the data in a request to the server."


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What does AliveInterval do?", MANUAL),
        ("alive_interval meaning", MANUAL.replace("AliveInterval", "Alive_Interval")),
        ("What is the purpose of the AliveCountMax option?", MANUAL),
        ("What is the default of AliveInterval?", MANUAL),
        ("what is AliveInterval used for in tarn.conf", MANUAL),
        ("What does the maxsockets setting do?", MARKDOWN),
        ("What is the default value of maxsockets?", MARKDOWN),
        ("How do I set the AliveInterval option?", MANUAL),
        ("How does AliveInterval work?", MANUAL),
        ("What values can AliveInterval have?", MANUAL.replace("The default", "It may be 1 to 60. The default")),
        ("What does ECONNABORTED mean?", TABLE),
        ("What does the files field do?", FIELDS),
        ("What is the engines field for?", FIELDS),
        ("What does --json do?", OPTION),
        ("What does E05 mean?", ERRORS),
        ("What does error E05 mean?", ERRORS),
        ("What is F-08?", ERRORS),
        ("Was bedeutet F08?", GERMAN),
        ("¿Qué significa F08?", GERMAN),
        ("What does curl --json do?", OPTION),
    ],
)
def test_a_name_above_or_before_its_text_is_an_entry(question: str, text: str) -> None:
    """As manuals, Markdown, tables and lists have it."""
    assert entries(question, [("", "Other text."), ("", text)]).tolist() == [False, True]


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What does AliveInterval do?", MANUAL.replace("     AliveInterval\n\t     ", "     Other\n\t AliveInterval ")),
        ("What is the default of AliveCountMax?", MANUAL),  # of the entry above it a default is told
        ("What is the default of AliveInterval?", MANUAL.replace("The default is 15", "It overrides the default time")),
        ("What does AliveInterval do in curl?", MANUAL),
        ("What values can AliveInterval have?", MANUAL),  # none is told
        ("Who set AliveInterval?", MANUAL),
        ("How is AliveInterval related to AliveCountMax?", MANUAL),
        (
            "What does AliveInterval do?",
            "Table of contents\n\n- AliveInterval\n- AliveCountMax\n\nAll that may be set here.",
        ),
        ("What does AliveInterval do?", "AliveInterval 300\nAliveCountMax 3"),
        (
            "What does ECONNABORTED mean?",
            "| Code | Name |\n|---|---|\n| `ECONNABORTED` | 103 |\n| `EINTR` | 4 of all of them |",
        ),
        ("What does fetchAll() do?", "- `fetchAll`: fixed a leak that came with its last change"),
        ("What is security?", "## security\n\nSend us a mail if you find a hole."),
        ("What does the install command do?", "## Install\n\nThe package is on the registry of npm."),
        ("What does -j do?", OPTION),  # of every second program
        ("What does E06 mean?", ERRORS),
        ("Was bedeutet F09?", GERMAN),
        ("Warum kommen F08 und F09?", GERMAN),
        ("What does E05 mean?", "# Errors\n\nE05: see below\n\nSee E05 - and all others - in the list."),
    ],
)
def test_a_name_in_another_place_is_none(question: str, text: str) -> None:
    """Nor is another question than for what it is."""
    assert entries(question, [("", text)]).tolist() == [False]


def test_who_asks_what_a_setting_does_is_answered_by_its_entry(in_memory_store: Any) -> None:
    """A passage of several entries has little of such a question; without this one it is not correct."""
    others = [
        f"tarn.conf\n\n     Key{n}\n\t     Sets what is done with the key {n} when it is read." for n in range(30)
    ]
    fill(in_memory_store, [Document(content=each) for each in (MANUAL, *others)])
    rag = load("corrective_retrieval", store=in_memory_store)
    told = rag.run(query="What does the AliveCountMax option do?")
    assert told["crag"]["verdict"] == "correct"
    assert MANUAL in [document.content for document in told["documents"]]
    signals = told["crag"]["trail"][0]["signals"]["set"]
    assert sum(signals[f"probability_{name}"] for name in VERDICTS) == pytest.approx(1, abs=0.001)
    assert rag.run(query="What does the AliveWaitMax option do?")["crag"]["verdict"] != "correct"


@pytest.mark.parametrize(
    "question", ["what " * 20_000, "a-" * 50_000, "What is the " + "option " * 20_000, "a_b " * 20_000]
)
def test_no_question_takes_long(question: str) -> None:
    """Nor does a text of nothing but marks."""
    begun = time.process_time()
    entries(question, [("", "`" * 50_000)])
    entries("What does a_b_c do?", [("", "`" * 50_000), ("", "- `a_b_c` " * 10_000), ("", "a_b_c\n" * 20_000)])
    assert time.process_time() - begun < SECONDS
