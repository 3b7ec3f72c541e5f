"""PassageTitler: the name of a file before its passages."""

from typing import Any

import pytest
from haystack import Document
from haystack.components.preprocessors import (
    HierarchicalDocumentSplitter,
    MarkdownHeaderSplitter,
    RecursiveDocumentSplitter,
)
from haystack.components.retrievers import SentenceWindowRetriever
from haystack.dataclasses import SparseEmbedding
from haystack.document_stores.in_memory import InMemoryDocumentStore

from haystack_integrations.crag.components import PassageTitler, StripRefiner
from haystack_integrations.crag.grading.plan import make_items
from haystack_integrations.crag.pipelines import load
from haystack_integrations.crag.pipelines.kinds import MIME_TYPES


def titled(text: str, **meta: str) -> Document:
    """Give one passage its title."""
    (document,) = PassageTitler().run(
        [Document(content=text, meta=meta, embedding=[1.0], sparse_embedding=SparseEmbedding([0], [1.0]))]
    )["documents"]
    return document


@pytest.mark.parametrize(
    ("source", "title"),
    [
        ("travel-policy.pdf", "travel policy"),
        ("hr/leave/2024_Parental Leave.v2.docx", "hr leave 2024 Parental Leave v2"),
        ("README", "README"),
        ("https://example.org/docs/refunds.html", "https example org docs refunds"),
        ("https://example.org/M%C3%BCnchen%20und%20K%c3%b6ln", "https example org München und Köln"),
        ("https://example.org/docs/v1.29", "https example org docs v1 29"),  # no name of a kind of files
        ("of/50%20more.md", "of 50 20more"),  # in a path, a sign is a sign
        ("HR 0123456789abcdef0123456789abcdef/Sick leave fedcba9876543210fedcba9876543210.md", "HR Sick leave"),
        ("Teams fedcba9876543210fedcba9876543210_all.csv", "Teams all"),  # as Notion exports them
        ("leave-3f2504e0-4f89-41d3-9a0c-0305e82c3301.html", "leave"),
        ("fedcba9876543210fedcba9876543210.md", "fedcba9876543210fedcba9876543210"),  # no other name
        ("rückgabe/größen.md", "rückgabe größen"),
        ("退款/条件.txt", "退款 条件"),
        ("Fu\u0308hrung.md", "F\u00fchrung"),
        ("वापसी_नीति.md", "वापसी नीति"),  # vowel signs are part of their word
        ("นโยบาย-คืนเงิน.md", "นโยบาย คืนเงิน"),
    ],
)
def test_a_passage_is_named_by_the_words_of_its_path(source: str, title: str) -> None:
    """As title and first line, which is a text of its own: it needs another vector."""
    found = titled("The notice is two weeks.", source=source)
    assert (found.meta["title"], found.content) == (title, f"{title}\n\nThe notice is two weeks.")
    assert found.embedding is found.sparse_embedding is None


def test_a_title_of_its_own_counts_before_the_path() -> None:
    """A converter or a caller may have one."""
    found = titled("Two weeks.", title="Leave  of\nabsence", source="x.md")
    assert (found.meta["title"], found.content) == ("Leave of absence", "Leave of absence\n\nTwo weeks.")


def test_a_record_is_found_by_the_id_of_its_ticket() -> None:
    """An export has it in a field of its own, which no search reads."""
    ticket = Document(id="OPS-12", content="Since Monday.", meta={"source": "t.jsonl#OPS-12", "title": "Login fails"})
    [titled] = PassageTitler().run([ticket])["documents"]
    assert titled.content == "OPS-12 Login fails\n\nSince Monday."
    assert (titled.id, titled.meta["title"]) == ("OPS-12", "OPS-12 Login fails")


def test_a_text_that_begins_with_its_title_stays_as_it_is() -> None:
    """A heading says it already, whatever its case."""
    found = titled("# Travel Policy\n\nTwo weeks.", source="travel_policy.md")
    assert (found.content, found.embedding) == ("# Travel Policy\n\nTwo weeks.", [1.0])
    assert found.meta["title"] == "travel policy"


