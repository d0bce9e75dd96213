"""Drift for people: what is live instead of what the files say, and the two ways out of each difference.

Reads the drift and nothing else. Every foreign text passes visible().
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from dpsync.model.entries.values import REF
from dpsync.model.frozen import Frozen
from dpsync.model.plans.cause import What
from dpsync.model.plans.change import Difference
from dpsync.model.plans.delete_count import DeleteCount
from dpsync.model.plans.drift import Drift, Drifted, FieldDrift
from dpsync.model.plans.grouping import drifted_parts
from dpsync.model.texts.command import command
from dpsync.model.texts.words import counted
from dpsync.render.beside_text import SHOWN, render_beside, render_candidates
from dpsync.render.head_text import render_head
from dpsync.render.paint import Paint
from dpsync.render.plan_words import in_trouble, why
from dpsync.render.summary_text import render_base, render_unwatched, with_summary_first
from dpsync.render.value_text import big, inside, show, with_cause
from dpsync.render.visible import visible

SIGNS = {"different": ("~", "yellow"), "missing": ("-", "red"), "undeclared": ("+", "green")}
_DECLARED = (("different", "different"), ("missing", "not live"))
WHAT: dict[str, What] = {"missing": "made", "undeclared": "removed", "different": "place"}


class WaysOut(Frozen):
    """What ends one difference: a command that writes to the platform, or one that writes to the files.

    Where no command changes the files, `by_hand` says what to write.
    """

    platform: str
    files: str | None = None
    by_hand: str | None = None


def ways_out(drift: Drift, item: Drifted) -> WaysOut:
    address, apply = visible(item.address), _apply(drift, item)
    likely = [one for one in item.renamed if one.likely]
    if item.what == "missing" and likely:
        pin = f"id: {visible(likely[0].id)}"
        back = f"write {pin}{_at(drift, item)}, then it gets the name of the file again by {apply}"
        if len(likely) == 1:
            return _update(drift, item, back)
        return WaysOut(platform=back, by_hand=f"write its new name{_at(drift, item)}")
    blocked = {one.address: one for one in drift.blocked}
    if item.what == "missing":
        stuck = blocked.get(item.address)
        by_person = visible(stuck.todo or stuck.reason) if stuck is not None else None
        return WaysOut(platform=by_person or apply, by_hand=f"remove the entry{_at(drift, item)}")
    forget = f'declare it, or add "{address}" to policy: forget'
    if item.kept:
        stuck = blocked.get(item.address)
        undo = "delete it on the platform; it is only watched, and no plan deletes it"
        undo = visible(stuck.todo or stuck.reason) if stuck is not None else undo
        return WaysOut(platform=undo, files=_add(drift, item), by_hand=forget)
    if item.what == "undeclared":
        return WaysOut(platform=apply, files=_add(drift, item), by_hand=forget)
    names = [f"{item.address}#{part.field}" for part in item.fields]
    names += [item.address] if item.place else []
    stuck_at = [blocked.get(name) for name in names]
    todo = "; ".join(dict.fromkeys(visible(one.todo or one.reason) for one in stuck_at if one is not None))
    by_person = todo if todo and None not in stuck_at else None
    if not item.fields:
        in_files = f"put the entry where it is live{_at(drift, item)}"
        return WaysOut(platform=by_person or apply, by_hand=in_files)
    return _update(drift, item, by_person or _written_first(drift, item, apply))


def _written_first(drift: Drift, item: Drifted, apply: str) -> str:
    """Where a default has moved that no line says, an apply needs that line."""
    moved = [one for one in item.fields if one.watched]
    if not moved:
        return apply
    from dpsync.importing.yaml_text.emit import on_one_line  # a plan needs none of it

    lines = [f"{one.field}: {on_one_line(one.file)}" for one in moved]
    return f"write {', '.join(map(visible, lines))}{_at(drift, item)}, then {apply}"


def _apply(drift: Drift, item: Drifted) -> str:
    """The command that ends this difference and no other one: what differs in it has ways out of its own."""
    without = list(drift.part.exclude) if drift.part is not None else []
    inside = _inside_of(drift, item)
    if inside and not any(_names(part.file, inside) for part in item.fields):
        without.append(f"{item.address}/*")
    words = [word for pattern in without for word in ("--exclude", pattern)]
    words += ["--confirm", f"delete content {item.content}"] if item.content else []
    return _command("apply", "--select", item.address, *words)


def _update(drift: Drift, item: Drifted, back: str) -> WaysOut:
    """The same for the files, and for no other environment that is made of them; `back` is the other way."""
    names = [f"{item.address}#{part.field}" for part in item.fields]
    inside = bool(names) and not item.place and bool(_inside_of(drift, item))
    lines = [drift.origins.get(name) or drift.origins.get(item.address) for name in names]
    shared = not names or any(line is not None and line.file != drift.overlay for line in lines)
    into = ["--into", drift.overlay] if drift.overlay and shared else []
    if drift.environment and not drift.overlay:
        said = f'give the environment "{visible(drift.environment)}" an overlay and write it there'
        return WaysOut(platform=back, by_hand=f"{said}: others share its line{_at(drift, item)}")
    taken = _command("import", "--update", *(names if inside else [item.address]), *into)
    return WaysOut(platform=back, files=taken)


def _command(*words: str) -> str:
    return command(*map(visible, words))


def _inside_of(drift: Drift, item: Drifted) -> set[str]:
    """What differs inside of something that is on both sides. What is not live comes back with all in it."""
    below = f"{item.address}/"
    return {one.address for one in drift.found if item.what == "different" and one.address.startswith(below)}


def _names(value: Any, addresses: Collection[str]) -> bool:
    """Whether a value refers to one of these: then it cannot be written without it."""
    if isinstance(value, dict):
        return value.get(REF) in addresses or any(_names(part, addresses) for part in value.values())
    return isinstance(value, list) and any(_names(part, addresses) for part in value)


def _add(drift: Drift, item: Drifted) -> str | None:
    """None where only a person can say where it belongs, or which environments it is for."""
    if item.in_tree or (drift.environment and not drift.overlay):
        return None
    into = ["--into", drift.overlay] if drift.overlay else []
    return _command("import", "--add", item.address, *into)


def _at(drift: Drift, item: Drifted) -> str:
    origin = drift.origins.get(item.address)
    return f" at {visible(origin.file)}:{origin.line}" if origin else ""


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
    sign, style = SIGNS[item.what]
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
    sign, style = SIGNS[item.what]
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


def verdict(drift: Drift) -> str:
    """Whether there is drift, and how much of which sort."""
    if not drift.drifted:
        return "No drift in what was read." if drift.unread else "No drift."
    number = {what: sum(item.what == what for item in drift.found) for what in SIGNS}
    said = [f"{number[what]} {text}" for what, text in _DECLARED if number[what]]
    return f"Drift: {', '.join([*said, *_undeclared(drift)])}."


def _undeclared(drift: Drift) -> Iterator[str]:
    """What is not in the files: first how many things an apply would delete, then what stays."""
    found = [item for item in drift.found if item.what == "undeclared"]
    deleted = [item for item in found if not item.kept]
    stays = len(found) - len(deleted)
    if deleted:
        yield DeleteCount(len(deleted), sum(item.along for item in deleted)).said("not in the files")
    if stays:
        yield f"{stays} more that no plan deletes" if deleted else f"{stays} not in the files"


def along(item: Drifted) -> str:
    """What goes with the delete of something undeclared; empty where nothing does."""
    return DeleteCount(1, item.along).more


def beside(drift: Drift) -> str:
    """What was left alone and what was not looked at, counted, behind the verdict."""
    more = [
        f"{len(items)} {word}"
        for items, word in ((drift.ignored, "ignored"), (drift.blocked, "blocked"))
        if items
    ]
    rest = f" {', '.join(more).capitalize()}." if more else ""
    if drift.unread:
        rest += f" NOT LOOKED AT: {counted(len(drift.unread), 'entry')} that this token may not read."
    return rest


def _summary(drift: Drift, paint: Paint) -> str:
    style = "bold" if drift.drifted or drift.unread else "green bold"
    return f"{paint(verdict(drift), style)}{beside(drift)}"
