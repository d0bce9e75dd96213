"""One ids file onto its branch, by a commit or by a pull request, whoever else writes it meanwhile.

Every try reads what is there now and merges the lines again; GitHub refuses what rests on something older. So
a try may be repeated after any fault, and no lock is held.
"""

from __future__ import annotations

import re
import secrets
from typing import Final, Literal
from urllib.parse import quote

from msgspec import Struct

from dpsync.config.ids_file import parse, render
from dpsync.github.requests.branches import Branches, FileVersion, PullRequestState
from dpsync.github.requests.transport import GitHubError
from dpsync.github.runner.place import WorkflowRun, make_key
from dpsync.kinds.registry import Registry
from dpsync.model.ids import IdsFile, MergedIds, merge_ids
from dpsync.render.markdown import code

By = Literal["commit", "pull-request"]
TITLE: Final = "Record live objects in the ids file"
TRIES: Final = 20
"""As many others may write first, each of them once."""
_FAULT: Final = 7
"""How many tries a fault costs."""
_RACE: Final = (409, 422)
_RULES: Final = re.compile(r"\brules?\b|protected|\brequired|must be made|refusing", re.IGNORECASE)
"""What GitHub says where a branch takes no such commit, however often it is tried."""
_FIRST_PAUSE: Final = 0.1
_LONGEST_PAUSE: Final = 3.0
"""Seconds at most, so that not all who lost against one write come back at once."""


class Unclear(Exception):
    """The lines belong to no branch that is known, or to no file that can be merged; the text says why."""


class Learned(Struct, frozen=True):
    """What an apply has left in the working copy. `path` is the file's in the repository."""

    path: str
    commit: str
    before: IdsFile
    after: IdsFile


class Brought(Struct, frozen=True):
    """Where the lines are now. `url` is "" where the branch had them all."""

    url: str
    merged: MergedIds
    trouble: str = ""
    """What a person must do still."""


def parsed(data: bytes, path: str, registry: Registry) -> IdsFile:
    """What a file says. Raises Unclear for one that is wrong."""
    ids, found = parse(data, path, registry)
    for wrong in found:
        where = f":{wrong.span.line}" if wrong.span else ""
        raise Unclear(f"{path}{where}: {wrong.message}")
    return ids


def kept_out(error: GitHubError) -> bool:
    """Whether a rule of the repository does not let a commit onto the branch."""
    return bool(_RULES.search(error.said))


class IdsBranch(Struct, frozen=True):
    """A file and the branch that it belongs to. `bring` raises GitHubError and Unclear."""

    branches: Branches
    place: WorkflowRun
    registry: Registry
    learned: Learned

    def bring(self, by: By) -> Brought:
        """Bring the lines there, and try again while somebody else's writes get in between."""
        left, pause = TRIES, _FIRST_PAUSE
        while True:
            try:
                return self._commit() if by == "commit" else self._request()
            except GitHubError as error:
                left -= 1 if error.status in _RACE else _FAULT
                if left <= 0 or error.not_allowed or kept_out(error):
                    raise
            self.branches.github.pause(secrets.randbelow(int(pause * 1000)) / 1000)
            pause = min(pause * 2, _LONGEST_PAUSE)

    def _commit(self) -> Brought:
        """Onto the branch itself."""
        branch, path = self.place.branch, self.learned.path
        content = self.branches.file(path, branch)
        present = self._parsed(content)
        merged = self._merged(present)
        if merged.ids.sections == present.sections:
            return Brought("", merged)
        made = self.branches.put(path, branch, render(merged.ids), content, self._message())
        return Brought(f"{self._site}/commit/{made}", merged)

    def _request(self) -> Brought:
        """Onto a branch of its own, which holds the lines that are not merged yet, and no older ones."""
        base, path, branches = self.place.branch, self.learned.path, self.branches
        name = f"dpsync/ids-{make_key(path, base)[:8]}"
        last, head = branches.head(base), branches.head(name)
        if last is None:
            raise Unclear(f"the branch {base} does not exist")
        requests = branches.requests(name, base) if head is not None else []
        request = next((one for one in requests if one.open), None)
        content = branches.file(path, last)
        present = waiting = self._parsed(content)
        stale = True
        if head is not None and (request or head not in {one.head for one in requests}):
            there = self._parsed(branches.file(path, head))
            common = branches.common(last, head)
            old = content if common == last else branches.file(path, common)
            waiting = merge_ids(self._parsed(old), there, present).ids
            stale = there != self._merged(waiting).ids or old.blob != content.blob
        merged = self._merged(waiting)
        if request is None and merged.ids.sections == present.sections:
            return Brought("", merged)
        if stale:
            parents = [last] if head is None else [head, last]
            made = branches.commit(path, render(merged.ids), last, parents, self._message())
            if head is None:
                branches.create(name, made)
            else:
                branches.advance(name, made)
        return self._opened(request, name, merged)

    def _opened(self, request: PullRequestState | None, name: str, merged: MergedIds) -> Brought:
        base = self.place.branch
        if request is None:
            try:
                request = self.branches.open_request(name, base, TITLE, self._body())
            except GitHubError as error:
                if not error.not_allowed:
                    raise
                url = f"{self._site}/compare/{quote(base)}...{quote(name)}?expand=1"
                said = (error.said or error.what).rstrip(".")
                trouble = (
                    f"The lines are on the branch {name}, but dpsync could not open a pull request ({said}). "
                    "Allow GitHub Actions to create pull requests in the repository settings, or set an "
                    f"ids-token that may create pull requests. To create the pull request by hand: {url}"
                )
                return Brought(url, merged, trouble)
        return Brought(f"{self._site}/pull/{request.number}", merged)

    # What is written.

    @property
    def _site(self) -> str:
        return f"{self.place.server}/{self.place.repository}"

    def _message(self) -> str:
        return f"{TITLE}\n\nBy dpsync apply: {self.place.url}\n"

    def _body(self) -> str:
        return (
            f"An apply ([run {self.place.run}]({self.place.url})) recorded the ids of live objects in "
            f"{code(self.learned.path)}. With the new lines, dpsync recognizes an entry also after a rename. "
            "Until you merge this pull request, dpsync recognizes the entries of the new lines by their "
            "names only.\n\n"
            "Later applies add their lines to this pull request. Do not push to this branch, because the "
            "next apply removes your commits."
        )

    def _merged(self, present: IdsFile) -> MergedIds:
        return merge_ids(self.learned.before, self.learned.after, present)

    def _parsed(self, content: FileVersion) -> IdsFile:
        return parsed(content.data or b"", self.learned.path, self.registry)