@pytest.mark.parametrize("meta", [{}, {"source": ""}, {"source": "---.md"}])
def test_what_nothing_names_stays_as_it_is(meta: dict[str, str]) -> None:
    """A passage without a source, or of one without a word."""
    found = titled("Two weeks.", **meta)
    assert (found.content, "title" in found.meta) == ("Two weeks.", False)


def test_of_a_long_path_the_end_is_kept_from_a_word_on() -> None:
    """A title of a hundred characters costs each passage thirty tokens already."""
    title = titled("x", source="/".join(["folder"] * 40) + "/refunds.md").meta["title"]
    assert len(title) <= 100
    assert title.startswith("folder ")
    assert title.endswith("folder refunds")


def passages_of(source: str, *texts: str) -> list[Document]:
    """Give the passages of one file their titles."""
    return PassageTitler().run([Document(content=text, meta={"source": source}) for text in texts])["documents"]


def test_passages_carry_the_headings_that_they_stand_under() -> None:
    """A heading that a passage begins with stands in it already, and ends those of its level and below."""
    texts = ["# Leaving\n\nIntro.", "## Notice\n\nGiven in writing.", "Two weeks.", "# Pay\n\nMonthly.", "On Fridays."]
    assert [one.meta["title"] for one in passages_of("hr/rules.md", *texts)] == [
        "hr rules",
        "hr rules - Leaving",
        "hr rules - Leaving - Notice",
        "hr rules",
        "hr rules - Pay",
    ]


@pytest.mark.parametrize("suffix", [suffix for suffix, kind in MIME_TYPES.items() if kind != "text/plain"])
def test_headings_are_found_in_every_kind_of_file_that_becomes_markdown(suffix: str) -> None:
    """Those that `crag index` converts."""
    _, second = passages_of(f"rules{suffix}", "# Pay\n\nMonthly.", "On Fridays.")
    assert second.meta["title"] == "rules - Pay"


@pytest.mark.parametrize(
    ("source", "first", "headings", "last"),
    [
        ("a.md", "# Fees\n\nNone.\n\n", "## Refunds\n\n### Sale\n\n", "Within 14 days."),
        ("a.html", "# Fees\n\nNone.\n\n", "Refunds\n---\n\n", "Within 14 days."),
        ("a.rst", "Fees\n====\n\nNone.\n\n", "=======\nRefunds\n=======\n\n", "Within 14 days."),
        ("a.rst", "Fees\n====\n\nNone.\n\n", "Sale\n----\n\n====\nMore\n====\n\n", "Within 14 days."),
        ("a.rst", "Fees\n====\n\nNone.\n\n", ".. _sale:\n.. _`a sale`:\n\n====\nSale\n====\n\n", "Within 14 days."),
        ("a.adoc", "= Fees\n\nNone.\n\n", "[[sale]]\n== Sale\n\n", "Within 14 days."),
        ("a.md", "# Fees\n\nNone.\n\n", "(sale)=\n## Sale\n\n", "Within 14 days."),
        ("a.md", "# Fees\n\nNone.\n\n", '<a id="sale"></a>\n\n## Sale\n\n', "Within 14 days."),
        ("a.rst", "Fees\n====\n\nNone.\n\n", ".. code-block:: python\n   :linenos:\n\n", "   refund(all=True)"),
        ("a.rst", "Fees\n====\n\nNone.\n\n", "  .. warning::\n\n", "     Ask first."),
        ("a.md", "# Fees\n\nNone.\n\n", ":::warning\n\n", "Ask first.\n\n:::"),
        ("a.md", "# Fees\n\nNone.\n\n:::\n\n", '=== "Python"\n\n', "    refund(all=True)"),
        ("a.md", "# Fees\n\nNone.\n\n{{< /tip >}}\n\n", "{{% warning %}}\n\n", "Ask first."),
        ("a.txt", "Fees\n----\n\nNone.\n\n", "§ 10 Refunds\n\n", "Within 14 days."),
        ("a.txt", "1.  Fees\n\nNone.\n\n", "2. Refunds\n\n2.1. Sale\n\n", "Within 14 days."),
    ],
)
def test_headings_at_the_end_of_a_passage_begin_the_next_one(source: str, first: str, headings: str, last: str) -> None:
    """
    They say nothing of what they end; who asked for refunds found them there, and nothing below.

    With them go lines that mark their place for links, and those that say that a warning, code or a tab follows.
    """
    for texts in ([first + headings, last], [first, headings, last], [first + headings.rstrip(), last]):
        passages = [Document(content=text, meta={"source": source, "split_idx_start": 0}) for text in texts]
        found = PassageTitler().run(passages)["documents"]
        title = found[1].meta["title"]
        assert [one.content for one in found] == [f"a\n\n{first}", f"{title}\n\n{headings}{last}"]
        assert [one.id for one in found] == [passages[0].id, passages[-1].id]
        assert not any("split_idx_start" in one.meta for one in found)


