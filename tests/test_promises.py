"""
Promises P1 and P2 through the component, by both doors: no score on a neighbour, no score that nobody wrote.

Each document carries its true score in its text, so a score at the wrong document shows. How many examples are tried is
the profile's to say: `HYPOTHESIS_PROFILE=long`, or `make promises`, tries 10,000 of each.
"""

import asyncio
import json
import logging
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from haystack import Document
from haystack.dataclasses import ChatMessage
from hypothesis import given
from hypothesis import strategies as st
from makers import asked, scripted

from haystack_integrations.crag.components.batch_relevance_grader import BatchRelevanceGrader
from haystack_integrations.crag.grading.reply import read_reply

QUESTION = "Who wrote Emma?"
FINISHES = ("stop", None, "length")
CALLS = (1, 3)

Answer = Callable[[dict[str, float]], str]


class Doors:
    """Graders that are built once, on one event loop that is opened once: ten thousand examples take minutes."""

    def __init__(self, runner: asyncio.Runner) -> None:
        """Build a grader for each finish reason and number of calls."""
        self.runner = runner
        self.answer: Answer = lambda _: ""
        self.graders = {
            (finish, calls): BatchRelevanceGrader(scripted(self._reply, finish), max_llm_calls=calls)  # type: ignore[arg-type]
            for finish in FINISHES
            for calls in CALLS
        }

    def _reply(self, messages: list[ChatMessage]) -> str:
        return self.answer(true_scores(messages))

    def grade(
        self, scores: Sequence[int], answer: Callable[[], Answer], finish: str | None, calls: int = 1
    ) -> Iterator[dict[int, float]]:
        """
        Grade by `run`, then by `run_async`.

        `answer` makes a fresh model for each door. Gives the credited scores by document.
        """
        documents = [Document(content=f"passage {n} of truth {score}") for n, score in enumerate(scores)]
        grader = self.graders[finish, calls]
        for asynchronous in (False, True):
            self.answer = answer()
            if asynchronous:
                result = self.runner.run(grader.run_async(query=QUESTION, documents=documents))
            else:
                result = grader.run(query=QUESTION, documents=documents)
            assert [document.id for document in result["documents"]] == [document.id for document in documents]
            grades = [document.meta["crag"] for document in result["documents"]]
            assert all(grade["score"] == 0.5 for grade in grades if grade["status"] == "failed")
            yield {n: grade["score"] for n, grade in enumerate(grades) if grade["status"] == "graded"}


def true_scores(messages: Sequence[ChatMessage]) -> dict[str, float]:
    """By key, in the order of the prompt: what each document says of itself."""
    return {key: int(re.findall(r"of truth (\d+)", text)[0]) / 100 for key, text in asked(messages).items()}


@pytest.fixture(scope="module")
def doors() -> Iterator[Doors]:
    """Both doors, without a warning in the log for each of the many failures."""
    logger = logging.getLogger("haystack_integrations")
    level = logger.level
    logger.setLevel(logging.ERROR)
    with asyncio.Runner() as runner:
        yield Doors(runner)
    logger.setLevel(level)


