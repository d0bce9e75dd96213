"""A plan for people: a tree first, words second, deletes last and loudest, the summary where the eye ends up.

Reads the plan and nothing else. Every foreign text passes visible(). Colour only repeats what signs and words
say.
"""

from __future__ import annotations

from collections.abc import Iterator

from dpsync.model.plan import Candidate, Change, Difference, Note, Plan
from dpsync.model.words import counted
from dpsync.render.head_text import PlanOrDrift, render_head
from dpsync.render.paint import Paint
from dpsync.render.value_text import render_difference
from dpsync.render.visible import visible

SIGNS = {"create": "+", "update": "~", "delete": "-"}
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
    return f"{'  ' * depth}{paint(text, _STYLES[change.action])}  {paint(_gist(change), 'dim')}".rstrip()


def _gist(change: Change) -> str:
    label = f'"{visible(change.label)}"'
    if change.action == "create":
        inside = change.inside.rpartition("/")[2] if change.inside else None
        return f"new {_noun(change)} {label}" + (f" in {visible(inside)}" if inside else "")
    if change.action == "delete":
        along = sum(effect.counts for effect in change.effects)
        return f"DELETE {_noun(change)} {label}" + (
            f", {along} more {'goes' if along == 1 else 'go'} with it" if along else ""
        )
    words = [difference.field for difference in change.differences]
    if any(step.verb == "restore" for step in change.steps):
        words.insert(0, "brought back")
    if change.moved:
        words.append(f"moved {visible(change.moved)}")
    words += [visible(step.summary) for step in change.steps if step.verb == "act"]
    freed = any(step.phase == "free" for step in change.steps)
    return ", ".join(words) or ("steps aside" if freed else "")


def _noun(change: Change) -> str:
    return change.kind.replace("_", " ")


# The words.


def _words(plan: Plan, change: Change, paint: Paint, verbose: int) -> str:
    head = f"{SIGNS[change.action]} {visible(change.address)}"
    where = _where(plan, change.address)
    lines = [paint(head, _STYLES[change.action]) + (f"  {paint(where, 'dim')}" if where else "")]
    if change.matched and change.id:
        lines.append(f"    {paint(f'{_recognised(plan, change)} to {visible(change.id)}', 'dim')}")
    elif verbose and change.id:
        lines.append(f"    {paint(f'is {visible(change.id)}', 'dim')}")
    if any(step.verb == "restore" for step in change.steps):
        lines.append("    was deleted and is brought back; its places in other things are not")
    width = max((len(item.field) for item in change.differences), default=0)
    for item in change.differences:
        first, *more = render_difference(item, width, change.action == "create", paint)
        won = _won(plan, change, item, verbose)
        lines += [first + (f"  {paint(won, 'dim')}" if won else ""), *more]
    if change.moved:
        lines.append(f"    moved {visible(change.moved)}")
    lines += [f"    {visible(step.summary)}, as asked" for step in change.steps if step.verb == "act"]
    if verbose > 1:
        lines += [f"    {paint(f'{step.method} {visible(step.path)}', 'dim')}" for step in change.steps]
    return "\n".join(lines)


def _won(plan: Plan, change: Change, item: Difference, verbose: int) -> str:
    """Where a field was written: with -v, and wherever that is another file than its entry's."""
    entry, own = plan.origins.get(change.address), plan.origins.get(f"{change.address}#{item.field}")
    if own is None or not (verbose or (entry is not None and entry.file != own.file)):
        return ""
    return f"{visible(own.file)}:{own.line}:{own.column}"


def _recognised(plan: Plan, change: Change) -> str:
    match change.matched:
        case "pin":
            return "pinned"
        case "base":
            return f"renamed: matched by its name in {visible(plan.base_from or 'the git base')}"
        case "previously":
            return "renamed: matched by previously"
    return f"matched by {change.matched}"


def render_notes(plan: PlanOrDrift, paint: Paint) -> str:
    return "\n".join(_note(plan, note, paint) for note in plan.notes)


def _note(plan: PlanOrDrift, note: Note, paint: Paint) -> str:
    origin = plan.origins.get(note.address)  # of what is not written any more there is none
    where = f"  {visible(origin.file)}:{origin.line}:{origin.column}" if origin else ""
    text = f"{note.severity}: {visible(note.address)}: {visible(note.text)}{where}"
    return paint(text, "yellow" if note.severity == "warning" else "dim")


