"""Data folders: what is read, what is worked out, and one clear error for each thing that is wrong."""

import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from evaluation.datasets import (
    AMBIGUOUS,
    CORRECT,
    ISLANDS,
    SPLIT,
    corpus,
    gaps,
    lists,
    queries,
    write_dataset,
    write_lines,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from haystack_integrations.crag.errors import SourceError
from haystack_integrations.crag.evaluation.cases import Case, RankedList
from haystack_integrations.crag.evaluation.reading import read_dataset
from haystack_integrations.crag.evaluation.strips import Sentences


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data set in a folder with a space in its name."""
    return write_dataset(tmp_path / "two words")


def refusal(folder: Path) -> str:
    """Read what cannot be read; gives the message."""
    with pytest.raises(SourceError) as caught:
        read_dataset(folder, SPLIT)
    return str(caught.value)


def test_a_data_set_is_read_whole(folder: Path) -> None:
    """Corpus, questions, both lists and the removed documents; keys that are not known do no harm."""
    dataset = read_dataset(folder, SPLIT)
    assert (dataset.name, dataset.split, len(dataset.passages)) == ("two words", SPLIT, 3 * len(ISLANDS))
    first = dataset.cases[0]
    assert (first.id, first.gold, first.partial) == ("q0", ("built-0",), ("isle-0",))
    assert first.gold_sentences == {("built-0", 0)}
    assert first.strict
    assert first.fixed is not None
    assert first.gap is not None
    assert (first.fixed.retrieved[0], first.gap.retrieved[0], first.gap.status) == ("built-0", "isle-0", "gap")


def test_a_split_of_a_name_that_no_file_can_have_is_refused(folder: Path) -> None:
    """As all that cannot be read."""
    with pytest.raises(SourceError, match="too long"):
        read_dataset(folder, "a" * 300)


def test_labels_follow_from_the_grades(folder: Path) -> None:
    """What answers makes a list correct, what is on topic ambiguous, anything else incorrect."""
    dataset = read_dataset(folder, SPLIT)
    told = [dataset.truth(case, case.fixed or RankedList(()), 5) for case in dataset.cases]
    wanted = [
        "correct" if n in CORRECT else "ambiguous" if n in AMBIGUOUS else "incorrect" for n in range(len(ISLANDS))
    ]
    assert told == wanted


def test_a_label_in_the_file_wins(folder: Path) -> None:
    """Whoever made the data may know better."""
    rows = [{**row, "label_top5": "ambiguous"} for row in lists()]
    write_lines(folder / SPLIT / "bm25_top10.jsonl", rows)
    dataset = read_dataset(folder, SPLIT)
    assert {dataset.truth(case, case.fixed or RankedList(()), 5) for case in dataset.cases} == {"ambiguous"}
    (doubt,) = dataset.doubts
    assert doubt.startswith("19 labels do not follow from the grades (")
    assert "; …): these lists are measured by their label, any other list by the best grade in it; correct" in doubt


def write_two_hops(folder: Path, **changes: str) -> Path:
    """Make questions need two documents, with labels that say so but for those of some questions; gives the lists."""
    questions = [{**row, "gold": [*row["gold"], *row["partial"]], "partial": []} for row in queries()]
    write_lines(folder / SPLIT / "queries.jsonl", questions)
    told = ["correct" if n in CORRECT else "ambiguous" if n in AMBIGUOUS else "incorrect" for n in range(len(ISLANDS))]
    rows = [{**row, "label_top5": changes.get(row["id"], label)} for row, label in zip(lists(), told, strict=True)]
    return write_lines(folder / SPLIT / "bm25_top10.jsonl", rows)


def test_two_hop_labels_are_recognised(folder: Path) -> None:
    """Where the labels say that all gold documents are needed, other lists are labelled alike."""
    write_two_hops(folder)
    dataset = read_dataset(folder, SPLIT)
    assert (dataset.needs_all, dataset.doubts) == (True, ())
    case = dataset.cases[0]
    found = [dataset.truth(case, RankedList(ids), 5) for ids in (("built-0", "isle-0"), ("isle-0",), ("other-1",))]
    assert found == ["correct", "ambiguous", "incorrect"]


def test_one_label_that_does_not_fit_is_told_and_changes_no_other_question(folder: Path) -> None:
    """The rule is that of most labels: a slip in one must not decide what makes all other lists correct."""
    file = write_two_hops(folder, q1="incorrect")
    dataset = read_dataset(folder, SPLIT)
    first, second = dataset.cases[:2]
    assert dataset.truth(first, RankedList(("isle-0",)), 5) == "ambiguous"
    assert dataset.truth(second, second.fixed or RankedList(()), 5) == "incorrect"
    (doubt,) = dataset.doubts
    assert f"1 label does not follow from the grades ({file}:2: 'incorrect' as label_top5, not 'correct')" in doubt
    assert "any other list by whether all documents in gold are there" in doubt


def test_a_copy_that_was_graded_otherwise_is_told(folder: Path) -> None:
    """As where the same page stands in the index twice, and whoever labelled saw one of the two."""
    pages = corpus()
    write_lines(folder / "corpus.jsonl", [*pages, {**pages[0], "id": "copy"}])
    first, *others = lists()
    place = folder / SPLIT / "bm25_top10.jsonl"
    write_lines(place, [{**first, "retrieved": ["built-0", "isle-0", "copy"]}, *others])
    (doubt,) = read_dataset(folder, SPLIT).doubts
    assert doubt.startswith("1 graded otherwise than a copy in the same list ('built-0' has 2 and 'copy' 0 for 'q0');")
    write_lines(place, [{**first, "retrieved": ["built-0", "copy"], "grades": [2, 2]}, *others])
    assert read_dataset(folder, SPLIT).doubts == ()


def test_lists_that_end_where_their_answer_was_found_are_told(folder: Path) -> None:
    """As where who graded stopped there: how long a list is then tells its verdict, and of whole lists nothing does."""
    place = folder / SPLIT / "bm25_top10.jsonl"
    answered = {f"q{n}": [f"isle-{n}", f"built-{n}", f"other-{n}"] for n in CORRECT[:6]}
    for rest in (2, 3):
        cut = [
            {**row, "retrieved": answered.get(row["id"], row["retrieved"])[: rest if row["id"] in answered else 10]}
            for row in lists()
        ]
        write_lines(place, cut)
        doubts = read_dataset(folder, SPLIT).doubts
        assert len(doubts) == (rest == 2)
        assert all(
            doubt.startswith(f"6 lists end with the first document that answers ({place}:1; ") for doubt in doubts
        )


@pytest.mark.parametrize("name", ["label_top5", "label_top10"])
def test_a_label_that_the_grades_of_its_line_contradict_is_told(folder: Path, name: str) -> None:
    """One of the two was corrected and the other was not."""
    first, *others = lists()
    write_lines(
        folder / SPLIT / "bm25_top10.jsonl", [{**first, "grades": [2, 1, *[0] * 8], name: "ambiguous"}, *others]
    )
    assert f"bm25_top10.jsonl:1: 'ambiguous' as {name}, not 'correct')" in read_dataset(folder, SPLIT).doubts[0]
    assert not read_dataset(folder, SPLIT, labelled=False).doubts, "labels that nobody asks for are in nobody's way"


def test_a_label_of_two_hops_among_others_is_told_and_not_refused(folder: Path) -> None:
    """Where one question needs both documents and most do not, its grades can mean what its label says."""
    both = {**queries()[14], "gold": ["isle-14", "built-14"], "partial": []}
    write_lines(folder / SPLIT / "queries.jsonl", [*queries()[:14], both, *queries()[15:]])
    made = [{**row, "label_top5": "ambiguous"} if n in AMBIGUOUS else row for n, row in enumerate(lists())]
    made[14]["grades"] = [2, *[0] * 9]
    write_lines(folder / SPLIT / "bm25_top10.jsonl", made)
    dataset = read_dataset(folder, SPLIT)
    assert "bm25_top10.jsonl:15: 'ambiguous' as label_top5, not 'correct'" in dataset.doubts[0]
    assert dataset.truth(dataset.cases[14], dataset.cases[14].fixed or RankedList(()), 5) == "ambiguous"


def test_questions_alone_are_enough(tmp_path: Path) -> None:
    """A user's own set: corpus and questions with what answers them, no list, no sentence."""
    folder = write_dataset(tmp_path / "own", without=["bm25_top10.jsonl", "gap_bm25_top10.jsonl", "queries.jsonl"])
    rows = [{"id": row["id"], "question": row["question"], "gold": row["gold"]} for row in queries()]
    write_lines(folder / SPLIT / "queries.jsonl", rows)
    case = read_dataset(folder, SPLIT).cases[0]
    assert case == Case("q0", case.question, gold=("built-0",))


def test_qrels_can_take_the_place_of_gold(tmp_path: Path) -> None:
    """In the usual form, with or without its head; a question that no line names has no evidence."""
    folder = write_dataset(tmp_path / "own", without=["bm25_top10.jsonl", "gap_bm25_top10.jsonl"])
    write_lines(folder / SPLIT / "queries.jsonl", [{"id": r["id"], "question": r["question"]} for r in queries()])
    (folder / SPLIT / "qrels.tsv").write_text(
        "query_id\tdoc_id\tgrade\nq0\tbuilt-0\t2\nq0\tisle-0\t1\nq0\tother-0\t0\n"
    )
    first, second = read_dataset(folder, SPLIT).cases[:2]
    assert (first.gold, first.partial) == (("built-0",), ("isle-0",))
    assert (second.gold, second.partial) == ((), ())


@pytest.fixture
def judged(tmp_path: Path) -> Path:
    """A data set whose labels stand in qrels.tsv."""
    folder = write_dataset(tmp_path / "own", without=["bm25_top10.jsonl", "gap_bm25_top10.jsonl"])
    write_lines(folder / SPLIT / "queries.jsonl", [{"id": r["id"], "question": r["question"]} for r in queries()])
    return folder


def test_without_questions_no_judgement_is_what_is_wrong(judged: Path) -> None:
    """Its first line was named: as of a question that is not among them."""
    (judged / SPLIT / "qrels.tsv").write_text("q0\tbuilt-0\t2\n")
    (judged / SPLIT / "queries.jsonl").write_text("")
    assert "queries.jsonl: got 0 questions, wanted at least 10" in refusal(judged)


def test_judgements_are_labels_also_where_none_are_needed(judged: Path) -> None:
    """Else `crag label` does not say that these questions have labels of their own."""
    (judged / SPLIT / "qrels.tsv").write_text("q0\tbuilt-0\t2\nq0\tbuilt-1\t1\n")
    first, second = read_dataset(judged, SPLIT, labelled=False).cases[:2]
    assert (first.gold, first.partial, second.gold) == (("built-0",), ("built-1",), ())
    (judged / SPLIT / "qrels.tsv").write_text("")
    assert not any(case.gold for case in read_dataset(judged, SPLIT, labelled=False).cases)


def test_a_byte_order_mark_hides_no_judgement(judged: Path) -> None:
    """Without a head, the first line is one."""
    (judged / SPLIT / "qrels.tsv").write_bytes(b"\xef\xbb\xbfq0\tbuilt-0\t2\n")
    assert read_dataset(judged, SPLIT).cases[0].gold == ("built-0",)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("q0\tbuilt-0\t2\nq99\tbuilt-1\t2\n", "qrels.tsv:2: got the unknown id 'q99', wanted that of a question of"),
        ("q0\tbuilt-0\t2\nq0\tbuilt-0\t1\n", "qrels.tsv:2: got the grade 1 after 2 for 'built-0', wanted one grade"),
        (
            "q0 built-0 2\n",
            "qrels.tsv:1: got another line, wanted query_id, doc_id and a grade of 0, 1 or 2, with tabs",
        ),
        ("\n \nq0\tbuilt-0\t3\n", "qrels.tsv:3: got another line"),
        ("q0\tnowhere\t2\n", "qrels.tsv:1: got the unknown id 'nowhere'"),
        ("", "queries.jsonl:1: got no gold, wanted the ids of the documents that answer, [] for none; write"),
        ("query_id\tdoc_id\tgrade\n", "queries.jsonl:1: got no gold, wanted the ids of the documents that answer"),
    ],
)
def test_wrong_judgements_are_named(judged: Path, text: str, said: str) -> None:
    """None is lost without a word."""
    (judged / SPLIT / "qrels.tsv").write_text(text)
    assert said in refusal(judged)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("q0\tbuilt-0\t1\n", "'built-0' has the grade 2 (gold is 2, partial 1), but 1 in qrels.tsv, which is not used"),
        ("q0\tisle-0\t0\n", "'isle-0' has the grade 1 (gold is 2, partial 1), but 0 in qrels.tsv"),
        ("q0\tother-5\t2\n", "'other-5' has the grade 0 (gold is 2, partial 1), but 2 in qrels.tsv"),
    ],
)
def test_judgements_that_contradict_the_question_are_told(folder: Path, line: str, said: str) -> None:
    """Those that say the same do no harm; one that only stands in qrels.tsv would be lost."""
    file = folder / SPLIT / "qrels.tsv"
    file.write_text("q0\tbuilt-0\t2\nq0\tisle-0\t1\nq0\tother-7\t0\n")
    assert not read_dataset(folder, SPLIT).doubts
    file.write_text(line)
    (doubt,) = read_dataset(folder, SPLIT).doubts
    assert doubt.startswith(f"1 in doubt of the labels ({folder / SPLIT / 'queries.jsonl'}:1: {said}")
    assert doubt.endswith("); correct what is there by mistake")


