"""The `dpsync` command: finds subcommands without importing them, turns every ending into an exit code."""

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
from dpsync.cli.habits import check_habits, directory_behind
from dpsync.collector import collector_out_of_the_way
from dpsync.model.findings.diagnostic import Exit

COMMANDS = {
    "init": "Write the files of a new project; asks what is not named.",
    "plan": "Show what apply would change; writes nothing.",
    "rehearse": "Carry the plan out on a copy of what is live; writes nothing.",
    "apply": "Carry out the plan, and prove that it converged.",
    "revert": "Take back what an apply did; a plan like any other.",
    "history": "List the applies of this checkout; asks no platform.",
    "drift": "Show where the platform differs from the files; writes nothing.",
    "show": "Print a saved plan, or the report of an apply, in any format; asks no platform.",
    "graph": "Draw the organization, and what a plan changes; asks no platform.",
    "import": "Write the files of what is live on the platform.",
    "export": "Write a site's navigation as the platform's own file; asks no platform.",
    "ids": "Record the id of the live object of each entry.",
    "validate": "Check the files; asks no platform.",
    "fmt": "Put the white space of the files in order; asks no platform.",
    "list": "List every entry, with its place in the files and its object.",
    "config": "Print the effective configuration, and where each value is written.",
    "doctor": "Check the settings, the platform and the token; writes nothing.",
    "explain": "Say what a kind, a field or a code means.",
    "github": "Run a command in a workflow on GitHub, and report there.",
    "world": "Save what is live as a file that serve serves; writes nothing to the platform.",
    "serve": "Run the companion: the platform's API on this machine.",
    "completion": "Print the script by which a shell completes dpsync.",
    "version": "Print the version of dpsync; --json for programs.",
    "schema": "Print a JSON Schema, for editors and other tools.",
}

EXIT_CODES = """\b
Exit codes:
  0    done; a plan ends with 0 with or without changes
  1    failed; nothing was written
  2    changes or drift (drift, plan --detailed-exitcode,
       ids --check, fmt --check)
  3    partly done, blocked or not converged (apply, import)
  4    refused: by a guard, stale since the plan, or not confirmed
  5    the configuration is invalid
  64   wrong usage
  130  interrupted (143: terminated)

\b
Environment:
  DPSYNC_URL         the address of the platform, without /v1; default
                     https://api.gitbook.com
  DPSYNC_TOKEN       the access token, or
  DPSYNC_TOKEN_FILE  a file that holds it
  DPSYNC_TOKEN_NAMES further variables that an environment in the files may
                     use as its token
  DPSYNC_FILE        the same as --file
  DPSYNC_ENV         the same as --env
  DPSYNC_PROFILE     the same as --profile
  DPSYNC_DEBUG       show where an internal error comes from
  CI                 dpsync asks nobody; the git base is the commit before
  GITHUB_BASE_REF, GITHUB_EVENT_NAME, GITHUB_EVENT_PATH, GITHUB_REF,
  GITHUB_SHA         which commit that is, in a workflow on GitHub, and which
                     one decides where an environment is
  GITLAB_CI, CI_PIPELINE_SOURCE, CI_COMMIT_BEFORE_SHA,
  CI_MERGE_REQUEST_TARGET_BRANCH_NAME, CI_MERGE_REQUEST_TARGET_BRANCH_SHA,
  CI_MERGE_REQUEST_DIFF_BASE_SHA
                     the same in a pipeline on GitLab
  GITHUB_REPOSITORY, GITHUB_RUN_ID, GITHUB_RUN_ATTEMPT, GITHUB_ACTOR,
  GITHUB_API_URL, GITHUB_GRAPHQL_URL, GITHUB_SERVER_URL, GITHUB_OUTPUT,
  GITHUB_STEP_SUMMARY, GITHUB_WORKSPACE, RUNNER_TEMP
                     what dpsync github reads of its workflow
  GITHUB_ACTIONS, GITHUB_TOKEN
                     that doctor runs in a workflow, and the token whose
                     permissions it looks at
  NO_COLOR, TERM     no colour when NO_COLOR is set or TERM is dumb
  FORCE_HYPERLINK, TERM_PROGRAM, VTE_VERSION, WT_SESSION, KONSOLE_VERSION,
  KITTY_WINDOW_ID, DOMTERM
                     whether the terminal shows file:line as links (1 or 0)
  XDG_STATE_HOME     where the locks are, and the addresses that you trust
                     (default: ~/.local/state)
  PATH               where git is; a repository's own directory is left out
  HOME, XDG_CONFIG_HOME
                     where git's safe.directory of this user is
"""


