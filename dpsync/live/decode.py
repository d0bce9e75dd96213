"""Check the shape of API responses, and decode them to declared fields.

`decode`, `decode_list`, `decode_tree` and `decode_nodes` turn response bodies into `LiveObject`s. They check
ids, declared fields and types first and raise Misshapen, so that a wrong type is never read as text and a
missing member never as an empty value. Members and words without a declaration are allowed, because a later
API version may have them, and are dropped.

`without_wrapper`: if the files declare no section, the platform creates a section, named after the site,
around the spaces. dpsync then reads the tree without this section.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from typing import Any, TypeGuard

from msgspec.structs import replace

from dpsync.kinds.kind import Field, Kind, Synced
from dpsync.kinds.kind import Node as NodeShape
from dpsync.kinds.registry import Registry
from dpsync.kinds.types import Object, Text
from dpsync.kinds.types.base import MISSING, Misfit, unlike
from dpsync.model.ids import id_fault
from dpsync.model.snapshot import Identity, LiveObject, SyncedRepository
from dpsync.model.values import PLAIN, LiveId, Value


def has_automatic_wrapper(registry: Registry, kind: Kind, owner: LiveObject | None) -> bool:
    """Return whether the platform creates a wrapper node around root nodes in the tree of `owner`."""
    return owner is not None and any(
        node.shape.wraps_when
        and all(owner.fields.get(name) == value for name, value in node.shape.wraps_when.items())
        for node in registry.nodes(kind.key)
        if isinstance(node.shape, NodeShape)
    )


def without_wrapper(
    registry: Registry, nodes: tuple[LiveObject, ...], owner: Identity
) -> tuple[LiveObject, ...]:
    """Remove the wrapper node of a tree, and return its children as root nodes.

    `nodes` are in order, parents first. If the root is not exactly one wrapper node, `nodes` is returned.
    """
    first, *inside = nodes or (None,)
    shape = registry[first.kind].shape if first is not None else None
    wraps = isinstance(shape, NodeShape) and shape.wraps_when
    if not wraps or any(node.holder is None for node in inside):
        return nodes
    found = []
    for node in inside:
        nest = registry[node.kind].nest
        fields = {**node.fields, nest.name: deepcopy(nest.absent)} if nest is not None else node.fields
        found.append(replace(node, parent=owner, holder=None, fields=fields))
    return tuple(found)


ID = Text()
NOTHING = object()
"""Stands for the value of a member that a response does not have."""
NAMES = re.compile(r"\{([^{}]+)\}")


class Misshapen(ValueError):
    """A response without the declared shape.

    `place` is the path of the item in the response, `id` is the item's id, if known.
    """

    def __init__(self, misfit: Misfit, place: str = "", id: str | None = None) -> None:
        self.misfit = misfit
        self.place = place
        self.id = id
        super().__init__(misfit)


class Placed:
    """Context manager that adds the place and the id of an item to each Misshapen raised inside.

    A class, because a generator-based context manager costs more per item than all checks inside.
    """

    __slots__ = ("_item", "_place")

    def __init__(self, place: str, item: Any) -> None:
        self._place, self._item = place, item

    def __enter__(self) -> None:
        pass

    def __exit__(self, _type: object, wrong: BaseException | None, _traceback: object) -> None:
        if isinstance(wrong, Misshapen):
            own = self._item.get("id") if isinstance(self._item, dict) else None
            id = wrong.id or (own if isinstance(own, str) and own else None)
            raise Misshapen(wrong.misfit, wrong.place or self._place, id) from None


def walk(body: Any, path: str) -> Any:
    """Return the value at a dotted path, or NOTHING.

    Raises Misshapen if the path leads through a value that is not an object.
    """
    if path and "." not in path and isinstance(body, dict):  # nearly every path
        return body.get(path, NOTHING)
    way = path.split(".") if path else []
    for index, part in enumerate(way):
        if body is None and index:
            return NOTHING
        if isinstance(body, list) and part.isdigit() and int(part) < len(body):
            body = body[int(part)]
        elif not isinstance(body, dict):
            raise Misshapen(_with_prefix(unlike(body, "an object"), ".".join(way[:index])))
        elif part not in body:
            return NOTHING
        else:
            body = body[part]
    return body


def check(kind: Kind, body: Any, has_id: bool = True) -> dict[str, Any]:
    """Return the wire value of each field of an item by field name; NOTHING for an absent member.

    Raises Misshapen for the first part of the item that does not fit its kind.
    """
    if not isinstance(body, dict):
        raise Misshapen(unlike(body, "an object"))
    try:
        for name in names_of(kind.id) if has_id else ():
            check_id(body, name)
        found = {item.name: _wire_value(item, body) for item in kind.read_fields}
        if kind.lifecycle.restore is not None:
            _check_optional(ID, walk(body, kind.lifecycle.restore.deleted), kind.lifecycle.restore.deleted)
    except Misshapen as wrong:
        raise Misshapen(wrong.misfit, id=known_id(kind, body)) from None
    return found


def misfits(kind: Kind, body: Any, has_id: bool = True) -> list[Misfit]:
    """Return everything about an item that does not fit its kind, with at most one misfit for each field."""
    if not isinstance(body, dict):
        return [unlike(body, "an object")]
    found: list[Misfit] = []
    for name in names_of(kind.id) if has_id else ():
        try:
            check_id(body, name)
        except Misshapen as wrong:
            found.append(wrong.misfit)
    for item in kind.read_fields:
        try:
            _wire_value(item, body)
        except Misshapen as wrong:
            found.append(wrong.misfit)
    return found


def check_written(kind: Kind, body: Any) -> None:
    """Check a body to send again with changes (PUT): an object whose writable members fit their types.

    Raises Misshapen.
    """
    if not isinstance(body, dict):
        raise Misshapen(unlike(body, "an object"))
    for item in kind.fields:
        if item.on in ("update", "both") and item.source is not None:
            _check_optional(item.type, body.get(item.wire, NOTHING), item.wire)


def check_member(body: Any, name: str, type: type, expected: str) -> Any:
    """Return a required member of an object. Raises Misshapen."""
    if not isinstance(body, dict):
        raise Misshapen(unlike(body, "an object"))
    if name not in body:
        raise Misshapen(Misfit(name, expected, MISSING))
    if not isinstance(body[name], type):
        raise Misshapen(unlike(body[name], expected).inside(name))
    return body[name]


def check_id(body: Any, path: str) -> str:
    """Return the id at a path. Raises Misshapen if there is no id, or an id that cannot be a path segment."""
    value = walk(body, path)
    fault = id_fault(value) if isinstance(value, str) else unlike(value, "").found
    if fault is None:
        return str(value)
    raise Misshapen(Misfit(path, "an id", MISSING if value is NOTHING else fault))


def check_different(ids: Iterable[tuple[str, Any, str]]) -> None:
    """Raise Misshapen if two items have the same identity. `ids` has place, identity and id of each item."""
    seen: dict[Any, str] = {}
    for place, identity, id in ids:
        if identity in seen:
            raise Misshapen(Misfit("id", "a unique id", f"the id of {seen[identity]}"), place, id)
        seen[identity] = place


def known_id(kind: Kind, body: Any) -> str | None:
    """Return the id of an item that may be misshapen, for messages; None if there is no valid id."""
    try:
        parts = [check_id(body, name) for name in names_of(kind.id)]
    except Misshapen:
        return None
    return "/".join(parts)


def names_of(template: str) -> list[str]:
    """Return the dotted names in an id template. A template without braces is one name."""
    return NAMES.findall(template) if "{" in template else [template]


def _wire_value(item: Field, body: Mapping[str, Any]) -> Any:
    """Return the wire value of a readable field, NOTHING if absent. Raises Misshapen if it does not fit."""
    if item.member is not None:  # nearly every field: one that is there, or may be left out
        value = body.get(item.member, NOTHING)
        if value is NOTHING and item.answered == "sometimes":
            return NOTHING
        if value is not NOTHING and value is not None:
            if wrong := item.type.misfit(value):
                raise Misshapen(wrong.inside(item.member))
            return value
    source = item.source
    if not isinstance(source, str):
        found = {name: walk(body, path) for name, path in (source or {}).items()}
        parts = item.type.parts if isinstance(item.type, Object) else {}
        for name, path in (source or {}).items():
            if name in parts:
                _check_optional(parts[name], found[name], path)
        return {name: part for name, part in found.items() if part is not NOTHING and part is not None}
    value = walk(body, source)
    if item.type.refers and (value is NOTHING or value is None) and _has_referenced_object(body, source):
        raise Misshapen(Misfit(source, "an id", MISSING if value is NOTHING else "null"))
    if value is NOTHING and item.answered != "sometimes":
        raise Misshapen(Misfit(source, "a value in every response", MISSING))
    if value is None and item.answered == "always" and (wrong := item.type.misfit(None)):
        raise Misshapen(_with_prefix(wrong, source))
    _check_optional(item.type, value, source)
    return value


def _has_referenced_object(body: Any, source: str) -> bool:
    """Return whether the response contains the referenced object, although without its id."""
    around, _, name = source.rpartition(".")
    return bool(around) and name == "id" and isinstance(walk(body, around), dict)


def _check_optional(type: Any, value: Any, path: str) -> None:
    """Check the value of an optional member, which may be absent or null. Raises Misshapen."""
    if value is not NOTHING and value is not None and (wrong := type.misfit(value)):
        raise Misshapen(_with_prefix(wrong, path))


def _with_prefix(misfit: Misfit, path: str) -> Misfit:
    """Return the misfit with a path prefix, if there is one."""
    return misfit.inside(path) if path else misfit


def pointer(body: Any, path: str) -> Any:
    """Return the value at a dotted path ("siteSpaces.0.id"), or None if there is none."""
    try:
        value = walk(body, path)
    except Misshapen:
        return None
    return None if value is NOTHING else value


def _is_id(part: Any) -> TypeGuard[str]:
    """Return whether a part of an answer is an id that can be a path segment."""
    return isinstance(part, str) and id_fault(part) is None


def compose(body: Any, template: str) -> str | None:
    """Return the id that a template describes: a dotted name, or a text with such names in braces.

    Return None if the response has no id, or an id that cannot be a path segment.
    """
    if "{" not in template:
        part = (
            body.get(template) if isinstance(body, dict) and "." not in template else pointer(body, template)
        )
        return part if _is_id(part) else None
    parts = {name: pointer(body, name) for name in names_of(template)}
    if not all(map(_is_id, parts.values())):
        return None
    return NAMES.sub(lambda match: str(parts[match[1]]), template)


def decode_field(field: Field, wire: Any) -> Value:
    """Return the live value of a field. The declaration says what an absent member and null mean."""
    value = None if wire is NOTHING else field.type.decode(wire)
    if value is None or (value == "" and field.blank_is_none):
        return field.absent if type(field.absent) in PLAIN else deepcopy(field.absent)
    return value


def decode(
    kind: Kind, body: Any, parent: Identity | None, source: str, holder: Identity | None = None, id: str = ""
) -> LiveObject:
    """Decode one object. Raises Misshapen if the body does not fit the kind.

    Args:
        id: The id of the object, if it is not in the body.
    """
    wires = check(kind, body, has_id=not id)
    own = id or str(compose(body, kind.id))
    fields = {item.name: decode_field(item, wires[item.name]) for item in kind.read_fields}
    url = pointer(body, kind.url.at) if kind.url else None
    url = url if isinstance(url, str) else None
    preview = pointer(body, kind.url.preview) if kind.url and kind.url.preview else None
    preview = preview if isinstance(preview, str) else None
    changed = pointer(body, kind.changed) if kind.changed else None
    changed = changed if isinstance(changed, str) else None
    title = pointer(body, kind.title_at) if kind.title_at else None
    title = title if isinstance(title, str) and title else None
    own_id = kind.own_id
    return LiveObject(
        kind.name, own, parent, holder, fields, source, own_id,
        url=url, preview=preview, changed=changed, title=title,
        synced=_decode_repository(kind.synced, body) if kind.synced else None,
    )  # fmt: skip


def _decode_repository(synced: Synced, body: Any) -> SyncedRepository | None:
    """Return the repository that the platform syncs an object with (Git Sync), None if there is none.

    Raises Misshapen for a non-object. A repository with missing members still counts, so that dpsync never
    takes a synced object for an unsynced one.
    """
    found = walk(body, synced.at)
    if found is NOTHING or found is None:
        return None
    if not isinstance(found, dict):
        raise Misshapen(unlike(found, "an object").inside(synced.at))
    name, provider, status = (
        value if isinstance(value := found.get(member), str) and value else None
        for member in (synced.repository, synced.provider, synced.status)
    )
    details = [provider, None if status == "active" else status]
    more = ", ".join(filter(None, details))
    text = f"the repository {name}" if name else "a repository"
    id = found.get(synced.installation)
    return SyncedRepository(
        f"{text} ({more})" if more else text,
        bool(found.get(synced.together)),
        id if isinstance(id, str) and id else None,
    )


def decode_list(
    kind: Kind, items: Iterable[Any], parent: Identity | None, source: str
) -> Iterator[tuple[str, LiveObject, Any]]:
    """Yield place, decoded object and body of each item of a list, without items that `kind.others` names."""
    for index, item in enumerate(items):
        if any(walk(item, member) in values for member, values in kind.others.items()):
            continue
        place = f"items[{index}]"
        with Placed(place, item):
            yield place, decode(kind, item, parent, source), item


def decode_tree(
    kinds: tuple[Kind, ...], body: Any, root: str, owner: Identity, source: str
) -> Iterator[tuple[str, LiveObject]]:
    """Yield place and node of each node of a tree, parents first. Nodes of undeclared types are skipped.

    The position in the tree says which node contains a node, not a member of the node.
    """
    by_wire = _kinds_by_wire_type(kinds)

    def below(
        held: Any, member: str, at: str, around: tuple[Identity, ...]
    ) -> Iterator[tuple[str, LiveObject]]:
        with Placed(at, held):
            nodes = check_member(held, member, list, "a list")
        for index, item in enumerate(nodes):
            place = f"{at}.{member}[{index}]" if at else f"{member}[{index}]"
            with Placed(place, item):
                kind = by_wire.get(check_member(item, "object", str, "a text"))
                if kind is None:
                    continue
                parent = next((other for other in reversed(around) if other[0] in kind.parents), owner)
                node = decode(kind, item, parent, source, holder=around[-1] if around else None)
            if kind.nest is not None:
                inside = LiveId(node.holder[1]) if node.holder else deepcopy(kind.nest.absent)
                node = replace(node, fields={**node.fields, kind.nest.name: inside})
            yield place, node
            assert isinstance(kind.shape, NodeShape)
            if kind.shape.children:
                yield from below(item, kind.shape.children, place, (*around, node.identity))

    return below(body, root, "", ())


def decode_nodes(
    kinds: tuple[Kind, ...], items: Iterable[Any], owner: Identity, source: str
) -> Iterator[tuple[str, LiveObject]]:
    """Yield place and node of each node in a flat list of a tree.

    A field of each node names its parent node.
    """
    by_wire = _kinds_by_wire_type(kinds)
    for index, item in enumerate(items):
        place = f"items[{index}]"
        with Placed(place, item):
            kind = by_wire.get(check_member(item, "object", str, "a text"))
            if kind is None:
                continue
            held = decode_field(kind.nest, walk(item, str(kind.nest.source))) if kind.nest else None
            holder = (kind.nest.type.refers[0], held.id) if kind.nest and isinstance(held, LiveId) else None
            parent = holder if holder and holder[0] in kind.parents else owner
            yield place, decode(kind, item, parent, source, holder)


def _kinds_by_wire_type(kinds: tuple[Kind, ...]) -> dict[str, Kind]:
    return {kind.shape.wire: kind for kind in kinds if isinstance(kind.shape, NodeShape)}
