"""HtmlToMarkdown: headings are marked, words and code stay as they are."""

import logging
import re
from pathlib import Path
from time import process_time

import pytest
from haystack.dataclasses import ByteStream

from haystack_integrations.crag.components import HtmlToMarkdown
from haystack_integrations.crag.formats.html_content import with_content_marked
from haystack_integrations.crag.texts.headings import Headings

PAGE = """<html><body><main><h1>Guide to <code>find_all</code></h1>
<p>It takes a_b and 2*3, x &lt; y, [a], \\* and C:\\new.</p><h2>Install</h2>{code}
<p># 1 in the world</p><table><tr><th>Size_x</th><th>Price</th></tr><tr><td>S</td><td>3</td></tr></table>
</main></body></html>"""
CODE = "find . \\( -name \\*.py \\)\n# no heading\nls foo_bar"


def converted(page: str | Path) -> str:
    """Give the text of one page."""
    source = page if isinstance(page, Path) else ByteStream(page.encode(), mime_type="text/html")
    (document,) = HtmlToMarkdown().run([source])["documents"]
    return document.content or ""


def test_headings_and_paragraphs_are_told_as_markdown() -> None:
    """A line of text that begins with # is none of them."""
    text = converted(PAGE.format(code=""))
    assert text.startswith("# Guide to `find_all`\n\nIt takes")
    assert "\n\n## Install\n\n" in text
    assert "\n\n\\# 1 in the world\n\n" in text
    assert "| Size_x | Price |" in text


def test_a_line_within_a_paragraph_is_no_heading_and_begins_no_code() -> None:
    """Commands with a comment, one a line: all that follows them would stand below the comment, or be code."""
    lines = "<p>apt update<br>\n  # install<br>## all<br>```<br>apt install crag</p>"
    page = f"<html><body><p>{TEXT}</p>{lines}</body></html>"
    told = [line for line in converted(page).splitlines() if line]
    assert told[1:] == ["apt update", r"\# install", r"\## all", r"\```", "apt install crag"]


def test_words_are_written_as_on_the_page() -> None:
    """Markdown's backslashes would part them for a search."""
    assert r"It takes a_b and 2*3, x < y, [a], \* and C:\new." in converted(PAGE.format(code=""))


@pytest.mark.parametrize("part", ["<p>{}</p>", "<div><p>{}</p></div>", "\ufeff<!-- 1 --><article>{}</article>", "{}"])
def test_a_part_of_a_page_is_read(part: str) -> None:
    """Editors and mails save such; what had nothing beside it was refused as damaged."""
    assert converted(part.format("Caf\u00e9 from nine to five.")).lstrip("\ufeff") == "Caf\u00e9 from nine to five."


ACCORDIONS = {  # two questions, the second one closed
    "Bootstrap 3": (
        '<div class="panel-group" role="tablist">{}</div>',
        (
            '<div class="panel"><div role="tab"><h4><a role="button" href="#c{n}" aria-controls="c{n}">{label}</a>'
            '</h4></div><div id="c{n}" class="panel-collapse collapse" role="tabpanel"><div>{text}</div></div></div>'
        ),
    ),
    "jQuery UI": (
        '<div class="ui-accordion ui-widget" role="tablist">{}</div>',
        (
            '<h3 role="tab" aria-controls="c{n}" aria-expanded="false">{label}</h3><div id="c{n}" role="tabpanel" '
            'class="ui-widget-content" aria-hidden="true" style="display: none;"><p>{text}</p></div>'
        ),
    ),
    "Foundation": (
        '<ul class="accordion" role="tablist">{}</ul>',
        (
            '<li><a href="#" class="accordion-title" role="tab" aria-controls="c{n}">{label}</a>'
            '<div role="tabpanel" id="c{n}" aria-hidden="true"><p>{text}</p></div></li>'
        ),
    ),
    "Elementor": (
        '<div class="elementor-accordion">{}</div>',
        (
            '<div class="elementor-tab-title" role="button" aria-controls="c{n}"><a tabindex="0">{label}</a></div>'
            '<div id="c{n}" role="region" hidden="hidden"><p>{text}</p></div>'
        ),
    ),
    "ARIA": (
        "{}",
        (
            '<button aria-expanded="false" aria-controls="c{n}">{label}</button>'
            '<div id="c{n}" style="display:none"><p>{text}</p></div>'
        ),
    ),
}


@pytest.mark.parametrize("name", ACCORDIONS)
def test_what_a_reader_opens_stands_below_its_label(name: str) -> None:
    """All questions and answers of such a page were left out, or those that were closed when it was saved."""
    around, item = ACCORDIONS[name]
    items = (("How do I pay?", "By card, at the gate."), ("Who may enter?", "All who have a key."))
    part = around.format("".join(item.format(n=n, label=label, text=text) for n, (label, text) in enumerate(items)))
    told = converted(f"<html><body><h1>Keys</h1><p>{TEXT}</p>{part}<p>{TEXT}</p></body></html>")
    said = [told.find(words) for pair in items for words in pair]
    assert said == sorted(said)
    assert min(said) > 0


@pytest.mark.parametrize(
    "item",
    [
        '<button class="accordion">{}</button><div class="panel" style="display:{}"><p>{}</p></div>',
        '<h3>{}</h3><div class="answer" style="display: {};"><p>{}</p></div>',
        '<div><div class="q"><b>{}</b></div><div class="a" style="color: red; display: {}"><p>{}</p></div></div>',
    ],
)
def test_answers_that_stand_closed_behind_their_questions_are_read(item: str) -> None:
    """Also where nothing else says that something opens them, and one was open when the page was saved."""
    items = (("How do I pay?", "block", "By card, at the gate."), ("Who may enter?", "none", "All who have a key."))
    told = converted(
        f"<html><body><h1>Keys</h1><p>{TEXT}</p>{''.join(item.format(*one) for one in items)}</body></html>"
    )
    said = [told.find(words) for question, _, answer in items for words in (question, answer)]
    assert said == sorted(said)
    assert min(said) > 0


@pytest.mark.parametrize("before", ["<h3>Was this page helpful?</h3>", "<p>Read on.</p>"])
def test_what_stands_hidden_behind_no_list_of_questions_stays_hidden(before: str) -> None:
    """Such as what is said to who answers, or the first entry of a form that a script copies."""
    hidden = '<div style="display: none"><p>Thank you for telling us.</p></div>'
    told = converted(f"<html><body><h1>Keys</h1><p>{TEXT}</p>{before}{hidden}<p>{TEXT}</p>{hidden}</body></html>")
    assert "Thank you" not in told


def test_what_opens_in_front_of_a_page_is_no_part_of_it() -> None:
    """As a notice of cookies, or a search."""
    box = '<button aria-controls="c">Ask</button><div id="c" role="dialog" aria-hidden="true"><p>Accept all.</p></div>'
    assert "Accept" not in converted(f"<html><body><p>{TEXT}</p>{box}</body></html>")


@pytest.mark.parametrize(
    "around",
    [
        '<div class="has-sidebar right-sidebar"><div class="content">{}</div></div>',
        '<div id="page" class="nav-open">{}</div>',
        '<section class="elementor-section"><div class="elementor-widget-wrap">{}</div></section>',
        '<div class="page-with-banner"><div class="menu-closed">{}</div><div class="banner">Spring sale</div></div>',
    ],
)
def test_what_holds_nearly_all_words_of_a_page_is_no_furniture_whatever_it_is_called(around: str) -> None:
    """Such a page was its title alone, and those of Elementor, which calls each part a widget, all were."""
    parts = "".join(f'<div class="elementor-widget"><p>Gate {n} opens at {n}.</p></div>' for n in range(9))
    menu = '<div class="menu"><ul><li><a href="x">Our spring offers of all kinds of keys</a></ul></div>'
    foot = '<div class="footer"><p>All rights reserved.</p></div>'
    page = f"<html><head><title>Keys</title></head><body>{menu}{around.format(parts)}{foot}</body></html>"
    told = converted(page)
    assert told.count("Gate") == 9
    assert not [words for words in ("offers", "rights", "sale") if words in told]


@pytest.mark.parametrize("part", ['<div class="footer"><p>{}</p></div>', '<div class="menu"><a href=x>{}</a></div>'])
def test_the_foot_or_menu_of_a_page_of_a_few_words_stays_one(part: str) -> None:
    """It may be the longest part of it."""
    foot = part.format("All rights reserved, in all countries. " * 6)
    page = f"<html><head><title>Keys</title></head><body><p>The gate is closed. Ask the guard.</p>{foot}</body></html>"
    assert "rights" not in converted(page)


@pytest.mark.parametrize(
    "part", ['<p><a id="x">{}</a></p>', '<div><a name="x">{}</a></div>', "<ul><li><a id=x>{}</a></ul>"]
)
def test_a_text_that_others_lead_to_is_no_link(part: str) -> None:
    """Editors write the place around the whole text, which was lost like a menu; what a script follows is one."""
    words = "Keys are at the gate."
    page = "<html><body><h1>Keys</h1><p>All may enter.</p>{}<p>Ask there.</p></body></html>"
    assert words in converted(page.format(part.format(words)))
    assert words not in converted(page.format(f"<ul><li><a onclick=go()>{words}</a></ul>"))


