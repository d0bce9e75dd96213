"""Define `Snapshot`: what was read from GitBook, and which live object each entry is.

It holds the live objects with their decoded declared fields, and the `Match` of each entry. The raw responses
may contain keys and tokens, so they are not kept. No field contains counts or times.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct, field

from dpsync.model.address import Address
from dpsync.model.desired import Unsupported
from dpsync.model.ids import RecordedLine
from dpsync.model.values import Value


class MatchedBy(StrEnum):
    """By what an entry was recognised. Rules compare these; the words for people are in `render`."""

    PIN = "pin"
    IDS_LINE = "line"
    """Its line in the ids file."""
    OTHER_IDS_LINE = "line of another entry"
    """The line of an entry that has gone, of which this one has a new key: `detail` is that one's address."""
    PREVIOUSLY = "previously"
    BASE = "base"
    """The name that it had in the git base."""
    EARLIER_COMMIT = "earlier commit"
    """The name that it had in a commit before the git base: `detail` is the id of the commit."""
    FIRST_NATURAL_KEY = "key"
    """Its first natural key."""
    LATER_NATURAL_KEY = "later key"
    """Another natural key, or one that it had earlier: `detail` names the fields."""
    ONLY_OBJECT_IN_PLACE = "place"
    """It is the only one that can be there."""
    TEMPORARY_NAME = "temporary name"
    """The name that dpsync gave it while names went round."""
    SAME_CONTENTS = "contents"
    """What it holds."""
    SIMILARITY = "looks"


class Match(Struct, frozen=True):
    """The live object of an entry: its id, and how dpsync recognized it."""

    id: str
    by: MatchedBy
    detail: str = ""
    """For people: the fields of a later key, or the address of another entry."""


Identity = tuple[str, str]
"""The name of a kind, and an id that is unique among all objects of this kind (see `LiveObject.identity`)."""


class SyncedRepository(Struct, frozen=True):
    """The repository with which the platform syncs a part of an object. Its name is text of the platform."""

    name: str
    synced_with_owner: bool = False
    """Whether the object that shows this object is synced with the same repository."""
    installation_id: str | None = None
    """The id of the platform's integration that syncs the repository, if the response has one."""


class LiveObject(Struct, frozen=True):
    """One object of the platform.

    `holder` is the node that contains it, `source_url` the read that returned it.
    """

    kind: str
    id: str
    parent: Identity | None
    holder: Identity | None
    fields: Mapping[str, Value]
    source_url: str
    has_unique_id: bool = True
    """Whether the id is unique without the id of the parent."""
    deleted: bool = False
    """The object was deleted and can be restored."""
    url: str | None = None
    """The public URL. Never compared."""
    preview_url: str | None = None
    """The URL of the preview in the response, not validated. Never compared."""
    changed_at: str | None = None
    """The time of the last change in the response. Never compared."""
    referenced_title: str | None = None
    """The title of the object to which the title field refers, from the same API answer. Never compared."""
    synced_repository: SyncedRepository | None = None
    """The repository with which the platform syncs a part of the object."""

    @property
    def identity(self) -> Identity:
        """Return the kind and id, which identify the object everywhere.

        If ids are unique only within a parent, the id of the parent comes first: `site-1/section-2`.
        """
        return self.kind, self.id if self.has_unique_id or self.parent is None else "/".join(
            (*self.parent, self.id)
        )


class DeleteEvidence(Struct, frozen=True):
    """What dpsync read in addition, because a plan deletes an object or gives it away."""

    shown_in: Mapping[Identity, tuple[tuple[Identity, str], ...]] = field(default_factory=dict)
    """For each transferred object: the objects that show it, with their titles."""
    unreadable_dependents: Mapping[Identity, str] = field(default_factory=dict)
    """For each deleted object: a list in it, or with references to it, that the token may not read."""
    checked_objects: frozenset[Identity] = frozenset()
    """The objects for which all lists inside them, and all lists that could refer to them, were read."""


class MissingObject(Struct, frozen=True):
    """An object in the ids file that is not live, or that this token cannot see."""

    id: str
    restorable: bool = False
    """The object was deleted, and an entry that is pinned to its id restores it."""


