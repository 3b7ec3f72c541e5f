"""
How a batch is graded, without any input or output: windows, one re-ask for what is missing, bisection, limits.

`plan_window` is a generator: it yields the documents to ask about and is sent what came back. The component drives it
with `run` or awaits with `run_async`, so the policy stands in one place.
"""

import secrets
import time
from collections import deque
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from haystack import Document

from haystack_integrations.crag.budget import Usage
from haystack_integrations.crag.grades import origin_of
from haystack_integrations.crag.grading.line import KEY_LETTERS
from haystack_integrations.crag.grading.reply import Entry, Reply
from haystack_integrations.crag.metadata import title_of
from haystack_integrations.crag.templates import UNRENDERED
from haystack_integrations.crag.texts.text import count_tokens
from haystack_integrations.crag.texts.titles import LONGEST_TITLE, shows

CUT_MARK = " […cut]"

WHOLE_PASSAGE: Final = 2_000
"""Characters of a document that hold a passage as `crag index` makes it, with long words, too."""

_MANY_KEYS = 1_000  # of 8,000 with three letters
_TOKENS_OF_MARKUP = 24

SCHEMA_REFUSED: Final = "schema_refused"
"""The endpoint took offence at the form of the request: the same is asked again in words, as a call like any other."""

_DETERMINISTIC = frozenset({"length", "content_filter", "too_long", "context_length", UNRENDERED})
"""Problems that the same prompt would only repeat: the documents are split, never asked about again as they are."""

_OF_SIZE = frozenset({"length", "too_long", "context_length"})
"""Those that a half may have as well. Any other is likely to be one document's, and the other half has none."""


@dataclass(frozen=True)
class Item:
    """
    One document in a prompt.

    :param key: Random and of no other item, so no text can name a neighbour and no short reply can shift scores.
    :param text: The document's text, cut where the limit is.
    :param title: Its title, or empty.
    :param origin: `index` or `web`.
    :param place: The document's place in its list; not its id, which another one may have.
    :param tokens: Its share of a prompt, estimated.
    """

    key: str
    text: str
    title: str
    origin: str
    place: int
    tokens: int

    @property
    def is_cut(self) -> bool:
        """Whether only a beginning of the document is shown."""
        return self.text.endswith(CUT_MARK)


@dataclass
class Tally:
    """What a grading spent and met, summed over its windows."""

    cut: int = 0
    spent: Usage = field(default_factory=Usage)
    reasks: int = 0
    bisections: int = 0
    canaries: int = 0
    repaired: bool = False
    positional: bool = False
    unknown_keys: int = 0
    cache_hits: int = 0
    cache_error: str | None = None
    finish_reasons: list[str] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    stopped: dict[str, str] = field(default_factory=dict)
    """By the key of an item the limit that left no further call for it, also where another reason is told."""

    def note(self, reply: Reply) -> None:
        """Take over what a reply was like."""
        self.repaired |= reply.repaired
        self.positional |= reply.positional
        self.unknown_keys += reply.unknown


@dataclass(frozen=True)
class Answer:
    """What came back from one call: a reply, or the kind of failure that kept one from coming."""

    reply: Reply
    failure: str | None = None


@dataclass(frozen=True)
class Limits:
    """
    What one window may spend.

    :param calls: Most calls.
    :param ends: `time.monotonic()` after which no call is begun.
    :param take: Takes one more call about these items from the run's budget; gives the limit that forbids it, or None.
    """

    calls: int
    ends: float
    take: Callable[[Sequence[Item]], str | None]


def new_key(taken: Collection[str]) -> str:
    """
    Draw the key of an item.

    :param taken: Keys of the others: two that are the same, as happens now and then, would share a grade.
    :returns: Three random consonants, four beside a thousand others: no word, no number, and few tokens, of which a
        reply repeats them all. Digits are a token each for many models.
    """
    letters = 3 if len(taken) < _MANY_KEYS else 4
    while (key := "".join(secrets.choice(KEY_LETTERS) for _ in range(letters))) in taken:
        pass
    return key


