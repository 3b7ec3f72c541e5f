"""From questions to labelled lists: what belongs together, what is too little, what leaks."""

import json
from codecs import BOM_UTF8
from dataclasses import replace
from pathlib import Path

import pytest
from evaluation.calibrated_towns import towns
from evaluation.datasets import SPLIT, Row, write_lines
from evaluation.towns import COUNT, LENGTH, read_towns, write_towns
from hypothesis import given
from hypothesis import strategies as st

from haystack_integrations.crag.errors import CalibrationError
from haystack_integrations.crag.evaluation.cases import Case, Dataset, Passage, RankedList, label_of_grades
from haystack_integrations.crag.evaluation.groups import group_numbers, grouping, wording
from haystack_integrations.crag.evaluation.labelled import LabelledList
from haystack_integrations.crag.evaluation.training import (
    check_enough,
    check_leaks,
    gap_lists,
    labelled_lists,
)


def labelled(number: int, verdict: str | None, group: int | None = None) -> LabelledList:
    """A list of one document."""
    own = number if group is None else group
    return LabelledList(f"q{number}", f"Question {number}?", (("", "Text."),), (2,), verdict, own)


def data(*cases: Case) -> Dataset:
    """Questions on four documents, two of which have the same title."""
    titles = {"one": "Bark", "two": "Bark", "three": "Leaf", "four": ""}
    passages = {name: Passage(name, title, f"Text {name}.") for name, title in titles.items()}
    return Dataset(Path("data"), SPLIT, passages, cases)


def test_questions_about_one_source_belong_together() -> None:
    """The same labelled document, another one of the same title, or the same wording."""
    numbers = group_numbers(
        data(
            Case("a", "How thick?", gold=("one",)),
            Case("b", "How old?", partial=("two",)),
            Case("c", "Which form?", gold=("three",)),
            Case("d", "which  FORM"),
            Case("e", "Untitled?", gold=("four",)),
            Case("f", "Nobody knows?"),
        )
    )
    assert numbers["a"] == numbers["b"]
    assert numbers["c"] == numbers["d"]
    assert len({numbers[name] for name in "acef"}) == 4


@pytest.mark.parametrize("between", ["", "\n\n"])
def test_copies_of_a_document_are_one_source(between: str) -> None:
    """What a question on one of them teaches is known of the other, also where an index has titles above the texts."""
    texts = {"a": "Oak.", "b": "Oak.", "c": "Elm."}
    passages = {
        name: Passage(name, f"Page {name}", f"Page {name}{between}{text}" if between else text)
        for name, text in texts.items()
    }
    cases = tuple(Case(name, f"What of {name}?", gold=(name,)) for name in passages)
    numbers = group_numbers(Dataset(Path("data"), SPLIT, passages, cases))
    assert numbers["a"] == numbers["b"] != numbers["c"]


def test_documents_labelled_in_the_lists_only_are_sources_too() -> None:
    """Of some data the grade of what is merely on topic stands there."""
    cases = (
        Case("a", "How thick?", gold=("three",), listed={"four": 1}),
        Case("b", "How old?", gold=("four",)),
        Case("c", "Which form?", gold=("one",), listed={"three": 0}),
    )
    numbers = group_numbers(data(*cases))
    assert numbers["a"] == numbers["b"]
    assert numbers["a"] != numbers["c"]


@pytest.mark.parametrize(
    ("title", "on_topic", "shared"),
    [("", 0, "source"), ("Handbook", 0, "labelled document"), ("", 1, "answering document")],
)
def test_questions_on_one_handbook_are_held_out_in_folds_of_like_size(title: str, on_topic: int, shared: str) -> None:
    """A title, or a page on the topic of most of them, would make most of them one group, and the other folds empty."""
    names = [f"page {number}" for number in range(50)]
    passages = {name: Passage(name, title, f"Text of {name}.") for name in names}
    cases = tuple(
        Case(f"q{number}", f"Question {number}?", gold=(name,), partial=tuple(names[:on_topic]) if number else ())
        for number, name in enumerate(names)
    )
    found = grouping(Dataset(Path("data"), SPLIT, passages, cases))
    assert (found.shared, len(set(found.numbers.values()))) == (shared, 50)


