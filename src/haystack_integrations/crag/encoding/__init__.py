"""Embedding models by their folder: the shipped static one, and sentence transformers."""
