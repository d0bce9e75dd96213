"""Find the commit of the working copy in a run that anybody may have caused and that holds secrets.

dpsync compares the files with that commit when it reads them. So the commit comes from the event or from
GitHub, and never from the .git directory alone, which an earlier step of the workflow may have written.
"""

from __future__ import annotations

from dpsync.github.permission.comment_trigger import NotThisChange, is_trial_merge
from dpsync.github.requests.api import GitHub
from dpsync.github.requests.branches import Branches
from dpsync.github.requests.transport import GitHubError
from dpsync.github.runner.place import WorkflowRun, WorkingCopy
from dpsync.model.text import short_commit


def checked_commit(place: WorkflowRun, github: GitHub | None, copy: WorkingCopy) -> str:
    """Return the checked-out commit if this run may use it.

    A run for a fork may use only its own commit. Any other run may also use the head of the change, GitHub's
    trial merge of that head, and the last commit of the branch. Raises NotThisChange.
    """
    commit = copy.head()
    if commit and commit == place.tested:
        return commit
    if place.fork:
        raise NotThisChange(
            "untrusted",
            f"A run for the event {place.event} can read the secrets of this repository, but the checked-out "
            "commit comes from a fork and is not the commit of this run. Run the workflow for the event "
            "pull_request instead.",
        )
    if commit and (commit == place.head or _is_named_by_github(place, github, commit, copy)):
        return commit
    expected = [f"the commit of this run ({short_commit(place.tested)})"] if place.tested else []
    expected += [f"the last commit of the change ({short_commit(place.head)})"] if place.head else []
    expected += ["GitHub's test merge of the pull request"] if place.number is not None else []
    expected += [f"the last commit of {place.branch}"] if place.branch else []
    raise NotThisChange(
        "stale",
        f"A run for the event {place.event} can read the secrets of this repository, but the checked-out "
        f"commit ({short_commit(commit or 'no commit')}) is not one of these commits: {', '.join(expected)}. "
        "If somebody has pushed after the checkout, run the workflow again. Otherwise, check out one of "
        "these commits with actions/checkout.",
    )


def _is_named_by_github(place: WorkflowRun, github: GitHub | None, commit: str, copy: WorkingCopy) -> bool:
    """Return whether GitHub names a commit as trial merge of this change or last commit of the branch."""
    try:
        if github is None:
            raise GitHubError('the input "github-token" is missing')
        if place.number is not None:
            request = github.pull_request(place.number)
            ours = request.open and (request.repository, request.head) == (place.repository, place.head)
            if ours and is_trial_merge(commit, request, copy):
                return True
        return bool(place.branch) and Branches(github, place.repository).head(place.branch) == commit
    except GitHubError as error:
        raise NotThisChange("untrusted", f"dpsync cannot check who wrote the change: {error.what}") from None
