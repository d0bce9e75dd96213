"""Hold the state of one read of GitBook: matches, objects, lines of the ids file, and unreadable parts.

`ReadingState` is shared by `reader` and `relations`. `ForbiddenReads` collects what the token may not read
(403): dpsync blocks these entries, their children, and the entries that are matched by a reference to them,
and prunes (deletes undeclared objects of) no list that has such an unmatched entry. `read_separate_parts`
reads the parts of values that have their own request, for the entries that declare them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from dpsync.client.client import ReadClient
from dpsync.identity.ids import NO_RECORDED_LINES, RecordedLines, wrong_kind_error
from dpsync.kinds.address_patterns import PlaceTypes
from dpsync.kinds.kind import Kind
from dpsync.kinds.kind import TreeNode as NodeShape
from dpsync.kinds.registry import Registry
from dpsync.kinds.urls import AncestorIds, fill_path_template
from dpsync.live.decode import has_automatic_wrapper
from dpsync.live.sources import ReadSource, SourceReader
from dpsync.model.address import Address
from dpsync.model.desired import Base, Desired, Entry, Scope, Unsupported
from dpsync.model.diagnostic import Diagnostic, DiagnosticError, Exit
from dpsync.model.ids import NO_IDS, IdsFile, RecordedLine
from dpsync.model.snapshot import Identity, LiveObject, Match, MissingObject, RecordedIds, Snapshot
from dpsync.model.text import plural
from dpsync.model.values import references


class ReadingState(Struct, dict=True):
    """What one run of `read_snapshot` knows so far. `ids` is the ids file of the working tree."""

    client: ReadClient
    registry: Registry
    desired: Desired
    parallelism: int
    base: Base
    ids: IdsFile = NO_IDS
    matches: dict[Address, Match] = msgspec.field(default_factory=dict)
    objects: dict[Identity, LiveObject] = msgspec.field(default_factory=dict)
    scopes: dict[Address, list[Identity]] = msgspec.field(default_factory=dict)
    sibling_order: dict[Identity, tuple[Identity, ...]] = msgspec.field(default_factory=dict)
    output_identities: set[Identity] = msgspec.field(default_factory=set)
    outputs: dict[Address, str | None] = msgspec.field(default_factory=dict)
    transferred_entries: set[Address] = msgspec.field(default_factory=set)
    deleted_entries: set[Address] = msgspec.field(default_factory=set)
    """Entries whose object was deleted and is restored by their pin."""
    missing_objects: dict[Address, MissingObject] = msgspec.field(default_factory=dict)
    diagnostics: list[Diagnostic] = msgspec.field(default_factory=list)
    recorded_ids: RecordedIds = msgspec.field(default_factory=RecordedIds)
    """The ids-file lines of the declared organizations; empty until the organizations are matched."""
    recorded_lines: RecordedLines = NO_RECORDED_LINES
    """The ids-file lines, grouped by their meaning for the entries."""

    @cached_property
    def sources(self) -> SourceReader:
        """The reader of lists, trees and singles, which keeps what it read."""
        return SourceReader(self.client, self.registry, self.parallelism)

    @cached_property
    def by_parent(self) -> dict[tuple[str, Address | None], list[Entry]]:
        """The declared entries, by kind and parent."""
        entries: dict[tuple[str, Address | None], list[Entry]] = defaultdict(list)
        for entry in self.desired.entries.values():
            entries[entry.kind, entry.parent].append(entry)
        return entries

    @cached_property
    def base_entries(self) -> Mapping[Address, Entry]:
        """The entries of the git base by address."""
        return self.base.desired.entries if self.base.desired else {}

    @cached_property
    def base_entries_by_parent(self) -> dict[tuple[str, Address | None], dict[Address, Entry]]:
        """The entries of the git base (the commit compared with) by kind and address of the parent.

        An entry that moved to another organization since then counts in its new parent, too.
        """
        entries: dict[tuple[str, Address | None], dict[Address, Entry]] = defaultdict(dict)
        for address, resource in self.base_entries.items():
            entries[resource.kind, resource.parent][address] = resource
        for address, entry, previous in self._transferred_entries():
            entries[entry.kind, entry.parent][address] = previous
        return entries

    def _transferred_entries(self) -> Iterator[tuple[Address, Entry, Entry]]:
        """Yield each entry that moved to another organization: address, entry, entry in the git base.

        The key stayed the same, and no entry has the old address now. An interrupted apply may already have
        transferred the object; it then still has its earlier name in the new organization.
        """
        removed: dict[tuple[str, ...], list[Entry]] = defaultdict(list)
        for address, entry in self.base_entries.items():
            if address not in self.desired.entries:
                removed[address.segments_in_organization].append(entry)
        for address, entry in self.desired.entries.items() if removed else ():
            previous = removed[address.segments_in_organization] if address not in self.base_entries else []
            transferable = self.registry[entry.kind].lifecycle.transfer is not None
            if transferable and len(previous) == 1 and previous[0].kind == entry.kind:
                yield address, entry, previous[0]

    def is_live(self, address: Address) -> bool:
        """Return whether an entry is matched with an object whose own lists can be read.

        That is not so for an object that the plan transfers to another organization, because it loses its
        children, nor for a deleted one that the plan restores, because it has none yet.
        """
        return (
            address in self.matches
            and address not in self.transferred_entries
            and address not in self.deleted_entries
        )

    def entry(self, address: Address) -> Entry:
        """Return the declared entry with an address. Raises KeyError."""
        return self.desired.entries[address]

    def identity(self, address: Address) -> Identity:
        """Return the kind and id of a matched entry."""
        return self.entry(address).kind, self.matches[address].id

    def ancestor_ids(self, address: Address) -> AncestorIds:
        """Return kind and id of an entry and all its parents, from the entry up, to fill a URL template."""
        chain: list[tuple[str, str]] = []
        ancestor: Address | None = address
        while ancestor is not None:
            chain.append(self.identity(ancestor))
            ancestor = self.entry(ancestor).parent
        return chain

    def source(self, kind: Kind, parent: Address) -> ReadSource:
        """Return where objects of a kind are read: in the parent's list, or in the site's navigation tree.

        If the platform puts a section around the nodes of a tree, and the files declare none, mark the tree
        as one to read without that section.
        """
        owner = parent
        while kind.is_node and self.entry(owner).kind != self.registry.tree_owner(kind):
            grandparent = self.entry(owner).parent
            assert grandparent is not None
            owner = grandparent
        source = self.sources.source(kind, self.identity(owner), self.ancestor_ids(owner))
        live = self.objects.get(self.identity(owner)) if kind.is_node else None
        if has_automatic_wrapper(self.registry, kind, live) and self._declares_flat_tree(kind, owner):
            self.sources.trees_without_wrapper.add(source.url)
        return source

    def _declares_flat_tree(self, kind: Kind, owner: Address) -> bool:
        """Return whether the files declare a tree without the nodes that the platform creates by itself.

        For example, a tree with spaces and without sections.
        """
        shapes = [self.registry[self.entry(child).kind].shape for child in self.entry(owner).children]
        declared = owner.child(*kind.key.split(".")) in self.desired.scopes
        return declared and all(
            isinstance(shape, NodeShape) and shape.excludes_other_kinds_at_root for shape in shapes
        )

    def live_id(self, address: Address) -> str | None:
        """Return the id by which a reference to an entry names its object; None if that does not exist yet.

        If GitBook creates another object for the entry's object (an output, such as the space of an import),
        references mean that object.
        """
        if address in self.outputs:
            return self.outputs[address]
        match = self.matches.get(address)
        return match.id if match else None

    def first_child(self, entry: Entry) -> Entry | None:
        """Return the first entry in an entry, None if it has none."""
        return self.desired.entries.get(entry.children[0]) if entry.children else None

    def earlier_first_child(self, entry: Entry) -> Entry | None:
        """Return the first entry in an entry of the git base, None if it has none."""
        return self.base_entries.get(entry.children[0]) if entry.children else None

    def raise_diagnostics(self, code: Exit) -> None:
        """Raise DiagnosticError with the exit code `code` if there are diagnostics."""
        if self.diagnostics:
            raise DiagnosticError(self.diagnostics, code)


def note_recorded_lines(reading: ReadingState) -> None:
    """Store the lines of the ids file for each matched organization in `reading`.

    The file names organizations by id; the stored addresses begin with their current keys. `RecordedLines`
    groups the lines: of entries, without an entry, and unchanged since the git base (the commit compared
    with).
    """
    organizations = reading.by_parent[reading.registry.root.name, None]
    ids = {entry.address: reading.matches[entry.address].id for entry in organizations}
    lines = _lines(reading.ids, reading.client.platform, ids)
    earlier = _lines(reading.base.ids, reading.client.platform, ids)
    empty = frozenset(ids) - {address.organization for address in lines}
    reading.recorded_ids = RecordedIds(lines, earlier, empty)
    declared = reading.desired.entries.keys() | reading.desired.unsupported.keys()
    base = reading.base.desired
    orphans = {address: line for address, line in lines.items() if address not in declared}
    unedited = {
        address for address, line in lines.items() if address in earlier and earlier[address].id == line.id
    }
    reading.recorded_lines = RecordedLines(
        {**_lines_of_transferred_entries(reading, orphans), **lines},
        {line.id: address for address, line in orphans.items()},
        frozenset(
            address for address in unedited & declared if base is not None and address not in base.entries
        ),
        frozenset(unedited),
    )


def _lines_of_transferred_entries(
    reading: ReadingState, orphans: Mapping[Address, RecordedLine]
) -> dict[Address, RecordedLine]:
    """Return the lines of entries that moved to another organization under the same key, by the new address.

    If the object is already there, the line counts like a line of the new address. If not, it is a reason for
    a transfer (live/relations.py), and does not mean that the object was deleted. `orphans` has the lines
    without an entry.
    """
    lines: dict[Address, RecordedLine] = {}
    by_key = {address.segments_in_organization: line for address, line in orphans.items()}
    for address, entry in reading.desired.entries.items() if by_key else ():
        line = by_key.get(address.segments_in_organization)
        if line is not None and reading.registry[entry.kind].lifecycle.transfer is not None:
            lines[address] = line
    return lines


def _lines(ids: IdsFile, platform: str, organizations: dict[Address, str]) -> dict[Address, RecordedLine]:
    """Return the ids-file lines of some organizations by address. `organizations` has the id by address."""
    return {
        address: line
        for organization, id in organizations.items()
        for address, line in ids.lines(platform, id, str(organization)).items()
    }


def report_lines_of_other_kinds(reading: ReadingState) -> None:
    """Report each line of the ids file whose id belongs to an object of another kind than its entry."""
    by_id = {live.id: live.kind for live in reading.objects.values()}
    for address, missing in sorted(reading.missing_objects.items()):
        entry = reading.desired.entries[address]
        if by_id.get(missing.id, entry.kind) != entry.kind:
            other = reading.registry[by_id[missing.id]].noun_with_article
            noun = reading.registry[entry.kind].noun_with_article
            reading.diagnostics.append(
                wrong_kind_error(reading.recorded_ids.lines[address], entry, noun, other)
            )


def recorded_lines(registry: Registry, desired: Desired, snapshot: Snapshot) -> dict[Address, RecordedLine]:
    """Return the line that the ids file should have for each matched entry whose kind is recorded.

    A line may have a second id: that of the object that GitBook creates with the entry, which is its output
    (the space of a translation) or its first child.
    """
    lines: dict[Address, RecordedLine] = {}
    for address, match in snapshot.matches.items():
        entry = desired.entries.get(address)
        if entry is None or not registry[entry.kind].has_ids_line:
            continue
        second_id = None
        if registry[entry.kind].has_second_id:
            children = snapshot.sibling_order.get((entry.kind, match.id), ())
            second_id = snapshot.outputs.get(address) or next((id for _, id in children), None)
        lines[address] = RecordedLine(address, match.id, second_id)
    return lines


def find_renamed_keys(registry: Registry, desired: Desired, snapshot: Snapshot) -> dict[Address, Address]:
    """Return the address in the ids file of each entry whose key was renamed, by its present address.

    Entries inside an entry with a renamed key are left out: their addresses changed with it.
    """
    places = PlaceTypes(registry)
    declared = desired.entries.keys() | desired.unsupported.keys()
    lines = snapshot.recorded_ids.lines
    addresses_without_entry = {
        (kind.name, line.id): address
        for address, line in lines.items()
        if address not in declared
        for kind in places.kinds(address)
    }
    renamed: dict[Address, Address] = {}
    for address, match in snapshot.matches.items() if addresses_without_entry else ():
        entry = desired.entries.get(address)
        old_address = (
            addresses_without_entry.get((entry.kind, match.id))
            if entry is not None and address not in lines
            else None
        )
        if old_address is not None:
            renamed[address] = old_address
    return {
        address: old_address
        for address, old_address in renamed.items()
        if not any(ancestor in renamed for ancestor in address.self_and_ancestors() if ancestor != address)
    }


def access_advice(objects: str) -> str:
    """Return the advice for objects that the token may not read."""
    return f"use the token of a user who can read {objects}, such as an admin"


def forbidden_reason(url: str) -> str:
    """Return the reason why an entry cannot be read: the token got a 403 for this URL."""
    return f"this token has no access to GET {url} (status 403)"


class ForbiddenReads:
    """Entries, fields and scopes that the token may not read (403), with reason and advice.

    `add_consequences` adds the entries that cannot be managed because of an unreadable entry.
    """

    def __init__(self, reading: ReadingState) -> None:
        self._reading = reading
        self.entries: dict[Address, Unsupported] = {}
        """Entries, lookups, and scopes without entries."""
        self.fields: dict[tuple[Address, str], Unsupported] = {}
        self.prune_unsafe: dict[Address, Unsupported] = {}
        """Scopes in which dpsync cannot tell which objects are unmanaged, with the reason."""
        self.not_readable_watched: dict[Address, Unsupported] = {}
        """Scopes that are only watched."""

    def add_entry(self, entry: Entry, url: str) -> None:
        """Record that the token may not read an entry, because it got a 403 for `url`."""
        noun = self._reading.registry[entry.kind].noun
        self.entries[entry.address] = Unsupported(
            forbidden_reason(url), entry.span, access_advice(plural(noun))
        )

    def add_field(self, entry: Entry, name: str, url: str) -> None:
        """Record that the token may not read a field, because it got a 403 for `url`."""
        self.fields[entry.address, name] = Unsupported(
            forbidden_reason(url), entry.field_span(name), access_advice("this list")
        )

    def add_list(self, kind: Kind, parent: Address, url: str) -> None:
        """Record that the token may not read a list or tree of objects, or a single object: 403 for `url`.

        All its entries, and its lookups (objects that the files name without an entry), are unreadable. The
        list itself is recorded only if the files declare it without entries, or if the policy watches it.
        """
        for entry in self._reading.by_parent[kind.name, parent]:
            self.add_entry(entry, url)
        for lookup in self._reading.desired.lookups.values():
            if (lookup.kind, lookup.parent) == (kind.name, parent):
                self.entries[lookup.address] = Unsupported(
                    forbidden_reason(url), lookup.span, access_advice(plural(kind.noun))
                )
        scope_address = parent.child(*kind.key.split("."))
        if watched := self._reading.desired.watched_scopes.get(scope_address):
            self.not_readable_watched[scope_address] = Unsupported(
                forbidden_reason(url), watched.span, access_advice(plural(kind.noun))
            )
        scope = self._reading.desired.scopes.get(scope_address)
        if scope is None:
            return
        if not any(address.is_at_or_below(scope.address) for address in self._reading.desired.entries):
            self.entries[scope.address] = Unsupported(
                forbidden_reason(url), scope.span, access_advice(plural(kind.noun))
            )

    def explains(self, question: Diagnostic) -> bool:
        """Return whether dpsync may ask which object an entry is only because another entry is unreadable.

        That is so if the entry's natural key refers to the unreadable entry. The entry is then blocked, and
        the caller drops the question.
        """
        entry = self._reading.desired.entries.get(Address.parse(str(question.address)))
        return entry is not None and self._note_unmatchable(entry, with_tie_breakers=True)

    def add_consequences(self) -> None:
        """Add the entries that cannot be managed because of an unreadable entry.

        These are its children, and unmatched entries whose natural key refers to it. Repeats until nothing is
        new.
        """
        known: int | None = None
        while known != len(self.entries):
            known = len(self.entries)
            for entry in self._reading.desired.entries.values():
                if entry.address in self.entries:
                    continue
                if entry.parent in self.entries:
                    self._note_consequence(
                        entry,
                        f"dpsync cannot read {entry.parent}, which contains this entry",
                        entry.parent,
                    )
                elif entry.address not in self._reading.matches and entry.pin is None:
                    self._note_unmatchable(entry)

    def _note_unmatchable(self, entry: Entry, with_tie_breakers: bool = False) -> bool:
        """Block an entry whose natural key refers to an unreadable entry, and return whether it does.

        dpsync cannot find its live object, which then seems to have no entry. So its list is excluded from
        pruning.
        """
        key_values = self._key_values(entry, with_tie_breakers)
        referenced = {address for value in key_values for address in references(value)}
        unreadable = min(referenced & self.entries.keys(), default=None)
        if unreadable is None:
            return False
        self._note_consequence(
            entry,
            f"dpsync cannot read {unreadable}, to which this entry refers, so dpsync cannot find the entry's "
            "object in GitBook",
            unreadable,
        )
        kind = self._reading.registry[entry.kind]
        for scope in self._reading.desired.scopes.values():
            if kind.name in scope.kinds and entry.address.is_at_or_below(scope.address):
                self.add_prune_unsafe(
                    scope, f"dpsync cannot find the live object of {entry.address}", str(unreadable)
                )
        return True

    def add_prune_unsafe(self, scope: Scope, reason: str, because: str | None = None) -> None:
        """Exclude a list (scope) from pruning: dpsync cannot tell which of its objects have no entry."""
        known = Unsupported(
            f"in this list, dpsync keeps all objects that have no entry, because {reason}",
            scope.span,
            because=because,
        )
        self.prune_unsafe.setdefault(scope.address, known)

    def _note_consequence(self, entry: Entry, reason: str, other: Address) -> None:
        """Block an entry because of another blocked entry, and name the first cause in the chain."""
        cause = self.entries[other].because or str(other)
        self.entries[entry.address] = Unsupported(reason, entry.span, because=cause)

    def _key_values(self, resource: Entry, with_tie_breakers: bool) -> Iterator[object]:
        """Yield the values of an entry's natural keys, some of which are fields of its first child."""
        kind = self._reading.registry[resource.kind]
        parts = [part for key in kind.natural_keys for part in ((key,) if isinstance(key, str) else key)]
        child = self._reading.first_child(resource)
        for part in [*parts, kind.key_field or "", *(kind.tie_breakers if with_tie_breakers else ())]:
            of_child = part.startswith("$child.")
            entry = child if of_child else resource
            if entry is not None:
                yield entry.fields.get(part.removeprefix("$child.").partition(".")[0])


