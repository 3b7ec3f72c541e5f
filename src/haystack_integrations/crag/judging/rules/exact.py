"""
What a question names exactly: a year, a day, a version, an option, a name. Documents without it are about another one.

To words and vectors 2022 and 2023 are nearly the same: asked about another number than its documents have, the shipped
model calls 101 of 181 lists of six public datasets `correct`, and with this rule 12; it loses none of those that answer
(benchmarks/other_numbers.py).
"""

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import chain, islice
from typing import Final

from haystack_integrations.crag.answer_numbers import MOST_NUMBERS, plain_digits, unsupported_numbers, with_whole_years
from haystack_integrations.crag.judging.rules.opposites import untold_kinds
from haystack_integrations.crag.judging.rules.other_names import untold_names, untold_nouns
from haystack_integrations.crag.judging.rules.properties import untold_properties
from haystack_integrations.crag.judging.rules.reasons import untold_reason
from haystack_integrations.crag.number_words import written_out
from haystack_integrations.crag.texts.languages.function_words import language_of
from haystack_integrations.crag.texts.languages.inflections import language_between
from haystack_integrations.crag.texts.languages.stemming import STOP_WORDS
from haystack_integrations.crag.texts.notations.dates import dates_in
from haystack_integrations.crag.texts.notations.figures import figures_in
from haystack_integrations.crag.texts.notations.versions import versions_in
from haystack_integrations.crag.texts.notations.writings import writings_of
from haystack_integrations.crag.texts.questions.measures import CURRENCIES, CURRENCY_SIGNS
from haystack_integrations.crag.texts.text import words

# However it is written: of 30 EUR a document tells with \u20ac50, and with EUR 50.
_MONEY: Final = rf"(?:[{CURRENCY_SIGNS}]|(?<!\w)(?:{CURRENCIES})(?!\w))"
_OF_AMOUNTS: Final = re.compile(rf"{_MONEY} ?(?=\d)|(?<=\d) ?{_MONEY}")
_YEAR: Final = re.compile(r"1\d{3}|2[01]\d{2}")
_OPTION: Final = re.compile(r"(?<![^\s\"'`(\[,/])--?[A-Za-z][\w-]*")
# Converters write two hyphens as one dash, and a dash of any kind.
_DASH: Final = "[-\u2010-\u2015\u2212]"
# No part is gone back over that could not end earlier: a question of nothing but digits took a second.
_CODE: Final = re.compile(
    r"(?<![\w/-])(?:(?=\w*[^\W_]_[^\W_])\w++|\w++(?=\(\))|[a-z]++[A-Z]\w*+"  # snake_case, called(), camelCase
    r"|(?<!\.)(?:\w{2,}(?:\.\w{2,}){2,}|(?:/[\w.-]{2,}){2,}))(?![\w/-])"  # os.path.join, /etc/hosts
)
# Of a part: `limits.rate`; files and sites are written so, too.
_DOTTED: Final = re.compile(r"(?<![\w./@-])([a-z][\w-]*\.)([a-z][\w-]*)(?![\w/@-]|\.\w)")
# 4711-A, 2024/X7; ORA-00942, INC0012345. Short names are written in several ways (KRT17, IL-6), or amounts (24-H).
_ID: Final = re.compile(
    r"(?<![\w./-])(?:\d{4,}+[A-Z\d]*+(?:[-/][A-Z\d]++)*[-/][A-Z][A-Z\d]*+|[A-Z]{1,6}-?(?=\d{4})\d++)(?![\w-])"
)
_VERSIONS_SIGN: Final = re.compile(r"(?<![\w.-])[vV](?=\d)")
_NO: Final = r"(?:no\.? ?|number |\#)?"
# What is told apart by its number, behind it.
_COUNTED: Final = re.compile(
    r"(?i)\b(?:(article|bay|building|bus|chapter|class|clause|episode|error|exercise|exit|figure|flight|floor|form|gate"
    r"|generation|grade|group|hall|lesson|level|line|module|page|part|phase|platform|room|round|route|row|rule|season"
    r"|seat|section|size|stage|step|table|terminal|tier|track|tram|type|unit|volume|ward|week|year|zone)|([a-z]{4,}))"
    rf" {_NO}(\d{{1,3}})(?!\w| ?%|[.,:/-]\w| (?:of|or|and|to|through)\b ?\d)"
)
_ROMAN: Final = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii")
_PARTS: Final = re.compile(r"[A-Z]+|\d+")
_PARTED: Final = r"[\W_]{0,3}"
# To the words of a text C++, C# and C are one letter, and so is half of M&S.
_SIGNED: Final = re.compile(r"(?<![\w&])(([A-Za-z]\w*)(\+\+|\#)|\w+(?:&\w+)+)(?![\w+#&])")
_SIGNS: Final = {"++": r"(?: ?\+\+|pp\b| ?plus)", "#": r"(?: ?[\#\u266f]|[ -]?sharp\b)"}
_AND: Final = r" ?(?:&(?:amp;)?|\band\b|\+) ?"
_BARE: Final = re.compile(r"(?<![\w.&'-])[B-HJ-Z](?![\w.&'#+-])")
_MARKS: Final = re.compile(r"[\W_]+")
_SHORT: Final = 3