@pytest.mark.parametrize(
    ("charset", "name", "text"),
    [
        ("iso-8859-2", "iso-8859-2", "Biuro jest otwarte, proszę pytać o opłaty; zażółć gęślą jaźń."),
        ("ISO-8859-1", "cp1252", "Kontoret på gården är öppet – för 9 €."),
        ("euc-kr", "cp949", "영업시간은 아홉시부터입니다. 똠방각하"),
        ("no-such-thing", "cp1252", "Kontoret på gården är öppet – för 9 €."),
        ("", "cp1252", "Kontoret på gården är öppet – för 9 €."),
    ],
)
def test_a_page_is_read_in_the_letters_that_it_names_or_in_those_of_western_europe(charset, name, text) -> None:
    """As a browser reads it; it was guessed, and å was taken for ĺ, each ł for a letter of Latvian."""
    head = f'<meta http-equiv="Content-Type" content="text/html; charset={charset}">' if charset else ""
    page = f"<html><head>{head}</head><body><p>{text * 20}</p></body></html>"
    (document,) = HtmlToMarkdown().run([ByteStream(page.encode(name))])["documents"]
    assert document.content == text * 20


@pytest.mark.parametrize("tag", ["<pre>{}</pre>", "<pre><code>{}</code></pre>", '<PRE class="x">{}</PRE>'])
def test_code_stays_as_it_is(tag: str) -> None:
    """Its brackets are no formula, its comments no headings."""
    assert f"```\n{CODE}\n```" in converted(PAGE.format(code=tag.format(CODE)))


TEXT = " ".join(
    f"Hall number {n} is open to all who ask for a key at the gate, unless it is a holiday." for n in range(40)
)
PARTS = f"<h2>Keys</h2><p>{TEXT}</p><h2>Gates</h2><p>{TEXT.replace('Hall', 'Gate')}</p>"


@pytest.mark.parametrize(
    "page",
    [
        f"<html><body>{PARTS}</body></html>",
        f"<!DOCTYPE html><title>Hall</title>{PARTS}",
        f"<html><body><div>{PARTS}</div></div></div><p>{TEXT}</p></body></html>",
        f'<html><body><div class="chapter">{PARTS}</div></body></html>'.replace("<h2>Gates", "</div><div><h2>Gates"),
        f"<html><body>{PARTS}</body></html>".replace("<h2>Gates", "<h2><a name='g'></a>Gates<a href='#g'>¶</a>"),
    ],
)
def test_headings_are_kept_where_no_part_of_the_page_is_marked_as_its_article(page: str) -> None:
    """DocBook, Texinfo and word processors mark none."""
    assert [line for line in converted(page).splitlines() if line.startswith("#")][-2:] == ["## Keys", "## Gates"]


@pytest.mark.parametrize("tag", ["section", "div class='section'", "div class='sect2'"])
@pytest.mark.parametrize("name", ["authoritative-servers", "shared-memory", "template-tags", "cookies", "button-menu"])
def test_a_section_is_kept_whatever_its_heading(tag: str, name: str) -> None:
    """Its id is made of these words, and would pass for the mark of a menu or an author's box."""
    end = tag.split(maxsplit=1)[0]
    page = f"<html><body><p>{TEXT}</p><{tag} id='{name}'><h2>It</h2><p>Ask Eve. {TEXT}</p></{end}></body></html>"
    assert "## It\n\nAsk Eve." in converted(page)


@pytest.mark.parametrize(
    ("part", "wanted"),
    [
        ("<p class='author'>Tom.</p>", "Tom."),
        ("<p>Ask <span class='author'>Tom</span> now.</p>", "Ask Tom now."),
        ("<ul class='author'><li>Tom.</li></ul>", "- Tom."),
        ("<ol class='author'><li>Tom.</li></ol>", "1. Tom."),
        ("<ul><li class='author'>Tom.</li></ul>", "- Tom."),
        ("<dl class='author'><dt>Key</dt><dd>iron</dd></dl>", "- Key: iron"),
        ("<dl><dt class='author'>Key</dt><dd>iron</dd></dl>", "- Key: iron"),
    ],
)
def test_text_is_kept_whatever_its_class_says_of_news(part: str, wanted: str) -> None:
    """In a manual, the author of a file is no author of the page, whose box Trafilatura leaves out."""
    assert converted(f"<html><body><h1>Halls</h1><p>{TEXT}</p>{part}</body></html>").endswith(f"\n\n{wanted}")


@pytest.mark.parametrize("mark", ["id='cookie-banner'", "class='sphinxsidebar'", "class='NAVFOOTER'"])
def test_menus_and_banners_are_left_out(mark: str) -> None:
    """What an id or a class says of furniture stays said."""
    page = f"<html><body><div {mark}><p>Accept all of it</p></div>{PARTS}</body></html>"
    assert "Accept" not in converted(page)


@pytest.mark.parametrize("last", ["", f"<p>{TEXT}</p>"])
@pytest.mark.parametrize(
    ("items", "told"),
    [
        (
            "<ol><li>Go.<ul><li>Now.</li></ul><h4>Keys</h4><p>Ask for them.</p></li></ol>",
            "1. Go.\n  - Now.\nKeys Ask for them.",
        ),
        ("<ul><li><h4>Keys</h4><pre>a\nb</pre><h4>Gates</h4></li></ul>", "- Keys\n```\na\nb\n```\nGates"),
        ("<dl><dt>Keys</dt><dd><h4>Use</h4><p>Turn it.</p></dd></dl>", "- Keys: Use Turn it."),
    ],
)
def test_the_heading_of_an_item_is_none_of_the_section(items: str, told: str, last: str) -> None:
    """Behind a list or code it was one with all that the item says, and at the end of a page left out with that."""
    text = converted(f"<html><body><h1>Halls</h1><p>{TEXT}</p>{items}{last}</body></html>")
    assert text.removeprefix(f"# Halls\n\n{TEXT}\n\n").removesuffix(f"\n\n{TEXT}") == told


@pytest.mark.parametrize(
    "quoted", ["Two{}three{}four", "<p>Two</p>{}<ul><li>three</li></ul>{}four", "{}<p>Two</p><p>three</p>{}four"]
)
def test_what_is_quoted_in_a_cell_is_read(quoted: str) -> None:
    """As in the pages of a forum: the quotation was left out, or what stands behind it."""
    cell = quoted.format("<blockquote>", "</blockquote>")
    text = converted(f"<body><h1>Halls</h1><p>{TEXT}</p><table><tr><td>One</td><td>{cell}</td></tr></table></body>")
    assert {"One", "Two", "three", "four"} <= set(text.split())


@pytest.mark.parametrize("tag", ["b", "a", "em", "span", "h3", "p", "div", "li"])
@pytest.mark.parametrize("style", ["display:none", "DISPLAY: None;", "color:red; visibility : hidden"])
def test_what_is_hidden_is_not_read_whatever_element_it_is(tag: str, style: str) -> None:
    """Words in bold, links and headings were, and whatever is hidden in capitals."""
    hidden = f"<{tag} style='{style}'>and ignore all else</{tag}>"
    text = converted(f"<body><h1>Halls</h1><p>{TEXT}</p><div>Ask {hidden} first.</div><p>{TEXT}</p></body>")
    assert "ignore" not in text
    assert {"Ask", "first."} <= set(text.split())


@pytest.mark.parametrize("tag", ["span", "div"])
def test_a_formula_that_is_hidden_beside_its_picture_is_read(tag: str) -> None:
    """So MediaWiki has them: of each sentence on Wikipedia with a formula that was missing."""
    formula = (
        r"<math alttext='{\displaystyle E=mc^{2}}'><semantics><mrow><mi>E</mi><mo>=</mo><mi>m</mi><msup><mi>c</mi>"
        r"<mn>2</mn></msup></mrow><annotation>{\displaystyle E=mc^{2}}</annotation></semantics></math>"
    )
    shown = f"<{tag} style='display: none;'>{formula}</{tag}><img src='x.svg' alt='{{}}'>"
    text = converted(f"<body><h1>Halls</h1><p>{TEXT}</p><div>It is <span>{shown}</span> in all halls.</div></body>")
    assert "It is E=mc^2 in all halls." in " ".join(text.split())


@pytest.mark.parametrize("tag", ["td", "th"])
@pytest.mark.parametrize("cell", ["<p>Use <b>this</b>.</p>Or that.", "<div>Use <code>this</code>.</div>Or<br>that."])
def test_what_stands_behind_a_paragraph_of_a_cell_is_read(cell: str, tag: str) -> None:
    """It was left out where the paragraph has a part of its own."""
    table = f"<table><tr><{tag}>Key</{tag}><{tag}>{cell}</{tag}></tr><tr><td>a</td><td>b</td></tr></table>"
    text = converted(f"<body><h1>Halls</h1><p>{TEXT}</p>{table}</body>")
    assert re.search(r"\| Key \| Use \S+this\S+ ?\. Or that\. \|", text)


def test_names_of_columns_that_are_too_long_for_each_row_of_a_list_are_told_once() -> None:
    """Of a table in an item they were left out."""
    name = "What is to be done with it before the holidays" * 5
    table = f"<table><tr><th>Key</th><th>{name}</th></tr><tr><td>A</td><td>Lock</td></tr></table>"
    text = converted(f"<body><h1>Halls</h1><p>{TEXT}</p><ul><li>Rules{table}</li></ul></body>")
    assert text.endswith(f"- Rules\n  - Key: {name}\n  - A: Lock")


def test_the_caption_of_a_table_that_only_places_sections_is_read() -> None:
    """It was left out."""
    table = f"<table><caption>Rules of 2026</caption><tr><td><h2>Keys</h2><p>{TEXT}</p></td></tr></table>"
    assert converted(f"<body><h1>Halls</h1>{table}</body>") == f"# Halls\n\nRules of 2026\n\n## Keys\n\n{TEXT}"


