"""Serving: the shipped pipelines over HTTP, on Hayhooks. Only `crag serve` imports it."""
