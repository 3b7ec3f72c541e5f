"""Load shipped pipelines on your own store and models, and index documents."""

from haystack_integrations.crag.pipelines.loader import export, load, names

__all__ = ["export", "load", "names"]
