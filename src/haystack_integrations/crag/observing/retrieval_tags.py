"""Numbers about a retriever's run, read from what Haystack shows a tracer; any retriever, ours or another's."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from haystack import Document

from haystack_integrations.crag.observing.telemetry import shown

COMPONENT: Final = "haystack.component.type"


def is_retriever(tags: Mapping[str, Any]) -> bool:
    """
    Tell whether a span is a retriever's run, by the name of its class, as Haystack's retrievers are called.

    :param tags: The first tags of the span.
    :returns: The answer.
    """
    return str(tags.get(COMPONENT, "")).endswith("Retriever")


def input_tags(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """
    Say what a retriever was asked for.

    :param inputs: Its inputs.
    :returns: What kind of run it is, and how many documents are wanted, where the run says so.
    """
    top_k = inputs.get("top_k")
    numbers = {"gen_ai.request.top_k": top_k if isinstance(top_k, int) else None}
    return {"openinference.span.kind": "RETRIEVER", "gen_ai.operation.name": "retrieval", **numbers}


def output_tags(outputs: Mapping[str, Any]) -> dict[str, Any]:
    """
    Say how much a retriever found.

    :param outputs: Its outputs.
    :returns: How many documents.
    """
    documents = outputs.get("documents")
    return {"crag.documents.out": len(documents)} if isinstance(documents, Sequence) else {}


def content_of(values: Mapping[str, Any]) -> dict[str, Any]:
    """
    Give what of a retriever's inputs or outputs is content, for those who trace it.

    :param values: Its inputs, or its outputs.
    :returns: The query, or the documents.
    """
    query, documents = values.get("query"), values.get("documents")
    found: dict[str, Any] = {"gen_ai.retrieval.query.text": query} if isinstance(query, str) else {}
    if isinstance(documents, Sequence):
        found["gen_ai.retrieval.documents"] = shown(one for one in documents if isinstance(one, Document))
    return found
