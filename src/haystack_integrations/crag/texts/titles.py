"""A title as the first line of a text, where every search and grader reads it; it is no sentence of the text."""

import re
from typing import Final

LONGEST_TITLE: Final = 200
"""Characters of a title that stand before a text or in a prompt; a record may bring one of a megabyte."""

MOST_JUDGED: Final = 500
"""Characters of a title that are judged: each sentence is read under it, and a record's may be as long as its text."""

_BETWEEN: Final = "\n\n"
_MARKS: Final = "# \t\n"
# Of a project and a number: people ask for it. Any other id of a record is a program's.
_TICKET: Final = re.compile(r"\#([A-Z][A-Z0-9]{1,9}-\d{1,7}|[A-Z]{2,6}\d{5,10})\Z")


def titled(text: str, title: str) -> str:
    """
    Put a title before a text.

    :param text: The text.
    :param title: Its title, on one line.
    :returns: Both; of a long title its beginning.
    """
    return title[:LONGEST_TITLE] + _BETWEEN + text


def identified(title: str, source: str, text: str) -> str:
    """
    Put the id of a ticket before its title: an export often has it in a field of its own, and who asks for it means it.

    ```python
    from haystack_integrations.crag.texts.titles import identified

    assert identified("Login fails", "tickets.jsonl#OPS-12", "Since Monday ...") == "OPS-12 Login fails"
    assert identified("Login fails", "tickets.jsonl#OPS-12", "OPS-12 is open.") == "Login fails"
    assert identified("Login fails", "tickets.jsonl#f3b1", "Since Monday ...") == "Login fails"
    ```

    :param title: The title; an empty one is none.
    :param source: The name of a record, which ends in its id, or of a file, which has none.
    :param text: The text.
    :returns: Both, where the id has the form of a ticket's and stands in neither title nor text.
    """
    ticket = _TICKET.search(source)
    # As a word of its own: OPS-1 is not told where a text speaks of OPS-12.
    if ticket is None or re.search(rf"(?<!\w){ticket[1]}(?!\w)", f"{title}\n{text}"):
        return title
    return f"{ticket[1]} {title}".rstrip()


def untitled(text: str, title: str) -> str:
    """
    Leave out the first line of a text that is only its title.

    :param text: A text, perhaps as `titled` gives it.
    :param title: Its title; an empty one leaves the text as it is.
    :returns: The end of the text; all of it where nothing else would be left.
    """
    rest = text.removeprefix(title[:LONGEST_TITLE] + _BETWEEN) if title else text
    return rest if rest.strip() else text


def shows(text: str, title: str) -> bool:
    """
    Tell whether a text begins with a title, so that it need not be shown again.

    ```python
    from haystack_integrations.crag.texts.titles import shows

    assert shows("## Refunds are paid within 30 days.", "Refunds")
    assert not shows("Articles of association.", "Art")
    ```

    :param text: The text.
    :param title: The title; an empty one needs no showing.
    :returns: Whether it does, whatever the case of letters, also as a Markdown heading; where letters have no case
        (Chinese, Korean) also as the beginning of a word.
    """
    wanted = title[:LONGEST_TITLE].casefold()
    begun = text.lstrip(_MARKS)[: len(wanted) + 1].casefold()  # which makes no text shorter; it may have a megabyte
    if not begun.startswith(wanted):
        return False
    following = begun[len(wanted) : len(wanted) + 1]
    goes_on = following.isdigit() or following.upper() != following
    return not (wanted[-1:].isalnum() and goes_on) or len(title) > LONGEST_TITLE
