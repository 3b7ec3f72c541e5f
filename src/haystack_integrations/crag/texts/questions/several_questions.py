"""Several questions in one, "Where was Alan Turing born and when did he die?": a doubt leaves them one."""

import re
from typing import Final

from haystack_integrations.crag.texts.text import terms

_ASKS: Final = r"(?:who|whom|whose|what|when|where|which|why|how)"
AUXILIARY: Final = r"(?:is|are|was|were|do|does|did|has|have|had)"
"""Pattern of a verb that a question may begin with."""

NAME: Final = r"[A-Z][\w.'\u2019-]*(?:\s+(?:(?:of|the|de|van|von|da)\s+)*[A-Z][\w.'\u2019-]*)*"
"""Pattern of a name as it is written, of one word or more."""

_ITEM: Final = r"(?:[-*\u2022\u2013]|\(?(?:\d{1,2}|[a-d])[.)])\s+"
_FIRST_ITEM: Final = re.compile(rf"\A\s*{_ITEM}", re.IGNORECASE)
# Behind a question mark a verb begins a question, too; behind "and" it may go on with the one before.
_NEXT: Final = re.compile(
    rf"(?:\s*[,;]\s*and\s+|\s+and\s+(?:also\s+)?|,?\s+(?:plus|as\s+well\s+as|&)\s+|\s*;\s*)(?={_ASKS}\b)"
    rf"|\?\s+(?:{_ITEM})?(?:(?:and|also),?\s+)?(?={_ASKS}\b|{AUXILIARY}\b|(?:can|could|may|must|should|will|would)\b)",
    re.IGNORECASE,
)
_NAMED: Final = re.compile(rf"(?:\d[\w.-]*\s+)?{NAME}(?:\s+\d[\w.-]*)?")
OPENING: Final = re.compile(rf"(?:{_ASKS}|{AUXILIARY}|in (?:which|what)|tell|explain|describe|list)\b", re.IGNORECASE)
"""How a question begins."""

_QUOTES: Final = re.compile(r"[\"\u201c\u201d\u201e\u00ab\u00bb]|(?<!\w)['\u2018]|['\u2019](?!\w)")
_THINGS: Final = re.compile(r"\b(?:it|its)\b", re.IGNORECASE)
_PERSONS: Final = re.compile(r"\b(?:he|she|him|his|her|hers)\b", re.IGNORECASE)
_VAGUE: Final = re.compile(
    r"\b(?:they|them|their|theirs|this|that|these|those|there|then|one|ones|both|each|other|former|latter|same)\b",
    re.IGNORECASE,
)
_NAMING: Final = re.compile(r"\s*(?:in\s+)?(?:who|whom|whose|what|which)\b", re.IGNORECASE)
_OPEN_ENDED: Final = frozenset("a an the of and or to for with by than about from not no my your its".split())
LONGEST: Final = 400
"""Characters of what these rules are for; a longer text is no question, and would cost time to look through."""

_MOST: Final = 4
_FEWEST_CHARACTERS: Final = 8
_FEWEST_WORDS: Final = 3
_FEWEST_TERMS: Final = 2


def questions_in(question: str) -> list[str]:
    """
    Part what is asked into the questions that it is made of, if each can stand alone.

    What a later one calls "it" or "she" is named when there is one name it can be. Where it names nothing itself, it
    is about what the first names ("and what was the cause?"); without a name, it must have two words of its own.

    ```python
    from haystack_integrations.crag.texts.questions.several_questions import questions_in

    assert questions_in("When did Claude Monet die and what was the cause?") == [
        "When did Claude Monet die",
        "what was the cause Claude Monet",
    ]
    assert questions_in("How does the lease work and what is the maximum?") == []
    ```

    :param question: What is asked, in English.
    :returns: Two to four questions, in order; none when it is one question, or with any doubt.
    """
    text = _in_a_row(question)
    if len(text) > LONGEST or _QUOTES.search(text) or not OPENING.match(text):
        return []
    first, *others = (part.strip(" ,;?.!") for part in _NEXT.split(text))
    if not others or len(others) >= _MOST or len(first) < _FEWEST_CHARACTERS:
        return []
    parts = [first]
    for written in others:
        part = _standing_alone(first, written)
        if part is None or _dangling(parts[-1]) or _goes_on(first, part) or len(written.split()) < _FEWEST_WORDS:
            return []
        parts.append(part)
    return parts if all(len(part.split()) >= _FEWEST_WORDS and terms(part) for part in parts) else []


def _in_a_row(question: str) -> str:
    """Write the items of a list as sentences, where each of them begins as a question does."""
    items = [_FIRST_ITEM.sub("", line).strip() for line in question.split("\n") if line.strip()]
    rows = [f"{item.rstrip('?;,.')}?" for item in items] if all(map(OPENING.match, items)) else items
    return " ".join(" ".join(rows).split())


def _dangling(first: str) -> bool:
    """Tell whether what stands before "and" ends in the middle: "between who", "the link of how and why"."""
    written = first.lower().split()
    return "between" in written or written[-1] in _OPEN_ENDED


def _goes_on(first: str, second: str) -> bool:
    """Tell a clause or a name from a question: "the actor who sang and who danced", "of the ECDC and WHO"."""
    asks = second.split(maxsplit=1)[0]
    is_name = asks.isupper() and not first.isupper()
    return is_name or re.search(rf"\s{re.escape(asks)}\b", first, re.IGNORECASE) is not None


def _standing_alone(first: str, second: str) -> str | None:
    """Say what a later question is about, where it does not itself; None when that could be more than one thing."""
    if _VAGUE.search(second):
        return None
    things, persons, names = _THINGS.search(second), _PERSONS.search(second), _names(first)
    if not things and not persons:
        if _names(second) or (not names and len(set(terms(second))) >= _FEWEST_TERMS):
            return second
        return " ".join([second, *names]) if names else None
    # "Who founded Apple and where was he born?": he is the answer, not the name.
    answered = _NAMING.match(first) and (persons or not first.lower().startswith("who"))
    if len(names) != 1 or answered or (things and persons):
        return None
    [name] = names

    def named(pronoun: re.Match[str]) -> str:
        return f"{name}'s" if pronoun[0].lower() in ("its", "his", "hers") else name

    # "her" is both; only before a word that is no end of the question it owns something.
    second = re.sub(r"\bher(?=\s+\w)", f"{name}'s", second, flags=re.IGNORECASE)
    return _PERSONS.sub(named, _THINGS.sub(named, second))


def _names(question: str) -> list[str]:
    """Give the names in a question, each once; its first word is written large without being one, and so is "I"."""
    _, _, rest = question.partition(" ")
    found = (re.sub(r"['\u2019]s?$", "", name) for name in _NAMED.findall(rest))
    return [name for name in dict.fromkeys(found) if name != "I"]
