"""Build the requests of a plan.

`write_steps` turns decisions into steps without edges. `RequestBuilder` fills in the calls and templates of
a kind; `fill_body_template` documents the template language.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from dpsync.kinds.kind import Call, Field, Kind, SiblingOrder
from dpsync.kinds.kind import TreeNode as NodeShape
from dpsync.kinds.urls import fill_path_template
from dpsync.model.address import Address
from dpsync.model.change import SHOW_SUMMARY, Gives, Note, Phase, Verb
from dpsync.model.desired import Entry
from dpsync.model.snapshot import LiveObject
from dpsync.model.values import REF_MARKER, Value, references
from dpsync.planner.compare import FieldChange, visibility_change
from dpsync.planner.create_hidden import hide_change, hiding_values
from dpsync.planner.decide import Decisions, EntryDecision
from dpsync.planner.history import is_container_field
from dpsync.planner.restructuring import RestructuredTree, visibility_flags
from dpsync.planner.sides import Sides
from dpsync.planner.stepset import StepDraft, StepSet

_FIELD = re.compile(r"\$(\w+)")


class RequestBuilder(Struct, frozen=True):
    """The construction of steps from the calls that a kind declares."""

    sides: Sides

    def create(self, entry: Entry, hidden: FieldChange | None = None) -> StepDraft:
        """Return a step that creates an object; `hidden` is a field value that hides the object at first."""
        kind = self.sides.kind(entry)
        call = kind.create_call(entry.pin, entry.fields)
        assert isinstance(call, Call)
        fields = {
            item.create_name or item.wire_name: self.to_wire_value(item, value)
            for item in kind.fields
            if item.written_in in ("create", "both")
            and item.name != kind.key_field
            and (value := entry.fields.get(item.name)) is not None
        }
        if hidden is not None:
            fields[hidden.field.create_name or hidden.field.wire_name] = self.to_wire_value(
                hidden.field, hidden.after
            )
        values = {
            "fields": fields,
            **self._template_values(kind, entry),
            **self._first_child_values(entry),
        }
        if entry.pin is not None:
            values["id"] = entry.pin
        own_id, where = _created_id(call.id_source, values)
        gives = [Gives(address=str(entry.address), pointer=where, id=own_id)]
        if call.first_child_id_path:
            gives.append(Gives(address=str(entry.children[0]), pointer=call.first_child_id_path))
        path = fill_path_template(
            self.sides.registry,
            kind,
            call.path,
            entry.pin,
            self.sides.hierarchy.ancestor_ids(entry),
            self._path_values(kind, entry),
        )
        if "{self}" in call.path:
            gives = [Gives(address=str(entry.address), id=self._parent_id(entry))]
        return self._draft(entry.address, "create", call, path, values, gives=tuple(gives))

    def restore(self, entry: Entry) -> StepDraft:
        """Return a step that restores a deleted object."""
        kind = self.sides.kind(entry)
        assert kind.lifecycle.restore is not None
        call, summary = kind.lifecycle.restore.call, "restore the deleted object"
        path = self.path(kind, call, entry)
        return self._draft(entry.address, "restore", call, path, {}, summary=summary)

    def transfer(self, entry: Entry) -> StepDraft:
        """Return a step that gives an object to another parent."""
        kind = self.sides.kind(entry)
        assert kind.lifecycle.transfer is not None
        call, values = kind.lifecycle.transfer, self._template_values(kind, entry)
        path, summary = self.path(kind, call, entry), f"given to {entry.parent}"
        return self._draft(entry.address, "transfer", call, path, values, summary=summary)

    def user_action(self, entry: Entry, word: str) -> StepDraft:
        """Return a step with the declared action `word` of a kind."""
        kind = self.sides.kind(entry)
        call = kind.platform_work.user_actions[word]
        path, values = self.path(kind, call, entry), self._template_values(kind, entry)
        return self._draft(entry.address, "act", call, path, values, tag=word, summary=word)

    def await_output(self, entry: Entry) -> StepDraft:
        """Return a step that reads an object until the platform has created the object that belongs to it."""
        kind, output = self.sides.kind(entry), self.sides.values.output_address(entry.address)
        assert kind.platform_work.outputs is not None
        call = Call(method="GET", path="{self}", body=None, repeat="safe")
        gives = (Gives(address=str(output), pointer=kind.platform_work.outputs.id_field),)
        path, summary = self.path(kind, call, entry), "wait until GitBook has created the space"
        return self._draft(entry.address, "await", call, path, {}, gives=gives, summary=summary)

    def _parent_id(self, entry: Entry) -> Any:
        assert entry.parent is not None
        return self.sides.snapshot.live_id(entry.parent) or {REF_MARKER: str(entry.parent)}

    def _template_values(self, kind: Kind, entry: Entry) -> dict[str, Any]:
        """Return the values that a body template may name: the ids of the ancestors, and the own fields."""
        return {**self._ancestor_ids(entry), **self._fields(kind, entry)}

    def _ancestor_ids(self, entry: Entry) -> dict[str, Any]:
        found: dict[str, Any] = {}
        at = entry.parent
        while at is not None:
            above = self.sides.desired.entries[at]
            found[above.kind] = self._own_id(above)
            at = above.parent
        return found

    def _fields(self, kind: Kind, entry: Entry) -> dict[str, Any]:
        return {
            item.name: self.to_wire_value(item, entry.fields[item.name])
            for item in kind.fields
            if item.name in entry.fields
        }

    def _path_values(self, kind: Kind, entry: Entry) -> dict[str, str]:
        """Return the fields that a path may name: texts, and references as ids."""
        named = self._fields(kind, entry)
        return {name: text for name, value in named.items() if (text := _path_id(value)) is not None}

    def _first_child_values(self, entry: Entry) -> dict[str, Any]:
        if not entry.children:
            return {}
        child = self.sides.desired.entries[entry.children[0]]
        child_kind = self.sides.kind(child)
        return {f"child.{name}": value for name, value in self._fields(child_kind, child).items()}

    def update(
        self,
        entry: Entry,
        live: LiveObject | None,
        changes: list[FieldChange],
        phase: Phase | None = None,
        tag: str = "",
        *,
        name: str = "",
    ) -> StepDraft:
        """Return a step that writes several fields with one request.

        `name` replaces the word "update" in the id of the step.
        """
        kind = self.sides.kind(entry)
        assert kind.update is not None
        fields = {item.field.wire_name: self.to_wire_value(item.field, item.after) for item in changes}
        if live is not None and kind.update.sends_every_field:
            fields = self._live_values(kind, live) | self._declared_values(kind, entry) | fields
        elif live is not None and kind.update.replaces_object and kind.update.method == "PUT":
            fields = self._declared_values(kind, entry) | fields
        path = self.path(kind, kind.update, entry)
        values = {"fields": fields, **self._template_values(kind, entry), "id": self._own_id(entry)}
        names = tuple(item.field.name for item in changes)
        return self._draft(
            entry.address, "update", kind.update, path, values, phase=phase, tag=tag, fields=names,
            summary=SHOW_SUMMARY if name == SHOW_SUMMARY else ", ".join(names), name=name,
        )  # fmt: skip

    def _live_values(self, kind: Kind, live: LiveObject) -> dict[str, Any]:
        """Return the live values of all fields in the form of the update call."""
        return {
            item.wire_name: self.to_wire_value(item, value)
            for item in kind.fields
            if item.written_in in ("update", "both") and (value := live.fields.get(item.name)) is not None
        }

    def _declared_values(self, kind: Kind, entry: Entry) -> dict[str, Any]:
        return {
            item.wire_name: self.to_wire_value(item, entry.fields[item.name])
            for item in kind.fields
            if item.written_in in ("update", "both") and item.name in entry.fields
        }

    def set_field(self, entry: Entry, change: FieldChange, phase: Phase = "link") -> StepDraft | None:
        """Return a step with the field's own call; None if the field has no call for this value."""
        kind, item = self.sides.kind(entry), change.field
        call = item.call_for_value(change.after)
        if call is None:
            return None
        # Requests name an old value only by its id; a mapping may contain values that are never sent.
        named_before = None if isinstance(change.before, dict | list) else change.before
        value, old = self.to_wire_value(item, change.after), self.to_wire_value(item, named_before)
        more = {"value": _path_id(value) or "", "old": _path_id(old) or ""}
        path = self.path(kind, call, entry, more)
        values = {"fields": {item.wire_name: value}, "value": value, "old": old, "id": self._own_id(entry)}
        named = {**self._template_values(kind, entry), **values}
        return self._draft(
            entry.address, "update", call, path, named, phase=phase, tag=item.name, fields=(item.name,),
            summary=item.name,
        )  # fmt: skip

    def release_value(
        self, resource_path: str, kind: Kind, address: Address, item: Field, value: str
    ) -> StepDraft:
        """Return a step that replaces a value, so that another object can take the old one."""
        assert kind.update is not None
        values = {"fields": {item.wire_name: value}}
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

    def move(self, entry: Entry, side: str, sibling: Entry) -> StepDraft:
        """Return a step that moves an object before or after a sibling."""
        kind, order = self.sides.kind(entry), self._order(entry)
        path = self.path(kind, order.call, entry)
        values = {
            "position": {side: self._pointer(sibling)},
            "id": self._own_id(entry),
            "wire": _wire_name(kind),
        }
        return self._draft(
            entry.address, "move", order.call, path, values, sibling=sibling.address,
            summary=f"{side} {sibling.address}",
        )  # fmt: skip

    def _pointer(self, entry: Entry) -> Any:
        """Return the form in which the position of a move names a sibling."""
        values = {"id": self._own_id(entry), "wire": _wire_name(self.sides.kind(entry))}
        return fill_body_template(self._order(entry).sibling_reference, values)

    def _order(self, entry: Entry) -> SiblingOrder:
        """Return how to move an object among its siblings: in its tree, or in the list that orders them."""
        listed = self.sides.registry.list_order(entry.kind)
        order = listed.move_order if listed is not None else self.sides.kind(entry).order
        assert order is not None
        return order

    def path(self, kind: Kind, call: Call, entry: Entry, more: Mapping[str, str] | None = None) -> str:
        id, chain = (
            self.sides.hierarchy.live_id_or_placeholder(entry.address),
            self.sides.hierarchy.ancestor_ids(entry),
        )
        return fill_path_template(self.sides.registry, kind, call.path, id, chain, more)

    def live_path(self, live: LiveObject, template: str) -> str:
        kind, chain = self.sides.kind(live), self.sides.snapshot.ancestors(live)
        return fill_path_template(self.sides.registry, kind, template, live.id, chain)

    def _own_id(self, entry: Entry) -> Any:
        return self.sides.snapshot.live_id(entry.address) or {REF_MARKER: str(entry.address)}

    def to_wire_value(self, item: Field, value: Value) -> Any:
        """Return the value as the API expects it, with ids in place of references if they are known."""
        if value is None:
            return item.type.encode("") if item.null_effect == "empty" else None
        return self.sides.values.to_request(item.type.encode(value))

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
            body=fill_body_template(call.body, values),
            gives=gives,
            repeat=call.repeat,
            answers=call.success_object,
            whole=call.replaces_object,
            summary=summary,
            fields=fields,
            sibling=sibling,
        )


