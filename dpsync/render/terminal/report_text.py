"""What an apply did, for people: only what was recorded, in the order of the plan, the summary last."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from dpsync.model.plans.journal import GOOD, Outcome, Report
from dpsync.model.plans.remark import Blocked
from dpsync.render.layout.plan import blocked_entry, side_blocks
from dpsync.render.layout.view import Block
from dpsync.render.terminal.paint import Paint
from dpsync.render.terminal.plan_text import render_plan
from dpsync.render.terminal.view_text import Writer
from dpsync.render.words.plan import place
from dpsync.render.words.report import done, ending, restorable, unkept, unproven_lines, without_unkept
from dpsync.render.words.visible import visible

_STYLE = {
    "failed": "red",
    "stale": "red",
    "unknown": "red bold",
    "not-tried": "yellow",
    "requested": "yellow",
}


UNTRIED = 10
"""Steps that were not tried and are listed; the others are counted."""


def render_outcome(outcome: Outcome, paint: Paint) -> str:
    """One line for one step; where its entry is written below it, when that is where to look."""
    text = f"{outcome.result:>9}  {visible(outcome.step)}"
    if outcome.error:
        text += f": {visible(outcome.error)}"
    if outcome.origin and outcome.result != "not-tried":
        text += f"\n{'at':>9}  {place(outcome.origin)}"
        text += f" ({visible(outcome.field)})" if outcome.field else ""
    return paint(text, _STYLE[outcome.result]) if outcome.result in _STYLE else text


def render_report(
    report: Report, paint: Paint, verbose: int = 0, known: Collection[Blocked] = (), summary: bool = False,
    reverts: bool = False,
) -> str:  # fmt: skip
    """The whole report as text, without a trailing newline. What went well is counted, or listed with -v.

    `known` is what the plan before it, which people have seen, has said to be blocked. With
    `summary` what is left has one line for each address. `reverts`: whether the report is of a revert.
    """
    parts = ["\n".join(_outcomes(report, paint, verbose))]
    parts += [paint(visible(text), "red") for text in report.trouble]
    if report.settled and report.remaining is not None:
        found = tuple(item for item in report.remaining.blocked if item not in known)
        named = {"trouble", *(["waiting"] if report.processing else [])}
        left = [block for block in side_blocks(report.remaining) if block.entries[0].name in named]
        blocked = tuple(blocked_entry(report.remaining, item) for item in found)
        parts += Writer(paint, 1).blocks([*left, Block("", blocked)])
    parts.append(done(report))
    parts.append(_proof(report, paint, summary, reverts))
    parts += restorable(report)
    if report.unrecorded:
        parts.append(paint(visible(report.unrecorded), "red"))
    if report.journal:
        parts.append(paint(f"journal: {visible(report.journal)}", "dim"))
    return "\n".join(part for part in parts if part)


def _outcomes(report: Report, paint: Paint, verbose: int) -> Iterator[str]:
    untried = 0
    for outcome in report.outcomes:
        untried += outcome.result == "not-tried"
        if verbose or (outcome.result not in GOOD and (outcome.result != "not-tried" or untried <= UNTRIED)):
            yield render_outcome(outcome, paint)
    if untried > UNTRIED and not verbose:
        yield paint(f"{'':>9}  and {untried - UNTRIED} more that were not tried (-v lists them)", "yellow")


def _proof(report: Report, paint: Paint, summary: bool, reverts: bool) -> str:
    if report.interrupted:
        return paint(ending(report), "yellow")
    if report.remaining is None:
        return paint(ending(report), "red")
    if report.settled:
        style = "green bold" if report.converged else "red bold"
        return "\n".join([paint(ending(report, reverts), style), *unproven_lines(report.remaining)])
    parts = [paint(ending(report), "red bold")]
    if not report.as_declared:
        rest = without_unkept(report)
        parts += unkept(report)
        if rest.changes or rest.refusals:
            parts += ["", render_plan(rest, paint, summary=summary)]
    return "\n".join(parts)
