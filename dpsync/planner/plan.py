"""The planner: Desired and Snapshot in, Plan out.

It compares, decides what goes, writes the steps, orders them and guards the result.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter

from dpsync.kinds.base import Field, Kind, Order
from dpsync.model.address import Address
from dpsync.model.desired import Resource
from dpsync.model.plan import Also, Blocked, Change, Note, Organization, Origin, Part, Plan, Verb, Waiting
from dpsync.model.snapshot import LiveObject
from dpsync.model.values import REF, references
from dpsync.planner import transfer
from dpsync.planner.answers import IDLE, SEND, Answer
from dpsync.planner.blocking import Blocking
from dpsync.planner.compare import (
    Changed,
    changed,
    differs_from_base,
    in_base,
    not_known,
    object_digest,
    wanted_anew,
)
from dpsync.planner.exclusive import Exclusive
from dpsync.planner.graph import connect
from dpsync.planner.guards import Decided, refusals
from dpsync.planner.lanes import Lanes
from dpsync.planner.lineage import is_place
from dpsync.planner.listing import Listing
from dpsync.planner.past import past_notes
from dpsync.planner.removal import effects, removal, unseen
from dpsync.planner.restructuring import Restructure, confirmed, remade, shown_by, urls
from dpsync.planner.selection import dependencies, selection
from dpsync.planner.sides import Options, Sides
from dpsync.planner.steps import Book, Builder
from dpsync.planner.twins import proposals, questions, twins
from dpsync.planner.unique import UniqueValues
from dpsync.planner.unmatched import unmatched, where


class CircularPlan(Exception):
    """Steps that wait for each other: a fault of a declaration, with the circle."""


def _place(blocked: Blocked) -> str:
    return blocked.address


def _by_address(note: Note) -> tuple[bool, str, str]:
    return note.severity != "warning", note.address, note.text


def make_plan(sides: Sides) -> Plan:
    """The whole plan, or that of the selected part; deterministic: the same two sides give the same bytes."""
    planner = _Planner(sides)
    plan = planner.plan()
    selected = selection(sides)
    if selected is None:
        return plan
    chosen, also = selected.wanted, dict[Address, Address]()
    while True:
        more = dependencies(planner.sides, planner.book, selected, chosen)
        if not more and planner.sides.chosen == chosen:
            return _of_selection(plan, sides.options, also)
        also |= more
        chosen |= more.keys()
        planner = _Planner(replace(sides, chosen=chosen))
        plan = planner.plan()


def _of_selection(plan: Plan, options: Options, also: dict[Address, Address]) -> Plan:
    told = {change.address for change in plan.changes} | {item.address for item in plan.blocked}
    came = (
        Also(address=str(address), needed_by=str(by))
        for address, by in sorted(also.items())
        if str(address) in told
    )
    part = Part(select=options.select, exclude=options.exclude, also=tuple(came))
    return plan.model_copy(update={"part": part})


class _Planner:
    def __init__(self, sides: Sides) -> None:
        self.sides = sides
        self.book = Book()
        self.builder = Builder(sides)
        self.blocking = Blocking(sides)
        self.going = removal(sides)
        self.exclusive = Exclusive(sides, self.going.gone, lambda entry: self.blocking.entry(entry.address))
        self.changes: dict[Address, list[Changed]] = {}
        self.adopted = {
            resource.children[0] for resource in sides.resources.values() if self._made_with_child(resource)
        }
        self.notes: list[Note] = []
        self.waiting: list[Waiting] = []
        self.unproven: list[str] = []

    def _made_with_child(self, resource: Resource) -> bool:
        create = self.sides.kind(resource).create
        return bool(
            getattr(create, "makes", None) and resource.children and self.sides.live(resource.address) is None
        )

    def plan(self) -> Plan:
        sides = self.sides
        for address in self._in_order():
            resource = sides.resources[address]
            if address in self.blocking.first.values():
                self.changes[address] = wanted_anew(sides, resource)
                self.book.add(self.builder.create(resource))
            elif not sides.policy.ignored(address) and not self.blocking.entry(address):
                self._entry(resource)
        rebuilt = [item for item in confirmed(sides) if item.alone]
        for identity, live in self.going.roots.items():
            address = sides.names.address(identity)
            early = any(address.within(item.scope.address) for item in rebuilt)
            self.book.add(self.builder.delete(live, address, "clear" if early else "delete"))
        for item in rebuilt:
            self._hide(item)
        for resource, flag in self.exclusive.unwilling():
            self._always_one(resource, flag)
        for address in transfer.calls(sides):
            self._transfer(address)
        self._await()
        unique = UniqueValues(sides, self.book, self.builder, self.going)
        unique.settle_all()
        connect(sides, self.book, self.going)
        lanes = Lanes(sides, self.book, self.builder, self.blocking)
        lanes.trees()
        lanes.lists()
        for steps in self.book.by_address.values():
            for step in steps:
                if step.verb == "move":
                    made = {self.book.makers[ref] for ref in step.refers() if ref in self.book.makers}
                    step.needs |= made
        return self._finish(unique)

    def _await(self) -> None:
        """What the platform makes by itself is waited for where a step needs it, and nowhere else."""
        needed = {address for step in self.book.steps.values() for address in step.refers()}
        for address, resource in self.sides.resources.items():
            if self.sides.values.output(address) in needed:
                acts = {step.id for step in self.book.of(address, "act")}
                self.book.add(self.builder.awaiting(resource)).needs |= acts

    def _transfer(self, address: Address) -> None:
        """One call for an entry; what goes along with it is where it belongs as soon as that is done."""
        if self.sides.kind(self.sides.resources[address]).transfer is None:
            return
        step = self.book.add(self.builder.transfer(self.sides.resources[address]))
        for given in (address, *transfer.with_it(self.sides, address)):
            self.book.makers[given] = step.id

    def _hide(self, item: Restructure) -> None:
        """While a tree is built anew nobody sees its owner; what is seen in the end is as declared."""
        resource = self.sides.resources[item.scope.parent]
        for field in shown_by(self.sides, item):
            if resource.fields.get(field.name) is True:
                self._link(resource, Changed(field, after=False, before=True))
                self._link(resource, Changed(field, after=True, before=False))
            text = f"{field.name} is false while its navigation is built anew"
            self.notes.append(Note(address=str(resource.address), text=text))

    def _in_order(self) -> Iterable[Address]:
        """Parents before children; otherwise by address."""
        rank = {kind.name: index for index, kind in enumerate(self.sides.registry.ordered)}
        return sorted(
            self.sides.resources, key=lambda address: (rank[self.sides.resources[address].kind], address)
        )

    # One entry.

    def _entry(self, resource: Resource) -> None:
        live = self.sides.live(resource.address)
        if live is None:
            self._new(resource)
        else:
            self._existing(resource, live)

    def _new(self, resource: Resource) -> None:
        wanted = wanted_anew(self.sides, resource)
        self.changes[resource.address] = wanted
        kind = self.sides.kind(resource)
        if resource.address not in self.adopted and not kind.comes_along:
            self.book.add(self.builder.create(resource))
        add = kind.add
        if add is not None and resource.pin is not None:  # that call takes nothing but the id
            later = [item for item in wanted if item.field.name != add.field]
        else:
            later = [item for item in wanted if item.field.on == "update"]
        free = [item for item in later if not self.blocking.field(resource, item.field)]
        plain = [item for item in free if item.field.via is None]
        if plain:
            self.book.add(self.builder.update(resource, None, plain))
        for item in free:
            if item.field.via is not None and self._has_call(resource, item):
                self._link(resource, item)

    def _existing(self, resource: Resource, live: LiveObject) -> None:
        self._cannot_compare(resource, live)
        if live.deleted:
            self.book.makers[resource.address] = self.book.add(self.builder.restore(resource)).id
        self._busy(resource, live)
        found = [item for item in changed(self.sides, resource, live) if self._can_write(resource, item)]
        if found:
            self._update(resource, live, found)
        self._acts(resource)

    def _busy(self, resource: Resource, live: LiveObject) -> None:
        """What the platform is at work on is told, not waited for; and what it reports as failed."""
        kind = self.sides.kind(resource)
        if kind.busy is not None and kind.is_busy(live.fields):
            what = f"the platform is at work on it ({live.fields[kind.busy.field]})"
            self.waiting.append(Waiting(address=str(resource.address), what=what))
        if (failure := kind.failure(live.fields)) is not None:
            text = f"the platform reports that its last work on it failed ({failure})"
            self.notes.append(Note(address=str(resource.address), text=text))

    def _acts(self, resource: Resource) -> None:
        """What somebody asks for this once, after all that is changed about it."""
        for word in self.sides.kind(resource).acts:
            agreed = self.sides.answers.agree(Answer(word, str(resource.address)))
            if agreed and not self.sides.options.proof:
                before = {step.id for step in self.book.of(resource.address)}
                self.book.add(self.builder.act(resource, word)).needs |= before

    def _update(self, resource: Resource, live: LiveObject, found: list[Changed]) -> None:
        self.changes[resource.address] = found
        plain: list[Changed] = []
        for item in found:
            if item.field.via is not None:
                self._link(resource, item)
            elif item.field.exposure:
                self.book.add(
                    self.builder.update(resource, live, [item], self._exposing(item), item.field.name)
                )
            elif item.field.nest:
                self.book.add(self.builder.update(resource, live, [item], "place"))
            else:
                plain.append(item)
        waiting = [item for item in plain if self._waits(item)]
        ready = [item for item in plain if item not in waiting]
        if ready:
            self.book.add(self.builder.update(resource, live, ready))
        for item in waiting:
            self.book.add(self.builder.update(resource, live, [item], tag=item.field.name))

    def _waits(self, item: Changed) -> bool:
        """Whether it names something this plan makes: then the rest of the update must not wait for it."""
        return bool(item.field.after) or any(
            self.sides.values.known_id(ref) is None for ref in references(item.after)
        )

    @staticmethod
    def _exposing(item: Changed) -> Verb:
        scale = item.field.exposure
        before = scale.index(item.before) if item.before in scale else 0
        after = scale.index(item.after) if item.after in scale else 0
        return "expose" if after > before else "withdraw"

    def _link(self, resource: Resource, item: Changed) -> None:
        verb: Verb
        if item.field.exposure:
            verb = self._exposing(item)
        elif item.field.one_per:
            verb = "default"
        else:
            verb = "place" if is_place(item.field) else "link"
        draft = self.builder.link(resource, item, verb)
        if draft is not None:
            self.book.add(draft)

    def _can_write(self, resource: Resource, item: Changed) -> bool:
        """Whether the field can be written at all: notes what is blocked, drops what happens by itself."""
        field = item.field
        if self.blocking.field(resource, field):
            return False
        if field.on == "create" and field.via is None:
            return False  # refused by a guard
        if field.one_per and item.after is not True:
            if not self._somebody_else(resource, field.name, field.one_per):
                self._always_one(resource, field)
            return False
        return field.via is None or self._has_call(resource, item)

    def _always_one(self, resource: Resource, item: Field) -> None:
        noun = self.sides.kind(resource).noun
        reason = f"the platform always has a {item.name}"
        self.blocking.note(resource, item, reason, f"set {item.name}: true on another {noun}")

    def _has_call(self, resource: Resource, item: Changed) -> bool:
        """Whether a call gives the field this value; noted as blocked when none does."""
        if self.builder.link(resource, item) is not None:
            return True
        name, value = item.field.name, self.sides.values.shown(item.field, item.after, resource)
        if isinstance(value, dict) and set(value) == {REF}:
            value = value[REF]
        shown = str(value).lower() if isinstance(value, bool) else value or "nothing"
        reason = f"no request sets {name} to {shown}"
        if item.field.lacks:
            reason = self.sides.registry.profile.lacks(f"setting {name} to {shown}")
        self.blocking.note(
            resource, item.field, reason, "change it on the platform, or take it off the entry"
        )
        return False

    def _somebody_else(self, resource: Resource, name: str, scope: str) -> bool:
        around = self.sides.lineage.ancestor(resource, scope)
        return any(
            other.kind == resource.kind
            and other.fields.get(name) is True
            and self.sides.lineage.ancestor(other, scope) == around
            and not self.sides.policy.left_out(other.address)
            for other in self.sides.resources.values()
        )

    def _cannot_compare(self, resource: Resource, live: LiveObject) -> None:
        kind = self.sides.kind(resource)
        listed = {self._listed_by(other) for other in self.sides.registry.ordered}
        for item in kind.fields:
            hidden = not_known(self.sides, item, resource.fields.get(item.name), live)
            if hidden is not None and (kind.name, item.name) not in listed:
                address = f"{resource.address}#{item.name}"
                known = in_base(self.sides, resource, live) is not None
                self.notes.append(Note(address=address, text=self._not_compared(address, known)))
                if self.sides.options.proof and differs_from_base(self.sides, resource, item, live):
                    self.unproven.append(address)

    def _not_compared(self, address: str, known: bool) -> str:
        if known:
            return "compared with the git base only: the platform does not say what it is"
        nobody = "the platform does not say what it is"
        if self.sides.base.desired is not None:
            nobody = "neither the platform nor the git base says what it is"
        again = f"{Answer(SEND, address).flag} sends it again"
        return f"it cannot be compared: {nobody}; {again}"

    @staticmethod
    def _listed_by(kind: Kind) -> tuple[str, str] | None:
        order: Order | None = kind.order
        if order is None or order.within is None or order.field is None:
            return None
        return kind.field(order.within).type.refers[0], order.field

    # The plan.

    def _finish(self, unique: UniqueValues) -> Plan:
        sides = self.sides
        self._check_circles()
        listed = sorted(self.book.by_address.keys() | self.adopted_changes(), key=Listing(sides).key)
        changes = sorted(map(self._change, listed), key=lambda change: change.action == "delete")
        deletes = [change for change in changes if change.action == "delete"]
        decided = Decided(sides, self.going, self.blocking)
        alike = twins(sides, self.blocking)
        notes = [*self.notes, *self._past(), *proposals(alike), *urls(sides)]
        notes += [*remade(sides, self.going.gone), *transfer.notes(sides), *unmatched(sides)]
        found = [*unique.refusals, *refusals(decided, deletes), *questions(alike)]
        notes += [Note(address=answer.flag, text=IDLE) for answer in sides.answers.idle()]
        return Plan(
            platform=sides.snapshot.platform,
            organizations=tuple(self._organizations()),
            environment=sides.desired.environment.name if sides.desired.environment else None,
            environments=sides.desired.environments,
            profile=sides.registry.profile.name,
            confirmed=tuple(sorted(set(sides.options.confirm))),
            deleting=sides.options.delete,
            changes=tuple(changes),
            blocked=tuple(sorted([*self.blocking.all(), *unseen(sides, self.going)], key=_place)),
            refusals=tuple(sorted(found, key=lambda item: (item.address, item.code, item.message))),
            waiting=tuple(sorted(self.waiting, key=lambda item: item.address)),
            kept=tuple(self.going.kept),
            notes=tuple(sorted(notes, key=_by_address)),
            unproven=tuple(sorted(self.unproven)),
            base=sides.base.commit,
            base_from=sides.base.said,
            bindings={
                str(address): match.id
                for address, match in sides.snapshot.matches.items()
                if address in sides.desired.resources
            },
            requests=sides.snapshot.requests,
            origins=self._origins(),
        )

    def _organizations(self) -> Iterable[Organization]:
        root = self.sides.registry.root.name
        for address, resource in sorted(self.sides.desired.resources.items()):
            id = self.sides.snapshot.bound(address)
            if resource.kind == root and id is not None:
                yield Organization(address=str(address), id=id)

    def _past(self) -> Iterable[Note]:
        chosen = self.sides.chosen
        for note in past_notes(self.sides, self.going):
            address = Address.parse(note.address.partition("#")[0])
            live = self.sides.names.remembered.get(address)
            if chosen is None or address in chosen or (live and self.sides.names.address(live) in chosen):
                yield note

    def adopted_changes(self) -> set[Address]:
        """Children that are made along with their parent: a change even when no request is theirs."""
        return {address for address in self.adopted if address in self.changes}

    def _change(self, address: Address) -> Change:
        sides = self.sides
        resource = sides.resources.get(address)
        drafts = self.book.of(address)
        if resource is None:
            return self._delete(address)
        live = sides.live(address)
        match = sides.snapshot.matches.get(address)
        by = match.by if match and not (match.first and match.by != "pin") else None
        changes = self.changes.get(address, [])
        moves = [step for step in drafts if step.verb == "move"]
        return Change(
            address=str(address),
            kind=resource.kind,
            action="create" if live is None else "update",
            label=sides.names.label(resource),
            id=live.id if live else None,
            matched=by,
            digest=object_digest(live, resource.fields) if live else None,
            watched=tuple(sorted(resource.fields)) if live else (),
            within=self._within(resource) if live is None else None,
            differences=tuple(
                item.difference(sides, resource)
                for item in changes
                if live is not None or not item.field.nest or self._within(resource) is not None
            )
            + ((transfer.difference(sides, address),) if address in sides.snapshot.transferred else ()),
            moved=moves[0].says if moves else None,
            steps=tuple(step.frozen() for step in drafts),
        )

    @staticmethod
    def _within(resource: Resource) -> str | None:
        """The node that encloses another one, where the address of that one does not say so."""
        shown = resource.holder is None or resource.address.within(resource.holder)
        return None if shown else str(resource.holder)

    def _delete(self, address: Address) -> Change:
        sides = self.sides
        identity = self.going.addresses[address]
        live = self.going.roots[identity]
        along = effects(sides, self.going.cascade, identity)
        going = [identity, *(lost for lost, name in self.going.cascade.by_root.get(identity, ()) if not name)]
        return Change(
            address=str(address),
            kind=live.kind,
            action="delete",
            label=sides.names.label(live),
            id=live.id,
            digest=object_digest(live, sides.kind(live).lasting),
            watched=tuple(sorted(sides.kind(live).lasting)),
            effects=along + self.exclusive.chosen_by_the_platform(going),
            steps=tuple(step.frozen() for step in self.book.of(address)),
        )

    def _origins(self) -> dict[str, Origin]:
        origins: dict[str, Origin] = {}
        resources = self.sides.desired.resources
        for address, resource in resources.items():
            span = resource.span
            origins[str(address)] = Origin(file=span.file, line=span.line, column=span.column)
            for name, at in resource.spans.items():
                origins[f"{address}#{name}"] = Origin(file=at.file, line=at.line, column=at.column)
        policy = self.sides.desired.policy
        for list_ in ("prune", "protect", "ignore", "forget"):
            for pattern in getattr(policy, list_):
                if (at := pattern.span) is not None:
                    origin = Origin(file=at.file, line=at.line, column=at.column)
                    origins[where(list_, pattern)] = origin
        unread = {str(address): item.span for address, item in self.sides.desired.unserved.items()}
        unread |= {str(place): item.span for place, item in self.sides.snapshot.unsettled.items()}
        for name, at in unread.items():
            origins.setdefault(name, Origin(file=at.file, line=at.line, column=at.column))
        return {key: origins[key] for key in sorted(origins)}

    def _check_circles(self) -> None:
        sorter: TopologicalSorter[str] = TopologicalSorter()
        for step in self.book.steps.values():
            sorter.add(step.id, *sorted(step.needs | step.follows))
        try:
            sorter.prepare()
        except CycleError as circle:
            raise CircularPlan(" → ".join(circle.args[1])) from None