class CommandGroup(click.Group):
    """Subcommands by name, imported when they are called: `--help` stays fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command = import_module(f"dpsync.cli.commands.{cmd_name}{'_' * iskeyword(cmd_name)}").command
        assert isinstance(command, click.Command)
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        """The commands by name: none is imported for that."""
        from click.shell_completion import CompletionItem

        if incomplete.startswith("-"):
            return click.Command.shell_complete(self, ctx, incomplete)
        return [
            CompletionItem(name, help=said) for name, said in COMMANDS.items() if name.startswith(incomplete)
        ]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        name, *_ = args
        if name not in COMMANDS and not name.startswith("-"):
            from dpsync.cli.habits import instead_of_command
            from dpsync.model.texts.suggestions import did_you_mean

            nearest = did_you_mean(name, COMMANDS)
            hint = instead_of_command(name) or (f'did you mean "{nearest}"?' if nearest else "")
            separator = ". " if hint[:1].isupper() else ": "
            ctx.fail(f'There is no command "{name}"{separator + hint if hint else ""}')
        return super().resolve_command(ctx, args)


@click.group(
    cls=CommandGroup,
    invoke_without_command=True,
    epilog=EXIT_CODES,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, "-V", "--version", prog_name="dpsync", message="%(prog)s %(version)s")
@click.pass_context
def root(context: click.Context) -> None:
    """A docs platform's organization as YAML in git: plan, apply, prove that it converged.

    Write files, look at `dpsync plan`, carry it out with `dpsync apply`. Start with `dpsync import`, or try
    dpsync without an account: `dpsync serve` runs the platform's API on your machine.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


_EXTRA = re.compile(r"Got unexpected extra arguments? \(.*\)", re.DOTALL)


def _seen(error: click.ClickException) -> click.ClickException:
    """The same with a message that hides nothing: it may hold an argument, or a name out of a file."""
    from dpsync.cli.terminal.usage import WrongUsage
    from dpsync.render.words.visible import visible

    if isinstance(error, WrongUsage):
        return error
    message = visible(error.format_message())
    if _EXTRA.fullmatch(message):
        message += ": name a file with -f FILE, and a directory with -C DIR"
    return (
        click.UsageError(message, error.ctx) if isinstance(error, click.UsageError) else type(error)(message)
    )


def _show(error: click.ClickException) -> None:
    with suppress(OSError):
        error.show()


def _take_every_character(stream: TextIOWrapper) -> None:
    """Let a stream write what its encoding lacks as an escape (`\\u2192`): no text ends a command.

    What a program or a file reads is UTF-8 with plain newlines on Windows, too, as it is elsewhere.
    """
    if sys.platform == "win32" and not stream.isatty() and "PYTHONIOENCODING" not in os.environ:
        stream.reconfigure(encoding="utf-8", newline="\n")
    if stream.errors == "strict":
        stream.reconfigure(errors="backslashreplace")


def main(arguments: list[str] | None = None, given: object = None) -> NoReturn:
    """The entry point. `given` is for the command, as in `run`."""
    # Any package that is installed may plug into pydantic, and then sees every value that is read. None may
    # here; and looking for them would take a sixth of a plan's start.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    # Else a quarter of a plan's time goes into looking through what it has made.
    with collector_out_of_the_way():
        code = run(arguments, given)
    sys.exit(code)


def run(arguments: list[str] | None = None, given: object = None) -> int:
    """Run a command and return its exit code. click's own code for wrong usage (2) means "changes" here, so
    it becomes 64. `given` is what a caller in this process hands to the command (`arguments/connection.py`).
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed: then what is said goes nowhere
            setattr(sys, name, StringIO())
        elif isinstance(stream, TextIOWrapper):
            _take_every_character(stream)
    try:
        arguments = directory_behind(sys.argv[1:] if arguments is None else arguments)
        check_habits(arguments)
        code = root.main(args=arguments, prog_name="dpsync", standalone_mode=False, obj=given)
    except click.UsageError as wrong:
        _show(_seen(wrong))
        return Exit.USAGE
    except click.ClickException as failed:
        _show(_seen(failed))
        return failed.exit_code
    except (click.Abort, KeyboardInterrupt) as stopped:
        from dpsync.cli.terminal.signals import Ended

        click.echo("Interrupted.", err=True)
        signal = stopped.__cause__ or stopped  # click makes an Abort of it
        return signal.code if isinstance(signal, Ended) else Exit.INTERRUPTED
    except OSError as failed:
        # The result of a command is put out elsewhere (output.py): this is a help text, or a schema.
        from dpsync.cli.terminal.output import Unwritten, silence

        silence()
        if isinstance(failed, BrokenPipeError):  # whoever reads it has seen enough
            return Exit.DONE
        _show(Unwritten(failed))
        return Exit.FAILED
    return code if isinstance(code, int) else Exit.DONE
