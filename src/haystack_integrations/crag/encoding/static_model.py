"""Static token embeddings: a model2vec model, which runs on numpy alone."""

import re
from collections import defaultdict
from collections.abc import Sequence
from itertools import chain, islice
from pathlib import Path
from threading import Lock
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.texts.remembering import Remembered
from haystack_integrations.crag.texts.steering import without_halves

SHIPPED_MODEL: Final = "static-minilm-256"
"""The model inside this package: 256 dimensions, made from all-MiniLM-L6-v2 (Apache-2.0)."""

# A lock is held for one batch only, so that a question is not kept waiting while a large import is embedded.
_BATCH: Final = 64

_SPECIAL: Final = re.compile(r"\[(?:PAD|UNK|CLS|SEP|MASK)\]").search
_IDEOGRAPH: Final = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002a6df]")
_MOST_WORDS: Final = 100_000  # about 25 MB
_TINY: Final = 1e-32


class _WordCache:
    """
    Token ids of texts, word by word: most words were met before, which is three to five times as fast as the tokenizer.

    Exact: a BERT tokenizer cuts at spaces, ASCII punctuation and ideographs, whatever stands around them. Within a word
    it cuts itself, so that only those signs need to be cut off that would make many words of one.
    """

    def __init__(self, model: Any) -> None:
        self._unknown, self._most = model.unk_token_id, model.max_length
        self._ids = Remembered(self._of_word, _MOST_WORDS)
        # For a handful of words its batches, in threads, take several times as long.
        self._encode, self._whole = model.tokenizer.encode, model.tokenizer.token_to_id
        self._lowers = model.tokenizer.normalizer.lowercase

    @staticmethod
    def fits(model: Any) -> bool:
        """Tell whether a model has such a tokenizer, no more than the usual special tokens, and plain vectors."""
        tokenizer = model.tokenizer
        kinds = type(tokenizer.normalizer).__name__, type(tokenizer.pre_tokenizer).__name__
        special = {token.content for token in tokenizer.get_added_tokens_decoder().values()}
        usual = special <= {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}
        cuts = getattr(tokenizer.normalizer, "handle_chinese_chars", False)
        plain = model.token_mapping is None and model.weights is None
        longest_first = type(tokenizer.model).__name__ == "WordPiece"
        return kinds == ("BertNormalizer", "BertPreTokenizer") and longest_first and cuts and usual and plain

    def _of_word(self, word: str) -> tuple[int, ...]:
        """Give the tokens of a word: one where the vocabulary has it whole, which is sooner looked up."""
        written = word.lower() if self._lowers else word
        whole = self._whole(written) if word.isascii() and word.isalnum() else None
        return tuple(self._encode(word, add_special_tokens=False).ids) if whole is None else (whole,)

    def tokens(self, text: str) -> Sequence[int]:
        """Give the known tokens of a text."""
        ids: Sequence[int] | None = self._ids.get(text)  # a text may be a word
        if ids is None:
            apart = text if text.isascii() else _IDEOGRAPH.sub(r" \g<0> ", text)
            apart = apart.replace("\n", " ").replace(",", " , ").replace(".", " . ").replace("-", " - ")
            words = apart.replace("(", " ( ").replace(")", " ) ").split(" ")
            ids = list(islice(chain.from_iterable(map(self._ids.__getitem__, words)), self._most))
        return [token for token in ids if token != self._unknown] if self._unknown in ids else ids


class StaticEncoder:
    """
    Turn texts into unit vectors. Safe to share between threads.

    :param model: A loaded `model2vec.StaticModel`.
    """

    def __init__(self, model: Any) -> None:
        """Wrap a loaded model."""
        self._model = model
        # `encode` sets the tokenizer's truncation on every call; with older tokenizers that fails under threads.
        self._lock = Lock()
        self._words = _WordCache(model) if _WordCache.fits(model) else None

    @property
    def dimension(self) -> int:
        """Tell the length of a vector."""
        return int(self._model.dim)

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """
        Embed texts; of a long text the model reads the beginning (512 tokens with the shipped model).

        :param texts: Any texts.
        :returns: One row per text, same order: a unit vector, or zeros where the model knows no token of the text.
        """
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for start in range(0, len(texts), _BATCH):
            batch = list(map(without_halves, texts[start : start + _BATCH]))
            with self._lock:
                vectors[start : start + len(batch)] = self._encode(batch)
        return vectors

    def is_word(self, word: str) -> bool:
        """
        Tell whether the model knows a word as a whole, as it does the some 20,000 most frequent ones of English.

        :param word: A word in any case.
        :returns: Whether its tokenizer leaves it whole.
        """
        return self._model.tokenizer.token_to_id(word.lower()) is not None

    def _encode(self, texts: list[str]) -> NDArray[np.float32]:
        if self._words is None or any(_SPECIAL(text) for text in texts):
            encoded = self._model.encode(texts, normalize=True, show_progress_bar=False, use_multiprocessing=False)
            return np.asarray(encoded, dtype=np.float32)
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        by_size: defaultdict[int, list[tuple[int, Sequence[int]]]] = defaultdict(list)
        for row, text in enumerate(texts):
            tokens = self._words.tokens(text)
            by_size[len(tokens)].append((row, tokens))
        by_size.pop(0, None)
        for size, alike in by_size.items():  # of single words, many are done at once
            rows, known = zip(*alike, strict=True)
            found = self._model.embedding.take(known, axis=0)
            vectors[list(rows)] = np.add.reduce(found, axis=1, dtype=np.float32) / size
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True) + _TINY
        return vectors


def read_static(folder: Path) -> StaticEncoder:
    """
    Read a model2vec model.

    :param folder: Its folder.
    :returns: The encoder.
    :raises ConfigurationError: When there is no usable model in it.
    """
    # Half a second, most of it the hub client that model2vec pulls in: paid on first use, not on import.
    from model2vec import StaticModel

    try:
        return StaticEncoder(StaticModel.from_pretrained(folder))
    except Exception as error:  # the tokenizers library raises nothing narrower for an unreadable file
        msg = (
            f"model must be the folder of a model2vec model, but {str(folder)!r} cannot be read as one "
            f"({type(error).__name__}); it needs config.json, model.safetensors and tokenizer.json, "
            f"as `StaticModel.save_pretrained` writes them"
        )
        raise ConfigurationError(msg) from error