def test_judgements_of_another_scale_that_leave_no_answer_are_told(judged: Path) -> None:
    """Many tools mark what answers by 1: no list would be correct, and all measures would be of that."""
    (judged / SPLIT / "qrels.tsv").write_text("q0\tbuilt-0\t1\nq1\tbuilt-1\t1\n")
    (doubt,) = read_dataset(judged, SPLIT).doubts
    assert "answers any of the 24 questions, and 2 have one that is on topic only (the grade 1, or partial)" in doubt
    (judged / SPLIT / "qrels.tsv").write_text("q0\tbuilt-0\t2\nq1\tbuilt-1\t1\n")
    assert not read_dataset(judged, SPLIT).doubts


def test_the_same_judgement_twice_does_no_harm(judged: Path) -> None:
    """Files are put together from parts."""
    (judged / SPLIT / "qrels.tsv").write_text("q0\tbuilt-0\t2\n" * 2)
    assert read_dataset(judged, SPLIT).cases[0].gold == ("built-0",)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"gold": None}, "queries.jsonl:25: got null as gold, wanted the ids of the documents that answer; write []"),
        ({"gold": ["built-0"], "partial": ["built-0"]}, "queries.jsonl:25: got 'built-0' as gold and as partial"),
        ({"id": "q3"}, "queries.jsonl:25: got the id 'q3' a second time"),
        ({"gold": ["nowhere"]}, "queries.jsonl:25: got the unknown id 'nowhere', wanted that of a document of corpus"),
        ({"gold": ["A text. " * 40]}, "queries.jsonl:25: got a text of 320 characters as an id, wanted that of a doc"),
        ({"gold": "built-0"}, "queries.jsonl:25: got another kind of gold, wanted a list of texts"),
        ({"question": "  "}, "queries.jsonl:25: got an empty question"),
        ({"question": None}, "queries.jsonl:25: got no question (the line has "),
        ({"id": None, "_id": "q1"}, "queries.jsonl:25: got no id (the line has _id, "),
        ({"question": 3}, "queries.jsonl:25: got another kind of question"),
        ({"gold_sentences": [["built-0", 9]]}, "queries.jsonl:25: got sentence 9 of 'built-0', wanted one below 3"),
        ({"gold_sentences": [["built-0"]]}, "queries.jsonl:25: got other gold_sentences"),
        ({"gold_sentences": 3}, "queries.jsonl:25: got other gold_sentences"),
        ({"strict": "false"}, "queries.jsonl:25: got 'false' as strict, wanted true or false; write it without quotes"),
        ({"strict": 0}, "queries.jsonl:25: got 0 as strict, wanted true or false"),
    ],
)
def test_a_wrong_question_is_named_with_its_line(folder: Path, change: dict[str, Any], said: str) -> None:
    """File, line, what was got and what was wanted."""
    rows = [*queries(), {"id": "new", "question": "Who?", "gold": [], **change}]
    write_lines(folder / SPLIT / "queries.jsonl", rows)
    assert said in refusal(folder)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"retrieved": ["nowhere"]}, "bm25_top10.jsonl:1: got the unknown id 'nowhere'"),
        ({"retrieved": ["built-0", "built-0"]}, "bm25_top10.jsonl:1: got a document twice"),
        ({"grades": [2]}, "bm25_top10.jsonl:1: got other grades, wanted 0, 1 or 2 for each retrieved document"),
        ({"grades": 7}, "bm25_top10.jsonl:1: got other grades"),
        ({"grades": [True, *[0] * 9]}, "bm25_top10.jsonl:1: got other grades"),
        (
            {"grades": [1, 1, *[0] * 8]},
            "bm25_top10.jsonl:1: got the grade 1 of 'built-0', which has 2 in queries.jsonl or qrels.tsv, wanted one",
        ),
        ({"label_top5": "fine"}, "bm25_top10.jsonl:1: got the label 'fine', wanted one of ['correct'"),
        ({"label_top5": ["correct"]}, "bm25_top10.jsonl:1: got the label ['correct']"),
        ({"status": "gone"}, "bm25_top10.jsonl:1: got the status 'gone', wanted one of ['gap'"),
        ({"id": "q99"}, "bm25_top10.jsonl:1: got the unknown id 'q99', wanted that of a question of queries.jsonl"),
    ],
)
def test_a_wrong_list_is_named_with_its_line(folder: Path, change: dict[str, Any], said: str) -> None:
    """Likewise for lists."""
    first, *others = lists()
    write_lines(folder / SPLIT / "bm25_top10.jsonl", [{**first, **change}, *others])
    assert said in refusal(folder)


