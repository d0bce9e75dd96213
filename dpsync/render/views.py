"""Documents → views: what of a plan, a drift, a report and findings is told, in which order, how loudly."""

from __future__ import annotations

from datetime import datetime
from functools import singledispatch
from typing import Final

from msgspec.structs import replace
from pydantic import BaseModel

from dpsync.model.journal import Outcome, Report, Result
from dpsync.model.plan import DIGITS, Plan
from dpsync.model.text import NOWHERE, counted
from dpsync.render import plan_words as words
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
    recorded_keys,
    restorable,
    revert_hint,
    share_link_hint,
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
    """Return what is shown of a document of render/documents.py, with visible texts.

    `now`: to say how long ago something happened; else times are as the platform says them.
    """
    found = drift_view(document, now) if isinstance(document, DriftDocument) else _view(document)
    return visible_texts(found)


@singledispatch
def _view(document: BaseModel) -> View:
    raise TypeError(f"there is no view of a {type(document).__name__}")


@_view.register
def _plan(document: PlanDocument) -> View:
    found = plan_view(document.plan, document.digest, document.rehearsal)
    renamed = words.renamed_keys(document.plan)
    return replace(found, hints=(*found.hints, renamed)) if renamed else found


@_view.register
def _apply(document: ApplyDocument) -> View:
    plan, report = document.plan.plan, document.report
    if report is None:
        whole = plan_view(plan, document.plan.digest, document.plan.rehearsal)
        said = tuple(ViewLine(text) for text in [unapplied(plan)] if text)
        recorded = recorded_keys(plan) if plan.empty and plan.can_apply else ""
        shown = (*whole.hints, recorded) if recorded else whole.hints
        return replace(whole, verdict=(*said, *whole.verdict), hints=shown, name="apply")
    blocks = Blocks()
    for result, title, level in _RESULTS:
        found = [_outcome(plan, one) for one in report.outcomes if one.result == result]
        blocks.add(result, title, level, found, fails=level == "error")
    stopped = [ViewEntry(message=visible(text)) for text in report.trouble]
    blocks.add("stopped", "Why the apply stopped", "error", stopped, fails=True)
    blocks.add("remaining", "Remaining changes: {}", "error", _left(report), fails=True)
    unrecorded = [ViewEntry(message=visible(report.unrecorded))] if report.unrecorded else []
    blocks.add("unrecorded", "The ids file", "warning", unrecorded)
    if report.remaining is not None and report.settled:
        blocks.found += side_blocks(report.remaining)
    elif report.remaining is not None:
        # The remaining plan lists the value to send again, but not why the platform rejected it.
        caused = report.remaining.model_copy(update={"trouble": report.started})
        blocks.found += [one for one in side_blocks(caused) if one.entries[0].name == "trouble"]
    well = [_outcome(plan, one) for one in report.outcomes if one.result in ("done", "already")]
    blocks.add("done", "Done: {}", "none", well, detail=1)
    about = [*facts(plan), f"plan {report.plan[:DIGITS]}"]
    hints = [*restorable(report)]
    hints += unproven_lines(report.remaining) if report.remaining is not None else []
    if report.verified and not report.unrecorded:
        hints += filter(None, [recorded_keys(plan)])
    hints += filter(None, [share_link_hint(plan, report), NOWHERE.complete(revert_hint(plan, report))])
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
        found = [_finding(one) for one in document.findings if one.severity == severity]
        blocks.add(severity, f"{severity.capitalize()}s: {{}}", severity, found, fails=severity == "error")
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


def _outcome(plan: Plan, one: Outcome) -> ViewEntry:
    field = f" ({visible(one.field)})" if one.field else ""
    text = f"{one.result.replace('-', ' ')}: {visible(one.step)}{field}"
    more = (Word(visible(one.error)),) if one.error else ()
    where = one.origin or origin(plan, one.address)
    return ViewEntry(
        visible(one.address),
        visible(one.address),
        message=text,
        where=where,
        enclosing=words.enclosing_origin(plan, one.address),
        words=more,
    )


def _left(report: Report) -> list[ViewEntry]:
    """What a new plan would still do, and what the platform did not keep."""
    if report.settled or report.as_declared or report.remaining is None:
        return []
    lost = [ViewEntry(message=text) for text in unkept(report)]
    return [*lost, *Listing(without_unkept(report)).entries()]


def _finding(one: Finding) -> ViewEntry:
    remarks = [Word(visible(one.hint))] if one.hint else []
    remarks += [Word(f"and at {counted(one.repeated, 'more place')}")] if one.repeated else []
    remarks += [Word(f"{visible(more.text)} at {words.place(more.at)}") for more in one.related]
    if one.environments:
        remarks.append(Word(f"with --env {', '.join(visible(name) for name in one.environments)}"))
    return ViewEntry(
        visible(one.address or ""),
        visible(one.address or ""),
        message=visible(one.message),
        code=visible(one.code),
        where=one.at,
        words=tuple(remarks),
    )
