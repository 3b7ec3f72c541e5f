"""
What people write around a question: greetings, requests, thanks, how to answer. Whoever writes the answer reads it, and
nothing is to be searched for or judged by it.

"Could you please tell me ..." in front of questions, or "Explain step by step, use bullet points." behind them, changed
three verdicts in five without a model, and the static embeddings found half as much (benchmarks/as_typed.py).
"""

import re
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final, NamedTuple
from unicodedata import category

import yaml

from haystack_integrations.crag.texts.languages.function_words import ASKING, naming
from haystack_integrations.crag.texts.languages.stemming import STOP_WORDS
from haystack_integrations.crag.texts.questions.letters import in_plain_letters
from haystack_integrations.crag.texts.questions.mails import mails_in
from haystack_integrations.crag.texts.questions.pasted import blocks
from haystack_integrations.crag.texts.questions.wrapped import unwrapped
from haystack_integrations.crag.texts.text import words

_MOST_LEADS: Final = 8
_MOST_KEPT: Final = 64
"""Questions that are kept: retriever, grader, statistics and expander ask for the same one."""

_LONGEST_TALK: Final = 200
_EMOJI: Final = frozenset({"So", "Sk", "Cf", "Mn", "Zs", "Cc"})

_FIRST_PERSON: Final = frozenset({"i", "my", "me", "we", "our", "i'm", "i've", "i'd", "we're", "we've", "we'd"})
_FULL: Final = (*".!?\u2026\u3002\uff01\uff1f",)
ENDS: Final = re.compile(rf"(?<=[{''.join(_FULL)}])(?<!\b\w[.])(?<!\bmax[.])\s+|(?<!\s)\s*\n\s*")
"""Between sentences of a question: plainer than `text.sentences`, since people begin them with small letters."""

_SIGNED: Final = re.compile(r"\s*[A-Z][\w.'-]*(?: [A-Z][\w.'-]*){0,2}\s*")
_ADDRESS: Final = "://"
_NAME: Final = re.compile(r"\b[A-Z]{3,}\b")
_TAG: Final = re.compile(r"</?(?:user_?)?(?:question|query|input|message)>", re.IGNORECASE)
"""Who has a prompt for a template puts the question between such."""


class _Courtesies(NamedTuple):
    leads: re.Pattern[str]
    within: re.Pattern[str]
    tails: re.Pattern[str]
    opening: re.Pattern[str]
    closing: re.Pattern[str]
    signed: re.Pattern[str]
    alone: re.Pattern[str]
    talk: re.Pattern[str]
    talk_in: dict[str, re.Pattern[str]]
    form: frozenset[str]
    occasion: frozenset[str]


@lru_cache(_MOST_KEPT)
def bare_question(query: str) -> str:
    """
    Leave out what a question says beside what it asks, in English and, where that is plain, in other languages.

    ```python
    from haystack_integrations.crag.texts.questions.courtesies import bare_question

    asked = "Hi, could you please tell me who wrote Emma? Answer in one short sentence. Thanks in advance!"
    assert bare_question(asked) == "who wrote Emma?"
    assert bare_question("I bought a lamp. Can I return it?") == "I bought a lamp. Can I return it?"
    ```

    :param query: The question.
    :returns: What is left, in plain letters; the question itself where there is nothing to leave out, or nothing would
        be left.
    """
    plain = in_plain_letters(query)
    query = unwrapped(plain if plain.strip() else query)
    read = [(text if is_pasted else _said(text), is_pasted) for is_pasted, text in blocks(_unlettered(query))]
    if not any(_names(text) for text, is_pasted in read if not is_pasted):
        return query
    left = "\n".join(text for text, _ in read if text)
    return query if left.split() == query.split() else left


def asks_nothing(message: str) -> bool:
    """
    Tell small talk: a message of greetings, thanks and the like, or about whoever answers, and nothing else.

    ```python
    from haystack_integrations.crag.texts.questions.courtesies import asks_nothing

    assert asks_nothing("Hello! How are you?") and asks_nothing("Great, thanks a lot \\U0001f44d")
    assert not asks_nothing("Hello, who wrote Emma?") and not asks_nothing("And in German, please?")
    ```

    :param message: A message to an assistant.
    :returns: Whether no document can answer it.
    """
    if len(message) > _LONGEST_TALK:
        return False
    return _is_of_emoji(message) or _courtesies().talk.fullmatch(in_plain_letters(message)) is not None


def _is_of_emoji(message: str) -> bool:
    """Tell a thumb or a heart, with whatever joins and colours it."""
    kinds = {category(sign) for sign in message}
    return "So" in kinds and kinds <= _EMOJI


def language_of_talk(message: str) -> str | None:
    """
    Tell the language of small talk, which is too short to be told by its grammar.

    :param message: A message that asks nothing.
    :returns: The only language that has all of it, as `data/courtesies.yml` names it; None where it is of several.
    """
    plain = in_plain_letters(message)
    return next((name for name, talk in _courtesies().talk_in.items() if talk.fullmatch(plain)), None)


def _said(text: str) -> str:
    """Leave the courtesies out; what no sign ends stays a line."""
    told = [" ".join(part.split()) for part in ENDS.split(text.strip())]
    left = [
        bare
        for part in told
        if not _is_silent(bare := _bare(part)) and (bare == part or _asks_behind(part, bare) or not _is_silent(part))
    ]
    return "".join(part + (" " if part.endswith(_FULL) else "\n") for part in left).strip()


