"""Read the inputs and write the outputs and the log of the action, and share the state of a run.

- `Log` writes to the log of the runner. The runner takes `::name::` at the beginning of a line, and
  `##[name]` anywhere in a line, as a command. So texts are written between `::stop-commands::TOKEN` and
  `::TOKEN::`. The token is random, so no text can end the pause.
- `read_inputs` reads the inputs from a JSON object of strings.
- `outputs` makes the outputs of the step: outcome, counts and file names.
- `ActionRun` is the state of one run, which the commands share.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from posixpath import normpath
from typing import Any, Final, Literal, TextIO, cast, get_args

from msgspec import Struct, field
from pydantic import BaseModel
from pydantic_core import from_json

from dpsync.config.codes import CHANGED_FILE
from dpsync.github.api import GitHub
from dpsync.github.transport import GitHubError
from dpsync.github.workspace import WorkflowRun, make_key
from dpsync.model.desired import AppliedCommit
from dpsync.model.diagnostic import Exit
from dpsync.model.refusals import DEFAULT_REASON, REASONS_BY_CODE
from dpsync.model.text import did_you_mean
from dpsync.render.documents import ApplyDocument, DriftDocument, FindingsDocument, PlanDocument
from dpsync.render.markdown import escape_prose
from dpsync.render.views import make_view
from dpsync.render.visible import visible, visible_lines

_MIN_MASKED_CHARS: Final = 3
"""The smallest number of characters of a line to mask. A shorter text would occur in many words."""


class Log:
    """The log of a step. Commands are written outside of pauses, texts only within pauses."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def mask(self, secret: str) -> None:
        """Make the runner hide a secret, line by line, in everything that the job prints later."""
        for line in secret.splitlines():
            if len(line.strip()) >= _MIN_MASKED_CHARS:
                self._line(f"::add-mask::{escape_data(line.strip())}")

    def notice(self, text: str, level: str = "notice") -> None:
        """Write a message that GitHub also shows on the page of the run."""
        self._line(f"::{level} title=dpsync::{escape_data(visible(text))}")

    def write_commands(self, lines: Iterable[str]) -> None:
        """Write workflow commands (lines such as `::error file=…::text`) that a renderer made."""
        for line in lines:
            self._line(visible_lines(line))

    @contextmanager
    def text_stream(self) -> Iterator[TextIO]:
        """Yield a stream to the log in which the runner of GitHub executes no `::command::` lines.

        A random token ends this mode, so that no text can end it.
        """
        token = secrets.token_hex(16)
        self._line(f"::stop-commands::{token}")
        try:
            yield self._stream
        finally:
            self._line(f"\n::{token}::")

    def _line(self, text: str) -> None:
        """Write a line, and flush the stream so that a killed run loses nothing."""
        self._stream.write(f"{text}\n")
        self._stream.flush()


