"""Which headings of a Markdown text its passages stand under: questions name them, passages seldom."""

import re
from typing import Final

_LINE: Final = re.compile(r" {0,3}(?:(?P<fence>`{3,}|~{3,})|(?P<marks>#{1,6})[ \t]+(?P<words>\S.*))")
_LINK: Final = re.compile(r"\[([^\[\]]*)\]\([^()]*\)")
# Signs of code and weight, Sphinx's permalink, closing marks, attributes: what is written for a renderer.
_MARKUP: Final = re.compile(r"[`*¶\\]|[ \t]#+$|\{#[^{}]*\}$|<[^<>]*>")
_LONGEST: Final = 200


class Headings:
    """Follows a Markdown text that is read passage by passage, in order; headings are lines that begin with `#`."""

    def __init__(self) -> None:
        """Begin a text."""
        self._open: list[tuple[int, str]] = []
        self._fence = ""

    def over(self, passage: str) -> list[str]:
        """
        Read the next passage.

        :param passage: The text that follows on what was read before.
        :returns: The headings above its first line, the outermost first, without marks; a heading that it begins with
            is not above it.
        """
        above: list[str] | None = None
        for line in filter(str.strip, passage.splitlines()):
            level, words = self._heading(line[: _LONGEST + 10])
            if level:
                self._open = [one for one in self._open if one[0] < level]
            if above is None:
                above = [known for _, known in self._open]
            if words:
                self._open.append((level, words))
        return above or []

    def _heading(self, line: str) -> tuple[int, str]:
        """Read a line: the level and words of a heading, 0 for all else. In fenced code, `#` begins a comment."""
        found = _LINE.match(line)
        if found is None:
            return 0, ""
        fence = found["fence"] or ""
        if self._fence or fence:
            ends = fence.startswith(self._fence) and not line[found.end() :].strip()
            self._fence = fence if not self._fence else "" if ends else self._fence
            return 0, ""
        return len(found["marks"]), " ".join(_MARKUP.sub("", _LINK.sub(r"\1", found["words"].rstrip())).split())