@dataclass(frozen=True)
class Habit:
    """
    How a model answers one call.

    :param picks: Documents it names, by place in the prompt: dropped, permuted and repeated ones all come from here.
    :param foreign: Entries for ids that nobody asked about: where they stand, what they look like, their score.
    :param form: How the entries are written down.
    :param around: What stands around them.
    :param as_text: Whether scores are written as strings.
    """

    picks: list[int]
    foreign: list[tuple[int, str, int]]
    form: str
    around: str
    as_text: bool

    def reply(self, truth: dict[str, float]) -> tuple[str, set[float]]:
        """Write the reply; gives also the true scores of the documents that a careful reader can credit."""
        keys = list(truth)
        named = [keys[pick % len(keys)] for pick in self.picks]
        score: Callable[[float], Any] = str if self.as_text else float
        if self.form == "exact array":
            # In prose an array is no reply: `[1]` may be a citation.
            credited = set() if self.around == "prose" else set(truth.values())
            return self.wrapped(json.dumps([score(value) for value in truth.values()])), credited
        if self.form in ("array", "object array", "scores array"):
            values = [truth[key] for key in named]
            # An array of exactly the right length would be credited: that is another form.
            values += [0.99] if len(values) == len(keys) else []
            written: Any = [{"score": score(v)} if self.form == "object array" else score(v) for v in values]
            return self.wrapped(json.dumps({"scores": written} if self.form == "scores array" else written)), set()
        pairs = [(key, truth[key]) for key in named]
        # In a line a space in front of a key is none of its own.
        for place, look, value in (one for one in self.foreign if self.form != "line" or one[1] != "spaced"):
            key = keys[place % len(keys)]
            name = {"short": key[:-1], "long": key + "0", "spaced": f" {key}", "other": f"zz{place}"}[look]
            pairs.insert(place % (len(pairs) + 1), (name, value / 100))
        if self.form == "mapping":
            text = json.dumps({key: score(value) for key, value in pairs})
        elif self.form == "pairs":
            text = json.dumps({"evaluations": [f"{key} {score(value)}" for key, value in pairs]})
        elif self.form == "line":
            text = json.dumps({"grades": " ".join(f"{key} {value:g}".replace(" 0.", " .") for key, value in pairs)})
        else:
            entries = [{"id": key, "score": score(value)} for key, value in pairs]
            text = json.dumps({self.form: entries} if self.form != "list" else entries)
        # A list without entries is read as an array of the wrong length, which credits nobody either.
        return self.wrapped(text), {truth[key] for key in named}

    def wrapped(self, text: str) -> str:
        """Put around it what models put around it."""
        return {
            "nothing": text,
            "fence": f"```json\n{text}\n```",
            "prose": f"Sure, here are the {{scores}}:\n{text}\nShall I explain 1.0?",
            "thought": f'<think>perhaps [1.0] or {{"score": 1}}</think>{text}',
        }[self.around]


LISTED = ("list", "evaluations", "scores", "documents", "results", "mapping", "pairs", "line")
truths = st.lists(st.integers(0, 100).filter(lambda score: score != 50), min_size=1, max_size=7, unique=True)
habits = st.builds(
    Habit,
    picks=st.lists(st.integers(0, 6), max_size=9),
    foreign=st.lists(
        st.tuples(st.integers(0, 9), st.sampled_from(("short", "long", "spaced", "other")), st.integers(0, 100)),
        max_size=3,
    ),
    form=st.sampled_from((*LISTED, "array", "object array", "scores array", "exact array")),
    around=st.sampled_from(("nothing", "fence", "prose", "thought")),
    as_text=st.booleans(),
)


@given(
    scores=truths,
    sequence=st.lists(habits, min_size=1, max_size=3),
    finish=st.sampled_from(FINISHES),
    calls=st.sampled_from(CALLS),
)
def test_a_document_gets_only_the_score_given_to_it_by_either_door(
    doors: Doors, scores: list[int], sequence: list[Habit], finish: str | None, calls: int
) -> None:
    """P1: whatever is dropped, permuted, repeated, foreign, short or long, and also over re-asks and halves."""
    told: set[float] = set()

    def model() -> Answer:
        told.clear()
        rest = iter(sequence)

        def answer(truth: dict[str, float]) -> str:
            habit = next(rest, sequence[-1])
            text, credited = habit.reply(truth)
            if habit.form != "exact array" or finish != "length":
                told.update(credited)
            return text

        return answer

    for found in doors.grade(scores, model, finish, calls):
        assert found == {n: score / 100 for n, score in enumerate(scores) if score / 100 in told}


reasons = st.text('{}[]",:\\/ab1.0\n', max_size=12) | st.text(max_size=6) | st.sampled_from(['"score": 1.0}', "[1]"])


