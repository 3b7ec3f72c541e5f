"""What an abstention says, in the language of its question (`data/abstentions.yml`)."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, Final

import yaml
from haystack import Document

from haystack_integrations.crag.texts.languages.common_words import is_other_script
from haystack_integrations.crag.texts.languages.inflections import language_between
from haystack_integrations.crag.texts.questions.courtesies import bare_question
from haystack_integrations.crag.texts.text import HANGUL, UNSPACED
from haystack_integrations.crag.vocabulary import ABSTENTION

_ENGLISH: Final = "english"
# What has no words of grammar by themselves, or hardly any: Japanese has Chinese signs, too, but never alone for long.
_BY_LETTERS: Final = {"japanese": re.compile(r"[\u3040-\u30ff]"), "korean": HANGUL, "chinese": UNSPACED}


def spoken(question: str, documents: Sequence[Document] = ()) -> str | None:
    """
    Tell the language that a question can be answered in.

    :param question: What was asked, as it was asked.
    :param documents: What was found: their language tells that of a question that may be of two, or has names alone.
    :returns: A key of `data/abstentions.yml`; None for English, and for what is not told.
    """
    bare = bare_question(question)
    if is_other_script(bare) and (
        found := next((name for name in _BY_LETTERS if _BY_LETTERS[name].search(bare)), None)
    ):
        return found
    return language_between(bare, [("", document.content or "") for document in documents])


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


@cache
def _known() -> dict[str, dict[str, Any]]:
    """Read the texts, once."""
    text = (files("haystack_integrations.crag") / "data" / "abstentions.yml").read_text("utf-8")
    known: dict[str, dict[str, Any]] = yaml.safe_load(text)
    return known
