"""Knowledge strips (arXiv 2401.15884, section 4.4): cut documents into pieces and score them offline."""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import log, log2
from typing import Final, Literal, NamedTuple

from haystack_integrations.crag.encoding.encoders import Encoder
from haystack_integrations.crag.texts.pieces import joined, pieces
from haystack_integrations.crag.texts.text import count_tokens
from haystack_integrations.crag.texts.titles import untitled
from haystack_integrations.crag.texts.wording import ask, coverage, read

Granularity = Literal["sentence", "window", "passage"]

# The parts of a strip's score, and the sum from which on it is worth keeping. One choice for five data sets (claims,
# two-hop, trivia, long answers, papers), see benchmarks/judgement.py; it is flat around these values.
_TOGETHER: Final = 0.4
_ALONE: Final = 0.1
_PHRASE: Final = 0.2
_PLACE: Final = 0.3
_LINE: Final = 0.7

# Where even the best strip covers less than this share of the question, none is good: nothing is stretched to 1.
_FLOOR: Final = 0.5

# The same for vectors (benchmarks/strips.py): the likeness of a strip under its title, and its document's place.
_LIKENESS: Final = 0.7
_LIKENESS_LINE: Final = 0.94
_LIKENESS_FLOOR: Final = 0.3

KEEP_ABOVE: Final = 0.5
"""The line between keeping and leaving of the scores given here."""

# What `count_tokens` says of a single word: nothing shorter makes sense.
_ONE_WORD: Final = 2


class Strip(NamedTuple):
    """
    A piece of a document.

    :param document: Number of the document in the list, from 0.
    :param start: Offset of its first character in the document's content.
    :param end: Offset behind its last character.
    :param text: The piece itself.
    """

    document: int
    start: int
    end: int
    text: str


def decompose(
    contents: Sequence[str], granularity: Granularity, window: int, titles: Sequence[str] | None = None
) -> list[Strip]:
    """
    Cut texts into strips.

    :param contents: The texts, in the order of retrieval.
    :param granularity: `sentence`, or several where there are thousands (`pieces`); `window`: so many of these in a
        row; `passage`: the whole text.
    :param window: Sentences in a window.
    :param titles: The title of each; a text that begins with it, on a line of its own, is cut behind it.
    :returns: Strips in reading order; they do not overlap and leave out nothing else but whitespace.
    """
    strips = []
    for number, content in enumerate(contents):
        begin = len(content) - len(untitled(content, titles[number])) if titles else 0
        spans = [(begin + start, begin + end) for start, end in pieces(content[begin:])]
        size = {"sentence": 1, "window": window, "passage": len(spans)}[granularity]
        strips += [Strip(number, start, end, content[start:end]) for start, end in joined(spans, size)]
    return strips


def lexical_scores(
    query: str, strips: Sequence[Strip], titles: Sequence[str], heads: Mapping[int, int] | None = None
) -> list[float]:
    """
    Score strips by wording, relative to the best strip of the run.

    Four things count: the share of the question that the strip covers together with its document's title (a sentence
    seldom repeats its subject) and, for a row, the head of its table; the share it covers alone; the question's
    neighbouring words that stand together in it; and the place of its document in the list, since a retriever knows
    word statistics that a run does not.

    :param query: The question.
    :param strips: The strips of one run.
    :param titles: One title per document, empty for none.
    :param heads: For rows of tables the number of the strip that is their head.
    :returns: One score in [0, 1] per strip, same order; above 0.5: worth keeping. A question without any word speaks
        against no strip: all score 1.
    """
    question = ask(query)
    if not question.terms:
        return [1.0] * len(strips)
    readings = [read(question, strip.text) for strip in strips]
    subjects = [frozenset(question.read(title)).intersection(question.terms) for title in titles]
    frequency = Counter(term for reading in readings for term in reading.found)
    frequency.update([t for strip in strips for t in subjects[strip.document] if t not in frequency])
    # Terms that no strip and no title has would lower all scores alike, so they do not count.
    weights = {term: log(1 + len(strips) / frequency[term]) for term in frequency}
    alone = [coverage(reading.found, weights) for reading in readings]
    above = [subjects[strip.document] for strip in strips]
    for row, head in (heads or {}).items():
        above[row] |= readings[head].found
    together = [coverage(reading.found | more, weights) for reading, more in zip(readings, above, strict=True)]
    pairs = [len(reading.pairs) / max(1, len(question.pairs)) for reading in readings]
    return worded_scores(together, alone, pairs, [strip.document for strip in strips])


