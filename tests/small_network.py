"""A sentence transformer in ONNX form as small as can be: one vector for each word, in a folder as the hub has it."""

import json
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

WORDS = ("[PAD]", "[UNK]", "red", "blue", "cat", "dog", "town", "mayor")
DIMENSION = 8


def table() -> np.ndarray:
    """The vector of each word."""
    return np.random.default_rng(3).normal(size=(len(WORDS), DIMENSION)).astype(np.float32)


def write_network(
    folder: Path, *, pooling: dict[str, object] | None = None, of_texts: bool = False, type_ids: bool = True
) -> Path:
    """
    Write a model.

    :param folder: Where to.
    :param pooling: What the folder says of how a text's vector is made of its tokens'; None: nothing.
    :param of_texts: The network itself gives one vector for each text: that of its first token.
    :param type_ids: Whether it wants token types, as BERT does.
    """
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = {word: number for number, word in enumerate(WORDS)}
    tokenizer = Tokenizer(WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    names = ["input_ids", "attention_mask", *(["token_type_ids"] if type_ids else [])]
    given = [helper.make_tensor_value_info(name, TensorProto.INT64, ["texts", "tokens"]) for name in names]
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["vectors"], axis=0)]
    shape: list[object] = ["texts", "tokens", DIMENSION]
    if of_texts:
        nodes.append(helper.make_node("Gather", ["vectors", "first"], ["of_texts"], axis=1))
        shape = ["texts", DIMENSION]
    result = helper.make_tensor_value_info(nodes[-1].output[0], TensorProto.FLOAT, shape)
    known = [numpy_helper.from_array(table(), "table"), numpy_helper.from_array(np.array(0), "first")]
    graph = helper.make_graph(nodes, "words", given, [result], known)
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), folder / "model.onnx")
    if pooling is not None:
        (folder / "1_Pooling").mkdir()
        (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    return folder
