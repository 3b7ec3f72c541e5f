"""Write a DOCX so that its reader finds its headings, and all of its text as it reads with all changes accepted."""

import re
from io import BytesIO
from typing import Any, Final

import docx
from docx.document import Document as DocxFile
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml import OxmlElement, parse_xml
from docx.oxml.ns import nsmap, qn
from lxml import etree

from haystack_integrations.crag.formats.docx_numbers import Numbers
from haystack_integrations.crag.formats.docx_parts import IS_ON, OFF, bases, parts_of, run_of, text_of
from haystack_integrations.crag.formats.docx_signs import mark_struck, part_lines, write_signs
from haystack_integrations.crag.formats.docx_tables import shorten_merges, straighten, table_of, take_out
from haystack_integrations.crag.formats.escaping import escaped
from haystack_integrations.crag.formats.formulas import MATH, formula_of, raised
from haystack_integrations.crag.formats.graphics import graphics_of
from haystack_integrations.crag.formats.office_parts import completed

# Word's built-in styles have these names in a file of any language.
_HEADING: Final = re.compile(r"(?i)title|heading (?P<level>[1-6])")
_CONTENTS: Final = re.compile(r"(?i)toc [1-9]|table of figures")
_OUTLINED: Final = tuple("012345678")  # 9 is body text
_LONGEST: Final = 200  # characters of a heading that no style says is one
# Inserted or moved text, controls of a form, fields: the reader looks into none of them.
_WRAPPERS: Final = (
    "w:ins",
    "w:moveTo",
    "w:sdt",
    "w:sdtContent",
    "w:smartTag",
    "w:fldSimple",
    "w:customXml",
    "w:dir",
    "w:bdo",
    "m:oMathPara",
)
_GONE: Final = ("w:del", "w:moveFrom")
_FALLBACK: Final = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"  # the same, for old programs
_SHOWN: Final = ".//w:r/*[self::w:t or self::w:tab or self::w:br]"  # a style's stops for tabs have the same name
# Without an end of its own: the next one's words stand on the same line, as behind an initial of several lines.
_ENDLESS: Final = (
    ".//w:p[w:pPr/w:rPr/*[self::w:del or self::w:moveFrom] or w:pPr/w:framePr/@w:dropCap[.!='none']]"
    "[following-sibling::*[1][self::w:p]]"
)
_GONE_ROW: Final = ".//w:tr[w:trPr/w:del]"
_HIDDEN: Final = f".//w:r[w:rPr/w:vanish{IS_ON}]"
_OF_STYLE: Final = (
    ".//w:r[not(w:rPr/w:vanish)][w:rPr/w:rStyle/@w:val=$name or ancestor::w:p[1]/w:pPr/w:pStyle/@w:val=$name]"
)
# Word has a word for it, LibreOffice's import from HTML raises smaller letters.
_RAISED: Final = ".//w:r[w:rPr[w:vertAlign/@w:val='superscript' or (w:position/@w:val > 3 and w:sz)]]/w:t"
_NOTES: Final = {
    "w:footnoteReference": RELATIONSHIP_TYPE.FOOTNOTES,
    "w:endnoteReference": RELATIONSHIP_TYPE.ENDNOTES,
}


def with_content_marked(data: bytes) -> bytes:
    """
    Put `#` before titles and headings, one for each level, and numbers before what Word counts; take text out of what
    holds it, and notes to their signs.

    :param data: A DOCX file.
    :returns: The same with marks and numbers, notes in brackets, all changes accepted, and nothing hidden.
    :raises Exception: Whatever a damaged file leads its reader to.
    """
    file = docx.Document(BytesIO(completed(data)))
    for style in file.styles.element.xpath("./w:style[not(@w:type)]"):
        style.set(qn("w:type"), "paragraph")  # as Word takes it
    for formula in list(file.element.body.iter(f"{MATH}oMath")):
        formula.getparent().replace(formula, run_of(formula_of(formula)))
    for words in file.element.body.xpath(_RAISED):
        words.text = raised(words.text or "")
    _hide(file)
    _leave_out_contents(file)
    _join(file.element.body)
    _unwrap(file.element.body)
    write_signs(file.element.body)
    part_lines(file.element.body)
    mark_struck(file.element.body)
    _place_notes(file)
    _place_graphics(file)
    _unframe(file.element.body)
    straighten(file.element.body)
    levels, numbers = _levels(file), Numbers(file)
    for paragraph in file.element.body.iter(qn("w:p")):
        is_heading = paragraph.getparent() is file.element.body
        level = (levels.get(paragraph.style) or _outlined(paragraph, _LONGEST)) if is_heading else 0
        number = numbers.of(paragraph)
        marks = " ".join(mark for mark in ("#" * level, number) if mark)
        if marks and "".join(paragraph.itertext()).strip():
            paragraph.insert(0 if paragraph.pPr is None else 1, run_of(f"{marks} "))
        if not level:
            _escape(paragraph)
    _unnest(file.element.body)
    shorten_merges(file.element.body)
    file.save(saved := BytesIO())
    return saved.getvalue()


def _hide(file: DocxFile) -> None:
    """Take out what a style hides, as Word does the ends of a form that was pasted from a page."""
    for style in file.styles:
        told = (base.element.find(f"{qn('w:rPr')}/{qn('w:vanish')}") for base in bases(style))
        first = next((one for one in told if one is not None), None)
        if first is not None and first.get(qn("w:val")) not in OFF:
            for run in etree.XPath(_OF_STYLE, namespaces=nsmap)(file.element.body, name=style.style_id):
                run.getparent().remove(run)


