"""What an abstention says, and what is said beside passages in doubt, in the language of the question."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, Final

import yaml
from haystack import Document

from haystack_integrations.crag.texts.languages.common_words import is_other_script
from haystack_integrations.crag.texts.languages.function_words import ASKING, FUNCTION_WORDS, IN_FRONT, language_of
from haystack_integrations.crag.texts.languages.inflections import language_between
from haystack_integrations.crag.texts.languages.stemming import STOP_WORDS
from haystack_integrations.crag.texts.text import HANGUL, UNSPACED, words
from haystack_integrations.crag.vocabulary import ABSTENTION, APOLOGY

_ENGLISH: Final = "english"
_FEWEST, _LONGEST = 3, 1_000
# What is quoted, names of code, paths and options are nobody's language.
_NOT_SAID: Final = re.compile(
    r"[\"\u201c\u201e\u00ab][^\"\u201c\u201d\u00bb\n]{1,300}[\"\u201c\u201d\u00bb]|`[^`\n]{1,300}`"
    r"|\S*[/_@=\\<>{}]\S*|(?<!\S)--?\w\S*"
)
# What has no words of grammar by themselves, or hardly any: Japanese has Chinese signs, too, but never alone for long.
_BY_LETTERS: Final = {"japanese": re.compile(r"[\u3040-\u30ff]"), "korean": HANGUL, "chinese": UNSPACED}


def spoken(question: str, documents: Sequence[Document] = ()) -> str | None:
    """
    Tell the language that a question can be answered in. A doubt leaves it English: names of films, towns and dishes
    have words of grammar, too, and so has what is quoted.

    :param question: What was asked, as it was asked.
    :param documents: What was found: if it is in a language that the question may be in, that is the one.
    :returns: A key of `data/abstentions.yml`; None for English, and for what is not told.
    """
    own = _NOT_SAID.sub(" ", question[:_LONGEST])
    own = own if words(own) else question[:_LONGEST]
    has_letters = (name for name, letters in _BY_LETTERS.items() if is_other_script(own) and letters.search(own))
    if (by_letters := next(has_letters, None)) is not None:
        return by_letters
    texts = [("", document.content or "") for document in documents]
    shown = language_between("", texts)
    # Names are written in Latin letters everywhere, but no German question in Arabic ones.
    may_be_theirs = not is_other_script(own) or is_other_script("".join(text[:_LONGEST] for _, text in texts))
    return shown if shown and may_be_theirs and shown == language_between(own, texts) else _surely(own)


def _surely(question: str) -> str | None:
    """Tell the language of a question by what asks in it and another word of grammar, or by three such words."""
    asked = words(question)
    language = language_of(asked)
    if language is None or len(STOP_WORDS.intersection(asked) - FUNCTION_WORDS[language]) >= _FEWEST:
        return None
    own = {word for word in asked if word in FUNCTION_WORDS[language] and word not in STOP_WORDS}
    asks = not own.isdisjoint(ASKING) or not IN_FRONT.isdisjoint(asked[:1])
    enough = len(own) + asks * (1 + question.rstrip().endswith("?")) >= _FEWEST
    others = (len({*asked} & known - STOP_WORDS) for name, known in FUNCTION_WORDS.items() if name != language)
    return language if enough and len(own) > max(others) else None


def phrases(language: str | None) -> Mapping[str, Any]:
    """
    Give what an abstention is made of.

    :param language: What `spoken` says.
    :returns: Texts to fill, by name, as `data/abstentions.yml` has them.
    """
    return _known()[language or _ENGLISH]


def sentence(default: str, language: str | None) -> str:
    """
    Say that the documents do not answer.

    :param default: The sentence that was chosen for all languages: one of a user's own is used as it is.
    :param language: What `spoken` says.
    :returns: The sentence in that language, where the default is ours.
    """
    return str(phrases(language).get("unanswered", default)) if default == ABSTENTION else default


def sentence_for(default: str, question: str, documents: Sequence[Document]) -> str:
    """
    Say that the documents do not answer, in the language of a question.

    :param default: As for `sentence`.
    :param question: What was asked.
    :param documents: As for `spoken`.
    :returns: What `sentence` gives.
    """
    return sentence(default, spoken(question, documents) if default == ABSTENTION else None)


def sentences(default: str) -> frozenset[str]:
    """
    List by what words a model may say that the documents do not answer, whatever language it takes the question for.

    :param default: As for `sentence`.
    :returns: The sentence; ours in all languages.
    """
    return frozenset(sentence(default, language) for language in (None, *_known()))


def unwritten(default: str, question: str) -> str:
    """
    Say that the answer did not come.

    :param default: As for `sentence`.
    :param question: What was asked.
    :returns: The sentence in the language of the question, where the default is ours.
    """
    return str(phrases(spoken(question)).get("unwritten", default)) if default == APOLOGY else default


def doubtful(record: Mapping[str, Any], documents: Sequence[Document]) -> str:
    """
    Say of passages that nobody made an answer of that they may not answer.

    :param record: The record of their run.
    :param documents: The passages.
    :returns: A sentence in the language of the question; empty where there are none, nothing was judged, the verdict is
        `correct`, or the run changes nothing (modes `observe` and `off`).
    """
    if not documents or record.get("mode") != "enforce" or record.get("verdict") in (None, "correct"):
        return ""
    return str(phrases(_language(record, documents))["doubtful"])


def alone(record: Mapping[str, Any], documents: Sequence[Document]) -> str:
    """
    Say of a message that what was said before it was not read.

    :param record: The record of its run.
    :param documents: The passages that the run ended with.
    :returns: A sentence in the language of the message.
    """
    return str(phrases(_language(record, documents))["alone"])


def _language(record: Mapping[str, Any], documents: Sequence[Document]) -> str | None:
    abstention: Mapping[str, Any] | None = record.get("abstention")
    asked = next((decision["query"] for decision in record.get("trail") or ()), "")
    return abstention["language"] if abstention else spoken(asked, documents)


@cache
def _known() -> dict[str, dict[str, Any]]:
    """Read the texts, once."""
    text = (files("haystack_integrations.crag") / "data" / "abstentions.yml").read_text("utf-8")
    known: dict[str, dict[str, Any]] = yaml.safe_load(text)
    return known
