"""Questions of one's own, and what a store finds for them."""

import gzip
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import sleep
from typing import Any

import pytest
from haystack import Document
from openpyxl import load_workbook

from haystack_integrations.crag.components import StaticDocumentEmbedder
from haystack_integrations.crag.corpus_statistics import write_statistics
from haystack_integrations.crag.errors import ConfigurationError, SourceError, StoreError
from haystack_integrations.crag.evaluation import collecting
from haystack_integrations.crag.evaluation.collecting import check_target, collect, write_data
from haystack_integrations.crag.evaluation.labelling import take_labels
from haystack_integrations.crag.evaluation.made_of import fingerprint
from haystack_integrations.crag.evaluation.questions import read_questions
from haystack_integrations.crag.evaluation.reading import LISTS, read_dataset
from haystack_integrations.crag.evaluation.retrieving import Retrieval
from haystack_integrations.crag.evaluation.setup import Setup
from haystack_integrations.crag.evaluation.training import corpus_statistics
from haystack_integrations.crag.judging.grading import Graded
from haystack_integrations.crag.pipelines.opening import memory_store

PAGES = {
    "refunds": "A refund is paid within 30 days of the return.",
    "lamps": "A lamp costs 20 euros.",
    "beds": "A bed costs 300 euros.",
    "ships": "Ships leave at noon.",
}


@pytest.fixture
def store(in_memory_store: Any) -> Any:
    """Four pages, one of them with a title."""
    pages = [
        Document(id=name, content=text, meta={"title": "Prices"} if name == "lamps" else {})
        for name, text in PAGES.items()
    ]
    in_memory_store.write_documents(StaticDocumentEmbedder().run(pages)["documents"])
    return in_memory_store


def written(tmp_path: Path, text: str, name: str = "questions.txt") -> Path:
    """Write a file of questions."""
    path = tmp_path / name
    path.write_text(text, "utf-8")
    return path


def collected(store: Any, file: Path, folder: Path, split: str = "asked", pipeline: str = "baseline_rag") -> Path:
    """Collect as the command does; gives the split's folder."""
    questions, place = read_questions(file), check_target(folder, split)
    found = collect(questions, store, Retrieval(store, pipeline, 2), lambda *_: None)
    write_data(questions, found, store, place)
    return place


def lines(path: Path) -> list[dict[str, Any]]:
    """Read JSON Lines."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_questions_are_lines_each_asked_once_or_json_lines_that_keep_what_they_have(tmp_path: Path) -> None:
    """An id is given where there is none; a byte order mark and Windows' line ends are no part of a question."""
    plain = read_questions(written(tmp_path, "\ufeffWhen?\r\n\r\n  Who? \r\nWhen?\r\n"))
    assert [(each.id, each.text) for each in plain] == [("q1", "When?"), ("q3", "Who?")]
    assert read_questions(written(tmp_path, "[urgent] When? {soon}\n"))[0].text == "[urgent] When? {soon}"
    pasted = read_questions(written(tmp_path, "When\u2028exactly?\rWho\x0c won?\n"))
    assert [(each.id, each.text) for each in pasted] == [("q1", "When\u2028exactly?"), ("q2", "Who\x0c won?")]
    rows = '{"question": "When?", "answers": ["noon"]}\n{"id": "x", "question": "When?"}\n'
    first, second = read_questions(written(tmp_path, rows, "questions.jsonl"))
    assert first.values == {"id": "q1", "question": "When?", "answers": ["noon"]}
    assert (second.id, second.text) == ("x", "When?")
    assert [each.id for each in read_questions(written(tmp_path, rows, "QUESTIONS.JSONL"))] == ["q1", "x"]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("questions.txt", "\n \n", "got no question in"),
        ("questions.jsonl", '{"id": "q2", "question": "a"}\n{"question": "b"}\n', "jsonl:2: got the id 'q2' a second"),
        ("questions.jsonl", '{"text": "a"}\n', r"jsonl:1: got no question \(the line has text\)"),
        ("questions.jsonl", "When?\n", "jsonl:1: got another line"),
        ("questions.jsonl", '{"question": "a", "gold": 5}\n', "jsonl:1: got another kind of gold, wanted a list"),
        ("questions.jsonl", '{"question": "a", "partial": "beds"}\n', "jsonl:1: got another kind of partial"),
        ("questions.jsonl", '{"question": "a", "answers": 5}\n', "jsonl:1: got another kind of answers"),
        ("questions.jsonl", '{"question": "a", "strict": "no"}\n', "jsonl:1: got 'no' as strict"),
        ("questions.json", 'When?\n{"question": "a"}\n', "json:2: got JSON, wanted a question; write one object"),
        ("questions.json", '[{"question": "a"}]', "json:1: got JSON"),
        ("questions.json", '[\n {\n  "question": "a"\n }\n]\n', "json:1: got JSON"),
        ("questions.csv", "id,question\n1,When?\n", r"got a table \(.csv\), .* save its column of questions"),
        ("questions.docx", "PK\x03\x04\x14", "docx:1: got a file packed by zip, as Office's are"),
    ],
)
def test_what_are_no_questions_is_named_with_its_line(tmp_path: Path, name: str, text: str, message: str) -> None:
    """Got, wanted, way out."""
    with pytest.raises(SourceError, match=message):
        read_questions(written(tmp_path, text, name))
    with pytest.raises(SourceError, match="no questions can be read from"):
        read_questions(tmp_path / "none.txt")
    (tmp_path / "packed.txt.gz").write_bytes(gzip.compress(text.encode()))
    with pytest.raises(SourceError, match=r"gz:1: got a file packed by gzip, .* unpack it: gunzip -k"):
        read_questions(tmp_path / "packed.txt.gz")


