"""A judgement does not feed on who typed a text: a tokenised one reads as it was written."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from judging_texts import asking, calibration, known, measured, tokenised

from haystack_integrations.crag.judging.asking import kind_of
from haystack_integrations.crag.judging.calibration import load_calibration
from haystack_integrations.crag.judging.grading import retrieved_frequencies
from haystack_integrations.crag.judging.judge import judge
from haystack_integrations.crag.judging.reading import shared_reader
from haystack_integrations.crag.judging.surface import _SURFACE, WORD_FORMS, normalised
from haystack_integrations.crag.texts.text import sentences

PLAIN = (
    'Emma\'s brother didn\'t laugh. "It is a one-year plan (or so)," he said, "and we\'ve paid 5% of it." '
    '"Stop!" she cried. They cannot; Mr. Penn paid 3.5 times as much.'
)

_words = st.sampled_from(
    "Emma river the Danube flows didn't Emma's they've I'm she'd one-year well-known 1889 3.5 1,200 5% U.S. Mr. wrote "
    "cannot of plan painted he in castle Prague's isn't".split()
)
_runs = st.lists(_words, min_size=1, max_size=4).map(" ".join)
_parts = st.one_of(
    _runs,
    _runs.map('"{}"'.format),
    _runs.map("({})".format),
    _runs.map("{},".format),
    _runs.map('"{},"'.format),
    _runs.map('"{}?"'.format),
    _runs.map('("{}")'.format),
)
_ends = st.sampled_from([".", "!", "?", '."', '?"', ".)", ";"])
_lines = st.builds(lambda parts, end: " ".join(parts) + end, st.lists(_parts, min_size=1, max_size=4), _ends)
_texts = st.lists(_lines, min_size=1, max_size=4).map(" ".join)


def _cut(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


def test_the_tokeniser_of_these_tests_does_what_tokenised_corpora_do() -> None:
    """Else the tests below would prove nothing."""
    assert tokenised(PLAIN) == (
        "Emma 's brother did n't laugh . `` It is a one - year plan ( or so ) , '' he said , `` and we 've paid 5 % of "
        "it . '' `` Stop ! '' she cried . They can not ; Mr . Penn paid 3.5 times as much ."
    )


def test_a_tokenised_text_is_cut_into_the_same_sentences() -> None:
    """What follows a quotation in small letters belongs to its sentence in both."""
    plain, cut = _cut(normalised(PLAIN)), _cut(normalised(tokenised(PLAIN)))
    assert plain == cut
    assert plain[2] == "Stop! she cried."


_typed = st.lists(
    st.sampled_from([*"\u2018\u2019\u201c\u201d\u201e`'\"-.,;:!?%()[] nNtTaA", "cannot", "-lRb-", "-RRB-", "'re"])
    | st.sampled_from(["](", "http://a", "<", ">", "<b>", "</p>", "<br/>", "&amp;", "&nbsp;", "\u00ad", "\n", "a"]),
    max_size=30,
).map("".join)


@given(text=st.one_of(_typed, _texts.map(tokenised), st.text(max_size=50)))
def test_a_pattern_that_is_passed_over_would_have_changed_nothing(text: str) -> None:
    """Its signs are looked for first, since that is faster."""
    slow = text
    for pattern, plain, _ in _SURFACE:
        slow = pattern.sub(plain, slow)
    assert normalised(text) == slow


def test_the_words_of_a_thread_are_forgotten_before_they_fill_its_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts never end."""
    monkeypatch.setattr(WORD_FORMS, "_most", 3)
    for word in "zqka zqkb zqkc zqkd zqkf".split():
        assert WORD_FORMS[word].plain == word
    assert len(WORD_FORMS) <= 3


