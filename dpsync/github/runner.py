"""Run dpsync as the action: inputs, outputs and log.

The runner's own language in a log: masks, notices, and the pause in which a log is only text.

The runner takes `::name::` at the beginning of a line, after blanks, and `##[name]` anywhere in it. Between
`::stop-commands::TOKEN` and `::TOKEN::` it takes nothing; the token is random, so no text can end the pause.

The inputs of the action, as one JSON object: every one is a text, checked here.

What later steps read: outcome, counts and names of files, in the form of the runner's output file.

What the commands of one run of the action share: what is asked for, where, and what was told so far.
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
from dpsync.model.refusals import GUARD, REASONS
from dpsync.model.text import did_you_mean
from dpsync.render.documents import ApplyDocument, DriftDocument, FindingsDocument, PlanDocument
from dpsync.render.markdown import prose
from dpsync.render.views import view
from dpsync.render.visible import visible, visible_lines

_MASKED: Final = 3
"""Characters of a line from which on the runner masks it: a shorter one stands in every other word."""


class Log:
    """Where a step writes. Our commands go out between pauses, everything else within one."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def mask(self, secret: str) -> None:
        """Have the runner hide a text, line by line, in all that this job still prints."""
        for line in secret.splitlines():
            if len(line.strip()) >= _MASKED:
                self._line(f"::add-mask::{data(line.strip())}")

    def notice(self, text: str, level: str = "notice") -> None:
        """A line that GitHub also shows beside the run."""
        self._line(f"::{level} title=dpsync::{data(visible(text))}")

    def commands(self, lines: Iterable[str]) -> None:
        """Commands that a renderer has made."""
        for line in lines:
            self._line(visible_lines(line))

    @contextmanager
    def text(self) -> Iterator[TextIO]:
        """A pause: whatever is written is text."""
        token = secrets.token_hex(16)
        self._line(f"::stop-commands::{token}")
        try:
            yield self._stream
        finally:
            self._line(f"\n::{token}::")

    def _line(self, text: str) -> None:
        self._stream.write(f"{text}\n")
        self._stream.flush()


