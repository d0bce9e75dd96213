"""Make the JSON documents of plan, drift, import and findings, and read saved documents again.

`read_document` accepts the JSON that `plan`, `apply`, `rehearse`, `drift` and `validate` print, and a saved
plan.
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
        ways_out={item.address: resolutions_of(drift, item) for item in drift.found},
    )


def import_document(
    made: NewConfiguration,
    files: Iterable[WrittenFile],
    plan: Plan | None,
    problems: Iterable[Diagnostic],
    requests: int,
) -> ImportDocument:
    """Return the document of an import. Without a plan, `proven` is null unless there are problems."""
    differences = tuple(finding_document(item) for item in problems) + tuple(
        Finding(code="differs", severity="error", message=_difference_text(change), address=change.address)
        for change in (plan.changes if plan is not None else ())
    )
    return ImportDocument(
        exit=Exit.PARTIAL if differences else Exit.DONE,
        proven=None if plan is None and not differences else not differences,
        requests=requests,
        files=tuple(ImportedFile(path=item.path, state=item.state) for item in files),
        secrets=tuple(
            SecretToSet(name=x.name, address=x.address, field=x.field) for x in made.required_secrets
        ),
        left_out=tuple(
            NotImported(address=x.address, field=x.field, why=x.why, at=Origin.of(x.span) if x.span else None)
            for x in made.left_out
        ),
        differences=differences,
    )


def planned_update_document(
    made: Updated, files: Iterable[WrittenFile], plan: Plan, requests: int, left_out: Iterable[LeftOut] = ()
) -> ImportDocument:
    """Return the document of an `import --update` with the plan made afterwards.

    Each change that the plan still has, and that the update did not report, becomes a difference.
    """
    document = update_document(made, files, requests)
    named = {one.address for one in document.differences}
    left = tuple(
        Finding(code="differs", severity="error", message=_difference_text(change), address=change.address)
        for change in plan.changes
        if change.address not in named
    )
    differences = (*document.differences, *left)
    notes = tuple(NotImported(address=note.address, why=note.why) for note in left_out)
    updated = {"differences": differences, "proven": not differences, "left_out": notes}
    return document.model_copy(update={**updated, "exit": Exit.PARTIAL if differences else Exit.DONE})


def update_document(made: Updated, files: Iterable[WrittenFile], requests: int) -> ImportDocument:
    """Return the document of an `import --update`, before a plan was made."""
    return ImportDocument(
        exit=Exit.PARTIAL if made.problems else Exit.DONE,
        proven=None,
        requests=requests,
        taken=tuple(
            TakenOver(
                address=str(item.address),
                field=item.field,
                at=Origin.of(item.span),
            )
            for item in made.written
        ),
        shared_with=made.sharing_environments,
        files=tuple(ImportedFile(path=item.path, state=item.state) for item in files),
        differences=tuple(finding_document(item) for item in made.problems),
    )


def _difference_text(change: Change) -> str:
    fields = ", ".join(item.field for item in change.differences)
    return f"apply would {change.action} it" + (f": {fields}" if fields else "")


def findings_document(
    diagnostics: Iterable[Diagnostic],
    exit_code: int,
    edits: Edits | None = None,
    profile: str | None = None,
) -> FindingsDocument:
    """Return the document of findings, of which at most 200 are shown."""
    found, left_out = select_findings(diagnostics)
    return FindingsDocument(
        exit=exit_code,
        findings=tuple(finding_document(item) for item in found),
        left_out={code: left_out[code] for code in sorted(left_out)},
        edits=edits,
        profile=profile,
    )


def finding_document(item: Diagnostic) -> Finding:
    """Return a diagnostic as the JSON model."""
    return Finding(
        code=item.code,
        severity=item.severity,
        message=item.message,
        at=Origin.of(item.span) if item.span else None,
        address=item.address,
        hint=item.hint,
        related=tuple(Related(text=text, at=Origin.of(span)) for text, span in item.related),
        repeated=item.unlisted_related_count,
        environments=item.environments,
        candidates=item.candidates,
        answers=item.answers,
    )