def worded_scores(
    together: Sequence[float], alone: Sequence[float], pairs: Sequence[float], documents: Sequence[int]
) -> list[float]:
    """
    Weigh the parts of the lexical score; see `lexical_scores`.

    :param together: Share of the question that each strip covers together with its document's title.
    :param alone: The share that it covers alone.
    :param pairs: The share of the question's neighbouring words that stand together in it.
    :param documents: Number of its document.
    :returns: One score in [0, 1] per strip, same order; above 0.5: worth keeping.
    """
    most_alone, most_together = max([*alone, _FLOOR]), max([*together, _FLOOR])
    sums = (
        _TOGETHER * with_title / most_together
        + _ALONE * own / most_alone
        + _PHRASE * phrases
        + _PLACE / log2(2 + number)
        for with_title, own, phrases, number in zip(together, alone, pairs, documents, strict=True)
    )
    return [_level(total, _LINE) for total in sums]


def embedding_scores(query: str, strips: Sequence[Strip], titles: Sequence[str], encoder: Encoder) -> list[float]:
    """
    Score strips by the cosine of question and strip, relative to the best strip of the run.

    A strip is embedded behind its document's title, since a sentence seldom repeats its subject. The place of its
    document in the list counts as in `lexical_scores`.

    :param query: The question.
    :param strips: The strips of one run.
    :param titles: One title per document, empty for none.
    :param encoder: What embeds texts.
    :returns: One score in [0, 1] per strip, same order; above 0.5: worth keeping. A question without any token that
        the model knows speaks against no strip: all score 1.
    """
    texts = [f"{title}. {strip.text}" if (title := titles[strip.document]) else strip.text for strip in strips]
    vectors = encoder.encode([query, *texts])
    if not vectors[0].any():
        return [1.0] * len(strips)
    # Rounding may bring the cosine of a text with itself above 1.
    cosines = [min(1.0, max(0.0, value)) for value in (vectors[1:] @ vectors[0]).tolist()]
    most = max([*cosines, _LIKENESS_FLOOR])
    sums = (
        _LIKENESS * cosine / most + (1 - _LIKENESS) / log2(2 + strip.document)
        for cosine, strip in zip(cosines, strips, strict=True)
    )
    return [_level(total, _LIKENESS_LINE) for total in sums]


def fitting(strip: Strip, max_tokens: int) -> Strip:
    """
    Shorten a strip to a number of tokens, at a word boundary where there is one.

    :param strip: A strip.
    :param max_tokens: Most estimated tokens it may have; one word is always left.
    :returns: The strip, or its beginning.
    """
    text = strip.text
    while (tokens := count_tokens(text)) > max(_ONE_WORD, max_tokens):
        cut = text[: max(1, min(len(text) - 1, len(text) * max_tokens // tokens))]
        text = (cut.rsplit(None, 1)[0] if cut.split()[1:] else cut).rstrip()
    return Strip(strip.document, strip.start, strip.start + len(text), text)


def _level(total: float, line: float) -> float:
    """Map a sum in [0, 1] to a score, so that the line between keeping and leaving lies at 0.5."""
    score = total / line / 2 if total < line else 0.5 + (total - line) / (1 - line) / 2
    return min(1.0, score)
