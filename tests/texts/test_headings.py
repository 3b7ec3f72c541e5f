"""Headings: what a passage of a Markdown text stands under."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haystack_integrations.crag.texts.headings import Headings


def over(*passages: str) -> list[list[str]]:
    """Read the passages of one text."""
    headings = Headings()
    return [headings.over(passage) for passage in passages]


def test_a_deeper_heading_stands_under_one_of_a_higher_level() -> None:
    """And ends with the next one of its own level or above."""
    assert over("# A\n## B\n### C\ntext", "text\n## D", "text", "# E", "text") == [
        [],
        ["A", "B", "C"],
        ["A", "D"],
        [],
        ["E"],
    ]


def test_words_of_code_on_a_line_of_their_own_begin_no_code() -> None:
    """No line ended it, and all headings below were comments."""
    assert over("# A\n```npm install```\n## B", "text") == [[], ["A", "B"]]


@pytest.mark.parametrize("fence", ["```", "~~~~", "```python"])
def test_in_code_a_comment_is_no_heading(fence: str) -> None:
    """Also where the code goes on in the next passage, and a shorter fence or one with a word does not end it."""
    end = fence.rstrip("python")
    assert over(f"# A\n{fence}\n# b", f"# c\n{end}x\n{end[:-1]}\n# d\n{end}", "text") == [[], ["A"], ["A"]]


def test_behind_code_headings_are_headings_again() -> None:
    """What a program has drawn in it, with a line below the names of columns, is none."""
    assert over("# A\n```\n\nname\n----\n```  \ntext", "text\n## B", "text") == [[], ["A"], ["A", "B"]]


def test_a_heading_behind_blank_lines_ends_the_one_before_it() -> None:
    """Where a splitter leaves them at the beginning of a passage."""
    assert over("# A\n## B\ntext", "\n\n## C\ntext") == [[], ["A"]]


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("## `fs.open(path[, flags])`", "fs.open(path[, flags])"),
        ("## Install [¶](#install)", "Install"),
        ("## See [the guide](http://x.org/a_b) first ## ", "See the guide first"),
        ("## Refunds {#refunds}", "Refunds"),
        ('## <a name="x"></a>Refunds', "Refunds"),
        ("   ###\tIndented", "Indented"),
        ("## C#", "C#"),
        ("## snake_case", "snake_case"),
        ("## **Refunds** \\& *costs*", "Refunds & costs"),
        ('<h2 align="center">Refunds</h2>', "Refunds"),
        ('<H2><a href="#r"><code>refund</code></a> <img src="a.png"></H2> ', "refund"),
        ("## `git checkout <branch>` and `Vec<T>`", "git checkout <branch> and Vec<T>"),
    ],
)
def test_a_heading_is_told_without_its_marks(line: str, shown: str) -> None:
    """As a reader sees it."""
    assert over(line, "text")[1] == [shown]


@pytest.mark.parametrize(
    "line",
    [
        "#hashtag",
        "####### seven",
        "#",
        "    # code",
        "a # b",
        "\\# marked as text",
        "<h2><img></h2>",
        "<h2>a</h3>",
        "a <h2>b</h2>",
        "```\n<h2>a</h2>",
    ],
)
def test_other_lines_are_no_headings(line: str) -> None:
    """Without a blank, too deep, empty, indented as code, or inside a line."""
    assert over(line, "text")[1] == []


def test_a_line_with_another_one_below_it_is_a_heading() -> None:
    """In Markdown two levels, in other texts more; there a line may stand above it, too, and `#` begins a comment."""
    assert over("Travel\n===\n\nBy train\n--------\ntext", "text\n\n# Leave", "text") == [
        [],
        ["Travel", "By train"],
        ["Leave"],
    ]
    text = Headings(is_markdown=False)
    passages = ["======\nTravel\n======\n\nBy train\n--------\n\nTickets\n~~~~~~~\n# text", "By car\n------\n", "text"]
    assert [text.over(passage) for passage in passages] == [[], ["Travel"], ["Travel", "By car"]]


@pytest.mark.parametrize(
    "line",
    [
        "two lines\nof text\n---",
        "- an item\n---",
        "| a |\n---",
        "a | b\n--- | ---",
        "> said\n---",
        "text\n\n---",
        "---\n---",
        "1. train\n---",
        "20) train\n---",
        "by train\n+++",
        "<br>\n---",
    ],
)
def test_a_line_of_dashes_is_no_mark_of_a_heading_elsewhere(line: str) -> None:
    """It ends a paragraph, a table or a part."""
    assert over(f"# A\n## B\n\ntext\n\n{line}\n", "text")[1] == ["A", "B"]


def test_in_markdown_a_sign_is_of_one_level_wherever_it_stands() -> None:
    """That of the deeper one may come first."""
    assert over("By train\n---\ntext\n\n## By car\n", "text\n\nLeave\n===\n## Notice\n", "text") == [
        [],
        ["By car"],
        ["Leave", "Notice"],
    ]


def test_each_text_says_itself_which_sign_is_of_which_level() -> None:
    """As reStructuredText has it: the first one is the highest, and one above and below is another than one below."""
    text = Headings(is_markdown=False)
    passages = [
        "#####\n Top\n#####\n\nPart\n****\n\n1. Dig\n------\n\nDeep\n++++\n",
        "text\n\nNext\n====\n\nOver\n####\n",
        "text\n\nOther\n*****\n",
        "text",
    ]
    assert [text.over(passage) for passage in passages] == [
        [],
        ["Top", "Part", "1. Dig", "Deep"],
        ["Top", "Part", "1. Dig", "Deep", "Next", "Over"],
        ["Top", "Other"],
    ]


@pytest.mark.parametrize(
    ("line", "title"), [('"Compiled" files', '"Compiled" files'), ("*Canvas*: Flows", "Canvas: Flows")]
)
def test_a_title_may_begin_with_a_marked_word(line: str, title: str) -> None:
    """The passages below were told to be of the section before; an item or other lines are none all the same."""
    under = "=" * len(line)
    for is_markdown in (True, False):
        text = Headings(is_markdown=is_markdown)
        assert [text.over(each) for each in (f"{line}\n{under}\ntext", "text")] == [[], [title]]
    for none in ("* Canvas", '""""""', "***", '" said'):
        text = Headings(is_markdown=False)
        assert [text.over(each) for each in (f"{none}\n{'=' * len(none)}\ntext", "text")] == [[], []]


def test_in_a_text_that_is_no_markdown_the_line_below_a_heading_is_as_long() -> None:
    """Else it may be the end of a sum."""
    text = Headings(is_markdown=False)
    assert [text.over(passage) for passage in ("Sum of all fares\n---\n12\n", "text")] == [[], []]


def test_in_asciidoc_the_lines_around_a_listing_make_no_heading_of_it() -> None:
    """Of one line, or the last one; these lines are longer than what they hold, and none stands over a title."""
    text = Headings(is_markdown=False)
    listings = "----------------\n$ refund --all\n----------------\n\n--------------\n$ pay\n\nDone.\n--------------\n"
    note = "[NOTE]\n================\nAsk first.\n================\n\n[NOTE]\n------\nAsk us.\n------\n"
    passages = [
        "Refunds\n=======\n\nSYNOPSIS\n--------\n[verse]\nrefund\n\n",
        listings,
        note,
        "Limits\n~~~~~~\n",
        "text",
    ]
    assert [text.over(passage) for passage in passages] == [
        [],
        *[["Refunds", "SYNOPSIS"]] * 3,
        ["Refunds", "SYNOPSIS", "Limits"],
    ]


@pytest.mark.parametrize("first", ["= Refunds\n\n", "Refunds\n=======\n\n[[terms]]\n"])
def test_in_asciidoc_a_title_may_begin_with_its_marks(first: str) -> None:
    """As in Markdown; in other texts such a line is none."""
    text = Headings(is_markdown=False)
    passages = [f"{first}== Terms\n", "[[fees]]\n=== Fees ===\nNone.\n", "text\n\nLaw\n---\n\n", "text"]
    assert [text.over(passage) for passage in passages] == [
        [],
        ["Refunds", "Terms"],
        ["Refunds", "Terms", "Fees"],
        ["Refunds", "Law"],
    ]
    within = Headings(is_markdown=False)
    assert [within.over(passage) for passage in (f"{first}We say\n== so.\n", "text")] == [[], ["Refunds"]]


@pytest.mark.parametrize(
    "line",
    [
        *("§ 10", "§ 10 Kündigung", "§ 10a Kündigung (ordentliche)", "§§ 10–12 (weggefallen)", "Art. 5 - Résiliation"),
        *("Article 5", "ARTICLE IV", "Section 12.", "Section 12.3: Notice", "Clause 7 Fees", "第十条", "第2章 雑則"),
    ],
)
def test_a_section_that_a_law_or_contract_numbers_is_a_heading(line: str) -> None:
    """Alone between blank lines, or above its first clause; which word is of which level the text says by its order."""
    text = Headings(is_markdown=False)
    assert [text.over(passage) for passage in (f"Lease\n=====\n\n{line}\n\ntext", "text")] == [[], ["Lease", line]]
    above_clauses = Headings(is_markdown=False)
    assert [above_clauses.over(passage) for passage in (f"{line}\n(1) Rent is due.", "text")] == [[], [line]]


def test_sections_of_a_law_stand_under_their_chapters_and_no_annex_stands_under_a_section() -> None:
    """It follows on all of them."""
    text = Headings(is_markdown=False)
    passages = ["Chapter 1\n\nArticle 1\n\ntext\n\nArticle 2 Fees\n\n", "text\n\nCHAPTER II\n\n", "text\n\nAnnex A\n\n"]
    assert [text.over(passage) for passage in (*passages, "text")] == [
        [],
        ["Chapter 1", "Article 2 Fees"],
        ["CHAPTER II"],
        ["Annex A"],
    ]


def test_sections_that_a_specification_counts_are_headings() -> None:
    """As RFCs and licences do; its table of contents and the items of its lists are none."""
    text = Headings(is_markdown=False)
    passages = [
        "A Protocol\n\n   1.  Introduction . . . . 2\n\n1.  Introduction\n\n   1.  Pack\n\n   2.  Send\n\n",
        "text\n\n1.1.  Terms\n\n",
        "1. Pack\n\n2. send it\n\n",
        "2. Parcels\n\n2.1.  application/parcel Type\n\n",
        "text\n\nAppendix A.  Examples\n\nA.1.  Small Parcels\n\n",
        "text",
    ]
    assert [text.over(passage) for passage in passages] == [
        [],
        ["1. Introduction"],
        ["1. Introduction", "1.1. Terms"],
        [],
        ["2. Parcels", "2.1. application/parcel Type"],
        ["Appendix A. Examples", "A.1. Small Parcels"],
    ]


@pytest.mark.parametrize(
    "line",
    [
        *("1. Pack the box", "1.  Pack the box", "3. Parcels", "2.5 kg of flour", "2.5 Parcels are due.", "12.50"),
        *("A. Person", "2.1 Parcels:", "1.  " + "Parcels " * 10, "0.5 Parcels", "10.0.0.1", "   2.1.  Parcels"),
    ],
)
def test_items_amounts_and_sentences_are_no_counted_sections(line: str) -> None:
    """A number alone says little: only what follows on a section, or is typeset as one, is one with a single number."""
    text = Headings(is_markdown=False)
    assert [text.over(passage) for passage in (f"text\n\n{line}\n\ntext", "text")] == [[], []]
    paragraph = Headings(is_markdown=False)
    assert [paragraph.over(passage) for passage in ("2.1.  Parcels\nof one kind", "text")] == [[], []]


@pytest.mark.parametrize(
    "lines",
    [
        *("§ 10 applies.", "§ 10 gilt entsprechend", "Section 12 of the lease", "Article 5 and others", "Partly 5"),
        *(
            "see\n§ 10 Notice",
            "Section 12 Notice of the tenant to\nthe landlord",
            "Article 5: Nothing is due.",
            "Part 1,",
        ),
        *("第十条的规定。", "第十条　当事人可以解除合同。", "Sections 12", "Chapter"),
    ],
)
def test_prose_that_begins_with_the_number_of_a_section_is_no_heading(lines: str) -> None:
    """Nor a line of a paragraph."""
    text = Headings(is_markdown=False)
    passages = ["Refunds\n=======\n\ntext", f"{lines}\n\ntext", "text"]
    assert [text.over(passage) for passage in passages] == [[], ["Refunds"], ["Refunds"]]


@pytest.mark.parametrize("lines", ["Sum\n\n== 12\n", "Sum\n= 12\n", "Refunds\n-------\n\n= 12\n"])
def test_in_other_texts_a_line_that_begins_with_asciidocs_mark_is_no_heading(lines: str) -> None:
    """It is a sum."""
    text = Headings(is_markdown=False)
    assert "12" not in [text.over(passage) for passage in (lines, "text")][1]


def test_in_a_wiki_a_line_between_equal_signs_is_a_heading() -> None:
    """More of them are above fewer in some, and below them in others; a line of a table has nothing between them."""
    for marks in (("======", "====", "=="), ("==", "===", "====")):
        text = Headings(is_markdown=False)
        refunds, terms, fees = (f"{sign} {title} {sign}" for sign, title in zip(marks, ("A", "B", "C"), strict=True))
        page = f"==> a.log <==\n{refunds}\ntext\n{terms}\ntext\n{fees}\n"
        passages = [page, "text", terms.replace(" ", ""), "===== =====", "text"]
        assert [text.over(passage) for passage in passages] == [[], ["A", "B", "C"], ["A"], *[["A", "B"]] * 2]


def test_a_line_in_capitals_above_indented_text_is_a_heading_where_no_others_are() -> None:
    """As in a manual page; below a title it is a term, of which only the indented text is."""
    page = Headings(is_markdown=False)
    passages = ["refund(1)\n\nNAME\n       refund - pays\n\nEXIT STATUS\n       0 if paid\n", "text\n\nNOTE\ntext", ""]
    assert [page.over(passage) for passage in passages] == [[], ["EXIT STATUS"], ["EXIT STATUS"]]
    manual = Headings(is_markdown=False)
    passages = ["Refunds\n=======\n\nHOME\n    a folder\n\n", "text"]
    assert [manual.over(passage) for passage in passages] == [[], ["Refunds"]]


def test_a_version_is_above_all_that_changed_in_it_whatever_its_level() -> None:
    """Logs of changes have them at the level of "Fixed", and patches below the release that came before."""
    headings = Headings()
    headings.over("# Changelog\n\n## v1.2.0 \u2014 May 3, 2026\n\nTabs.\n\n## Fixed\n\n- A crash.\n")
    assert headings.over("- Another one.") == ["Changelog", "v1.2.0 \u2014 May 3, 2026", "Fixed"]
    headings.over(
        "## [1.1.0](https://example.org/1) (2026-04-01)\n\n### Added\n\n- A clock.\n\n### [1.0.1] - 2026-03-01\n"
    )
    assert headings.over("- A crash.") == ["Changelog", "[1.0.1] - 2026-03-01"]


def test_numbers_of_sections_are_no_versions() -> None:
    """In a manual 1.2.1 is within 1.2."""
    headings = Headings()
    headings.over("# Manual\n\n## 1.2 Fees\n\n### 1.2.1 Late fees\n\nText.\n")
    assert headings.over("More.") == ["Manual", "1.2 Fees", "1.2.1 Late fees"]
    headings.over("## 1.3 - Refunds\n\n### 1.3.1 - Late refunds\n\nText.\n")
    assert headings.over("More.") == ["Manual", "1.3 - Refunds", "1.3.1 - Late refunds"]


def test_what_is_typed_behind_a_prompt_is_no_heading() -> None:
    """Between two lines it stands where a title would."""
    text = Headings(is_markdown=False)
    passages = ["Refunds\n=======\n\n------------\n$ refund all\n------------\n", "text"]
    assert [text.over(passage) for passage in passages] == [[], ["Refunds"]]


@pytest.mark.parametrize("title", ["title: Refund policy", "Title: 'Refund policy'", 'title: "Refund policy" '])
def test_the_title_of_the_front_matter_is_a_heading(title: str) -> None:
    """Nothing else in it is one, and a part that begins with a line of dashes is no front matter."""
    page = ["---\n", f"draft: no\n# no heading\n{title}\ndate: 2024-01-01\n---\n", "text\n\n## Sale\n", "text"]
    assert over("".join(page[:2]), *page[2:]) == [[], ["Refund policy"], ["Refund policy", "Sale"]]
    assert over("---\nfree text\n\n## Sale\n\n---\n", "text")[1] == ["Sale"]


def test_front_matter_ends_where_it_says_and_its_title_is_of_the_highest_level() -> None:
    """Dots end it, too, and a single field above the line that ends it is no heading."""
    assert over("---\ntitle: Refunds\n...\n# Sale\n", "text") == [[], ["Sale"]]
    assert over("---  \nlayout: page\n---  \n## Sale\n", "text") == [[], ["Sale"]]


def test_front_matter_may_be_toml() -> None:
    """As Hugo and Zola have it."""
    assert over('+++\ntitle = "Refund policy"\nweight = 5\n+++\n\ntext\n', "text") == [[], ["Refund policy"]]
    assert over("+++\nfree text\n", "text")[1] == []


_LINES = [
    "# a\n",
    "## b `c`\n",
    "### \t[a](b)  b ¶\n",
    "a\n===\n",
    "b\n---\n",
    "```\n",
    "~~~\n",
    "a\n",
    "\n",
    "# ",
    "<b>\\ {}",
]


@given(st.lists(st.lists(st.sampled_from(_LINES), max_size=8).map("".join), max_size=8))
def test_whatever_stands_in_a_text_headings_are_single_lines(passages: list[str]) -> None:
    """At most six of them, as there are levels."""
    for above in over(*passages):
        assert len(above) <= 6
        assert all(words == " ".join(words.split()) for words in above)
