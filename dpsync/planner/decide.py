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

from msgspec import Struct, field
from msgspec.structs import replace

from dpsync.kinds.kind import Field, Kind
from dpsync.kinds.registry import Registry
from dpsync.model.address import Address
from dpsync.model.change import Cause, Difference, Note, PlatformTrouble, Waiting
from dpsync.model.cycles import beginning_with, circles
from dpsync.model.desired import Entry
from dpsync.model.question import Refusal
from dpsync.model.refusals import GOES_ALONG, SHOWN
from dpsync.model.snapshot import Identity, LiveObject
from dpsync.model.values import REF, LiveId, Ref
from dpsync.planner.answers import SEND, Answer
from dpsync.planner.blocks import Blocker, Blocking
from dpsync.planner.compare import (
    Changed,
    changed,
    differs_from_base,
    inherited_from,
    not_known,
    resendable,
    wanted_anew,
)
from dpsync.planner.create_hidden import HiddenCreation, showing
from dpsync.planner.deletions import Deletions, deletions
from dpsync.planner.exclusive import Exclusive, kept_as_own
from dpsync.planner.history import Names
from dpsync.planner.restructuring import Restructuring, restructuring
from dpsync.planner.sides import Sides

Item = Address | Identity
"""The address of a declared object, or the identity of another object."""
Stays = Callable[[Address, Field], bool]


def own_places(registry: Registry) -> Iterator[tuple[Kind, Field]]:
    """Yield each kind whose objects can be inside others of the same kind, with the field that says so."""
    for kind in registry.ordered:
        yield from ((kind, item) for other, item in registry.referring(kind.name) if other is kind)


class Nesting(Struct, frozen=True):
    """The chains of one kind. `stays` returns whether an entry is not moved, whatever it declares."""

    sides: Sides
    kind: Kind
    place: Field
    stays: Stays
    _known: dict[Item, Item | None] = field(default_factory=dict)

    def holder(self, item: Item) -> Item | None:
        """Return the object that will contain an object; None at the top and for a deleted object."""
        if item not in self._known:
            self._known[item] = self._find_holder(item)
        return self._known[item]

    def above(self, item: Item) -> Iterator[Item]:
        """Yield all objects that will contain an object, innermost first; in a circle each once."""
        seen: set[Item] = {item}
        holder = self.holder(item)
        while holder is not None and holder not in seen:
            seen.add(holder)
            yield holder
            holder = self.holder(holder)

    def circles(self) -> Iterator[tuple[Item, ...]]:
        """Yield every circle once: each item is inside the next one, the last one inside the first.

        A circle begins with an entry that declares its place, because the user can change that entry.
        """
        resources = self.sides.resources
        addresses: list[Item] = [name for name in sorted(resources) if resources[name].kind == self.kind.name]
        for circle in circles(addresses, self.holder):
            entries = [item for item in circle if isinstance(item, Address)]
            with_place = [item for item in entries if self.place.name in resources[item].fields]
            yield beginning_with(min(with_place or entries), circle)

    def _find_holder(self, item: Item) -> Item | None:
        sides, name = self.sides, self.place.name
        if isinstance(item, Address):
            resource, live = sides.resources.get(item), sides.live(item)
            if (
                resource is not None
                and name in resource.fields
                and not sides.policy.left_out(item)
                and not self.stays(item, self.place)
            ):
                return self._as_item(sides.values.normal(self.place, resource.fields[name], resource))
        else:
            live = sides.snapshot.objects.get(item)
        return self._as_item(sides.values.normal(self.place, live.fields.get(name), live)) if live else None

    def _as_item(self, value: object) -> Item | None:
        if isinstance(value, Ref):
            return value.address
        return (self.kind.name, value.id) if isinstance(value, LiveId) else None


