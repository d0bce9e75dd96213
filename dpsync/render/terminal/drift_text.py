"""Drift for people: what is live instead of what the files say, with the ways out.

Reads the drift and nothing else. Every foreign text passes visible().
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dpsync.model.plans.change import Difference
from dpsync.model.plans.drift import Drift, Drifted, FieldDrift
from dpsync.model.plans.grouping import drifted_parts
from dpsync.model.texts.words import counted
from dpsync.render.json.ways_out import WaysOut, ways_out
from dpsync.render.terminal.beside_text import render_beside, render_candidates
from dpsync.render.terminal.field_text import with_cause
from dpsync.render.terminal.head_text import render_head
from dpsync.render.terminal.paint import Paint
from dpsync.render.terminal.summary_text import render_base, render_unwatched, with_summary_first
from dpsync.render.words.drift import SIGNS, WHAT, along, beside, verdict
from dpsync.render.words.plan import SHOWN, in_trouble, why
from dpsync.render.words.values import big, inside, show
from dpsync.render.words.visible import visible

_STYLES = {"different": "yellow", "missing": "red", "undeclared": "green"}


def render_drift(
    drift: Drift,
    paint: Paint,
    verbose: int = 0,
    *,
    quiet: bool = False,
    summary: bool = False,
    out: Mapping[str, WaysOut] | None = None,
) -> str:
    """The drift as text, without a trailing newline.

    `summary`: one line for each address. `quiet`: only what needs a person, as all drift does. `out` has the
    ways out by address, as a document has them.
    """
    asked = paint(f"({counted(drift.requests, 'request')} to read)", "dim")
    said = _summary(drift, paint)
    return with_summary_first(
        f"{said}{in_trouble(drift)}",
        [
            render_head(drift, paint),
            *_found(drift, paint, summary, out or {}),
            "" if quiet else _ignored(drift, paint, summary),
            *render_beside(drift, paint, verbose, quiet=quiet, summary=summary),
            _refusals(drift, paint, verbose, summary),
            _lines(drift, paint),
            "\n".join(
                [
                    f"{said} {asked}{in_trouble(drift)}",
                    *render_base(drift, paint, verbose),
                    *render_unwatched(drift, paint),
                ]
            ),
        ],
    )


def _found(drift: Drift, paint: Paint, summary: bool, out: Mapping[str, WaysOut]) -> Iterator[str]:
    """What was there already and what the files change, each under its title where both are there."""
    if summary:
        yield "\n".join(_line(drift, item, paint) for item in drift.found)
        return
    found = drifted_parts(drift)
    for part in found:
        if len(found) > 1:
            yield paint(f"{part.title}:", "bold")
        yield from (_item(drift, item, paint, out.get(item.address)) for item in part.items)


def _item(drift: Drift, item: Drifted, paint: Paint, known: WaysOut | None) -> str:
    out = known or ways_out(drift, item)
    lines = [_head(drift, item, paint), *_inside(drift, item, paint)]
    lines.append(f"    undo: {out.platform}")
    lines.append(f"    keep: {out.files or out.by_hand}")
    return "\n".join(lines)


def _line(drift: Drift, item: Drifted, paint: Paint) -> str:
    sign, style = SIGNS[item.what], _STYLES[item.what]
    said = {"missing": "not live", "undeclared": "not in the files", "different": ""}[item.what]
    words = [
        said,
        along(item),
        *(part.field for part in item.fields),
        "in another place" if item.place else "",
    ]
    parts = [*(why(drift, part.cause) for part in item.fields), why(drift, item.cause, WHAT[item.what])]
    causes = ", ".join(filter(None, dict.fromkeys(parts)))
    line = f"{paint(f'{sign} {visible(item.address)}', style)}  {', '.join(filter(None, words))}"
    return f"{line.rstrip()}{_in_brackets(causes, paint)}"


def _head(drift: Drift, item: Drifted, paint: Paint) -> str:
    sign, style = SIGNS[item.what], _STYLES[item.what]
    origin = drift.origins.get(item.address)
    where = f"  {visible(origin.file)}:{origin.line}:{origin.column}" if origin else ""
    return paint(f"{sign} {visible(item.address)}", style) + paint(where, "dim")


def _inside(drift: Drift, item: Drifted, paint: Paint) -> Iterator[str]:
    noun, label = item.kind.replace("_", " "), visible(item.label)
    if item.what == "missing":
        yield f'    the {noun} "{label}" is not live{_by(drift, item, paint)}'
        for other in item.renamed[:SHOWN]:
            yield f'    renamed on the platform? live: "{visible(other.label)}" ({visible(other.id)})'
        if (more := len(item.renamed) - SHOWN) > 0:
            yield f"    and {more} more that it could be"
    elif item.what == "undeclared":
        said = ", ".join(filter(None, ("is live and not in the files", along(item))))
        yield f'    the {noun} "{label}" {said}{_by(drift, item, paint)}'
    width = max((len(part.field) for part in item.fields), default=0)
    for part in item.fields:
        line = f"    {part.field.ljust(width)}  {_sides(part)}"
        yield from with_cause(line, why(drift, part.cause), width + 6, paint)
        if _in_parts(part):
            difference = Difference(field=part.field, before=part.live, after=part.file)
            yield from (f"    {' ' * width}  {line}" for line in inside(difference))
    if item.place:
        yield f"    file: {visible(item.place)}, live: elsewhere{_by(drift, item, paint)}"


def _in_parts(part: FieldDrift) -> bool:
    """Whether the values are too large for one line, so that only what differs inside them is shown."""
    return part.known and part.live is not None and (big(part.live) or big(part.file))


def _sides(part: FieldDrift) -> str:
    if _in_parts(part):
        return f"live → {'default' if part.watched else 'file'}:"
    live = show(part.live) if part.known else "(the platform does not say)"
    return f"live: {live}, {'default' if part.watched else 'file'}: {show(part.file)}"


def _by(drift: Drift, item: Drifted, paint: Paint) -> str:
    return _in_brackets(why(drift, item.cause, WHAT[item.what]), paint)


def _in_brackets(text: str, paint: Paint) -> str:
    return f"  {paint(f'({text})', 'dim')}" if text else ""


def _ignored(drift: Drift, paint: Paint, summary: bool) -> str:
    if not drift.ignored:
        return ""
    lines = ["Ignored, as the policy says:"]
    for item in drift.ignored:
        if summary:
            lines.append(f"  {_line(drift, item, paint)}")
            continue
        lines += [f"  {line}" for line in (_head(drift, item, paint), *_inside(drift, item, paint))]
    return "\n".join(lines)


def _refusals(drift: Drift, paint: Paint, verbose: int, summary: bool) -> str:
    if not drift.refusals:
        return ""
    lines = [paint("An apply would be refused:", "red")]
    for item in drift.refusals:
        lines.append(f"  {visible(item.address)}: {visible(item.message)} ({item.code})")
        if not summary:
            lines += [f"      {line}" for line in render_candidates(item, verbose)]
            lines.append(f"      way out: {visible(item.way_out)}")
    return "\n".join(lines)


def _lines(drift: Drift, paint: Paint) -> str:
    """What is not watched, with the lines that would: those of one entry together."""
    if not drift.unwatched_lines:
        return ""
    lines, at = ["Not watched:"], ""
    for item in drift.unwatched_lines:
        if item.address != at:
            origin, at = drift.origins.get(item.address), item.address
            where = f"  {visible(origin.file)}:{origin.line}:{origin.column}" if origin else ""
            lines.append(f"  {visible(item.address)}{paint(where, 'dim')}")
        if item.line:
            lines.append(f"    {visible(item.line)}")
        else:
            why = paint(f"({visible(item.why or '')})", "dim")
            lines.append(f"    {visible(item.field or '')}: {why}")
    return "\n".join(lines)


def _summary(drift: Drift, paint: Paint) -> str:
    style = "bold" if drift.drifted or drift.unread else "green bold"
    return f"{paint(verdict(drift), style)}{beside(drift)}"
