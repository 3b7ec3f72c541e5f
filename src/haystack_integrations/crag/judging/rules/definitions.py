"""
Definitions: who asks what something is, is told by the sentence that says so, or by its entry in a glossary.

Of such a question one word is left, which stands in many documents, so all of them were taken for beside the point: of
60 terms of a program's glossary, whose entry was found for 45, six were `correct`.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from haystack_integrations.crag.judging.rules.entries import PROSE, is_of
from haystack_integrations.crag.texts.questions.defined import Defined, defined_thing
from haystack_integrations.crag.texts.text import sentences

_IS: Final = (
    r"(?:(?:is|are|was|were)(?: (?:also|basically|essentially|just|simply))?"
    r" (?:an?|the|one|any|another|short for|what|where|when|how)"
    r"|means?|refers? to|stands? for|denotes?|(?:is|are) (?:called|known as))\b"
)
_GLOSSARY: Final = re.compile(r"(?i)\b(?:glossar\w*|terminology|definitions|vocabulary|abbreviations|acronyms)\b")
_ITEM: Final = re.compile(r"(?:[-*+]|#{1,6}|\d{1,3}[.)]) +")
_NAMES: Final = re.compile(r"[(),;/]| or | also (?:called|known as) ")
_MARKS: Final = re.compile(r"[*`\"\u201c\u201d]+")
_PLURAL: Final = re.compile(r"(?<=[A-Za-z]{3})(?<![suiSUI])s$")
_MANY: Final = "(?-i:e?s)?"  # a capital is a letter of the name: HTTPS is not HTTP
_LONGEST_TERM: Final = 80
_SMALL: Final = frozenset("a an and by de for in of on or the to with".split())
_PARTS: Final = re.compile(r"[^\W_]+")


def definitions(query: str, texts: Sequence[tuple[str, str]]) -> NDArray[np.bool_]:
    """
    Tell which documents say what something is, if a question asks that and no more.

    ```python
    from haystack_integrations.crag.judging.rules.definitions import definitions

    texts = [("", "A tuple is a row of a table."), ("", "Each tuple is kept."), ("Glossary", "- Tuple: One row of it.")]
    assert definitions("What is a tuple?", texts).tolist() == [True, False, True]
    assert definitions("What is the size of a tuple?", texts).tolist() == [False, False, False]
    ```

    :param query: The question, without courtesies.
    :param texts: Title and content of each document.
    :returns: For each whether a sentence begins with the name and says what it is, or what its letters stand for, or
        whether a glossary has an entry of it; a product that the question names must be in its title or first line.
    """
    asked = defined_thing(query)
    return np.array([asked is not None and _tells(asked, title, content) for title, content in texts])


def _tells(asked: Defined, title: str, content: str) -> bool:
    name, first = _plain(asked.name), content.lstrip().partition("\n")[0]
    written = r"[\s-]+".join(map(re.escape, name.split())) + _MANY
    if re.search(rf"(?i)(?<!\w){written}", content) is None:
        return False
    if asked.product and not is_of(asked.product, f"{title}\n{first}"):
        return False
    if asked.letters and _is_written_out(name, content):
        return True
    says = re.compile(
        rf"(?i)(?:(?:an?|the|in [^,]{{1,40}},(?: an?)?) )?{written}(?: \([^()]{{1,80}}\))?,? {_IS}"
        rf"|[^().]{{1,80}} \({written}\) {_IS}"
    )
    parts = [content[start:end] for start, end in sentences(content)]
    items = list(_items(parts))
    told = (*(_ITEM.sub("", part, count=1) for part in parts), *(said for _, said in items))
    if any(says.match(" ".join(_MARKS.sub("", one).split())) for one in told):
        return True
    entries = (_MARKS.sub("", said) for term, said in items if name in map(_plain, _NAMES.split(term)))
    return _GLOSSARY.search(f"{title}\n{first}") is not None and any(map(PROSE.search, entries))


def _plain(name: str) -> str:
    """Write a name in one way: small letters, in the singular, without marks and hyphens."""
    return _PLURAL.sub("", " ".join(_MARKS.sub("", name).replace("-", " ").split())).lower()


def _items(parts: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Give the term of each item among sentences, and what stands behind it."""
    for part in parts:
        term, sign, said = part.partition(": ")
        if sign and len(term) <= _LONGEST_TERM and _ITEM.match(term):
            yield _ITEM.sub("", term, count=1), said


def _is_written_out(letters: str, content: str) -> bool:
    """Find the words that letters stand for, before them in brackets or in brackets behind them."""
    plain, short = _MARKS.sub("", content), re.escape(letters)
    before = re.findall(rf"(?i)([^()\n.;:]{{1,120}})\({short}\b", plain)
    behind = re.findall(rf"(?i)\b{short} ?\(([^()]{{1,120}})\)", plain)
    return any(_begin_so(letters, text) for text in (*before, *behind))


def _begin_so(letters: str, text: str) -> bool:
    """Tell whether the last words of a text begin with these letters, small words among them counted or not."""
    words = [word.lower() for word in _PARTS.findall(text)]
    telling = [word for word in words if word not in _SMALL]
    return any("".join(word[0] for word in each).endswith(letters) for each in (words, telling))
