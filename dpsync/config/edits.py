"""Compare two versions of the configuration files, without any platform.

`edits` matches entries by files alone: the same address, else the same pinned id, else the same natural key
in the same place. Any other entry counts as removed or added. `MissingFiles` tells why a file of an earlier
commit is not read any more. Only a deleted file means that its entries were removed; a file may also be
renamed, outside a sparse checkout, ignored by git, or not included.
"""

from __future__ import annotations

import os
import posixpath
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from msgspec import Struct, field

from dpsync.config.commits import Project
from dpsync.config.git_program import NoRepositoryError
from dpsync.kinds.registry import Registry, SupportedKind
from dpsync.model.address import Address
from dpsync.model.desired import Desired, Entry
from dpsync.model.drift import Edit, EditedField
from dpsync.model.plan import Origin
from dpsync.model.values import Ref, Value, canonical_json, map_leaves, to_plain


class MissingFiles(Struct, frozen=True):
    """Distinguishes a deleted file from a file that was renamed, ignored, or not included."""

    project: Project
    _descriptions: dict[tuple[str, str], str] = field(default_factory=dict)

    def describe(self, commit: str, file: str) -> str:
        """Return "" if git shows a file as deleted since a commit; otherwise what became of the file."""
        if (commit, file) not in self._descriptions:  # one file may have declared many objects
            self._descriptions[commit, file] = self._describe_file(commit, file)
        return self._descriptions[commit, file]

    def _describe_file(self, commit: str, file: str) -> str:
        if os.path.lexists(self.project.root.parent / file):
            return '"include" does not list this file any more'
        repository, path = self.project.repository, posixpath.join(self.project.directory, file)
        try:
            if (renamed := repository.renamed_files(commit).get(path)) is not None:
                return f"the file was renamed to {renamed}"
            state = repository.index_state(path)
            if state == "S":
                return "this sparse checkout does not contain the file"
            if not state and repository.ignores(path):
                return "git ignores the file now"
        except NoRepositoryError as none:
            return str(none)
        return ""


def edits(registry: Registry, before: Desired, now: Desired) -> tuple[Edit, ...]:
    """Return the edits of the policy and environment, then removed entries, then the others in file order."""
    return tuple(_Comparison(registry, before, now).find_edits())


