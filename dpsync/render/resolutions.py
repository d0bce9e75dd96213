"""Find the resolutions of a difference: one command changes the platform, the other changes the files."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from dpsync.model.drift import Drift, Drifted
from dpsync.model.frozen import Frozen
from dpsync.model.text import format_command
from dpsync.model.values import REF_MARKER
from dpsync.render.visible import visible


class WaysOut(Frozen):
    """What ends one difference: a command that writes to the platform, or one that writes to the files.

    Where no command changes the files, `by_hand` says what to write.
    """

    platform: str
    files: str | None = None
    by_hand: str | None = None


def resolutions_of(drift: Drift, item: Drifted) -> WaysOut:
    """Return how to end a difference between the files and the platform."""
    address, apply = visible(item.address), _apply_command(drift, item)
    if item.what == "missing" and item.renamed:
        pin = f"id: {visible(item.renamed[0].id)}"
        restore = f"add {pin}{_location_suffix(drift, item)}, then restore the name with {apply}"
        if len(item.renamed) == 1:
            return _update_resolutions(drift, item, restore)
        return WaysOut(platform=restore, by_hand=f"write the new name{_location_suffix(drift, item)}")
    blocked = {one.address: one for one in drift.blocked}
    if item.what == "missing":
        blocker = blocked.get(item.address)
        by_person = visible(blocker.todo or blocker.reason) if blocker is not None else None
        return WaysOut(
            platform=by_person or apply, by_hand=f"delete the entry{_location_suffix(drift, item)}"
        )
    if item.kept and item.what == "different":
        return _watched_value_resolutions(drift, item)
    forget = f'add an entry for the object, or add "{address}" to policy: forget'
    if item.kept:
        blocker = blocked.get(item.address)
        undo = "delete the object in GitBook, because an apply does not delete this object"
        undo = visible(blocker.todo or blocker.reason) if blocker is not None else undo
        return WaysOut(platform=undo, files=_add_command(drift, item), by_hand=forget)
    if item.what == "undeclared":
        return WaysOut(platform=apply, files=_add_command(drift, item), by_hand=forget)
    names = [str(item.location.field(part.field)) for part in item.fields]
    names += [item.address] if item.place else []
    blockers = [blocked.get(name) for name in names]
    todo = "; ".join(dict.fromkeys(visible(one.todo or one.reason) for one in blockers if one is not None))
    by_person = todo if todo and None not in blockers else None
    if not item.fields and item.order is None:
        in_files = (
            f"move the entry{_location_suffix(drift, item)} to the position that the object has in GitBook"
        )
        return WaysOut(platform=by_person or apply, by_hand=in_files)
    return _update_resolutions(drift, item, by_person or _platform_resolution(drift, item, apply))


def _watched_value_resolutions(drift: Drift, item: Drifted) -> WaysOut:
    """Return how to end drift of a watched value. A `watch` pattern has the expected value."""
    from dpsync.importing.write_yaml import on_one_line  # a plan needs none of it

    values = ", ".join(f"{one.field} to {on_one_line(one.file)}" for one in item.fields)
    patterns = ", ".join(f"{item.address}#{one.field}" for one in item.fields)
    return WaysOut(
        platform=visible(f"set {values} in GitBook, because your files have no entry for this object"),
        by_hand=visible(f"in policy: watch, replace the value of {patterns} with the value in GitBook")
        + _location_suffix(drift, item),
    )


def _platform_resolution(drift: Drift, item: Drifted, apply: str) -> str:
    """Return the resolution for the platform; a default that changed must first be written to the files."""
    moved = [one for one in item.fields if one.watched]
    if not moved:
        return apply
    from dpsync.importing.write_yaml import on_one_line  # a plan needs none of it

    lines = [f"{one.field}: {on_one_line(one.file)}" for one in moved]
    return f"add {', '.join(map(visible, lines))}{_location_suffix(drift, item)}, then run {apply}"


def _apply_command(drift: Drift, item: Drifted) -> str:
    """Return the apply command that ends only this difference.

    Differences inside the object have resolutions of their own, so the command excludes them.
    """
    excluded = list(drift.part.exclude) if drift.part is not None else []
    differing = _differences_inside(drift, item)
    if differing and not any(_refers_to(part.file, differing) for part in item.fields):
        excluded.append(f"{item.address}/*")
    words = [word for pattern in excluded for word in ("--exclude", pattern)]
    words += [word for answer in item.confirm for word in ("--confirm", answer)]
    return _command_text("apply", "--select", item.address, *words)


def _update_resolutions(drift: Drift, item: Drifted, platform: str) -> WaysOut:
    """Return the resolutions: `platform`, and the command that takes the live values into the files.

    The files of other environments stay unchanged: with an overlay, `--into` names the overlay.
    """
    fields = [str(item.location.field(part.field)) for part in item.fields]
    order = [item.order] if item.order is not None else []
    names = [*fields, *order]
    in_tree = item.place is not None and item.order is None
    alone = len(fields) < 2 or bool(_differences_inside(drift, item))
    one_by_one = bool(names) and not in_tree and alone
    lines = [drift.origins.get(name) or drift.origins.get(item.address) for name in names]
    shared = not names or any(line is not None and line.file != drift.overlay for line in lines)
    into = ["--into", drift.overlay] if drift.overlay and shared else []
    if drift.environment and not drift.overlay:
        said = f'add an overlay to the environment "{visible(drift.environment)}", and write the value there'
        others = f"other environments also use the line{_location_suffix(drift, item)}"
        return WaysOut(platform=platform, by_hand=f"{said}, because {others}")
    taken = _command_text("import", "--update", *(names if one_by_one else [item.address, *order]), *into)
    return WaysOut(platform=platform, files=taken)


def _command_text(*words: str) -> str:
    return format_command(*map(visible, words))


def _differences_inside(drift: Drift, item: Drifted) -> set[str]:
    """Return the addresses of the differences inside an object that is in the files and live.

    A missing object has none: an apply creates the object with everything in it.
    """
    below = f"{item.address}/"
    return {one.address for one in drift.found if item.what == "different" and one.address.startswith(below)}


def _refers_to(value: Any, addresses: Collection[str]) -> bool:
    """Return whether a value refers to one of the addresses. Such a value cannot be written without them."""
    if isinstance(value, dict):
        return value.get(REF_MARKER) in addresses or any(
            _refers_to(part, addresses) for part in value.values()
        )
    return isinstance(value, list) and any(_refers_to(part, addresses) for part in value)


def _add_command(drift: Drift, item: Drifted) -> str | None:
    """Return the command that adds an object to the files.

    None if only a person can decide where the entry belongs, or to which environments.
    """
    if item.in_tree or (drift.environment and not drift.overlay):
        return None
    into = ["--into", drift.overlay] if drift.overlay else []
    return _command_text("import", "--add", item.address, *into)


def _location_suffix(drift: Drift, item: Drifted) -> str:
    """Return " at FILE:LINE" for the entry of an object; "" without an entry."""
    origin = drift.origins.get(item.address)
    return f" at {visible(origin.file)}:{origin.line}" if origin else ""
