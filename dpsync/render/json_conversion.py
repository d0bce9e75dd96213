"""Make the JSON documents that `plan`, `drift`, `import` and `validate` print.

Input: plans, drifts, imports and findings. Output: the models of `documents.py`, which `render_json` writes.
`json_reading.py` reads saved documents again.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from pydantic import BaseModel

from dpsync.model.change import Change
from dpsync.model.diagnostic import Diagnostic, Exit
from dpsync.model.drift import Drift, Edits
from dpsync.model.plan import Origin, Plan, Rehearsal
from dpsync.model.text import json_text
from dpsync.render.documents import (
    DriftDocument,
    Finding,
    FindingsDocument,
    ImportDocument,
    ImportedFile,
    NotImported,
    PlanDocument,
    Related,
    SecretToSet,
    TakenOver,
)
from dpsync.render.formats import FormatOptions
from dpsync.render.plan_words import count_changes
from dpsync.render.resolutions import resolutions_of
from dpsync.render.selected_findings import select_findings

if TYPE_CHECKING:
    from dpsync.importing.entries import LeftOut
    from dpsync.importing.files import WrittenFile
    from dpsync.importing.layout import NewConfiguration
    from dpsync.importing.update import Updated


def render_json(document: BaseModel, options: FormatOptions) -> str:
    """Return a document as JSON, without a trailing line break."""
    del options
    return json_text(document, indent=2)


def plan_document(plan: Plan, rehearsal: Rehearsal | None = None) -> PlanDocument:
    """Return the document of a plan, with its counts and digest."""
    return PlanDocument(
        platform=plan.platform,
        organizations=plan.organizations,
        digest=plan.digest,
        can_apply=plan.can_apply,
        deletes=plan.deletes,
        counts=count_changes(plan),
        plan=plan,
        rehearsal=rehearsal,
    )


def drift_document(drift: Drift) -> DriftDocument:
    """Return the document of a drift, with the resolutions of each difference."""
    return DriftDocument(
        exit=Exit.CHANGES if drift.drifted else Exit.DONE,
        drifted=drift.drifted,
        drift=drift,
        ways_out={drifted.address: resolutions_of(drift, drifted) for drifted in drift.found},
    )


def import_document(
    configuration: NewConfiguration,
    files: Iterable[WrittenFile],
    plan: Plan | None,
    problems: Iterable[Diagnostic],
    requests: int,
) -> ImportDocument:
    """Return the JSON document of an import that wrote a new configuration.

    Each change that `plan` still has becomes a difference. Without a plan, `proven` is null unless there are
    problems.

    Args:
        plan: The plan with the written files, which should be empty.
        requests: The number of requests that the import sent.
    """
    differences = tuple(finding_document(problem) for problem in problems) + tuple(
        Finding(code="differs", severity="error", message=_difference_text(change), address=change.address)
        for change in (plan.changes if plan is not None else ())
    )
    return ImportDocument(
        exit=Exit.PARTIAL if differences else Exit.DONE,
        proven=None if plan is None and not differences else not differences,
        requests=requests,
        files=tuple(ImportedFile(path=file.path, state=file.state) for file in files),
        secrets=tuple(
            SecretToSet(name=secret.name, address=secret.address, field=secret.field)
            for secret in configuration.required_secrets
        ),
        left_out=tuple(
            NotImported(
                address=omission.address,
                field=omission.field,
                why=omission.why,
                at=Origin.of(omission.span) if omission.span else None,
            )
            for omission in configuration.left_out
        ),
        differences=differences,
    )


def planned_update_document(
    update: Updated, files: Iterable[WrittenFile], plan: Plan, requests: int, left_out: Iterable[LeftOut] = ()
) -> ImportDocument:
    """Return the JSON document of an `import --update` with the plan made afterwards.

    Each change that the plan still has, and that the update did not report, becomes a difference.
    """
    document = update_document(update, files, requests)
    reported_addresses = {difference.address for difference in document.differences}
    remaining = tuple(
        Finding(code="differs", severity="error", message=_difference_text(change), address=change.address)
        for change in plan.changes
        if change.address not in reported_addresses
    )
    differences = (*document.differences, *remaining)
    notes = tuple(NotImported(address=note.address, why=note.why) for note in left_out)
    changes = {"differences": differences, "proven": not differences, "left_out": notes}
    return document.model_copy(update={**changes, "exit": Exit.PARTIAL if differences else Exit.DONE})


def update_document(update: Updated, files: Iterable[WrittenFile], requests: int) -> ImportDocument:
    """Return the JSON document of an `import --update` or `--add`, before a plan is made."""
    return ImportDocument(
        exit=Exit.PARTIAL if update.problems else Exit.DONE,
        proven=None,
        requests=requests,
        taken=tuple(
            TakenOver(
                address=str(value.address),
                field=value.field,
                at=Origin.of(value.span),
            )
            for value in update.written
        ),
        shared_with=update.sharing_environments,
        files=tuple(ImportedFile(path=file.path, state=file.state) for file in files),
        differences=tuple(finding_document(problem) for problem in update.problems),
    )


def _difference_text(change: Change) -> str:
    """Return what an apply would still do with an object: "apply would update it: title, path"."""
    fields = ", ".join(difference.field for difference in change.differences)
    return f"apply would {change.action} it" + (f": {fields}" if fields else "")


def findings_document(
    diagnostics: Iterable[Diagnostic],
    exit_code: int,
    edits: Edits | None = None,
    profile: str | None = None,
) -> FindingsDocument:
    """Return the JSON document of findings, with at most 200 of them. `edits`: for `validate --changes`."""
    shown, left_out = select_findings(diagnostics)
    return FindingsDocument(
        exit=exit_code,
        findings=tuple(finding_document(diagnostic) for diagnostic in shown),
        left_out={code: left_out[code] for code in sorted(left_out)},
        edits=edits,
        profile=profile,
    )


def finding_document(diagnostic: Diagnostic) -> Finding:
    """Return a diagnostic as the JSON model of a finding."""
    return Finding(
        code=diagnostic.code,
        severity=diagnostic.severity,
        message=diagnostic.message,
        at=Origin.of(diagnostic.span) if diagnostic.span else None,
        address=diagnostic.address,
        hint=diagnostic.hint,
        related=tuple(Related(text=text, at=Origin.of(span)) for text, span in diagnostic.related),
        repeated=diagnostic.unlisted_related_count,
        environments=diagnostic.environments,
        candidates=diagnostic.candidates,
        answers=diagnostic.answers,
    )
