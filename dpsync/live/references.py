"""References by id (`{id: …}`) to what is not there: a list that was read anyway disproves them.

Nothing is read for this. Where an object of the meant kind could be in a list that was not read, or may not
be read, the reference is taken as it is written. So is what the object itself names in that field: a member
who left is still in merge rules, and stays there as long as the file says so.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Set
from typing import Any

from dpsync.kinds.kind import Field
from dpsync.kinds.types import Many, Object, OneOf, Reference, Table, Type
from dpsync.live.reading import ReadingState
from dpsync.model.address import Address
from dpsync.model.desired import Entry
from dpsync.model.diagnostic import Diagnostic
from dpsync.model.values import LiveId, Value, leaves, live_ids


def check_references(reading: ReadingState) -> None:
    """Add a diagnostic for each id in a field that names nothing live, and nothing that is brought back."""
    present = _Present(reading)
    for address in sorted(reading.desired.resources):
        resource = reading.desired.resources[address]
        kind = reading.registry[resource.kind]
        for field in kind.reference_fields:
            value = resource.fields.get(field.name)
            if not live_ids(value) or reading.desired.policy.ignores(address, field.name):
                continue
            by_kinds: dict[tuple[str, ...], set[str]] = defaultdict(set)
            for kinds, id in _references_with_kinds(field.type, value):
                by_kinds[_referable_kinds(reading, kinds)].add(id)
            known = _named(reading, address, field.name)
            for kinds, ids in by_kinds.items():
                unknown = ids - present.possible(kinds, address, ids) - known
                reading.diagnostics += [
                    _unknown(reading, resource, field, kinds, id) for id in sorted(unknown)
                ]


def _references_with_kinds(type_: Type, value: Value) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield each id in a value, with the kinds to which that part of the value may refer."""
    match type_:
        case Reference() if isinstance(value, LiveId):
            yield type_.refers, value.id
        case Object(parts=parts) if isinstance(value, dict):
            for name, part in parts.items():
                yield from _references_with_kinds(part, value.get(name))
        case OneOf(tag=tag, forms=forms) if isinstance(value, dict) and value.get(tag) in forms:
            yield from _references_with_kinds(forms[value[tag]], value)
        case Many(of=of) if isinstance(value, list):
            for item in value:
                yield from _references_with_kinds(of, item)
        case Table(values=values) if isinstance(value, dict):
            for item in value.values():
                yield from _references_with_kinds(values, item)


def _named(reading: ReadingState, address: Address, field: str) -> set[Any]:
    """What the entry's object has in a field, reference or not."""
    if address not in reading.matches:
        return set()
    resource = reading.resource(address)
    parent = reading.identity(resource.parent) if resource.parent is not None else None
    identity = reading.registry[resource.kind].identity_of(reading.matches[address].id, parent)
    value = reading.objects[identity].fields.get(field)
    return {leaf.id if isinstance(leaf, LiveId) else leaf for leaf in leaves(value)}


class _Present:
    """Which ids may be there, as far as it was read."""

    def __init__(self, reading: ReadingState) -> None:
        self._reading = reading
        self._pins = {item.pin for item in reading.desired.resources.values()}

    def possible(self, kinds: Iterable[str], address: Address, ids: Set[str]) -> Set[str]:
        """Return the ids that may exist: all `ids`, unless every list of these kinds was read."""
        found: set[str] = set()
        for name in kinds:
            lists = list(self._lists(name, address))
            if not lists or None in lists:
                return ids
            known = [self._reading.sources.listed(url).ids[name] for url in lists if url is not None]
            found |= {id for id in ids if any(id in those for those in known)}
        return found | (ids & self._pins)

    def _lists(self, name: str, address: Address) -> Iterator[str | None]:
        """The lists of a kind that belong to an entry, or to something around it; None for an unread one."""
        reading, kind = self._reading, self._reading.registry[name]
        owners = reading.sources.owners(kind)
        around: Address | None = address
        while around is not None:
            holder = reading.desired.resources[around]
            if holder.kind in owners:
                url = reading.source(kind, around).url if around in reading.matches else None
                yield url if url in reading.sources.objects else None
            around = holder.parent


def _referable_kinds(reading: ReadingState, kinds: Iterable[str]) -> tuple[str, ...]:
    """Return the kinds whose ids a reference may contain.

    Kinds that produce an output are left out: a reference to them contains the id of the output.
    """
    names = dict.fromkeys(kinds)
    return tuple(name for name in names if reading.registry[name].platform.outputs is None)


def _unknown(
    reading: ReadingState, resource: Entry, field: Field, kinds: Iterable[str], id: str
) -> Diagnostic:
    nouns = " or ".join(reading.registry[name].noun for name in kinds)
    return Diagnostic(
        "DP306",
        f'GitBook has no {nouns} with the id "{id}"',
        resource.where(field.name),
        str(resource.address),
        "correct the id, or refer to an entry in your files by its key",
        cause=f"{nouns} {id} in {resource.address.first}",
    )
