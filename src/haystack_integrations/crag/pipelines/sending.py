"""Bulk requests to an index of Elasticsearch, of a size that whatever stands on the way to it takes."""

from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from haystack import Document

from haystack_integrations.crag.pipelines.refusals import LARGE, TOO_LARGE, refusal

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch

Action = tuple[dict[str, Any], bytes | None]
"""What a line of a bulk request says is to be done, with the document's `_id`, and the document as JSON."""

_REQUEST_DOCUMENTS: Final = 512
_REQUEST_BYTES: Final = 8_000_000
_LEAST_BYTES: Final = 100_000
_RETRIES: Final = 4
# Metadata of such a name is nested by `Document.to_dict`, the last three for the sake of Haystack 1.
_DOCUMENT_FIELDS: Final = {one.name for one in fields(Document)} | {"content_type", "id_hash_keys", "dataframe"}


def flattened(document: Document, sparse_field: str | None) -> dict[str, Any]:
    """
    Give what `ElasticsearchDocumentStore.write_documents` sends, without its deep copies (0.2 ms a document).

    :param document: A document.
    :param sparse_field: The index's field for sparse vectors, if it has one.
    :returns: Fields by name, metadata among them.
    """
    body: dict[str, Any]
    if document.blob is None and document.sparse_embedding is None and _DOCUMENT_FIELDS.isdisjoint(document.meta):
        body = {**document.meta, "id": document.id, "content": document.content, "score": document.score}
    else:
        body = document.to_dict()
    sparse = body.pop("sparse_embedding", None)
    if sparse_field is not None and sparse is not None and sparse["indices"]:
        pairs = zip(sparse["indices"], sparse["values"], strict=True)
        body[sparse_field] = {str(index): value for index, value in pairs}
    # Elasticsearch keeps 32 bits of a vector's number: half as many digits to write, send and read.
    body["embedding"] = None if document.embedding is None else np.asarray(document.embedding, dtype=np.float32)
    for key in ("embedding", "blob", "score"):  # a field with a mapping of its own refuses null
        if body.get(key) is None:
            body.pop(key, None)
    return body


def actions_of(
    documents: Iterable[Document], dumps: Callable[[Any], Any], sparse_field: str | None
) -> tuple[list[Action], dict[str, str]]:
    """
    Make documents ready to be sent.

    :param documents: The documents.
    :param dumps: The client's own way to write JSON.
    :param sparse_field: The index's field for sparse vectors, if it has one.
    :returns: What is to be sent, and the reason by id for those that cannot be.
    """
    from elasticsearch import SerializationError

    refused, actions = dict[str, str](), list[Action]()
    for document in documents:
        try:
            body = dumps(flattened(document, sparse_field))
        except SerializationError:  # its text would hold the whole document
            refused[document.id] = "its metadata cannot be written as JSON"
        else:
            actions.append(({"index": {"_id": document.id}}, body))
    return actions, refused


class Sender:
    """
    Sends what is to be written and deleted, for threads that send at once.

    :param client: A connected client.
    :param index: Name of the index.
    :param options: Further arguments of each request.
    """

    def __init__(self, client: "Elasticsearch", index: str, options: dict[str, Any]) -> None:
        """Begin with large requests."""
        self._client, self._index, self._options = client, index, options
        self._most = _REQUEST_BYTES

    def send(self, actions: Iterable[Action]) -> dict[str, str]:
        """
        Send actions, in smaller requests where one is too large: a proxy may take no more than 1 MB, as nginx does.

        :param actions: The actions, of which each document has one.
        :returns: The reason by id for those that the server refused.
        :raises StoreError: When the index takes nothing from anybody.
        """
        waiting, most = list(actions), self._most
        refused = self._sent(waiting, most)
        while most > _LEAST_BYTES and (large := {id_ for id_, why in refused.items() if why == LARGE}):
            most //= 2
            waiting = [action for action in waiting if _id_of(action) in large]
            again = self._sent(waiting, most)
            if len(again) < len(large):  # else it is these documents, and not what they were sent with
                self._most = min(self._most, most)
            refused = {id_: why for id_, why in refused.items() if id_ not in large} | again
        return refused

    def _sent(self, actions: list[Action], most: int) -> dict[str, str]:
        from elasticsearch.helpers import streaming_bulk

        answers = streaming_bulk(
            self._client,
            actions,  # type: ignore[arg-type]  # already in the form that the callback would make
            expand_action_callback=lambda action: action,  # type: ignore[arg-type, return-value]
            chunk_size=_REQUEST_DOCUMENTS,
            max_chunk_bytes=most,
            raise_on_error=False,
            ignore_status=TOO_LARGE,
            max_retries=_RETRIES,
            initial_backoff=0.5,
            yield_ok=False,
            index=self._index,
            # The reason of an error quotes the document: it is not even fetched.
            filter_path="items.*._id,items.*.status,items.*.error.type",
            **self._options,
        )
        refused = {}
        # Left open by a StoreError, its span ends in whatever thread collects it, and that prints a traceback.
        with closing(answers):  # type: ignore[type-var]  # it is a generator, whatever its annotation says
            for _, answer in answers:
                (item,) = answer.values()
                if (why := refusal(item, self._index)) is not None:
                    refused[item["_id"]] = why
        return refused


def _id_of(action: Action) -> str:
    (told,) = action[0].values()
    return str(told["_id"])
