"""The git base: the configuration in an earlier commit. It distinguishes a renamed entry from a new one."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec import Struct

from dpsync.model.entries.desired import Desired
from dpsync.model.entries.ids import NO_IDS, IdsFile
from dpsync.model.findings.diagnostic import Diagnostic

MissingFile = Callable[[str, str], str]
"""Describe what became of a file since a commit; "" if git shows the file as deleted.

The arguments are the id of the commit and the name of the file, relative to the project. The configuration
does not read the file any more.
"""


def _unknown_to_git(commit: str, file: str) -> str:
    return "git does not show how the entry disappeared"


class Base(Struct, frozen=True):
    """The configuration of an earlier commit, or why there is none.

    `name` is what people call the base; without `desired` there is none, and `name` is the reason.

    `warning` is for a base that should have been there.
    """

    name: str
    commit: str | None = None
    desired: Desired | None = None
    warning: Diagnostic | None = None
    lacking: bool = False
    """There is such a commit, and this clone does not have it."""
    shallow: bool = False
    """This clone lacks earlier commits."""
    proposed: bool = False
    """The base is the merge base of a pull request: what differs from it is what the pull request edits."""
    complete: bool = True
    """The commit has each overlay and the environment that were asked for."""
    ids: IdsFile = NO_IDS
    """The ids file of that commit."""
    earlier: Iterable[Desired] = ()
    """The configuration in some commits before that one, the latest first; read when somebody looks."""
    missing_file: MissingFile = _unknown_to_git


NOT_ASKED = Base("")
"""Nobody looked for a base."""
