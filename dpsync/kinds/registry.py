"""Look up kinds of objects, their relations, and which of them an API version supports.

`build_registry` returns the registry of a profile (API version). `Registry` has the relations between kinds:
parents, trees, references, orders. `for_profile` reduces the declared kinds to what a server supports: of
alternatives in a declaration, it takes the first one that the server has. Operations that the server lacks
are left out and noted, so that a plan can give the reason. A kind that the server cannot read is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache, cached_property
from graphlib import TopologicalSorter
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from dpsync.kinds.kind import (
    Call,
    EntryMapping,
    Field,
    Kind,
    Lifecycle,
    ListOrder,
    ListRead,
    NodeListsRead,
    SiblingOrder,
    SingleRead,
    TreeNode,
    TreeRead,
)
from dpsync.kinds.profiles import FULL, PROFILES, Profile

_NAME = re.compile(r"\{([\w.]+)\}")
Read = ListRead | SingleRead | TreeRead | NodeListsRead


class SupportedKind(Kind, frozen=True):
    """A kind with the requests that one server supports.

    The registry has these; declarations are plain `Kind`s.
    """

    unsupported: frozenset[str] = frozenset()
    """The declared words (create, delete, order …) for which the server has no operation."""
    unsupported_fields: frozenset[str] = frozenset()
    """The fields with values that no operation of the server writes."""


def with_profile_overrides(kind: Kind, profile: str) -> Kind:
    """Return a kind with the differences that its declaration has for an API version (`profile`).

    This does not check whether a server with this API version supports the kind; see `for_profile`.
    """
    fields = tuple(
        replace(field, **field.profile_overrides[profile]) if profile in field.profile_overrides else field
        for field in kind.fields
    )
    overrides = kind.profile_overrides.get(profile, {})
    return replace(kind, **overrides, fields=fields) if overrides or fields != kind.fields else kind


def for_profile(kinds: Mapping[str, Kind], profile: Profile) -> dict[str, SupportedKind]:
    """Return the kinds that a server with this API version (`profile`) supports, in the same order.

    Each is reduced to the requests that the server has. A kind whose parents are all unsupported is left
    out, too.
    """
    if profile.is_complete:
        return {name: _supported(kind) for name, kind in kinds.items()}
    support = _Support(kinds, profile)
    supported_kinds = {
        kind.name: supported
        for kind in kinds.values()
        if (supported := support.supported_kind(kind)) is not None
    }
    while orphans := [
        kind.name
        for kind in supported_kinds.values()
        if kind.parents and supported_kinds.keys().isdisjoint(kind.parents)
    ]:
        for name in orphans:
            del supported_kinds[name]
    return supported_kinds


def read_paths(kinds: Mapping[str, Kind], kind: Kind) -> set[str]:
    """Return the URL paths that read a kind, one for each kind of parent, with every parameter as `{}`."""
    paths = kind.read.paths if isinstance(kind.read, NodeListsRead) else (kind.read.path,)
    support = _Support(kinds, Profile(""))
    return {expanded for path in paths for expanded in support.expand_paths(kind, path)}


def _supported(kind: Kind, **changed: Any) -> SupportedKind:
    """Return a declared kind as a SupportedKind, with some words replaced."""
    declared = {word: getattr(kind, word) for word in Kind.__struct_fields__}
    return SupportedKind(**{**declared, **changed})


class _Support(Struct, frozen=True):
    """Reduces declarations to the requests that one server supports."""

    kinds: Mapping[str, Kind]
    profile: Profile

    def supported_kind(self, kind: Kind) -> SupportedKind | None:
        """Return a kind with only the requests that the server has; None if the server cannot read the kind.

        Requests that the server lacks become None or their fallback, and are listed in `unsupported`.
        """
        read = self._supported_read(kind, kind.read)
        if read is None:
            return None
        fields = {item.name: self._supported_field(kind, item) for item in kind.fields}
        reduced = _supported(
            kind,
            read=read,
            order=self._supported_order(kind, kind.order),
            fields=tuple(field for field, _ in fields.values()),
            unsupported_fields=frozenset(name for name, (_, every) in fields.items() if not every),
            create=kind.create
            if not isinstance(kind.create, Call)
            else self._supported_call(kind, kind.create),
            update=self._supported_call(kind, kind.update),
            delete=self._supported_call(kind, kind.delete),
            lifecycle=self._supported_lifecycle(kind, kind.lifecycle),
            platform_work=replace(
                kind.platform_work,
                user_actions={
                    word: call
                    for word, call in kind.platform_work.user_actions.items()
                    if self._supported_call(kind, call)
                },
            ),
        )
        words = ("create", "update", "delete", "order")
        unsupported = {word for word in words if getattr(kind, word) and not getattr(reduced, word)}
        return replace(reduced, unsupported=frozenset(unsupported))

    def _supported_lifecycle(self, kind: Kind, declared: Lifecycle) -> Lifecycle:
        """Return the lifecycle of a kind without the requests that the server lacks."""
        add, restore = declared.create_with_id, declared.restore
        return replace(
            declared,
            create_with_id=add if add and self._supported_call(kind, add.call) else None,
            restore=restore if restore and self._supported_call(kind, restore.call) else None,
            transfer=self._supported_call(kind, declared.transfer),
        )

    def _supported_read(self, kind: Kind, read: Read) -> Read | None:
        """Return the first way to read a kind (`read` or its fallbacks) that the server has, or None."""
        alternative: Read | None = read
        while alternative is not None:
            paths = alternative.paths if isinstance(alternative, NodeListsRead) else (alternative.path,)
            if all(self._has(kind, "GET", path) for path in paths):
                return alternative
            alternative = alternative.fallback if isinstance(alternative, TreeRead) else None
        return None

    def _supported_order(self, kind: Kind, order: SiblingOrder | None) -> SiblingOrder | None:
        """Return the first way to order siblings whose request the server has; None if there is none."""
        while order is not None and self._supported_call(kind, order.call) is None:
            order = order.fallback
        return order

    def _supported_field(self, kind: Kind, item: Field) -> tuple[Field, bool]:
        """Return (field with only the requests that the server has, whether these write all of its values).

        A field can have its own request, or one for each value (`own_call`). Any other field must be a member
        of the kind's update request; if the server does not accept the member, `fallback_call` is used.
        """
        if isinstance(item, ListOrder):
            order = self._supported_order(self.kinds[item.item_kind], item.move_order)
            return replace(item, move_order=order), order is not None
        paths = {
            part: path for part, path in item.separate_read_paths.items() if self._has(kind, "GET", path)
        }
        item = replace(item, separate_read_paths=paths, written_in=self._supported_writes(kind, item))
        if isinstance(item.own_call, Call):
            return (
                (item, True)
                if self._accepts_body(kind, item.own_call)
                else (replace(item, own_call={}), False)
            )
        if item.own_call is not None:
            supported_calls = {
                value: call for value, call in item.own_call.items() if self._accepts_body(kind, call)
            }
            return replace(item, own_call=supported_calls), len(supported_calls) == len(item.own_call)
        if not isinstance(kind.update, Call) or item.written_in not in ("update", "both"):
            return item, True
        if all(
            self.profile.accepts_member(kind.update.method, path, item.wire_name)
            for path in self.expand_paths(kind, kind.update.path)
        ):
            return item, True
        return replace(item, own_call=item.fallback_call or {}), item.fallback_call is not None

    def _accepts_body(self, kind: Kind, call: Call) -> bool:
        """Return whether the server has a request and accepts every member of its body."""
        members = call.body if isinstance(call.body, dict) else {}
        paths = self.expand_paths(kind, call.path)
        return self._supported_call(kind, call) is not None and all(
            self.profile.accepts_member(call.method, path, member) for path in paths for member in members
        )

    def _supported_writes(self, kind: Kind, item: Field) -> Literal["create", "update", "both", "neither"]:
        """Return whether a field is written by the create request, the update request, or both.

        A field that the server's create request does not accept is written by the update.
        """
        if (
            item.written_in != "both"
            or not isinstance(kind.create, Call)
            or self._supported_call(kind, kind.create) is None
        ):
            return item.written_in
        name, method = item.create_name or item.wire_name, kind.create.method
        paths = self.expand_paths(kind, kind.create.path)
        return "both" if all(self.profile.accepts_member(method, path, name) for path in paths) else "update"

    def _supported_call(self, kind: Kind, call: Call | None) -> Call | None:
        """Return the request if the server has it, otherwise None."""
        return call if call is not None and self._has(kind, call.method, call.path) else None

    def _has(self, kind: Kind, method: str, path: str) -> bool:
        """Return whether the server has an operation, for all kinds of parents that the path can mean."""
        return all(self.profile.has_operation(method, expanded) for expanded in self.expand_paths(kind, path))

    def expand_paths(self, kind: Kind, path: str) -> set[str]:
        """Return the URL paths that a path template of a kind means, with `{}` for each parameter.

        "{self}" stands for the path of the object, and "{parent}" for the path of its parent: one path is
        returned for each kind of parent.
        """

        def expand_parameter(match: re.Match[str]) -> str:
            """Return `{}` for a name in braces, or several if the id of the named kind has several parts."""
            name = match[1]
            if name == "parent":
                return "{parent}"
            named_kind = kind if name == "id" else self.kinds.get(name)
            if named_kind is None or "{" not in named_kind.id_path:
                return "{}"
            return _NAME.sub("{}", named_kind.id_path)

        path = _NAME.sub(expand_parameter, path.partition("?")[0].replace("{self}", kind.url_path))
        if "{parent}" not in path:
            return {path}
        parent_paths = {
            expanded
            for parent in kind.parents
            for expanded in self.expand_paths(self.kinds[parent], "{self}")
        }
        return {path.replace("{parent}", expanded) for expanded in parent_paths}


class Registry:
    """All kinds, as a server with one profile supports them, and the relations between them."""

    def __init__(self, kinds: Iterable[Kind], profile: Profile = FULL) -> None:
        self.profile = profile
        self._declarations = tuple(kinds)
        self.declared = {kind.name: with_profile_overrides(kind, profile.name) for kind in self._declarations}
        self.kinds = for_profile(self.declared, profile)

    def __getitem__(self, name: str) -> SupportedKind:
        return self.kinds[name]

    def __contains__(self, name: str) -> bool:
        return name in self.kinds

    @cached_property
    def root(self) -> SupportedKind:
        """Return the kind without a parent: the organization."""
        return next(kind for kind in self.kinds.values() if kind.parent is None)

    @cached_property
    def in_dependency_order(self) -> tuple[SupportedKind, ...]:
        """Return all kinds, each after its parents and after the kinds to which its natural keys refer."""
        graph: dict[str, set[str]] = {}
        for kind in self.kinds.values():
            names = {part for key in kind.natural_keys for part in ([key] if isinstance(key, str) else key)}
            names |= {*kind.tie_breakers, kind.key_field or ""}
            refers = {
                ref for field in kind.fields if field.name in names for ref in field.type.referenced_kinds
            }
            graph[kind.name] = {name for name in {*kind.parents, *refers} - {kind.name} if name in self.kinds}
        return tuple(self.kinds[name] for name in TopologicalSorter(graph).static_order())

    @cached_property
    def _children(self) -> dict[str, tuple[SupportedKind, ...]]:
        """Return the kinds directly in each kind, by name."""
        return {
            name: tuple(kind for kind in self.in_dependency_order if name in kind.parents)
            for name in self.kinds
        }

    def children(self, name: str) -> tuple[SupportedKind, ...]:
        """Return the kinds whose objects can be directly in an object of this kind."""
        return self._children.get(name, ())

    def kinds_by_list_key(self, name: str) -> Mapping[str, tuple[SupportedKind, ...]]:
        """Return the YAML keys of an entry under which other entries are, with their kinds.

        For example, an organization has `sites` and `teams`. Nodes inside nodes do not count.
        """
        return self._kinds_by_list_key[name]

    @cached_property
    def _kinds_by_list_key(self) -> dict[str, dict[str, tuple[SupportedKind, ...]]]:
        """Return the kinds of entries in a list, by the kind that has the list and the list's YAML key.

        For a tree, such as `structure`, these are the kinds of all its nodes.
        """
        kinds_by_list_key: dict[str, dict[str, tuple[SupportedKind, ...]]] = {}
        for name, parent in self.kinds.items():
            lists = kinds_by_list_key[name] = {}
            for kind in self.children(name):
                if not (kind.is_node and parent.is_node):
                    lists[kind.key] = (*lists.get(kind.key, ()), kind)
            for key, kinds in lists.items():
                if any(kind.is_node for kind in kinds):
                    lists[key] = self.tree_kinds(key)
        return kinds_by_list_key

    def tree_kinds(self, key: str) -> tuple[SupportedKind, ...]:
        """Return the kinds of nodes in the ordered tree with this YAML key, such as `structure`."""
        return self._tree_kinds.get(key, ())

    @cached_property
    def _tree_kinds(self) -> dict[str, tuple[SupportedKind, ...]]:
        """Return the kinds of nodes by the YAML key of their tree."""
        kinds_by_key: dict[str, tuple[SupportedKind, ...]] = {}
        for kind in self.in_dependency_order:
            if isinstance(kind.shape, TreeNode):
                kinds_by_key[kind.key] = (*kinds_by_key.get(kind.key, ()), kind)
        return kinds_by_key

    def tree_key(self, owner: str) -> str:
        """Return the YAML key of the tree in an entry of kind `owner`.

        Raises StopIteration without a tree.
        """
        return next(
            word
            for word, kinds in self.kinds_by_list_key(owner).items()
            if any(kind.is_node for kind in kinds)
        )

    def tree_owner(self, kind: Kind) -> str:
        """Return the kind that owns the tree with nodes of a kind: the site for a section."""
        return next(
            parent
            for node in self.tree_kinds(kind.key)
            for parent in node.parents
            if not isinstance(self.kinds[parent].shape, TreeNode)
        )

    @cached_property
    def pattern_words(self) -> frozenset[str]:
        """Return the YAML keys directly below an organization, with which a pattern may start."""
        return frozenset(self.with_all_kinds.kinds_by_list_key(self.root.name))

    @cached_property
    def with_all_kinds(self) -> Registry:
        """Return all kinds as this profile declares them: files may declare unsupported kinds, too."""
        return self if self.profile.is_complete else self.for_files_of_profile(self.profile.name)

    def for_files_of_profile(self, profile: str) -> Registry:
        """Return all kinds as a profile declares them, to read files that are planned for this profile."""
        registry = self._registries_by_profile.get(profile)
        if registry is None:
            registry = self._registries_by_profile[profile] = Registry(self._declarations, Profile(profile))
        return registry

    @cached_property
    def _registries_by_profile(self) -> dict[str, Registry]:
        """Return the cache of `for_files_of_profile`."""
        return {}

    @cached_property
    def _place_fields(self) -> dict[str, tuple[tuple[SupportedKind, Any], ...]]:
        """Return (kind, field) for each field that places an object in another one, by the other's kind."""
        fields_by_kind: dict[str, tuple[tuple[SupportedKind, Any], ...]] = {}
        for kind in self.in_dependency_order:
            for field in kind.fields:
                if field.is_parent_reference or (
                    field.own_call is not None and field.exclusive_within is None
                ):
                    for name in dict.fromkeys(field.type.referenced_kinds):
                        fields_by_kind[name] = (*fields_by_kind.get(name, ()), (kind, field))
        return fields_by_kind

    def place_fields(self, name: str) -> tuple[tuple[SupportedKind, Any], ...]:
        """Return (kind, field) for each field that places an object in an object of the kind `name`.

        For example, spaces have a field that places them in a collection.
        """
        return self._place_fields.get(name, ())

    @cached_property
    def _list_orders(self) -> dict[str, dict[str, ListOrder]]:
        """Return the list orders by the kind of the ordered objects and the kind of the declaring entry."""
        orders: dict[str, dict[str, ListOrder]] = {name: {} for name in self.kinds}
        for kind in self.in_dependency_order:
            for order in kind.list_orders:
                orders[order.item_kind][kind.name] = order
        return orders

    def list_orders(self, name: str) -> Mapping[str, ListOrder]:
        """Return the list orders of objects of a kind, by the kind of the entries that declare the order."""
        return self._list_orders[name]

    def list_order(self, name: str) -> ListOrder | None:
        """Return any list order of a kind: all have the same place field and the same move request."""
        return next(iter(self._list_orders[name].values()), None)

    def kinds_referring_to(self, name: str) -> tuple[SupportedKind, ...]:
        """Return the kinds with a readable field that may refer to an object of the kind `name`.

        A field that places objects in a container of this kind counts only if the contents of a deleted
        container move up ("lifted"). Otherwise they are deleted with it, and no reference remains.
        """
        place_fields = {(kind.name, field.name) for kind, field in self.place_fields(name)}
        moves_contents_up = self.kinds[name].lifecycle.on_delete == "lifted"
        return tuple(
            kind
            for kind in self.in_dependency_order
            if any(
                name in field.referenced_kinds
                and field.response_path is not None
                and (moves_contents_up or (kind.name, field.name) not in place_fields)
                for field in kind.fields
            )
        )

    def has_data_key(self, kind: Kind) -> bool:
        """Return whether the key of an entry is data, such as an e-mail address, a slug or a reference."""
        return isinstance(kind.shape, EntryMapping) and kind.shape.key_field is not None

    def fold_key(self, kind: Kind, key: str) -> str:
        """Return the key of an entry in the form that addresses have, so that equal keys compare equal.

        A key that is data is normalized as the field's type does, such as e-mail addresses to lower case. A
        key that refers to another entry is normalized like the key of that entry. Other keys stay.
        """
        if kind.key_field is None:
            return key
        folded = str(kind.field(kind.key_field).type.fold_for_key(key))
        for name in kind.field(kind.key_field).type.referenced_kinds:
            target = self[name]
            if target.key_field is not None:
                return str(target.field(target.key_field).type.fold_for_key(folded))
        return folded


@cache
def build_registry(profile: str = FULL.name) -> Registry:
    """Return the registry of the kinds that a server with this API version (`profile`) supports.

    It collects the `Kind` values of all modules in `dpsync.kinds.declarations`. It is cached and immutable.
    """
    import dpsync.kinds.declarations as package

    kinds: list[Kind] = []
    for module in sorted(iter_modules(package.__path__), key=lambda item: item.name):
        values = vars(import_module(f"{package.__name__}.{module.name}")).values()
        kinds.extend(value for value in values if isinstance(value, Kind))
    return Registry(kinds, PROFILES[profile])
