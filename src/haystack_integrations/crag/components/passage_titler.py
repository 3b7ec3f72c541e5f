"""Put the name of its file before each passage: a passage seldom repeats what it is about."""

import re
from dataclasses import replace
from typing import Any, Final

from haystack import Document, component

from haystack_integrations.crag.grades import source_name
from haystack_integrations.crag.inputs import checked
from haystack_integrations.crag.texts.titles import titled

_SUFFIX: Final = re.compile(r"\.[A-Za-z0-9]{1,5}$")
_BETWEEN: Final = re.compile(r"[\W_]+")
_LONGEST: Final = 100
_MARKS: Final = "# \t\n"


@component
@checked
class PassageTitler:
    """
    Gives passages their document's title, or else the words of its path, as a title and as the first line of the text.

    A question names its subject, "How long is the notice in the travel policy?", and of `travel-policy.pdf` only the
    first page may do so. Searches, graders and the embedding read the text, whatever store it is in.

    Source of the idea: contextual chunk headers, as in "Contextual Retrieval" (Anthropic, 2024), without a model.

    ### Usage example

    ```python
    from haystack import Document
    from haystack_integrations.crag.components.passage_titler import PassageTitler

    passage = Document(content="The notice is two weeks.", meta={"source": "hr/travel-policy.md"})
    titled = PassageTitler().run([passage])["documents"][0]
    assert titled.meta["title"] == "hr travel policy"
    assert titled.content == "hr travel policy\\n\\nThe notice is two weeks."
    ```
    """

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, Any]:
        """
        Add titles.

        :param documents: Passages; `meta["title"]` is theirs, else `source`, `url` or `file_path` names them.
        :returns: A dictionary with the following keys:
            - `documents`: Same order. A text that begins with its title, or has nothing to be named by, stays as it is;
              any other has a new id and no embedding.
        """
        return {"documents": [_titled(document) for document in documents]}


def _titled(document: Document) -> Document:
    own = " ".join(str(document.meta.get("title") or "").split())
    title = own[:_LONGEST].strip() or _words_of(source_name(document) or "")
    text = document.content or ""
    if not title or not text.strip():
        return document
    meta = {**document.meta, "title": own or title}
    if text.lstrip(_MARKS).casefold().startswith(title.casefold()):
        return replace(document, meta=meta)
    return replace(document, id="", content=titled(text, title), meta=meta, embedding=None, sparse_embedding=None)


def _words_of(source: str) -> str:
    """Read a path or address as words; of a long one the end says more."""
    words = _BETWEEN.sub(" ", _SUFFIX.sub("", source)).strip()
    return words if len(words) <= _LONGEST else words[-_LONGEST:].partition(" ")[2]
