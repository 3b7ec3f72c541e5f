"""What is pasted beside a question, line by line: code, logs, stack traces, tables, quoted mail."""

import re
from collections.abc import Iterator
from itertools import groupby, zip_longest
from operator import itemgetter
from typing import Final

_FENCE: Final = re.compile(r"\s*(?:```|~~~)")
_PASTED: Final = re.compile(
    r"""\s*+(?:
    >                                                          # quoted mail
    | (?!.*\?\s*\Z)(?:                                         # and what is no question:
      \|.*\|\s*\Z                                              # a row of a table
    | Traceback\ \(                                            # stack traces of Python, Java, .NET, JavaScript
    | File\ ".*",\ line\ \d
    | at\ [\w.$<>/ ]+\(.*\)
    | Caused\ by:
    | (?:[\w$]+\.)*\w*(?:Error|Exception)(?::\s|\Z)
    | [~^]+\s*\Z
    | [\[(]?\d{4}-\d\d-\d\d[T ]\d\d:\d\d                       # logs
    | [\[(]?\d\d:\d\d:\d\d\b
    | [A-Z][a-z]{2}\ [ \d]\d\ \d\d:\d\d:\d\d\b
    | [\[(<]?(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL)\b(?![?!.,])
    | </?[A-Za-z][\w-]*(?:\s[^>]*)?>                           # code: tags, objects, statements, commands
    | ["'][\w .-]+["']\s*:
    | .*(?:[{}]|[\])}],)\s*\Z
    | [\[\](){}]+[,;]?\s*\Z
    | (?=.*[=()]).*;\s*\Z
    | (?:(?:async\ )?(?:def|class)|for\ \w+\ in)\ .*:\s*\Z
    | (?:SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|DROP|WITH)\ .*\b(?:FROM|INTO|SET|TABLE|INDEX|VIEW|AS)\b
    | \$\ \S
    ))""",
    re.VERBOSE,
)
_INDENTED: Final = re.compile(r"(?:\t| {2,})\S")
_LETTER: Final = re.compile(r"[^\W\d_]")


def blocks(query: str) -> list[tuple[bool, str]]:
    """
    Part what is pasted from what is said.

    :param query: The question.
    :returns: Runs of its lines, in order, and whether they are pasted; what is nothing else is said. An empty line
        belongs to what stands before it.
    """
    parted = [
        (is_pasted, "\n".join(line for _, line in run)) for is_pasted, run in groupby(_told(query), itemgetter(0))
    ]
    parted = [(is_pasted, text) for is_pasted, text in parted if text.strip()]
    said = any(_LETTER.search(text) for is_pasted, text in parted if not is_pasted)
    return parted if said else [(False, query)]


def _told(query: str) -> Iterator[tuple[bool, str]]:
    pasted = fenced = False
    for line in query.split("\n"):
        is_fence = _FENCE.match(line) is not None
        if is_fence or fenced or _PASTED.match(line) or (pasted and _INDENTED.match(line)):
            pasted = True
        elif line.strip():
            pasted = False
        yield pasted, line
        fenced ^= is_fence


def unpasted(query: str) -> str:
    """
    Leave out the lines of a question that its writer copied from somewhere: they tell something, and ask nothing.

    ```python
    from haystack_integrations.crag.texts.questions.pasted import unpasted

    log = "2024-03-11 09:14:12 ERROR job 8812 failed"
    assert unpasted(f"I see this:\\n{log}\\nHow do I restart a job?") == "How do I restart a job?"
    assert unpasted(log) == log
    ```

    :param query: The question.
    :returns: Its other lines, without those that announce what is pasted; the question itself where there are none.
    """
    parted, said = blocks(query), list[str]()
    if not any(is_pasted for is_pasted, _ in parted):
        return query
    for (is_pasted, text), (is_next_pasted, _) in zip_longest(parted, parted[1:], fillvalue=(False, "")):
        if not is_pasted:
            lines = text.strip().split("\n")
            said += lines[:-1] if is_next_pasted and lines[-1].rstrip().endswith(":") else lines
    left = "\n".join(said)
    return left if _LETTER.search(left) else query