def test_a_split_has_the_lists_and_the_corpus_what_stands_in_them(store: Any, tmp_path: Path) -> None:
    """And the statistics are those of the whole store, or a word of all questions would pass for a common one."""
    place = collected(store, written(tmp_path, "When is a refund paid?\nWhat does a lamp cost?\n"), tmp_path / "data")
    lists = lines(place / "bm25_top10.jsonl")
    assert [(row["id"], row["retrieved"][0]) for row in lists] == [("q1", "refunds"), ("q2", "lamps")]
    corpus = {row["id"]: row for row in lines(place.parent / "corpus.jsonl")}
    assert set(corpus) == {name for row in lists for name in row["retrieved"]}
    assert corpus["lamps"] == {"id": "lamps", "title": "Prices", "text": PAGES["lamps"]}
    dataset = read_dataset(tmp_path / "data", "asked", labelled=False, least=1)
    known = corpus_statistics(dataset)
    assert (known.documents, known.frequency(["cost", "ship"])) == (4, {"cost": 2, "ship": 1})


def test_lists_remember_their_retrievers_also_when_people_labelled_them(store: Any, tmp_path: Path) -> None:
    """A calibration on them refuses documents of other retrievers."""
    place = collected(store, written(tmp_path, "When is a refund paid?\n"), tmp_path / "data")
    (row,) = lines(place / LISTS)
    assert row["retrievers"] == ["bm25", "dense"]
    dataset = read_dataset(tmp_path / "data", "asked", labelled=False, least=1)
    record = {"id": row["id"], "retrieved": row["retrieved"], "grades": [2, 0], "cost": {}, "error": None}
    take_labels(dataset, Setup("corrective_retrieval"), [record], tmp_path / "data" / "labelled")
    (case,) = read_dataset(tmp_path / "data", "labelled", least=1).cases
    assert case.fixed is not None
    assert case.fixed.retrievers == ("bm25", "dense")


def test_more_questions_join_the_corpus_and_labels_bring_their_documents(store: Any, tmp_path: Path) -> None:
    """A second split in the same folder; what a label names is there, also where nothing found it."""
    collected(store, written(tmp_path, "When is a refund paid?\n"), tmp_path / "data")
    row = {"id": "b", "question": "What does a bed cost?", "gold": ["beds"], "partial": ["ships"]}
    rows = json.dumps({**row, "gold_sentences": [["beds", 7]], "source": "us"}) + "\n"
    place = collected(store, written(tmp_path, rows, "labelled.jsonl"), tmp_path / "data", "labelled")
    assert {row["id"] for row in lines(place.parent / "corpus.jsonl")} == set(PAGES)
    (case,) = read_dataset(tmp_path / "data", "labelled", least=1).cases
    assert (case.gold, case.partial) == (("beds",), ("ships",))
    assert lines(place / "queries.jsonl") == [{**row, "source": "us"}]  # sentences are counted in another corpus
    unknown = written(tmp_path, rows.replace('"beds"', '"sofas"'), "wrong.jsonl")
    with pytest.raises(SourceError, match=r"wrong.jsonl:1: got a label of 'sofas', which the store does not have"):
        collected(store, unknown, tmp_path / "data", "wrong")


