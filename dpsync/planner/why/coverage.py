"""What no entry names, so that nobody notices when it moves: counted from what is declared, never read.

A field counts that could be read and written, and that its entry leaves out; a place that could be declared
below an entry, and is not. What the policy ignores was left out on purpose and does not count.
"""

from __future__ import annotations

from collections.abc import Iterator

from dpsync.kinds.kind import Field, Kind
from dpsync.model.entries.address import Address
from dpsync.model.entries.desired import Resource
from dpsync.model.plans.remark import Unwatched
from dpsync.planner.inputs.sides import Sides
from dpsync.planner.why.defaults import watched_defaults


def unwatched(sides: Sides) -> Unwatched:
    """How much of it there is."""
    fields = things = places = 0
    for resource in _selected(sides):
        own = sum(1 for _ in unwatched_fields(sides, resource))
        fields += own
        things += own > 0
        places += sum(1 for _ in unwatched_places(sides, resource))
    return Unwatched(places=places, fields=fields, things=things)


def _selected(sides: Sides) -> Iterator[Resource]:
    """The entries that are looked at, by address."""
    for address in sides.resources:
        if not sides.policy.ignored(address):
            yield sides.desired.resources[address]


def each_unwatched(sides: Sides) -> Iterator[tuple[Resource, tuple[Field, ...], tuple[Place, ...]]]:
    """Every entry of which something is not watched: the fields, and the places."""
    for resource in _selected(sides):
        fields = tuple(unwatched_fields(sides, resource))
        places = tuple(unwatched_places(sides, resource))
        if fields or places:
            yield resource, fields, places


def unwatched_fields(sides: Sides, resource: Resource) -> Iterator[Field]:
    kind, watched = sides.kind(resource), watched_defaults(sides, resource)
    for field in kind.fields:
        can_be_written = field.on != "neither" and not field.nest and field.name != kind.natural
        left_out = field.name not in resource.fields and field.source is not None
        quiet = field.name in watched or sides.policy.ignored(resource.address, field.name)
        if can_be_written and left_out and not quiet:
            yield field


Place = tuple[Address, tuple[Kind, ...]]
"""A mapping of entries, a tree or a single, by its address, and the kinds that stand there."""


def unwatched_places(sides: Sides, resource: Resource) -> Iterator[Place]:
    known = (sides.desired.scopes, sides.desired.watched, sides.desired.unserved)
    for word, kinds in sides.registry.places(resource.kind).items():
        address = resource.address.child(*word.split("."))
        if not any(address in one for one in known) and not sides.policy.ignored(address):
            yield address, kinds
