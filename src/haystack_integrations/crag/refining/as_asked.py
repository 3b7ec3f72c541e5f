"""Strips scored for what is asked: for each of several questions, in the forms in which a question has its words."""

from collections.abc import Callable, Sequence

from haystack_integrations.crag.refining.strips import Strip
from haystack_integrations.crag.texts.languages.inflections import in_forms_of
from haystack_integrations.crag.texts.questions.asked_apart import asked_apart
from haystack_integrations.crag.texts.questions.telling import meant

Score = Callable[[str, Sequence[Strip], Sequence[str]], list[float]]


def scored(
    score: Score, query: str, strips: Sequence[Strip], titles: Sequence[str], contents: Sequence[str]
) -> list[float]:
    """
    Score strips for each question that is asked, and beside what is told: what answers one is worth as much.

    :param score: Scores strips by their wording, for one question.
    :param query: All that was asked, in any language that `texts.languages.inflections` reads.
    :param strips: The strips of one run.
    :param titles: One title per document, empty for none.
    :param contents: The text of each document: a compound of the question is taken apart where one has both parts.
    :returns: One score per strip, same order.
    """
    documents = [*zip(titles, contents, strict=True)]
    query, texts, language = in_forms_of(query, [*documents, *(("", strip.text) for strip in strips)])
    documents, written = texts[: len(documents)], texts[len(documents) :]
    if language is not None:
        strips = [strip._replace(text=text) for strip, (_, text) in zip(strips, written, strict=True)]
    each = asked_apart(query, documents) or meant(query)
    above = [title for title, _ in documents]
    return [max(scores) for scores in zip(*(score(one, strips, above) for one in each), strict=True)]
