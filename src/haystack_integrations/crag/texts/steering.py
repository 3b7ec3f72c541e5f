"""
Characters that steer what shows them, a terminal or the direction of writing; and halves of characters: UTF-16 writes
an emoji in two, and neither can be written as UTF-8.
"""

import re
from typing import Final

STEERING: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""All of them but the line feed and the tab."""

PICTURES: Final = 0x2400
"""U+2400 to U+241F show the first 32 characters by their names."""


def as_signs(text: str) -> str:
    """
    Put signs in the place of characters that would steer.

    ```python
    from haystack_integrations.crag.texts.steering import as_signs

    assert as_signs("\\x1b[31mred") == "␛[31mred"
    ```

    :param text: A text of a document, a model or a web page.
    :returns: The text, to be shown.
    """
    return STEERING.sub(_sign, text)


def whole(text: str) -> str:
    """
    Join the halves of characters, and put a sign in the place of one whose other half is missing.

    :param text: A text, whatever JSON or a font made of it.
    :returns: A text that can be written as UTF-8.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def without_halves(text: str) -> str:
    """
    Leave halves of characters out, as of a broken file: no tokenizer and no stemmer takes them for text.

    :param text: Any text.
    :returns: The rest, which can be written as UTF-8.
    """
    return text if text.isascii() else text.encode("utf-8", "ignore").decode()


def _sign(found: re.Match[str]) -> str:
    code = ord(found[0])
    return chr(PICTURES + code) if code < ord(" ") else "\ufffd"
