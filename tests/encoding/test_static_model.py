"""The word cache of the static model: faster than the library's tokenizer, and never another vector."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from model2vec import StaticModel

from haystack_integrations.crag.encoding.encoders import load_encoder
from haystack_integrations.crag.encoding.static_model import SHIPPED_MODEL, StaticEncoder

HOSTILE = [
    "",
    " ",
    "[CLS] and [UNK] in a text",
    "don't stop-me_now (ever)!?",
    "na\u00efve caf\u00e9 \u00c5ngstr\u00f6m \u1e9e",
    "\u4e2d\u6587 and \u65e5\u672c\u8a9e \ud55c\uad6d\uc5b4",
    "zero\u200bwidth non\u00a0breaking \u2028line",
    "emoji \U0001f600 and \x00control\x07",
    "x" * 5000,
    "word " * 2000,
    "\u0301combining \u0915\u094d\u0937",
]


def by_library(texts: list[str]) -> np.ndarray:
    """What model2vec itself gives."""
    encoder = load_encoder()
    model: StaticModel = encoder._model
    return np.asarray(model.encode(texts, normalize=True, use_multiprocessing=False), dtype=np.float32)


def test_the_shipped_model_uses_the_cache() -> None:
    """Otherwise the tests below would compare the library with itself."""
    assert load_encoder()._words is not None
    assert SHIPPED_MODEL == "static-minilm-256"


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_texts_have_the_librarys_vectors(text: str) -> None:
    """Special tokens, marks, scripts without spaces, nothing, far too much."""
    assert np.array_equal(load_encoder().encode([text]), by_library([text]))


@given(texts=st.lists(st.text(max_size=200), min_size=1, max_size=5))
def test_any_text_has_the_librarys_vector(texts: list[str]) -> None:
    """Bit by bit, also when words were met before."""
    assert np.array_equal(load_encoder().encode(texts), by_library(texts))


def test_a_cache_of_other_texts_changes_nothing() -> None:
    """A fresh encoder and a warm one agree."""
    text = "The quick brown fox, again and again."
    warm = load_encoder().encode([text])
    assert np.array_equal(StaticEncoder(load_encoder()._model).encode([text]), warm)


def test_a_word_of_the_vocabulary_is_one_token_as_the_tokenizer_says() -> None:
    """Looked up, not tokenized: in small letters, capitals, and with one."""
    model = load_encoder()._model
    words = [form for word in model.tokenizer.get_vocab() for form in (word, word.capitalize(), word.upper())]
    known = StaticEncoder(model)._words
    assert known is not None
    assert [known._of_word(word) for word in words] == [
        tuple(each.ids) for each in model.tokenizer.encode_batch(words, add_special_tokens=False)
    ]


def test_a_frequent_word_is_not_tokenized(monkeypatch: pytest.MonkeyPatch) -> None:
    """Most new words of a text are in the vocabulary: the tokenizer is left to the others."""
    known, tokenized = StaticEncoder(load_encoder()._model)._words, list[str]()
    assert known is not None
    encode = known._encode
    monkeypatch.setattr(known, "_encode", lambda word, **options: tokenized.append(word) or encode(word, **options))
    known.tokens("The castle of Prague in Zwyrtek")
    assert tokenized == ["Zwyrtek"]
