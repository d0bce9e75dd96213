"""After an apply: the ids file of the branch is brought up to date, since that of the runner is lost with it.

What is brought is what the working copy says and its commit does not. It changes no exit code: lines that
could not be brought are told, all of them, in the log and in the summary of the job.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from msgspec import Struct

from dpsync import disk
from dpsync.config.git import NoRepository, Repository
from dpsync.config.yaml_reader import DEFAULT_LIMITS
from dpsync.github.requests.branches import Branches
from dpsync.github.requests.transport import GitHubError
from dpsync.github.runner.log import Log
from dpsync.github.runner.place import WorkflowRun
from dpsync.github.runs.ids_branch import Brought, By, IdsBranch, Learned, Unclear, kept_out, parsed
from dpsync.kinds.registry import Registry
from dpsync.model.ids import LineChange, RecordedLine, line_changes
from dpsync.model.text import are, counted, some
from dpsync.render.markdown import code, fence, prose
from dpsync.render.names import visible
from dpsync.render.view import clip

_TOLD: Final = 100_000
"""Characters of lines in the summary; the log has them all."""
_NAMED: Final = 5
_REFUSALS: Final = range(400, 500)
"""Any other status of an error says nothing about what was done."""
_INTERRUPTED: Final = "the run was interrupted"


def learned(file: Path, registry: Registry) -> Learned:
    """What an ids file says, and what the commit of its working copy said. Raises Unclear."""
    try:
        repository = Repository.around(file.parent)
        path = (file.parent.resolve() / file.name).relative_to(repository.top).as_posix()
        commit = repository.commit("HEAD")
        if commit is None or file.is_symlink():
            raise Unclear(f"{path} is not a regular file in a commit")
        before = repository.file(commit, path, DEFAULT_LIMITS.bytes) or b""
    except NoRepository as why:
        raise Unclear(str(why)) from None
    except ValueError:
        raise Unclear(f"{file.name} is outside of the checked-out repository") from None
    try:
        data = disk.read(file, DEFAULT_LIMITS.bytes)
    except FileNotFoundError:
        data = b""
    except OSError as error:
        raise Unclear(f"dpsync cannot read {path}: {disk.why(error)}") from None
    return Learned(path, commit, parsed(before, path, registry), parsed(data, path, registry))


class IdsFileUpdate(Struct):
    """The ids file of one apply. `branches` is None without a token for them."""

    file: Path
    by: By
    branches: Branches | None
    place: WorkflowRun
    log: Log
    registry: Registry
    url: str = ""
    """The commit or pull request with the lines; "" where there is none."""
    summary: str = ""
    """For the summary of the job, as Markdown."""
    _left: str = _INTERRUPTED
    """Why lines are missing; "" where they are not."""
    _sure: bool = True
    """Whether it is known that they are."""

    def bring(self) -> None:
        """Bring the lines that the apply has learned to the branch, and tell it."""
        try:
            found = learned(self.file, self.registry)
            if changes := line_changes(found.before, found.after):
                self._tell(found, self._bring(found, len(changes)), len(changes))
            self._left = ""
        except Unclear as why:
            self._left, self._sure = str(why), True
        except GitHubError as error:
            self._left, self._sure = self._why(error), error.status in _REFUSALS

    def end(self) -> None:
        """Whatever has happened: tell of lines that were not brought, and which they are."""
        if not self._left:
            return
        try:
            found = learned(self.file, self.registry)
        except Unclear:
            if self._left != _INTERRUPTED:
                self._say(f"dpsync did not write the ids file to the branch: {self._left}")
            return
        lines = list(_lines(line_changes(found.before, found.after)))
        if not lines:
            return
        verb = are(len(lines)) if self._sure else "may be"
        branch = self.place.branch or "the branch"
        self._say(f"{counted(len(lines), 'line')} of {found.path} {verb} missing on {branch}: {self._left}")
        with self.log.text() as stream:
            stream.write("".join(f"{line}\n" for line in lines))
        self.summary += f"\n\n{_block(lines)}"

    def _bring(self, found: Learned, number: int) -> Brought:
        branch = self.place.branch
        if self.branches is None:
            raise Unclear('the input "github-token" is missing')
        if not branch:
            raise Unclear(
                f"this CI run (event: {self.place.event or 'unknown'}) does not belong to a branch of this "
                "repository"
            )
        with self.log.text() as stream:
            stream.write(f"{visible(found.path)}: {counted(number, 'line')} for {visible(branch)}\n")
        if found.commit != self.place.tested and not self.branches.has(branch, found.commit):
            raise Unclear(f"the checked-out commit is not on {branch}")
        self._sure = False  # an interruption from here on may come too late
        return IdsBranch(self.branches, self.place, self.registry, found).bring(self.by)

    def _tell(self, found: Learned, brought: Brought, number: int) -> None:
        self.url = brought.url
        if brought.trouble:
            self._say(brought.trouble)
        elif brought.url:
            kind = "commit" if self.by == "commit" else "pull request"
            self.summary = (
                f"Saved {counted(number, 'line')} of the ids file for {code(self.place.branch)} "
                f"in a [{kind}]({brought.url})."
            )
        for lines, became in (
            (brought.merged.replaced, "had other ids for these lines, and dpsync replaced the ids"),
            (
                brought.merged.kept,
                "has other ids for lines that the apply deleted, and dpsync kept the lines",
            ),
        ):
            if lines:
                names = some([clip(_said(line), 200) for line in lines], _NAMED)
                self._say(f"{found.path} on {self.place.branch} {became}: {names}")

    def _why(self, error: GitHubError) -> str:
        said = f" ({error.said.rstrip('.')})" if error.said else ""
        if kept_out(error):
            other = "ids-file: pull-request, or " if self.by == "commit" else ""
            return (
                f"a rule of the repository forbids the commit{said}. Set {other}an ids-token that is allowed "
                "to commit"
            )
        hint = ""
        if error.not_allowed and "rate limit" not in error.said.lower():
            also = " and pull-requests: write" if self.by == "pull-request" else ""
            hint = f". The run is for a fork, or the job lacks the permission contents: write{also}"
        return f"{error.what}{said}{hint}"

    def _say(self, text: str) -> None:
        self.log.notice(f"{text}.")
        self.summary = "\n\n".join(filter(None, (self.summary, f"{prose(text)}.")))


def _lines(changes: tuple[LineChange, ...]) -> Iterator[str]:
    for change in changes:
        if change.before is not None:
            yield f"- {_said(change.before)}"
        if change.after is not None:
            yield f"+ {_said(change.after)}"


def _said(line: RecordedLine) -> str:
    ids = " ".join(filter(None, (line.id, line.also)))
    return visible(f"{line.address}: {ids}{' (kept)' if line.kept else ''}")


def _block(lines: list[str]) -> str:
    kept, room = [], _TOLD
    for line in lines:
        room -= len(line)
        if room < 0:
            break
        kept.append(line)
    left = len(lines) - len(kept)
    more = f"\n\nThe log contains {counted(left, 'more line')} of the ids file." if left else ""
    return "\n".join(fence(kept, "diff")) + more
