"""Texts are read once, by any number of threads, and the last ones are remembered."""

from concurrent.futures import ThreadPoolExecutor

from judging_texts import asking

from haystack_integrations.crag.encoding.encoders import load_encoder
from haystack_integrations.crag.judging.company import measure
from haystack_integrations.crag.judging.places import Places
from haystack_integrations.crag.judging.reading import Reader, shared_reader

EMMA = ("Emma (novel)", "Emma is a novel. It was written by Jane Austen in 1815, in 55 chapters.")


def test_a_text_is_read_as_terms_with_places_names_and_numbers() -> None:
    """Positions count content terms over all sentences."""
    (emma,) = shared_reader().read([EMMA])
    assert (emma.title, emma.name) == ("Emma (novel)", ("emma",))
    assert emma.title_terms == {"emma", "novel"}
    assert list(emma.places) == ["emma", "novel", "written", "jane", "austen", "1815", "55", "chapter"]
    assert (list(emma.starts), emma.length) == ([0, 2], 8)
    assert (emma.capitals, emma.small("novel")) == ({"jane": 1, "austen": 1}, 1)
    assert list(emma.names) == [3]
    assert (list(emma.numbers), list(emma.years)) == ([5, 6], [5])
    assert emma.sentence_vectors.shape == (2, shared_reader().encoder.dimension)


def test_ngrams_hide_what_a_text_is_about_and_its_numbers() -> None:
    """`TITLE was born YEAR` is said of many."""
    (emma,) = shared_reader().read([EMMA])
    assert {"TITLE", "TITLE is", "a TITLE", "in YEAR", "YEAR", "in NUMBER", "written by"} <= emma.ngrams
    assert not {"emma", "1815", "55"} & emma.ngrams


def test_runs_of_words_say_that_a_name_is_told_not_which() -> None:
    """`by NAME NAME` is said of many, `jane austen` of few; alone a name stays, since some answer often."""
    (emma,) = shared_reader().read([EMMA])
    assert {"by NAME", "by NAME NAME", "NAME NAME in", "NAME in YEAR", "jane", "austen"} <= emma.ngrams
    assert not {"by jane", "jane austen", "NAME"} & emma.ngrams
    (short,) = shared_reader().read([("", "Written by him.")])
    assert short.ngrams == {"written", "NAME by", "by him", "NAME by him"}


def test_ngrams_are_worked_out_for_those_who_ask_for_them() -> None:
    """Only a crossing does, and the shipped model has none."""
    (emma,) = Reader(load_encoder()).read([EMMA])
    measure(asking("Who wrote Emma?"), [emma])
    assert "ngrams" not in vars(emma)
    assert emma.ngrams
    assert "ngrams" in vars(emma)


def test_positions_are_told_by_term_in_order() -> None:
    """As a dictionary of lists would."""
    places = Places(["to", "be", "or", "not", "to", "be", "to"])
    assert dict(places) == {"to": [0, 4, 6], "be": [1, 5], "or": [2], "not": [3]}
    assert ("be" in places, "emma" in places, places.get("emma"), len(places)) == (True, False, None, 4)
    assert places == Places(["to", "be", "or", "not", "to", "be", "to"])
    assert dict(Places([])) == {}
    assert places.terms() & {"be", "not", "king"} == {"be", "not"}


def test_words_are_large_small_or_begin_a_sentence() -> None:
    """Together they are all of a term's places; a capital that begins a sentence says nothing."""
    (vienna,) = shared_reader().read([("", "Vienna is old. In Vienna it rains. A cafe in vienna. Vienna.")])
    assert (len(vienna.places["vienna"]), vienna.capitals["vienna"], vienna.small("vienna")) == (4, 1, 1)
    assert (vienna.openers["vienna"], vienna.small("emma")) == (2, 0)


def test_a_text_read_twice_is_one_object() -> None:
    """Also twice in one list; another title is another text."""
    reader = Reader(load_encoder())
    one, two = reader.read([EMMA, EMMA])
    assert one is two is reader.read([EMMA])[0]
    assert reader.read([("Emma", EMMA[1])])[0] is not one
    assert reader.read([]) == []


def test_what_is_remembered_is_bounded() -> None:
    """A longer list is read all the same, in its order."""
    reader = Reader(load_encoder(), most=3)
    texts = [(f"Title {n}", f"Text {n}.") for n in range(10)]
    assert [reading.title for reading in reader.read(texts)] == [title for title, _ in texts]
    first = reader.read(texts[:1])[0]
    assert reader.read(texts[:1])[0] is first
    reader.read(texts[1:])
    assert reader.read(texts[:1])[0] is not first


def test_a_long_text_takes_the_place_of_several() -> None:
    """Pages of a hundred sentences would fill a hundred times the memory."""
    reader = Reader(load_encoder(), most=10)
    texts = [(f"Title {n}", f"Text {n}.") for n in range(9)]
    short = reader.read(texts)
    reader.read([("Long", "It rains again. " * 100)])
    assert reader.read(texts[8:])[0] is short[8]
    assert reader.read(texts[:1])[0] is not short[0]
    endless = ("Endless", "It rains again. " * 1000)
    assert reader.read([endless])[0] is reader.read([endless])[0]


def test_what_is_remembered_of_a_text_holds_nothing_of_those_read_with_it() -> None:
    """One that is asked for again and again would keep the vectors of all that were pushed out."""
    for reading in Reader(load_encoder()).read([("Emma", "A novel. By Austen."), ("Rome", "A city.")]):
        assert reading.sentence_vectors.base is None
        assert reading.title_vector.base is None


def test_threads_share_a_reader() -> None:
    """Each gets its texts in its order, though others push them out meanwhile."""
    reader = Reader(load_encoder(), most=5)
    texts = [(f"Title {n}", f"Text {n} has {n} words.") for n in range(20)]

    def read(start: int) -> bool:
        own = texts[start:] + texts[:start]
        return [reading.title for reading in reader.read(own)] == [title for title, _ in own]

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(read, [n % 20 for n in range(80)]))


def test_the_process_has_one_reader_for_a_model() -> None:
    """As it has one model."""
    assert shared_reader() is shared_reader()
    assert shared_reader().encoder is load_encoder()


def test_a_term_counts_in_title_or_text() -> None:
    """Once for each document."""
    readings = shared_reader().read([EMMA, ("", "A novel, a novel."), ("", "Rain.")])
    counts = [sum(reading.holds(term) for reading in readings) for term in ("novel", "emma", "rain", "snow")]
    assert counts == [2, 1, 1, 0]