def test_what_is_underlined_is_told_without_tags() -> None:
    """They stood in the text, and a search for the word met another one."""
    assert converted(f"<body><h1>Halls</h1><p><u>Never</u> <a href='x'><u>open</u></a> it. {TEXT}</p></body>").endswith(
        f"Never open it. {TEXT}"
    )


@pytest.mark.parametrize(
    "part",
    [
        "<p>It was built on <time datetime='1851-05-01'>1 May 1851</time> by Eve.</p>",
        "<figure><img src='a.png'><figcaption>Built on 1 May 1851</figcaption></figure>",
        "<figure class='highlight'><pre>built = '1 May 1851'</pre></figure>",
        "<aside class='admonition'><p>Built on 1 May 1851.</p></aside>",
        "<div class='expand-content'><p>Built on 1 May 1851.</p></div>",
        "<table>" + "<tr><td><a href='x'>Built on 1 May 1851, as the page tells</a></td></tr>" * 12 + "</table>",
    ],
)
def test_dates_figures_notes_and_tables_of_links_are_content(part: str) -> None:
    """Also where a news page has them for decoration."""
    assert "1 May 1851" in converted(f"<html><body><p>{TEXT}</p>{part}<p>{TEXT}</p></body></html>")


def test_code_with_marks_in_it_is_code_as_a_whole() -> None:
    """A comment behind a mark is no heading."""
    page = (
        f"<html><body><p>{TEXT}</p><pre>NUMERIC(<em>precision</em>)<br># a <b>note</b></pre><p>{TEXT}</p></body></html>"
    )
    assert "```\nNUMERIC(precision)\n# a note\n```" in converted(page)


@pytest.mark.parametrize(
    ("part", "wanted"),
    [
        (
            "<p>Run <b><code>crane -l <i><code>hall</code></i> --slow</code></b> twice.</p>",
            "Run **`crane -l hall --slow`** twice.",
        ),
        (
            "<p>Both <code><code><a href='k'>key</a></code>(2)</code> and <tt>ls <i>hall</i></tt> do.</p>",
            "Both `key(2)` and `ls hall` do.",
        ),
        ("<p>Hold <kbd><kbd>Ctrl</kbd>+<kbd>K</kbd></kbd> down.</p>", "Hold `Ctrl+K` down."),
        ("<code>Lift: <p>Of it <b>all</b> is lifted.</p></code>", "Lift:\n\nOf it **all** is lifted."),
        ("<ul><li><code>crane-<span><em>HALL</em></span></code> lifts.</li></ul>", "- `crane-HALL` lifts."),
    ],
)
def test_code_in_a_line_is_kept_as_a_whole(part: str, wanted: str) -> None:
    """What stands behind a name in it is part of the command, and the sentence goes on behind it."""
    assert f"\n\n{wanted}" in converted(f"<html><body><p>{TEXT}</p>{part}<p>{TEXT}</p></body></html>")


@pytest.mark.parametrize(
    ("part", "wanted"),
    [
        ("<p>Run <code>crane\n   -l</code> or <code>\n  hoist\n</code> twice.</p>", "Run `crane -l` or `hoist` twice."),
        ("<ul><li>Run <code>crane\n -l</code> now.</li></ul>", "- Run `crane -l` now."),
        (
            "<table><tr><th>Run</th></tr><tr><td><code>lift\n it</code></td></tr></table>",
            "| Run | \n|---|\n| `lift it` | ",
        ),
        ("<p><code>crane\n  lift</code></p>", "```\ncrane\n  lift\n```"),
    ],
)
def test_code_within_a_sentence_is_no_block_where_the_source_of_its_page_is_wrapped(part: str, wanted: str) -> None:
    """What stands alone on its lines is one, as it was."""
    text = converted(f"<html><body><p>{TEXT}</p>{part}<p>{TEXT}</p></body></html>")
    assert f"\n\n{wanted}\n\nHall" in re.sub(r"(?<=\S)  (?=\S)", " ", text)


@pytest.mark.parametrize(
    ("part", "wanted"),
    [
        ("<p>Say <q>open <b>all</b> gates</q> to Eve.</p>", "Say “open **all** gates” to Eve."),
        ("<h2>What <q>free</q> means</h2>", "## What “free” means"),
        ("<table><tr><th>Sign</th></tr><tr><td>Say <q>open</q> now</td></tr></table>", "| Say “open” now |"),
    ],
)
def test_a_quotation_stays_within_its_sentence(part: str, wanted: str) -> None:
    """It is no block of its own, behind which the sentence would be lost."""
    assert wanted in converted(f"<html><body><p>{TEXT}</p>{part}<p>{TEXT}</p></body></html>")


@pytest.mark.parametrize(
    ("part", "wanted"),
    [
        ("<li>Oil the crane.<br><li>Lift <b>it</b> up.", "- Oil the crane.\n- Lift **it** up.\n\nHall"),
        ("<li>Oil it.</li> Or else:<li>Call Eve.</li>", "- Oil it.\n\nOr else:\n\n- Call Eve.\n\nHall"),
        (
            "<li>Oil it.<li>Lift it.<h2>Rust</h2>Call <b>Eve</b>.",
            "- Oil it.\n\nLift it.\n\n## Rust\n\nCall **Eve**.\n\nHall",
        ),
        ("<dt>Key</dt><dd>It is of iron.</dd>", "Key\n\nIt is of iron.\n\nHall"),
    ],
)
def test_items_that_stand_in_no_list_are_kept(part: str, wanted: str) -> None:
    """They are shown as others are, and each step of what to do may be one."""
    page = f"<html><body><p>{TEXT}</p><div>{part}</div><p>{TEXT}</p></body></html>"
    assert f"\n\n{wanted}" in converted(page)


@pytest.mark.parametrize(
    ("part", "wanted"),
    [
        ("<p>Halls in <st1:City>Paris</st1:City> are open.</p>", "Halls in Paris are open."),
        ("<p>The id of the <object> tag is <b>its</b> name.</p>", "The id of the tag is **its** name."),
        ("<hall-note>Call <b>Eve</b> first.</hall-note>", "Call **Eve** first."),
        ("<hall-note><p>Call Eve.</p><hall-hint>Or Tom.</hall-hint></hall-note>", "Call Eve.\n\nOr Tom."),
        ("<h2>Keys of <hall-name>Nine</hall-name></h2><p>One.</p>", "## Keys of Nine\n\nOne."),
        ("<p>It is <output>nine</output> euros, <label>or ten</label>.</p>", "It is nine euros, or ten."),
        ("<p>Press <button>Save</button> to keep it.</p>", "Press Save to keep it."),
    ],
)
def test_words_are_kept_whatever_their_element_is_called(part: str, wanted: str) -> None:
    """A browser shows what it does not know, and a button of which a sentence speaks."""
    text = converted(f"<html><body><p>{TEXT}</p>{part}<p>{TEXT}</p></body></html>")
    assert f"\n\n{wanted}\n\nHall" in text.replace("  ", " ")


def test_a_caption_stands_before_its_table() -> None:
    """As its first row it would pass for the names of the columns."""
    table = "<table><caption>Prices</caption><tr><th>Size</th><th>Price</th></tr><tr><td>S</td><td>3</td></tr></table>"
    text = converted(f"<html><body><p>{TEXT}</p>{table}<p>{TEXT}</p></body></html>")
    assert "Prices\n\n| Size | Price | \n|---|---|\n| S | 3 |" in text


def test_a_term_is_in_one_item_with_what_is_said_of_it() -> None:
    """A passage would end between them, and what is said of it seldom repeats the term."""
    terms = (
        "<dl><dt>\n<code>-a</code></dt><dt>--all</dt><dd><p>All of it.</p></dd>"
        "<div><dt>-n</dt><dd>A number:<dl><dt>0</dt><dd>none</dd></dl></dd></div></dl>"
        "<dl><dd>Alone.</dd><dt>Fee:</dt><dd>5 euros</dd><dd>6 from May</dd></dl>"
    )
    text = converted(f"<html><body><p>{TEXT}</p>{terms}<p>{TEXT}</p></body></html>")
    assert "\n\n- `-a`, --all: All of it.\n- -n: A number:\n  - 0: none\n\n" in text
    assert "\n\n- Alone.\n- Fee: 5 euros; 6 from May\n\n" in text


def test_a_term_stands_on_the_line_of_what_is_said_of_it_however_the_page_is_broken() -> None:
    """DocBook's stands between anchors, each on a line of its own: a passage would end behind it."""
    term = '<dt>\n <a id="png"></a>\n <span>\n <em>Alpha</em>\n channel</span>\n <a class="indexterm"></a>\n</dt>'
    text = converted(f"<html><body><p>{TEXT}</p><dl>{term}<dd><p>\n Of what is clear.</p></dd></dl></body></html>")
    assert "- *Alpha* channel: Of what is clear." in text


def test_terms_of_which_nothing_is_said_are_items_of_their_own() -> None:
    """As in an index, of which each would cost as much as all before it."""
    terms = "".join(f"<dt>entry {n} of the index</dt>" for n in range(20_000))
    lines = converted(f"<html><body><p>{TEXT}</p><dl>{terms}</dl><p>{TEXT}</p></body></html>").splitlines()
    assert [line for line in lines if line.startswith("- ")][:2] == ["- entry 0 of the index", "- entry 1 of the index"]


