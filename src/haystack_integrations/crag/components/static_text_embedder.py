"""Embed a question offline, without torch: static token embeddings (model2vec)."""

from typing import Any

import numpy as np
from haystack import component

from haystack_integrations.crag.encoding.encoders import load_static_encoder
from haystack_integrations.crag.light import light


@component
@light
class StaticTextEmbedder:
    """
    Embeds a text with static token embeddings: no network, no key, no GPU, well under a millisecond.

    The partner of `StaticDocumentEmbedder`; give both the same `model`. The shipped model is weaker than a
    transformer: as one of two retrievers, fuse it with BM25 at a small weight (0.1 to 0.2).

    ### Usage example

    ```python
    from haystack_integrations.crag.components.static_text_embedder import StaticTextEmbedder

    embedding = StaticTextEmbedder().run("Who wrote the novel?")["embedding"]
    assert len(embedding) == 256
    ```
    """

    def __init__(self, model: str | None = None) -> None:
        """
        Create the embedder; the model is read in `warm_up`.

        :param model: Folder of a model2vec model. None takes the one shipped in this package.
        """
        self.model = model

    def warm_up(self) -> None:
        """
        Read the model from disk, once per process.

        :raises ConfigurationError: When `model` is not the folder of a model2vec model.
        """
        load_static_encoder(self.model)

    @property
    def dimension(self) -> int:
        """Tell how many numbers a vector has; the model is read for it."""
        return load_static_encoder(self.model).dimension

    @component.output_types(embedding=list[float])
    def run(self, text: str) -> dict[str, Any]:
        """
        Embed one text.

        :param text: The text, usually a question.
        :returns: A dictionary with the following keys:
            - `embedding`: A unit vector. A text without any token that the model knows (empty, or rare signs only) gets
              the vector of equal components, which is near nothing in particular: a zero vector has no direction,
              and stores that compare by cosine refuse it.
        :raises TypeError: When `text` is no string.
        """
        if not isinstance(text, str):
            msg = f"text must be a string, but got {type(text).__name__}; to embed documents use StaticDocumentEmbedder"
            raise TypeError(msg)
        encoder = load_static_encoder(self.model)
        vector = encoder.encode([text])[0]
        if not vector.any():
            vector = np.full(encoder.dimension, encoder.dimension**-0.5, dtype=np.float32)
        return {"embedding": vector.tolist()}
