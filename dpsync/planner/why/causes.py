"""Asks the git base, and the commits before it, why each difference of a plan is there.

What the base's entries are live was worked out for identity and protection (Names.remembered): it is the same
here. Nothing is read for this but commits, and those only where live is not as the base says.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping
from functools import cached_property

from msgspec import Struct, field

from dpsync.identity.base_matches import remember
from dpsync.kinds.kind import Field, ListOrder
from dpsync.kinds.placing import ordered_by
from dpsync.model.entries.address import Address
from dpsync.model.entries.desired import Desired, Entry
from dpsync.model.entries.snapshot import Identity, LiveObject
from dpsync.model.entries.values import LiveId, Ref, Value, leaves, transform
from dpsync.model.plans.cause import Cause, common_cause
from dpsync.planner.decide.compare import Changed, differs_from_base, same
from dpsync.planner.inputs.sides import Sides
from dpsync.planner.why.cause import UNKNOWN, UNSAID, Nothing, Ranks, of_field, of_places, ranks


class Causes(Struct, frozen=True, dict=True):
    """The causes of what differs between one pair of sides."""

    sides: Sides
    moving: frozenset[Address] = frozenset()
    """What the plan moves among its siblings."""
    _places: dict[tuple[Address, str | None], Mapping[Hashable, Cause | None]] = field(default_factory=dict)
    _past: dict[int, Mapping[Identity, Address]] = field(default_factory=dict)

    # Fields.

    def of(self, resource: Entry, item: Changed) -> Cause:
        """Why a field of an entry that is live differs."""
        live = self.sides.live(resource.address)
        if self.before is None or live is None:
            return "origin unknown"
        hidden = differs_from_base(self.sides, resource, item.field, live)
        found: set[Cause] = {"edited here"} if hidden else set()
        if item.field.source is not None and not same(item.field, item.after, item.before):
            found |= {self._readable(resource, item.field, item.after, item.before, live) or "origin unknown"}
        return common_cause(found) or "origin unknown"  # without a cause it is sent because it was asked for

    def _readable(
        self, resource: Entry, field: Field, here: Value, now: Value, live: LiveObject
    ) -> Cause | None:
        entry = self.sides.names.in_base(resource, live)
        base = self._value(entry, field, resource)
        never = entry is not None and self._applied(entry, resource) is False
        return of_field(field, base, here, now, self._said(entry, field, resource), never)

    def _said(self, entry: Entry | None, field: Field, now: Entry) -> Iterator[Value | Nothing]:
        """What the commits before the base said of a field of one of its entries.

        One that did not have the entry said nothing; but of what has no line of its own in the ids file
        nobody can tell whether it was applied since.
        """
        for then in self.sides.base.earlier if entry is not None else ():
            found = _entry(then, entry)
            if found is not None or (entry is not None and self._could_have(then, entry)):
                yield self._value(found, field, now)

    def _could_have(self, then: Desired, entry: Entry) -> bool:
        return not self.sides.kind(entry).recorded and entry.parent in then.resources

    def _applied(self, entry: Entry, now: Entry) -> bool | None:
        """Whether an entry of the base was ever recorded in the ids file; None where that says nothing.

        An apply, and an import, records each entry that it recognises. What has no line of its own is as
        what it is in.
        """
        if now.address.top not in self._organizations:
            return None
        if self.sides.kind(entry).recorded:
            return entry.address in self._lines or now.address in self._lines
        around = self.before.resources.get(entry.parent) if self.before and entry.parent else None
        return True if around is None else self._applied(around, around)

    @cached_property
    def _lines(self) -> Collection[Address]:
        """The addresses that the ids file knows, now or in the base."""
        records = self.sides.snapshot.records
        return records.lines.keys() | records.earlier.keys()

    def _value(self, entry: Entry | None, field: Field, now: Entry) -> Value | Nothing:
        """What a commit says of a field, with the names that things have today."""
        if entry is None or field.name not in entry.fields:
            # What is written and has no value there could not be read.
            return UNKNOWN if entry is not None and field.name in entry.spans else UNSAID
        value = transform(entry.fields[field.name], self._today)
        if any(map(self._cannot_be_told, leaves(value))):
            return UNKNOWN
        return self.sides.values.normal(field, value, now)

    def _today(self, leaf: Value) -> Value:
        """A reference of the base as that to the same object here: its key may be another one."""
        if not isinstance(leaf, Ref):
            return leaf
        live = self.sides.snapshot.objects.get(self.sides.names.remembered.get(leaf.address, ("", "")))
        return LiveId(live.id) if live is not None else leaf

    def _cannot_be_told(self, leaf: Value) -> bool:
        """A variable that only the past needed, as it was written; somebody whom only the past looked up."""
        if isinstance(leaf, Ref):
            wanted = self.sides.desired
            known = leaf.address in wanted.resources or leaf.address in wanted.lookups
            return self.before is not None and leaf.address in self.before.lookups and not known
        return isinstance(leaf, str) and "${" in leaf

    def edited_on_both_sides(self, compared: Mapping[Address, Collection[Changed]]) -> Iterator[str]:
        """The fields that were edited here and are live as they are here: by address, with the field."""
        if self.before is None or self.sides.options.proof:
            return
        for address, resource in self.sides.resources.items():
            live = self.sides.live(address)
            entry = self.sides.names.in_base(resource, live) if live is not None else None
            if live is None or entry is None or address not in compared:
                continue
            differing = {item.field.name for item in compared[address]}
            own = self.sides.desired.resources[address].fields
            for name, value in resource.fields.items():
                field = self.sides.kind(resource).field(name)
                if name in differing or field.source is None or entry.fields.get(name, UNSAID) == own[name]:
                    continue
                now = self.sides.values.normal(field, live.fields.get(name), live)
                if of_field(field, self._value(entry, field, resource), value, now) == "same edit twice":
                    yield str(address.field(name))

    @cached_property
    def _organizations(self) -> Collection[Address]:
        """The organizations that it has lines for."""
        return {address.top for address in self._lines}

    # Whole things.

    def made(self, address: Address) -> Cause:
        """Why an entry is not live: it is new, somebody deleted it, or nobody has made it yet."""
        if self.before is None:
            return "origin unknown"
        entry = self.before.resources.get(address)
        if entry is None:
            return "edited here"
        applied = self._applied(entry, entry)
        if applied is None:
            new = any(address not in then.resources for then in self.sides.base.earlier)
            return "not applied yet" if new else "changed outside"
        if not applied:
            return "not applied yet"
        # Of what has no line of its own nobody can tell whether it was applied since it was added.
        added = any(
            address not in then.resources and self._could_have(then, entry)
            for then in self.sides.base.earlier
        )
        return "origin unknown" if added else "changed outside"

    def removed(self, identity: Identity | None) -> Cause:
        """Why something is live that no entry is: its entry was removed, or somebody made it outside.

        An entry that went with its file is told as removed here, whichever commit took the file away: nobody
        has removed that entry by itself.
        """
        if self.before is None or identity is None:
            return "origin unknown"
        if identity in self.sides.names.earlier_addresses:
            return "edited here"
        for then in self.sides.base.earlier:
            if (at := self._remembered(then).get(identity)) is not None:
                file = then.resources[at].span.file
                kept = file in self.before.texts or file in self.sides.desired.texts
                return "not applied yet" if kept else "edited here"
        place = self.sides.names.address(identity).place
        return "not applied yet" if (place, identity[1]) in self._orphans else "changed outside"

    @cached_property
    def _orphans(self) -> Collection[tuple[Address, str]]:
        """Place and id of what was an entry once, as lines of the ids file without an entry say."""
        lines = self.sides.snapshot.records.lines
        left = (at for at in lines if at not in self.sides.desired.resources)
        return {(at.place, lines[at].id) for at in left}

    def _remembered(self, then: Desired) -> Mapping[Identity, Address]:
        """By live object that was an entry of an earlier commit: that entry."""
        if id(then) not in self._past:
            sides = self.sides
            found = remember(sides.registry, then, sides.desired, sides.snapshot)
            self._past[id(then)] = {identity: at for at, identity in found.items()}
        return self._past[id(then)]

    def _was_below(self, then: Desired, identity: Identity) -> Address | None:
        at = self._remembered(then).get(identity)
        return then.resources[at].parent if at is not None else None

    def given(self, resource: Entry) -> Cause:
        """Why something is below another parent than the files say."""
        live = self.sides.live(resource.address)
        if self.before is None or live is None or live.parent is None:
            return "origin unknown"
        entry = self.sides.names.in_base(resource, live)
        if entry is None or entry.parent != resource.parent:
            return "edited here"
        owner = self.sides.names.address(live.parent)
        was_there = any(self._was_below(then, live.identity) == owner for then in self.sides.base.earlier)
        return "not applied yet" if was_there else "changed outside"

    # Places.

    def placed(self, resource: Entry) -> Cause:
        """Why an entry stands elsewhere among its siblings."""
        if self.before is None:
            return "origin unknown"
        listed = ordered_by(self.sides.registry, self.sides.resources, resource)
        holder, order = listed if listed is not None else (resource.holder or resource.parent, None)
        if holder is None or holder not in self.sides.resources or self.sides.live(holder) is None:
            return "edited here"
        name = order.name if order is not None else None
        if (holder, name) not in self._places:
            self._places[holder, name] = self._in(holder, order)
        return self._places[holder, name].get(resource.address) or self._arrived(resource)

    def _arrived(self, resource: Entry) -> Cause:
        """Of what comes from elsewhere: why that differs."""
        live = self.sides.live(resource.address)
        place = self._by(resource)
        if live is None or place is None:
            return "edited here"
        now = self.sides.values.normal(place, live.fields.get(place.name), live)
        return self._readable(resource, place, resource.fields.get(place.name), now, live) or "edited here"

    def _by(self, resource: Entry) -> Field | None:
        """The field that says what an entry lies in."""
        order = self.sides.registry.list_order(resource.kind)
        kind = self.sides.kind(resource)
        return (
            kind.field(order.by)
            if order is not None
            else next((one for one in kind.fields if one.nest), None)
        )

    def _in(self, holder: Address, order: ListOrder | None) -> Mapping[Hashable, Cause | None]:
        """The causes of all moves in one list of siblings: those of a list order, or the nodes of a tree."""
        live = self.sides.live(holder)
        assert live is not None
        entry = self.sides.names.in_base(self.sides.resources[holder], live)
        name = order.name if order is not None else None
        declared, snapshot = self.sides.names.declared, self.sides.snapshot
        lane = (
            snapshot.siblings(live.identity, order.of)
            if order is not None
            else snapshot.lanes.get(live.identity, ())
        )
        return of_places(
            self.moving,
            base=self._then(entry, name),
            here=ranks(_siblings(self.sides.resources[holder], name)),
            live=ranks(declared.get(one) for one in lane),
            earlier=_Orders(self, entry, name),
        )

    def _then(self, entry: Entry | None, name: str | None) -> Ranks:
        """An order of an earlier commit, with the names that its siblings have today."""
        names = self.sides.names
        siblings = _siblings(entry, name) if entry is not None else ()
        found = ((one, names.remembered.get(one)) for one in siblings)
        return ranks(one if what is None else names.declared.get(what, one) for one, what in found)

    # The past.

    @cached_property
    def before(self) -> Desired | None:
        return self.sides.base.desired

    def _history(self, entry: Entry | None) -> Iterable[Desired]:
        return self.sides.base.earlier if entry is not None else ()


class _Orders(Struct, frozen=True):
    """What each earlier commit says of one list of siblings."""

    causes: Causes
    entry: Entry | None
    name: str | None

    def __iter__(self) -> Iterator[Ranks]:
        for then in self.causes._history(self.entry):
            yield self.causes._then(_entry(then, self.entry), self.name)


def _entry(then: Desired, entry: Entry | None) -> Entry | None:
    """The same entry in an earlier commit."""
    found = then.resources.get(entry.address) if entry is not None else None
    return found if found is None or entry is None or found.kind == entry.kind else None


def _siblings(holder: Entry, name: str | None) -> Iterable[Address]:
    """What a holder has in order: nodes, or what a list of its own names."""
    if name is None:
        return holder.children
    return [item.address for item in holder.fields.get(name) or () if isinstance(item, Ref)]
