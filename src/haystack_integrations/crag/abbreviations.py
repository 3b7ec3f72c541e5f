"""English abbreviations, and what may follow them: what a sentence splitter must know."""

from typing import Final

TITLES: Final = frozenset(
    "mr mrs ms dr prof rev hon gen col capt lt sgt maj gov sen rep pres st mt ft messrs mme mlle".split()
)
NEVER_LAST: Final = frozenset("e.g eg i.e ie cf vs viz approx ca resp fig figs eq eqs ref refs".split())
SELDOM_LAST: Final = frozenset("al etc inc ltd co corp jr sr bros dept est univ ph.d vol ed eds a.m p.m".split())
BEFORE_NUMBERS: Final = frozenset(
    "no nos nr vol p pp ch sec art para tab jan feb mar apr jun jul aug sep sept oct nov dec".split()
)
# "born c. 1850, d. 1900": small letters only, since "vitamin C. 20 patients" is two sentences.
BEFORE_YEARS: Final = frozenset("b c d fl r".split())
# After an abbreviation that can also end a sentence, only a word that seldom follows a name opens a new one.
OPENERS: Final = frozenset(
    "A After All Also Although Among An And Another Are As At Because Before Between Both But By Did Do Does During "
    "Each For From He Her Here His How However I If In Is It Its Later Many Most My No Not Now On Once One Or Other "
    "Our Several She Since So Some Such That The Their Then There Therefore These They This Those Thus To Today Under "
    "Until Was We Were What When Where Which While Who Why With Yes Yet You".split()
)
