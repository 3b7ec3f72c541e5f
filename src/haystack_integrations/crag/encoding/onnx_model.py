"""
A sentence transformer in ONNX form as a judge's eye for meaning: no torch; about 10 ms a sentence on one core.

The folder is that of a model on the Hugging Face hub: `model.onnx` or `onnx/model.onnx`, `tokenizer.json`, and where it
comes with one `1_Pooling/config.json`, which says whether the first token stands for the text or the mean of all.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.texts.steering import without_halves

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

_FILES: Final = ("model.onnx", "onnx/model.onnx")
_BATCH, _LONGEST, _TINY = 24, 256, 1e-12


class OnnxEncoder:
    """
    Turn texts into unit vectors. Safe to share between threads.

    :param session: The network: token ids in, vectors of tokens out, or of texts.
    :param tokenizer: Its tokenizer, with truncation and padding switched on.
    :param by_first: Whether a text's vector is its first token's; else it is the mean of all.
    """

    def __init__(self, session: "InferenceSession", tokenizer: "Tokenizer", *, by_first: bool) -> None:
        """Wrap a loaded model."""
        self._session, self._tokenizer, self._by_first = session, tokenizer, by_first
        self._wanted = {entry.name for entry in session.get_inputs()}
        self._lock = Lock()  # one call uses all cores: two at once would only wait for each other
        self.dimension = 0
        self.dimension = int(self.encode(["a"]).shape[1])

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """
        Embed texts; of a long text the model reads the first 256 tokens.

        :param texts: Any texts.
        :returns: One row per text, same order: a unit vector, or zeros for a text without tokens.
        """
        order = sorted(range(len(texts)), key=lambda number: len(texts[number]))  # so that little is padded
        rows: dict[int, NDArray[np.float32]] = {}
        for start in range(0, len(order), _BATCH):
            numbers = order[start : start + _BATCH]
            with self._lock:
                vectors = self._encode([without_halves(texts[number]) for number in numbers])
            rows.update(zip(numbers, vectors, strict=True))
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        return np.stack([rows[number] for number in range(len(texts))])

    def _encode(self, texts: list[str]) -> NDArray[np.float32]:
        encoded = self._tokenizer.encode_batch(texts)
        mask = np.array([entry.attention_mask for entry in encoded], dtype=np.int64)
        if not mask.any():
            return np.zeros((len(texts), self.dimension), dtype=np.float32)
        given: dict[str, Any] = {
            "input_ids": np.array([entry.ids for entry in encoded], dtype=np.int64),
            "attention_mask": mask,
            "token_type_ids": np.zeros_like(mask),
        }
        found = np.asarray(self._session.run(None, {name: given[name] for name in self._wanted})[0], dtype=np.float32)
        if found.ndim == 3:  # noqa: PLR2004 - (texts, tokens, dimension)
            weights = mask[:, :, None].astype(np.float32)
            found = found[:, 0] if self._by_first else (found * weights).sum(axis=1) / (weights.sum(axis=1) + _TINY)
        found = found * mask.any(axis=1, keepdims=True)
        unit: NDArray[np.float32] = found / (np.linalg.norm(found, axis=1, keepdims=True) + _TINY)
        return unit


def onnx_file(folder: Path) -> Path | None:
    """
    Find the network in a model's folder.

    :param folder: The folder.
    :returns: The file, or None where the model is of another kind.
    """
    return next((folder / name for name in _FILES if (folder / name).is_file()), None)


def read_onnx(folder: Path, file: Path) -> OnnxEncoder:
    """
    Read a model.

    :param folder: Its folder.
    :param file: The network in it.
    :returns: The encoder.
    :raises ConfigurationError: Without onnxruntime, or when a file cannot be used.
    """
    try:
        from onnxruntime import InferenceSession
        from tokenizers import Tokenizer
    except ImportError as error:
        msg = (
            f"the model {str(folder)!r} runs on onnxruntime, which is not installed; pip install 'crag-haystack[onnx]'"
        )
        raise ConfigurationError(msg) from error
    try:
        pooling = folder / "1_Pooling" / "config.json"
        by_first = pooling.is_file() and bool(json.loads(pooling.read_bytes()).get("pooling_mode_cls_token"))
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        tokenizer.enable_truncation(_LONGEST)
        tokenizer.enable_padding()
        return OnnxEncoder(InferenceSession(str(file)), tokenizer, by_first=by_first)
    except Exception as error:  # neither library raises anything narrower for an unusable file
        msg = (
            f"the model {str(folder)!r} cannot be used ({type(error).__name__}); it needs model.onnx with the inputs "
            "input_ids, attention_mask and perhaps token_type_ids, and tokenizer.json"
        )
        raise ConfigurationError(msg) from error
