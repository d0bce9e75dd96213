"""What an entry that would be made could be: live objects that nobody claims, and what speaks for each.

Only content is looked at that one could mistake for another, and only entries that nothing says to be new.
What cannot be given to another parent is held against what is below the same one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final

from msgspec import Struct, field

from dpsync.kinds.kind import Kind
from dpsync.model.entries.address import Address
from dpsync.model.entries.desired import Entry
from dpsync.model.entries.match import MatchedBy
from dpsync.model.entries.snapshot import Identity, LiveObject, Snapshot
from dpsync.model.entries.values import live_ids, references
from dpsync.planner.decide.blocks import Blocking
from dpsync.planner.inputs.sides import Sides
from dpsync.planner.questions.lookalikes import Lookalike, Reason, removed

MOST: Final = 50
"""Candidates of one entry that are named as data; the others are counted."""

_SAID: Final = frozenset({MatchedBy.PIN, MatchedBy.PREVIOUSLY, MatchedBy.BASE})
"""Somebody has said by these which object an entry is."""


def found_by_name(snapshot: Snapshot, address: Address) -> bool:
    """Whether nothing but its name says what an entry is: it has no line and no answer."""
    match = snapshot.matches.get(address)
    recorded = address in snapshot.records.lines
    return match is not None and not recorded and match.by not in _SAID


class Open(Struct, frozen=True):
    """An entry that is not live, and what it could be: each object with the reason."""

    resource: Entry
    kind: Kind
    could_be: Mapping[Identity, Reason]
    name_takers: Mapping[Identity, Address] = field(default_factory=dict)
    """By object whose name another entry has now, that one."""
    more: int = 0
    """Candidates beyond those."""
    unseen_past: bool = False
    """The commit that would tell whether it was there before is not in this clone."""

    def reason(self, identity: Identity) -> str:
        """Why it could be an object, for people."""
        return self.could_be[identity].value.format(self.name_takers.get(identity))


class _Opening:
    """An `Open` in the making: its candidates are being looked for."""

    def __init__(self, resource: Entry, kind: Kind) -> None:
        self.resource, self.kind = resource, kind
        self.could_be: dict[Identity, Reason] = {}
        self.name_takers: dict[Identity, Address] = {}
        self.more = 0
        self.unseen_past = False

    @property
    def asked(self) -> bool:
        return bool(self.could_be) or self.unseen_past

    def add(self, identities: Sequence[Identity], why: Reason) -> None:
        room = max(MOST - len(self.could_be), 0)
        for identity in identities[:room]:
            self.could_be.setdefault(identity, why)
        self.more += len(identities[room:])

    def add_unseen_past(self, identities: Sequence[Identity]) -> None:
        self.unseen_past = True
        self.add(identities, Reason.UNSEEN_PAST)

    def as_open(self) -> Open:
        return Open(self.resource, self.kind, self.could_be, self.name_takers, self.more, self.unseen_past)


class CouldBe(Struct, frozen=True, dict=True):
    sides: Sides
    blocking: Blocking
    unnamed: Collection[Identity] = ()
    """Content that would be deleted, and that nobody has named."""

    def of(self, kind: Kind, similar: Collection[Lookalike]) -> list[Open]:
        """The open entries of one kind; none where nothing asks about any of them."""
        absent = {entry.address: _Opening(entry, kind) for entry in self._not_live(kind)}
        if not absent:
            return []
        for like in similar:
            if like.why is Reason.LOOKS and like.resource.address in absent:
                absent[like.resource.address].could_be |= {item.identity: Reason.LOOKS for item in like.live}
        beside: dict[Identity | None, list[Identity]] = defaultdict(list)
        for identity, item in self._free[kind.name].items():
            beside[item.parent].append(identity)
        self._by_the_past(kind, absent, beside)
        self._instead_of_it(kind, absent)
        asked = {self._place(kind, one.resource) for one in absent.values() if one.asked}
        asked |= set(self._answered_just_now(kind))
        for one in absent.values():
            if not one.asked and self._place(kind, one.resource) in asked:
                one.add(beside[self._owner(one.resource)], Reason.OTHERS)
        return [one.as_open() for _, one in sorted(absent.items()) if one.asked]

    def _instead_of_it(self, kind: Kind, absent: Mapping[Address, _Opening]) -> None:
        """What would go while another one of its kind is made beside it."""
        to_delete: dict[Identity | None, list[Identity]] = defaultdict(list)
        for identity in self.unnamed:
            if identity in self._free[kind.name]:
                to_delete[self._place(kind, self.sides.snapshot.objects[identity])].append(identity)
        for one in absent.values() if to_delete else ():
            if self.made(one.resource):
                one.add(to_delete[self._place(kind, one.resource)], Reason.GOING)

    def _by_the_past(
        self, kind: Kind, absent: Mapping[Address, _Opening], beside: Mapping[Identity | None, list[Identity]]
    ) -> None:
        """What places, lines and the git base say that entries could be."""
        free, records, base = self._free[kind.name], self.sides.snapshot.records, self.sides.base
        by_id = {item.id: identity for identity, item in free.items()}
        by_place: dict[Identity | None, list[Identity]] = defaultdict(list)
        for identity, item in free.items():
            if identity in self.removed or self._was_removed_earlier(identity):
                by_place[self._place(kind, item)].append(identity)
        under_new_keys = self._under_new_keys(kind)
        before = base.desired.resources if base.desired is not None else {}
        for address, one in absent.items():
            for identity in sorted(self._places[address] & free.keys()):
                one.could_be.setdefault(identity, Reason.PLACE)
            line = records.earlier.get(address)
            was = by_id.get(line.id) if line is not None else None
            if was is not None:
                one.could_be[was] = Reason.BASE_LINE
            place = self._place(kind, one.resource)
            one.add(by_place[place], Reason.REMOVED)
            for identity, other in under_new_keys.items():
                if self._place(kind, self.sides.snapshot.objects[identity]) == place:
                    one.could_be.setdefault(identity, Reason.NAME_TAKEN)
                    one.name_takers[identity] = other
            around = beside.get(self._owner(one.resource), ())
            unrecorded = address.top in records.empty
            if base.lacking and (unrecorded or around):
                one.add_unseen_past(() if unrecorded else around)
            if unrecorded and was is None and not base.present and address in before:
                one.add(around, Reason.NO_LINES)
            if unrecorded:
                for identity in sorted((self.sides.former.meant(address) or set()) & free.keys()):
                    one.could_be.setdefault(identity, Reason.EARLIER_NAME)

    def made(self, entry: Entry) -> bool:
        """Whether an entry that is not live is made by this plan."""
        return not self.sides.policy.ignored(entry.address) and not self.blocking.entry(entry.address)

    def _not_live(self, kind: Kind) -> Iterator[Entry]:
        """Entries that are not live and of which nothing says that they are new, whatever keeps them from it.

        One that waits, or that was not selected, is perhaps what another plan deletes meanwhile. What one was
        that is gone is known, and it is asked about as blocked.
        """
        sides = self.sides
        for address, entry in sides.resources.items():
            if entry.kind != kind.name or sides.live(address) is not None or entry.pin is not None:
                continue
            if not entry.new and address not in sides.snapshot.missing and self._owner(entry) is not None:
                yield entry

    def _under_new_keys(self, kind: Kind) -> dict[Identity, Address]:
        """Objects whose entry was removed, and whose name another entry has now."""
        sides = self.sides
        found: dict[Identity, Address] = {}
        for address, match in sorted(sides.snapshot.matches.items(), key=lambda item: item[0]):
            live = sides.live(address)
            if live is None or live.kind != kind.name:
                continue
            before = sides.names.earlier_addresses.get(live.identity)
            renamed = before is not None and before not in sides.resources and self._by_name_alone(address)
            if renamed or match.by is MatchedBy.OTHER_LINE:
                found[live.identity] = address
        return found

    def taken_over(self, kind: Kind) -> Iterator[Entry]:
        """New entries that were recognised by a name alone, where lines or a git base tell which are new."""
        sides = self.sides
        for address, entry in sides.resources.items():
            unrecorded = address.top in sides.snapshot.records.empty
            decidable = not unrecorded or sides.base.desired is not None
            if entry.kind == kind.name and decidable and self._by_name_alone(address):
                yield entry

    def _by_name_alone(self, address: Address) -> bool:
        """Whether nothing but its name says what an entry is, and it has no past either."""
        base = self.sides.base.desired
        return found_by_name(self.sides.snapshot, address) and (base is None or address not in base.resources)

    def _owner(self, entry: Entry) -> Identity | None:
        live = self.sides.live(entry.parent) if entry.parent is not None else None
        return live.identity if live is not None else None

    def _place(self, kind: Kind, item: Entry | LiveObject) -> Identity | None:
        """What it is below and stays below; None for what can be given to another parent."""
        if kind.lifecycle.transfer is not None:
            return None
        return item.parent if isinstance(item, LiveObject) else self._owner(item)

    def _answered_just_now(self, kind: Kind) -> Iterator[Identity | None]:
        """The places in which an entry of this kind was recognised by an answer that no line keeps yet.

        Then somebody has renamed things there, and the others may be renamed as well.
        """
        sides = self.sides
        for address, match in sides.snapshot.matches.items():
            entry = sides.desired.resources.get(address)
            recorded = address in sides.snapshot.records.lines
            if (
                entry is not None
                and entry.kind == kind.name
                and match.by is MatchedBy.PREVIOUSLY
                and not recorded
            ):
                yield self._place(kind, entry)

    @cached_property
    def _free(self) -> Mapping[str, dict[Identity, LiveObject]]:
        """By kind, the live objects that nobody claims, and that nobody said to leave alone."""
        found: dict[str, dict[Identity, LiveObject]] = defaultdict(dict)
        for identity, item in self.sides.snapshot.objects.items():
            if self._is_free(identity, item):
                found[item.kind][identity] = item
        return found

    def _is_free(self, identity: Identity, item: LiveObject) -> bool:
        sides = self.sides
        claimed = identity in sides.names.declared or identity in sides.snapshot.output_identities
        if claimed or item.deleted or not sides.kind(item).mistakable:
            return False
        policy = sides.policy
        return not (policy.forgotten(identity) or policy.leaves_alone(sides.names.address(identity)))

    @cached_property
    def removed(self) -> set[Identity]:
        """Objects whose entry is gone from the files."""
        return removed(self.sides)

    def _was_removed_earlier(self, identity: Identity) -> bool:
        """Return whether a commit before the git base has an entry of this object that the files lack.

        Earlier commits are read only for organizations without lines in the ids file, because such lines
        would contain the same information.
        """
        sides = self.sides
        if sides.names.address(identity).top not in sides.snapshot.records.empty:
            return False
        known = sides.desired.resources.keys() | sides.desired.unserved.keys()
        return bool(sides.former.before(identity, lambda address: address not in known) - known)

    @cached_property
    def _places(self) -> Mapping[Address, set[Identity]]:
        """By entry that is not live, what is shown where it is to be shown.

        That is what a live entry names now in the field that is to name it. An entry that is recognised by
        that field is not found while its name is another: then it is what undeclared things beside it name.
        Of what things merely lie in, and can be moved out of, it counts only where all of them lie in one.
        """
        sides = self.sides
        found: dict[Address, set[Identity]] = defaultdict(set)
        lying: dict[Address, set[Identity | None]] = defaultdict(set)
        for address, entry in sides.resources.items():
            live, kind = sides.live(address), sides.kind(entry)
            for name, value in entry.fields.items():
                for one in references(value):
                    if sides.live(one) is not None:
                        continue
                    if live is None and name in kind.identity_fields:
                        found[one] |= self._beside[entry.kind, self._around(entry), name]
                    elif live is not None and name in kind.tie_breakers:
                        lying[one] |= self._named(live, name, live.fields.get(name)) or {None}
                    elif live is not None:
                        found[one] |= self._named(live, name, live.fields.get(name))
        for one, around in lying.items():
            if len(around) == 1:
                found[one] |= {identity for identity in around if identity is not None}
        return found

    @cached_property
    def _beside(self) -> Mapping[tuple[str, Identity | None, str], set[Identity]]:
        """By kind, place and field: what undeclared things there are recognised by."""
        sides = self.sides
        found: dict[tuple[str, Identity | None, str], set[Identity]] = defaultdict(set)
        for identity, item in sides.snapshot.objects.items():
            for name in sides.kind(item).identity_fields if identity not in sides.names.declared else ():
                if live_ids(value := item.fields.get(name)):
                    found[item.kind, self._around(item), name] |= self._named(item, name, value)
        return found

    def _around(self, item: Entry | LiveObject) -> Identity | None:
        """What the tree or the list belongs to that something is in."""
        sides, kind = self.sides, self.sides.kind(item)
        owner = sides.registry.tree_owner(kind) if kind.in_tree else None
        if isinstance(item, LiveObject):
            return sides.lineage.live_ancestor(item, owner) if owner else item.parent
        around = sides.lineage.ancestor(item, owner) if owner else item.parent
        live = sides.live(around) if around is not None else None
        return live.identity if live is not None else None

    def _named(self, item: LiveObject, name: str, value: object) -> set[Identity]:
        kinds = self.sides.kind(item).field(name).type.refers
        return {self.sides.names.named(item, kind, id) for kind in kinds for id in live_ids(value)}
