"""Periods that end no sentence: behind abbreviations, initials and ordinals, in English and some languages beside."""

import re
from collections.abc import Sequence
from typing import Final

_TITLES: Final = frozenset(
    "mr mrs ms dr prof rev hon gen col capt lt sgt maj gov sen rep pres st mt ft messrs m mme mlle hr fr sra "
    "srta dra dott".split()
)
_NEVER_LAST: Final = frozenset(
    "e.g eg i.e ie cf vs viz approx ca resp fig figs eq eqs ref refs "
    "abzgl bspw bzw evtl exkl geb ggf hrsg inkl insb sog vgl zzgl "
    "sig bijv dhr mevr tzw см".split()
)
_NEVER_LAST_PAIRS: Final = frozenset({("p.", "ex"), ("par", "ex")})
_SELDOM_LAST: Final = frozenset(
    "al etc inc ltd co corp jr sr bros dept est univ ph.d vol ed eds a.m p.m ecc enz osv itd".split()
)
_BEFORE_NUMBERS: Final = frozenset(
    "no nos nr vol p pp ch sec art para tab jan feb mar apr jun jul aug sep sept oct nov dec "
    "abb abs aufl bd kap max min mind rdnr rn rz tel ziff chap núm pág págs pag pagg "
    "blz hfst kl rys рис стр гл табл".split()
)
# "born c. 1850, d. 1900": small letters only, since "vitamin C. 20 patients" is two sentences; "S. 12" is German.
_LETTERS_BEFORE_NUMBERS: Final = frozenset("b c d fl r S".split())
# After an abbreviation that can also end a sentence, only a word that seldom follows a name opens a new one.
_OPENERS: Final = frozenset(
    "A After All Also Although Among An And Another Are As At Because Before Between Both But By Did Do Does During "
    "Each For From He Her Here His How However I If In Is It Its Later Many Most My No Not Now On Once One Or Other "
    "Our Several She Since So Some Such That The Their Then There Therefore These They This Those Thus To Today Under "
    "Until Was We Were What When Where Which While Who Why With Yes Yet You".split()
)
# German writes ordinals with a period: "3. Oktober", "im 19. Jahrhundert".
_MONTHS: Final = frozenset(
    "Januar Jänner Februar März April Mai Juni Juli August September Oktober November Dezember "
    "Jan Feb Apr Jun Jul Aug Sep Sept Okt Nov Dez".split()
)
_BEFORE_ORDINALS: Final = frozenset("beim bis das dem den der des die im seit vom zum zur".split())
_LIST_NUMBER: Final = re.compile(r"\d{1,3}|[a-zA-Z]|[ivxIVX]{1,4}")
_DOTTED: Final = re.compile(r"[^\W\d]{1,2}(?:\.[^\W\d]{1,2})+")
_DAY: Final = re.compile(r"\d{1,2}")
# The parts of "z. B." and "EE. UU."
_LETTER: Final = re.compile(r"([^\W\d])\1?\.?")
_LONGEST_LETTERS: Final = 3
_OPENING_MARKS: Final = "([{\"'\u201c\u2018\u201e\u201a\u00ab\u00bb"


def leaves_open(before: Sequence[str], word: str, stop: str | None, *, is_first: bool, is_name: bool) -> bool:
    """
    Tell whether the period behind a word leaves its sentence open.

    :param before: One or two words before the period, the last one without it.
    :param word: The word that follows; it may begin a sentence.
    :param stop: The sign behind that, if it is white space, a comma or a period; empty at the end of the text.
    :param is_first: Whether the word before the period is the first one of its sentence.
    :param is_name: Whether a capital letter before the period would be a name's.
    :returns: Whether the sentence goes on.
    """
    token = before[-1].lstrip(_OPENING_MARKS)
    lowered = token.lower()
    if (before[0].lstrip(_OPENING_MARKS).lower(), lowered) in _NEVER_LAST_PAIRS:
        return True
    if lowered in _NEVER_LAST or (lowered in _TITLES and token[:1].isupper()):
        return True
    takes_number = lowered in _BEFORE_NUMBERS or token in _LETTERS_BEFORE_NUMBERS or lowered.endswith("str")
    if takes_number and word[0].isdigit():
        return True
    if is_first and _LIST_NUMBER.fullmatch(token):
        return True
    if len(token) > _LONGEST_LETTERS and "." not in token and lowered not in _SELDOM_LAST:
        return False  # any other word
    is_letter = _LETTER.fullmatch(token) is not None
    if is_letter and stop == "." and _LETTER.fullmatch(word):
        return True
    is_initial = len(token) == 1 and token.isupper() and is_name
    is_ordinal = _DAY.fullmatch(token) and (word in _MONTHS or before[0].lower() in _BEFORE_ORDINALS)
    is_spaced = is_letter and before[0][-1] == "." and _LETTER.fullmatch(before[0]) is not None
    if is_initial or is_ordinal or is_spaced or lowered in _SELDOM_LAST or _DOTTED.fullmatch(token):
        return word not in _OPENERS or stop in (None, ".")
    return False
