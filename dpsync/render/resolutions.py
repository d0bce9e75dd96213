"""Find the commands that resolve a difference: one changes GitBook, the other one changes the files."""

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


def resolutions_of(drift: Drift, drifted: Drifted) -> WaysOut:
    """Return how to end a difference between the files and the platform, in both directions.

    One resolution changes the platform, usually by an apply; the other changes the files. A blocked object
    needs a person.
    """
    address, location = visible(drifted.address), _location_suffix(drift, drifted)
    apply = _apply_command(drift, drifted)
    if drifted.what == "missing" and drifted.renamed:
        pin = f"id: {visible(drifted.renamed[0].id)}"
        restore = f"add {pin}{location}, then restore the name with {apply}"
        if len(drifted.renamed) == 1:
            return _update_resolutions(drift, drifted, restore)
        return WaysOut(platform=restore, by_hand=f"write the new name{location}")
    blocked = {blocker.address: blocker for blocker in drift.blocked}
    if drifted.what == "missing":
        blocker = blocked.get(drifted.address)
        by_person = visible(blocker.todo or blocker.reason) if blocker is not None else None
        return WaysOut(platform=by_person or apply, by_hand=f"delete the entry{location}")
    if drifted.kept and drifted.what == "different":
        from dpsync.importing.write_yaml import on_one_line  # most drifts need none of it

        values = ", ".join(f"{field.field} to {on_one_line(field.file)}" for field in drifted.fields)
        patterns = ", ".join(f"{drifted.address}#{field.field}" for field in drifted.fields)
        return WaysOut(
            platform=visible(f"set {values} in GitBook, because your files have no entry for this object"),
            by_hand=visible(f"in policy: watch, replace the value of {patterns} with the value in GitBook")
            + location,
        )
    forget = f'add an entry for the object, or add "{address}" to policy: forget'
    if drifted.kept:
        blocker = blocked.get(drifted.address)
        instruction = "delete the object in GitBook, because an apply does not delete this object"
        instruction = visible(blocker.todo or blocker.reason) if blocker is not None else instruction
        return WaysOut(platform=instruction, files=_add_command(drift, drifted), by_hand=forget)
    if drifted.what == "undeclared":
        return WaysOut(platform=apply, files=_add_command(drift, drifted), by_hand=forget)
    names = [str(drifted.location.field(field.field)) for field in drifted.fields]
    names += [drifted.address] if drifted.place else []
    field_blockers = [blocked.get(name) for name in names]
    todo = "; ".join(
        dict.fromkeys(
            visible(blocker.todo or blocker.reason) for blocker in field_blockers if blocker is not None
        )
    )
    by_person = todo if todo and None not in field_blockers else None
    if not drifted.fields and drifted.order is None:
        in_files = f"move the entry{location} to the position that the object has in GitBook"
        return WaysOut(platform=by_person or apply, by_hand=in_files)
    changed_defaults = [field for field in drifted.fields if field.watched]
    if changed_defaults and not by_person:  # a default must first be written to the files
        from dpsync.importing.write_yaml import on_one_line  # most drifts need none of it

        lines = [visible(f"{field.field}: {on_one_line(field.file)}") for field in changed_defaults]
        apply = f"add {', '.join(lines)}{location}, then run {apply}"
    return _update_resolutions(drift, drifted, by_person or apply)


def _apply_command(drift: Drift, drifted: Drifted) -> str:
    """Return the apply command that ends only this difference.

    Differences inside the object have resolutions of their own, so the command excludes them, unless a value
    of the object refers to them.
    """
    excluded = list(drift.part.exclude) if drift.part is not None else []
    inner_addresses = _differences_inside(drift, drifted)
    if inner_addresses and not any(_refers_to(field.file, inner_addresses) for field in drifted.fields):
        excluded.append(f"{drifted.address}/*")
    words = [word for pattern in excluded for word in ("--exclude", pattern)]
    words += [word for answer in drifted.confirm for word in ("--confirm", answer)]
    return _command_text("apply", "--select", drifted.address, *words)


def _update_resolutions(drift: Drift, drifted: Drifted, platform: str) -> WaysOut:
    """Return two resolutions: `platform`, and the command that takes the live values into the files.

    The files of other environments stay unchanged: with an overlay, `--into` names the overlay.
    """
    fields = [str(drifted.location.field(field.field)) for field in drifted.fields]
    order = [drifted.order] if drifted.order is not None else []
    names = [*fields, *order]
    in_tree = drifted.place is not None and drifted.order is None
    is_only_difference = len(fields) < 2 or bool(_differences_inside(drift, drifted))
    one_by_one = bool(names) and not in_tree and is_only_difference
    lines = [drift.origins.get(name) or drift.origins.get(drifted.address) for name in names]
    shared = not names or any(line is not None and line.file != drift.overlay for line in lines)
    into = ["--into", drift.overlay] if drift.overlay and shared else []
    if drift.environment and not drift.overlay:
        instruction = (
            f'add an overlay to the environment "{visible(drift.environment)}", and write the value there'
        )
        reason = f"other environments also use the line{_location_suffix(drift, drifted)}"
        return WaysOut(platform=platform, by_hand=f"{instruction}, because {reason}")
    command = _command_text(
        "import", "--update", *(names if one_by_one else [drifted.address, *order]), *into
    )
    return WaysOut(platform=platform, files=command)


def _command_text(*words: str) -> str:
    """Return a dpsync command with these words, quoted for a shell."""
    return format_command(*map(visible, words))


def _differences_inside(drift: Drift, drifted: Drifted) -> set[str]:
    """Return the addresses of the differences inside an object that is in the files and live.

    A missing object has none: an apply creates the object with everything in it.
    """
    prefix = f"{drifted.address}/"
    return {
        other.address
        for other in drift.found
        if drifted.what == "different" and other.address.startswith(prefix)
    }


def _refers_to(value: Any, addresses: Collection[str]) -> bool:
    """Return whether a value refers to one of the addresses.

    An apply cannot write such a value if it excludes the address.
    """
    if isinstance(value, dict):
        return value.get(REF_MARKER) in addresses or any(
            _refers_to(part, addresses) for part in value.values()
        )
    return isinstance(value, list) and any(_refers_to(part, addresses) for part in value)


def _add_command(drift: Drift, drifted: Drifted) -> str | None:
    """Return the `import --add` command that adds an object to the files.

    None if only a person can decide where the entry belongs, or to which environments.
    """
    if drifted.in_tree or (drift.environment and not drift.overlay):
        return None
    into = ["--into", drift.overlay] if drift.overlay else []
    return _command_text("import", "--add", drifted.address, *into)


def _location_suffix(drift: Drift, drifted: Drifted) -> str:
    """Return " at FILE:LINE" for the entry of an object; "" without an entry."""
    origin = drift.origins.get(drifted.address)
    return f" at {visible(origin.file)}:{origin.line}" if origin else ""
