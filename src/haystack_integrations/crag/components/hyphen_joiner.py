"""Join words that a hyphen at the end of a line parts, as books and LaTeX break them."""

import re
from dataclasses import replace
from typing import Any, Final

from haystack import Document, component

from haystack_integrations.crag.encoding.encoders import is_word
from haystack_integrations.crag.inputs import checked

_WORD: Final = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
# Two letters on either side at least, as typesetters do; and what stands below goes on in small ones. Of a scan, text
# recognition ends each line with a blank. In PDF files the hyphen is at times Unicode's own, or a soft one.
_SOFT: Final = "\u00ad"
_HYPHEN: Final = f"[-\u2010{_SOFT}]"
_BROKEN: Final = re.compile(
    rf"(?<![\w\u2010-])([^\W\d_]{{2,}})({_HYPHEN})[ \t]*\r?\n[ \t]*([^\W\d_]{{2,}})(?![\w\u2010-])"
)
# What stands at a word stays with it, be it a full stop or "'s", unless it is parted itself; and the line ends once.
_AND_REST: Final = re.compile(rf"{_BROKEN.pattern}(\S*+(?<!{_HYPHEN})|)[ \t]*(?:\r?\n)?")


@component
@checked
class HyphenJoiner:
    """
    Joins the parts of a word that stands whole elsewhere in its document, or that is one of the most frequent ones of
    English; any other hyphen at a line's end stays.

    No search finds "informa-" and "tion". Whether the hyphen is the word's own cannot be seen in it: `well-` and
    `known` are one word only where the document has `wellknown`, and no word where it has `well-known`. A soft
    hyphen (U+00AD) goes without proof, but not against `well-known` or before a capital: some PDF files have no other.

    ### Usage example

    ```python
    from haystack import Document
    from haystack_integrations.crag.components.hyphen_joiner import HyphenJoiner

    page = Document(content="All infor-\\nmation is in a well-\\nkept file.")
    joined = HyphenJoiner().run([page])["documents"]
    assert joined[0].content == "All information\\nis in a well-\\nkept file."
    ```
    """

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, Any]:
        """
        Join.

        :param documents: Whole documents, before they are split.
        :returns: A dictionary with the following keys:
            - `documents`: Same order; a joined word ends its line, and its document has no embedding.
        """
        return {"documents": [_joined(document) for document in documents]}


def _joined(document: Document) -> Document:
    text = document.content or ""
    if _BROKEN.search(text) is None:
        return document
    # Those at the ends of lines prove nothing about themselves.
    plain = _BROKEN.sub(" ", text).replace("\u2010", "-").replace(_SOFT, "")
    whole = {word.lower() for word in _WORD.findall(plain)}

    def join(found: re.Match[str]) -> str:
        first, hyphen, second, rest = found.groups()
        word = (first + second).lower()
        is_parted = f"{first}-{second}".lower() in whole or not second.islower()
        is_one = not is_parted and (hyphen == _SOFT or word in whole or is_word(word))
        return f"{first}{second}{rest}\n" if is_one else found[0]

    content = _AND_REST.sub(join, text)
    if content == text:
        return document
    return replace(document, id="", content=content, embedding=None, sparse_embedding=None)
