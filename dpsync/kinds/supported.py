"""Declared kinds → the kinds that a server with some profile supports.

Where a declaration has alternatives, the first one that the server has is taken. What the server has no
operation for is left out and noted, so that a plan can say why something is blocked. A kind that the server
cannot read is left out as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from dpsync.kinds.kind import Call, Field, Kind, Lifecycle, ListOrder, Lists, One, Order, Pages, Tree
from dpsync.kinds.profiles import Profile

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