def escape_data(text: str) -> str:
    """Escape the text of a workflow command (`::notice::TEXT`), which must be on one line."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


Command = Literal["plan", "apply", "drift", "validate"]
CommentPolicy = Literal["always", "changes", "never"]
FailOn = Literal["error", "changes"]
IdsSaveMethod = Literal["none", "commit", "pull-request"]
INPUT_NAMES: Final = (
    "command", "config", "working-directory", "environment", "profile", "select", "api-token", "api-url",
    "github-token", "comment", "summary", "annotations", "drift-issue", "issue-labels", "approval",
    "branches", "rehearse", "ids-file", "ids-token", "fail-on", "confirm", "extra-args",
)  # fmt: skip
_DIGEST: Final = re.compile(r"[0-9a-f]{32,64}")
_RESERVED_FLAGS: Final = (
    "--format",
    "--out",
    "-o",
    "--approved",
    "--yes",
    "--detailed-exitcode",
    "-q",
    "--quiet",
)
"""Flags that the action sets itself."""


class InvalidInputError(Exception):
    """An unknown input of the action, or an invalid value. The message is for people."""


class Inputs(Struct, frozen=True):
    """The inputs of the action. The repr contains no tokens."""

    command: Command = "plan"
    config: tuple[str, ...] = ()
    directory: str = "."
    environment: str = ""
    profile: str = ""
    select: tuple[str, ...] = ()
    token: str = ""
    url: str = ""
    github_token: str = ""
    comment: CommentPolicy = "always"
    summary: bool = True
    annotations: bool = True
    drift_issue: bool = True
    labels: tuple[str, ...] = ()
    approval: str = "digest"
    """digest: the plan in the pull request. none: any plan. Otherwise the digest of the approved plan."""
    branches: tuple[str, ...] = ()
    """The branches whose last commit may be applied; empty: the default branch."""
    rehearse: bool = False
    """Whether to rehearse each plan and apply first."""
    ids_file: IdsSaveMethod = "none"
    """How to save new lines of the ids file on the branch of the run."""
    ids_token: str = ""
    """The token for the commit of the ids file; "": the same as `github_token`."""
    fail_on: FailOn = "error"
    confirm: tuple[str, ...] = ()
    """The values of --confirm."""
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
        """The texts that tell this configuration from others, for people; () for a single configuration."""
        directory = "" if (shortest := normpath(self.directory)) == "." else shortest
        config = map(normpath, self.config)
        return tuple(filter(None, (directory, *config, self.environment, *self.select)))

    def command_line(self, command: str) -> list[str]:
        """Return the arguments of a dpsync command with these inputs."""
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
    """Read the inputs from a JSON object.

    Raises:
        InvalidInputError: The text is no such object, or has an unknown input or an invalid value.
    """
    try:
        values = from_json(text)
    except ValueError:
        raise InvalidInputError(
            "Standard input must be a JSON object with the inputs of the action."
        ) from None
    if not isinstance(values, dict):
        raise InvalidInputError("Standard input must be a JSON object with the inputs of the action.")
    for name, value in values.items():
        if name not in INPUT_NAMES:
            nearest = did_you_mean(name, INPUT_NAMES)
            hint = f' Did you mean "{nearest}"?' if nearest else ""
            raise InvalidInputError(f'The action has no input "{name}".{hint}')
        if not isinstance(value, str):
            raise InvalidInputError(f'The value of the input "{name}" must be a string.')
    texts: Mapping[str, str] = values
    approval = _read_single_line(texts, "approval") or "digest"
    if approval not in ("digest", "none") and not _DIGEST.fullmatch(approval):
        raise InvalidInputError(
            'The input "approval" must be "digest", "none", or the first 32 or more digits of a plan digest.'
        )
    arguments = _read_lines(texts, "extra-args")
    for argument in arguments:
        if argument.partition("=")[0] in _RESERVED_FLAGS:
            raise InvalidInputError(
                f'The input "extra-args" must not contain {argument}, because the action sets this flag.'
            )
    return Inputs(
        command=cast(Command, _read_choice(texts, "command", Command)),
        config=_read_lines(texts, "config"),
        directory=_read_single_line(texts, "working-directory") or ".",
        environment=_read_single_line(texts, "environment"),
        profile=_read_single_line(texts, "profile"),
        select=_read_lines(texts, "select"),
        token=texts.get("api-token", "").strip(),
        url=_read_single_line(texts, "api-url"),
        github_token=texts.get("github-token", "").strip(),
        comment=cast(CommentPolicy, _read_choice(texts, "comment", CommentPolicy)),
        summary=_read_boolean(texts, "summary"),
        annotations=_read_boolean(texts, "annotations"),
        drift_issue=_read_boolean(texts, "drift-issue"),
        labels=_read_lines(texts, "issue-labels"),
        approval=approval,
        branches=_read_lines(texts, "branches"),
        rehearse=_read_boolean(texts, "rehearse", otherwise="false"),
        ids_file=cast(IdsSaveMethod, _read_choice(texts, "ids-file", IdsSaveMethod)),
        ids_token=texts.get("ids-token", "").strip(),
        fail_on=cast(FailOn, _read_choice(texts, "fail-on", FailOn)),
        confirm=_read_lines(texts, "confirm"),
        arguments=arguments,
    )


def _read_single_line(texts: Mapping[str, str], name: str) -> str:
    """Return an input without spaces at its ends; "" if it is missing. Raises InvalidInputError."""
    value = texts.get(name, "").strip()
    if "\n" in value or "\0" in value:
        raise InvalidInputError(f'The input "{name}" must not have more than one line.')
    return value


def _read_lines(texts: Mapping[str, str], name: str) -> tuple[str, ...]:
    """Return the non-empty lines of an input, one value per line. Raises InvalidInputError."""
    if "\0" in texts.get(name, ""):
        raise InvalidInputError(f'The input "{name}" must not contain a null character.')
    return tuple(line.strip() for line in texts.get(name, "").splitlines() if line.strip())


def _read_choice(texts: Mapping[str, str], name: str, literal_type: Any) -> str:
    """Return an input that must be one of the values of a Literal type; by default the first value.

    Raises InvalidInputError.
    """
    known = get_args(literal_type)
    value = _read_single_line(texts, name) or known[0]
    if value not in known:
        nearest = did_you_mean(value, known)
        raise InvalidInputError(
            f'The input "{name}" must not be "{value}". '
            + (
                f'Did you mean "{nearest}"?'
                if nearest
                else f"Choose one of these values: {', '.join(known)}."
            )
        )
    return str(value)


def _read_boolean(texts: Mapping[str, str], name: str, otherwise: str = "true") -> bool:
    """Return an input that must be "true" or "false", or the default. Raises InvalidInputError."""
    value = _read_single_line(texts, name).lower() or otherwise
    if value not in ("true", "false"):
        raise InvalidInputError(f'The input "{name}" must be "true" or "false", and not "{value}".')
    return value == "true"


OUTPUT_NAMES: Final = (
    "outcome", "exit-code", "has-changes", "create", "update", "move", "delete", "blocked", "summary",
    "digest", "plan-file", "json-file", "report-file", "comment-url", "issue-url", "ids-url",
    "failure-reason",
)  # fmt: skip
"""The outputs of the step. Every run sets all of them; without a value, an output is empty."""
_MAX_SUMMARY_CHARS: Final = 500
_KILLED_EXIT_CODE: Final = 137
"""The exit code that a shell reports for a program ended by SIGKILL."""
STOPPED_EXIT_CODES: Final = (Exit.INTERRUPTED, Exit.TERMINATED, _KILLED_EXIT_CODE)
"""The exit codes of a run that was stopped."""
_OUTCOMES: Final = {
    Exit.REFUSED: "refused",
    Exit.INVALID: "invalid",
    Exit.PARTIAL: "partial",
}
_REASONS: Final = {
    **REASONS_BY_CODE,
    CHANGED_FILE: "untrusted",
    "unreachable": "network",
    "timeout": "network",
    "request": "network",
    "unauthorized": "auth",
    "forbidden": "auth",
    "rate-limited": "rate-limited",
}
"""The output `failure-reason` by the code of a refusal or of another finding that ends a command."""


def outputs_if_killed(applying: bool = False) -> dict[str, str]:
    """Return the outputs of a run that was killed before it could write outputs.

    Args:
        applying: Whether the run may have written to the platform.
    """
    return outputs(None, _KILLED_EXIT_CODE, {"outcome": "unknown" if applying else "failed"})


def outputs(
    document: BaseModel | None, code: int, overrides: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return all outputs of the step by name, made from the result of a dpsync command.

    Args:
        document: The document that the command printed; None if it printed none.
        code: The exit code of the command.
        overrides: Outputs that replace those of the command.
    """
    values = dict.fromkeys(OUTPUT_NAMES, "")
    values |= dict.fromkeys(("create", "update", "move", "delete", "blocked"), "0")
    values |= {"exit-code": str(code), "has-changes": "false", "outcome": _outcome(document, code)}
    values["failure-reason"] = _reason(document, code)
    values["summary"] = (
        visible(make_view(document).title)[:_MAX_SUMMARY_CHARS] if document is not None else ""
    )
    plan = document.plan if isinstance(document, ApplyDocument) else document
    if isinstance(plan, PlanDocument):
        values |= {name: str(number) for name, number in plan.counts.items()}
        values["delete"] = str(plan.deletes)
        values["has-changes"] = "false" if plan.plan.empty else "true"
        values |= {"blocked": str(len(plan.plan.blocked)), "digest": plan.digest}
    if isinstance(document, DriftDocument):
        values["has-changes"] = "true" if document.drifted else "false"
        values["blocked"] = str(len(document.drift.blocked))
    return values | dict(overrides or {})


