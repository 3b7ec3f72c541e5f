"""Versions of sources that take the place of older ones, and those that another run deleted meanwhile."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, Final

from haystack import Document

from haystack_integrations.crag.pipelines.contents import Failure, Source
from haystack_integrations.crag.pipelines.listing import Known

STAYS: Final = "; until then, what was indexed of it before stays and is found"
"""What else to say of a source that fails now and did not before: answers still come from it."""

_AT_ONCE: Final = 1000


@dataclass(frozen=True)
class Part:
    """A source on its way into the store: its documents' ids, the versions that they replace, what it is counted as."""

    name: str
    ids: list[str]
    old: list[Known]
    event: str

    @classmethod
    def of(cls, source: Source, documents: Sequence[Document], old: list[Known], made_by: str) -> "Part":
        """
        Tell what becomes of a source.

        :param source: The source.
        :param documents: What was made of it; none of a page that only leads to others, which is `skipped`.
        :param old: The versions that are there.
        :param made_by: The identity of the pipeline that made the documents.
        :returns: The source on its way, `added` also where all that is there is another part of the same version.
        """
        event = "added" if all(one.is_of(source.sha256, made_by) for one in old) else "updated"
        return cls(source.name, [one.id for one in documents], old, event if documents else "skipped")


def lost(replaced: Mapping[str, Sequence[str]], owners: Callable[[list[str]], Mapping[str, Any]]) -> Iterator[Failure]:
    """
    Find sources that are no longer whole in the store, though this run leaves them there.

    Two runs of another pipeline or release at the same time take each other's version for an old one, and each deletes
    it: nothing would be left of a source, and nobody would know. Only a run that deletes can be part of that, and the
    last of them to look sees it.

    :param replaced: The ids that are to be there, by the name of a source of which another version was deleted.
    :param owners: Tells which ids are there, once all is visible to searches.
    :returns: What to say of each.
    """
    ids = chain.from_iterable(replaced.values())
    gone = set[str]()
    while some := list(islice(ids, _AT_ONCE)):
        gone |= set(some).difference(owners(some))
    why = "another run deleted passages of it meanwhile; index again, one run at a time"
    return (Failure(name, why) for name, those in replaced.items() if not gone.isdisjoint(those))
