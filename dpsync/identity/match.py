"""Which live object is which entry, within one parent: pins, then the first natural key, then the later ones.

A mutable parent is never part of a key, it only breaks ties (`near`), so that moving is not replacing. The
later keys are what a creating call can set: an object whose creation was interrupted is found again by them.
Two answers to one question are an error that names the ids, never a guess.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from dpsync.kinds.base import Kind, Node
from dpsync.model.address import Address
from dpsync.model.desired import Resource
from dpsync.model.diagnostic import Diagnostic
from dpsync.model.snapshot import LiveObject, Match
from dpsync.model.values import LiveId, Ref, Value, canonical, transform

Bound = Callable[[Address], "str | None"]
Key = str | tuple[str, ...]


@dataclass(frozen=True)
class View:
    """How keys are read on both sides. `first_child` and `children` serve keys like "$child.space"."""

    kind: Kind
    bound: Bound
    first_child: Callable[[Resource], Resource | None] = lambda _: None
    children: Callable[[LiveObject], Sequence[LiveObject]] = lambda _: ()

    def wanted(self, resource: Resource, key: Key) -> tuple[bytes, ...] | None:
        """The entry's value of a key, None when a part of it is not given."""
        parts = [self._part(resource, name) for name in _names(key)]
        return None if any(part is None for part in parts) else tuple(self._form(part) for part in parts)

    def _part(self, resource: Resource, name: str) -> Value:
        if name.startswith("$child."):
            child = self.first_child(resource)
            return child.fields.get(name.removeprefix("$child.")) if child else None
        return resource.fields.get(name)

    def has(self, live: LiveObject, key: Key, value: tuple[bytes, ...]) -> bool:
        """Whether a live object carries this value; of children any one is enough."""
        return all(
            wanted in (self._form(part) for part in self._live(live, name))
            for name, wanted in zip(_names(key), value, strict=True)
        )

    def _live(self, live: LiveObject, name: str) -> Iterable[Value]:
        if name.startswith("$child."):
            field = name.removeprefix("$child.")
            return [child.fields.get(field) for child in self.children(live)]
        value = live.fields.get(name)
        folded = self.kind.field(name).type.fold(value)
        return [folded] if value is not None else []

    def near(self, resource: Resource, live: LiveObject) -> int:
        """How many tie-breakers agree; earlier ones weigh more. One that is not declared says nothing."""
        score = 0
        for name in self.kind.near:
            agrees = name in resource.fields and self._form(resource.fields[name]) == self._form(
                live.fields.get(name)
            )
            score = score * 2 + agrees
        return score

    def _form(self, value: Value) -> bytes:
        def known(leaf: Value) -> Value:
            id = self.bound(leaf.address) if isinstance(leaf, Ref) else None
            return LiveId(id) if id is not None else leaf

        return canonical(transform(value, known))


@dataclass
class Matching:
    """The matches found so far, and the questions that could not be answered."""

    matches: dict[Address, Match] = field(default_factory=dict)
    diagnostics: list[Diagnostic] = field(default_factory=list)


def match(view: View, wanted: Sequence[Resource], live: Sequence[LiveObject]) -> Matching:
    """Match the entries of one parent with its live objects, which come in live order."""
    found = Matching()
    claimed = _pins(view.kind, wanted, live, found)
    free = [item for item in live if item.id not in claimed]
    # The order of nodes means something: of equal ones the first takes the first. That of mappings does not.
    in_order = wanted if isinstance(view.kind.shape, Node) else sorted(wanted, key=lambda item: item.address)
    open_ = [resource for resource in in_order if resource.pin is None]
    if view.kind.identity:
        by_first = _first_key(view, open_, free, found)
        _contradictions(view, open_, free, by_first, found)
        claimed |= {item.id: address for address, item in by_first.items()}
        asked = {resource.address for resource in open_} - set(found.matches) - _ambiguous(found)
        _later_keys(view, [item for item in open_ if item.address in asked], free, claimed, found)
    return found


def _names(key: Key) -> tuple[str, ...]:
    return (key,) if isinstance(key, str) else key


def _said(key: Key) -> str:
    return " and ".join(name.removeprefix("$child.") for name in _names(key))


def _ambiguous(found: Matching) -> set[Address]:
    return {Address.parse(item.address) for item in found.diagnostics if item.address}


def _pins(
    kind: Kind, wanted: Sequence[Resource], live: Sequence[LiveObject], found: Matching
) -> dict[str, Address]:
    ids = {item.id for item in live}
    for resource in wanted:
        if resource.pin is None:
            continue
        if resource.pin in ids:
            found.matches[resource.address] = Match(resource.pin, "pin")
        else:
            found.diagnostics.append(no_such_id(kind, resource))
    return {item.id: address for address, item in found.matches.items()}


def no_such_id(kind: Kind, resource: Resource) -> Diagnostic:
    """A pin that names nothing live, be it that what should hold it is not live either."""
    return Diagnostic(
        "DP301",
        f'there is no {kind.noun} with the id "{resource.pin}"',
        resource.where("id"),
        str(resource.address),
        "a pinned entry is never created: correct the id, or remove it to find or create by name",
    )


