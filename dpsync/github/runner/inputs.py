"""The inputs of the action, as one JSON object: every one is a text, checked here."""

from __future__ import annotations

import re
from collections.abc import Mapping
from posixpath import normpath
from typing import Any, Final, Literal, cast, get_args

from msgspec import Struct
from pydantic_core import from_json

from dpsync.github.runner.place import make_key
from dpsync.model.text import did_you_mean

Command = Literal["plan", "apply", "drift", "validate"]
When = Literal["always", "changes", "never"]
FailOn = Literal["error", "changes"]
IdsFile = Literal["none", "commit", "pull-request"]
NAMES: Final = (
    "command", "config", "working-directory", "environment", "profile", "select", "api-token", "api-url",
    "github-token", "comment", "summary", "annotations", "drift-issue", "issue-labels", "approval",
    "branches", "rehearse", "ids-file", "ids-token", "fail-on", "confirm", "extra-args",
)  # fmt: skip
_DIGEST: Final = re.compile(r"[0-9a-f]{32,64}")
_OURS: Final = ("--format", "--out", "-o", "--approved", "--yes", "--detailed-exitcode", "-q", "--quiet")
"""What the action itself says."""


class WrongInput(Exception):
    """An input that the action does not have, or a value that it does not take. The message is for people."""


class Inputs(Struct, frozen=True):
    """What a workflow asks for. The tokens are in no repr."""

    command: Command = "plan"
    config: tuple[str, ...] = ()
    directory: str = "."
    environment: str = ""
    profile: str = ""
    select: tuple[str, ...] = ()
    token: str = ""
    url: str = ""
    github_token: str = ""
    comment: When = "always"
    summary: bool = True
    annotations: bool = True
    drift_issue: bool = True
    labels: tuple[str, ...] = ()
    approval: str = "digest"
    """digest: what the pull request shows. none: whatever is planned. Else the digest itself."""
    branches: tuple[str, ...] = ()
    """Those whose last commit may be applied; empty: the default one."""
    rehearse: bool = False
    """Whether plans and applies are rehearsed first."""
    ids_file: IdsFile = "none"
    """How the lines that an apply has learned come to its branch."""
    ids_token: str = ""
    """Whose they are then; "": that of `github_token`."""
    fail_on: FailOn = "error"
    confirm: tuple[str, ...] = ()
    """Answers to what a plan asks, as --confirm takes them."""
    arguments: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"Inputs({self.command!r}, {self.config!r})"

    @property
    def key(self) -> str:
        """Return a key for this configuration that is the same in every run, platform and organization.

        The key contains normalized paths, so that an approval of a plan for `./docs/` also counts for `docs`.
        """
        config = "\n".join(map(normpath, self.config))
        return make_key(normpath(self.directory), config, self.environment, "\n".join(sorted(self.select)))

    @property
    def name(self) -> tuple[str, ...]:
        """What tells this configuration from others, for people; empty for the only one."""
        directory = "" if (shortest := normpath(self.directory)) == "." else shortest
        config = map(normpath, self.config)
        return tuple(filter(None, (directory, *config, self.environment, *self.select)))

    def command_line(self, command: str) -> list[str]:
        """A command of dpsync, and what these inputs say about it."""
        words = [command, "--directory", self.directory]
        words += [part for name in self.config for part in ("--file", name)]
        words += ["--env", self.environment] if self.environment else []
        words += ["--profile", self.profile] if self.profile else []
        if command == "validate":
            return [*words, "--changes"]
        words += [part for pattern in self.select for part in ("--select", pattern)]
        if command in ("plan", "apply"):
            words += ["--rehearse"] if self.rehearse else []
            words += [part for answer in self.confirm for part in ("--confirm", answer)]
        return [*words, *self.arguments]


def read_inputs(text: str) -> Inputs:
    """The inputs in a JSON object. Raises WrongInput."""
    try:
        given = from_json(text)
    except ValueError:
        raise WrongInput("Standard input must be a JSON object with the inputs of the action.") from None
    if not isinstance(given, dict):
        raise WrongInput("Standard input must be a JSON object with the inputs of the action.")
    for name, value in given.items():
        if name not in NAMES:
            nearest = did_you_mean(name, NAMES)
            hint = f' Did you mean "{nearest}"?' if nearest else ""
            raise WrongInput(f'The action has no input "{name}".{hint}')
        if not isinstance(value, str):
            raise WrongInput(f'The value of the input "{name}" must be a string.')
    texts: Mapping[str, str] = given
    approval = _one(texts, "approval") or "digest"
    if approval not in ("digest", "none") and not _DIGEST.fullmatch(approval):
        raise WrongInput(
            'The input "approval" must be "digest", "none", or the first 32 or more digits of a plan digest.'
        )
    arguments = _lines(texts, "extra-args")
    for argument in arguments:
        if argument.partition("=")[0] in _OURS:
            raise WrongInput(
                f'The input "extra-args" must not contain {argument}, because the action sets this flag.'
            )
    return Inputs(
        command=cast(Command, _among(texts, "command", Command)),
        config=_lines(texts, "config"),
        directory=_one(texts, "working-directory") or ".",
        environment=_one(texts, "environment"),
        profile=_one(texts, "profile"),
        select=_lines(texts, "select"),
        token=texts.get("api-token", "").strip(),
        url=_one(texts, "api-url"),
        github_token=texts.get("github-token", "").strip(),
        comment=cast(When, _among(texts, "comment", When)),
        summary=_truth(texts, "summary"),
        annotations=_truth(texts, "annotations"),
        drift_issue=_truth(texts, "drift-issue"),
        labels=_lines(texts, "issue-labels"),
        approval=approval,
        branches=_lines(texts, "branches"),
        rehearse=_truth(texts, "rehearse", otherwise="false"),
        ids_file=cast(IdsFile, _among(texts, "ids-file", IdsFile)),
        ids_token=texts.get("ids-token", "").strip(),
        fail_on=cast(FailOn, _among(texts, "fail-on", FailOn)),
        confirm=_lines(texts, "confirm"),
        arguments=arguments,
    )


def _one(texts: Mapping[str, str], name: str) -> str:
    value = texts.get(name, "").strip()
    if "\n" in value or "\0" in value:
        raise WrongInput(f'The input "{name}" must not have more than one line.')
    return value


def _lines(texts: Mapping[str, str], name: str) -> tuple[str, ...]:
    """One to a line: nothing is ever split at a space."""
    if "\0" in texts.get(name, ""):
        raise WrongInput(f'The input "{name}" must not contain a null character.')
    return tuple(line.strip() for line in texts.get(name, "").splitlines() if line.strip())


def _among(texts: Mapping[str, str], name: str, of: Any) -> str:
    known = get_args(of)
    value = _one(texts, name) or known[0]
    if value not in known:
        nearest = did_you_mean(value, known)
        raise WrongInput(
            f'The input "{name}" must not be "{value}". '
            + (
                f'Did you mean "{nearest}"?'
                if nearest
                else f"Choose one of these values: {', '.join(known)}."
            )
        )
    return str(value)


def _truth(texts: Mapping[str, str], name: str, otherwise: str = "true") -> bool:
    value = _one(texts, name).lower() or otherwise
    if value not in ("true", "false"):
        raise WrongInput(f'The input "{name}" must be "true" or "false", and not "{value}".')
    return value == "true"