def absent(query: str, texts: Sequence[tuple[str, str]]) -> list[str]:
    """
    Find what a question names exactly and no document has.

    ```python
    from haystack_integrations.crag.judging.rules.exact import absent

    rates = [("", "The rate for 2022 was 4 %. Whoever has fewer than 50 employees pays half.")]
    assert absent("What was the rate for 2023?", rates) == ["2023"]
    assert absent("What do we pay with 30 employees?", rates) == []  # it tells of numbers of employees
    assert absent("What does --dry-run do?", [("", "`--dry` shows what would be run.")]) == ["--dry-run"]
    ```

    :param query: The question.
    :param texts: Title and content of each document.
    :returns: Numbers over twelve that stand by themselves, versions, days, ids, options, names, also of code and with
        signs, some properties, and a reason that is asked for, as the question writes them, at most 20 of a kind. A
        number of a measure that the documents tell of is left out: they may cover it by another; and so is a day of a
        year of which they tell none.
    """
    query = plain_digits(query)
    language = language_between(query, texts) or language_of(words(query))
    shown = [plain_digits(f"{title}\n{content}".replace("\\", "")) for title, content in texts]
    code = _CODE.findall(query)
    named = _OF_AMOUNTS.sub("", query)  # a currency is no name
    found = (
        untold_names(named, shown, language),
        untold_nouns(named, shown, language),
        untold_properties(query, shown),
        untold_kinds(query, shown),
        untold_reason(query, shown, language),
        _numbers(with_whole_years(_VERSIONS_SIGN.sub("", _ID.sub(" ", query))), shown),
        _versions(query, shown),
        _days(query, shown),
        _ids(query, shown),
        _numbered(query, shown),
        _counted(query, shown),
        _options(query, shown),
        _names(code, shown),
        _dotted(query, code, shown),
        _with_signs(query, shown),
        _without_signs(query, shown),
    )
    return list(chain.from_iterable(islice(each, MOST_NUMBERS) for each in found))


def _numbers(query: str, shown: Sequence[str]) -> Iterator[str]:
    for number in unsupported_numbers(query, shown):
        alone = rf"({_MONEY})? ?(?<!\d){re.escape(number)}(?![A-Za-z\d])(?: ?(%|{_MONEY})|[ -](\w+))?"
        # 15th, 1950s and 400mg are written in other ways, too; and of version 3.4 a document may tell 3.4.1.
        if (place := re.search(alone, query)) and not _tells(shown, rf"(?<![\d.]){re.escape(number)}\.\d"):
            before, sign, word = place.groups()
            if _YEAR.fullmatch(number):  # "euro 2020" is no amount, and "2020 census" no measure
                before, sign = (None if each and each.islower() else each for each in (before, sign))
                word = None
            measure = _measure(before, sign, word)
            if not (measure and _tells(shown, measure)):
                yield number


