"""What a run of `index` did."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from haystack_integrations.crag.pipelines.contents import Failure

_NAMES: Final = {"skipped": "pages of links", "empty": "empty"}


@dataclass(frozen=True)
class IndexReport:
    """
    What a run of `index` did.

    :param sources: Files and records that were found.
    :param added: Sources that are new in the store.
    :param updated: Sources that replaced an older version.
    :param unchanged: Sources that the store held already.
    :param removed: Sources that vanished, and whose documents were deleted.
    :param skipped: Files in directories of a kind that is not indexed, pages that only lead to others, and empty text.
    :param skipped_kinds: How many of them have which suffix, the most first; "" for those without a usual one. Pages
        are `pages of links`, and empty text is `empty`.
    :param documents_written: Documents written.
    :param documents_deleted: Documents deleted, of vanished sources and of older versions.
    :param failures: Sources that could not be indexed, and why.
    :param doubts: Files that were indexed in this run, perhaps not as they were meant, and why: PDFs whose text, or
        some of whose pages, are unusable, workbooks that lack results of formulas, text that is not UTF-8, a file that
        is in the index twice; and the index, where some of its documents have no vector.
    :param seconds: How long it took.
    """

    sources: int = 0
    added: int = 0
    updated: int = 0
    unchanged: int = 0
    removed: int = 0
    skipped: int = 0
    skipped_kinds: dict[str, int] = field(default_factory=dict)
    documents_written: int = 0
    documents_deleted: int = 0
    failures: tuple[Failure, ...] = ()
    doubts: tuple[Failure, ...] = ()
    seconds: float = 0.0

    @classmethod
    def of(
        cls, counts: Mapping[str, int], skipped: dict[str, int], failures: Iterable[Failure], doubts: Iterable[Failure]
    ) -> "IndexReport":
        """
        Write a report.

        :param counts: Of what became of sources and documents, by the names above.
        :param skipped: As `skipped_kinds`, of those that were not read.
        :param failures: As above.
        :param doubts: As above.
        :returns: The report, without a time.
        """
        kinds = {**skipped, **{name: counts[key] for key, name in _NAMES.items() if counts.get(key)}}
        others = {key: count for key, count in counts.items() if key not in _NAMES}
        values: dict[str, Any] = {**others, "skipped": sum(kinds.values()), "skipped_kinds": kinds}
        return cls(**values, failures=tuple(failures), doubts=tuple(doubts))

    def to_dict(self) -> dict[str, Any]:
        """
        Give the report as plain JSON.

        :returns: The fields by name; each failure and doubt is `{"source", "reason"}`.
        """
        told = {"failures": self.failures, "doubts": self.doubts}
        return {**asdict(self), **{name: [asdict(one) for one in those] for name, those in told.items()}}
