"""What an apply has made is deleted, unless somebody has changed or used it since."""

from __future__ import annotations

from collections import defaultdict

from dpsync.kinds.kind import Call
from dpsync.model.entries.address import Address
from dpsync.model.entries.values import live_ids, references
from dpsync.workflows.reversal.entries import RevertedEntries


def to_delete(entries: RevertedEntries) -> set[Address]:
    """What the apply has made and nobody has changed or used since."""
    chosen = {one.change.location for one in entries.done if one.change.action == "create"}
    candidates = {address for address in chosen if _is_as_made(entries, address)}
    users = _users(entries, frozenset(candidates))
    while kept := {
        address: why
        for address in sorted(candidates)
        for user, why in users[address]
        if user not in candidates
    }:
        candidates -= kept.keys()
        for address, why in kept.items():
            entries.note(address, f"it is not deleted: {why}")
    for address in sorted(candidates):
        kind = entries.registry[entries.resources[address].kind]
        around = {*address.upward()} - {address}
        if not isinstance(kind.delete, Call) and not around & candidates:
            entries.note(address, "it is not deleted: no request does that")
            candidates.discard(address)
    return candidates


def _is_as_made(entries: RevertedEntries, address: Address) -> bool:
    """Whether a thing is live, is the one that the apply has made, and is as the apply has left it."""
    live, since = entries.now.sides.live(address), entries.differs.get(address)
    if address not in entries.session.desired.resources:
        entries.note(address, "it was made and is in no file any more: it is left as it is")
        return False
    if live is None or address not in entries.resources:
        return False
    made = next(one.made for one in entries.done if one.change.location == address)
    if made is not None and live.id != made:
        entries.note(address, "it is another one than the apply has made: it is left as it is")
        return False
    if since is not None and (since.differences or since.moved):
        fields = ", ".join(item.field for item in since.differences) or "its place"
        entries.note(address, f"somebody has changed it since ({fields}): it is not deleted")
        return False
    return True


def _users(
    entries: RevertedEntries, made: frozenset[Address]
) -> dict[Address, list[tuple[Address | None, str]]]:
    """By what was made, each live thing that is in it or will name it, with what to say of that."""
    found: dict[Address, list[tuple[Address | None, str]]] = defaultdict(list)
    objects = entries.now.snapshot.objects
    at = {entries.names.identities[address]: address for address in made}
    by_id = {objects[identity].id: address for identity, address in at.items()}
    for other in objects.values():
        inner, name = entries.names.declared.get(other.identity), str(entries.names.address(other.identity))
        for around in (other.holder, other.parent):
            if around is not None and around in at:
                found[at[around]].append((inner, f"it holds {name}, which stays"))
        entry = entries.resources.get(inner) if inner is not None else None
        orders = {one.name for one in entries.registry[other.kind].list_orders}
        for field in other.fields.keys() - orders:
            if entry is not None and field in entry.fields:
                named = references(entry.fields[field]) & made
            else:
                named = {by_id[id] for id in live_ids(other.fields[field]) & by_id.keys()}
            for address in named:
                found[address].append((inner, f"{name} names it as {field}"))
    return found
