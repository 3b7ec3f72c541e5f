"""Which headings of a text its passages stand under: questions name them, passages seldom."""

import re
from typing import Final

_LINE: Final = re.compile(r" {0,3}(?:(?P<fence>`{3,}(?!.*`)|~{3,})|(?P<marks>#{1,6})[ \t]+(?P<words>\S.*))")
_TAG: Final = re.compile(r"(?i) {0,3}<h(?P<level>[1-6])(?:\s[^<>]*)?>(?P<words>.*)</h(?P=level)>\s*")
_LINK: Final = re.compile(r"\[([^\[\]]*)\]\([^()]*\)")
# Signs of code and weight, Sphinx's permalink, closing marks, attributes: what is written for a renderer. Within code
# all is shown as it is.
_MARKUP: Final = re.compile(r"`([^`]*)`|[`*¶\\]|[ \t]#+$|\{#[^{}]*\}$|<[^<>]*>")
_LONGEST: Final = 200
# As Markdown has two of them and reStructuredText any.
_UNDERLINES: Final = "=~^\"'`*+#.:_-"
_UNDERLINE: Final = re.compile(rf"([{_UNDERLINES}])\1{{2,}}\s*")
_LEVELS: Final = "=-"
# Marks of items, rows, quotes, other lines; what is typed behind a prompt is no title either. A word may be marked.
_NO_TITLE: Final = re.compile(r"\s|[|>+=~^-]|[*\"](?![^\W_])|\$\s")
_ITEM: Final = re.compile(r"\d+[.)]\s")
_SHORTER: Final = 2  # signs that a line below a title may lack
# AsciiDoc's marks of places and blocks. In it no line stands over a title, as one does over a listing of one line.
_ASCIIDOC: Final = re.compile(
    r"\[\[[^\s\[\]]+\]\]|\[(?:verse|quote|source|listing|NOTE|TIP|IMPORTANT|WARNING|CAUTION)[\],]"
)
_ONE_LINE: Final = re.compile(r"(?P<marks>={1,6})[ \t]+(?P<words>\S.*?)(?:[ \t]+=+)?\s*")
_OF_WIKI: Final = re.compile(r"(?P<marks>={2,6})[ \t]*(?P<words>[^\s=>](?:.*[^\s=])?)[ \t]*(?P=marks)\s*")
_SIGNS: Final = "=-~^+_"  # below a title, for as many `=` before it
_LONGER: Final = 3  # signs that a line below a title of AsciiDoc may have too many: a longer one ends a block
# Lines of nothing but marks, which say what the text below them is: its place for links, a warning, code, a tab.
_LEAD: Final = re.compile(r"[ \t]*\.\.[ \t]+(?:_[^\s:][^:]*:|[\w:.+-]+::.*)\s*|[ \t]*::\s*|\[\[[^\s\[\]]+\]\]\s*")
_LEAD_OF_MARKDOWN: Final = re.compile(
    r"\([\w.:-]+\)=\s*|<a\s+(?:id|name)=[^<>]*>\s*</a>\s*|:{3,}[ \t]*\{?[a-z].*"
    r"|(?:!!!|\?\?\?\+?)[ \t]+\w.*|===[!+]?[ \t]+\".*\"\s*|\{\{[<%][ \t]*[a-z].*[>%]\}\}\s*"
)
_OPTION: Final = re.compile(r"[ \t]+:[\w-]+:.*")  # below the first line of a directive
_FIELDS: Final = {"---": re.compile(r"[\w-]+\s*:"), "+++": re.compile(r"[\w-]+\s*=")}  # of YAML, TOML
# Sections of laws and contracts, alone on their line: a word, a number, perhaps words that are no sentence.
_NUMBERED: Final = re.compile(
    r"(?:(?P<kind>§{1,2}|(?i:art(?:icle|ikel|[ií]culo|igo|icolo|\.)|section|sec\.|clause|klausel|chapter|part|title|teil|"
    r"kapitel|abschnitt|chapitre|titre|cap[ií]tulo|capitolo|t[ií]tulo)|(?P<annex>(?i:annexe?|appendix|schedule|exhibit|"
    r"anlage|anhang|anexo|allegato)))\s*(?:\d+[a-z]?(?:[.\u2013-]\d+)*|[IVXLC]+|[A-Z])(?!\w)"
    r"|[第제]\s*[\d一二三四五六七八九十百千零\u3007]+\s*(?P<kind_behind>[编編章节節条條편장절조])(?![的第\w제]))"
    r"[.:]?\s*(?P<words>.*)"
)
# Sections that a specification counts, alone on their line: "3.1.  Terms", "A.2 Keys". "3. Terms" may be an item.
_COUNTED: Final = re.compile(
    r"(?P<first>[1-9]\d?|[A-Z](?=\.\d))(?P<more>(?:\.\d{1,2}){0,5})(?P<gap>\.?[ \t]{1,3})(?P<words>(?=.*[^\W\d_])\S.*)"
)
# Of a log of changes: a version, perhaps with a date. It is above all other headings of its level.
_RELEASE: Final = re.compile(r"(?i)\W{0,2}v?\d+(?:\.\d+)+[\w.+-]*(?:\W*(?:\d|$)|\s+[\u2013\u2014-]\s.*\d{4})")
_LONGEST_COUNTED: Final = 80  # as wide as such texts are
_LAST_OF_SENTENCE: Final = tuple(".;,:!?\u3002\uff1b\uff0c\uff1a\uff01\uff1f\u3001")  # Chinese ones, too
_CLAUSE: Final = re.compile(r"\s*[(\uff08]?(?:\d{1,3}|[a-z])[).\uff09]")
_TITLE: Final = re.compile(r"(?i)title(?::|\s*=)\s*[\"']?(?P<words>[^\s\"'].*?)[\"']?\s*")


