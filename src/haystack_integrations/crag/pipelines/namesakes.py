"""Sources of other runs that users would take for those of this one: shown by the same names, or the same files."""

import posixpath
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Final

from haystack_integrations.crag.pipelines.bulk import Bulk
from haystack_integrations.crag.pipelines.contents import RECORDS, Failure, folder_of, name_of
from haystack_integrations.crag.pipelines.listing import Listing

_AT_ONCE: Final = 1000
_FILE: Final = re.compile(rf"(?i).*?{re.escape(RECORDS)}(?=#)")  # of a record
_LOOKS: Final = 5  # at what is shown by the same name, each time from a folder further out
_TRIED: Final = 50  # files that may be in the index by names below a base: a base is one for all


class Namesakes:
    """
    Looks for them, for JSON Lines files by their records; of what is named below a base nothing is looked for.

    :param bulk: The store, of which `known` was read.
    :param listing: What is to be indexed.
    :param known: The names of what was indexed of it before.

    `listing` is shown from a folder so far out that its new sources have other names than all others in the index.
    """

    def __init__(self, bulk: Bulk, listing: Listing, known: Collection[str]) -> None:
        """Look them up."""
        tables = {name for _, name in listing.files if name.lower().endswith(RECORDS)}  # each process has some records
        own = [name for _, name in listing.files if name not in tables and listing.shard.takes(name)]
        begun = {found[0] for one in known if tables and (found := _FILE.match(one))}
        new = [name for name in [*own, *sorted(tables)] if name not in known and name not in begun]
        self.listing = _shown_apart(bulk, listing, new) if listing.shared else listing
        self._below = dict[str, list[tuple[str, str]]]()  # names below a base and hashes, by names of sources
        if listing.shared and (tried := own[:_TRIED]):
            ends = {end: name for name in tried for end in _ends(name)}
            for some in _parts([*ends]):
                for meta in bulk.shown_as(some):
                    end = name_of(meta)
                    if end in ends and not folder_of(meta):
                        self._below.setdefault(ends[end], []).append((end, str(meta.get("source_sha256"))))

    def twice(self, hashes: Mapping[str, str]) -> Iterator[Failure]:
        """
        Tell of files that are in the index already, by names below a base.

        :param hashes: Of the files of this run, by name.
        :returns: At most one doubt.
        """
        for name, others in self._below.items():
            for end, sha256 in others:
                if hashes.get(name) == sha256:
                    base = name.removesuffix(end).rstrip("/") or "/"
                    why = (
                        f"it is in the index twice, also as {end!r}, by a run with --base; run again with --base {base}"
                    )
                    yield Failure(self.listing.shown(name), f"{why}, as each time, and all is there once")
                    return


def _shown_apart(bulk: Bulk, listing: Listing, new: list[str]) -> Listing:
    for _ in range(_LOOKS):
        folder = _further_out(bulk, listing, new)
        if folder is None:
            break
        listing = replace(listing, shared=folder)
    return listing


def _further_out(bulk: Bulk, listing: Listing, new: list[str]) -> str | None:
    """Find the folder that other sources of the same names share with the new ones; None where there are none."""
    for some in _parts(new):
        names = {listing.shown(name): name for name in some}
        others = [meta for meta in bulk.shown_as([*names]) if name_of(meta) != _own(names, str(meta.get("source")))]
        if others:
            folders = {folder for meta in others if (folder := folder_of(meta))[:1] == listing.shared[:1]}
            common = posixpath.commonpath([listing.shared, *folders])
            own = listing.shared.rstrip("/")
            if not own:
                return None
            # From the root, a name would be a path of this machine.
            return (posixpath.dirname(own) if common in ("", "/", own) else common).rstrip("/") + "/"
    return None


def _own(names: Mapping[str, str], shown: str) -> str:
    """Give the name of a file, or of a record of one, by how they are shown."""
    file = next((one for one in names if shown.startswith(f"{one}#")), "") if shown not in names else shown
    return names.get(file, "") + shown.removeprefix(file)


def _parts(names: list[str]) -> Iterator[list[str]]:
    return (names[start : start + _AT_ONCE] for start in range(0, len(names), _AT_ONCE))


def _ends(name: str) -> Iterator[str]:
    """Give what a name may be below a base."""
    parts = PurePosixPath(name).parts
    return ("/".join(parts[start:]) for start in range(1, len(parts)))
