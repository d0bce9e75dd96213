"""Suggest dpsync's flags and commands to people who type those of other tools, such as Terraform."""

from __future__ import annotations

import re
from typing import Final

import click

_DESTROY_HINT: Final = (
    'delete the entries from the files, add their lists of objects to "policy: prune", and apply the plan'
)
_REPLACE_HINT: Final = "because an apply changes each object that differs from your files"
_FLAGS: Final = {
    "auto-approve": "use --yes",
    "backup": "you do not need this flag, because git keeps earlier versions of your files",
    "chdir": "use -C DIR",
    "compact-warnings": "use -q",
    "config": "use -f FILE",
    "destroy": _DESTROY_HINT,
    "dry-run": "use `dpsync plan`",
    "input": "use --no-input",
    "json": "use --format json",
    "lock": "you do not need this flag, because an apply locks its organization itself",
    "lock-timeout": "you do not need this flag, because an apply locks its organization itself",
    "no-color": "use --color never",
    "refresh": "you do not need this flag, because every command reads GitBook",
    "refresh-only": "use `dpsync drift`",
    "replace": f"you do not need this flag, {_REPLACE_HINT}",
    "state": "use --ids FILE. dpsync has no state file, and the ids file contains the ids of objects",
    "target": "use --select ADDRESS",
    "var": "use an environment variable, and write ${NAME} in the files",
    "var-file": "use -f FILE for an overlay (a file that replaces values), or --env NAME",
    "workspace": "use --env NAME",
}
"""Flags of other tools, without their dashes."""
_LONG_FLAGS: Final = {
    "out": "use -o FILE",
    "parallelism": "use --parallelism N",
    "detailed-exitcode": "use --detailed-exitcode",
}
"""Flags that need two dashes. With one dash, click reads several short flags."""
_COMMANDS: Final = {
    "deploy": "use `dpsync apply`",
    "destroy": _DESTROY_HINT,
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
    "taint": f"you do not need this command, {_REPLACE_HINT}",
    "test": "use `dpsync validate`",
    "undo": "Did you mean `dpsync revert`?",
    "up": "use `dpsync apply`",
    "workspace": "use --env NAME",
}
"""Commands of other tools."""
_FLAG: Final = re.compile(r"(--?)([a-z][a-z-]+)(?:=.*)?", re.DOTALL)
_DIRECTORY: Final = re.compile(r"(?:-C|--directory)(=.*|(?<=-C).+)?", re.DOTALL)
"""`-C`, `--directory`, and either with its value."""


def suggest_for_command(name: str) -> str:
    """Return what to use in place of a command of another tool, such as `destroy`; "" if it is unknown."""
    return _COMMANDS.get(name, "")


def move_directory_flag(arguments: list[str]) -> list[str]:
    """Move a `-C DIR` that precedes the command, as in git and make, behind the command.

    Raises UsageError if the command has a `-C`, too.
    """
    directory_flags: list[str] = []
    others = [*arguments]
    while others and (match := _DIRECTORY.fullmatch(others[0])):
        directory_flags += [others.pop(0)]
        if not match[1] and others:
            directory_flags.append(others.pop(0))
    if not directory_flags or not others:
        return arguments
    if any(_DIRECTORY.fullmatch(argument) for argument in others):
        raise click.UsageError("-C appears twice, before and after the command. Use it once")
    return [others[0], *directory_flags, *others[1:]]


def check_foreign_flags(arguments: list[str]) -> None:
    """Raise UsageError for a flag of another tool, such as `-out=FILE` of Terraform.

    Without this check, click would read `-out=FILE` as `-o` with the file "ut=FILE".
    """
    for argument in arguments:
        if argument == "--":
            return
        flag = _FLAG.fullmatch(argument)
        if flag is None or (argument == "--json" and arguments[0] == "version"):
            continue
        suggestion = _FLAGS.get(flag[2]) or (_LONG_FLAGS.get(flag[2]) if flag[1] == "-" else None)
        if suggestion is not None:
            raise click.UsageError(f"There is no flag {flag[1]}{flag[2]}: {suggestion}")