def make_items(documents: Mapping[int, Document], max_characters: int, max_tokens: int) -> list[Item]:
    """
    Prepare documents for prompts.

    :param documents: The documents by their places.
    :param max_characters: Longest text; a longer one is cut and says so.
    :param max_tokens: What a prompt has room for, estimated; a text that is longer than that alone is cut as well.
    :returns: An item for each, with a new random key.
    """
    items: dict[str, Item] = {}
    for place, document in documents.items():
        key = new_key(items)
        items[key] = _item(key, place, document, max_characters, max_tokens)
    return list(items.values())


def _item(key: str, place: int, document: Document, max_characters: int, max_tokens: int) -> Item:
    whole = (document.content or "").strip()
    title = title_of(document)[:LONGEST_TITLE]
    title = "" if shows(whole, title) else title  # as passages of `crag index` do
    markup = count_tokens(title) + _TOKENS_OF_MARKUP
    text = whole[:max_characters]
    while text and (tokens := count_tokens(text) + markup) > max_tokens:
        text = text[: min(len(text) - 1, len(text) * max(1, max_tokens - markup) // tokens)]
    if len(text) < len(whole):
        text = text.rstrip() + CUT_MARK
    return Item(key, text, title, origin_of(document), place, count_tokens(text) + markup)


def plan_window(
    items: Sequence[Item], limits: Limits, tally: Tally
) -> Generator[tuple[list[Item], str | None], Answer, dict[str, Entry | str]]:
    """
    Grade one window.

    :param items: The documents to judge.
    :param limits: What may be spent.
    :param tally: Where to count re-asks, bisections and reasons.
    :returns: By key an entry, or the reason why there is none. Yields the items to ask about next, with the problem
        of the last reply when it is a re-ask.
    """
    result: dict[str, Entry | str] = {}
    met: dict[str, str] = {}
    queue: deque[tuple[list[Item], str | None]] = deque([(list(items), None)])
    calls = 0
    while queue:
        asked, problem = queue.popleft()
        stop = _stopped(asked, calls, limits)
        if stop is not None:
            # Why there is no grade is what was wrong with the replies; the limit kept it from being mended.
            why = {item.key: met.get(item.key, stop) for item in asked}
            result.update(why)
            tally.stopped |= dict.fromkeys(why, stop)
            tally.reasons += [*why.values(), stop]
            continue
        calls += 1
        answer = yield asked, problem
        if answer.failure == SCHEMA_REFUSED:
            queue.appendleft((asked, problem))
            continue
        tally.note(answer.reply)
        result.update(answer.reply.entries)
        missing = [item for item in asked if item.key not in answer.reply.entries]
        found = answer.failure or answer.reply.problem or "missing"
        if missing:
            met |= dict.fromkeys((item.key for item in missing), found)
            again = _next(missing, found, reasked=problem is not None, failed=answer.failure is not None)
            tally.reasks += len(again) == 1
            tally.bisections += len(again) > 1
            if not again:
                result.update({item.key: found for item in missing})
                tally.reasons.append(found)
            if found in _OF_SIZE:
                queue.extendleft(reversed(again))
            else:  # calls are few: what is left is judged before the one document is looked for any closer
                queue.extend(again)
    return result


def _stopped(asked: Sequence[Item], calls: int, limits: Limits) -> str | None:
    if calls >= limits.calls:
        return "max_llm_calls"
    if time.monotonic() >= limits.ends:
        return "deadline"
    return limits.take(asked)


def _next(missing: list[Item], problem: str, *, reasked: bool, failed: bool) -> list[tuple[list[Item], str | None]]:
    """Decide what to ask next about documents without a score; nothing means that they have failed."""
    halves = [missing[: len(missing) // 2], missing[len(missing) // 2 :]]
    if problem in _DETERMINISTIC:
        return [(half, None) for half in halves] if len(missing) > 1 else []
    if failed:
        # The generator's own client has retried already: one retry owner.
        return []
    if not reasked:
        return [(missing, problem)]
    # Keeping the problem marks the halves as asked about again: they are split further, not re-asked.
    return [(half, problem) for half in halves] if len(missing) > 1 else []