def test_what_was_begun_on_a_split_is_gone_on_with_when_another_one_was_collected(store: Any, tmp_path: Path) -> None:
    """The corpus has grown by documents of the other; labels of a chat model would have been paid for twice."""
    labelling, judging = Setup("corrective_retrieval", "llm"), Setup("corrective_retrieval")

    def made_of() -> list[Any]:
        read = read_dataset(tmp_path / "data", "asked", labelled=False, least=1)
        return [fingerprint(read, setup)["data"] for setup in (labelling, judging)]

    collected(store, written(tmp_path, "When is a refund paid?\n"), tmp_path / "data")
    before, corpus = made_of(), tmp_path / "data" / "corpus.jsonl"
    size = corpus.stat().st_size
    collected(store, written(tmp_path, "What does a lamp cost?\nWhen do ships leave?\n"), tmp_path / "data", "test")
    assert corpus.stat().st_size > size
    assert made_of() == before
    store.write_documents([Document(id="cars", content="A car costs 9000 euros.", embedding=[0.0] * 256)])
    collected(store, written(tmp_path, "What does a car cost?\n"), tmp_path / "data", "more")
    assert [new == old for new, old in zip(made_of(), before, strict=True)] == [True, False]  # rare words are others
    corpus.write_text(corpus.read_text().replace("within 30 days", "within 90 days"))
    assert made_of()[0] != before[0]


def test_texts_are_those_of_the_store_also_where_the_pipeline_refines(store: Any, tmp_path: Path) -> None:
    """A grader sees whole documents."""
    place = collected(store, written(tmp_path, "What does a lamp cost?\n"), tmp_path / "d", pipeline="signals_rag")
    assert {row["text"] for row in lines(place.parent / "corpus.jsonl")} <= set(PAGES.values())
    assert lines(place / "bm25_top10.jsonl")[0]["retrieved"][0] == "lamps"


def test_what_has_no_text_is_in_no_list(store: Any, tmp_path: Path) -> None:
    """An index that others made can hold it; nobody could judge it, nor would the corpus with it be read."""
    empty = Document(id="picture", content=" ", embedding=store.filter_documents()[0].embedding)
    store.write_documents([empty, Document(id="scan", embedding=empty.embedding)])
    questions = read_questions(written(tmp_path, "When is a refund paid?\n"))
    found = collect(questions, store, Retrieval(store, "baseline_rag", 6), lambda *_: None)
    assert set(found.passages) == set(found.lists["q1"].retrieved) == set(PAGES)
    labelled = written(tmp_path, '{"question": "Which scan?", "gold": ["scan"]}\n', "labelled.jsonl")
    with pytest.raises(SourceError, match=r"jsonl:1: got a label of 'scan', which the store does not have, or without"):
        collect(read_questions(labelled), store, Retrieval(store, "baseline_rag", 6), lambda *_: None)


def test_a_document_that_vanishes_between_search_and_fetch_ends_it(
    store: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A list without it would be another list than the one that was retrieved."""
    questions = read_questions(written(tmp_path, "When is a refund paid?\n"))
    retrieval = Retrieval(store, "baseline_rag", 2)
    monkeypatch.setattr(type(store), "filter_documents", lambda *_, **__: [])
    with pytest.raises(StoreError, match="does not have it any more; run it again when nobody writes to it"):
        collect(questions, store, retrieval, lambda *_: None)


def test_nothing_that_is_there_is_lost(store: Any, tmp_path: Path) -> None:
    """Neither a split, nor somebody's corpus, nor the text that labels are about."""
    file = written(tmp_path, "When is a refund paid?\n")
    place = collected(store, file, tmp_path / "data")
    with pytest.raises(ConfigurationError, match=r"there are questions at .* already; choose another --split"):
        check_target(tmp_path / "data", "asked")
    for name in ("", "..", "a/b"):
        with pytest.raises(ConfigurationError, match="wanted the name of a split"):
            check_target(tmp_path / "data", name)
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "corpus.jsonl").write_text("")
    with pytest.raises(ConfigurationError, match="was not written by `crag collect`; choose another folder"):
        check_target(tmp_path / "own", "asked")
    with pytest.raises(ConfigurationError, match=r"questions.txt' is no folder that takes it; choose another one"):
        check_target(file, "asked")
    before = (place.parent / "corpus.jsonl").read_bytes()
    changed = [Document(id="refunds", content="A refund is paid within 90 days of the return.")]
    store.delete_documents(["refunds"])
    store.write_documents(StaticDocumentEmbedder().run(changed)["documents"])
    with pytest.raises(SourceError, match="the store has another text of 'refunds' than"):
        collected(store, file, tmp_path / "data", "again")
    assert (place.parent / "corpus.jsonl").read_bytes() == before
    assert not (place.parent / "again").exists()


