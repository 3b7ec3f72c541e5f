"""Which characters the bytes of a web page are, as browsers read them: by the WHATWG Encoding Standard's labels."""

import re
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from typing import Final

from haystack_integrations.crag.web.fetching import give_up

_NAMED: Final = re.compile(rb"charset\s*+=\s*+[\"']?([a-z0-9_.:-]{1,40})")
# Scripts, links and forms on a page have character sets of their own.
_META: Final = re.compile(rb"<meta\b[^>]*+", re.IGNORECASE)
_SEARCHED: Final = 2_048
_WESTERN: Final = "cp1252"
_ASCII: Final = bytes(range(128))
_MARKS: Final = {BOM_UTF8: "utf-8-sig", BOM_UTF16_LE: "utf-16", BOM_UTF16_BE: "utf-16"}
# Two western letters beyond ASCII side by side are common, three are not; words of other scripts are such runs.
_RUN: Final = re.compile(rb"[\x80-\xff]{3,}")
# Only codecs of this table run: Python has some that are no character sets, and one takes the square of the length.
# Labels are without signs here. What is named like a small set is the larger one that contains it, as in browsers.
_LABELS: Final = {
    "utf-8": "utf8 unicode11utf8 unicode20utf8 xunicode20utf8",
    "utf-16-le": "utf16 utf16le csunicode iso10646ucs2 ucs2 unicode unicodefeff",
    "utf-16-be": "utf16be unicodefffe",
    "cp1252": "windows1252 cp1252 xcp1252 ascii usascii ansix341968 iso88591 iso885911987 latin1 l1 cp819 ibm819 "
    "csisolatin1 isoir100",
    "iso8859-2": "iso88592 iso885921987 latin2 l2 csisolatin2 isoir101",
    "iso8859-3": "iso88593 iso885931988 latin3 l3 csisolatin3 isoir109",
    "iso8859-4": "iso88594 iso885941988 latin4 l4 csisolatin4 isoir110",
    "iso8859-5": "iso88595 iso885951988 cyrillic csisolatincyrillic isoir144",
    "iso8859-6": "iso88596 iso885961987 iso88596e iso88596i arabic asmo708 csiso88596e csiso88596i csisolatinarabic "
    "ecma114 isoir127",
    "iso8859-7": "iso88597 iso885971987 greek greek8 csisolatingreek ecma118 elot928 isoir126 suneugreek",
    "iso8859-8": "iso88598 iso885981988 iso88598e iso88598i hebrew visual logical csiso88598e csiso88598i "
    "csisolatinhebrew isoir138",
    "iso8859-10": "iso885910 latin6 l6 csisolatin6 isoir157",
    "iso8859-13": "iso885913",
    "iso8859-14": "iso885914",
    "iso8859-15": "iso885915 l9 csisolatin9",
    "iso8859-16": "iso885916",
    "cp866": "866 cp866 ibm866 csibm866",
    "cp874": "windows874 dos874 iso885911 tis620",
    "cp1250": "windows1250 cp1250 xcp1250",
    "cp1251": "windows1251 cp1251 xcp1251",
    "cp1253": "windows1253 cp1253 xcp1253",
    "cp1254": "windows1254 cp1254 xcp1254 iso88599 iso885991989 latin5 l5 csisolatin5 isoir148",
    "cp1255": "windows1255 cp1255 xcp1255",
    "cp1256": "windows1256 cp1256 xcp1256",
    "cp1257": "windows1257 cp1257 xcp1257",
    "cp1258": "windows1258 cp1258 xcp1258",
    "koi8-r": "koi8r koi8 koi cskoi8r",
    "koi8-u": "koi8u koi8ru",
    "mac-roman": "macintosh mac xmacroman csmacintosh",
    "mac-cyrillic": "xmaccyrillic xmacukrainian",
    "gb18030": "gb18030 gbk xgbk gb2312 gb231280 chinese csgb2312 csiso58gb231280 isoir58",
    "big5hkscs": "big5 big5hkscs cnbig5 csbig5 xxbig5",
    "euc_jp": "eucjp xeucjp cseucpkdfmtjapanese",
    "iso2022_jp": "iso2022jp csiso2022jp",
    "cp932": "shiftjis sjis xsjis ms932 mskanji windows31j csshiftjis",
    "cp949": "euckr cseuckr ksc5601 ksc56011987 ksc56011989 csksc56011987 korean windows949 isoir149",
}
_CODECS: Final = {label: codec for codec, labels in _LABELS.items() for label in labels.split()}


def decoded(body: bytes, kind: str) -> str:
    """
    Decode by the first bytes, by what the server says, or else the page; what is no text in it is replaced.

    Many servers say UTF-8, or western, of pages that they did not look at. What is plainly not what it is said to be is
    UTF-8 where it is whole, else what the page says, or else western; there is nothing else to tell by.

    :param body: The beginning of a page.
    :param kind: Its content type, with the character set if the server names it.
    :returns: The text.
    :raises PageError: For text that is not what it is said to be, and not western either.
    """
    server, page = _said(body, kind)
    codec = next((codec for mark, codec in _MARKS.items() if body.startswith(mark)), server or page or "utf-8")
    other = page if page != codec else ""
    if codec == "utf-8" and not _is_mostly_utf_8(body):
        codec = other or _WESTERN
    elif codec == _WESTERN and _is_utf_8(body):
        codec = "utf-8"
    if codec == _WESTERN and 2 * sum(map(len, _RUN.findall(body))) > len(body.translate(None, _ASCII)):
        if other in ("", _WESTERN):
            give_up("charset")
        codec = other
    return body.decode(codec, errors="replace")


def _is_mostly_utf_8(body: bytes) -> bool:
    """A byte that was damaged makes no other text of a page whose other characters are whole."""
    text = body.decode(errors="replace")
    broken = text.count("\ufffd")
    return 2 * broken <= len(text) - len(text.encode("ascii", "ignore"))


def _is_utf_8(body: bytes) -> bool:
    """Tell whether bytes beyond ASCII are UTF-8, as those of no western text are; the last character may be cut."""
    text = body.decode(errors="replace")
    return not text.isascii() and "\ufffd" not in text[:-1]


def _said(body: bytes, kind: str) -> tuple[str, str]:
    """Give the codecs that the server and the page name; empty where one names none."""
    page_says = b" ".join(_META.findall(body[:_SEARCHED]))
    server, page = (_codec(words) for words in (kind.encode("latin-1", "replace"), page_says))
    # A page whose bytes say so in ASCII is no UTF-16.
    return server, "utf-8" if page.startswith("utf-16") else page


def _codec(words: bytes) -> str:
    named = _NAMED.search(words.lower())
    return _CODECS.get(re.sub(r"[^a-z0-9]", "", named[1].decode("ascii")), "") if named else ""
