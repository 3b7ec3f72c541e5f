"""HtmlToMarkdown: headings are marked, words and code stay as they are."""

import logging
from pathlib import Path

import pytest
from haystack.dataclasses import ByteStream

from haystack_integrations.crag.components import HtmlToMarkdown

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


def test_words_are_written_as_on_the_page() -> None:
    """Markdown's backslashes would part them for a search."""
    assert r"It takes a_b and 2*3, x < y, [a], \* and C:\new." in converted(PAGE.format(code=""))


@pytest.mark.parametrize("tag", ["<pre>{}</pre>", "<pre><code>{}</code></pre>", '<PRE class="x">{}</PRE>'])
def test_code_stays_as_it_is(tag: str) -> None:
    """Its brackets are no formula, its comments no headings."""
    assert f"```\n{CODE}\n```" in converted(PAGE.format(code=tag.format(CODE)))


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
