"""Whatever comes, signals are finite numbers of the same names, and probabilities are probabilities."""

import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from math import isfinite
from unicodedata import normalize

import pytest
from haystack import Document
from hypothesis import given
from hypothesis import strategies as st
from judging_texts import calibration, measured, signals_of

from haystack_integrations.crag.components.heuristic_grader import HeuristicGrader
from haystack_integrations.crag.judging.calibration import load_calibration
from haystack_integrations.crag.judging.grading import grade
from haystack_integrations.crag.judging.reading import shared_reader

ODD = [
    *("", " ", "\n\n", ".", "word", "a", "was it", "\U0001f916\U0001f916", "\u6771\u4eac\u30bf\u30ef\u30fc", "\ud800"),
    *(
        "e\u0301 \u00e9",
        "1889",
        "0",
        "()",
        "( ( (",
        "'' ``",
        "```\nx\n",
        "A. B. C.",
        "- - -",
        "x" * 3_000,
        "[MASK] [PAD]",
    ),
    *("Emma Emma Emma", "\u0130stanbul", "\u00b2 \u2460", "\x00\x1b[31m", "one two three four five six seven eight"),
    *("in Augu\u017ft 1784", "5 M\u0130LL\u0130ON"),
]
_texts = st.one_of(st.sampled_from(ODD), st.text(max_size=60))
_documents = st.lists(st.tuples(_texts, _texts), min_size=1, max_size=6)
NAMES = set(measured("Who?", ("", "")).documents[0])
OF_LIST = set(measured("Who?", ("", "")).together)


@given(query=_texts, documents=_documents)
def test_signals_are_finite_and_have_the_same_names_for_every_input(
    query: str, documents: list[tuple[str, str]]
) -> None:
    """Empty texts, other scripts, broken characters, the same document twice."""
    found = measured(query, *documents)
    assert all(set(each) == NAMES for each in found.documents)
    assert set(found.together) == OF_LIST
    assert all(isfinite(value) for value in signals_of([*found.documents, found.together]))


SHARES = (
    *("covered", "covered_text", "covered_share", "bm25", "title_covered", "title_share", "rest_covered", "sentence"),
    *("sentence_under_title", "sentences_two", "window_10", "window_20", "pairs", "run", "names_covered", "joint"),
    *("pairs_damped", "covered_damped", "others_covered", "cue", "linked_joint", "spoken_of_covered", "density"),
)


@given(query=_texts, documents=_documents)
def test_shares_are_shares(query: str, documents: list[tuple[str, str]]) -> None:
    """In [0, 1], but for the last digit."""
    for each in measured(query, *documents).documents:
        assert {name: each[name] for name in SHARES if not -1e-9 <= each[name] <= 1 + 1e-9} == {}


@given(query=_texts, contents=st.lists(st.one_of(st.none(), _texts), min_size=1, max_size=5), title=_texts)
def test_a_grade_is_a_probability_for_every_input(query: str, contents: list[str | None], title: str) -> None:
    """By the shipped model and by another one; the verdict is one of three."""
    documents = [Document(id=str(n), content=content, meta={"title": title}) for n, content in enumerate(contents)]
    for trained in (load_calibration(), calibration()):
        graded = grade(query, documents, (), trained, shared_reader(), lambda _: None, "title")
        assert all(0 <= score <= 1 for score in graded.scores)
        verdict = graded.report["verdict"]
        assert verdict["verdict"] in verdict["probabilities"]
        assert sum(verdict["probabilities"].values()) == pytest.approx(1.0, abs=1e-3)
        assert graded.report["set_score"] == verdict["probabilities"]["correct"]


@pytest.mark.parametrize("title", [None, 7, ["a", "list"], {"a": "mapping"}, "\ud800"])
def test_a_title_of_any_type_is_no_failure(title: object) -> None:
    """Metadata are whatever somebody put there."""
    result = HeuristicGrader().run(query="a list", documents=[Document(content="A list.", meta={"title": title})])
    assert result["status"] == "ok"


