"""Questions of one's own, before anything is known of them but what their file says."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any, Final

from haystack_integrations.crag.errors import SourceError
from haystack_integrations.crag.evaluation.raw_files import plain_text
from haystack_integrations.crag.evaluation.rows import rows

SENTENCES: Final = "gold_sentences"
_ROWS: Final = ".jsonl"
_TABLES: Final = (".csv", ".tsv", ".xlsx", ".xls", ".ods")
_JSON: Final = re.compile(r"[\[{]\s*([{\"]|$)")
_LISTS: Final = ("gold", "partial", "answers")


@dataclass(frozen=True)
class Question:
    """
    A question of a file.

    :param place: File and line, for messages.
    :param values: Its `id`, its `question`, and whatever else the file says of it.
    """

    place: str
    values: Mapping[str, Any]

    @property
    def id(self) -> str:
        """Its id."""
        return str(self.values["id"])

    @property
    def text(self) -> str:
        """The question."""
        return str(self.values["question"])

    @property
    def counts_sentences(self) -> bool:
        """Whether it has labels of sentences: they count those of another corpus, and are left out."""
        return bool(self.values.get(SENTENCES))

    @property
    def labelled(self) -> list[str]:
        """Ids of the documents that its labels are about."""
        return [*(self.values.get("gold") or ()), *(self.values.get("partial") or ())]


def read_questions(path: Path) -> list[Question]:
    """
    Read questions: one a line, or of JSON Lines `{"question"}`, with an `id` and labels if they have any.

    :param path: The file; of JSON Lines if its name ends with `.jsonl`.
    :returns: The questions; of lines of text, each once.
    :raises SourceError: When it cannot be read, is a table, has no question, or gives two questions one id.
    """
    if (kind := path.suffix.lower()) in _TABLES and path.is_file():  # its head and its other columns are no questions
        msg = f"{path}: got a table ({kind}), wanted one question a line; save its column of questions as a .txt file"
        raise SourceError(msg)
    try:
        found = list(_of_rows(path) if kind == _ROWS else _of_lines(path))
    except OSError as error:
        msg = f"no questions can be read from {str(path)!r} ({error.strerror}); pass a file with one question a line"
        raise SourceError(msg) from None
    if not found:
        msg = f"got no question in {str(path)!r}, wanted one a line"
        raise SourceError(msg)
    return found


def _of_lines(path: Path) -> Iterable[Question]:
    seen = set[str]()
    # A line as editors count them: `splitlines` parts at characters, too, that a question can have from a web page.
    for number, line in enumerate(StringIO(plain_text(path), newline=None), 1):
        if (text := line.strip()) and text not in seen:
            if _JSON.match(text):
                msg = f"{path}:{number}: got JSON, wanted a question; write one object a line, into a {_ROWS} file"
                raise SourceError(msg)
            seen.add(text)
            yield Question(f"{path}:{number}", {"id": f"q{number}", "question": text})


def _of_rows(path: Path) -> Iterable[Question]:
    taken: dict[str, Any] = {}
    for row in rows(path):
        name = row.name(taken) if "id" in row.values else f"q{row.number}"
        if name in taken:
            row.refuse(f"the id {name!r} a second time", "each id once", "give every question an id, or none of them")
        taken[name] = row
        for key in _LISTS:
            row.names(key)
        row.strict()
        yield Question(f"{path}:{row.number}", {**row.values, "id": name, "question": row.text("question").strip()})
