"""Decide what happens to each object: create, change, delete, keep or block.

Input: `Sides` (files and live objects). Output: `Decisions`, which later stages only read. Also here:
`Nesting`: objects inside others of the same kind, such as collections in collections. Declared objects are
where their entry says, all others where they are live. A collection inside itself is an error.
`Transfers`: objects that move to another organization. One call moves an object with all its contents; dpsync
never deletes and re-creates it. GitBook does not transfer an object that a site shows.
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
from dpsync.planner.exclusive_flags import ExclusiveFlags, inherited_values_to_write
from dpsync.planner.names import Names
from dpsync.planner.restructuring import Restructuring, decide_restructuring
from dpsync.planner.sides import Sides

AddressOrIdentity = Address | Identity
"""The address of a declared object, or the identity of another object."""
StaysInPlace = Callable[[Address, Field], bool]


def self_nesting_fields(registry: Registry) -> Iterator[tuple[Kind, Field]]:
    """Yield each kind whose objects can be inside others of the same kind, with the field for the container.

    An example is a collection with the field that refers to the collection around it.
    """
    for kind in registry.in_dependency_order:
        yield from ((kind, field) for other, field in registry.place_fields(kind.name) if other is kind)


class Nesting(Struct, frozen=True):
    """Find out which objects of one kind will contain each other, such as collections in collections.

    `place_field` is the field that refers to the container. `stays_in_place` returns whether an entry is not
    moved, whatever container it declares.
    """

    sides: Sides
    kind: Kind
    place_field: Field
    stays_in_place: StaysInPlace
    _containers: dict[AddressOrIdentity, AddressOrIdentity | None] = struct_field(default_factory=dict)

    def container(self, object_key: AddressOrIdentity) -> AddressOrIdentity | None:
        """Return the object that will contain an object; None at the top and for a deleted object.

        That is the declared container, or the live one if the entry does not declare a container, is not
        selected, or is not moved. The results are cached.
        """
        if object_key in self._containers:
            return self._containers[object_key]
        sides, name = self.sides, self.place_field.name
        source: Entry | LiveObject | None
        if isinstance(object_key, Address):
            source = sides.live(object_key)
            entry = sides.entries.get(object_key)
            if (
                entry is not None
                and name in entry.fields
                and not sides.policy.is_unselected(object_key)
                and not self.stays_in_place(object_key, self.place_field)
            ):
                source = entry
        else:
            source = sides.snapshot.objects.get(object_key)
        container: AddressOrIdentity | None = None
        if source is not None:
            value = sides.values.with_references(self.place_field, source.fields.get(name), source)
            if isinstance(value, Ref):
                container = value.address
            elif isinstance(value, LiveId):
                container = (self.kind.name, value.id)
        self._containers[object_key] = container
        return container

    def containers(self, object_key: AddressOrIdentity) -> Iterator[AddressOrIdentity]:
        """Yield all objects that will contain an object, innermost first; in a circle each once."""
        seen: set[AddressOrIdentity] = {object_key}
        container = self.container(object_key)
        while container is not None and container not in seen:
            seen.add(container)
            yield container
            container = self.container(container)

    def cycles(self) -> Iterator[tuple[AddressOrIdentity, ...]]:
        """Yield every cycle once: each object is inside the next one, and the last one inside the first.

        A cycle begins with an entry that declares in what it is, because the user can change that entry.
        """
        entries = self.sides.entries
        addresses: list[AddressOrIdentity] = [
            address for address in sorted(entries) if entries[address].kind == self.kind.name
        ]
        for circle in find_simple_cycles(addresses, self.container):
            declared = [object_key for object_key in circle if isinstance(object_key, Address)]
            with_place = [address for address in declared if self.place_field.name in entries[address].fields]
            yield rotated_to(min(with_place or declared), circle)


class Transfers(Struct, frozen=True):
    """The objects that a plan transfers to another organization, each with all its contents."""

    transferred: Mapping[Identity, Address]
    """Every transferred object, with the address of its entry."""
    contents: Mapping[Identity, tuple[LiveObject, ...]]
    """By transferred object: all objects inside."""
    requested_entries: tuple[Address, ...]
    """The entries that need a call of their own: those that no other transfer takes along."""

    def transferred_inside(self, identity: Identity) -> list[Address]:
        """Return the transferred entries inside a transferred object."""
        return [
            self.transferred[content.identity]
            for content in self.contents[identity]
            if content.identity in self.transferred
        ]

    @property
    def all_transferred(self) -> list[Identity]:
        """Return every transferred object and all contents. No site may show any of these."""
        contents = {live.identity for items in self.contents.values() for live in items}
        return sorted({*self.transferred} | contents)


def find_transfers(sides: Sides) -> Transfers:
    """Return the objects to transfer to another organization: those with another live parent than declared.

    An object inside another transferred object needs no call of its own if both get the same parent.
    """
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
    requested = tuple(
        address for identity, address in transferred.items() if identity not in transferred_along
    )
    return Transfers(transferred, contents, requested)


def _owner(names: Names, address: Address) -> Address | None:
    """Return the parent of an entry: after a transfer, the organization to which it moves."""
    return names.desired.entries[address].parent


def transfer_difference(names: Names, address: Address, cause: Cause | None) -> Difference:
    """Return the change of an object's parent by a transfer as a difference, such as acme → beta."""
    live, entry = names.snapshot.objects[names.identities[address]], names.desired.entries[address]
    assert live.parent is not None
    assert entry.parent is not None
    before, after = names.address(live.parent), entry.parent
    return Difference(field=live.parent[0], before=str(before), after=str(after), cause=cause)