class _Comparison(Struct, frozen=True, dict=True):
    """The entries of two versions, matched by the files alone."""

    registry: Registry
    before: Desired
    now: Desired

    def find_edits(self) -> Iterator[Edit]:
        yield from self._setting_edits()
        yield from self._removed_edits()
        for address, item in self.now.entries.items():
            old = self._base_addresses.get(address)
            if old is None:
                yield self._make_edit(
                    item, "added", fields=tuple(_edited_fields({}, self._declared_values(item)))
                )
            else:
                yield from self._changed_edits(self.before.entries[old], item)
        yield from self._place_edits()

    # Who is who.

    @cached_property
    def _present_addresses(self) -> dict[Address, Address]:
        """Return the present address of every entry of the base that still exists."""
        found: dict[Address, Address] = {}
        levels: dict[int, list[Entry]] = defaultdict(list)
        for item in self.before.entries.values():
            levels[len(item.address.segments)].append(item)
        for _, level in sorted(levels.items()):  # what an entry is in was found before it
            for item in level:
                at = _present_address(item, found)
                if at in self.now.entries and self.now.entries[at].kind == item.kind:
                    found[item.address] = at
            taken = set(found.values())
            left = [item for item in level if item.address not in found]
            free = [item for item in self.now.entries.values() if item.address not in taken]
            found |= self._match_renamed_entries(left, free, found)
        return found

    @cached_property
    def _base_addresses(self) -> dict[Address, Address]:
        """Return the address in the base of every entry that existed there."""
        return {new: old for old, new in self._present_addresses.items()}

    def _match_renamed_entries(
        self, left: list[Entry], free: list[Entry], known: Mapping[Address, Address]
    ) -> dict[Address, Address]:
        """Match entries with another key whose natural key or pinned id occurs once on each side."""
        olds, news = self._addresses_by_key(left, known), self._addresses_by_key(free if left else [], {})
        found: dict[Address, Address] = {}
        for key, several in olds.items():
            match several, news.get(key):
                case [old], [new]:
                    found[old] = new
        return found

    def _addresses_by_key(
        self, items: list[Entry], known: Mapping[Address, Address]
    ) -> dict[bytes, list[Address]]:
        found: dict[bytes, list[Address]] = defaultdict(list)
        for item in items:
            if (key := self._identity_key(item, known)) is not None:
                found[key].append(item.address)
        return found

    def _identity_key(self, item: Entry, known: Mapping[Address, Address]) -> bytes | None:
        if item.pin is not None:
            return canonical_json([item.kind, item.pin])
        kind = self._kind_of(item)
        if not kind.has_ids_line:  # its key says who it is
            return None
        first = kind.natural_keys[0]
        names = (first,) if isinstance(first, str) else first
        values = [item.fields.get(name) for name in names]
        if any(value is None for value in values):
            return None
        parent = known.get(item.parent, item.parent) if item.parent is not None else None
        return canonical_json(
            [item.kind, str(parent), *(_with_present_references(value, known) for value in values)]
        )

    # What is told of them.

    def _removed_edits(self) -> Iterator[Edit]:
        removed = [
            item for item in self.before.entries.values() if item.address not in self._present_addresses
        ]
        addresses = {item.address for item in removed}
        inside: dict[Address, int] = defaultdict(int)
        for item in removed:
            removed_ancestors = [
                ancestor for ancestor in item.address.self_and_ancestors() if ancestor in addresses
            ]
            inside[removed_ancestors[-1]] += len(removed_ancestors) > 1
        for item in removed:
            if item.address in inside:
                yield self._make_edit(item, "removed", inside=inside[item.address])

    def _changed_edits(self, old: Entry, item: Entry) -> Iterator[Edit]:
        before = {
            name: _with_present_references(value, self._present_addresses)
            for name, value in self._declared_values(old).items()
        }
        fields = list(_edited_fields(before, self._declared_values(item)))
        if order := self._changed_order(item.address):
            fields.append(order)
        if _present_address(old, self._present_addresses) != item.address:
            yield self._make_edit(item, "renamed", fields=tuple(fields), before=str(old.address))
        elif fields:
            yield self._make_edit(item, "changed", fields=tuple(fields))

    def _changed_order(self, address: Address) -> EditedField | None:
        """Return the changed order of the nodes directly in an entry; None if the order is the same."""
        was, present = self._tree_nodes
        now = [node for node in present.get(address, ()) if node in self._base_addresses]
        before = [
            self._present_addresses[node]
            for node in was.get(self._base_addresses[address], ())
            if node in self._present_addresses
        ]
        both = set(now) & set(before)
        first, second = ([str(node) for node in side if node in both] for side in (before, now))
        return EditedField(field="order", before=first, after=second) if first != second else None

    @cached_property
    def _tree_nodes(self) -> tuple[dict[Address, list[Address]], dict[Address, list[Address]]]:
        """Return the nodes of trees by the object that directly contains them, in order, in both versions."""
        return self._tree_nodes_of(self.before), self._tree_nodes_of(self.now)

    def _tree_nodes_of(self, side: Desired) -> dict[Address, list[Address]]:
        nodes: dict[Address, list[Address]] = defaultdict(list)
        for item in side.entries.values():
            container = item.holder or item.parent
            if container is not None and self._kind_of(item).is_node:
                nodes[container].append(item.address)
        return nodes

    def _place_edits(self) -> Iterator[Edit]:
        """Yield mappings of entries that were added or removed while the object that contains them stays."""
        before = {
            _below_present_parent(scope.address, scope.parent, self._present_addresses)
            for scope in self.before.scopes.values()
        }
        for scope in self.now.scopes.values():
            known = scope.address in before or scope.address in self.now.entries
            if not known and scope.parent in self._base_addresses:
                yield Edit(address=str(scope.address), what="added", kind="place", at=Origin.of(scope.span))
        for scope in self.before.scopes.values():
            at = _below_present_parent(scope.address, scope.parent, self._present_addresses)
            known = at in self.now.scopes or scope.address in self.before.entries
            if not known and scope.parent in self._present_addresses:
                yield Edit(address=str(at), what="removed", kind="place")

    def _setting_edits(self) -> Iterator[Edit]:
        sides = [_policy_values(side) for side in (self.before, self.now)]
        if fields := tuple(_edited_fields(*sides)):
            yield Edit(address="policy", what="changed", fields=fields)
        sides = [_environment_values(side) for side in (self.before, self.now)]
        if fields := tuple(_edited_fields(*sides)):
            yield Edit(address="environment", what="changed", fields=fields)

    def _make_edit(self, item: Entry, what: Any, **more: Any) -> Edit:
        kind = self._kind_of(item)
        label = item.fields.get(kind.title_field)
        names = [edited_field.field for edited_field in more.get("fields", ())]
        span = item.value_span(names[0]) if names and what == "changed" else item.span
        return Edit(
            address=str(item.address), what=what, kind=kind.noun,
            at=None if what == "removed" else Origin.of(span),
            label=label if isinstance(label, str) else item.key, **more,
        )  # fmt: skip

    def _kind_of(self, item: Entry) -> SupportedKind:
        return self.registry[item.kind]

    def _declared_values(self, item: Entry) -> dict[str, Value]:
        """Return the fields and keywords of an entry, in the order of its kind."""
        kind = self._kind_of(item)
        named = [field.name for field in kind.fields if field.name in item.fields]
        names = [name for name in named if name != kind.key_field]  # that is its key
        found = {name: item.fields[name] for name in names}
        found |= {"id": item.pin} if item.pin is not None else {}
        earlier = [*map(dict, item.previously)] if item.previously else [*map(str, item.former)]
        found |= {"previously": earlier} if earlier else {}
        found |= {"new": True} if item.new else {}
        return found | ({"takeover": True} if item.takeover else {})


