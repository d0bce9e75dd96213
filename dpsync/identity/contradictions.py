"""A first and a later natural key that name different objects. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dpsync.identity.candidates import Past
from dpsync.identity.natural_keys import Index, Key, NaturalKeys, key_text, written
from dpsync.identity.questions import candidates, choice, it_is
from dpsync.model.address import Address
from dpsync.model.desired import Entry
from dpsync.model.diagnostic import Diagnostic
from dpsync.model.snapshot import LiveObject


def contradictions(
    view: NaturalKeys,
    past: Past,
    wanted: Sequence[Entry],
    index: Index,
    claims: Mapping[Address, LiveObject],
) -> dict[Address, Diagnostic]:
    """By entry what is to be asked: an exchange or a mistake, not for us to guess. `claims`: by first keys.

    The later key's object is no contradiction when another entry claims it by its own first key, unless that
    entry's later key leads back: then two objects have exchanged their keys. Nor is it one when the first
    key's object is all that the entry is in the git base: then the later key is a new value for it.
    """
    other: dict[Address, tuple[LiveObject, Key]] = {}
    for resource in wanted:
        if (mine := claims.get(resource.address)) is None:
            continue
        for key in view.later_keys:
            value = view.wanted(resource, key)
            if value is None or view.has(mine, key, value):
                continue  # as nearly always: that others carry it as well is no contradiction
            hits = index.bearing(key, value)
            if len(hits) == 1:
                if not is_in_base(view, past, resource, mine):
                    other[resource.address] = (hits[0], key)
                break
    if not other:
        return {}
    claimant = {item.id: address for address, item in claims.items()}
    asked: dict[Address, Diagnostic] = {}
    by_address = {resource.address: resource for resource in wanted}
    for address, (item, key) in other.items():
        if _leads_back(address, other, claimant):
            resource, first = by_address[address], view.first_key
            mine = claims[address]
            by_first = mine.id
            asked[address] = Diagnostic(
                "DP303",
                f'the object "{by_first}" has the {key_text(first)} of this entry, but the object '
                f'"{item.id}" has the {key_text(key)} of this entry',
                written(resource, first),
                str(address),
                choice(f"change the {key_text(first)} of", address, item.id, by_first, view.shared),
                candidates=candidates(view.kind, resource, {by_first: mine, item.id: item}),
                answers=it_is(resource, view.shared, by_first, item.id),
            )
    return asked


def is_in_base(view: NaturalKeys, past: Past, resource: Entry, live: LiveObject) -> bool:
    """Whether a live object has all natural keys that the entry has in the git base."""
    earlier = past.entries.get(resource.address)
    if earlier is None:
        return False
    before = past.keys(view)
    values = {key: before.wanted(earlier, key) for key in view.kind.identity}
    given = [(key, value) for key, value in values.items() if value is not None]
    return bool(given) and all(view.has(live, key, value) for key, value in given)


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