def _first_key(
    view: View, wanted: Sequence[Resource], free: Sequence[LiveObject], found: Matching
) -> dict[Address, LiveObject]:
    """Claims by the first key, in rounds: what is certain first, which may make the rest certain."""
    key = view.kind.identity[0]
    hits: dict[Address, list[LiveObject]] = {}
    for resource in wanted:
        value = view.wanted(resource, key)
        hits[resource.address] = (
            [] if value is None else [item for item in free if view.has(item, key, value)]
        )
    claims: dict[Address, LiveObject] = {}
    taken: set[str] = set()
    open_ = [resource for resource in wanted if hits[resource.address]]
    while proposals := _proposals(view, open_, hits, taken):
        won: dict[Address, LiveObject] = {}
        for offers in proposals.values():
            best = max(score for score, _, _ in offers)
            winners = [(resource, item) for score, resource, item in offers if score == best]
            if len(winners) == 1:
                won[winners[0][0].address] = winners[0][1]
        if not won:
            break
        claims |= won
        taken |= {item.id for item in won.values()}
        open_ = [resource for resource in open_ if resource.address not in won]
    for address, item in claims.items():
        found.matches[address] = Match(item.id, _said(key))
    for resource in open_:
        left = [item.id for item in hits[resource.address] if item.id not in taken]
        if left:
            found.diagnostics.append(_unclear(view.kind, resource, key, left))
    return claims


def _proposals(
    view: View, open_: Sequence[Resource], hits: dict[Address, list[LiveObject]], taken: set[str]
) -> dict[str, list[tuple[int, Resource, LiveObject]]]:
    """For each live object, the entries that see it as their only best candidate."""
    proposals: dict[str, list[tuple[int, Resource, LiveObject]]] = defaultdict(list)
    for resource in open_:
        scored = [
            (view.near(resource, item), item) for item in hits[resource.address] if item.id not in taken
        ]
        best = max((score for score, _ in scored), default=None)
        candidates = [item for score, item in scored if score == best]
        if best is not None and len(candidates) == 1:
            proposals[candidates[0].id].append((best, resource, candidates[0]))
    return proposals


def _unclear(kind: Kind, resource: Resource, key: Key, ids: list[str]) -> Diagnostic:
    named = " and ".join(f'"{id}"' for id in ids)
    name = _names(key)[0]
    if len(ids) == 1:
        message = f"another entry has the same {_said(key)}, and only {named} is live"
    else:
        message = f"{len(ids)} live {kind.noun}s have this {_said(key)}: {named}"
    hint = f"say which one is meant: id: {ids[0]}"
    return Diagnostic("DP302", message, resource.where(name), str(resource.address), hint)


def _contradictions(
    view: View,
    wanted: Sequence[Resource],
    free: Sequence[LiveObject],
    claims: dict[Address, LiveObject],
    found: Matching,
) -> None:
    """A first and a later key that name different objects: an exchange or a mistake, not for us to guess.

    The later key's object is no contradiction when another entry claims it by its own first key, unless that
    entry's later key leads back: then two objects have exchanged their keys.
    """
    other: dict[Address, tuple[LiveObject, Key]] = {}
    for resource in wanted:
        mine = claims.get(resource.address)
        for key in view.kind.identity[1:] if mine else ():
            value = view.wanted(resource, key)
            hits = [item for item in free if value is not None and view.has(item, key, value)]
            if len(hits) == 1 and hits[0] is not mine:
                other[resource.address] = (hits[0], key)
                break
    claimant = {item.id: address for address, item in claims.items()}
    by_address = {resource.address: resource for resource in wanted}
    for address, (item, key) in other.items():
        if _leads_back(address, other, claimant):
            resource, first = by_address[address], view.kind.identity[0]
            del found.matches[address]
            by_first = claims[address].id
            found.diagnostics.append(
                Diagnostic(
                    "DP303",
                    f'its {_said(first)} is that of "{by_first}", its {_said(key)} that of "{item.id}"',
                    resource.where(_names(first)[0]),
                    str(address),
                    f"say which one is meant: id: {item.id} (renamed) or id: {by_first}",
                )
            )


def _leads_back(
    start: Address, other: dict[Address, tuple[LiveObject, Key]], claimant: dict[str, Address]
) -> bool:
    seen = {start}
    at = start
    while at in other:
        following = claimant.get(other[at][0].id)
        if following is None or following == start:
            return True
        if following in seen:
            return False
        seen.add(following)
        at = following
    return False


def _later_keys(
    view: View,
    wanted: Sequence[Resource],
    free: Sequence[LiveObject],
    claimed: dict[str, Address],
    found: Matching,
) -> None:
    """What the first key did not find: the first unclaimed object in live order that carries a later key."""
    for key in view.kind.identity[1:]:
        for resource in wanted:
            value = view.wanted(resource, key)
            if value is None or resource.address in found.matches:
                continue
            for item in free:
                if item.id not in claimed and view.has(item, key, value):
                    claimed[item.id] = resource.address
                    found.matches[resource.address] = Match(item.id, _said(key), first=False)
                    break