def test_questions_that_few_documents_answer_stay_together() -> None:
    """No grouping makes more of them; the one that keeps most apart from others is kept."""
    passages = {name: Passage(name, name, f"Text {name}.") for name in "abc"}
    cases = tuple(Case(f"q{number}", f"Question {number}?", gold=("abc"[number % 3],)) for number in range(60))
    found = grouping(Dataset(Path("data"), SPLIT, passages, cases))
    assert (found.shared, len(set(found.numbers.values()))) == ("source", 3)


def test_wording_is_the_same_but_for_case_spaces_and_the_last_mark() -> None:
    """Nothing more: another word is another question."""
    assert wording("  Who built  IT? ") == wording("who built it")
    assert wording("Who built it?") != wording("Who built them?")
    assert wording("\u8c01\u5efa\u7684\uff1f") == wording("\u8c01\u5efa\u7684") == "\u8c01\u5efa\u7684"
    assert wording("Wo liegt Mu\u0308nchen?") == wording("Wo liegt M\u00fcnchen?")  # as a Mac types it


def test_each_question_gives_its_first_five_and_its_whole_list() -> None:
    """One of them is judged; the verdict on the other is fitted on, too."""
    dataset, ranked = towns()
    for judges_whole, wanted in ((False, (5, LENGTH)), (True, (LENGTH, 5))):
        lists = [each for each in labelled_lists(dataset, ranked, judges_whole=judges_whole) if not each.is_cut]
        assert len(lists) == 2 * COUNT
        for judged, other in zip(lists[::2], lists[1::2], strict=True):
            assert judged.id == other.id
            assert judged.group == other.group
            assert (len(judged.texts), len(other.texts)) == wanted
            assert judged.grades[:5] == other.grades[:5]
            assert (judged.verdict, judged.lesson) == (judged.taught, None)
            assert (other.verdict, other.lesson) == (None, other.taught)
            for each in (judged, other):
                told = {2: "correct", 1: "ambiguous", 0: "incorrect"}[max(each.grades)]
                assert each.taught == told


def test_a_list_of_five_or_less_stands_once() -> None:
    """It is its own beginning."""
    dataset, ranked = towns()
    short = {name: replace(each, retrieved=each.retrieved[:5], grades=None) for name, each in ranked.items()}
    for judges_whole in (False, True):
        lists = [each for each in labelled_lists(dataset, short, judges_whole=judges_whole) if not each.is_cut]
        assert len(lists) == COUNT
        assert None not in {each.verdict for each in lists}


def test_a_question_with_an_answer_comes_once_more_without_it() -> None:
    """The first five of what is left, and all of it; others have nothing to lose, or nothing would be left."""
    dataset, ranked = towns()
    lists = labelled_lists(dataset, ranked)
    wholes = {each.id: each for each in lists if each.verdict is None and not each.is_cut}
    cuts = [each for each in lists if each.is_cut]
    assert {each.id for each in cuts} == {name for name, whole in wholes.items() if 2 in whole.grades}
    for cut in cuts:
        rows = zip(wholes[cut.id].texts, wholes[cut.id].grades, strict=True)
        left = [(text, grade) for text, grade in rows if grade < 2]
        assert list(zip(cut.texts, cut.grades, strict=True)) in (left[:5], left)
        assert (cut.taught, cut.group) == (None, wholes[cut.id].group)
    some = cuts[0].id
    left_over = LENGTH - wholes[some].grades.count(2)
    assert [len(each.texts) for each in cuts if each.id == some] == sorted({min(5, left_over), left_over})
    best = cuts[0].id
    only = {best: replace(ranked[best], retrieved=ranked[best].retrieved[:1], grades=(2,))}
    assert not any(each.is_cut for each in labelled_lists(dataset, only))


