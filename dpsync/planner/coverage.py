"""Count the fields and places that no entry declares (*unwatched*), so that drift can report them.

A field is unwatched if it can be read and written and its entry leaves it out. A place (a mapping of entries,
a tree or a single object) is unwatched if it can be declared below an entry and is not. Parts that the policy
ignores do not count. If the policy watches a field (`watch: [spaces/*#defaultLevel]`), GitBook's default
is the expected value (`changed_defaults`): drift reports another value, and no plan changes it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from msgspec import Struct

from dpsync.kinds.kind import Field, Kind
from dpsync.kinds.registry import Registry
from dpsync.model.address import Address
from dpsync.model.change import Unwatched
from dpsync.model.desired import Desired, Entry
from dpsync.model.snapshot import LiveObject
from dpsync.model.values import Value
from dpsync.planner.compare import FieldChange, equals_live
from dpsync.planner.policy import EffectivePolicy
from dpsync.planner.sides import Sides

UndeclaredList = tuple[Address, tuple[Kind, ...]]
"""The address of a mapping of entries, a tree or a single object, and the kinds that it contains."""


class Coverage(Struct, frozen=True):
    """Find the unwatched parts of a configuration: fields and places that neither entries nor policy name."""

    registry: Registry
    desired: Desired
    entries_by_address: Mapping[Address, Entry]
    """The entries without ignored fields."""
    policy: EffectivePolicy

    def count_unwatched(self) -> Unwatched:
        """Count what dpsync does not compare with GitBook: lists ("places") and fields that no file declares.

        Also count the entries with such fields. Lists and fields that the policy watches are compared.
        """
        policy = self.desired.policy
        has_ignored = policy.ignore or self.policy.synced.fields or self.policy.synced.trees
        if self.policy.selected is None and not has_ignored and not policy.watch_fields:
            return self._count_unwatched_by_kind()
        fields = entry_count = places = 0
        for entry in self._declared_entries():
            field_count = sum(1 for _ in self.unwatched_fields(entry))
            fields += field_count
            entry_count += field_count > 0
            places += sum(1 for _ in self.unwatched_places(entry))
        return Unwatched(places=places, fields=fields, things=entry_count)

    def _count_unwatched_by_kind(self) -> Unwatched:
        """Return the same as `count_unwatched`, faster, if no pattern of the policy names single entries.

        Count the fields once for all entries with the same kind and fields. Count all possible lists
        ("places") in entries, and subtract those that are declared, watched by the policy, or unsupported.
        """
        fields = entry_count = places = 0
        groups: dict[tuple[str, tuple[str, ...]], list[Entry]] = defaultdict(list)
        for entry in self.entries_by_address.values():
            groups[entry.kind, tuple(entry.fields)].append(entry)
        for (kind, _), entries in groups.items():
            field_count = sum(1 for _ in self.unwatched_fields(entries[0]))
            fields += field_count * len(entries)
            entry_count += (field_count > 0) * len(entries)
            places += len(self.registry.kinds_by_list_key(kind)) * len(entries)
        known_places = {*self.desired.scopes, *self.desired.watched_scopes, *self.desired.unsupported}
        for segments in (address.segments for address in known_places):
            for depth in range(1, len(segments)):
                parent = self.entries_by_address.get(Address(segments[:depth]))
                key_below_parent = ".".join(segments[depth:])
                if parent is not None and key_below_parent in self.registry.kinds_by_list_key(parent.kind):
                    places -= 1
        return Unwatched(places=places, fields=fields, things=entry_count)

    def _declared_entries(self) -> Iterator[Entry]:
        """Yield the entries as declared, with ignored fields."""
        for address in self.entries_by_address:
            yield self.desired.entries[address]

    def unwatched_by_entry(self) -> Iterator[tuple[Entry, tuple[Field, ...], tuple[UndeclaredList, ...]]]:
        """Yield every entry that has unwatched fields or places, with these fields and places."""
        for entry in self._declared_entries():
            fields = tuple(self.unwatched_fields(entry))
            places = tuple(self.unwatched_places(entry))
            if fields or places:
                yield entry, fields, places

    def unwatched_fields(self, entry: Entry) -> Iterator[Field]:
        """Yield the fields of an entry that dpsync could compare but does not: nobody declares them.

        They can be read and written, and neither the entry nor the policy (`watch`, `ignore`) names them.
        """
        kind, watched = self.registry[entry.kind], self.watched_defaults(entry)
        for field in kind.fields:
            # If `own_call` is empty, the API version has no call for the field.
            can_be_written = field.written_in != "neither" and field.own_call != {}
            is_left_out = field.name not in entry.fields and field.response_path is not None
            is_covered = field.name in watched or self.policy.is_ignored(entry.address, field.name)
            if can_be_written and is_left_out and not is_covered:
                yield field

    def unwatched_places(self, entry: Entry) -> Iterator[UndeclaredList]:
        """Yield the places below an entry that could be declared and are not, with the kinds they contain."""
        known = (self.desired.scopes, self.desired.watched_scopes, self.desired.unsupported)
        for word, kinds in self.registry.kinds_by_list_key(entry.kind).items():
            address = entry.address.child(*word.split("."))
            if not any(address in declared for declared in known) and not self.policy.is_ignored(address):
                yield address, kinds

    def watched_defaults(self, entry: Entry) -> Mapping[str, Value]:
        """Return the defaults of the fields that the policy watches and this entry does not declare."""
        undeclared = {
            field.name: field.default_value
            for field in self.registry[entry.kind].fields
            if field.is_watchable and field.name not in entry.fields
        }
        patterns = [pattern for pattern in self.desired.policy.watch_fields if pattern.field in undeclared]
        named = {pattern.field for pattern in patterns if pattern.matches(entry.address)}
        return {
            name: value
            for name, value in undeclared.items()
            if name in named and not self.policy.is_ignored(entry.address, name)
        }


def coverage(sides: Sides) -> Coverage:
    """Return the `Coverage` of the files, which finds the fields and places that nothing watches."""
    return Coverage(sides.registry, sides.desired, sides.entries, sides.policy)


def changed_defaults(sides: Sides, entry: Entry, live: LiveObject) -> Iterator[FieldChange]:
    """Yield the watched, undeclared fields whose live value differs from the platform's default."""
    for name, default in coverage(sides).watched_defaults(entry).items():
        field, value = sides.kind(entry).field(name), live.fields.get(name)
        after = sides.values.with_references(field, default, entry)
        before = sides.values.with_references(field, value, live)
        if value is not None and not equals_live(field, after, before):
            yield FieldChange(field, after, before)