@given(text=_texts)
def test_any_text_is_cut_alike_and_reads_alike(text: str) -> None:
    """Every word, sentence and vector of a reading."""
    assert _cut(normalised(text)) == _cut(normalised(tokenised(text)))
    one, two = shared_reader().read([(text, text), (tokenised(text), tokenised(text))])
    assert (one.title, one.name, one.places, one.starts, one.ngrams) == (
        *(two.title, two.name, two.places),
        *(two.starts, two.ngrams),
    )
    assert one.sentence_vectors.tolist() == two.sentence_vectors.tolist()


@given(query=_lines, documents=st.lists(st.tuples(_runs, _texts), min_size=1, max_size=3))
def test_all_signals_and_the_verdict_are_the_same(query: str, documents: list[tuple[str, str]]) -> None:
    """Of each document and of the list, with the question tokenised or not."""
    split = [(tokenised(title), tokenised(content)) for title, content in documents]
    plain = measured(query, *documents)
    assert measured(tokenised(query), *split) == plain
    assert measured(query, *split) == plain
    reader = shared_reader()
    for trained in (load_calibration(), calibration()):
        one = judge(query, documents, trained, reader, retrieved_frequencies(reader.read(documents)))
        two = judge(tokenised(query), split, trained, reader, retrieved_frequencies(reader.read(split)))
        assert (one.conclusion, one.likely.scores()) == (two.conclusion, two.likely.scores())


@given(query=_lines)
def test_the_kind_of_question_and_its_names_do_not_depend_on_it_either(query: str) -> None:
    """A question may be typed by a corpus, too."""
    one, two = asking(query, known(castl=3)), asking(tokenised(query), known(castl=3))
    assert (one.kind, one.terms, one.weights, one.capitals) == (two.kind, two.terms, two.weights, two.capitals)


@pytest.mark.parametrize(
    ("typed", "plain"),
    [
        ("Isn\u2019t it Emma\u2019s?", "Isn't it Emma's?"),
        ("\u201cEmma\u201d is a novel.", '"Emma" is a novel.'),
        ("Titanic -LRB- 1997 film -RRB-", "Titanic (1997 film)"),
        ("the `` well - known '' ship", 'the "well-known" ship'),
        ("See [Emma](https://example.org/wiki/Emma_(novel)) by [Jane](/jane 'J. A.').", "See [Emma] by [Jane]."),
        (
            "<p>H<sub>2</sub>O is <b class='x'>water</b>.</p><p>It boils.<br/>At&nbsp;100.</p>",
            "H2O is water.\nIt boils.\nAt 100.",
        ),
        ("AT&amp;T&#39;s infor-\nmation", "AT&T's information"),
        ("if a <b and c> d [1](a note)", "if a <b and c> d [1](a note)"),
    ],
)
def test_other_ways_to_type_the_same(typed: str, plain: str) -> None:
    """Typographic quotes, and brackets as treebanks write them."""
    assert normalised(typed).split() == normalised(plain).split()
    assert kind_of(typed) == kind_of(plain)


def test_lines_stay_lines() -> None:
    """The items of a list, a fenced block and paragraphs are sentences of their own."""
    text = "Needed are\n- flour\n- sugar\n\n```\nbake( it )\nwait\n```\n\nServe (hot).\n: cold"
    assert len(_cut(normalised(text))) == len(_cut(text))
    assert "- flour\n- sugar\n" in normalised(text)
    assert "```\nbake" in normalised(text)


def test_a_page_of_spaces_costs_no_time() -> None:
    """Nor one of brackets, quotes or hyphens, which nobody wrote for a reader."""
    began = time.process_time()
    pieces = (
        " ",
        "( ",
        "`",
        "'",
        " -",
        "a - ",
        " .",
        "\t",
        "\n",
        '"',
        "](",
        "](/a (",
        "<a ",
        "</p",
        "a-\n",
        "&",
        "<b x",
    )
    for piece in pieces:
        normalised(piece * 50_000)
        asking(piece * 20_000)
    shared_reader().read([(" " * 100_000 + "(", "( " * 50_000)])
    assert time.process_time() - began < 10