def declares_separate_parts(kind: Kind, entry: Entry) -> bool:
    """Return whether an entry declares a part of a value that must be read with a request of its own."""
    return bool(kind.separately_read_fields) and any(_declared_parts(kind, entry))


def read_separate_parts(reading: ReadingState) -> None:
    """Read the parts of values that the API returns only by further requests, if entries declare them.

    The live objects in `reading` get these parts.
    """
    entries = [
        resource
        for address, resource in reading.desired.entries.items()
        if address in reading.matches and declares_separate_parts(reading.registry[resource.kind], resource)
    ]

    def read_parts(entry: Entry) -> LiveObject:
        """Return the live object of an entry with these parts."""
        (name, id), *ancestors = reading.ancestor_ids(entry.address)
        identity = reading.registry[name].identity_of(id, ancestors[0] if ancestors else None)
        live = reading.objects[identity]
        return with_separate_parts(reading.sources, reading.registry, entry, live, ancestors)

    objects = reading.sources.map_parallel(read_parts, entries)
    reading.objects |= {item.identity: item for item in objects}


def with_separate_parts(
    sources: SourceReader, registry: Registry, entry: Entry, live: LiveObject, ancestors: AncestorIds
) -> LiveObject:
    """Return a live object with the separately read parts that its entry declares and the token may read.

    While the platform is processing the object, the part may be older than the value sent last, so it is not
    read. `ancestors` are the object's parents, from the direct parent up. Raises ClientError.
    """
    kind = registry[entry.kind]
    if kind.is_busy(live.fields):
        return live
    fields = dict(live.fields)
    for name, part, path in _declared_parts(kind, entry):
        text = sources.read_response_text(fill_path_template(registry, kind, path, live.id, ancestors))
        if text is not None:
            fields[name] = {**(fields.get(name) or {}), part: text}
    return replace(live, fields=fields)


def _declared_parts(kind: Kind, entry: Entry) -> list[tuple[str, str, str]]:
    """Return field name, part name and path of each separately read part that an entry declares.

    The path is a template for a URL path.
    """
    parts = []
    for field in kind.separately_read_fields:
        value = entry.fields.get(field.name)
        if isinstance(value, dict):
            parts += [
                (field.name, part, path) for part, path in field.separate_read_paths.items() if part in value
            ]
    return parts
