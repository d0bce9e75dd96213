"""A plan in a file: what was shown. It is made again when it is applied, and must be the same then.

The file holds no secret. Its digest finds corruption; a digest that is kept elsewhere finds tampering.
"""

from __future__ import annotations

import re
from pathlib import Path

from pydantic import ValidationError
from pydantic_core import from_json

from dpsync import disk
from dpsync.kinds.editions import PROFILES
from dpsync.model.diagnostic import Diagnostic, DiagnosticError, Exit
from dpsync.model.plan import Part, Plan, Rehearsal, Saved
from dpsync.model.text import command, json_text
from dpsync.planner.sides import Options

LARGEST = 100_000_000
"""Bytes of a file that may be a saved plan."""


def options_of(plan: Plan) -> Options:
    """What a plan was made with, for making it again."""
    part = plan.part or Part()
    return Options(plan.confirmed, plan.deleting, select=part.select, exclude=part.exclude)


def save(path: Path, plan: Plan, rehearsal: Rehearsal | None = None) -> None:
    """Write a plan into a file, whole or not at all. Raises DiagnosticError (exit 1)."""
    saved = Saved(digest=plan.digest, plan=plan, rehearsal=rehearsal)
    try:
        disk.put(path, (json_text(saved, indent=1) + "\n").encode())
    except OSError as error:
        message = f"{path} cannot be written: {disk.why(error)}"
        raise DiagnosticError([Diagnostic("DP143", message)], Exit.FAILED) from None


def read_saved(path: Path) -> Saved:
    """Return the plan in a file, to be made again.

    Raises DiagnosticError (exit 5) when it is not as it was written, or for a profile that is not known here.
    """
    saved = parse_saved(path, content(path))
    if saved.plan.profile not in PROFILES:
        raise unusable(
            path,
            (f'the plan is for the API version "{saved.plan.profile[:40]}", which this dpsync does not know'),
        )
    return saved


def content(path: Path) -> bytes:
    """What is in a file that may hold a saved plan. Raises DiagnosticError (exit 5)."""
    try:
        found = disk.read(path, LARGEST)
    except OSError as error:
        raise unusable(path, f"dpsync cannot read the file: {disk.why(error)}") from None
    if len(found) > LARGEST:
        raise unusable(path, f"the file has more than {LARGEST // 1_000_000} MB")
    return found


def parse_saved(path: Path, found: bytes) -> Saved:
    """The plan in the content of a file. Raises DiagnosticError (exit 5)."""
    try:
        saved = Saved.model_validate_json(found)
    except ValidationError:
        raise unusable(path, f"the file is not a complete saved plan{_instead(found)}") from None
    if saved.plan.digest != saved.digest:
        raise unusable(path, "the content of the file does not match its digest")
    if saved.plan.profile not in PROFILES:
        raise unusable(
            path,
            f'this version of dpsync does not know the API version "{saved.plan.profile[:40]}" of the plan',
        )
    if saved.rehearsal is not None and saved.rehearsal.plan != saved.digest:
        raise unusable(path, "the file contains the result of a rehearsal of another plan")
    return saved


def format_of(found: bytes) -> str | None:
    """The name of the format that a file of dpsync's begins with; None of what is no such file."""
    try:
        document = from_json(found)
    except ValueError:
        return None
    name = document.get("format") if isinstance(document, dict) else None
    return name if isinstance(name, str) and re.fullmatch(r"dpsync\.[a-z-]+/\d{1,6}", name) else None


def _instead(found: bytes) -> str:
    """What it is, where that can be told."""
    match format_of(found):
        case None:
            return ""
        case "dpsync.saved-plan/1":
            return ". Perhaps another version of dpsync wrote the file"
        case other:
            return f": its format is {other}, but this version of dpsync reads dpsync.saved-plan/1"


def unusable(path: Path, why: str) -> DiagnosticError:
    """The error for a file that is no saved plan."""
    found = Diagnostic(
        "DP143",
        f"{path} cannot be used: {why}",
        hint=f"save the plan again: {command('plan', '--out', str(path))}",
    )
    return DiagnosticError([found], Exit.INVALID)
