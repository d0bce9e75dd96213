"""What a plan has shown, as digests, and what several plans have shown together: pure.

A plan shows what is done to each thing: one `Shown` for what is made or deleted as a whole, one for each
field that changes, one for each thing that becomes more visible. A digest names the platform and the id of
the organization, so what a plan for one has shown says nothing about another.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from dpsync.model.change import Change
from dpsync.model.plan import Plan
from dpsync.model.text import json_text

SIZE: Final = 30
"""Bytes of one `Shown`: 40 characters of base64."""
_ADDRESS: Final = 11
_FIELD: Final = 3
_WHAT: Final = 16
"""Bytes of a digest on which an approval rests. Two addresses or fields that look alike lose an approval."""
WHOLE: Final = bytes(_FIELD)
"""Instead of a field: the whole thing."""
_EXPOSED: Final = b"\x80"
_CONTEXT: Final = ("address", "kind", "action", "id", "inside")
_ANY_UPDATE: Final = (("update", None), ("move", None), ("await", None))
"""Steps of a change that follow from the fields that it changes."""


class Shown(Struct, frozen=True, order=True):
    """One thing that is done: where, in which field (empty: to the whole), and what. All are digests."""

    address: bytes
    field: bytes
    what: bytes

    def __bytes__(self) -> bytes:
        return self.address + self.field + self.what

    @property
    def exposes(self) -> bool:
        """It is told of what becomes more visible, and is no change by itself."""
        return self.field >= _EXPOSED

    @property
    def of(self) -> bytes:
        """The field that it is about, or WHOLE."""
        return bytes([self.field[0] & 0x7F]) + self.field[1:]


def read_shown(content: bytes) -> tuple[Shown, ...]:
    """What `bytes` of several gave. What is left over at the end is nothing."""
    whole = range(0, len(content) - SIZE + 1, SIZE)
    return tuple(_read(content[at : at + SIZE]) for at in whole)


def _read(one: bytes) -> Shown:
    return Shown(one[:_ADDRESS], one[_ADDRESS:-_WHAT], one[-_WHAT:])


def shown_by(plan: Plan) -> tuple[Shown, ...]:
    """Everything that a plan shows, each once."""
    found = [one for change in plan.changes for one in shown_of(change, plan)]
    return tuple(dict.fromkeys([*found, *(one for _, one in exposures_shown(plan))]))


def shown_of(change: Change, plan: Plan) -> tuple[Shown, ...]:
    """What a plan shows of one of its changes; never nothing.

    How its requests are sent is left out: what is left of a plan after half of it was done has the same
    changes, with ids where addresses were.
    """
    done = change.done.model_dump(mode="json")
    for item in done["differences"]:
        if item["masked"] is None:
            del item["masked"]
    context = [_target(plan, change.address), *(done[name] for name in _CONTEXT)]
    if change.action == "update" and (parts := list(_parts(change, done))):
        return tuple(_displayed(change.address, field, [*context, what]) for field, what in parts)
    steps = [[step.verb, step.answers] for step in change.steps]
    rest = [done["differences"], done["moved"], done["effects"], steps]
    return (_displayed(change.address, "", [*context, rest]),)


def exposures_shown(plan: Plan) -> Iterator[tuple[str, Shown]]:
    """What becomes more visible or more powerful, with where."""
    for item in plan.exposures:
        what = [_target(plan, item.address), "exposed", item.model_dump(mode="json")]
        one = _displayed(item.address, item.field, what)
        yield item.address, replace(one, field=bytes([one.field[0] | 0x80]) + one.field[1:])


def address_digest(address: str) -> bytes:
    """The address as a `Shown` has it."""
    return _hashed(address)[:_ADDRESS]


def latest_shown(oldest_first: Iterable[Iterable[Shown]]) -> frozenset[Shown]:
    """What several plans have shown: where two of them speak of the same thing, the later one counts.

    The same thing is a field, or an address where one of the two speaks of the whole.
    """
    found: set[Shown] = set()
    for displayed in map(tuple, oldest_first):
        said = {(one.address, one.of) for one in displayed}
        addresses = {one.address for one in displayed}
        wholes = {address for address, field in said if field == WHOLE}
        found = {
            one for one in found
            if one.address not in addresses
            or not (one.of == WHOLE or one.address in wholes or (one.address, one.of) in said)
        } | set(displayed)  # fmt: skip
    return frozenset(found)


def _parts(change: Change, done: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """What an update does, one after the other: by the field, or another name for what has none."""
    for item in done["differences"]:
        yield item["field"], ["field", item]
    if done["moved"] is not None:
        yield "#moved", ["moved", done["moved"]]
    for effect in done["effects"]:
        yield "#effects", ["effect", effect]
    for step in dict.fromkeys((step.verb, step.answers) for step in change.steps):
        if step not in _ANY_UPDATE:
            yield "#steps", ["step", *step]


def _target(plan: Plan, address: str) -> list[str]:
    """The platform and organization of an address, by their names for each other."""
    root = address.partition("/")[0]
    return [plan.target, next((one.id for one in plan.organizations if one.address == root), "")]


def _displayed(address: str, field: str, what: Any) -> Shown:
    named = Shown(address_digest(address), _hashed(field)[:_FIELD] if field else WHOLE, b"")
    return replace(named, field=named.of, what=_hashed(json_text(_ordered(what)))[:_WHAT])


def _hashed(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _ordered(value: object) -> object:
    if isinstance(value, dict):
        return {key: _ordered(value[key]) for key in sorted(value)}
    return [_ordered(item) for item in value] if isinstance(value, list) else value
