"""The words in which every output tells what an apply did."""

from __future__ import annotations

from collections.abc import Iterator

from dpsync.model.findings.diagnostic import Exit
from dpsync.model.plans.journal import Report
from dpsync.model.plans.plan import Plan
from dpsync.model.texts.words import counted
from dpsync.render.words.values import show
from dpsync.render.words.visible import visible


def restorable(report: Report) -> Iterator[str]:
    """What was deleted and can be had back, and how."""
    for item in report.restorable:
        again = f"within {item.days} days an entry with id: {visible(item.id)} brings it back"
        yield f"deleted: {visible(item.address)}; {again}"


def done(report: Report) -> str:
    """How many steps ended how."""
    done = report.count("done", "already")
    words = [f"{done} of {counted(len(report.outcomes), 'step')} done"]
    for result in ("requested", "failed", "stale", "unknown", "not-tried"):
        if number := report.count(result):
            words.append(f"{number} {result.replace('-', ' ')}")
    return f"Applied: {', '.join(words)}."


def unproven_lines(remaining: Plan) -> list[str]:
    """What was sent and cannot be read back, while the git base still has another value."""
    if not remaining.unproven:
        return []
    sent = counted(len(remaining.unproven), "value")
    names = ", ".join(visible(name) for name in remaining.unproven)
    return [f"{sent} cannot be read back and will be sent again until the files are committed: {names}"]


def unapplied(code: int) -> str:
    """What became of a plan of which nothing was carried out, by the exit code of the apply."""
    return "Not applied." if code == Exit.REFUSED else "Nothing to apply."


def ending(report: Report, reverts: bool = False) -> str:
    """Return a sentence that says whether the platform is as declared, and how certain this is.

    `reverts`: whether the report is of a revert. A revert does not end in the state that the files declare.
    """
    if report.interrupted:
        return "Interrupted: run apply again to finish the rest."
    if report.remaining is None:
        return "Not verified: run plan to see where things stand."
    if report.settled:
        text = "Converged: a new plan has no changes."
        if reverts:
            text = "Reverted: everything in the plan is done. The files are unchanged."
        if reasons := list(_unconverged_reasons(report)):
            text = f"Not converged: nothing is left to change, but {' and '.join(reasons)}, see above."
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


def _unconverged_reasons(report: Report) -> Iterator[str]:
    """Yield the reasons why an apply has not converged although a new plan has no changes."""
    if number := report.unsuccessful:
        yield f"{counted(number, 'step')} {'was' if number == 1 else 'were'} not carried out"
    if report.started:
        things = counted(len(report.started), "thing")
        yield f"the platform reports trouble with {things} that this apply wrote"
    if report.processing:
        things = counted(len(report.processing), "thing")
        yield f"the platform is still processing {things} that this apply wrote (run plan again later)"


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
