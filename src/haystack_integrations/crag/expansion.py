"""Another wording of a question, by rule: synonyms, words from kept evidence, keywords. Pure functions, no model."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from math import log
from pathlib import Path
from typing import Any, Final

import yaml
from haystack import Document

from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.text import STOP_WORDS, terms, words

MAX_WEB_WORDS: Final = 9
_FEEDBACK_WORDS: Final = 3
_SHORTEST_FEEDBACK: Final = 4


@cache
def load_synonyms(path: str | None) -> dict[str, tuple[str, ...]]:
    """
    Read a synonym mapping.

    :param path: A YAML or JSON file, `{term: [synonym, ...]}`; None for the built-in one.
    :returns: Synonyms by lower-cased term or phrase, best first.
    :raises ConfigurationError: When the file is missing or has another form.
    """
    if path is None:
        text = (files("haystack_integrations.crag") / "data" / "synonyms.yml").read_text("utf-8")
    else:
        try:
            text = Path(path).read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            msg = f"the synonym file {path!r} cannot be read ({type(error).__name__}); pass a YAML or JSON file"
            raise ConfigurationError(msg) from None
    try:
        return check_synonyms(yaml.safe_load(text), path or "the built-in mapping")
    except yaml.YAMLError:
        msg = f"the synonym file {path!r} is neither YAML nor JSON; wanted {{term: [synonym, ...]}}"
        raise ConfigurationError(msg) from None


def check_synonyms(mapping: Any, name: str) -> dict[str, tuple[str, ...]]:
    """
    Check the form of a synonym mapping.

    :param mapping: What was given.
    :param name: What to call it in an error.
    :returns: Synonyms by lower-cased term.
    :raises ConfigurationError: When it is no mapping of terms to lists of terms.
    """
    usable = isinstance(mapping, Mapping) and all(
        isinstance(term, str) and isinstance(words, list) and all(isinstance(word, str) for word in words)
        for term, words in mapping.items()
    )
    if not usable:
        msg = f"{name} must be a mapping {{term: [synonym, ...]}}, but got {type(mapping).__name__} of another form"
        raise ConfigurationError(msg)
    return {" ".join(term.casefold().split()): tuple(words) for term, words in mapping.items()}


def synonyms_for(question: str, mapping: Mapping[str, Sequence[str]], per_term: int, skip: int = 0) -> list[str]:
    """
    Find synonyms of a question's words and phrases.

    :param question: The question.
    :param mapping: Synonyms by term.
    :param per_term: Most synonyms of one term.
    :param skip: How many of each term's synonyms an earlier try has used.
    :returns: In the order of the terms in the question, longest phrase first; none that the question holds already.
    """
    text = " ".join(question.casefold().split())
    found: dict[str, None] = {}
    taken: list[tuple[int, int]] = []
    matches = []
    for term in sorted(mapping, key=lambda term: (-len(term), term)):
        for match in re.finditer(rf"(?<!\w){re.escape(term)}(?:e?s)?(?!\w)", text):
            if all(match.end() <= start or match.start() >= end for start, end in taken):
                taken.append(match.span())
                matches.append((match.start(), term))
    for _, term in sorted(matches):
        for word in mapping[term][skip : skip + per_term]:
            if not re.search(rf"(?<!\w){re.escape(word.casefold())}(?!\w)", text):
                found.setdefault(word)
    return list(found)


def content_words(text: str) -> list[str]:
    """
    Give the words of a text that say something about its topic.

    :param text: Any text.
    :returns: Lower-case words in order, stop words left out.
    """
    return [word for word in words(text) if word not in STOP_WORDS]


def keywords(question: str, most: int | None = None) -> str:
    """
    Reduce a question to its content words, in order, each once.

    :param question: The question.
    :param most: Most words; None for all.
    :returns: The words in lower case, separated by spaces.
    """
    return " ".join(list(dict.fromkeys(content_words(question)))[:most])


def feedback_words(question: str, kept: Sequence[Document], others: Sequence[str] = ()) -> list[str]:
    """
    Find words that the kept evidence shares and the question lacks (pseudo relevance feedback, Lavrenko 2001).

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
        long_words = [
            word for word in content_words(document.content or "") if len(word) >= _SHORTEST_FEEDBACK and word.isalpha()
        ]
        stems = [(stem, word) for word in long_words for stem in terms(word)[:1]]
        counts.update(stem for stem, _ in stems)
        spread.update({stem for stem, _ in stems})
        for stem, word in stems:
            written.setdefault(stem, word.lower())
    scores = {stem: log(1 + count) * spread[stem] for stem, count in counts.items() if stem not in used}
    best = sorted(scores, key=lambda stem: (-scores[stem], stem))[:_FEEDBACK_WORDS]
    return [written[stem] for stem in best]


def wordings(
    question: str, mapping: Mapping[str, Sequence[str]], per_term: int, kept: Sequence[Document], tried: Sequence[str]
) -> Iterator[str]:
    """
    Give other wordings of a question, the most promising first.

    :param question: The user's question; it is never replaced, only searched for in other words.
    :param mapping: Synonyms by term.
    :param per_term: Most synonyms of one term in one wording.
    :param kept: Evidence to learn words from.
    :param tried: Wordings of earlier passes.
    :returns: Wordings; the caller drops those already tried.
    """
    most = max((len(words) for words in mapping.values()), default=0)
    for skip in range(0, max(most, 1), per_term):
        synonyms = synonyms_for(question, mapping, per_term, skip)
        added = [*synonyms, *feedback_words(question, kept, [*tried, *synonyms])]
        if added:
            yield f"{question} {' '.join(added)}"
    reduced = keywords(question)
    if reduced:
        yield reduced
    parts = reduced.split()
    for position in range(len(parts) - 1, -1, -1):
        if len(parts) > 1:
            yield " ".join(parts[:position] + parts[position + 1 :])