@given(order=st.permutations(range(6)))
def test_the_order_of_the_questions_changes_no_list_and_no_group(order: list[int]) -> None:
    """A calibration must not depend on where a question stands in its file."""
    names, found = ("one", "two", "three", "four"), RankedList(("one", "two", "three", "four"), status="covered")
    cases = [Case(f"q{n}", f"Question {n % 5}?", gold=(names[n % 4],), fixed=found, gap=found) for n in range(6)]
    ranked = {case.id: found for case in cases}
    one, other = data(*cases), data(*(cases[n] for n in order))
    assert group_numbers(one) == group_numbers(other)
    assert labelled_lists(one, ranked) == labelled_lists(other, ranked)
    assert gap_lists(one) == gap_lists(other)


def test_a_question_that_is_not_strict_teaches_documents_only() -> None:
    """Its verdict is not to be trusted."""
    dataset, ranked = towns()
    loose = replace(dataset, cases=tuple(replace(case, strict=False) for case in dataset.cases[:3]))
    assert {each.taught for each in labelled_lists(loose, ranked)} == {None}


def test_a_question_without_a_list_is_left_out() -> None:
    """There is nothing to judge."""
    dataset, ranked = towns()
    some = {**ranked, "t0": RankedList(())}
    del some["t1"]
    assert {"t0", "t1"}.isdisjoint(each.id for each in labelled_lists(dataset, some))


def test_where_two_documents_are_needed_a_question_without_any_needs_one_to_be_correct() -> None:
    """It needed none: a model that is always right called it correct, and reached a macro-F1 below 1."""
    both, none = Case("both", "Of two?", gold=("one", "three")), Case("none", "Of none?")
    dataset = replace(data(both, none), needs_all=True)
    lists = labelled_lists(dataset, {each.id: RankedList(("one", "three")) for each in (both, none)})
    whole = {each.id: (each.verdict, each.needed) for each in lists if not each.is_cut}
    assert whole == {"both": ("correct", 2), "none": ("incorrect", 1)}
    assert {each.id: label_of_grades(each.grades, each.needed) for each in lists if not each.is_cut} == {
        name: verdict for name, (verdict, _) in whole.items()
    }


def test_gap_lists_carry_their_status() -> None:
    """In the place of a verdict; without such lists there are none."""
    assert gap_lists(towns()[0]) == []
    gap = RankedList(("three",), status="gap")
    found = gap_lists(data(Case("a", "How thick?", gold=("one",), gap=gap), Case("b", "Not removed?")))
    assert [(each.id, each.verdict, each.grades) for each in found] == [("a", "gap", (0,))]


def test_five_questions_are_too_few() -> None:
    """The message says how many more it takes."""
    with pytest.raises(CalibrationError, match=r"needs 40 labelled questions .* but got 5; label 35 more"):
        check_enough([labelled(number, "correct") for number in range(5)])


def test_one_verdict_cannot_be_told_from_another() -> None:
    """The message counts each, and says what to ask."""
    lists = [labelled(number, "correct") for number in range(57)] + [
        labelled(number, "incorrect") for number in (57, 58)
    ]
    with pytest.raises(
        CalibrationError, match=r"8 questions of each of two verdicts .* 57 correct, 0 ambiguous, 2 inc"
    ):
        check_enough(lists)


def test_nothing_is_fitted_that_could_call_nothing_correct() -> None:
    """As where another tool marks by 1 what answers, which is on topic here: it would abstain from everything."""
    lists = [labelled(number, "ambiguous" if number % 2 else "incorrect") for number in range(60)]
    said = r"one of them correct, but got 0 correct, 30 ambiguous, 30 incorrect; add questions that the retrieved doc"
    with pytest.raises(CalibrationError, match=said):
        check_enough(lists)


