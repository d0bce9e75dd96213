"""Count the fields and places that no entry declares, and compare watched fields with their defaults.

A field counts as unwatched if it can be read and written and its entry leaves it out; a place, if it can be
declared below an entry and is not. Parts that the policy ignores do not count. If the policy watches a field
(`watch: [spaces/*#defaultLevel]`), the platform's default is the expected value: drift reports another value,
`import --update` writes it into the entry, and no plan changes it.
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
from dpsync.planner.compare import Changed, same
from dpsync.planner.policy import Policies
from dpsync.planner.sides import Sides

Place = tuple[Address, tuple[Kind, ...]]
"""The address of a mapping of entries, a tree or a single object, and the kinds that it contains."""


class Coverage(Struct, frozen=True):
    """The watched parts of a configuration: the fields and places that its entries and its policy declare."""

    registry: Registry
    desired: Desired
    entries: Mapping[Address, Entry]
    """The entries without ignored fields."""
    policy: Policies

    def unwatched(self) -> Unwatched:
        """Return the number of places and fields that are not watched."""
        policy = self.desired.policy
        has_ignored = policy.ignore or self.policy.synced.fields or self.policy.synced.trees
        if self.policy.chosen is None and not has_ignored and not policy.watch_fields:
            return self._counted_by_kind()
        fields = entry_count = places = 0
        for resource in self._declared():
            field_count = sum(1 for _ in self.unwatched_fields(resource))
            fields += field_count
            entry_count += field_count > 0
            places += sum(1 for _ in self.unwatched_places(resource))
        return Unwatched(places=places, fields=fields, things=entry_count)

    def _counted_by_kind(self) -> Unwatched:
        """Count like `unwatched`, but once for all entries with the same kind and fields.

        This is correct only if no pattern names single entries.
        """
        fields = entry_count = places = 0
        groups: dict[tuple[str, tuple[str, ...]], list[Entry]] = defaultdict(list)
        for resource in self.entries.values():
            groups[resource.kind, tuple(resource.fields)].append(resource)
        for (kind, _), entries in groups.items():
            field_count = sum(1 for _ in self.unwatched_fields(entries[0]))
            fields += field_count * len(entries)
            entry_count += (field_count > 0) * len(entries)
            places += len(self.registry.places(kind)) * len(entries)
        return Unwatched(places=places - self._declared_places(), fields=fields, things=entry_count)

    def _declared_places(self) -> int:
        """Return how many places below entries are declared, watched by the policy, or unsupported."""
        known = {*self.desired.scopes, *self.desired.watched, *self.desired.unserved}
        count = 0
        for segments in (address.segments for address in known):
            for depth in range(1, len(segments)):
                entry = self.entries.get(Address(segments[:depth]))
                count += entry is not None and ".".join(segments[depth:]) in self.registry.places(entry.kind)
        return count

    def _declared(self) -> Iterator[Entry]:
        """Yield the entries as declared, with ignored fields."""
        for address in self.entries:
            yield self.desired.resources[address]

    def each_unwatched(self) -> Iterator[tuple[Entry, tuple[Field, ...], tuple[Place, ...]]]:
        """Yield every entry that has unwatched fields or places, with these."""
        for resource in self._declared():
            fields = tuple(self.unwatched_fields(resource))
            places = tuple(self.unwatched_places(resource))
            if fields or places:
                yield resource, fields, places

    def unwatched_fields(self, resource: Entry) -> Iterator[Field]:
        """Yield the readable and writable fields that neither the entry nor the policy names."""
        kind, watched = self.registry[resource.kind], self.defaults(resource)
        for field in kind.fields:
            can_be_written = field.on != "neither" and field.via != {}  # no call at all: the profile lacks it
            is_left_out = field.name not in resource.fields and field.source is not None
            is_covered = field.name in watched or self.policy.ignored(resource.address, field.name)
            if can_be_written and is_left_out and not is_covered:
                yield field

    def unwatched_places(self, resource: Entry) -> Iterator[Place]:
        """Yield the places below an entry that could be declared and are not."""
        known = (self.desired.scopes, self.desired.watched, self.desired.unserved)
        for word, kinds in self.registry.places(resource.kind).items():
            address = resource.address.child(*word.split("."))
            if not any(address in declared for declared in known) and not self.policy.ignored(address):
                yield address, kinds

    def defaults(self, resource: Entry) -> Mapping[str, Value]:
        """Return the defaults of the fields that the policy watches and this entry does not declare."""
        undeclared = {
            field.name: field.default_value
            for field in self.registry[resource.kind].fields
            if field.watchable and field.name not in resource.fields
        }
        patterns = [pattern for pattern in self.desired.policy.watch_fields if pattern.field in undeclared]
        named = {pattern.field for pattern in patterns if pattern.matches(resource.address)}
        return {
            name: value
            for name, value in undeclared.items()
            if name in named and not self.policy.ignored(resource.address, name)
        }


def coverage(sides: Sides) -> Coverage:
    """Return the coverage of the configuration on both sides."""
    return Coverage(sides.registry, sides.desired, sides.resources, sides.policy)


def moved_defaults(sides: Sides, resource: Entry, live: LiveObject) -> Iterator[Changed]:
    """Yield the watched, undeclared fields whose live value differs from the platform's default."""
    for name, default in coverage(sides).defaults(resource).items():
        field, value = sides.kind(resource).field(name), live.fields.get(name)
        after = sides.values.normal(field, default, resource)
        before = sides.values.normal(field, value, live)
        if value is not None and not same(field, after, before):
            yield Changed(field, after, before)
