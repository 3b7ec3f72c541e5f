"""What a run of `index` did."""

from dataclasses import asdict, dataclass
from typing import Any

from haystack_integrations.crag.pipelines.contents import Failure


@dataclass(frozen=True)
class IndexReport:
    """
    What a run of `index` did.

    :param sources: Files and records that were found.
    :param added: Sources that are new in the store.
    :param updated: Sources that replaced an older version.
    :param unchanged: Sources that the store held already.
    :param removed: Sources that vanished, and whose documents were deleted.
    :param skipped: Files in directories of a kind that is not indexed.
    :param documents_written: Documents written.
    :param documents_deleted: Documents deleted, of vanished sources and of older versions.
    :param failures: Sources that could not be indexed, and why.
    :param doubts: Files that were indexed in this run and will hardly be found, and why: PDFs whose text is unusable;
        and the index, where some of its documents have no vector.
    :param seconds: How long it took.
    """

    sources: int = 0
    added: int = 0
    updated: int = 0
    unchanged: int = 0
    removed: int = 0
    skipped: int = 0
    documents_written: int = 0
    documents_deleted: int = 0
    failures: tuple[Failure, ...] = ()
    doubts: tuple[Failure, ...] = ()
    seconds: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """
        Give the report as plain JSON.

        :returns: The fields by name; each failure and doubt is `{"source", "reason"}`.
        """
        told = {"failures": self.failures, "doubts": self.doubts}
        return {**asdict(self), **{name: [asdict(one) for one in those] for name, those in told.items()}}