def test_fifty_documents_and_the_same_one_fifty_times_are_judged() -> None:
    """Copies share one grade, since nothing tells them apart but their rank."""
    many = [Document(content=f"Emma is novel {n} of Jane Austen.") for n in range(50)]
    assert len(HeuristicGrader().run(query="Who wrote Emma?", documents=many)["scores"]) == 50
    same = [Document(id="same", content="Emma is a novel by Jane Austen.")] * 50
    result = HeuristicGrader().run(query="Who wrote Emma?", documents=same)
    assert len(set(result["scores"])) == 1
    assert len(result["signals"]["documents"]) == 1


def test_every_process_gets_the_same_digits() -> None:
    """Though the order of a set is another one in each."""
    code = (
        "from judging_texts import known, measured\n"
        "text = 'The old tower of Paris was painted brown in 1889 by Ada Penn and forty other painters.'\n"
        "query = 'When was the old iron tower of Paris painted brown, red and gold by forty painters?'\n"
        "corpus = known(997, tower=31, pari=7, old=401)\n"
        "found = measured(query, ('Tower', text), ('', text[9:50]), frequencies=corpus)\n"
        "print([each.items() for each in (*found.documents, found.together)])\n"
    )

    def run(seed: str) -> str:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONHASHSEED": seed}
        return subprocess.run(
            [sys.executable, "-c", code], env=environment, check=True, capture_output=True, text=True
        ).stdout

    with ThreadPoolExecutor(2) as pool:
        one, two = pool.map(run, ("1", "2"))
    assert one == two
    assert "covered_damped" in one


SAID = [
    *("A refund is paid within 30 days.", "The caf\u00e9 opens at nine.", "Emma is by Jane Austen.", "It isn't far."),
    *("The U.S. Army's tower opened in 1889.", "Der Zug f\u00e4hrt um acht.", "\u6771\u4eac\u3002", "# Heading"),
    *("The tower is in Paris (France).", '"Yes", she said.', "na\u00efve Zo\u00eb", "1,200 kg or 3.5 t", "- item", ""),
]
ASKED = [
    *("When is a refund paid?", "When does the caf\u00e9 open?", "Who wrote Emma?", "Isn't it far?", "What?"),
    *("Wann f\u00e4hrt der Zug?", "How many kg?", "Who's Zo\u00eb's na\u00efve friend?", "When did the tower open?"),
]
TYPED: dict[str, Callable[[str], str]] = {
    "decomposed letters": lambda text: normalize("NFD", text),
    "curly apostrophes": lambda text: text.replace("'", "\u2019"),
    "spaces that do not break": lambda text: text.replace(" ", "\u00a0"),
    "two spaces": lambda text: text.replace(" ", "  "),
    "space around": lambda text: f" \n{text}\n ",
}
_said = st.lists(st.sampled_from(SAID), min_size=1, max_size=4).map(" ".join)


def _judged(query: str, contents: list[str]) -> tuple[list[float], str]:
    documents = [Document(id=str(number), content=content) for number, content in enumerate(contents)]
    found = HeuristicGrader().run(query=query, documents=documents)
    return found["scores"], found["report"]["verdict"]["verdict"]


@pytest.mark.parametrize("typed", TYPED.values(), ids=TYPED)
@given(query=st.sampled_from(ASKED), contents=st.lists(_said, min_size=1, max_size=4), of_query=st.booleans())
def test_how_a_text_is_typed_changes_no_grade(
    typed: Callable[[str], str], query: str, contents: list[str], of_query: bool
) -> None:
    """In the question or in the documents: letters in two forms, other apostrophes, other white space."""
    other = (typed(query), contents) if of_query else (query, [typed(content) for content in contents])
    assert _judged(*other) == _judged(query, contents)


@given(query=st.sampled_from(ASKED), contents=st.lists(_said, min_size=1, max_size=5))
def test_a_document_on_something_else_at_the_end_makes_nothing_correct_of_what_is_incorrect(
    query: str, contents: list[str]
) -> None:
    """Nor of a single one, however often: it has nothing to stand out from there either."""
    if _judged(query, contents)[1] == "incorrect":
        assert _judged(query, [*contents, "Bread is baked daily in the old mill."])[1] != "correct"
