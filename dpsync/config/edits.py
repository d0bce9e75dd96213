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
    """Tells what became of a file of an earlier commit: deleted, renamed, ignored or not included."""

    project: Project
    _descriptions: dict[tuple[str, str], str] = field(default_factory=dict)

    def describe(self, commit: str, file: str) -> str:
        """Return what became of a file since a commit; "" if git shows the file as deleted.

        Only a deleted file means that its entries were removed on purpose.
        """
        if (commit, file) not in self._descriptions:  # one file may have declared many objects
            self._descriptions[commit, file] = self._describe_file(commit, file)
        return self._descriptions[commit, file]

    def _describe_file(self, commit: str, file: str) -> str:
        """Ask git what became of a file since a commit; "" if it was deleted.

        `describe` calls this once for each file and commit.
        """
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


def edits(registry: Registry, before: Desired, after: Desired) -> tuple[Edit, ...]:
    """Return the edits between two versions: policy and environment, removed entries, then all others."""
    return tuple(_Comparison(registry, before, after).find_edits())


class _Comparison(Struct, frozen=True, dict=True):
    """The entries of two versions, matched by the files alone."""

    registry: Registry
    before: Desired
    after: Desired

    def find_edits(self) -> Iterator[Edit]:
        """Yield all edits: settings, removed entries, then added and changed entries, then lists."""
        for setting, values_of in (("policy", _policy_values), ("environment", _environment_values)):
            if fields := tuple(_edited_fields(values_of(self.before), values_of(self.after))):
                yield Edit(address=setting, what="changed", fields=fields)
        yield from self._removed_edits()
        for address, entry in self.after.entries.items():
            old_address = self._base_addresses.get(address)
            if old_address is None:
                yield self._make_edit(
                    entry, "added", fields=tuple(_edited_fields({}, self._declared_values(entry)))
                )
            else:
                yield from self._changed_edits(self.before.entries[old_address], entry)
        yield from self._list_edits()

    # Matching entries of both versions.

    @cached_property
    def _present_addresses(self) -> dict[Address, Address]:
        """Return the present address of every entry of the git base that still exists.

        The git base is the configuration in an earlier commit. Entries are matched level by level, from the
        organizations down, because a renamed parent changes the addresses of its children.
        """
        present_by_base: dict[Address, Address] = {}
        levels: dict[int, list[Entry]] = defaultdict(list)
        for entry in self.before.entries.values():
            levels[len(entry.address.segments)].append(entry)
        for _, level in sorted(levels.items()):  # parents are matched before their children
            for entry in level:
                present_address = _present_address(entry, present_by_base)
                if (
                    present_address in self.after.entries
                    and self.after.entries[present_address].kind == entry.kind
                ):
                    present_by_base[entry.address] = present_address
            matched_addresses = set(present_by_base.values())
            unmatched = [entry for entry in level if entry.address not in present_by_base]
            candidates = [
                entry for entry in self.after.entries.values() if entry.address not in matched_addresses
            ]
            present_by_base |= self._match_renamed_entries(unmatched, candidates, present_by_base)
        return present_by_base

    @cached_property
    def _base_addresses(self) -> dict[Address, Address]:
        """Return the address in the git base by present address, for each entry that existed there."""
        return {new: old for old, new in self._present_addresses.items()}

    def _match_renamed_entries(
        self, unmatched: list[Entry], candidates: list[Entry], present_by_base: Mapping[Address, Address]
    ) -> dict[Address, Address]:
        """Match entries of the git base with renamed present entries, by pinned id or natural key.

        `unmatched` are entries of the base, `candidates` present entries. The id or natural key must occur
        exactly once in both.
        """
        old_addresses, new_addresses = (
            self._addresses_by_key(unmatched, present_by_base),
            self._addresses_by_key(candidates if unmatched else [], {}),
        )
        matches: dict[Address, Address] = {}
        for key, old_matches in old_addresses.items():
            match old_matches, new_addresses.get(key):
                case [old], [new]:
                    matches[old] = new
        return matches

    def _addresses_by_key(
        self, entries: list[Entry], present_by_base: Mapping[Address, Address]
    ) -> dict[bytes, list[Address]]:
        """Group the addresses of entries by pinned id or natural key; entries without both are left out."""
        addresses: dict[bytes, list[Address]] = defaultdict(list)
        for entry in entries:
            if (key := self._identity_key(entry, present_by_base)) is not None:
                addresses[key].append(entry.address)
        return addresses

    def _identity_key(self, entry: Entry, present_by_base: Mapping[Address, Address]) -> bytes | None:
        """Return what identifies an entry apart from its address: its pinned id, or else its natural key.

        A natural key is a field such as the title or the email address, together with the parent. None if the
        entry has neither. `present_by_base` maps addresses of the git base to present addresses.
        """
        if entry.pin is not None:
            return canonical_json([entry.kind, entry.pin])
        kind = self._kind_of(entry)
        if not kind.has_ids_line:  # its key in the file identifies it, so it cannot have another key
            return None
        first = kind.natural_keys[0]
        names = (first,) if isinstance(first, str) else first
        values = [entry.fields.get(name) for name in names]
        if any(value is None for value in values):
            return None
        parent = present_by_base.get(entry.parent, entry.parent) if entry.parent is not None else None
        return canonical_json(
            [entry.kind, str(parent), *(_with_present_references(value, present_by_base) for value in values)]
        )

    # The edits.

    def _removed_edits(self) -> Iterator[Edit]:
        """Yield each removed entry whose ancestors were not removed, with the number of entries inside it.

        An entry is removed if the git base has it and the files no longer do.
        """
        removed = [
            entry for entry in self.before.entries.values() if entry.address not in self._present_addresses
        ]
        addresses = {entry.address for entry in removed}
        removed_inside: dict[Address, int] = defaultdict(int)
        for entry in removed:
            removed_ancestors = [
                ancestor for ancestor in entry.address.self_and_ancestors() if ancestor in addresses
            ]
            removed_inside[removed_ancestors[-1]] += len(removed_ancestors) > 1
        for entry in removed:
            if entry.address in removed_inside:
                yield self._make_edit(entry, "removed", inside=removed_inside[entry.address])

    def _changed_edits(self, old_entry: Entry, entry: Entry) -> Iterator[Edit]:
        """Yield the edit of an entry that both versions have: renamed or changed; nothing if it is equal."""
        before = {
            name: _with_present_references(value, self._present_addresses)
            for name, value in self._declared_values(old_entry).items()
        }
        fields = list(_edited_fields(before, self._declared_values(entry)))
        if order := self._changed_order(entry.address):
            fields.append(order)
        if _present_address(old_entry, self._present_addresses) != entry.address:
            yield self._make_edit(entry, "renamed", fields=tuple(fields), before=str(old_entry.address))
        elif fields:
            yield self._make_edit(entry, "changed", fields=tuple(fields))

    def _changed_order(self, address: Address) -> EditedField | None:
        """Return the changed order of the nodes directly in an entry; None if the order is the same.

        Only nodes that are in this entry in both versions count, by their present addresses.
        """
        old_nodes, new_nodes = self._tree_nodes
        nodes_after = [node for node in new_nodes.get(address, ()) if node in self._base_addresses]
        nodes_before = [
            self._present_addresses[node]
            for node in old_nodes.get(self._base_addresses[address], ())
            if node in self._present_addresses
        ]
        common = set(nodes_after) & set(nodes_before)
        first, second = (
            [str(node) for node in nodes if node in common] for nodes in (nodes_before, nodes_after)
        )
        return EditedField(field="order", before=first, after=second) if first != second else None

    @cached_property
    def _tree_nodes(self) -> tuple[dict[Address, list[Address]], dict[Address, list[Address]]]:
        """Return the nodes of trees by the object that directly contains them, in order, in both versions."""
        return self._tree_nodes_of(self.before), self._tree_nodes_of(self.after)

    def _tree_nodes_of(self, version: Desired) -> dict[Address, list[Address]]:
        """Return the nodes of trees in one version, in order, by the object that directly contains them."""
        nodes: dict[Address, list[Address]] = defaultdict(list)
        for entry in version.entries.values():
            container = entry.holder or entry.parent
            if container is not None and self._kind_of(entry).is_node:
                nodes[container].append(entry.address)
        return nodes

    def _list_edits(self) -> Iterator[Edit]:
        """Yield lists of entries that were added or removed in an entry that both versions have.

        An example is `teams:` in an organization. The kind of such an edit is "place".
        """
        base_lists = {
            _below_present_parent(scope.address, scope.parent, self._present_addresses)
            for scope in self.before.scopes.values()
        }
        for scope in self.after.scopes.values():
            is_known = scope.address in base_lists or scope.address in self.after.entries
            if not is_known and scope.parent in self._base_addresses:
                yield Edit(address=str(scope.address), what="added", kind="place", at=Origin.of(scope.span))
        for scope in self.before.scopes.values():
            present_address = _below_present_parent(scope.address, scope.parent, self._present_addresses)
            is_known = present_address in self.after.scopes or scope.address in self.before.entries
            if not is_known and scope.parent in self._present_addresses:
                yield Edit(address=str(present_address), what="removed", kind="place")

    def _make_edit(self, entry: Entry, change: Any, **attributes: Any) -> Edit:
        """Return the edit of one entry, at the position of the first edited field or of the entry.

        `attributes` are further attributes of the Edit. A removed entry has no position in the files.
        """
        kind = self._kind_of(entry)
        label = entry.fields.get(kind.title_field)
        names = [edited_field.field for edited_field in attributes.get("fields", ())]
        span = entry.value_span(names[0]) if names and change == "changed" else entry.span
        return Edit(
            address=str(entry.address), what=change, kind=kind.noun,
            at=None if change == "removed" else Origin.of(span),
            label=label if isinstance(label, str) else entry.key, **attributes,
        )  # fmt: skip

    def _kind_of(self, entry: Entry) -> SupportedKind:
        """Return the kind of an entry."""
        return self.registry[entry.kind]

    def _declared_values(self, entry: Entry) -> dict[str, Value]:
        """Return the fields and keywords of an entry, in the order of its kind."""
        kind = self._kind_of(entry)
        named = [field.name for field in kind.fields if field.name in entry.fields]
        names = [name for name in named if name != kind.key_field]  # the key of the entry gives this field
        values = {name: entry.fields[name] for name in names}
        values |= {"id": entry.pin} if entry.pin is not None else {}
        earlier = [*map(dict, entry.previously)] if entry.previously else [*map(str, entry.former)]
        values |= {"previously": earlier} if earlier else {}
        values |= {"new": True} if entry.new else {}
        return values | ({"takeover": True} if entry.takeover else {})


