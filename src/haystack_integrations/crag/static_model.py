"""Static token embeddings: one copy of a model2vec model per process and folder, and never a download."""

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from threading import Lock
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from haystack_integrations.crag.errors import ConfigurationError

SHIPPED_MODEL: Final = "static-minilm-256"
"""The model inside this package: 256 dimensions, made from all-MiniLM-L6-v2 (Apache-2.0)."""

# A lock is held for one batch only, so that a question is not kept waiting while a large import is embedded.
_BATCH: Final = 64

_encoders: dict[Path, "StaticEncoder"] = {}
_encoders_lock = Lock()


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
            batch = list(texts[start : start + _BATCH])
            with self._lock:
                vectors[start : start + len(batch)] = self._model.encode(
                    batch, normalize=True, show_progress_bar=False, use_multiprocessing=False
                )
        return vectors


def load_encoder(model: str | None = None) -> StaticEncoder:
    """
    Get the encoder of a model folder; read from disk on first use, shared by the whole process afterwards.

    :param model: Folder of a model2vec model, or None for the one shipped in this package.
    :returns: The shared encoder.
    :raises ConfigurationError: When there is no such folder, or no usable model in it. Nothing is ever downloaded.
    """
    folder = _folder(model)
    with _encoders_lock:
        if folder not in _encoders:
            _encoders[folder] = StaticEncoder(_load(folder))
        return _encoders[folder]


def _folder(model: str | None) -> Path:
    if model is None:
        return Path(str(files("haystack_integrations.crag").joinpath("models", SHIPPED_MODEL)))
    folder = Path(model).expanduser().absolute()
    # model2vec takes a path that does not exist for a name on the Hugging Face hub: that must be caught here.
    if not folder.is_dir():
        msg = (
            f"model must be the folder of a model2vec model, but {model!r} is no folder; nothing is downloaded here: "
            f"fetch the model beforehand and give its folder, or leave model empty for the shipped {SHIPPED_MODEL!r}"
        )
        raise ConfigurationError(msg)
    return folder


def _load(folder: Path) -> Any:
    # Half a second, most of it the hub client that model2vec pulls in: paid on first use, not on import.
    from model2vec import StaticModel

    try:
        return StaticModel.from_pretrained(folder)
    except Exception as error:  # the tokenizers library raises nothing narrower for an unreadable file
        msg = (
            f"model must be the folder of a model2vec model, but {str(folder)!r} cannot be read as one "
            f"({type(error).__name__}); it needs config.json, model.safetensors and tokenizer.json, "
            f"as `StaticModel.save_pretrained` writes them"
        )
        raise ConfigurationError(msg) from error
