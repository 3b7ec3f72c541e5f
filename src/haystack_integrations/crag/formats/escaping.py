"""Text that is no Markdown, written into what becomes Markdown."""

import re
from typing import Final

_BEGINNING: Final = re.compile(r"(?m)^(?=[ \t]{0,3}(?:#{1,6}[ \t]|`{3}|~{3}))")


def escaped(text: str) -> str:
    """
    Write text so that, as Markdown, none of its lines is a heading or begins code.

    :param text: Any text.
    :returns: The text, a backslash before each line that would be one.
    """
    return _BEGINNING.sub(r"\\", text)