def _edited_fields(before: Mapping[str, Value], after: Mapping[str, Value]) -> Iterator[EditedField]:
    """Yield each field that differs between two versions, first in the order of the later version."""
    for name in [*after, *(old_name for old_name in before if old_name not in after)]:
        first, second = to_plain(before.get(name)), to_plain(after.get(name))
        if name not in after:
            yield EditedField(field=name, before=first, declared="before")
        elif name not in before:
            yield EditedField(field=name, after=second, declared="after")
        elif canonical_json(first) != canonical_json(second):
            yield EditedField(field=name, before=first, after=second)


def _policy_values(desired: Desired) -> dict[str, Value]:
    """Return the policy as plain values by name, to compare two versions."""
    policy = desired.policy
    values: dict[str, Value] = {
        name: sorted(pattern.text for pattern in getattr(policy, name))
        for name in ("prune", "removed", "ignore", "forget", "accept")
    }
    values["protect"] = sorted(
        f"{pattern.text} (skip)" if pattern in policy.skip else pattern.text for pattern in policy.protect
    )
    watched = (*policy.watch, *policy.watch_fields, *policy.watch_values)
    values["watch"] = sorted({pattern.source_text for pattern in watched})
    limits = policy.limits
    values["limits.deletes"], values["limits.percent"] = limits.deletes, limits.percent
    values["limits.exposures"] = limits.exposures
    return values


