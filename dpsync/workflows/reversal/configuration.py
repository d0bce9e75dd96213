"""Make the configuration that reverts an apply, from the recorded changes and the live objects."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from dpsync.model.address import Address, Pattern
from dpsync.model.change import Note
from dpsync.model.desired import Desired, Entry, Policy
from dpsync.model.snapshot import Identity
from dpsync.model.values import references
from dpsync.workflows.reversal.addresses import CurrentAddresses
from dpsync.workflows.reversal.changed import restore_fields, restore_moved_flag
from dpsync.workflows.reversal.created import outputs_of_created_objects, select_deletions
from dpsync.workflows.reversal.deleted import restore_or_recreate, set_previous_values
from dpsync.workflows.reversal.entries import RevertedEntries
from dpsync.workflows.reversal.recorded import RecordedChange
from dpsync.workflows.session import Planned, Session


class RevertTarget(Struct, frozen=True):
    """The configuration that reverts an apply.

    Only entries in `touched` may change, and only objects in `deleted` may be deleted. `outputs` has the
    deleted objects that the platform created together with other objects. `not_reverted` has a note for each
    object or field that is not restored; `notes` has a note for each restored or re-created object.
    """

    desired: Desired
    touched: frozenset[Address]
    deleted: Mapping[Identity, str]
    """The id of each deleted object, by object identity."""
    outputs: frozenset[Identity]
    recreated: Mapping[Address, str]
    """The former id of each object that is re-created, by the address of its new entry."""
    not_reverted: tuple[Note, ...]
    notes: tuple[Note, ...]


def make_revert_target(
    session: Session,
    changes: Sequence[RecordedChange],
    comparison: Planned,
    current: CurrentAddresses,
    used: Mapping[Identity, str],
) -> RevertTarget:
    """Return the configuration that reverts an apply.

    `comparison` is a plan that compares the values that the apply wrote with the live values. `used` maps
    each created object that must stay to the reason.
    """
    entries = RevertedEntries(session, changes, comparison, current, used)
    _keep_later_changes(entries)
    for recorded in changes:
        if recorded.change.action == "delete":
            restore_or_recreate(entries, recorded)
    set_previous_values(entries)
    for recorded in changes:
        if recorded.change.action == "update":
            restore_fields(entries, recorded)
    removed = select_deletions(entries)
    for recorded in changes:
        flags = [item for item in recorded.change.differences if item.taken_from is not None]
        for item in flags if recorded.address in removed else ():
            restore_moved_flag(entries, recorded, item)
    outputs = outputs_of_created_objects(entries, removed)
    objects = comparison.snapshot.objects
    created = {entries.names.identities[address] for address in removed}
    deleted = {identity: objects[identity].id for identity in created} | {
        identity: identity[1] for identity in outputs
    }
    resources = _without_missing_entries(entries, removed)
    desired = replace(
        session.desired,
        resources=resources,
        scopes={at: item for at, item in session.desired.scopes.items() if item.parent in resources},
        policy=_limit_pruning(session.desired.policy, _scopes_to_prune(entries, deleted), frozenset(deleted)),
    )
    return RevertTarget(
        desired,
        frozenset({*entries.touched, *entries.restored.values()}),
        deleted,
        frozenset(outputs),
        {address: one.change.id or "" for address, one in entries.recreated.items()},
        tuple(entries.not_reverted),
        tuple(entries.notes),
    )


def _keep_later_changes(entries: RevertedEntries) -> None:
    """Keep every live value that differs from the value that the apply wrote."""
    for address in entries.later_changes.keys() & entries.resources.keys():
        entry, change = entries.resources[address], entries.later_changes[address]
        if change.action == "create":
            del entries.resources[address]
        else:
            named = {item.field for item in change.differences}
            fields = {name: value for name, value in entry.fields.items() if name not in named}
            entries.resources[address] = replace(entry, fields=fields, pin=entries.live_id(address))


def _scopes_to_prune(entries: RevertedEntries, deleted: Collection[Identity]) -> set[Address]:
    """Return the scopes of the objects to delete, including objects that the platform created with others."""
    scopes = entries.comparison.snapshot.scopes
    pruned = {scope for scope, items in scopes.items() if any(identity in deleted for identity in items)}
    kinds = {kind for kind, _ in deleted}
    return pruned | {at for at, scope in entries.session.desired.scopes.items() if kinds & {*scope.kinds}}


def _limit_pruning(policy: Policy, scopes: Collection[Address], deleted: frozenset[Identity]) -> Policy:
    return replace(policy, prune=tuple(exact_pattern(scope) for scope in sorted(scopes)), only=deleted)


def _without_missing_entries(entries: RevertedEntries, removed: Collection[Address]) -> dict[Address, Entry]:
    """Return the entries without deleted and missing objects, their children, and references to them.

    Sibling orders that the apply did not change are omitted, too.
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
            if not references(value) & lost
            and (name not in orders or (address, name) in entries.changed_orders)
        }
        children = tuple(child for child in entry.children if child in kept)
        kept[address] = replace(entry, children=children, fields=fields)
    return kept


def exact_pattern(address: Address) -> Pattern:
    """Return a pattern that matches only this address, whatever characters its titles contain."""
    return Pattern(str(address), address.segments)