def _wire_name(kind: Kind) -> str:
    return kind.shape.wire_type if isinstance(kind.shape, NodeShape) else kind.name


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
    if isinstance(value, dict) and set(value) == {REF_MARKER}:
        return f"{{{value[REF_MARKER]}}}"
    return None


def fill_body_template(template: Any, values: Mapping[str, Any]) -> Any:
    """Fill a body template: "$name" is a value, a "..." key spreads a mapping; missing values are omitted."""
    if isinstance(template, str) and template.startswith("$"):
        return values.get(template[1:])
    if isinstance(template, dict):
        body: dict[str, Any] = {}
        for key, part in template.items():
            if key == "...":
                body |= fill_body_template(part, values) or {}
            elif not _is_missing(part, values):
                body[key] = fill_body_template(part, values)
        return body
    if isinstance(template, list):
        return [fill_body_template(part, values) for part in template]
    return template


def _is_missing(template: Any, values: Mapping[str, Any]) -> bool:
    return isinstance(template, str) and template.startswith("$") and template[1:] not in values


def write_steps(decisions: Decisions) -> StepSet:
    """Return the steps that carry out the decisions, except moves among siblings."""
    return _StepWriter(decisions).write()


def hidden_site_notes(decisions: Decisions) -> list[Note]:
    """Return a note for each site that is hidden while its navigation is rebuilt."""
    return [
        Note(
            address=str(item.scope.parent),
            text=f"{field.name} is false while dpsync rebuilds the navigation",
        )
        for item in decisions.restructuring.confirmed
        if item.becomes_site_spaces
        for field in visibility_flags(decisions.sides.kind(item.owner), item)
    ]


