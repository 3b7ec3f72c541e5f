"""Halves of characters: UTF-16 writes an emoji in two, and neither can be written as UTF-8."""


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
