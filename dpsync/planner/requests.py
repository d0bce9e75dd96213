"""Build the requests of a plan.

Input: decisions (what happens to each object), and the request templates of each kind.
Output: `write_steps` returns steps, without the edges that order them. `RequestBuilder` fills in paths and
bodies; `fill_body_template` documents the template language.
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
from dpsync.planner.names import is_container_field
from dpsync.planner.restructuring import RestructuredTree, visibility_flags
from dpsync.planner.sides import Sides
from dpsync.planner.stepset import StepDraft, StepSet

_FIELD = re.compile(r"\$(\w+)")


class RequestBuilder(Struct, frozen=True):
    """The construction of steps from the calls that a kind declares."""

    sides: Sides

    def create(self, entry: Entry, hidden: FieldChange | None = None) -> StepDraft:
        """Return a step that creates an object, and its first child if the API creates both with one request.

        `hidden` is a field value that hides the object until a later step; None if it is not needed.
        """
        kind = self.sides.kind(entry)
        call = kind.create_call(entry.pin, entry.fields)
        assert isinstance(call, Call)
        fields = {
            field.create_name or field.wire_name: self.to_wire_value(field, value)
            for field in kind.fields
            if field.written_in in ("create", "both")
            and field.name != kind.key_field
            and (value := entry.fields.get(field.name)) is not None
        }
        if hidden is not None:
            fields[hidden.field.create_name or hidden.field.wire_name] = self.to_wire_value(
                hidden.field, hidden.after
            )
        first_child_values: dict[str, Any] = {}
        if entry.children:
            child = self.sides.desired.entries[entry.children[0]]
            child_fields = self._wire_fields(self.sides.kind(child), child)
            first_child_values = {f"child.{name}": value for name, value in child_fields.items()}
        values = {
            "fields": fields,
            **self._template_values(kind, entry),
            **first_child_values,
        }
        if entry.pin is not None:
            values["id"] = entry.pin
        own_id, id_pointer = _created_id(call.id_source, values)
        outputs = [Gives(address=str(entry.address), pointer=id_pointer, id=own_id)]
        if call.first_child_id_path:
            outputs.append(Gives(address=str(entry.children[0]), pointer=call.first_child_id_path))
        # A path may name fields: texts, and references as ids.
        path_values = {
            name: text
            for name, value in self._wire_fields(kind, entry).items()
            if (text := _path_id(value)) is not None
        }
        path = fill_path_template(
            self.sides.registry,
            kind,
            call.path,
            entry.pin,
            self.sides.hierarchy.ancestor_ids(entry),
            path_values,
        )
        if "{self}" in call.path:
            # An object that exists once in each parent has the id of the parent.
            assert entry.parent is not None
            parent_id = self.sides.snapshot.live_id(entry.parent) or {REF_MARKER: str(entry.parent)}
            outputs = [Gives(address=str(entry.address), id=parent_id)]
        return self._draft(entry.address, "create", call, path, values, gives=tuple(outputs))

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

    def user_action(self, entry: Entry, action: str) -> StepDraft:
        """Return a step with an action that a kind declares and a user requests (running a translation)."""
        kind = self.sides.kind(entry)
        call = kind.platform_work.user_actions[action]
        path, values = self.path(kind, call, entry), self._template_values(kind, entry)
        return self._draft(entry.address, "act", call, path, values, tag=action, summary=action)

    def await_output(self, entry: Entry) -> StepDraft:
        """Return a step that polls an object (a translation) until the platform has created its space."""
        kind, output = self.sides.kind(entry), self.sides.values.output_address(entry.address)
        assert kind.platform_work.outputs is not None
        call = Call(method="GET", path="{self}", body=None, repeat="safe")
        outputs = (Gives(address=str(output), pointer=kind.platform_work.outputs.id_field),)
        path, summary = self.path(kind, call, entry), "wait until GitBook has created the space"
        return self._draft(entry.address, "await", call, path, {}, gives=outputs, summary=summary)

    def _template_values(self, kind: Kind, entry: Entry) -> dict[str, Any]:
        """Return the values that a body template may name: the ids of the ancestors, and the own fields."""
        ancestor_ids: dict[str, Any] = {}
        address = entry.parent
        while address is not None:
            ancestor = self.sides.desired.entries[address]
            ancestor_ids[ancestor.kind] = self._own_id(ancestor)
            address = ancestor.parent
        return {**ancestor_ids, **self._wire_fields(kind, entry)}

    def _wire_fields(self, kind: Kind, entry: Entry) -> dict[str, Any]:
        """Return all declared values of an entry as the API expects them, by name of the field."""
        return {
            field.name: self.to_wire_value(field, entry.fields[field.name])
            for field in kind.fields
            if field.name in entry.fields
        }

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

        A call that replaces the object also gets the declared, or all live, values of the other fields.
        `name` replaces the word "update" in the id of the step.
        """
        kind = self.sides.kind(entry)
        assert kind.update is not None
        fields = {
            change.field.wire_name: self.to_wire_value(change.field, change.after) for change in changes
        }
        if live is not None and kind.update.sends_every_field:
            live_values = {
                field.wire_name: self.to_wire_value(field, value)
                for field in kind.fields
                if field.written_in in ("update", "both")
                and (value := live.fields.get(field.name)) is not None
            }
            fields = live_values | self._declared_values(kind, entry) | fields
        elif live is not None and kind.update.replaces_object and kind.update.method == "PUT":
            fields = self._declared_values(kind, entry) | fields
        path = self.path(kind, kind.update, entry)
        values = {"fields": fields, **self._template_values(kind, entry), "id": self._own_id(entry)}
        names = tuple(change.field.name for change in changes)
        return self._draft(
            entry.address, "update", kind.update, path, values, phase=phase, tag=tag, fields=names,
            summary=SHOW_SUMMARY if name == SHOW_SUMMARY else ", ".join(names), name=name,
        )  # fmt: skip

    def _declared_values(self, kind: Kind, entry: Entry) -> dict[str, Any]:
        """Return the declared values that an update can write, as the API expects them."""
        return {
            field.wire_name: self.to_wire_value(field, entry.fields[field.name])
            for field in kind.fields
            if field.written_in in ("update", "both") and field.name in entry.fields
        }

    def set_field(self, entry: Entry, change: FieldChange, phase: Phase = "link") -> StepDraft | None:
        """Return a step that sets a field with the field's own API call; None without a call for this value.

        The phase decides when the step runs.
        """
        kind, field = self.sides.kind(entry), change.field
        call = field.call_for_value(change.after)
        if call is None:
            return None
        # Requests name an old value only by its id; a mapping may contain values that are never sent.
        before = None if isinstance(change.before, dict | list) else change.before
        value, old_value = self.to_wire_value(field, change.after), self.to_wire_value(field, before)
        path_values = {"value": _path_id(value) or "", "old": _path_id(old_value) or ""}
        path = self.path(kind, call, entry, path_values)
        values = {
            "fields": {field.wire_name: value},
            "value": value,
            "old": old_value,
            "id": self._own_id(entry),
        }
        template_values = {**self._template_values(kind, entry), **values}
        return self._draft(
            entry.address, "update", call, path, template_values, phase=phase, tag=field.name,
            fields=(field.name,), summary=field.name,
        )  # fmt: skip

    def release_value(
        self, resource_path: str, kind: Kind, address: Address, field: Field, value: str
    ) -> StepDraft:
        """Return a step that gives an object the temporary `value`, so that its unique value is free."""
        assert kind.update is not None
        values = {"fields": {field.wire_name: value}}
        summary = f"free the {field.name} for another object"
        update, tag = kind.update, field.name
        return self._draft(
            address, "update", update, resource_path, values, phase="free", tag=tag, summary=summary
        )

    def delete(self, live: LiveObject, address: Address, *, early: bool = False) -> StepDraft:
        """Return a step that deletes an object; `early` if it must be done before a tree is rebuilt."""
        kind = self.sides.kind(live)
        assert isinstance(kind.delete, Call)
        path = self.live_path(live, kind.delete.path)
        phase: Phase | None = "clear" if early else None
        return self._draft(address, "delete", kind.delete, path, {"id": live.id}, phase=phase)

    def move(self, entry: Entry, side: str, sibling: Entry) -> StepDraft:
        """Return a step that moves an object to before or after a sibling; `side` is "before" or "after"."""
        kind, order = self.sides.kind(entry), self._order(entry)
        path = self.path(kind, order.call, entry)
        sibling_values = {"id": self._own_id(sibling), "wire": _wire_name(self.sides.kind(sibling))}
        sibling_reference = fill_body_template(self._order(sibling).sibling_reference, sibling_values)
        values = {
            "position": {side: sibling_reference},
            "id": self._own_id(entry),
            "wire": _wire_name(kind),
        }
        return self._draft(
            entry.address, "move", order.call, path, values, sibling=sibling.address,
            summary=f"{side} {sibling.address}",
        )  # fmt: skip

    def _order(self, entry: Entry) -> SiblingOrder:
        """Return how an entry is moved among its siblings: as declared for its list, or for its tree."""
        listed = self.sides.registry.list_order(entry.kind)
        order = listed.move_order if listed is not None else self.sides.kind(entry).order
        assert order is not None
        return order

    def path(
        self, kind: Kind, call: Call, entry: Entry, field_values: Mapping[str, str] | None = None
    ) -> str:
        """Return the path of a call for an entry; an id that is not known yet is the address in braces."""
        id, ancestors = (
            self.sides.hierarchy.live_id_or_placeholder(entry.address),
            self.sides.hierarchy.ancestor_ids(entry),
        )
        return fill_path_template(self.sides.registry, kind, call.path, id, ancestors, field_values)

    def live_path(self, live: LiveObject, template: str) -> str:
        """Return a path template filled with the ids of a live object and its ancestors."""
        kind, ancestors = self.sides.kind(live), self.sides.snapshot.ancestors(live)
        return fill_path_template(self.sides.registry, kind, template, live.id, ancestors)

    def _own_id(self, entry: Entry) -> Any:
        """Return the live id of an entry, or a marker that the apply replaces by the id of the new object."""
        return self.sides.snapshot.live_id(entry.address) or {REF_MARKER: str(entry.address)}

    def to_wire_value(self, field: Field, value: Value) -> Any:
        """Return a value as the API expects it: encoded, with ids for references (or markers, if unknown)."""
        if value is None:
            return field.type.encode("") if field.null_effect == "empty" else None
        return self.sides.values.to_request(field.type.encode(value))

    @staticmethod
    def _draft(
        address: Address, verb: Verb, call: Call, path: str, values: dict[str, Any],
        gives: tuple[Gives, ...] = (), phase: Phase | None = None, tag: str = "",
        fields: tuple[str, ...] = (), summary: str = "", sibling: Address | None = None,
        name: str = "",
    ) -> StepDraft:  # fmt: skip
        """Return a step with the body of a call filled in; its id is "ADDRESS VERB [TAG]"."""
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
    """Return the name of a kind in request bodies."""
    return kind.shape.wire_type if isinstance(kind.shape, NodeShape) else kind.name


