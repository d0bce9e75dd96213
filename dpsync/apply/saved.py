"""A plan in a file: what was shown, to be carried out later, exactly or not at all.

The file holds no secret. Its digest finds corruption; a digest that is kept elsewhere finds tampering.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from dpsync import disk
from dpsync.model.diagnostic import Diagnostic, DiagnosticError, Exit
from dpsync.model.json_text import json_text
from dpsync.model.plan import Change, Frozen, Part, Plan
from dpsync.planner.context import Options

LARGEST = 100_000_000
"""Bytes of a file that may be a saved plan."""
SHORTEST = 16
"""Digits of a digest that name a plan: as many as are shown."""


class Saved(Frozen):
    """A plan with what it was made with, beside the configuration and the platform."""

    format: Literal["dpsync.saved-plan/1"] = "dpsync.saved-plan/1"
    digest: str
    confirm: tuple[str, ...] = ()
    delete: bool = True
    plan: Plan

    @property
    def options(self) -> Options:
        """What the plan was made with, for making it again."""
        part = self.plan.part or Part()
        return Options(self.confirm, self.delete, select=part.select, exclude=part.exclude)


class NotApproved(Exception):
    """Nothing was written: another plan was approved than the one at hand. Both are digests."""

    def __init__(self, approved: str, found: str) -> None:
        self.approved = approved
        self.found = found
        super().__init__(approved, found)


def save(path: Path, plan: Plan, confirm: tuple[str, ...] = (), delete: bool = True) -> None:
    """Write a plan into a file, whole or not at all. Raises DiagnosticError (exit 1)."""
    saved = Saved(digest=plan.digest, confirm=confirm, delete=delete, plan=plan)
    try:
        disk.put(path, (json_text(saved, indent=1) + "\n").encode())
    except OSError as error:
        message = f"{path} cannot be written: {disk.why(error)}"
        raise DiagnosticError([Diagnostic("DP143", message)], Exit.FAILED) from None


def read_saved(path: Path) -> Saved:
    """The plan in a file. Raises DiagnosticError (exit 5) when it is not as it was written."""
    try:
        content = disk.read(path, LARGEST)
    except OSError as error:
        raise _unusable(path, f"it cannot be read: {disk.why(error)}") from None
    if len(content) > LARGEST:
        raise _unusable(path, f"it has more than {LARGEST // 1_000_000} MB")
    try:
        saved = Saved.model_validate_json(content)
    except ValidationError:
        raise _unusable(path, "it is no plan that dpsync has saved, or not all of it") from None
    if saved.plan.digest != saved.digest:
        raise _unusable(path, "its content does not belong to its digest")
    return saved


def _unusable(path: Path, why: str) -> DiagnosticError:
    found = Diagnostic("DP143", f"{path} cannot be used: {why}", hint="save it anew: dpsync plan --out FILE")
    return DiagnosticError([found], Exit.INVALID)


def check_approved(plan: Plan, approved: str | None) -> None:
    """Raises NotApproved unless `approved`, the first digits of a digest, names this plan."""
    if approved is None:
        return
    if len(approved) < SHORTEST or not plan.digest.startswith(approved.lower()):
        raise NotApproved(approved, plan.digest)


def different(saved: Plan, now: Plan) -> dict[str, str]:
    """By address, why a saved plan is not what would be done now; empty when it is."""
    before, after = _by_address(saved), _by_address(now)
    found = {}
    for address in sorted(before.keys() | after.keys()):
        if address not in after:
            found[address] = "it was planned, and there is nothing to do any more"
        elif address not in before:
            found[address] = "it is not in the saved plan, and would be done now"
        elif before[address] != after[address]:
            found[address] = "it would be done differently now"
    if saved.platform != now.platform:
        found["platform"] = f"the plan was made for {saved.platform}, and this is {now.platform}"
    if saved.environment != now.environment:
        found["environment"] = f"the plan was made for {saved.environment or 'none'}"
    return found


def _by_address(plan: Plan) -> dict[str, Change]:
    return {change.address: change for change in plan.changes}