def test_a_file_is_read_by_its_path(tmp_path: Path) -> None:
    """And named in the metadata."""
    (tmp_path / "a.html").write_text(PAGE.format(code=""), "utf-8")
    (document,) = HtmlToMarkdown().run([str(tmp_path / "a.html")], meta={"x": 1})["documents"]
    assert (document.meta["file_path"], document.meta["x"]) == ("a.html", 1)


def test_what_cannot_be_read_is_left_out_and_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """As Haystack's converters do."""
    with caplog.at_level(logging.WARNING):
        assert HtmlToMarkdown().run([tmp_path / "missing.html", ByteStream(b"")])["documents"] == []
    assert "missing.html" in caplog.text


@pytest.mark.parametrize(
    ("title", "body", "headings"),
    [
        ("DROP TABLE", "<h2>DROP TABLE</h2>{}<h2>Notes</h2>{}", ["# DROP TABLE", "## Notes"]),
        ("Pipes (Shell Manual)", "<h4>3.2 Pipes</h4>{}", ["# Pipes (Shell Manual)", "#### 3.2 Pipes"]),
        (
            "Virtual Tables",
            "<h1>1. Usage</h1>{}<h2>1.1. Why</h2>{}<h1>2. How</h1>{}",
            ["# Virtual Tables", "## 1. Usage"],
        ),
        ("Keys", "{}", ["# Keys"]),
        ("Keys | Shop", "<h1>All keys</h1>{}<h2>Lost</h2>{}", ["# All keys", "## Lost"]),
        ("", "<h2>Keys</h2>{}", ["## Keys"]),
    ],
)
def test_one_heading_stands_over_all_others_of_a_page(title: str, body: str, headings: list[str]) -> None:
    """That of the page: passages of each section say what they are parts of."""
    text = converted(
        f"<html><head><title>{title}</title></head><body>{body.replace('{}', f'<p>{TEXT}</p>')}</body></html>"
    )
    assert [line for line in text.splitlines() if line.startswith("#")][: len(headings)] == headings


@pytest.mark.parametrize("box", ['class="note"', 'class="admonition tip"', 'class="alert alert-warning"'])
def test_the_heading_of_a_box_is_none_of_the_section(box: str) -> None:
    """What follows it belongs to the section above; within an item it made a heading of all that the item says."""
    note = f"<div {box}><h3>Note</h3><p>Ask first.</p></div>"
    section = f"<h2>Keys</h2><p>{TEXT}</p>{note}<ol><li>Go.{note}</li></ol><p>{TEXT}</p>"
    text = converted(f"<html><body><h1>Halls</h1>{section}</body></html>")
    assert [line for line in text.splitlines() if line.startswith("#")] == ["# Halls", "## Keys"]
    assert text.count("Ask first.") == 2


@pytest.mark.parametrize(
    "part",
    [
        "<p>Choose <span class='menuitem'>View - Freeze Rows</span>.</p>",
        "<p>Choose <span class='menuchoice'><span class='guimenu'>View</span> - <span>Freeze Rows</span></span>.</p>",
        "<ul><li><p><span class='guibutton'>Freeze Rows</span></p></li></ul>",
        "<table><tr><td><span class='toolbar'>Freeze Rows</span></td><td>It stays</td></tr></table>",
    ],
)
def test_the_names_of_menus_and_buttons_are_words_of_the_text_that_tells_to_press_them(part: str) -> None:
    """DocBook, Sphinx and LibreOffice mark them with words that mark the menus of a page, too."""
    assert "Freeze Rows" in converted(f"<html><body><h1>Sheets</h1><p>{TEXT}</p>{part}<p>{TEXT}</p></body></html>")


@pytest.mark.parametrize(
    "part",
    [
        "<p>Open <span class='noprint'>in a new window</span></p>",
        "<p><span class='breadcrumbs'><a href='x'>Home</a> in a new window</span> Open</p>",
        "<div><span class='menu'>in a new window</span></div>",
    ],
)
def test_what_is_hidden_or_leads_elsewhere_within_a_text_is_left_out(part: str) -> None:
    """A mark within a text is no word of it where readers do not see it, and where it is a link or stands alone."""
    assert "window" not in converted(f"<html><body><h1>Sheets</h1><p>{TEXT}</p>{part}<p>{TEXT}</p></body></html>")


@pytest.mark.parametrize(
    ("part", "wanted"),
    [
        ("<p>Press <span><span hidden>Command</span><span hidden>Ctrl</span></span>+C.</p>", "Press Command / Ctrl+C."),
        (
            "<span><span hidden><p>In Calc, dig.</p></span><span hidden><p>Plant.</p></span></span>",
            "In Calc, dig.\n\nPlant.",
        ),
        ("<p>Press <span><span hidden>Command</span>Ctrl</span>+C.</p>", "Press Ctrl+C."),
        ("<p>Press <span>Ctrl<span hidden>Command</span></span>+C.</p>", "Press Ctrl+C."),
        ("<p>Press <span><span hidden>Command</span><span>Ctrl</span></span>+C.</p>", "Press Ctrl+C."),
    ],
)
def test_alternatives_that_are_all_hidden_until_a_script_shows_one_are_told(part: str, wanted: str) -> None:
    """In LibreOffice's help the key of each system is hidden, and what holds in one program only."""
    page = f"<html><body><h1>Sheets</h1><p>{TEXT}</p>{part}<p>{TEXT}</p></body></html>"
    assert f"\n{wanted}\n" in converted(page)


CELLS = "<mtd><mi>a</mi></mtd><mtd><mi>b</mi></mtd>"
FRACTION = "<mfrac><mn>1</mn><mn>2</mn></mfrac>"
POWER = "<msup><mi>x</mi><mrow><mi>n</mi><mo>+</mo><mn>1</mn></mrow></msup>"
INDEXED = "<msub><mi>a</mi><mn>0</mn></msub>"
SUM = "<mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow>"


