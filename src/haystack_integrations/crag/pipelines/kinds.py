"""The kinds of files that are indexed, by their suffix."""

from typing import Final

from haystack_integrations.crag.pipelines.contents import RECORDS

_DOCX: Final = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_PPTX: Final = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
_XLSX: Final = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"

MIME_TYPES: Final = {
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".mdx": "text/markdown",
    **dict.fromkeys((".txt", ".rst", ".adoc", ".asciidoc"), "text/plain"),
    ".html": "text/html",
    ".htm": "text/html",
    ".pdf": "application/pdf",
    # With macros, which nothing here runs, they have the same text.
    **dict.fromkeys((".docx", ".docm"), _DOCX),
    **dict.fromkeys((".pptx", ".pptm"), _PPTX),
    **dict.fromkeys((".xlsx", ".xlsm"), _XLSX),
    ".csv": "text/csv",
    ".tsv": "text/csv",
}
"""The files that `indexing.yml` converts, by suffix."""

SUFFIXES: Final = (*MIME_TYPES, RECORDS)
"""Of all files that can be indexed."""


def is_text(suffix: str) -> bool:
    """
    Tell whether files of a kind are text, which may be empty: of all others a file without a byte is damaged.

    :param suffix: One of `MIME_TYPES`.
    :returns: Whether it is.
    """
    return MIME_TYPES[suffix].startswith("text/")
