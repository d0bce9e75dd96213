"""The configuration that reverts an apply, made from the recorded changes and from what is live."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from dpsync.model.entries.address import Address, Pattern
from dpsync.model.entries.desired import Desired, Entry, Policy
from dpsync.model.entries.snapshot import Identity
from dpsync.model.entries.values import references
from dpsync.model.plans.remark import Note
from dpsync.workflows.reversal.addresses import CurrentAddresses
from dpsync.workflows.reversal.changed import give_back, take_back
from dpsync.workflows.reversal.created import outputs_of, to_delete
from dpsync.workflows.reversal.deleted import fill_in, restore
from dpsync.workflows.reversal.entries import RevertedEntries
from dpsync.workflows.reversal.recorded import RecordedChange
from dpsync.workflows.session import Planned, Session


class Target(Struct, frozen=True):
    """The configuration with the state from before an apply.

    Only entries in `touched` may change, and only objects in `deleted` may be deleted. `outputs` are those of
    them that the platform created along with others. `left` says what is not restored, `notes` what is
    restored in another way than it was.
    """

    desired: Desired
    touched: frozenset[Address]
    deleted: Mapping[Identity, str]
    """The id of each object, by its identity."""
    outputs: frozenset[Identity]
    recreated: Mapping[Address, str]
    """The former id of each object that is re-created, by the address of its new entry."""
    left: tuple[Note, ...]
    notes: tuple[Note, ...]


def make_target(
    session: Session,
    done: Sequence[RecordedChange],
    now: Planned,
    current: CurrentAddresses,
    used: Mapping[Identity, str],
) -> Target:
    """Return the configuration that reverts an apply.

    `now` is the plan from the values that the apply wrote to what is live. `used` has the created objects
    that must stay, each with the reason.
    """
    entries = RevertedEntries(session, done, now, current, used)
    _leave_alone(entries)
    for one in done:
        if one.change.action == "delete":
            restore(entries, one)
    fill_in(entries)
    for one in done:
        if one.change.action == "update":
            take_back(entries, one)
    removed = to_delete(entries)
    for one in done:
        flags = [item for item in one.change.differences if item.taken_from is not None]
        for item in flags if one.address in removed else ():
            give_back(entries, one, item)
    outputs = outputs_of(entries, removed)
    objects = now.snapshot.objects
    created = {entries.names.identities[address] for address in removed}
    deleted = {identity: objects[identity].id for identity in created} | {one: one[1] for one in outputs}
    resources = _without_missing(entries, removed)
    desired = replace(
        session.desired,
        resources=resources,
        scopes={at: item for at, item in session.desired.scopes.items() if item.parent in resources},
        policy=_deleting_only(session.desired.policy, _places_to_prune(entries, deleted), frozenset(deleted)),
    )
    return Target(
        desired,
        frozenset({*entries.touched, *entries.restored.values()}),
        deleted,
        frozenset(outputs),
        entries.former_ids,
        tuple(entries.left),
        tuple(entries.notes),
    )


def _leave_alone(entries: RevertedEntries) -> None:
    """Keep every live value that differs from the files."""
    for address in entries.differs.keys() & entries.resources.keys():
        entry, change = entries.resources[address], entries.differs[address]
        if change.action == "create":
            del entries.resources[address]
        else:
            named = {item.field for item in change.differences}
            fields = {name: value for name, value in entry.fields.items() if name not in named}
            entries.resources[address] = replace(entry, fields=fields, pin=entries.id_of(address))


def _places_to_prune(entries: RevertedEntries, deleted: Collection[Identity]) -> set[Address]:
    """Return the places of objects to delete, among them the places of what the platform created."""
    scopes = entries.now.snapshot.scopes
    places = {scope for scope, items in scopes.items() if any(identity in deleted for identity in items)}
    kinds = {kind for kind, _ in deleted}
    return places | {at for at, scope in entries.session.desired.scopes.items() if kinds & {*scope.kinds}}


def _deleting_only(policy: Policy, places: Collection[Address], deleted: frozenset[Identity]) -> Policy:
    return replace(policy, prune=tuple(exactly(place) for place in sorted(places)), only=deleted)


def _without_missing(entries: RevertedEntries, removed: Collection[Address]) -> dict[Address, Entry]:
    """Return the entries without deleted and missing ones, what is in these, and references to these.

    The order of siblings that the apply did not change is left alone.
    """
    kept = dict(entries.resources)
    while out := [
        address
        for address, entry in kept.items()
        if any(above in removed for above in address.upward())
        or (entry.holder is not None and entry.holder not in kept)
        or (entry.parent is not None and entry.parent not in kept)
    ]:
        for address in out:
            del kept[address]
    lost = entries.session.desired.resources.keys() - kept.keys()
    for address, entry in kept.items():
        orders = {one.name for one in entries.registry[entry.kind].list_orders}
        fields = {
            name: value
            for name, value in entry.fields.items()
            if not references(value) & lost and (name not in orders or (address, name) in entries.orders)
        }
        children = tuple(child for child in entry.children if child in kept)
        kept[address] = replace(entry, children=children, fields=fields)
    return kept


def exactly(address: Address) -> Pattern:
    """Return the pattern of one address, whatever is in its titles."""
    return Pattern(str(address), address.segments)
