"""CsvToMarkdown: rows stand below the names of their columns, or as sections."""

import csv
import re
from io import StringIO

import pytest
from haystack.dataclasses import ByteStream
from hypothesis import given
from hypothesis import strategies as st

from haystack_integrations.crag.components import CsvToMarkdown, PassageTitler

PROSE = "word " * 120


def told(text: str | bytes) -> str:
    """Convert a file."""
    data = text if isinstance(text, bytes) else text.encode()
    (document,) = CsvToMarkdown().run([ByteStream(data, meta={"source": "x.csv"})])["documents"]
    assert document.meta["source"] == "x.csv"
    return document.content or ""


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_rows_become_a_table_whatever_parts_their_cells(delimiter: str) -> None:
    """Also beside a mark of the byte order, quotes, and other delimiters within cells."""
    rows = [["Plan", "Price"], ["Basic, or so", "1,5 €"], ["Team; 5", "2,5 €"], ["All | of it", "3,5 €"]]
    csv.writer(text := StringIO(), delimiter=delimiter).writerows(rows)
    assert told("\ufeff" + text.getvalue()).split("\n") == [
        "| Plan | Price |",
        "| --- | --- |",
        "| Basic, or so | 1,5 € |",
        "| Team; 5 | 2,5 € |",
        r"| All \| of it | 3,5 € |",
    ]


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_a_comma_in_each_number_parts_no_cells_where_something_else_does(delimiter: str) -> None:
    """Both part all rows alike; where decimals have commas, tables have semicolons."""
    rows = ["Weight, kg{}Price, EUR", "1,5{}2,5", "3,5{}4,5"]
    text = told("\n".join(row.format(delimiter) for row in rows))
    assert text.split("\n") == ["| Weight, kg | Price, EUR |", "| --- | --- |", "| 1,5 | 2,5 |", "| 3,5 | 4,5 |"]


def test_what_a_file_tells_excel_of_its_delimiter_is_heeded_and_no_row() -> None:
    """It stood above the table as if it were its title."""
    assert told("sep=;\r\nPlan, size;Price\r\nBasic;1\r\n") == "| Plan, size | Price |\n| --- | --- |\n| Basic | 1 |"
    assert told("sep=|\nPlan;size|Price|Tax\nBasic;S|1|2\n").startswith("| Plan;size | Price | Tax |")


def test_the_delimiter_is_the_one_that_parts_most_rows_alike() -> None:
    """A title above them, and a sign within some cells, part a few."""
    text = told("Prices, of 2026\nPlan,Fee,Note\nA,1,x;y\nB,2,u;v\nC,3,z\n")
    assert text.endswith("| Plan | Fee | Note |\n| A | 1 | x;y |\n| B | 2 | u;v |\n| C | 3 | z |")


def test_rows_may_end_as_on_an_old_mac() -> None:
    """Excel still offers that form."""
    assert told("Plan,Price\rBasic,1\r") == "| Plan | Price |\n| --- | --- |\n| Basic | 1 |"


def test_a_quote_behind_a_space_holds_a_cell_together() -> None:
    """As people write it: the cell was cut at its comma, and what followed stood below other names."""
    text = 'Name, Address, Age\nAnn, "Main Street 5, Bonn", 33\nBob, "Lane 7, Ulm", 44\n'
    assert told(text).split("\n")[2:] == ["| Ann | Main Street 5, Bonn | 33 |", "| Bob | Lane 7, Ulm | 44 |"]


def test_a_cell_of_several_lines_stays_in_its_row() -> None:
    """A row of a table is a line."""
    assert told('Q,A\n"How?","By post.\r\n\r\nOr by mail."\n').endswith("\n| How? | By post. Or by mail. |")


def test_empty_rows_and_columns_are_left_out_and_lines_above_a_table_stay_above_it() -> None:
    """As of an exported sheet; one that begins with # is no heading."""
    text = told(
        "# Prices of 2025;;\n;;\n;Plan;Price\n;Basic;9\n;;\n;Team;29\n;;\nOld prices;;\n;Plan;Price\n;Basic;8\n"
    )
    head = "| Plan | Price |\n| --- | --- |\n"
    new, old = f"{head}| Basic | 9 |\n| Team | 29 |", f"{head}| Basic | 8 |"
    assert text == f"\\# Prices of 2025\n\n{new}\n\nOld prices\n\n{old}"


