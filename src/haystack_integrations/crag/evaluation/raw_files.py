"""Data files before anything is read of them: packed, or in another encoding."""

from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from pathlib import Path
from shlex import quote
from typing import Final

from haystack_integrations.crag.errors import SourceError

_GZIP: Final = b"\x1f\x8b"
_ZIP: Final = b"PK\x03\x04"


def plain_text(path: Path) -> str:
    """
    Read a text file, with or without a byte order mark.

    :param path: The file.
    :returns: Its text.
    :raises SourceError: For another encoding than UTF-8, and a packed file.
    """
    content = path.read_bytes()
    for number, line in enumerate(content.splitlines(), 1):
        check_encoding(path, number, line)
    return content.decode("utf-8-sig")


def check_encoding(path: Path, number: int, line: bytes) -> None:
    """
    Refuse a line of another encoding than UTF-8, and the first one of a packed file.

    :param path: Its file.
    :param number: Its number.
    :param line: The line.
    :raises SourceError: With the encoding, where it can be told, and the way out.
    """
    if number == 1 and line.startswith(_GZIP):
        msg = f"{path}:{number}: got a file packed by gzip, wanted one that is not; {_unpacking(path)}"
        raise SourceError(msg)
    if number == 1 and line.startswith(_ZIP):
        msg = f"{path}:{number}: got a file packed by zip, as Office's are, wanted a text file; save its text as one"
        raise SourceError(msg)
    # Plain letters in UTF-16 are valid UTF-8, with a zero byte before or after each.
    if line.startswith((BOM_UTF16_BE, BOM_UTF16_LE)) or line[:2].count(0) == 1:
        got, encoding = "text in UTF-16", "UTF-16"
    else:
        try:
            line.decode()
        except UnicodeDecodeError:
            got, encoding = "text that is not UTF-8", "ENCODING"
        else:
            return
    command = f"iconv -f {encoding} -t UTF-8 {quote(str(path))} > NEW"
    msg = f"{path}:{number}: got {got}, wanted UTF-8; save the file as that, such as by: {command}"
    raise SourceError(msg)


def refuse_packed(*files: Path) -> None:
    """
    Refuse a file that is there only packed: an optional one would be missing without a word.

    :param files: What would be read.
    :raises SourceError: With the command that unpacks it.
    """
    for file in files:
        packed = file.with_name(file.name + ".gz")
        if packed.is_file() and not file.is_file():
            msg = f"got {str(packed)!r}, wanted {file.name}, which is not packed; {_unpacking(packed)}"
            raise SourceError(msg)


def _unpacking(file: Path) -> str:
    """Say how to unpack a file."""
    name = quote(str(file))
    return (
        f"unpack it: gunzip -k {name}" if file.suffix == ".gz" else f"unpack it: mv {name} {name}.gz; gunzip {name}.gz"
    )
