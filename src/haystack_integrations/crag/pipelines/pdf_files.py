"""Whether a PDF can be read, and whether its text is what stands on its pages."""

from collections.abc import Sequence
from contextlib import suppress
from io import BytesIO
from typing import Any, Final

from pypdf import PageObject, PasswordType, PdfReader
from pypdf.errors import DependencyError
from pypdf.generic import DictionaryObject

from haystack_integrations.crag.texts.legibility import illegible

_FEW: Final = 2  # pages: a book may have so many pictures of a page's size, in front and at its end
_NOTICE: Final = 3_000  # characters: "Please wait", in several languages
_WAY: Final = "few questions will find it; export it again, or have its text recognised from its pages"


def pdf_doubt(data: bytes, texts: Sequence[str]) -> str | None:
    """
    Tell why few questions will find what a PDF says on its pages.

    :param data: The file.
    :param texts: What was read of it, in order, with a form feed between two pages.
    :returns: What is wrong and the way out, or None.
    """
    if (why := illegible("\n".join(texts))) is not None:
        return f"got a PDF of which {why}: {_WAY}"
    if sum(map(len, texts)) < _NOTICE and PdfReader(BytesIO(data)).root_object.get("/NeedsRendering"):
        return (
            "got a PDF whose form (XFA) only Adobe's programs show, so its notice to others was read; print it to a PDF"
        )
    pages = "".join(texts).split("\f")
    bare = [number for number, page in enumerate(pages) if not page.strip()]
    if not bare:
        return None
    shown = PdfReader(BytesIO(data)).pages
    if damaged := [number + 1 for number in bare if number < len(shown) and _is_damaged(shown[number])]:
        page = f"{len(damaged)} of {len(pages)} pages, page {damaged[0]} first,"
        return f"got a PDF of which {page} are damaged, and were left out: repair it or export it again"
    if not _are_many(bare, pages):
        return None
    scanned = [number + 1 for number in bare if number < len(shown) and _has_picture(shown[number])]
    if not _are_many(scanned, pages):
        return None
    return f"got a PDF of which {len(scanned)} of {len(pages)} pages, page {scanned[0]} first, are pictures: {_WAY}"


def _are_many(some: Sequence[Any], every: Sequence[Any]) -> bool:
    return len(some) > _FEW or 0 < len(every) <= 2 * len(some)


def _is_damaged(page: PageObject) -> bool:
    try:
        page.extract_text()
    except Exception:  # whatever a damaged page leads its reader to
        return True
    return False


def _has_picture(page: PageObject) -> bool:
    """Tell whether a page draws a picture, itself or by its forms: programs that recognise text put scans into some."""
    waiting: list[Any] = [page]
    seen = set[int]()
    while waiting:
        page_or_form, parts = waiting.pop(), list[DictionaryObject]()
        with suppress(Exception):  # it draws nothing, or whatever a damaged part leads its reader to
            drawn = page_or_form["/Resources"]["/XObject"]
            parts = [part for name in drawn if isinstance(part := drawn[name], DictionaryObject)]
        if any(part.get("/Subtype") == "/Image" for part in parts):
            return True
        waiting += [part for part in parts if id(part) not in seen]  # forms may draw each other
        seen.update(map(id, parts))
    return False


def pdf_problem(data: bytes) -> str | None:
    """
    Look whether a PDF can be read.

    :param data: The file.
    :returns: What is wrong and the way out, or None.
    """
    if b"%PDF-" not in data[:1024]:
        return "got a file that does not begin like a PDF; give it the suffix of what it is, or export it again"
    if b"/Encrypt" not in data:
        return None
    try:
        reader = PdfReader(BytesIO(data))
        # Many are encrypted with an empty password, only to restrict printing: those can be read.
        locked = reader.is_encrypted and reader.decrypt("") is PasswordType.NOT_DECRYPTED
    except DependencyError:
        return "got a PDF with AES encryption; run `pip install cryptography`, or save a copy without a password"
    except NotImplementedError:  # by certificates, or by a shop
        return "got a PDF with an encryption that is not by a password; save a copy without encryption"
    except Exception as error:  # whatever a damaged file leads its reader to
        return f"got a damaged PDF ({type(error).__name__}); repair or export it again"
    return "got a PDF with a password; save a copy without a password" if locked else None
