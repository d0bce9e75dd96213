"""Read saved plans, and check a new plan against the plan that a person approved.

dpsync never applies the approved plan itself. It makes a new plan, which must have the same changes and no
new refusal as the approved one: a saved plan, a digest, or a plan that was shown before a confirmation. A
saved plan contains no secrets. The digest in the file detects corruption; only a digest kept elsewhere
detects tampering.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct
from pydantic import ValidationError
from pydantic_core import from_json

from dpsync import disk
from dpsync.kinds.profiles import PROFILES
from dpsync.model.change import Change
from dpsync.model.diagnostic import Diagnostic, DiagnosticError, Exit
from dpsync.model.plan import APPROVED_DIGEST_DIGITS, Origin, Part, Plan, Rehearsal, Saved
from dpsync.model.text import format_command, json_text
from dpsync.planner.sides import Options


class StaleStateError(Exception):
    """Nothing was written, because the state that the plan was made for changed.

    `stale` has the reasons by address, `origins` the source positions of the entries.
    """

    def __init__(self, stale: Mapping[str, str], origins: Mapping[str, Origin] | None = None) -> None:
        self.stale = dict(stale)
        self.origins = dict(origins or {})
        super().__init__(self.stale)


class NotApprovedError(Exception):
    """Nothing was written, because the digest of the new plan (`found`) is not the approved one."""

    def __init__(self, approved: str, found: str) -> None:
        self.approved = approved
        self.found = found
        super().__init__(approved, found)


class Expected(Struct, frozen=True):
    """The plan that a person approved, with which a new plan is compared before it is applied.

    Without any expectation, every plan is accepted.
    """

    plan: Plan | None = None
    """A saved plan, or the plan that was shown before the confirmation."""
    approved: str | None = None
    """The first digits of a digest."""
    name: str = "the saved plan"
    """The words that messages use for `plan`."""

    @staticmethod
    def shown(plan: Plan) -> Expected:
        """Return the expectation that a new plan equals the plan that a person has confirmed."""
        return Expected(plan, name="the plan that you confirmed")

    def check(self, new_plan: Plan) -> None:
        """Raise NotApprovedError or StaleStateError unless the new plan is the expected one."""
        check_approved(new_plan, self.approved)
        if self.plan is not None and (reasons := stale_reasons(self.plan, new_plan, self.name)):
            raise StaleStateError(reasons, new_plan.origins)


def check_approved(plan: Plan, approved: str | None) -> None:
    """Raise NotApprovedError unless the plan's digest starts with `approved`. None approves every plan."""
    if approved is None:
        return
    if len(approved) < APPROVED_DIGEST_DIGITS or not plan.digest.startswith(approved.lower()):
        raise NotApprovedError(approved, plan.digest)


def stale_reasons(before: Plan, new_plan: Plan, plan_name: str) -> dict[str, str]:
    """Return why a new plan differs from an approved plan, by address; {} if both have the same changes.

    `plan_name` stands for the approved plan `before` in messages.
    """
    old, new = _by_address(before), _by_address(new_plan)
    reasons = {}
    for address in sorted(old.keys() | new.keys()):
        if address not in new:
            reasons[address] = f"{plan_name} is out of date: this object needs no change now"
        elif address not in old:
            reasons[address] = f"{plan_name} is out of date: a new plan would also change this object"
        elif old[address] != new[address]:
            reasons[address] = f"{plan_name} is out of date: a new plan would change this object differently"
    known_refusals = {(item.code, item.address) for item in before.refusals}
    for item in new_plan.refusals:
        if (item.code, item.address) not in known_refusals:
            reasons[item.address] = f"dpsync would refuse a new plan ({item.code}): {item.message}"
    if before.platform != new_plan.platform:
        reasons["platform"] = f"the plan was made for {before.platform}, but this is {new_plan.platform}"
    if before.environment != new_plan.environment:
        reasons["environment"] = f"the plan was made for another environment: {before.environment or 'none'}"
    return reasons


def _by_address(plan: Plan) -> dict[str, Change]:
    """Return the changes of a plan by address, without labels, which do not count in a comparison."""
    return {change.address: change.without_labels for change in plan.changes}