def _measure(before: str | None, sign: str | None, word: str | None) -> str:
    """Give what any amount of the measure looks like; nothing for a number without one."""
    if before or (sign and sign != "%"):
        return rf"{_MONEY} ?\d|\d ?{_MONEY}"
    if ways := writings_of(sign or word or ""):  # of a long one its beginning: Minuten and minuti are minutes, too
        begun = (re.escape(one[:-2]) if len(one) > _SHORT + 2 else rf"{re.escape(one)}(?!\w)" for one in ways)
        return rf"(?i)\d[ -]?(?:{'|'.join(begun)})"
    # By its beginning: 30-day, 30 Tage and 45 Tagen.
    return rf"(?i)\d[ -]{re.escape(word[: max(_SHORT, len(word) - 2)])}" if word else ""


def _versions(query: str, shown: Sequence[str]) -> Iterator[str]:
    """Find versions, too small for a number, that no document has, though one tells another version."""
    asked = [each for each in versions_in(query) if each.is_said and not unsupported_numbers(each.number, [])]
    told = [*chain.from_iterable(map(versions_in, shown))] if asked else []
    for version in asked if any(each.is_said for each in told) else ():
        if not any(each.value == version.value or each.value.startswith(f"{version.value}.") for each in told):
            yield version.written


def _days(query: str, shown: Sequence[str]) -> Iterator[str]:
    """Find days that no document has, though one tells of another day of that year."""
    asked = [(written, days) for written, days in dates_in(query) if all(day.day for day in days)]
    told = {day for text in shown for _, days in dates_in(text) for day in days if day.day} if asked else set()
    for written, days in asked:
        if told.isdisjoint(days) and not {day.year for day in days}.isdisjoint(day.year for day in told):
            yield written


def _ids(query: str, shown: Sequence[str]) -> Iterator[str]:
    """Look for ids whatever parts them; behind letters the number is enough: FY2023, fiscal year 2023."""
    for one in dict.fromkeys(_ID.findall(query)):
        parts = [f"0*{part.lstrip('0')}" if part.isdigit() else part for part in _PARTS.findall(one)]
        number = rf"|(?<![\d.,]){parts[-1]}(?![.,]?\d)" if one[0].isalpha() else ""
        if not _tells(shown, rf"(?i)(?<![^\W_]){_PARTED.join(parts)}(?![^\W_]){number}"):
            yield one


def _numbered(query: str, shown: Sequence[str]) -> Iterator[str]:
    """Find short ids (E-53) that no document has, though one tells another of that name (E-52)."""
    asked = [(written, value) for written, value in figures_in(query) if value[0].isalpha() and " " not in written]
    told = {value for text in shown for _, value in figures_in(text)} if asked else set()
    for written, value in asked:
        if value not in told and not _ID.fullmatch(written) and any(other[0] == value[0] for other in told):
            yield written


def _counted(query: str, shown: Sequence[str]) -> Iterator[str]:
    """Find things with a number (platform 7) that no document has, though one tells another of them (platform 4)."""
    for found in {each[0]: each for each in _COUNTED.finditer(query)}.values():
        thing, number = re.sub("(?i)y$", "(?:y|ies)", found[1] or found[2]), int(found[3])
        ways = "|".join([f"0*{number}(?:st|nd|rd|th)?", *written_out(number), *_ROMAN[number - 1 : number]])
        # Alone, in a row of several ("platforms 4, 5 and 7"), or in a cell below the name of its column.
        listed = rf":? {_NO}(?:[\w-]{{1,5}}(?:, ?|,? (?:and|or|&) |/)){{0,9}}"
        near = rf"(?i)\b{thing}s?{listed}(?:{ways})(?!\w|[.,]\d)|\b(?:{ways})[ -]{thing}|\| ?(?:{ways}) ?\|"
        ranges = rf"(?i)\b{thing}s? (\d{{1,3}}) ?(?:-|\u2013|to|through) ?(\d{{1,3}})\b"
        if _are_told_apart(thing, shown, is_known=bool(found[1])) and not _tells(shown, near):
            spans = chain.from_iterable(re.findall(ranges, text) for text in shown)
            if not any(int(first) <= number <= int(last) for first, last in spans):
                yield found[0]


