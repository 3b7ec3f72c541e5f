"""Count in how many documents each term is."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from haystack_integrations.crag.metadata import told
from haystack_integrations.crag.texts.text import terms

Origin = Literal["store", "file", "retrieved"]
"""Where statistics come from: asked of the store, read from a file, or counted over what was retrieved."""

# Some hundred megabytes. A corpus beyond that has mostly typing errors and numbers among its rare terms.
_MOST_TERMS: Final = 4_000_000


@dataclass(frozen=True)
class CorpusStatistics:
    """
    What is known of a corpus: how many documents it has, and in how many of them a term is.

    ```python
    from haystack_integrations.crag.corpus_statistics import collect

    corpus = collect(["Emma is a novel.", "Persuasion is a novel, too."]).statistics("file")
    assert corpus.documents == 2
    assert corpus.frequency(["novel", "emma", "penguin"]) == {"novel": 2, "emma": 1, "penguin": 0}
    ```

    :param documents: Documents in the corpus.
    :param frequencies: Documents that have a term, by term, as `text.terms` gives it; of a store, only what was asked.
    :param origin: Where this comes from.
    :param unseen: What holds for a term that is not in `frequencies`: 1 where those in one document were left out.
    """

    documents: int
    frequencies: Mapping[str, int]
    origin: Origin
    unseen: int = 0

    def frequency(self, wanted: Iterable[str]) -> dict[str, int]:
        """
        Look document frequencies up.

        :param wanted: Terms.
        :returns: In how many documents each is; never more than there are.
        """
        return {term: min(self.documents, self.frequencies.get(term, self.unseen)) for term in wanted}

    def counts(self, wanted: Iterable[str]) -> tuple[int, dict[str, int]]:
        """
        Give all that terms are weighed by.

        :param wanted: Terms.
        :returns: The number of documents, and in how many of them each term is.
        """
        return self.documents, self.frequency(wanted)


class TermCounter:
    """
    Counts a corpus, document by document.

    Nothing tells one document from another here: the same one added twice counts twice.

    ```python
    from haystack_integrations.crag.corpus_statistics import collect

    counter = collect(["Emma is a novel.", "Persuasion is a novel, too."])
    counter.remove("Emma is a novel.")
    assert counter.statistics("store").frequency(["novel", "emma"]) == {"novel": 1, "emma": 0}
    ```
    """

    def __init__(self) -> None:
        """Start with an empty corpus."""
        self.documents = 0
        self.is_whole = True
        self.frequencies: Counter[str] = Counter()

    def add(self, text: str) -> None:
        """
        Count a document.

        :param text: All that is read of it: its title and its content.
        """
        self.documents += 1
        self.frequencies.update(set(terms(text)))
        if len(self.frequencies) > _MOST_TERMS:
            self._forget_rare()

    def remove(self, text: str) -> None:
        """
        Take back a document that was counted.

        :param text: The same text.
        """
        self.documents -= 1
        for term in set(terms(text)):
            if self.frequencies[term] <= 1:
                del self.frequencies[term]
            else:
                self.frequencies[term] -= 1

    def statistics(self, origin: Origin, wanted: Iterable[str] | None = None) -> CorpusStatistics:
        """
        Give what was counted so far, as it is now.

        :param origin: Where the documents are from.
        :param wanted: The only terms to take along; None takes all.
        :returns: The statistics; they do not change when more is counted.
        """
        known = self.frequencies if wanted is None else {term: self.frequencies[term] for term in wanted}
        return CorpusStatistics(self.documents, dict(known), origin)

    def _forget_rare(self) -> None:
        # What is in one document so far is what the file of a large corpus leaves out anyway.
        self.is_whole = False
        self.frequencies = Counter({term: count for term, count in self.frequencies.items() if count > 1})


def collect(texts: Iterable[str]) -> TermCounter:
    """
    Count texts.

    :param texts: One for each document.
    :returns: The counter, to which more can be added.
    """
    counter = TermCounter()
    for text in texts:
        counter.add(text)
    return counter


def document_parts(content: Any, meta: Mapping[str, Any], title_field: str | None) -> tuple[Any, Any]:
    """
    Pick out what is counted of a document: what a grader reads of it.

    :param content: Its content.
    :param meta: Its metadata.
    :param title_field: Metadata field with its title, or None.
    :returns: Content and title as they are, no copies.
    """
    return content, told(meta, title_field)


def document_text(content: Any, title: Any) -> str | None:
    """
    Write what is counted of a document as one text.

    :param content: Its content.
    :param title: Its title, if it has one.
    :returns: Title and content; None for a document without text.
    """
    if not isinstance(content, str):
        return None
    return f"{title}\n{content}" if title else content