def data(text: str) -> str:
    """A text behind the second `::` of a command."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


Command = Literal["plan", "apply", "drift", "validate"]
When = Literal["always", "changes", "never"]
FailOn = Literal["error", "changes"]
IdsFile = Literal["none", "commit", "pull-request"]
INPUT_NAMES: Final = (
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
        if name not in INPUT_NAMES:
            nearest = did_you_mean(name, INPUT_NAMES)
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


OUTPUT_NAMES: Final = (
    "outcome", "exit-code", "has-changes", "create", "update", "move", "delete", "blocked", "summary",
    "digest", "plan-file", "json-file", "report-file", "comment-url", "issue-url", "ids-url",
    "failure-reason",
)  # fmt: skip
"""All of them are set at every end, empty where there is nothing to say."""
_SUMMARY: Final = 500
_KILLED: Final = 137
"""What a shell calls the end of a program that could say nothing any more."""
STOPPED: Final = (Exit.INTERRUPTED, Exit.TERMINATED, _KILLED)
"""The codes of what somebody has ended."""
_ENDINGS: Final = {
    Exit.REFUSED: "refused",
    Exit.INVALID: "invalid",
    Exit.PARTIAL: "partial",
}
_REASONS: Final = {
    **REASONS,
    CHANGED_FILE: "untrusted",
    "unreachable": "network",
    "timeout": "network",
    "request": "network",
    "unauthorized": "auth",
    "forbidden": "auth",
    "rate-limited": "rate-limited",
}
"""By the code of a refusal, and of what else ends a command."""


def killed(applying: bool = False) -> dict[str, str]:
    """The outputs of a run that could write no others any more; `applying`: perhaps after it had written."""
    return outputs(None, _KILLED, {"outcome": "unknown" if applying else "failed"})


def outputs(document: BaseModel | None, code: int, more: Mapping[str, str] | None = None) -> dict[str, str]:
    """The outputs of a command by the document that it printed (None: it printed none) and its exit code."""
    found = dict.fromkeys(OUTPUT_NAMES, "")
    found |= dict.fromkeys(("create", "update", "move", "delete", "blocked"), "0")
    found |= {"exit-code": str(code), "has-changes": "false", "outcome": _outcome(document, code)}
    found["failure-reason"] = _reason(document, code)
    found["summary"] = visible(view(document).title)[:_SUMMARY] if document is not None else ""
    plan = document.plan if isinstance(document, ApplyDocument) else document
    if isinstance(plan, PlanDocument):
        found |= {name: str(number) for name, number in plan.counts.items()}
        found["delete"] = str(plan.deletes)
        found["has-changes"] = "false" if plan.plan.empty else "true"
        found |= {"blocked": str(len(plan.plan.blocked)), "digest": plan.digest}
    if isinstance(document, DriftDocument):
        found["has-changes"] = "true" if document.drifted else "false"
        found["blocked"] = str(len(document.drift.blocked))
    return found | dict(more or {})


def output_lines(values: Mapping[str, str]) -> str:
    """The content of the output file: a delimiter that nobody can know keeps each value what it is."""
    parts = []
    for name, value in values.items():
        delimiter = f"dpsync-{secrets.token_hex(16)}"
        parts.append(f"{name}<<{delimiter}\n{value}\n{delimiter}\n")
    return "".join(parts)


def failure(document: BaseModel | None, code: int) -> str:
    """Why a command has failed, in a word."""
    return _reason(document, code) or _outcome(document, code)


def _outcome(document: BaseModel | None, code: int) -> str:
    if code in _ENDINGS:
        return _ENDINGS[Exit(code)]
    if code in STOPPED:
        if not isinstance(document, ApplyDocument) or document.report is None or not document.report.sent:
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
    if code in STOPPED:
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
        codes = [item.code for item in plan.plan.refusals]
        return next((_REASONS[one] for one in codes if one in _REASONS), GUARD if codes else "blocked")
    if isinstance(document, FindingsDocument):
        codes = [item.code for item in document.findings if item.severity == "error"]
        return next((_REASONS[one] for one in codes if one in _REASONS), "")
    return ""


class Ran(Struct, frozen=True):
    """How a command of dpsync ended, and the document that it printed, if it did."""

    code: int
    document: BaseModel | None = None


class History(Struct, frozen=True):
    """The commits of a branch up to its last one, on its own line, the latest ones first.

    `touching` are those of them that have changed something where the configuration is.
    """

    commits: tuple[str, ...] = ()
    touching: tuple[str, ...] = ()


class RunResult(Struct):
    """What is to be told beside the document of the last command.

    It is filled as things happen and read however the run ends: what is in it is true at any moment.
    """

    outputs: dict[str, str] = field(default_factory=dict)
    """Outputs of the step that come before those of the document."""
    notes: str = ""
    """Sentences for the head of the summary, as Markdown."""
    refused: Ran | None = None
    """How the run ends, once it is known that nothing will be done."""


class ActionRun(Struct):
    """One run of the action."""

    inputs: Inputs
    place: WorkflowRun
    """Of a run that a comment has asked for, action.py adds what GitHub says of the pull request."""
    log: Log
    run_dpsync: Callable[[list[str], str, str, tuple[AppliedCommit, ...]], Ran]
    """Runs dpsync with these arguments, for a change to this branch ("": from the environment variables), on
    files that must equal those of this commit ("": any files), after applies of these commits."""
    github: GitHub | None
    """None without a token for it."""
    plan_file: Path
    """Where a plan is saved."""
    history: Callable[[], History] = lambda: History()
    """The commits that the working copy follows."""
    after_apply: Callable[[], None] = lambda: None
    """Called as soon as an apply has ended, however it did."""
    applied: tuple[AppliedCommit, ...] = ()
    """The commits that were applied last, as far as comments tell."""
    result: RunResult = field(default_factory=RunResult)

    def dpsync(self, command: str, *more: str) -> Ran:
        """Run a command of dpsync as the inputs say, with `more` arguments."""
        words = [*self.inputs.command_line(command), *more, "--format", "json"]
        return self.run_dpsync(words, self.place.base, self.place.checked, self.applied)

    def refuse(
        self, reason: str, why: str, ran: Ran | None = None, markdown: str = "", outcome: str = "refused"
    ) -> Ran:
        """Do nothing. `reason` is a word for programs, `why` is for people, `markdown` says more of it.

        `ran` has printed the plan that is refused.
        """
        self.log.notice(why, "error")
        self.result.outputs |= {"outcome": outcome, "failure-reason": reason}
        self.result.notes = markdown or f"**Refused:** {prose(why)}"
        self.result.refused = Ran(Exit.REFUSED, ran.document if ran is not None else None)
        return self.result.refused

    @contextmanager
    def asking(self, trouble: str, quietly: bool = False) -> Iterator[None]:
        """Whatever GitHub answers in here, the run goes on; `trouble` is said where it did not do it.

        `quietly`: a missing permission is not worth a line.
        """
        try:
            yield
        except GitHubError as error:
            if not (quietly and error.not_allowed):
                self.log.notice(self.trouble(trouble, error))

    @staticmethod
    def trouble(what: str, error: GitHubError) -> str:
        """What GitHub has not done, and why, in a line."""
        hint = ""
        if error.not_allowed:
            hint = " The GitHub token lacks a permission, or the run is for a fork."
        return f"{what}: {error.what}.{hint}"