def output_lines(values: Mapping[str, str]) -> str:
    """Return the content of the output file. A random delimiter prevents a value from ending early."""
    parts = []
    for name, value in values.items():
        delimiter = f"dpsync-{secrets.token_hex(16)}"
        parts.append(f"{name}<<{delimiter}\n{value}\n{delimiter}\n")
    return "".join(parts)


def failure_reason(document: BaseModel | None, code: int) -> str:
    """Return why a command failed as one word, such as "network", or else its outcome, such as "failed"."""
    return _reason(document, code) or _outcome(document, code)


def _outcome(document: BaseModel | None, code: int) -> str:
    """Return the output `outcome` of a command, such as "changes", "applied", "drift" or "failed".

    `document` is what the command printed, if anything, and `code` its exit code. An apply that was stopped
    counts as "partial" if it may have written something.
    """
    if code in _OUTCOMES:
        return _OUTCOMES[Exit(code)]
    if code in STOPPED_EXIT_CODES:
        if (
            not isinstance(document, ApplyDocument)
            or document.report is None
            or not document.report.may_have_written
        ):
            return "failed"
        return "applied" if document.converged else "partial"
    match document:
        case _ if code not in (Exit.DONE, Exit.CHANGES):
            return "failed"
        case DriftDocument():
            return "drift" if document.drifted else "no-changes"
        case PlanDocument():
            return "no-changes" if document.plan.empty else "changes"
        case ApplyDocument():
            return "no-changes" if document.report is None else "applied"
        case _:
            return "no-changes" if code == Exit.DONE else "failed"


