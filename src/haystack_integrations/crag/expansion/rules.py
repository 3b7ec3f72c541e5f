"""Another wording of a question, by rule: synonyms, words and names from kept evidence, keywords. No model."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, Final

import yaml
from haystack import Document

from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.expansion.evidence_words import feedback_words, missing, names_in
from haystack_integrations.crag.expansion.query_text import (
    MAX_QUERY_CHARACTERS,
    MAX_WEB_WORDS,
    bounded,
    folded,
    one_line,
)
from haystack_integrations.crag.settings import path_of
from haystack_integrations.crag.texts.questions.courtesies import ENDS
from haystack_integrations.crag.texts.questions.keywords import keywords
from haystack_integrations.crag.texts.questions.open_questions import is_question
from haystack_integrations.crag.texts.text import HANGUL, PHRASES, UNSPACED, surface_words

_FORM: Final = "{term: [synonym, ...]}"

# Where a word begins and ends: also beside a script that parts no words, and before a Korean particle.
_JOINED: Final = UNSPACED.pattern[1:-1] + PHRASES.pattern[1:-1]
_BEGIN, _END = rf"(?<![^\W{_JOINED}])", rf"(?![^\W{_JOINED}{HANGUL.pattern[1:-1]}])"


def _with_all(pairs: Iterable[tuple[Any, Any]]) -> dict[Any, Any]:
    """Make a mapping of its entries; of a term that stands there twice, all synonyms, and not the last ones alone."""
    found: dict[Any, Any] = {}
    for term, synonyms in pairs:
        before = found.get(term)
        found[term] = [*before, *synonyms] if isinstance(before, list) and isinstance(synonyms, list) else synonyms
    return found


class _Loader(yaml.SafeLoader):
    """Reads plain values only, as `safe_load` does, and loses no entry."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = True) -> dict[Any, Any]:
        super().construct_mapping(node, deep)  # refuses what can be no term
        return _with_all((self.construct_object(key), self.construct_object(value)) for key, value in node.value)


def load_synonyms(path: str | None) -> dict[str, tuple[str, ...]]:
    """
    Read a synonym mapping.

    :param path: A YAML or JSON file, `{term: [synonym, ...]}`; None for the built-in one.
    :returns: Synonyms by lower-cased term or phrase, best first.
    :raises ConfigurationError: When the file is missing or has another form.
    """
    if path is None:
        return _built_in()
    try:
        text = path_of(path).read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        msg = f"the synonym file {path!r} cannot be read ({type(error).__name__}); pass a YAML or JSON file in UTF-8"
        raise ConfigurationError(msg) from None
    kind = "JSON" if path.lower().endswith(".json") else "YAML"
    try:
        # YAML would read most JSON, but not that with tabs.
        mapping = json.loads(text, object_pairs_hook=_with_all) if kind == "JSON" else yaml.load(text, _Loader)  # noqa: S506
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        line = getattr(error, "lineno", None) or (mark.line + 1 if mark is not None else 1)
        msg = f"the synonym file {path!r} is no {kind} (line {line}); wanted {_FORM} in a .yml or .json file"
        raise ConfigurationError(msg) from None
    return check_synonyms(mapping, f"the synonym file {path!r}")


@cache
def _built_in() -> dict[str, tuple[str, ...]]:
    text = (files("haystack_integrations.crag") / "data" / "synonyms.yml").read_text("utf-8")
    return check_synonyms(yaml.safe_load(text), "the built-in mapping")