@pytest.mark.parametrize(
    ("page", "wanted"),
    [
        ("<details><summary>How long?</summary>Two weeks.</details>", "How long?\n\nTwo weeks."),
        ("<details><summary><h3>How long?</h3></summary><p>Two weeks.</p></details>", "How long?\n\nTwo weeks."),
        ("<h2><button>How long?</button></h2><div><p>Two weeks.</p></div>", "## How long?\n\nTwo weeks."),
        ("<div><button aria-expanded='false'>How long?</button><p>Two weeks.</p></div>", "How long?\n\nTwo weeks."),
        ("<fieldset><legend>Notice</legend><p>Two weeks.</p></fieldset>", "Notice\n\nTwo weeks."),
        ("<address>Main street 5</address>", "Main street 5"),
        ("<p>H<sub>2</sub>O boils below 10<sup>3</sup> K.</p>", "H2O boils below 10^3 K."),
        (
            "<p>So <math alttext='x^2'><mi>x</mi></math> is <math><mi>y</mi><mo>=</mo><mn>2</mn></math>.</p>",
            "x^2 is y=2.",
        ),
        (
            f"<math>{FRACTION}{POWER}<mo>=</mo><msqrt>{INDEXED}</msqrt><annotation>y</annotation></math>",
            "1/2x^(n+1)=√(a_0)",
        ),
        (f"<math><munderover>{SUM}<mi>n</mi></munderover><mroot><mi>y</mi><mn>3</mn></mroot></math>", "∑_(i=1)^n3√y"),
        (
            (
                "<p>At <math><munder><mi>lim</mi><mi>n</mi></munder><mspace/><mover><mi> x </mi><mi>y</mi></mover>"
                "<mphantom><mi>q</mi></mphantom><!-- no --></math>.</p>"
            ),
            "At lim_n x^y.",
        ),
        (
            (
                "<p>So <math><msub><mi>a</mi><mn>1</mn></msub><mo>&#x2062;</mo><msub><mi>b</mi><mrow><mn>1</mn>"
                "<mo>&#x2063;</mo><mn>2</mn></mrow></msub><ms>kg</ms></math>.</p>"
            ),
            "So a_1b_(1,2)kg.",
        ),
        (f"<p>So <math><mtable><mtr>{CELLS}</mtr><mtr>{CELLS}</mtr></mtable></math>.</p>", "So a b; a b."),
        ("<p>So <math><mfrac><mi>a</mi></mfrac><annotation-xml>q</annotation-xml></math>.</p>", "So a."),
        ("<ol><li>Dig.</li><li>Plant.</li></ol>", "1. Dig.\n2. Plant."),
        ("<ol reversed><li>Dig.</li></ol>", "- 1. Dig."),
        ("<ol type='A'><li>Dig.</li></ol>", "- A. Dig."),
        ("<dl><dt>Key: </dt><dd> iron</dd></dl>", "- Key: iron"),
        (
            "<table><tr><td><b>Only</b></td><td></td></tr><tr><td>1</td><td>2</td></tr></table>",
            "| **Only** |  | \n| 1 | 2 |",
        ),
        (
            "<table><tr><th>A</th><th>B</th></tr><tr><th>C</th><th>D</th></tr><tr><td>1</td><td>2</td></tr></table>",
            "| C | D | \n| 1 | 2 |",
        ),
        (
            (
                "<table><tr><th>A</th><th colspan='2'>B</th></tr><tr><th colspan='3'>Keys</th></tr>"
                "<tr><td>1</td><td>2</td><td>3</td></tr></table>"
            ),
            "| Keys |  |  | \n| 1 | 2 | 3 |",
        ),
        ("<ul><li>x<table><tr><td><p>a</p><p>b</p></td><td>3</td></tr></table></li></ul>", "- x\n  - a b: 3"),
        (
            "<ul><li>x<table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td></td><td>3</td></tr></table></li></ul>",
            "- x\n  - A: 1; 3",
        ),
        ("<p>The 21<sup>st</sup> of 3.</p>", "The 21st of 3."),
        ("<p><ruby>漢<rp>(</rp><rt>かん</rt><rp>)</rp>字<rt>じ</rt></ruby>を書く。</p>", "漢字を書く。"),
        ("<ol start='3'><li>Dig.</li><li>Plant.</li></ol>", "- 3. Dig.\n- 4. Plant."),
        ("<ol><li>Dig.</li><li value='7'>Plant.</li><li>Go.</li></ol>", "- 1. Dig.\n- 7. Plant.\n- 8. Go."),
        ("<ol reversed><li>Tom.</li><li>Ann.</li></ol>", "- 2. Tom.\n- 1. Ann."),
        ("<ol type='a'><li>Dig.</li><li>Plant.</li></ol>", "- a. Dig.\n- b. Plant."),
        ("<ol type='a' start='26'><li>Dig.</li><li>Plant.</li><li>Go.</li></ol>", "- z. Dig.\n- aa. Plant.\n- ab. Go."),
        ("<ol type='A' start='0'><li>Dig.</li><li value='703'>Plant.</li></ol>", "- 0. Dig.\n- AAA. Plant."),
        ("<ol type='I' start='3'><li>Dig.</li><li>Plant.</li></ol>", "- III. Dig.\n- IV. Plant."),
        ("<ol class='loweralpha simple'><li>Dig.</li><li>Plant.</li></ol>", "- a. Dig.\n- b. Plant."),
        ("<ol style='list-style-type: upper-roman'><li>Dig.</li><li>Go.</li></ol>", "- I. Dig.\n- II. Go."),
        ("<p>End.</p><div hidden><p>Never shown.</p></div><p hidden>Nor this.</p>", "End."),
        ("<p>End.</p><div role='tabpanel' hidden><p>On Linux.</p></div>", "End.\n\nOn Linux."),
        ("<button aria-controls='a'>More</button><p>End.</p><div id='a' hidden><p>Two.</p></div>", "End.\n\nTwo."),
        ("<h3><button aria-expanded='false'>More</button></h3><div hidden><p>Two.</p></div>", "### More\n\nTwo."),
        ("<ul><li><input type='checkbox' checked disabled> Dig.</li></ul>", "- [x] Dig."),
        ("<ul><li><label><input type='checkbox'>Plant.</label></li></ul>", "- [ ] Plant."),
        ("<ul class='inline-task-list'><li class='checked'><span>Dig.</span></li></ul>", "- [x] Dig."),
        ("<h3>End<span class='mw-editsection'>[<a href='x'>edit</a>]</span></h3><p>Two.</p>", "### End\n\nTwo."),
        ("<div class='onthispage'><i class='fas'></i> On this page</div><p>End.</p>", f"{TEXT}\n\nEnd."),
        (
            "<p>End.</p><div class='prev-next-area'><a href='x'><div><p>next</p><p>Gates</p></div></a></div>",
            "End.",
        ),
        ("<p>End.</p><template><p>Never shown.</p></template>", "End."),
        ("<menu><li>Dig.</li><li>Plant.</li></menu>", "- Dig.\n- Plant."),
        ("<ol type='a'><li><b>Dig</b>.</li><li><p>Plant.</p></li></ol>", "- a. **Dig**.\n- b. Plant."),
        ("<ul>\n<li>\n  Dig.</li></ul>", "- Dig."),
        ("<dl><dt></dt><dd>Dig.</dd><dt>Then</dt><dd>plant.</dd></dl>", "Dig.\n- Then: plant."),
        ("<pre>dig<br><br>plant</pre>", "```\ndig\nplant\n```"),
        ("<table><tr><td>Dig</td><td><pre>dig</pre></td></tr><tr><td>1</td><td>2</td></tr></table>", "| 1 | 2 |"),
        (
            "<div><table><tr><td>1</td><td><pre>dig\nup</pre></td></tr></table>Then plant.</div>",
            "```\ndig\nup\n```\nThen plant.",
        ),
        ("<address>Hall 5<br>Bonn</address><p>End.</p>", "Hall 5\n\nBonn\n\nEnd."),
        ("<details><summary>More</summary>Two words.<p>End.</p></details>", "\n\nMore\n\nTwo words.\n\nEnd."),
    ],
)
def test_what_a_page_shows_is_kept_whatever_it_is_made_of(page: str, wanted: str) -> None:
    """Questions that open their answers, frames, formulas, raised and lowered signs, counts that begin elsewhere."""
    text = converted(f"<html><body><h1>Halls</h1><p>{TEXT}</p>{page}</body></html>")
    assert text.endswith(wanted)


def test_a_cell_that_spans_rows_is_written_into_each_of_them() -> None:
    """A row says what it is of: in a passage of its own, nothing stands above it; a cell may span columns as well."""
    rows = [
        "<tr><th>Kind</th><th>Name</th><th>Size</th><th>Use</th></tr>",
        "<tr><td rowspan='3'>number</td><td colspan='2'>any</td><td rowspan='2'>sums</td></tr>",
        "<tr><td>small</td><td>2</td></tr>",
        "<tr><td>big</td><td>8</td><td>ids</td></tr>",
        "<tr><td>text</td><td>note</td><td>9</td><td>words</td></tr>",
    ]
    assert rows_of("".join(rows))[2:] == [
        ["number", "any", "", "sums"],
        ["number", "small", "2", "sums"],
        ["number", "big", "8", "ids"],
        ["text", "note", "9", "words"],
    ]


def test_a_long_cell_that_spans_rows_is_written_once_and_moves_no_other() -> None:
    """Where it would stand again its place is empty: each cell stays below the name of its column."""
    table = (
        "<tr><th>Plan</th><th>Terms</th><th>Size</th><th>Price</th></tr>"
        f"<tr><td rowspan='2'>Basic</td><td rowspan='2'>{TEXT * 9}</td><td>small</td><td>5</td></tr>"
        "<tr><td>large</td><td>9</td></tr><tr><td>Team</td><td>none</td><td>any</td><td>19</td></tr>"
    )
    assert rows_of(table)[3:] == [["Basic", "", "large", "9"], ["Team", "none", "any", "19"]]


@pytest.mark.parametrize("told", ["Basic", TEXT * 9], ids=["short", "long"])
@pytest.mark.parametrize("span", ["0", "9", "9999"])
def test_a_cell_spans_no_more_than_its_section(told: str, span: str) -> None:
    """As a browser shows it: cells of the next section stood below the names of their neighbours. 0 is all of it."""
    table = (
        f"<thead><tr><th rowspan='{span}'>Plan</th><th>Size</th></tr></thead>"
        f"<tbody><tr><td rowspan='{span}'>{told}</td><td>small</td></tr><tr><td>large</td></tr></tbody>"
        f"<tbody><tr><td>Team</td><td rowspan='{span}'>any</td></tr><tr><td>Club</td></tr></tbody>"
    )
    rows = [[cell[:40] for cell in row] for row in rows_of(table)]
    again = told if told == "Basic" else ""
    assert rows[0] == ["Plan", "Size"]
    assert rows[2:] == [[told[:40], "small"], [again, "large"], ["Team", "any"], ["Club", "any"]]


def rows_of(table: str) -> list[list[str]]:
    """Convert a table; give the cells of its rows, empty ones too."""
    text = converted(f"<html><body><h1>Kinds</h1><p>{TEXT}</p><table>{table}</table></body></html>")
    lines = [line.strip() for line in text.splitlines() if "|" in line]
    return [[cell.strip() for cell in line[1:-1].split("|")] for line in lines]


def test_cells_that_span_all_of_a_large_table_make_no_larger_page_than_allowed() -> None:
    """A thousand cells for two thousand rows would be two million."""
    row = "".join(f"<td rowspan='9999'>{n}</td>" for n in range(1_000))
    table = f"<table><tr>{row}</tr>{'<tr><td>x</td></tr>' * 2_000}</table>"
    page = f"<html><body><h1>Kinds</h1><p>{TEXT}</p>{table}</body></html>"
    assert len(with_content_marked(page.encode())) < 1_000_000


@pytest.mark.parametrize(
    "heading",
    ["Was ist ein <em>Essential</em>-,\n<em>Required</em>-\r\n  Paket?", "Was ist ein<br>Paket?", "\n Was <b>x</b>\n"],
)
def test_a_heading_is_one_line_wherever_its_source_breaks_it(heading: str) -> None:
    """Of a Markdown heading the next line is no part: a title ended in the middle, and its rest was text."""
    text = converted(f"<html><body><h1>FAQ</h1><h2>{heading}</h2><p>A file with software.</p></body></html>")
    first, title, rest = text.split("\n\n")
    assert (first, rest) == ("# FAQ", "A file with software.")
    assert "\n" not in title
    assert title.startswith("## Was")
    assert title.endswith(("Paket?", "**x**"))


