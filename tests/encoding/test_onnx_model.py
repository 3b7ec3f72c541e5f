"""A sentence transformer in ONNX form: vectors as its network and its folder say, and clear words where they do not."""

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from haystack import Document
from small_network import DIMENSION, WORDS, table, write_network

from haystack_integrations.crag.components import HeuristicGrader, StaticDocumentEmbedder, StaticTextEmbedder
from haystack_integrations.crag.encoding.encoders import load_encoder
from haystack_integrations.crag.errors import ConfigurationError


def unit(*words: str) -> np.ndarray:
    """The unit vector of the words' mean."""
    vector = np.mean([table()[WORDS.index(word)] for word in words], axis=0)
    return np.asarray(vector / np.linalg.norm(vector))


def test_a_text_is_the_mean_of_its_tokens_however_long_its_neighbours_are(tmp_path: Path) -> None:
    """What pads a short text beside a long one is none of it; order stays, and nothing gives no rows."""
    encoder = load_encoder(str(write_network(tmp_path / "mean")))
    texts = ["red cat", "blue dog town mayor cat red", "dog"] * 20
    vectors = encoder.encode(texts)
    assert vectors.shape == (60, DIMENSION)
    assert vectors.dtype == np.float32
    for text, vector in zip(texts, vectors, strict=True):
        assert np.allclose(vector, unit(*text.split()), atol=1e-6)
    assert encoder.encode([]).shape == (0, DIMENSION)
    assert encoder.dimension == DIMENSION


@pytest.mark.parametrize(
    "shape",
    [
        {"pooling": {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}},
        {"pooling": {"pooling_mode": "cls"}},
        {"of_texts": True},
        {"of_texts": True, "type_ids": False},
        {"of_texts": True, "pooling": {"pooling_mode_weightedmean_tokens": True}},
    ],
)
def test_the_first_token_stands_for_the_text_where_the_model_says_so(tmp_path: Path, shape: dict[str, Any]) -> None:
    """In its pooling file, or since its network gives one vector for a text; with and without token types."""
    encoder = load_encoder(str(write_network(tmp_path / "first", **shape)))
    assert np.allclose(encoder.encode(["cat red red red", "dog"]), [unit("cat"), unit("dog")], atol=1e-6)


@pytest.mark.parametrize(
    ("pooling", "wanted"),
    [
        ({"pooling_mode_max_tokens": True, "pooling_mode_cls_token": False, "word_embedding_dimension": 8}, "max"),
        ({"pooling_mode": "max"}, "max"),
        ({"pooling_mode_lasttoken": True, "include_prompt": True}, "last"),
        ({"pooling_mode": "lasttoken"}, "last"),
        ({"pooling_mode_mean_sqrt_len_tokens": True}, "mean"),
        ({"pooling_mode": "mean_sqrt_len_tokens"}, "mean"),
        ({"word_embedding_dimension": 8}, "mean"),
    ],
)
def test_tokens_are_pooled_as_the_folder_of_the_model_says(
    tmp_path: Path, pooling: dict[str, object], wanted: str
) -> None:
    """What pads a short text beside a long one is none of its tokens, and a text without any is nothing."""
    encoder = load_encoder(str(write_network(tmp_path / "pooled", pooling=pooling)))
    most = table()[[WORDS.index(word) for word in ("red", "dog")]].max(axis=0)
    expected = {"max": most / np.linalg.norm(most), "last": unit("dog"), "mean": unit("red", "dog")}[wanted]
    vectors = encoder.encode(["red dog", "blue cat town mayor", ""])
    assert np.allclose(vectors[0], expected, atol=1e-6)
    assert not vectors[2].any()


@pytest.mark.parametrize(
    ("pooling", "named"),
    [
        ({"pooling_mode_weightedmean_tokens": True}, "'weightedmean'"),
        ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": True}, r"'cls\+mean'"),
        ({"pooling_mode": ["mean", "max"]}, r"'mean\+max'"),
    ],
)
def test_a_pooling_that_is_not_known_is_refused_and_not_read_as_the_mean(
    tmp_path: Path, pooling: dict[str, object], named: str
) -> None:
    folder = write_network(tmp_path / "other", pooling=pooling)
    with pytest.raises(ConfigurationError, match=f"asks for the pooling {named}.*choose a model with mean"):
        load_encoder(str(folder))


