"""Hold what one read of the platform has found so far, and what the token cannot read.

What one reading has found so far, and the few questions that every part of it asks.

`reader` says in which order things are read; the other modules each add one sort of thing.

Lines of the ids file: those that concern a reading, and those that a reading gives.

What this token may not read (403), and everything about which nothing can be known therefore.

Nothing is concluded from a list that may not be read. Its entries are blocked, and so is what they hold. An
entry that is recognised by the name of such an entry cannot be recognised either. Where an entry of a list
could not be recognised, nobody can tell what else in that list is undeclared: nothing there is deleted.

Parts of values that have a request of their own: read for the entries that declare them.

While the platform is processing an object, such a part is older than the value that was sent last, so it is
not read. If processing failed, the part is the value that the platform still has.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from dpsync.client.client import ReadClient
from dpsync.identity.ids import NOTHING_RECORDED, Recorded, other_kind
from dpsync.kinds.kind import Kind
from dpsync.kinds.kind import Node as NodeShape
from dpsync.kinds.places import Places
from dpsync.kinds.registry import Registry
from dpsync.kinds.urls import Chain, expand
from dpsync.live.decode import has_automatic_wrapper
from dpsync.live.sources import Source, Sources
from dpsync.model.address import Address
from dpsync.model.desired import Base, Desired, Entry, Scope, Unserved
from dpsync.model.diagnostic import Diagnostic, DiagnosticError, Exit
from dpsync.model.ids import NO_IDS, IdsFile, RecordedLine
from dpsync.model.snapshot import Identity, LiveObject, Match, Missing, Records, Snapshot
from dpsync.model.values import references


class ReadingState(Struct, dict=True):
    """The state of a reading. `ids` is the ids file of the working tree."""

    client: ReadClient
    registry: Registry
    desired: Desired
    parallelism: int
    base: Base
    ids: IdsFile = NO_IDS
    matches: dict[Address, Match] = msgspec.field(default_factory=dict)
    objects: dict[Identity, LiveObject] = msgspec.field(default_factory=dict)
    scopes: dict[Address, list[Identity]] = msgspec.field(default_factory=dict)
    lanes: dict[Identity, tuple[Identity, ...]] = msgspec.field(default_factory=dict)
    output_identities: set[Identity] = msgspec.field(default_factory=set)
    outputs: dict[Address, str | None] = msgspec.field(default_factory=dict)
    transferred: set[Address] = msgspec.field(default_factory=set)
    deleted: set[Address] = msgspec.field(default_factory=set)
    """Entries that are deleted and are brought back by their pin."""
    missing: dict[Address, Missing] = msgspec.field(default_factory=dict)
    diagnostics: list[Diagnostic] = msgspec.field(default_factory=list)
    records: Records = msgspec.field(default_factory=Records)
    """What the ids files say of the declared organizations, once these are known."""
    recorded: Recorded = NOTHING_RECORDED
    """What the lines mean for the entries."""

    @cached_property
    def sources(self) -> Sources:
        return Sources(self.client, self.registry, self.parallelism)

    @cached_property
    def by_parent(self) -> dict[tuple[str, Address | None], list[Entry]]:
        """The declared entries, by their kind and what they are in."""
        found: dict[tuple[str, Address | None], list[Entry]] = defaultdict(list)
        for resource in self.desired.resources.values():
            found[resource.kind, resource.parent].append(resource)
        return found

    @cached_property
    def earlier(self) -> Mapping[Address, Entry]:
        """The entries of the git base."""
        return self.base.desired.resources if self.base.desired else {}

    @cached_property
    def earlier_by_parent(self) -> dict[tuple[str, Address | None], dict[Address, Entry]]:
        """The entries of the git base by kind and parent, with those that were perhaps given away."""
        found: dict[tuple[str, Address | None], dict[Address, Entry]] = defaultdict(dict)
        for address, resource in self.earlier.items():
            found[resource.kind, resource.parent][address] = resource
        for address, entry, was in self._given_away():
            found[entry.kind, entry.parent][address] = was
        return found

    def _given_away(self) -> Iterator[tuple[Address, Entry, Entry]]:
        """Entries that the git base has under the same key in another organization, and nobody has there now.

        One may have been given away by a run that was interrupted: then it still bears its earlier name here.
        Each with its address, and as it was.
        """
        removed: dict[tuple[str, ...], list[Entry]] = defaultdict(list)
        for address, entry in self.earlier.items():
            if address not in self.desired.resources:
                removed[address.rest].append(entry)
        for address, entry in self.desired.resources.items() if removed else ():
            was = removed[address.rest] if address not in self.earlier else []
            transferable = self.registry[entry.kind].lifecycle.transfer is not None
            if transferable and len(was) == 1 and was[0].kind == entry.kind:
                yield address, entry, was[0]

    def is_there(self, address: Address) -> bool:
        """Whether an entry was found and lists can be read below it.

        What is on something else is lost when that is transferred: it is not there any more. Of what is
        deleted and will be brought back it is not there yet.
        """
        return address in self.matches and address not in self.transferred and address not in self.deleted

    def resource(self, address: Address) -> Entry:
        return self.desired.resources[address]

    def identity(self, address: Address) -> Identity:
        """The kind and id of an entry that was recognised."""
        return self.resource(address).kind, self.matches[address].id

    def chain(self, address: Address) -> Chain:
        """The entry itself and everything above it, as URLs need them."""
        chain: list[tuple[str, str]] = []
        around: Address | None = address
        while around is not None:
            chain.append(self.identity(around))
            around = self.resource(around).parent
        return chain

    def source(self, kind: Kind, parent: Address) -> Source:
        """Where objects of a kind are read: below their parent, or in the tree that the parent is in."""
        owner = self._tree_owner(kind, parent)
        source = self.sources.source(kind, self.identity(owner), self.chain(owner))
        live = self.objects.get(self.identity(owner)) if kind.in_tree else None
        if has_automatic_wrapper(self.registry, kind, live) and self._declares_flat_tree(kind, owner):
            self.sources.unwrapped.add(source.url)
        return source

    def _declares_flat_tree(self, kind: Kind, owner: Address) -> bool:
        """Return whether the files declare a tree whose root holds only nodes that may stand alone there."""
        shapes = [self.registry[self.resource(child).kind].shape for child in self.resource(owner).children]
        declared = owner.child(*kind.key.split(".")) in self.desired.scopes
        return declared and all(isinstance(shape, NodeShape) and shape.alone for shape in shapes)

    def _tree_owner(self, kind: Kind, parent: Address) -> Address:
        """The entry that owns the whole tree which an entry is in."""
        at = parent
        if kind.in_tree:
            owner = self.registry.tree_owner(kind)
            while self.resource(at).kind != owner:
                above = self.resource(at).parent
                assert above is not None
                at = above
        return at

    def bound(self, address: Address) -> str | None:
        """The id that a reference means. For an entry with an output, that is the id of the output."""
        if address in self.outputs:
            return self.outputs[address]
        found = self.matches.get(address)
        return found.id if found else None

    def first_child(self, resource: Entry) -> Entry | None:
        return self.desired.resources.get(resource.children[0]) if resource.children else None

    def earlier_first_child(self, resource: Entry) -> Entry | None:
        return self.earlier.get(resource.children[0]) if resource.children else None

    def stop(self, code: Exit) -> None:
        """Raises DiagnosticError when there are questions that nobody here can answer."""
        if self.diagnostics:
            raise DiagnosticError(self.diagnostics, code)


def read_records(reading: ReadingState) -> None:
    """Note the lines of each organization that was found, under the key that it has now."""
    organizations = reading.by_parent[reading.registry.root.name, None]
    found = {entry.address: reading.matches[entry.address].id for entry in organizations}
    lines = _lines(reading.ids, reading.client.platform, found)
    earlier = _lines(reading.base.ids, reading.client.platform, found)
    empty = frozenset(found) - {address.top for address in lines}
    reading.records = Records(lines, earlier, empty)
    known = reading.desired.resources.keys() | reading.desired.unserved.keys()
    before = reading.base.desired
    orphans = {address: line for address, line in lines.items() if address not in known}
    unedited = {
        address for address, line in lines.items() if address in earlier and earlier[address].id == line.id
    }
    reading.recorded = Recorded(
        {**_under_another(reading, orphans), **lines},
        {line.id: address for address, line in orphans.items()},
        frozenset(
            address for address in unedited & known if before is not None and address not in before.resources
        ),
        frozenset(unedited),
    )


def _under_another(
    reading: ReadingState, orphans: Mapping[Address, RecordedLine]
) -> dict[Address, RecordedLine]:
    """Lines of entries that stand in another organization now, under the same key.

    Where the object is there already, the line is as good as one of its own; where it is not, it is a reason
    for a transfer (live/relations.py), and no sign that something is gone.
    """
    found: dict[Address, RecordedLine] = {}
    by_key = {address.rest: line for address, line in orphans.items()}
    for address, entry in reading.desired.resources.items() if by_key else ():
        line = by_key.get(address.rest)
        if line is not None and reading.registry[entry.kind].lifecycle.transfer is not None:
            found[address] = line
    return found


def _lines(ids: IdsFile, platform: str, organizations: dict[Address, str]) -> dict[Address, RecordedLine]:
    return {
        address: line
        for organization, id in organizations.items()
        for address, line in ids.lines(platform, id, str(organization)).items()
    }


def lines_of_other_kinds(reading: ReadingState) -> None:
    """A line whose id is that of something else is a mistake in the file, not something that is gone."""
    by_id = {item.id: item.kind for item in reading.objects.values()}
    for address, missing in sorted(reading.missing.items()):
        entry = reading.desired.resources[address]
        if by_id.get(missing.id, entry.kind) != entry.kind:
            other = reading.registry[by_id[missing.id]].one
            noun = reading.registry[entry.kind].one
            reading.diagnostics.append(other_kind(reading.records.lines[address], entry, noun, other))


def recorded_lines(registry: Registry, desired: Desired, snapshot: Snapshot) -> dict[Address, RecordedLine]:
    """One for each entry that was recognised and has a line at all."""
    lines: dict[Address, RecordedLine] = {}
    for address, match in snapshot.matches.items():
        resource = desired.resources.get(address)
        if resource is None or not registry[resource.kind].recorded:
            continue
        also = None
        if registry[resource.kind].has_also:
            also = snapshot.outputs.get(address) or _first_inside(snapshot, (resource.kind, match.id))
        lines[address] = RecordedLine(address, match.id, also)
    return lines


def renamed_keys(registry: Registry, desired: Desired, snapshot: Snapshot) -> dict[Address, Address]:
    """Return the address in the ids file of each entry that has another key now, by the present address.

    Entries inside an entry with another key are left out.
    """
    places = Places(registry)
    known = desired.resources.keys() | desired.unserved.keys()
    lines = snapshot.records.lines
    former = {
        (kind.name, line.id): address
        for address, line in lines.items()
        if address not in known
        for kind in places.kinds(address)
    }
    found: dict[Address, Address] = {}
    for address, match in snapshot.matches.items() if former else ():
        entry = desired.resources.get(address)
        before = former.get((entry.kind, match.id)) if entry is not None and address not in lines else None
        if before is not None:
            found[address] = before
    return {
        address: before
        for address, before in found.items()
        if not any(above in found for above in address.upward() if above != address)
    }


def _first_inside(snapshot: Snapshot, identity: tuple[str, str]) -> str | None:
    """The id of the first live object directly in a node."""
    return next((id for _, id in snapshot.lanes.get(identity, ())), None)


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


def has_parts(kind: Kind, resource: Entry) -> bool:
    """Whether an entry declares a part that is read by a request of its own."""
    return bool(kind.own_read_fields) and any(_declared(kind, resource))


def read_parts(reading: ReadingState) -> None:
    """Read such parts for all recognised entries, and put them into their live objects."""
    asking = [
        resource
        for address, resource in reading.desired.resources.items()
        if address in reading.matches and has_parts(reading.registry[resource.kind], resource)
    ]
    found = reading.sources.map(lambda resource: _part_of(reading, resource), asking)
    reading.objects |= {item.identity: item for item in found}


def _part_of(reading: ReadingState, resource: Entry) -> LiveObject:
    (name, id), *above = reading.chain(resource.address)
    identity = reading.registry[name].identity_of(id, above[0] if above else None)
    return with_parts(reading.sources, reading.registry, resource, reading.objects[identity], above)


def with_parts(
    sources: Sources, registry: Registry, resource: Entry, live: LiveObject, above: Chain
) -> LiveObject:
    """The live object of an entry with such parts in its fields; those that cannot be read are left out.

    `above` is what it hangs below. Raises ClientError as other reads do.
    """
    kind = registry[resource.kind]
    if kind.is_busy(live.fields):
        return live
    fields = dict(live.fields)
    for name, part, path in _declared(kind, resource):
        found = sources.text(expand(registry, kind, path, live.id, above))
        if found is not None:
            fields[name] = {**(fields.get(name) or {}), part: found}
    return replace(live, fields=fields)


def _declared(kind: Kind, resource: Entry) -> list[tuple[str, str, str]]:
    """Field, part and path of each."""
    found = []
    for field in kind.own_read_fields:
        value = resource.fields.get(field.name)
        if isinstance(value, dict):
            found += [(field.name, part, path) for part, path in field.own_read.items() if part in value]
    return found
