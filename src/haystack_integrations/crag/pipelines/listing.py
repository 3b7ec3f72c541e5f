"""What was found below given paths, and which documents of a store belong to it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any, Final

from haystack_integrations.crag.pipelines.contents import MADE_BY, RECORDS, Failure, folder_of, name_of
from haystack_integrations.crag.pipelines.shards import Shard

UPLOADS: Final = ".crag-uploads/"
"""How the names of uploads begin. They are on no disk: a folder is listed without them, and they have not vanished."""

_SHOWN_UPLOADS: Final = "uploads/"


@dataclass(slots=True)
class Known:
    """
    A version of a source in a store.

    :param sha256: Of the source's bytes.
    :param made_by: The identity of the pipeline that made its documents; empty for those of before it was noted.
    :param chunks: How many documents the version has.
    :param folder: That its name is shown from; empty where it is shown as it is.
    :param ids: Those that are there.
    """

    sha256: str
    made_by: str
    chunks: int
    folder: str = ""
    ids: list[str] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        """Tell whether all documents of the version are there."""
        return len(self.ids) == self.chunks

    def is_of(self, sha256: str, made_by: str) -> bool:
        """Tell whether it is what a pipeline makes of these bytes."""
        return (self.sha256, self.made_by) == (sha256, made_by)


@dataclass(frozen=True)
class Listing:
    """
    What was found below the given paths.

    :param files: Path and name of each file, ordered by name.
    :param names: The given paths that are files.
    :param prefixes: How the names begin of all that is in given directories and JSON Lines files, in order.
    :param skipped: How many files in directories are of a kind that is not indexed, by suffix, in lower case; "" for
        those without a usual one.
    :param failures: What is there but cannot be listed.
    :param shard: The part of it that is to be indexed here.
    :param shared: The folder that names are shown from, where they are absolute paths; empty where they are not.
    :param base: The directory that names are relative to; empty where they are absolute paths.
    """

    files: tuple[tuple[Path, str], ...]
    names: frozenset[str]
    prefixes: tuple[str, ...]
    skipped: dict[str, int]
    failures: tuple[Failure, ...]
    shard: Shard = field(default_factory=Shard)
    shared: str = ""
    base: str = ""

    def shown(self, name: str) -> str:
        """
        Give what users and models see of a source's name.

        :param name: The name.
        :returns: The path from the folder that all given paths share.
        """
        return shown_upload(name) if name.startswith(UPLOADS) else name.removeprefix(self.shared)

    def shown_as(self, known: Mapping[str, list[Known]]) -> "Listing":
        """
        Show names as those in the store are shown, where only a part of what was indexed is listed now.

        :param known: What `known` gave.
        :returns: The listing, shown from the outermost folder that what is known of it was shown from.
        """
        folders = {one.folder for versions in known.values() for one in versions if one.folder}
        around_it = [folder for folder in folders if self.shared.startswith(folder)]
        return replace(self, shared=min([self.shared, *around_it], key=len))

    def covers(self, name: str) -> bool:
        """
        Tell whether a source belongs to the given paths, be it still there or not.

        :param name: The source's name.
        :returns: True when it does.
        """
        # "" is the base itself: all that has a name relative to a base.
        if name in self.names or ("" in self.prefixes[:1] and not _is_elsewhere(name)):
            return True
        return name.startswith(self.prefixes[1:] if "" in self.prefixes[:1] else self.prefixes)

    def known(self, documents: Iterable[tuple[str, Mapping[str, Any]]]) -> dict[str, list[Known]]:
        """
        Sort documents of a store by the sources and versions that they are of.

        :param documents: The id and the metadata of each document.
        :returns: The versions of each source that belongs to the given paths and to this shard, by the source's
            name. What something else wrote is left out: it is not ours to update or remove.
        """
        found: dict[str, list[Known]] = {}
        for id_, meta in documents:
            full, sha256, chunks = name_of(meta), meta.get("source_sha256"), _whole(meta.get("chunks"))
            name = full.removeprefix(self.base)
            if not name or not isinstance(sha256, str) or chunks is None:
                continue
            if not self.shard.takes(name, id_) or (name not in found and not self.covers(name)):
                continue
            versions = found.setdefault(name, [])
            # What was indexed by its absolute path before there was a base is made anew, under its name of now.
            which = (sha256, str(meta.get(MADE_BY) or "") if name == full else "", chunks)
            version = next((one for one in versions if (one.sha256, one.made_by, one.chunks) == which), None)
            if version is None:
                versions.append(version := Known(*which, folder_of(meta)))
            version.ids.append(id_)
        return found

    def count(self) -> int | None:
        """
        Count the sources, for a progress bar.

        :returns: Number of files, and of lines in JSON Lines files; None when it is not known how many are of a shard.
        """
        if self.shard.of > 1:
            return None
        return sum(_count_lines(path) if path.suffix.lower() == RECORDS else 1 for path, _ in self.files)


def shown_upload(text: str) -> str:
    """
    Give what users and models see of uploads' names.

    :param text: A name, or a text that holds some.
    :returns: The same, with `uploads/FILE` in their place.
    """
    return text.replace(UPLOADS, _SHOWN_UPLOADS)


def shown_whole(folder: str) -> list[Failure]:
    """
    Doubt names that are shown from the top of the disk: clients and models read where this machine keeps its files.

    :param folder: What the names are shown from, the folder that all paths share.
    :returns: One doubt, of this folder, where it is in no other; else none.
    """
    if Path(folder).parent != Path(folder):
        return []
    why = "the paths share no other folder, so their sources bear whole paths, in answers, too; put them below one"
    return [Failure(folder, why)]


def around(name: str) -> set[str]:
    """
    Name a source and all that it is in.

    :param name: The source's name.
    :returns: It, its file and folders, and the base.
    """
    return {name[:end] for end, sign in enumerate(name) if sign in "/#"} | {name, "."}


def within(name: str, known: Mapping[str, list[Known]]) -> list[Known]:
    """
    Give what is known of a source, or of anything in a folder.

    :param name: The name of either.
    :param known: What `known` gave.
    :returns: Versions of the source, or of one in the folder; empty where nothing is known.
    """
    return known.get(name) or next((old for other, old in known.items() if other.startswith(f"{name}/")), [])


def _whole(value: object) -> int | None:
    """Read a number that was written whole: Weaviate gives 12 back as 12.0, and what is not known is never removed."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) else None


def _is_elsewhere(name: str) -> bool:
    """Tell whether a name begins at no base, on whatever system it was indexed: several may share an index."""
    return name.startswith(UPLOADS) or PurePosixPath(name).is_absolute() or PureWindowsPath(name).is_absolute()


def _count_lines(path: Path) -> int:
    try:
        with path.open("rb") as file:
            lines, block = 0, b"\n"
            for block in iter(lambda: file.read(1 << 20), b""):
                lines += block.count(b"\n")
            return lines + (not block.endswith(b"\n"))  # the last line of many files has no end
    except OSError:
        return 0  # reported when it is read
