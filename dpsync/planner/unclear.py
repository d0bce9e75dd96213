"""Whether what would be made is perhaps live already: asked before anything that holds content is made.

An empty twin beside the real thing is a loss that no guard against deletes sees. So an entry that holds
content, and that nothing says to be new, is not made while an object of its kind is live that nobody claims
and that it could be. What is open is asked all at once; nothing of its kind is made or deleted before that.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from dpsync.identity.recorded import UNDER_ANOTHER_KEY
from dpsync.kinds.base import Kind
from dpsync.model.address import Address
from dpsync.model.desired import Resource
from dpsync.model.plan import Candidate, Refusal, WayOut
from dpsync.model.snapshot import Identity, LiveObject
from dpsync.model.values import live_ids, references
from dpsync.model.words import counted
from dpsync.planner.blocking import Blocking
from dpsync.planner.deletions import Deletions
from dpsync.planner.lookalikes import Lookalike, previous_name
from dpsync.planner.sides import Sides

SHOWN: Final = 5
"""Candidates that are named in words."""
MOST: Final = 50
"""Candidates of one entry that are named as data; the others are counted."""
LOOKS: Final = "it looks like it"
PLACE: Final = "it is what is shown there now"
REMOVED: Final = "its entry was removed"
OTHERS: Final = ""


@dataclass
class Open:
    """An entry that would be made, and what it could be: each object with the reason."""

    resource: Resource
    kind: Kind
    could_be: dict[Identity, str] = field(default_factory=dict)
    more: int = 0
    """Candidates beyond those."""
    unseen_past: bool = False
    """The commit that would tell whether it was there before is not in this clone."""

    @property
    def asked(self) -> bool:
        return bool(self.could_be) or self.unseen_past


def unclear(
    sides: Sides, blocking: Blocking, deletions: Deletions, similar: Collection[Lookalike]
) -> Iterator[Refusal]:
    """One refusal per entry that is open, where the plan makes or deletes something of its kind."""
    found = _Unclear(sides, blocking)
    for kind in sides.registry.ordered:
        if not kind.content:
            continue
        gone = [one for one in deletions.everything if one[0] == kind.name]
        open_ = found.of(kind, similar)
        made = any(not sides.policy.left_out(one.resource.address) for one in open_)
        if open_ and (made or gone):
            showing = _showing(sides)
            yield from (_refusal(sides, one, len(open_) - 1, showing) for one in open_)
        elif lost := [one for one in gone if one in found.removed]:
            yield from (_taken_over(sides, entry, lost) for entry in found.taken_over(kind))


@dataclass
class _Unclear:
    sides: Sides
    blocking: Blocking

    def of(self, kind: Kind, similar: Collection[Lookalike]) -> list[Open]:
        """The open entries of one kind; none where nothing asks about any of them."""
        free = self._free[kind.name]
        made = {entry.address: Open(entry, kind) for entry in self._made(kind)}
        if not made:
            return []
        for like in similar:
            if like.by_looks and like.resource.address in made:
                made[like.resource.address].could_be |= {item.identity: LOOKS for item in like.live}
        removed = [identity for identity in free if identity in self.removed]
        under_new_keys = self._under_new_keys(kind)
        for address, one in made.items():
            for identity in sorted(self._places[address] & free.keys()):
                one.could_be.setdefault(identity, PLACE)
            self._add(one, removed, REMOVED)
            for identity, other in under_new_keys.items():
                one.could_be.setdefault(identity, f"its entry was removed, and {other} has its name")
            organization = Address(address.segments[:1])
            one.unseen_past = self.sides.base.lacking and organization in self.sides.snapshot.records.empty
        asked = any(one.asked for one in made.values())
        if not asked and not self._answered_just_now(kind):
            return []
        beside: dict[Identity | None, list[Identity]] = defaultdict(list)
        for identity, item in free.items():
            beside[item.parent].append(identity)
        for one in made.values():
            if not one.asked:
                self._add(one, beside[self._owner(one.resource)], OTHERS)
        return [one for address, one in sorted(made.items()) if one.asked]

    def _add(self, one: Open, identities: Sequence[Identity], why: str) -> None:
        room = max(MOST - len(one.could_be), 0)
        for identity in identities[:room]:
            one.could_be.setdefault(identity, why)
        one.more += len(identities[room:])

    def _made(self, kind: Kind) -> Iterator[Resource]:
        """Entries that would be made and of which nothing says that they are new, selected or not."""
        sides = self.sides
        for address, entry in sides.resources.items():
            if entry.kind != kind.name or sides.live(address) is not None or entry.pin is not None:
                continue
            confirmed = address in sides.snapshot.gone  # else it would be blocked
            ignored = sides.desired.policy.ignores(address)
            if entry.new or confirmed or ignored or self.blocking.entry(address):
                continue
            if self._owner(entry) is not None:
                yield entry

    def _under_new_keys(self, kind: Kind) -> dict[Identity, Address]:
        """Objects whose entry was removed, and whose name another entry has now."""
        found: dict[Identity, Address] = {}
        for address, match in sorted(self.sides.snapshot.matches.items(), key=lambda item: item[0]):
            live = self.sides.live(address) if match.by.startswith(UNDER_ANOTHER_KEY) else None
            if live is not None and live.kind == kind.name:
                found[live.identity] = address
        return found

    def taken_over(self, kind: Kind) -> Iterator[Resource]:
        """New entries that were recognised by a name alone, in an organization whose ids are recorded."""
        sides = self.sides
        before = sides.base.desired.resources if sides.base.desired is not None else {}
        for address, entry in sides.resources.items():
            match = sides.snapshot.matches.get(address)
            known = address in sides.snapshot.records.lines or address in before
            if entry.kind != kind.name or match is None or known:
                continue
            unrecorded = Address(address.segments[:1]) in sides.snapshot.records.empty
            if not unrecorded and match.by not in ("pin", "previously"):
                yield entry

    def _owner(self, entry: Resource) -> Identity | None:
        live = self.sides.live(entry.parent) if entry.parent is not None else None
        return live.identity if live is not None else None

    def _answered_just_now(self, kind: Kind) -> bool:
        """Whether an entry of this kind was recognised by an answer that no line keeps yet.

        Then somebody has renamed things, and the others may be renamed as well.
        """
        sides = self.sides
        return any(
            (entry := sides.desired.resources.get(address)) is not None
            and entry.kind == kind.name
            and match.by == "previously"
            and address not in sides.snapshot.records.lines
            for address, match in sides.snapshot.matches.items()
        )

    @cached_property
    def _free(self) -> Mapping[str, dict[Identity, LiveObject]]:
        """By kind, the live objects that nobody claims, and that nobody said to leave alone."""
        sides = self.sides
        found: dict[str, dict[Identity, LiveObject]] = defaultdict(dict)
        for identity, item in sides.snapshot.objects.items():
            if identity in sides.names.declared or identity in sides.snapshot.put_out or item.deleted:
                continue
            if not sides.kind(item).content or sides.policy.forgotten(identity):
                continue
            if not sides.desired.policy.ignores(sides.names.address(identity)):
                found[item.kind][identity] = item
        return found

    @cached_property
    def removed(self) -> set[Identity]:
        """Objects whose entry is gone from the files: by a line without an entry, or by the git base."""
        sides = self.sides
        known = sides.desired.resources.keys() | sides.desired.unserved.keys()
        ids = {line.id for address, line in sides.snapshot.records.lines.items() if address not in known}
        ids |= {line.id for address, line in sides.snapshot.records.earlier.items() if address not in known}
        found = {
            identity for items in self._free.values() for identity, item in items.items() if item.id in ids
        }
        remembered = sides.names.remembered.items()
        return found | {identity for address, identity in remembered if address not in known}

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

    def _around(self, item: Resource | LiveObject) -> Identity | None:
        """What the tree or the list belongs to that something is in."""
        sides, kind = self.sides, self.sides.kind(item)
        if isinstance(item, LiveObject):
            return (
                sides.lineage.live_ancestor(item, sides.registry.tree_owner(kind))
                if kind.in_tree
                else item.parent
            )
        around = (
            sides.lineage.ancestor(item, sides.registry.tree_owner(kind)) if kind.in_tree else item.parent
        )
        live = sides.live(around) if around is not None else None
        return live.identity if live is not None else None

    def _named(self, item: LiveObject, name: str, value: object) -> set[Identity]:
        kinds = self.sides.kind(item).field(name).type.refers
        return {self.sides.names.named(item, kind, id) for kind in kinds for id in live_ids(value)}


def _refusal(sides: Sides, one: Open, others: int, showing: Mapping[str, list[str]]) -> Refusal:
    address, noun = one.resource.address, one.kind.noun
    candidates = tuple(_candidate(sides, identity, why, showing) for identity, why in one.could_be.items())
    if not candidates:
        return Refusal(
            code="unclear",
            address=str(address),
            message=f"{one.kind.one} would be made, and {sides.base.said}, so nobody can tell whether it was "
            "there before, under another name",
            way_out="fetch the whole history (fetch-depth: 0), or add new: true if it was not",
            answers=_answers(sides, one),
        )
    named = [_words(item) for item in candidates[:SHOWN]]
    more = len(candidates) - len(named) + one.more
    listed = "; ".join(named) + (f"; and {more} more" if more > 0 else "")
    also = f". {counted(others, f'other {noun}')} would be made and must be answered, too" if others else ""
    return Refusal(
        code="unclear",
        address=str(address),
        message=f"{one.kind.one} would be made that may be live already, as {listed}{also}",
        way_out=f"add {_line(sides, one)} if it is that one, or new: true if it is another",
        candidates=candidates,
        answers=_answers(sides, one),
    )


def _taken_over(sides: Sides, entry: Resource, lost: Sequence[Identity]) -> Refusal:
    """A new entry has found an object by its name, while another of its kind goes whose entry was removed."""
    live = sides.live(entry.address)
    assert live is not None
    named = {live.identity: "it has its name", **dict.fromkeys(lost[:MOST], REMOVED)}
    showing = _showing(sides)
    candidates = tuple(_candidate(sides, identity, why, showing) for identity, why in named.items())
    return Refusal(
        code="unclear",
        address=str(entry.address),
        message=f"it has the name of {live.id}, and {candidates[1].address}, whose entry was removed, would "
        "be deleted: perhaps it is that one, under a new key and a new name",
        way_out=f"add id: {live.id} if it is what bears its name, or id: {candidates[1].id}",
        candidates=candidates,
        answers=tuple(
            WayOut(address=str(entry.address), add=f"id: {one.id}", means="it is that one")
            for one in candidates
        ),
    )


def _candidate(sides: Sides, identity: Identity, why: str, showing: Mapping[str, list[str]]) -> Candidate:
    item = sides.snapshot.objects[identity]
    return Candidate(
        address=str(sides.names.address(identity)),
        id=item.id,
        title=sides.names.label(item),
        why=why,
        changed=item.changed,
        shown_in=tuple(sorted(showing.get(item.id, ()))),
    )


def _showing(sides: Sides) -> Mapping[str, list[str]]:
    """By id, the addresses of the nodes that name it, as far as they were read."""
    found: dict[str, list[str]] = defaultdict(list)
    for identity, item in sides.snapshot.objects.items():
        if sides.kind(item).in_tree:
            for id in {id for value in item.fields.values() for id in live_ids(value)}:
                found[id].append(str(sides.names.address(identity)))
    return found


def _words(item: Candidate) -> str:
    facts = [item.why] if item.why else []
    facts += [f"shown in {item.shown_in[0]}"] if item.shown_in else []
    return f'"{item.title}" ({item.id})' + (f": {', '.join(facts)}" if facts else "")


def _line(sides: Sides, one: Open) -> str:
    return previous_name(one.kind, [sides.snapshot.objects[identity] for identity in one.could_be])


def _answers(sides: Sides, one: Open) -> tuple[WayOut, ...]:
    address = str(one.resource.address)
    found = [
        WayOut(address=address, add=f"id: {sides.snapshot.objects[identity].id}", means="it is that one")
        for identity in one.could_be
    ]
    return (*found, WayOut(address=address, add="new: true", means="it is another one"))
