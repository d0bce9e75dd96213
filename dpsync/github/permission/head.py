"""What may be applied at all: the last commit of an allowed branch, and nothing that was there before it.

A run that is started again, one that has waited while others pushed, and one for another branch have files
that are not what the branch says now. They are told so, and nothing is done.
"""

from __future__ import annotations

from dpsync.github.requests.branches import Branches
from dpsync.github.requests.transport import GitHubError
from dpsync.github.runner.run import ActionRun, Ran
from dpsync.model.text import short_commit
from dpsync.render.markdown import prose


def not_the_head(run: ActionRun, commit: str | None) -> Ran | None:
    """How the run ends because its working copy, of this commit, may not be applied; None where it may."""
    try:
        reason, why = _why_not(run, commit)
    except GitHubError as error:
        why = run.trouble("dpsync could not read the last commit of the branch", error)
        return run.refuse("not-approved", f"dpsync applied nothing. {why}")
    if not why:
        return None
    return run.refuse(reason, why, outcome="superseded", markdown=f"**Not applied:** {prose(why)}")


def _why_not(run: ActionRun, commit: str | None) -> tuple[str, str]:
    """A word for programs and a sentence for people; both are empty where it may be applied."""
    if run.github is None:
        raise GitHubError('the input "github-token" is missing')
    branch, allowed = run.place.branch, run.inputs.branches or (run.github.default_branch(),)
    if branch not in allowed:
        named = f"the branch {branch}" if branch else f"the event {run.place.event or 'unknown'}"
        return "branch", (
            f'dpsync applied nothing, because this run is for {named}. The input "branches" allows only '
            f"{', '.join(allowed)}{'' if run.inputs.branches else ', the default branch'}."
        )
    head = Branches(run.github, run.place.repository).head(branch)
    if head is not None and head == commit:
        return "", ""
    return "superseded", (
        f"The checked-out commit ({_short(commit)}) is not the last commit of {branch} ({_short(head)}). "
        "Somebody pushed after the checkout, or somebody started an old job again. dpsync applied nothing. "
        "The run of the newest commit applies all merged changes. If the newest commit has no run, start "
        f"this workflow by hand on {branch}. To check out the last commit, set ref: refs/heads/{branch} for "
        "actions/checkout."
    )


def _short(commit: str | None) -> str:
    return short_commit(commit) if commit else "no commit"
