"""What a plan and drift say beside what differs: notes, what is kept, blocked, waited for, in trouble.

Reads the plan or the drift and nothing else. Every foreign text passes visible().
"""

from __future__ import annotations

from collections.abc import Iterator

from dpsync.model.findings.question import Refusal
from dpsync.model.plans.remark import Note
from dpsync.model.texts.words import counted
from dpsync.render.terminal.paint import Paint
from dpsync.render.words.plan import SHOWN, PlanOrDrift, candidate, origin, place, unmanaged
from dpsync.render.words.visible import visible


def render_beside(
    plan: PlanOrDrift, paint: Paint, verbose: int, *, quiet: bool, summary: bool
) -> Iterator[str]:
    """Each part as a text, perhaps an empty one; `summary` and `quiet` as for a whole plan."""
    yield render_notes(plan, paint, verbose, quiet)
    if not quiet:
        yield render_kept(plan, paint, verbose)
    yield render_blocked(plan, paint, summary)
    if not quiet:
        yield render_waiting(plan, paint)
    yield render_trouble(plan, paint, summary)


def render_notes(plan: PlanOrDrift, paint: Paint, verbose: int, quiet: bool = False) -> str:
    """The notes; what every plan would say again is counted, and listed with -v."""
    listed = [note for note in plan.notes if verbose or not note.permanent]
    if quiet:
        listed = [note for note in plan.notes if note.severity == "warning"]
    lines = [_note(plan, note, paint) for note in listed]
    permanent = sum(note.permanent for note in plan.notes)
    if permanent and not (verbose or quiet):
        said = f"note: {counted(permanent, 'field')} cannot be compared with the platform (listed with -v)"
        lines.append(paint(said, "dim"))
    return "\n".join(lines)


def _note(plan: PlanOrDrift, note: Note, paint: Paint) -> str:
    found = place(plan.origins.get(note.address))  # of what is not written any more there is none
    where = f"  {found}" if found else ""
    text = f"{note.severity}: {visible(note.address)}: {visible(note.text)}{where}"
    return paint(text, "yellow" if note.severity == "warning" else "dim")


def render_kept(plan: PlanOrDrift, paint: Paint, verbose: int) -> str:
    most = None if verbose else 3
    return "\n".join(paint(f"{visible(kept.place)}: {unmanaged(kept, most)}", "dim") for kept in plan.kept)


def render_blocked(plan: PlanOrDrift, paint: Paint, summary: bool = False) -> str:
    lines = []
    for item in plan.blocked:
        head = paint(f"! {visible(item.address)}", "magenta")
        if summary:
            lines.append(f"{head}  blocked: {visible(item.reason)}")
            continue
        lines.append(head + behind(plan, item.address, paint))
        lines.append(f"    blocked: {visible(item.reason)}")
        if item.todo:
            lines.append(f"    to do: {visible(item.todo)}")
    return "\n".join(lines)


def render_waiting(plan: PlanOrDrift, paint: Paint) -> str:
    return "\n".join(
        paint(f"… {visible(item.address)}: {visible(item.what)}", "dim") for item in plan.waiting
    )


def render_trouble(plan: PlanOrDrift, paint: Paint, summary: bool = False) -> str:
    lines = []
    for item in plan.trouble:
        head, said = (
            paint(f"x {visible(item.address)}", "red"),
            f"trouble on the platform: {visible(item.what)}",
        )
        lines += [f"{head}  {said}"] if summary else [head + behind(plan, item.address, paint), f"    {said}"]
    return "\n".join(lines)


def render_candidates(item: Refusal, verbose: int) -> Iterator[str]:
    """What the entry of a refusal could be, a line each; with -v all of it."""
    listed = item.candidates if verbose else item.candidates[:SHOWN]
    yield from (f"- {candidate(one)}" for one in listed)
    if more := len(item.candidates) - len(listed):
        yield f"- and {more} more (-v lists them)"


def behind(plan: PlanOrDrift, address: str, paint: Paint) -> str:
    """Where an address or a field is written, to be put behind it."""
    found = place(origin(plan, address))
    return f"  {paint(found, 'dim')}" if found else ""