class Transfers(Struct, frozen=True):
    """The objects that a plan transfers to another organization."""

    given: Mapping[Identity, Address]
    """Every transferred object, with the address of its entry."""
    inside: Mapping[Identity, tuple[LiveObject, ...]]
    """By transferred object: everything inside of it."""
    calls: tuple[Address, ...]
    """The entries that need a call of their own, so without those that another transfer takes along."""

    def given_with(self, identity: Identity) -> list[Address]:
        """Return the transferred entries inside a transferred object."""
        return [self.given[item.identity] for item in self.inside[identity] if item.identity in self.given]

    @property
    def everything(self) -> list[Identity]:
        """Return every transferred object with its contents; no site may show any of these."""
        contents = {live.identity for items in self.inside.values() for live in items}
        return sorted({*self.given} | contents)


def transfers(sides: Sides) -> Transfers:
    """Return the objects to transfer: those whose live parent differs from the parent of their entry."""
    given = {
        live.identity: address
        for address in sorted(sides.snapshot.transferred)
        if (live := sides.live(address)) is not None and not sides.policy.ignored(address)
    }
    inside = {identity: tuple(sides.lineage.inside(identity)) for identity in given}
    along = {
        live.identity
        for identity, address in given.items()
        for live in inside[identity]
        if live.identity in given
        and _owner(sides.names, given[live.identity]) == _owner(sides.names, address)
    }
    calls = tuple(address for identity, address in given.items() if identity not in along)
    return Transfers(given, inside, calls)


def _owner(names: Names, address: Address) -> Address | None:
    """Return the parent of an entry."""
    return names.desired.resources[address].parent


def transfer_difference(names: Names, address: Address, cause: Cause | None) -> Difference:
    """Return the change of owner as a difference."""
    live, resource = names.snapshot.objects[names.identities[address]], names.desired.resources[address]
    assert live.parent is not None
    assert resource.parent is not None
    before, after = names.address(live.parent), resource.parent
    return Difference(field=live.parent[0], before=str(before), after=str(after), cause=cause)


def transfer_refusals(names: Names, decided: Transfers) -> Iterator[Refusal]:
    """Yield refusals for objects that the platform does not transfer, and for contents declared to stay."""
    for identity, address in decided.given.items():
        yield from _shown_refusals(names, identity, address)
        for live in decided.inside[identity]:
            stays = _kept_address(names, live.identity)
            if stays is None:
                yield from _shown_refusals(names, live.identity, address)
                continue
            yield GOES_ALONG.at(address, stays=stays, owner=_owner(names, address))


def _kept_address(names: Names, identity: Identity) -> Address | None:
    """Return the address of an object that is declared to stay where it is, None for other objects."""
    address = names.declared.get(identity)
    return address if address not in names.snapshot.transferred else None


def _shown_refusals(names: Names, identity: Identity, address: Address) -> Iterator[Refusal]:
    """Yield a refusal for each site that shows a transferred object."""
    for shown_in, title in names.snapshot.evidence.shown_in.get(identity, ()):
        where = names.declared.get(shown_in) or title
        yield SHOWN.at(address, where=where, what=names.address(identity))


def transfer_notes(names: Names, decided: Transfers) -> Iterator[Note]:
    """Yield notes about undeclared contents that are transferred too, and about roles that are lost."""
    for identity, address in decided.given.items():
        for live in decided.inside[identity]:
            given = names.declared.get(live.identity)
            if given is None:
                text = f"{names.address(live.identity)} is inside this object and is transferred, too"
                yield Note(address=str(address), text=text, consequence=True)
            elif given in names.snapshot.transferred:
                text = f"this object is inside {address} and is transferred, too"
                yield Note(address=str(given), text=text, consequence=True)
    for address in decided.calls:
        text = "GitBook removes all roles on this object, and dpsync sets the roles in your files again"
        yield Note(address=str(address), text=text, consequence=True)


class EntryDecision(Struct, frozen=True):
    """The decision about one entry that is neither blocked nor ignored."""

    resource: Entry
    live: LiveObject | None
    """The live object; None if the plan creates it."""
    display: tuple[Changed, ...] = ()
    """The differences that a plan shows."""
    written: tuple[Changed, ...] = ()
    """The differences with requests of their own; for a new object, those that the create request lacks."""
    created: bool = False
    """Whether a request of its own creates the object, not the request for its parent."""
    held: Field | None = None
    """The field that hides the object at first, until a later request sets the rest and shows it."""
    unfinished: bool = False
    """Whether the object is live and still hidden: an apply was stopped, or its parent is not shown yet."""
    acts: tuple[str, ...] = ()
    """The acts that the user asked for."""