class _StepWriter:
    """The conversion of decisions into steps without edges."""

    def __init__(self, decisions: Decisions) -> None:
        self.decisions = decisions
        self.sides = decisions.sides
        self.drafts: list[StepDraft] = []
        self.creating_steps: dict[Address, str] = {}
        self.requests = RequestBuilder(decisions.sides)

    def write(self) -> StepSet:
        for entry in self.decisions.entries.values():
            if entry.live is None:
                self._create(entry)
            else:
                self._change(entry, entry.live)
        rebuilt = [item for item in self.decisions.restructuring.confirmed if item.becomes_site_spaces]
        for address, identity in self.decisions.deletions.addresses.items():
            live = self.decisions.deletions.roots[identity]
            early = any(address.is_at_or_below(item.scope.address) for item in rebuilt)
            self.drafts.append(self.requests.delete(live, address, early=early))
        for item in rebuilt:
            self._hide(item)
        for address in self.decisions.transfers.requested_entries:
            self._transfer(address)
        self._await_outputs()
        return StepSet().with_steps(self.drafts, self.creating_steps)

    def _create(self, entry: EntryDecision) -> None:
        resource = entry.entry
        if entry.has_create_request:
            self.drafts.append(
                self.requests.create(
                    resource, hide_change(entry.hiding_field) if entry.hiding_field is not None else None
                )
            )
        elif entry.hiding_field is not None:
            self._hide_until_finished(entry, entry.hiding_field, None)
        plain = [item for item in entry.separately_written if item.field.own_call is None]
        if plain:
            if any(item.field is entry.hiding_field for item in plain):
                name, tag = SHOW_SUMMARY, ""
            else:  # a part of the creation: the create request cannot write these fields
                name, tag = "create", "(second request)" if entry.has_create_request else ""
            self.drafts.append(self.requests.update(resource, None, plain, tag=tag, name=name))
        for item in entry.separately_written:
            if item.field.own_call is not None:
                self._set_field(resource, item)

    def _change(self, entry: EntryDecision, live: LiveObject) -> None:
        resource = entry.entry
        if (
            not (entry.separately_written or entry.user_actions or live.deleted)
            and entry.hiding_field is None
        ):
            return  # most entries do not change
        if live.deleted:
            step = self.requests.restore(resource)
            self.drafts.append(step)
            self.creating_steps[resource.address] = step.id
        if entry.hiding_field is not None and live.fields.get(entry.hiding_field.name) not in hiding_values(
            entry.hiding_field
        ):
            self._hide_until_finished(entry, entry.hiding_field, live)
        plain: list[FieldChange] = []
        visible: dict[Phase, list[FieldChange]] = {"withdraw": [], "expose": []}
        for item in entry.separately_written:
            how = visibility_change(item.field, item.before, item.after)
            if item.field.own_call is not None:
                self._set_field(resource, item)
            elif how is not None:
                visible["expose" if entry.is_unfinished else how].append(item)
            elif item.field.is_parent_reference:
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
        for word in entry.user_actions:
            self.drafts.append(self.requests.user_action(resource, word))

    def _hide_until_finished(self, entry: EntryDecision, field: Field, live: LiveObject | None) -> None:
        """Hide an object that is created together with its parent, while the parent is hidden."""
        step = self.requests.update(entry.entry, live, [hide_change(field)], "withdraw", field.name)
        self.drafts.append(step)

    def _needs_own_request(self, item: FieldChange) -> bool:
        """Return whether a change waits for another step and therefore needs its own request."""
        return bool(item.field.written_after) or any(
            self.sides.values.live_id(ref) is None for ref in references(item.after)
        )

    def _set_field(self, entry: Entry, item: FieldChange) -> None:
        phase: Phase
        how = visibility_change(item.field, item.before, item.after)
        if how is not None:
            phase = how
        elif item.field.exclusive_within:
            phase = "default"
        else:
            phase = "place" if is_container_field(item.field) else "link"
        step = self.requests.set_field(entry, item, phase)
        if step is not None:
            self.drafts.append(step)

    def _hide(self, tree: RestructuredTree) -> None:
        """Hide a site while its navigation is rebuilt, and show it again at the end if its entry says so."""
        resource = self.sides.entries[tree.scope.parent]
        for field in visibility_flags(self.sides.kind(tree.owner), tree):
            if resource.fields.get(field.name) is True:
                self._set_field(resource, FieldChange(field, after=False, before=True))
                self._set_field(resource, FieldChange(field, after=True, before=False))

    def _transfer(self, address: Address) -> None:
        """Add the transfer of an object. The same request transfers its contents."""
        resource = self.sides.entries[address]
        live = self.sides.live(address)
        if self.sides.kind(resource).lifecycle.transfer is None or live is None:
            return
        step = self.requests.transfer(resource)
        self.drafts.append(step)
        for given in (address, *self.decisions.transfers.transferred_inside(live.identity)):
            self.creating_steps[given] = step.id

    def _await_outputs(self) -> None:
        """Add steps that wait for objects that the platform creates, if another step needs their ids."""
        needed = {address for step in self.drafts for address in step.referenced_addresses()}
        for address, resource in self.sides.entries.items():
            if self.sides.values.output_address(address) in needed:
                self.drafts.append(self.requests.await_output(resource))
