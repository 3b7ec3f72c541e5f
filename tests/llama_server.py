"""
llama.cpp's own server (by the wheel of xllamacpp) with a model of 2 MB that is written here: no weights are downloaded.

The model knows which token follows which, and nothing else: to whatever ends in a new line it says ANSWER. Where a
grammar holds it, it writes what the grammar allows, by chance. The protocol is real, the words are not.
"""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

ANSWER = " Jane Austen wrote Emma [1]."
_CHAIN = ["\n", "\u2581Jane", "\u2581Austen", "\u2581wrote", "\u2581Emma", "\u2581[1].", "</s>"]
_OTHERS = ['"', "{", "}", "grades", ":", "\u2581", ",", ".", "0", "1"]
_WIDTH, _LONGEST, _CERTAIN = 320, 65_536, 14.0
_TEMPLATE = (
    "{% for m in messages %}<|{{ m.role }}|>\n{{ m.content }}\n{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>\n{% endif %}"
)


@dataclass(frozen=True)
class LlamaServer:
    """A server that runs: its address, and the process, which a test may kill."""

    url: str
    process: subprocess.Popen[str]


def write_model(path: Path) -> None:
    """Write a GGUF of the llama architecture: a table of what follows what, in the place of attention nothing."""
    import gguf
    import numpy as np

    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), *_CHAIN[:-1], *_OTHERS]
    kinds = [gguf.TokenType.UNKNOWN, *[gguf.TokenType.CONTROL] * 2, *[gguf.TokenType.BYTE] * 256]
    kinds += [gguf.TokenType.NORMAL] * (len(tokens) - len(kinds))
    count = len(tokens)
    follows = np.random.default_rng(0).normal(0, 0.5, (count, count)).astype(np.float32)
    follows[3:259] -= 3
    for now, then in pairwise(_CHAIN):
        follows[tokens.index(then), tokens.index(now)] = _CERTAIN
    follows[tokens.index(_CHAIN[1]), tokens.index("<0x0A>")] = _CERTAIN
    embedding, output = (np.zeros((count, _WIDTH), np.float32) for _ in range(2))
    embedding[np.arange(count), np.arange(count)] = 1
    output[:, :count] = follows / np.sqrt(_WIDTH)  # the norm before it makes of a one the root of the width
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_vocab_size(count)
    writer.add_context_length(_LONGEST)
    writer.add_embedding_length(_WIDTH)
    writer.add_block_count(1)
    writer.add_feed_forward_length(32)
    writer.add_head_count(4)
    writer.add_head_count_kv(4)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(_WIDTH // 4)
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    writer.add_token_scores([0.0 if place < 259 else 1000.0 - place for place in range(count)])
    writer.add_token_types(kinds)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_add_space_prefix(False)
    writer.add_chat_template(_TEMPLATE)
    shapes = {"attn_q": (_WIDTH, _WIDTH), "attn_k": (_WIDTH, _WIDTH), "attn_v": (_WIDTH, _WIDTH)}
    shapes |= {"attn_output": (_WIDTH, _WIDTH), "ffn_gate": (32, _WIDTH), "ffn_up": (32, _WIDTH)}
    tensors: dict[str, Any] = {f"blk.0.{name}": np.zeros(shape, np.float32) for name, shape in shapes.items()}
    tensors["blk.0.ffn_down"] = np.zeros((_WIDTH, 32), np.float32)
    tensors |= dict.fromkeys(["blk.0.attn_norm", "blk.0.ffn_norm", "output_norm"], np.ones(_WIDTH, np.float32))
    for name, tensor in {"token_embd": embedding, "output": output, **tensors}.items():
        writer.add_tensor(f"{name}.weight", tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


@contextmanager
def running(folder: Path, context: int, key: str = "") -> Iterator[LlamaServer]:
    """Start a server with one slot and so long a context; without its packages the test ends with the way out."""
    from service_fixtures import unavailable  # which the server's process knows nothing of

    for package in ("xllamacpp", "gguf"):
        if find_spec(package) is None:
            unavailable(f"the package {package} is not installed; `pip install {package}` installs it")
    model = folder / "tiny.gguf"
    if not model.exists():
        write_model(model)
    command = [sys.executable, __file__, str(model), str(context), key]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline().strip()
            assert address.startswith("http"), "the server did not start"
            yield LlamaServer(f"{address}/v1", process)
        finally:
            process.kill()


def _serve(model: str, context: str, key: str) -> None:
    """Serve until killed; the address is the first line."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path, params.model_alias = model, {"tiny"}
    params.port, params.n_ctx, params.n_parallel, params.warmup = 0, int(context), 1, False
    params.cpuparams.n_threads = 1
    params.api_keys = [key] if key else []
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)  # noqa: T201
    while True:
        time.sleep(1)


if __name__ == "__main__":
    _serve(*sys.argv[1:])
