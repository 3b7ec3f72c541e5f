"""What can be measured of retrieved documents without a language model: signals in [0, 1], of each and of the set."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from haystack import Document

from haystack_integrations.crag.encoding.encoders import Encoder
from haystack_integrations.crag.grades import crag_meta
from haystack_integrations.crag.inputs import finite
from haystack_integrations.crag.metadata import source_name, title_of
from haystack_integrations.crag.texts.questions.courtesies import bare_question
from haystack_integrations.crag.texts.text import count_tokens
from haystack_integrations.crag.texts.wording import ask, best_window, coverage, phrase, read, term_weights

DOCUMENT_SIGNALS: Final = (
    "keyword",
    "phrase",
    "sentence",
    "subject",
    "semantic",
    "rerank",
    "length",
    "diversity",
    "agreement",
)
"""
The signals of a document, all in [0, 1]; None where there is nothing to measure.

keyword: share of the question's terms in title and text, weighted. phrase: share of its neighbouring terms that are
neighbours again. sentence: best share within about 40 words. subject: 1 when the question names the title. semantic:
cosine to the question. rerank: a reranker's score, when `meta["crag"]["rerank"]` has one. length: tokens, up to what is
enough. diversity: 1 / documents of the same source. agreement: mean cosine to the other documents.
"""

Signals = dict[str, float | None]

# What is embedded of a document: its title and the place that covers the question best. A third of the time of
# embedding 200 words, and the judgement is no worse.
_SNIPPET_CHARACTERS: Final = 300

_RERANKED: Final = 3


def measure(
    query: str,
    documents: Sequence[Document],
    encoder: Encoder,
    *,
    title_field: str | None,
    min_tokens: int,
) -> tuple[list[Signals], dict[str, Any]]:
    """
    Measure a retrieval.

    :param query: The question.
    :param documents: At least one document.
    :param encoder: Static embeddings.
    :param title_field: Metadata field with a document's title, or None.
    :param min_tokens: Estimated tokens from which on a document is long enough.
    :returns: The signals of each document, same order; and the signals of the set: the published set-level values of
        `keyword` (share of the terms found in any document), `coherence` (mean similarity x (1 - min(variance, 0.3))),
        `rerank` (mean of the first three), `length`, `diversity` and `agreement`, and where the word `statistics` and
        similarities come from.
    """
    texts = [document.content or "" for document in documents]
    titles = [title_of(document, title_field) for document in documents]
    query = bare_question(query)
    question = ask(query)
    readings = [read(question, text, title) for text, title in zip(texts, titles, strict=True)]
    weights = term_weights(question, [reading.found for reading in readings])
    windows = [best_window(reading, weights) for reading in readings]
    semantic, agreement, is_kept = _meaning(query, documents, titles, [middle for _, middle in windows], encoder)
    tokens = [count_tokens(text) for text in texts]
    sources = [_source(document) for document in documents]
    together = Counter(sources)
    each = [
        _rounded(
            {
                "keyword": coverage(reading.found, weights),
                "phrase": phrase(reading, question, weights),
                "sentence": windows[n][0],
                "subject": None if reading.is_named is None else float(reading.is_named),
                "semantic": semantic[n],
                "rerank": _unit(crag_meta(documents[n]).get("rerank")),
                "length": min(1.0, tokens[n] / min_tokens),
                "diversity": 1 / together[sources[n]],
                "agreement": agreement[n],
            }
        )
        for n, reading in enumerate(readings)
    ]
    found = frozenset[str]().union(*(reading.found for reading in readings))
    keyword = len(found) / len(question.terms) if question.terms else 0.0
    length = min(1.0, sum(tokens) / (min_tokens * len(texts)))
    origins = {"statistics": "retrieved", "similarity": "retriever" if is_kept else "static"}
    return each, {**_of_set(each), **_rounded({"keyword": keyword, "length": length}), **origins}


def _meaning(
    query: str, documents: Sequence[Document], titles: Sequence[str], middles: Sequence[float], encoder: Encoder
) -> tuple[Sequence[float | None], Sequence[float | None], bool]:
    """Compare documents with the question and with each other; tells also whether the retriever's cosines were used."""
    contents = [document.content or "" for document in documents]
    rows = zip(titles, contents, middles, strict=True)
    semantic, agreement = similarities(encoder, query, [f"{t}\n{_snippet(text, middle)}" for t, text, middle in rows])
    kept = [kept_similarity(document) for document in documents]
    # Cosines of two models cannot be compared, so the retriever's are taken for all documents or for none.
    is_kept = all(value is not None for value in kept)
    return kept if is_kept else semantic, agreement, is_kept


def _of_set(each: Sequence[Signals]) -> Signals:
    """Combine the signals of documents that are means, or a count, over the set."""
    reranked = [value for signals in each[:_RERANKED] if (value := signals["rerank"]) is not None]
    agreed = [value for signals in each if (value := signals["agreement"]) is not None]
    return _rounded(
        {
            "coherence": coherence([signals["semantic"] or 0.0 for signals in each]),
            "rerank": sum(reranked) / len(reranked) if reranked else None,
            # Each of k documents of one source counts 1/k, so the sum is the number of sources.
            "diversity": sum(signals["diversity"] or 0.0 for signals in each) / len(each),
            "agreement": sum(agreed) / len(agreed) if agreed else None,
        }
    )


def similarities(encoder: Encoder, query: str, texts: Sequence[str]) -> tuple[list[float], list[float | None]]:
    """
    Compare texts with a question and with each other, by static embeddings.

    :param encoder: The encoder.
    :param query: The question.
    :param texts: The texts.
    :returns: The cosine of each text to the question, and its mean cosine to the others (None for a single text); all
        clipped to [0, 1].
    """
    vectors = encoder.encode([query, *texts])
    to_question = np.clip(vectors[1:] @ vectors[0], 0.0, 1.0).tolist()
    if len(texts) == 1:
        return to_question, [None]
    among = vectors[1:] @ vectors[1:].T
    to_others = (among.sum(axis=1) - among.diagonal()) / (len(texts) - 1)
    return to_question, np.clip(to_others, 0.0, 1.0).tolist()


def coherence(values: Sequence[float]) -> float:
    """
    Combine similarities as a published design does: a high mean and little spread.

    :param values: Similarities in [0, 1].
    :returns: mean x (1 - min(variance, 0.3)); 0 without values.
    """
    return float(np.mean(values) * (1 - min(float(np.var(values)), 0.3))) if values else 0.0


def kept_similarity(document: Document) -> float | None:
    """
    Read the cosine that a vector retriever left in `meta["crag"]["retrievers"]`.

    :param document: Any document.
    :returns: The best of its retrievers' cosines, in [0, 1]; None when none kept one.
    """
    retrievers = crag_meta(document).get("retrievers")
    entries = retrievers.values() if isinstance(retrievers, dict) else ()
    found = [_unit(entry.get("similarity")) for entry in entries if isinstance(entry, dict)]
    return max((value for value in found if value is not None), default=None)


def _unit(value: object) -> float | None:
    number = finite(value)
    return None if number is None else min(1.0, max(0.0, number))


def _rounded(signals: Signals) -> Signals:
    return {name: None if value is None else round(value, 4) for name, value in signals.items()}


def _source(document: Document) -> str:
    """Name what a document was taken from; one without a source is a source of its own."""
    return source_name(document) or document.id


def _snippet(text: str, middle: float) -> str:
    start = max(0, min(int(middle * len(text)) - _SNIPPET_CHARACTERS // 2, len(text) - _SNIPPET_CHARACTERS))
    return text[start : start + _SNIPPET_CHARACTERS]