def _reason(document: BaseModel | None, code: int) -> str:
    """Return the output `failure-reason` of a command, such as "network"; "" if it did not fail.

    The reason comes from the exit code, the steps of an apply, the refusals of a plan, or the findings.
    """
    if code in STOPPED_EXIT_CODES:
        return "interrupted"
    if code in (Exit.DONE, Exit.CHANGES):
        return ""
    if document is None and code == Exit.USAGE:
        return "usage"
    if isinstance(document, ApplyDocument) and document.report is not None:
        if document.report.count("stale"):
            return "stale"
        return "steps" if document.report.count("failed", "unknown", "not-tried") else "blocked"
    plan = document.plan if isinstance(document, ApplyDocument) else document
    if isinstance(plan, PlanDocument):
        codes = [refusal.code for refusal in plan.plan.refusals]
        return next(
            (_REASONS[reason_code] for reason_code in codes if reason_code in _REASONS),
            DEFAULT_REASON if codes else "blocked",
        )
    if isinstance(document, FindingsDocument):
        codes = [finding.code for finding in document.findings if finding.severity == "error"]
        return next((_REASONS[reason_code] for reason_code in codes if reason_code in _REASONS), "")
    return ""


class CommandResult(Struct, frozen=True):
    """The result of a dpsync command: exit code, and the document that it printed, if any."""

    code: int
    document: BaseModel | None = None


class History(Struct, frozen=True):
    """The commits of a branch along first parents, newest first.

    `configuration_commits` changed a file of the configuration.
    """

    commits: tuple[str, ...] = ()
    configuration_commits: tuple[str, ...] = ()


class RunResult(Struct):
    """What to report besides the document of the last command.

    It is filled during the run and read at every end of the run, so its content must be true at any moment.
    """

    outputs: dict[str, str] = field(default_factory=dict)
    """Outputs of the step that replace the outputs of the document."""
    notes: str = ""
    """Markdown for the beginning of the summary."""
    refusal: CommandResult | None = None
    """The result of the run, as soon as the run is refused."""


class ActionRun(Struct):
    """One run of the action."""

    inputs: Inputs
    workflow_run: WorkflowRun
    """The workflow run. In a run started by a comment, action.py adds the pull request from GitHub."""
    log: Log
    run_dpsync: Callable[[list[str], str, str, tuple[AppliedCommit, ...]], CommandResult]
    """Run dpsync. Arguments: command line, base branch ("": from the environment variables), commit whose
    files the working copy must equal ("": any), commits that were applied last."""
    github: GitHub | None
    """The client for GitHub; None without a token."""
    plan_file: Path
    """The file for a saved plan."""
    history: Callable[[], History] = lambda: History()
    """Return the history of the working copy."""
    after_apply: Callable[[], None] = lambda: None
    """A function to call at the end of every apply, successful or not."""
    applied: tuple[AppliedCommit, ...] = ()
    """The commits that were applied last, as far as comments show."""
    result: RunResult = field(default_factory=RunResult)

    def run_command(self, command: str, *further_arguments: str) -> CommandResult:
        """Run a dpsync command with the flags that the inputs require, and return its JSON document.

        `further_arguments` are added to the command line.
        """
        words = [*self.inputs.command_line(command), *further_arguments, "--format", "json"]
        return self.run_dpsync(
            words, self.workflow_run.base_branch_override, self.workflow_run.verified_commit, self.applied
        )

    def refuse(
        self,
        reason: str,
        why: str,
        ran: CommandResult | None = None,
        markdown: str = "",
        outcome: str = "refused",
    ) -> CommandResult:
        """Record that the run is refused, and return its result. The caller then ends the run.

        Args:
            reason: A word for the output `failure-reason`.
            why: A sentence for the log.
            ran: The result of the command that printed the refused plan.
            markdown: A text for the summary; "" for a text made from `why`.
            outcome: The output `outcome`.
        """
        self.log.notice(why, "error")
        self.result.outputs |= {"outcome": outcome, "failure-reason": reason}
        self.result.notes = markdown or f"**Refused:** {escape_prose(why)}"
        self.result.refusal = CommandResult(Exit.REFUSED, ran.document if ran is not None else None)
        return self.result.refusal

    @contextmanager
    def report_github_errors(self, trouble: str, quietly: bool = False) -> Iterator[None]:
        """Turn a GitHubError in the block into a notice that begins with `problem_text`, and continue.

        Args:
            quietly: Whether to write no notice if the token lacks a permission.
        """
        try:
            yield
        except GitHubError as error:
            if not (quietly and error.not_allowed):
                self.log.notice(self.problem_text(trouble, error))

    @staticmethod
    def problem_text(failure: str, error: GitHubError) -> str:
        """Return a message about an error of GitHub in one line: what failed, why, and perhaps a hint."""
        hint = ""
        if error.not_allowed:
            hint = " The GitHub token lacks a permission, or the run is for a fork."
        return f"{failure}: {error.problem}.{hint}"
