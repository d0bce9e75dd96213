"""Describe the result of a rehearsal: what was checked, what was not, and how long an apply may take."""

from __future__ import annotations

from collections.abc import Iterator

from dpsync.model.plan import Deviation, Estimate, FaultRun, Rehearsal, Unproven
from dpsync.model.text import counted
from dpsync.render.words.visible import visible


def summary(rehearsal: Rehearsal) -> str:
    """Return how many steps were rehearsed, whether a new plan is empty, and the estimated time."""
    text = f"Rehearsed {rehearsal.done} of {counted(rehearsal.steps, 'step')}. "
    text += "Verified: a new plan has no changes." if rehearsal.converged else "A new plan still has changes."
    if rehearsal.time is not None:
        text += f" Estimated time: {duration(rehearsal.time.seconds)}."
    if number := len(rehearsal.unproven):
        text += (
            f" {counted(number, 'check')} {'was' if number == 1 else 'were'} not possible (-v lists them)."
        )
    return text


def verdict(rehearsal: Rehearsal) -> str:
    """Return in a sentence whether the plan can be applied as shown."""
    if not rehearsal.deviations and not rehearsal.fit:
        bad, runs = sum(not run.good for run in rehearsal.faults), counted(len(rehearsal.faults), "rehearsal")
        return f"The rehearsal failed: {bad} of {runs} with simulated failures did not finish the plan."
    if not rehearsal.fit:
        number = counted(len(rehearsal.deviations), "problem")
        return f"The rehearsal failed: {number} (listed above). Do not apply this plan."
    if not rehearsal.complete:
        return "The rehearsal succeeded. A person must do some steps of the plan by hand."
    return "The rehearsal succeeded."


def two_lines(rehearsal: Rehearsal) -> tuple[str, str]:
    """Return the result in one line, and in another line what was not checked."""
    what = ", ".join(one.what for one in rehearsal.unproven)
    return f"{summary(rehearsal)} {verdict(rehearsal)}", f"not checked: {what or 'nothing'}"


def proven(rehearsal: Rehearsal) -> Iterator[tuple[str, str]]:
    """Yield each property that held in the rehearsal: its topic, and a sentence about it."""
    wrong = {one.what for one in rehearsal.deviations}
    if "loading" in wrong or "stopped" in wrong:
        return
    if "step" not in wrong:
        moves = f", including {counted(rehearsal.moves, 'move')}" if rehearsal.moves else ""
        yield "order", f"All {counted(rehearsal.steps, 'step')} succeeded in the planned order{moves}."
    if rehearsal.converged:
        yield "convergence", "After the last step, a new plan had no changes."
    if "public" not in wrong and not any(one.what == "public" for one in rehearsal.unproven):
        yield "public", "No step exposed an object temporarily."
    yield (
        "requests",
        f"The apply sends {rehearsal.writes} write requests and {rehearsal.reads} read requests.",
    )
    if rehearsal.time is not None:
        yield "time", time(rehearsal.time)


def time(estimate: Estimate) -> str:
    """Return the estimated duration of an apply and its calculation."""
    latency = f"{estimate.latency * 1000:.0f} ms"
    reading, writing = duration(estimate.reading), duration(estimate.writing)
    steps = f"{writing} for the steps ({estimate.parallelism} steps in parallel, {latency} per request)"
    return f"The apply takes about {duration(estimate.seconds)}: two reads of {reading} each, and {steps}."


def duration(seconds: float) -> str:
    """Return a duration in whole seconds, or in minutes from 2 minutes on."""
    if seconds < 120:
        return f"{max(1, round(seconds))} s"
    return f"{seconds / 60:.0f} min"


def deviation(one: Deviation) -> str:
    status = f" (status {one.status})" if one.status is not None else ""
    return f"{visible(one.message)}{status}"


def unproven(one: Unproven) -> str:
    """Return what could not be checked, with everything that it is about."""
    names = ", ".join(visible(name) for name in one.about)
    return f"{visible(one.message)}: {names}" if names else visible(one.message)


def faults(run: FaultRun) -> str:
    """Return one rehearsal with faults in a line."""
    return f"{', '.join(visible(fault) for fault in run.faults)}: {visible(run.end)}"
