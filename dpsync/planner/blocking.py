"""What cannot be done: entries a person must make, and everything that would need them.

An entry that cannot be made blocks what it is part of; a field that names it blocks only that field.
"""

from __future__ import annotations

from dpsync.kinds.base import ByHand, Call, Field
from dpsync.model.address import Address
from dpsync.model.desired import Resource
from dpsync.model.plan import Blocked
from dpsync.model.values import references
from dpsync.planner.context import Context

_LATER = "apply again when the platform has made it"


def _not_yet(address: Address) -> str:
    return f"it names what comes out of {address}, which is not there yet"


class Blocking:
    """The blocked entries and fields. Entries are settled at the start, fields as the planner meets them."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._entries: dict[Address, Blocked] = {}
        self._fields: dict[tuple[Address, str], Blocked] = {}
        grown = -1
        while grown != len(self._entries):
            grown = len(self._entries)
            for resource in context.resources.values():
                if resource.address not in self._entries and context.live(resource.address) is None:
                    self._consider(resource)

    def _consider(self, resource: Resource) -> None:
        kind = self._context.kind(resource)
        address = str(resource.address)
        if self._context.ignored(resource.address):
            return
        if isinstance(kind.create, ByHand) or kind.create is None:
            todo = kind.create.todo.format(key=resource.key) if isinstance(kind.create, ByHand) else ""
            reason = f"{kind.one} cannot be created by dpsync"
            self._entries[resource.address] = Blocked(address=address, reason=reason, todo=todo)
            return
        named = self._for_creating(resource)
        for other in sorted(named):
            if self._not_put_out(other):
                self._entries[resource.address] = Blocked(
                    address=address, reason=_not_yet(other), todo=_LATER
                )
                return
        needed = {resource.parent, resource.holder} | named
        for other in sorted(item for item in needed if item is not None):
            if other in self._entries:
                cause = self._entries[other]
                reason = f"it needs {other}"
                self._entries[resource.address] = Blocked(
                    address=address, reason=reason, because=cause.because or cause.address
                )
                return

    def _for_creating(self, resource: Resource) -> set[Address]:
        kind = self._context.kind(resource)
        needed: set[Address] = set()
        for item in kind.fields:
            if item.on in ("create", "both") or item.name == kind.natural:
                needed |= references(resource.fields.get(item.name))
        if isinstance(kind.create, Call) and kind.create.makes and resource.children:
            needed |= self._for_creating(self._context.resources[resource.children[0]])
        return needed - {resource.address}

    def _not_put_out(self, address: Address) -> bool:
        """Whether this stands for something that the platform makes by itself, and has not made yet."""
        resource = self._context.resources.get(address)
        puts_out = resource is not None and self._context.kind(resource).outputs is not None
        return puts_out and self._context.known_id(address) is None

    def entry(self, address: Address) -> bool:
        return address in self._entries

    def field(self, resource: Resource, item: Field) -> bool:
        """Whether this field names something that cannot be made; noted when it does."""
        for other in sorted(references(resource.fields.get(item.name))):
            if other in self._entries:
                self.note(resource, item, f"it names {other}", because=str(other))
                return True
            if self._not_put_out(other):
                self.note(resource, item, _not_yet(other), _LATER)
                return True
        return False

    def note(
        self, resource: Resource, item: Field, reason: str, todo: str = "", because: str | None = None
    ) -> None:
        name = f"{resource.address}#{item.name}"
        self._fields[resource.address, item.name] = Blocked(
            address=name, reason=reason, todo=todo, because=because
        )

    def all(self) -> tuple[Blocked, ...]:
        found = [*self._entries.values(), *self._fields.values()]
        return tuple(sorted(found, key=lambda item: item.address))