def test_headings_stay_where_nothing_follows_and_where_they_are_a_list_or_code() -> None:
    """And where a comment ends the text."""
    many = "".join(f"## Topic {number}\n\n" for number in range(20))
    for text in (
        "Text.\n\n# Code\n```\n",
        "Text.\n\n# Code\n\n```\n# comment\n",
        f"Text.\n\n{many}",
        "# Fees\n\n<br>\n\n",
    ):
        passages = [Document(content=each, meta={"source": "a.md"}) for each in (text, "More.\n\n# End\n\n")]
        found = PassageTitler().run(passages)["documents"]
        assert [one.content.partition("\n\n")[2] for one in found] == [text, "More.\n\n# End\n\n"]


def test_a_heading_that_says_no_more_than_the_name_is_left_out() -> None:
    """Most files begin with their own title."""
    found = passages_of("docs/travel-policy.md", "# Travel Policy\n\nIntro.", "Two weeks.")
    assert [one.meta["title"] for one in found] == ["docs travel policy", "docs travel policy"]


def test_headings_of_one_file_are_not_those_of_the_next() -> None:
    """Passages of several files come in one list."""
    one, two = ([Document(content=text, meta={"source": name})] for name, text in [("a.md", "# X\n\nx"), ("b.md", "y")])
    assert [each.meta["title"] for each in PassageTitler().run(one + two)["documents"]] == ["a", "b"]


@pytest.mark.parametrize("key", ["title", "source_id"])
def test_a_record_without_a_source_does_not_go_on_with_the_table_of_another(key: str) -> None:
    """Names of columns are of one text: known by its title, or by what a splitter says that it is cut from."""
    texts = ["| lamp | euros |\n|---|---|\n| small | 20 |\n", "| Ann | 4 |\n| Bob | 5 |"]
    for names, begins in ((("Prices", "Absences"), "| Ann"), (("Prices", "Prices"), "| lamp")):
        passages = [Document(content=text, meta={key: name}) for text, name in zip(texts, names, strict=True)]
        text = PassageTitler().run(passages)["documents"][1].content
        assert str(text).partition("\n\n")[2 if key == "title" else 0].startswith(begins)


def test_a_sign_that_begins_a_comment_is_no_heading_in_plain_text() -> None:
    """Nor are passages of plain text made longer for it."""
    found = passages_of("setup.txt", "# install it first\npip install x", "Two weeks.")
    assert [one.meta["title"] for one in found] == ["setup", "setup"]


def test_of_deep_headings_the_innermost_stay() -> None:
    """Title and headings together are at most 200 characters: each passage, prompt and vector has them."""
    deep = "\n\n".join(f"{'#' * level} {'long ' * 12}{level}" for level in range(1, 7))
    title = passages_of("a.md", deep, "Two weeks.")[1].meta["title"]
    assert len(title) <= 200
    assert title.startswith("a - ")
    assert title.endswith("long 6")


def test_of_a_title_longer_than_any_the_beginning_stands_before_the_text() -> None:
    """A record may bring one of a megabyte; headings have no room beside it."""
    own = "word " * 60
    meta = {"title": own, "source": "a.md", "header": "Pay", "parent_headers": []}
    (found,) = PassageTitler().run([Document(content="On Fridays.", meta=meta)])["documents"]
    assert found.content == f"{own[:200]}\n\nOn Fridays."
    assert found.meta["title"] == own.strip()