def test_a_gap_list_without_a_status_is_refused(folder: Path) -> None:
    """It would be in no figure, without a word; other lists need none."""
    first, second, *others = gaps()
    bare = {key: second[key] for key in ("id", "retrieved")}
    write_lines(folder / SPLIT / "gap_bm25_top10.jsonl", [first, bare, *others])
    said = (
        "gap_bm25_top10.jsonl:2: got no status, wanted one of ['gap', 'covered', 'partial', 'no_gold']; write \"gap\""
    )
    assert said in refusal(folder)


def test_a_question_without_a_list_is_named(folder: Path) -> None:
    """A list for some questions only would score something else than it says."""
    write_lines(folder / SPLIT / "bm25_top10.jsonl", lists()[:20])
    assert "got no list for 4 questions, the first is 'q20'" in refusal(folder)


@pytest.mark.parametrize(
    ("name", "said"),
    [("corpus.jsonl", "no corpus at"), ("queries.jsonl", 'write one {"id", "question", "gold"} a line into it')],
)
def test_a_missing_file_is_named(tmp_path: Path, name: str, said: str) -> None:
    """With what it should hold."""
    assert said in refusal(write_dataset(tmp_path / "set", without=[name]))


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    """With what is expected in it."""
    assert "no folder at" in refusal(tmp_path / "nowhere")


