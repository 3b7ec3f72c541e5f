"""The `crag` command: `app` parses and calls, the others do one thing each; `errors` holds messages and exit codes."""

import os
import sys

_INTERRUPTED = 130


def main() -> None:
    """Run the command line; the entry point of the `crag` script."""
    _open_missing_streams()
    try:
        from haystack_integrations.crag.cli.app import main as run
    except KeyboardInterrupt:  # within the half second that this takes; later ones are told of by the app
        raise SystemExit(_INTERRUPTED) from None
    run()


def _open_missing_streams() -> None:
    """Give a process that was started without them (`>&-`, some daemons) streams that hold nothing and keep nothing."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))


__all__ = ["main"]
