"""Markup that a parser reads in a time that does not grow with the square of its length."""

import re
from collections.abc import Iterator
from typing import Final

# Two megabytes of `<p>x</p>` keep trafilatura busy for 24 seconds, and a thread cannot be stopped; so many, for 1.5.
_MOST_TAGS: Final = 30_000
# 350 KB of them in one tag keep libxml2 busy for 12 seconds: it looks at all before for each.
_MOST_ATTRIBUTES: Final = 64
_BEGIN: Final = re.compile(r"<[A-Za-z][^\s/>]*+")
_NAME: Final = re.compile(r"[\s/]*+[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:([\"'])|[^\s>]*+))?+")
_CLOSING: Final = " '\">"  # ends a tag in whatever state its reader is, also within a quoted value


def bounded(markup: str) -> str:
    """
    Leave out tags behind the first thirty thousand, and end a tag behind its first sixty-four attributes.

    ```python
    from haystack_integrations.crag.web.markup import bounded

    assert bounded('<p class="a">One.</p>') == '<p class="a">One.</p>'
    assert bounded("<p " + "x " * 100 + ">One.").count(">") == 2
    ```

    :param markup: A page as it came.
    :returns: The page; what was an attribute too many is text of it.
    """
    markup = "<".join(markup.split("<", _MOST_TAGS + 1)[: _MOST_TAGS + 1])
    parts, done = [], 0
    for end in sorted(crowded(markup, _MOST_ATTRIBUTES)):
        parts += [markup[done:end], _CLOSING]
        done = end
    return "".join([*parts, markup[done:]])


def crowded(markup: str, most: int) -> Iterator[int]:
    """
    Find where tags have attributes enough.

    Whatever may begin a tag is read as one, also in a script or a quoted value: who only looked where a tag is due
    could be led astray by a quote, and a tag that is none is of no harm.

    :param markup: A page.
    :param most: How many are enough.
    :returns: The places behind so many, one for each tag that has them.
    """
    quotes = {sign: _Places(markup, sign) for sign in "\"'"}
    for begin in _BEGIN.finditer(markup):
        at = begin.end()
        for _ in range(most):
            name = _NAME.match(markup, at)
            if name is None:
                break
            at = name.end()
            if name[1]:
                at = quotes[name[1]].after(at)
        else:
            yield at


class _Places:
    """Where a sign comes next; looked for once in each stretch, however many ask."""

    def __init__(self, text: str, sign: str) -> None:
        self._text, self._sign, self._known = text, sign, range(0)

    def after(self, at: int) -> int:
        """Give the place behind the next sign, or the end."""
        if at not in self._known:
            found = self._text.find(self._sign, at)
            self._known = range(at, (len(self._text) if found < 0 else found) + 1)
        return min(self._known.stop, len(self._text))