@st.composite
def cut_lists(draw: st.DrawFn) -> tuple[list[int], list[str], tuple[str, str, str], int]:
    """True scores, a reason for each, how the list is written, and where it is cut, in thousandths."""
    scores = draw(truths)
    written = draw(
        st.sampled_from((("[", ", ", "]"), ('{"evaluations": [', ", ", "]}"), ("```json\n[\n  ", ",\n  ", "\n]\n```")))
    )
    return scores, [draw(reasons) for _ in scores], written, draw(st.integers(0, 1000))


@given(example=cut_lists(), form=st.sampled_from(("early", "late", "pairs")), ascii_only=st.booleans())
def test_a_cut_reply_gives_the_scores_that_were_closed_and_no_other_by_either_door(
    doors: Doors, example: tuple[list[int], list[str], tuple[str, str, str], int], form: str, ascii_only: bool
) -> None:
    """P2: a score that was cut is never completed, and one whose bracket had closed is never lost."""
    scores, words, (opening, between, closing), thousandths = example
    closed: set[float] = set()
    read: set[float] = set()

    def answer(truth: dict[str, float]) -> str:
        text, ends = opening, []
        for (key, score), reason in zip(truth.items(), words, strict=True):
            entry: Any = (
                {"id": key, "reason": reason, "score": score} if form == "late" else {"id": key, "score": score}
            )
            entry |= {"reason": reason}
            entry = f"{key} {score}" if form == "pairs" else entry
            text += (between if ends else "") + json.dumps(entry, ensure_ascii=ascii_only)
            ends.append(len(text))
        text += closing
        prefix = text[: len(text) * thousandths // 1000]
        closed.clear()
        closed.update(score for score, end in zip(truth.values(), ends, strict=True) if end <= len(prefix))
        entries = read_reply(prefix, list(truth), finish_reason="length").entries
        read.clear()
        read.update(entry.score for key, entry in entries.items() if entry.score == truth[key])
        # A wrong score is told by a number that no document has: an error raised here would be a failed call.
        read.update(2.0 for key, entry in entries.items() if entry.score != truth[key])
        return prefix

    for found in doors.grade(scores, lambda: answer, "length"):
        assert read == closed
        assert found == {n: score / 100 for n, score in enumerate(scores) if score / 100 in closed}


@given(scores=truths, between=st.sampled_from((" ", ", ")), thousandths=st.integers(0, 1000))
def test_a_line_that_was_cut_gives_the_scores_behind_which_another_key_began_by_either_door(
    doors: Doors, scores: list[int], between: str, thousandths: int
) -> None:
    """P2 for the shortest form: `.1` may be the beginning of `.15`, and `9` that of the key `9f00aa`."""
    closed: set[float] = set()

    def answer(truth: dict[str, float]) -> str:
        text = '{"grades": "' + between.join(f"{key} {score:g}" for key, score in truth.items()) + '"}'
        prefix = text[: len(text) * thousandths // 1000]
        closed.clear()
        for key, score in truth.items():
            _, said, rest = prefix.partition(f"{key} {score:g}")
            following = rest.removeprefix(between).partition(between)[0]
            is_next = rest.startswith(between) and re.fullmatch(r"[0-9.]*", following) is None
            if said and (rest[:1] == '"' or is_next):
                closed.add(score)
        return prefix

    for found in doors.grade(scores, lambda: answer, "length"):
        assert found == {n: score / 100 for n, score in enumerate(scores) if score / 100 in closed}


@pytest.mark.parametrize("finish", ["stop", "length"])
def test_a_thought_that_is_quoted_in_a_reason_moves_no_score(finish: str) -> None:
    """A text with <think>, another with </think>, a model that quotes both: each keeps its own score."""
    entries = [
        {"id": "bkt", "reason": "it says <think>", "score": 0.9},
        {"id": "dmv", "reason": "it says </think>", "score": 0.1},
    ]
    reply = read_reply(json.dumps({"evaluations": entries}), ["bkt", "dmv"], finish_reason=finish)
    assert {key: entry.score for key, entry in reply.entries.items()} == {"bkt": 0.9, "dmv": 0.1}