def test_the_network_may_lie_in_the_folder_onnx(tmp_path: Path) -> None:
    """As repositories on the hub have it."""
    folder = write_network(tmp_path / "hub")
    (folder / "onnx").mkdir()
    (folder / "model.onnx").rename(folder / "onnx" / "model.onnx")
    assert np.allclose(load_encoder(str(folder)).encode(["cat"]), [unit("cat")], atol=1e-6)


@pytest.mark.parametrize("text", ["", " ", "\ud800", "\x00", "unheard of", "red " * 5000])
def test_any_text_has_a_vector_of_length_one_or_none_at_all(tmp_path: Path, text: str) -> None:
    """Empty, broken, unknown, far too long: nothing is raised, nothing is NaN."""
    vector = load_encoder(str(write_network(tmp_path / "any"))).encode([text, "cat"])[0]
    assert np.linalg.norm(vector) == pytest.approx(1.0) or not vector.any()


def test_threads_get_the_same_vectors(tmp_path: Path) -> None:
    """The encoder is one for the whole process."""
    folder = str(write_network(tmp_path / "threads"))
    texts = [f"{one} {other}" for one in WORDS[2:] for other in WORDS[2:]]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: load_encoder(folder).encode(texts), range(16)))
    assert all(np.array_equal(vectors, found[0]) for vectors in found)


@pytest.mark.parametrize("broken", ["tokenizer.json", "model.onnx"])
@pytest.mark.parametrize("how", ["missing", "no such thing"])
def test_a_folder_that_cannot_be_used_is_refused_with_what_it_needs(tmp_path: Path, broken: str, how: str) -> None:
    """One file is not there, or is something else."""
    folder = write_network(tmp_path / "broken")
    if how == "missing":
        (folder / broken).unlink()
    else:
        (folder / broken).write_bytes(b"\x08no such thing")
    with pytest.raises(ConfigurationError, match=r"cannot be (used|read as one).*it needs .*tokenizer\.json"):
        load_encoder(str(folder))


def test_a_network_of_another_kind_is_refused(tmp_path: Path) -> None:
    """One that wants what no text gives."""
    import onnx

    folder = write_network(tmp_path / "other")
    model = onnx.load(folder / "model.onnx")
    model.graph.input[0].name = "pixel_values"
    model.graph.node[0].input[1] = "pixel_values"
    onnx.save(model, folder / "model.onnx")
    with pytest.raises(ConfigurationError, match="inputs input_ids, attention_mask"):
        load_encoder(str(folder))


def test_without_onnxruntime_the_message_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is an extra."""
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(ConfigurationError, match=r"pip install 'crag-haystack\[onnx\]'"):
        load_encoder(str(write_network(tmp_path / "without")))


def test_the_static_embedders_refuse_it_and_name_what_embeds_with_it(tmp_path: Path) -> None:
    """They run on the event loop, where it would stop all requests."""
    folder = str(write_network(tmp_path / "slow"))
    for embedder in (StaticTextEmbedder(folder), StaticDocumentEmbedder(folder)):
        with pytest.raises(ConfigurationError, match="SentenceTransformersTextEmbedder"):
            embedder.warm_up()


def test_a_grader_by_weights_goes_by_its_vectors(tmp_path: Path) -> None:
    """The words say nothing here, so that only the model can tell the documents apart."""
    folder = write_network(tmp_path / "weights")
    documents = [Document(content="blue"), Document(content="mayor")]
    graded = HeuristicGrader(weights={"semantic": 1.0}, model=str(folder)).run(query="cat", documents=documents)
    alike = [float(unit("cat") @ unit(word)) for word in ("blue", "mayor")]
    assert np.argsort(graded["scores"]).tolist() == np.argsort(alike).tolist()
    assert graded["scores"][0] != graded["scores"][1]