def check_synonyms(mapping: Any, name: str) -> dict[str, tuple[str, ...]]:
    """
    Check the form of a synonym mapping.

    :param mapping: What was given.
    :param name: What to call it in an error.
    :returns: Synonyms by lower-cased term; a term that stands there twice, such as in another case, has those of both.
    :raises ConfigurationError: When it is no mapping of terms to lists of terms.
    """
    if not isinstance(mapping, Mapping):
        msg = f"{name} must be a mapping {_FORM}, but got {type(mapping).__name__}"
        raise ConfigurationError(msg)
    checked: dict[str, tuple[str, ...]] = {}
    for term, synonyms in mapping.items():
        if not isinstance(term, str) or not term.strip():
            msg = f"{name} must be a mapping {_FORM}, but got the term {term!r} ({type(term).__name__}); "
            msg += "YAML reads no, on and numbers as other things than words unless they stand in quotes"
            raise ConfigurationError(msg)
        if not isinstance(synonyms, list | tuple) or not all(isinstance(s, str) and s.strip() for s in synonyms):
            msg = f"{name} must be a mapping {_FORM}, but got {synonyms!r} for the term {term!r}; "
            msg += "write a list of words or phrases, numbers in quotes"
            raise ConfigurationError(msg)
        key = folded(term)
        checked[key] = tuple(dict.fromkeys((*checked.get(key, ()), *(" ".join(s.split()) for s in synonyms))))
    return checked


def synonyms_for(question: str, mapping: Mapping[str, Sequence[str]], per_term: int, skip: int = 0) -> list[str]:
    """
    Find synonyms of a question's words and phrases.

    :param question: The question.
    :param mapping: Synonyms by term.
    :param per_term: Most synonyms of one term.
    :param skip: How many of each term's synonyms an earlier try has used.
    :returns: In the order of the terms in the question, longest phrase first; none that the question holds already.
    """
    text = folded(question)
    found: dict[str, str] = {}
    taken: list[tuple[int, int]] = []
    matches = []
    # Looked for as plain text first: a pattern for each term of a large mapping would take seconds.
    for term in sorted((term for term in mapping if term in text), key=lambda term: (-len(term), term)):
        for match in re.finditer(rf"{_BEGIN}{re.escape(term)}(?:e?s)?{_END}", text):
            if all(match.end() <= start or match.start() >= end for start, end in taken):
                taken.append(match.span())
                matches.append((match.start(), term))
    for _, term in sorted(matches):
        for word in mapping[term][skip : skip + per_term]:
            if not re.search(rf"{_BEGIN}{re.escape(folded(word))}{_END}", text):
                found.setdefault(folded(word), word)
    return list(found.values())


def web_keywords(question: str) -> str:
    """
    Give the keywords of a question that a search engine is sent; of too many, those of what asks come first.

    :param question: A question, perhaps with what it tells besides.
    :returns: Under ten of them, in lower case; empty where it has none.
    """
    asking = filter(is_question, ENDS.split(question))
    is_long = len(keywords(question).split()) > MAX_WEB_WORDS
    return keywords(" ".join([*asking, question]) if is_long else question, MAX_WEB_WORDS)


def web_form(text: str) -> str:
    """
    Write a query for a search engine: keywords where it has more words than such a query may have.

    :param text: A question or a query; what a model wrote in keywords already stays as it is.
    :returns: Under ten words and at most 300 characters; the text itself where it has no keywords.
    """
    text = one_line(text)
    few = len(text.split()) <= MAX_WEB_WORDS and len(text) <= MAX_QUERY_CHARACTERS
    return bounded(text if few else web_keywords(text) or " ".join(text.split()[:MAX_WEB_WORDS]))


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
    reduced, names = keywords(question), names_in(question, kept, tried)
    # Where the evidence names others, they are asked about what it lacks: another hop, as to the employer of whom the
    # question describes. What it has would find the same documents again.
    asked = " ".join(missing(reduced.split(), kept)) or reduced if names else question
    for skip in range(0, max(most, 1), per_term):
        synonyms = synonyms_for(question, mapping, per_term, skip)
        added = [*synonyms, *names, *feedback_words(question, kept, [*tried, *synonyms, *names])]
        if added:
            yield " ".join([asked, *added])
    if reduced:
        yield reduced
    parts = reduced.split()
    for position in _least_telling_first(question, parts) if len(parts) > 1 else ():
        yield " ".join(parts[:position] + parts[position + 1 :])


def _least_telling_first(question: str, parts: Sequence[str]) -> list[int]:
    """Order the places of a question's keywords: short words first, what has a capital or a mark in it last."""
    names = {word.lower() for word in surface_words(question)[1:] if word[0].isupper() and not question.isupper()}
    return sorted(
        range(len(parts)),
        key=lambda place: (parts[place] in names or not parts[place].isalpha(), len(parts[place]), -place),
    )
