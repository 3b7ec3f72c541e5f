"""What the evidence that a run keeps lends to its next query: what it lacks, whom it names, which words it shares."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from math import log
from typing import Final

from haystack import Document

from haystack_integrations.crag.metadata import title_of
from haystack_integrations.crag.texts.languages.common_words import common_words
from haystack_integrations.crag.texts.text import sentences, surface_words, terms, words
from haystack_integrations.crag.texts.titles import untitled

_FEEDBACK_WORDS: Final = 3
_SHORTEST_FEEDBACK: Final = 4
_NAMES: Final = 5
# Of documents on the same subject each has its own names: those of the third and later ones lead elsewhere.
_NAMING_DOCUMENTS: Final = 2
_MOST_CHARACTERS: Final = 20_000
# Up to four words of which the first has a capital, and the others one or a number: Latin, Greek and Cyrillic.
_CAPITALS: Final = "".join(filter(str.isupper, map(chr, range(0x2000))))
_REST: Final = r"(?:[\w.&'\u2019-]*\w)?"
_NAME: Final = re.compile(rf"(?<!\w)[{_CAPITALS}]{_REST}(?: [{_CAPITALS}\d]{_REST}){{0,3}}")
# Code and headings, in which a capital tells no name; and what stands before the first word of an item.
_NO_SENTENCE: Final = re.compile(r"`{3}|~{3}|#{1,6}\s|[^\n]*\n[ \t]*([=~^+-])\1{2,}[ \t]*\Z")
_MARK: Final = re.compile(r"(?:[-*+>\u2022]|\d{1,3}[.)])\s+")


def missing(asked: Sequence[str], kept: Sequence[Document]) -> list[str]:
    """
    Find what the best of the evidence does not have.

    :param asked: Words of the question.
    :param kept: Documents that passed the filter, best first.
    :returns: The words that none of the first two documents has in title or text, in order.
    """
    known = _terms_of(kept[:_NAMING_DOCUMENTS])
    return [word for word in asked if not known.issuperset(terms(word))]


def least_told(parts: Sequence[str], kept: Sequence[Document]) -> list[str]:
    """
    Put questions in order by how much of each the evidence says.

    :param parts: Questions.
    :param kept: The evidence.
    :returns: Those first of whose content words fewest stand in a document's title or text; as they were where equal.
    """
    known = _terms_of(kept)

    def told(part: str) -> float:
        asked = set(terms(part))
        return -len(asked - known) / max(1, len(asked))

    return sorted(parts, key=told)


def names_in(question: str, kept: Sequence[Document], others: Sequence[str] = ()) -> list[str]:
    """
    Find whom and what the best of the evidence names that the question does not: where another hop may lead.

    A name is up to four words with a capital, outside of titles, headings and code. What stands in sentences that share
    more words with the question comes first (the iterative queries of Qi et al. 2019, by rule). Scripts without
    capitals have none.

    :param question: The question.
    :param kept: Documents that passed the filter, best first.
    :param others: Queries of earlier tries, whose names are not given again.
    :returns: Up to five names from the first two documents.
    """
    asked = set(terms(question))
    used = asked.union(*map(terms, others))
    shared: Counter[str] = Counter()
    for document in kept[:_NAMING_DOCUMENTS]:
        text = untitled(document.content or "", title_of(document))[:_MOST_CHARACTERS]
        written = surface_words(text)
        plain = common_words([word.lower() for word in written])
        # A word that the same text has without its capital is ordinary: `Case Blocks` is a heading on case blocks.
        ordinary = {word for word in written if word.islower()}
        for said in _said(text):
            near = len(asked.intersection(terms(said)))
            for name in _names(said, plain):
                if not used.issuperset(terms(name)) and not ordinary.issuperset(words(name)):
                    shared[name] += near
    # Equal ones stay in the order of the text.
    return [name for name, _ in shared.most_common(_NAMES)]


def _said(text: str) -> Iterator[str]:
    """Give the sentences of a text, those of items without their marks; manuals have code and headings besides."""
    found = (text[start:end] for start, end in sentences(text))
    return (_MARK.sub("", one, count=1) for one in found if not _NO_SENTENCE.match(one))


def _names(sentence: str, plain: Collection[str]) -> Iterator[str]:
    for run in () if sentence.isupper() else _NAME.finditer(sentence):
        # A heading is no name, and the first word of a sentence has its capital from there.
        if run.start() == 0 and (" " not in run[0] or run.end() == len(sentence)):
            continue
        first, _, rest = run[0].partition(" ")
        name = rest if first.lower() in plain else run[0]
        if len(name) > 1:
            yield name


def _terms_of(documents: Sequence[Document]) -> set[str]:
    return {term for one in documents for text in (title_of(one), one.content or "") for term in terms(text)}


def feedback_words(question: str, kept: Sequence[Document], others: Sequence[str] = ()) -> list[str]:
    """
    Find words that the kept evidence shares and the question lacks (pseudo relevance feedback, Lavrenko 2001).

    What every text in its language has, such as `nicht` or `para`, is none of them.

    :param question: The question.
    :param kept: Documents that passed the filter.
    :param others: Words already used by earlier tries.
    :returns: Up to three words, the most telling first.
    """
    used = set(terms(question)) | {stem for word in others for stem in terms(word)}
    counts: Counter[str] = Counter()
    spread: Counter[str] = Counter()
    written: dict[str, str] = {}
    for document in kept:
        said = words(document.content or "")
        common = common_words(said)
        long_words = [
            word for word in said if len(word) >= _SHORTEST_FEEDBACK and word.isalpha() and word not in common
        ]
        stems = [(stem, word) for word in long_words for stem in terms(word)[:1]]
        counts.update(stem for stem, _ in stems)
        spread.update({stem for stem, _ in stems})
        for stem, word in stems:
            written.setdefault(stem, word.lower())
    scores = {stem: log(1 + count) * spread[stem] for stem, count in counts.items() if stem not in used}
    best = sorted(scores, key=lambda stem: (-scores[stem], stem))[:_FEEDBACK_WORDS]
    return [written[stem] for stem in best]
