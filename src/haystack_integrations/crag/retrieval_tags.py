"""Numbers about a retriever's run, read from what Haystack shows a tracer; any retriever, ours or another's."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from haystack import Document

from haystack_integrations.crag.telemetry import shown

_COMPONENT: Final = "haystack.component.type"

Told = tuple[dict[str, Any], dict[str, Any]]
"""Attributes that are always set, and those that are content."""


def is_retriever(tags: Mapping[str, Any]) -> bool:
    """
    Tell whether a span is a retriever's run, by the name of its class, as Haystack's retrievers are called.

    :param tags: The first tags of the span.
    :returns: The answer.
    """
    return str(tags.get(_COMPONENT, "")).endswith("Retriever")


def input_tags(inputs: Mapping[str, Any]) -> Told:
    """
    Say what a retriever was asked.

    :param inputs: Its inputs.
    :returns: How many documents are wanted, where the run says so; the query is content.
    """
    top_k, query = inputs.get("top_k"), inputs.get("query")
    numbers = {"gen_ai.request.top_k": top_k if isinstance(top_k, int) else None}
    said = {"openinference.span.kind": "RETRIEVER", "gen_ai.operation.name": "retrieval", **numbers}
    return said, {"gen_ai.retrieval.query.text": query} if isinstance(query, str) else {}


def output_tags(outputs: Mapping[str, Any]) -> Told:
    """
    Say what a retriever found.

    :param outputs: Its outputs.
    :returns: How many documents; which they are is content.
    """
    documents = outputs.get("documents")
    if not isinstance(documents, Sequence):
        return {}, {}
    listed = [document for document in documents if isinstance(document, Document)]
    return {"crag.documents.out": len(documents)}, {"gen_ai.retrieval.documents": shown(listed)}
