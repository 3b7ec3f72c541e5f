"""What a refinement keeps of documents: labelled sentences, words, and the strings that answer."""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from haystack import Document

from haystack_integrations.crag.evaluation.cases import Case, Passage
from haystack_integrations.crag.grades import crag_meta
from haystack_integrations.crag.texts.text import NOT_SPACED, sentences

_WORD: Final = re.compile(r"[^\W_]+")
_NOT_SOUGHT: Final = ("", "yes", "no")
"""Answers that say nothing about the text they stand in."""

_REMEMBERED: Final = 10_000  # texts: a document stands in the lists of many questions

Span = tuple[int, int, int]


class Sentences:
    """The sentences of a corpus in its texts, found once for each document."""

    def __init__(self, passages: Mapping[str, Passage]) -> None:
        """
        Find nothing yet.

        :param passages: The corpus by id.
        """
        self._passages = passages
        self._spans: dict[str, list[Span]] = {}

    def of(self, name: str) -> list[Span]:
        """
        Find the sentences of a document.

        :param name: Its id.
        :returns: For each sentence its start, its end and its number of words; an empty one ends where it starts.
        """
        if name not in self._spans:
            text = self._passages[name].text
            self._spans[name] = [
                (start, end, len(text[start:end].split())) for start, end in _places(self._passages[name])
            ]
        return self._spans[name]

    def count(self, case: Case, retrieved: Sequence[str], refined: Sequence[Document]) -> dict[str, int]:
        """
        Compare what was kept of documents with what is labelled.

        :param case: A question with labelled sentences.
        :param retrieved: Ids of the documents that were refined.
        :param refined: What StripRefiner made of them.
        :returns: `gold`, `kept` and `hits` in sentences, `words_in` and `words_kept` in words of sentences. A sentence
            is kept when strips that stand together hold it whole.
        """
        kept: set[tuple[str, int]] = set()
        words_kept = 0
        for document in refined:
            held = _together(self._passages[document.id].text, crag_meta(document).get("strips", ()))
            for number, (start, end, words) in enumerate(self.of(document.id)):
                if end > start and any(low <= start and end <= high for low, high in held):
                    kept.add((document.id, number))
                    words_kept += words
        words_in = sum(words for name in retrieved for _, _, words in self.of(name))
        hits = len(kept & case.gold_sentences)
        sizes = {"gold": len(case.gold_sentences), "kept": len(kept), "hits": hits}
        return {**sizes, "words_in": words_in, "words_kept": words_kept}


def _places(passage: Passage) -> list[tuple[int, int]]:
    if passage.sentences is None:
        return sentences(passage.text)
    found, position = list[tuple[int, int]](), 0
    for sentence in passage.sentences:
        # One that the text does not hold cannot be kept; reading refuses a label on it.
        start, position = _place(passage.text, sentence.strip(), position) or (position, position)
        found.append((start, position))
    return found


def _place(text: str, sentence: str, after: int) -> tuple[int, int] | None:
    """Find a sentence by its words: a text may be laid out in lines of its own."""
    if (start := text.find(sentence, after)) >= 0:
        return start, start + len(sentence)
    place = re.compile(r"\s+".join(map(re.escape, sentence.split()))).search(text, after)
    return None if place is None else place.span()


def _together(text: str, strips: Iterable[Mapping[str, Any]]) -> list[tuple[int, int]]:
    """Unite strips that only white space parts."""
    found: list[tuple[int, int]] = []
    for strip in strips:
        if found and not text[found[-1][1] : strip["start"]].strip():
            found[-1] = (found[-1][0], strip["end"])
        else:
            found.append((strip["start"], strip["end"]))
    return found


@lru_cache(maxsize=_REMEMBERED)
def normal(text: str) -> str:
    """
    Reduce a text to its words: lower case, no accents, no punctuation, a space before and after each, and each sign.

    In scripts without spaces a word is where its signs are in a row; in Korean too, which writes particles onto words.

    :param text: Any text.
    :returns: The words; one text stands in another on word boundaries where its words stand in the other's.
    """
    folded = text.casefold()
    if not folded.isascii():
        apart = NOT_SPACED.sub(r" \g<0> ", unicodedata.normalize("NFKC", folded))
        parts = unicodedata.normalize("NFKD", apart)
        folded = "".join(one for one in parts if not unicodedata.combining(one))
    return f" {' '.join(_WORD.findall(folded))} "


def sought(case: Case) -> list[str]:
    """
    List the answers that can be looked for in a text.

    :param case: A question.
    :returns: Its accepted answers as `normal` gives them; empty where none can be looked for.
    """
    return [answer for answer in map(normal, case.answers) if answer.strip() not in _NOT_SOUGHT]


def answered(case: Case, documents: Iterable[Document]) -> bool | None:
    """
    Tell whether an accepted answer stands in one of some documents.

    :param case: A question.
    :param documents: The documents.
    :returns: Whether one does; None where none can be looked for.
    """
    answers = sought(case)
    return holds((normal(document.content or "") for document in documents), answers) if answers else None


def support(case: Case, before: Iterable[Document], after: Iterable[Document]) -> dict[str, bool | None] | None:
    """
    Tell whether an answer stands in what was retrieved, and in what the generator is given.

    :param case: A question.
    :param before: What was retrieved.
    :param after: What the generator is given.
    :returns: `before` and `after`; None where none can be looked for.
    """
    return {"before": answered(case, before), "after": answered(case, after)} if sought(case) else None


def words_in(documents: Iterable[Document]) -> int:
    """
    Count the words of documents.

    :param documents: The documents.
    :returns: The number, of all of them together.
    """
    return sum(len((document.content or "").split()) for document in documents)


def holds(texts: Iterable[str], answers: Sequence[str]) -> bool:
    """
    Tell whether an answer stands in one of some texts.

    :param texts: Texts as `normal` gives them.
    :param answers: Answers as `sought` gives them.
    :returns: Whether one does.
    """
    return any(answer in text for text in texts for answer in answers)
