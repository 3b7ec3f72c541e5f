"""Sources of Sphinx that say nothing of their own: titles, and directives that bring text from elsewhere."""

import re
from itertools import pairwise
from typing import Final

_BRINGS: Final = r"(?:toctree|contents|(?:literal)?include|auto(?!number)[a-z]+|(?:py:)?(?:current)?module)"
_DIRECTIVE: Final = re.compile(rf"\.\.[ \t]+(?:{_BRINGS}|index|meta|highlight|default-role|sectionauthor)::.*")
_FENCED: Final = re.compile(rf"(?:`{{3,}}|:{{3,}})\{{{_BRINGS}\}}.*")
_PLACE: Final = re.compile(r"\.\.[ \t]+_[^:]+:|\([\w.:-]+\)=|:[\w -]+:.*")  # a label, or a field as ":orphan:"
_COMMENT: Final = re.compile(r"\.\.(?:[ \t]+(?!.*::|\[|_|\|).*)?")
_UNDERLINE: Final = re.compile(r"([^\w\s])\1{2,}\s*")
_LONGEST: Final = 100_000  # characters; a list of thousands of pages has less
_TITLE: Final = re.compile(r"#{1,6} .*")


def leads_away(text: str) -> bool:
    """
    Tell whether a page of reStructuredText or MyST has only titles and directives such as `toctree` and `automodule`.

    :param text: The page as written.
    :returns: True when nothing else is in it, and at least one such directive.
    """
    if len(text) > _LONGEST:
        return False
    lines = ["", *(line.rstrip() for line in text.splitlines()), ""]
    fence, brings, is_led = "", False, False
    for (before, line), (_, below) in zip(pairwise(lines), pairwise(lines[1:]), strict=False):
        if fence:
            fence = "" if line.strip() == fence else fence
        elif _FENCED.fullmatch(line):
            fence, brings = line[: len(line) - len(line.lstrip("`:"))], True
        elif _DIRECTIVE.fullmatch(line):
            is_led, brings = True, True
        elif not line or (is_led and line[0] in " \t"):
            continue
        elif _COMMENT.fullmatch(line):
            is_led = True
        elif _PLACE.fullmatch(line) or _TITLE.fullmatch(line):
            is_led = False
        elif any(map(_UNDERLINE.fullmatch, (before, line, below))):
            is_led = False
        else:
            return False
    return brings
