"""Which live objects the entries of the git base are: for what was removed since, and for what was protected.

An entry that is still declared is what it was recognised as; of the others those with a line are what that
says, and the rest is matched as it was declared.
"""

from __future__ import annotations

from collections import defaultdict

from dpsync.identity.match import match
from dpsync.identity.natural_keys import NaturalKeys
from dpsync.kinds.kind import Single
from dpsync.kinds.registry import Registry
from dpsync.model.address import Address
from dpsync.model.desired import Desired, Entry
from dpsync.model.ids import RecordedLine
from dpsync.model.snapshot import Identity, LiveObject, Match, MatchedBy, Snapshot

_ByParent = dict[tuple[str, "Identity | None"], list[LiveObject]]


def remember(
    registry: Registry, earlier: Desired, desired: Desired, snapshot: Snapshot
) -> dict[Address, Identity]:
    """By address of the base, the live object that is meant, where there is one."""
    found: dict[Address, Identity] = {}
    live: _ByParent = defaultdict(list)
    inside: dict[Identity, list[LiveObject]] = defaultdict(list)
    for item in snapshot.objects.values():
        live[item.kind, item.parent].append(item)
        if item.holder is not None:
            inside[item.holder].append(item)
    ids: dict[Address, str] = {}
    places: dict[str, dict[Address | None, list[Entry]]] = defaultdict(lambda: defaultdict(list))
    for resource in earlier.resources.values():
        places[resource.kind][resource.parent].append(resource)

    def bound(address: Address) -> str | None:
        return ids.get(address) or snapshot.bound(address)

    def first_child(entry: Entry) -> Entry | None:
        return earlier.resources.get(entry.children[0]) if entry.children else None

    for kind in registry.ordered:
        view = NaturalKeys(kind, bound, first_child, lambda item: inside[item.identity])
        for parent, entries in places[kind.name].items():
            owner = found.get(parent) if parent is not None else None
            if parent is not None and owner is None:
                continue
            here = live[kind.name, owner]
            matches, recorded = _same(entries, desired, snapshot), set[Address]()
            if kind.recorded:
                recorded = {entry.address for entry in entries if _line(snapshot, entry) is not None}
                matches = {**_by_lines(entries, snapshot, {item.id for item in here}), **matches}
            taken, settled = {item.id for item in matches.values()}, matches.keys() | recorded
            rest = [entry for entry in entries if entry.address not in settled]
            free = [item for item in here if item.id not in taken]
            if isinstance(kind.shape, Single):
                matches |= {entry.address: Match(item.id, MatchedBy.PLACE) for entry in rest for item in free}
            else:
                matches |= match(view, rest, free).matches
            for address, one in matches.items():
                found[address] = kind.identity_of(one.id, owner)
                ids[address] = one.id
    return found


def _same(entries: list[Entry], desired: Desired, snapshot: Snapshot) -> dict[Address, Match]:
    """Entries that are still declared, as what they were recognised as now."""
    return {
        entry.address: snapshot.matches[entry.address]
        for entry in entries
        if entry.address in snapshot.matches
        and (now := desired.resources.get(entry.address)) is not None
        and now.kind == entry.kind
    }


def _line(snapshot: Snapshot, entry: Entry) -> RecordedLine | None:
    """What the ids file said of an entry of the base, or says still."""
    records = snapshot.records
    return records.earlier.get(entry.address) or records.lines.get(entry.address)


def _by_lines(entries: list[Entry], snapshot: Snapshot, live: set[str]) -> dict[Address, Match]:
    """Entries that have a line, as the object that it names: no other one, whatever name that bears now."""
    lines = ((entry.address, _line(snapshot, entry)) for entry in entries)
    return {
        address: Match(line.id, MatchedBy.LINE)
        for address, line in lines
        if line is not None and line.id in live
    }
