"""Signs that a terminal or a pipe cannot write, as with a code page of Windows, are written otherwise."""

import codecs
import sys
from typing import Final

# Of the views: a check that failed must not look like one that is well.
_IN_ASCII: Final = {"✔": "+", "✘": "x", "●": "*", "·": "-", "→": "->", "⇒": "=>", "↺": "@", "…": "..."}


def write_any_sign() -> None:
    """Let stdout and stderr take what their encoding does not have: another sign or a question mark, no traceback."""
    codecs.register_error("crag", _in_ascii)
    for stream in (sys.stdout, sys.stderr):
        if (reconfigure := getattr(stream, "reconfigure", None)) is not None:
            reconfigure(errors="crag")


def _in_ascii(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(_IN_ASCII.get(sign, "?") for sign in error.object[error.start : error.end]), error.end