def test_one_source_cannot_be_held_out() -> None:
    """Also where other questions, without a verdict, are about other sources."""
    verdicts = ["correct", "incorrect"] * 30
    lists = [labelled(number, verdict, group=0) for number, verdict in enumerate(verdicts)]
    lists += [labelled(100 + number, None) for number in range(20)]
    with pytest.raises(CalibrationError, match=r"about 8 different sources .* these 60 are about 1; add questions"):
        check_enough(lists)


def test_two_verdicts_are_enough() -> None:
    """A data set may have no third one."""
    check_enough([labelled(number, "correct" if number % 2 else "incorrect") for number in range(40)])


def other_split(folder: Path, *rows: Row) -> None:
    """Write another split of the same folder."""
    write_lines(folder / "test" / "queries.jsonl", rows)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small set of its own."""
    return write_towns(tmp_path / "towns", count=12)


def test_a_question_that_stands_in_two_splits_is_refused(folder: Path) -> None:
    """It would be judged there by what has seen it; the message names it and the splits."""
    rows = [json.loads(line) for line in (folder / SPLIT / "queries.jsonl").read_text().splitlines()]
    other_split(folder, {**rows[3], "id": "other", "question": rows[3]["question"].upper()})
    with pytest.raises(CalibrationError, match=r"1 questions of split 'dev' stand in 'test', too.*\['t3'\].*Remove"):
        check_leaks(read_towns(folder)[0])


def test_the_same_wording_about_other_documents_is_another_question(folder: Path) -> None:
    """So is one without labels; what cannot be read is that split's problem."""
    rows = [json.loads(line) for line in (folder / SPLIT / "queries.jsonl").read_text().splitlines()]
    other_split(
        folder,
        {**rows[0], "gold": rows[1]["gold"], "partial": []},
        {"id": "unlabelled", "question": rows[2]["question"]},
    )
    with (folder / "test" / "queries.jsonl").open("a") as file:
        file.write('{"id": \n["a list"]\n')
    check_leaks(read_towns(folder)[0])


@pytest.mark.parametrize("labels", ["qrels", "one partial more", "null as partial"])
def test_the_same_question_about_the_same_answer_is_a_leak_however_it_is_labelled(folder: Path, labels: str) -> None:
    """Labels may stand in `qrels.tsv`, a shared answer is enough, and exports write null where there is nothing."""
    rows = [json.loads(line) for line in (folder / SPLIT / "queries.jsonl").read_text().splitlines()]
    row = next(row for row in rows if row["gold"])
    if labels == "qrels":
        other_split(folder, {"id": "x", "question": row["question"]})
        (folder / "test" / "qrels.tsv").write_text(f"query_id\tdoc_id\tgrade\nx\t{row['gold'][0]}\t2\n")
    else:
        other_split(folder, {**row, "partial": None if "null" in labels else [*row.get("partial", []), "another"]})
    with pytest.raises(CalibrationError, match="1 questions of split 'dev' stand in 'test', too"):
        check_leaks(read_towns(folder)[0])


@pytest.mark.parametrize("labels", ["queries", "qrels"])
def test_a_byte_order_mark_hides_no_question_that_stands_in_two_splits(folder: Path, labels: str) -> None:
    """It stands before the first line, which would be passed over as unreadable."""
    rows = [json.loads(line) for line in (folder / SPLIT / "queries.jsonl").read_text().splitlines()]
    row = next(row for row in rows if row["gold"])
    other_split(folder, row if labels == "queries" else {"id": "x", "question": row["question"]})
    file = folder / "test" / ("queries.jsonl" if labels == "queries" else "qrels.tsv")
    if labels == "qrels":
        file.write_text(f"x\t{row['gold'][0]}\t2\n")
    file.write_bytes(BOM_UTF8 + file.read_bytes())
    with pytest.raises(CalibrationError, match="1 questions of split 'dev' stand in 'test', too"):
        check_leaks(read_towns(folder)[0])
