"""What a DOCX shows by no letters: signs of symbol fonts, what is chosen in older forms, lines through text."""

from typing import Any, Final

from docx.oxml.ns import qn

from haystack_integrations.crag.formats.docx_parts import IS_ON, OFF, run_of

_PRIVATE: Final = 0xF000  # where Word puts the signs of such fonts
_CODES: Final = range(0x20, 0x100)
_PARTED: Final = ".//w:r/w:br[@w:type='page' or @w:type='column']"
_STRUCK: Final = f".//w:r[w:rPr/*[self::w:strike or self::w:dstrike]{IS_ON}]"


def _from(first: int, signs: str) -> dict[int, str]:
    return dict(enumerate(signs, first))


_SYMBOL: Final = {
    **_from(0x20, " !∀#∃%&∍()\u2217+,\u2212./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_"),
    **_from(0x61, "αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}\u223c"),
    **_from(0xA2, "\u2032≤\u2044∞ƒ♣♦♥♠↔←↑→↓°±″≥\u00d7∝∂•÷≠≡≈…"),
    **_from(0xC4, "⊗⊕∅∩\u222a⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧\u2228⇔⇐⇑⇒⇓◊"),
    0xE5: "∑",
    0xF2: "∫",
}
_FONTS: Final = {
    "symbol": _SYMBOL,
    "wingdings": {
        **_from(0x6E, "■□"),
        **dict.fromkeys((0x6F, 0x70, 0x71, 0x72, 0xA8), "☐"),
        **dict.fromkeys((0x6C, 0x6E, 0x76, 0x77, 0x9F, 0xA7, 0xD8), "•"),
        **_from(0xDF, "←→↑↓"),
        0xE8: "→",
        **_from(0xFB, "✗✓☒☑"),
    },
    "wingdings 2": {**_from(0x4F, "✗✓☒☑☒☒"), 0xA3: "☐"},
}


def write_signs(body: Any) -> None:
    """
    Write signs as text: a box that is ticked is what a form says.

    :param body: The body of a file.
    """
    for sign in list(body.iter(qn("w:sym"))):
        code, font = sign.get(qn("w:char")) or "", sign.get(qn("w:font"))
        sign.getparent().replace(sign, run_of(_sign(code, font))[0])
    for look in body.xpath(".//w:r/w:rPr[w:rFonts/@w:ascii or w:rFonts/@w:hAnsi]"):
        font = look.xpath("string(w:rFonts/@w:ascii | w:rFonts/@w:hAnsi)")
        for text in look.itersiblings(qn("w:t")) if font.lower() in _FONTS else ():
            said = text.text or ""
            text.text = "".join(_sign(f"{ord(one):X}", font) if ord(one) - _PRIVATE in _CODES else one for one in said)
    for field in body.xpath(".//w:fldChar/w:ffData"):
        if chosen := _chosen(field):
            field.getparent().addprevious(run_of(chosen)[0])


def part_lines(body: Any) -> None:
    """
    Make a break of a page or column within a paragraph one of a line: its reader passes over it, and words were one.

    :param body: The body of a file.
    """
    for line in dict.fromkeys(one.getparent().getparent() for one in body.xpath(_PARTED)):
        before, parting = False, None
        for part in line.iter(qn("w:t"), qn("w:br")):
            if part.tag == qn("w:br"):
                parting = part if before else None
            elif (part.text or "").strip():
                if parting is not None:
                    parting.attrib.pop(qn("w:type"), None)
                before, parting = True, None


def mark_struck(body: Any) -> None:
    """
    Write `~~` around what is struck through, as of pages: the old price is none.

    :param body: The body of a file.
    """
    struck = dict.fromkeys(run for run in body.xpath(_STRUCK) if "".join(run.itertext(qn("w:t"))).strip())
    for run in struck:  # Word parts what is written at once into any number of runs
        words = run.findall(qn("w:t"))
        if words and run.getprevious() not in struck:
            words[0].text = f"~~{words[0].text or ''}"
        if words and run.getnext() not in struck:
            words[-1].text = f"{words[-1].text or ''}~~"


def _sign(code: str, font: str | None) -> str:
    """Give a sign by its number in a font; of one that says nothing, as a picture, nothing."""
    try:
        place = int(code, 16)
        known = _FONTS.get((font or "").lower())
        if known is None:
            return chr(place) if chr(place).isprintable() else ""  # as no private letter is
        return known.get(place - _PRIVATE if place - _PRIVATE in _CODES else place, "")
    except (ValueError, OverflowError):  # no number, or that of no sign
        return ""


def _chosen(field: Any) -> str:
    """Give what a box or list of a form shows; what was typed stands in the text behind it."""
    box, entries = field.find(qn("w:checkBox")), field.find(qn("w:ddList"))
    if box is not None:
        said = next((one for one in map(box.find, map(qn, ("w:checked", "w:default"))) if one is not None), None)
        return "☐" if said is None or said.get(qn("w:val")) in OFF else "☒"
    if entries is None:
        return ""
    names = [one.get(qn("w:val")) or "" for one in entries.iterchildren(qn("w:listEntry"))]
    said = next((one for one in map(entries.find, map(qn, ("w:result", "w:default"))) if one is not None), None)
    at = "0" if said is None else said.get(qn("w:val")) or ""
    return next((name for place, name in enumerate(names) if str(place) == at), "")
