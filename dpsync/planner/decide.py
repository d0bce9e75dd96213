"""Decide what happens to each object: create, change, delete, keep or block.

`decide` returns `Decisions`, the stage between both sides and the steps: later stages ask it and decide
nothing again. It is pure. Two more topics are here:

- `Nesting`: chains of objects of one kind inside each other (a collection in a collection). Declared objects
  are where their entry says, all others where they are live. A chain that leads back is an error.
- `Transfers`: objects that move to another organization. One call moves an object with all its contents;
  dpsync never deletes and re-creates it. The platform does not transfer an object that a site shows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property

from msgspec import Struct
from msgspec import field as struct_field
from msgspec.structs import replace

from dpsync.kinds.kind import Field, Kind
from dpsync.kinds.registry import Registry
from dpsync.model.address import Address
from dpsync.model.change import Cause, Difference, Note, PlatformTrouble, Waiting
from dpsync.model.cycles import find_simple_cycles, rotated_to
from dpsync.model.desired import Entry
from dpsync.model.question import Refusal
from dpsync.model.refusals import ALSO_TRANSFERRED, SHOWN
from dpsync.model.snapshot import Identity, LiveObject
from dpsync.model.values import REF_MARKER, LiveId, Ref
from dpsync.planner.answers import SEND, Answer
from dpsync.planner.blocks import Blocker, Blocking
from dpsync.planner.compare import (
    FieldChange,
    changed_fields,
    differs_from_base,
    fields_of_new_object,
    inherited_from,
    resend_answers,
    unreadable_part,
)
from dpsync.planner.create_hidden import HiddenCreation, show_changes
from dpsync.planner.deletions import Deletions, decide_deletions
from dpsync.planner.exclusive import ExclusiveFlags, inherited_values_to_write
from dpsync.planner.history import Names
from dpsync.planner.restructuring import Restructuring, decide_restructuring
from dpsync.planner.sides import Sides

AddressOrIdentity = Address | Identity
"""The address of a declared object, or the identity of another object."""
StaysInPlace = Callable[[Address, Field], bool]


def self_nesting_fields(registry: Registry) -> Iterator[tuple[Kind, Field]]:
    """Yield each kind whose objects can be inside others of the same kind, with the field that says so."""
    for kind in registry.in_dependency_order:
        yield from ((kind, field) for other, field in registry.place_fields(kind.name) if other is kind)


class Nesting(Struct, frozen=True):
    """The chains of one kind.

    `stays_in_place` returns whether an entry is not moved, whatever it declares.
    """

    sides: Sides
    kind: Kind
    place_field: Field
    stays_in_place: StaysInPlace
    _containers: dict[AddressOrIdentity, AddressOrIdentity | None] = struct_field(default_factory=dict)

    def container(self, object_key: AddressOrIdentity) -> AddressOrIdentity | None:
        """Return the object that will contain an object; None at the top and for a deleted object."""
        if object_key not in self._containers:
            self._containers[object_key] = self._find_container(object_key)
        return self._containers[object_key]

    def containers(self, object_key: AddressOrIdentity) -> Iterator[AddressOrIdentity]:
        """Yield all objects that will contain an object, innermost first; in a circle each once."""
        seen: set[AddressOrIdentity] = {object_key}
        holder = self.container(object_key)
        while holder is not None and holder not in seen:
            seen.add(holder)
            yield holder
            holder = self.container(holder)

    def cycles(self) -> Iterator[tuple[AddressOrIdentity, ...]]:
        """Yield every circle once: each item is inside the next one, the last one inside the first.

        A circle begins with an entry that declares its place, because the user can change that entry.
        """
        resources = self.sides.entries
        addresses: list[AddressOrIdentity] = [
            name for name in sorted(resources) if resources[name].kind == self.kind.name
        ]
        for circle in find_simple_cycles(addresses, self.container):
            entries = [item for item in circle if isinstance(item, Address)]
            with_place = [
                address for address in entries if self.place_field.name in resources[address].fields
            ]
            yield rotated_to(min(with_place or entries), circle)

    def _find_container(self, object_key: AddressOrIdentity) -> AddressOrIdentity | None:
        sides, name = self.sides, self.place_field.name
        if isinstance(object_key, Address):
            entry, live = sides.entries.get(object_key), sides.live(object_key)
            if (
                entry is not None
                and name in entry.fields
                and not sides.policy.is_unselected(object_key)
                and not self.stays_in_place(object_key, self.place_field)
            ):
                return self._as_item(
                    sides.values.with_references(self.place_field, entry.fields[name], entry)
                )
        else:
            live = sides.snapshot.objects.get(object_key)
        return (
            self._as_item(sides.values.with_references(self.place_field, live.fields.get(name), live))
            if live
            else None
        )

    def _as_item(self, value: object) -> AddressOrIdentity | None:
        if isinstance(value, Ref):
            return value.address
        return (self.kind.name, value.id) if isinstance(value, LiveId) else None


class Transfers(Struct, frozen=True):
    """The objects that a plan transfers to another organization."""

    transferred: Mapping[Identity, Address]
    """Every transferred object, with the address of its entry."""
    contents: Mapping[Identity, tuple[LiveObject, ...]]
    """By transferred object: everything inside of it."""
    requested_entries: tuple[Address, ...]
    """The entries that need a call of their own, so without those that another transfer takes along."""

    def transferred_inside(self, identity: Identity) -> list[Address]:
        """Return the transferred entries inside a transferred object."""
        return [
            self.transferred[content.identity]
            for content in self.contents[identity]
            if content.identity in self.transferred
        ]

    @property
    def all_transferred(self) -> list[Identity]:
        """Return every transferred object with its contents; no site may show any of these."""
        contents = {live.identity for items in self.contents.values() for live in items}
        return sorted({*self.transferred} | contents)


def find_transfers(sides: Sides) -> Transfers:
    """Return the objects to transfer: those whose live parent differs from the parent of their entry."""
    transferred = {
        live.identity: address
        for address in sorted(sides.snapshot.transferred_entries)
        if (live := sides.live(address)) is not None and not sides.policy.is_ignored(address)
    }
    contents = {identity: tuple(sides.hierarchy.contents(identity)) for identity in transferred}
    transferred_along = {
        live.identity
        for identity, address in transferred.items()
        for live in contents[identity]
        if live.identity in transferred
        and _owner(sides.names, transferred[live.identity]) == _owner(sides.names, address)
    }
    calls = tuple(address for identity, address in transferred.items() if identity not in transferred_along)
    return Transfers(transferred, contents, calls)


def _owner(names: Names, address: Address) -> Address | None:
    """Return the parent of an entry."""
    return names.desired.entries[address].parent


def transfer_difference(names: Names, address: Address, cause: Cause | None) -> Difference:
    """Return the change of owner as a difference."""
    live, entry = names.snapshot.objects[names.identities[address]], names.desired.entries[address]
    assert live.parent is not None
    assert entry.parent is not None
    before, after = names.address(live.parent), entry.parent
    return Difference(field=live.parent[0], before=str(before), after=str(after), cause=cause)


def transfer_refusals(names: Names, transfers: Transfers) -> Iterator[Refusal]:
    """Yield refusals for objects that the platform does not transfer, and for contents declared to stay."""
    for identity, address in transfers.transferred.items():
        yield from _shown_refusals(names, identity, address)
        for live in transfers.contents[identity]:
            kept_address = _kept_address(names, live.identity)
            if kept_address is None:
                yield from _shown_refusals(names, live.identity, address)
                continue
            yield ALSO_TRANSFERRED.refusal(address, stays=kept_address, owner=_owner(names, address))


def _kept_address(names: Names, identity: Identity) -> Address | None:
    """Return the address of an object that is declared to stay where it is, None for other objects."""
    address = names.declared.get(identity)
    return address if address not in names.snapshot.transferred_entries else None


def _shown_refusals(names: Names, identity: Identity, address: Address) -> Iterator[Refusal]:
    """Yield a refusal for each site that shows a transferred object."""
    for shown_in, title in names.snapshot.delete_evidence.shown_in.get(identity, ()):
        where = names.declared.get(shown_in) or title
        yield SHOWN.refusal(address, where=where, what=names.address(identity))


def transfer_notes(names: Names, transfers: Transfers) -> Iterator[Note]:
    """Yield notes about undeclared contents that are transferred too, and about roles that are lost."""
    for identity, address in transfers.transferred.items():
        for live in transfers.contents[identity]:
            declared_address = names.declared.get(live.identity)
            if declared_address is None:
                text = f"{names.address(live.identity)} is inside this object and is transferred, too"
                yield Note(address=str(address), text=text, consequence=True)
            elif declared_address in names.snapshot.transferred_entries:
                text = f"this object is inside {address} and is transferred, too"
                yield Note(address=str(declared_address), text=text, consequence=True)
    for address in transfers.requested_entries:
        text = "GitBook removes all roles on this object, and dpsync sets the roles in your files again"
        yield Note(address=str(address), text=text, consequence=True)


class EntryDecision(Struct, frozen=True):
    """The decision about one entry that is neither blocked nor ignored."""

    entry: Entry
    live: LiveObject | None
    """The live object; None if the plan creates it."""
    display: tuple[FieldChange, ...] = ()
    """The differences that a plan shows."""
    separately_written: tuple[FieldChange, ...] = ()
    """The differences with requests of their own; for a new object, those that the create request lacks."""
    has_create_request: bool = False
    """Whether a request of its own creates the object, not the request for its parent."""
    hiding_field: Field | None = None
    """The field that hides the object at first, until a later request sets the rest and shows it."""
    is_unfinished: bool = False
    """Whether the object is live and still hidden: an apply was stopped, or its parent is not shown yet."""
    user_actions: tuple[str, ...] = ()
    """The acts that the user asked for."""


class Decisions(Struct, frozen=True):
    """All decisions about one pair of sides."""

    sides: Sides
    restructuring: Restructuring
    transfers: Transfers
    deletions: Deletions
    blocking: Blocking
    exclusive: ExclusiveFlags
    entries: Mapping[Address, EntryDecision]
    """The decisions in the order in which objects are created: parents first, otherwise by address."""
    differences_by_entry: Mapping[Address, tuple[FieldChange, ...]]
    """By live entry: every declared field that differs, including fields that no request can change."""
    hidden_creation: HiddenCreation
    created_with_parent: frozenset[Address] = frozenset()
    """Entries that the request for their parent creates, too."""
    notes: tuple[Note, ...] = ()
    waiting: tuple[Waiting, ...] = ()
    trouble: tuple[PlatformTrouble, ...] = ()
    accepted: tuple[PlatformTrouble, ...] = ()
    """The platform problems that the policy accepts; `trouble` contains all others."""
    unverifiable: tuple[str, ...] = ()
    """Fields that cannot be read back and whose value differs in the git base."""
    requested_answers: frozenset[Answer] = frozenset()
    """The answers that the questions of this stage ask for."""


def decide(sides: Sides) -> Decisions:
    """Decide about everything. Pure: the same two sides give the same decisions."""
    return _Decider(sides).decide()


def _children_created_with_parent(sides: Sides) -> Iterator[Address]:
    """Yield the first child of each new entry whose create request also creates that child."""
    for entry in sides.entries.values():
        also_creates = getattr(sides.kind(entry).create, "first_child_id_path", None)
        if also_creates and entry.children and sides.live(entry.address) is None:
            yield entry.children[0]


class _Decider:
    """Make the decisions about one pair of sides."""

    def __init__(self, sides: Sides) -> None:
        self.sides = sides
        self.restructuring = decide_restructuring(sides)
        self.blocker = Blocker(sides, self.restructuring)
        self.deletions = decide_deletions(sides, self.restructuring)
        self.created_with_parent = frozenset(_children_created_with_parent(sides))
        self.hidden_creation = HiddenCreation(sides, self.created_with_parent)
        self.differences_by_entry: dict[Address, tuple[FieldChange, ...]] = {}
        self.notes: list[Note] = []
        self.waiting: list[Waiting] = []
        self.trouble: list[PlatformTrouble] = []
        self.accepted: list[PlatformTrouble] = []
        self.unverifiable: list[str] = []
        self.requested_answers: set[Answer] = set()

    def decide(self) -> Decisions:
        decisions = {entry.entry.address: entry for entry in self._decide_entries()}
        decisions.update(self._decisions_to_write_inherited(decisions))
        exclusive = ExclusiveFlags(
            self.sides, self.deletions.deletes, lambda entry: self.blocker.is_entry_blocked(entry.address)
        )
        for entry, flag in exclusive.entries_forced_to_have_flag():
            self._note_required_flag(entry, flag)
        blocking = self.blocker.blocking()
        return Decisions(
            sides=self.sides,
            restructuring=self.restructuring,
            transfers=find_transfers(self.sides),
            deletions=self.deletions,
            blocking=blocking,
            exclusive=exclusive,
            entries=decisions,
            differences_by_entry=self.differences_by_entry,
            hidden_creation=self.hidden_creation,
            created_with_parent=self.created_with_parent,
            notes=tuple(self.notes),
            waiting=tuple(self.waiting),
            trouble=tuple(self.trouble),
            accepted=tuple(self.accepted),
            unverifiable=tuple(self.unverifiable),
            requested_answers=self.restructuring.requested_answers
            | blocking.requested_answers
            | self.requested_answers,
        )

    def _decide_entries(self) -> Iterator[EntryDecision]:
        rank = {kind.name: index for index, kind in enumerate(self.sides.registry.in_dependency_order)}
        resources = self.sides.entries.values()
        created_first, resends = (
            set(self.blocker.created_first.values()),
            self.sides.answers.contains_words(SEND),
        )
        for entry in sorted(resources, key=lambda item: rank[item.kind]):  # they come by address
            live = self.sides.live(entry.address)
            if entry.address in created_first:
                # The object that will contain this one does not exist yet.
                kind = self.sides.kind(entry)
                fields = {
                    name: value
                    for name, value in entry.fields.items()
                    if not kind.field(name).is_parent_reference
                }
                yield EntryDecision(
                    replace(entry, fields=fields),
                    None,
                    tuple(fields_of_new_object(self.sides, entry)),
                    has_create_request=True,
                    hiding_field=self.hidden_creation.hiding_field(entry),
                )
                continue
            if self.sides.policy.is_ignored(entry.address):
                continue
            if live is not None:
                self.differences_by_entry[entry.address] = tuple(changed_fields(self.sides, entry, live))
                self.requested_answers.update(resend_answers(self.sides, entry) if resends else ())
            if not self.blocker.is_entry_blocked(entry.address):
                yield self._decide_new(entry) if live is None else self._decide_live(entry, live)

    def _decisions_to_write_inherited(
        self, decisions: Mapping[Address, EntryDecision]
    ) -> Iterator[tuple[Address, EntryDecision]]:
        """Yield the entries that must get their own value, because the value that they inherit changes."""
        if all(kind.inherits_from_kind is None for kind in self.sides.registry.in_dependency_order):
            return
        for address, decision in decisions.items():
            source = decisions.get(inherited_from(self.sides, decision.entry) or address)
            if decision.live is None or source is None or source is decision or source.live is None:
                continue
            written_fields = {change.field.name for change in self.differences_by_entry[address]}
            own_values = tuple(
                change
                for change in inherited_values_to_write(
                    self.sides, decision.entry, decision.live, source.separately_written, written_fields
                )
                if self._can_write(decision.entry, change)
            )
            if own_values:
                displayed, written = (
                    (*decision.display, *own_values),
                    (*decision.separately_written, *own_values),
                )
                yield address, replace(decision, display=displayed, separately_written=written)

    def _decide_new(self, entry: Entry) -> EntryDecision:
        """Return the decision about an entry that is not live."""
        changes, kind = fields_of_new_object(self.sides, entry), self.sides.kind(entry)
        sent_fields = self.hidden_creation.fields_in_create(entry)
        hiding_field = self.hidden_creation.hiding_field(entry)
        later = [
            change
            for change in changes
            if change.field.written_in != "create" and change.field.name not in sent_fields
        ]
        unblocked = [
            change for change in later if not self.blocker.block_field_if_needed(entry, change.field)
        ]
        written = [
            change
            for change in unblocked
            if change.field.own_call is None or self._has_call_for(entry, change)
        ]
        created = entry.address not in self.created_with_parent and not kind.exists_with_parent
        if hiding_field is not None:
            written = [change for change in written if change.field is not hiding_field]
            written += show_changes(entry, hiding_field)
        return EntryDecision(entry, None, tuple(changes), tuple(written), created, hiding_field)

    def _decide_live(self, entry: Entry, live: LiveObject) -> EntryDecision:
        """Return the decision about a live entry."""
        self._note_unreadable_values(entry, live)
        self._note_platform_state(entry, live)
        compared = self.differences_by_entry[entry.address]
        written = [change for change in compared if self._can_write(entry, change)]
        unfinished = self.hidden_creation.field_hiding_unfinished(entry, live)
        hiding_field = self.hidden_creation.field_hiding_child_of_unfinished(entry, live)
        if unfinished is not None:
            written += show_changes(entry, unfinished)
        is_included = any(change.field is hiding_field for change in written)
        shown_later = (
            show_changes(entry, hiding_field) if hiding_field is not None and not is_included else ()
        )
        return EntryDecision(
            entry,
            live,
            tuple(written),
            (*written, *shown_later),
            user_actions=tuple(self._requested_user_actions(entry)),
            hiding_field=hiding_field,
            is_unfinished=unfinished is not None or hiding_field is not None,
        )

    def _requested_user_actions(self, entry: Entry) -> Iterator[str]:
        """Yield the acts that the user asks for in this run; they come after all changes of the object."""
        for word in self.sides.kind(entry).platform_work.user_actions:
            answer = Answer(word, str(entry.address))
            self.requested_answers.add(answer)
            if self.sides.answers.contains(answer) and not self.sides.options.proof:
                yield word

    def _note_platform_state(self, entry: Entry, live: LiveObject) -> None:
        """Note an object that the platform is still processing, and a problem that the platform reports."""
        kind = self.sides.kind(entry)
        field = (
            kind.platform_work.processed_field if kind.platform_work.processed_field in entry.fields else None
        )
        if kind.platform_work.busy is not None and kind.is_busy(live.fields):
            text = f"GitBook is still processing this object ({live.fields[kind.platform_work.busy.field]})"
            self.waiting.append(Waiting(address=str(entry.address), what=text, field=field))
        trouble = kind.platform_work.trouble
        if trouble is not None and (problem := kind.reported_problem(live.fields)) is not None:
            if field is not None:
                problem += self._resend_hint(entry, kind.field(field), live)
            accepted = self.sides.policy.current.accepts(entry.address, trouble.field)
            problems = self.accepted if accepted else self.trouble
            problems.append(PlatformTrouble(address=str(entry.address), what=problem, field=field))

    def _resend_hint(self, entry: Entry, field: Field, live: LiveObject) -> str:
        """Return the hint how to resend a value whose processing failed, "" if this plan sends the value."""
        if any(change.field is field for change in self.differences_by_entry[entry.address]):
            return ""
        unknown = unreadable_part(self.sides.kind(live), field, entry.fields[field.name], live)
        compared = unknown is None or self.sides.names.base_entry(entry, live) is not None
        flag = Answer(SEND, str(entry.address.field(field.name))).flag
        return (
            f"{'' if compared else '. dpsync cannot compare the value'}. To send the value again, add {flag}"
        )

    # What can be written.

    def _can_write(self, entry: Entry, change: FieldChange) -> bool:
        """Return whether a field can be written; note it as blocked if only a person can write it."""
        field = change.field
        if self.blocker.block_field_if_needed(entry, field):
            return False
        if field.written_in == "create" and field.own_call is None:
            return False  # refused by a guard
        if field.exclusive_within and change.after is not True:
            owner = self.sides.hierarchy.ancestor(entry, field.exclusive_within)
            if (entry.kind, field.name, owner) not in self._declared_flags:
                self._note_required_flag(entry, field)
            return False
        if change.after is None and field.null_effect == "by hand":
            todo = f"clear {field.name} in GitBook, or remove {field.name} from the entry"
            self.blocker.block_field(entry, field, f"the API cannot clear {field.name}", todo)
            return False
        return field.own_call is None or self._has_call_for(entry, change)

    @cached_property
    def _declared_flags(self) -> set[tuple[str, str, Address | None]]:
        """Return every exclusive flag that an entry declares to have: kind, name of the flag, and place."""
        return {
            (other.kind, field.name, self.sides.hierarchy.ancestor(other, field.exclusive_within))
            for other in self.sides.entries.values()
            for field in self.sides.kind(other).fields
            if field.exclusive_within is not None and other.fields.get(field.name) is True
            if not self.sides.policy.is_unselected(other.address)
        }

    def _note_required_flag(self, entry: Entry, flag: Field) -> None:
        """Note that one object must always have a flag."""
        noun = self.sides.kind(entry).noun
        reason = f"one {noun} must always have {flag.name}: true"
        self.blocker.block_field(entry, flag, reason, f"set {flag.name}: true on another {noun}")

    def _has_call_for(self, entry: Entry, change: FieldChange) -> bool:
        """Return whether a call can set a field to this value; note the field as blocked otherwise."""
        if change.field.call_for_value(change.after) is not None:
            return True
        name, value = change.field.name, self.sides.values.to_display(change.field, change.after, entry)
        if isinstance(value, dict) and set(value) == {REF_MARKER}:
            value = value[REF_MARKER]
        display = str(value).lower() if isinstance(value, bool) else value or "nothing"
        reason = f"the API cannot set {name} to {display}"
        if name in self.sides.kind(entry).unsupported_fields:
            reason = self.sides.registry.profile.missing_operation_text(f"setting {name} to {display}")
        todo = f"change {name} in GitBook, or remove {name} from the entry"
        self.blocker.block_field(entry, change.field, reason, todo)
        return False

    # What cannot be compared.

    def _note_unreadable_values(self, entry: Entry, live: LiveObject) -> None:
        """Note the values of a live entry that cannot be read back."""
        kind = self.sides.kind(entry)
        for field in kind.write_only_fields:
            unknown = unreadable_part(kind, field, entry.fields.get(field.name), live)
            if unknown is not None:
                address = str(entry.address.field(field.name))
                is_in_base = self.sides.names.base_entry(entry, live) is not None
                text = self._unreadable_note(address, is_in_base)
                self.notes.append(Note(address=address, text=text, permanent=True))
                if self.sides.options.proof and differs_from_base(self.sides, entry, field, live):
                    self.unverifiable.append(address)

    def _unreadable_note(self, address: str, is_in_base: bool) -> str:
        if is_in_base:
            return (
                "GitBook does not return this value, so dpsync compares the value only with an earlier commit"
            )
        reason = "GitBook does not return this value"
        if self.sides.base.desired is not None:
            reason += ", and the value is not in the commit that dpsync compares with"
        return (
            f"{reason}, so dpsync cannot compare the value. To send the value again, add "
            f"{Answer(SEND, address).flag}"
        )
