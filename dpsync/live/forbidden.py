"""What this token may not read (403), and everything about which nothing can be known therefore.

Nothing is concluded from a list that may not be read. Its entries are blocked, and so is what they hold. An
entry that is recognised by the name of such an entry cannot be recognised either. Where an entry of a list
could not be recognised, nobody can tell what else in that list is undeclared: nothing there is deleted.
"""

from __future__ import annotations

from collections.abc import Iterator

from dpsync.kinds.kind import Kind
from dpsync.live.reading import ReadingState
from dpsync.model.address import Address
from dpsync.model.desired import Entry, Scope, Unserved
from dpsync.model.diagnostic import Diagnostic
from dpsync.model.values import references

WAY_OUT = "use a token that has read access"


def why(url: str) -> str:
    return f"this token has no access to GET {url} (status 403)"


class ForbiddenReads:
    """What may not be read, collected during a reading; `settle` adds what follows from it."""

    def __init__(self, reading: ReadingState) -> None:
        self._reading = reading
        self.entries: dict[Address, Unserved] = {}
        """Entries, looked-up things, and lists without entries."""
        self.fields: dict[tuple[Address, str], Unserved] = {}
        self.unsettled: dict[Address, Unserved] = {}
        """Lists in which nobody can tell what is undeclared, each with the reason."""
        self.watched: dict[Address, Unserved] = {}
        """Lists that are only watched."""

    def entry(self, resource: Entry, url: str) -> None:
        self.entries[resource.address] = Unserved(why(url), resource.span, WAY_OUT)

    def field(self, resource: Entry, name: str, url: str) -> None:
        self.fields[resource.address, name] = Unserved(why(url), resource.where(name), WAY_OUT)

    def read_below(self, kind: Kind, parent: Address, url: str) -> None:
        """A list, tree or single below an entry may not be read."""
        for resource in self._reading.by_parent[kind.name, parent]:
            self.entry(resource, url)
        for lookup in self._reading.desired.lookups.values():
            if (lookup.kind, lookup.parent) == (kind.name, parent):
                self.entries[lookup.address] = Unserved(why(url), lookup.span, WAY_OUT)
        place = parent.child(*kind.key.split("."))
        if only := self._reading.desired.watched.get(place):
            self.watched[place] = Unserved(why(url), only.span, WAY_OUT)
        scope = self._reading.desired.scopes.get(place)
        if scope is not None and not self._has_entries(scope.address):
            self.entries[scope.address] = Unserved(why(url), scope.span, WAY_OUT)

    def _has_entries(self, scope: Address) -> bool:
        return any(address.is_in(scope) for address in self._reading.desired.resources)

    def excuses(self, question: Diagnostic) -> bool:
        """Whether an entry may be unclear only because what it names may not be read."""
        resource = self._reading.desired.resources.get(Address.parse(str(question.address)))
        return resource is not None and self._cannot_be_told(resource, ties=True)

    def settle(self) -> None:
        """Add the entries that cannot be known therefore: those below one, or recognised by its name."""
        known: int | None = None
        while known != len(self.entries):
            known = len(self.entries)
            for resource in self._reading.desired.resources.values():
                if resource.address in self.entries:
                    continue
                if resource.parent in self.entries:
                    self._because(
                        resource,
                        f"dpsync cannot read {resource.parent}, which contains this entry",
                        resource.parent,
                    )
                elif resource.address not in self._reading.matches and resource.pin is None:
                    self._cannot_be_told(resource)

    def _cannot_be_told(self, resource: Entry, ties: bool = False) -> bool:
        named = min(self._named(resource, ties) & self.entries.keys(), default=None)
        if named is None:
            return False
        self._because(
            resource,
            f"this entry refers to {named}, which dpsync cannot read, so dpsync cannot find its live object",
            named,
        )
        kind = self._reading.registry[resource.kind]
        for scope in self._reading.desired.scopes.values():
            if kind.name in scope.kinds and resource.address.is_in(scope.address):
                self.undeclared_unknown(
                    scope, f"dpsync cannot find the live object of {resource.address}", str(named)
                )
        return True

    def undeclared_unknown(self, scope: Scope, reason: str, because: str | None = None) -> None:
        """Nobody can tell what is undeclared in a place."""
        known = Unserved(
            f"in this list, dpsync keeps all objects that have no entry, because {reason}",
            scope.span,
            because=because,
        )
        self.unsettled.setdefault(scope.address, known)

    def _because(self, resource: Entry, reason: str, other: Address) -> None:
        cause = self.entries[other].because or str(other)
        self.entries[resource.address] = Unserved(reason, resource.span, because=cause)

    def _named(self, resource: Entry, ties: bool) -> set[Address]:
        """What an entry names in what it is recognised by, its first child included."""
        return {address for value in self._keys(resource, ties) for address in references(value)}

    def _keys(self, resource: Entry, ties: bool) -> Iterator[object]:
        kind = self._reading.registry[resource.kind]
        parts = [part for key in kind.identity for part in ((key,) if isinstance(key, str) else key)]
        child = self._reading.first_child(resource)
        for part in [*parts, kind.natural or "", *(kind.tie_breakers if ties else ())]:
            of_child = part.startswith("$child.")
            entry = child if of_child else resource
            if entry is not None:
                yield entry.fields.get(part.removeprefix("$child.").partition(".")[0])
