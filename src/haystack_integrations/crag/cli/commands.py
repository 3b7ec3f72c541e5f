"""What all commands of `crag` have in common: exit codes below the help, and one message for whatever goes wrong."""

import traceback
from typing import Any, Final

import typer
from typer.core import TyperGroup

from haystack_integrations.crag.cli.errors import MEANINGS, explain, interrupted
from haystack_integrations.crag.cli.output import complain

_CODES: Final = "\n".join(f" {code.value}  {meaning}" for code, meaning in MEANINGS.items())


class Commands(TyperGroup):
    """Turns every error into one message and an exit code; a traceback only with `--debug`."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """
        Show the help, and the exit codes one below the other: typer before 0.28 makes one paragraph of an epilog.

        :param ctx: The context of the command line.
        :param formatter: Where click collects a help without colours.
        """
        super().format_help(ctx, formatter)
        typer.echo(f"\n {typer.style('Exit codes', bold=True)}\n{_CODES}\n")

    def invoke(self, ctx: Any) -> Any:
        """
        Run the command.

        :param ctx: The context of the command line.
        :returns: What the command returns.
        """
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            complain(interrupted(ctx.invoked_subcommand))
            raise typer.Exit(130) from None
        except (typer.Exit, typer.Abort, BrokenPipeError):
            raise
        except Exception as error:
            if hasattr(error, "exit_code"):  # a wrong option: shown with the usage
                raise
            if ctx.params.get("debug"):
                traceback.print_exc()
            message, code = explain(error)
            complain(message)
            raise typer.Exit(code) from None
