"""Order the requests that set unique values, such as paths and titles, so that no value is taken twice.

The request that frees a value precedes the request that takes it. If entries exchange values in a circle, or
a deleted object has the value, a temporary value frees it. A value of another object that stays is a refusal.
Titles by which objects are recognized are treated alike, although GitBook allows duplicates: so no two
entries can be confused, even after an interruption.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property

from msgspec import Struct, field

from dpsync.identity.keys import temporary_name
from dpsync.kinds.kind import Call, Field, Kind
from dpsync.kinds.kind import TreeNode as NodeShape
from dpsync.model.address import Address
from dpsync.model.cycles import cycle_breaking_nodes
from dpsync.model.desired import Entry
from dpsync.model.question import Refusal
from dpsync.model.refusals import TAKEN
from dpsync.model.snapshot import Identity, LiveObject
from dpsync.planner.decide import Decisions
from dpsync.planner.deletions import Deletions
from dpsync.planner.requests import RequestBuilder
from dpsync.planner.sides import Sides
from dpsync.planner.stepset import Edge, StepDraft, StepSet


class _Rename(Struct, frozen=True):
    """An entry that takes a unique value by a step. `live` is None if the plan creates the object."""

    entry: Entry
    live: LiveObject | None
    value: str
    step: StepDraft


class UniqueValues(Struct, frozen=True):
    """The steps, edges and refusals that follow from unique values."""

    releasing: tuple[StepDraft, ...]
    """Steps that give an object a temporary value, so that another object can take its value."""
    edges: tuple[Edge, ...]
    refusals: tuple[Refusal, ...]


def order_unique_values(decisions: Decisions, steps: StepSet) -> UniqueValues:
    """Return the steps that free unique values, the edges of the steps that take them, and refusals."""
    finder = _UniqueValueFinder(decisions.sides, steps, RequestBuilder(decisions.sides), decisions.deletions)
    for kind in decisions.sides.registry.in_dependency_order:
        if kind.name not in finder.written_entries:
            continue
        for unique_field in kind.fields:
            if unique_field.unique_within:
                finder.order_field(kind, unique_field, unique_field.unique_within)
        title_field = name_field(kind)
        if title_field is not None:
            finder.order_field(kind, title_field, "parent")
    return UniqueValues(tuple(finder.releasing.values()), tuple(finder.edges), tuple(finder.refusals))


class _UniqueValueFinder(Struct, frozen=True, dict=True):
    """The search for steps and edges of each unique field. It reads steps and changes none."""

    sides: Sides
    steps: StepSet
    requests: RequestBuilder
    deletions: Deletions
    releasing: dict[str, StepDraft] = field(default_factory=dict)
    edges: list[Edge] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)

    @cached_property
    def written_entries(self) -> dict[str, list[Entry]]:
        """The entries with steps in the plan, by kind and in the order of addresses."""
        entries: dict[str, list[Entry]] = defaultdict(list)
        for address in sorted(self.steps.by_address):
            if (entry := self.sides.entries.get(address)) is not None:
                entries[entry.kind].append(entry)
        return entries

    def order_field(self, kind: Kind, unique_field: Field, scope_kind: str) -> None:
        """Order the requests that set a field, within each object (scope) in which its values must differ.

        `scope_kind` is the kind of that object, such as "site", or "parent". Then a request that frees a
        value precedes the request that sets it elsewhere.
        """
        scopes: dict[Address, list[_Rename]] = {}
        for entry in self.written_entries[kind.name]:
            if entry.fields.get(unique_field.name) is None:
                continue
            live = self.sides.live(entry.address)
            steps = self.steps.steps_of(entry.address)
            step = next((step for step in steps if unique_field.name in step.fields), None)
            if step is None and live is None and unique_field.written_in == "both":
                step = next(iter(self.steps.steps_of(entry.address, "create")), None)
            scope = self.sides.hierarchy.ancestor(entry, scope_kind)
            if step is not None and scope is not None:
                value = str(entry.fields[unique_field.name])
                scopes.setdefault(scope, []).append(_Rename(entry, live, value, step))
        if not scopes:
            return
        objects_by_value = self._objects_by_value(kind, unique_field, scope_kind)
        for scope, renames in sorted(scopes.items()):
            if unique_field.unique_within or any(rename.live for rename in renames):
                scope_identity = (
                    self.sides.desired.entries[scope].kind,
                    self.sides.snapshot.live_id(scope) or "",
                )
                self._order_scope(kind, unique_field, renames, objects_by_value[scope_identity])

    def _order_scope(
        self,
        kind: Kind,
        unique_field: Field,
        renames: list[_Rename],
        objects_by_value: Mapping[str, list[LiveObject]],
    ) -> None:
        """Add the edges, temporary values and refusals for the entries that take a value in one scope.

        `objects_by_value` has the live objects of the scope. A step waits for the steps by which these
        objects give up the value.
        """
        rename_by_object = {rename.live.identity: rename for rename in renames if rename.live}
        edges: list[Edge] = []
        for rename in renames:
            objects = objects_by_value.get(rename.value, [])
            if not objects or (rename.live is not None and rename.live in objects):
                continue
            others = [
                rename_by_object[live.identity] for live in objects if live.identity in rename_by_object
            ]
            if others:
                edges += rename.step.waits_for(*(other.step for other in others))
            elif unique_field.unique_within:
                # The object stays under its value, unless the plan deletes it: then it is renamed first.
                if objects[0].identity in self.deletions.roots:
                    releasing = self._releasing_step(kind, unique_field, objects[0])
                    edges += rename.step.waits_for(releasing)
                else:
                    self._refuse(kind, unique_field, rename, objects[0])
        self.edges.extend(self._break_cycles(kind, unique_field, renames, edges))
        # Nodes of a tree are created one at a time anyway (sibling_order.py).
        if unique_field.unique_within and not isinstance(kind.shape, NodeShape):
            self.edges.extend(self._creates_one_at_a_time(renames))

    def _objects_by_value(
        self, kind: Kind, unique_field: Field, scope_kind: str
    ) -> defaultdict[Identity, dict[str, list[LiveObject]]]:
        """Return the live objects by value of a field, for each object in which the values must differ."""
        objects: defaultdict[Identity, dict[str, list[LiveObject]]] = defaultdict(lambda: defaultdict(list))
        for live in self.sides.snapshot.objects.values():
            if live.kind == kind.name and (value := live.fields.get(unique_field.name)) is not None:
                scope = self.sides.hierarchy.live_ancestor(live, scope_kind)
                if scope is not None:
                    objects[scope][str(value)].append(live)
        return objects

    def _releasing_step(self, kind: Kind, unique_field: Field, live: LiveObject) -> StepDraft:
        """Add and return the step that gives an object a temporary value, so that its value is free."""
        address = self.sides.names.address(live.identity)
        assert kind.update is not None
        path = self.requests.live_path(live, kind.update.path)
        # After an interruption, the next run recognizes the object by its temporary name.
        name = temporary_name(str(address) if address in self.sides.entries else "/".join(live.identity))
        step = self.requests.release_value(path, kind, address, unique_field, name)
        return self.releasing.setdefault(step.id, step)

    def _break_cycles(
        self, kind: Kind, unique_field: Field, renames: list[_Rename], edges: list[Edge]
    ) -> Iterator[Edge]:
        """Yield the edges (which step waits for which), with cycles broken by temporary values.

        If A and B exchange their values, a further step first gives A a temporary value. Then B waits only
        for that step, and A for B. Several objects may have the same value, so a step may wait for several
        others.
        """
        by_step = {rename.step.id: rename for rename in renames}
        awaited: dict[str, list[str]] = {id: [] for id in by_step}
        for edge in edges:
            if edge.waits_for in awaited:
                awaited[edge.step].append(edge.waits_for)
        releasing_steps: dict[str, StepDraft] = {}
        for id in sorted(cycle_breaking_nodes(awaited), key=lambda step_id: by_step[step_id].entry.address):
            rename = by_step[id]
            assert rename.live is not None
            releasing_steps[id] = self._releasing_step(kind, unique_field, rename.live)
            yield from rename.step.waits_for(releasing_steps[id])
        for edge in edges:
            yield (
                Edge(edge.step, releasing_steps[edge.waits_for].id)
                if edge.waits_for in releasing_steps
                else edge
            )

    def _refuse(self, kind: Kind, unique_field: Field, rename: _Rename, live: LiveObject) -> None:
        """Add the refusal of an entry whose value belongs to another object that stays."""
        owner = self.sides.names.address(live.identity)
        self.refusals.append(
            TAKEN.refusal(
                rename.entry.address.field(unique_field.name),
                field=unique_field.name,
                value=rename.value,
                owner=owner,
                noun=kind.noun,
            )
        )

    def _creates_one_at_a_time(self, renames: list[_Rename]) -> Iterator[Edge]:
        """Order creates after renames and one after another, because the platform chooses a value on create.

        Each new object gets its declared value before the next one is created. Only the first create needs an
        edge to the renames, because the others wait for the first.
        """
        existing = [rename.step.id for rename in renames if rename.live is not None]
        previous_id: str | None = None
        for rename in renames:
            if rename.live is not None:
                continue
            create = self.steps.steps[self.steps.creating_steps[rename.entry.address]]
            if previous_id is None:
                yield from (Edge(create.id, rename_id, may_have_failed=True) for rename_id in existing)
            elif create.id != previous_id:
                yield Edge(create.id, previous_id, may_have_failed=True)
            previous_id = rename.step.id


def name_field(kind: Kind) -> Field | None:
    """Return the field by whose value objects of a kind are recognized (the title), if it can be written.

    That is the first natural key, unless it is a reference or has a rule of its own (`unique_within`).
    """
    key = kind.natural_keys[0] if kind.natural_keys else None
    if not isinstance(key, str) or "." in key or kind.parent is None or not isinstance(kind.update, Call):
        return None
    title = kind.field(key)
    is_plain = (
        title.own_call is None
        and not title.is_parent_reference
        and not title.type.referenced_kinds
        and not title.unique_within
        and title.response_path != kind.id_path  # an id in request paths is never written
    )
    return title if is_plain and title.written_in in ("update", "both") else None
