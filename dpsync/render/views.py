"""Make views of documents: the entries of a plan, drift, report or findings, their order and their levels."""

from __future__ import annotations

from datetime import datetime
from functools import singledispatch
from typing import Final

from msgspec.structs import replace
from pydantic import BaseModel

from dpsync.model.journal import APPLIED, Outcome, Report, Result
from dpsync.model.plan import DIGITS, Plan
from dpsync.model.text import NOWHERE, counted
from dpsync.render import plan_words
from dpsync.render.documents import (
    ApplyDocument,
    DriftDocument,
    Finding,
    FindingsDocument,
    PlanDocument,
    RehearseDocument,
)
from dpsync.render.drift_layout import compared_with, drift_view, edit_blocks, rehearsal_view
from dpsync.render.drift_layout import title as edits_title
from dpsync.render.plan_layout import Listing, facts, plan_view, previews, side_blocks
from dpsync.render.plan_words import origin
from dpsync.render.report_words import (
    done,
    ending,
    follow_ups,
    recorded_keys,
    restorable,
    unapplied,
    unkept,
    unproven_lines,
    without_unkept,
)
from dpsync.render.view import Blocks, Level, View, ViewEntry, ViewLine, Word, visible_texts
from dpsync.render.visible import visible

_RESULTS: Final[tuple[tuple[Result, str, Level], ...]] = (
    ("failed", "Failed: {}", "error"),
    ("stale", "Not changed, because somebody changed GitBook after the plan: {}", "error"),
    ("unknown", "Requests with an unknown result: {}", "error"),
    ("not-tried", "Skipped: {}", "warning"),
    ("requested", "Waiting for a GitBook admin: {}", "note"),
)
_SEVERITIES: Final[tuple[Level, ...]] = ("error", "warning")


def view(document: BaseModel, now: datetime | None = None) -> View:
    """Return the view of a document of `documents.py`, with visible texts.

    Args:
        now: The time for "2 hours ago"; None keeps the times of the platform.
    """
    unsafe_view = drift_view(document, now) if isinstance(document, DriftDocument) else _view(document)
    return visible_texts(unsafe_view)


@singledispatch
def _view(document: BaseModel) -> View:
    raise TypeError(f"there is no view of a {type(document).__name__}")


@_view.register
def _plan(document: PlanDocument) -> View:
    whole = plan_view(document.plan, document.digest, document.rehearsal)
    renamed = plan_words.renamed_keys(document.plan)
    return replace(whole, hints=(*whole.hints, renamed)) if renamed else whole


@_view.register
def _apply(document: ApplyDocument) -> View:
    plan, report = document.plan.plan, document.report
    if report is None:
        whole = plan_view(plan, document.plan.digest, document.plan.rehearsal)
        sentences = tuple(ViewLine(text) for text in [unapplied(plan)] if text)
        recorded = recorded_keys(plan) if plan.empty and plan.can_apply else ""
        shown = (*whole.hints, recorded) if recorded else whole.hints
        return replace(whole, verdict=(*sentences, *whole.verdict), hints=shown, name="apply")
    blocks = Blocks()
    for result, title, level in _RESULTS:
        entries = [_outcome_entry(plan, one) for one in report.outcomes if one.result == result]
        blocks.add(result, title, level, entries, fails=level == "error")
    causes = [ViewEntry(message=visible(text)) for text in report.trouble]
    blocks.add("stopped", "Why the apply stopped", "error", causes, fails=True)
    blocks.add("remaining", "Remaining changes: {}", "error", _remaining_entries(report), fails=True)
    unrecorded = [ViewEntry(message=visible(report.unrecorded))] if report.unrecorded else []
    blocks.add("unrecorded", "The ids file", "warning", unrecorded)
    if report.remaining is not None and report.settled:
        blocks.found += side_blocks(report.remaining)
    elif report.remaining is not None:
        # The remaining plan lists the value to send again, but not why the platform rejected it.
        caused = report.remaining.model_copy(update={"trouble": report.started})
        blocks.found += [one for one in side_blocks(caused) if one.entries[0].name == "trouble"]
    done_entries = [_outcome_entry(plan, one) for one in report.outcomes if one.result in APPLIED]
    blocks.add("done", "Done: {}", "none", done_entries, detail=1)
    about = [*facts(plan), f"plan {report.plan[:DIGITS]}"]
    hints = [*restorable(report)]
    hints += unproven_lines(report.remaining) if report.remaining is not None else []
    hints += follow_ups(plan, report, NOWHERE.complete)
    about += [f"journal: {visible(report.journal)}"] if report.journal else []
    verdict = ViewLine(done(plan, report)), ViewLine(NOWHERE.complete(ending(plan, report)))
    return View(
        verdict,
        tuple(blocks.found),
        tuple(hints),
        tuple(about),
        name="apply",
        previews=tuple(previews(plan)),
    )


@_view.register
def _rehearse(document: RehearseDocument) -> View:
    return rehearsal_view(document)


@_view.register
def _findings(document: FindingsDocument) -> View:
    blocks = Blocks()
    for severity in _SEVERITIES:
        entries = [_finding_entry(one) for one in document.findings if one.severity == severity]
        blocks.add(severity, f"{severity.capitalize()}s: {{}}", severity, entries, fails=severity == "error")
    counts = [counted(len(block.entries), block.level) for block in blocks.found]
    left = sum(document.left_out.values())
    more = [f"{left} more not shown"] if left else []
    verdict = [ViewLine(f"{', '.join([*counts, *more]) or 'No findings'}.")]
    about = []
    if (edits := document.edits) is not None:
        blocks.found += edit_blocks(edits)
        verdict.append(ViewLine(edits_title(edits)))
        about.append(compared_with(edits))
    return View(tuple(verdict), tuple(blocks.found), (), tuple(about), left_out=left, name="findings")


def _outcome_entry(plan: Plan, outcome: Outcome) -> ViewEntry:
    field = f" ({visible(outcome.field)})" if outcome.field else ""
    text = f"{outcome.result.replace('-', ' ')}: {visible(outcome.step)}{field}"
    more = (Word(visible(outcome.error)),) if outcome.error else ()
    where = outcome.origin or origin(plan, outcome.address)
    return ViewEntry(
        visible(outcome.address),
        visible(outcome.address),
        message=text,
        where=where,
        enclosing=plan_words.enclosing_origin(plan, outcome.address),
        words=more,
    )


def _remaining_entries(report: Report) -> list[ViewEntry]:
    """Return the changes that are left after an apply, and the values that the platform did not keep."""
    if report.settled or report.as_declared or report.remaining is None:
        return []
    lost = [ViewEntry(message=text) for text in unkept(report)]
    return [*lost, *Listing(without_unkept(report)).entries()]


def _finding_entry(finding: Finding) -> ViewEntry:
    remarks = [Word(visible(finding.hint))] if finding.hint else []
    remarks += [Word(f"and at {counted(finding.repeated, 'more place')}")] if finding.repeated else []
    remarks += [Word(f"{visible(other.text)} at {plan_words.place(other.at)}") for other in finding.related]
    if finding.environments:
        remarks.append(Word(f"with --env {', '.join(visible(name) for name in finding.environments)}"))
    return ViewEntry(
        visible(finding.address or ""),
        visible(finding.address or ""),
        message=visible(finding.message),
        code=visible(finding.code),
        where=finding.at,
        words=tuple(remarks),
    )
