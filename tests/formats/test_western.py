"""Text in one byte a letter is read as Windows-1252 only where it may be such."""

import pytest

from haystack_integrations.crag.formats.western import western

TEXTS = {
    "German": "Die Öffnungszeiten des Büros in der Königstraße: größere Übungen kosten 9 € – außer an Feiertagen.",
    "French": "Le bureau est fermé à Orléans où l’été dernier l'œuvre a été présentée; ça coûte 9 €, être français.",
    "Spanish": "¿Cuándo abre la oficina? El año pasado la señora pidió más información; la 1ª sección y el nº 5.",
    "Portuguese": "A informação não está disponível: as eleições são amanhã e o avô à frente da câmara dá três opções.",
    "Swedish": "Kontoret är öppet på måndagar från åtta; på sommaren är det stängt för övning.",
    "Icelandic": "Skrifstofan er opin á mánudögum þegar það er ekki frídagur; spurningar eru velkomnar.",
    "Estonian": "Kontor on avatud esmaspäeviti, küsimused õhtul; öö ja päev, šokolaad.",
    "a table": "Tarif;Gebühr\nGroß;4,90 €\n",
    "a name": "Der Bericht über die Straße nach Timişoara wurde früher geprüft, schöne Grüße. " * 3 + "Võro.",
}
OTHERS = {
    "cp1250": [
        "Biuro jest otwarte, proszę pytać o opłaty.",
        "Příliš žlutý kůň",
        "Žao nam je, također i račun.",
    ],
    "iso8859_2": ["Biuro jest otwarte, proszę pytać o opłaty."],
    "cp1254": ["Çalışma saatleri dokuzdan beşe kadardır, öğle arası yoktur."],
    "cp1257": [
        "Klausimų laukiame, ačiū už kantrybę; žąsis ėjo į šieną.",
        "Jautājumi ir gaidīti; šķērsiela.",
    ],
    "cp1251": ["Price list of all plans; Цена; Basic plan; 9; Team plan; 29"],
    "koi8_r": ["Офис открыт по понедельникам."],
    "cp1253": ["Το γραφείο είναι ανοιχτό."],
    "cp932": ["事務所は月曜日に開いています。"],
    "gbk": ["办公室星期一开放。"],
    "cp850": ["Das Büro in der Königstraße öffnet früher."],
    "mac_roman": ["Das Büro in der Königstraße öffnet früher.", "Le café est fermé à midi."],
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_languages_of_western_europe_are_read(text: str) -> None:
    """A foreign name among them, of which not all letters are there, is no reason not to."""
    data = text.encode("cp1252", "ignore")
    assert western(data) == data.decode("cp1252")


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in OTHERS.items() for text in texts])
def test_letters_of_others_are_left_alone(name: str, text: str) -> None:
    """They would be words that nobody asks for."""
    assert western(text.encode(name)) is None


@pytest.mark.parametrize("name", ["German", "French", "Spanish", "Swedish", "a table"])
def test_damaged_utf_8_is_left_alone(name: str) -> None:
    """Each of its letters would be two signs, for one that was cut in half."""
    assert western(TEXTS[name].encode() + b"\xc3") is None


def test_what_is_no_text_is_left_alone() -> None:
    """Each byte may be a letter."""
    assert western(b"GIF89a\x00\xe4 and more words") is None
