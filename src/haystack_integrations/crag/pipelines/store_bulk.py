"""Write many documents into any store, and tell which are already there: by listing it once."""

from collections.abc import Iterable
from concurrent.futures import Future
from typing import Any, Final

from haystack import Document
from haystack.document_stores.types import DuplicatePolicy

from haystack_integrations.crag.errors import StoreError
from haystack_integrations.crag.in_parts import each_document, with_slots
from haystack_integrations.crag.pipelines.contents import PROVENANCE, name_of, names_of_records
from haystack_integrations.crag.pipelines.listing import Known, Listing
from haystack_integrations.crag.store_profiles import profile_of

_AT_ONCE: Final = 1000  # of more than 10,000, Weaviate deletes 10,000 and says nothing


class StoreBulk:
    """
    Writes into any document store, in the calling thread; see `bulk.Bulk`.

    :param store: The store. `known` reads all its documents, so a large one wants a writer of its own.
    """

    def __init__(self, store: Any) -> None:
        """Wrap a store."""
        self.store, self._there, self._told = store, dict[str, str](), list[dict[str, Any]]()
        self._kept = set[str]()  # the metadata that are known to be there when they are read again
        self._slots = profile_of(store) is None

    def known(self, scope: Listing) -> dict[str, list[Known]]:
        """Read what the store holds."""
        documents = each_document(self.store, "old versions of others would stay, so nothing was indexed")
        told = {one.id: {name: one.meta[name] for name in PROVENANCE if name in one.meta} for one in documents}
        self._there, self._told = {id_: name_of(meta) for id_, meta in told.items()}, [*told.values()]
        self._kept = {name for meta in told.values() for name in meta}
        return scope.known(told.items())

    def owners(self, ids: list[str]) -> dict[str, str]:
        """Tell by what `known` read and was written: no store need be able to filter by id, and Weaviate is not."""
        return {id_: self._there[id_] for id_ in ids if id_ in self._there}

    def shown_as(self, names: list[str]) -> list[dict[str, Any]]:
        """Tell by what `known` read."""
        wanted, beginnings, field = set(names), names_of_records(names), PROVENANCE[0]
        return [one for one in self._told if one.get(field) in wanted or str(one.get(field)).startswith(beginnings)]

    def write(self, documents: list[Document]) -> "Future[dict[str, str]]":
        """Write documents; they are written when this returns."""
        told = with_slots(documents) if self._slots else documents
        for start in range(0, len(told), _AT_ONCE):
            self.store.write_documents(told[start : start + _AT_ONCE], policy=DuplicatePolicy.OVERWRITE)
        self._there |= {one.id: name_of(one.meta) for one in documents}
        if documents:
            self._check_kept(documents[0])
        (done := Future[dict[str, str]]()).set_result({})
        return done

    def delete(self, ids: list[str]) -> None:
        """Delete documents."""
        for start in range(0, len(ids), _AT_ONCE):
            self.store.delete_documents(ids[start : start + _AT_ONCE])

    def finish(self, contested: Iterable[str] = ()) -> None:
        """Do nothing: what was written is visible at once."""

    def _check_kept(self, written: Document) -> None:
        """Look whether the next run will know a document again: LanceDB keeps only the metadata of its schema."""
        if self._kept.issuperset(wanted := [name for name in PROVENANCE if name in written.meta]):
            return
        found = next((one for one in self.store.filter_documents() if one.id == written.id), written)
        if lost := [name for name in wanted if found.meta.get(name) != written.meta[name]]:
            msg = (
                f"the store loses the metadata {lost} of what is written, so that it would never be updated or "
                "removed; add them to the store's schema, or use another store"
            )
            raise StoreError(msg)
        self._kept.update(wanted)