def test_another_split_is_offered(folder: Path) -> None:
    """A slip in the split's name lists those there are."""
    with pytest.raises(SourceError, match=r"choose --split from \['dev'\]"):
        read_dataset(folder, "test")


def test_an_empty_document_is_named_with_its_line(folder: Path) -> None:
    """Nothing can be judged in it."""
    write_lines(folder / "corpus.jsonl", [*corpus(), {"id": "blank", "text": " \n"}])
    assert f"corpus.jsonl:{3 * len(ISLANDS) + 1}: got an empty text" in refusal(folder)


def test_a_line_that_is_no_json_is_named(folder: Path) -> None:
    """The rest of the file may be fine."""
    lines = (folder / "corpus.jsonl").read_text().splitlines()
    (folder / "corpus.jsonl").write_text("\n".join([*lines[:4], lines[4][:20], *lines[5:]]))
    assert "corpus.jsonl:5: got another line, wanted one JSON object" in refusal(folder)


def test_five_questions_are_refused(folder: Path) -> None:
    """They measure nothing; the message says how many are needed at least."""
    write_lines(folder / SPLIT / "queries.jsonl", queries()[:5])
    assert "got 5 questions, wanted at least 10" in refusal(folder)


def test_a_byte_order_mark_and_empty_lines_do_no_harm(folder: Path) -> None:
    """As some editors leave them."""
    path = folder / SPLIT / "queries.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n\r\n"))
    assert len(read_dataset(folder, SPLIT).cases) == len(ISLANDS)


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 12) | st.sampled_from(["", "q1", "built-1", "gap"]),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=6,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(
    name=st.sampled_from(["corpus.jsonl", f"{SPLIT}/queries.jsonl", f"{SPLIT}/bm25_top10.jsonl"]),
    key=st.sampled_from(
        ["id", "text", "sentences", "question", "gold", "gold_sentences", "retrieved", "grades", "status"]
    ),
    value=_VALUES,
)
def test_whatever_stands_in_a_line_it_is_read_or_refused(tmp_path: Path, name: str, key: str, value: Any) -> None:
    """Never with another error than the package's own."""
    folder = write_dataset(tmp_path / "set")
    first, *others = (folder / name).read_text().splitlines()
    (folder / name).write_text("\n".join([json.dumps({**json.loads(first), key: value}), *others]))
    try:
        read_dataset(folder, SPLIT)
    except SourceError as error:
        assert "; " in str(error)


