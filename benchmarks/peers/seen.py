"""
Which documents stand in a prompt, found by their own words: no system has to mark them in any way.

Texts are compared as `normal` gives them: lower case, words only. A document is shown when its whole text stands there,
or else its first sixty characters behind the title (it was cut), or one of its sentences of five words or more (it was
refined). What of it counts as shown are the sentences that do stand there, by this package's own rules for sentences.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from haystack_integrations.crag.evaluation.strips import normal
from haystack_integrations.crag.texts.text import sentences

_HEAD = 60
_FEWEST_WORDS = 5


@dataclass(frozen=True)
class Form:
    """
    A document as it is looked for.

    :param whole: Its text.
    :param head: The beginning of it.
    :param sentences: Its sentences.
    """

    whole: str
    head: str
    sentences: tuple[str, ...]


@cache
def form_of(text: str, title: str = "") -> Form:
    """
    Prepare a document; once, however often it is asked for.

    :param text: Its text.
    :param title: Its title: what a prompt may show of documents whose text it does not show.
    :returns: What to look for.
    """
    whole, heading = normal(text), normal(title)
    begins = len(heading) if heading.strip() and whole.startswith(heading) else 0
    parts = (normal(text[start:end]) for start, end in sentences(text))
    return Form(whole, whole[: begins + _HEAD], tuple(part for part in parts if part.strip() and part not in heading))


def look(prompt: str, forms: Mapping[str, Form]) -> tuple[dict[str, str], str]:
    """
    Find documents in a prompt.

    Whole documents are taken out before parts are looked for, so that what two documents have in common does not count
    for both.

    :param prompt: The prompt as `normal` gives it.
    :param forms: The documents that may stand in it, by id.
    :returns: What is shown of each document found, in the order of `forms`, and the rest of the prompt.
    """
    found: dict[str, str] = {}
    rest = prompt
    for name, form in forms.items():
        if form.whole.strip() and form.whole in prompt:
            found[name] = form.whole
            rest = rest.replace(form.whole, " ")
    for name, form in forms.items():
        if name not in found and (part := _part(rest, form)):
            found[name] = part
            for sentence in form.sentences:
                rest = rest.replace(sentence, " ") if _is_own(sentence) else rest
    return {name: found[name] for name in forms if name in found}, rest


def _is_own(sentence: str) -> bool:
    return len(sentence.split()) >= _FEWEST_WORDS


def _part(prompt: str, form: Form) -> str:
    """Give what stands in a prompt of a document that does not stand there whole."""
    has_head = bool(form.head.strip()) and form.head in prompt
    if not has_head and not any(_is_own(sentence) and sentence in prompt for sentence in form.sentences):
        return ""
    parts = [sentence.strip() if sentence in prompt else "|" for sentence in form.sentences]
    shown = " ".join(parts).strip("| ")
    return f" {shown or form.head.strip()} "


def words(shown: Iterable[str]) -> int:
    """
    Count words.

    :param shown: What is shown of documents.
    :returns: How many words that is.
    """
    return sum(len(text.replace("|", " ").split()) for text in shown)
