"""What is not as the files say and no request of a plan ends: what is blocked, and what is refused.

A plan has no change for it. Drift tells it all the same, and `import --update` takes it over.
"""

from __future__ import annotations

from collections.abc import Iterator

from dpsync.model.address import Address
from dpsync.model.change import Change, Difference
from dpsync.model.desired import Entry
from dpsync.model.plan import Plan
from dpsync.model.snapshot import LiveObject
from dpsync.planner.decide.compare import changed
from dpsync.planner.inputs.sides import Sides
from dpsync.planner.selection import selection
from dpsync.planner.why.coverage import moved_defaults
from dpsync.planner.why.labels import Labels


def with_unwritten(sides: Sides, plan: Plan) -> Plan:
    """A plan of these sides in which every entry that is live has all its differences."""
    left = dict(_left(sides, plan))
    changes = [
        change.model_copy(update={"differences": (*change.differences, *left.pop(change.address, ()))})
        if change.address in left
        else change
        for change in plan.changes
    ]
    changes += [_only(sides, Address.parse(name), differences) for name, differences in left.items()]
    return plan.model_copy(update={"changes": tuple(changes)})


def _left(sides: Sides, plan: Plan) -> Iterator[tuple[str, tuple[Difference, ...]]]:
    planned = {(change.address, item.field) for change in plan.changes for item in change.differences}
    part = selection(sides) if plan.part else None
    labels = Labels(sides)
    for address, resource in sides.resources.items():
        live, name = sides.live(address), str(address)
        selected = part is None or address in part.wanted
        if live is None or live.deleted or not selected or sides.policy.ignored(address):
            continue
        differences = tuple(
            item.difference(
                sides.values,
                resource,
                labels.of(resource, item),
            )
            for item in (*changed(sides, resource, live), *moved_defaults(sides, resource, live))
            if item.field.source is not None and (name, item.field.name) not in planned
        )
        if differences:
            yield name, differences


def left_alone(sides: Sides, plan: Plan) -> list[LiveObject]:
    """Return the live objects without an entry that stay as they are, once nothing of the plan is left.

    Not among them: an object outside the selection, or that a plan without blocks or `--no-delete` deletes.
    """
    policy, blocked = sides.policy, {item.address for item in plan.blocked}
    if not (plan.can_apply and plan.empty) or policy.now.only is not None:
        return []
    part = selection(sides)
    found: list[LiveObject] = []
    for scope, identities in sides.snapshot.scopes.items():
        pruned = scope in sides.desired.scopes and sides.desired.pruned(scope)
        pending = pruned and not sides.options.delete
        for identity in identities if not pending else ():
            live, address = sides.snapshot.objects.get(identity), sides.names.address(identity)
            unlisted = identity not in sides.names.declared and (part is None or address in part.wanted)
            if live is not None and not live.deleted and unlisted and str(address) not in blocked:
                found.append(live)
    return found


def _only(sides: Sides, address: Address, differences: tuple[Difference, ...]) -> Change:
    """The change of an entry that has none in the plan."""
    resource: Entry = sides.resources[address]
    live = sides.live(address)
    return Change(
        address=str(address),
        kind=resource.kind,
        action="update",
        label=sides.names.label(resource),
        id=live.id if live else None,
        differences=differences,
    )