def transfer_refusals(names: Names, transfers: Transfers) -> Iterator[Refusal]:
    """Yield refusals for transfers that the platform rejects or that would move other declared objects.

    The platform does not transfer an object that a site shows. A transfer moves all contents, so contents
    that the files declare in the old organization refuse the plan.
    """
    for identity, address in transfers.transferred.items():
        yield from _shown_refusals(names, identity, address)
        for live in transfers.contents[identity]:
            declared_address = names.declared.get(live.identity)
            if declared_address is None or declared_address in names.snapshot.transferred_entries:
                yield from _shown_refusals(names, live.identity, address)
                continue
            yield ALSO_TRANSFERRED.refusal(address, stays=declared_address, owner=_owner(names, address))


def _shown_refusals(names: Names, identity: Identity, address: Address) -> Iterator[Refusal]:
    """Yield a refusal for each site that shows a transferred object.

    Args:
        names: The addresses of the live objects, and what was read about the sites that show them.
        identity: The object that a site may show: the transferred object or one of its contents.
        address: The entry of the transferred object.
    """
    for shown_in, title in names.snapshot.delete_evidence.shown_in.get(identity, ()):
        where = names.declared.get(shown_in) or title
        yield SHOWN.refusal(address, where=where, what=names.address(identity))


def transfer_notes(names: Names, transfers: Transfers) -> Iterator[Note]:
    """Yield notes about what follows from the transfer of objects to another organization.

    Contents are transferred together with an object, and GitBook removes all roles on it.
    """
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
    """The actions (`PlatformWork.user_actions`) that the user asked for in this run."""


class Decisions(Struct, frozen=True):
    """All decisions of a plan: what happens to each entry and object. Later parts only read them."""

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
    """Decide what happens to each entry and object.

    `sides` contains the files and the live objects. The function is pure: equal sides give equal decisions.
    """
    return _Decider(sides).decide()


