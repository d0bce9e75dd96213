"""Make the view of a document: the entries of a plan, drift, report or findings, their order and levels.

A view is what every format except JSON shows (`view.py`).
"""

from __future__ import annotations

from datetime import datetime
from functools import singledispatch
from typing import Final

from msgspec.structs import replace
from pydantic import BaseModel

from dpsync.model.journal import APPLIED, Outcome, Result
from dpsync.model.plan import APPROVED_DIGEST_DIGITS, Plan
from dpsync.model.text import NO_FLAGS, format_count
from dpsync.render import plan_words
from dpsync.render.documents import (
    ApplyDocument,
    DriftDocument,
    Finding,
    FindingsDocument,
    PlanDocument,
    RehearseDocument,
)
from dpsync.render.drift_layout import drift_view, edit_blocks, edits_comparison_note, rehearsal_view
from dpsync.render.drift_layout import edits_title as edits_title
from dpsync.render.plan_layout import PlanListing, plan_facts, plan_view, preview_links, side_blocks
from dpsync.render.plan_words import find_origin
from dpsync.render.report_words import (
    applied_text,
    follow_ups,
    plan_without_unkept,
    recorded_keys_text,
    restore_hints,
    result_sentence,
    unapplied_text,
    unkept_value_lines,
    unverifiable_lines,
)
from dpsync.render.view import Blocks, Level, Sentence, View, ViewEntry, ViewLine, visible_texts
from dpsync.render.visible import visible

_RESULT_BLOCKS: Final[tuple[tuple[Result, str, Level], ...]] = (
    ("failed", "Failed: {}", "error"),
    ("stale", "Not changed, because somebody changed GitBook after the plan: {}", "error"),
    ("unknown", "Requests with an unknown result: {}", "error"),
    ("not-tried", "Skipped: {}", "warning"),
    ("requested", "Waiting for a GitBook admin: {}", "note"),
)
_SEVERITY_LEVELS: Final[tuple[Level, ...]] = ("error", "warning")


def make_view(document: BaseModel, now: datetime | None = None) -> View:
    """Return the view of a document of `documents.py`. Control characters in its texts are visible.

    Args:
        now: The time for "2 hours ago" in a drift; None shows the times as the platform has them.
    """
    unsafe_view = drift_view(document, now) if isinstance(document, DriftDocument) else _view(document)
    return visible_texts(unsafe_view)


@singledispatch
def _view(document: BaseModel) -> View:
    """Return the view of a document; registered for each type of document except drift."""
    raise TypeError(f"there is no view of a {type(document).__name__}")


@_view.register
def _plan_document_view(document: PlanDocument) -> View:
    """Return the view of a plan, with a hint about keys that differ from the ids file."""
    view = plan_view(document.plan, document.digest, document.rehearsal)
    renamed = plan_words.renamed_keys_text(document.plan)
    return replace(view, hints=(*view.hints, renamed)) if renamed else view


