"""PDF files whose headings are told as Markdown's: what a section is about stands in its heading alone."""

from pathlib import Path
from typing import Any

from haystack import Document, component, logging
from haystack.dataclasses import ByteStream

from haystack_integrations.crag.inputs import checked

logger = logging.getLogger(__name__)


@component
@checked
class PdfToMarkdown:
    """
    Reads PDF files by pypdf, with `#` before the headings that the file's outline or tags name, by level.

    As Haystack's `PyPDFToDocument`, but that words stay apart in files whose fonts have no space, as TeX writes them,
    and that the values of forms and text typed upon a page are read. Comments and attached files are not.

    ### Usage example

    ```python
    from io import BytesIO
    from haystack.dataclasses import ByteStream
    from pypdf import PdfWriter
    from haystack_integrations.crag.components.pdf_to_markdown import PdfToMarkdown

    file, saved = PdfWriter(), BytesIO()
    file.add_blank_page(width=72, height=72)
    file.add_outline_item(title="Refunds", page_number=0)
    file.write(saved)
    (document,) = PdfToMarkdown().run([ByteStream(saved.getvalue())])["documents"]
    assert document.content == ""  # nothing is printed on the page
    ```
    """

    @component.output_types(documents=list[Document])
    def run(
        self, sources: list[str | Path | ByteStream], meta: dict[str, Any] | list[dict[str, Any]] | None = None
    ) -> dict[str, Any]:
        """
        Convert files.

        :param sources: PDF files, or what was read of them.
        :param meta: Metadata for all documents, or for each.
        :returns: A dictionary with the following keys:
            - `documents`: One per source, pages parted by form feeds; none for a source that cannot be read, which is
              logged. A line that begins with `#` and is no heading has a backslash before it.
        """
        from haystack.components.converters.utils import (
            normalize_metadata,
        )  # a tenth of a second that no question needs

        documents = []
        for source, own in zip(sources, normalize_metadata(meta, len(sources)), strict=True):
            try:
                documents.append(_read(source, own))
            except Exception as error:  # whatever a damaged file leads its reader to
                kind = type(error).__name__  # not its text, which may quote the file
                logger.warning("Could not read {source}, skipping it: {kind}", source=source, kind=kind)
        return {"documents": documents}


def _read(source: str | Path | ByteStream, meta: dict[str, Any]) -> Document:
    from haystack.components.converters.utils import get_bytestream_from_source

    from haystack_integrations.crag.texts.pdf_pages import markdown_of

    stream = get_bytestream_from_source(source)
    known = {**stream.meta, **meta}
    if isinstance(path := stream.meta.get("file_path"), str):  # as Haystack's converters: the name alone
        known["file_path"] = Path(path).name
    return Document(content=markdown_of(stream.data), meta=known)