class RecordedIds(Struct, frozen=True):
    """The ids files of the working tree and of the git base, for the declared organizations."""

    lines: Mapping[Address, RecordedLine] = field(default_factory=dict)
    """The lines of the working tree by address, also of removed entries."""
    base_lines: Mapping[Address, RecordedLine] = field(default_factory=dict)
    """The lines of the git base by address."""
    organizations_without_lines: frozenset[Address] = frozenset()
    """The organizations that have no line in the working tree."""

    def has_no_lines(self, organization: Address) -> bool:
        """Return whether an organization has no line, neither in the ids file nor in that of the git base."""
        return organization in self.organizations_without_lines and all(
            address.organization != organization for address in self.base_lines
        )

    @property
    def changed_lines(self) -> list[tuple[RecordedLine, RecordedLine]]:
        """Return the lines that differ from the git base, as pairs of old and new line, by address."""
        return [
            (self.base_lines[address], line)
            for address, line in sorted(self.lines.items())
            if not line.has_same_ids(self.base_lines.get(address, line))
        ]


class Snapshot(Struct, frozen=True):
    """Everything that was read from the platform for one configuration."""

    objects: Mapping[Identity, LiveObject]
    matches: Mapping[Address, Match]
    scopes: Mapping[Address, tuple[Identity, ...]]
    """The live objects in each declared scope, in live order."""
    sibling_order: Mapping[Identity, tuple[Identity, ...]]
    """The live order of siblings, by the object that contains them (at the root of a tree: its owner).

    Outside trees, each kind has an order of its own: the objects of one kind follow those of another.
    """
    outputs: Mapping[Address, str | None] = field(default_factory=dict)
    """The id of the object that the platform created for an entry (its output); None: not yet created."""
    output_identities: frozenset[Identity] = frozenset()
    """All outputs of objects, also of undeclared objects. They have no entries of their own."""
    token_user_id: str | None = None
    transferred_entries: frozenset[Address] = frozenset()
    """Entries whose live object is still in another parent than in the files."""
    delete_evidence: DeleteEvidence = field(default_factory=DeleteEvidence)
    requests: int = 0
    platform: str = ""
    """The URL of the platform."""
    not_readable: Mapping[Address, Unsupported] = field(default_factory=dict)
    """Declared entries that this token may not read, or that it cannot recognize for this reason."""
    not_readable_fields: Mapping[tuple[Address, str], Unsupported] = field(default_factory=dict)
    recorded_ids: RecordedIds = field(default_factory=RecordedIds)
    missing_objects: Mapping[Address, MissingObject] = field(default_factory=dict)
    """Entries whose recorded object is not live any more."""
    pages: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Page paths by page id, for each space (by id) that contains the destination page of a redirect."""
    trees_without_wrapper: frozenset[str] = frozenset()
    """Trees read without the wrapper node that the platform creates around top-level nodes."""
    prune_unsafe: Mapping[Address, Unsupported] = field(default_factory=dict)
    """Scopes in which dpsync deletes nothing, because it cannot tell which objects are undeclared."""

    not_readable_watched: Mapping[Address, Unsupported] = field(default_factory=dict)
    """Watched lists that no file declares and that this token may not read."""

    @property
    def organizations(self) -> dict[str, str]:
        """Return the key of each organization in the configuration, by organization id."""
        return {
            match.id: address.organization_key
            for address, match in self.matches.items()
            if len(address.segments) == 1
        }

    def siblings(self, holder: Identity, kind: str) -> tuple[Identity, ...]:
        """Return the objects of one kind that an object contains, in live order."""
        return tuple(identity for identity in self.sibling_order.get(holder, ()) if identity[0] == kind)

    def ancestors(self, live_object: LiveObject) -> list[Identity]:
        """Return the parent of an object, the parent's parent, and so on up to the organization."""
        chain: list[Identity] = []
        parent = live_object.parent
        while parent is not None:
            chain.append(parent)
            parent = self.objects[parent].parent
        return chain

    def reference_id(self, address: Address) -> str | None:
        """Return the id to send for a reference to an entry: its output's id, or else its own id."""
        return self.outputs[address] if address in self.outputs else self.live_id(address)

    def live_id(self, address: Address) -> str | None:
        """Return the id of the live object of an entry; None if the entry has none."""
        match = self.matches.get(address)
        return match.id if match else None
