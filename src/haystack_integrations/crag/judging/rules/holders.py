"""
Whose property it is: a list of telephones does not tell the number of a person who stands in another section.

The word and the form of what is asked are there, and so is the name; only not together.
"""

import re
from collections.abc import Iterator
from typing import Final

from haystack_integrations.crag.judging.rules.other_names import is_begun
from haystack_integrations.crag.texts.text import words

_CAPITAL: Final = r"[A-Z\u00c0-\u00de][\w'\u2019-]*\w"
# Of two words, or behind a title: any other may be the name of the house, which stands beside no number.
_PERSON: Final = (
    rf"(?:(?:(?:Mrs?|Ms|Dr|Prof(?:essor)?)\b\.? )+({_CAPITAL}(?: {_CAPITAL})*)|({_CAPITAL}(?: {_CAPITAL})+))"
)
_HOLDER: Final = re.compile(
    rf"(?:number|address|old) (?:of|for|is|was) {_PERSON}|{_PERSON}['\u2019]s? (?:\w+[ -]){{1,2}}?(?:number|address)"
)
_PARAGRAPHS: Final = re.compile(r"\n[^\S\n]*\n")
_DIVIDER: Final = re.compile(r"[\s|:-]+")


def holder_in(query: str) -> str:
    """
    Find the person whose number, address or age a question asks for.

    :param query: The question.
    :returns: The last word of the name, in small letters, as several may have the first; none where it asks for that of
        no person.
    """
    found = _HOLDER.search(" ".join(query.split()))
    return words(next(filter(None, found.groups())))[-1] if found else ""


def beside(name: str, text: str) -> str:
    """
    Give what a document tells beside a name.

    ```python
    from haystack_integrations.crag.judging.rules.holders import beside

    text = "Staff\\n\\n## Board\\n\\nAnn Lee leads it.\\n\\n## Telephones\\n\\n- Ben Fox: 4410\\n- Eve May: 4411"
    assert "4410" in beside("fox", text)
    assert "4410" not in beside("lee", text)
    ```

    :param name: A word of a name, in small letters.
    :param text: The document, below its title.
    :returns: Rows, items and paragraphs that have the name, those behind such a paragraph, and whatever
        stands under it as a heading; all where the title has it.
    """
    title = text.partition("\n")[0]
    return text if is_begun(name, title.lower()) else "\n".join(_told(name, text))


def _told(name: str, text: str) -> Iterator[str]:
    under, was_told = 0, False  # the level of a heading with the name
    for paragraph in _PARAGRAPHS.split(text):
        lines = paragraph.strip().splitlines()
        if lines and (level := len(lines[0]) - len(lines[0].lstrip("#"))):
            if not under or level <= under:
                under = level if is_begun(name, lines[0].lower()) else 0
            was_told = False
        if lines and all(line.startswith(("|", "- ", "* ")) for line in lines):
            # The names of its columns tell what the cells of a row are.
            head = lines[:1] if len(lines) > 1 and _DIVIDER.fullmatch(lines[1]) else []
            kept = [line for line in lines if under or was_told or is_begun(name, line.lower())]
            yield from [*head, *kept] if kept else ()
            was_told = False
            continue
        is_told = is_begun(name, paragraph.lower())
        if is_told or was_told or under:
            yield paragraph
        was_told = is_told