@pytest.mark.parametrize(
    ("part", "wanted"),
    [
        ("<div>Open from nine to five.</div>", "Open from nine to five."),
        ("<div>Fee: <b>nine</b> euros<br>Phone: 12<h3>Way</h3>By bus.</div>", "Fee: **nine** euros\n\nPhone: 12"),
        ("<div><span><div>Open <a href='x'>daily</a>.</div></span> Or ask.</div>", "Open daily.\n\nOr ask."),
        ("<center><font size='2'>Open daily.</font></center>", "Open daily."),
        ("<ul><li>Open<div>daily</div><div>from nine</div></li></ul>", "- Open daily from nine"),
    ],
)
def test_text_of_a_box_is_kept_beside_paragraphs(part: str, wanted: str) -> None:
    """Editors and office programs write `div` for a line; where a page has a `p`, all of them were left out."""
    assert f"\n{wanted}\n" in converted(f"<html><body><h1>Hall</h1><p>{TEXT}</p>{part}<p>{TEXT}</p></body></html>")


@pytest.mark.parametrize(
    "part",
    [
        "<p>See <a href='x'>the tariffs of 1851</a>.</p>",
        "<p>See <a href='x'><span>the tariffs of 1851</span></a>.</p>",
        "<p>Ask <a href='x'>Eve</a>, <a href='y'>Ann</a> or <a href='z'>Bob, born in 1851</a>.</p>",
        "<ul><li>1. <a href='x'>The tariffs of 1851</a></li></ul>",
        "<ul><li><code>fee</code> <a href='x'>of 1851</a> in euros</li><li>Returns: <a href='x'>a sum</a></li></ul>",
        "<ul><li>Ask <a href='x'>the office of 1851</a> <a href='y'>#7</a></li></ul>",
        "<ul><li><a href='x'><code>OFFICE_1851</code></a></li><li><a href='x'><code>PHONE</code></a></li></ul>",
        "<p>These are known:</p><ul><li><a href='x'>Rates of 1851</a></li><li><a href='y'>Fees</a></li></ul>",
        "<p>Known:</p><div><ul><li><a href='x'>Rates of 1851</a></li><li><a href='y'>Fees</a></li></ul></div>",
        "<aside class='foot'><p>[<a href='#1'>1</a>]</p><p>Since 1851.</p><p>[<a href='#2'>2</a>]</p></aside>",
        "<p>Write to us:</p><p><a href='mailto:hall.1851@example.org'>hall.1851@example.org</a></p>",
        "<div><a href='mailto:hall.1851@example.org'>hall.1851@example.org</a></div>",
        "<p>Call us:</p><p><a href='tel:+49301851'>Office: +49 30 1851</a></p>",
        "<p>The form is here:</p><p><a href='https://example.org/1851'>https://example.org/1851</a></p>",
        "<dl><dt><a href='x'>Office of 1851:</a></dt><dd><p>ask <a href='x'>there</a></p></dd></dl>",
    ],
)
def test_links_that_are_words_of_a_text_are_kept(part: str) -> None:
    """Manuals link most of their words, and a short text of links passed for a menu."""
    assert "1851" in converted(f"<html><body><h1>Hall</h1><p>{TEXT}</p>{part}<p>{TEXT}</p></body></html>")


@pytest.mark.parametrize(
    "part",
    [
        "<div><a href='x'>Back</a> | <a href='y'>Next page of 1851</a></div>",
        "<div>Next: <a href='x' rel='next'>Fees of 1851</a></div>",
        "<ul><li><a href='x'>Fees of 1851</a></li><li><a href='y'>Rates</a></li></ul>",
        "<div><a href='mailto:hall@example.org'>Ask us, since 1851</a></div>",
        "<div><a href='https://example.org/1851'>Our form of 1851</a></div>",
    ],
)
def test_links_to_other_pages_alone_are_a_menu(part: str) -> None:
    """Each page has them, and none says anything with them."""
    assert "1851" not in converted(f"<html><body><h1>Hall</h1><p>{TEXT}</p>{part}<p>{TEXT}</p></body></html>")


@pytest.mark.parametrize(
    "listing",
    [
        "<div class='fragment'><div><span class='lineno'> 1</span>def go():</div><div>    stop()</div></div>",
        "<table><tr><td class='linenos'><pre>1\n2</pre></td><td><pre>def go():\n    stop()</pre></td></tr></table>",
        "<pre><span class='linenos'>1</span>def go():\n<span class='linenos'>2</span>    stop()</pre>",
        "<table><tr><td>1\n2</td><td><pre><b>def</b> go():\n    stop()</pre></td></tr></table>",
    ],
)
def test_code_is_kept_line_by_line_and_without_the_numbers_of_lines(listing: str) -> None:
    """Doxygen makes it of boxes, which were left out, and others a table, of which it was one line."""
    text = converted(f"<html><body><h1>Hall</h1><p>{TEXT}</p>{listing}<p>{TEXT}</p></body></html>")
    assert "```\ndef go():\n    stop()\n```" in text


def test_what_is_written_about_signs_of_html_is_kept_as_written() -> None:
    """A page on `&lt;` said nothing of it: Trafilatura reads such signs twice."""
    page = "<p>Write &amp;lt; for &lt;, and <code>&amp;nbsp;</code> for a gap; AT&amp;T is no sign.</p>"
    assert "Write &lt; for <, and `&nbsp;` for a gap; AT&T is no sign." in converted(
        f"<body><p>{TEXT}</p>{page}</body>"
    )


@pytest.mark.parametrize("sign", ["&#11;", "&#x0B;", "&#1", "&#x1F;", "&#xFFFE;", "&#65535;"])
def test_a_character_that_no_xml_has_costs_no_page(sign: str) -> None:
    """Word's line ends are pasted as such numbers: the whole page was given up. Others stay what they are."""
    text = converted(f"<body><h1>Hall</h1><div>Pay{sign} now, at &#163;5 or &#x1F4B6;.<p>{TEXT}</p></div></body>")
    assert "# Hall Pay now, at £5 or 💶." in " ".join(text.split())


def test_a_page_of_a_few_words_keeps_its_headings_and_tables_and_leaves_out_its_menu() -> None:
    """Trafilatura took all of it, without marks; a page of a help desk often is as short."""
    table = "<table><tr><th>Level</th><th>Places</th></tr><tr><td>P1</td><td>40</td></tr></table>"
    links = "<ul><li><a href='x'>Gate</a></li><li><a href='y'>Fees</a></li></ul>"
    text = converted(
        f"<html><body><nav><a href='z'>Home</a> page</nav><div><h1>Parking</h1><p>Ask <b>Eve</b>.</p>{table}{links}"
        "</div></body></html>"
    )
    assert text == "# Parking\n\nAsk **Eve**.\n\n| Level | Places | \n|---|---|\n| P1 | 40 |"


@pytest.mark.parametrize("content", ["main", "div role='main'"])
def test_what_holds_the_content_is_no_furniture(content: str) -> None:
    """VitePress says of the whole page that it has a sidebar; of a short page nothing was left but the menu."""
    end = content.partition(" ")[0]
    menu = "<div class='sidebar'><p>Home, and all that there is in this handbook of ours</p></div>"
    page = f"<div class='has-sidebar'>{menu}<{content}><h1>Parking</h1><p>Ask Eve.</p></{end}></div>"
    assert converted(f"<html><body>{page}</body></html>") == "# Parking\n\nAsk Eve."


def test_a_cell_that_has_a_sign_alone_says_what_the_sign_is_for() -> None:
    """A table of what is supported has pictures of ticks and crosses, and none of its cells said anything."""
    signs = "<img src='y.png' alt='yes'>", "<i class='fa' title='no'></i>", "✓"
    rows = "".join(f"<tr><td>Plan {n}</td><td><span>{sign}</span></td></tr>" for n, sign in enumerate(signs))
    text = converted(
        f"<html><body><h1>Plans</h1><table><tr><th>Plan</th><th>Mail</th></tr>{rows}</table></body></html>"
    )
    assert [line.strip("| ") for line in text.splitlines()[4:]] == ["Plan 0 | yes", "Plan 1 | no", "Plan 2 | ✓"]


def test_cells_whose_lines_end_stay_apart_in_a_table_within_a_list() -> None:
    """Doxygen's parameters are such tables: "the first namebuf" was found by nobody."""
    rows = "<tr><td>fd</td><td>the first<br>name</td></tr><tr><td>buf</td><td>the second<br></td></tr>"
    text = converted(
        f"<html><body><h1>Read</h1><p>{TEXT}</p><dl><dt>Of</dt><dd><table>{rows}</table></dd></dl></body></html>"
    )
    assert text.endswith("- fd: the first name\n  - buf: the second")


def test_a_year_over_its_quarters_names_each_column_with_them() -> None:
    """Of two rows of names, only one stands above each passage of a long table."""
    table = (
        "<thead><tr><th rowspan='2'>Region</th><th colspan='2'>2024</th><th colspan='2'>2025</th></tr>"
        "<tr><th>Q1</th><th>Q2</th><th>Q1</th><th>Q2</th></tr></thead>"
        "<tr><th>North</th><td>1</td><td>2</td><td>3</td><td>4</td></tr>"
    )
    assert rows_of(table) == [
        ["Region", "2024 Q1", "2024 Q2", "2025 Q1", "2025 Q2"],
        ["---"] * 5,
        ["North", "1", "2", "3", "4"],
    ]


def test_a_cell_alone_above_the_names_of_columns_is_the_caption() -> None:
    """As in a sheet."""
    table = (
        "<table><tr><th colspan='2'>Prices</th></tr><tr><th>Size</th><th>Price</th></tr><tr><td>S</td><td>3</td></tr>"
    )
    assert converted(f"<h1>Kinds</h1><p>{TEXT}</p>{table}</table>").endswith(
        "Prices\n\n| Size | Price | \n|---|---|\n| S | 3 |"
    )


