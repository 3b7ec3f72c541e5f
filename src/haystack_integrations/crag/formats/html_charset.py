"""Which letters a page of HTML is written in, as a browser finds out: Trafilatura guesses, and takes å for ĺ."""

import re
from contextlib import suppress
from typing import Final

from haystack_integrations.crag.formats.western import western

_LOOKED_AT: Final = 4_000  # bytes
_DECLARED: Final = re.compile(
    rb"(?i)<(?:meta|\?xml)\b[^>]{0,400}?(?:charset|encoding)\s*=\s*[\"']?\s*"
    rb"(windows-\d{3,4}|iso-8859-\d{1,2}|us-ascii|koi8-[ru]|macintosh|(?:x-)?shift_jis|x-sjis|euc-(?:jp|kr)|big5|gb\w{1,5})\b"
)
# A browser reads the wider set under the name of the one that is part of it.
_WIDER: Final = {
    **dict.fromkeys(("iso-8859-1", "us-ascii"), "cp1252"),
    "iso-8859-9": "cp1254",
    **dict.fromkeys(("shift_jis", "x-shift_jis", "x-sjis"), "cp932"),
    "euc-kr": "cp949",
    **dict.fromkeys(("gb2312", "gbk"), "gb18030"),
    "macintosh": "mac_roman",
}
_TAG: Final = re.compile(rb"<[^>]*>")


def in_utf8(page: bytes) -> bytes:
    """
    Write a page in UTF-8.

    ```python
    from haystack_integrations.crag.formats.html_charset import in_utf8

    assert in_utf8(b"<p>p\\xe5</p>") == "<p>på</p>".encode()
    assert in_utf8(b"<meta charset=iso-8859-2><p>\\xb3</p>").endswith("<p>ł</p>".encode())
    ```

    :param page: An HTML page.
    :returns: It in UTF-8, if it names its letters, or may be of Western Europe; else as it is.
    """
    with suppress(UnicodeDecodeError):
        page.decode()
        return page
    if (declared := _DECLARED.search(page[:_LOOKED_AT])) is not None:
        name = declared[1].decode().lower()
        with suppress(LookupError, UnicodeDecodeError):
            return page.decode(_WIDER.get(name, name)).encode()
    return page if western(_TAG.sub(b" ", page)) is None else page.decode("cp1252").encode()
