"""Build the requests of a plan.

`write_steps` turns decisions into steps without edges. `Requests` fills in the calls and templates of a kind;
`render` documents the template language.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from dpsync.kinds.kind import Call, Field, Kind, Order
from dpsync.kinds.kind import Node as NodeShape
from dpsync.kinds.urls import expand
from dpsync.model.address import Address
from dpsync.model.change import SHOW, Gives, Note, Phase, Verb
from dpsync.model.desired import Entry
from dpsync.model.snapshot import LiveObject
from dpsync.model.values import REF, Value, references
from dpsync.planner.compare import Changed, direction
from dpsync.planner.create_hidden import hidden_by, hiding
from dpsync.planner.decide import Decisions, EntryDecision
from dpsync.planner.history import is_place
from dpsync.planner.restructuring import Restructure, shown_by
from dpsync.planner.sides import Sides
from dpsync.planner.stepset import StepDraft, StepSet

_FIELD = re.compile(r"\$(\w+)")


class Requests(Struct, frozen=True):
    """The construction of steps from the calls that a kind declares."""

    sides: Sides

    def create(self, resource: Entry, hidden: Changed | None = None) -> StepDraft:
        """Return a step that creates an object; `hidden` is a field value that hides the object at first."""
        kind = self.sides.kind(resource)
        call = kind.creating(resource.pin, resource.fields)
        assert isinstance(call, Call)
        fields = {
            item.create_as or item.wire: self.wire(item, value)
            for item in kind.fields
            if item.on in ("create", "both")
            and item.name != kind.natural
            and (value := resource.fields.get(item.name)) is not None
        }
        if hidden is not None:
            fields[hidden.field.create_as or hidden.field.wire] = self.wire(hidden.field, hidden.after)
        values = {
            "fields": fields,
            **self._template_values(kind, resource),
            **self._first_child_values(resource),
        }
        if resource.pin is not None:
            values["id"] = resource.pin
        own_id, where = _created_id(call.gives, values)
        gives = [Gives(address=str(resource.address), pointer=where, id=own_id)]
        if call.also_creates:
            gives.append(Gives(address=str(resource.children[0]), pointer=call.also_creates))
        path = expand(
            self.sides.registry,
            kind,
            call.path,
            resource.pin,
            self.sides.lineage.chain(resource),
            self._path_values(kind, resource),
        )
        if "{self}" in call.path:
            gives = [Gives(address=str(resource.address), id=self._parent_id(resource))]
        return self._draft(resource.address, "create", call, path, values, gives=tuple(gives))

    def restore(self, resource: Entry) -> StepDraft:
        """Return a step that restores a deleted object."""
        kind = self.sides.kind(resource)
        assert kind.lifecycle.restore is not None
        call, summary = kind.lifecycle.restore.call, "restore the deleted object"
        path = self.path(kind, call, resource)
        return self._draft(resource.address, "restore", call, path, {}, summary=summary)

    def transfer(self, resource: Entry) -> StepDraft:
        """Return a step that gives an object to another parent."""
        kind = self.sides.kind(resource)
        assert kind.lifecycle.transfer is not None
        call, values = kind.lifecycle.transfer, self._template_values(kind, resource)
        path, summary = self.path(kind, call, resource), f"given to {resource.parent}"
        return self._draft(resource.address, "transfer", call, path, values, summary=summary)

    def act(self, resource: Entry, word: str) -> StepDraft:
        """Return a step with the declared action `word` of a kind."""
        kind = self.sides.kind(resource)
        call = kind.platform.acts[word]
        path, values = self.path(kind, call, resource), self._template_values(kind, resource)
        return self._draft(resource.address, "act", call, path, values, tag=word, summary=word)

    def awaiting(self, resource: Entry) -> StepDraft:
        """Return a step that reads an object until the platform has created the object that belongs to it."""
        kind, output = self.sides.kind(resource), self.sides.values.output(resource.address)
        assert kind.platform.outputs is not None
        call = Call(method="GET", path="{self}", body=None, repeat="safe")
        gives = (Gives(address=str(output), pointer=kind.platform.outputs.read),)
        path, summary = self.path(kind, call, resource), "wait until GitBook has created the space"
        return self._draft(resource.address, "await", call, path, {}, gives=gives, summary=summary)

    def _parent_id(self, resource: Entry) -> Any:
        assert resource.parent is not None
        return self.sides.snapshot.bound(resource.parent) or {REF: str(resource.parent)}

    def _template_values(self, kind: Kind, resource: Entry) -> dict[str, Any]:
        """Return the values that a body template may name: the ids of the ancestors, and the own fields."""
        return {**self._ancestor_ids(resource), **self._fields(kind, resource)}

    def _ancestor_ids(self, resource: Entry) -> dict[str, Any]:
        found: dict[str, Any] = {}
        at = resource.parent
        while at is not None:
            above = self.sides.desired.resources[at]
            found[above.kind] = self._own(above)
            at = above.parent
        return found

    def _fields(self, kind: Kind, resource: Entry) -> dict[str, Any]:
        return {
            item.name: self.wire(item, resource.fields[item.name])
            for item in kind.fields
            if item.name in resource.fields
        }

    def _path_values(self, kind: Kind, resource: Entry) -> dict[str, str]:
        """Return the fields that a path may name: texts, and references as ids."""
        named = self._fields(kind, resource)
        return {name: text for name, value in named.items() if (text := _path_id(value)) is not None}

    def _first_child_values(self, resource: Entry) -> dict[str, Any]:
        if not resource.children:
            return {}
        child = self.sides.desired.resources[resource.children[0]]
        child_kind = self.sides.kind(child)
        return {f"child.{name}": value for name, value in self._fields(child_kind, child).items()}

    def update(
        self,
        resource: Entry,
        live: LiveObject | None,
        changes: list[Changed],
        phase: Phase | None = None,
        tag: str = "",
        *,
        shows: bool = False,
    ) -> StepDraft:
        """Return a step that writes several fields with one request."""
        kind = self.sides.kind(resource)
        assert kind.update is not None
        fields = {item.field.wire: self.wire(item.field, item.after) for item in changes}
        if live is not None and kind.update.complete:
            fields = self._live_values(kind, live) | self._declared_values(kind, resource) | fields
        elif live is not None and kind.update.whole and kind.update.method == "PUT":
            fields = self._declared_values(kind, resource) | fields
        path = self.path(kind, kind.update, resource)
        values = {"fields": fields, **self._template_values(kind, resource), "id": self._own(resource)}
        names = tuple(item.field.name for item in changes)
        return self._draft(
            resource.address, "update", kind.update, path, values, phase=phase, tag=tag, fields=names,
            summary=SHOW if shows else ", ".join(names), name=SHOW if shows else "",
        )  # fmt: skip

    def _live_values(self, kind: Kind, live: LiveObject) -> dict[str, Any]:
        """Return the live values of all fields in the form of the update call."""
        return {
            item.wire: self.wire(item, value)
            for item in kind.fields
            if item.on in ("update", "both") and (value := live.fields.get(item.name)) is not None
        }

    def _declared_values(self, kind: Kind, resource: Entry) -> dict[str, Any]:
        return {
            item.wire: self.wire(item, resource.fields[item.name])
            for item in kind.fields
            if item.on in ("update", "both") and item.name in resource.fields
        }

    def link(self, resource: Entry, change: Changed, phase: Phase = "link") -> StepDraft | None:
        """Return a step with the field's own call; None if the field has no call for this value."""
        kind, item = self.sides.kind(resource), change.field
        call = item.setting(change.after)
        if call is None:
            return None
        # Requests name an old value only by its id; a mapping may contain values that are never sent.
        named_before = None if isinstance(change.before, dict | list) else change.before
        value, old = self.wire(item, change.after), self.wire(item, named_before)
        more = {"value": _path_id(value) or "", "old": _path_id(old) or ""}
        path = self.path(kind, call, resource, more)
        values = {"fields": {item.wire: value}, "value": value, "old": old, "id": self._own(resource)}
        named = {**self._template_values(kind, resource), **values}
        return self._draft(
            resource.address, "update", call, path, named, phase=phase, tag=item.name, fields=(item.name,),
            summary=item.name,
        )  # fmt: skip

    def free(self, resource_path: str, kind: Kind, address: Address, item: Field, value: str) -> StepDraft:
        """Return a step that replaces a value, so that another object can take the old one."""
        assert kind.update is not None
        values = {"fields": {item.wire: value}}
        summary = f"free the {item.name} for another object"
        update, tag = kind.update, item.name
        return self._draft(
            address, "update", update, resource_path, values, phase="free", tag=tag, summary=summary
        )

    def delete(self, live: LiveObject, address: Address, *, early: bool = False) -> StepDraft:
        """Return a step that deletes an object, `early` to make room before a navigation is rebuilt."""
        kind = self.sides.kind(live)
        assert isinstance(kind.delete, Call)
        path = self.live_path(live, kind.delete.path)
        phase: Phase | None = "clear" if early else None
        return self._draft(address, "delete", kind.delete, path, {"id": live.id}, phase=phase)

    def move(self, resource: Entry, side: str, sibling: Entry) -> StepDraft:
        """Return a step that moves an object before or after a sibling."""
        kind, order = self.sides.kind(resource), self._order(resource)
        path = self.path(kind, order.call, resource)
        values = {
            "position": {side: self._pointer(sibling)},
            "id": self._own(resource),
            "wire": _wire_name(kind),
        }
        return self._draft(
            resource.address, "move", order.call, path, values, sibling=sibling.address,
            summary=f"{side} {sibling.address}",
        )  # fmt: skip

    def _pointer(self, resource: Entry) -> Any:
        """Return the form in which the position of a move names a sibling."""
        values = {"id": self._own(resource), "wire": _wire_name(self.sides.kind(resource))}
        return render(self._order(resource).pointer, values)

    def _order(self, resource: Entry) -> Order:
        """Return how to move an object among its siblings: in its tree, or in the list that orders them."""
        listed = self.sides.registry.list_order(resource.kind)
        order = listed.order if listed is not None else self.sides.kind(resource).order
        assert order is not None
        return order

    def path(self, kind: Kind, call: Call, resource: Entry, more: Mapping[str, str] | None = None) -> str:
        id, chain = self.sides.lineage.id(resource.address), self.sides.lineage.chain(resource)
        return expand(self.sides.registry, kind, call.path, id, chain, more)

    def live_path(self, live: LiveObject, template: str) -> str:
        kind, chain = self.sides.kind(live), self.sides.snapshot.above(live)
        return expand(self.sides.registry, kind, template, live.id, chain)

    def _own(self, resource: Entry) -> Any:
        return self.sides.snapshot.bound(resource.address) or {REF: str(resource.address)}

    def wire(self, item: Field, value: Value) -> Any:
        """Return the value as the API expects it, with ids in place of references if they are known."""
        if value is None:
            return item.type.encode("") if item.null == "empty" else None
        return self.sides.values.sent(item.type.encode(value))

    @staticmethod
    def _draft(
        address: Address, verb: Verb, call: Call, path: str, values: dict[str, Any],
        gives: tuple[Gives, ...] = (), phase: Phase | None = None, tag: str = "",
        fields: tuple[str, ...] = (), summary: str = "", sibling: Address | None = None,
        name: str = "",
    ) -> StepDraft:  # fmt: skip
        return StepDraft(
            address=address,
            id=f"{address} {name or phase or verb}{' ' + tag if tag else ''}",
            verb=verb,
            phase=phase,
            method=call.method,
            path=path,
            body=render(call.body, values),
            gives=gives,
            repeat=call.repeat,
            answers=call.answers,
            whole=call.whole,
            summary=summary,
            fields=fields,
            sibling=sibling,
        )