def _leave_out_contents(file: DocxFile) -> None:
    """Leave out the table of contents: it has the words of all headings, and answers nothing that they stand above."""
    named = {
        style.style_id for style in file.styles if any(_CONTENTS.fullmatch(one.name or "") for one in bases(style))
    }
    for line in file.element.body.xpath(".//w:p[w:pPr/w:pStyle][not(parent::w:tc)]"):
        if line.style in named:
            line.getparent().remove(line)


def _join(body: Any) -> None:
    """Put a paragraph whose end was deleted into the next one: deleted with its words, it has no number either."""
    for line in reversed(body.xpath(_ENDLESS)):  # the last first: words move once
        below = line.getnext()
        for part in reversed([part for part in line if part.tag != qn("w:pPr")]):
            below.insert(0 if below.pPr is None else 1, part)
        line.getparent().remove(line)


def _unwrap(body: Any) -> None:
    """Accept all changes, leave out what is hidden, and put what other elements hold in their place."""
    for row in body.xpath(_GONE_ROW):
        take_out(row)
    for gone in [*body.iter(*map(qn, _GONE), _FALLBACK), *body.xpath(_HIDDEN)]:
        gone.getparent().remove(gone)
    for wrapper in list(body.iter(*map(qn, _WRAPPERS))):
        for child in list(wrapper):
            wrapper.addprevious(child)
        wrapper.getparent().remove(wrapper)
    for ruby in list(body.iter(qn("w:ruby"))):  # of a word and how it is read aloud, the word
        words = "".join(text for base in ruby.iterchildren(qn("w:rubyBase")) for text in base.itertext(qn("w:t")))
        ruby.getparent().replace(ruby, run_of(words)[0])


def _place_notes(file: DocxFile) -> None:
    """Put each footnote where its sign stands: it says what it is to, and nobody reads on at the foot of a passage."""
    for tag, kind in _NOTES.items():
        notes = {one.get(qn("w:id")): text_of(one) for part in parts_of(file, kind) for one in parse_xml(part.blob)}
        for sign in list(file.element.body.iter(qn(tag))):
            if said := notes.pop(sign.get(qn("w:id")), ""):  # once: a file of many signs of one note is no larger
                sign.addprevious(run_of(f" [{said}]")[0])


def _place_graphics(file: DocxFile) -> None:
    """Put what charts and diagrams say behind the paragraph that they stand in."""
    links = dict(file.part.rels)
    drawn = [(one, list(graphics_of(one, links))) for one in file.element.body.iter(qn("w:drawing"))]
    for drawing, parts in reversed(drawn):
        *_, place = drawing.iterancestors(qn("w:p"))
        for part in reversed(parts):
            place.addnext(_line(part) if isinstance(part, str) else table_of(part))


def _unframe(body: Any) -> None:
    """Take what a table of one cell holds out of it where other tables do: it is their frame."""
    while frames := body.xpath("./w:tbl[count(./w:tr/w:tc)=1][.//w:tbl]"):
        for frame in frames:
            for part in frame.xpath("./w:tr/w:tc/*[self::w:p or self::w:tbl]"):
                frame.addprevious(part)
            body.remove(frame)


def _unnest(body: Any) -> None:
    """Write text boxes and tables within a cell as lines of it: of a cell, the reader gives the lines alone."""
    for box in body.xpath(".//w:tc//w:txbxContent"):
        if (cell := next(box.iterancestors(qn("w:tc")), None)) is not None:  # else told with the box that it was in
            cell.append(_line(text_of(box)))
            box.getparent().remove(box)
    for table in reversed(body.xpath(".//w:tc//w:tbl")):  # the innermost first
        rows = (map(text_of, row.iterchildren(qn("w:tc"))) for row in table.iterchildren(qn("w:tr")))
        told = "; ".join(filter(None, (", ".join(filter(None, cells)) for cells in rows)))
        table.getparent().replace(table, _line(told))


def _levels(file: DocxFile) -> dict[str | None, int]:
    """Give the level of each style that is a heading, or is based on one, by its id."""
    levels: dict[str | None, int] = {}
    for style in file.styles:
        names = (_HEADING.fullmatch(base.name or "") for base in bases(style))
        outlined = (_outlined(base.element) for base in bases(style))
        if found := next(filter(None, names), None):
            levels[style.style_id] = int(found["level"] or 1)
        elif level := next(filter(None, outlined), 0):
            levels[style.style_id] = level
    return levels


def _outlined(one: Any, longest: int | None = None) -> int:
    """Give the level that a style or paragraph has in the outline; a long paragraph has none."""
    told = one.xpath("string(./w:pPr/w:outlineLvl/@w:val)")
    if told not in _OUTLINED or (longest is not None and len("".join(one.itertext())) > longest):
        return 0
    return min(int(told) + 1, 6)


def _escape(paragraph: Any) -> None:
    """Mark lines, of any number of runs, that as Markdown were headings or began code: comments of a script, mostly."""
    first, said = None, ""
    for part in [*paragraph.xpath(_SHOWN), None]:
        if part is None or part.tag == qn("w:br"):
            if first is not None and escaped(said) != said:
                first.text = f"\\{first.text}"
            first, said = None, ""
        elif text := "\t" if part.tag == qn("w:tab") else part.text:
            said += text
            first = part if first is None and part.text else first


def _line(words: str) -> Any:
    line = OxmlElement("w:p")
    line.append(run_of(words))
    return line
