"""The `crag` command: `app` parses and calls, the others do one thing each; `errors` holds messages and exit codes."""

from haystack_integrations.crag.cli.app import main

__all__ = ["main"]
