"""PPTX files as Markdown: what a list on a slide is about stands in the slide's title alone."""

from pathlib import Path
from typing import Any

from haystack import Document, component
from haystack.dataclasses import ByteStream

from haystack_integrations.crag.converting import converted
from haystack_integrations.crag.inputs import checked


@component
@checked
class PptxToMarkdown:
    """
    Slides of PPTX files, by python-pptx: titles as headings, then texts, tables, charts, diagrams and notes.

    Haystack's `PPTXToDocument` leaves out tables, charts, diagrams, notes, and what is in groups. Hidden slides
    are not read.

    ### Usage example

    ```python
    from io import BytesIO
    from haystack.dataclasses import ByteStream
    from haystack_integrations.crag.components.pptx_to_markdown import PptxToMarkdown
    from pptx import Presentation

    file, saved = Presentation(), BytesIO()
    slide = file.slides.add_slide(file.slide_layouts[1])
    slide.shapes.title.text, slide.placeholders[1].text = "Refunds", "Paid in two weeks"
    file.save(saved)
    (document,) = PptxToMarkdown().run([ByteStream(saved.getvalue())])["documents"]
    assert document.content == "## Refunds\\n\\nPaid in two weeks"
    ```
    """

    @component.output_types(documents=list[Document])
    def run(
        self, sources: list[str | Path | ByteStream], meta: dict[str, Any] | list[dict[str, Any]] | None = None
    ) -> dict[str, Any]:
        """
        Convert files.

        :param sources: PPTX files, or what was read of them.
        :param meta: Metadata for all documents, or for each.
        :returns: A dictionary with the following keys:
            - `documents`: One for each file: none for a source that cannot be read, which is logged.
        """
        from haystack_integrations.crag.formats.pptx_slides import pptx_as_markdown

        return {"documents": converted(sources, meta, pptx_as_markdown)}