class Decisions(Struct, frozen=True):
    """All decisions about one pair of sides."""

    sides: Sides
    restructuring: Restructuring
    transfers: Transfers
    deletions: Deletions
    blocking: Blocking
    exclusive: Exclusive
    entries: Mapping[Address, EntryDecision]
    """The decisions in the order in which objects are created: parents first, otherwise by address."""
    compared: Mapping[Address, tuple[Changed, ...]]
    """By live entry: every declared field that differs, including fields that no request can change."""
    hidden_creation: HiddenCreation
    adopted: frozenset[Address] = frozenset()
    """Entries that the request for their parent creates, too."""
    notes: tuple[Note, ...] = ()
    waiting: tuple[Waiting, ...] = ()
    trouble: tuple[PlatformTrouble, ...] = ()
    accepted: tuple[PlatformTrouble, ...] = ()
    """The platform problems that the policy accepts; `trouble` contains all others."""
    unproven: tuple[str, ...] = ()
    """Fields that cannot be read back and whose value differs in the git base."""
    asked: frozenset[Answer] = frozenset()
    """The answers that the questions of this stage ask for."""


def decide(sides: Sides) -> Decisions:
    """Decide about everything. Pure: the same two sides give the same decisions."""
    return _Decider(sides).decisions()


def _children_created_with_parent(sides: Sides) -> Iterator[Address]:
    """Yield the first child of each new entry whose create request also creates that child."""
    for resource in sides.resources.values():
        also_creates = getattr(sides.kind(resource).create, "also_creates", None)
        if also_creates and resource.children and sides.live(resource.address) is None:
            yield resource.children[0]