def test_grades_that_stand_in_the_lists_only_hold_in_any_other_list() -> None:
    """Of a live list, too: else what is on topic there would be taken for labelled as neither."""
    case = Case("q", "Who?", gold=("a",), fixed=RankedList(("a", "b", "c"), (2, 1, 0)))
    live = replace(case, fixed=RankedList(("b", "d", "a")))
    assert live.grades(live.fixed) == (1, 0, 2)  # type: ignore[arg-type]


def test_a_document_with_two_grades_for_one_question_is_refused(folder: Path) -> None:
    """In one line, or in two lists."""
    first, place = queries()[0], folder / SPLIT
    write_lines(place / "queries.jsonl", [{**first, "partial": first["gold"]}, *queries()[1:]])
    assert "queries.jsonl:1: got 'built-0' as gold and as partial, wanted each document in one" in refusal(folder)
    write_lines(place / "queries.jsonl", queries())
    write_lines(place / "queries.jsonl", queries())
    for name, grade in (("bm25_top10.jsonl", 0), ("gap_bm25_top10.jsonl", 1)):
        listed = {"retrieved": ["other-9"], "grades": [grade], "status": "gap"}
        write_lines(place / name, [{**row, **listed} for row in lists()])
    said = "gap_bm25_top10.jsonl:1: got the grade 1 of 'other-9', which has 0 in bm25_top10.jsonl, wanted one grade"
    assert said in refusal(folder)


