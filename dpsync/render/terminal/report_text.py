"""What an apply did, for people: only what was recorded, in the order of the plan, the result last."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from dpsync.model.journal import GOOD, Outcome, Report
from dpsync.model.plan import DIGITS, Plan
from dpsync.model.text import NOWHERE
from dpsync.render.layout.plan import blocked_entry, side_blocks
from dpsync.render.layout.view import Block
from dpsync.render.terminal.paint import Paint
from dpsync.render.terminal.plan_text import render_plan
from dpsync.render.terminal.view_text import Writer
from dpsync.render.words.plan import place
from dpsync.render.words.report import (
    done,
    ending,
    recorded_keys,
    restorable,
    revert_hint,
    share_link_hint,
    unkept,
    unproven_lines,
    without_unkept,
)
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


def render_step(outcome: Outcome, number: int, steps: int, paint: Paint) -> str:
    """Return the line of one step while an apply runs. The report tells the reason of a step that failed."""
    text = f"[{number}/{steps}] {visible(outcome.step)}"
    if outcome.result not in ("done", "already"):
        text += f": {outcome.result.replace('-', ' ')}"
    return paint(text, _STYLE[outcome.result]) if outcome.result in _STYLE else text


def render_report(
    plan: Plan, report: Report, paint: Paint, verbose: int = 0, *, summary: bool = False,
    seconds: float | None = None, complete: Callable[[str], str] = NOWHERE.complete, line: str = "",
) -> str:  # fmt: skip
    """Return the report of an apply as text, with the result in its last line.

    `plan` is the plan that was carried out: the report does not repeat its blocked objects and problems. What
    went well is counted, or listed with -v. With `summary`, what is left has one line for each address.
    `seconds`: how long the apply took. `complete` adds the flags of this run to commands. `line`: a line
    before the result.
    """
    lines = list(_outcomes(report, paint, verbose))
    lines += [paint(visible(text), "red") for text in report.trouble]
    lines += _left(plan, report, paint, summary)
    if report.verified and not report.unrecorded:
        lines += filter(None, [recorded_keys(plan)])
    lines += filter(None, [share_link_hint(plan, report), complete(revert_hint(plan, report))])
    if report.unrecorded:
        lines.append(paint(visible(report.unrecorded), "red"))
    if verbose:
        lines += restorable(report)
        lines.append(paint(f"plan {visible(report.plan[:DIGITS])}", "dim"))
        lines += [paint(f"journal: {visible(report.journal)}", "dim")] if report.journal else []
    lines += [line] if line else []
    lines.append(
        paint(f"{done(plan, report, seconds)} {complete(ending(plan, report))}", _style(plan, report))
    )
    return "\n".join(lines)


def _outcomes(report: Report, paint: Paint, verbose: int) -> Iterator[str]:
    untried = 0
    for outcome in report.outcomes:
        untried += outcome.result == "not-tried"
        if verbose or (outcome.result not in GOOD and (outcome.result != "not-tried" or untried <= UNTRIED)):
            yield render_outcome(outcome, paint)
    if untried > UNTRIED and not verbose:
        yield paint(
            f"{'':>9}  and {untried - UNTRIED} more steps that were not tried (-v lists them)", "yellow"
        )


def _left(plan: Plan, report: Report, paint: Paint, summary: bool) -> Iterator[str]:
    """Return what is left to do after an apply, as far as the plan before it has not told that."""
    remaining = report.remaining
    if remaining is None or report.interrupted:
        return
    if report.settled:
        waiting = remaining.waiting if report.processing else ()
        new = remaining.model_copy(update={"trouble": report.started, "waiting": waiting})
        left = [block for block in side_blocks(new) if block.entries[0].name in ("trouble", "waiting")]
        found = [item for item in remaining.blocked if item not in plan.blocked]
        left.append(Block("", tuple(blocked_entry(remaining, item) for item in found)))
        yield from Writer(paint, 1).blocks(left)
        yield from unproven_lines(remaining)
    elif not report.as_declared:
        started = remaining.model_copy(update={"trouble": report.started})
        caused = [block for block in side_blocks(started) if block.entries[0].name == "trouble"]
        yield from Writer(paint, 1).blocks(caused)
        yield from unkept(report)
        told = {outcome.address for outcome in report.outcomes if outcome.result not in ("done", "already")}
        rest = without_unkept(report)
        changes = tuple(change for change in rest.changes if change.address not in told)
        if changes or rest.refusals:
            yield render_plan(rest.model_copy(update={"changes": changes}), paint, summary=summary)


def _style(plan: Plan, report: Report) -> str:
    """Return the color of the result: red only if something is wrong."""
    if report.interrupted:
        return "yellow"
    if report.converged:
        return "yellow bold" if plan.reverts is not None and plan.reverts.left else "green bold"
    is_processing = report.settled and not (report.unsuccessful or report.started)
    return "yellow bold" if is_processing else "red bold"