def _wire_name(kind: Kind) -> str:
    return kind.shape.wire if isinstance(kind.shape, NodeShape) else kind.name


def _created_id(gives: str, values: Mapping[str, Any]) -> tuple[Any, str | None]:
    """Return the id of a created object if known before the call, else the pointer to it in the response.

    `gives` is "$name" (a value), a pointer, or a pointer with "{$name}" parts.
    """
    if "{" in gives:
        return None, _FIELD.sub(lambda match: str(values[match[1]]), gives)
    return (values[gives.removeprefix("$")], None) if gives.startswith("$") else (None, gives)


def _path_id(value: Any) -> str | None:
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and set(value) == {REF}:
        return f"{{{value[REF]}}}"
    return None


def render(template: Any, values: Mapping[str, Any]) -> Any:
    """Fill a body template: "$name" is a value, a "..." key spreads a mapping; missing values are omitted."""
    if isinstance(template, str) and template.startswith("$"):
        return values.get(template[1:])
    if isinstance(template, dict):
        body: dict[str, Any] = {}
        for key, part in template.items():
            if key == "...":
                body |= render(part, values) or {}
            elif not _is_missing(part, values):
                body[key] = render(part, values)
        return body
    if isinstance(template, list):
        return [render(part, values) for part in template]
    return template


