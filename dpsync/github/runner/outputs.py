"""What later steps read: outcome, counts and names of files, in the form of the runner's output file."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Final

from pydantic import BaseModel

from dpsync.config.codes import CHANGED_FILE
from dpsync.model.diagnostic import Exit
from dpsync.model.refusals import GUARD, REASONS
from dpsync.render.documents import ApplyDocument, DriftDocument, FindingsDocument, PlanDocument
from dpsync.render.names import visible
from dpsync.render.views import view

NAMES: Final = (
    "outcome", "exit-code", "has-changes", "create", "update", "move", "delete", "blocked", "summary",
    "digest", "plan-file", "json-file", "report-file", "comment-url", "issue-url", "ids-url",
    "failure-reason",
)  # fmt: skip
"""All of them are set at every end, empty where there is nothing to say."""
_SUMMARY: Final = 500
_KILLED: Final = 137
"""What a shell calls the end of a program that could say nothing any more."""
STOPPED: Final = (Exit.INTERRUPTED, Exit.TERMINATED, _KILLED)
"""The codes of what somebody has ended."""
_ENDINGS: Final = {
    Exit.REFUSED: "refused",
    Exit.INVALID: "invalid",
    Exit.PARTIAL: "partial",
}
_REASONS: Final = {
    **REASONS,
    CHANGED_FILE: "untrusted",
    "unreachable": "network",
    "timeout": "network",
    "request": "network",
    "unauthorized": "auth",
    "forbidden": "auth",
    "rate-limited": "rate-limited",
}
"""By the code of a refusal, and of what else ends a command."""


def killed(applying: bool = False) -> dict[str, str]:
    """The outputs of a run that could write no others any more; `applying`: perhaps after it had written."""
    return outputs(None, _KILLED, {"outcome": "unknown" if applying else "failed"})


def outputs(document: BaseModel | None, code: int, more: Mapping[str, str] | None = None) -> dict[str, str]:
    """The outputs of a command by the document that it printed (None: it printed none) and its exit code."""
    found = dict.fromkeys(NAMES, "")
    found |= dict.fromkeys(("create", "update", "move", "delete", "blocked"), "0")
    found |= {"exit-code": str(code), "has-changes": "false", "outcome": _outcome(document, code)}
    found["failure-reason"] = _reason(document, code)
    found["summary"] = visible(view(document).title)[:_SUMMARY] if document is not None else ""
    plan = document.plan if isinstance(document, ApplyDocument) else document
    if isinstance(plan, PlanDocument):
        found |= {name: str(number) for name, number in plan.counts.items()}
        found["delete"] = str(plan.deletes)
        found["has-changes"] = "false" if plan.plan.empty else "true"
        found |= {"blocked": str(len(plan.plan.blocked)), "digest": plan.digest}
    if isinstance(document, DriftDocument):
        found["has-changes"] = "true" if document.drifted else "false"
        found["blocked"] = str(len(document.drift.blocked))
    return found | dict(more or {})


def output_lines(values: Mapping[str, str]) -> str:
    """The content of the output file: a delimiter that nobody can know keeps each value what it is."""
    parts = []
    for name, value in values.items():
        delimiter = f"dpsync-{secrets.token_hex(16)}"
        parts.append(f"{name}<<{delimiter}\n{value}\n{delimiter}\n")
    return "".join(parts)


def failure(document: BaseModel | None, code: int) -> str:
    """Why a command has failed, in a word."""
    return _reason(document, code) or _outcome(document, code)


def _outcome(document: BaseModel | None, code: int) -> str:
    if code in _ENDINGS:
        return _ENDINGS[Exit(code)]
    if code in STOPPED:
        if not isinstance(document, ApplyDocument) or document.report is None or not document.report.sent:
            return "failed"
        return "applied" if document.converged else "partial"
    match document:
        case _ if code not in (Exit.DONE, Exit.CHANGES):
            return "failed"
        case DriftDocument():
            return "drift" if document.drifted else "no-changes"
        case PlanDocument():
            return "no-changes" if document.plan.empty else "changes"
        case ApplyDocument():
            return "no-changes" if document.report is None else "applied"
        case _:
            return "no-changes" if code == Exit.DONE else "failed"


def _reason(document: BaseModel | None, code: int) -> str:
    if code in STOPPED:
        return "interrupted"
    if code in (Exit.DONE, Exit.CHANGES):
        return ""
    if document is None and code == Exit.USAGE:
        return "usage"
    if isinstance(document, ApplyDocument) and document.report is not None:
        if document.report.count("stale"):
            return "stale"
        return "steps" if document.report.count("failed", "unknown", "not-tried") else "blocked"
    plan = document.plan if isinstance(document, ApplyDocument) else document
    if isinstance(plan, PlanDocument):
        codes = [item.code for item in plan.plan.refusals]
        return next((_REASONS[one] for one in codes if one in _REASONS), GUARD if codes else "blocked")
    if isinstance(document, FindingsDocument):
        codes = [item.code for item in document.findings if item.severity == "error"]
        return next((_REASONS[one] for one in codes if one in _REASONS), "")
    return ""