class _Decider:
    """Make the decisions about one pair of sides."""

    def __init__(self, sides: Sides) -> None:
        self.sides = sides
        self.restructuring = restructuring(sides)
        self.blocker = Blocker(sides, self.restructuring)
        self.deletions = deletions(sides, self.restructuring)
        self.adopted = frozenset(_children_created_with_parent(sides))
        self.hidden_creation = HiddenCreation(sides, self.adopted)
        self.compared: dict[Address, tuple[Changed, ...]] = {}
        self.notes: list[Note] = []
        self.waiting: list[Waiting] = []
        self.trouble: list[PlatformTrouble] = []
        self.accepted: list[PlatformTrouble] = []
        self.unproven: list[str] = []
        self.asked: set[Answer] = set()

    def decisions(self) -> Decisions:
        entries = {entry.resource.address: entry for entry in self._decide_entries()}
        entries.update(self._with_own_values(entries))
        exclusive = Exclusive(
            self.sides, self.deletions.covers, lambda entry: self.blocker.entry(entry.address)
        )
        for resource, flag in exclusive.unwilling():
            self._note_flag_needed(resource, flag)
        blocking = self.blocker.blocking()
        return Decisions(
            sides=self.sides,
            restructuring=self.restructuring,
            transfers=transfers(self.sides),
            deletions=self.deletions,
            blocking=blocking,
            exclusive=exclusive,
            entries=entries,
            compared=self.compared,
            hidden_creation=self.hidden_creation,
            adopted=self.adopted,
            notes=tuple(self.notes),
            waiting=tuple(self.waiting),
            trouble=tuple(self.trouble),
            accepted=tuple(self.accepted),
            unproven=tuple(self.unproven),
            asked=self.restructuring.asked | blocking.asked | self.asked,
        )

    def _decide_entries(self) -> Iterator[EntryDecision]:
        rank = {kind.name: index for index, kind in enumerate(self.sides.registry.ordered)}
        resources = self.sides.resources.values()
        first, resends = set(self.blocker.first.values()), self.sides.answers.any(SEND)
        for resource in sorted(resources, key=lambda item: rank[item.kind]):  # they come by address
            live = self.sides.live(resource.address)
            if resource.address in first:
                # The object that will contain this one does not exist yet.
                kind = self.sides.kind(resource)
                fields = {name: value for name, value in resource.fields.items() if not kind.field(name).nest}
                yield EntryDecision(
                    replace(resource, fields=fields),
                    None,
                    tuple(wanted_anew(self.sides, resource)),
                    created=True,
                    held=self.hidden_creation.hiding_field(resource),
                )
                continue
            if self.sides.policy.ignored(resource.address):
                continue
            if live is not None:
                self.compared[resource.address] = tuple(changed(self.sides, resource, live))
                self.asked.update(resendable(self.sides, resource) if resends else ())
            if not self.blocker.entry(resource.address):
                yield self._decide_new(resource) if live is None else self._decide_live(resource, live)

    def _with_own_values(
        self, entries: Mapping[Address, EntryDecision]
    ) -> Iterator[tuple[Address, EntryDecision]]:
        """Yield the entries that must get their own value, because the value that they inherit changes."""
        if all(kind.inherits is None for kind in self.sides.registry.ordered):
            return
        for address, entry in entries.items():
            source = entries.get(inherited_from(self.sides, entry.resource) or address)
            if entry.live is None or source is None or source is entry or source.live is None:
                continue
            written_fields = {item.field.name for item in self.compared[address]}
            own_values = tuple(
                item
                for item in kept_as_own(
                    self.sides, entry.resource, entry.live, source.written, written_fields
                )
                if self._can_write(entry.resource, item)
            )
            if own_values:
                displayed, written = (*entry.display, *own_values), (*entry.written, *own_values)
                yield address, replace(entry, display=displayed, written=written)

    def _decide_new(self, resource: Entry) -> EntryDecision:
        """Return the decision about an entry that is not live."""
        wanted, kind = wanted_anew(self.sides, resource), self.sides.kind(resource)
        sent = self.hidden_creation.fields_in_create(resource)
        held = self.hidden_creation.hiding_field(resource)
        later = [item for item in wanted if item.field.on != "create" and item.field.name not in sent]
        unblocked = [item for item in later if not self.blocker.field(resource, item.field)]
        written = [item for item in unblocked if item.field.via is None or self._has_call_for(resource, item)]
        created = resource.address not in self.adopted and not kind.comes_along
        if held is not None:
            written = [item for item in written if item.field is not held]
            written += showing(resource, held)
        return EntryDecision(resource, None, tuple(wanted), tuple(written), created, held)

    def _decide_live(self, resource: Entry, live: LiveObject) -> EntryDecision:
        """Return the decision about a live entry."""
        self._note_unreadable_values(resource, live)
        self._note_platform_state(resource, live)
        compared = self.compared[resource.address]
        written = [item for item in compared if self._can_write(resource, item)]
        unfinished = self.hidden_creation.unfinished(resource, live)
        held = self.hidden_creation.hidden_with_unfinished(resource, live)
        if unfinished is not None:
            written += showing(resource, unfinished)
        is_included = any(item.field is held for item in written)
        shown_later = showing(resource, held) if held is not None and not is_included else ()
        return EntryDecision(
            resource,
            live,
            tuple(written),
            (*written, *shown_later),
            acts=tuple(self._requested_acts(resource)),
            held=held,
            unfinished=unfinished is not None or held is not None,
        )

    def _requested_acts(self, resource: Entry) -> Iterator[str]:
        """Yield the acts that the user asks for in this run; they come after all changes of the object."""
        for word in self.sides.kind(resource).platform.acts:
            answer = Answer(word, str(resource.address))
            self.asked.add(answer)
            if self.sides.answers.gives(answer) and not self.sides.options.proof:
                yield word

    def _note_platform_state(self, resource: Entry, live: LiveObject) -> None:
        """Note an object that the platform is still processing, and a problem that the platform reports."""
        kind = self.sides.kind(resource)
        field = kind.platform.processed if kind.platform.processed in resource.fields else None
        if kind.platform.busy is not None and kind.is_busy(live.fields):
            text = f"GitBook is still processing this object ({live.fields[kind.platform.busy.field]})"
            self.waiting.append(Waiting(address=str(resource.address), what=text, field=field))
        trouble = kind.platform.trouble
        if trouble is not None and (problem := kind.trouble(live.fields)) is not None:
            if field is not None:
                problem += self._resend_hint(resource, kind.field(field), live)
            accepted = self.sides.policy.now.accepts(resource.address, trouble.field)
            problems = self.accepted if accepted else self.trouble
            problems.append(PlatformTrouble(address=str(resource.address), what=problem, field=field))

    def _resend_hint(self, resource: Entry, field: Field, live: LiveObject) -> str:
        """Return the hint how to resend a value whose processing failed, "" if this plan sends the value."""
        if any(item.field is field for item in self.compared[resource.address]):
            return ""
        unknown = not_known(self.sides.kind(live), field, resource.fields[field.name], live)
        compared = unknown is None or self.sides.names.in_base(resource, live) is not None
        flag = Answer(SEND, str(resource.address.field(field.name))).flag
        return (
            f"{'' if compared else '. dpsync cannot compare the value'}. To send the value again, add {flag}"
        )

    # What can be written.

    def _can_write(self, resource: Entry, item: Changed) -> bool:
        """Return whether a field can be written; note it as blocked if only a person can write it."""
        field = item.field
        if self.blocker.field(resource, field):
            return False
        if field.on == "create" and field.via is None:
            return False  # refused by a guard
        if field.one_per and item.after is not True:
            owner = self.sides.lineage.ancestor(resource, field.one_per)
            if (resource.kind, field.name, owner) not in self._declared_flags:
                self._note_flag_needed(resource, field)
            return False
        if item.after is None and field.null == "by hand":
            todo = f"clear {field.name} in GitBook, or remove {field.name} from the entry"
            self.blocker.note(resource, field, f"the API cannot clear {field.name}", todo)
            return False
        return field.via is None or self._has_call_for(resource, item)

    @cached_property
    def _declared_flags(self) -> set[tuple[str, str, Address | None]]:
        """Return every exclusive flag that an entry declares to have: kind, name of the flag, and place."""
        return {
            (other.kind, item.name, self.sides.lineage.ancestor(other, item.one_per))
            for other in self.sides.resources.values()
            for item in self.sides.kind(other).fields
            if item.one_per is not None and other.fields.get(item.name) is True
            if not self.sides.policy.left_out(other.address)
        }

    def _note_flag_needed(self, resource: Entry, item: Field) -> None:
        """Note that one object must always have a flag."""
        noun = self.sides.kind(resource).noun
        reason = f"one {noun} must always have {item.name}: true"
        self.blocker.note(resource, item, reason, f"set {item.name}: true on another {noun}")

    def _has_call_for(self, resource: Entry, item: Changed) -> bool:
        """Return whether a call can set a field to this value; note the field as blocked otherwise."""
        if item.field.setting(item.after) is not None:
            return True
        name, value = item.field.name, self.sides.values.display(item.field, item.after, resource)
        if isinstance(value, dict) and set(value) == {REF}:
            value = value[REF]
        display = str(value).lower() if isinstance(value, bool) else value or "nothing"
        reason = f"the API cannot set {name} to {display}"
        if name in self.sides.kind(resource).unsupported_fields:
            reason = self.sides.registry.profile.lacks(f"setting {name} to {display}")
        todo = f"change {name} in GitBook, or remove {name} from the entry"
        self.blocker.note(resource, item.field, reason, todo)
        return False

    # What cannot be compared.

    def _note_unreadable_values(self, resource: Entry, live: LiveObject) -> None:
        """Note the values of a live entry that cannot be read back."""
        kind = self.sides.kind(resource)
        for item in kind.unread_fields:
            unknown = not_known(kind, item, resource.fields.get(item.name), live)
            if unknown is not None:
                address = str(resource.address.field(item.name))
                is_in_base = self.sides.names.in_base(resource, live) is not None
                text = self._unreadable_note(address, is_in_base)
                self.notes.append(Note(address=address, text=text, permanent=True))
                if self.sides.options.proof and differs_from_base(self.sides, resource, item, live):
                    self.unproven.append(address)

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
