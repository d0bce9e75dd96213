"""Mistakes in applying, in the report, in rehearsals and in runs on GitHub.

These modules import dpsync inside of functions only: they are loaded before dpsync is (breaking.py).
"""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext
from enum import IntEnum
from typing import Any


def do_nothing(original: Any, *_: Any, **__: Any) -> None:
    """Do nothing: no check, no objection."""


def never_stale(_original: Any, _self: Any) -> dict[str, str]:
    """Find no change since the plan was made."""
    return {}


def never_renamed(_original: Any, _self: Any, _live: Any) -> bool:
    """Ignore that an object was renamed after it was planned."""
    return False


def converged_in_trouble(_original: Any, self: Any) -> bool:
    """Report convergence although a started object is in trouble on the platform."""
    return self.settled


def converged_with_changes_left(_original: Any, self: Any) -> bool:
    """Report convergence although the next plan is not empty."""
    return self.verified and self.remaining is not None


def repeat_unknown_creates(original: Any, self: Any, error: BaseException) -> bool:
    """Send a create again after an unknown outcome."""
    from dpsync.client.errors import ServerFaultError, UnknownOutcomeError

    return original(self, error) or (
        isinstance(error, UnknownOutcomeError | ServerFaultError) and error.transient
    )


def send_unrecorded(_original: Any, self: Any) -> Any:
    """Send a request although the journal failed."""
    self._record(self._intent())
    return self._send_or_await()


def exit_as_if_unsent(_original: Any, report: Any) -> Any:
    """Return an exit code which says that nothing was written."""
    from dpsync.model.diagnostic import Exit

    if report.complete:
        return Exit.DONE
    if report.count("stale"):
        return Exit.REFUSED
    return Exit.FAILED if report.count("failed") or report.trouble else Exit.PARTIAL


def never_lock(_original: Any, *_: Any) -> AbstractContextManager[None]:
    """Hold no lock."""
    return nullcontext()


def delete_at_once(_original: Any, self: Any) -> None:
    """Release deletes before the other steps have ended."""
    self._ready |= self._deletes
    self._deletes.clear()


def overwrite_later_changes(original: Any, *_: Any) -> None:
    """Revert a field although somebody has changed it since."""


def delete_used_objects(_original: Any, *_: Any) -> Any:
    """Delete created objects although somebody has used them since."""
    return {}


def find_by_address(_original: Any, self: Any, address: Any, _kinds: Any) -> Any:
    """Find a recorded object by its former address instead of its id."""
    return address if address in self.desired.entries else None


def ignore_deviations(original: Any, self: Any, report: Any, deviations: Any, *numbers: Any) -> Any:
    """Accept a rehearsal even if it deviated from the plan."""
    return original(self, report, deviations if report is None else (), *numbers)


def apply_any_branch(original: Any, run: Any, commit: str | None) -> Any:
    """Apply the commit of any branch."""
    from msgspec.structs import replace

    return original(replace(run, inputs=replace(run.inputs, branches=(run.place.branch,))), commit)


def overwrite_remote_file(
    original: Any, self: Any, path: str, branch: str, data: bytes, instead_of: Any, message: str
) -> str:
    """Commit a file without naming the version that it replaces."""
    from msgspec.structs import replace

    return original(self, path, branch, data, replace(instead_of, blob_sha=None), message)


def full_environment_for_git(
    original: Any, command: Any, arguments: Any, env: dict[str, str], *more: Any, **options: Any
) -> Any:
    """Give git the whole environment, with the token in it."""
    return original(command, arguments, {**os.environ, **env}, *more, **options)


def renumber_refused(original: type[IntEnum]) -> type[IntEnum]:
    """Change what an exit code means."""
    members = {member.name: 6 if member.name == "REFUSED" else member.value for member in original}
    return IntEnum("Exit", members, module=original.__module__)
