"""One run of the action: whether anything may be done at all, then the command that the inputs ask for.

What GitHub does not take is a notice and changes no exit code; only whose change it is and which plan was
approved must be known.
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from dpsync.github.permission.checked_commit import checked_commit
from dpsync.github.permission.comment_trigger import NotThisChange, asked_for
from dpsync.github.runner.place import WorkingCopy
from dpsync.github.runner.run import ActionRun, Ran
from dpsync.github.runs.apply import apply
from dpsync.github.runs.drift import drift
from dpsync.github.runs.plan import plan
from dpsync.render.documents import ApplyDocument

_WITHOUT_SECRETS: Final = (
    "This run has no secrets, because the change comes from a fork or a bot. dpsync therefore makes no plan. "
    "dpsync only checks the files, and compares the files with the base branch."
)


def carry_out(run: ActionRun, copy: WorkingCopy) -> Ran:
    """Run what the inputs ask for, and tell GitHub. The result is that of the last command."""
    try:
        _check(run, copy)
    except NotThisChange as wrong:
        return run.refuse(wrong.reason, wrong.why)
    command = run.inputs.command
    if command != "validate" and _has_no_secrets(run):
        run.log.notice(_WITHOUT_SECRETS)
        command = "validate"
    match command:
        case "plan":
            return plan(run)
        case "apply":
            return apply(run, copy.head)
        case "drift":
            return drift(run)
        case "validate":
            return run.dpsync("validate")


def stopped(run: ActionRun, last: Ran | None, code: int) -> Ran:
    """How a run ends that was stopped with `code` after the command `last`, or before any.

    Where an apply was asked for and that has only planned, its result is not that of the run.
    """
    if last is not None and (run.inputs.command != "apply" or isinstance(last.document, ApplyDocument)):
        return last
    return run.result.refused or Ran(code)


def _check(run: ActionRun, copy: WorkingCopy) -> None:
    """Raise NotThisChange where a run must not touch what is in the working copy.

    Who has written it is known from GitHub before anything in it is looked at.
    """
    if run.place.asked:
        run.place = asked_for(run.place, run.github, copy)
    elif run.place.privileged:
        run.place = replace(run.place, checked=checked_commit(run.place, run.github, copy))
    if (link := copy.link()) is not None:
        raise NotThisChange(
            "untrusted",
            f"{link} is a symbolic link, and a pull request could change its target. In the inputs of the "
            "action, replace the link with the path of its target.",
        )
    if run.inputs.command == "apply" and _has_no_secrets(run):
        raise NotThisChange("untrusted", "dpsync cannot apply, because this run has no secrets.")


def _has_no_secrets(run: ActionRun) -> bool:
    return run.place.helpless and not run.inputs.token
