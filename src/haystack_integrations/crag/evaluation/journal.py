"""The records of an evaluation on disk, one line each: what a stopped evaluation goes on from."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Final

import orjson

from haystack_integrations.crag.errors import ConfigurationError, CragError, SourceError
from haystack_integrations.crag.evaluation.cases import Dataset, Record, is_record
from haystack_integrations.crag.evaluation.made_of import fingerprint
from haystack_integrations.crag.evaluation.setup import Setup
from haystack_integrations.crag.whole_file import cannot_write, open_alone

FORMAT: Final = "crag-eval-records"
SUFFIX: Final = ".records.jsonl"


def journal_of(result: Path) -> Path:
    """
    Name the file of the records that belong to a result.

    :param result: File of the result.
    :returns: The same with `.records.jsonl` after it.
    :raises ConfigurationError: For a folder.
    """
    if result.is_dir():
        msg = f"got the folder {str(result)!r}, wanted the file of a result; pass the FILE of `crag eval --json FILE`"
        raise ConfigurationError(msg)
    return result.with_name(result.name + SUFFIX)


def read_records(path: Path) -> list[Record]:
    """
    Read the records of an earlier evaluation.

    :param path: Their file.
    :returns: One for each question; of a question that was tried again, the last.
    :raises SourceError: When there is no such file, or it is none of records.
    """
    if not path.is_file():
        msg = f"no records at {str(path)!r}; pass the FILE of an earlier `crag eval --json FILE`, its records beside it"
        raise SourceError(msg)
    _, records, _ = _read(path)
    return list(records.values())


def records_of(result: Path, order: Sequence[str]) -> list[Record]:
    """
    Read the records that an earlier result was made of: their file holds more, where more questions were asked before.

    :param result: File of the result.
    :param order: Ids of the data's questions: a result of n of them is about the first n.
    :returns: The records; all in the file where the result cannot be read.
    :raises ConfigurationError: For a folder.
    :raises SourceError: When there are no records.
    """
    records = read_records(journal_of(result))
    try:
        number = orjson.loads(result.read_bytes())["n"]
    except (OSError, ValueError, KeyError, TypeError):
        return records
    asked = set(order[:number]) if isinstance(number, int) and number < len(records) else set(order)
    return [record for record in records if record["id"] in asked]


def read_head(path: Path) -> dict[str, Any]:
    """
    Read what records were made of.

    :param path: Their file.
    :returns: What `made_of.fingerprint` told; nothing where there is no such file.
    """
    if not path.is_file():
        return {}
    try:
        return _read(path)[0]
    except SourceError:
        return {}


class Journal:
    """Records by question id, and the file that takes each as it comes."""

    def __init__(self, path: Path | None, dataset: Dataset, setup: Setup, *, fresh: bool) -> None:
        """
        Open the file, and take up what stands in it.

        :param path: The file; None keeps the records in memory alone.
        :param dataset: The data.
        :param setup: What is evaluated.
        :param fresh: Begin anew.
        :raises ConfigurationError: When the file holds records of another evaluation, is being written by another
            command, or cannot be written.
        """
        self.records: dict[str, Record] = {}
        self._file: IO[bytes] | None = None
        if path is None:
            return
        self._path = path
        made_of, known, size = fingerprint(dataset, setup), dict[str, Any](), 0
        self._file = open_alone(path)
        try:
            if not fresh:
                known, self.records, size = _read(path)
            different = [name for name, value in made_of.items() if known and known.get(name) != value]
            if different:
                msg = (
                    f"the records at {str(path)!r} were made with other {', '.join(different)}; "
                    "add --fresh to begin anew, or choose another file"
                )
                raise ConfigurationError(msg)
            self._file.truncate(size)  # half a line, of a run that was killed
            self._file.seek(size)
            if not known:
                self._write({"format": FORMAT, "version": 1, **made_of})
        except OSError as error:
            self.close()
            raise cannot_write(path, error) from None
        except CragError:
            self.close()
            raise

    @property
    def done(self) -> frozenset[str]:
        """Ids of the questions that need not be asked again; one that failed is tried again."""
        return frozenset(name for name, record in self.records.items() if record.get("error") is None)

    def add(self, record: Record) -> None:
        """
        Keep a record.

        :param record: It goes to the file at once.
        :raises ConfigurationError: When the file cannot be written any more; what stands in it is taken up next time.
        """
        self.records[record["id"]] = record
        self._write(record)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()

    def _write(self, line: dict[str, Any]) -> None:
        if self._file is None:
            return
        try:
            self._file.write(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))
            self._file.flush()
        except OSError as error:  # a full disk
            with suppress(OSError):  # closing tries to write the rest once more
                self.close()
            self._file = None
            raise cannot_write(self._path, error) from None


def _read(path: Path) -> tuple[dict[str, Any], dict[str, Record], int]:
    """Read a file of records: its head, the records by id, and where its last whole line ends."""
    head: dict[str, Any] = {}
    records: dict[str, Record] = {}
    end = 0
    for number, line in enumerate(_lines(path), 1):
        try:
            values = orjson.loads(line)
        except orjson.JSONDecodeError:
            values = None
        is_whole = isinstance(values, dict) and (values.get("format") == FORMAT if number == 1 else is_record(values))
        if not is_whole:
            msg = f"{path}:{number}: got another line, wanted one of an evaluation's records; add --fresh to begin anew"
            raise SourceError(msg)
        if number == 1:
            head = values
        else:
            records[values["id"]] = values
        end += len(line)
    return head, records, end


def _lines(path: Path) -> Iterator[bytes]:
    """Give the whole lines; the last may be half, where its writer was killed."""
    try:
        with path.open("rb") as file:
            yield from (line for line in file if line.endswith(b"\n"))
    except OSError as error:
        msg = f"the records at {str(path)!r} cannot be read ({error.strerror}); make the file readable"
        raise SourceError(msg) from None
