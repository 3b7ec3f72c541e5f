"""What turns texts into vectors: one copy of a model per process and folder, and never a download."""

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from threading import Lock
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from haystack_integrations.crag.encoding.onnx_model import onnx_file, read_onnx
from haystack_integrations.crag.encoding.static_model import SHIPPED_MODEL, StaticEncoder, read_static
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.settings import path_of

FEWEST_LETTERS: Final = 5
"""Of a word that may be a slip of the keyboard: shorter ones have too many neighbours."""


class Encoder(Protocol):
    """Turns texts into unit vectors. Safe to share between threads."""

    def __hash__(self) -> int:
        """Tell encoders apart, so that what was read by one can be kept."""

    @property
    def dimension(self) -> int:
        """Tell the length of a vector."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """
        Embed texts.

        :param texts: Any texts.
        :returns: One row per text, same order: a unit vector, or zeros where the model knows nothing of the text.
        """


_encoders: dict[Path, Encoder] = {}
_lock = Lock()


def load_encoder(model: str | None = None) -> Encoder:
    """
    Get the encoder of a model folder; read from disk on first use, shared by the whole process afterwards.

    :param model: Folder of a model2vec model, or of a sentence transformer in ONNX form (`onnx_model`). None takes the
        one shipped in this package.
    :returns: The shared encoder.
    :raises ConfigurationError: When there is no such folder, or no usable model in it. Nothing is ever downloaded.
    """
    folder = _folder(model)
    with _lock:
        if folder not in _encoders:
            file = onnx_file(folder)
            _encoders[folder] = read_static(folder) if file is None else read_onnx(folder, file)
        return _encoders[folder]


def load_static_encoder(model: str | None = None) -> StaticEncoder:
    """
    Get the encoder of a model2vec folder; see `load_encoder`.

    :param model: Its folder, or None.
    :returns: The shared encoder.
    :raises ConfigurationError: Also for a model of another kind, which takes too long for an event loop.
    """
    encoder = load_encoder(model)
    if not isinstance(encoder, StaticEncoder):
        msg = (
            f"model must be the folder of a model2vec model, but {model!r} holds a sentence transformer; embed with it "
            "by Haystack's SentenceTransformersTextEmbedder and SentenceTransformersDocumentEmbedder"
        )
        raise ConfigurationError(msg)
    return encoder


def is_word(word: str) -> bool:
    """
    Tell the more frequent words of English from others, by the shipped model's vocabulary.

    :param word: A word in any case.
    :returns: Whether it is one of them.
    """
    return load_static_encoder().is_word(word)


def may_be_slip(word: str) -> bool:
    """
    Tell a word that may be a slip of the keyboard: of five letters or more, and none that English has.

    :param word: A word in any case.
    :returns: Whether other spellings of it are worth a look.
    """
    return len(word) >= FEWEST_LETTERS and word.isalpha() and not is_word(word)


def model_name(model: str | None) -> str:
    """
    Name a model, so that what was learned with one is not used with another.

    :param model: As for `load_encoder`.
    :returns: The name of its folder.
    """
    return SHIPPED_MODEL if model is None else _folder(model).name


def _folder(model: str | None) -> Path:
    if model is None:
        return _shipped_folder()
    folder = path_of(model).absolute()
    # model2vec takes a path that does not exist for a name on the Hugging Face hub: that must be caught here.
    if not str(model).strip() or not folder.is_dir():  # an empty text would name the working directory
        msg = (
            f"model must be the folder of a model2vec model, but {model!r} is no folder; nothing is downloaded here: "
            f"fetch the model beforehand and give its folder, or leave model out for the shipped {SHIPPED_MODEL!r}"
        )
        raise ConfigurationError(msg)
    return folder


@cache
def _shipped_folder() -> Path:
    """Look for it once: embedders ask with every question, and it takes longer than the embedding."""
    return Path(str(files("haystack_integrations.crag").joinpath("models", SHIPPED_MODEL)))