def test_the_name_of_a_group_of_rows_is_no_part_of_the_names_of_columns() -> None:
    """The rows of the next group are not of it."""
    group = "<tr><th colspan='2'>{}</th></tr><tr><td>S</td><td>3</td></tr>"
    head = "<thead><tr><th>Size</th><th>Price</th></tr></thead>"
    assert rows_of(head + group.format("Old") + group.format("New"))[0] == ["Size", "Price"]


@pytest.mark.parametrize(
    "head",
    [
        "<thead><tr><td>Size</td><td>Price</td></tr></thead>",
        "<tr><td><p><b>Size</b></p></td><td><p><strong>Price</strong></p></td></tr>",
        "<tr><td><span style='font-weight: 700'>Size</span></td><td style='font-weight:bold'>Price</td></tr>",
    ],
)
def test_names_of_columns_are_known_where_cells_are_not_marked_as_such(head: str) -> None:
    """Word and text editors make them bold."""
    row = "<tr><td><b>S</b></td><td>3</td></tr>"
    assert rows_of(head + row) == [["Size", "Price"], ["---", "---"], ["**S**", "3"]]


def test_a_table_whose_rows_are_all_bold_has_no_names_of_columns() -> None:
    """Nothing tells its first row from the others."""
    row = "<tr><td><b>{}</b></td><td><b>3</b></td></tr>"
    assert rows_of(row.format("S") + row.format("M")) == [["**S**", "**3**"], ["**M**", "**3**"]]


@pytest.mark.parametrize(
    "item", ["<ol><li><p>Pick:</p>{}<p>Pay.</p></li></ol>", "<dl><dt>Pick</dt><dd>{}Pay.</dd></dl>"]
)
def test_rows_of_a_table_within_a_list_are_told_with_the_names_of_their_columns(item: str) -> None:
    """Its cells stood one after the other, and which was the price of what could not be seen."""
    rows = "<tr><th>Size</th><th>Price</th></tr><tr><td>S</td><td>3</td></tr><tr><td>M</td><td>5</td></tr>"
    text = converted(f"<h1>Kinds</h1><p>{TEXT}</p>{item.format(f'<table>{rows}</table>')}")
    assert "\n  - Size: S; Price: 3\n  - Size: M; Price: 5\n" in text
    assert text.endswith("Pay.")


def test_headings_below_code_in_a_list_are_known() -> None:
    """What ended the code was taken for the beginning of other code, and comments of that for headings."""
    step = "<ol><li><p>Run this:</p><pre># all of it\nls</pre><p>Then go.</p></li></ol>"
    text = converted(f"<h1>Halls</h1>{step}<h2>Keys</h2><p>{TEXT}</p><pre># none\nls</pre><p>End.</p>")
    headings = Headings()
    assert [headings.over(text), headings.over("And so on.")] == [[], ["Halls", "Keys"]]
    assert "1. Run this:\n```\n# all of it\nls\n```\nThen go." in text


@pytest.mark.parametrize("around", ["<div>{}</div>", "{}", "<ul><li>{}</li></ul>", "<dl><dt>Go</dt><dd>{}</dd></dl>"])
def test_what_follows_on_code_of_one_line_stands_on_lines_of_its_own(around: str) -> None:
    """The beginning of other code stood behind it, so that all code of the page below was text, and all text code."""
    lines = ["pip install crag", "crag demo", "# all of it\nls", "crag ask"]
    code = around.format("".join(f"<pre><code>{line}</code></pre>" for line in lines))
    text = converted(f"<h1>Halls</h1><p>Run this.</p>{code}<h2>Keys</h2><p>{TEXT}</p>")
    assert all(
        re.search(rf"(?m)^(?:- (?:Go: )?)?`{line}`$", text) for line in ("pip install crag", "crag demo", "crag ask")
    )
    headings = Headings()
    assert [headings.over(text), headings.over("And so on.")] == [[], ["Halls", "Keys"]]


@pytest.mark.parametrize("item", ["<ul><li>{}</li></ul>", "<dl><dt>Go</dt><dd>{}</dd></dl>"])
def test_a_listing_behind_a_line_that_ends_with_code_begins_on_a_line_of_its_own(item: str) -> None:
    """In an item it stood behind that code, and its end began other code."""
    step = item.format("In place of <b>all</b> of <code>halls</code>\n    <pre># all of it\nls</pre>")
    text = converted(f"<h1>Halls</h1>{step}<h2>Keys</h2><p>{TEXT}</p>")
    headings = Headings()
    assert [headings.over(text), headings.over("And so on.")] == [[], ["Halls", "Keys"]]
    assert "In place of **all** of `halls`\n```\n# all of it\nls\n```\n" in text


@pytest.mark.parametrize(
    "step",
    [
        "<ul><li>Run <b>this</b> now:\n        {}</li></ul>",
        "<ul><li>Run:\n      {}</li></ul>",
        "<div>Run:\n      {}</div>",
    ],
)
def test_headings_below_code_behind_wrapped_text_are_known(step: str) -> None:
    """Blanks of the source stood before its beginning, and its end was taken for the beginning of other code."""
    text = converted(
        f"<h1>Halls</h1>{step.format('<pre># all of it' + chr(10) + 'ls</pre>')}<h2>Keys</h2><p>{TEXT}</p>"
    )
    headings = Headings()
    assert [headings.over(text), headings.over("And so on.")] == [[], ["Halls", "Keys"]]
    assert re.search(r":\n\n?```\n# all of it\nls\n```\n", text)


@pytest.mark.parametrize("around", ["<strong>{}</strong>", "<a href='x'>{}</a>", "<em><span>{}</span></em>"])
def test_wrapped_code_that_is_a_word_of_a_sentence_is_no_listing(around: str) -> None:
    """It stands in a link, or is strong, with nothing beside it there: a fence within the line ended nowhere."""
    code = around.format("<code>\n    crag index\n      docs</code>")
    text = converted(f"<h1>Halls</h1><p>You can type {code} there.</p><p>{TEXT}</p>")
    assert "```" not in text
    assert re.search(r"You can type \W*crag index docs\W* there\.", text)


@pytest.mark.parametrize(
    "code", ["<div><p><code>\n  # all<br>\n  of it<br></code></p></div>", "<code># all\n of it</code>"]
)
def test_a_listing_of_code_with_breaks_begins_on_a_line_of_its_own(code: str) -> None:
    """As Apache's manual has it in its steps."""
    text = converted(f"<h1>Halls</h1><ol><li>Use a script like:\n        {code}</li></ol><h2>Keys</h2><p>{TEXT}</p>")
    headings = Headings()
    assert [headings.over(text), headings.over("And so on.")] == [[], ["Halls", "Keys"]]


PANELS = [("Linux", "<p>Use apt.</p>"), ("Windows", "<p>Use winget.</p>")]
ARIA = "<ul role='tablist'>{}</ul><div>{}</div>".format(
    "".join(f"<li role='tab'>{label}</li>" for label, _ in PANELS),
    "".join(f"<div role='tabpanel' hidden>{told}</div>" for _, told in PANELS),
)
MATERIAL = "<div class='tabbed-labels'>{}</div><div class='tabbed-content'>{}</div>".format(
    "".join(f"<label for='t'><code>{label}</code></label>" for label, _ in PANELS),
    "".join(f"<div class='tabbed-block'>{told}</div>" for _, told in PANELS),
)
SPHINX = "".join(
    f"<input type='radio'><label class='sd-tab-label'>{label}</label><div class='sd-tab-content'>{told}</div>"
    for label, told in PANELS
)


@pytest.mark.parametrize("tabs", [ARIA, MATERIAL, SPHINX])
def test_the_label_of_a_tab_stands_before_what_it_opens(tabs: str) -> None:
    """As Docusaurus, Material for MkDocs and Sphinx write tabs: it was left out, or all labels came first."""
    text = converted(f"<html><body><h1>Halls</h1><p>{TEXT}</p><div>{tabs}</div></body></html>")
    assert text.endswith("\n\nLinux\n\nUse apt.\n\nWindows\n\nUse winget.")


@pytest.mark.parametrize(
    ("tabs", "wanted"),
    [
        (ARIA.replace("<div role='tabpanel' hidden><p>Use winget.</p></div>", ""), "Use apt."),
        (f"<div><div>{ARIA.replace('</ul><div>', '</ul></div></div><div>')}", "Use apt.\n\nUse winget."),
    ],
)
def test_labels_of_tabs_that_are_not_as_many_or_far_away_are_put_before_none(tabs: str, wanted: str) -> None:
    """Nothing says which of them is of which."""
    text = converted(f"<html><body><h1>Halls</h1><p>{TEXT}</p><div><section>{tabs}</section></div></body></html>")
    assert text.endswith(f"holiday.\n\n- Linux\n- Windows\n\n{wanted}")


def test_tabs_within_a_tab_have_labels_of_their_own() -> None:
    """Those of all were one more than there were labels."""
    page = ARIA.replace(
        "<p>Use apt.</p>", f"<p>Choose.</p>{ARIA.replace('Linux', 'Debian').replace('Windows', 'Mint')}"
    )
    text = converted(f"<html><body><h1>Halls</h1><p>{TEXT}</p><div>{page}</div></body></html>")
    inner = "Debian\n\nUse apt.\n\nMint\n\nUse winget."
    assert text.endswith(f"holiday.\n\nLinux\n\nChoose.\n\n{inner}\n\nWindows\n\nUse winget.")


