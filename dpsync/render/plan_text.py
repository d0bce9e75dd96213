"""A plan for people: a tree first, words second, deletes last and loudest, the summary where the eye ends up.

Reads the plan and nothing else. Every foreign text passes visible(). Colour only repeats what signs and words
say.
"""

from __future__ import annotations

from dpsync.model.plan import Change, Difference, Plan
from dpsync.render.beside_text import behind, render_beside
from dpsync.render.exposed_text import render_exposures
from dpsync.render.head_text import render_head
from dpsync.render.paint import Paint
from dpsync.render.plan_words import (
    SIGNS,
    acts,
    candidate,
    facts,
    headline,
    in_trouble,
    noun,
    recognised,
)
from dpsync.render.summary_text import render_summary, verdict, with_summary_first
from dpsync.render.tree_text import STYLES, render_lines, render_tree
from dpsync.render.value_text import render_difference
from dpsync.render.visible import visible


def render_plan(
    plan: Plan, paint: Paint, verbose: int = 0, *, quiet: bool = False, summary: bool = False
) -> str:
    """The plan as text, without a trailing newline.

    `summary`: one line for each address. `quiet`: only what needs a person.
    """
    made = [change for change in plan.changes if change.action != "delete"]
    deletes = [change for change in plan.changes if change.action == "delete"]
    parts = [render_head(plan, paint)]
    if summary:
        parts.append(render_lines(deletes if quiet else plan.changes, paint))
    elif not quiet:
        parts.append(render_tree(plan, paint))
        parts.append("\n\n".join(_words(plan, change, paint, verbose) for change in made))
    parts += render_beside(plan, paint, verbose, quiet=quiet, summary=summary)
    parts.append(render_exposures(plan, paint, summary))
    if not summary:
        parts.append(_deletes(plan, deletes, paint))
    parts.append(_refusals(plan, paint, summary))
    first = f"{verdict(plan, paint)}{in_trouble(plan)}"
    return with_summary_first(first, [*parts, render_summary(plan, paint)])


# The words.


def _words(plan: Plan, change: Change, paint: Paint, verbose: int) -> str:
    head = f"{SIGNS[change.action]} {visible(change.address)}"
    lines = [paint(head, STYLES[change.action]) + behind(plan, change.address, paint)]
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


def _refusals(plan: Plan, paint: Paint, summary: bool) -> str:
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
        lines += [f"      - {candidate(one)}" for one in item.candidates]
        lines.append(f"      way out: {visible(item.way_out)}")
    return "\n".join(lines)