def test_questions_on_another_index_are_not_collected_beside_those_of_the_first(store: Any, tmp_path: Path) -> None:
    """Its word statistics took the place of the first one's: for all of its splits "refund" was in no document."""
    place = collected(store, written(tmp_path, "When is a refund paid?\n"), tmp_path / "data")
    before = {path: path.read_bytes() for path in (tmp_path / "data").rglob("*.*")}
    other = memory_store()
    other.write_documents(StaticDocumentEmbedder().run([Document(id="emma", content="Emma is a novel.")])["documents"])
    with pytest.raises(ConfigurationError, match="is in this index: they were collected from another one"):
        collected(other, written(tmp_path, "Who is Emma?\n"), tmp_path / "data", "other")
    assert {path: path.read_bytes() for path in (tmp_path / "data").rglob("*.*")} == before
    store.delete_documents([lines(place / LISTS)[0]["retrieved"][0]])  # the same index, later
    assert collected(store, written(tmp_path, "Who is Emma?\n"), tmp_path / "data", "later").is_dir()


def test_the_grades_of_a_sheet_outlive_the_split_that_was_collected_again(store: Any, tmp_path: Path) -> None:
    """Who is told to remove the questions that are there has removed no grade by it."""
    file = written(tmp_path, "When is a refund paid?\n")
    place = collected(store, file, tmp_path / "data")
    (place / "sheet.xlsx").write_bytes(b"filled")
    (place / "queries.jsonl").unlink()
    collected(store, file, tmp_path / "data")
    assert (place / "sheet.before.xlsx").read_bytes() == b"filled"
    assert load_workbook(place / "sheet.xlsx").active["B2"].value == "When is a refund paid?"


def test_a_split_that_another_command_wrote_meanwhile_stays(store: Any, tmp_path: Path) -> None:
    """Both of them looked before they searched, which takes minutes."""
    questions, place = read_questions(written(tmp_path, "What does a lamp cost?\n")), tmp_path / "data" / "asked"
    found = collect(questions, store, Retrieval(store, "baseline_rag", 2), lambda *_: None)
    collected(store, written(tmp_path, "When is a refund paid?\n"), tmp_path / "data")
    before = {path: path.read_bytes() for path in place.iterdir()}
    with pytest.raises(ConfigurationError, match="there are questions at"):
        write_data(questions, found, store, place)
    assert {path: path.read_bytes() for path in place.iterdir()} == before


def test_two_splits_that_are_collected_at_the_same_time_share_one_corpus(
    store: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each read it before the other one wrote, and the lists of one named documents that were not in it any more."""
    asked = {"first": "What does a lamp cost?\n", "second": "When do ships leave?\n"}

    def slowly(*arguments: Any) -> None:
        sleep(0.3)
        write_statistics(*arguments)

    monkeypatch.setattr(collecting, "write_statistics", slowly)
    with ThreadPoolExecutor() as threads:
        files = [written(tmp_path, text, f"{name}.txt") for name, text in asked.items()]
        found = [threads.submit(collected, store, file, tmp_path / "data", file.stem) for file in files]
    listed = {name for one in found for row in lines(one.result() / LISTS) for name in row["retrieved"]}
    assert len(listed) > 2
    assert {row["id"] for row in lines(tmp_path / "data" / "corpus.jsonl")} == listed


def test_a_question_that_no_pipeline_takes_is_named_by_its_line(store: Any, tmp_path: Path) -> None:
    """As the pipeline says it."""
    with pytest.raises(SourceError, match=r"questions.txt:2: the question has 7,999 characters"):
        collected(store, written(tmp_path, "When?\n" + "why " * 2000 + "\n"), tmp_path / "data")


def test_a_list_that_a_failed_search_left_short_is_no_list(store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other retriever found something, and a calibration would learn from half of a retrieval."""
    retrieval = Retrieval(store, "corrective_retrieval", 2)

    def hang(*_: Any, **__: Any) -> Graded:
        raise ConnectionError

    monkeypatch.setattr(type(store), "embedding_retrieval", hang)
    with pytest.raises(StoreError, match=r"the store was not searched in whole \(retrieval_failed:dense\)"):
        retrieval.of("When is a refund paid?")
