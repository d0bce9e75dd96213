"""What the commands of one run of the action share: what is asked for, where, and what was told so far."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct, field
from pydantic import BaseModel

from dpsync.github.requests.api import GitHub
from dpsync.github.requests.transport import GitHubError
from dpsync.github.runner.inputs import Inputs
from dpsync.github.runner.log import Log
from dpsync.github.runner.place import WorkflowRun
from dpsync.model.desired import AppliedCommit
from dpsync.model.diagnostic import Exit
from dpsync.render.markdown import prose


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
