"""The JSON that commands print: versioned models, so that the schemas in `schemas/` are derived, tested."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from pydantic import BaseModel

from dpsync.model.diagnostic import Diagnostic
from dpsync.model.journal import Report
from dpsync.model.plan import Frozen, Origin, Plan
from dpsync.render.plan_text import counts


class PlanDocument(Frozen):
    """What `plan --format json` prints. With `can_apply` false, apply would refuse; `refusals` say why."""

    format: Literal["dpsync.plan-output/1"] = "dpsync.plan-output/1"
    digest: str
    can_apply: bool
    deletes: int
    counts: dict[str, int]
    plan: Plan


class ApplyDocument(Frozen):
    """What `apply --format json` prints. `report` is null when nothing was carried out."""

    format: Literal["dpsync.apply-output/1"] = "dpsync.apply-output/1"
    exit: int
    converged: bool
    plan: PlanDocument
    report: Report | None = None


class Finding(Frozen):
    """One diagnostic."""

    code: str
    severity: Literal["error", "warning"]
    message: str
    at: Origin | None = None
    address: str | None = None
    hint: str | None = None


class FindingsDocument(Frozen):
    """What `validate --format json` prints, and every command that ends with diagnostics."""

    format: Literal["dpsync.findings/1"] = "dpsync.findings/1"
    exit: int
    findings: tuple[Finding, ...] = ()


DOCUMENTS: dict[str, type[BaseModel]] = {
    "plan": PlanDocument,
    "apply": ApplyDocument,
    "findings": FindingsDocument,
}


def plan_document(plan: Plan) -> PlanDocument:
    return PlanDocument(
        digest=plan.digest, can_apply=plan.can_apply, deletes=plan.deletes, counts=counts(plan), plan=plan
    )


def findings_document(diagnostics: Iterable[Diagnostic], exit_code: int) -> FindingsDocument:
    return FindingsDocument(
        exit=exit_code,
        findings=tuple(
            Finding(
                code=item.code,
                severity=item.severity,
                message=item.message,
                at=Origin(file=item.span.file, line=item.span.line, column=item.span.column)
                if item.span
                else None,
                address=item.address,
                hint=item.hint,
            )
            for item in diagnostics
        ),
    )
