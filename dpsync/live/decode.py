"""From raw answers to decoded declared fields, once they have the shape that belongs there.

What no kind declares (counts, times, keys, tokens) is dropped here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import deepcopy
from typing import Any, TypeGuard

from msgspec.structs import replace

from dpsync.kinds.kind import Field, Kind, Synced
from dpsync.kinds.kind import Node as NodeShape
from dpsync.kinds.types.base import unlike
from dpsync.live.shape import NAMES, NOTHING, Misshapen, Placed, check, check_member, names_of, walk
from dpsync.model.ids import id_fault
from dpsync.model.snapshot import Identity, LiveObject, SyncedRepository
from dpsync.model.values import PLAIN, LiveId, Value


def pointer(body: Any, path: str) -> Any:
    """The value at a dotted path ("siteSpaces.0.id"), or None when it is not there."""
    try:
        value = walk(body, path)
    except Misshapen:
        return None
    return None if value is NOTHING else value


def _is_id(part: Any) -> TypeGuard[str]:
    """Return whether a part of an answer is an id that can be a path segment."""
    return isinstance(part, str) and id_fault(part) is None


def compose(body: Any, template: str) -> str | None:
    """The id that a template describes: a dotted name, or a text with such names in braces.

    Return None if the answer has no id, or an id that cannot be a path segment.
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
    """The live value of a field. What an absent member and null mean is in the declaration."""
    value = None if wire is NOTHING else field.type.decode(wire)
    if value is None or (value == "" and field.blank_is_none):
        return field.absent if type(field.absent) in PLAIN else deepcopy(field.absent)
    return value


def decode(
    kind: Kind, body: Any, parent: Identity | None, source: str, holder: Identity | None = None, id: str = ""
) -> LiveObject:
    """Decode one object; `id` is one known before. Raises Misshapen when it does not fit the kind."""
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
        synced=_repository(kind.synced, body) if kind.synced else None,
    )  # fmt: skip


def _repository(synced: Synced, body: Any) -> SyncedRepository | None:
    """The repository that the platform keeps an object in step with. Raises Misshapen for what is no object.

    Whatever else the object says or leaves out, there is one: what has an owner is never taken for free.
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
    said = [provider, None if status == "active" else status]
    more = ", ".join(filter(None, said))
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
    """Every item of a list with its place in the answer, decoded and raw; but for what is something else."""
    for index, item in enumerate(items):
        if any(walk(item, member) in values for member, values in kind.others.items()):
            continue
        place = f"items[{index}]"
        with Placed(place, item):
            yield place, decode(kind, item, parent, source), item


def decode_tree(
    kinds: tuple[Kind, ...], body: Any, root: str, owner: Identity, source: str
) -> Iterator[tuple[str, LiveObject]]:
    """Every node in order with its place, parents before children; nodes of undeclared types are passed over.

    Which node a node is in follows from its position in the tree, not from a member of its own.
    """
    by_wire = _by_wire(kinds)

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
    """Every node of one of the lists of a tree, with its place; each says in a field what it is in."""
    by_wire = _by_wire(kinds)
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


def _by_wire(kinds: tuple[Kind, ...]) -> dict[str, Kind]:
    return {kind.shape.wire: kind for kind in kinds if isinstance(kind.shape, NodeShape)}
