"""Both sides of a plan made of plain values: no files, no server, no threads."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from dpsync.kinds.address_patterns import live_container
from dpsync.kinds.kind import Kind
from dpsync.kinds.profiles import Profile
from dpsync.kinds.registry import Registry
from dpsync.model.address import Address, Pattern
from dpsync.model.desired import (
    NO_BASE,
    Base,
    CommittedFiles,
    Desired,
    Entry,
    LabelCommits,
    LastApply,
    Limits,
    Policy,
    Scope,
)
from dpsync.model.ids import RecordedLine
from dpsync.model.nodes import Span
from dpsync.model.snapshot import Identity, LiveObject, Match, MatchedBy, RecordedIds, Snapshot
from dpsync.model.values import LiveId, Ref
from dpsync.planner.decide import Decisions, decide
from dpsync.planner.delete_questions import undecided_deletes
from dpsync.planner.edges import order_edges
from dpsync.planner.names import Names, names_without_base
from dpsync.planner.plan import make_plan
from dpsync.planner.requests import write_steps
from dpsync.planner.sibling_order import SiblingMoves, sibling_moves
from dpsync.planner.sides import Options, Sides
from dpsync.planner.stepset import Edge, Edges, PlannedSteps, StepSet
from dpsync.planner.unique_values import order_unique_values
from tests.agreed import answer_about_content

from .lab import REGISTRY

WORDS = ("id", "previously", "new")
"""Of an entry, beside its fields."""
SPAN = Span("dpsync.yaml", 1, 1, 1, 2)
ACME = Address.root("acme")
NO_ROLES = Registry(
    REGISTRY.declared.values(),
    Profile("no roles", missing_operations=frozenset({("PATCH", "/orgs/{}/members/{}")})),
)
"""Every kind, where no request sets the role of a member."""
Things = Mapping[str, Mapping[str, Mapping[str, Any]]]
"""Fields by kind and path: the key, behind those of what it is below ("docs/news" is in the site "docs")."""


@dataclass
class Case:
    """One organization. `wanted` and `live` are by kind and path: a live thing's id is its kind and path.

    What is on both sides under one path is one thing, and what is in the `base` is what it was there.
    """

    wanted: Things = field(default_factory=dict)
    live: Things = field(default_factory=dict)
    prune: Sequence[str] = ()
    removed: Sequence[str] = ()
    base_limits: Limits | None = None
    """Those of the base; None: the same as now."""
    base_policy: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The lists of patterns that the base has otherwise."""
    agreed: bool = True
    """Whether it is agreed to that content goes, however much there is of it."""
    protect: Sequence[str] = ()
    ignore: Sequence[str] = ()
    forget: Sequence[str] = ()
    watch: Sequence[str] = ()
    accept: Sequence[str] = ()
    limits: Limits = field(default_factory=lambda: Limits(1000, 1000))
    confirm: Sequence[str] = ()
    user: str | None = None
    base: Things | None = None
    earlier: Sequence[Things] = ()
    """Of commits before the base, the latest first."""
    compared: Things | None = None
    """Of the commit that labels compare with."""
    since: Sequence[Things] = ()
    """Of the commit that was applied last, and of the commits since then."""
    lines: Sequence[tuple[str, str]] = ()
    """Kind and path of the entries that the ids file has a line for, all with the ids of what is live."""
    urls: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """By kind and path of what is live: where people see it."""
    organization: tuple[Mapping[str, Any], Mapping[str, Any]] = ({}, {})
    """More of its fields, live and declared."""
    registry: Registry = REGISTRY

    def sides(self) -> Sides:
        sides = Sides(
            self.registry,
            self._desired(self.wanted),
            self._snapshot(),
            Options(tuple(self.confirm)),
            NO_BASE if self.base is None else self._base(self.base),
            label_commits=self._labels(),
        )
        named = undecided_deletes(decide(sides)).unanswered if self.agreed else ()
        if not named:
            return sides
        answers = tuple(f"delete {sides.names.address(identity)}" for identity in named)
        if self.limits != Limits(1000, 1000):
            answers = answer_about_content(make_plan(sides))
        return replace(sides, options=Options((*self.confirm, *answers)))

    def _labels(self) -> LabelCommits:
        compared = None if self.compared is None else CommittedFiles(self._desired(self.compared))
        since = [CommittedFiles(self._desired(things)) for things in self.since]
        return LabelCommits(compared, (LastApply(since, is_complete=True),) if since else ())

    def _base(self, base: Things) -> Base:
        earlier = tuple(self._desired(things) for things in self.earlier)
        then = self._desired(base)
        if self.base_limits is not None:
            then = replace(then, policy=replace(then.policy, limits=self.base_limits))
        lists = {name: self._patterns(texts) for name, texts in self.base_policy.items()}
        then = replace(then, policy=replace(then.policy, **lists))
        return Base("the base", "0" * 40, then, earlier_configurations=earlier)

    def address(self, kind: str, path: str) -> Address:
        """Where an entry stands."""
        owner, above, key = self._split(kind, path)
        if not above:
            return self._place(ACME, kind).child(key)
        around, own = self.address(owner, above), self.registry[kind]
        nodes = self.registry[owner].is_node and own.is_node
        return around.child(key) if nodes else self._place(around, kind).child(key)

    def ref(self, kind: str, path: str) -> Ref:
        return Ref(self.address(kind, path))

    def _place(self, around: Address, kind: str) -> Address:
        return around.child(*self.registry[kind].key.split("."))

    def _split(self, kind: str, path: str) -> tuple[str, str, str]:
        """Return the kind and path of a parent (no path: the organization), and the key."""
        parents = self.registry[kind].parents
        above, _, key = path.rpartition("/")
        if not above or self.registry.root.name in parents:
            return self.registry.root.name, "", path
        known = (
            self.wanted, self.live, self.base or {}, self.compared or {}, *self.earlier, *self.since,
        )  # fmt: skip
        return next(one for one in parents if any(above in it.get(one, {}) for it in known)), above, key

    # Entries.

    def _desired(self, things: Things) -> Desired:
        root = self.registry.root.name
        resources = {ACME: Entry(root, ACME, "acme", None, None, self.organization[1], SPAN, {})}
        scopes: dict[Address, Scope] = {}
        children: dict[Address, list[Address]] = defaultdict(list)
        for kind in self._kinds(things):
            for path, fields in things[kind.name].items():
                owner, above, key = self._split(kind.name, path)
                parent = self.address(owner, above) if above else ACME
                entry = self._entry(
                    kind, self.address(kind.name, path), key, parent, self.registry[owner], fields
                )
                resources[entry.address] = entry
                if kind.is_node:
                    children[entry.holder or parent].append(entry.address)
            for around in [item for item in resources.values() if item.kind in kind.parents]:
                if not (kind.is_node and self.registry[around.kind].is_node):
                    place, nodes = self._place(around.address, kind.name), self.registry.tree_kinds(kind.key)
                    names = tuple(node.name for node in nodes) if kind.is_node else (kind.name,)
                    scopes[place] = Scope(place, around.address, names, SPAN)
        for address, inside in children.items():
            resources[address] = replace(resources[address], children=tuple(inside))
        return Desired(resources, scopes, policy=self._policy(), texts={SPAN.file: ""})

    def _entry(
        self,
        kind: Kind,
        address: Address,
        key: str,
        parent: Address,
        owner: Kind,
        fields: Mapping[str, Any],
    ) -> Entry:
        values = {name: value for name, value in fields.items() if name not in WORDS}
        if kind.key_field:
            refers = kind.field(kind.key_field).type.referenced_kinds
            values[kind.key_field] = self.ref(refers[0], key) if refers else key
        holder = None
        for item in (item for item in kind.fields if item.is_parent_reference):
            values.setdefault(item.name, Ref(parent) if owner.is_node else None)
            holder = values[item.name].address if values[item.name] is not None else holder
        spans = dict.fromkeys(values, SPAN)
        return Entry(
            kind.name, address, key, parent, holder, values, SPAN, spans, fields.get("id"),
            previously=fields.get("previously", ()), new=fields.get("new", False),
        )  # fmt: skip

    def _object(
        self, kind: Kind, path: str, key: str, parent: Identity, fields: Mapping[str, Any]
    ) -> LiveObject:
        values, id = dict(fields), f"{kind.name}-{path.replace('/', '-')}"
        if kind.key_field:
            refers = kind.field(kind.key_field).type.referenced_kinds
            id = f"{refers[0]}-{key}" if refers else id
            values.setdefault(kind.key_field, LiveId(id) if refers else key)
        holder = None
        for item in (item for item in kind.fields if item.is_parent_reference):
            values.setdefault(item.name, LiveId(parent[1]) if self.registry[parent[0]].is_node else None)
            if values[item.name] is not None:
                holder = item.type.referenced_kinds[0], values[item.name].id
        url = self.urls.get((kind.name, path))
        return LiveObject(
            kind.name, id, parent, holder, values, str(parent), url=url, has_unique_id=kind.has_unique_id
        )

    def _kinds(self, things: Things) -> Iterator[Kind]:
        return (kind for kind in self.registry.in_dependency_order if kind.name in things)

    def _policy(self) -> Policy:
        prune, protect, ignore, forget, watched, removed = map(
            self._patterns,
            (self.prune, self.protect, self.ignore, self.forget, self.watch, self.removed),
        )
        fields = tuple(one for one in watched if one.field)
        watch = tuple(one for one in watched if not one.field)
        accept = self._patterns(self.accept)
        return Policy(
            prune, protect, ignore, self.limits, forget, watch, removed, watch_fields=fields, accept=accept
        )

    def _patterns(self, texts: Sequence[str]) -> tuple[Pattern, ...]:
        return tuple(Pattern.parse(text, self.registry.pattern_words) for text in texts)

    # Live objects.

    def _snapshot(self) -> Snapshot:
        root = self.registry.root.name
        organization = LiveObject(
            root, "acme", None, None, {"title": "Acme", **self.organization[0]}, "/orgs/acme"
        )
        objects = {organization.identity: organization}
        matches = {ACME: Match("acme", MatchedBy.PIN)}
        held: dict[Address, list[Identity]] = defaultdict(list)
        lanes: dict[Identity, list[Identity]] = defaultdict(list)
        known: dict[tuple[str, str], Identity] = {(root, ""): organization.identity}
        for kind in self._kinds(self.live):
            for path, fields in self.live[kind.name].items():
                owner, above, key = self._split(kind.name, path)
                item = self._object(kind, path, key, known[owner, above], fields)
                objects[item.identity] = item
                known[kind.name, path] = item.identity
                order = self.registry.list_order(kind.name)
                if order is not None and (at := live_container(kind, order.place_field, item)) is not None:
                    lanes[at].append(item.identity)
                if kind.is_node:
                    lanes[item.holder or known[owner, above]].append(item.identity)
                    while self.registry[owner].is_node:
                        owner, above, _ = self._split(owner, above)
                around = self.address(owner, above) if above else ACME
                held[self._place(around, kind.name)].append(item.identity)
                if path in self.wanted.get(kind.name, {}):
                    matches[self.address(kind.name, path)] = Match(item.id, MatchedBy.FIRST_NATURAL_KEY)
        scopes = {place: tuple(held.get(place, ())) for place in self._desired(self.wanted).scopes}
        orders = {holder: tuple(inside) for holder, inside in lanes.items()}
        ids = (
            RecordedLine(self.address(kind, path), f"{kind}-{path.replace('/', '-')}")
            for kind, path in self.lines
        )
        lines = {line.address: line for line in ids}
        records = RecordedIds(lines, organizations_without_lines=frozenset() if lines else frozenset({ACME}))
        return Snapshot(objects, matches, scopes, orders, token_user_id=self.user, recorded_ids=records)

    # The stages, and what some of them take without the rest.

    def names(self) -> Names:
        """Return the names of all objects, without options, answers and a base."""
        return names_without_base(self.registry, self._desired(self.wanted), self._snapshot())

    def decisions(self) -> Decisions:
        return decide(self.sides())

    def steps(self) -> PlannedSteps:
        """Return the steps with their edges, except those that order siblings."""
        steps, edges = self._connected(self.decisions())
        return PlannedSteps(steps, Edges(edges))

    def lanes(self) -> tuple[PlannedSteps, SiblingMoves]:
        """Return the steps with all their edges, and the result of ordering siblings."""
        decisions = self.decisions()
        steps, edges = self._connected(decisions)
        found = sibling_moves(decisions, steps, Edges(edges))
        return PlannedSteps(steps.with_steps(found.moves), Edges([*edges, *found.edges])), found

    @staticmethod
    def _connected(decisions: Decisions) -> tuple[StepSet, list[Edge]]:
        written = write_steps(decisions)
        unique = order_unique_values(decisions, written)
        steps = written.with_steps(unique.releasing)
        return steps, [*unique.edges, *order_edges(decisions, steps)]


def before(steps: PlannedSteps, first: str, then: str) -> bool:
    """Whether one step can only be sent when another one is done."""
    waiting, seen = [then], set[str]()
    while waiting:
        for needed in steps.edges.needs(waiting.pop()) - seen:
            seen.add(needed)
            waiting.append(needed)
    return first in seen
