"""Run the `dpsync` command: find subcommands without importing them, and return an exit code at every end."""

from __future__ import annotations

import os
import re
import sys
from contextlib import suppress
from importlib import import_module
from io import StringIO, TextIOWrapper
from keyword import iskeyword
from typing import Any, NoReturn

import click

from dpsync import __version__
from dpsync.cli.foreign_flags import check_foreign_flags, move_directory_flag
from dpsync.collector import collector_paused_then_frozen
from dpsync.model.diagnostic import Exit

GROUPS = {
    "Start": {
        "init": "Write the files of a new project",
        "import": "Write your GitBook organization into files",
        "export": "Write a site's navigation file for GitBook's Git Sync",
        "completion": "Print the script that completes dpsync commands in your shell",
    },
    "Every day": {
        "plan": "Show what apply would change",
        "rehearse": "Try the plan on a copy of your organization",
        "apply": "Apply the plan, and verify the result",
        "drift": "Show where GitBook differs from your files",
        "validate": "Check the files without a connection to GitBook",
        "fmt": "Format the white space in the files",
        "list": "List every entry with its line and its GitBook object",
        "show": "Print a saved plan or the report of an apply, in any format",
        "graph": "Draw the organization, or the changes of a plan",
    },
    "When something is wrong": {
        "doctor": "Check the settings, the connection and the token",
        "explain": "Explain an object type, a field or an error code",
        "revert": "Undo the changes of an apply",
        "history": "List the past runs of dpsync apply in this checkout",
        "ids": "Record the id of the GitBook object of each entry",
        "config": "Print the configuration with the file and line of each value",
    },
    "In CI": {
        "github": "Run dpsync in a GitHub workflow, and report on GitHub",
        "schema": "Print a JSON Schema of the files or of an output",
    },
    "Local server": {
        "serve": "Run a local server that imitates GitBook's API",
        "world": "Save a copy of your organization for dpsync serve",
    },
    "Help": {
        "help": "Explain a command, the environment variables or the exit codes",
        "version": "Print the version of dpsync",
    },
}
"""The commands by the situation in which people need them, each with its summary."""

COMMANDS = {name: summary for group in GROUPS.values() for name, summary in group.items()}


class CommandGroup(click.Group):
    """A group that imports a subcommand only when it is called, so that `--help` stays fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the module of a command, and return the command; None for an unknown name."""
        del ctx
        if cmd_name not in COMMANDS:
            return None
        command = import_module(f"dpsync.cli.commands.{cmd_name}{'_' * iskeyword(cmd_name)}").command
        assert isinstance(command, click.Command)
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        """Return the names of commands that begin with the typed text, without importing the commands."""
        from click.shell_completion import CompletionItem

        if incomplete.startswith("-"):
            return click.Command.shell_complete(self, ctx, incomplete)
        return [
            CompletionItem(name, help=summary)
            for name, summary in COMMANDS.items()
            if name.startswith(incomplete)
        ]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands in groups into the help text."""
        del ctx
        width = max(map(len, COMMANDS))
        for title, commands in GROUPS.items():
            with formatter.section(title):
                # The width of the first column is the same in every group.
                formatter.write_dl([(name.ljust(width), summary) for name, summary in commands.items()])

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Return the command for the arguments. Fail with a suggestion if the name is unknown."""
        name, *_ = args
        if name not in COMMANDS and not name.startswith("-"):
            from dpsync.cli.foreign_flags import suggest_for_command
            from dpsync.model.text import did_you_mean

            nearest = did_you_mean(name, COMMANDS)
            hint = suggest_for_command(name) or (f'did you mean "{nearest}"?' if nearest else "")
            separator = ". " if hint[:1].isupper() else ": "
            ctx.fail(f'There is no command "{name}"{separator + hint if hint else ""}')
        return super().resolve_command(ctx, args)


