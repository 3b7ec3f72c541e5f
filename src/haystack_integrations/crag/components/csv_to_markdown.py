"""CSV files as Markdown: a row says little without the names of its columns."""

from pathlib import Path
from typing import Any

from haystack import Document, component
from haystack.dataclasses import ByteStream

from haystack_integrations.crag.converting import converted
from haystack_integrations.crag.inputs import checked


@component
@checked
class CsvToMarkdown:
    """
    Rows of CSV files as Markdown tables, or as sections where cells hold paragraphs.

    Haystack's `CSVToDocument` gives the text as it is, or a document for each row and one column. Cells are separated
    by whichever of `,`, `;`, `|` and tab makes the most rows of one width.

    ### Usage example

    ```python
    from haystack.dataclasses import ByteStream
    from haystack_integrations.crag.components.csv_to_markdown import CsvToMarkdown

    (document,) = CsvToMarkdown().run([ByteStream.from_string("Plan;Price\\nBasic;9 €\\nTeam;29 €\\n")])["documents"]
    assert document.content == "| Plan | Price |\\n| --- | --- |\\n| Basic | 9 € |\\n| Team | 29 € |"
    ```
    """

    @component.output_types(documents=list[Document])
    def run(
        self, sources: list[str | Path | ByteStream], meta: dict[str, Any] | list[dict[str, Any]] | None = None
    ) -> dict[str, Any]:
        """
        Convert files.

        :param sources: CSV or TSV files, or what was read of them.
        :param meta: Metadata for all documents, or for each.
        :returns: A dictionary with the following keys:
            - `documents`: One for each file: none for a source that cannot be read, which is logged.
        """
        from haystack_integrations.crag.formats.csv_rows import csv_as_markdown

        return {"documents": converted(sources, meta, csv_as_markdown)}
