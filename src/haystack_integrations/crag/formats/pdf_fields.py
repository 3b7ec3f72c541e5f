"""What was filled into a PDF: the values of its form and text typed upon a page, which its own text does not hold."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple

from pypdf import PageObject
from pypdf.generic import ArrayObject, DictionaryObject, NullObject, StreamObject, create_string_object

from haystack_integrations.crag.formats.pdf_pieces import Piece, text_of, unplaced

_MOST: Final = 1_000  # fields of a page, and pieces of its text among which each has its place
_DEEPEST: Final = 9
_UNSEEN: Final = 2 | 32  # hidden; not to be viewed
_SECRET: Final = 1 << 13  # a password
_PRESSED: Final = 1 << 16  # a button, which has no state
_NEAR: Final = 24.0  # points above a field: two lines


class Field(NamedTuple):
    """What stands in a field, what the field is called, its corners in points, and whether it is a box to tick."""

    words: str
    name: str
    left: float
    bottom: float
    right: float
    top: float
    is_box: bool


def fields_of(page: PageObject) -> list[Field]:
    """
    Read what was filled in.

    :param page: The page.
    :returns: Its fields that say something, from left to right; none of one whose fields cannot be read.
    """
    try:
        return sorted(islice(_fields(page), _MOST), key=lambda field: field.left)
    except Exception:  # whatever a damaged file leads its reader to: its text is read nevertheless
        return []


def with_fields(pieces: Sequence[Piece], fields: Sequence[Field]) -> list[Piece]:
    """
    Put what was filled in where it stands.

    :param pieces: The text of the page.
    :param fields: The fields.
    :returns: The text; a value stands behind the words on its left or above, a box (`[x]`, `[ ]`) also before those on
        its right. One that has no words nearby ends the page, with the name of its field.
    """
    if fields and len(pieces) > _MOST:
        pieces = unplaced(text_of(pieces))
    texts, end = [piece.text for piece in pieces], list[str]()
    for field in fields:
        place, is_before = _place(pieces, field)
        if place is None:
            end.append(f"{field.name}: {field.words}" if field.name else field.words)
        elif is_before:
            texts[place] = f"{field.words} {texts[place]}"
        else:
            kept, after = texts[place].rstrip(), next(filter(None, texts[place + 1 :]), "")
            apart = texts[place][len(kept) :] or ("" if after[:1].isspace() else " ")
            texts[place] = f"{kept} {field.words}{apart}"
    filled = [piece._replace(text=text) for piece, text in zip(pieces, texts, strict=True)]
    return [*filled, *(piece for one in end for piece in unplaced(f"\n{one}"))]


def _place(pieces: Sequence[Piece], field: Field) -> tuple[int | None, bool]:
    """Find the piece that says what a field is for, and whether the field stands before it."""
    words = [(piece, number) for number, piece in enumerate(pieces) if piece.text.strip()]
    line = [(piece, number) for piece, number in words if field.bottom - 2 <= piece.y <= field.top]
    if left := [(piece.x, piece.y, number) for piece, number in line if piece.x <= field.left]:
        return max(left)[2], False
    if field.is_box:
        right = [(piece.x, number) for piece, number in line]
        return (min(right)[1], True) if right else (None, False)
    above = [(piece.y, number) for piece, number in words if field.top < piece.y < field.top + _NEAR]
    near = [(y, number) for y, number in above if field.left - _NEAR < pieces[number].x < field.right]
    return (min(near)[1], False) if near else (None, False)


def _fields(page: PageObject) -> Iterator[Field]:
    for one in page.annotations or ():
        note = one.get_object()
        if not isinstance(note, DictionaryObject) or int(note.get("/F", 0)) & _UNSEEN:
            continue
        own = _inherited(note)
        is_box = own.get("/FT") == "/Btn"
        words = _box(note, own) if is_box else " ".join(_words(note, own).split())
        match [float(number) for number in note.get("/Rect", ())]:
            case [first, low, second, high] if words:
                (left, right), (bottom, top) = sorted((first, second)), sorted((low, high))
                name = " ".join(str(own.get("/TU") or own.get("/T") or "").split())
                yield Field(words, name, left, bottom, right, top, is_box)


def _inherited(note: DictionaryObject) -> dict[str, Any]:
    """Give what a field says of itself, or the group that it belongs to."""
    if note.get("/Subtype") != "/Widget":
        return {}
    found: dict[str, Any] = {}
    group: Any = note
    for _ in range(_DEEPEST):
        if not isinstance(group, DictionaryObject):
            break
        own = {key: group[key] for key in ("/FT", "/V", "/T", "/TU", "/Ff", "/Opt") if key in group}
        found = {**{key: value for key, value in own.items() if not isinstance(value, NullObject)}, **found}
        group = group["/Parent"] if "/Parent" in group else None
    return found


def _box(note: DictionaryObject, own: dict[str, Any]) -> str:
    if int(own.get("/Ff", 0)) & _PRESSED:
        return ""
    return "[ ]" if note.get("/AS", own.get("/V", "/Off")) == "/Off" else "[x]"


def _words(note: DictionaryObject, own: dict[str, Any]) -> str:
    if note.get("/Subtype") == "/FreeText":
        return str(note.get("/Contents", ""))
    value = own.get("/V", "")
    if own.get("/FT") not in {"/Tx", "/Ch"} or int(own.get("/Ff", 0)) & _SECRET:
        return ""
    if isinstance(value, StreamObject):  # as any text of a PDF: UTF-16, UTF-8 or the format's own encoding
        data = value.get_data()
        return told if isinstance(told := create_string_object(data), str) else data.decode("latin-1")
    chosen = [str(one) for one in value] if isinstance(value, ArrayObject) else [str(value)]
    pairs = [pair for pair in own.get("/Opt", ()) if isinstance(pair, ArrayObject) and pair]
    shown = {str(pair[0]): str(pair[-1]) for pair in pairs}  # stored and seen
    return ", ".join(shown.get(one, one) for one in chosen)