def _are_told_apart(thing: str, shown: Sequence[str], *, is_known: bool) -> bool:
    """Tell whether numbers name things of a kind: once where they usually do, else two of them, which count nothing."""
    if is_known:
        return _tells(shown, rf"(?i)\b{thing}s? {_NO}\d")
    several = r"(?:(?:, ?|,? (?:and|or|&) |/)(\d{1,3}))?"
    wanted = re.compile(
        rf"(?i)\b{thing}s? {_NO}(\d{{1,3}}){several}(?!\w|[.,:/-]\d| ?[%{CURRENCY_SIGNS}])(?: ([a-z]+))?"
    )
    told = chain.from_iterable(map(wanted.findall, shown)) if thing.lower() not in STOP_WORDS else ()
    numbers = {each for *told_, after in told if not after or after in STOP_WORDS for each in told_ if each}
    return len(numbers) > 1


def _options(query: str, shown: Sequence[str]) -> Iterator[str]:
    for option in dict.fromkeys(_OPTION.findall(query)):
        name = option.strip("-")
        flags = "" if len(name) == 1 else "(?i)"  # -r and -R are two
        if not _tells(shown, rf"{flags}{_DASH}{re.escape(name)}(?![\w-])"):
            yield option


def _names(code: Sequence[str], shown: Sequence[str]) -> Iterator[str]:
    """Look for names of code whatever parts them: max_tokens may stand there as `maxTokens` or in words."""
    plain = [_plain(text) for text in shown] if code else []
    for name in dict.fromkeys(code):
        if len(bare := _plain(name)) > _SHORT and not any(bare in text for text in plain):
            yield name


def _dotted(query: str, code: Collection[str], shown: Sequence[str]) -> Iterator[str]:
    """Find names with a dot (limits.rate) that no document has, though one tells another of that part (limits.size)."""
    for found in {each[0]: each for each in _DOTTED.finditer(query)}.values():
        is_looked_for = found[2] in code and any(_names([found[2]], shown))
        if not is_looked_for and _tells(shown, rf"(?<![\w.-]){re.escape(found[1])}[a-z]"):
            yield from _names([found[0]], shown)


def _with_signs(query: str, shown: Sequence[str]) -> Iterator[str]:
    for name, word, sign in dict.fromkeys(_SIGNED.findall(query)):
        # A letter may be spelt out: R&D, research and development.
        parts = [rf"{part}\w*" if len(part) == 1 else part for part in name.split("&")]
        other = f"{word}{_SIGNS[sign]}" if sign else rf"{_AND.join(parts)}(?!\w)"
        if not _tells(shown, rf"(?i)(?<![\w&]){other}"):
            yield name


def _without_signs(query: str, shown: Sequence[str]) -> Iterator[str]:
    """Find a letter that documents have with such a sign only: who asks for C is not told by C++."""
    for letter in dict.fromkeys(_BARE.findall(query)):
        if _tells(shown, rf"(?<!\w){letter}(?:\+\+|#)") and not _tells(shown, rf"(?<![\w&-]){letter}(?![\w+#&])"):
            yield letter


def _plain(text: str) -> str:
    return _MARKS.sub("", text).lower()


def _tells(shown: Sequence[str], pattern: str) -> bool:
    wanted = re.compile(pattern)
    return any(map(wanted.search, shown))
