"""A question as it is meant, and its documents as they are read for it: alike where it is judged and learnt from."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from haystack_integrations.crag.judging.asking import Frequencies
from haystack_integrations.crag.judging.reading import Reader, Reading
from haystack_integrations.crag.judging.respelling import as_meant
from haystack_integrations.crag.judging.surface import normalised
from haystack_integrations.crag.texts.languages.inflections import in_forms_of
from haystack_integrations.crag.texts.questions.wrapped import unwrapped
from haystack_integrations.crag.texts.wording import asked_terms

Counted = Callable[[str, Sequence[Reading], str | None], Frequencies]
"""Gives document frequencies for a question, its documents, and the language whose forms these have."""


@dataclass(frozen=True)
class Meant:
    """
    A question as it is judged.

    :param question: The question, without what stands around it, in the words of its documents.
    :param texts: Title and content of each document, in the forms in which the question has its words.
    :param readings: The same, read.
    :param frequencies: Document frequencies of its terms.
    :param language: The language whose forms these are; None where nothing was changed.
    :param read_as: What was read in the question for which words.
    """

    question: str
    texts: Sequence[tuple[str, str]]
    readings: Sequence[Reading]
    frequencies: Frequencies
    language: str | None
    read_as: Mapping[str, str]


def meant_by(query: str, texts: Sequence[tuple[str, str]], reader: Reader, counted: Counted) -> Meant:
    """
    Read a question, and its documents for it.

    :param query: The question, as it is typed.
    :param texts: Title and content of each document.
    :param reader: What reads texts.
    :param counted: See `Counted`; asked again where the question is read in other words.
    :returns: Both as they are judged.
    """
    query, texts, language = in_forms_of(unwrapped(query), texts)
    readings = reader.read(texts)
    frequencies = counted(normalised(query), readings, language)
    question, read_as = as_meant(query, texts, readings, frequencies)
    if not {*asked_terms(query)}.issuperset(asked_terms(question)):
        frequencies = counted(question, readings, language)
    return Meant(question, texts, readings, frequencies, language, read_as)