class _Decider:
    """Decide about each entry, and collect notes, blocked fields and requested answers on the way."""

    def __init__(self, sides: Sides) -> None:
        """Decide what does not depend on single entries: restructurings, blocked entries and deletes."""
        self.sides = sides
        self.restructuring = decide_restructuring(sides)
        self.blocker = Blocker(sides, self.restructuring)
        self.deletions = decide_deletions(sides, self.restructuring)
        # The first child of each new entry whose create request also creates that child.
        self.created_with_parent = frozenset(
            entry.children[0]
            for entry in sides.entries.values()
            if getattr(sides.kind(entry).create, "first_child_id_path", None)
            and entry.children
            and sides.live(entry.address) is None
        )
        self.hidden_creation = HiddenCreation(sides, self.created_with_parent)
        self.differences_by_entry: dict[Address, tuple[FieldChange, ...]] = {}
        self.notes: list[Note] = []
        self.waiting: list[Waiting] = []
        self.trouble: list[PlatformTrouble] = []
        self.accepted: list[PlatformTrouble] = []
        self.unverifiable: list[str] = []
        self.requested_answers: set[Answer] = set()

    def decide(self) -> Decisions:
        """Return all decisions: about entries, and about deletes, transfers, blocked entries and flags."""
        decisions = {decision.entry.address: decision for decision in self._decide_entries()}
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
        """Yield the decision about each entry that is neither blocked nor ignored, parents before children.

        Also store the differences between files and live object of each entry, blocked ones included.
        """
        rank = {kind.name: index for index, kind in enumerate(self.sides.registry.in_dependency_order)}
        created_first = set(self.blocker.created_first.values())
        has_send_answers = self.sides.answers.contains_words(SEND)
        # Sorting is stable: entries of one kind stay sorted by address.
        for entry in sorted(self.sides.entries.values(), key=lambda entry: rank[entry.kind]):
            live = self.sides.live(entry.address)
            if entry.address in created_first:
                # Create the object outside its container, which does not exist yet.
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
                self.requested_answers.update(resend_answers(self.sides, entry) if has_send_answers else ())
            if not self.blocker.is_entry_blocked(entry.address):
                yield self._decide_new(entry) if live is None else self._decide_live(entry, live)

    def _decisions_to_write_inherited(
        self, decisions: Mapping[Address, EntryDecision]
    ) -> Iterator[tuple[Address, EntryDecision]]:
        """Yield changed decisions about entries that must be written because an inherited value changes.

        An entry that declares the old inherited value needs no write so far. If the plan changes the value
        that the entry inherits, the entry must get the declared value as its own.
        """
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
                yield (
                    address,
                    replace(
                        decision,
                        display=(*decision.display, *own_values),
                        separately_written=(*decision.separately_written, *own_values),
                    ),
                )

    def _decide_new(self, entry: Entry) -> EntryDecision:
        """Return the decision to create the object of an entry.

        Fields that the create request does not send are written separately, unless they are blocked. A hidden
        object is shown by the last of these requests.
        """
        changes, kind = fields_of_new_object(self.sides, entry), self.sides.kind(entry)
        sent_fields = self.hidden_creation.fields_in_create(entry)
        hiding_field = self.hidden_creation.hiding_field(entry)
        unsent = [
            change
            for change in changes
            if change.field.written_in != "create" and change.field.name not in sent_fields
        ]
        unblocked = [
            change for change in unsent if not self.blocker.block_field_if_needed(entry, change.field)
        ]
        written = [
            change
            for change in unblocked
            if change.field.own_call is None or self._has_call_for(entry, change)
        ]
        has_create_request = entry.address not in self.created_with_parent and not kind.exists_with_parent
        if hiding_field is not None:
            written = [change for change in written if change.field is not hiding_field]
            written += show_changes(entry, hiding_field)
        return EntryDecision(entry, None, tuple(changes), tuple(written), has_create_request, hiding_field)

    def _decide_live(self, entry: Entry, live: LiveObject) -> EntryDecision:
        """Return the decision about an entry with a live object: which differences to write, and actions.

        An object that a stopped apply left hidden is shown. If its parent is unfinished, the object stays
        hidden until the parent is shown.
        """
        self._note_unreadable_values(entry, live)
        self._note_platform_state(entry, live)
        compared = self.differences_by_entry[entry.address]
        written = [change for change in compared if self._can_write(entry, change)]
        field_hiding_unfinished = self.hidden_creation.field_hiding_unfinished(entry, live)
        hiding_field = self.hidden_creation.field_hiding_child_of_unfinished(entry, live)
        if field_hiding_unfinished is not None:
            written += show_changes(entry, field_hiding_unfinished)
        is_included = any(change.field is hiding_field for change in written)
        shown_later: tuple[FieldChange, ...] = ()
        if hiding_field is not None and not is_included:
            shown_later = show_changes(entry, hiding_field)
        user_actions = []
        for action in self.sides.kind(entry).platform_work.user_actions:
            answer = Answer(action, str(entry.address))
            self.requested_answers.add(answer)
            if self.sides.answers.contains(answer) and not self.sides.options.proof:
                user_actions.append(action)
        return EntryDecision(
            entry,
            live,
            tuple(written),
            (*written, *shown_later),
            user_actions=tuple(user_actions),
            hiding_field=hiding_field,
            is_unfinished=field_hiding_unfinished is not None or hiding_field is not None,
        )

    def _note_platform_state(self, entry: Entry, live: LiveObject) -> None:
        """Record that GitBook is still processing a live object, or reports a problem (`trouble`) with it.

        If GitBook could not process a declared value, and this plan does not send the value, add a hint
        how to send the value again. Problems that the policy accepts are recorded separately.
        """
        kind = self.sides.kind(entry)
        work = kind.platform_work
        field = work.processed_field if work.processed_field in entry.fields else None
        if work.busy is not None and kind.is_busy(live.fields):
            text = f"GitBook is still processing this object ({live.fields[work.busy.field]})"
            self.waiting.append(Waiting(address=str(entry.address), what=text, field=field))
        trouble = work.trouble
        if trouble is not None and (problem := kind.reported_problem(live.fields)) is not None:
            differences = self.differences_by_entry[entry.address]
            if field is not None and not any(change.field.name == field for change in differences):
                unreadable = unreadable_part(kind, kind.field(field), entry.fields[field], live)
                is_compared = unreadable is None or self.sides.names.base_entry(entry, live) is not None
                flag = Answer(SEND, str(entry.address.field(field))).flag
                cannot_compare = "" if is_compared else ". dpsync cannot compare the value"
                problem += f"{cannot_compare}. To send the value again, add {flag}"
            accepted = self.sides.policy.current.accepts(entry.address, trouble.field)
            problems = self.accepted if accepted else self.trouble
            problems.append(PlatformTrouble(address=str(entry.address), what=problem, field=field))

    # What can be written.

    def _can_write(self, entry: Entry, change: FieldChange) -> bool:
        """Return whether dpsync can write a changed field of a live object.

        Block the field if the API cannot write the value, so that a person must do it. An exclusive flag
        (which exactly one object has) is never taken away, only given to another object.
        """
        field = change.field
        if self.blocker.block_field_if_needed(entry, field):
            return False
        if field.written_in == "create" and field.own_call is None:
            return False  # planner/guards.py refuses the plan.
        if field.exclusive_within and change.after is not True:
            owner = self.sides.hierarchy.ancestor(entry, field.exclusive_within)
            if (entry.kind, field.name, owner) not in self._places_with_declared_flag:
                self._note_required_flag(entry, field)
            return False
        if change.after is None and field.null_effect == "by hand":
            todo = f"clear {field.name} in GitBook, or remove {field.name} from the entry"
            self.blocker.block_field(entry, field, f"the API cannot clear {field.name}", todo)
            return False
        return field.own_call is None or self._has_call_for(entry, change)

    @cached_property
    def _places_with_declared_flag(self) -> set[tuple[str, str, Address | None]]:
        """Return where an entry declares `true` for an exclusive flag, which only one object can have.

        Each item consists of the entry's kind, the name of the flag, and the ancestor in which only one
        object can have the flag.
        """
        return {
            (other.kind, field.name, self.sides.hierarchy.ancestor(other, field.exclusive_within))
            for other in self.sides.entries.values()
            for field in self.sides.kind(other).fields
            if field.exclusive_within is not None and other.fields.get(field.name) is True
            if not self.sides.policy.is_unselected(other.address)
        }

    def _note_required_flag(self, entry: Entry, flag: Field) -> None:
        """Block the removal of an exclusive flag, because one object must always have the flag."""
        noun = self.sides.kind(entry).noun
        reason = f"one {noun} must always have {flag.name}: true"
        self.blocker.block_field(entry, flag, reason, f"set {flag.name}: true on another {noun}")

    def _has_call_for(self, entry: Entry, change: FieldChange) -> bool:
        """Return whether the API has a call that sets a field to its new value; if not, block the field.

        The user then has to change the field in GitBook, or to remove it from the entry.
        """
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
        """Add a note for each value of a live entry that the platform does not return.

        dpsync can compare such a value only with the git base (the commit compared with). In the plan that
        verifies the result of an apply, a value that differs from the base is recorded as unverifiable.
        """
        kind = self.sides.kind(entry)
        for field in kind.write_only_fields:
            if unreadable_part(kind, field, entry.fields.get(field.name), live) is None:
                continue
            address = str(entry.address.field(field.name))
            text = "GitBook does not return this value"
            if self.sides.names.base_entry(entry, live) is not None:
                text += ", so dpsync compares the value only with an earlier commit"
            else:
                if self.sides.base.desired is not None:
                    text += ", and the value is not in the commit that dpsync compares with"
                text += ", so dpsync cannot compare the value. To send the value again, add "
                text += Answer(SEND, address).flag
            self.notes.append(Note(address=address, text=text, permanent=True))
            if self.sides.options.proof and differs_from_base(self.sides, entry, field, live):
                self.unverifiable.append(address)