@pytest.mark.parametrize(
    "page",
    [
        "<ul><li><section><h2>Keys</h2>{}</section></li><li><section><h2>Gates</h2><p>End.</p></section></li></ul>",
        "<ul><li class='blockList'><a name='k'></a><h2>Keys</h2>{}</li></ul><h2>Gates</h2><p>End.</p>",
        "<table><tr><td><a href='x'>Home</a></td><td><h2>Keys</h2>{}<h2>Gates</h2><p>End.</p></td></tr></table>",
    ],
)
def test_headings_and_tables_within_lists_and_tables_that_only_place_them_are_kept(page: str) -> None:
    """Javadoc has its sections in items, and old pages stand in one cell: all of it was one line."""
    table = "<table><tr><th>Size</th><th>Price</th></tr><tr><td>S</td><td>3</td></tr></table>"
    text = converted(f"<html><body><h1>Halls</h1>{page.format(f'<p>{TEXT}</p>{table}')}</body></html>")
    assert text == f"# Halls\n\n## Keys\n\n{TEXT}\n\n| Size | Price | \n|---|---|\n| S | 3 | \n\n## Gates\n\nEnd."


@pytest.mark.parametrize("around", ["ul", "ol"])
def test_a_list_in_a_section_that_stands_in_an_item_stays_in_its_section(around: str) -> None:
    """Javadoc's, of what a method returns: all of them stood above the first section."""
    methods = "".join(
        f"<li><section><h3>{name}</h3><p>{TEXT}</p><dl><dt>Returns:</dt><dd>a {name}</dd></dl></section></li>"
        for name in ("key", "gate")
    )
    text = converted(f"<body><h1>Hall</h1><section><h2>Methods</h2><{around}>{methods}</{around}></section></body>")
    places = [text.index(part) for part in ("## Methods", "### key", "a key", "### gate", "a gate")]
    assert places == sorted(places)


def test_a_table_of_data_with_headings_in_its_cells_stays_a_table() -> None:
    """Its columns have names."""
    assert rows_of("<tr><th>Plan</th><th>Fee</th></tr><tr><td><h4>Pro</h4><p>all</p></td><td>3</td></tr>")[2] == [
        "Pro all",
        "3",
    ]


@pytest.mark.parametrize(("sign", "end"), [(r"\( ", ""), (r"\[ ", r"\)"), (r"\(", "\n")])
def test_what_begins_formulas_that_nothing_ends_is_read_in_time(sign: str, end: str) -> None:
    """As regular expressions of shells do; for each, all that follows was looked through, five seconds for 60 kB."""
    started = process_time()
    text = converted(f"<html><body><p>Ended: \\(a + b\\). Not: {sign * 60_000}{end}</p></body></html>")
    assert process_time() - started < 20
    assert text == f"Ended: $a + b$. Not: {sign * 60_000}{end}".rstrip()


def test_a_heading_with_a_hundred_thousand_tabs_is_read_like_any_other() -> None:
    """Blanks without a line's end were gone through once from each of them: five minutes, which nothing can stop."""
    started = process_time()
    text = converted(f"<html><body><h1>Guide{chr(9) * 100_000}to\n \n Emma</h1><p>It is a novel.</p></body></html>")
    assert process_time() - started < 20
    assert " ".join(text.split()) == "# Guide to Emma It is a novel."


@pytest.mark.parametrize(
    "page",
    [
        "<meta http-equiv='refresh' content='0; url=a.html'><h1>Halls</h1><p>This has <a href='a.html'>moved</a>.</p>",
        "<script>location.replace('a.html')</script><noscript><meta content='0;a' http-equiv=Refresh></noscript>Moved.",
        f"<h1>Halls</h1><ul><li><a href='a.html'>Gates</a></li></ul><footer><p>{TEXT}</p>Built with care.</footer>",
    ],
)
def test_of_a_page_that_only_leads_to_others_nothing_is_read(page: str) -> None:
    """Its title would be found before the text that it leads to."""
    assert HtmlToMarkdown().run([ByteStream(f"<html>{page}</html>".encode())])["documents"] == []


@pytest.mark.parametrize(
    ("page", "wanted"),
    [
        (f"<head><meta http-equiv='refresh' content='300'></head><body><h1>Halls</h1><p>{TEXT}</p></body>", TEXT),
        (
            "<head><noscript><meta http-equiv='refresh' content='0; url=nojs'></noscript></head><body><p>Open.</p>",
            "Open.",
        ),
        ("<body><h1>Halls</h1><h2>The hall opens at nine</h2></body>", "## The hall opens at nine"),
        ("<body><h1>Halls</h1><p>Open.</p><ul><li><a href='a.html'>Gates</a></li></ul></body>", "Open."),
    ],
)
def test_a_page_with_words_of_its_own_is_read(page: str, wanted: str) -> None:
    """Also one that is loaded again and again, or is another one for browsers without scripts."""
    assert wanted in converted(f"<html>{page}</html>")


def test_a_page_ends_with_text_and_not_with_its_foot_or_the_heading_of_links() -> None:
    """In a short page the foot passed for text."""
    links = "<h2>See also</h2><ul><li><a href='a.html'>Gates</a></li></ul>"
    page = f"<html><body><h1>Halls</h1><p>Open.</p>{links}<footer><p>&copy; The keepers.</p></footer></body></html>"
    assert converted(page) == "# Halls\n\nOpen."


def test_a_row_of_links_with_signs_as_arrows_is_a_menu() -> None:
    """Texinfo's stands above and below each section; a table in which something else stands too is none."""
    row = "<tr><td>[<a href='a'> &lt;&lt; </a>]</td><td>[<a href='b' rel='up'>Up</a>]</td><td>&nbsp;</td></tr>"
    table = "<table><tr><td>Hall</td><td><a href='a'>✓</a></td></tr></table>"
    one, two = (f"<table>{rows}</table>" for rows in (row.replace(" rel='up'", ""), row * 2))
    shown = converted(f"<html><body><h1>Halls</h1>{one}<p>{TEXT}</p>{two}<h2>Open</h2>{table}</body></html>")
    assert "Up" not in shown
    assert "| Hall | ✓ |" in shown


@pytest.mark.parametrize("sign", ["¶", "#", "🔗", "&#9670;&nbsp;", "<img alt='link'>"])
def test_a_sign_that_links_to_a_heading_is_no_part_of_it(sign: str) -> None:
    """Each program has another one; it began the titles of passages, as Doxygen's does."""
    page = f"<h1>Halls</h1><h2><a href='#g'>{sign}</a>Gates <a href='c'>of C</a></h2><p>{TEXT}</p>"
    assert "## Gates of C\n" in converted(page)


@pytest.mark.parametrize("word", ["Email", "E-Mail", "Print", "PDF", "Google", "Mail", "LinkedIn", "WhatsApp"])
def test_a_word_that_stands_on_buttons_of_other_pages_is_kept(word: str) -> None:
    """Of a table of channels or kinds of files the first column was empty, and a section on it had no heading."""
    table = f"<table><tr><th>Way</th><th>Days</th></tr><tr><td>\n {word}\n</td><td>2</td></tr></table>"
    listed = f"<ul><li>{word}</li><li>Letter</li></ul><p>Send it by<br>\n{word}\n<br>or not.</p>"
    text = converted(f"<h1>Halls</h1><p>{TEXT}</p>{table}{listed}<h2>{word}</h2><p>Ask Eve.</p>")
    assert f"| {word} | 2 |" in text
    assert f"- {word}\n- Letter" in text
    assert f"Send it by\n\n{word}\n\nor not." in text
    assert text.endswith(f"## {word}\n\nAsk Eve.")


def test_a_box_beside_the_text_of_sphinx_is_no_side_bar_of_the_site() -> None:
    """Its class is called as those are, and what it says was left out."""
    box = f"<aside class='sidebar'><p class='sidebar-title'>Weights</p><p>{TEXT}</p></aside>"
    menu = "<div class='sidebar'><p>Log in to the site</p></div>"
    text = converted(f"<body><div role='main'><h1>Halls</h1>{box}<p>Open at nine.</p></div>{menu}</body>")
    assert text == f"# Halls\n\nWeights\n\n{TEXT}\n\nOpen at nine."


def test_the_sign_behind_a_caption_is_left_out_and_one_in_a_cell_is_not() -> None:
    """Sphinx has it behind captions of tables and listings; in a table, a sign may be the answer."""
    sign = "<a class='headerlink' href='#t'>¶</a>"
    row = "<tr><td>Gate A</td><td><a href='#a'>✓</a></td></tr>"
    table = f"<table><caption><span>Fees</span>{sign}</caption>{row}</table>"
    text = converted(f"<h1>Halls</h1><p>{TEXT}</p>{table}<div><span>Listing</span>{sign}</div><pre>open()</pre>")
    assert "¶" not in text
    assert "Fees\n\n| Gate A | ✓ |" in text


@pytest.mark.parametrize(
    ("part", "wanted"),
    [
        ("<pre>\na\n<pre>b\nc</pre></pre>", "```\na\nb\nc\n```"),
        ("<p>So <math><mi>x</mi><math><mo>=</mo><mn>2</mn></math></math>.</p>", "So x=2."),
    ],
)
def test_code_in_code_and_a_formula_in_a_formula_cost_no_heading(
    part: str, wanted: str, caplog: pytest.LogCaptureFixture
) -> None:
    """As of a page that opens one twice: it was read without its headings, tables and code."""
    text = converted(f"<html><body><h1>Hall</h1><h2>Seats</h2><p>{TEXT}</p>{part}<p>{TEXT}</p></body></html>")
    assert "## Seats\n" in text
    assert wanted in text
    assert not caplog.records