def test_a_name_alone_over_the_only_figures_is_that_of_their_column() -> None:
    """Beside the names of rows nothing need stand: the first row had the names of the columns, and its price none."""
    rows = "Basic,9 EUR\nTeam,29 EUR\n"
    table = "|  | Price |\n| --- | --- |\n| Basic | 9 EUR |\n| Team | 29 EUR |"
    assert told(f",Price\n{rows}") == table
    assert told(f"Plans,\n,Price\n{rows}") == f"Plans\n\n{table}"
    for names in ("Plan,Price\n", "Plan,2026\n", "Plan,Price 2026\n"):
        assert told(f",Our prices\n{names}{rows}") == f"Our prices\n\n{told(names + rows)}"
    assert told(f"Item,Cost\nPen,5\n\n,2026\n{rows}").endswith(f"2026\n\n{told(f'Item,Cost{chr(10)}{rows}')}")


@pytest.mark.parametrize(
    ("above", "below"),
    [
        ("Region,Sales\nNorth,10\n", "Town,Staff\nBonn,5\nUlm,6\n"),
        ("Item,Cost,Note\nLaptop,900,new\n", "Town,Staff\nBonn,5\n"),
        ("Role,Person\nHead,Ann\n", "Role,Person\nDeputy,Bob\n"),
        ("Role,Person\nHead,Ann\n", "Role,Town\nHead,Bonn\n"),
    ],
)
def test_a_first_row_of_names_begins_a_table(above: str, below: str) -> None:
    """Known by the figures below it, or by a name that the table before has, too."""
    assert told(f"{above}\n{below}") == f"{told(above)}\n\n{told(below)}"


def test_a_table_below_an_empty_row_has_its_own_names() -> None:
    """Its rows stood below the names of the table before."""
    text = "Region,Sales\nNorth,10\nSouth,20\n\nPerson,Age,Town\nAnn,33,Bonn\nBob,44,Ulm\n"
    assert told(text) == (
        "| Region | Sales |\n| --- | --- |\n| North | 10 |\n| South | 20 |\n\n"
        "| Person | Age | Town |\n| --- | --- | --- |\n| Ann | 33 | Bonn |\n| Bob | 44 | Ulm |"
    )


def test_a_table_of_words_below_an_empty_row_is_known_by_a_column_more() -> None:
    """No figures tell its names; a remark beside a single row makes no table."""
    above, room = "Role,Person\nHead,Ann\n", "Room,Floor,Use\nA,first,meeting\n"
    assert told(f"{above}\n{room}") == f"{told(above)}\n\n{told(room)}"
    assert told(f"{above}\nDeputy,Bob,ill\nClerk,Cleo\n").startswith("| Role | Person |  |\n")


@pytest.mark.parametrize("group", ["", "Assets\n"])
def test_names_between_empty_rows_are_those_of_the_rows_below(group: str) -> None:
    """So accounting programs export: they stood as the last row of the title, and the accounts below no names."""
    above, head = "Nordwind,Page 1\nBalance,2026\n", "Account,Name,Debit\n"
    text = told(f"{above}\n{head}\n{group}1000,Cash,500\n1200,Bank,900\n")
    assert text.startswith(f"{told(above)}\n\n")
    assert text.endswith(told(f"{head}1000,Cash,500\n1200,Bank,900\n"))


@pytest.mark.parametrize(
    "rows",
    ["Total,900\n", "Course,free\nBook,50\n", "Course,500\nBook,free\nPen,5\n", "Course,free\nBook,50\nPen,gift\n"],
)
def test_rows_below_an_empty_row_may_go_on_with_the_table_before(rows: str) -> None:
    """An empty row often parts groups, or a sum from what it is of."""
    written = "".join(f"\n| {row.replace(',', ' | ')} |" for row in rows.split())
    assert told(f"Item,Cost\nLaptop,900\n\n{rows}") == f"| Item | Cost |\n| --- | --- |\n| Laptop | 900 |{written}"


def test_rows_below_the_name_of_a_group_have_the_names_of_the_table_before() -> None:
    """The first row of each group was taken for names: nothing said what 500 is."""
    first, second = (
        "| Item | Cost |\n| --- | --- |\n| Laptop | 900 |",
        "| Item | Cost |\n| --- | --- |\n| Course | 500 |",
    )
    assert told("Item,Cost\nLaptop,900\n\nHR,\nCourse,500\n") == f"{first}\n\nHR\n\n{second}"


