"""What an apply did, for people: only what was recorded, in the order of the plan, the summary last."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from dpsync.model.findings.diagnostic import Exit
from dpsync.model.plans.journal import GOOD, Outcome, Report
from dpsync.model.plans.plan import Plan
from dpsync.model.plans.remark import Blocked
from dpsync.model.texts.words import counted
from dpsync.render.beside_text import render_blocked, render_trouble
from dpsync.render.paint import Paint
from dpsync.render.plan_text import render_plan
from dpsync.render.plan_words import place
from dpsync.render.value_text import show
from dpsync.render.visible import visible

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
    report: Report, paint: Paint, verbose: int = 0, known: Collection[Blocked] = (), summary: bool = False
) -> str:
    """The whole report as text, without a trailing newline. What went well is counted, or listed with -v.

    `known` is what the plan before it, which people have seen, has said to be blocked. With
    `summary` what is left has one line for each address.
    """
    parts = ["\n".join(_outcomes(report, paint, verbose))]
    parts += [paint(visible(text), "red") for text in report.trouble]
    if report.settled and report.remaining is not None:
        found = tuple(item for item in report.remaining.blocked if item not in known)
        parts.append(render_blocked(report.remaining.model_copy(update={"blocked": found}), paint))
        parts.append(render_trouble(report.remaining, paint))
    parts.append(done(report))
    parts.append(_proof(report, paint, summary))
    parts += restorable(report)
    if report.unrecorded:
        parts.append(paint(visible(report.unrecorded), "red"))
    if report.journal:
        parts.append(paint(f"journal: {visible(report.journal)}", "dim"))
    return "\n".join(part for part in parts if part)


def restorable(report: Report) -> Iterator[str]:
    """What was deleted and can be had back, and how."""
    for item in report.restorable:
        again = f"within {item.days} days an entry with id: {visible(item.id)} brings it back"
        yield f"deleted: {visible(item.address)}; {again}"


def _outcomes(report: Report, paint: Paint, verbose: int) -> Iterator[str]:
    untried = 0
    for outcome in report.outcomes:
        untried += outcome.result == "not-tried"
        if verbose or (outcome.result not in GOOD and (outcome.result != "not-tried" or untried <= UNTRIED)):
            yield render_outcome(outcome, paint)
    if untried > UNTRIED and not verbose:
        yield paint(f"{'':>9}  and {untried - UNTRIED} more that were not tried (-v lists them)", "yellow")


def done(report: Report) -> str:
    """How many steps ended how."""
    done = report.count("done", "already")
    words = [f"{done} of {counted(len(report.outcomes), 'step')} done"]
    for result in ("requested", "failed", "stale", "unknown", "not-tried"):
        if number := report.count(result):
            words.append(f"{number} {result.replace('-', ' ')}")
    return f"Applied: {', '.join(words)}."


def unproven(remaining: Plan) -> list[str]:
    """What was sent and cannot be read back, while the git base still has another value."""
    if not remaining.unproven:
        return []
    sent = counted(len(remaining.unproven), "value")
    names = ", ".join(visible(name) for name in remaining.unproven)
    return [f"{sent} cannot be read back and will be sent again until the files are committed: {names}"]


def unapplied(code: int) -> str:
    """What became of a plan of which nothing was carried out, by the exit code of the apply."""
    return "Not applied." if code == Exit.REFUSED else "Nothing to apply."


def ending(report: Report) -> str:
    """In a sentence: whether the platform is as declared now, and how certain that is."""
    if report.interrupted:
        return "Interrupted: run apply again to finish the rest."
    if report.remaining is None:
        return "Not verified: run plan to see where things stand."
    if report.settled:
        text = "Converged: a new plan has no changes."
        if report.started:
            number = len(report.started)
            text = (
                "Not converged: nothing is left to change, but the platform reports trouble with "
                f"{counted(number, 'thing')} that this apply wrote, see above."
            )
        if other := len(report.remaining.trouble) - len(report.started):
            text += f" {other}{' more' if report.started else ''} in trouble on the platform, see above."
        if report.remaining.blocked:
            text += f" {len(report.remaining.blocked)} blocked, see above."
        return text
    if report.as_declared:
        number = report.count("unknown")
        what = f"{counted(number, 'request')} {'is' if number == 1 else 'are'} still in doubt"
        return f"Not certain: a new plan has no changes, but {what}. Run plan again later."
    return "Not converged: a new plan still has changes."


def _proof(report: Report, paint: Paint, summary: bool) -> str:
    if report.interrupted:
        return paint(ending(report), "yellow")
    if report.remaining is None:
        return paint(ending(report), "red")
    if report.settled:
        style = "red bold" if report.started else "green bold"
        return "\n".join([paint(ending(report), style), *unproven(report.remaining)])
    parts = [paint(ending(report), "red bold")]
    if not report.as_declared:
        rest = without_unkept(report)
        parts += unkept(report)
        if rest.changes or rest.refusals:
            parts += ["", render_plan(rest, paint, summary=summary)]
    return "\n".join(parts)


def unkept(report: Report) -> Iterator[str]:
    """What the platform did not keep, each part once, with the ways out."""
    for item in report.unkept:
        lost = f"sent: {show(item.sent)}, live: {show(item.live)}"
        yield f"the platform did not keep {visible(item.path)} of {visible(item.address)} ({lost})"
        yield f"    way out: {visible(item.way_out)}"


def without_unkept(report: Report) -> Plan:
    """What is left to do beside that."""
    assert report.remaining is not None
    reported = {(item.address, item.field) for item in report.unkept}
    left = []
    for change in report.remaining.changes:
        differences = tuple(
            item for item in change.differences if (change.address, item.field) not in reported
        )
        if differences or change.moved or not change.differences:
            left.append(change.model_copy(update={"differences": differences}))
    return report.remaining.model_copy(update={"changes": tuple(left)})