def write_first_document(folder: Path, **changes: Any) -> None:
    """Change the document whose first sentence is labelled."""
    first, *others = corpus()
    write_lines(folder / "corpus.jsonl", [{**first, **changes}, *others])


def test_a_labelled_sentence_that_its_text_does_not_hold_is_told(folder: Path) -> None:
    """It could never be kept, whatever is refined; nor could one beyond those this package cuts a text into."""
    write_first_document(folder, sentences=["The lighthouse of Aruva was built by A. Finch.", "It took 3 years."])
    (doubt,) = read_dataset(folder, SPLIT).doubts
    assert "queries.jsonl:1: sentence 0 of 'built-0', which its text does not hold, so it is never kept" in doubt
    write_first_document(folder, sentences=None, text="Adda Finch built it.")
    first, *others = queries()
    write_lines(folder / SPLIT / "queries.jsonl", [{**first, "gold_sentences": [["built-0", 1]]}, *others])
    assert "queries.jsonl:1: got sentence 1 of 'built-0', wanted one below 1; correct it" in refusal(folder)


def test_a_sentence_is_found_in_a_text_that_is_laid_out_in_other_lines(folder: Path) -> None:
    """Only its words must stand there."""
    text = "The lighthouse of\nAruva  was built by Adda Finch.\nIt took 3\n\tyears. Seals rest below."
    write_first_document(folder, text=text)
    spans = Sentences(read_dataset(folder, SPLIT).passages).of("built-0")
    assert [text[start:end].rsplit(maxsplit=1)[-1] for start, end, _ in spans] == ["Finch.", "years.", "below."]
    assert [words for _, _, words in spans] == [9, 4, 3]


