"""Render documents (the JSON that commands print) as text for a terminal, each by its own function."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import singledispatch

from pydantic import BaseModel

from dpsync.model.diagnostic import Diagnostic, Findings
from dpsync.model.nodes import Span
from dpsync.model.plan import Origin
from dpsync.render.diagnostics import render_diagnostics
from dpsync.render.documents import (
    ApplyDocument,
    DriftDocument,
    FindingsDocument,
    PlanDocument,
    RehearseDocument,
)
from dpsync.render.edits_text import edit_lines
from dpsync.render.formats import FormatOptions
from dpsync.render.paint import Paint
from dpsync.render.plan_layout import plan_view
from dpsync.render.report_words import unapplied_text
from dpsync.render.view_text import TextWriter, render_report
from dpsync.render.views import make_view


@singledispatch
def render_text(document: BaseModel, options: FormatOptions) -> str:
    """Render a document of `documents.py` as text, without a trailing line break."""
    del options
    raise TypeError(f"dpsync cannot print a document of the type {type(document).__name__} as text")


@render_text.register
def _plan_text(document: PlanDocument, options: FormatOptions) -> str:
    """Render a plan."""
    return _writer(options).view(make_view(document))


@render_text.register
def _drift_text(document: DriftDocument, options: FormatOptions) -> str:
    """Render a drift, with times relative to now."""
    return _writer(options).view(make_view(document, datetime.now(UTC)))


@render_text.register
def _rehearsal_text(document: RehearseDocument, options: FormatOptions) -> str:
    """Render a plan with its rehearsal."""
    return _writer(options).view(make_view(document))


@render_text.register
def _apply_text(document: ApplyDocument, options: FormatOptions) -> str:
    """Render the plan of an apply, followed by its report, or by the reason why nothing was applied."""
    plan, paint = document.plan.plan, Paint(options.color)
    planned = _writer(options).view(plan_view(plan, document.plan.digest, document.plan.rehearsal))
    if document.report is None:
        result = unapplied_text(plan)
    else:
        result = render_report(
            plan,
            document.report,
            paint,
            options.verbose,
            summary=options.summary,
            complete=options.complete_commands,
        )
    return f"{planned}\n\n{result}" if result else planned


@render_text.register
def _findings_text(document: FindingsDocument, options: FormatOptions) -> str:
    """Render findings without source lines, which a document does not contain."""
    diagnostics = (
        Diagnostic(
            code=finding.code,
            message=finding.message,
            span=_span(finding.at) if finding.at else None,
            address=finding.address,
            hint=finding.hint,
            related=tuple((related.text, _span(related.at)) for related in finding.related),
            severity=finding.severity,
            environments=finding.environments,
            unlisted_related_count=finding.repeated,
        )
        for finding in document.findings
    )
    findings = Findings(diagnostics)
    findings.omitted_counts.update(document.left_out)
    text = render_diagnostics(findings, {}, options.color).rstrip("\n") or "No findings."
    return text if document.edits is None else "\n".join([text, *edit_lines(document.edits)])


def _span(origin: Origin) -> Span:
    """Return the span of the first character at an origin."""
    return Span(origin.file, origin.line, origin.column, origin.line, origin.column + 1)


def _writer(options: FormatOptions) -> TextWriter:
    """Return a writer of views with the color, verbosity and flags of this run."""
    paint = Paint(options.color)
    return TextWriter(paint, options.verbose, options.quiet, options.summary, options.complete_commands)