def render_kept(plan: PlanOrDrift, paint: Paint, verbose: int) -> str:
    lines = []
    for kept in plan.kept:
        names = kept.addresses if verbose or len(kept.addresses) <= 3 else kept.addresses[:3]
        short = ", ".join(visible(_below(name, kept.place)) for name in names)
        more = f" and {len(kept.addresses) - len(names)} more" if len(names) < len(kept.addresses) else ""
        lines.append(
            paint(f"{visible(kept.place)}: {len(kept.addresses)} unmanaged, kept: {short}{more}", "dim")
        )
    return "\n".join(lines)


def _below(address: str, place: str) -> str:
    return address.removeprefix(f"{place}/")


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
    lines = [paint(f"DELETES: {counted(plan.deletes, 'thing')} will be gone", "red bold")]
    for change in deletes:
        what = f'- {visible(change.address)}  {_noun(change)} "{visible(change.label)}"'
        lines.append(paint(f"  {what}", "red"))
        if any(step.phase == "free" for step in change.steps):
            lines.append("      first gives up a value that another one takes")
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
        lines += [f"      {_candidate(one)}" for one in item.candidates]
        lines.append(f"      way out: {visible(item.way_out)}")
    return "\n".join(lines)


def _candidate(one: Candidate) -> str:
    facts = [one.id, one.why]
    facts += [f"last changed {one.changed}"] if one.changed else []
    facts += [f"shown in {', '.join(one.shown_in)}"] if one.shown_in else []
    return f'- "{visible(one.title)}": ' + visible(", ".join(fact for fact in facts if fact))


def _where(plan: PlanOrDrift, address: str) -> str:
    origin = plan.origins.get(address) or plan.origins.get(address.partition("#")[0])
    return f"{visible(origin.file)}:{origin.line}:{origin.column}" if origin else ""


def counts(plan: Plan) -> dict[str, int]:
    """Changes by what they do. One that is both updated and moved counts as an update."""
    found = {"create": 0, "update": 0, "move": 0, "delete": 0}
    for change in plan.changes:
        only_moved = change.action == "update" and not change.differences and change.moved
        found["move" if only_moved else change.action] += 1
    return found


def render_base(plan: PlanOrDrift, paint: Paint) -> Iterator[str]:
    if plan.base:
        yield paint(f"base: {visible(plan.base_from)} ({plan.base[:12]})", "dim")
    elif plan.base_from:
        yield paint(f"base: none ({visible(plan.base_from)})", "dim")


def render_unwatched(plan: PlanOrDrift, paint: Paint) -> Iterator[str]:
    """How much no entry names: nobody would notice when it moves."""
    found = plan.unwatched
    words = [counted(found.places, "place")] if found.places else []
    if found.fields:
        words.append(f"{counted(found.fields, 'field')} of {counted(found.things, 'thing')}")
    if words:
        yield paint(f"not watched: {', '.join(words)}", "dim")


def in_trouble(plan: PlanOrDrift) -> str:
    """How much is in trouble on the platform, behind a summary."""
    return f" {len(plan.trouble)} in trouble on the platform." if plan.trouble else ""


def _summary(plan: Plan, paint: Paint) -> str:
    steps = [step for change in plan.changes for step in change.steps]
    writes = sum(step.method != "GET" for step in steps)
    asked = f"{counted(plan.requests, 'request')} to read"
    if plan.empty:
        head = "No changes."
        if plan.blocked:
            head += f" {len(plan.blocked)} blocked."
        return f"{paint(head, 'green bold')} {paint(f'({asked})', 'dim')}{in_trouble(plan)}"
    found = counts(plan)
    words = [
        f"{found['create']} to create",
        f"{found['update']} to change",
        *([f"{found['move']} to move"] if found["move"] else []),
        f"{found['delete']} TO DELETE" if found["delete"] else "0 to delete",
        *([f"{len(plan.blocked)} blocked"] if plan.blocked else []),
    ]
    # Some steps only read: they wait for the platform, or look for what another step has made.
    more = f" in {counted(len(steps), 'step')}" if len(steps) != writes else ""
    rest = f"({asked}, {writes} to write{more})"
    return (
        f"{paint('Plan: ' + ', '.join(words) + '.', 'bold')} {paint(rest, 'dim')}{in_trouble(plan)}\n"
        f"digest {plan.digest[:16]}"
    )
