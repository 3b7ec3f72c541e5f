"""Answers questions to the handbook: `python app.py "How long is the warranty on a kettle?"`."""

import logging
import sys
from pathlib import Path

from haystack import Document, GeneratedAnswer, Pipeline

HERE = Path(__file__).parent


def open_pipeline() -> Pipeline:
    """Load the pipeline, and fill its store."""
    pipeline = Pipeline.loads((HERE / "rag.yml").read_text("utf-8"))
    pages = sorted((HERE / "handbook").glob("*.md"))
    documents = [Document(content=page.read_text("utf-8").strip(), meta={"source": page.name}) for page in pages]
    pipeline.get_component("retriever").document_store.write_documents(documents)
    return pipeline


def ask(pipeline: Pipeline, question: str) -> GeneratedAnswer:
    """Answer one question."""
    return pipeline.run({"query": question})["answer"]["answers"][0]


if __name__ == "__main__":
    logging.basicConfig(format="%(message)s")
    answer = ask(open_pipeline(), sys.argv[1])
    print(answer.data)
    print("From:", ", ".join(document.meta["source"] for document in answer.documents))
