"""Embed documents offline, without torch: static token embeddings (model2vec)."""

from dataclasses import replace
from typing import Any

from haystack import Document, component

from haystack_integrations.crag.encoding.encoders import load_static_encoder
from haystack_integrations.crag.inputs import check_input
from haystack_integrations.crag.metadata import told


@component
class StaticDocumentEmbedder:
    """
    Embeds documents with static token embeddings: no network, no key, no GPU, thousands a second on one core.

    The partner of `StaticTextEmbedder`; give both the same `model`. Of a long document the model reads the beginning
    (512 tokens with the shipped model), so split long texts before.

    ### Usage example

    ```python
    from haystack import Document
    from haystack_integrations.crag.components.static_document_embedder import StaticDocumentEmbedder

    embedder = StaticDocumentEmbedder(meta_fields_to_embed=["title"])
    documents = embedder.run([Document(content="It opened in 1889.", meta={"title": "Eiffel Tower"})])["documents"]
    assert len(documents[0].embedding) == 256
    ```
    """

    def __init__(
        self,
        model: str | None = None,
        *,
        meta_fields_to_embed: list[str] | None = None,
        embedding_separator: str = "\n",
    ) -> None:
        """
        Create the embedder; the model is read in `warm_up`.

        :param model: Folder of a model2vec model. None takes the one shipped in this package.
        :param meta_fields_to_embed: Metadata fields whose values are put before the content, for example `["title"]`.
        :param embedding_separator: Text between those values and the content.
        :raises ConfigurationError: For anything but a list of fields: of a text each letter would be taken for one. For
            a separator that is no text.
        """
        check_input(type(self).__name__, "meta_fields_to_embed", meta_fields_to_embed, list[str] | None)
        check_input(type(self).__name__, "embedding_separator", embedding_separator, str)
        self.model = model
        self.meta_fields_to_embed = meta_fields_to_embed
        self.embedding_separator = embedding_separator

    def warm_up(self) -> None:
        """
        Read the model from disk, once per process.

        :raises ConfigurationError: When `model` is not the folder of a model2vec model.
        """
        load_static_encoder(self.model)

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, Any]:
        """
        Embed documents; the given ones stay as they are.

        :param documents: Any documents.
        :returns: A dictionary with the following keys:
            - `documents`: Copies with a unit vector as `embedding`, same order. A document without any token that
              the model knows (no content, or rare signs only) has the embedding None: it is found by its words or not
              at all, and no store is handed a vector without a direction.
        :raises TypeError: When `documents` is no list of documents.
        """
        if not isinstance(documents, list) or not all(isinstance(document, Document) for document in documents):
            msg = "documents must be a list of haystack Documents; to embed a text use StaticTextEmbedder"
            raise TypeError(msg)
        vectors = load_static_encoder(self.model).encode([self._text(document) for document in documents])
        return {
            "documents": [
                replace(document, embedding=vector.tolist() if vector.any() else None)
                for document, vector in zip(documents, vectors, strict=True)
            ]
        }

    def _text(self, document: Document) -> str:
        names = [] if self.meta_fields_to_embed is None else self.meta_fields_to_embed
        parts = [*(told(document.meta, name) for name in names), document.content]
        return self.embedding_separator.join(str(part) for part in parts if part is not None)
