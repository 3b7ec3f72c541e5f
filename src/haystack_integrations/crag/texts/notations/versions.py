"""Versions, as people and documents write them: "v3.12", "version 3.12", "Python 3.12"; and 12.0, which is 12."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final, NamedTuple

from haystack_integrations.crag.texts.languages.stemming import STOP_WORDS
from haystack_integrations.crag.texts.notations.rewriting import as_written

_NUMBER: Final = r"\d{1,4}(?:\.\d{1,5}){0,3}"
_DOTTED: Final = r"\d{1,4}(?:\.\d{1,5}){1,3}"
_VERSION: Final = re.compile(
    rf"(?<![\w.,/-])(?:(?P<said>(?i:versions?|releases?|ver\.?|v\.?)[ ]?)(?P<number>{_NUMBER})"
    rf"|(?P<dotted>{_DOTTED})|(?P<named>[A-Z]\w+[ ])(?P<whole>\d{{1,4}}))"
    r"(?!\w|[-/]\w|[.,]\d|[ ]?%)"
)
# What asks for all that a version brought, and the words in which documents tell it.
_NEWS: Final = re.compile(
    r"(?i)\bwhat\W+(?:\w+\W+){0,3}?(new|changed|changes?|different)(?=\s+(?:in|with|for|of|since)\b)"
    r"|\b(release notes?|change ?log|changes)\b"
)
_BROUGHT: Final = re.compile(
    r"(?i)\b(?:add(?:ed|s)?|new|changed?|changes|fix(?:ed|es)?|improve(?:d|s)|introduce(?:d|s)|removed|support(?:ed|s)?)\b"
)
_ZEROS: Final = re.compile(r"(?:\.0+)+$")


class Version(NamedTuple):
    """
    A version that a text tells.

    :param written: As it is written, without a name in front of it.
    :param number: Its number alone.
    :param is_said: Whether a word says that it is a version.
    :param is_apart: Whether the number is a word of its own.
    """

    written: str
    number: str
    is_said: bool
    is_apart: bool

    @property
    def value(self) -> str:
        """The number without zeros behind it: 12.0 is 12, and 3.10 is not 3.1."""
        return _ZEROS.sub("", self.number)


def versions_in(text: str) -> Iterator[Version]:
    """
    Find versions: numbers behind a word that says so, with a dot, or behind a name.

    ```python
    from haystack_integrations.crag.texts.notations.versions import versions_in

    assert [each.written for each in versions_in("Since version 3.12, v4 and Tarn 5.")] == ["version 3.12", "v4", "5"]
    ```

    :param text: Any text.
    :returns: Each of them; other numbers with a dot, too.
    """
    for found in _VERSION.finditer(text):
        if (found["named"] or "").strip().lower() in STOP_WORDS:  # "For 12 users"
            continue
        said, number = found["said"] or "", found["number"] or found["dotted"] or found["whole"]
        yield Version(said + number, number, bool(said), not said or said[-1] in " .")


def written_versions(query: str, texts: Sequence[str]) -> Iterator[tuple[str, str]]:
    """
    Find how documents write the versions of a question that none of them writes in that way.

    ```python
    from haystack_integrations.crag.texts.notations.versions import written_versions

    assert dict(written_versions("What does Tarn 12 add?", ["Tarn v12.0 adds tabs."])) == {"12": "v12.0"}
    assert dict(written_versions("What is new in v3.12?", ["3.12 adds tabs."])) == {"new": "adds", "v3.12": "3.12"}
    ```

    Who asks what is new in a version, or for its release notes, asks for what its documents call added, or fixed.

    :param query: The question.
    :param texts: The documents.
    :returns: Pairs of a version as the question has it, in small letters, and what to read for it.
    """
    asked = [*versions_in(query)]
    told = [*chain.from_iterable(map(versions_in, texts))] if asked else []
    if asked and (news := _NEWS.search(query)):
        yield from _brought(news[1] or news[2], [each for each in texts if _tells(each, asked)])
    bare = ((other.number, other.value) for other in told if other.is_apart)  # "version 3.12" has 3.12 as well
    writings = chain(((other.written, other.value) for other in told), bare)
    yield from as_written(((one.written, one.value) for one in asked), writings)


def _tells(text: str, asked: Sequence[Version]) -> bool:
    return not {each.value for each in asked}.isdisjoint(each.value for each in versions_in(text))


def _brought(news: str, texts: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Find a word that documents on the version have for what is new in it, where none has that word."""
    told = Counter(word.lower() for text in texts for word in _BROUGHT.findall(text))
    if told and not any(re.search(rf"(?i)\b{news}\b", text) for text in texts):
        yield news.lower(), told.most_common(1)[0][0]


def other_writings(query: str) -> list[str]:
    """
    Give the other writings of a query's versions, for a search by words: to an index v3.12 is a word, and so is 3.12.

    ```python
    from haystack_integrations.crag.texts.notations.versions import other_writings

    assert other_writings("new v3.12") == ["3.12"]
    assert other_writings("new version 12") == ["v12"]
    ```

    :param query: A query.
    :returns: Of each version the number where it stands behind a `v`, else `v` and the number.
    """
    found = [each for each in versions_in(query) if each.is_said or "." in each.number]
    return [f"v{each.number}" if each.is_apart else each.number for each in found]
