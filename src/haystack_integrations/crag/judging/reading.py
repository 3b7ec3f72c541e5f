"""Read a text once: all about it that does not depend on a question. Kept, so that a second question is cheap."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from threading import Lock
from typing import Any, Final

import numpy as np
from cachetools import LRUCache
from numpy.typing import NDArray

from haystack_integrations.crag.encoding.encoders import Encoder, load_encoder
from haystack_integrations.crag.judging import surface
from haystack_integrations.crag.judging.places import Places
from haystack_integrations.crag.judging.surface import NAME, NUMBER, TITLE, YEAR, WordForm
from haystack_integrations.crag.texts.pieces import pieces
from haystack_integrations.crag.texts.questions.open_questions import open_from
from haystack_integrations.crag.texts.table_heads import heads_of_rows, standing_under
from haystack_integrations.crag.texts.text import surface_words, terms
from haystack_integrations.crag.texts.titles import MOST_JUDGED

Vectors = NDArray[np.float32]

MOST_READINGS: Final = 2_000
"""Texts whose reading is kept in a process: 15 to 20 kB each for 120 to 200 words, half of it vectors, and 20 to 40 kB
more where a calibration has asked for their n-grams. A longer one counts for several."""
_SENTENCES, _TERMS, _CHARACTERS = 25, 250, 10_000  # of one that counts once, at most

BRACKETS = re.compile(r"(?<!\s)\s*+\([^()]*\)\s*$")
_NGRAM_WORDS: Final = 250


@dataclass(frozen=True, eq=False)
class Reading:
    """
    A text as the judgement sees it; equal to itself only. Positions count content terms, from 0.

    :param title: The title as it is shown.
    :param name: Terms of the title without a final bracket, in order: the name of what the text is about.
    :param title_terms: All distinct terms of the title.
    :param places: Positions of each term of the text.
    :param starts: Position of the first term of each sentence.
    :param above: For a sentence, by its number, those of the headings and the head of the table that it stands under.
    :param open_from: Number of the first of the questions that the text ends with; that of all sentences without any.
    :param length: Terms in the text.
    :param capitals: How often a term is written with a capital inside a sentence.
    :param openers: How often it is at the beginning of one.
    :param names: Positions where a run of capitalised words begins.
    :param numbers: Positions of numbers.
    :param years: Positions of numbers that look like years.
    :param vector: Unit vector of title and text.
    :param title_vector: Unit vector of the title.
    :param sentence_vectors: A unit vector for each sentence, read under its title, a row under its head too; shape
        (sentences, dimension).
    :param beginning: Its first words.
    :param size: For how many texts of usual length it counts where readings are kept.
    """

    title: str
    name: tuple[str, ...]
    title_terms: frozenset[str]
    places: Places
    starts: Sequence[int]
    above: Mapping[int, Sequence[int]]
    open_from: int
    length: int
    capitals: Mapping[str, int]
    openers: Mapping[str, int]
    names: Sequence[int]
    numbers: Sequence[int]
    years: Sequence[int]
    vector: Vectors
    title_vector: Vectors
    sentence_vectors: Vectors
    beginning: Sequence[WordForm]
    size: int

    def holds(self, term: str) -> bool:
        """
        Tell whether the text has a term.

        :param term: A term, as `text.terms` gives it.
        :returns: Whether it stands in title or content.
        """
        return term in self.places or term in self.title_terms

    def small(self, term: str) -> int:
        """
        Count how often a term is written without a capital.

        :param term: A term.
        :returns: The number.
        """
        often = len(self.places[term]) if term in self.places else 0
        return often - self.capitals.get(term, 0) - self.openers.get(term, 0)

    @cached_property
    def ngrams(self) -> frozenset[str]:
        """Terms, and runs of two and three words, of the beginning; title and numbers masked, in runs all names."""
        # What a text is about and its numbers are hidden: `TITLE was born YEAR` is said of many. So is `YEAR in NAME`,
        # and that a place is told is seen before its name has been.
        said, shown = set[str](), list[str]()
        for stem, plain, form, is_large in self.beginning:
            masked = TITLE if plain in self.title_terms else form
            if stem:
                said.add(masked)
            shown.append(NAME if is_large and stem and masked is not TITLE else masked)
        said.update(map(" ".join, pairwise(shown)))
        said.update(map(" ".join, zip(shown, shown[1:], shown[2:], strict=False)))
        return frozenset(said)


class Reader:
    """
    Reads texts, and remembers the last ones. Safe to share between threads.

    :param encoder: Static embeddings.
    :param most: Readings to remember, of texts of about 200 words.
    """

    def __init__(self, encoder: Encoder, most: int = MOST_READINGS) -> None:
        """Start with nothing read."""
        self.encoder = encoder
        self._known: LRUCache[tuple[str, str], Reading] = LRUCache(most, lambda reading: min(most, reading.size))
        self._lock = Lock()

    def read(self, texts: Sequence[tuple[str, str]]) -> list[Reading]:
        """
        Read texts that were not read lately, look up the others.

        :param texts: Title and content of each; a missing title is empty.
        :returns: One reading per text, same order.
        """
        with self._lock:
            known = {text: self._known[text] for text in texts if text in self._known}
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        fresh = dict(zip(missing, self._fresh(missing), strict=True))
        with self._lock:
            self._known.update(fresh)
        known |= fresh
        return [known[text] for text in texts]

    def forget(self) -> None:
        """Forget all texts that were read."""
        with self._lock:
            self._known.clear()

    def _fresh(self, texts: Sequence[tuple[str, str]]) -> list[Reading]:
        """Read texts; all their sentences are embedded at once."""
        plain = [
            (" ".join(surface.normalised(title[:MOST_JUDGED]).split()), surface.told(text)) for title, text in texts
        ]
        cut = [_sentences(content) for _, content in plain]
        heads = [heads_of_rows(parts) if "|" in content else {} for parts, (_, content) in zip(cut, plain, strict=True)]
        # A heading would make all below it alike: of 99 options that functions lack, 24 were `correct` instead of 20.
        under = [
            f"{title}. {parts[own[n]]} {part}" if n in own else f"{title}. {part}"
            for (title, _), parts, own in zip(plain, cut, heads, strict=True)
            for n, part in enumerate(parts)
        ]
        vectors = self.encoder.encode([*(title for title, _ in plain), *under])
        readings, first = [], len(plain)
        for number, ((title, _), parts) in enumerate(zip(plain, cut, strict=True)):
            # Copies: a part of the array would keep all of it, for as long as one of these texts is remembered.
            own = vectors[first : first + len(parts)].copy()
            first += len(parts)
            written = sum(map(len, texts[number]))  # one word may be a megabyte, and so may a title
            readings.append(_reading(title, parts, heads[number], vectors[number].copy(), own, written))
        return readings


def _sentences(content: str) -> list[str]:
    return [content[start:end] for start, end in pieces(content)] or [content]


def _reading(
    title: str, parts: Sequence[str], heads: Mapping[int, int], title_vector: Vectors, vectors: Vectors, written: int
) -> Reading:
    title_terms, bare = terms(title), BRACKETS.sub("", title)
    found = _walked(parts)
    lengths = np.array([end - start for start, end in pairwise((*found["starts"], found["length"]))], dtype=np.float32)
    return Reading(
        title=title,
        name=tuple(title_terms if bare == title else terms(bare)),
        title_terms=frozenset(title_terms),
        above=standing_under(parts, heads),
        open_from=open_from(parts),
        vector=_unit(lengths @ vectors),
        title_vector=title_vector,
        sentence_vectors=vectors,
        size=1 + max(len(parts) // _SENTENCES, found["length"] // _TERMS, written // _CHARACTERS),
        **found,
    )


def _walked(parts: Sequence[str]) -> dict[str, Any]:
    """Go through the words of a text once; gives what a reading says of them."""
    starts, names, numbers, years = list[int](), list[int](), list[int](), list[int]()
    stems, large, first, beginning = list[str](), list[str](), list[str](), list[WordForm]()
    position, form_of = 0, surface.WORD_FORMS.__getitem__
    for part in parts:
        starts.append(position)
        forms = list(map(form_of, surface_words(part)))
        if len(beginning) < _NGRAM_WORDS:
            beginning += forms
        is_name, is_first = False, True
        for stem, _, shown, is_large in forms:
            if not stem:
                is_name = is_first = False
                continue
            stems.append(stem)
            if not is_large:
                if shown is NUMBER or shown is YEAR:
                    numbers.append(position)
                    years += [position] if shown is YEAR else []
            elif is_first:
                first.append(stem)
            else:
                large.append(stem)
                names += [] if is_name else [position]
            is_name, is_first = is_large, False
            position += 1
    written = {"capitals": dict(Counter(large)), "openers": dict(Counter(first)), "beginning": beginning[:_NGRAM_WORDS]}
    found = {"places": Places(stems), "starts": starts, "length": position, **written}
    return {**found, "names": names, "numbers": numbers, "years": years}


def _unit(vector: Vectors) -> Vectors:
    length = float(np.sqrt(vector.dot(vector)))
    return vector / length if length else vector


def shared_reader(model: str | None = None) -> Reader:
    """
    Get the reader of a static model, shared by the whole process as the model is.

    :param model: Folder of a model2vec model, or None for the one shipped in this package.
    :returns: The reader.
    :raises ConfigurationError: When there is no such model.
    """
    return _shared(model)


@lru_cache(maxsize=4)
def _shared(model: str | None) -> Reader:
    return Reader(load_encoder(model))
