"""How new things are made so that nobody sees them before they are as declared.

Some of what hides a thing is taken by the request that makes it (`draft`), the rest only by a later one
(`condition`, `hidden`). A new thing that needs such a later request, in a place that people see, is *held
back*: it is made hidden by the field that its kind hides by, and the request that sets the rest shows it.
What is made along with another one is held back by a request of its own, while that other one is. Where a
server has no such field, the thing is public *for a moment*: a plan says so and asks. The same holds for what
the platform makes more powerful than it is declared, until a later request takes that away.

A live thing that is hidden without saying so, and that lacks what it declares to hide it, was left like this
by an apply that was stopped: the request that sets the rest shows it, too. Nothing else ever shows what does
not declare to be visible. What the git base says otherwise was not left by an apply, and stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from dpsync.kinds.kind import Call, Field, Kind
from dpsync.kinds.registry import SupportedKind
from dpsync.kinds.types import Flag
from dpsync.model.address import Address
from dpsync.model.desired import Entry
from dpsync.model.snapshot import LiveObject
from dpsync.planner.compare import Changed, direction, raises
from dpsync.planner.sides import Sides


class Holding(Struct, frozen=True):
    """What is held back, and what cannot be. `adopted`: entries that are made along with their parent."""

    sides: Sides
    adopted: frozenset[Address]

    def held(self, resource: Entry) -> Field | None:
        """The field by which a new entry is held back; None where it need not be, or cannot."""
        field = self._can_hold(resource)
        if field is None or self._covered(resource):
            return None
        if resource.address in self.adopted:
            maker = self.sides.resources[resource.holder or resource.address]
            return field if self.later(resource) and self.held(maker) is not None else None
        if resource.fields.get(field.name) in hidden_by(field):
            return None
        child = self.child(resource)
        waits = self.later(resource) or (child is not None and self.later(child))
        return field if waits else None

    def momentary(self, resource: Entry) -> tuple[Field, ...]:
        """The fields that hide a new entry only after people could see it for a moment."""
        if self._covered(resource) or self.held(resource) is not None:
            return ()
        return self.later(resource)

    def powerful(self, resource: Entry) -> tuple[Field, ...]:
        """The fields of which a new entry has more than it declares, until a later request sets them."""
        made_with = self.made_with(resource)
        found = tuple(
            item
            for item in self.sides.kind(resource).fields
            if isinstance(item.raised, tuple)
            and item.name not in made_with
            and (value := resource.fields.get(item.name)) is not None
            and raises(item, value, at_first(item))
        )
        return () if found and self._covered(resource) else found

    def later(self, resource: Entry) -> tuple[Field, ...]:
        """What hides a new entry and is not set by the request that makes it."""
        made_with = self.made_with(resource)
        found = (item for item in self._hiding(resource) if item.name not in made_with)
        if resource.address not in self.adopted and any(
            item.name in made_with and item.name in self.sides.kind(resource).visible_when
            for item in self._hiding(resource)
        ):
            return ()
        return tuple(found)

    def made_with(self, resource: Entry) -> frozenset[str]:
        """The fields that the request sends which makes an entry."""
        kind = self.sides.kind(resource)
        if resource.address in self.adopted and resource.holder is not None:
            maker = self.sides.kind(self.sides.resources[resource.holder])
            assert isinstance(maker.create, Call)
            return frozenset(_child_fields(maker.create.body))
        add = kind.lifecycle.add
        if add is not None and resource.pin is not None:  # that call takes nothing but the id
            return frozenset((add.field,))
        return frozenset(item.name for item in kind.fields if item.on in ("create", "both"))

    def child(self, resource: Entry) -> Entry | None:
        """The child that the request for an entry makes along with it."""
        first = self.sides.lineage.first_child(resource)
        return first if first is not None and first.address in self.adopted else None

    # What an apply has left behind.

    def unfinished(self, resource: Entry, live: LiveObject) -> Field | None:
        """The field that hides a live entry which an apply made and could not finish."""
        field = self._can_hold(resource)
        if (
            field is None
            or field.name in resource.fields
            or live.fields.get(field.name) not in hidden_by(field)
        ):
            return None
        first = self._made_along(resource)
        lacking = self._lacks(resource, live) or (first is not None and self._keeps_back(*first, field))
        return field if lacking else None

    def left(self, resource: Entry, live: LiveObject) -> Field | None:
        """The field that hides what was made along with such an entry until that one is shown.

        What it lacks is how the next run knows that the other one is not finished: so it gets that last.
        """
        around = self.sides.resources.get(resource.holder) if resource.holder is not None else None
        maker = self.sides.live(around.address) if around is not None else None
        if around is None or maker is None or self.unfinished(around, maker) is None:
            return None
        first, field = self._made_along(around), self._can_hold(resource)
        if field is None or first is None or first[0] is not resource or not self._lacks(resource, live):
            return None
        return None if resource.fields.get(field.name) in hidden_by(field) else field

    def _made_along(self, resource: Entry) -> tuple[Entry, LiveObject] | None:
        """The entry that was made by the request for this one: first here, and first in what is live.

        What came into it later is behind that one until it is finished.
        """
        along = getattr(self.sides.kind(resource).create, "also_creates", None)
        first = self.sides.lineage.first_child(resource) if along else None
        live, maker = (self.sides.live(one.address) if one is not None else None for one in (first, resource))
        if first is None or live is None or maker is None:
            return None
        there = self.sides.snapshot.lanes.get(maker.identity, ())
        return (first, live) if live.identity in there[:1] else None

    def _keeps_back(self, first: Entry, live: LiveObject, field: Field) -> bool:
        """Whether what was made along with an entry was not finished, or is hidden itself."""
        hidden = live.fields.get(field.name) in hidden_by(field)
        return self._lacks(first, live) or (hidden and first.fields.get(field.name) in hidden_by(field))

    def _lacks(self, resource: Entry, live: LiveObject) -> bool:
        """Whether something that hides an entry was never set: it is as it was made."""
        earlier = self.sides.names.in_base(resource, live)
        return any(
            live.fields.get(item.name) in (None, item.absent)
            and (earlier is None or earlier.fields.get(item.name) == resource.fields[item.name])
            for item in self._hiding(resource)
        )

    # What hides.

    def _hiding(self, resource: Entry) -> Iterator[Field]:
        """The fields by which an entry is less visible than one that says nothing.

        It has no field that the policy ignores (`Sides.resources`). What was not selected is left as it is.
        """
        if self.sides.policy.left_out(resource.address):
            return
        for item in self.sides.kind(resource).fields:
            value = resource.fields.get(item.name)
            if value is not None and direction(item, at_first(item), value) == "withdraw":
                yield item

    def _can_hold(self, resource: Entry) -> Field | None:
        """The field that hides one, where the server takes it when one is made, and when it is shown."""
        kind = self.sides.kind(resource)
        field = kind.hides
        if (
            field is None
            or field.name in kind.unsupported_fields
            or field.via is not None
            or field.on != "both"
        ):
            return None
        return None if self.sides.policy.ignored(resource.address, field.name) else field

    def _covered(self, resource: Entry) -> bool:
        """Whether nobody sees an entry, or what it is in, before everything in it is as declared."""
        kind = self.sides.kind(resource)
        if any(
            kind.field(name).absent not in right
            for name, right in kind.visible_when.items()
            if _flag(kind, name)
        ):
            return True
        around = resource.holder or resource.parent
        while around is not None:
            above = self.sides.resources[around]
            if self._is_hidden(above):
                return True
            around = above.holder or above.parent
        return False

    def _is_hidden(self, above: Entry) -> bool:
        """Whether something is hidden now, is made hidden, or is hidden before anything in it is written."""
        kind, live = self.sides.kind(above), self.sides.live(above.address)
        if hides_itself(kind, live.fields if live is not None else {}):
            return True
        return any(
            self._declares(kind, kind.field(name), above) for name in kind.visible_when if _flag(kind, name)
        )

    def _declares(self, kind: SupportedKind, item: Field, above: Entry) -> bool:
        """Whether an entry says that it hides itself by this flag, and that can be done at once."""
        if item.name not in above.fields or above.fields[item.name] in kind.visible_when[item.name]:
            return False
        if item.name in kind.unsupported_fields or self.sides.policy.ignored(above.address, item.name):
            return False
        return self.sides.live(above.address) is not None or item.name in self.made_with(above)


def at_first(field: Field) -> Any:
    """The value that a field of a new thing has when its entry says nothing."""
    return field.platform_default if field.absent is None else field.absent


def hides_itself(kind: Kind, fields: Mapping[str, Any]) -> bool:
    """Whether nobody sees a thing with these fields, nor what is in it, by a flag of its own."""
    for name, right in kind.visible_when.items():
        value = fields.get(name)
        if _flag(kind, name) and (kind.field(name).absent if value is None else value) not in right:
            return True
    return False


def _flag(kind: Kind, name: str) -> bool:
    return isinstance(kind.field(name).type, Flag)


def hiding(field: Field) -> Changed:
    """The field and value that hide a new entry until the rest of it is set."""
    return Changed(field, hidden_by(field)[0], field.absent)


def showing(resource: Entry, field: Field) -> tuple[Changed, ...]:
    """What shows an entry that was held back; nothing where it is declared to stay hidden."""
    after = resource.fields.get(field.name, field.absent)
    return () if after in hidden_by(field) else (Changed(field, after, hidden_by(field)[0]),)


def hidden_by(field: Field) -> tuple[Any, ...]:
    """The one value by which such a field hides."""
    assert isinstance(field.exposure, tuple)
    return field.exposure[:1]


def _child_fields(body: Any) -> Iterator[str]:
    """The fields of the first child that a template names."""
    if isinstance(body, dict):
        for part in body.values():
            yield from _child_fields(part)
    elif isinstance(body, str) and body.startswith("$child."):
        yield body.removeprefix("$child.")
