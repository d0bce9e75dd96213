"""Look up kinds, their relations, and which of them an API version supports.

Declared kinds → the kinds that a server with some profile supports.

Where a declaration has alternatives, the first one that the server has is taken. What the server has no
operation for is left out and noted, so that a plan can say why something is blocked. A kind that the server
cannot read is left out as a whole.

Which kinds there are, and how they hang together. Everything that depends on a kind asks here.
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

from dpsync.kinds.editions import FULL, PROFILES, Profile
from dpsync.kinds.kind import (
    Call,
    Entries,
    Field,
    Kind,
    Lifecycle,
    ListOrder,
    Lists,
    Node,
    One,
    Order,
    Pages,
    Tree,
)

_NAME = re.compile(r"\{([\w.]+)\}")
Read = Pages | One | Tree | Lists


class SupportedKind(Kind, frozen=True):
    """A kind as one server has it. The registry gives out these; modules declare a `Kind`."""

    unsupported: frozenset[str] = frozenset()
    """The declared words (create, delete, order …) that the server has no operation for."""
    unsupported_fields: frozenset[str] = frozenset()
    """The fields that have values which no operation of the server writes."""


def in_words_of(kind: Kind, profile: str) -> Kind:
    """The declaration with the words that it has on servers with this profile; whatever these support."""
    fields = tuple(
        replace(item, **item.on_profiles[profile]) if profile in item.on_profiles else item
        for item in kind.fields
    )
    words = kind.on_profiles.get(profile, {})
    return replace(kind, **words, fields=fields) if words or fields != kind.fields else kind


def for_profile(kinds: Mapping[str, Kind], profile: Profile) -> dict[str, SupportedKind]:
    """The kinds that a server with this profile supports, in the same order."""
    if profile.is_whole:
        return {name: _supported(kind) for name, kind in kinds.items()}
    support = _Support(kinds, profile)
    found = {kind.name: made for kind in kinds.values() if (made := support.kind(kind)) is not None}
    while orphans := [
        kind.name for kind in found.values() if kind.parents and found.keys().isdisjoint(kind.parents)
    ]:
        for name in orphans:
            del found[name]
    return found


def read_paths(kinds: Mapping[str, Kind], kind: Kind) -> set[str]:
    """The paths by which a kind is read, every parameter written as `{}`: one for each kind of parent."""
    paths = kind.read.paths if isinstance(kind.read, Lists) else (kind.read.path,)
    support = _Support(kinds, Profile(""))
    return {found for path in paths for found in support.paths(kind, path)}


def _supported(kind: Kind, **changed: Any) -> SupportedKind:
    """The kind as it is declared, except for what changed."""
    declared = {word: getattr(kind, word) for word in Kind.__struct_fields__}
    return SupportedKind(**{**declared, **changed})


class _Support(Struct, frozen=True):
    """What one server has of each declaration."""

    kinds: Mapping[str, Kind]
    profile: Profile

    def kind(self, kind: Kind) -> SupportedKind | None:
        """The kind with the operations that the server has; None when it cannot be read."""
        read = self._read(kind, kind.read)
        if read is None:
            return None
        written = {item.name: self._field(kind, item) for item in kind.fields}
        made = _supported(
            kind,
            read=read,
            order=self._order(kind, kind.order),
            fields=tuple(field for field, _ in written.values()),
            unsupported_fields=frozenset(name for name, (_, every) in written.items() if not every),
            create=kind.create if not isinstance(kind.create, Call) else self._call(kind, kind.create),
            update=self._call(kind, kind.update),
            delete=self._call(kind, kind.delete),
            lifecycle=self._lifecycle(kind, kind.lifecycle),
            platform=replace(
                kind.platform,
                acts={word: call for word, call in kind.platform.acts.items() if self._call(kind, call)},
            ),
        )
        words = ("create", "update", "delete", "order")
        unsupported = {word for word in words if getattr(kind, word) and not getattr(made, word)}
        return replace(made, unsupported=frozenset(unsupported))

    def _lifecycle(self, kind: Kind, declared: Lifecycle) -> Lifecycle:
        add, restore = declared.add, declared.restore
        return replace(
            declared,
            add=add if add and self._call(kind, add.call) else None,
            restore=restore if restore and self._call(kind, restore.call) else None,
            transfer=self._call(kind, declared.transfer),
        )

    def _read(self, kind: Kind, read: Read) -> Read | None:
        at: Read | None = read
        while at is not None:
            paths = at.paths if isinstance(at, Lists) else (at.path,)
            if all(self._has(kind, "GET", path) for path in paths):
                return at
            at = at.otherwise if isinstance(at, Tree) else None
        return None

    def _order(self, kind: Kind, order: Order | None) -> Order | None:
        while order is not None and self._call(kind, order.call) is None:
            order = order.otherwise
        return order

    def _field(self, kind: Kind, item: Field) -> tuple[Field, bool]:
        """The field with the calls that write it, and whether these write all of its values.

        A field with calls of its own needs those; any other one must be a member of the kind's updating call.
        """
        if isinstance(item, ListOrder):
            order = self._order(self.kinds[item.of], item.order)
            return replace(item, order=order), order is not None
        there = {part: path for part, path in item.own_read.items() if self._has(kind, "GET", path)}
        item = replace(item, own_read=there, on=self._when(kind, item))
        if isinstance(item.via, Call):
            return (item, True) if self._writes(kind, item.via) else (replace(item, via={}), False)
        if item.via is not None:
            left = {value: call for value, call in item.via.items() if self._writes(kind, call)}
            return replace(item, via=left), len(left) == len(item.via)
        if not isinstance(kind.update, Call) or item.on not in ("update", "both"):
            return item, True
        if all(
            self.profile.takes(kind.update.method, path, item.wire)
            for path in self.paths(kind, kind.update.path)
        ):
            return item, True
        return replace(item, via=item.otherwise or {}), item.otherwise is not None

    def _writes(self, kind: Kind, call: Call) -> bool:
        """Whether the server has the call and takes every member that it names."""
        members = call.body if isinstance(call.body, dict) else {}
        paths = self.paths(kind, call.path)
        return self._call(kind, call) is not None and all(
            self.profile.takes(call.method, path, member) for path in paths for member in members
        )

    def _when(self, kind: Kind, item: Field) -> Literal["create", "update", "both", "neither"]:
        """When it is written: what the creating call does not take is written afterwards."""
        if item.on != "both" or not isinstance(kind.create, Call) or self._call(kind, kind.create) is None:
            return item.on
        name, method = item.create_as or item.wire, kind.create.method
        paths = self.paths(kind, kind.create.path)
        return "both" if all(self.profile.takes(method, path, name) for path in paths) else "update"

    def _call(self, kind: Kind, call: Call | None) -> Call | None:
        return call if call is not None and self._has(kind, call.method, call.path) else None

    def _has(self, kind: Kind, method: str, path: str) -> bool:
        return all(self.profile.has(method, found) for found in self.paths(kind, path))

    def paths(self, kind: Kind, path: str) -> set[str]:
        """The paths that a template stands for: one for each kind of parent that it names."""
        path = _NAME.sub(
            lambda name: self._fill(kind, name[1]), path.partition("?")[0].replace("{self}", kind.at)
        )
        if "{parent}" not in path:
            return {path}
        above = {found for parent in kind.parents for found in self.paths(self.kinds[parent], "{self}")}
        return {path.replace("{parent}", found) for found in above}

    def _fill(self, kind: Kind, name: str) -> str:
        if name == "parent":
            return "{parent}"
        named = kind if name == "id" else self.kinds.get(name)
        return _NAME.sub("{}", named.id) if named is not None and "{" in named.id else "{}"


class Registry:
    """A closed set of kinds, as a server with this profile has them."""

    def __init__(self, kinds: Iterable[Kind], profile: Profile = FULL) -> None:
        self.profile = profile
        self._written = tuple(kinds)
        self.declared = {kind.name: in_words_of(kind, profile.name) for kind in self._written}
        self.kinds = for_profile(self.declared, profile)

    def __getitem__(self, name: str) -> SupportedKind:
        return self.kinds[name]

    def __contains__(self, name: str) -> bool:
        return name in self.kinds

    @cached_property
    def root(self) -> SupportedKind:
        return next(kind for kind in self.kinds.values() if kind.parent is None)

    @cached_property
    def ordered(self) -> tuple[SupportedKind, ...]:
        """Every kind behind its parents and behind the kinds that its natural keys refer to."""
        graph: dict[str, set[str]] = {}
        for kind in self.kinds.values():
            names = {part for key in kind.identity for part in ([key] if isinstance(key, str) else key)}
            names |= {*kind.tie_breakers, kind.natural or ""}
            refers = {ref for field in kind.fields if field.name in names for ref in field.type.refers}
            graph[kind.name] = {name for name in {*kind.parents, *refers} - {kind.name} if name in self.kinds}
        return tuple(self.kinds[name] for name in TopologicalSorter(graph).static_order())

    @cached_property
    def _children(self) -> dict[str, tuple[SupportedKind, ...]]:
        return {name: tuple(kind for kind in self.ordered if name in kind.parents) for name in self.kinds}

    def children(self, name: str) -> tuple[SupportedKind, ...]:
        return self._children.get(name, ())

    def places(self, name: str) -> Mapping[str, tuple[SupportedKind, ...]]:
        """The YAML keys of an entry of this kind that hold other kinds. Nodes inside nodes are no place."""
        return self._places[name]

    @cached_property
    def _places(self) -> dict[str, dict[str, tuple[SupportedKind, ...]]]:
        return {name: self._places_of(name) for name in self.kinds}

    def _places_of(self, name: str) -> dict[str, tuple[SupportedKind, ...]]:
        places: dict[str, tuple[SupportedKind, ...]] = {}
        for kind in self.children(name):
            inside_node = isinstance(kind.shape, Node) and isinstance(self.kinds[name].shape, Node)
            if not inside_node:
                places[kind.key] = (*places.get(kind.key, ()), kind)
        for key, kinds in places.items():
            if any(isinstance(kind.shape, Node) for kind in kinds):
                places[key] = self.nodes(key)
        return places

    def nodes(self, key: str) -> tuple[SupportedKind, ...]:
        """The kinds that share one ordered tree."""
        return self._nodes.get(key, ())

    @cached_property
    def _nodes(self) -> dict[str, tuple[SupportedKind, ...]]:
        found: dict[str, tuple[SupportedKind, ...]] = {}
        for kind in self.ordered:
            if isinstance(kind.shape, Node):
                found[kind.key] = (*found.get(kind.key, ()), kind)
        return found

    def tree_word(self, owner: str) -> str:
        """The key of an entry of this kind that holds its tree. StopIteration: it has none."""
        return next(word for word, kinds in self.places(owner).items() if any(one.in_tree for one in kinds))

    def tree_owner(self, kind: Kind) -> str:
        """The kind that owns the tree which this kind is a node of."""
        return next(
            parent
            for node in self.nodes(kind.key)
            for parent in node.parents
            if not isinstance(self.kinds[parent].shape, Node)
        )

    @cached_property
    def words(self) -> frozenset[str]:
        """The keys a pattern may start with: the places below an organization."""
        return frozenset(self.whole.places(self.root.name))

    @cached_property
    def whole(self) -> Registry:
        """Every kind in the words of this profile: what may be written does not depend on the operations."""
        return self if self.profile.is_whole else self.written_for(self.profile.name)

    def written_for(self, profile: str) -> Registry:
        """Every kind in the words of a profile: by these a configuration is read that is planned for it."""
        found = self._written_for.get(profile)
        if found is None:
            found = self._written_for[profile] = Registry(self._written, Profile(profile))
        return found

    @cached_property
    def _written_for(self) -> dict[str, Registry]:
        return {}

    @cached_property
    def _referring(self) -> dict[str, tuple[tuple[SupportedKind, Any], ...]]:
        found: dict[str, tuple[tuple[SupportedKind, Any], ...]] = {}
        for kind in self.ordered:
            for field in kind.fields:
                if field.nest or (field.via is not None and field.one_per is None):
                    for name in dict.fromkeys(field.type.refers):
                        found[name] = (*found.get(name, ()), (kind, field))
        return found

    def referring(self, name: str) -> tuple[tuple[SupportedKind, Any], ...]:
        """Fields of any kind that put an object into one of this kind (its collection, its group)."""
        return self._referring.get(name, ())

    @cached_property
    def _list_orders(self) -> dict[str, dict[str, ListOrder]]:
        found: dict[str, dict[str, ListOrder]] = {name: {} for name in self.kinds}
        for kind in self.ordered:
            for order in kind.list_orders:
                found[order.of][kind.name] = order
        return found

    def list_orders(self, name: str) -> Mapping[str, ListOrder]:
        """The lists that give things of this kind their order, by the kind of the entries that have them."""
        return self._list_orders[name]

    def list_order(self, name: str) -> ListOrder | None:
        """Any of these lists: all have one field that places a thing, and one request that moves it."""
        return next(iter(self._list_orders[name].values()), None)

    def naming(self, name: str) -> tuple[SupportedKind, ...]:
        """Kinds with a field that can be read and that may name an object of this kind.

        What an object is only placed in counts where its deletion lifts what is in it.
        """
        places = {(kind.name, field.name) for kind, field in self.referring(name)}
        lifted = self.kinds[name].lifecycle.on_delete == "lifted"
        return tuple(
            kind
            for kind in self.ordered
            if any(
                name in field.names
                and field.source is not None
                and (lifted or (kind.name, field.name) not in places)
                for field in kind.fields
            )
        )

    def keyed(self, kind: Kind) -> bool:
        """Whether the local key is data: an e-mail, a slug, a reference."""
        return isinstance(kind.shape, Entries) and kind.shape.natural is not None

    def folded(self, kind: Kind, key: str) -> str:
        """A key as its address has it. One that is data folds like that data: e-mails in any case are one.

        A key that is a reference folds like the key that it refers to.
        """
        if kind.natural is None:
            return key
        folded = str(kind.field(kind.natural).type.fold(key))
        for name in kind.field(kind.natural).type.refers:
            target = self[name]
            if target.natural is not None:
                return str(target.field(target.natural).type.fold(folded))
        return folded


@cache
def load(profile: str = FULL.name) -> Registry:
    """Every kind declared in this package, one file each, of those that a server with this profile has.

    The same registry each time: it never changes.
    """
    import dpsync.kinds.declarations as package

    kinds: list[Kind] = []
    for module in sorted(iter_modules(package.__path__), key=lambda item: item.name):
        found = vars(import_module(f"{package.__name__}.{module.name}")).values()
        kinds.extend(value for value in found if isinstance(value, Kind))
    return Registry(kinds, PROFILES[profile])
