"""Lines of data files: each value is checked for its kind, and what is wrong is named with file and line."""

from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NoReturn

import orjson

from haystack_integrations.crag.errors import SourceError
from haystack_integrations.crag.evaluation.cases import STATUSES, Passage, RankedList
from haystack_integrations.crag.evaluation.raw_files import check_encoding
from haystack_integrations.crag.evaluation.strips import Sentences
from haystack_integrations.crag.vocabulary import JUDGED
from haystack_integrations.crag.whole_file import write_or_refuse

CORPUS: Final = "corpus.jsonl"
_GRADES: Final = (0, 1, 2)
_SHOWN: Final = 6
_LONGEST_ID: Final = 200  # paths of files are ids, too


@dataclass(frozen=True)
class Row:
    """One line of a file, which names its place when something is wrong with it."""

    path: Path
    number: int
    values: dict[str, Any]
    doubts: list[str] = field(default_factory=list, compare=False)

    def refuse(self, got: str, wanted: str, way_out: str) -> NoReturn:
        """
        Refuse the line.

        :param got: What stands there.
        :param wanted: What should.
        :param way_out: What to do.
        :raises SourceError: With file and line.
        """
        msg = f"{self.path}:{self.number}: got {got}, wanted {wanted}; {way_out}"
        raise SourceError(msg)

    def doubt(self, got: str) -> None:
        """
        Keep in mind what may be a mistake; the line counts as it stands.

        :param got: What stands there.
        """
        self.doubts.append(f"{self.path}:{self.number}: {got}")

    def text(self, key: str) -> str:
        """
        Read a text.

        :param key: Its key.
        :returns: The text, not empty.
        """
        value = self.values.get(key)
        if value is None:
            others = ", ".join(sorted(name for name, other in self.values.items() if other is not None)[:_SHOWN])
            self.refuse(f"no {key} (the line has {others or 'nothing'})", "a text", "add it, or rename what holds it")
        if not isinstance(value, str):
            self.refuse(f"another kind of {key}", "a text", "write it in quotes")
        if not value.strip():
            self.refuse(f"an empty {key}", "a text", "write it, or remove the line")
        return value

    def name(self, taken: Mapping[str, Any]) -> str:
        """
        Read the id.

        :param taken: Those that are given away.
        :returns: The id.
        """
        value = self.text("id")
        if value in taken:
            self.refuse(f"the id {value!r} a second time", "each id once", "remove or rename one of the two")
        return value

    def names(self, key: str) -> tuple[str, ...]:
        """
        Read a list of texts.

        :param key: Its key.
        :returns: The texts; none where there is no such key.
        """
        value = self.values.get(key)
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            self.refuse(f"another kind of {key}", "a list of texts", 'write it as ["one", "two"], [] for none')
        return tuple(value)

    def known(self, key: str, passages: Mapping[str, Passage]) -> tuple[str, ...]:
        """
        Read a list of documents.

        :param key: Its key.
        :param passages: The corpus.
        :returns: Their ids.
        """
        names = self.names(key)
        for name in names:
            self.check(name, passages)
        return names

    def check(self, name: object, known: Mapping[str, Any], what: str = f"a document of {CORPUS}") -> None:
        """
        Refuse an id that names nothing.

        :param name: The id.
        :param known: What there is.
        :param what: What that is.
        """
        if not isinstance(name, str) or name not in known:
            # Who labels by texts would read all of one, where messages show none.
            is_text = isinstance(name, str) and len(name) > _LONGEST_ID
            got = f"a text of {len(str(name)):,} characters as an id" if is_text else f"the unknown id {name!r}"
            self.refuse(got, f"that of {what}", "correct it, or add what it names")

    def strict(self) -> bool:
        """
        Read whether a question counts in the scores of verdicts.

        :returns: True where nothing is said; a text such as "false" is neither of the two, and would count as true.
        """
        value = self.values.get("strict")
        if value is None:
            return True
        if not isinstance(value, bool):
            self.refuse(f"{value!r} as strict", "true or false", "write it without quotes, or leave it out")
        return value

    def sentences(self, passages: Mapping[str, Passage]) -> frozenset[tuple[str, int]]:
        """
        Read which sentences answer.

        :param passages: The corpus.
        :returns: Pairs of a document's id and the number of a sentence.
        """
        found, texts = set[tuple[str, int]](), Sentences(passages)
        entries = self.values.get("gold_sentences") or ()
        for entry in entries if isinstance(entries, list | tuple) else (entries,):
            match entry:
                case [name, int(number)] if number >= 0:
                    self.check(name, passages)
                    places = texts.of(name)
                    if number >= len(places):
                        self.refuse(f"sentence {number} of {name!r}", f"one below {len(places)}", "correct it")
                    if not places[number][2]:
                        self.doubt(f"sentence {number} of {name!r}, which its text does not hold, so it is never kept")
                    found.add((name, number))
                case _:
                    self.refuse("other gold_sentences", 'pairs such as ["doc-1", 0]', "correct or remove them")
        return frozenset(found)

    def ranked(self, passages: Mapping[str, Passage]) -> RankedList:
        """
        Read a list that was retrieved.

        :param passages: The corpus.
        :returns: The list.
        """
        if self.values.get("retrieved") is None:  # under another name it would count as a list without a document
            self.refuse("no retrieved", "the ids of the list, in rank order", "write them, [] where nothing was found")
        retrieved, grades = self.known("retrieved", passages), self.values.get("grades")
        if len(set(retrieved)) != len(retrieved):
            self.refuse("a document twice in a list", "each id once", "remove one of the two")
        if grades is not None and (len(_listed(grades)) != len(retrieved) or any(map(_is_no_grade, grades))):
            self.refuse("other grades", "0, 1 or 2 for each retrieved document", "correct them, or leave them out")
        labels = {k: self.values[f"label_top{k}"] for k in (5, 10) if f"label_top{k}" in self.values}
        for told in labels.values():
            if told not in JUDGED:
                self.refuse(f"the label {told!r}", f"one of {list(JUDGED)}", "correct it, or leave it out")
        status = self.values.get("status")
        if status is not None and status not in STATUSES:
            self.refuse(f"the status {status!r}", f"one of {list(STATUSES)}", "correct it")
        # As whole numbers: who writes files with pandas has 2.0, of which no record could be read again.
        graded, retrievers = None if grades is None else tuple(map(int, grades)), self.names("retrievers")
        return RankedList(retrieved, graded, labels or None, status, self.number, retrievers)


def _is_no_grade(value: object) -> bool:
    return isinstance(value, bool) or value not in _GRADES


def _listed(value: object) -> Sequence[Any]:
    return value if isinstance(value, list) else ()


def rows(path: Path) -> Iterator[Row]:
    """
    Read a JSON Lines file; empty lines count, but say nothing.

    :param path: The file.
    :returns: Its lines.
    :raises SourceError: For a line that is no JSON object.
    """
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                values = orjson.loads(line.removeprefix(BOM_UTF8))
            except orjson.JSONDecodeError:
                check_encoding(path, number, line)
                values = None
            if not isinstance(values, dict):
                Row(path, number, {}).refuse("another line", "one JSON object", "correct or remove it")
            yield Row(path, number, values)


def write_rows(path: Path, lines: Iterable[Mapping[str, Any]]) -> None:
    """
    Write a JSON Lines file, whole or not at all.

    :param path: The file.
    :param lines: The values of each line.
    :raises ConfigurationError: When it cannot be written.
    """
    write_or_refuse(path, b"".join(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE) for line in lines))
