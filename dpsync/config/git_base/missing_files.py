"""What became of a file that the configuration of an earlier commit read and that of now does not read.

A person deletes a file, or the file only seems to be gone: it was renamed, a sparse checkout leaves it out,
git ignores it, or nothing includes it. Only in the first case was what it declares removed.
"""

from __future__ import annotations

import os
import posixpath

from msgspec import Struct, field

from dpsync.config.git_base.commits import Project
from dpsync.config.git_base.git_program import NoRepository


class MissingFiles(Struct, frozen=True):
    """Tells a deleted file from a file that only seems to be gone."""

    project: Project
    _known: dict[tuple[str, str], str] = field(default_factory=dict)

    def describe(self, commit: str, file: str) -> str:
        """Return "" if git shows a file as deleted since a commit; otherwise what became of the file."""
        if (commit, file) not in self._known:  # one file may have declared many objects
            self._known[commit, file] = self._described(commit, file)
        return self._known[commit, file]

    def _described(self, commit: str, file: str) -> str:
        if os.path.lexists(self.project.root.parent / file):
            return '"include" does not list this file any more'
        repository, path = self.project.repository, posixpath.join(self.project.directory, file)
        try:
            if (renamed := repository.renamed(commit).get(path)) is not None:
                return f"the file was renamed to {renamed}"
            state = repository.index_state(path)
            if state == "S":
                return "this sparse checkout does not contain the file"
            if not state and repository.ignores(path):
                return "git ignores the file now"
        except NoRepository as none:
            return str(none)
        return ""
