"""The `crag` command: `app` parses and calls, the others do one thing each; `errors` holds messages and exit codes."""

_INTERRUPTED = 130


def main() -> None:
    """Run the command line; the entry point of the `crag` script."""
    try:
        from haystack_integrations.crag.cli.app import main as run
    except KeyboardInterrupt:  # within the half second that this takes; later ones are told of by the app
        raise SystemExit(_INTERRUPTED) from None
    run()


__all__ = ["main"]
