"""The configuration of before an apply, made from what is live now."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from dpsync.model.entries.address import Address, Pattern
from dpsync.model.entries.desired import Desired, Entry, Policy
from dpsync.model.entries.snapshot import Identity
from dpsync.model.entries.values import references
from dpsync.model.plans.remark import Note
from dpsync.workflows.reversal.changed import take_back
from dpsync.workflows.reversal.created import to_delete
from dpsync.workflows.reversal.deleted import fill_in, restore
from dpsync.workflows.reversal.entries import RevertedEntries
from dpsync.workflows.reversal.recorded import RecordedChange
from dpsync.workflows.session import Planned, Session


class Before(Struct, frozen=True):
    """The configuration of before.

    `touched` is what the apply has changed, `deletes` are the ids of what it has made and that goes now.
    """

    desired: Desired
    touched: frozenset[Address]
    deletes: frozenset[str]
    notes: tuple[Note, ...]


def before(session: Session, done: Sequence[RecordedChange], now: Planned) -> Before:
    """The configuration that takes an apply back. `now`: the plan from what it has left to what is live."""
    entries = RevertedEntries(session, done, now)
    _leave_alone(entries)
    for one in done:
        if one.change.action == "delete":
            restore(entries, one)
    fill_in(entries)
    for one in done:
        if one.change.action == "update":
            take_back(entries, one)
    removed = to_delete(entries)
    resources = _without_missing(entries, removed)
    identities = {entries.names.identities.get(address) for address in removed}
    made = frozenset(identity for identity in identities if identity is not None)
    desired = replace(
        session.desired,
        resources=resources,
        scopes={at: item for at, item in session.desired.scopes.items() if item.parent in resources},
        policy=_only(session.desired.policy, now.snapshot.scopes, made),
    )
    return Before(
        desired,
        frozenset({*entries.touched, *entries.restored.values()}),
        frozenset(now.snapshot.objects[identity].id for identity in made),
        tuple(entries.notes),
    )


def _leave_alone(entries: RevertedEntries) -> None:
    """Whatever is live otherwise than the files say is wanted as it is."""
    for address in entries.differs.keys() & entries.resources.keys():
        entry, change = entries.resources[address], entries.differs[address]
        if change.action == "create":
            del entries.resources[address]
        else:
            named = {item.field for item in change.differences}
            fields = {name: value for name, value in entry.fields.items() if name not in named}
            entries.resources[address] = replace(entry, fields=fields, pin=entries.id_of(address))


def _only(
    policy: Policy, scopes: Mapping[Address, Collection[Identity]], made: frozenset[Identity]
) -> Policy:
    """Only what the apply has made may be deleted."""
    places = {scope for scope, items in scopes.items() if any(identity in made for identity in items)}
    return replace(policy, prune=tuple(exactly(place) for place in sorted(places)), only=made)


def _without_missing(entries: RevertedEntries, removed: Collection[Address]) -> dict[Address, Entry]:
    """The entries without those of what is deleted or not live, what is in them and what names them.

    The order of siblings that the apply did not change is nobody's business here.
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
    """The pattern of one address, whatever is in its titles."""
    return Pattern(str(address), address.segments)
