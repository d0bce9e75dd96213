"""`dpsync help`: the help of a command, the environment variables and the exit codes."""

from __future__ import annotations

from typing import Final

import click

from dpsync.cli.main import COMMANDS
from dpsync.cli.terminal.help import HelpCommand

ENVIRONMENT: Final = """\
Environment variables

Example:
  export DPSYNC_URL=https://api.gitbook.com
  export DPSYNC_TOKEN_FILE=~/.config/dpsync/token
  dpsync plan

Platform and token:
  DPSYNC_URL          The address of the platform, without /v1.
                      [default: https://api.gitbook.com]
  DPSYNC_TOKEN        The access token. No flag takes a token, because other
                      users of the machine can read flags.
  DPSYNC_TOKEN_FILE   A file that contains the access token and nothing else.
  DPSYNC_TOKEN_NAMES  Names of more variables that an environment in the files
                      may use as its token, separated by commas or spaces.

Defaults of flags (the flag wins):
  DPSYNC_FILE         --file
  DPSYNC_ENV          --env
  DPSYNC_PROFILE      --profile

Output:
  NO_COLOR            If this is set, the output has no color.
  TERM                If this is "dumb", the output has no color.
  FORCE_HYPERLINK     1: file:line is a link in the terminal; 0: it is not.
                      Otherwise, TERM_PROGRAM, VTE_VERSION, WT_SESSION,
                      KONSOLE_VERSION, KITTY_WINDOW_ID and DOMTERM decide.
  DPSYNC_DEBUG        If this is set, an internal error prints its traceback.

This machine:
  XDG_STATE_HOME      Where dpsync keeps its locks and the addresses that you
                      trust. [default: ~/.local/state]
  PATH                Where dpsync finds git. dpsync skips the directories of
                      the repository.
  HOME, XDG_CONFIG_HOME
                      Where dpsync finds git's safe.directory of this user.

Set by CI systems:
  CI                  If this is set, dpsync asks no questions, and the git
                      base is the previous commit.
  GITHUB_BASE_REF, GITHUB_EVENT_NAME, GITHUB_EVENT_PATH, GITHUB_REF, GITHUB_SHA
                      In a GitHub workflow: the git base, and the commit that
                      decides the address of an environment.
  GITLAB_CI, CI_PIPELINE_SOURCE, CI_COMMIT_BEFORE_SHA,
  CI_MERGE_REQUEST_TARGET_BRANCH_NAME, CI_MERGE_REQUEST_TARGET_BRANCH_SHA,
  CI_MERGE_REQUEST_DIFF_BASE_SHA
                      The same in a GitLab pipeline.
  GITHUB_REPOSITORY, GITHUB_RUN_ID, GITHUB_RUN_ATTEMPT, GITHUB_ACTOR,
  GITHUB_API_URL, GITHUB_GRAPHQL_URL, GITHUB_SERVER_URL, GITHUB_OUTPUT,
  GITHUB_STEP_SUMMARY, GITHUB_WORKSPACE, RUNNER_TEMP
                      What dpsync github needs to know about the workflow run.
  GITHUB_ACTIONS, GITHUB_TOKEN
                      In a GitHub workflow, dpsync doctor checks the
                      permissions of this token."""

EXIT_CODES: Final = """\
Exit codes

Example:
  dpsync drift || test $? -eq 2 && echo "compared"

Codes:
  0    Done. A plan ends with 0 with or without changes.
  1    Failed; nothing was written.
  2    There are changes or drift (drift, plan --detailed-exitcode,
       ids --check, fmt --check).
  3    Partly done, blocked or not converged (apply, import).
  4    Refused: by a limit or protection, because the plan is not
       up to date, or because a question has no answer.
  5    The configuration is invalid.
  64   Wrong usage of the command line.
  130  Interrupted (143: terminated)."""

TOPICS: Final = {"environment": ENVIRONMENT, "exit-codes": EXIT_CODES}


def _complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
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
    whole = context.find_root()
    assert isinstance(whole.command, click.Group)
    if topic is None:
        click.echo(whole.get_help())
    elif topic in TOPICS:
        click.echo(TOPICS[topic])
    elif (found := whole.command.get_command(whole, topic)) is not None:
        with click.Context(found, whole, topic, **found.context_settings) as explained:
            click.echo(explained.get_help())
    else:
        from dpsync.model.texts.command import command as printed
        from dpsync.model.texts.suggestions import did_you_mean

        nearest = did_you_mean(topic, [*COMMANDS, *TOPICS])
        hint = f'did you mean "{nearest}"?' if nearest else f"{printed('help')} lists all commands"
        raise click.UsageError(f'There is no command or help topic "{topic}": {hint}')