class Headings:
    """
    Follows a text that is read passage by passage, in order.

    Headings are lines with a line of `=` or `-` below them, and lines that begin with `#` or are marked by tags, as is
    the title of the front matter; in a text that is no Markdown, those with a line of one sign below them that is as
    long, of AsciiDoc and wikis those within `=`, numbered sections ("§ 10 Notice", "3.1.  Terms"), and capitals above
    indented text. Which sign or word is of which level each text says itself, by their order. `closing` is where in the
    passage that was read last the headings begin that it ends with: its length where it ends with text.
    """

    def __init__(self, *, is_markdown: bool = True) -> None:
        """
        Begin a text.

        :param is_markdown: Whether it is Markdown, in which `#` begins a heading.
        """
        self._open: list[tuple[float, str]] = []
        self._signs: list[tuple[str, bool]] = []  # of a text that is no Markdown, whether they stand above a title, too
        self._is_markdown, self._is_asciidoc = is_markdown, False
        self._section = ""  # the first number of the last heading that is counted
        self._fence, self.closing = "", 0
        self._front: bool | None = None  # before the first line

    def over(self, passage: str) -> list[str]:
        """
        Read the next passage.

        :param passage: The text that follows on what was read before.
        :returns: The headings above its first line, the outermost first, without marks; a heading that it begins with
            is not above it.
        """
        above: list[str] | None = None
        self.closing, start, end, titled, led = len(passage), 0, 0, -1, -1
        above_last = above_line = len(passage)  # `closing` as it was before the last line, and before this one
        kept = passage.splitlines(keepends=True)
        lines = ["", *(line.rstrip("\r\n") for line in kept), ""]
        for number, (before, line, below) in enumerate(zip(lines, lines[1:], lines[2:], strict=False)):
            start, last, end = end, start, end + len(kept[number])
            if not line.strip():
                continue
            above_last, above_line = above_line, self.closing
            depth, words = self._read(before, line, below)
            if not words and self._leads(line, below_lead=led == number - 1):
                self.closing, led = min(self.closing, start), number
                continue
            is_release = _RELEASE.match(words) is not None
            level = depth - 0.5 if is_release else depth
            if level:
                self._open = [
                    one for one in self._open if one[0] < level and not (is_release and _RELEASE.match(one[1]))
                ]
            if above is None:
                above = [known for _, known in self._open]
            if words:
                self._open.append((level, words))
            if words and not self._front:
                is_over = not self._is_markdown and before.strip() == below.strip() != ""
                self.closing, titled = min(above_last, last) if is_over else min(self.closing, start), number
            elif titled < number - 1 or not self._is_under(line):
                self.closing = len(passage)
        return [known for _, known in self._open] if above is None else above

    def _leads(self, line: str, *, below_lead: bool) -> bool:
        """Tell whether a line belongs to what follows, as a heading does."""
        lead = _LEAD_OF_MARKDOWN if self._is_markdown else _LEAD
        is_option = below_lead and not self._is_markdown and _OPTION.fullmatch(line) is not None
        return not (self._fence or self._front) and (is_option or lead.fullmatch(line[:_LONGEST]) is not None)

    def _is_under(self, line: str) -> bool:
        """Tell whether a line below a title is its own; in Markdown one of backticks begins code."""
        return _UNDERLINE.fullmatch(line) is not None and (line[0] in _LEVELS or not self._is_markdown)

    def _read(self, before: str, line: str, below: str) -> tuple[int, str]:
        """Read a line between two: the level and words of a heading, 0 and none for all else."""
        if not self._is_markdown:
            level, words = self._of_asciidoc(before, line)
            level, words = (level, words) if level else self._numbered(before, line, below)
        elif self._front is False:
            level, words = self._heading(line)
        else:
            level, words = self._of_front(line, below)
        if not (level or self._fence or self._front):
            level, words = self._underlined(before, line, below)
        return level, words

    def _of_front(self, line: str, below: str) -> tuple[int, str]:
        """Read the first line, or one of the front matter, of which the title is a heading."""
        if self._front is None:
            field = _FIELDS.get(line.rstrip())
            self._front = field is not None and field.match(below) is not None
            return self._heading(line)
        self._front = line.rstrip() not in (*_FIELDS, "...")
        found = _TITLE.fullmatch(line)
        return (1, _plain(found["words"])) if found else (0, "")

    def _heading(self, line: str) -> tuple[int, str]:
        """Read a line: the level and words of a heading, 0 for all else. In fenced code, `#` begins a comment."""
        line = line[: _LONGEST + 10]
        found = _LINE.match(line)
        if found is None:
            tag = None if self._fence else _TAG.fullmatch(line)
            words = _plain(tag["words"]) if tag else ""
            return (int(tag["level"]), words) if tag and words else (0, "")
        fence = found["fence"] or ""
        if self._fence or fence:
            ends = fence.startswith(self._fence) and not line[found.end() :].strip()
            self._fence = fence if not self._fence else "" if ends else self._fence
            return 0, ""
        return len(found["marks"]), _plain(found["words"].rstrip())

    def _of_asciidoc(self, before: str, line: str) -> tuple[int, str]:
        """Read a line of a text that may be AsciiDoc, as its first title or a mark says, or a wiki's: a title."""
        is_first = not (before.strip() or self._signs) and line.startswith("= ")
        self._is_asciidoc |= is_first or _ASCIIDOC.match(line) is not None
        found = (_ONE_LINE if self._is_asciidoc else _OF_WIKI).fullmatch(line[: _LONGEST + 10])
        if found is None or (self._is_asciidoc and not self._begins_below(before)):
            return 0, ""
        return self._level(_SIGNS[len(found["marks"]) - 1], is_over=False), _plain(found["words"])

    def _numbered(self, before: str, line: str, below: str) -> tuple[int, str]:
        """Read a line between blank ones, or above the first clause: "§ 10 Notice" is a title, "§ 10 applies." none."""
        if before.strip() or len(line) > _LONGEST:
            return 0, ""
        if below.strip() and not _CLAUSE.match(below):
            return self._in_capitals(line, below)
        found = _NUMBERED.fullmatch(line.strip())
        if found is None:
            return self._counted(line, below)
        if found["words"][:1].islower() or found["words"].rstrip().endswith(_LAST_OF_SENTENCE):
            return 0, ""
        kind = (found["kind"] or found["kind_behind"]).casefold()
        if found["annex"]:  # it follows on all sections, and is in none
            kind = next((sign for sign, _ in self._signs if sign[:1] not in _UNDERLINES), kind)
        return self._level(kind, is_over=False), _plain(line)

    def _counted(self, line: str, below: str) -> tuple[int, str]:
        """Read a line between blank ones: "3.1.  Terms" is a title, and "4. Use" where section 3 is before it."""
        found = _COUNTED.fullmatch(line.rstrip()) if len(line) <= _LONGEST_COUNTED and not below.strip() else None
        if found is None or found["words"].endswith(_LAST_OF_SENTENCE):
            return 0, ""
        first, more, gap, words = found.groups()
        is_next = self._section.isdigit() and first == str(int(self._section) + 1)
        # As RFCs have them: an item of a list seldom has two blanks and a large letter in its last word.
        is_typeset = gap == ".  " and words[0].isupper() and not words.split()[-1][0].islower()
        if not (more or is_typeset or is_next) or (words[0].islower() and not (more and gap == ".  ")):
            return 0, ""
        self._section = first
        levels = [self._level(f"{depth}.", is_over=False) for depth in range(more.count(".") + 1)]
        return levels[-1], _plain(line)

    def _in_capitals(self, line: str, below: str) -> tuple[int, str]:
        """Read a line above what is indented, as manual pages have them; where other lines are titles, it is a term."""
        is_one = line.isupper() and line[0].isalpha() and "_" not in line and below[:3].isspace()
        is_alone = not any(sign for sign, _ in self._signs)
        return (self._level("", is_over=False), _plain(line)) if is_one and is_alone else (0, "")

    def _underlined(self, before: str, line: str, below: str) -> tuple[int, str]:
        """Read a line with another one below it, which in a text that is no Markdown is as long."""
        under = _UNDERLINE.fullmatch(below[: 2 * _LONGEST])
        is_over = before.strip() == below.strip()
        if under is None or not (is_over or self._begins_below(before)) or len(line) > _LONGEST:
            return 0, ""
        is_longer = len(below.rstrip()) > len(line.rstrip()) + _LONGER
        if self._is_asciidoc and (is_over or is_longer or _ASCIIDOC.match(line)):
            return 0, ""
        title = line.strip() if is_over and not self._is_markdown else line.rstrip()
        if _NO_TITLE.match(title) or (self._is_markdown and _ITEM.match(title)):
            return 0, ""
        is_short = len(below.rstrip()) < len(title) - _SHORTER
        if under[1] not in _LEVELS if self._is_markdown else is_short:
            return 0, ""
        words = _plain(title)
        return (self._level(under[1], is_over=is_over), words) if words else (0, "")

    def _begins_below(self, before: str) -> bool:
        """Tell whether a title may stand below a line: a blank one, or AsciiDoc's mark of the place."""
        return not before.strip() or (self._is_asciidoc and before.startswith("[["))

    def _level(self, sign: str, *, is_over: bool) -> int:
        if self._is_markdown:
            return _LEVELS.index(sign) + 1
        if (sign, is_over) not in self._signs:
            self._signs.append((sign, is_over))
        return self._signs.index((sign, is_over)) + 1


def _plain(words: str) -> str:
    return " ".join(_MARKUP.sub(r"\1", _LINK.sub(r"\1", words)).split())