@pytest.mark.parametrize(
    ("above", "below"),
    [
        ("Street,Main 5\nTown,Bonn\n", "Office,123\nDoor,7\n"),
        ("Street,Main\nTown,Bonn\n", "Office,123\nDoor,7\n"),
        ("Region,Sales\nNorth,10\n", "Quarter,2025\nQ1,5\n"),
    ],
)
def test_what_stands_below_a_caption_has_no_names_of_a_table_that_is_unlike_it(above: str, below: str) -> None:
    """A phone was told as a street."""
    assert told(f"{above}\nMore,\n{below}") == f"{told(above)}\n\nMore\n\n{told(below)}"


@pytest.mark.parametrize(
    ("head", "names"),
    [
        ("Plan,Price,,Users,\n,net,gross,min,max\n", "Plan | Price net | Price gross | Users min | Users max"),
        (",Price,,Users,\nPlan,net,gross,min,max\n", "Plan | Price net | Price gross | Users min | Users max"),
        ("Plan,Price,,No,\nPlan,for 5,for 9,a,b\n", "Plan | Price for 5 | Price for 9 | No a | No b"),
        ("Plan,Price,Price,No,\n,2025,2026,a,b\n", "Plan | Price 2025 | Price 2026 | No a | No b"),
    ],
)
def test_names_in_two_rows_are_one_name_for_each_column(head: str, names: str) -> None:
    """Only the first row stood above other passages: nothing said which price was the net one."""
    assert (told(f"{head}Basic,9,10,1,5\nTeam,29,34,6,50\n").split("\n"))[0] == f"| {names} |"


def test_groups_below_names_in_two_rows_have_them_too() -> None:
    """As one name for each column; an empty column between them is none."""
    text = "Plan,,Price,\n,,net,gross\nBasic,,9,10\nTeam,,29,34\n\nOld,,,\nHome,,5,6\n"
    assert told(text).count("| Plan | Price net | Price gross |\n| --- | --- | --- |\n") == 2
    assert told(text).endswith("\n| Home | 5 | 6 |")


@pytest.mark.parametrize(
    "text",
    [
        "Plan,Price,Price\nBasic,9,10\nTeam,29,34\n",
        ",Mon,Mon\nAnn,early,late\nBob,off,late\n",
        "Plan,Price,\n,9,10\nTeam,29,34\n",
        "Plan,Price,\nBasic,low,*\nTeam,high,\n",
        "Plan,Price,\nBasic,low,high\nTeam,29,34\n",
        ",Price,,No\n,9,10,5\nTeam,29,34,6\n",
        ",Price,Stock\nBasic,free,none\nTeam,9,4\n",
        ",Mon,,Tue,\nAnn,off,off,early,late\nBob,1,2,3,4\n",
        ",Mon,,Tue,\nAnn,off,,early,late\nBob,1,2,3,4\n",
    ],
)
def test_a_row_below_names_that_look_merged_stays_a_row(text: str) -> None:
    """What it says is no name of a column."""
    rows = [f"| {row.replace(',', ' | ')} |" for row in text.split()]
    assert told(text) == "\n".join([rows[0], f"|{' --- |' * (rows[0].count('|') - 1)}", *rows[1:]])


def test_rows_with_paragraphs_become_sections_below_what_tells_them_apart() -> None:
    """A number tells questions apart as well, and no one asks for it; the names of columns stay with their cells."""
    rows = [("No", "Topic", "Question", "Answer"), ("1", "Pay", "By card?", PROSE), ("2", "Pay", "By cash?", "No.")]
    rows += [("3", "Pay", "By cheque?", ""), ("4", "Pay", "42?", "No.")]
    csv.writer(text := StringIO()).writerows(rows)
    assert told(text.getvalue()).split("\n\n") == [
        *("### By card?", "No: 1", "Topic: Pay", f"Answer: {PROSE.strip()}"),
        *("### By cash?", "No: 2", "Topic: Pay", "Answer: No."),
        *("### By cheque?", "No: 3", "Topic: Pay"),
        *("No: 4", "Topic: Pay", "Question: 42?", "Answer: No."),
    ]
    assert told(f"Answer,Topic\n{PROSE},Card\nNo.,Cash\n").startswith("### Card\n")  # a paragraph names no row


def test_a_file_without_names_of_columns_loses_no_row() -> None:
    """No column has a paragraph for a name, so that the first row is like the others."""
    assert told(f"By card?,{PROSE}\nBy cash?,No.\n").split("\n\n") == [
        *("### By card?", PROSE.strip()),
        *("### By cash?", "No."),
    ]
    # A short answer in the first row was the name of all others: "Yes.: word word ...".
    assert told(f"By card?,Yes.\nBy cheque?,{PROSE}\nBy cash?,No.\n").split("\n\n") == [
        *("### By card?", "Yes."),
        *("### By cheque?", PROSE.strip()),
        *("### By cash?", "No."),
    ]
    assert told("Is it good?,Is it cheap?\nyes,no\nno,no\n").startswith("| Is it good? | Is it cheap? |")


