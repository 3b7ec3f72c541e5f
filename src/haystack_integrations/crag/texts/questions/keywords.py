"""The words of a question that name something: what is left for a search when the question is gone."""

import re
from collections.abc import Iterator
from typing import Final

from haystack_integrations.crag.texts.languages.function_words import function_words
from haystack_integrations.crag.texts.languages.stemming import STOP_WORDS
from haystack_integrations.crag.texts.marked_words import MARKS
from haystack_integrations.crag.texts.text import PHRASES, UNSPACED, words

# Names that are others, or none, once they are cut into words: AT&T, node.js, v2.1.0, .NET, C++ and C#; and
# `on_delete`, which to a search is one word, though a text may write it as two.
_NAME: Final = re.compile(
    r"(?<![\w.&])(?:\w+(?:&\w+)+|\.?\w*[^\W_]{2}(?:\.(?:[^\WA-Z_]+|[^\Wa-z_]+))+|\w\w*(?:\.\d+){2,}"
    r"|\.[^\W\d_]\w+|[^\W\d_]\w*(?:\+\+|\#)|[^\W_]+(?:_+[^\W_]+)+)(?![\w+#])"
)


def content_words(text: str) -> list[str]:
    """
    Give the words of a text that say something about its topic.

    :param text: Any text.
    :returns: Lower-case words in order, stop words left out.
    """
    return [word for word in words(text) if word not in STOP_WORDS]


def _as_named(question: str) -> Iterator[str]:
    """Give the content words of a question, and its names as they are written."""
    position = 0
    for name in _NAME.finditer(question):
        yield from content_words(question[position : name.start()])
        yield name[0].lower()
        yield from content_words(name[0]) if "_" in name[0] else ()
        position = name.end()
    yield from content_words(question[position:])


def keywords(question: str, most: int | None = None) -> str:
    """
    Reduce a question to its content words, in order, each once; function words of its language are none.

    :param question: The question.
    :param most: Most words; None for all.
    :returns: The words in lower case, separated by spaces.
    """
    found, common = list(_as_named(question)), function_words(words(question))
    found = [word for word in found if word not in common] or found
    if UNSPACED.search(question) or PHRASES.search(question):
        # There a word is a run of characters between marks; single characters would be no words to search for.
        found = [part for part in re.findall(rf"[\w{MARKS}]+", question.casefold()) if part not in STOP_WORDS]
    return " ".join(list(dict.fromkeys(found))[:most])
