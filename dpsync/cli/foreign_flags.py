"""What people type who know other tools, and what says the same here. Names and sentences only."""

from __future__ import annotations

import re
from typing import Final

import click

_DESTROY: Final = (
    'delete the entries from the files, add their lists of objects to "policy: prune", and apply the plan'
)
_DIFFERENCES: Final = "because an apply changes each object that differs from your files"
_FLAGS: Final = {
    "auto-approve": "use --yes",
    "backup": "you do not need this flag, because git keeps earlier versions of your files",
    "chdir": "use -C DIR",
    "compact-warnings": "use -q",
    "config": "use -f FILE",
    "destroy": _DESTROY,
    "dry-run": "use `dpsync plan`",
    "input": "use --no-input",
    "json": "use --format json",
    "lock": "you do not need this flag, because an apply locks its organization itself",
    "lock-timeout": "you do not need this flag, because an apply locks its organization itself",
    "no-color": "use --color never",
    "refresh": "you do not need this flag, because every command reads GitBook",
    "refresh-only": "use `dpsync drift`",
    "replace": f"you do not need this flag, {_DIFFERENCES}",
    "state": "use --ids FILE. dpsync has no state file, and the ids file contains the ids of objects",
    "target": "use --select ADDRESS",
    "var": "use an environment variable, and write ${NAME} in the files",
    "var-file": "use -f FILE for an overlay (a file that replaces values), or --env NAME",
    "workspace": "use --env NAME",
}
"""Flags of other tools, without their dashes."""
_OURS: Final = {
    "out": "use -o FILE",
    "parallelism": "use --parallelism N",
    "detailed-exitcode": "use --detailed-exitcode",
}
"""Flags that are written with two dashes here: with one they would be read as several short ones."""
_COMMANDS: Final = {
    "deploy": "use `dpsync apply`",
    "destroy": _DESTROY,
    "diff": "use `dpsync plan`",
    "force-unlock": "you do not need this command, because a lock ends together with its dpsync process",
    "login": "set the token in DPSYNC_TOKEN, or name a token file in DPSYNC_TOKEN_FILE",
    "output": "use `dpsync plan --format json`",
    "preview": "use `dpsync plan`",
    "pull": "use `dpsync import`",
    "push": "use `dpsync apply`",
    "refresh": "use `dpsync drift`",
    "rollback": "Did you mean `dpsync revert`?",
    "state": "use `dpsync ids`",
    "sync": "use `dpsync apply`",
    "taint": f"you do not need this command, {_DIFFERENCES}",
    "test": "use `dpsync validate`",
    "undo": "Did you mean `dpsync revert`?",
    "up": "use `dpsync apply`",
    "workspace": "use --env NAME",
}
"""Commands of other tools."""
_FLAG: Final = re.compile(r"(--?)([a-z][a-z-]+)(?:=.*)?", re.DOTALL)
_DIRECTORY: Final = re.compile(r"(?:-C|--directory)(=.*|(?<=-C).+)?", re.DOTALL)
"""`-C`, `--directory`, and either with its value."""


def instead_of_command(name: str) -> str:
    """What to use instead of a command of another tool; empty where nobody knows."""
    return _COMMANDS.get(name, "")


def directory_behind(arguments: list[str]) -> list[str]:
    """The arguments with a `-C DIR` that stands before the command, as git and make have it, behind that.

    Raises UsageError where the command has one of its own: only one directory can be meant.
    """
    moved: list[str] = []
    rest = [*arguments]
    while rest and (found := _DIRECTORY.fullmatch(rest[0])):
        moved += [rest.pop(0)]
        if not found[1] and rest:
            moved.append(rest.pop(0))
    if not moved or not rest:
        return arguments
    if any(_DIRECTORY.fullmatch(one) for one in rest):
        raise click.UsageError("-C appears twice, before and after the command. Use it once")
    return [rest[0], *moved, *rest[1:]]


def check_habits(arguments: list[str]) -> None:
    """Raises UsageError for a flag of another tool.

    Without this, `-out=FILE` would be `-o` with the file "ut=FILE".
    """
    for argument in arguments:
        if argument == "--":
            return
        flag = _FLAG.fullmatch(argument)
        if flag is None or (argument == "--json" and arguments[0] == "version"):
            continue
        use = _FLAGS.get(flag[2]) or (_OURS.get(flag[2]) if flag[1] == "-" else None)
        if use is not None:
            raise click.UsageError(f"There is no flag {flag[1]}{flag[2]}: {use}")