def _created_id(source: str, values: Mapping[str, Any]) -> tuple[Any, str | None]:
    """Return the id of an object to create, if it is known before the request, and the path to it otherwise.

    The path leads to the id in the response; it is None if the id is known. `source` is "$name" (a value of
    the request), a path, or a path with "{$name}" parts.
    """
    if "{" in source:
        return None, _FIELD.sub(lambda match: str(values[match[1]]), source)
    return (values[source.removeprefix("$")], None) if source.startswith("$") else (None, source)


def _path_id(value: Any) -> str | None:
    """Return a wire value as a part of a path: a text, or "{address}" for an unknown id; None for others."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and set(value) == {REF_MARKER}:
        return f"{{{value[REF_MARKER]}}}"
    return None


def fill_body_template(template: Any, values: Mapping[str, Any]) -> Any:
    """Fill a body template: "$name" is a value, a "..." key spreads a mapping; missing values are omitted.

    For example, {"title": "$title", "...": "$fields"} with {"fields": {"a": 1}} becomes {"a": 1}.
    """
    if isinstance(template, str) and template.startswith("$"):
        return values.get(template[1:])
    if isinstance(template, dict):
        body: dict[str, Any] = {}
        for key, part in template.items():
            if key == "...":
                body |= fill_body_template(part, values) or {}
            elif not (isinstance(part, str) and part.startswith("$") and part[1:] not in values):
                body[key] = fill_body_template(part, values)
        return body
    if isinstance(template, list):
        return [fill_body_template(part, values) for part in template]
    return template


def write_steps(decisions: Decisions) -> StepSet:
    """Return the steps that carry out the decisions, except moves among siblings."""
    return _StepWriter(decisions).write()


def hidden_site_notes(decisions: Decisions) -> list[Note]:
    """Return a note for each site that the plan hides while it rebuilds the site's navigation."""
    return [
        Note(
            address=str(tree.scope.parent),
            text=f"{field.name} is false while dpsync rebuilds the navigation",
        )
        for tree in decisions.restructuring.confirmed
        if tree.becomes_site_spaces
        for field in visibility_flags(decisions.sides.kind(tree.owner), tree)
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
        """Return the steps of all creates, changes, deletes, restructurings and transfers, not yet ordered.

        Deletes in a navigation that is rebuilt run early, before the new nodes are created.
        """
        for decision in self.decisions.entries.values():
            if decision.live is None:
                self._create(decision)
            else:
                self._change(decision, decision.live)
        rebuilt = [tree for tree in self.decisions.restructuring.confirmed if tree.becomes_site_spaces]
        for address, identity in self.decisions.deletions.addresses.items():
            live = self.decisions.deletions.roots[identity]
            early = any(address.is_at_or_below(tree.scope.address) for tree in rebuilt)
            self.drafts.append(self.requests.delete(live, address, early=early))
        for tree in rebuilt:
            self._hide_while_rebuilt(tree)
        for address in self.decisions.transfers.requested_entries:
            self._transfer(address)
        # Wait for objects that the platform creates, if another step needs their ids.
        needed = {address for step in self.drafts for address in step.referenced_addresses()}
        for address, entry in self.sides.entries.items():
            if self.sides.values.output_address(address) in needed:
                self.drafts.append(self.requests.await_output(entry))
        return StepSet().with_steps(self.drafts, self.creating_steps)

    def _create(self, decision: EntryDecision) -> None:
        """Add the steps that create an object: a create request, then fields that it cannot set.

        An object without a create request is created together with its parent, and only updated here.
        """
        entry = decision.entry
        if decision.has_create_request:
            self.drafts.append(
                self.requests.create(
                    entry, hide_change(decision.hiding_field) if decision.hiding_field is not None else None
                )
            )
        elif decision.hiding_field is not None:
            self._hide_until_finished(decision, decision.hiding_field, None)
        ordinary_changes = [change for change in decision.separately_written if change.field.own_call is None]
        if ordinary_changes:
            if any(change.field is decision.hiding_field for change in ordinary_changes):
                name, tag = SHOW_SUMMARY, ""
            else:  # a part of the creation: the create request cannot write these fields
                name, tag = "create", "(second request)" if decision.has_create_request else ""
            self.drafts.append(self.requests.update(entry, None, ordinary_changes, tag=tag, name=name))
        for change in decision.separately_written:
            if change.field.own_call is not None:
                self._set_field(entry, change)

    def _change(self, decision: EntryDecision, live: LiveObject) -> None:
        """Add the steps that change a live object.

        The order is: restore, hide, fields with an own call, parent and visibility, ordinary fields,
        actions. Ordinary fields share one request.
        """
        entry = decision.entry
        if (
            not (decision.separately_written or decision.user_actions or live.deleted)
            and decision.hiding_field is None
        ):
            return  # most entries do not change
        if live.deleted:
            step = self.requests.restore(entry)
            self.drafts.append(step)
            self.creating_steps[entry.address] = step.id
        if decision.hiding_field is not None and live.fields.get(
            decision.hiding_field.name
        ) not in hiding_values(decision.hiding_field):
            self._hide_until_finished(decision, decision.hiding_field, live)
        ordinary_changes: list[FieldChange] = []
        visibility_changes: dict[Phase, list[FieldChange]] = {"withdraw": [], "expose": []}
        for change in decision.separately_written:
            visibility = visibility_change(change.field, change.before, change.after)
            if change.field.own_call is not None:
                self._set_field(entry, change)
            elif visibility is not None:
                visibility_changes["expose" if decision.is_unfinished else visibility].append(change)
            elif change.field.is_parent_reference:
                self.drafts.append(self.requests.update(entry, live, [change], "place"))
            else:
                ordinary_changes.append(change)
        for phase, phase_changes in visibility_changes.items():
            if phase_changes:
                tag = "+".join(change.field.name for change in phase_changes)
                self.drafts.append(self.requests.update(entry, live, phase_changes, phase, tag))
        # A change that waits for another step needs its own request.
        waiting_changes = [
            change
            for change in ordinary_changes
            if change.field.written_after
            or any(self.sides.values.live_id(ref) is None for ref in references(change.after))
        ]
        ready_changes = [change for change in ordinary_changes if change not in waiting_changes]
        if ready_changes:
            self.drafts.append(self.requests.update(entry, live, ready_changes))
        for change in waiting_changes:
            self.drafts.append(self.requests.update(entry, live, [change], tag=change.field.name))
        for action in decision.user_actions:
            self.drafts.append(self.requests.user_action(entry, action))

    def _hide_until_finished(self, decision: EntryDecision, field: Field, live: LiveObject | None) -> None:
        """Add the step that hides an object created together with its parent, while the parent is hidden."""
        step = self.requests.update(decision.entry, live, [hide_change(field)], "withdraw", field.name)
        self.drafts.append(step)

    def _set_field(self, entry: Entry, change: FieldChange) -> None:
        """Add the step that writes a field that has an API call of its own.

        The phase of the step decides its order: hide before and show after other steps, for example.
        """
        phase: Phase
        visibility = visibility_change(change.field, change.before, change.after)
        if visibility is not None:
            phase = visibility
        elif change.field.exclusive_within:
            phase = "default"
        else:
            phase = "place" if is_container_field(change.field) else "link"
        step = self.requests.set_field(entry, change, phase)
        if step is not None:
            self.drafts.append(step)

    def _hide_while_rebuilt(self, tree: RestructuredTree) -> None:
        """Add the steps that hide a site while its navigation is rebuilt, and show it again afterwards."""
        entry = self.sides.entries[tree.scope.parent]
        for field in visibility_flags(self.sides.kind(tree.owner), tree):
            if entry.fields.get(field.name) is True:
                self._set_field(entry, FieldChange(field, after=False, before=True))
                self._set_field(entry, FieldChange(field, after=True, before=False))

    def _transfer(self, address: Address) -> None:
        """Add the request that gives an object, with its contents, to another parent (an organization)."""
        entry = self.sides.entries[address]
        live = self.sides.live(address)
        if self.sides.kind(entry).lifecycle.transfer is None or live is None:
            return
        step = self.requests.transfer(entry)
        self.drafts.append(step)
        for transferred in (address, *self.decisions.transfers.transferred_inside(live.identity)):
            self.creating_steps[transferred] = step.id
