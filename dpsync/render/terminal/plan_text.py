"""A plan for people: a tree first, words second, deletes last and loudest, the summary where the eye ends up.

Reads the plan and nothing else. Every foreign text passes visible(). Colour only repeats what signs and words
say.
"""

from __future__ import annotations

from collections.abc import Iterator

from dpsync.model.plans.change import Change, Difference
from dpsync.model.plans.grouping import parts as parts_of
from dpsync.model.plans.plan import Plan
from dpsync.render.terminal.beside_text import behind, render_beside, render_candidates
from dpsync.render.terminal.exposed_text import render_exposures
from dpsync.render.terminal.field_text import render_difference, with_cause
from dpsync.render.terminal.head_text import render_head
from dpsync.render.terminal.navigation_text import render_navigation
from dpsync.render.terminal.paint import Paint
from dpsync.render.terminal.summary_text import render_summary, verdict, with_summary_first
from dpsync.render.terminal.tree_text import STYLES, render_lines, render_tree
from dpsync.render.terminal.urls_text import render_urls
from dpsync.render.words.plan import (
    SIGNS,
    asked,
    divided,
    facts,
    gist,
    headline,
    in_trouble,
    moved,
    noun,
    recognised,
    restored,
    why,
)
from dpsync.render.words.visible import visible


def render_plan(
    plan: Plan, paint: Paint, verbose: int = 0, *, quiet: bool = False, summary: bool = False
) -> str:
    """The plan as text, without a trailing newline.

    `summary`: one line for each address. `quiet`: only what needs a person.
    """
    deletes = [change for change in plan.changes if change.action == "delete"]
    parts = [render_head(plan, paint)]
    if summary:
        parts.append(render_lines(plan, deletes if quiet else plan.changes, paint))
    elif not quiet:
        parts.append(render_tree(plan, paint))
        parts += _in_parts(plan, paint, verbose)
    parts += render_beside(plan, paint, verbose, quiet=quiet, summary=summary)
    if not (quiet or summary):
        parts.append(render_navigation(plan, paint))
    parts.append(render_urls(plan, paint, quiet=quiet, summary=summary))
    parts.append(render_exposures(plan, paint, summary))
    if not summary:
        parts.append(_deletes(plan, deletes, paint))
    parts.append(_refusals(plan, paint, verbose, summary))
    first = f"{verdict(plan, paint)}{in_trouble(plan)}"
    return with_summary_first(first, [*parts, render_summary(plan, paint, verbose)])


# The words.


def _in_parts(plan: Plan, paint: Paint, verbose: int) -> Iterator[str]:
    """What this change does and what was there already, each under its title where that is not all one."""
    titled = bool(divided(plan))
    for part in parts_of(plan):
        words = [_words(plan, change, paint, verbose) for change in part.items if change.action != "delete"]
        if titled and (goes := [_goes(plan, one, paint) for one in part.items if one.action == "delete"]):
            words.append("\n".join(goes))
        if words:
            yield from (paint(f"{part.title}:", "bold"), *words) if titled else words


def _goes(plan: Plan, change: Change, paint: Paint) -> str:
    """A delete among what else its part does: all about it stands with the deletes."""
    cause = why(plan, change.cause, "removed")
    text = paint(f"{SIGNS['delete']} {visible(change.address)}  {gist(change)}", STYLES["delete"])
    return f"{text}  {paint(f'({cause})', 'dim')}" if cause else text


def _words(plan: Plan, change: Change, paint: Paint, verbose: int) -> str:
    head = f"{SIGNS[change.action]} {visible(change.address)}"
    lines = [paint(head, STYLES[change.action]) + behind(plan, change.address, paint)]
    made = change.action == "create" or restored(change)
    if made and (cause := why(plan, change.cause, "made")):
        lines[0] += f"  {paint(f'({cause})', 'dim')}"
    if found := recognised(plan, change):
        lines.append(f"    {paint(found, 'dim')}")
    elif verbose and change.id:
        lines.append(f"    {paint(f'is {visible(change.id)}', 'dim')}")
    lines += [f"    {text}" for text in facts(change)]
    width = max((len(item.field) for item in change.differences), default=0)
    for item in change.differences:
        first, *more = render_difference(item, width, change.action == "create", paint)
        won = _won(plan, change, item, verbose)
        cause = "" if change.action == "create" else why(plan, item.cause)
        lines += [*with_cause(first, cause, width + 6, paint), *more]
        lines[-1 - len(more)] += f"  {paint(won, 'dim')}" if won else ""
    if change.moved:
        lines += with_cause(f"    {moved(change)}", why(plan, change.cause, "place"), 6, paint)
    lines += [f"    {text}" for text in asked(change)]
    if verbose > 1:
        lines += [f"    {paint(f'{step.method} {visible(step.path)}', 'dim')}" for step in change.steps]
    return "\n".join(lines)


def _won(plan: Plan, change: Change, item: Difference, verbose: int) -> str:
    """Where a field was written: with -v, and wherever that is another file than its entry's."""
    entry, own = plan.origins.get(change.address), plan.origins.get(str(change.location.field(item.field)))
    if own is None or not (verbose or (entry is not None and entry.file != own.file)):
        return ""
    return f"{visible(own.file)}:{own.line}:{own.column}"


def _deletes(plan: Plan, deletes: list[Change], paint: Paint) -> str:
    if not deletes:
        return ""
    lines = [paint(headline(plan), "red bold")]
    for change in deletes:
        what = f'- {visible(change.address)}  {noun(change.kind)} "{visible(change.label)}"'
        cause = why(plan, change.cause, "removed")
        lines.append(paint(f"  {what}", "red") + (f"  {paint(f'({cause})', 'dim')}" if cause else ""))
        lines += [f"      {text}" for text in facts(change)]
        for effect in change.effects:
            lines.append(f"      {visible(effect.address)}: {visible(effect.what)}")
    return "\n".join(lines)


def _refusals(plan: Plan, paint: Paint, verbose: int, summary: bool) -> str:
    if not plan.refusals:
        return ""
    lines = [paint("This plan may not be applied:", "red bold")]
    for item in plan.refusals:
        head = f"  {paint(visible(item.address), 'red')}"
        if summary:
            lines.append(f"{head}  {visible(item.message)} ({item.code})")
            continue
        lines.append(head + behind(plan, item.address, paint))
        lines.append(f"      {visible(item.message)} ({item.code})")
        lines += [f"      {line}" for line in render_candidates(item, verbose)]
        lines.append(f"      way out: {visible(item.way_out)}")
    return "\n".join(lines)
