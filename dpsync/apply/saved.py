"""A plan in a file: what was shown. It is made again when it is applied, and must be the same then.

The file holds no secret. Its digest finds corruption; a digest that is kept elsewhere finds tampering.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from dpsync import disk
from dpsync.model.diagnostic import Diagnostic, DiagnosticError, Exit
from dpsync.model.json_text import json_text
from dpsync.model.plan import Frozen, Part, Plan
from dpsync.planner.sides import Options

LARGEST = 100_000_000
"""Bytes of a file that may be a saved plan."""


class Saved(Frozen):
    """A plan and its digest. What it was made with is in it, so that the digest covers that, too."""

    format: Literal["dpsync.saved-plan/1"] = "dpsync.saved-plan/1"
    digest: str
    plan: Plan

    @property
    def options(self) -> Options:
        """What the plan was made with, for making it again."""
        part = self.plan.part or Part()
        return Options(self.plan.confirmed, self.plan.deleting, select=part.select, exclude=part.exclude)


def save(path: Path, plan: Plan) -> None:
    """Write a plan into a file, whole or not at all. Raises DiagnosticError (exit 1)."""
    saved = Saved(digest=plan.digest, plan=plan)
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
