"""Load shipped pipelines on your own store and models, as one retriever if you like, and index documents."""

from haystack_integrations.crag.pipelines.corrective_retriever import CorrectiveRetriever
from haystack_integrations.crag.pipelines.loader import export, load, names

__all__ = ["CorrectiveRetriever", "export", "load", "names"]
