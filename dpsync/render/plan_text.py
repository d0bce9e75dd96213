"""A plan for people: a tree first, words second, deletes last and loudest, the summary where the eye ends up.

Reads the plan and nothing else. Every foreign text passes visible(). Colour only repeats what signs and words
say.
"""

from __future__ import annotations

from collections.abc import Iterator

from dpsync.model.plan import Change, Difference, Note, Plan
from dpsync.render.head_text import render_head
from dpsync.render.paint import Paint
from dpsync.render.plan_words import (
    SIGNS,
    PlanOrDrift,
    acts,
    base,
    candidate,
    effort,
    facts,
    gist,
    headline,
    in_trouble,
    noun,
    origin,
    place,
    recognised,
    summary,
    unmanaged,
    unwatched,
)
from dpsync.render.value_text import render_difference
from dpsync.render.visible import visible

_STYLES = {"create": "green", "update": "yellow", "delete": "red"}


def render_plan(plan: Plan, paint: Paint, verbose: int = 0) -> str:
    """The whole plan as text, without a trailing newline."""
    made = [change for change in plan.changes if change.action != "delete"]
    deletes = [change for change in plan.changes if change.action == "delete"]
    parts = [
        render_head(plan, paint),
        _tree(plan, paint),
        "\n\n".join(_words(plan, change, paint, verbose) for change in made),
        render_notes(plan, paint),
        render_kept(plan, paint, verbose),
        render_blocked(plan, paint),
        render_waiting(plan, paint),
        render_trouble(plan, paint),
        _deletes(plan, deletes, paint),
        _refusals(plan, paint),
        "\n".join([_summary(plan, paint), *render_base(plan, paint), *render_unwatched(plan, paint)]),
    ]
    return "\n\n".join(part for part in parts if part)


def _tree(plan: Plan, paint: Paint) -> str:
    """Every changed address, one line each, indented below what it belongs to."""
    return "\n".join(_branch([(change.address.split("/"), change) for change in plan.changes], 0, paint))


def _branch(changes: list[tuple[list[str], Change]], depth: int, paint: Paint) -> Iterator[str]:
    """The lines of what has the same segments up to `depth`."""
    groups: dict[str, list[tuple[list[str], Change]]] = {}
    for path, change in changes:
        groups.setdefault(path[depth], []).append((path, change))
    for name in _siblings(groups):
        own = [change for path, change in groups[name] if len(path) == depth + 1]
        yield from (_leaf(change, depth, paint) for change in own)
        if not own:
            yield f"  {'  ' * depth}{visible(name)}"
        below = [(path, change) for path, change in groups[name] if len(path) > depth + 1]
        yield from _branch(below, depth + 1, paint)


def _siblings(groups: dict[str, list[tuple[list[str], Change]]]) -> list[str]:
    """As the plan lists them. What goes has no order any more: it stands by its name, or last."""
    stay = [name for name, inside in groups.items() if any(one.action != "delete" for _, one in inside)]
    go = sorted(groups.keys() - stay)
    return sorted(groups) if stay == sorted(stay) else [*stay, *go]


def _leaf(change: Change, depth: int, paint: Paint) -> str:
    name = visible(change.address.rpartition("/")[2])
    text = f"{SIGNS[change.action]} {name}"
    return f"{'  ' * depth}{paint(text, _STYLES[change.action])}  {paint(gist(change), 'dim')}".rstrip()


# The words.


def _words(plan: Plan, change: Change, paint: Paint, verbose: int) -> str:
    head = f"{SIGNS[change.action]} {visible(change.address)}"
    where = _where(plan, change.address)
    lines = [paint(head, _STYLES[change.action]) + (f"  {paint(where, 'dim')}" if where else "")]
    if found := recognised(plan, change):
        lines.append(f"    {paint(found, 'dim')}")
    elif verbose and change.id:
        lines.append(f"    {paint(f'is {visible(change.id)}', 'dim')}")
    lines += [f"    {text}" for text in facts(change)]
    width = max((len(item.field) for item in change.differences), default=0)
    for item in change.differences:
        first, *more = render_difference(item, width, change.action == "create", paint)
        won = _won(plan, change, item, verbose)
        lines += [first + (f"  {paint(won, 'dim')}" if won else ""), *more]
    lines += [f"    {text}" for text in acts(change)]
    if verbose > 1:
        lines += [f"    {paint(f'{step.method} {visible(step.path)}', 'dim')}" for step in change.steps]
    return "\n".join(lines)


