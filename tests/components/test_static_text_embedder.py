"""Embedding a question with the shipped model: offline, shared, never a vector without a direction."""

import math
import shutil
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from haystack import Pipeline

from haystack_integrations.crag.components.static_text_embedder import StaticTextEmbedder
from haystack_integrations.crag.encoding.encoders import load_encoder
from haystack_integrations.crag.errors import ConfigurationError


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make any attempt to reach a host fail loudly."""

    def refuse(*_: object) -> None:
        msg = "a test tried to open a network connection"
        raise AssertionError(msg)

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


def test_an_embedding_is_a_unit_vector_of_256_floats() -> None:
    embedding = StaticTextEmbedder().run("Who wrote Momo?")["embedding"]
    assert len(embedding) == 256
    assert all(isinstance(value, float) for value in embedding)
    assert math.isclose(sum(value * value for value in embedding), 1.0, abs_tol=1e-5)


def test_texts_of_one_topic_are_nearer_than_texts_of_two() -> None:
    embedder = StaticTextEmbedder()
    question, near, far = (
        np.array(embedder.run(text)["embedding"])
        for text in (
            "How high is the mountain?",
            "The peak reaches an altitude of 4,478 metres.",
            "The bank raised its interest rate.",
        )
    )
    assert question @ near > question @ far


@pytest.mark.parametrize("text", ["", "   ", "🤖🤖"])
def test_a_text_without_a_known_token_still_gets_a_direction(text: str) -> None:
    embedding = StaticTextEmbedder().run(text)["embedding"]
    assert math.isclose(sum(value * value for value in embedding), 1.0, abs_tol=1e-5)
    assert len(set(embedding)) == 1


def test_the_model_is_found_and_used_without_network(no_network: None, tmp_path: Path) -> None:
    # A copy in another folder, so that nothing comes from the cache of this process.
    folder = shutil.copytree(str(files("haystack_integrations.crag") / "models"), tmp_path / "models")
    embedder = StaticTextEmbedder(model=str(folder / "static-minilm-256"))
    embedder.warm_up()
    assert embedder.run("tower")["embedding"] == StaticTextEmbedder().run("tower")["embedding"]


def test_a_name_that_is_no_folder_is_refused_before_any_download(no_network: None) -> None:
    embedder = StaticTextEmbedder(model="minishlab/potion-base-8M")
    with pytest.raises(ConfigurationError, match=r"'minishlab/potion-base-8M' is no folder; nothing is downloaded"):
        embedder.warm_up()
    with pytest.raises(ConfigurationError, match="leave model out for the shipped"):
        embedder.run("tower")


def test_a_folder_of_a_user_who_is_not_there_is_refused() -> None:
    """As one that is no folder; a shell leaves such a path as it is."""
    with pytest.raises(ConfigurationError, match=r"'~nobody-is-called-so/model' is no folder"):
        StaticTextEmbedder(model="~nobody-is-called-so/model").warm_up()


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"config\.json, model\.safetensors and tokenizer\.json"):
        StaticTextEmbedder(model=str(tmp_path)).warm_up()


def test_a_folder_with_unreadable_files_is_refused(tmp_path: Path) -> None:
    for name in ("config.json", "model.safetensors", "tokenizer.json"):
        (tmp_path / name).write_text("not a model")
    with pytest.raises(ConfigurationError, match="cannot be read as one"):
        StaticTextEmbedder(model=str(tmp_path)).warm_up()


def test_anything_but_a_text_is_refused_with_the_right_component() -> None:
    with pytest.raises(TypeError, match=r"got list; to embed documents use StaticDocumentEmbedder"):
        StaticTextEmbedder().run([])  # type: ignore[arg-type]


def test_one_model_is_shared_by_all_embedders_and_threads() -> None:
    embedder = StaticTextEmbedder()
    expected = embedder.run("a tower of iron " * 50)["embedding"]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: embedder.run("a tower of iron " * 50)["embedding"], range(64)))
    assert all(embedding == expected for embedding in found)
    assert load_encoder() is load_encoder(None)


def test_importing_and_constructing_does_not_load_model2vec() -> None:
    code = (
        "import sys\n"
        "from haystack_integrations.crag.components.static_text_embedder import StaticTextEmbedder\n"
        "StaticTextEmbedder(model='/nowhere')\n"
        "assert 'model2vec' not in sys.modules\n"
    )
    finished = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": ":".join(sys.path), "HAYSTACK_TELEMETRY_ENABLED": "False"},
        check=False,
        capture_output=True,
        text=True,
    )
    assert finished.returncode == 0, finished.stderr


def test_settings_survive_yaml(tmp_path: Path) -> None:
    pipeline = Pipeline()
    pipeline.add_component("embedder", StaticTextEmbedder(model=str(tmp_path)))
    loaded = Pipeline.loads(pipeline.dumps())
    assert loaded.get_component("embedder").model == str(tmp_path)
