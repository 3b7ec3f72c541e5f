"""
A sentence transformer in ONNX form as a judge's eye for meaning: no torch; about 10 ms a sentence on one core.

The folder is that of a model on the Hugging Face hub: `model.onnx` or `onnx/model.onnx`, `tokenizer.json`, and where it
comes with one `1_Pooling/config.json`, which says what of its tokens stands for the text; without it the mean of all.
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
_POOLING: Final = "1_Pooling/config.json"
_BATCH, _LONGEST, _TINY = 24, 256, 1e-12


class OnnxEncoder:
    """
    Turn texts into unit vectors. Safe to share between threads.

    :param session: The network: token ids in, vectors of tokens out, or of texts.
    :param tokenizer: Its tokenizer, with truncation and padding switched on.
    :param pooling: What of its tokens' vectors is a text's, in the words of a pooling file, such as `mean` and `cls`.
    :raises ConfigurationError: For another pooling than these, where the network gives vectors of tokens.
    """

    def __init__(self, session: "InferenceSession", tokenizer: "Tokenizer", pooling: str = "mean") -> None:
        """Wrap a loaded model."""
        self._session, self._tokenizer, self._pooling = session, tokenizer, pooling
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
            found = _pooled(found, mask, self._pooling)
        found = found * mask.any(axis=1, keepdims=True)
        unit: NDArray[np.float32] = found / (np.linalg.norm(found, axis=1, keepdims=True) + _TINY)
        return unit


def _pooled(found: NDArray[np.float32], mask: NDArray[np.int64], pooling: str) -> NDArray[np.float32]:
    """Make one vector of those of a text's tokens; the mean by the root of their number is the mean, of length one."""
    is_token = mask[:, :, None].astype(bool)
    match pooling:
        case "cls":
            return found[:, 0]
        case "mean" | "mean_sqrt_len":
            mean: NDArray[np.float32] = (found * is_token).sum(axis=1) / (is_token.sum(axis=1) + _TINY)
            return mean.astype(np.float32)
        case "max":
            most: NDArray[np.float32] = np.where(is_token, found, np.finfo(np.float32).min).max(axis=1)
            return most
        case "lasttoken":
            last = mask.shape[1] - 1 - mask[:, ::-1].argmax(axis=1)  # padding may stand on either side
            ends: NDArray[np.float32] = found[np.arange(len(found)), last]
            return ends
    msg = (
        f"its {_POOLING} asks for the pooling {pooling!r}; choose a model with mean, mean_sqrt_len, cls, max or "
        "lasttoken alone, or an export whose network gives one vector for a text"
    )
    raise ConfigurationError(msg)


def _pooling_of(folder: Path) -> str:
    """Read how a model's folder wants tokens pooled: by a word, or by a switch for each way; several are joined."""
    file = folder / _POOLING
    told = json.loads(file.read_bytes()) if file.is_file() else {}
    modes = told.get("pooling_mode") or [
        name.removeprefix("pooling_mode_").removesuffix("_tokens").removesuffix("_token")
        for name, is_on in told.items()
        if name.startswith("pooling_mode_") and is_on
    ]
    return modes.removesuffix("_tokens") if isinstance(modes, str) else "+".join(modes) or "mean"


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
    :raises ConfigurationError: Without onnxruntime, when a file cannot be used, or for a pooling that is not known.
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
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        tokenizer.enable_truncation(_LONGEST)
        tokenizer.enable_padding()
        return OnnxEncoder(InferenceSession(str(file)), tokenizer, _pooling_of(folder))
    except ConfigurationError as error:
        msg = f"the model {str(folder)!r} cannot be used: {error}"
        raise ConfigurationError(msg) from None
    except Exception as error:  # neither library raises anything narrower for an unusable file
        msg = (
            f"the model {str(folder)!r} cannot be used ({type(error).__name__}); it needs model.onnx with the inputs "
            "input_ids, attention_mask and perhaps token_type_ids, and tokenizer.json"
        )
        raise ConfigurationError(msg) from error
