"""XLSX files as Markdown: a row says little without the names of its columns and of its sheet."""

from pathlib import Path
from typing import Any

from haystack import Document, component
from haystack.dataclasses import ByteStream

from haystack_integrations.crag.converting import converted
from haystack_integrations.crag.inputs import checked


@component
@checked
class XlsxToMarkdown:
    """
    Sheets of XLSX files, by openpyxl, each below its name: tables, or sections where cells hold paragraphs.

    Haystack's `XLSXToDocument` names columns by letters and leaves out the name of the sheet. Hidden sheets are not
    read; of a formula, the result is what was saved with it.

    ### Usage example

    ```python
    from io import BytesIO
    from haystack.dataclasses import ByteStream
    from openpyxl import Workbook
    from haystack_integrations.crag.components.xlsx_to_markdown import XlsxToMarkdown

    file, saved = Workbook(), BytesIO()
    file.active.title = "Prices"
    for row in (["Plan", "Price"], ["Basic", 9]):
        file.active.append(row)
    file.save(saved)
    (document,) = XlsxToMarkdown().run([ByteStream(saved.getvalue())])["documents"]
    assert document.content == "## Prices\\n\\n| Plan | Price |\\n| --- | --- |\\n| Basic | 9 |"
    ```
    """

    @component.output_types(documents=list[Document])
    def run(
        self, sources: list[str | Path | ByteStream], meta: dict[str, Any] | list[dict[str, Any]] | None = None
    ) -> dict[str, Any]:
        """
        Convert files.

        :param sources: XLSX files, or what was read of them.
        :param meta: Metadata for all documents, or for each.
        :returns: A dictionary with the following keys:
            - `documents`: One for each file: none for a source that cannot be read, which is logged.
        """
        from haystack_integrations.crag.formats.xlsx_cells import xlsx_as_markdown

        return {"documents": converted(sources, meta, xlsx_as_markdown)}