def _won(plan: Plan, change: Change, item: Difference, verbose: int) -> str:
    """Where a field was written: with -v, and wherever that is another file than its entry's."""
    entry, own = plan.origins.get(change.address), plan.origins.get(f"{change.address}#{item.field}")
    if own is None or not (verbose or (entry is not None and entry.file != own.file)):
        return ""
    return f"{visible(own.file)}:{own.line}:{own.column}"


def render_notes(plan: PlanOrDrift, paint: Paint) -> str:
    return "\n".join(_note(plan, note, paint) for note in plan.notes)


def _note(plan: PlanOrDrift, note: Note, paint: Paint) -> str:
    origin = plan.origins.get(note.address)  # of what is not written any more there is none
    where = f"  {visible(origin.file)}:{origin.line}:{origin.column}" if origin else ""
    text = f"{note.severity}: {visible(note.address)}: {visible(note.text)}{where}"
    return paint(text, "yellow" if note.severity == "warning" else "dim")


def render_kept(plan: PlanOrDrift, paint: Paint, verbose: int) -> str:
    most = None if verbose else 3
    return "\n".join(paint(f"{visible(kept.place)}: {unmanaged(kept, most)}", "dim") for kept in plan.kept)


def render_blocked(plan: PlanOrDrift, paint: Paint) -> str:
    lines = []
    for item in plan.blocked:
        where = _where(plan, item.address)
        lines.append(
            paint(f"! {visible(item.address)}", "magenta") + (f"  {paint(where, 'dim')}" if where else "")
        )
        lines.append(f"    blocked: {visible(item.reason)}")
        if item.todo:
            lines.append(f"    to do: {visible(item.todo)}")
    return "\n".join(lines)


def render_waiting(plan: PlanOrDrift, paint: Paint) -> str:
    return "\n".join(
        paint(f"… {visible(item.address)}: {visible(item.what)}", "dim") for item in plan.waiting
    )


def render_trouble(plan: PlanOrDrift, paint: Paint) -> str:
    lines = []
    for item in plan.trouble:
        where = _where(plan, item.address)
        lines.append(
            paint(f"x {visible(item.address)}", "red") + (f"  {paint(where, 'dim')}" if where else "")
        )
        lines.append(f"    trouble on the platform: {visible(item.what)}")
    return "\n".join(lines)


def _deletes(plan: Plan, deletes: list[Change], paint: Paint) -> str:
    if not deletes:
        return ""
    lines = [paint(headline(plan), "red bold")]
    for change in deletes:
        what = f'- {visible(change.address)}  {noun(change.kind)} "{visible(change.label)}"'
        lines.append(paint(f"  {what}", "red"))
        lines += [f"      {text}" for text in facts(change)]
        for effect in change.effects:
            lines.append(f"      {visible(effect.address)}: {visible(effect.what)}")
    return "\n".join(lines)


def _refusals(plan: Plan, paint: Paint) -> str:
    if not plan.refusals:
        return ""
    lines = [paint("This plan may not be applied:", "red bold")]
    for item in plan.refusals:
        where = _where(plan, item.address)
        lines.append(
            f"  {paint(visible(item.address), 'red')}" + (f"  {paint(where, 'dim')}" if where else "")
        )
        lines.append(f"      {visible(item.message)} ({item.code})")
        lines += [f"      - {candidate(one)}" for one in item.candidates]
        lines.append(f"      way out: {visible(item.way_out)}")
    return "\n".join(lines)


def _where(plan: PlanOrDrift, address: str) -> str:
    return place(origin(plan, address))


def render_base(plan: PlanOrDrift, paint: Paint) -> Iterator[str]:
    if text := base(plan):
        yield paint(text, "dim")


def render_unwatched(plan: PlanOrDrift, paint: Paint) -> Iterator[str]:
    if text := unwatched(plan):
        yield paint(text, "dim")


def _summary(plan: Plan, paint: Paint) -> str:
    style = "green bold" if plan.empty else "bold"
    text = f"{paint(summary(plan), style)} {paint(effort(plan), 'dim')}{in_trouble(plan)}"
    return text if plan.empty else f"{text}\ndigest {plan.digest[:16]}"
