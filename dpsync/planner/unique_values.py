"""Order the requests that set unique values, such as paths and titles.

`order_unique_values` makes the request that frees a value precede the request that takes it. If entries
exchange values in a circle, or a deleted object has the value, a temporary value frees it. A value of
another object that stays is a refusal.

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
    """An entry that takes a value. `live` is None if the plan creates the object."""

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
    """Return the steps that free values, the edges of the steps that take them, and refusals."""
    finder = _UniqueValueFinder(decisions.sides, steps, RequestBuilder(decisions.sides), decisions.deletions)
    for kind in decisions.sides.registry.in_dependency_order:
        if kind.name not in finder.written_entries:
            continue
        for item in kind.fields:
            if item.unique_within:
                finder.order_field(kind, item, item.unique_within)
        name = name_field(kind)
        if name is not None:
            finder.order_field(kind, name, "parent")
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
        """The entries with steps, by kind and in order of address."""
        found: dict[str, list[Entry]] = defaultdict(list)
        for address in sorted(self.steps.by_address):
            if (resource := self.sides.entries.get(address)) is not None:
                found[resource.kind].append(resource)
        return found

    def order_field(self, kind: Kind, item: Field, scope_kind: str) -> None:
        """Order the requests that set a field, within each scope in which its values must differ.

        `scope_kind` is the kind of the scope, or "parent".
        """
        scopes: dict[Address, list[_Rename]] = {}
        for resource in self.written_entries[kind.name]:
            if resource.fields.get(item.name) is None:
                continue
            live = self.sides.live(resource.address)
            step = self._setting_step(resource, item, live)
            scope = self.sides.hierarchy.ancestor(resource, scope_kind)
            if step is not None and scope is not None:
                value = str(resource.fields[item.name])
                scopes.setdefault(scope, []).append(_Rename(resource, live, value, step))
        if not scopes:
            return
        holders = self._objects_by_value(kind, item, scope_kind)
        for scope, renames in sorted(scopes.items()):
            if item.unique_within or any(rename.live for rename in renames):
                owner = self.sides.desired.entries[scope].kind, self.sides.snapshot.live_id(scope) or ""
                self._order_scope(kind, item, renames, holders[owner])

    def _setting_step(self, entry: Entry, item: Field, live: LiveObject | None) -> StepDraft | None:
        """Return the step that sets a field of an entry; None if there is none."""
        step = next((step for step in self.steps.steps_of(entry.address) if item.name in step.fields), None)
        if step is None and live is None and item.written_in == "both":
            step = next(iter(self.steps.steps_of(entry.address, "create")), None)
        return step

    def _order_scope(
        self, kind: Kind, item: Field, renames: list[_Rename], holders: Mapping[str, list[LiveObject]]
    ) -> None:
        by_live = {rename.live.identity: rename for rename in renames if rename.live}
        found: list[Edge] = []
        for rename in renames:
            holding = holders.get(rename.value, [])
            if not holding or (rename.live is not None and rename.live in holding):
                continue
            others = [by_live[holder.identity] for holder in holding if holder.identity in by_live]
            if others:
                found += rename.step.waits_for(*(other.step for other in others))
            elif item.unique_within:
                found += self._resolve_conflict(kind, item, rename, holding[0])
        self.edges.extend(self._break_cycles(kind, item, renames, found))
        # Nodes of a tree are made one at a time anyway.
        if item.unique_within and not isinstance(kind.shape, NodeShape):
            self.edges.extend(self._creates_one_at_a_time(renames))

    def _resolve_conflict(
        self, kind: Kind, item: Field, rename: _Rename, holder: LiveObject
    ) -> Iterator[Edge]:
        if holder.identity in self.deletions.roots:
            yield from rename.step.waits_for(self._releasing_step(kind, item, holder))
        else:
            self._refuse(kind, item, rename, holder)

    def _objects_by_value(
        self, kind: Kind, item: Field, around: str
    ) -> defaultdict[Identity, dict[str, list[LiveObject]]]:
        """Return the live objects by scope and value."""
        found: defaultdict[Identity, dict[str, list[LiveObject]]] = defaultdict(lambda: defaultdict(list))
        for live in self.sides.snapshot.objects.values():
            if live.kind == kind.name and (value := live.fields.get(item.name)) is not None:
                scope = self.sides.hierarchy.live_ancestor(live, around)
                if scope is not None:
                    found[scope][str(value)].append(live)
        return found

    def _releasing_step(self, kind: Kind, item: Field, holder: LiveObject) -> StepDraft:
        address = self.sides.names.address(holder.identity)
        assert kind.update is not None
        path = self.requests.live_path(holder, kind.update.path)
        # After an interruption, the next run recognizes the object by its temporary name.
        name = temporary_name(str(address) if address in self.sides.entries else "/".join(holder.identity))
        step = self.requests.release_value(path, kind, address, item, name)
        return self.releasing.setdefault(step.id, step)

    def _break_cycles(
        self, kind: Kind, item: Field, renames: list[_Rename], found: list[Edge]
    ) -> Iterator[Edge]:
        """Break circles with temporary values; a step that takes such a value waits only for its release.

        Several objects may have the same value, so that a step may wait for several others.
        """
        by_step = {rename.step.id: rename for rename in renames}
        onward: dict[str, list[str]] = {id: [] for id in by_step}
        for edge in found:
            if edge.waits_for in onward:
                onward[edge.step].append(edge.waits_for)
        freeing: dict[str, StepDraft] = {}
        for id in sorted(cycle_breaking_nodes(onward), key=lambda one: by_step[one].entry.address):
            rename = by_step[id]
            assert rename.live is not None
            freeing[id] = self._releasing_step(kind, item, rename.live)
            yield from rename.step.waits_for(freeing[id])
        for edge in found:
            yield Edge(edge.step, freeing[edge.waits_for].id) if edge.waits_for in freeing else edge

    def _refuse(self, kind: Kind, item: Field, rename: _Rename, holder: LiveObject) -> None:
        owner = self.sides.names.address(holder.identity)
        self.refusals.append(
            TAKEN.refusal(
                rename.entry.address.field(item.name),
                field=item.name,
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
        before: str | None = None
        for rename in renames:
            if rename.live is not None:
                continue
            maker = self.steps.steps[self.steps.creating_steps[rename.entry.address]]
            if before is None:
                yield from (Edge(maker.id, other, may_have_failed=True) for other in existing)
            elif maker.id != before:
                yield Edge(maker.id, before, may_have_failed=True)
            before = rename.step.id


def name_field(kind: Kind) -> Field | None:
    """Return the writable field that is the first natural key of a kind, if there is one."""
    key = kind.natural_keys[0] if kind.natural_keys else None
    if not isinstance(key, str) or "." in key or kind.parent is None or not isinstance(kind.update, Call):
        return None
    item = kind.field(key)
    plain = (
        item.own_call is None
        and not item.is_parent_reference
        and not item.type.referenced_kinds
        and not item.unique_within
    )
    plain = plain and item.response_path != kind.id_path  # an id in request paths is never written
    return item if plain and item.written_in in ("update", "both") else None
