"""The words in which every output tells what a rehearsal has shown, and what it has not."""

from __future__ import annotations

from collections.abc import Iterator

from dpsync.model.plans.rehearsal import Deviation, Estimate, FaultRun, Rehearsal, Unproven
from dpsync.model.texts.words import counted
from dpsync.render.words.visible import visible


def summary(rehearsal: Rehearsal) -> str:
    """In a sentence: how far it came and how it ended."""
    done = f"{rehearsal.done} of {counted(rehearsal.steps, 'step')}"
    ended = "converged" if rehearsal.converged else "not converged"
    time = f", about {duration(rehearsal.time.seconds)}" if rehearsal.time is not None else ""
    return f"Rehearsed: {done}, {ended}{time}, {unchecked(rehearsal)}."


def verdict(rehearsal: Rehearsal) -> str:
    """In a sentence: whether the plan is fit to be applied."""
    if not rehearsal.deviations and not rehearsal.fit:
        bad, runs = sum(not run.good for run in rehearsal.faults), counted(len(rehearsal.faults), "rehearsal")
        return f"NOT AS PLANNED: {bad} of {runs} with faults ended otherwise."
    if not rehearsal.fit:
        number = counted(len(rehearsal.deviations), "deviation")
        return f"NOT AS PLANNED: {number}, see above. This plan is not fit to be applied."
    if not rehearsal.complete:
        return "It went as planned, and the plan leaves something to a person."
    return "It went as planned."


def two_lines(rehearsal: Rehearsal) -> tuple[str, str]:
    """For where a plan is told: what was shown, and what could not be checked."""
    what = ", ".join(one.what for one in rehearsal.unproven)
    return f"{summary(rehearsal)} {verdict(rehearsal)}", f"not checked: {what or 'nothing'}"


def unchecked(rehearsal: Rehearsal) -> str:
    """How much could not be checked."""
    return f"{counted(len(rehearsal.unproven), 'thing')} could not be checked"


def proven(rehearsal: Rehearsal) -> Iterator[tuple[str, str]]:
    """What was shown, each with what it is about. Nothing is here that did not hold."""
    wrong = {one.what for one in rehearsal.deviations}
    if "loading" in wrong or "stopped" in wrong:
        return
    if "step" not in wrong:
        moves = f", {counted(rehearsal.moves, 'move')} among them" if rehearsal.moves else ""
        yield "order", f"{counted(rehearsal.steps, 'step')} were accepted one after the other{moves}"
    if rehearsal.converged:
        yield "convergence", "a new plan has no changes"
    if "public" not in wrong and not any(one.what == "public" for one in rehearsal.unproven):
        looked = counted(rehearsal.looked, "write")
        yield "public", f"after none of {looked} was anything public that is public neither before nor after"
    yield (
        "requests",
        f"{rehearsal.writes} to write; {rehearsal.reads} to read, to check each step and to prove",
    )
    if rehearsal.time is not None:
        yield "time", time(rehearsal.time)


def time(estimate: Estimate) -> str:
    """How long an apply takes, and how that was worked out."""
    latency = f"{estimate.latency * 1000:.0f} ms"
    reading, writing = duration(estimate.reading), duration(estimate.writing)
    steps = f"{writing} for the steps, {estimate.parallelism} at once, {latency} for each request as now"
    return f"about {duration(estimate.seconds)}: twice {reading} to read as now, {steps}"


def duration(seconds: float) -> str:
    """A time for people."""
    if seconds < 1:
        return "a second" if seconds > 0.5 else f"{seconds:.1f} s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min"


def deviation(one: Deviation) -> str:
    status = f" (status {one.status})" if one.status is not None else ""
    return f"{visible(one.message)}{status}"


def unproven(one: Unproven) -> str:
    """Return what could not be checked, with everything that it is about."""
    names = ", ".join(visible(name) for name in one.about)
    return f"{visible(one.message)}: {names}" if names else visible(one.message)


def faults(run: FaultRun) -> str:
    """One rehearsal with faults, in a line."""
    return f"{', '.join(visible(fault) for fault in run.faults)}: {visible(run.end)}"