def _unlettered(query: str) -> str:
    """Give the latest mail of a thread that names something, without the frame of a letter."""
    query = _TAG.sub("", query).strip()
    mails = [_unframed(mail) for mail in mails_in(query)]
    return mails[0] if len(mails) == 1 else next((mail for mail in mails if _names(_said(mail))), query)


def _unframed(letter: str) -> str:
    """Take the first line off a letter, below its subject, and its closing with names and addresses behind it."""
    lines, known = letter.split("\n"), _courtesies()
    opening = next((n for n, line in enumerate(lines[:3]) if known.opening.fullmatch(line.strip())), None)
    if opening is not None and len(lines) > opening + 1:
        del lines[opening]
        if len(lines) > opening + 1 and _SIGNED.fullmatch(lines[-1]):
            del lines[-1]
    for number, line in enumerate(lines[1:], 1):
        if is_closing(line):
            return "\n".join(lines[:number])
    return known.signed.sub("", "\n".join(lines))


def is_closing(line: str) -> bool:
    """
    Tell whether a line closes a letter.

    :param line: A line.
    :returns: Whether it says nothing but "Kind regards", "Thanks" or the like.
    """
    return _courtesies().closing.fullmatch(line.strip(" \t\r,.!-\u2013\u2014")) is not None


def _bare(sentence: str) -> str:
    """Take off what stands in front of a sentence and behind it, as long as the rest names something."""
    known = _courtesies()
    for _ in range(_MOST_LEADS):
        shorter = sentence[lead.end() :] if (lead := known.leads.match(sentence)) else sentence
        if tail := known.tails.search(shorter):
            shorter = f"{shorter[: tail.start()]}{tail['end'].strip()}"
        lost_address = sentence.count(_ADDRESS) > shorter.count(_ADDRESS)  # "How do I fix" asks nothing without it
        if shorter == sentence or not _names(shorter, 2 if lost_address else 1):
            break
        sentence = shorter
    return known.within.sub("", sentence)


def _asks_behind(part: str, bare: str) -> bool:
    """Tell whether a question stands behind its lead: "Act as a guide and tell me: who built this?"."""
    return bare != part and bare.endswith("?")


def _is_silent(sentence: str) -> bool:
    """Tell whether a sentence says why one asks, or how to answer, and nothing else."""
    known = _courtesies()
    is_of_words = not (_names(sentence) or known.occasion.isdisjoint(words(sentence)))
    return is_of_words or any(part.fullmatch(f" {sentence}") for part in (known.tails, known.alone, known.talk))


def _names(sentence: str, least: int = 1) -> bool:
    """Tell whether a sentence has a word that is neither empty nor about the form of an answer, or so many of them."""
    said = words(sentence)
    asks = not ASKING.isdisjoint(said)
    named = [word for word in naming(said) if word not in STOP_WORDS]
    known = _courtesies()
    silent = known.form if _FIRST_PERSON.isdisjoint(said) else known.occasion
    return sum(asks or not (word in silent or word.isdigit()) for word in named) >= least


@cache
def _courtesies() -> _Courtesies:
    known = yaml.safe_load((files("haystack_integrations.crag") / "data" / "courtesies.yml").read_text("utf-8"))
    names: dict[str, str] = known["names"]

    def written(patterns: dict[str, list[str]]) -> str:
        joined = "|".join(f"(?:{pattern})" for each in patterns.values() for pattern in each)
        while _NAME.search(joined):  # a name may stand for others
            joined = _NAME.sub(lambda found: names[found[0]], joined)
        return joined.replace(" ?", r"\s*").replace(" ", r"\s+")

    def talk(patterns: dict[str, list[str]]) -> re.Pattern[str]:
        return re.compile(rf"[\W_]*+(?:(?:{written(patterns)})(?!\w)[\W_]*+)+", re.IGNORECASE)

    leads = rf"\W*+(?:{written(known['leads'])})(?!\w)[\s,:;\u2013\u2014-]*(?:(?:if|whether|about|regarding)\b)?\s*"
    # It begins where a run of marks does: to look at each of a thousand dashes would take a second.
    tails = rf"(?<![\s,;.!\u2013\u2014-])[\s,;.!\u2013\u2014-]++(?:{written(known['tails'])})(?P<end>[\s.!?]*)\Z"
    form = " ".join(known["form"].values()).split()
    return _Courtesies(
        leads=re.compile(leads, re.IGNORECASE),
        within=re.compile(written(known["within"])),
        tails=re.compile(tails, re.IGNORECASE),
        opening=re.compile(known["letter"]["opening"], re.IGNORECASE),
        closing=re.compile(known["letter"]["closing"], re.IGNORECASE),
        # A letter on one line: behind its last sentence, and with names alone behind it.
        signed=re.compile(
            rf"(?<=[.!?])\s+(?i:{known['letter']['closing']})\s*[,.!\u2013\u2014-]*(?:\s+[A-Z][\w.'-]*){{0,4}}\s*\Z"
        ),
        alone=re.compile(rf"\W*(?:{written(known['alone'])})[\s.!?\u2026)]*", re.IGNORECASE),
        talk=talk(known["talk"]),
        talk_in={name: talk({name: patterns}) for name, patterns in known["talk"].items()},
        form=frozenset(form),
        occasion=frozenset((*form, *" ".join(known["occasion"].values()).split())),
    )
