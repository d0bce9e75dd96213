"""What it takes to watch more: lines for what no entry names, and the places that an import has watched."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from dpsync.importing.creation.inventory import FoundObject, Inventory
from dpsync.importing.naming import Naming
from dpsync.importing.values import FileContent, Unwritable, Writing, placed, variable
from dpsync.importing.yaml_text.emit import on_one_line, scalar
from dpsync.kinds.kind import Field, Kind, Single
from dpsync.kinds.kind import Node as NodeShape
from dpsync.kinds.registry import Registry
from dpsync.kinds.types import Json
from dpsync.kinds.watching import format_value
from dpsync.model.entries.address import Address
from dpsync.model.entries.desired import Entry
from dpsync.model.plans.drift import Line

Place = tuple[Address, tuple[Kind, ...]]
Open = tuple[Entry, Sequence[Field], Sequence[Place]]
"""An entry with the fields and the places of it that nothing watches."""


def lines(naming: Naming, unwatched: Iterable[Open]) -> Iterator[Line]:
    """For each field and place the line that would watch it, as import would write it."""
    for resource, fields, places in unwatched:
        for field in fields:
            yield _of_field(naming, resource, field)
        for address, kinds in places:
            yield Line(address=str(address), line=_of_place(address, kinds))


def _of_field(naming: Naming, resource: Entry, field: Field) -> Line:
    address, live = str(resource.address), naming.live(resource)
    if live is None:
        return Line(address=address, field=field.name, why="it is not live yet")
    value = live.fields.get(field.name)
    if value is None or value == {}:
        if value is None and field.null != "refused":
            return Line(address=address, field=field.name, line=f"{field.name}: null")
        partly = isinstance(field.type, Json) and field.type.partial
        why = "it is empty: name the members to watch" if partly else "there is none, and no line says so"
        return Line(address=address, field=field.name, why=why)
    writing = Writing(naming.named(resource), lambda path: variable(resource.address, field.name, path))
    try:
        written = writing.value(field.type, value)
    except Unwritable as why:
        return Line(address=address, field=field.name, why=str(why))
    text = "{ file: … }" if isinstance(written, FileContent) else on_one_line(placed(written, lambda *_: "…"))
    return Line(address=address, field=field.name, line=f"{scalar(field.name, key=True)}: {text}")


def _of_place(address: Address, kinds: Sequence[Kind]) -> str:
    """The line of the policy; of a single, which has no entries, that of its own."""
    kind = kinds[0]
    if not isinstance(kind.shape, Single):
        return f"policy: {{ watch: [{on_one_line(str(address))}] }}"
    word = address.last
    first = next(field.name for field in kind.fields if field.on != "neither")
    return f"{word}: …" if kind.only_short else f"{word}: {{ {first}: … }}"


def watched_places(registry: Registry, whole: Inventory, everything: Sequence[FoundObject]) -> list[str]:
    """Patterns for the places in which one more thing makes something more visible or more powerful.

    Not those that could be read nowhere, nor those in which something of `everything` that was found is in no
    file: it would be undeclared from the beginning.
    """
    unread = {(id(one.parent), one.kind.key) for one in whole.unread}
    written = {id(item) for item in whole.objects}
    left_out = {
        (item.kind.key, item.parent.kind.name)
        for item in everything
        if id(item) not in written and item.parent is not None and id(item.parent) in written
    }
    found = []
    for kind in registry.ordered:
        for name in kind.parents if kind.security else ():
            read = any((id(parent), kind.key) not in unread for parent in whole.of(name))
            if read and (kind.key, name) not in left_out and not registry[name].in_tree:
                found.append(f"{_above(registry, registry[name])}{kind.key.replace('.', '/')}")
    return sorted(dict.fromkeys(found), key=lambda pattern: (pattern.count("/"), pattern))


def watched_values(registry: Registry, whole: Inventory, everything: Sequence[FoundObject]) -> list[str]:
    """Return patterns with the present values of objects without an entry, so that drift reports changes.

    The patterns cover the fields that can make an object more visible or give it more rights.
    """
    written = {id(item) for item in whole.objects}
    found = []
    for item in everything:
        is_entry = not isinstance(item.kind.shape, NodeShape | Single)
        if id(item) in written or item.parent is None or id(item.parent) not in written or not is_entry:
            continue
        own, title = item.live.id, item.live.fields.get(item.kind.title)
        place = item.parent.address.child(*item.kind.key.split("."))
        has_title = isinstance(title, str) and title not in ("", own)
        address = place.unmanaged(str(title), own) if has_title else place.unmanaged(own)
        for one in item.kind.fields:
            if (one.security or one.exposure) and one.source is not None:
                text = format_value(one, item.live.fields.get(one.name))
                found += [f"{address}#{one.name}={text}"] if text is not None else []
    return sorted(found)


def watched_fields(registry: Registry, whole: Inventory) -> list[str]:
    """Patterns for the fields by which something opens, and of which a line would only say the default."""
    found = []
    for kind in registry.ordered:
        if isinstance(kind.shape, NodeShape) or not whole.of(kind.name):
            continue
        here = f"{_above(registry, kind)}".removesuffix("/") or "*"
        found += [
            f"{here}#{one.name}"
            for one in kind.fields
            if one.security and one.watchable and not (one.required or one.name == kind.shorthand)
        ]
    return sorted(found, key=lambda pattern: (pattern.count("/"), pattern))


def _above(registry: Registry, kind: Kind) -> str:
    """The beginning of a pattern for what is below every object of a kind, in any organization."""
    if kind.parent is None:
        return ""
    around = f"{_above(registry, registry[kind.parents[0]])}{kind.key.replace('.', '/')}/"
    return around if isinstance(kind.shape, Single) else f"{around}*/"
