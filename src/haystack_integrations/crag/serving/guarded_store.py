"""Haystack's in-memory store for a server that writes to it while it answers."""

from collections.abc import Callable
from functools import wraps
from threading import RLock
from typing import Any, Concatenate, ParamSpec, TypeVar

from haystack.document_stores.in_memory import InMemoryDocumentStore

P = ParamSpec("P")
R = TypeVar("R")


def _in_turn(
    method: Callable[Concatenate[InMemoryDocumentStore, P], R],
) -> Callable[Concatenate["GuardedMemoryStore", P], R]:
    @wraps(method)
    def waiting(self: "GuardedMemoryStore", /, *args: P.args, **kwargs: P.kwargs) -> R:
        with self.turn:
            return method(self, *args, **kwargs)

    return waiting


class GuardedMemoryStore(InMemoryDocumentStore):
    """
    Lets threads read and write one after the other.

    Haystack's own walks through its documents while another thread changes them: a search then fails, or scores by
    word counts that are half of the one state and half of the other.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Take what Haystack's store takes."""
        super().__init__(*args, **kwargs)
        self.turn = RLock()  # deleting by a filter deletes by ids, and replacing deletes before it writes

    filter_documents = _in_turn(InMemoryDocumentStore.filter_documents)
    write_documents = _in_turn(InMemoryDocumentStore.write_documents)
    delete_documents = _in_turn(InMemoryDocumentStore.delete_documents)
    bm25_retrieval = _in_turn(InMemoryDocumentStore.bm25_retrieval)
    embedding_retrieval = _in_turn(InMemoryDocumentStore.embedding_retrieval)