def _is_missing(template: Any, values: Mapping[str, Any]) -> bool:
    return isinstance(template, str) and template.startswith("$") and template[1:] not in values


def write_steps(decisions: Decisions) -> StepSet:
    """Return the steps that carry out the decisions, except moves among siblings."""
    return _Writer(decisions).write()


def concealment_notes(decisions: Decisions) -> list[Note]:
    """Return a note for each site that is hidden while its navigation is rebuilt."""
    return [
        Note(
            address=str(item.scope.parent),
            text=f"{field.name} is false while dpsync rebuilds the navigation",
        )
        for item in decisions.restructuring.agreed
        if item.alone
        for field in shown_by(decisions.sides.kind(item.owner), item)
    ]


class _Writer:
    """The conversion of decisions into steps without edges."""

    def __init__(self, decisions: Decisions) -> None:
        self.decisions = decisions
        self.sides = decisions.sides
        self.drafts: list[StepDraft] = []
        self.makers: dict[Address, str] = {}
        self.requests = Requests(decisions.sides)

    def write(self) -> StepSet:
        for entry in self.decisions.entries.values():
            if entry.live is None:
                self._create(entry)
            else:
                self._change(entry, entry.live)
        rebuilt = [item for item in self.decisions.restructuring.agreed if item.alone]
        for address, identity in self.decisions.deletions.addresses.items():
            live = self.decisions.deletions.roots[identity]
            early = any(address.is_in(item.scope.address) for item in rebuilt)
            self.drafts.append(self.requests.delete(live, address, early=early))
        for item in rebuilt:
            self._hide(item)
        for address in self.decisions.transfers.calls:
            self._transfer(address)
        self._await_outputs()
        return StepSet().plus(self.drafts, self.makers)

    def _create(self, entry: EntryDecision) -> None:
        resource = entry.resource
        if entry.created:
            self.drafts.append(
                self.requests.create(resource, hiding(entry.held) if entry.held is not None else None)
            )
        elif entry.held is not None:
            self._hide_until_finished(entry, entry.held, None)
        plain = [item for item in entry.written if item.field.via is None]
        if plain:
            shows = any(item.field is entry.held for item in plain)
            self.drafts.append(self.requests.update(resource, None, plain, shows=shows))
        for item in entry.written:
            if item.field.via is not None:
                self._link(resource, item)

    def _change(self, entry: EntryDecision, live: LiveObject) -> None:
        resource = entry.resource
        if not (entry.written or entry.acts or live.deleted) and entry.held is None:
            return  # most entries do not change
        if live.deleted:
            step = self.requests.restore(resource)
            self.drafts.append(step)
            self.makers[resource.address] = step.id
        if entry.held is not None and live.fields.get(entry.held.name) not in hidden_by(entry.held):
            self._hide_until_finished(entry, entry.held, live)
        plain: list[Changed] = []
        visible: dict[Phase, list[Changed]] = {"withdraw": [], "expose": []}
        for item in entry.written:
            how = direction(item.field, item.before, item.after)
            if item.field.via is not None:
                self._link(resource, item)
            elif how is not None:
                visible["expose" if entry.unfinished else how].append(item)
            elif item.field.nest:
                self.drafts.append(self.requests.update(resource, live, [item], "place"))
            else:
                plain.append(item)
        for phase, items in visible.items():
            if items:
                tag = "+".join(item.field.name for item in items)
                self.drafts.append(self.requests.update(resource, live, items, phase, tag))
        waiting = [item for item in plain if self._needs_own_request(item)]
        ready = [item for item in plain if item not in waiting]
        if ready:
            self.drafts.append(self.requests.update(resource, live, ready))
        for item in waiting:
            self.drafts.append(self.requests.update(resource, live, [item], tag=item.field.name))
        for word in entry.acts:
            self.drafts.append(self.requests.act(resource, word))

    def _hide_until_finished(self, entry: EntryDecision, field: Field, live: LiveObject | None) -> None:
        """Hide an object that is created together with its parent, while the parent is hidden."""
        step = self.requests.update(entry.resource, live, [hiding(field)], "withdraw", field.name)
        self.drafts.append(step)

    def _needs_own_request(self, item: Changed) -> bool:
        """Return whether a change waits for another step and therefore needs its own request."""
        return bool(item.field.after) or any(
            self.sides.values.known_id(ref) is None for ref in references(item.after)
        )

    def _link(self, resource: Entry, item: Changed) -> None:
        phase: Phase
        how = direction(item.field, item.before, item.after)
        if how is not None:
            phase = how
        elif item.field.one_per:
            phase = "default"
        else:
            phase = "place" if is_place(item.field) else "link"
        step = self.requests.link(resource, item, phase)
        if step is not None:
            self.drafts.append(step)

    def _hide(self, item: Restructure) -> None:
        """Hide a site while its navigation is rebuilt, and show it again at the end if its entry says so."""
        resource = self.sides.resources[item.scope.parent]
        for field in shown_by(self.sides.kind(item.owner), item):
            if resource.fields.get(field.name) is True:
                self._link(resource, Changed(field, after=False, before=True))
                self._link(resource, Changed(field, after=True, before=False))

    def _transfer(self, address: Address) -> None:
        """Add the transfer of an object. The same request transfers its contents."""
        resource = self.sides.resources[address]
        live = self.sides.live(address)
        if self.sides.kind(resource).lifecycle.transfer is None or live is None:
            return
        step = self.requests.transfer(resource)
        self.drafts.append(step)
        for given in (address, *self.decisions.transfers.given_with(live.identity)):
            self.makers[given] = step.id

    def _await_outputs(self) -> None:
        """Add steps that wait for objects that the platform creates, if another step needs their ids."""
        needed = {address for step in self.drafts for address in step.refers()}
        for address, resource in self.sides.resources.items():
            if self.sides.values.output(address) in needed:
                self.drafts.append(self.requests.awaiting(resource))