def _environment_values(desired: Desired) -> dict[str, Value]:
    """Return the URL and token variable of the selected environment, to compare two versions."""
    chosen = desired.environment
    values = {"url": chosen.url, "token": chosen.token} if chosen is not None else {}
    return {name: value for name, value in values.items() if value is not None}


def _present_address(entry: Entry, present_by_base: Mapping[Address, Address]) -> Address:
    """Return the present address of an entry of the git base, if only its ancestors were renamed."""
    return _below_present_parent(entry.address, entry.parent, present_by_base)


def _below_present_parent(
    address: Address, parent: Address | None, present_by_base: Mapping[Address, Address]
) -> Address:
    """Return the present address of an object whose parent may have a new address.

    If the parent moved from `acme/a` to `acme/b`, then `acme/a/x` becomes `acme/b/x`.
    """
    if parent is None or parent not in present_by_base:
        return address
    return Address((*present_by_base[parent].segments, *address.segments[len(parent.segments) :]))


def _with_present_references(value: Value, present_by_base: Mapping[Address, Address]) -> Value:
    """Return a value of an earlier configuration in which references use the present addresses.

    Otherwise a renamed entry would look like a change of every field that refers to it. `present_by_base`
    has the present address of each entry of the earlier configuration (the git base).
    """

    def name(leaf: Any) -> Any:
        """Replace a reference to a base address by a reference to the present address."""
        return Ref(present_by_base.get(leaf.address, leaf.address)) if isinstance(leaf, Ref) else leaf

    return map_leaves(value, name)
