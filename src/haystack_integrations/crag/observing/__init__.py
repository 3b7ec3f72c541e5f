"""Spans and figures: what operators see, and what must not leave. No text of a user."""
