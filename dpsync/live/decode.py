"""Check the shape of API responses, and decode them to declared fields.

`decode`, `decode_list`, `decode_tree` and `decode_nodes` turn response bodies into `LiveObject`s. They check
ids, declared fields and types first and raise UnexpectedShapeError, so that a wrong type is never read as
text and a missing member never as an empty value. Undeclared members and words are dropped: a later API
version may add some. `without_wrapper` removes the section that GitBook creates around spaces if none is
declared.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from typing import Any, TypeGuard

from msgspec.structs import replace

from dpsync.kinds.kind import Field, GitSync, Kind
from dpsync.kinds.kind import TreeNode as NodeShape
from dpsync.kinds.registry import Registry
from dpsync.kinds.types import Object, Text
from dpsync.kinds.types.base import ABSENT, UnexpectedShape, wrong_type
from dpsync.model.ids import id_problem
from dpsync.model.snapshot import Identity, LiveObject, SyncedRepository
from dpsync.model.values import PLAIN_TYPES, LiveId, Value


def has_automatic_wrapper(registry: Registry, kind: Kind, owner: LiveObject | None) -> bool:
    """Return whether the platform wraps the top-level nodes in the tree of `owner` into a node of its own.

    For example, the platform puts the spaces of a site with sections into a section named after the site.
    """
    return owner is not None and any(
        node.shape.wraps_top_level_when
        and all(owner.fields.get(name) == value for name, value in node.shape.wraps_top_level_when.items())
        for node in registry.tree_kinds(kind.key)
        if isinstance(node.shape, NodeShape)
    )


def without_wrapper(
    registry: Registry, nodes: tuple[LiveObject, ...], owner: Identity
) -> tuple[LiveObject, ...]:
    """Remove the node that the platform created around a tree, and return its children as top-level nodes.

    Used if the files declare no such node: dpsync then manages the tree as the files show it. `nodes` are in
    order, parents first. If the top level is not exactly one wrapper node, `nodes` is returned unchanged.
    """
    first, *inner_nodes = nodes or (None,)
    shape = registry[first.kind].shape if first is not None else None
    wraps = isinstance(shape, NodeShape) and shape.wraps_top_level_when
    if not wraps or any(node.holder is None for node in inner_nodes):
        return nodes
    top_nodes = []
    for node in inner_nodes:
        parent_field = registry[node.kind].parent_reference_field
        fields = (
            {**node.fields, parent_field.name: deepcopy(parent_field.value_when_absent)}
            if parent_field is not None
            else node.fields
        )
        top_nodes.append(replace(node, parent=owner, holder=None, fields=fields))
    return tuple(top_nodes)


ID = Text()
ABSENT_VALUE = object()
"""Stands for the value of a member that a response does not have."""
TEMPLATE_NAMES = re.compile(r"\{([^{}]+)\}")


class UnexpectedShapeError(ValueError):
    """A response without the declared shape.

    `place` is the path of the wrong item in the response, as `items[3]`; `id` is the item's id, if known.
    """

    def __init__(self, shape_error: UnexpectedShape, path: str = "", id: str | None = None) -> None:
        self.shape_error = shape_error
        self.place = path
        self.id = id
        super().__init__(shape_error)


class AddErrorPlace:
    """Context manager that adds the path and the id of an item to each UnexpectedShapeError raised inside.

    A class, because a generator-based context manager costs more per item than all checks inside.
    """

    __slots__ = ("_item", "_place")

    def __init__(self, path: str, item: Any) -> None:
        self._place, self._item = path, item

    def __enter__(self) -> None:
        pass

    def __exit__(self, _type: object, wrong: BaseException | None, _traceback: object) -> None:
        if isinstance(wrong, UnexpectedShapeError):
            own = self._item.get("id") if isinstance(self._item, dict) else None
            id = wrong.id or (own if isinstance(own, str) and own else None)
            raise UnexpectedShapeError(wrong.shape_error, wrong.place or self._place, id) from None


def value_at_path(body: Any, path: str) -> Any:
    """Return the value at a dotted path such as `siteSpaces.0.id`, or ABSENT_VALUE.

    Raises UnexpectedShapeError if the path leads through a value that is neither an object nor a list.
    """
    if path and "." not in path and isinstance(body, dict):  # nearly every path
        return body.get(path, ABSENT_VALUE)
    parts = path.split(".") if path else []
    for index, part in enumerate(parts):
        if body is None and index:
            return ABSENT_VALUE
        if isinstance(body, list) and part.isdigit() and int(part) < len(body):
            body = body[int(part)]
        elif not isinstance(body, dict):
            raise UnexpectedShapeError(_with_prefix(wrong_type(body, "an object"), ".".join(parts[:index])))
        elif part not in body:
            return ABSENT_VALUE
        else:
            body = body[part]
    return body


def checked_wire_values(kind: Kind, body: Any, has_id: bool = True) -> dict[str, Any]:
    """Return the JSON value of each field of an item by field name; ABSENT_VALUE for an absent member.

    Raises UnexpectedShapeError for the first part of the item that does not fit its kind. Without `has_id`,
    the item needs no id.
    """
    if not isinstance(body, dict):
        raise UnexpectedShapeError(wrong_type(body, "an object"))
    try:
        for name in template_names(kind.id_path) if has_id else ():
            check_id(body, name)
        values = {field.name: _wire_value(field, body) for field in kind.readable_fields}
        if kind.lifecycle.restore is not None:
            _check_optional(
                ID,
                value_at_path(body, kind.lifecycle.restore.deleted_path),
                kind.lifecycle.restore.deleted_path,
            )
    except UnexpectedShapeError as error:
        raise UnexpectedShapeError(error.shape_error, id=id_if_valid(kind, body)) from None
    return values


def shape_errors(kind: Kind, body: Any, has_id: bool = True) -> list[UnexpectedShape]:
    """Return all shape errors of an item, at most one for each field.

    `checked_wire_values` raises the first of them instead.
    """
    if not isinstance(body, dict):
        return [wrong_type(body, "an object")]
    errors: list[UnexpectedShape] = []
    for name in template_names(kind.id_path) if has_id else ():
        try:
            check_id(body, name)
        except UnexpectedShapeError as error:
            errors.append(error.shape_error)
    for field in kind.readable_fields:
        try:
            _wire_value(field, body)
        except UnexpectedShapeError as error:
            errors.append(error.shape_error)
    return errors


def check_written(kind: Kind, body: Any) -> None:
    """Check a body that dpsync changes and sends back (PUT): its writable members must fit their types.

    Raises UnexpectedShapeError.
    """
    if not isinstance(body, dict):
        raise UnexpectedShapeError(wrong_type(body, "an object"))
    for field in kind.fields:
        if field.written_in in ("update", "both") and field.response_path is not None:
            _check_optional(field.type, body.get(field.wire_name, ABSENT_VALUE), field.wire_name)


def check_member(body: Any, name: str, type: type, expected: str) -> Any:
    """Return a required member of a JSON object. Raises UnexpectedShapeError if it is absent or no `type`.

    `expected` describes the type in the error, as "a list".
    """
    if not isinstance(body, dict):
        raise UnexpectedShapeError(wrong_type(body, "an object"))
    if name not in body:
        raise UnexpectedShapeError(UnexpectedShape(name, expected, ABSENT))
    if not isinstance(body[name], type):
        raise UnexpectedShapeError(wrong_type(body[name], expected).nested_in(name))
    return body[name]


def check_id(body: Any, path: str) -> str:
    """Return the id at a path. Raises UnexpectedShapeError without an id that can be a segment of a URL."""
    value = value_at_path(body, path)
    fault = id_problem(value) if isinstance(value, str) else wrong_type(value, "").found
    if fault is None:
        return str(value)
    raise UnexpectedShapeError(UnexpectedShape(path, "an id", ABSENT if value is ABSENT_VALUE else fault))


def check_unique_identities(ids: Iterable[tuple[str, Any, str]]) -> None:
    """Raise UnexpectedShapeError if two items of a response have the same identity.

    `ids` contains for each item its path in the response (as `items[3]`), its identity and its id.
    """
    seen: dict[Any, str] = {}
    for place, identity, id in ids:
        if identity in seen:
            raise UnexpectedShapeError(
                UnexpectedShape("id", "a unique id", f"the id of {seen[identity]}"), place, id
            )
        seen[identity] = place


def id_if_valid(kind: Kind, body: Any) -> str | None:
    """Return the id of an item that may have a wrong shape, for an error message; None without a valid id."""
    try:
        parts = [check_id(body, name) for name in template_names(kind.id_path)]
    except UnexpectedShapeError:
        return None
    return "/".join(parts)


def template_names(template: str) -> list[str]:
    """Return the dotted names in an id template: two for `{user.id}/{team.id}`, one for `id`."""
    return TEMPLATE_NAMES.findall(template) if "{" in template else [template]


def _wire_value(item: Field, body: Mapping[str, Any]) -> Any:
    """Return the JSON value of a readable field in a response, ABSENT_VALUE for an absent optional field.

    A field that is composed of several members is returned as an object. Raises UnexpectedShapeError if the
    value does not fit the field's type, or if a required value is missing.
    """
    if item.response_member is not None:  # nearly every field: one that is there, or may be left out
        value = body.get(item.response_member, ABSENT_VALUE)
        if value is ABSENT_VALUE and item.response_presence == "sometimes":
            return ABSENT_VALUE
        if value is not ABSENT_VALUE and value is not None:
            if wrong := item.type.shape_error(value):
                raise UnexpectedShapeError(wrong.nested_in(item.response_member))
            return value
    source = item.response_path
    if not isinstance(source, str):
        parts_by_name = {name: value_at_path(body, path) for name, path in (source or {}).items()}
        parts = item.type.parts if isinstance(item.type, Object) else {}
        for name, path in (source or {}).items():
            if name in parts:
                _check_optional(parts[name], parts_by_name[name], path)
        return {
            name: part
            for name, part in parts_by_name.items()
            if part is not ABSENT_VALUE and part is not None
        }
    value = value_at_path(body, source)
    if (
        item.type.referenced_kinds
        and (value is ABSENT_VALUE or value is None)
        and _has_referenced_object(body, source)
    ):  # the response contains the referenced object, but not its id
        raise UnexpectedShapeError(
            UnexpectedShape(source, "an id", ABSENT if value is ABSENT_VALUE else "null")
        )
    if value is ABSENT_VALUE and item.response_presence != "sometimes":
        raise UnexpectedShapeError(UnexpectedShape(source, "a value in every response", ABSENT))
    if value is None and item.response_presence == "always" and (wrong := item.type.shape_error(None)):
        raise UnexpectedShapeError(_with_prefix(wrong, source))
    _check_optional(item.type, value, source)
    return value


def _has_referenced_object(body: Any, source: str) -> bool:
    """Return whether a response contains the object that should have the id at the path `source`.

    For `team.id`, this is the object `team`. A reference without an id is then an error.
    """
    object_path, _, name = source.rpartition(".")
    return bool(object_path) and name == "id" and isinstance(value_at_path(body, object_path), dict)


def _check_optional(type: Any, value: Any, path: str) -> None:
    """Check the value of a member that may be absent or null.

    Raises UnexpectedShapeError for a wrong type.
    """
    if value is not ABSENT_VALUE and value is not None and (wrong := type.shape_error(value)):
        raise UnexpectedShapeError(_with_prefix(wrong, path))


def _with_prefix(error: UnexpectedShape, path: str) -> UnexpectedShape:
    """Return the shape error with `path` in front of its member path; unchanged for an empty path."""
    return error.nested_in(path) if path else error


def value_or_none(body: Any, path: str) -> Any:
    """Return the value at a dotted path ("siteSpaces.0.id"), or None if there is none."""
    try:
        value = value_at_path(body, path)
    except UnexpectedShapeError:
        return None
    return None if value is ABSENT_VALUE else value


def _is_id(part: Any) -> TypeGuard[str]:
    """Return whether a value is a text that can be a segment of a URL."""
    return isinstance(part, str) and id_problem(part) is None


def fill_id_template(body: Any, template: str) -> str | None:
    """Return the id of an object by an id template: a dotted name, or a text with such names in braces.

    For example, `{user.id}/{role}` gives "u1/admin". Return None if a part is missing, or cannot be a segment
    of a URL.
    """
    if "{" not in template:
        part = (
            body.get(template)
            if isinstance(body, dict) and "." not in template
            else value_or_none(body, template)
        )
        return part if _is_id(part) else None
    parts = {name: value_or_none(body, name) for name in template_names(template)}
    if not all(map(_is_id, parts.values())):
        return None
    return TEMPLATE_NAMES.sub(lambda match: str(parts[match[1]]), template)


def decode_field(field: Field, wire: Any) -> Value:
    """Return the live value of a field. The declaration says what an absent member, null or "" means."""
    value = None if wire is ABSENT_VALUE else field.type.decode(wire)
    if value is None or (value == "" and field.empty_text_is_none):
        return (
            field.value_when_absent
            if type(field.value_when_absent) in PLAIN_TYPES
            else deepcopy(field.value_when_absent)
        )
    return value


def decode(
    kind: Kind, body: Any, parent: Identity | None, source: str, holder: Identity | None = None, id: str = ""
) -> LiveObject:
    """Decode one object of a response. Raises UnexpectedShapeError if the body does not fit the kind.

    Args:
        parent: The object in whose URL the object is (for a navigation node mostly the site).
        source: The URL from which the object was read.
        holder: The navigation node that directly contains the object; None at the top level.
        id: The id of the object, if it is not in the body.
    """
    wires = checked_wire_values(kind, body, has_id=not id)
    object_id = id or str(fill_id_template(body, kind.id_path))
    fields = {field.name: decode_field(field, wires[field.name]) for field in kind.readable_fields}
    url = value_or_none(body, kind.url.response_path) if kind.url else None
    url = url if isinstance(url, str) else None
    preview = value_or_none(body, kind.url.preview_path) if kind.url and kind.url.preview_path else None
    preview = preview if isinstance(preview, str) else None
    changed = value_or_none(body, kind.changed_at_path) if kind.changed_at_path else None
    changed = changed if isinstance(changed, str) else None
    title = value_or_none(body, kind.referenced_title_path) if kind.referenced_title_path else None
    title = title if isinstance(title, str) and title else None
    return LiveObject(
        kind.name, object_id, parent, holder, fields, source, kind.has_unique_id,
        url=url, preview_url=preview, changed_at=changed, referenced_title=title,
        synced_repository=_decode_repository(kind.git_sync, body) if kind.git_sync else None,
    )  # fmt: skip


def _decode_repository(synced: GitSync, body: Any) -> SyncedRepository | None:
    """Return the repository that the platform syncs an object with (Git Sync), None if there is none.

    A repository with missing members still counts, so that dpsync never mistakes a synced object for an
    unsynced one. Raises UnexpectedShapeError for a repository that is not an object.
    """
    repository = value_at_path(body, synced.response_path)
    if repository is ABSENT_VALUE or repository is None:
        return None
    if not isinstance(repository, dict):
        raise UnexpectedShapeError(wrong_type(repository, "an object").nested_in(synced.response_path))
    name, provider, status = (
        value if isinstance(value := repository.get(member), str) and value else None
        for member in (synced.repository, synced.provider, synced.status)
    )
    details = [provider, None if status == "active" else status]
    details_text = ", ".join(filter(None, details))
    text = f"the repository {name}" if name else "a repository"
    id = repository.get(synced.installation)
    return SyncedRepository(
        f"{text} ({details_text})" if details_text else text,
        bool(repository.get(synced.synced_with_owner_member)),
        id if isinstance(id, str) and id else None,
    )


def decode_list(
    kind: Kind, items: Iterable[Any], parent: Identity | None, source: str
) -> Iterator[tuple[str, LiveObject, Any]]:
    """Yield the path in the response (as `items[3]`), the decoded object and the body of each list item.

    Items that `kind.foreign_items` excludes are skipped: the list also contains objects of other kinds.
    """
    for index, item in enumerate(items):
        if any(value_at_path(item, member) in values for member, values in kind.foreign_items.items()):
            continue
        item_path = f"items[{index}]"
        with AddErrorPlace(item_path, item):
            yield item_path, decode(kind, item, parent, source), item


def decode_tree(
    kinds: tuple[Kind, ...], body: Any, root: str, owner: Identity, source: str
) -> Iterator[tuple[str, LiveObject]]:
    """Yield the path in the response and the decoded object of each node of a nested tree, parents first.

    `root` is the name of the member with the top-level nodes, `owner` the object with the tree (the site).
    The parent of a node follows from its position in the tree. Nodes of types without a kind are skipped.
    """
    by_wire = _kinds_by_wire_type(kinds)

    def below(
        container: Any, member: str, path: str, ancestors: tuple[Identity, ...]
    ) -> Iterator[tuple[str, LiveObject]]:
        """Yield the nodes in one member of the body or of a node, each followed by its descendants."""
        with AddErrorPlace(path, container):
            nodes = check_member(container, member, list, "a list")
        for index, item in enumerate(nodes):
            node_path = f"{path}.{member}[{index}]" if path else f"{member}[{index}]"
            with AddErrorPlace(node_path, item):
                kind = by_wire.get(check_member(item, "object", str, "a text"))
                if kind is None:
                    continue
                parent = next((other for other in reversed(ancestors) if other[0] in kind.parents), owner)
                node = decode(kind, item, parent, source, holder=ancestors[-1] if ancestors else None)
            if kind.parent_reference_field is not None:
                parent_value = (
                    LiveId(node.holder[1])
                    if node.holder
                    else deepcopy(kind.parent_reference_field.value_when_absent)
                )
                node = replace(node, fields={**node.fields, kind.parent_reference_field.name: parent_value})
            yield node_path, node
            assert isinstance(kind.shape, NodeShape)
            if kind.shape.children_member:
                yield from below(item, kind.shape.children_member, node_path, (*ancestors, node.identity))

    return below(body, root, "", ())


def decode_nodes(
    kinds: tuple[Kind, ...], items: Iterable[Any], owner: Identity, source: str
) -> Iterator[tuple[str, LiveObject]]:
    """Yield the path and the decoded object of each tree node in a flat list, where a field names the parent.

    A node without a parent node belongs to `owner` (such as the site). Nodes of types without a kind are
    skipped.
    """
    by_wire = _kinds_by_wire_type(kinds)
    for index, item in enumerate(items):
        node_path = f"items[{index}]"
        with AddErrorPlace(node_path, item):
            kind = by_wire.get(check_member(item, "object", str, "a text"))
            if kind is None:
                continue
            parent_value = (
                decode_field(
                    kind.parent_reference_field,
                    value_at_path(item, str(kind.parent_reference_field.response_path)),
                )
                if kind.parent_reference_field
                else None
            )
            holder = (
                (kind.parent_reference_field.type.referenced_kinds[0], parent_value.id)
                if kind.parent_reference_field and isinstance(parent_value, LiveId)
                else None
            )
            parent = holder if holder and holder[0] in kind.parents else owner
            yield node_path, decode(kind, item, parent, source, holder)


def _kinds_by_wire_type(kinds: tuple[Kind, ...]) -> dict[str, Kind]:
    """Return the node kinds by the word in the `object` member of a response that identifies them."""
    return {kind.shape.wire_type: kind for kind in kinds if isinstance(kind.shape, NodeShape)}
