"""Define `dpsync help`: print the help of a command, the environment variables or the exit codes."""

from __future__ import annotations

from typing import Final

import click

from dpsync.cli.help_pages import HelpCommand
from dpsync.cli.main import COMMANDS

ENVIRONMENT: Final = """\
Environment variables

Example:
  export DPSYNC_URL=https://api.gitbook.com
  export DPSYNC_TOKEN_FILE=~/.config/dpsync/token
  dpsync plan

URL and token:
  DPSYNC_URL          The URL of GitBook's API or of another server, without
                      /v1. [default: https://api.gitbook.com]
  DPSYNC_TOKEN        The access token. dpsync has no flag for the token,
                      because other users of the machine can read flags.
  DPSYNC_TOKEN_FILE   The path of a file that contains only the access token.
  DPSYNC_TOKEN_NAMES  The names of additional variables that an environment
                      can use as its token, separated by commas or spaces.

Defaults of flags (the flag overrides the variable):
  DPSYNC_FILE         The default of --file.
  DPSYNC_ENV          The default of --env.
  DPSYNC_PROFILE      The default of --profile.

Output:
  NO_COLOR            If this variable is set, the output has no color.
  TERM                If the value is "dumb", the output has no color.
  FORCE_HYPERLINK     If the value is 1, dpsync prints file:line as a link. If
                      the value is 0, dpsync prints file:line as plain text.
                      Otherwise, dpsync recognizes terminals that support links
                      by TERM_PROGRAM, VTE_VERSION, WT_SESSION,
                      KONSOLE_VERSION, KITTY_WINDOW_ID and DOMTERM.
  DPSYNC_DEBUG        If this variable is set, an internal error prints its
                      traceback.

This machine:
  XDG_STATE_HOME      The directory in which dpsync keeps locks and the URLs
                      that you trust. [default: ~/.local/state]
  PATH                The directories in which dpsync looks for git. dpsync
                      skips directories inside the repository.
  HOME, XDG_CONFIG_HOME
                      The directories with your git settings, in which dpsync
                      looks for safe.directory.

Set by CI systems:
  CI                  If this variable is set, dpsync asks no questions, and
                      compares your files with the previous commit.
  GITHUB_BASE_REF, GITHUB_EVENT_NAME, GITHUB_EVENT_PATH, GITHUB_REF, GITHUB_SHA
                      In a GitHub workflow, dpsync uses these variables to
                      find the commit with which dpsync compares your files,
                      and the commit that contains the trusted URL of an
                      environment.
  GITLAB_CI, CI_PIPELINE_SOURCE, CI_COMMIT_BEFORE_SHA,
  CI_MERGE_REQUEST_TARGET_BRANCH_NAME, CI_MERGE_REQUEST_TARGET_BRANCH_SHA,
  CI_MERGE_REQUEST_DIFF_BASE_SHA
                      In a GitLab pipeline, dpsync uses these variables to
                      find the commit with which dpsync compares your files,
                      and the commit that contains the trusted URL of an
                      environment.
  GITHUB_REPOSITORY, GITHUB_RUN_ID, GITHUB_RUN_ATTEMPT, GITHUB_ACTOR,
  GITHUB_API_URL, GITHUB_GRAPHQL_URL, GITHUB_SERVER_URL, GITHUB_OUTPUT,
  GITHUB_STEP_SUMMARY, GITHUB_WORKSPACE, RUNNER_TEMP
                      dpsync github uses these variables to identify the
                      workflow run and to write the results.
  GITHUB_ACTIONS, GITHUB_TOKEN
                      In a GitHub workflow, dpsync doctor checks the
                      permissions of the token in GITHUB_TOKEN."""

EXIT_CODES: Final = """\
Exit codes

Example:
  dpsync drift; echo $?

Codes:
  0    The command succeeded. plan exits with 0 with and without changes.
  1    The command failed, and wrote nothing.
  2    The command found changes or drift (drift, plan --detailed-exitcode,
       ids --check, fmt --check).
  3    The command did only a part of its work (apply, revert, import).
  4    dpsync refused the plan: a limit or protection forbids the plan, the
       plan is out of date, or a question has no answer.
  5    The configuration is invalid.
  64   The command line is wrong.
  130  You interrupted the command.
  143  Another program ended the command."""

TOPICS: Final = {"environment": ENVIRONMENT, "exit-codes": EXIT_CODES}


def _complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the commands and topics that begin with the typed text."""
    del context, parameter
    return [name for name in (*COMMANDS, *TOPICS) if name.startswith(incomplete)]


@click.command(
    "help",
    cls=HelpCommand,
    examples="""
        dpsync help
        dpsync help plan
        dpsync help environment
        dpsync help exit-codes
    """,
)
@click.argument("topic", required=False, metavar="[COMMAND | TOPIC]", shell_complete=_complete)
@click.pass_context
def command(context: click.Context, topic: str | None) -> None:
    """Explain a command, the environment variables or the exit codes.

    dpsync help COMMAND prints the same text as dpsync COMMAND --help. TOPIC is environment or exit-codes.
    Without an argument, dpsync lists all commands.
    """
    root_context = context.find_root()
    assert isinstance(root_context.command, click.Group)
    if topic is None:
        click.echo(root_context.get_help())
    elif topic in TOPICS:
        click.echo(TOPICS[topic])
    elif (subcommand := root_context.command.get_command(root_context, topic)) is not None:
        with click.Context(subcommand, root_context, topic, **subcommand.context_settings) as command_context:
            click.echo(command_context.get_help())
    else:
        from dpsync.model.text import did_you_mean
        from dpsync.model.text import format_command as printed

        nearest = did_you_mean(topic, [*COMMANDS, *TOPICS])
        hint = f'Did you mean "{nearest}"?' if nearest else f"{printed('help')} lists all commands"
        raise click.UsageError(f'dpsync has no command or help topic "{topic}". {hint}')
