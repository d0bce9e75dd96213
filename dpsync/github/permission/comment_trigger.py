"""A run that a comment in a pull request has asked for: which change it is about.

Such a run holds the repository's secrets and begins on the default branch, and its event has only the number
of the pull request. So GitHub is asked what that is now, and the working copy must be exactly this: never a
fork's change, and never what was there before somebody pushed again.
"""

from __future__ import annotations

from contextlib import suppress

from msgspec.structs import replace

from dpsync.github.requests.api import GitHub, PullRequest
from dpsync.github.requests.transport import GitHubError
from dpsync.github.runner.place import WorkflowRun, WorkingCopy
from dpsync.model.text import short_commit


class NotThisChange(Exception):
    """Nothing may be done with the working copy: `reason` is a word for programs, `why` is for people."""

    def __init__(self, reason: str, why: str) -> None:
        super().__init__(reason, why)
        self.reason = reason
        self.why = why


def asked_for(place: WorkflowRun, github: GitHub | None, copy: WorkingCopy) -> WorkflowRun:
    """Return the place with what GitHub says of the pull request. The person's comment gets a reaction.

    If the change comes from a fork, dpsync does not look at the working copy. Raises NotThisChange.
    """
    if github is None or place.number is None:
        raise NotThisChange(
            "untrusted",
            'dpsync cannot check who wrote the change, because the input "github-token" is missing.',
        )
    try:
        try:
            request = github.pull_request(place.number)
        except GitHubError as error:
            raise NotThisChange(
                "untrusted", f"dpsync cannot check who wrote the change: {error.what}"
            ) from None
        checked = _check(request, place, copy)
    except NotThisChange:
        _react(github, place, "confused")
        raise
    _react(github, place, "eyes")
    return replace(place, sha=request.head, base=request.base, into=request.base, checked=checked)


def is_trial_merge(commit: str, request: PullRequest, copy: WorkingCopy) -> bool:
    """Return whether a commit is GitHub's trial merge of the present head of a pull request.

    After a push, GitHub names the previous trial merge for a while, so the merged commit must be the head.
    """
    return commit == request.merge and copy.merged(commit) == request.head


def _check(request: PullRequest, place: WorkflowRun, copy: WorkingCopy) -> str:
    """Return the commit of the working copy: the pull request's head, or GitHub's trial merge of it."""
    if request.repository != place.repository:
        raise NotThisChange(
            "untrusted",
            "dpsync does nothing, because this run can read the secrets of the repository and the change "
            "comes from a fork.",
        )
    if not request.open:
        raise NotThisChange(
            "stale", f"dpsync does nothing, because pull request {place.number} is no longer open."
        )
    commit = copy.head()
    if not commit or (commit != request.head and not is_trial_merge(commit, request, copy)):
        raise NotThisChange(
            "stale",
            f"The checked-out commit ({short_commit(commit or 'no commit')}) is not the latest commit of "
            f"pull request {place.number} ({short_commit(request.head)}). If somebody has pushed, write the "
            "comment /dpsync plan again. Otherwise, set "
            f"ref: refs/pull/{place.number}/merge for actions/checkout.",
        )
    return commit


def _react(github: GitHub, place: WorkflowRun, what: str) -> None:
    """Show whoever has asked that it was seen. Where that is not possible, nothing is missing."""
    if place.comment is not None:
        with suppress(GitHubError):
            github.react(place.comment, what)