MAX_PLAN_BYTES = 100_000_000
"""Maximum size of a saved plan in bytes."""


def options_of(plan: Plan) -> Options:
    """Return the options with which a plan was made, to make it again."""
    part = plan.part or Part()
    return Options(plan.confirmed, plan.deleting, select=part.select, exclude=part.exclude)


def save_plan(path: Path, plan: Plan, rehearsal: Rehearsal | None = None) -> None:
    """Write a plan to a file atomically. Raises DiagnosticError (exit code 1)."""
    saved = Saved(digest=plan.digest, plan=plan, rehearsal=rehearsal)
    try:
        disk.replace_file(path, (json_text(saved, indent=1) + "\n").encode())
    except OSError as error:
        message = f"{path} cannot be written: {disk.error_reason(error)}"
        raise DiagnosticError([Diagnostic("DP143", message)], Exit.FAILED) from None


def read_saved_plan(path: Path) -> Saved:
    """Return the plan in a file, with which a new plan will be compared.

    Raises DiagnosticError (exit code 5) if the file is damaged or its API version (profile) is unknown.
    """
    saved = parse_saved_plan(path, read_content(path))
    if saved.plan.profile not in PROFILES:
        raise invalid_plan_error(
            path,
            (f'the plan is for the API version "{saved.plan.profile[:40]}", which this dpsync does not know'),
        )
    return saved


def read_content(path: Path) -> bytes:
    """Return the content of a file that may be a saved plan or a journal.

    Raises DiagnosticError (exit code 5) if it cannot be read or is too large.
    """
    try:
        content = disk.read(path, MAX_PLAN_BYTES)
    except OSError as error:
        raise invalid_plan_error(path, f"dpsync cannot read the file: {disk.error_reason(error)}") from None
    if len(content) > MAX_PLAN_BYTES:
        raise invalid_plan_error(path, f"the file has more than {MAX_PLAN_BYTES // 1_000_000} MB")
    return content


def parse_saved_plan(path: Path, data: bytes) -> Saved:
    """Return the saved plan in the content of a file.

    Raises DiagnosticError (exit code 5) if the content is not a saved plan, or was changed since (the digest
    differs), or if its API version is unknown.
    """
    try:
        saved = Saved.model_validate_json(data)
    except ValidationError:
        raise invalid_plan_error(
            path, f"the file is not a complete saved plan{_actual_format(data)}"
        ) from None
    if saved.plan.digest != saved.digest:
        raise invalid_plan_error(path, "the content of the file does not match its digest")
    if saved.plan.profile not in PROFILES:
        raise invalid_plan_error(
            path,
            f'this version of dpsync does not know the API version "{saved.plan.profile[:40]}" of the plan',
        )
    if saved.rehearsal is not None and saved.rehearsal.plan != saved.digest:
        raise invalid_plan_error(path, "the file contains the result of a rehearsal of another plan")
    return saved


def format_name(data: bytes) -> str | None:
    """Return the format that a JSON file of dpsync names, as `dpsync.saved-plan/1`; None for another file."""
    try:
        document = from_json(data)
    except ValueError:
        return None
    name = document.get("format") if isinstance(document, dict) else None
    return name if isinstance(name, str) and re.fullmatch(r"dpsync\.[a-z-]+/\d{1,6}", name) else None


def _actual_format(content: bytes) -> str:
    """Return the format of a file that is no saved plan, as the end of an error message."""
    match format_name(content):
        case None:
            return ""
        case "dpsync.saved-plan/1":
            return ". Perhaps another version of dpsync wrote the file"
        case other:
            return f": its format is {other}, but this version of dpsync reads dpsync.saved-plan/1"


def invalid_plan_error(path: Path, why: str) -> DiagnosticError:
    """Return the error (DP143) for a file that is not a saved plan."""
    diagnostic = Diagnostic(
        "DP143",
        f"{path} cannot be used: {why}",
        hint=f"save the plan again: {format_command('plan', '--out', str(path))}",
    )
    return DiagnosticError([diagnostic], Exit.INVALID)