@_view.register
def _apply_view(document: ApplyDocument) -> View:
    """Return the view of an apply: its results by type, what remains, and what to do next.

    Without a report, nothing was applied: then this is the view of the plan.
    """
    plan, report = document.plan.plan, document.report
    if report is None:
        view = plan_view(plan, document.plan.digest, document.plan.rehearsal)
        sentences = tuple(ViewLine(text) for text in [unapplied_text(plan)] if text)
        recorded = recorded_keys_text(plan) if plan.empty and plan.can_apply else ""
        view_hints = (*view.hints, recorded) if recorded else view.hints
        return replace(view, verdict=(*sentences, *view.verdict), hints=view_hints, name="apply")
    blocks = Blocks()
    for result, title, level in _RESULT_BLOCKS:
        entries = [_outcome_entry(plan, outcome) for outcome in report.outcomes if outcome.result == result]
        blocks.add(result, title, level, entries, fails=level == "error")
    causes = [ViewEntry(message=visible(text)) for text in report.trouble]
    blocks.add("stopped", "Why the apply stopped", "error", causes, fails=True)
    remaining: list[ViewEntry] = []
    if not (report.settled or report.as_declared or report.remaining is None):
        remaining += [ViewEntry(message=text) for text in unkept_value_lines(report)]
        remaining += PlanListing(plan_without_unkept(report)).entries()
    blocks.add("remaining", "Remaining changes: {}", "error", remaining, fails=True)
    unrecorded = [ViewEntry(message=visible(report.unrecorded))] if report.unrecorded else []
    blocks.add("unrecorded", "The ids file", "warning", unrecorded)
    if report.remaining is not None and report.settled:
        blocks.blocks += side_blocks(report.remaining)
    elif report.remaining is not None:
        # The remaining plan lists the value to send again, but not why the platform rejected it.
        with_started_problems = report.remaining.model_copy(update={"trouble": report.started})
        blocks.blocks += [
            block for block in side_blocks(with_started_problems) if block.entries[0].name == "trouble"
        ]
    done_entries = [_outcome_entry(plan, outcome) for outcome in report.outcomes if outcome.result in APPLIED]
    blocks.add("done", "Done: {}", "none", done_entries, detail=1)
    facts = [*plan_facts(plan), f"plan {report.plan[:APPROVED_DIGEST_DIGITS]}"]
    hints = [*restore_hints(report)]
    hints += unverifiable_lines(report.remaining) if report.remaining is not None else []
    hints += follow_ups(plan, report, NO_FLAGS.add_flags_to_commands)
    facts += [f"journal: {visible(report.journal)}"] if report.journal else []
    verdict = (
        ViewLine(applied_text(plan, report)),
        ViewLine(NO_FLAGS.add_flags_to_commands(result_sentence(plan, report))),
    )
    return View(
        verdict,
        tuple(blocks.blocks),
        tuple(hints),
        tuple(facts),
        name="apply",
        previews=tuple(preview_links(plan)),
    )


@_view.register
def _rehearsal_document_view(document: RehearseDocument) -> View:
    """Return the view of a rehearsal."""
    return rehearsal_view(document)


@_view.register
def _findings_view(document: FindingsDocument) -> View:
    """Return the view of findings: errors, warnings, and the edits of `validate --changes`."""
    blocks = Blocks()
    for severity in _SEVERITY_LEVELS:
        entries = [_finding_entry(finding) for finding in document.findings if finding.severity == severity]
        blocks.add(severity, f"{severity.capitalize()}s: {{}}", severity, entries, fails=severity == "error")
    counts = [format_count(len(block.entries), block.level) for block in blocks.blocks]
    omitted_count = sum(document.left_out.values())
    omitted_text = [f"{omitted_count} more not shown"] if omitted_count else []
    verdict = [ViewLine(f"{', '.join([*counts, *omitted_text]) or 'No findings'}.")]
    facts = []
    if (edits := document.edits) is not None:
        blocks.blocks += edit_blocks(edits)
        verdict.append(ViewLine(edits_title(edits)))
        facts.append(edits_comparison_note(edits))
    return View(
        tuple(verdict), tuple(blocks.blocks), (), tuple(facts), left_out=omitted_count, name="findings"
    )


def _outcome_entry(plan: Plan, outcome: Outcome) -> ViewEntry:
    """Return the view entry of a step of an apply: its result, error and location."""
    field = f" ({visible(outcome.field)})" if outcome.field else ""
    text = f"{outcome.result.replace('-', ' ')}: {visible(outcome.step)}{field}"
    sentences = (Sentence(visible(outcome.error)),) if outcome.error else ()
    origin = outcome.origin or find_origin(plan, outcome.address)
    return ViewEntry(
        visible(outcome.address),
        visible(outcome.address),
        message=text,
        origin=origin,
        parent_origin=plan_words.enclosing_origin(plan, outcome.address),
        all_sentences=sentences,
    )


def _finding_entry(finding: Finding) -> ViewEntry:
    """Return the view entry of a finding: its message, hint, related locations and environments."""
    remarks = [Sentence(visible(finding.hint))] if finding.hint else []
    remarks += (
        [Sentence(f"and at {format_count(finding.repeated, 'more place')}")] if finding.repeated else []
    )
    remarks += [
        Sentence(f"{visible(related.text)} at {plan_words.location_text(related.at)}")
        for related in finding.related
    ]
    if finding.environments:
        remarks.append(Sentence(f"with --env {', '.join(visible(name) for name in finding.environments)}"))
    return ViewEntry(
        visible(finding.address or ""),
        visible(finding.address or ""),
        message=visible(finding.message),
        code=visible(finding.code),
        origin=finding.at,
        all_sentences=tuple(remarks),
    )