def _edited_fields(before: Mapping[str, Value], now: Mapping[str, Value]) -> Iterator[EditedField]:
    for name in [*now, *(old_name for old_name in before if old_name not in now)]:
        first, second = to_plain(before.get(name)), to_plain(now.get(name))
        if name not in now:
            yield EditedField(field=name, before=first, declared="before")
        elif name not in before:
            yield EditedField(field=name, after=second, declared="after")
        elif canonical_json(first) != canonical_json(second):
            yield EditedField(field=name, before=first, after=second)


def _policy_values(desired: Desired) -> dict[str, Value]:
    policy = desired.policy
    found: dict[str, Value] = {
        name: sorted(pattern.text for pattern in getattr(policy, name))
        for name in ("prune", "removed", "ignore", "forget", "accept")
    }
    found["protect"] = sorted(
        f"{pattern.text} (skip)" if pattern in policy.skip else pattern.text for pattern in policy.protect
    )
    watched = (*policy.watch, *policy.watch_fields, *policy.watch_values)
    found["watch"] = sorted({pattern.source_text for pattern in watched})
    limits = policy.limits
    found["limits.deletes"], found["limits.percent"] = limits.deletes, limits.percent
    found["limits.exposures"] = limits.exposures
    return found


def _environment_values(desired: Desired) -> dict[str, Value]:
    chosen = desired.environment
    values = {"url": chosen.url, "token": chosen.token} if chosen is not None else {}
    return {name: value for name, value in values.items() if value is not None}


def _present_address(item: Entry, known: Mapping[Address, Address]) -> Address:
    return _below_present_parent(item.address, item.parent, known)


def _below_present_parent(
    address: Address, parent: Address | None, known: Mapping[Address, Address]
) -> Address:
    """Return the present address of an object whose parent may have a new address."""
    if parent is None or parent not in known:
        return address
    return Address((*known[parent].segments, *address.segments[len(parent.segments) :]))


def _with_present_references(value: Value, known: Mapping[Address, Address]) -> Value:
    """Return a value of the base in which references use the present addresses."""

    def name(leaf: Any) -> Any:
        return Ref(known.get(leaf.address, leaf.address)) if isinstance(leaf, Ref) else leaf

    return map_leaves(value, name)