def test_the_title_is_no_strip_and_a_grader_is_shown_it_once() -> None:
    """It says what a passage is about, and is no sentence of it; offsets count in the passage as it is stored."""
    passage = titled("The notice is two weeks. It is given in writing.", source="travel-policy.md")
    refiner = StripRefiner(granularity="sentence", threshold=None, top_n=5)
    refined = refiner.run(query="How long is the notice?", documents=[passage])["documents"][0]
    spans = [(one["start"], one["end"]) for one in refined.meta["crag"]["strips"]]
    assert next((passage.content or "")[start:end] for start, end in spans) == "The notice is two weeks."
    (item,) = make_items({0: passage}, 2000, 6000)
    assert (item.title, item.text.count("travel policy")) == ("", 1)


def test_a_question_finds_the_passage_whose_file_it_names(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Two files say the same of two things that only their names tell apart."""
    folder = tmp_path_factory.mktemp("docs")
    for name, days in (("travel-policy", 14), ("parental-leave", 60)):
        (folder / f"{name}.md").write_text(f"The notice is {days} days. It is given in writing.", "utf-8")
    done = load("indexing")
    done.run(sources=sorted(folder.iterdir()))
    store = done.pipeline.get_component("writer").document_store
    first = load("corrective_retrieval", store=store).run(query="How long is the notice of parental leave?")[
        "documents"
    ][0]
    assert "60 days" in (first.content or "")


PAGE = """Before all headings.

## Trains

Second class is paid.

## Hotels

Paid up to 120 euros.
"""


def split_and_titled(splitter: Any, page: str = PAGE, name: str = "travel.md") -> list[Document]:
    """Cut a page by one of Haystack's splitters, and give its passages their titles."""
    parts = splitter.run(documents=[Document(content=page, meta={"source": name})])["documents"]
    return PassageTitler().run(parts)["documents"]


def test_a_window_around_a_passage_loses_no_word_behind_a_title() -> None:
    """Haystack joins neighbours by where the splitter found them, and took a long title for an overlap."""
    rows = "".join(f"| night {n} | {n} euros for each guest and night |\n" for n in range(9))
    page = f"## Hotels, guest houses and camping\n\n| what | price |\n|---|---|\n{rows}\n## B\n\nTaxis cost 7.\n"
    splitter = RecursiveDocumentSplitter(split_length=30, split_unit="word", separators=["\n\n", "\n", " "])
    passages = split_and_titled(splitter, page)
    store = InMemoryDocumentStore()
    store.write_documents(passages)
    (window,) = SentenceWindowRetriever(store, window_size=9).run(retrieved_documents=passages[:1])["context_windows"]
    assert [each for each in [*rows.splitlines(), "Taxis cost 7."] if each not in window] == []
    assert "split_idx_start" in split_and_titled(splitter, "# Travel\n\nWithout a title before it.")[0].meta


def test_a_text_that_a_splitter_gives_on_several_levels_begins_anew_on_each() -> None:
    """The beginning of the second level is not below the last heading of the first."""
    splitter = HierarchicalDocumentSplitter(block_sizes={8}, split_overlap=0, split_by="word")
    found = [(each.meta["__level"], each.meta["title"]) for each in split_and_titled(splitter)]
    assert found == [(0, "travel"), (1, "travel"), (1, "travel - Hotels")]


@pytest.mark.parametrize("keep_headers", [True, False])
def test_headings_that_a_splitter_moved_into_the_metadata_are_read_there(keep_headers: bool) -> None:
    """As Haystack's MarkdownHeaderSplitter does; a passage that begins with its heading needs it no second time."""
    page = "# Rules\n\nFor all.\n\n## Trains\n\nSecond class.\n\n### Night trains\n\nWith a bed.\n"
    found = split_and_titled(MarkdownHeaderSplitter(keep_headers=keep_headers), page)
    own = ["travel", "travel - Rules", "travel - Rules - Trains"]
    taken = ["travel - Rules", "travel - Rules - Trains", "travel - Rules - Trains - Night trains"]
    assert [each.meta["title"] for each in found] == (own if keep_headers else taken)
