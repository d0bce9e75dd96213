"""Which live objects the entries of the git base are: for what was removed since, and for what was protected.

An entry that is still declared is what it was recognised as; the others are matched as they were declared.
"""

from __future__ import annotations

from collections import defaultdict

from dpsync.identity.match import match
from dpsync.identity.view import View
from dpsync.kinds.base import Single
from dpsync.kinds.registry import Registry
from dpsync.model.address import Address
from dpsync.model.desired import Desired, Resource
from dpsync.model.snapshot import Identity, LiveObject, Match, Snapshot

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
    places: dict[str, dict[Address | None, list[Resource]]] = defaultdict(lambda: defaultdict(list))
    for resource in earlier.resources.values():
        places[resource.kind][resource.parent].append(resource)

    def bound(address: Address) -> str | None:
        return ids.get(address) or snapshot.bound(address)

    def first_child(entry: Resource) -> Resource | None:
        return earlier.resources.get(entry.children[0]) if entry.children else None

    for kind in registry.ordered:
        view = View(kind, bound, first_child, lambda item: inside[item.identity])
        for parent, entries in places[kind.name].items():
            owner = found.get(parent) if parent is not None else None
            if parent is not None and owner is None:
                continue
            here = live[kind.name, owner]
            matches = _same(entries, desired, snapshot)
            taken = {item.id for item in matches.values()}
            rest = [entry for entry in entries if entry.address not in matches]
            free = [item for item in here if item.id not in taken]
            if isinstance(kind.shape, Single):
                matches |= {entry.address: Match(item.id, "place") for entry in rest for item in free[:1]}
            else:
                matches |= match(view, rest, free).matches
            for address, one in matches.items():
                found[address] = kind.identity_of(one.id, owner)
                ids[address] = one.id
    return found


def _same(entries: list[Resource], desired: Desired, snapshot: Snapshot) -> dict[Address, Match]:
    """Entries that are still declared, as what they were recognised as now."""
    return {
        entry.address: snapshot.matches[entry.address]
        for entry in entries
        if entry.address in snapshot.matches
        and (now := desired.resources.get(entry.address)) is not None
        and now.kind == entry.kind
    }