@pytest.mark.parametrize(
    "kind", ["2026-03-0{}", "0{}.03.2026", "{}/3/26", "no{}@example.org", "https://example.org/{}"]
)
def test_a_first_row_like_all_others_has_no_names(kind: str) -> None:
    """It stood above each passage as their names, so that all of them were about Ann."""
    dates = [kind.format(day) for day in (1, 2, 3)]
    text = "".join(f"{name};{one}\n" for name, one in zip(("Ann", "Bob", "Cleo"), dates, strict=True))
    assert told(text) == "\n\n".join(
        f"### {name}\n\n{one}" for name, one in zip(("Ann", "Bob", "Cleo"), dates, strict=True)
    )
    assert told(f"Name;When\n{text}").startswith("| Name | When |")


def test_a_passage_from_the_middle_of_an_answer_has_its_question_as_title() -> None:
    """So that a search for the question finds it."""
    (document,) = CsvToMarkdown().run([ByteStream(f"Question,Answer\nBy card?,{PROSE}\n".encode())])["documents"]
    document.meta["source"] = "help/faq.csv"
    texts = (document.content or "").partition("word word ")
    passages = [type(document)(content=text, meta=document.meta) for text in (texts[0], texts[2])]
    assert [one.meta["title"] for one in PassageTitler().run(passages)["documents"]] == [
        "help faq",
        "help faq - By card?",
    ]


def test_a_table_with_more_names_of_columns_than_a_passage_could_repeat_becomes_sections() -> None:
    """A row that goes on in the next passage would be without them."""
    names = [f"Column number {n} of many" for n in range(30)]
    text = told(",".join(names) + "\n" + ",".join(f"v{n}" for n in range(30)) + "\n")
    assert text.startswith("### v0\n\nColumn number 1 of many: v1\n\n")
    assert told(",".join(names) + "\n").startswith("| Column number 0 of many | ")


def test_text_that_is_no_table_stays_text() -> None:
    """One column, one row, an unclosed quote with more behind it than a cell may have, nothing at all."""
    assert told("One\nTwo\n") == "One\n\nTwo"
    assert told("One, two\n") == "| One | two |\n| --- | --- |"
    assert told("") == ""
    endless = 'A,B\n"' + "x " * 100_000
    assert told(endless) == endless


def test_a_file_in_another_encoding_is_not_read(caplog: pytest.LogCaptureFixture) -> None:
    """As with Haystack's converters: it is logged, by its name and the kind of failure, and no word of it."""
    stream = ByteStream("Größe,Preis\n1,2\n".encode("cp1252"), meta={"file_path": "sizes.csv"})
    assert CsvToMarkdown().run([stream])["documents"] == []
    assert "Could not read sizes.csv, skipping it: UnicodeDecodeError" in caplog.text
    assert "Preis" not in caplog.text


WORDS = st.text(alphabet=st.sampled_from("ab 1,;|\t\"'\n#`-"), max_size=12)


@given(st.lists(st.lists(WORDS, min_size=2, max_size=4), min_size=2, max_size=6))
def test_no_word_of_a_cell_is_lost(rows: list[list[str]]) -> None:
    """Whatever stands in them, in their order."""
    csv.writer(text := StringIO()).writerows(rows)
    found = told(text.getvalue())
    words, wanted = (re.findall("[ab1]+", one) for one in (found, text.getvalue()))
    assert words == wanted or "###" in found or set(words) == set(wanted)  # a name over two others is told twice


@pytest.mark.parametrize(
    ("line", "row"),
    [
        (r'"The \"big\" lamp, red",3', '| The "big" lamp, red | 3 |'),
        (r'3,"ends \""', '| 3 | ends " |'),
        (r'"C:\dir\","a ""b"""', r'| C:\dir\ | a "b" |'),  # doubled, as most programs write them
        (r'"C:\",5" disk', r'| C:\ | 5" disk |'),
    ],
)
def test_a_quote_behind_a_backslash_ends_no_cell_where_all_quotes_of_the_file_are_written_so(
    line: str, row: str
) -> None:
    """As MySQL and many scripts export them."""
    assert told(f"name,size\n{line}\nShade,4\n").splitlines()[2:] == [row, "| Shade | 4 |"]
