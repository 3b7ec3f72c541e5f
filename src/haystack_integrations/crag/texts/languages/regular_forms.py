"""
Regular forms of words that Snowball leaves apart from the others: livrons, livrer; cierra, cerrar; zmywarce, zmywarka.
Of German ones see `german_verbs`.

For each language, what a form ends or looks like, and the form whose stem it has as well. No such word need be one: two
stems that nobody uses meet no other.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Final

_ENDINGS: Final[Mapping[str, tuple[tuple[str, str], ...]]] = {
    "french": (
        ("rer", "raison raisons"),  # livraison, livrer
        ("er", "age ages eture etures"),  # nettoyage, fermeture
        ("crire", "cription criptions crit crits crite crites crivez crivent"),
        ("eter", "at ats"),  # achat
        ("isir", "ix"),  # choix
        ("d", "te tes"),  # perte, perd
        ("ettre", "is ise ises"),  # remis
        ("endre", "is ise ises"),  # pris
        ("enir", "ien iens ient ienne iennent"),
        ("ssionner", "ssion"),
        ("érer", "ésion ésions"),
        ("cevoir", "çoit çu çus çue çues ception ceptions"),
        ("ourner", "our ours"),
    ),
    "spanish": (
        ("olver", "olución oluciones uelto uelta ueltos ueltas"),  # devolución, devuelto
        ("rir", "ierto ierta iertos iertas re ren"),  # abierto, abre
        ("cribir", "cripción cripciones crito crita critos critas"),
        ("ar", "ación aciones"),
        ("eger", "ección ecciones"),
        ("egir", "ección ecciones"),
        ("ender", "ensión ensiones"),
        ("iar", "ieza iezas"),
        ("itar", "itud itudes"),
        ("ger", "jo ja jan"),  # recoja
    ),
    "italian": (
        ("endere", "esi esa ese eso ende"),  # preso, prendere
        ("idere", "isi isa ise iso"),
        ("udere", "usi usa use uso usura usure"),  # chiuso, chiusura
        ("rdere", "rsi rsa rse rso"),
        ("ettere", "essi essa esse esso"),
        ("rire", "erti erta erte erto ertura erture"),  # aperto, aprire
        ("vere", "tti tta tte tto zione zioni"),  # iscritto, iscrizione
        ("ire", "izione izioni izia"),  # spedizione, pulizia
        ("dire", "detti detta dette detto"),
        ("uire", "uzione uzioni"),
        ("ere", "enza enze"),  # scadenza
        ("enere", "iene ieni engo enga engono"),  # tiene, tengono
        ("gare", "ghi ghe ghiamo"),
        ("care", "chi che chiamo"),
        ("ave", "avi"),
        ("zione", "zionale zionali"),
    ),
    "portuguese": (
        ("al", "ais"),
        ("el", "eis éis"),
        ("il", "eis"),
        ("ol", "ois óis"),
        ("ão", "oes ões ães"),
        ("m", "ns"),
        ("ar", "ação ações amento amentos á"),  # marcação, pagamento, lavá-lo
        ("er", "imento imentos ê"),
        ("gar", "gue guem gues"),
        ("car", "que quem ques"),
        ("ver", "ução uções"),  # devolução
        ("crever", "crito crita critos critas crição crições"),
        ("rir", "erto erta ertos ertas ertura re rem"),  # aberto, abre
        ("o", "eza"),
    ),
    "polish": (
        ("ka", "ce ek"),  # zmywarce, garnek
        ("k", "cy"),
        ("ga", "dze"),
        ("r", "rze"),
        ("t", "cie ci cić ca cać cają cą cę camy cimy cona cone cono cony cenie cenia ceniu"),  # opłaca, opłata
        ("ta", "cie"),
        ("cia", "cie ć"),  # zdjęcie, zdjęć
        ("d", "dzie"),
        ("ła", "le"),
        ("no", "ien"),
        ("ło", "eł le"),
        ("ąd", "ędu ędem ędy ędów ędzie ędach ędami"),  # błędu, błąd
        ("", "owie ować uje uję ują ujemy ował"),  # członkowie; kosztuje, koszt
        ("ować", "uj uje uję ują ujemy ujesz ujcie acja acji ację acją acje"),
        ("ać", "a aj ają ajcie anie ania aniu anych any ana ane ano"),
        ("ić", "enie enia eniu eń ienie ienia ieniu ień ony ona one ono iony iona ione iono"),
        ("sić", "szenie szenia szeń szony szona szono"),  # zgłoszenie
        ("ścić", "szczenie szczenia szczony szczona"),
        ("łać", "łka łki łkę łką łce łek"),  # wysyłka
        ("ąć", "ęcie ęcia ęciu ęty ęta ęte ięcie ięcia ięty"),
        ("yć", "ycie ycia yciu yty yta yte yje"),
        ("la", "li"),
    ),
}
"""Other endings, by what they stand for; a form has both."""

_FORMS: Final[Mapping[str, tuple[tuple[str, str], ...]]] = {
    "french": (
        (r"(\w{3,})(?:ons|ent)", r"\1er"),  # livrons, livrent
        (r"(\w+)aye(?:s|nt)?", r"\1aie"),
        (r"(\w{2,}d)(?:re|ue?s?)", r"\1"),  # rendre, rendu
        (r"(\w*(?:ouv|off))ert(?:e?s?|ures?)", r"\1rir"),
    ),
    "spanish": (
        (r"(\w+)ie(\w+)", r"\1e\2"),  # cierra, cerrar
        (r"(\w*[^\Wgq])ue(\w+)", r"\1o\2"),  # devuelve, devolver
        (r"(\w{2,})c(?:e|es|en|emos)", r"\1z"),  # luces, luz; utilice, utilizar
        (r"(\w{2,})qu(?:e|es|en|emos)", r"\1car"),  # aparque, aparcar
        (r"(\w+)i([dgt])(?:e|en|o|a|an)", r"\1e\2ir"),  # pide, elige
        (r"aperturas?", r"abrir"),
    ),
    "dutch": (
        (r"(?:ge)?(\w{4,}?)[td]e?n?", r"\1"),  # betaalt, betaald
        (r"(?:ge)?(\w{4,}?)[td]e?n?", r"\1en"),
        (r"(?:ge)?(\w*)([aeou])\2([b-df-hj-np-tv-z])[td]e?n?", r"\1\2\3en"),  # annuleert, annuleren
        (r"(\w{2,}[dt])ing(?:en)?", r"\1en"),  # melding, melden
        (r"(?:ge)?open(?:d|t)?", r"opening"),
        (r"(\w*[^\Waeou]a[dgt])en", r"\1"),  # dagen, dag
        (r"(\w*)ge(\w+)e([gkpv])en", r"\1\2ij\3en"),  # gekregen, krijgen
        (r"(\w*)ge(\w+)o([dgt])en", r"\1\2ui\3en"),  # gesloten, sluiten
        (r"(\w*)ge(\w+)o([dgt])en", r"\1\2ie\3en"),
        (r"(\w*)ge(\w+)o([mk])en", r"\1\2e\3en"),
        (r"(?:ge)?(\w+)onden", r"\1inden"),
        (r"(?:ge)?(\w+)onden", r"\1enden"),
    ),
}
_PATTERNS: Final = {
    language: tuple((re.compile(form), other) for form, other in forms) for language, forms in _FORMS.items()
}
_LEAST: Final = 2  # letters before an ending
_LONGEST: Final = 9


def _by_ending(rows: tuple[tuple[str, str], ...]) -> Mapping[str, tuple[str, ...]]:
    found = defaultdict[str, list[str]](list)
    for other, endings in rows:
        for ending in endings.split():
            found[ending].append(other)
    return {ending: tuple(others) for ending, others in found.items()}


_OTHERS: Final = {language: _by_ending(rows) for language, rows in _ENDINGS.items()}


def regular_forms(word: str, language: str) -> Iterator[str]:
    """
    Give what else a word may be a form of.

    ```python
    from haystack_integrations.crag.texts.languages.regular_forms import regular_forms

    assert [*regular_forms("livrons", "french")] == ["livrer"]
    assert [*regular_forms("luces", "spanish")] == ["luz"]
    assert [*regular_forms("zmywarce", "polish")] == ["zmywarka"]
    ```

    :param word: A word in small letters.
    :param language: The English name of its language, in small letters.
    :returns: Other forms, and some that no word has.
    """
    for pattern, other in _PATTERNS.get(language, ()):
        if found := pattern.fullmatch(word):
            yield found.expand(other)
    if endings := _OTHERS.get(language):
        for place in range(max(_LEAST, len(word) - _LONGEST), len(word)):
            yield from (word[:place] + other for other in endings.get(word[place:], ()))