def test_strict_may_be_left_out_or_said(folder: Path) -> None:
    """It is true where nothing is said."""
    rows = [{**row, "strict": value} for row, value in zip(queries(), [False, True, None] * 8, strict=True)]
    write_lines(folder / SPLIT / "queries.jsonl", rows)
    assert [case.strict for case in read_dataset(folder, SPLIT).cases[:3]] == [False, True, True]


@pytest.mark.parametrize("name", ["corpus.jsonl", f"{SPLIT}/queries.jsonl", f"{SPLIT}/gap_bm25_top10.jsonl"])
@pytest.mark.parametrize("renamed", [True, False])
def test_a_packed_file_is_refused_with_the_command_that_unpacks_it(folder: Path, name: str, renamed: bool) -> None:
    """Also one that need not be there, which would be missing without a word; and one that lost its ending."""
    path = folder / name
    packed = gzip.compress(path.read_bytes())
    path.unlink()
    if renamed:
        path.with_name(path.name + ".gz").write_bytes(packed)
        assert f"which is not packed; unpack it: gunzip -k '{path}.gz'" in refusal(folder)
    else:
        path.write_bytes(packed)
        said = f"{path.name}:1: got a file packed by gzip, wanted one that is not; unpack it: mv '{path}'"
        assert said in refusal(folder)


@pytest.mark.parametrize(
    ("encoding", "said"),
    [
        ("utf-16", "got text in UTF-16, wanted UTF-8; save the file as that, such as by: iconv -f UTF-16 -t UTF-8"),
        ("utf-16-be", "got text in UTF-16, wanted UTF-8"),
        ("latin-1", "got text that is not UTF-8, wanted UTF-8; save the file as that, such as by: iconv -f ENCODING"),
    ],
)
@pytest.mark.parametrize("name", ["corpus.jsonl", f"{SPLIT}/qrels.tsv"])
def test_a_file_of_another_encoding_is_named_with_the_way_to_utf_8(
    folder: Path, encoding: str, said: str, name: str
) -> None:
    """As some editors and shells write it: nothing is wrong with the line itself."""
    text = json.dumps({"id": "é", "text": "Café"}, ensure_ascii=False) if name == "corpus.jsonl" else "é\té\t2"
    (folder / name).write_bytes(f"{text}\n".encode(encoding))
    assert f"{folder / name}:1: {said}" in refusal(folder)


@pytest.mark.parametrize("name", ["bm25_top10.jsonl", "gap_bm25_top10.jsonl"])
@pytest.mark.parametrize("key", ["documents", None])
def test_a_list_without_its_documents_is_refused_and_not_taken_for_an_empty_one(
    folder: Path, name: str, key: str | None
) -> None:
    """Under another name, or null, nothing would be retrieved for any question, and every verdict right."""
    rows = [json.loads(line) for line in (folder / SPLIT / name).read_text().splitlines()]
    ids = rows[1].pop("retrieved")
    rows[1] |= {"retrieved": None} if key is None else {key: ids}
    write_lines(folder / SPLIT / name, rows)
    said = refusal(folder)
    assert said.startswith(f"{folder / SPLIT / name}:2: got no retrieved, wanted the ids of the list")
    write_lines(folder / SPLIT / name, [*rows[:1], {**rows[1], "retrieved": []}, *rows[2:]])
    read_dataset(folder, SPLIT)  # where nothing was found, that can be said


@pytest.mark.parametrize("split", [f"{SPLIT}/", f"./{SPLIT}"])
def test_a_split_has_one_name_however_it_is_written(folder: Path, split: str) -> None:
    """A shell completes a folder with a stroke; by another name it would leak into itself."""
    assert read_dataset(folder, split).split == SPLIT