@click.group(
    cls=CommandGroup,
    invoke_without_command=True,
    subcommand_metavar="COMMAND [ARGS]...",
    options_metavar="",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, "-V", "--version", prog_name="dpsync", message="%(prog)s %(version)s")
@click.pass_context
def root(context: click.Context) -> None:
    """Manage a GitBook organization as YAML files in git."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


_EXTRA_ARGUMENTS = re.compile(r"Got unexpected extra arguments? \(.*\)", re.DOTALL)


def _with_visible_message(error: click.ClickException) -> click.ClickException:
    """Return a click error whose message has visible control characters.

    Such a message may contain arguments or file names. Errors of dpsync itself (`WrongUsage`) are already
    safe.
    """
    from dpsync.cli.usage import WrongUsage
    from dpsync.render.visible import visible

    if isinstance(error, WrongUsage):
        return error
    message = visible(error.format_message())
    if _EXTRA_ARGUMENTS.fullmatch(message):
        message += ". To choose a file, use -f FILE. To choose a directory, use -C DIR"
    return (
        click.UsageError(message, error.ctx) if isinstance(error, click.UsageError) else type(error)(message)
    )


def _show_error(error: click.ClickException) -> None:
    """Print a click error on stderr, unless stderr is closed."""
    with suppress(OSError):
        error.show()


def _escape_unencodable(stream: TextIOWrapper) -> None:
    r"""Make a stream write characters outside of its encoding as escapes (`\\u2192`), without an error.

    On Windows, what a program or a file reads is UTF-8 with plain newlines, as elsewhere.
    """
    if sys.platform == "win32" and not stream.isatty() and "PYTHONIOENCODING" not in os.environ:
        stream.reconfigure(encoding="utf-8", newline="\n")
    if stream.errors == "strict":
        stream.reconfigure(errors="backslashreplace")


def main(arguments: list[str] | None = None, context_object: object = None) -> NoReturn:
    """Run the command line and exit. `context_object` is an object for the command, as in `run`."""
    # Any package that is installed may plug into pydantic, and then sees every value that is read. None may
    # here; and looking for them would take a sixth of a plan's start.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    # Else a quarter of a plan's time goes into looking through what it has made.
    with collector_paused_then_frozen():
        code = run(arguments, context_object)
    sys.exit(code)


def run(arguments: list[str] | None = None, context_object: object = None) -> int:
    """Run a command and return its exit code.

    Wrong usage has the exit code 64 instead of click's 2, which means "changes" here.

    Args:
        arguments: The command line without the program name; None for that of this process.
        context_object: An object for the command, such as `InjectedCredentials` from the GitHub Action.
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed: then what is said goes nowhere
            setattr(sys, name, StringIO())
        elif isinstance(stream, TextIOWrapper):
            _escape_unencodable(stream)
    try:
        arguments = move_directory_flag(sys.argv[1:] if arguments is None else arguments)
        check_foreign_flags(arguments)
        code = root.main(args=arguments, prog_name="dpsync", standalone_mode=False, obj=context_object)
    except click.UsageError as error:
        _show_error(_with_visible_message(error))
        return Exit.USAGE
    except click.ClickException as error:
        _show_error(_with_visible_message(error))
        return error.exit_code
    except (click.Abort, KeyboardInterrupt) as interrupt:
        from dpsync.cli.signals import EndedBySignal

        click.echo("Interrupted.", err=True)
        signal = interrupt.__cause__ or interrupt  # click makes an Abort of it
        return signal.code if isinstance(signal, EndedBySignal) else Exit.INTERRUPTED
    except OSError as error:
        # The result of a command is put out elsewhere (output.py): this is a help text, or a schema.
        from dpsync.cli.output import OutputNotWrittenError, redirect_stdout_to_null

        redirect_stdout_to_null()
        if isinstance(error, BrokenPipeError):  # whoever reads it has seen enough
            return Exit.DONE
        _show_error(OutputNotWrittenError(error))
        return Exit.FAILED
    return code if isinstance(code, int) else Exit.DONE
