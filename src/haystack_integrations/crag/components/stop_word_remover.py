"""StopWordRemover: the words of a question that name something, for a search by words."""

import re
from typing import Any, Final

from haystack import component

from haystack_integrations.crag.copying import Copied
from haystack_integrations.crag.expansion.store_words import near_words, other_forms
from haystack_integrations.crag.inputs import checked
from haystack_integrations.crag.light import light
from haystack_integrations.crag.texts.languages.function_words import function_words
from haystack_integrations.crag.texts.languages.stemming import STOP_WORDS
from haystack_integrations.crag.texts.notations.figures import other_figures
from haystack_integrations.crag.texts.notations.versions import other_writings

# Not quotes and backticks: `with` in them is what is asked about.
_MARKS: Final = ".,;:?!\u2026()\u00bf\u00a1"
_ENDS: Final = tuple(".?!:\u2026\u00bf\u00a1")
_FEWEST_EVEN: Final = 4
_SHORTENED: Final = re.compile(r"'(?:d|ll|m|re|s|ve)$")  # "I've", "they'd": of most, only the longer form is listed


@component
@light
@checked
class StopWordRemover(Copied):
    """
    Takes the stop words out of a search query, for a retriever that goes by words.

    BM25 counts `how`, `do` and `the` like any other word, and a text that has many of them comes before one that has
    the word that was meant: usual indexes and Haystack's store in memory keep them. The right text is among the first
    ten more often without them (docs/results.md). An embedding model reads whole sentences; leave its query as it is.

    What is written as a name stays: capitals inside a sentence (`The Who`, `IT`), unless all of it has them, and what
    stands in quotes, backticks or beside any other mark. A query of stop words alone stays whole. With the store that
    is searched, a misspelt word gets the store's own beside it.

    ```python
    from haystack_integrations.crag.components.stop_word_remover import StopWordRemover

    remover = StopWordRemover()
    assert remover.run("How do I undo what `with` does?")["query"] == "undo `with`"
    assert remover.run("When did The Who split up?")["query"] == "The Who split"
    ```
    """

    def __init__(self, stop_words: list[str] | None = None, document_store: Any = None) -> None:
        """
        Choose the words.

        :param stop_words: Words in the place of the built-in ones; an empty list keeps each query whole.
            None takes those of the query's language: English, or one that `texts.function_words` knows. Chinese and
            Japanese, which have no spaces, stay whole.
        :param document_store: The store that is searched, if it is Haystack's in memory: what neither it nor English
            has, a slip of the keyboard as a rule, is searched for as the store spells it, too. Others are not asked.
        :raises ConfigurationError: For anything but a list of texts.
        """
        self.stop_words, self.document_store = stop_words, document_store

    @component.output_types(query=str)
    def run(self, query: str) -> dict[str, Any]:
        """
        Take them out.

        :param query: A search query.
        :returns: A dictionary with the following keys:
            - `query`: The other words, as they are written and in their order; behind them versions, times, sizes and
                ids as others write them (`v3.12` and `3.12`), and near words of the store.
        """
        words = query.split()
        bare = [word.strip(_MARKS).lower().replace("\u2019", "'") for word in words]
        stop_words, is_even = self._of(bare), _is_even(words)
        kept = [
            word
            for place, (word, low) in enumerate(zip(words, bare, strict=True))
            if stop_words.isdisjoint((low, _SHORTENED.sub("", low))) or (not is_even and _is_name(words, place, low))
        ]
        # A mark that stands alone, as French has it before its `?`, is no word to search for.
        names_something = any(map(str.isalnum, "".join(kept)))
        rest = " ".join(kept) if names_something and len(kept) < len(words) else query
        others = (*other_writings(rest), *other_figures(rest))
        others += (*near_words(self.document_store, rest), *other_forms(self.document_store, query))
        return {"query": " ".join([rest, *others])}

    def _of(self, bare: list[str]) -> frozenset[str]:
        if self.stop_words is not None:
            return frozenset(map(str.lower, self.stop_words))
        return function_words(bare) or STOP_WORDS


def _is_even(words: list[str]) -> bool:
    """Tell whether a query is written in capitals alone, or each word with one, so that no capital tells a name."""
    is_long = len(words) >= _FEWEST_EVEN
    return is_long and (" ".join(words).isupper() or all(word == word.capitalize() for word in words))


def _is_name(words: list[str], place: int, low: str) -> bool:
    """Tell whether a word has a capital that neither the beginning of a sentence nor English `I` gives it."""
    begins = place == 0 or words[place - 1].endswith(_ENDS)
    says_nothing = begins and not (words[place].isupper() and len(low) > 1)
    has_capital = words[place] != words[place].lower()  # Korean has neither capitals nor small letters
    return has_capital and not (says_nothing or _SHORTENED.sub("", low) == "i")
