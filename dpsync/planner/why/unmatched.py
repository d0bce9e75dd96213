"""Patterns of the policy that do nothing: they match neither something declared nor anything that was read.

They could: a pattern that nothing can ever fit is an error before anything is read. Often one like this was
only forgotten, and sometimes it is the one that was meant to protect something.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from dpsync.kinds.kind import Call
from dpsync.model.entries.address import Address, Pattern
from dpsync.model.plans.remark import Note
from dpsync.planner.inputs.sides import Sides

NOTHING = "it matches nothing that is declared and nothing that was read"
GONE = "nothing live has this name any more: this line can go"
STAYS = "it stays: no prune pattern covers its place"
NEVER_DELETED = "nothing of what it matches is ever deleted"


def unmatched(sides: Sides) -> Iterator[Note]:
    """A warning for each such pattern; a remark for a line whose work is done."""
    policy = sides.desired.policy
    rules: dict[str, tuple[tuple[Pattern, ...], Callable[[Sides, Pattern], str | None]]] = {
        "prune": (policy.prune, _prunes_nothing),
        "protect": (policy.protect, _protects_nothing),
        "ignore": (policy.ignore, _leaves_nothing_alone),
        "forget": (policy.forget, _forgets_nothing),
        "watch": ((*policy.watch, *policy.watch_fields), _watches_nothing),
    }
    for pattern in policy.removed:
        if (why := _removes_nothing(sides, pattern)) is not None:
            yield Note(address=where("removed", pattern), text=why)
    for name, (patterns, wrong) in rules.items():
        for pattern in patterns:
            if (why := wrong(sides, pattern)) is not None:
                yield Note(address=where(name, pattern), text=why, severity="warning")


def where(name: str, pattern: Pattern) -> str:
    """What the origin of a pattern and the notes about it are found by."""
    return f'policy.{name} "{pattern.text}"'


def _prunes_nothing(sides: Sides, pattern: Pattern) -> str | None:
    if any(pattern.matches(address) for address in sides.desired.unserved):
        return None
    lists = [scope for address, scope in sides.desired.scopes.items() if pattern.matches(address)]
    kinds = {name for scope in lists for name in scope.kinds}
    if any(isinstance(sides.registry.whole[name].delete, Call) for name in kinds):
        return None
    return NEVER_DELETED if lists else NOTHING


def _protects_nothing(sides: Sides, pattern: Pattern) -> str | None:
    found = [len(address.segments) for address in _objects(sides) if pattern.matches(address)]
    if not found:
        return NOTHING
    # An organization is never deleted, and what is in it is not protected with it.
    return None if max(found) > 1 else f'{NEVER_DELETED}; what is in it is protected by "{pattern.text}/**"'


def _leaves_nothing_alone(sides: Sides, pattern: Pattern) -> str | None:
    named = pattern.covers if pattern.field is None else pattern.matches
    return None if any(named(address) for address in _objects(sides)) else NOTHING


def _forgets_nothing(sides: Sides, pattern: Pattern) -> str | None:
    strangers = (identity for identity in sides.snapshot.objects if identity not in sides.names.declared)
    return None if any(sides.policy.forgotten(identity, pattern) for identity in strangers) else NOTHING


def _removes_nothing(sides: Sides, pattern: Pattern) -> str | None:
    """Why a line under `removed` lets nothing go; None where it names one thing in a place that is pruned."""
    found = sides.former.named(pattern)
    if len(found) > 1:
        names = ", ".join(sorted(str(sides.former.exactly(identity)) for identity in found))
        return f"it names several things, and so none of them; write one of these: {names}"
    for identity in found:
        live = sides.snapshot.objects[identity]
        lists = [scope for scope, items in sides.snapshot.scopes.items() if identity in items]
        inside = live.parent is not None and live.parent not in sides.names.declared
        return None if inside or any(map(sides.desired.pruned, lists)) else STAYS
    for address in sides.former.everywhere(pattern):
        for identity in sides.former.meant(address) or ():
            if (now := sides.names.declared.get(identity)) is not None:
                return f"it is {now} now, which is declared: this line can go"
    return GONE


def _watches_nothing(sides: Sides, pattern: Pattern) -> str | None:
    declared = sides.desired
    if pattern.field:
        return (
            None
            if any(pattern.matches(one) for one in (*declared.resources, *declared.unserved))
            else NOTHING
        )
    places = (*declared.scopes, *declared.watched, *declared.unserved)
    return None if any(pattern.matches(address) for address in places) else NOTHING


def _objects(sides: Sides) -> Iterator[Address]:
    """Everything that is declared or live, and the addresses that the git base has for it."""
    yield from sides.desired.resources
    yield from sides.desired.unserved
    yield from sides.names.earlier_addresses.values()
    for identity in sides.snapshot.objects:
        if identity not in sides.names.declared:
            yield sides.names.address(identity)
